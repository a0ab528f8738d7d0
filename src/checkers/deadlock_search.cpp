#include "checkers/deadlock_search.h"

#include <algorithm>

namespace heddle {

namespace {

bool ordered(const Dependency& a, const Dependency& b) {
  const Dependency& earlier = a.wanted.index < b.wanted.index ? a : b;
  const Dependency& later = a.wanted.index < b.wanted.index ? b : a;
  return later.clock.knows(earlier.clock.epoch());
}

}  // namespace

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
  path_.assign(1, &fresh);
  path_groups_.assign(1, mix(group_of(fresh)));
  extend();
}

uint32_t DeadlockSearch::group_of(const Dependency& dependency) {
  const Key group{uint64_t{dependency.thread} << 2 | static_cast<uint64_t>(dependency.doubt),
                  dependency.wanted.places};
  const auto [place, is_new] = group_numbers_.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (is_new) groups_.emplace_back();
  return place->second;
}

void DeadlockSearch::index(uint32_t number) {
  const Dependency& dependency = dependencies_[number];
  known_.insert(
      {dependency.stretch << 2 | static_cast<uint64_t>(dependency.doubt), dependency.wanted.places});
  const uint32_t group = group_of(dependency);
  if (groups_[group].members.empty()) {
    for (const Acquisition& holding : dependency.holding) {
      if (holding.lock >= holders_.size()) holders_.resize(holding.lock + std::size_t{1});
      holders_[holding.lock].push_back(group);
    }
  }
  groups_[group].members.push_back(number);
}

bool DeadlockSearch::blocks(const Dependency& holder, const Dependency& waiter) const {
  const Hold hold = locksets_.find(holder.held, waiter.wanted.lock);
  return hold == Hold::kExclusive || (hold == Hold::kShared && !waiter.wanted.shared);
}

// Whether the candidate, and so its group, can follow the path but for the forced order: it blocks the last
// one and nobody else, and can hold its locks at the same time as all.
bool DeadlockSearch::fits(const Dependency& candidate) {
  if (!graph_.on_one_cycle(candidate.wanted.lock, path_.back()->wanted.lock)) return false;
  if (!blocks(candidate, *path_.back())) return false;
  for (std::size_t i = 0; i < path_.size(); ++i) {
    const Dependency& other = *path_[i];
    if (other.thread == candidate.thread || !locksets_.compatible(other.held, candidate.held)) return false;
    if (i + 1 < path_.size() && blocks(candidate, other)) return false;
    if (i > 0 && blocks(other, candidate)) return false;
  }
  return true;
}

bool DeadlockSearch::ordered_with_path(const Dependency& candidate) const {
  return std::any_of(path_.begin(), path_.end(),
                     [&](const Dependency* other) { return ordered(*other, candidate); });
}

bool DeadlockSearch::take_step() {
  if (budget_ == 0) {
    exhausted_ = true;
    return false;
  }
  --budget_;
  return true;
}

// Tries everybody who holds what the last of the path wants. The path has pairwise different threads, so the
// recursion is no deeper than there are threads. A group that closes a cycle needs to do so once.
void DeadlockSearch::extend() {
  const uint32_t wanted = path_.back()->wanted.lock;
  if (wanted >= holders_.size()) return;
  for (const uint32_t group : holders_[wanted]) {
    if (!take_step()) return;
    const std::vector<uint32_t>& members = groups_[group].members;
    const Dependency& sample = dependencies_[members.front()];
    if (!fits(sample)) continue;
    const uint64_t path_groups = mix(path_groups_.back() ^ group);
    const bool closes = blocks(*path_.front(), sample);
    if (closes && closed_.contains(path_groups)) continue;
    for (const uint32_t number : members) {
      if (!take_step()) return;
      const Dependency& candidate = dependencies_[number];
      if (ordered_with_path(candidate)) continue;
      path_.push_back(&candidate);
      path_groups_.push_back(path_groups);
      if (closes) {
        closed_.insert(path_groups);
        on_cycle_(path_);
      } else {
        extend();
      }
      path_.pop_back();
      path_groups_.pop_back();
      if (closes) break;
      if (exhausted_) return;
    }
  }
}

void DeadlockSearch::collect(const ForcedOrder& order) {
  tsl::robin_map<ThreadId, Time> settled;
  const auto is_settled = [&](const Dependency& dependency) {
    auto time = settled.find(dependency.thread);
    if (time == settled.end())
      time = settled.emplace(dependency.thread, order.settled(dependency.thread)).first;
    return dependency.clock.epoch().time() <= time->second;
  };
  collected_ += std::erase_if(dependencies_, is_settled);
  known_.clear();
  for (std::vector<uint32_t>& list : holders_) list.clear();
  for (Group& group : groups_) group.members.clear();
  for (uint32_t number = 0; number < dependencies_.size(); ++number) index(number);
  collect_at_ = dependencies_.size() + std::max(collect_every_, dependencies_.size());
}

}  // namespace heddle
