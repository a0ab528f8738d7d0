#include "core/vector_clock.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace heddle {

TimeTable::Block* TimeTable::allocate(uint32_t size) {
  void* memory = ::operator new(sizeof(Block) + size * sizeof(Time));
  return new (memory) Block{1, size};
}

TimeTable::TimeTable(const TimeTable& other) : block_(other.block_) {
  if (block_ != nullptr) ++block_->references;
}

TimeTable::~TimeTable() {
  if (block_ != nullptr && --block_->references == 0) ::operator delete(block_);
}

void TimeTable::own(uint32_t size) {
  if (block_ != nullptr && block_->references == 1 && block_->size >= size) return;
  const uint32_t old_size = block_ == nullptr ? 0 : block_->size;
  TimeTable fresh;
  fresh.block_ = allocate(std::max(size, old_size));
  if (old_size > 0) std::memcpy(fresh.block_->times(), block_->times(), old_size * sizeof(Time));
  std::fill(fresh.block_->times() + old_size, fresh.block_->times() + fresh.block_->size, Time{0});
  *this = std::move(fresh);
}

void TimeTable::raise(ThreadId thread, Time time) {
  if ((*this)[thread] >= time) return;
  own(thread + 1);
  block_->times()[thread] = time;
}

void TimeTable::raise_all(const TimeTable& other) {
  if (other.block_ == nullptr || other.block_ == block_) return;
  if (block_ == nullptr) {
    *this = other;
    return;
  }
  own(other.block_->size);
  Time* mine = block_->times();
  const Time* theirs = other.block_->times();
  for (uint32_t i = 0; i < other.block_->size; ++i) mine[i] = std::max(mine[i], theirs[i]);
}

void VectorClock::join(const VectorClock& other) {
  if (other.is_empty()) return;
  if (other.leader_ != kNoId && other.leader_time_ <= time_of(other.leader_)) return;  // no news
  if (is_empty() ||
      (leader_ != kNoId && leader_time_ <= other.time_of(leader_))) {  // all of this is in other
    *this = other;
    return;
  }
  times_.raise_all(other.times_);
  if (other.leader_ != kNoId) times_.raise(other.leader_, other.leader_time_);
  if (leader_ != kNoId) times_.raise(leader_, leader_time_);
  leader_ = kNoId;
}

void ThreadClock::join(const VectorClock& other) {
  if (other.is_empty()) return;
  if (other.leader_ != kNoId && other.leader_time_ <= time_of(other.leader_)) return;  // no news
  times_.raise_all(other.times_);
  if (other.leader_ != kNoId) times_.raise(other.leader_, other.leader_time_);
}

VectorClock ThreadClock::publish() {
  VectorClock clock;
  clock.times_ = times_;
  clock.leader_ = thread_;
  clock.leader_time_ = time_;
  ++time_;
  return clock;
}

}  // namespace heddle
