// The blocks a thread is in, outermost first.
#pragma once

#include <cstdint>

#include "runtime/blocks.h"
#include "runtime/memory.h"

namespace heddle::runtime {

class OpenBlocks {
 public:
  OpenBlocks() = default;
  OpenBlocks(const OpenBlocks&) = delete;
  OpenBlocks& operator=(const OpenBlocks&) = delete;
  ~OpenBlocks() {
    if (blocks_ != nullptr) deallocate(blocks_, capacity_ * sizeof(Open));
  }

  struct Open {
    const HeddleBlock* block;
    uint64_t stack;  // address in the frame of the function that began it: what lies below has been left
    bool is_told;    // to the monitor
    const void* object;
  };

  bool empty() const { return count_ == 0; }
  const Open& inner() const { return blocks_[count_ - 1]; }
  void push(const Open& open) {
    if (count_ == capacity_) grow();
    blocks_[count_++] = open;
  }
  void pop() { --count_; }
  bool contains(const HeddleBlock* block) const {
    for (uint32_t i = count_; i > 0; --i)
      if (blocks_[i - 1].block == block) return true;
    return false;
  }
  // Those, innermost first, that are atomic and told, up to the first that is not: `visit(open)`.
  template <class Visit>
  uint32_t visit_inner_atomic(Visit visit) const {
    uint32_t visited = 0;
    for (uint32_t i = count_; i > 0 && blocks_[i - 1].is_told && blocks_[i - 1].block->kind == kHeddleAtomic;
         --i, ++visited)
      visit(blocks_[i - 1]);
    return visited;
  }
  // The `count` innermost ones, outermost first.
  template <class Visit>
  void visit_inner(uint32_t count, Visit visit) const {
    for (uint32_t i = count_ - count; i < count_; ++i) visit(blocks_[i]);
  }
  // Those that are deterministic and not told yet, outermost first: `tell(open)`.
  template <class Tell>
  void tell_deterministic(Tell tell) {
    for (uint32_t i = 0; i < count_; ++i) {
      if (blocks_[i].is_told || blocks_[i].block->kind != kHeddleDeterministic) continue;
      tell(blocks_[i]);
      blocks_[i].is_told = true;
    }
  }
  void leave_untold() {
    for (uint32_t i = 0; i < count_; ++i) blocks_[i].is_told = false;
  }
  bool any_is_told() const {
    for (uint32_t i = 0; i < count_; ++i)
      if (blocks_[i].is_told) return true;
    return false;
  }

 private:
  void grow() {
    const uint32_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    auto* const blocks = static_cast<Open*>(allocate(capacity * sizeof(Open)));
    for (uint32_t i = 0; i < count_; ++i) blocks[i] = blocks_[i];
    if (blocks_ != nullptr) deallocate(blocks_, capacity_ * sizeof(Open));
    blocks_ = blocks;
    capacity_ = capacity;
  }

  Open* blocks_ = nullptr;
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
};

}  // namespace heddle::runtime
