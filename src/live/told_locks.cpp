#include "live/told_locks.h"

#include <algorithm>

namespace heddle {

void ToldLocks::append(const Event& event) {
  if (event.thread >= held_.size()) held_.resize(event.thread + std::size_t{1});
  const bool acquires =
      event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared;
  held_[event.thread] += acquires ? 1U : ~0U;
  events_.push_back(event);
}

void ToldLocks::append_unseen(const Event& like, Operation operation, ThreadId thread) {
  Event event = like;
  event.operation = operation;
  event.thread = thread;
  event.site = kNoId;
  event.tries = false;
  event.order = MemoryOrder::kPlain;
  append(event);
}

void ToldLocks::drop_writer(Lock& lock, const Event& event) {
  for (; lock.depth > 0; --lock.depth) append_unseen(event, Operation::kRelease, lock.holder);
  lock.holder = kNoId;
}

void ToldLocks::drop_readers(Lock& lock, const Event& event) {
  for (const ThreadId reader : lock.readers) append_unseen(event, Operation::kReleaseShared, reader);
  lock.readers.clear();
}

void ToldLocks::add(uint64_t address, const Event& event) {
  Lock& lock = locks_[address];
  switch (event.operation) {
    case Operation::kAcquire:
      if (lock.holder != kNoId && lock.holder != event.thread) drop_writer(lock, event);
      drop_readers(lock, event);
      lock.holder = event.thread;
      ++lock.depth;
      break;
    case Operation::kRelease:
      if (lock.holder != event.thread) {
        drop_writer(lock, event);
        drop_readers(lock, event);
        append_unseen(event, Operation::kAcquire, event.thread);
        lock.holder = event.thread;
        lock.depth = 1;
      }
      if (--lock.depth == 0) lock.holder = kNoId;
      break;
    case Operation::kAcquireShared:
      drop_writer(lock, event);
      lock.readers.push_back(event.thread);
      break;
    case Operation::kReleaseShared: {
      const auto reader = std::find(lock.readers.begin(), lock.readers.end(), event.thread);
      if (reader == lock.readers.end()) {
        drop_writer(lock, event);
        append_unseen(event, Operation::kAcquireShared, event.thread);
      } else {
        lock.readers.erase(reader);
      }
      break;
    }
    default: break;
  }
  append(event);
}

void ToldLocks::forget(uint64_t begin, uint64_t end, std::vector<uint32_t>& ended) {
  forget_in(locks_, begin, end, [&](Lock& lock) {
    Event event;
    event.object = lock.number;
    drop_writer(lock, event);
    drop_readers(lock, event);
    ended.push_back(lock.number);
  });
}

void ToldLocks::end_thread(const Event& end) {
  if (end.thread >= held_.size() || held_[end.thread] == 0) return;
  for (auto entry = locks_.begin(); entry != locks_.end(); ++entry) {
    Lock& lock = entry.value();
    Event release = end;
    release.object = lock.number;
    release.operation = Operation::kRelease;
    if (lock.holder == end.thread) {
      for (; lock.depth > 0; --lock.depth) append(release);
      lock.holder = kNoId;
    }
    release.operation = Operation::kReleaseShared;
    for (auto reader = std::find(lock.readers.begin(), lock.readers.end(), end.thread);
         reader != lock.readers.end();
         reader = std::find(lock.readers.begin(), lock.readers.end(), end.thread)) {
      lock.readers.erase(reader);
      append(release);
    }
  }
}

}  // namespace heddle
