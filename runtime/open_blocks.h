// The blocks a thread is in, outermost first.
//
// Many blocks do nothing that another thread could see: they return a reference, or what no other thread
// changes. So the beginning of a block is told with the first that is told of what it does; a block that ends
// before leaves no trace, and what was checked before it need not be checked again after it.
#pragma once

#include <cstdint>

#include "runtime/blocks.h"
#include "runtime/growing_array.h"
#include "runtime/layout.h"

namespace heddle::runtime {

class OpenBlocks {
 public:
  OpenBlocks() = default;
  OpenBlocks(const OpenBlocks&) = delete;
  OpenBlocks& operator=(const OpenBlocks&) = delete;
  ~OpenBlocks() { blocks_.give_back(); }

  enum class State : uint8_t {
    kUntold,   // there was nobody to tell
    kPending,  // the first that it does is told after it
    kTold,
    kLeft,  // told, and left for a while: what the thread does now is no part of it
  };
  struct Open {
    const HeddleBlock* block;
    uint64_t stack;  // address in the frame of the function that began it: what lies below has been left
    const void* object;
    const void* pc;
    uint32_t context;  // of the call stack
    State state;
    // What the thread was in when it began a new stretch for the block, and how often it had begun one for
    // other reasons; kNoStretch: it began none.
    uint64_t stamp;
    uint64_t group;
    uint64_t breaks;
    static constexpr uint64_t kNoStretch = ~uint64_t{0};
  };

  bool empty() const { return blocks_.empty(); }
  uint32_t size() const { return blocks_.size(); }
  const Open& inner() const { return blocks_.back(); }
  // Field by field: a copy would wait for what was just stored.
  [[gnu::always_inline]] void push(const HeddleBlock* block, uint64_t stack, const void* object,
                                   const void* pc, uint32_t context, State state, uint64_t breaks) {
    Open& open = blocks_.add();
    open.block = block;
    open.stack = stack;
    open.object = object;
    open.pc = pc;
    open.context = context;
    open.state = state;
    open.stamp = heddle_thread_state.stamp;
    open.group = heddle_thread_state.group;
    open.breaks = breaks;
    pending_ += state == State::kPending;
  }
  void pop() {
    pending_ -= inner().state == State::kPending;
    blocks_.remove_last();
  }
  bool contains(const HeddleBlock* block) const {
    for (uint32_t i = blocks_.size(); i > 0; --i)
      if (blocks_[i - 1].block == block) return true;
    return false;
  }
  // The innermost ones, which are told when anything else is.
  uint32_t pending() const { return pending_; }
  // Whether anything was told of the atomic block that the thread is in: of one that is pending, nothing.
  bool is_in_told_atomic() const {
    const uint32_t told = blocks_.size() - pending_;
    return told > 0 && blocks_[told - 1].state == State::kTold &&
           blocks_[told - 1].block->kind == kHeddleAtomic;
  }
  // Says that they are told now: `visit(open, how many there are up to it)`, outermost first.
  template <class Visit>
  [[gnu::always_inline]] void tell_pending(Visit visit) {
    const uint32_t first = blocks_.size() - pending_;
    pending_ = 0;
    for (uint32_t i = first; i < blocks_.size(); ++i) {
      blocks_[i].state = State::kTold;
      visit(blocks_[i], i + 1);
    }
  }
  // Says that those of the `count` outermost ones that are pending are told now: `visit(open)`, outermost
  // first.
  template <class Visit>
  void tell_outer(uint32_t count, Visit visit) {
    for (uint32_t i = 0; i < count; ++i) {
      if (blocks_[i].state != State::kPending) continue;
      blocks_[i].state = State::kTold;
      --pending_;
      visit(blocks_[i]);
    }
  }
  // Whether nothing was told of any that the thread is in.
  bool is_none_told() const {
    for (uint32_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].state == State::kTold) return false;
    return true;
  }
  // How many, innermost first, are atomic and told, up to the first that is not, or up to the first that the
  // program itself asks for.
  uint32_t inner_atomic(bool only_by_default) const {
    uint32_t count = 0;
    const auto fits = [&](const Open& open) {
      return open.state == State::kTold && open.block->kind == kHeddleAtomic &&
             (!only_by_default || open.block->origin == kHeddleByDefault);
    };
    while (count < blocks_.size() && fits(blocks_[blocks_.size() - 1 - count])) ++count;
    return count;
  }
  // Leaves or enters again, for a while, the one with so many inside it.
  const Open& leave(uint32_t inner) { return become(inner, State::kLeft); }
  const Open& enter_again(uint32_t inner) { return become(inner, State::kTold); }
  // Those that the program asks for and that began when there was nobody to tell, outermost first:
  // `tell(open)`. None of them lies within one that is pending.
  template <class Tell>
  void tell_untold(Tell tell) {
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].state != State::kUntold) continue;
      if (blocks_[i].block->kind == kHeddleAtomic && blocks_[i].block->origin == kHeddleByDefault) continue;
      tell(blocks_[i]);
      blocks_[i].state = State::kTold;
    }
  }
  void leave_untold() {
    for (uint32_t i = 0; i < blocks_.size(); ++i) blocks_[i].state = State::kUntold;
    pending_ = 0;
  }
  // Somebody was there to tell when it began, and the thread is in it.
  bool any_matters() const {
    for (uint32_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].state != State::kUntold && blocks_[i].state != State::kLeft) return true;
    return false;
  }

 private:
  const Open& become(uint32_t inner, State state) {
    Open& open = blocks_[blocks_.size() - 1 - inner];
    open.state = state;
    return open;
  }

  GrowingArray<Open> blocks_;
  uint32_t pending_ = 0;
};

}  // namespace heddle::runtime
