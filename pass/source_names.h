// Names as the programmer wrote them: qualified, without parameters, template arguments and anonymous
// namespaces.
#pragma once

#include <string>

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

namespace heddle {

struct FunctionName {
  std::string qualified;  // "bank::Account::withdraw"; empty: no programmer wrote it
  bool is_constructor_or_destructor = false;

  bool is_of_library() const;
};

FunctionName name_of(const llvm::Function& function);

// With template arguments and without spaces: "std::optional<Task>" and "Task&&", of a member function.
struct Declaration {
  std::string scope;
  std::string parameters;
};
Declaration declaration_of(const llvm::Function& function);

// "bank::Account" for the mangled or plain name of a variable.
std::string name_of_variable(llvm::StringRef symbol);

// The same from debug information: of a class, a namespace, a function or what stands in one of them.
std::string qualified_name(const llvm::DIScope* scope, llvm::StringRef name);

// Whether something with this qualified name, or in this scope, belongs to the standard library.
bool is_of_library(llvm::StringRef qualified_name);
bool is_of_library(const llvm::DIScope* scope);

// What is left of "std::map<int, Account>::find(int const&)": "std::map::find".
std::string without_arguments(llvm::StringRef name);

}  // namespace heddle
