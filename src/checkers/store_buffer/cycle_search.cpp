#include "checkers/store_buffer/cycle_search.h"

#include <tsl/robin_map.h>

#include <algorithm>

namespace heddle::store_buffer {

CycleSearch::CycleSearch(const History& history, Question question, const Graph& certain,
                         const std::vector<uint32_t>& part, const std::vector<OpId>& ops, uint64_t budget)
    : history_(history),
      question_(question),
      certain_(certain),
      part_(part),
      left_(budget),
      timing_(history),
      leaving_(part.size()),
      reach_(part.size()) {
  find_choices(ops);
}

bool CycleSearch::spend(uint64_t steps) {
  if (steps > left_) exhausted_ = true;
  left_ -= std::min(left_, steps);
  return !exhausted_;
}

uint32_t CycleSearch::place_of(uint32_t node) const {
  return static_cast<uint32_t>(std::lower_bound(part_.begin(), part_.end(), node) - part_.begin());
}

// Pairs of which the earlier one is a store that may still be buffered, or a read that may have been served
// by one, when the later one happens: all others are certain, or impossible.
void CycleSearch::find_choices(const std::vector<OpId>& ops) {
  tsl::robin_map<uint32_t, std::vector<OpId>> open;  // by location
  for (const OpId id : ops) {
    const Op& op = history_.ops[id];
    std::vector<OpId>& others = open[op.location];
    std::erase_if(others, [&](OpId other) {
      const OpId store = history_.ops[other].stores ? other : history_.own_store[other];
      return history_.drain[store] < id;
    });
    for (const OpId other : others) {
      if (history_.ops[other].thread == op.thread || !(history_.ops[other].changes() || op.changes()))
        continue;
      if (!spend(1)) return;
      add_choice(other, id);
      add_choice(id, other);
    }
    if (op.stores || history_.is_buffered_read(id)) others.push_back(id);
  }
}

void CycleSearch::add_choice(OpId from, OpId to) {
  const Wants wants = wants_of(history_, from, to);
  const uint32_t source = place_of(node_of(history_, question_, from));
  const uint32_t target = place_of(node_of(history_, question_, to));
  if (wants.impossible || wants.is_certain() || source == target) return;
  leaving_[source].push_back(static_cast<uint32_t>(choices_.size()));
  choices_.push_back({{from, to}, source, target, wants});
}

const CycleSearch::Reach& CycleSearch::reach(uint32_t place) {
  Reach& reach = reach_[place];
  if (!reach.bits.empty()) return reach;
  reach.bits.resize(part_.size() / 64 + 1, 0);
  std::vector<uint32_t> queue{place};
  reach.bits[place / 64] |= uint64_t{1} << place % 64;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (!leaving_[queue[i]].empty()) reach.leaving.push_back(queue[i]);
    for (const Link& link : certain_.from(part_[queue[i]])) {
      const uint32_t node = node_of(history_, question_, link.to);
      const uint32_t next = place_of(node);
      if (next == part_.size() || part_[next] != node) continue;
      if ((reach.bits[next / 64] >> next % 64 & 1) != 0) continue;
      reach.bits[next / 64] |= uint64_t{1} << next % 64;
      queue.push_back(next);
    }
  }
  spend(queue.size() + reach.bits.size());
  return reach;
}

bool CycleSearch::reaches(uint32_t from, uint32_t to) {
  return (reach(from).bits[to / 64] >> to % 64 & 1) != 0;
}

std::optional<Cycle> CycleSearch::run() {
  for (std::size_t most = 1;; ++most) {
    cut_off_ = false;
    for (uint32_t first = 0; first < choices_.size() && !exhausted_; ++first) {
      const Choice& choice = choices_[first];
      if (!spend(1)) break;
      path_.assign(1, first);
      wants_ = {choice.wants.first, choice.wants.second};
      if (!timing_.allows(wants_)) continue;
      if (closes() || extend(first, most)) return cycle();
    }
    if (exhausted_ || !cut_off_) return std::nullopt;
  }
}

// Whether the last choice enters where an earlier one's segment, or its own, leaves from.
bool CycleSearch::closes() {
  const uint32_t entry = choices_[path_.back()].to;
  for (std::size_t i = path_.size(); i-- > 0;) {
    if (!reaches(entry, choices_[path_[i]].from)) continue;
    closed_from_ = i;
    return true;
  }
  return false;
}

bool CycleSearch::may_follow(const Choice& choice) {
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Choice& earlier = choices_[path_[i]];
    if (earlier.from != choice.to && reaches(earlier.from, choice.to)) return false;
    if (i + 1 < path_.size() && reaches(earlier.to, choice.from)) return false;
  }
  return true;
}

// All paths that begin like this one, have no choice before `least` and at most `most`.
bool CycleSearch::extend(uint32_t least, std::size_t most) {
  const uint32_t entry = choices_[path_.back()].to;
  if (path_.size() == most) {
    cut_off_ |= !reach(entry).leaving.empty();
    return false;
  }
  for (const uint32_t exit : reach(entry).leaving) {
    for (const uint32_t next : leaving_[exit]) {
      if (next <= least) continue;
      if (!spend(1)) return false;
      const Choice& choice = choices_[next];
      if (!may_follow(choice)) continue;
      path_.push_back(next);
      wants_.push_back(choice.wants.first);
      wants_.push_back(choice.wants.second);
      if (timing_.allows(wants_) && (closes() || extend(least, most))) return true;
      wants_.resize(wants_.size() - 2);
      path_.pop_back();
    }
  }
  return false;
}

Cycle CycleSearch::cycle() const {
  Cycle cycle;
  const auto is_in_part = [&](uint32_t node) { return std::binary_search(part_.begin(), part_.end(), node); };
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
