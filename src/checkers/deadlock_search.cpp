#include "checkers/deadlock_search.h"

#include <algorithm>
#include <limits>

#include "checkers/ended_locks.h"
#include "checkers/superseded.h"

namespace heddle {

namespace {

uint64_t with_doubt(uint64_t who, Doubt doubt) { return who * kDoubts + static_cast<uint64_t>(doubt); }

}  // namespace

bool DeadlockSearch::knows(uint64_t stretch, const Acquisition& wanted, Doubt doubt) const {
  return known_.contains({with_doubt(stretch, doubt), wanted.places});
}

void DeadlockSearch::add(Dependency dependency) {
  const uint32_t number = static_cast<uint32_t>(dependencies_.size());
  dependencies_.push_back(std::move(dependency));
  index(number);
  const Dependency& fresh = dependencies_[number];
  bool cyclic = false;
  for (const Acquisition& holding : fresh.holding) {
    graph_.add(holding.lock, fresh.wanted.lock);
    cyclic |= graph_.on_one_cycle(holding.lock, fresh.wanted.lock);
  }
  if (!cyclic) return;
  const Group& group = groups_[group_of(fresh)];
  free_steps_ = kFreeSteps;
  path_.assign(1, group.kind);
  start_ = meetings_.start(group.chain);
  extend(start_);
}

uint32_t DeadlockSearch::group_of(const Dependency& dependency) {
  const Key key{with_doubt(dependency.thread, dependency.doubt), dependency.wanted.places};
  const auto [number, is_new] = group_numbers_.try_emplace(key, static_cast<uint32_t>(groups_.size()));
  if (is_new) {
    const uint32_t kind = kind_of(dependency);
    kinds_[kind].groups.push_back(number->second);
    groups_.push_back({kind, meetings_.add_chain()});
  }
  return number->second;
}

uint32_t DeadlockSearch::kind_of(const Dependency& dependency) {
  const Acquisition& wanted = dependency.wanted;
  const Key key{with_doubt(dependency.thread, dependency.doubt),
                uint64_t{dependency.held} << 33 | uint64_t{wanted.lock} << 1 | (wanted.shared ? 1U : 0U)};
  const auto [number, is_new] = kind_numbers_.try_emplace(key, static_cast<uint32_t>(kinds_.size()));
  if (is_new)
    kinds_.push_back(
        {dependency.thread, dependency.held, wanted.lock, wanted.shared, meetings_.add_chain(), {}});
  return number->second;
}

void DeadlockSearch::index(uint32_t number) {
  const Dependency& dependency = dependencies_[number];
  known_.insert({with_doubt(dependency.stretch, dependency.doubt), dependency.wanted.places});
  const Group& group = groups_[group_of(dependency)];
  const Kind& kind = kinds_[group.kind];
  if (meetings_.is_empty(kind.chain)) {
    for (const Acquisition& holding : dependency.holding) {
      if (holding.lock >= holders_.size()) holders_.resize(holding.lock + std::size_t{1});
      holders_[holding.lock].push_back(group.kind);
    }
  }
  meetings_.append(kind.chain, number);
  meetings_.append(group.chain, number);
}

bool DeadlockSearch::blocks(const Kind& holder, const Kind& waiter) const {
  const Hold hold = locksets_.find(holder.held, waiter.wanted);
  return hold == Hold::kExclusive || (hold == Hold::kShared && !waiter.shared);
}

// Whether the candidate can follow the path but for the forced order: it blocks the last one and nobody else,
// and can hold its locks at the same time as all.
bool DeadlockSearch::fits(const Kind& candidate) {
  const Kind& last = kinds_[path_.back()];
  if (!graph_.on_one_cycle(candidate.wanted, last.wanted) || !blocks(candidate, last)) return false;
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Kind& other = kinds_[path_[i]];
    if (other.thread == candidate.thread || !locksets_.compatible(other.held, candidate.held)) return false;
    if (i + 1 < path_.size() && blocks(candidate, other)) return false;
    if (i > 0 && blocks(other, candidate)) return false;
  }
  return true;
}

// Whether members of the path's chains can meet the new dependency. Its clock is the latest, so nobody knows
// it.
bool DeadlockSearch::can_meet(uint32_t path) {
  if (!take_steps(meetings_.find(path)) || !meetings_.found(path)) return false;
  const ThreadClock& clock = dependencies_.back().clock;
  for (std::size_t place = 0; place < meetings_.length(path); ++place)
    if (clock.knows(meetings_.member(path, place).clock.epoch())) return false;
  return true;
}

bool DeadlockSearch::take_steps(uint64_t steps) {
  const uint64_t free = std::min(steps, free_steps_);
  free_steps_ -= free;
  exhausted_ |= steps - free > budget_;
  if (!exhausted_) budget_ -= steps - free;
  return !exhausted_;
}

