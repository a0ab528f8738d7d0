#include "trace/text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace heddle {

namespace {

constexpr std::size_t kBlock = std::size_t{1024} * 1024;
constexpr std::size_t kBatch = 2048;
constexpr std::size_t kLongestLine = std::size_t{16} * 1024 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // what some editors put before UTF-8 text

// An operation's word as a number, so that a switch finds it. Words are at most eight letters.
constexpr uint64_t word_key(std::string_view word) {
  uint64_t key = 0;
  for (const char c : word) key = key << 8 | static_cast<uint8_t>(c);
  return key;
}

std::optional<Operation> find_operation(std::string_view word) {
  if (word.size() > sizeof(uint64_t)) return std::nullopt;
  if (word.starts_with('\0')) return std::nullopt;  // a leading zero byte would not show in the key
  // "begin" stands for two operations; the block's kind tells them apart later.
  constexpr auto skip = [](Operation operation) { return operation == Operation::kBeginDeterministic; };
  const uint64_t key = word_key(word);
  switch (key) {
#define HEDDLE_CASE(name, spelling, space, operands)                                           \
  case skip(Operation::name) ? uint64_t{0} - 1:                                                \
    word_key(spelling) : static_assert(std::string_view(spelling).size() <= sizeof(uint64_t)); \
    return skip(Operation::name) ? std::nullopt : std::optional(Operation::name);
    HEDDLE_OPERATIONS(HEDDLE_CASE)
#undef HEDDLE_CASE
    default: return std::nullopt;
  }
}

MemoryOrder find_order(std::string_view word) {
  for (std::size_t i = 1; i < kMemoryOrders; ++i)
    if (kOrderSpelling[i] == word) return static_cast<MemoryOrder>(i);
  return MemoryOrder::kPlain;
}

// Bytes that no name contains.
constexpr std::array<bool, 256> kEndsName = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view(" \t\n\v\f\r|(),")) ends[static_cast<uint8_t>(c)] = true;
  return ends;
}();

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](char c) { return kEndsName[static_cast<uint8_t>(c)]; });
}

// Where the name in `word(name)|…` begins and ends; both 0 when `text` does not begin like that.
struct CommonForm {
  std::size_t open = 0;
  std::size_t close = 0;
};

CommonForm find_common_form(std::string_view text) {
  const auto end_of_name = [&](std::size_t from) {
    while (from < text.size() && !kEndsName[static_cast<uint8_t>(text[from])]) ++from;
    return from;
  };
  const std::size_t open = end_of_name(0);
  if (open == text.size() || text[open] != '(') return {};
  const std::size_t close = end_of_name(open + 1);
  if (close == open + 1 || text.size() - close < 2 || text[close] != ')' || text[close + 1] != '|') return {};
  return {open, close};
}

// Whether `word(name)` is all there need be.
bool takes_one_name(Operands operands) {
  switch (operands) {
    case Operands::kName:
    case Operands::kOptionalName:
    case Operands::kBlock:
    case Operands::kAcquisition:
    case Operands::kEndOfLife:
    case Operands::kSync:
    case Operands::kRead:
    case Operands::kWrite: return true;
    case Operands::kNone:
    case Operands::kOrder:
    case Operands::kFence:
    case Operands::kAssign:
    case Operands::kNumber: return false;
  }
  return false;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos; }

std::string misspelled_operation(std::string_view word) {
  std::vector<std::string> known;
  known.reserve(kOperationInfo.size());
  for (const OperationInfo& operation : kOperationInfo) known.emplace_back(operation.spelling);
  const std::string near = nearest(word, known);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  return fmt::format("unknown operation '{}'{}", shortened(word, 40), hint);
}

}  // namespace

TextReader::TextReader(const std::string& path) : TextReader(std::make_unique<InputFile>(path), "") {}

TextReader::TextReader(std::unique_ptr<InputFile> file, std::string start)
    : name_(file->path()), file_(std::move(file)), buffer_(std::move(start)) {
  bytes_read_ = buffer_.size();
  events_.reserve(kBatch);
  lines_.reserve(kBatch);
}

TextReader::TextReader(std::string name, std::string content)
    : name_(std::move(name)), buffer_(std::move(content)), ended_(true) {
  bytes_read_ = buffer_.size();
}

std::string TextReader::where(EventIndex index) const {
  const EventIndex first = next_index_ - lines_.size();
  return fmt::format("{}:{}", name_, lines_[index - first]);
}

