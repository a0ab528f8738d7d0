#include "checkers/sequential_spec/other_threads.h"

#include <tsl/robin_map.h>

#include <vector>

namespace heddle::sequential_spec {

namespace {

bool is_access(Kind kind) { return kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kCount; }

bool conflict(Kind one, Kind other) { return one != other || one == Kind::kWrite; }

bool is_inside(const History& history, TaskId task, TaskId parent) {
  while (history.tasks[task].depth > history.tasks[parent].depth + 1) task = history.tasks[task].parent;
  return task != parent && history.tasks[task].parent == parent;
}

}  // namespace

std::optional<Interference> find_interference(const History& history, const Relevance& relevance) {
  // By location: one node for each kind of access by each task's other threads.
  tsl::robin_map<uint32_t, std::vector<NodeId>> besides;
  for (const NodeId node : history.beside) {
    const Kind kind = history.nodes[node].kind;
    if (!is_access(kind) || !relevance.is_relevant(node)) continue;
    std::vector<NodeId>& known = besides[history.nodes[node].object];
    bool is_new = true;
    for (const NodeId other : known)
      is_new &= history.nodes[other].kind != kind || history.task(other) != history.task(node);
    if (is_new) known.push_back(node);
  }
  if (besides.empty()) return std::nullopt;
  for (NodeId node = 0; node < history.nodes.size(); ++node) {
    const Kind kind = history.nodes[node].kind;
    if (!is_access(kind) || !relevance.is_relevant(node)) continue;
    const auto found = besides.find(history.nodes[node].object);
    if (found == besides.end()) continue;
    for (const NodeId beside : found->second)
      if (conflict(history.nodes[beside].kind, kind) &&
          is_inside(history, history.task(node), history.task(beside)))
        return Interference{beside, node};
  }
  return std::nullopt;
}

}  // namespace heddle::sequential_spec
