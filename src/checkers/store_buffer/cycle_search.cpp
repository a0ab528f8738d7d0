#include "checkers/store_buffer/cycle_search.h"

#include <tsl/robin_map.h>

#include <algorithm>

namespace heddle::store_buffer {

CycleSearch::CycleSearch(const History& history, Question question, const Graph& certain,
                         const std::vector<uint32_t>& part, const std::vector<OpId>& ops, uint64_t& budget)
    : history_(history),
      question_(question),
      certain_(certain),
      part_(part),
      budget_(budget),
      reachability_(history, question, certain, part),
      timing_(history) {
  exhausted_ = reachability_.is_too_large();
  if (exhausted_) return;
  for (const OpId id : ops)
    group_ids_.emplace_back(uint64_t{history.ops[id].thread} << 32 | history.ops[id].location, 0);
  std::sort(group_ids_.begin(), group_ids_.end());
  group_ids_.erase(std::unique(group_ids_.begin(), group_ids_.end()), group_ids_.end());
  for (uint32_t i = 0; i < group_ids_.size(); ++i) group_ids_[i].second = i;
  groups_.resize(group_ids_.size());
  find_choices(ops);
  rank_groups();
}

bool CycleSearch::spend() {
  if (budget_ == 0) exhausted_ = true;
  budget_ -= budget_ > 0 ? 1 : 0;
  return !exhausted_;
}

uint32_t CycleSearch::place_of(OpId op) const { return place_in(part_, node_of(history_, question_, op)); }

uint32_t CycleSearch::group_of(OpId op) {
  const std::pair key{uint64_t{history_.ops[op].thread} << 32 | history_.ops[op].location, uint32_t{0}};
  return std::lower_bound(group_ids_.begin(), group_ids_.end(), key)->second;
}

// Pairs of which the earlier one is a store that may still be buffered, or a read that may have been served
// by one, when the later one happens: all others are certain, or impossible.
void CycleSearch::find_choices(const std::vector<OpId>& ops) {
  // What a thread has done to a location, in order; from `first` on, what is not drained.
  struct Open {
    ThreadId thread;
    std::vector<OpId> ops;
    std::size_t first = 0;
  };
  tsl::robin_map<uint32_t, std::vector<Open>> open;  // by location
  const auto is_drained = [&](OpId op, OpId now) {
    return history_.drain[history_.ops[op].stores ? op : history_.own_store[op]] < now;
  };
  for (const OpId id : ops) {
    const Op& op = history_.ops[id];
    std::vector<Open>& threads = open[op.location];
    for (Open& other : threads) {
      if (other.thread == op.thread) continue;
      while (other.first < other.ops.size() && is_drained(other.ops[other.first], id)) ++other.first;
      for (std::size_t i = other.first; i < other.ops.size(); ++i) {
        if (!spend()) return;
        if (!history_.ops[other.ops[i]].changes() && !op.changes()) continue;
        add_choice(other.ops[i], id);
        add_choice(id, other.ops[i]);
      }
    }
    if (!op.stores && !history_.is_buffered_read(id)) continue;
    const auto own = std::find_if(threads.begin(), threads.end(),
                                  [&](const Open& other) { return other.thread == op.thread; });
    (own != threads.end() ? *own : threads.emplace_back(Open{op.thread, {}, 0})).ops.push_back(id);
  }
}

void CycleSearch::add_choice(OpId from, OpId to) {
  const Wants wants = wants_of(history_, from, to);
  const uint32_t source = place_of(from);
  const uint32_t target = place_of(to);
  if (wants.impossible || wants.is_certain() || source == target) return;
  const Op& op = history_.ops[from];
  std::vector<Exit>& exits = groups_[group_of(from)].exits[op.stores ? 1 : op.writes ? 2 : 0];
  // Choices come up in the order of their later operations, so an exit may be an earlier one.
  auto at = std::lower_bound(exits.begin(), exits.end(), from,
                             [](const Exit& exit, OpId id) { return exit.op < id; });
  if (at == exits.end() || at->op != from) at = exits.insert(at, {from, source, {}});
  at->choices.push_back(static_cast<uint32_t>(choices_.size()));
  const uint32_t entered = group_of(to);
  std::vector<OpId>& entries = groups_[entered].entries;
  if (entries.empty() || entries.back() != to) entries.push_back(to);
  choices_.push_back({{from, to}, source, target, entered, wants});
}

void CycleSearch::rank_groups() {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    std::vector<OpId>& entries = groups_[i].entries;
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    if (!entries.empty()) order.push_back(i);
    for (const std::vector<Exit>& exits : groups_[i].exits)
      if (!exits.empty()) exits_.push_back(&exits);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(groups_[a].entries.size(), a) < std::pair(groups_[b].entries.size(), b);
  });
  for (uint32_t rank = 0; rank < order.size(); ++rank) groups_[order[rank]].rank = rank;
  group_order_ = std::move(order);
}

