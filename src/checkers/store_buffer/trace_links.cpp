#include <algorithm>

#include "checkers/store_buffer/links.h"

namespace heddle::store_buffer {

namespace {

// An operation that is certain to come before what other threads do to its location from now on.
struct Settled {
  ThreadId thread;
  OpId op;
  OpId since;  // when that became certain
};

// A thread's stores to a location that may still be in its buffer, or its reads that they may have served.
struct Unsettled {
  ThreadId thread;
  OpId first;
  OpId last;
};

struct Location {
  std::vector<Settled> writes;  // at most one a thread; none that is certain to come before another
  std::vector<Settled> reads;   // at most one a thread, since the last certain write
  std::vector<Unsettled> stores;
  std::vector<Unsettled> buffered_reads;
};

template <class Entry>
void forget(std::vector<Entry>& entries, ThreadId thread) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.thread == thread; });
}

class Sweep {
 public:
  explicit Sweep(const History& history)
      : history_(history), locations_(history.locations), touched_(history.threads) {}

  TraceLinks run() {
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Op& op = history_.ops[id];
      if (const ThreadId child = joined_thread(op); child != kNoId) drain(child, id);
      if (op.drains) drain(op.thread, id);
      if (op.location != kNoId) access(op, id);
    }
    return std::move(links_);
  }

 private:
  void drain(ThreadId thread, OpId now) {
    for (const uint32_t touched : touched_[thread]) {
      Location& location = locations_[touched];
      for (const Unsettled& stores : location.stores)
        if (stores.thread == thread) settle_write(location, thread, stores.last, now);
      forget(location.stores, thread);
      for (const Unsettled& reads : location.buffered_reads)
        if (reads.thread == thread) settle_read(location, thread, reads.last, now);
      forget(location.buffered_reads, thread);
    }
    touched_[thread].clear();
  }

  // What was settled before the write was issued has a link to it, or to an operation of its thread before
  // it.
  static void settle_write(Location& location, ThreadId thread, OpId write, OpId now) {
    const auto is_before = [&](const Settled& entry) {
      return entry.thread == thread ? entry.op < write : entry.since < write;
    };
    std::erase_if(location.writes, is_before);
    std::erase_if(location.reads, is_before);
    location.writes.push_back({thread, write, now});
  }
  // A thread's reads of a location are in order.
  static void settle_read(Location& location, ThreadId thread, OpId read, OpId now) {
    forget(location.reads, thread);
    location.reads.push_back({thread, read, now});
  }

  void access(const Op& op, OpId id) {
    Location& location = locations_[op.location];
    link_settled(location.writes, op.thread, id);
    if (op.changes()) link_settled(location.reads, op.thread, id);
    for (const Unsettled& stores : location.stores) {
      if (stores.thread == op.thread) continue;
      possible(stores.first, id);
      possible(id, stores.first);
      if (stores.last == stores.first) continue;
      possible(stores.last, id);
      possible(id, stores.last);
    }
    if (op.changes()) {
      for (const Unsettled& reads : location.buffered_reads)
        if (reads.thread != op.thread) possible(reads.last, id);
    }
    if (op.stores) {
      unsettled(location.stores, op, id);
    } else if (op.writes) {
      settle_write(location, op.thread, id, id);
    } else if (history_.is_buffered_read(id)) {
      unsettled(location.buffered_reads, op, id);
    } else {
      settle_read(location, op.thread, id, id);
    }
  }

  void link_settled(const std::vector<Settled>& entries, ThreadId thread, OpId id) {
    for (const Settled& entry : entries)
      if (entry.thread != thread) links_.certain.push_back({entry.op, id});
  }
  void possible(OpId from, OpId to) { links_.possible.push_back({from, to}); }

  void unsettled(std::vector<Unsettled>& entries, const Op& op, OpId id) {
    for (Unsettled& entry : entries)
      if (entry.thread == op.thread) {
        entry.last = id;
        return;
      }
    entries.push_back({op.thread, id, id});
    touched_[op.thread].push_back(op.location);
  }

  const History& history_;
  std::vector<Location> locations_;
  std::vector<std::vector<uint32_t>> touched_;  // by thread: locations with something unsettled of it
  TraceLinks links_;
};

}  // namespace

TraceLinks trace_links(const History& history) { return Sweep(history).run(); }

}  // namespace heddle::store_buffer
