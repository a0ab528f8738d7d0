#include <algorithm>

#include "checkers/store_buffer/links.h"

namespace heddle::store_buffer {

namespace {

struct Location {
  OpId last = kNoOp;   // the last that wrote it in memory
  OpId other = kNoOp;  // the last of another thread than that one's
  // By thread: its last read that no later write of another thread has a link from; at most one a thread.
  std::vector<std::pair<ThreadId, OpId>> reads;
};

// Follows memory through an execution. In conflict between threads are a write to memory with reads and
// writes of the location before and after, except, S2 (1)(i), a read served by its own store buffer with what
// others write between that store's issue and its commit.
class Walk {
 public:
  Walk(const History& history, const std::vector<Time>& committed)
      : history_(history),
        committed_(committed),
        locations_(history.locations),
        before_(history.ops.size(), kNoOp),
        served_(history.ops.size(), kNoOp) {}

  std::vector<Link> run() {
    std::vector<OpId> stores;
    for (OpId id = 0; id < history_.ops.size(); ++id)
      if (history_.ops[id].stores && committed_[id] != kNever) stores.push_back(id);
    std::sort(stores.begin(), stores.end(), [&](OpId a, OpId b) { return committed_[a] < committed_[b]; });
    auto next = stores.begin();
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      for (; next != stores.end() && committed_[*next] < time_of(id); ++next) commit(*next);
      const Op& op = history_.ops[id];
      if (op.location == kNoId) continue;
      if (op.stores) {
        before_[id] = last_of_others(op);
      } else if (op.writes) {
        write(id);
      } else {
        read(op, id);
      }
    }
    for (; next != stores.end(); ++next) commit(*next);
    return std::move(links_);
  }

 private:
  OpId last_of_others(const Op& op) const {
    const Location& location = locations_[op.location];
    return location.last == kNoOp || history_.ops[location.last].thread != op.thread ? location.last
                                                                                     : location.other;
  }

  void read(const Op& op, OpId id) {
    const OpId own = history_.own_store[id];
    if (own != kNoOp && committed_[own] > time_of(id)) {
      // Served by the buffer: after what was written before the store was issued, and before what is
      // written after its commit.
      link(before_[own], id);
      served_[own] = id;
    } else {
      link(last_of_others(op), id);
      remember(locations_[op.location], op.thread, id);
    }
  }

  void commit(OpId store) {
    write(store);
    const Op& op = history_.ops[store];
    if (served_[store] != kNoOp) remember(locations_[op.location], op.thread, served_[store]);
  }

  void write(OpId id) {
    const Op& op = history_.ops[id];
    Location& location = locations_[op.location];
    link(last_of_others(op), id);
    std::erase_if(location.reads, [&](const auto& read) {
      if (read.first == op.thread) return false;
      link(read.second, id);
      return true;
    });
    if (location.last != kNoOp && history_.ops[location.last].thread != op.thread)
      location.other = location.last;
    location.last = id;
  }

  // The thread's reads of a location are in order, so the last stands for all.
  static void remember(Location& location, ThreadId thread, OpId id) {
    for (auto& read : location.reads)
      if (read.first == thread) {
        read.second = id;
        return;
      }
    location.reads.emplace_back(thread, id);
  }

  void link(OpId from, OpId to) {
    if (from != kNoOp) links_.push_back({from, to});
  }

  const History& history_;
  const std::vector<Time>& committed_;
  std::vector<Location> locations_;
  std::vector<OpId> before_;  // by store: what others had written last when it was issued
  std::vector<OpId> served_;  // by store: the last read it served from the buffer
  std::vector<Link> links_;
};

}  // namespace

std::vector<Link> execution_links(const History& history, const std::vector<Time>& committed) {
  return Walk(history, committed).run();
}

std::vector<Time> earliest_commits(const History& history) {
  std::vector<Time> committed(history.ops.size(), kNever);
  for (OpId id = 0; id < history.ops.size(); ++id)
    if (history.ops[id].stores) committed[id] = time_after(id, 1);
  return committed;
}

std::vector<Time> latest_commits(const History& history) {
  std::vector<Time> committed(history.ops.size(), kNever);
  for (OpId id = 0; id < history.ops.size(); ++id)
    if (history.ops[id].stores) committed[id] = time_after(history.drain[id] - 1, id + 1);
  return committed;
}

}  // namespace heddle::store_buffer
