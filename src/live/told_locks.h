// The locks of a running program as locks of a trace, which is well formed whatever was told.
//
// A lock that somebody took unseen, as a forked child's have been by its parent's thread, is taken in the
// trace right before it is given back; one that somebody else takes was given back unseen.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "live/by_address.h"
#include "trace/event.h"

namespace heddle {

class ToldLocks {
 public:
  // Events are appended to `events`.
  explicit ToldLocks(std::vector<Event>& events) : events_(events) {}

  // The number of the lock at the address; `make_number()` gives a new one its number.
  template <class MakeNumber>
  uint32_t number_at(uint64_t address, MakeNumber make_number) {
    const auto [entry, is_new] = locks_.try_emplace(address);
    if (is_new) entry.value().number = make_number();
    return entry->second.number;
  }

  // The thread takes the lock at the address, which has its number, or gives it back.
  void add(uint64_t address, const Event& event);
  // Nobody can act for a thread that is over. A lock that it leaves behind may still be taken by others: a
  // robust one, or one that is made anew in the same place.
  void end_thread(const Event& end);
  // The memory begins a new life. The locks in it are given back, and their numbers added to `ended`.
  void forget(uint64_t begin, uint64_t end, std::vector<uint32_t>& ended);

 private:
  struct Lock {
    uint32_t number = kNoId;
    ThreadId holder = kNoId;
    uint32_t depth = 0;
    std::vector<ThreadId> readers;
  };

  void append(const Event& event);
  void append_unseen(const Event& like, Operation operation, ThreadId thread);
  void drop_writer(Lock& lock, const Event& event);
  void drop_readers(Lock& lock, const Event& event);

  std::vector<Event>& events_;
  tsl::robin_map<uint64_t, Lock, MixHash> locks_;  // by address
  std::vector<uint32_t> held_;                     // locks, by thread, as often as it has them
};

}  // namespace heddle
