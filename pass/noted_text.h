// What the program says of itself to the tools that look at its file: text in a section that the linker
// gathers.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

namespace heddle {

// Each text ends with a zero byte.
void note_text(llvm::Module& module, llvm::StringRef section, llvm::StringRef text);

}  // namespace heddle
