#include "checkers/sequential_spec/relevance.h"

#include <tsl/robin_set.h>

#include "base/hash.h"
#include "checkers/sequential_spec/grouped.h"
#include "checkers/sequential_spec/nearest_writes.h"

namespace heddle::sequential_spec {

namespace {

// Line 1: of each task, the last write of each focus location; and all that is counted there.
std::vector<NodeId> last_focus_writes(const History& history) {
  std::vector<NodeId> found;
  tsl::robin_set<uint64_t, MixHash> seen;  // (location, task)
  for (auto node = static_cast<NodeId>(history.nodes.size()); node-- > 0;) {
    const Node& write = history.nodes[node];
    if (!history.has_focus(write.object)) continue;
    if (write.kind == Kind::kCount) found.push_back(node);
    if (write.kind != Kind::kWrite) continue;
    if (seen.insert(uint64_t{write.object} << 32 | history.task(node)).second) found.push_back(node);
  }
  return found;
}

}  // namespace

Relevance::Relevance(const History& history) : reason_(history.nodes.size(), kNoNode) {
  std::vector<NodeId> reached;  // in order; first in, first out keeps reasons short
  const auto reach = [&](NodeId node, NodeId why) {
    if (reason_[node] != kNoNode) return;
    reason_[node] = why;
    reached.push_back(node);
  };
  for (const NodeId write : last_focus_writes(history)) reach(write, write);
  for (NodeId node = 0; node < history.nodes.size(); ++node)
    if (history.nodes[node].decides && history.context(node).guard == kNoMaybe) reach(node, node);

  // The deterministic branches that stand directly in each if (true*).
  const Grouped<> guarded(history.maybes.size(), history.nodes.size(), [&](NodeId node) {
    return history.nodes[node].decides ? history.context(node).guard : kNoGroup;
  });
  // Of a location that is read, all that is counted: the sum depends on each.
  const Grouped<> counted(history.locations(), history.nodes.size(), [&](NodeId node) {
    return history.nodes[node].kind == Kind::kCount ? history.nodes[node].object : kNoGroup;
  });
  std::vector<bool> is_counted(history.locations(), false);  // what is counted there is reached
  NearestWrites nearest(history);
  std::vector<NodeId> writes;
  std::size_t next = 0;
  while (next < reached.size()) {
    // Nodes are reached in no order of memory: what comes soon is fetched while this one is looked at.
    constexpr std::size_t kAhead = 16;
    if (next + kAhead < reached.size()) __builtin_prefetch(&history.nodes[reached[next + kAhead]]);
    if (next + kAhead / 2 < reached.size())
      __builtin_prefetch(&history.contexts[history.nodes[reached[next + kAhead / 2]].context]);
    const NodeId node = reached[next++];
    for (const NodeId source : history.sources_of(node)) reach(source, node);
    if (const MaybeId guard = history.context(node).guard; guard != kNoMaybe)
      reach(history.maybes[guard], node);
    switch (history.nodes[node].kind) {
      case Kind::kRead:
        writes.clear();
        nearest.find(node, writes);
        for (const NodeId write : writes) reach(write, node);
        if (const uint32_t place = history.nodes[node].object; !is_counted[place]) {
          is_counted[place] = true;
          for (const NodeId count : counted.of(place)) reach(count, node);
        }
        break;
      case Kind::kMaybe:
        for (const NodeId branch : guarded.of(history.nodes[node].object)) reach(branch, node);
        break;
      case Kind::kWrite:
      case Kind::kCount:
      case Kind::kAssign:
      case Kind::kBranch:
      case Kind::kMeet:
      case Kind::kUndone: break;
    }
  }
}

}  // namespace heddle::sequential_spec
