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
  variables_.for_each_known(begin, record.name,
                            [&](uint64_t, uint64_t, uint32_t variable) { add_free(variable); });
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
    add_life(Operation::kFree, variable);
    told_names_.end(Space::kVariable, variable);
  });
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
