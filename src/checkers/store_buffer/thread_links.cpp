#include "checkers/store_buffer/links.h"

namespace heddle::store_buffer {

namespace {

// S2 (1), second half, for the operations of one thread; a commit is in its write's transaction, so its links
// to fences and other commits are those of the write.
class ThreadOrder {
 public:
  // `latest` is by store: the last read it may have served.
  void add(const History& history, OpId id, std::vector<OpId>& latest, std::vector<Link>& links) {
    const Op& op = history.ops[id];
    if (op.drains) {
      for (const OpId read : reads_) links.push_back({read, id});
      link(last_write_, id, links);
      link(last_read_, id, links);
      reads_.clear();
      last_write_ = last_read_ = id;
      return;
    }
    if (op.stores) {
      for (const OpId read : reads_) links.push_back({read, id});
      reads_.clear();
      link(last_write_, id, links);
      link(last_read_, id, links);
      last_write_ = id;
      return;
    }
    // Every read comes after the unbuffered ones before it; only a buffered one after its own store and the
    // reads of it.
    link(last_read_, id, links);
    if (history.is_buffered_read(id)) {
      const OpId own = history.own_store[id];
      link(latest[own] == kNoOp ? own : latest[own], id, links);
      latest[own] = id;
      reads_.push_back(id);
    } else {
      last_read_ = id;
    }
  }

 private:
  static void link(OpId from, OpId to, std::vector<Link>& links) {
    if (from != kNoOp) links.push_back({from, to});
  }

  OpId last_write_ = kNoOp;  // or drain
  OpId last_read_ = kNoOp;   // the last unbuffered one, or drain
  std::vector<OpId> reads_;  // buffered ones since the last write
};

std::vector<Link> program_order(const History& history) {
  std::vector<Link> links;
  std::vector<OpId> last(history.threads, kNoOp);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const ThreadId thread = history.ops[id].thread;
    if (last[thread] != kNoOp) links.push_back({last[thread], id});
    last[thread] = id;
  }
  return links;
}

}  // namespace

bool in_thread_conflict(const History& history, OpId earlier, OpId later) {
  const Op& first = history.ops[earlier];
  const Op& second = history.ops[later];
  if (first.drains || second.drains || second.stores) return true;
  if (first.location == second.location && first.location != kNoId) return true;
  return !first.stores && !history.is_buffered_read(earlier);
}

std::vector<Link> thread_links(const History& history, Question question) {
  std::vector<Link> links;
  if (question == Question::kOperations) {
    links = program_order(history);
  } else {
    std::vector<ThreadOrder> threads(history.threads);
    std::vector<OpId> latest(history.ops.size(), kNoOp);
    for (OpId id = 0; id < history.ops.size(); ++id)
      threads[history.ops[id].thread].add(history, id, latest, links);
  }
  links.insert(links.end(), history.syncs.begin(), history.syncs.end());
  return links;
}

}  // namespace heddle::store_buffer
