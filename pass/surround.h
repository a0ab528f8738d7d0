// Puts calls of the runtime around what a function does.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace heddle {

// Calls at_entry once where the function begins, and at_exit before each way out; `leaving` is null when an
// exception leaves.
void surround(llvm::Function& function, llvm::function_ref<void(llvm::IRBuilder<>&)> at_entry,
              llvm::function_ref<void(llvm::IRBuilder<>&, llvm::ReturnInst* leaving)> at_exit);

// Gives exceptions that leave the function a way out of its own, a ResumeInst, if they have none.
void catch_what_leaves(llvm::Function& function);

// Around one instruction.
void surround(llvm::Instruction& instruction, llvm::function_ref<void(llvm::IRBuilder<>&)> before,
              llvm::function_ref<void(llvm::IRBuilder<>&)> after);

// Calls a function of the runtime that returns nothing.
void call_runtime(llvm::IRBuilder<>& builder, llvm::StringRef name, llvm::ArrayRef<llvm::Value*> arguments);

// Whether the runtime wants to know what atomics and blocks do: not when it only looks for races.
llvm::Value* ask_whether_told(llvm::IRBuilder<>& builder);

// The object that a member function is called for; null if debug information does not say that it is one.
llvm::Argument* object_of(llvm::Function& function);

}  // namespace heddle
