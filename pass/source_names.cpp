#include "pass/source_names.h"

#include <cstdlib>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Demangle/Demangle.h>

namespace heddle {

using namespace llvm;

namespace {

// The demangler hands out memory of malloc().
std::string take(char* text) {
  std::string result = text == nullptr ? "" : text;
  std::free(text);
  return result;
}

// How many characters of an operator's symbol stand here, behind the word "operator": "<=>" is no bracket.
std::size_t operator_symbol(StringRef rest) {
  for (const StringRef symbol :
       {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"})
    if (rest.starts_with(symbol)) return symbol.size();
  return 0;
}

void remove_all(std::string& text, StringRef part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

}  // namespace

std::string without_arguments(StringRef name) {
  std::string text = name.str();
  remove_all(text, "(anonymous namespace)::");
  std::string result;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const StringRef rest = StringRef(text).drop_front(i);
    if (depth == 0 && rest.starts_with("operator") &&
        (result.empty() || !(isAlnum(result.back()) || result.back() == '_'))) {
      const std::size_t length = 8 + operator_symbol(rest.drop_front(8));
      result += rest.take_front(length);
      i += length - 1;
      continue;
    }
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (depth == 0) result += c;
    if (c == '>' || c == ')' || c == ']') --depth;
  }
  for (const StringRef qualifier : {" const::", " volatile::", " &::", " &&::"}) {
    for (std::size_t at = result.find(qualifier); at != std::string::npos; at = result.find(qualifier))
      result.replace(at, qualifier.size(), "::");
  }
  return result;
}

bool is_of_library(StringRef qualified_name) {
  return qualified_name.starts_with("std::") || qualified_name.starts_with("__gnu_cxx::");
}

bool is_of_library(const DIScope* scope) {
  const DIScope* outermost = nullptr;
  for (; scope != nullptr; scope = scope->getScope())
    if (!isa<DIFile>(scope) && !isa<DICompileUnit>(scope)) outermost = scope;
  return isa_and_nonnull<DINamespace>(outermost) &&
         (outermost->getName() == "std" || outermost->getName() == "__gnu_cxx");
}

bool FunctionName::is_of_library() const { return heddle::is_of_library(qualified); }

FunctionName name_of(const Function& function) {
  const std::string symbol = function.getName().str();
  if (StringRef(symbol).starts_with("_GLOBAL_") || StringRef(symbol).starts_with("__cxx_global_")) return {};
  if (!StringRef(symbol).starts_with("_Z")) return {symbol};
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(symbol.c_str()) || !demangler.isFunction()) return {};
  const std::string context = take(demangler.getFunctionDeclContextName(nullptr, nullptr));
  const std::string base = take(demangler.getFunctionBaseName(nullptr, nullptr));
  FunctionName name;
  name.qualified = without_arguments(context.empty() ? base : context + "::" + base);
  name.is_constructor_or_destructor = demangler.isCtorOrDtor();
  return name;
}

Declaration declaration_of(const Function& function) {
  const std::string symbol = function.getName().str();
  ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(symbol.c_str()) || !demangler.isFunction()) return {};
  Declaration declaration{take(demangler.getFunctionDeclContextName(nullptr, nullptr)),
                          take(demangler.getFunctionParameters(nullptr, nullptr))};
  remove_all(declaration.scope, " ");
  remove_all(declaration.parameters, " ");
  const StringRef in_brackets(declaration.parameters);
  if (in_brackets.size() >= 2) declaration.parameters = in_brackets.drop_front().drop_back().str();
  return declaration;
}

std::string name_of_variable(StringRef symbol) { return without_arguments(demangle(symbol)); }

std::string qualified_name(const DIScope* scope, StringRef name) {
  std::string result = without_arguments(name);
  for (; scope != nullptr; scope = scope->getScope()) {
    if (isa<DIFile>(scope) || isa<DICompileUnit>(scope) || isa<DILexicalBlockBase>(scope)) continue;
    if (const auto* inner = dyn_cast<DINamespace>(scope); inner != nullptr && inner->getExportSymbols())
      continue;  // an inline namespace
    if (const std::string outer = without_arguments(scope->getName()); !outer.empty())
      result.insert(0, outer + "::");
  }
  return result;
}

}  // namespace heddle
