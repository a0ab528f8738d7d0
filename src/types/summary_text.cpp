#include "types/summary_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace heddle::types {

namespace {

constexpr std::array<std::pair<std::string_view, OperationKind>, 19> kOperations = {{
    {"read", OperationKind::kRead},
    {"write", OperationKind::kWrite},
    {"atomic", OperationKind::kAtomic},
    {"acquire", OperationKind::kAcquire},
    {"share", OperationKind::kAcquireShared},
    {"release", OperationKind::kRelease},
    {"drop", OperationKind::kDrop},
    {"wait", OperationKind::kWait},
    {"call", OperationKind::kCall},
    {"address", OperationKind::kAddressTaken},
    {"leak", OperationKind::kLeak},
    {"define", OperationKind::kDefine},
    {"fork", OperationKind::kFork},
    {"join", OperationKind::kJoin},
    {"pass", OperationKind::kPass},
    {"read-whole", OperationKind::kWholeRead},
    {"write-whole", OperationKind::kWholeWrite},
    {"order", OperationKind::kOrder},
    {"element", OperationKind::kElement},
}};

std::optional<OperationKind> operation_named(std::string_view name) {
  for (const auto& [text, kind] : kOperations)
    if (text == name) return kind;
  return std::nullopt;
}

std::string_view name_of(OperationKind kind) {
  for (const auto& [text, known] : kOperations)
    if (known == kind) return text;
  return "";
}

bool has_callee(OperationKind kind) {
  return kind == OperationKind::kCall || kind == OperationKind::kPass || kind == OperationKind::kWholeRead ||
         kind == OperationKind::kWholeWrite || kind == OperationKind::kElement;
}

class Reader {
 public:
  Reader(Program& program, const std::string& file) : program_(program), file_(file) {}

  void read(std::string_view text) {
    line_ = 0;
    function_ = nullptr;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line_;
      read_line(line);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: summaries, line {}: {}", file_, line_, what));
  }

  uint64_t number(std::string_view text) const {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      refuse(fmt::format("'{}' is not a number", printable(text)));
    return value;
  }

  void need(const std::vector<std::string_view>& words, std::size_t count) const {
    if (words.size() < count) refuse(fmt::format("'{}' lacks a part", printable(words[0])));
  }

  void read_line(std::string_view line) {
    if (line_ == 1) {
      if (line != kSummaryVersion)
        refuse(fmt::format("this heddle reads '{}', not '{}'; build the program again", kSummaryVersion,
                           shortened(printable(line))));
      return;
    }
    if (line.empty()) return;
    const std::vector<std::string_view> words = split(line, "\t");
    if (words[0] == "function") return begin_function(words);
    if (words[0] == "block") return begin_block(words);
    if (words[0] == "class") return begin_class(words);
    if (words[0] == "member") return add_member(words);
    if (words[0] == "source") {
      need(words, 3);
      program_.sources[std::string(words[2])] = words[1];
    } else if (words[0] == "global" || words[0] == "lock") {
      need(words, 3);
      program_.globals[std::string(words[1])] = words[2];
      if (words[0] == "lock") program_.global_locks.emplace(words[1]);
    } else if (words[0] == "fences") {
      program_.has_acquire_fences = true;
    } else if (words[0] == "opaque") {
      need(words, 2);
      program_.opaque_classes.emplace(words[1]);
    } else if (words[0] == "opaque-file") {
      need(words, 2);
      program_.opaque_files.emplace_back(words[1]);
    } else {
      add_operation(words);
    }
  }

  void begin_function(const std::vector<std::string_view>& words) {
    need(words, 7);
    const auto [entry, is_new] = program_.functions.try_emplace(std::string(words[1]));
    unused_ = {};
    function_ = is_new ? &entry->second : &unused_;
    function_->symbol = words[1];
    function_->name = words[2];
    function_->site = words[3];
    function_->signature = words[4];
    constexpr uint64_t kMostParameters = 10'000;
    function_->parameters = static_cast<uint32_t>(std::min(number(words[5]), kMostParameters));
    Function& known = entry->second;  // one file may take the address, another not
    for (const char flag : words[6]) {
      switch (flag) {
        case 'c': function_->is_constructor = true; break;
        case 'd': function_->is_destructor = true; break;
        case 'r': function_->makes_result = true; break;
        case 'l': function_->is_library = true; break;
        case 'e': known.is_entry = true; break;
        case 't': known.is_taken = true; break;
        case '-': break;
        default: refuse(fmt::format("'{}' is no property of a function", printable(std::string(1, flag))));
      }
    }
  }

