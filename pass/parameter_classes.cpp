#include "pass/parameter_classes.h"

#include <llvm/Demangle/Demangle.h>

#include "pass/source_names.h"

namespace heddle {

using namespace llvm;

std::vector<std::string> parameter_classes(const Function& callee) {
  std::vector<std::string> classes;
  std::string text = demangle(callee.getName());
  const std::size_t begin = text.find('(');
  if (begin == std::string::npos) return classes;
  int depth = 0;
  std::string part;
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && (c == ',' || c == ')')) {
      classes.push_back(part);
      part.clear();
      if (c == ')') break;
      continue;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    part += c;
  }
  for (std::string& name : classes) {
    const bool is_pointer = name.find('*') != std::string::npos || name.find('&') != std::string::npos;
    std::string plain = without_arguments(name);
    for (const StringRef word : {" const", "const ", "*", "&", " volatile"})
      for (std::size_t at = plain.find(word); at != std::string::npos; at = plain.find(word))
        plain.erase(at, word.size());
    name = !is_pointer ? "" : StringRef(plain).trim() == "void" ? "?" : StringRef(plain).trim().str();
  }
  return classes;
}

std::string scope_of(const Function& callee) {
  const std::string name = name_of(callee).qualified;
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? "" : name.substr(0, colons);
}

std::string class_of_argument(const CallBase& call, unsigned argument) {
  const Function* const callee = call.getCalledFunction();
  if (callee == nullptr) return "";
  const StringRef symbol = callee->getName();
  if (symbol.starts_with("pthread_mutex_")) return argument == 0 ? "pthread_mutex_t" : "";
  if (symbol.starts_with("pthread_rwlock_")) return argument == 0 ? "pthread_rwlock_t" : "";
  if (symbol.starts_with("pthread_cond_")) return argument == 0 ? "pthread_cond_t" : "pthread_mutex_t";
  if (!symbol.starts_with("_Z")) return "";
  std::vector<std::string> declared = parameter_classes(*callee);
  const unsigned result = call.hasStructRetAttr() ? 1 : 0;
  if (argument < result) return "";
  argument -= result;
  const std::size_t given = call.arg_size() - result;
  const bool is_empty = declared.size() == 1 && declared[0].empty();  // "()", or it takes a number
  if (is_empty && given == 1 && call.getArgOperand(result)->getType()->isPointerTy()) declared.clear();
  const bool is_member = given == declared.size() + 1;
  if (!is_member && given != declared.size()) return "";
  // What is passed by value may be several arguments, or none.
  for (std::size_t i = is_member ? 1 : 0; i < given; ++i)
    if (call.getArgOperand(static_cast<unsigned>(i) + result)->getType()->isPointerTy() ==
        declared[i - (is_member ? 1 : 0)].empty())
      return "";
  if (!is_member) return declared[argument];
  return argument == 0 ? scope_of(*callee) : declared[argument - 1];
}

}  // namespace heddle
