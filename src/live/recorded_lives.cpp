// What a recording has of memory that is given back: in a trace, a free that is checked
// (docs/design/freeing.md).
#include <algorithm>

#include "live/live_trace.h"

namespace heddle {

using runtime::Record;

namespace {

// How much of it is in none of the variables that lie there.
class Uncovered {
 public:
  explicit Uncovered(uint64_t size) : left_(size) {}
  void cover(uint64_t size) { left_ -= std::min(left_, size); }
  bool any() const { return left_ > 0; }

 private:
  uint64_t left_;
};

}  // namespace

void LiveTrace::give_back(const Record& record) {
  const uint64_t begin = record.address();
  const uint64_t end = begin + record.name;
  Event free;
  free.operation = Operation::kFree;
  free.tries = true;
  free.thread = now_;
  free.site = sites_.site_of(record);
  const auto add_free = [&](uint32_t variable) {
    free.object = variable;
    add(free);
  };
  uint32_t count = 0;  // with numbers in a row, from free.object on
  variables_.for_each_known(begin, record.name, [&](uint64_t, uint64_t, uint32_t variable) {
    if (count > 0 && variable == free.object + count) {
      ++count;
      return;
    }
    add_lives(free, count);
    free.object = variable;
    count = 1;
  });
  add_lives(free, count);
  freed_.for_each(begin, end, add_free);  // twice
  if (record.extra != runtime::kIsFreed) return forget(begin, record.name);

  end_freed(begin, end);
  for (uint64_t piece = begin; piece < end; piece += FreedMemory::kMostBytes) {
    const uint64_t piece_end = std::min(end, piece + FreedMemory::kMostBytes);
    Uncovered uncovered(piece_end - piece);
    variables_.for_each_known(piece, piece_end - piece,
                              [&](uint64_t, uint64_t size, uint32_t) { uncovered.cover(size); });
    if (!uncovered.any()) continue;
    const uint32_t variable = told_names_.add_or_reuse(Space::kVariable, {piece, 0, free.site, "memory"});
    add_free(variable);
    freed_.add(piece, piece_end, variable);
  }
  forget_objects(begin, end);
}

void LiveTrace::end_freed(uint64_t begin, uint64_t end) {
  freed_.forget(begin, end, [&](uint32_t variable) {
    add_lives(Operation::kFree, variable, 1);
    told_names_.end(Space::kVariable, variable);
  });
}

// Many are one event of a recording.
void LiveTrace::add_lives(const Event& event, uint32_t count) {
  constexpr uint32_t kFew = 16;
  constexpr uint32_t kMostAtOnce = 65536;
  Event next = event;
  if (divided_ != Divided::kRecorded || count < kFew) {
    for (; count > 0; --count, ++next.object) add(next);
    return;
  }
  SeriesShape shape;
  shape.steps.push_back({.operation = event.operation,
                         .site = event.site,
                         .target = SeriesShape::kNoOperand,
                         .sources = {},
                         .tries = event.tries});
  shape.blocks.push_back({.first_step = 0, .steps = 1, .first_edge = 0, .edges = 0});
  SeriesRun run;
  run.shape = names_.table(Space::kShape).intern(shape.text());
  Event series;
  series.operation = kSeries;
  series.thread = event.thread;
  while (count > 0) {
    run.rounds = std::min(count, kMostAtOnce);
    std::string text;
    run.add_to(text);
    SeriesRun::add_even(text, next.object, 1, run.rounds);
    series.object = names_.table(Space::kRun).intern(text);
    add(series);
    in_series_ += run.rounds - 1;
    next.object += run.rounds;
    count -= run.rounds;
  }
}

// So many with numbers in a row: kNone, some have to begin one by one.
uint32_t LiveTrace::begin_row(uint64_t address, unsigned size, uint32_t count) {
  if (divided_ != Divided::kRecorded) return Variables::kNone;
  const uint64_t end = address + uint64_t{size} * count;
  if (freed_.any(address, end)) return Variables::kNone;
  if (accessing_ == &series_access_) accessing_at_ = sites_.site_of(series_access_);
  const std::size_t known = names_.table(Space::kVariable).size();
  const uint32_t first = told_names_.add_row_or_reuse(
      Space::kVariable, {address, accessing_->name, accessing_at_, "memory"}, end, count);
  if (first != kNoId && first < known && flow_.is_followed()) add_lives(Operation::kAlloc, first, count);
  return first;
}

// A variable that begins in memory that was freed: kNoId, it was not.
uint32_t LiveTrace::begin_in_freed(uint64_t address) {
  const uint32_t whole = freed_.part_of(address);
  if (whole == FreedMemory::kNone) return kNoId;
  const uint32_t part =
      told_names_.add(Space::kVariable, {address, accessing_->name, accessing_at_, "memory"});
  names_.parts().push_back({part, whole});
  parts_of_freed_.insert(part);
  return part;
}

}  // namespace heddle
