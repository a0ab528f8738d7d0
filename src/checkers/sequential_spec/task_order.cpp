#include "checkers/sequential_spec/task_order.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "base/hash.h"
#include "checkers/sequential_spec/grouped.h"

namespace heddle::sequential_spec {

namespace {

// What of a node counts here. Kept together: nodes of one location lie far apart, and to visit each would be
// most of the time.
class Access {
 public:
  Access() = default;
  Access(const History& history, NodeId node)
      : node_(node),
        site_(history.nodes[node].site),
        task_and_kind_(history.task(node) << 2 | kind_of(history.nodes[node])) {}
  NodeId node() const { return node_; }
  SiteId site() const { return site_; }
  TaskId task() const { return task_and_kind_ >> 2; }
  bool writes() const { return (task_and_kind_ & 3) == kWrites; }
  bool counts() const { return (task_and_kind_ & 3) == kCounts; }

 private:
  static constexpr uint32_t kReads = 0;
  static constexpr uint32_t kWrites = 1;
  static constexpr uint32_t kCounts = 2;
  static uint32_t kind_of(const Node& node) {
    return node.kind == Kind::kWrite ? kWrites : node.kind == Kind::kCount ? kCounts : kReads;
  }

  NodeId node_ = kNoNode;
  SiteId site_ = kNoId;
  uint32_t task_and_kind_ = 0;
};

// Conflicts between siblings, found location by location.
class Conflicts {
 public:
  Conflicts(const History& history, std::vector<Before>& edges)
      : history_(history), edges_(edges), children_(history.tasks.size()), latest_(history.tasks.size()) {}

  void begin_location() {
    ++location_;
    members_.clear();
  }