  void begin_block(const std::vector<std::string_view>& words) {
    if (function_ == nullptr) refuse("a block outside of functions");
    Block& block = function_->blocks.emplace_back();
    for (std::size_t i = 1; i < words.size(); ++i)
      block.next.push_back(static_cast<uint32_t>(number(words[i])));
  }

  void begin_class(const std::vector<std::string_view>& words) {
    need(words, 3);
    class_ = &program_.classes[std::string(words[1])];
    class_->name = words[1];
    class_->size = std::max(class_->size, number(words[2]));
  }

  void add_member(const std::vector<std::string_view>& words) {
    need(words, 7);
    if (class_ == nullptr) refuse("a member outside of classes");
    Member member;
    member.name = words[1];
    member.offset = number(words[2]);
    member.size = number(words[3]);
    member.is_lock = words[4] == "lock";
    member.is_atomic = words[4] == "atomic";
    member.type = words[5];
    member.site = words[6];
    for (const Member& known : class_->members)
      if (known.name == member.name) return;
    class_->members.push_back(std::move(member));
  }

  void add_operation(const std::vector<std::string_view>& words) {
    const std::optional<OperationKind> kind = operation_named(words[0]);
    if (!kind) refuse(fmt::format("unknown line '{}'", shortened(printable(words[0]))));
    if (function_ == nullptr || function_->blocks.empty()) refuse("an operation outside of functions");
    need(words, 3);
    Operation operation;
    operation.kind = *kind;
    operation.site = words[1];
    if (has_callee(*kind)) {
      need(words, 4);
      operation.callee = words[2];
      operation.path = words[3];
      for (std::size_t i = 4; i < words.size(); ++i) operation.arguments.emplace_back(words[i]);
    } else {
      operation.path = words[2];
    }
    function_->blocks.back().operations.push_back(std::move(operation));
  }

  Program& program_;
  const std::string& file_;
  std::size_t line_ = 0;
  Function* function_ = nullptr;
  Function unused_;  // a copy of a function that is known
  Class* class_ = nullptr;
};

void check_blocks(const Program& program, const std::string& file) {
  for (const auto& [symbol, function] : program.functions)
    for (const Block& block : function.blocks)
      for (const uint32_t next : block.next)
        if (next >= function.blocks.size())
          throw InputError(
              fmt::format("{}: summaries: {} goes on at a block that is not there", file, printable(symbol)));
}

}  // namespace

void read_summaries(std::string_view texts, const std::string& file, Program& program) {
  Reader reader(program, file);
  while (!texts.empty()) {
    const std::size_t end = texts.find('\0');
    const std::string_view text = texts.substr(0, end);
    texts.remove_prefix(end == std::string_view::npos ? texts.size() : end + 1);
    if (!text.empty()) reader.read(text);  // the linker may fill up with 0
  }
  check_blocks(program, file);
}

std::string summary_text(const Program& program) {
  std::string text(kSummaryVersion);
  text += '\n';
  const auto add = [&](const auto&... words) {
    text += fmt::format("{}\n", fmt::join(std::vector<std::string>{std::string(words)...}, "\t"));
  };
  for (const auto& [path, hash] : program.sources) add("source", hash, path);
  for (const auto& [name, site] : program.globals)
    add(program.global_locks.contains(name) ? "lock" : "global", name, site);
  if (program.has_acquire_fences) add("fences");
  for (const std::string& name : program.opaque_classes) add("opaque", name);
  for (const std::string& name : program.opaque_files) add("opaque-file", name);
  for (const auto& [name, type] : program.classes) {
    add("class", name, fmt::format("{}", type.size));
    for (const Member& member : type.members)
      add("member", member.name, fmt::format("{}", member.offset), fmt::format("{}", member.size),
          member.is_lock     ? "lock"
          : member.is_atomic ? "atomic"
                             : "data",
          member.type, member.site);
  }
  for (const auto& [symbol, function] : program.functions) {
    std::string flags;
    if (function.is_constructor) flags += 'c';
    if (function.is_destructor) flags += 'd';
    if (function.makes_result) flags += 'r';
    if (function.is_library) flags += 'l';
    if (function.is_entry) flags += 'e';
    if (function.is_taken) flags += 't';
    add("function", symbol, function.name, function.site, function.signature,
        fmt::format("{}", function.parameters), flags.empty() ? "-" : flags);
    for (const Block& block : function.blocks) {
      text += "block";
      for (const uint32_t next : block.next) text += fmt::format("\t{}", next);
      text += '\n';
      for (const Operation& operation : block.operations) {
        text += fmt::format("{}\t{}", name_of(operation.kind), operation.site);
        if (has_callee(operation.kind)) text += fmt::format("\t{}", operation.callee);
        text += fmt::format("\t{}", operation.path);
        for (const std::string& argument : operation.arguments) text += fmt::format("\t{}", argument);
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace heddle::types