uint64_t& DeadlockSearch::closed(uint32_t path) {
  if (path >= closed_.size()) closed_.resize(path + std::size_t{1});
  return closed_[path];
}

// How many choices of sites the path leaves; the new dependency's are given.
uint64_t DeadlockSearch::site_choices() const {
  uint64_t choices = 1;
  for (std::size_t i = 1; i < path_.size(); ++i) {
    const uint64_t groups = kinds_[path_[i]].groups.size();
    if (choices > std::numeric_limits<uint64_t>::max() / groups) return std::numeric_limits<uint64_t>::max();
    choices *= groups;
  }
  return choices;
}

// Tries every kind that holds what the last of the path wants. The path has pairwise different threads, so
// the recursion is no deeper than there are threads.
void DeadlockSearch::extend(uint32_t path) {
  const uint32_t wanted = kinds_[path_.back()].wanted;
  if (wanted >= holders_.size()) return;
  for (const uint32_t number : holders_[wanted]) {
    if (!take_steps(1)) return;
    const Kind& kind = kinds_[number];
    if (!fits(kind)) continue;
    const bool closes = blocks(kinds_[path_.front()], kind);
    const uint32_t longer = meetings_.then(path, kind.chain);
    path_.push_back(number);
    if (!closes) {
      if (can_meet(longer)) extend(longer);
    } else if (closed(longer) < site_choices() && can_meet(longer)) {
      choose_sites(start_, 1, longer);
    }
    path_.pop_back();
    if (exhausted_) return;
  }
}

// The kinds of the path close a cycle. Tries their groups from `place` on; a choice of groups that can meet
// is reported once.
void DeadlockSearch::choose_sites(uint32_t path, std::size_t place, uint32_t kinds_path) {
  for (const uint32_t group : kinds_[path_[place]].groups) {
    if (!take_steps(1)) return;
    const uint32_t longer = meetings_.then(path, groups_[group].chain);
    const bool whole = place + 1 == path_.size();
    if ((whole && closed(longer) > 0) || !can_meet(longer)) continue;
    if (whole) {
      ++closed(longer);
      ++closed(kinds_path);
      report(longer);
    } else {
      choose_sites(longer, place + 1, kinds_path);
    }
  }
}

void DeadlockSearch::report(uint32_t path) {
  std::vector<const Dependency*> cycle{&dependencies_.back()};
  for (std::size_t place = 0; place < meetings_.length(path); ++place)
    cycle.push_back(&meetings_.member(path, place));
  on_cycle_(cycle);
}

// Nothing is lost here, not even for threads that nobody forked, so it does not count as collected.
void DeadlockSearch::drop_superseded() {
  std::vector<uint32_t> groups;
  groups.reserve(dependencies_.size());
  for (const Dependency& dependency : dependencies_) groups.push_back(group_of(dependency));
  const std::vector<bool> gone = superseded(dependencies_, groups);
  std::size_t number = 0;
  std::erase_if(dependencies_, [&](const Dependency&) { return gone[number++]; });
}

// Most groups are of threads that have ended. Cycles of the others that were reported are so again.
void DeadlockSearch::forget_groups() {
  groups_.clear();
  kinds_.clear();
  group_numbers_.clear();
  kind_numbers_.clear();
  closed_.clear();
  meetings_.clear();
}

void DeadlockSearch::collect(const ForcedOrder& order, const LockLives& locks) {
  tsl::robin_map<ThreadId, Time> settled;
  const auto is_settled = [&](const Dependency& dependency) {
    auto time = settled.find(dependency.thread);
    if (time == settled.end())
      time = settled.emplace(dependency.thread, order.settled(dependency.thread)).first;
    return dependency.clock.epoch().time() <= time->second;
  };
  collected_ += std::erase_if(dependencies_, is_settled);
  drop_superseded();
  if (!locks.ended().empty()) forget_ended_locks(dependencies_, locks.ended(), locks.size());
  if (groups_.size() > 4 * dependencies_.size() + collect_every_) forget_groups();
  index_all();
  collect_at_ = dependencies_.size() + std::max(collect_every_, dependencies_.size());
}

void DeadlockSearch::index_all() {
  known_.clear();
  for (std::vector<uint32_t>& list : holders_) list.clear();
  meetings_.clear_members();
  for (uint32_t number = 0; number < dependencies_.size(); ++number) index(number);
}

// Dependencies that differed in a lock that has ended can be the same now.
void DeadlockSearch::forget_numbers() {
  known_.clear();
  std::erase_if(dependencies_, [&](const Dependency& one) {
    return !known_.insert({with_doubt(one.stretch, one.doubt), one.wanted.places}).second;
  });
  graph_ = {};
  for (const Dependency& one : dependencies_)
    for (const Acquisition& holding : one.holding) graph_.add(holding.lock, one.wanted.lock);
  holders_.clear();
  forget_groups();
  index_all();
}

}  // namespace heddle
