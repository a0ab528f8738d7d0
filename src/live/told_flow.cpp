#include "live/told_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "runtime/flow.h"

namespace heddle {

namespace {

// What the program says is not believed: a number that no runtime gives is none.
uint32_t label_in(uint64_t said) {
  const auto label = static_cast<uint32_t>(said);
  return label < 2 * runtime::kMostLabels ? label : 0;
}

constexpr uint64_t kOneLabel = (uint64_t{1} << runtime::kLabelBits) - 1;

FlowNames::Labels labels_of(const runtime::Record& record) {
  return {label_in(record.name),   label_in(record.name >> 32),
          label_in(record.caller), label_in(record.caller >> 32),
          label_in(record.extra),  label_in(record.address() >> runtime::kLabelBits)};
}

}  // namespace

uint32_t ToldFlow::number_of(Thread& thread) {
  if (thread.number != kNoId) return thread.number;
  if (unused_numbers_.empty()) return thread.number = numbers_++;
  thread.number = unused_numbers_.back();
  unused_numbers_.pop_back();
  return thread.number;
}

uint32_t ToldFlow::local(Thread& thread, uint64_t label) {
  return names_.local(number_of(thread), label_in(label));
}

void ToldFlow::set_locals(Thread& thread, const runtime::Record& record, Event& event) {
  event.object = local(thread, record.address() & kOneLabel);
  if (event.operation == Operation::kAssign) event.local = names_.list(number_of(thread), labels_of(record));
}

void ToldFlow::fetch(const Thread& thread, const runtime::Record& record) const {
  if (record.operation() == static_cast<uint8_t>(Operation::kAssign))
    names_.fetch(thread.number, labels_of(record));
}

void ToldFlow::begin_construct(Thread& thread, std::string place) {
  is_followed_ = true;
  thread.constructs.push_back(place.empty() ? "task" : std::move(place));
}

void ToldFlow::end_construct(Thread& thread) {
  is_followed_ = true;
  if (!thread.constructs.empty()) thread.constructs.pop_back();
}

void ToldFlow::fork(const Thread& from, Thread& to) const {
  if (!from.constructs.empty()) to.constructs = {from.constructs.back()};
  to.tasks = from.tasks > 0 ? 1 : 0;
}

void ToldFlow::end_thread(Thread& thread) {
  if (thread.number != kNoId) unused_numbers_.push_back(std::exchange(thread.number, kNoId));
}

void ToldFlow::give_back(uint64_t begin, uint64_t end) {
  if (!is_followed_) return;
  use(begin, end);
  dead_.emplace(begin, end);
}

void ToldFlow::use(uint64_t begin, uint64_t end) {
  if (dead_.empty()) return;
  auto range = dead_.upper_bound(begin);
  if (range != dead_.begin() && std::prev(range)->second > begin) --range;
  while (range != dead_.end() && range->first < end) {
    const uint64_t from = range->first;
    const uint64_t to = range->second;
    range = dead_.erase(range);
    if (from < begin) dead_.emplace(from, begin);
    if (to > end) dead_.emplace(end, to);
  }
}

void ToldFlow::lose_maybe(const std::string& place) {
  if (std::find(lost_maybes_.begin(), lost_maybes_.end(), place) == lost_maybes_.end())
    lost_maybes_.push_back(place);
}

bool ToldFlow::is_dead_focus(uint64_t begin, uint64_t end, const std::string& place) {
  const auto after = dead_.upper_bound(begin);
  if (after == dead_.begin() || std::prev(after)->second < end) return false;
  if (std::find(dead_focus_.begin(), dead_focus_.end(), place) == dead_focus_.end())
    dead_focus_.push_back(place);
  return true;
}

namespace {

void add_iteration(std::vector<uint64_t>& iterations, const runtime::Record& record, uint32_t thread) {
  const uint64_t iteration = uint64_t{thread} << 32 | record.extra;
  if (iterations.size() < 2 && (iterations.empty() || iterations[0] != iteration))
    iterations.push_back(iteration);
}

}  // namespace

void ToldFlow::read_own(const runtime::Record& record, uint32_t thread, std::string place) {
  OwnWord& word = own_words_[record.address()];
  if (word.readers.empty()) word.place = std::move(place);
  add_iteration(word.readers, record, thread);
}

void ToldFlow::write_own(const runtime::Record& record, uint32_t thread) {
  add_iteration(own_words_[record.address()].writers, record, thread);
}

// What one iteration writes another one reads, in the sequential version.
bool ToldFlow::OwnWord::carries_over() const {
  if (readers.empty() || writers.empty()) return false;
  return readers.size() > 1 || writers.size() > 1 || readers[0] != writers[0];
}

std::vector<std::string> ToldFlow::notices(Symbolizer& symbolizer) const {
  std::vector<std::string> notices;
  notices.reserve(dead_focus_.size() + lost_maybes_.size() + 1);
  for (const std::string& place : dead_focus_)
    notices.push_back(fmt::format(
        "heddle::focus at {} names an object that is dead: its memory was given back before. Name the "
        "result while it is there; this mark counts for nothing",
        place));
  for (const std::string& place : lost_maybes_)
    notices.push_back(fmt::format(
        "HEDDLE_MAYBE at {} was met by a thread that is in no iteration: it says what an iteration may leave "
        "out, and counts for nothing there. Have an iteration do it, or a thread that an iteration starts",
        place));
  std::set<std::string> own;  // places
  for (const auto& [at, word] : own_words_)
    if (word.carries_over()) own.insert(word.place);
  for (const std::string& place : own)
    notices.push_back(fmt::format(
        "an iteration reads a thread_local variable at {} that other iterations write. The sequential "
        "version "
        "has one thread, and so one such variable for all of them; ndseq takes each thread's for another "
        "one, "
        "so this run may equal no sequential one. Have each iteration write it first, or make it no "
        "thread_local",
        place));
  if (!bad_jump_.empty())
    notices.push_back(fmt::format("the program ended at the longjmp at {}, as it has said", bad_jump_));
  std::map<std::string, uint64_t> by_name;
  for (const auto& [address, calls] : unfollowed_) {
    const std::vector<std::string> frames = symbolizer.frames(address + 1);
    std::string name = frames.empty() ? fmt::format("{:#x}", address) : frames.front();
    if (const std::size_t in = name.find(" in "); in != std::string::npos) name = name.substr(in + 4);
    if (name.starts_with("in ")) name = name.substr(3);  // of a function without lines
    by_name[name] += calls;
  }
  if (by_name.empty()) return notices;
  std::string list;
  for (const auto& [name, calls] : by_name)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, calls);
  notices.push_back(
      "functions that are not built with --heddle-dataflow were called; each is taken to read and write all "
      "that its arguments reach, global variables that it may know by name, what its library was given "
      "before, and unseen_state, which all of them share. Build those so that are yours, or, if one only "
      "reads, declare it [[gnu::pure]], and if it only computes, [[gnu::const]]: " +
      list);
  return notices;
}

}  // namespace heddle
