// Constant texts that the program carries for the runtime, each once.
#pragma once

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace heddle {

class Texts {
 public:
  explicit Texts(llvm::Module& module) : module_(module) {}

  // Null for an empty one.
  llvm::Constant* get(llvm::StringRef text) {
    using namespace llvm;
    LLVMContext& context = module_.getContext();
    if (text.empty()) return ConstantPointerNull::get(PointerType::getUnqual(context));
    Constant*& known = texts_[text];
    if (known == nullptr) {
      Constant* const characters = ConstantDataArray::getString(context, text);
      auto* const variable = new GlobalVariable(module_, characters->getType(), /*isConstant=*/true,
                                                GlobalValue::PrivateLinkage, characters, "heddle.name");
      variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      variable->setAlignment(Align(1));
      known = variable;
    }
    return known;
  }

 private:
  llvm::Module& module_;
  llvm::StringMap<llvm::Constant*> texts_;
};

}  // namespace heddle