  // An access of the present location, in the order of the trace.
  void add(const Access& access) {
    for (TaskId child = access.task(); child != kProgram; child = history_.tasks[child].parent) {
      Children& siblings = children_[history_.tasks[child].parent];
      if (siblings.location != location_) {
        siblings = Children();
        siblings.location = location_;
      }
      if (access.writes()) {
        add_write(siblings, child, access);
      } else {
        add_member(siblings, child, access);
      }
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Every one of a group comes before every one of the next. Behind a larger group, the order of all that
  // comes is kept, which no false answer comes from, only an alarm: the edges would be too many.
  static constexpr uint32_t kLargeGroup = 1000;

  // Reads one after the other, or what is counted: in any order, the same.
  struct Group {
    bool counts = false;
    uint32_t last = kNone;  // in members_
    uint32_t size = 0;
  };
  // What the children of a task have done to the present location.
  struct Children {
    uint64_t location = 0;    // the one this is about
    TaskId writer = kNoTask;  // of the last write
    Access write;
    Group group;   // since then
    Group before;  // the one before it, of the other kind
  };
  struct Member {
    TaskId child;
    Access access;
    uint32_t before;  // another one of the group; kNone: none
  };

  void add_member(Children& siblings, TaskId child, const Access& access) {
    if (siblings.writer != kNoTask) add_edge(siblings.writer, child, siblings.write, access);
    if (siblings.group.counts != access.counts()) {
      siblings.before = std::exchange(siblings.group, Group{access.counts(), kNone, 0});
    } else if (siblings.group.last != kNone) {
      const Member& last = members_[siblings.group.last];
      if (last.child == child && last.access.site() == access.site()) return;
    }
    add_edges(siblings.before, child, access);
    if (siblings.before.size > kLargeGroup) return becomes_last(siblings, child, access);
    members_.push_back({child, access, siblings.group.last});
    siblings.group.last = static_cast<uint32_t>(members_.size() - 1);
    ++siblings.group.size;
  }

  void add_write(Children& siblings, TaskId child, const Access& access) {
    if (siblings.writer != kNoTask) add_edge(siblings.writer, child, siblings.write, access);
    add_edges(siblings.group, child, access);
    becomes_last(siblings, child, access);
  }

  static void becomes_last(Children& siblings, TaskId child, const Access& access) {
    siblings.writer = child;
    siblings.write = access;
    siblings.group = siblings.before = Group();
  }

  void add_edges(const Group& group, TaskId child, const Access& access) {
    for (uint32_t i = group.last; i != kNone; i = members_[i].before)
      add_edge(members_[i].child, child, members_[i].access, access);
  }

  // The same once more is left out where it comes right after itself.
  void add_edge(TaskId from, TaskId to, const Access& earlier, const Access& later) {
    if (from == to) return;
    Latest& latest = latest_[from];
    if (latest.to == to && latest.earlier == earlier.site() && latest.later == later.site()) return;
    latest = {to, earlier.site(), later.site()};
    edges_.push_back({from, to, earlier.node(), later.node()});
  }

  struct Latest {
    TaskId to = kNoTask;
    SiteId earlier = kNoId;
    SiteId later = kNoId;
  };

  const History& history_;
  std::vector<Before>& edges_;
  std::vector<Children> children_;  // by task
  std::vector<Latest> latest_;      // by task: its edge added last
  std::vector<Member> members_;
  uint64_t location_ = 0;
};

}  // namespace

TaskOrder::TaskOrder(const History& history, const std::function<bool(NodeId)>& counts) : history_(history) {
  std::vector<Before> edges;
  {
    const Grouped<Access> accesses(
        history.locations(), history.nodes.size(),
        [&](NodeId node) {
          const Kind kind = history.nodes[node].kind;
          const bool is_access = kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kCount;
          const bool takes_part = is_access && history.task(node) != kProgram && counts(node);
          return takes_part ? history.nodes[node].object : kNoGroup;
        },
        [&](NodeId node) { return Access(history, node); });
    Conflicts conflicts(history, edges);
    for (uint32_t location = 0; location < history.locations(); ++location) {
      conflicts.begin_location();
      for (const Access& access : accesses.of(location)) conflicts.add(access);
    }
  }
  // What barriers order are siblings, too, or inside siblings.
  for (Before edge : history.meetings) {
    const auto depth = [&](TaskId task) { return history.tasks[task].depth; };
    const auto parent = [&](TaskId task) { return history.tasks[task].parent; };
    while (depth(edge.from) > depth(edge.to)) edge.from = parent(edge.from);
    while (depth(edge.to) > depth(edge.from)) edge.to = parent(edge.to);
    if (edge.from == edge.to) continue;  // a task and what is inside it
    while (parent(edge.from) != parent(edge.to)) {
      edge.from = parent(edge.from);
      edge.to = parent(edge.to);
    }
    edges.push_back(edge);
  }
  const Grouped<> by_task(history.tasks.size(), edges.size(),
                          [&](uint32_t edge) { return edges[edge].from; });
  edges_.reserve(edges.size());
  for (const uint32_t edge : by_task.all()) edges_.push_back(edges[edge]);
  begin_.reserve(history.tasks.size() + 1);
  for (TaskId task = 0; task < history.tasks.size(); ++task) begin_.push_back(by_task.begin(task));
  begin_.push_back(static_cast<uint32_t>(edges.size()));
  find_parts();
}

// Strongly connected parts (Tarjan), without recursion.
void TaskOrder::find_parts() {
  const auto count = static_cast<uint32_t>(history_.tasks.size());
  constexpr uint32_t kUnseen = ~uint32_t{0};
  std::vector<uint32_t> number(count, kUnseen);
  std::vector<uint32_t> lowest(count, 0);
  std::vector<uint32_t> next_edge(begin_.begin(), begin_.end() - 1);
  std::vector<TaskId> way;
  std::vector<TaskId> undone;
  part_.assign(count, kUnseen);
  uint32_t numbers = 0;
  uint32_t parts = 0;
  for (TaskId start = 0; start < count; ++start) {
    if (number[start] != kUnseen) continue;
    way.push_back(start);
    while (!way.empty()) {
      const TaskId task = way.back();
      if (number[task] == kUnseen) {
        number[task] = lowest[task] = numbers++;
        undone.push_back(task);
      }
      if (next_edge[task] < begin_[task + 1]) {
        const TaskId to = edges_[next_edge[task]++].to;
        if (number[to] == kUnseen) {
          way.push_back(to);
        } else if (part_[to] == kUnseen) {
          lowest[task] = std::min(lowest[task], number[to]);
        }
        continue;
      }
      way.pop_back();
      if (!way.empty()) lowest[way.back()] = std::min(lowest[way.back()], lowest[task]);
      if (lowest[task] != number[task]) continue;
      is_serializable_ &= undone.back() == task;
      TaskId member = kNoTask;
      do {
        member = undone.back();
        undone.pop_back();
        part_[member] = parts;
      } while (member != task);
      ++parts;
    }
  }
}

std::vector<uint32_t> TaskOrder::places() const {
  const auto count = static_cast<uint32_t>(history_.tasks.size());
  std::vector<uint32_t> waits_for(count, 0);
  for (const Before& edge : edges_) ++waits_for[edge.to];
  std::priority_queue<TaskId, std::vector<TaskId>, std::greater<>> ready;
  for (TaskId task = 0; task < count; ++task)
    if (waits_for[task] == 0) ready.push(task);
  std::vector<uint32_t> places(count, 0);
  uint32_t place = 0;
  while (!ready.empty()) {
    const TaskId task = ready.top();
    ready.pop();
    places[task] = place++;
    for (const Before& edge : from(task))
      if (--waits_for[edge.to] == 0) ready.push(edge.to);
  }
  return places;
}

TaskOrder::Cycles TaskOrder::cycles(uint64_t budget) const {
  Cycles found;
  if (is_serializable_) return found;
  tsl::robin_set<uint64_t, MixHash> known;                     // conflicts, by their lines
  std::vector<uint32_t> reached_in(history_.tasks.size(), 0);  // by task: the search that reached it last …
  std::vector<uint32_t> reached_by(history_.tasks.size(), 0);  // … over this edge
  uint32_t searches = 0;
  uint64_t steps = 0;
  // Of an operation without a site, its location has to do.
  const auto line = [&](NodeId node) {
    const Node& operation = history_.nodes[node];
    return operation.site == kNoId ? ~uint64_t{operation.object} : uint64_t{operation.site};
  };
  const auto lines = [&](const Before& edge) { return mix(mix(line(edge.earlier)) + line(edge.later)); };
  for (const Before& first : edges_) {
    if (part_[first.from] != part_[first.to] || !known.insert(lines(first)).second) continue;
    if (steps > budget) {
      found.is_complete = false;
      break;
    }
    ++searches;
    std::vector<TaskId> queue{first.to};
    reached_in[first.to] = searches;
    for (std::size_t i = 0; i < queue.size() && reached_in[first.from] != searches; ++i) {
      for (uint32_t edge = begin_[queue[i]]; edge < begin_[queue[i] + 1]; ++edge, ++steps) {
        const TaskId to = edges_[edge].to;
        if (part_[to] != part_[first.to] || reached_in[to] == searches) continue;
        reached_in[to] = searches;
        reached_by[to] = edge;
        queue.push_back(to);
      }
    }
    std::vector<Before> cycle;
    for (TaskId at = first.from; at != first.to; at = edges_[reached_by[at]].from)
      cycle.push_back(edges_[reached_by[at]]);
    cycle.push_back(first);
    std::reverse(cycle.begin(), cycle.end());
    for (const Before& edge : cycle) known.insert(lines(edge));
    found.list.push_back(std::move(cycle));
  }
  return found;
}

}  // namespace heddle::sequential_spec
