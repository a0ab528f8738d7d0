// Numbers for the lives of locks.
//
// A running program makes locks for ever, and a lock of a trace can be one after another of them
// (EventBatch::ended_locks). A search that remembers what was done with a lock numbers its lives, and gives a
// number back when it remembers nothing of that life any more. Where no lock ever ends, each has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace heddle {

class LockLives {
 public:
  // The number of the lock's present life.
  uint32_t of(uint32_t lock) {
    if (lock >= present_.size()) present_.resize(lock + std::size_t{1}, kNoId);
    uint32_t& number = present_[lock];
    if (number == kNoId) number = begin(lock);
    return number;
  }
  // Which lock it is a life of.
  uint32_t lock(uint32_t number) const { return locks_[number]; }

  void end(uint32_t lock) {
    if (lock >= present_.size()) return;
    if (const uint32_t number = std::exchange(present_[lock], kNoId); number != kNoId)
      ended_.push_back(number);
  }
  // Over, and not given back.
  std::span<const uint32_t> ended() const { return ended_; }
  // Their numbers can stand for other lives, but for those that are still `needed(number)`.
  template <class Needed>
  void give_back(Needed needed) {
    std::erase_if(ended_, [&](uint32_t number) {
      if (needed(number)) return false;
      unused_.push_back(number);
      return true;
    });
  }

  std::size_t size() const { return locks_.size(); }  // numbers there are

 private:
  uint32_t begin(uint32_t lock) {
    if (unused_.empty()) {
      locks_.push_back(lock);
      return static_cast<uint32_t>(locks_.size() - 1);
    }
    const uint32_t number = unused_.back();
    unused_.pop_back();
    locks_[number] = lock;
    return number;
  }

  std::vector<uint32_t> present_;  // by lock; kNoId: none
  std::vector<uint32_t> locks_;    // by number
  std::vector<uint32_t> ended_;
  std::vector<uint32_t> unused_;
};

}  // namespace heddle
