// Lipton's movers (S1 §4): which operations can be swapped with a neighbour of another thread.
//
// Acquire, join, leave and wait move right, release, fork, arrive and post move left; race-free accesses and
// locks that only one thread takes move both ways; all else does not move. A transaction of the form
// (R|B)* N? (L|B)* can be moved together in every schedule (Thm 4.1), so it is atomic whatever others do, if
// they are of that form as well; and no schedule is unserializable on account of such transactions alone.
//
// An access is race-free when it initializes its variable, or when no *rival* can come next to it: an access
// of another thread, not of the initialization, at least one of the two a write, that can hold its locks at
// the same time (Thm 4.3). The common-lock test (Thm 4.4) asks for one lock that every access but the
// initialization holds, and every write exclusively.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "checkers/predictive/transactions.h"
#include "core/checker.h"

namespace heddle::predictive {

enum class Mover : uint8_t { kBoth, kRight, kLeft, kNone };
char letter(Mover mover);

// Where a transaction leaves the form (R|B)* N? (L|B)*.
struct Break {
  std::size_t committed = 0;  // the step after which only left- and both-movers may come
  std::size_t offends = 0;    // a later step that is neither
};

// Of the steps that are not `around`; mover_of(i) tells the mover of step i.
template <class MoverOf>
std::optional<Break> find_break(const Shape& shape, MoverOf mover_of) {
  std::optional<std::size_t> committed;
  for (std::size_t i = 0; i < shape.steps.size(); ++i) {
    if (shape.steps[i].around) continue;
    const Mover mover = mover_of(i);
    if (committed && (mover == Mover::kRight || mover == Mover::kNone)) return Break{*committed, i};
    if (!committed && (mover == Mover::kLeft || mover == Mover::kNone)) committed = i;
  }
  return std::nullopt;
}

class Movers {
 public:
  Movers(const Transactions& run, LocksetTable locksets, RaceFreedom test);

  Mover of(const ShapeStep& step, ThreadId thread) const;
  std::optional<Break> find_break(const Shape& shape, ThreadId thread) const;

  struct Place {
    uint32_t group = kNoId;
    std::size_t step = 0;
    ThreadId thread = kNoId;
  };
  // An access that makes this one of `thread` a non-mover; none: it is race-free, or no access.
  std::optional<Place> rival(const ShapeStep& step, ThreadId thread) const;

 private:
  // Accesses of a variable that are alike, and who makes them.
  struct Profile {
    LocksetId held = kEmptyLockset;
    bool writes = false;
    std::array<Place, 2> places;  // of different threads; the second may be missing
  };
  void add(const ShapeStep& step, const Place& place);
  bool is_guarded(VariableId variable) const { return variable < guarded_.size() && guarded_[variable]; }

  const Transactions& run_;
  LocksetTable locksets_;
  RaceFreedom test_;
  std::vector<std::vector<Profile>> profiles_;  // by variable
  std::vector<bool> guarded_;                   // by variable: one lock is held at every access (common lock)
};

}  // namespace heddle::predictive
