// The blocks a thread is in, outermost first.
#pragma once

#include <cstdint>

#include "runtime/blocks.h"
#include "runtime/growing_array.h"

namespace heddle::runtime {

class OpenBlocks {
 public:
  OpenBlocks() = default;
  OpenBlocks(const OpenBlocks&) = delete;
  OpenBlocks& operator=(const OpenBlocks&) = delete;
  ~OpenBlocks() { blocks_.give_back(); }

  struct Open {
    const HeddleBlock* block;
    uint64_t stack;  // address in the frame of the function that began it: what lies below has been left
    bool is_told;    // to the monitor
    const void* object;
  };

  bool empty() const { return blocks_.empty(); }
  const Open& inner() const { return blocks_.back(); }
  void push(const Open& open) { blocks_.add() = open; }
  void pop() { blocks_.remove_last(); }
  bool contains(const HeddleBlock* block) const {
    for (uint32_t i = blocks_.size(); i > 0; --i)
      if (blocks_[i - 1].block == block) return true;
    return false;
  }
  // Those, innermost first, that are atomic and told, up to the first that is not: `visit(open)`.
  template <class Visit>
  uint32_t visit_inner_atomic(Visit visit) const {
    uint32_t visited = 0;
    for (uint32_t i = blocks_.size();
         i > 0 && blocks_[i - 1].is_told && blocks_[i - 1].block->kind == kHeddleAtomic; --i, ++visited)
      visit(blocks_[i - 1]);
    return visited;
  }
  // The `count` innermost ones, outermost first.
  template <class Visit>
  void visit_inner(uint32_t count, Visit visit) const {
    for (uint32_t i = blocks_.size() - count; i < blocks_.size(); ++i) visit(blocks_[i]);
  }
  // Those that are deterministic and not told yet, outermost first: `tell(open)`.
  template <class Tell>
  void tell_deterministic(Tell tell) {
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].is_told || blocks_[i].block->kind != kHeddleDeterministic) continue;
      tell(blocks_[i]);
      blocks_[i].is_told = true;
    }
  }
  void leave_untold() {
    for (uint32_t i = 0; i < blocks_.size(); ++i) blocks_[i].is_told = false;
  }
  bool any_is_told() const {
    for (uint32_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].is_told) return true;
    return false;
  }

 private:
  GrowingArray<Open> blocks_;
};

}  // namespace heddle::runtime