double TextReader::progress() const {
  if (!file_ || !file_->is_regular() || file_->size() == 0) return -1;
  return static_cast<double>(bytes_read_) / static_cast<double>(file_->size());
}

void TextReader::fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
}

// Moves what is left to the front of the buffer and reads on. False at the end of the input.
bool TextReader::refill() {
  if (ended_) return false;
  buffer_.erase(0, position_);
  position_ = 0;
  if (buffer_.size() > kLongestLine) {
    ++line_;
    fail(fmt::format("line longer than {} MiB; this does not look like a trace", kLongestLine >> 20));
  }
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kBlock);
  const std::size_t got = file_->read(buffer_.data() + kept, kBlock);
  buffer_.resize(kept + got);
  bytes_read_ += got;
  ended_ = got < kBlock;
  return got > 0;
}

EventBatch TextReader::next() {
  events_.clear();
  lines_.clear();
  while (events_.size() < kBatch) {
    const std::string_view unread = std::string_view(buffer_).substr(position_);
    const std::size_t length = unread.find('\n');
    if (length == std::string_view::npos) {
      if (refill()) continue;
      const std::string_view rest = std::string_view(buffer_).substr(position_);
      if (rest.empty()) break;
      ++line_;
      position_ = buffer_.size();
      parse_line(rest);
      continue;
    }
    position_ += length + 1;
    ++line_;
    parse_line(unread.substr(0, length));
  }
  const EventBatch batch{next_index_, events_};
  next_index_ += events_.size();
  return batch;
}

void TextReader::parse_line(std::string_view line) {
  if (line_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty() || line.front() == '#' || (line.front() <= ' ' && is_blank(line))) return;
  const std::size_t thread_end = line.find('|');
  if (thread_end == std::string_view::npos)
    fail(fmt::format("expected thread|operation|site, found '{}'", shortened(line, 60)));
  if (thread_end == 0) fail("the thread's name before the first '|' is missing");
  const std::string_view thread = line.substr(0, thread_end);
  const std::string_view rest = line.substr(thread_end + 1);
  Event event;
  // Nearly all lines have one name in parentheses; they are taken apart in one pass.
  const CommonForm form = find_common_form(rest);
  const auto operation = form.close == 0 ? std::nullopt : find_operation(rest.substr(0, form.open));
  if (operation && takes_one_name(info(*operation).operands)) {
    const std::string_view site = find_site(rest, form.close + 1);
    event.operation = *operation;
    event.thread = names_.table(Space::kThread).intern(thread);
    event.object =
        names_.table(info(*operation).space).intern(rest.substr(form.open + 1, form.close - form.open - 1));
    if (!site.empty()) event.site = names_.intern_site(site);
  } else {
    const std::size_t operation_end = rest.find('|');
    if (operation_end == std::string_view::npos)
      fail("expected thread|operation|site: the second '|' is missing (the site after it may be empty)");
    const std::string_view site = find_site(rest, operation_end);
    event.thread = names_.table(Space::kThread).intern(thread);
    parse_operation(rest.substr(0, operation_end), event);
    if (!site.empty()) event.site = names_.intern_site(site);
  }
  events_.push_back(event);
  lines_.push_back(line_);
}

std::string_view TextReader::find_site(std::string_view rest, std::size_t bar) const {
  const std::string_view site = rest.substr(bar + 1);
  if (site.find('|') != std::string_view::npos) fail("more than two '|'; a site cannot contain one");
  return site;
}

