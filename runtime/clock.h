// Vector clocks. A thread publishes what it knows in O(1): the table is shared until the thread learns more.
//
// A thread that has done nothing since it last published, but has learnt something, publishes that with the
// same time as before, as long as its table is small: whoever knows that time compares the table all the
// same. Else each would make a new time of what it learnt, which is news to the others, for ever. Large
// tables have a time each, so that who knows it need not look.
//
// A thread's own times stand in no table that it publishes, only beside it. So what a table says of a thread,
// another one knew.
//
// Clocks say what happens before what. Atomic operations depend on each other beyond that: a relaxed one on
// the one before it, a write on the reads before it (runtime/conflicts.h). What a thread depends on only so
// goes the same ways, beside the clock: *beyond* it.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory.h"

namespace heddle::runtime {

// Times by slot of the thread, shared and immutable.
struct Times {
  std::atomic<uint32_t> references;
  uint32_t size;
  uint64_t of[];

  static std::size_t bytes(uint32_t size) { return sizeof(Times) + size * sizeof(uint64_t); }
  static Times* make(uint32_t size) {
    auto* const times = static_cast<Times*>(allocate(bytes(size)));
    times->references.store(1, std::memory_order_relaxed);
    times->size = size;
    return times;
  }
  static constexpr uint32_t kFew = 16;
  bool is_small() const { return size <= kFew; }
  bool covers(uint32_t slot, uint64_t time) const { return slot < size && time <= of[slot]; }
  void share() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) deallocate(this, bytes(size));
  }
};

// What a thread knew at one of its times.
class Published {
 public:
  Published() = default;
  // `beyond` becomes its own; null: nothing.
  Published(Times* times, Times* beyond, uint32_t slot, uint64_t time)
      : times_(times), beyond_(beyond), slot_(slot), time_(time) {
    times_->share();
  }
  Published(const Published&) = delete;
  Published& operator=(Published&& other) noexcept {
    std::swap(times_, other.times_);
    std::swap(beyond_, other.beyond_);
    slot_ = other.slot_;
    time_ = other.time_;
    return *this;
  }
  ~Published() {
    if (times_ != nullptr) times_->release();
    if (beyond_ != nullptr) beyond_->release();
  }

  bool is_nothing() const { return times_ == nullptr; }
  bool covers(uint32_t slot, uint64_t time) const {
    if (times_ == nullptr) return false;
    if (slot == slot_) return time <= time_;
    return times_->covers(slot, time);
  }
  // The same, beyond the clock too.
  bool tells_of(uint32_t slot, uint64_t time) const {
    return covers(slot, time) || (beyond_ != nullptr && beyond_->covers(slot, time));
  }
  // To one who is not that thread.
  bool is_known(uint32_t slot, uint64_t time) const { return slot != slot_ && tells_of(slot, time); }
  const Times* beyond() const { return beyond_; }
  const Times& times() const { return *times_; }
  bool has(const Times* times) const { return times_ == times; }
  uint32_t slot() const { return slot_; }
  uint64_t time() const { return time_; }

 private:
  Times* times_ = nullptr;
  Times* beyond_ = nullptr;
  uint32_t slot_ = 0;
  uint64_t time_ = 0;
};

// What a thread knows.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock() { clear(); }

  [[gnu::always_inline]] uint64_t operator[](uint32_t slot) const { return slot < size_ ? times_[slot] : 0; }
  [[gnu::always_inline]] bool covers(uint32_t slot, uint64_t time) const { return (*this)[slot] >= time; }
  uint32_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

  // True when it was news.
  bool raise(uint32_t slot, uint64_t time) {
    if (covers(slot, time)) return false;
    grow(slot + 1);
    times_[slot] = time;
    return true;
  }
  bool join(const Published& other) {
    if (other.is_nothing()) return false;
    const bool is_time_known = covers(other.slot(), other.time());
    if (is_time_known && !other.times().is_small()) return false;
    const bool is_news = join(other.times().of, other.times().size);
    if (!is_time_known) raise(other.slot(), other.time());
    return is_news || !is_time_known;
  }
  bool join(const Clock& other) { return join(other.times_, other.size_); }
  bool join(const Times& other) { return join(other.of, other.size); }
  // What it has that neither this nor `known` has.
  void join_beyond(const Clock& known, const Clock& other) { join_beyond(known, other.times_, other.size_); }
  void join_beyond(const Clock& known, const Times& other) { join_beyond(known, other.of, other.size); }
  Times* copy_without(uint32_t slot) const {
    Times* const times = Times::make(size_);
    for (uint32_t i = 0; i < size_; ++i) times->of[i] = times_[i];
    if (slot < size_) times->of[slot] = 0;
    return times;
  }
  void clear() {
    if (times_ != nullptr) deallocate(times_, capacity_ * sizeof(uint64_t));
    times_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  void join_beyond(const Clock& known, const uint64_t* times, uint32_t size) {
    for (uint32_t i = 0; i < size; ++i)
      if (!known.covers(i, times[i])) raise(i, times[i]);
  }
  bool join(const uint64_t* times, uint32_t size) {
    bool news = false;
    grow(size);
    for (uint32_t i = 0; i < size; ++i)
      if (times[i] > times_[i]) {
        times_[i] = times[i];
        news = true;
      }
    return news;
  }
  void grow(uint32_t size) {
    if (size <= size_) return;
    if (size > capacity_) {
      const uint32_t capacity = size < 8 ? 8 : size + size / 2;
      auto* const times = static_cast<uint64_t*>(allocate(capacity * sizeof(uint64_t)));
      for (uint32_t i = 0; i < size_; ++i) times[i] = times_[i];
      if (times_ != nullptr) deallocate(times_, capacity_ * sizeof(uint64_t));
      times_ = times;
      capacity_ = capacity;
    }
    size_ = size;
  }

  uint64_t* times_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

// What several threads left for whoever comes.
class Gathered {
 public:
  bool is_empty() const { return own_.is_empty(); }
  void clear() {
    known_.clear();
    own_.clear();
    beyond_.clear();
  }
  void join(const Published& published) {
    known_.join(published.times());
    own_.raise(published.slot(), published.time());
    if (published.beyond() != nullptr) beyond_.join(*published.beyond());
  }
  void join(const Gathered& other) {
    known_.join(other.known_);
    own_.join(other.own_);
    beyond_.join(other.beyond_);
  }
  bool tells_of(uint32_t slot, uint64_t time) const {
    return own_.covers(slot, time) || is_known(slot, time);
  }
  // To one who is not that thread.
  bool is_known(uint32_t slot, uint64_t time) const {
    return known_.covers(slot, time) || beyond_.covers(slot, time);
  }
  const Clock& known() const { return known_; }  // to them of others
  const Clock& own() const { return own_; }      // their own times
  const Clock& beyond() const { return beyond_; }

 private:
  Clock known_;
  Clock own_;
  Clock beyond_;
};

}  // namespace heddle::runtime
