// Conflict freedom (S0 §3, Fig. 4): no two operations of one transaction, by different threads, conflict
// while unordered by *deterministic* order: program order, fork and join, barriers, semaphore hand-over.
// Locks and atomics do not order: which thread gets there first is the scheduler's choice.
//
// [CF BEGIN] does not reset the thread's clock, against Fig. 4: ALGORITHMS §3 has the counterexamples. So the
// clocks are those of the whole run, and only what is compared is kept per transaction.
//
// Cost: O(threads that touched the object in this transaction) per operation of a transaction with several
// threads; other transactions cost nothing.
#pragma once

#include <tsl/robin_map.h>

#include <optional>
#include <vector>

#include "base/hash.h"
#include "checkers/story.h"
#include "checkers/transaction_order.h"
#include "core/access_history.h"
#include "core/happens_before.h"

namespace heddle {

class ConflictFreedom {
 public:
  // Fork, join, arrive, leave, post, wait: whatever orders deterministically.
  void synchronize(const Event& event) { order_.synchronize(event); }

  // An operation of a transaction that has several threads; for a wait after synchronize(). The result is an
  // earlier operation it conflicts with, if there is one. Operations that conflict with nothing are passed
  // over.
  std::optional<Op> check(TransactionHandle transaction, const Op& now);

  // A new life of the variable or lock.
  void begin_new_life(Space space, uint32_t object) { ++lives_[number_of(space, object)]; }
  // The transaction is over.
  void forget(TransactionHandle transaction);
  // Of all transactions; who is ordered after whom stays.
  void forget_all() {
    objects_.clear();
    keys_.clear();
  }

 private:
  struct Access {
    Epoch epoch;
    Op op;
  };
  struct Object {
    AccessSet<Access> writes;
    AccessSet<Access> reads;
  };
  // One object within one transaction.
  struct Key {
    uint64_t object = 0;       // number_of()
    uint64_t transaction = 0;  // index and generation
    uint32_t life = 0;         // of the object

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return mix(mix(key.object + (uint64_t{key.life} << 40)) ^ key.transaction);
    }
  };

  static uint64_t number_of(Space space, uint32_t object) {
    return static_cast<uint64_t>(space) << 32 | object;
  }

  HappensBefore order_;
  tsl::robin_map<Key, Object, KeyHash> objects_;
  tsl::robin_map<uint64_t, std::vector<Key>, MixHash> keys_;  // of a transaction: what to drop with it
  tsl::robin_map<uint64_t, uint32_t, MixHash> lives_;         // of objects; none: the first
};

}  // namespace heddle
