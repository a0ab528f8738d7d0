// Vector clocks. A thread publishes what it knows in O(1): few times are copied, and the table of many is
// shared until the thread learns more.
//
// A thread that has done nothing since it last published, but has learnt something, publishes that with the
// same time as before, as long as its times are few: whoever knows that time compares them all the same. Else
// each would make a new time of what it learnt, which is news to the others, for ever. Tables of many have a
// time each, so that who knows it need not look.
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
  bool covers(uint32_t slot, uint64_t time) const { return slot < size && time <= of[slot]; }
  void share() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) deallocate(this, bytes(size));
  }
};

class Published;

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
  bool join(const Published& other);
  bool join_others(const Published& other);
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

// What a thread knew at one of its times. The times of a few threads lie in it, so that who learns them finds
// them beside the lock; those of many in a table that all share whom the thread said the same.
class Published {
 public:
  static constexpr uint32_t kFew = 9;  // a Sync has 256 bytes then, as it would with fewer

  Published() = default;
  // Of what `clock` says, without the thread's own times. `table` says the same if they are more than kFew,
  // and is null if not. `beyond` becomes its own; null: nothing.
  Published(const Clock& clock, Times* table, Times* beyond, uint32_t slot, uint64_t time)
      : table_(table), beyond_(beyond), slot_(slot), size_(clock.size()), time_(time) {
    if (table_ != nullptr) {
      table_->share();
      return;
    }
    for (uint32_t i = 0; i < size_; ++i) few_[i] = clock[i];
    if (slot < size_) few_[slot] = 0;
  }
  Published(const Published&) = delete;
  Published& operator=(Published&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(beyond_, other.beyond_);
    slot_ = other.slot_;
    size_ = other.size_;
    time_ = other.time_;
    if (table_ == nullptr)
      for (uint32_t i = 0; i < size_; ++i) few_[i] = other.few_[i];
    return *this;
  }
  ~Published() {
    if (table_ != nullptr) table_->release();
    if (beyond_ != nullptr) beyond_->release();
  }

  bool is_nothing() const { return slot_ == kNobody; }
  bool covers(uint32_t slot, uint64_t time) const {
    if (slot == slot_) return time <= time_;
    return slot < size_ && time <= others()[slot];
  }
  // The same, beyond the clock too.
  bool tells_of(uint32_t slot, uint64_t time) const {
    return covers(slot, time) || (beyond_ != nullptr && beyond_->covers(slot, time));
  }
  // To one who is not that thread.
  bool is_known(uint32_t slot, uint64_t time) const { return slot != slot_ && tells_of(slot, time); }
  const Times* beyond() const { return beyond_; }
  uint32_t slot() const { return slot_; }
  uint64_t time() const { return time_; }
  // It lies in no table.
  bool has_few() const { return table_ == nullptr; }
  bool has(const Times* table) const { return table_ == table; }
  // What it knew of others, by slot.
  const uint64_t* others() const { return table_ == nullptr ? few_ : table_->of; }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kNobody = ~uint32_t{0};

  Times* table_ = nullptr;  // null: they are few
  Times* beyond_ = nullptr;
  uint32_t slot_ = kNobody;
  uint32_t size_ = 0;
  uint64_t time_ = 0;
  uint64_t few_[kFew];  // as many as `size_` says
};

inline bool Clock::join_others(const Published& other) { return join(other.others(), other.size()); }
inline bool Clock::join(const Published& other) {
  if (other.is_nothing()) return false;
  const bool is_time_known = covers(other.slot(), other.time());
  if (is_time_known && !other.has_few()) return false;
  const bool is_news = join_others(other);
  if (!is_time_known) raise(other.slot(), other.time());
  return is_news || !is_time_known;
}

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
    known_.join_others(published);
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
