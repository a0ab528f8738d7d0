#include "checkers/predictive/shape_index.h"

#include <utility>

namespace heddle::predictive {

namespace {

// Positions of the steps that are wanted, ordered by their object and then by place.
template <class Wanted>
std::vector<uint32_t> by_object(const std::vector<ShapeStep>& steps, Wanted wanted) {
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (wanted(steps[i].kind)) positions.push_back(i);
  std::sort(positions.begin(), positions.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(steps[a].object, a) < std::pair(steps[b].object, b);
  });
  return positions;
}

VariableUse use_of(const std::vector<ShapeStep>& steps, std::span<const uint32_t> accesses) {
  VariableUse use;
  use.variable = steps[accesses.front()].object;
  for (const uint32_t i : accesses) {
    if (reads(steps[i].kind) && !use.writes()) {
      if (use.first_read == kNoId) use.first_read = i;
      use.last_read = i;
    }
    if (writes(steps[i].kind)) {
      if (use.first_write == kNoId) use.first_write = i;
      use.final_write = i;
    }
  }
  return use;
}

// What is held from each acquire to its release, all of it taken together.
LocksetId held_along(const std::vector<ShapeStep>& steps, std::span<const uint32_t> locking,
                     LocksetTable& locksets) {
  const uint32_t lock = steps[locking.front()].object;
  LocksetId with = kNoId;
  for (const uint32_t acquire : locking) {
    if (!is_acquire(steps[acquire].kind)) continue;
    for (uint32_t i = acquire + 1; i < steps.size(); ++i) {
      with = with == kNoId ? steps[i].held : locksets.intersect(with, steps[i].held);
      if (is_release(steps[i].kind) && steps[i].object == lock) break;
    }
  }
  return with == kNoId ? kEmptyLockset : locksets.remove(with, lock);
}

// Calls visit(first, end) for each run of positions with the same object.
template <class Visit>
void for_each_object(const std::vector<ShapeStep>& steps, const std::vector<uint32_t>& positions,
                     Visit visit) {
  for (uint32_t first = 0; first < positions.size();) {
    uint32_t end = first;
    while (end < positions.size() && steps[positions[end]].object == steps[positions[first]].object) ++end;
    visit(first, end);
    first = end;
  }
}

}  // namespace

ShapeIndex index_shape(const Shape& shape, LocksetTable& locksets) {
  const std::vector<ShapeStep>& steps = shape.steps;
  ShapeIndex index;
  index.accesses = by_object(steps, is_access);
  index.locking = by_object(steps, [](StepKind kind) { return is_acquire(kind) || is_release(kind); });
  for_each_object(steps, index.accesses, [&](uint32_t first, uint32_t end) {
    VariableUse use = use_of(steps, std::span(index.accesses).subspan(first, end - first));
    use.first = first;
    use.end = end;
    index.variables.push_back(use);
  });
  for_each_object(steps, index.locking, [&](uint32_t first, uint32_t end) {
    const std::span<const uint32_t> of_lock = std::span(index.locking).subspan(first, end - first);
    index.locks.push_back({steps[of_lock.front()].object, held_along(steps, of_lock, locksets), first, end});
  });
  return index;
}

}  // namespace heddle::predictive
