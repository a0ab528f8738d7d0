#include "checkers/sequential_spec/relevance.h"

#include <tsl/robin_set.h>

#include <numeric>
#include <span>

#include "base/hash.h"
#include "checkers/sequential_spec/nearest_writes.h"

namespace heddle::sequential_spec {

namespace {

// The deterministic branches that stand directly in each if (true*).
class GuardedBranches {
 public:
  explicit GuardedBranches(const History& history) : begin_(history.maybes.size() + 1, 0) {
    const auto guard_of = [&](NodeId node) {
      return history.nodes[node].decides ? history.context(node).guard : kNoMaybe;
    };
    const auto count = static_cast<NodeId>(history.nodes.size());
    for (NodeId node = 0; node < count; ++node)
      if (const MaybeId guard = guard_of(node); guard != kNoMaybe) ++begin_[guard + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    branches_.resize(begin_.back());
    std::vector<uint32_t> place(begin_.begin(), begin_.end() - 1);
    for (NodeId node = 0; node < count; ++node)
      if (const MaybeId guard = guard_of(node); guard != kNoMaybe) branches_[place[guard]++] = node;
  }

  std::span<const NodeId> in(MaybeId maybe) const {
    return std::span(branches_).subspan(begin_[maybe], begin_[maybe + 1] - begin_[maybe]);
  }

 private:
  std::vector<uint32_t> begin_;   // by maybe: of its branches
  std::vector<NodeId> branches_;  // by maybe, in order
};

// Line 1: of each task, the last write of each focus location.
std::vector<NodeId> last_focus_writes(const History& history) {
  std::vector<NodeId> found;
  tsl::robin_set<uint64_t, MixHash> seen;  // (location, task)
  for (auto node = static_cast<NodeId>(history.nodes.size()); node-- > 0;) {
    const Node& write = history.nodes[node];
    if (write.kind != Kind::kWrite || !history.has_focus(write.object)) continue;
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

  const GuardedBranches guarded(history);
  NearestWrites nearest(history);
  std::vector<NodeId> writes;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const NodeId node = reached[i];
    for (const NodeId source : history.sources_of(node)) reach(source, node);
    if (const MaybeId guard = history.context(node).guard; guard != kNoMaybe)
      reach(history.maybes[guard], node);
    switch (history.nodes[node].kind) {
      case Kind::kRead:
        writes.clear();
        nearest.find(node, writes);
        for (const NodeId write : writes) reach(write, node);
        break;
      case Kind::kMaybe:
        for (const NodeId branch : guarded.in(history.nodes[node].object)) reach(branch, node);
        break;
      case Kind::kWrite:
      case Kind::kAssign:
      case Kind::kBranch:
      case Kind::kMeet: break;
    }
  }
}

}  // namespace heddle::sequential_spec
