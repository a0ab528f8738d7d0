#include "symbols/readable_name.h"

#include <cxxabi.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace heddle {

namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kOperatorSymbols = "+-*/%^&|~!=<>,[]";

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Whether the word "operator" stands at `at`.
bool is_operator(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kOperator) || (at > 0 && is_name_character(text[at - 1]))) return false;
  const std::size_t end = at + kOperator.size();
  return end == text.size() || !is_name_character(text[end]);
}

// The end of the operator's name that begins at `at` with "operator": past "operator<<", "operator()",
// "operator new[]", "operator unsigned long".
std::size_t operator_end(std::string_view text, std::size_t at) {
  std::size_t end = at + kOperator.size();
  if (text.substr(end).starts_with("()")) return end + 2;
  const std::size_t symbols = text.find_first_not_of(kOperatorSymbols, end);
  if (symbols != end) return std::min(symbols, text.size());
  return std::min(text.find('(', end), text.size());
}

// The position of the bracket that closes the one at `at`; the end of the text if none does.
std::size_t closing(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '<' ? '>' : open == '(' ? ')' : '}';
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (open == '<' && is_operator(text, i)) {
      i = operator_end(text, i) - 1;
    } else if (open == '<' && text[i] == '(') {
      i = closing(text, i);  // an expression there may hold a lone '>'
    } else if (text[i] == open) {
      ++depth;
    } else if (text[i] == close && --depth == 0) {
      return i;
    }
  }
  return text.size();
}

// Whether `text` ends in the name of something in the standard library.
bool ends_in_std_name(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && (is_name_character(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  const std::string_view name = text.substr(begin);
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

// Takes `word` off the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// What follows a parameter list, without the qualifiers that belong to the function.
std::string_view without_qualifiers(std::string_view text) {
  while (take(text, " const") || take(text, " volatile") || take(text, " &") || take(text, "&")) {
  }
  return text;
}

// Clang calls the first lambda of a function "$_0" in the symbols of functions that no other file can see.
std::string lambda_from(std::string_view component) {
  std::string_view digits = component;
  uint32_t number = 0;
  if (!take(digits, "$_")) return std::string(component);
  const char* end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, number).ptr != end) return std::string(component);
  return "{lambda#" + std::to_string(number + 1) + "}";
}

}  // namespace

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol.substr(0, symbol.find('.', 1));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : symbol;
}

std::string readable_type(std::string_view type) {
  static constexpr std::array<std::string_view, 4> kDropped = {
      "(anonymous namespace)::", "{anonymous}::", "__cxx11::", "[abi:cxx11]"};
  static constexpr std::string_view kLambda = "{lambda(";
  std::string result;
  for (std::size_t i = 0; i < type.size();) {
    std::string_view rest = type.substr(i);
    bool dropped = false;
    for (const std::string_view word : kDropped) dropped = dropped || take(rest, word);
    if (dropped) {
      i = type.size() - rest.size();
    } else if (is_operator(type, i)) {
      const std::size_t end = std::min(operator_end(type, i), type.find(' ', i));
      result += type.substr(i, end - i);
      i = end;
    } else if (rest.starts_with(kLambda)) {
      result += "{lambda";
      i = closing(type, i + kLambda.size() - 1) + 1;
    } else if (type[i] == '<' && ends_in_std_name(result)) {
      if (result.ends_with("std::basic_string") && rest.starts_with("<char,"))
        result.replace(result.size() - 12, 12, "string");
      i = closing(type, i) + 1;
    } else if (rest.starts_with(" >") && i > 0 && type[i - 1] == '>') {
      ++i;
    } else {
      result += type[i++];
    }
  }
  return result;
}

std::string readable_function(std::string_view demangled) {
  const std::string clean = readable_type(demangled.substr(0, demangled.find(" [clone ")));
  const std::string_view text = clean;
  std::string name;
  for (std::size_t i = 0; i < text.size();) {
    if (is_operator(text, i)) {
      const std::size_t end = operator_end(text, i);
      name += text.substr(i, end - i);
      i = end;
      if (text.substr(i).starts_with(" <")) ++i;
    } else if (text[i] == '(') {
      const std::size_t close = closing(text, i);
      const std::string_view rest = without_qualifiers(text.substr(std::min(close + 1, text.size())));
      if (name.empty() || name == "decltype") {
        name.clear();  // part of the return type
        i = close + 1;
      } else if (rest.starts_with("::")) {
        i = text.size() - rest.size();
      } else {
        break;
      }
    } else if (text[i] == '<' || text[i] == '{') {
      const std::size_t end = std::min(closing(text, i) + 1, text.size());
      name += text.substr(i, end - i);
      i = end;
    } else if (text[i] == ' ') {
      name.clear();  // that was the return type
      ++i;
    } else if (text[i] == '$' && name.ends_with("::")) {
      const std::size_t end = std::min(text.find_first_of(":(<", i), text.size());
      name += lambda_from(text.substr(i, end - i));
      i = end;
    } else {
      name += text[i++];
    }
  }
  // A lambda is called by its operator and by nothing else.
  static constexpr std::string_view kCall = "}::operator()";
  const std::size_t call = name.rfind(kCall);
  if (call != std::string::npos && (name.ends_with(kCall) || name[call + kCall.size()] == '<'))
    name.resize(call + 1);
  return name.empty() ? clean : name;
}

std::string readable_variable(std::string_view demangled) {
  static constexpr std::string_view kFor = " for ";
  const std::size_t begin = demangled.find(kFor);
  if (begin == std::string_view::npos) return readable_function(demangled);
  const std::size_t name = begin + kFor.size();
  return std::string(demangled.substr(0, name)) + readable_function(demangled.substr(name));
}

}  // namespace heddle
