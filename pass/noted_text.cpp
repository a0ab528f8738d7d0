#include "pass/noted_text.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace heddle {

using namespace llvm;

void note_text(Module& module, StringRef section, StringRef text) {
  Constant* const bytes = ConstantDataArray::getString(module.getContext(), text);
  auto* const holder = new GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                          GlobalValue::PrivateLinkage, bytes, section + "_text");
  holder->setSection(section);
  holder->setAlignment(Align(1));
  appendToUsed(module, {holder});
}

}  // namespace heddle
