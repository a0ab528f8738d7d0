#include "core/vector_clock.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace heddle {

TimeTable::Node* TimeTable::allocate(unsigned shift, uint32_t size) {
  static_assert(sizeof(Time) == sizeof(Node*));
  void* memory = ::operator new(sizeof(Node) + size * sizeof(Time));
  return new (memory) Node{1, static_cast<uint16_t>(shift), static_cast<uint16_t>(size)};
}

void TimeTable::destroy(Node* node) {
  if (node->shift > 0)
    for (uint32_t i = 0; i < node->size; ++i) release(node->children()[i]);
  ::operator delete(node);
}

void TimeTable::own(Node*& node, unsigned shift, uint32_t size) {
  if (node != nullptr && node->references == 1 && node->size >= size) return;
  const uint32_t old_size = node == nullptr ? 0 : node->size;
  Node* const fresh = allocate(shift, std::max(size, old_size));
  if (shift == 0) {
    if (old_size > 0) std::memcpy(fresh->times(), node->times(), old_size * sizeof(Time));
    std::fill(fresh->times() + old_size, fresh->times() + fresh->size, Time{0});
  } else {
    for (uint32_t i = 0; i < old_size; ++i) fresh->children()[i] = share(node->children()[i]);
    std::fill(fresh->children() + old_size, fresh->children() + fresh->size, nullptr);
  }
  release(node);
  node = fresh;
}

void TimeTable::grow(unsigned shift) {
  if (root_ != nullptr && root_->shift == 0) {
    const TimeTable old(std::move(*this));
    const Time* const times = old.root_->times();
    root_ = allocate(kBits, (old.root_->size + kFan - 1) / kFan);
    for (uint32_t i = 0; i < root_->size; ++i) {
      const uint32_t first = i * kFan;
      Node* const leaf = allocate(0, std::min(kFan, old.root_->size - first));
      std::copy_n(times + first, leaf->size, leaf->times());
      root_->children()[i] = leaf;
    }
  }
  if (root_ == nullptr) root_ = allocate(shift, 0);
  while (root_->shift < shift) {
    Node* const above = allocate(root_->shift + kBits, 1);
    above->children()[0] = root_;
    root_ = above;
  }
}

void TimeTable::raise(ThreadId thread, Time time) {
  if ((*this)[thread] >= time) return;
  if (thread >= kMostFlat) {
    unsigned shift = kBits;
    while (thread >> shift >= kFan) shift += kBits;
    grow(shift);
  }
  Node** node = &root_;
  for (unsigned shift = root_ == nullptr ? 0 : root_->shift;; shift -= kBits) {
    const ThreadId place = thread >> shift;
    own(*node, shift, place + 1);
    if (shift == 0) {
      (*node)->times()[place] = time;
      return;
    }
    node = &(*node)->children()[place];
    thread &= (ThreadId{1} << shift) - 1;
  }
}

void TimeTable::raise_leaf(Node*& mine, const Node* theirs) {
  own(mine, 0, theirs->size);
  Time* const to = mine->times();
  const Time* const from = theirs->times();
  for (uint32_t i = 0; i < theirs->size; ++i) to[i] = std::max(to[i], from[i]);
}

void TimeTable::raise_part(Node*& mine, Node* theirs) {
  if (theirs == nullptr || theirs == mine) return;
  if (mine == nullptr) {
    mine = share(theirs);
    return;
  }
  if (mine->shift > 0) {
    own(mine, mine->shift, theirs->size);
    for (uint32_t i = 0; i < theirs->size; ++i) raise_part(mine->children()[i], theirs->children()[i]);
    return;
  }
  // Where one side has all that the other has, both can use it, and need not be compared again.
  const auto covers = [](const Node* more, const Node* less) {
    return less->size <= more->size &&
           std::equal(less->times(), less->times() + less->size, more->times(), std::less_equal<>());
  };
  if (covers(theirs, mine)) {
    release(std::exchange(mine, share(theirs)));
  } else if (!covers(mine, theirs)) {
    raise_leaf(mine, theirs);
  }
}

void TimeTable::raise_all(const TimeTable& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  if (root_ == nullptr) {
    *this = other;
    return;
  }
  if (root_->shift == 0 && other.root_->shift == 0) return raise_leaf(root_, other.root_);
  TimeTable tree(other);
  tree.grow(kBits);
  grow(tree.root_->shift);
  Node** node = &root_;
  for (unsigned shift = root_->shift; shift > tree.root_->shift; shift -= kBits) {
    own(*node, shift, 1);
    node = &(*node)->children()[0];
  }
  raise_part(*node, tree.root_);
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
