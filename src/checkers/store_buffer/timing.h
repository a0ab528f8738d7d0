// When the stores of an execution can be committed, given what is wanted of some of them: the validity
// relation of ALGORITHMS §5. It holds the trace's order of operations, each store before its commit, a
// thread's commits in order, a commit before its thread's next drain, and the wants.
#pragma once

#include <span>
#include <vector>

#include "checkers/store_buffer/history.h"

namespace heddle::store_buffer {

// One thing that is wanted of the commits.
struct Want {
  enum class Kind : uint8_t {
    kNothing,
    kCommitAfter,   // the commit of `store` after operation `other`
    kCommitBefore,  // the commit of `store` before operation `other`
    kInOrder,       // the commit of `store` before that of the store `other`
  };
  Kind kind = Kind::kNothing;
  OpId store = kNoOp;
  OpId other = kNoOp;
};

// The wants of an order between two operations of different threads on one location, one of which writes:
// that `from` reaches (or reads) memory before `to` does. A read comes before a foreign write only if the
// store of its own thread that may have served it was committed before, too; S2 (1)(i).
struct Wants {
  Want first;
  Want second;
  bool impossible = false;

  bool is_certain() const {
    return !impossible && first.kind == Want::Kind::kNothing && second.kind == Want::Kind::kNothing;
  }
};
Wants wants_of(const History& history, OpId from, OpId to);

// A store, and the operation after which it is committed: the earliest that the wants allow.
struct Commit {
  OpId store;
  OpId after;
};

class Timing {
 public:
  explicit Timing(const History& history) : history_(history) {}

  // Whether some execution has it all. Then commits() are those of the stores mentioned, in order.
  bool allows(std::span<const Want> wants);
  const std::vector<Commit>& commits() const { return commits_; }

 private:
  struct Bounds {
    OpId store;
    OpId after;   // some operation at or after its issue
    OpId before;  // its drain or an operation before
    uint32_t waits_for;
  };

  uint32_t place_of(OpId store) const;

  const History& history_;
  std::vector<Bounds> stores_;                           // in the order of issue
  std::vector<std::pair<uint32_t, uint32_t>> in_order_;  // places in stores_
  std::vector<uint32_t> ready_;
  std::vector<Commit> commits_;
};

}  // namespace heddle::store_buffer
