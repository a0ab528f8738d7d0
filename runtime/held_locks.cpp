#include "runtime/held_locks.h"

#include <atomic>

#include "base/hash.h"
#include "runtime/memory.h"

namespace heddle::runtime {

namespace {

constinit std::atomic<uint64_t> lives{0};  // of locks, that have ended

}  // namespace

void end_life_of_locks() { lives.fetch_add(1, std::memory_order_relaxed); }

HeldLocks::~HeldLocks() {
  locks_.give_back();
  if (orders_ != nullptr) deallocate(orders_, kOrders * sizeof(uint64_t));
}

HeldLock* HeldLocks::find(const void* lock, bool is_shared) {
  for (uint32_t i = locks_.size(); i > 0; --i)
    if (locks_[i - 1].lock == lock && locks_[i - 1].is_shared() == is_shared) return &locks_[i - 1];
  return nullptr;
}

void HeldLocks::remove(const HeldLock* lock) {
  const auto at = static_cast<uint32_t>(lock - &locks_[0]);
  untold_ -= !lock->is_told;
  has_tried_ |= lock->extra != 0;
  is_crossed_ |= at + 1 != locks_.size();
  locks_.remove(at);
  for (uint32_t i = at; i < locks_.size(); ++i) locks_[i].way = way_of(locks_[i], i);
  if (empty()) begin_anew();
}

bool HeldLocks::is_new_order(const HeldLock& taken) {
  if (orders_ == nullptr) orders_ = static_cast<uint64_t*>(allocate(kOrders * sizeof(uint64_t)));
  const uint64_t circumstances = meetings_ << 4 | (has_tried_ ? 8U : 0U) | (taken.extra != 0 ? 4U : 0U) |
                                 (is_crossed_ ? 2U : 0U) | (has_met_ ? 1U : 0U);
  const uint64_t life = lives.load(std::memory_order_relaxed);
  const uint64_t hash =
      mix(way_of(taken, locks_.size()) + circumstances * 0xFF51AFD7ED558CCD + life * 0xC4CEB9FE1A85EC53) |
      1;  // 0: nothing
  // Somewhere in a few places; where there is no room, another one is forgotten and told once more.
  constexpr uint64_t kPlaces = 4;
  uint64_t* const first = orders_ + (hash >> 32 & (kOrders / kPlaces - 1)) * kPlaces;
  uint64_t* place = first + (hash >> 16) % kPlaces;
  for (uint64_t* known = first; known < first + kPlaces; ++known) {
    if (*known == hash) return false;
    if (*known == 0) place = known;
  }
  *place = hash;
  return true;
}

}  // namespace heddle::runtime