std::optional<Cycle> CycleSearch::run() {
  for (std::size_t most = 1; !exhausted_; ++most) {
    cut_off_ = false;
    for (const uint32_t group : group_order_) {
      start_rank_ = groups_[group].rank;
      for (const OpId entry : groups_[group].entries) {
        path_.clear();
        wants_.clear();
        if (extend(place_of(entry), most)) return cycle();
        if (exhausted_) return std::nullopt;
      }
    }
    if (!cut_off_) break;
  }
  return std::nullopt;
}

// All paths that go on like this one, which has come to `entry`, with at most `most` choices.
bool CycleSearch::extend(uint32_t entry, std::size_t most) {
  if (path_.size() == most) {
    cut_off_ = true;
    return false;
  }
  for (const std::vector<Exit>* exits : exits_) {
    const auto exit = std::partition_point(exits->begin(), exits->end(), [&](const Exit& candidate) {
      return !reachability_.reaches(entry, candidate.place);
    });
    if (exit == exits->end()) continue;
    for (const uint32_t next : exit->choices) {
      const Choice& choice = choices_[next];
      if (groups_[choice.entry_group].rank < start_rank_) continue;
      if (!spend()) return false;
      if (!may_follow(choice)) continue;
      path_.push_back(next);
      wants_.push_back(choice.wants.first);
      wants_.push_back(choice.wants.second);
      if (timing_.allows(wants_) && (closes(choice.to) || extend(choice.to, most))) return true;
      wants_.resize(wants_.size() - 2);
      path_.pop_back();
    }
  }
  return false;
}

// Whether certain links lead from there to an exit of the path.
bool CycleSearch::closes(uint32_t entry) {
  for (std::size_t i = path_.size(); i-- > 0;) {
    if (!reachability_.reaches(entry, choices_[path_[i]].from)) continue;
    closed_from_ = i;
    return true;
  }
  return false;
}

bool CycleSearch::may_follow(const Choice& choice) const {
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Choice& earlier = choices_[path_[i]];
    if (earlier.from != choice.to && reachability_.reaches(earlier.from, choice.to)) return false;
    if (i + 1 < path_.size() && reachability_.reaches(earlier.to, choice.from)) return false;
  }
  return true;
}

Cycle CycleSearch::cycle() const {
  Cycle cycle;
  const auto is_in_part = [&](uint32_t node) { return place_in(part_, node) != part_.size(); };
  for (std::size_t i = closed_from_; i < path_.size(); ++i) {
    const Choice& choice = choices_[path_[i]];
    const Choice& next = choices_[path_[i + 1 < path_.size() ? i + 1 : closed_from_]];
    cycle.links.push_back(choice.link);
    for (const Want& want : {choice.wants.first, choice.wants.second})
      if (want.kind != Want::Kind::kNothing) cycle.wants.push_back(want);
    if (choice.to == next.from) continue;
    const std::vector<Link> way = certain_.shortest_way(part_[choice.to], part_[next.from], is_in_part);
    cycle.links.insert(cycle.links.end(), way.begin(), way.end());
  }
  Timing timing(history_);
  timing.allows(cycle.wants);
  cycle.commits = timing.commits();
  return cycle;
}

}  // namespace heddle::store_buffer
