#include "checkers/sequential_spec/certain_order.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "core/happens_before.h"
#include "core/race_detector.h"

namespace heddle::sequential_spec {

namespace {

struct Access {
  Epoch epoch;
  NodeId node = kNoNode;
};

bool is_access(const Node& node) {
  return (node.kind == Kind::kRead || node.kind == Kind::kWrite) && node.operation != Operation::kLook &&
         node.operation != Operation::kTouch;
}

class Replay {
 public:
  // `counts`: whether races of a node are looked for.
  Replay(const History& history, std::function<bool(NodeId)> counts)
      : history_(history), counts_(std::move(counts)) {
    detector_.cover(history.locations());
  }

  std::optional<UncertainOrder> run() {
    auto next = history_.synchronization.begin();
    const auto synchronize_until = [&](NodeId node) {
      for (; next != history_.synchronization.end() && next->before <= node; ++next)
        order_.synchronize(next->event);
    };
    for (NodeId node = 0; node < history_.nodes.size() && !found_; ++node) {
      synchronize_until(node);
      visit(node);
    }
    return found_;
  }

  // What RaceDetector asks of its owner.
  static Access make_access(const Event&, EventIndex index, Epoch epoch) {
    return {epoch, static_cast<NodeId>(index)};
  }
  static bool still_now(const Access&, ThreadId) { return true; }
  void on_race(const Access& earlier, const Access& later, const Event&) {
    if (!found_) found_ = {earlier.node, later.node};
  }

 private:
  void visit(NodeId id) {
    const Node& node = history_.nodes[id];
    if (!is_access(node)) return;  // what only may have been is no race
    Event event = history_.event(id);
    event.object = node.object;  // each life of a variable for itself
    switch (node.operation) {
      case Operation::kRead:
        if (counts_(id)) detector_.on_read(event, id);
        return;
      case Operation::kWrite:
        if (counts_(id)) return detector_.on_write(event, id);
        return order_.forget_releases(event.object);
      default: break;
    }
    // An atomic operation; of an update, the read stands for both.
    if (node.operation == Operation::kAtomicUpdate && node.kind == Kind::kWrite) return;
    const bool is_update = node.operation == Operation::kAtomicUpdate;
    if (counts_(id) || (is_update && counts_(id + 1))) return detector_.on_atomic(event, id);
    order_.before_atomic(event);
    order_.after_atomic(event);
  }

  const History& history_;
  std::function<bool(NodeId)> counts_;
  HappensBefore order_;
  RaceDetector<Access, Replay> detector_{order_, *this};
  std::optional<UncertainOrder> found_;
};

// By location: whether some access of it is relevant, and different threads of one task access it.
std::vector<bool> shared_inside_tasks(const History& history, const Relevance& relevance) {
  std::vector<bool> is_relevant(history.locations(), false);
  std::vector<ThreadId> thread_of(history.tasks.size(), kNoId);  // by task: one of its threads
  bool has_several = false;
  for (const Context& context : history.contexts) {
    has_several |= thread_of[context.task] != kNoId && thread_of[context.task] != context.thread;
    thread_of[context.task] = context.thread;
  }
  std::vector<bool> shared(history.locations(), false);
  if (!has_several) return shared;
  tsl::robin_map<uint64_t, ThreadId, MixHash> first;  // (location, task)
  for (NodeId id = 0; id < history.nodes.size(); ++id) {
    const Node& node = history.nodes[id];
    if (!is_access(node)) continue;
    const Context& context = history.context(id);
    if (relevance.is_relevant(id)) is_relevant[node.object] = true;
    const auto [known, is_new] =
        first.try_emplace(uint64_t{node.object} << 32 | context.task, context.thread);
    if (!is_new && known->second != context.thread) shared[node.object] = true;
  }
  for (std::size_t place = 0; place < shared.size(); ++place)
    shared[place] = shared[place] && is_relevant[place];
  return shared;
}

}  // namespace

std::optional<UncertainOrder> find_uncertain_order(const History& history, const Relevance& relevance) {
  const auto is_relevant = [&](NodeId node) { return relevance.is_relevant(node); };
  if (const auto found = Replay(history, is_relevant).run()) return found;
  const std::vector<bool> shared = shared_inside_tasks(history, relevance);
  if (std::find(shared.begin(), shared.end(), true) == shared.end()) return std::nullopt;
  return Replay(history, [&](NodeId node) { return shared[history.nodes[node].object]; }).run();
}

}  // namespace heddle::sequential_spec
