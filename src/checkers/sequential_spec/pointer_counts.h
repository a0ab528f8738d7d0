// What matters of takes and drops of shared pointers to those who ask whether a pointer is left.
//
// A pointer that a task takes and drops again, in the same if (true*), is *borrowed*. Nobody who looks before
// the task or after it finds it, so neither the take nor the drop counts; what counts is what is left: takes
// that are kept, and drops of what the task has not taken. Which of the two a take is turns out later.
//
// Who finds the object alive by borrowed pointers alone, of tasks that are not around his own, sees the
// middle of those tasks. There, and only there, their drops come after the look: in a second location, what
// is borrowed. (docs/design/dataflow.md says why that is right.)
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "checkers/sequential_spec/history.h"

namespace heddle::sequential_spec {

class PointerCounts {
 public:
  struct Dropped {
    NodeId take = kNoNode;  // that it undoes; kNoNode: none
    bool was_seen = false;  // somebody may have found the object alive by that pointer
  };

  // `life` is the location of what is left; `node`, the take's there.
  void take(uint32_t life, NodeId node, const Context& by);
  Dropped drop(uint32_t life, const Context& by);
  // Nobody has a pointer any more.
  void die(uint32_t life);
  // Whether there may be none but what others have borrowed.
  bool may_be_borrowed(const History& history, uint32_t life, uint32_t number, const Context& by) const;
  // Somebody finds it so; `node`, the read of what is borrowed.
  void look(const History& history, uint32_t life, uint32_t number, const Context& by, NodeId node);
  // What is still there of this task, in this if (true*), is kept.
  void end(TaskId task, MaybeId guard);
  // At the end of the trace: looks that needed no borrowed pointer do not read what is borrowed.
  void settle(History& history) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Taken {
    NodeId node = kNoNode;
    uint32_t before = kNone;  // in taken_: the one that its holder took before and still has
    bool is_undone = false;
  };
  // Who may still drop what it has taken.
  struct Holder {
    TaskId task = kProgram;
    MaybeId guard = kNoMaybe;
    uint32_t last = kNone;  // in taken_
    uint32_t number = 0;    // of those it has
    uint32_t seen = 0;      // so many of them were there when somebody looked
  };
  struct Look {
    NodeId node = kNoNode;
    uint32_t number = 0;             // of all pointers
    std::vector<uint32_t> borrowed;  // the last one of each holder, in taken_
  };

  static uint64_t key_of(TaskId task, MaybeId guard) { return uint64_t{task} << 32 | guard; }
  static bool is_around(const History& history, TaskId outer, TaskId inner);
  Holder* holder(uint32_t life, const Context& by);

  std::vector<Taken> taken_;
  std::vector<Look> looks_;
  tsl::robin_map<uint32_t, std::vector<Holder>> holders_;           // by life; those that run
  tsl::robin_map<uint64_t, std::vector<uint32_t>, MixHash> lives_;  // by holder
};

}  // namespace heddle::sequential_spec