void TextReader::parse_operation(std::string_view text, Event& event) {
  // text = word [ "(" operands ")" ] [ (">" | "<") local ]
  const std::size_t open = text.find('(');
  const std::string_view word = text.substr(0, open);
  const auto operation = find_operation(word);
  if (!operation) {
    fail(text.empty() ? "the operation between the two '|' is missing" : misspelled_operation(word));
  }
  event.operation = *operation;
  const OperationInfo& expected = info(*operation);

  bool has_operands = false;
  std::string_view operands;
  std::string_view after;
  if (open != std::string_view::npos) {
    const std::size_t close = text.find(')', open);
    if (close == std::string_view::npos) fail(fmt::format("'{}' has no closing ')'", shortened(text)));
    has_operands = true;
    operands = text.substr(open + 1, close - open - 1);
    after = text.substr(close + 1);
  }
  const std::size_t comma = operands.find(',');
  const std::string_view first = operands.substr(0, comma);
  const bool has_second = comma != std::string_view::npos;
  const std::string_view second = has_second ? operands.substr(comma + 1) : std::string_view();

  const auto require_name = [&](std::string_view name) {
    if (!is_name(name))
      fail(fmt::format(
          "'{}': '{}' is not a name (a name is not empty and has no white space, parenthesis or comma)",
          shortened(text), shortened(name)));
    return name;
  };
  // `form` may have {0} for the operation's word.
  const auto require_form = [&](bool holds, std::string_view form) {
    if (!holds)
      fail(fmt::format("'{}' is not of the form {}", shortened(text), fmt::format(fmt::runtime(form), word)));
  };
  const auto intern_object = [&] { event.object = names_.table(expected.space).intern(require_name(first)); };
  const auto require_order = [&](std::string_view order) {
    event.order = find_order(order);
    if (event.order == MemoryOrder::kPlain)
      fail(fmt::format("'{}': '{}' is not a memory order; use relaxed, acquire, release, acq_rel or seq_cst",
                       shortened(text), shortened(order)));
  };

  const auto may_be_local = [&] { return after.empty() || after.front() == local_arrow(*operation); };
  const auto intern_local = [&] {
    if (!after.empty()) event.local = names_.table(Space::kLocal).intern(require_name(after.substr(1)));
  };

  switch (expected.operands) {
    case Operands::kRead:
    case Operands::kWrite: {
      const std::string_view form = expected.operands == Operands::kRead ? "r(x), r(x,value) or r(x)>local"
                                                                         : "w(x), w(x,value) or w(x)<local";
      require_form(has_operands && may_be_local(), form);
      intern_object();
      if (has_second) event.value = names_.table(Space::kValue).intern(require_name(second));
      intern_local();
      return;
    }
    case Operands::kNumber:
      require_form(has_operands && has_second && after.empty() &&
                       second.find_first_not_of("0123456789") == std::string_view::npos,
                   "{0}(x,NUMBER)");
      intern_object();
      event.value = names_.table(Space::kValue).intern(require_name(second));
      return;
    case Operands::kName:
      require_form(has_operands && !has_second && after.empty(), "{0}(name)");
      intern_object();
      return;
    case Operands::kAcquisition:
      require_form(has_operands && (!has_second || second == "try" || second == "together") && after.empty(),
                   "{0}(m), {0}(m,try) or {0}(m,together)");
      intern_object();
      event.tries = second == "try";
      if (second == "together") event.order = MemoryOrder::kAcqRel;
      return;
    case Operands::kEndOfLife:
      require_form(has_operands && (!has_second || second == "checked") && after.empty(),
                   "{0}(x) or {0}(x,checked)");
      intern_object();
      event.tries = has_second;
      return;
    case Operands::kSync:
      require_form(
          has_operands && (!has_second || second == "release" || second == "acquire") && after.empty(),
          "{0}(s), {0}(s,release) or {0}(s,acquire)");
      intern_object();
      event.order = find_order(second);
      return;
    case Operands::kNone: require_form(!has_operands && after.empty(), "{0}, without operands"); return;
    case Operands::kOptionalName:
      require_form(!has_second && after.empty(), "{0} or {0}(name)");
      if (has_operands) intern_object();
      return;
    case Operands::kBlock:
      require_form(after.empty() && (!has_second || second == "atomic" || second == "deterministic"),
                   "begin, begin(name), begin(name,atomic) or begin(name,deterministic)");
      if (second == "deterministic") event.operation = Operation::kBeginDeterministic;
      if (has_operands) intern_object();
      return;
    case Operands::kOrder:
      require_form(has_second && may_be_local(), local_arrow(*operation) == '>'
                                                     ? "{0}(x,ORDER) or {0}(x,ORDER)>local"
                                                     : "{0}(x,ORDER) or {0}(x,ORDER)<local");
      intern_object();
      require_order(second);
      intern_local();
      return;
    case Operands::kFence:
      require_form(!has_second && after.empty(), "fence or fence(ORDER)");
      event.order = MemoryOrder::kSeqCst;
      if (has_operands) require_order(first);
      return;
    case Operands::kAssign:
      require_form(has_operands && after.empty(), "set(l) or set(l,a,b,…)");
      intern_object();
      if (has_second) {
        for (const std::string_view source : split(second, ",")) require_name(source);
        event.local = names_.table(Space::kLocalList).intern(second);
      }
      return;
  }
}

}  // namespace heddle
