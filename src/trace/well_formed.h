// Refuses traces that no program can have produced, and takes recursive locking out of the checkers' sight.
//
// A lock is acquired only while free (shared holders go together) and released only by a holder; blocks nest;
// a thread does nothing before its fork nor after its join; a barrier is left only after arriving; commits
// follow the order of the thread's writes and come before what drains its store buffer; a task ends outside
// the if (true*) that it began, which are inside tasks; a focus location is not freed. A lock taken again by
// its holder is allowed: the inner acquire and its release become Operation::kNested. What is still open when
// the trace ends is fine: the program stopped there.
#pragma once

#include <tsl/robin_map.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "trace/source.h"

namespace heddle {

class WellFormed {
 public:
  // Checks the next batch of `source`, rewriting nested lock events in place. Throws InputError on the first
  // event that cannot be, saying where it stands.
  void process(const EventBatch& batch, const TraceSource& source);

 private:
  struct Holder {
    ThreadId thread = kNoId;
    uint32_t depth = 0;    // how often it has taken the lock
    EventIndex since = 0;  // when it took it first
  };
  struct Lock {
    Holder writer;                // exclusive; kNoId: nobody
    std::vector<Holder> readers;  // shared
  };
  struct Thread {
    std::vector<uint32_t> blocks;  // names of open blocks, outermost first; kNoId: unnamed
    std::vector<bool> tasks;       // open task(…) and nd, outermost first: whether it is a task
    bool in_task = false;          // in one of these, or …
    bool forked_in_task = false;   // … forked inside one
    // Variables written and not committed yet, from `committed` on. Not a deque: even an empty one takes half
    // a KiB, and there may be many threads.
    std::vector<uint32_t> buffer;
    std::size_t committed = 0;
    EventIndex drained_at = 0;  // the last event that emptied the buffer though a write had no commit …
    uint32_t drained = kNoId;   // … this one's variable, the oldest; kNoId: none
    bool forked = false;        // a fork of this thread was seen
  };

  void check(Event& event, EventIndex index);
  void check_acquire(Event& event, EventIndex index);
  void check_release(Event& event);
  void check_fork(const Event& event);
  void check_join(const Event& event);
  void check_end(const Event& event);
  void check_commit(const Event& event);
  void check_task_end(const Event& event);
  void check_maybe_begin(const Event& event);
  void check_maybe_end(const Event& event);
  void check_focus(const Event& event) const;
  void remember_write(const Event& event);
  void drain(ThreadId thread);
  [[noreturn]] void fail(std::string_view what) const;
  std::string thread_name(ThreadId thread) const;

  Thread& thread(ThreadId id) { return threads_[id]; }
  Lock& lock(uint32_t id);
  // The thread's hold of the lock in this mode; null: it has none.
  static Holder* holder(Lock& lock, ThreadId thread, bool shared);

  enum Status : uint8_t { kUnseen, kRunning, kStopped, kJoined };
  std::vector<Status> status_;   // by thread; apart from threads_ because every event reads it
  std::vector<Thread> threads_;  // by thread
  std::vector<Lock> locks_;      // by lock
  tsl::robin_map<uint64_t, uint32_t, MixHash> arrived_;  // (thread, barrier) → arrivals not left yet
  tsl::robin_map<uint32_t, EventIndex> freed_;           // variable → when it was freed, until its next alloc
  bool commits_seen_ = false;                            // the file is a TSO execution
  std::size_t buffered_ = 0;                             // writes in all buffers
  bool buffers_dropped_ = false;         // too many writes without a commit: surely not an execution
  const TraceSource* source_ = nullptr;  // of the batch being checked
  EventIndex index_ = 0;                 // event being checked
};

}  // namespace heddle
