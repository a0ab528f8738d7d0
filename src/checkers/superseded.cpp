#include "checkers/superseded.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace heddle {

namespace {

constexpr int kMostRounds = 16;  // then nothing is dropped: one or two are the rule

class Superseded {
 public:
  Superseded(const Dependencies& dependencies, const std::vector<uint32_t>& groups)
      : dependencies_(dependencies), next_(dependencies.size(), kNoId), moved_(dependencies.size(), false) {
    tsl::robin_map<uint32_t, uint32_t> latest;     // by group
    tsl::robin_map<ThreadId, std::size_t> places;  // in threads_
    tsl::robin_map<uint64_t, uint32_t> stretches;  // numbered anew
    for (uint32_t number = 0; number < dependencies.size(); ++number) {
      const auto [before, is_first] = latest.try_emplace(groups[number], number);
      if (!is_first) {
        next_[before->second] = number;
        moved_[before->second] = true;
        before.value() = number;
      }
      const uint64_t stretch = dependencies[number].stretch;
      stretches_.push_back(
          stretches.try_emplace(stretch, static_cast<uint32_t>(stretches.size())).first->second);
      const ThreadId thread = dependencies[number].thread;
      const auto [place, is_new] = places.try_emplace(thread, threads_.size());
      if (is_new) threads_.push_back({thread, {}});
      threads_[place->second].dependencies.push_back({time_of(number), number});
    }
  }

  std::vector<bool> find() {
    uint32_t changed = 0;
    for (int round = 0; round < kMostRounds; ++round) {
      changed = leave_some(changed);
      if (changed == kNoId) return std::move(moved_);
    }
    return std::vector<bool>(dependencies_.size(), false);
  }

 private:
  struct Moment {
    Time time;
    uint32_t number;  // of the dependency
  };
  struct Thread {
    ThreadId id;
    std::vector<Moment> dependencies;
  };

  // Leaves where they are those that must not be moved, after the round before has left some from number
  // `since` on: what moves to a place before that knows none of them. Latest first, since one that has no
  // next keeps others from moving, mostly earlier ones. Returns the first left, kNoId if none had to be.
  uint32_t leave_some(uint32_t since) {
    uint32_t first = kNoId;
    tsl::robin_map<uint64_t, bool, MixHash> answers;  // for two stretches
    for (uint32_t number = static_cast<uint32_t>(dependencies_.size()); number-- > 0;) {
      if (!moved_[number] || next_[number] < since) continue;
      const uint64_t both = uint64_t{stretches_[number]} << 32 | stretches_[next_[number]];
      const auto [answer, is_new] = answers.try_emplace(both, false);
      if (is_new) answer.value() = may_move(dependencies_[number], dependencies_[next_[number]]);
      if (answer->second) continue;
      moved_[number] = false;
      first = number;
    }
    return first;
  }

  bool may_move(const Dependency& from, const Dependency& to) const {
    return std::all_of(threads_.begin(), threads_.end(), [&](const Thread& thread) {
      const Time known = from.clock.time_of(thread.id);
      const Time known_then = to.clock.time_of(thread.id);
      if (thread.id == from.thread || known == known_then) return true;
      const std::vector<Moment>& others = thread.dependencies;
      auto other = std::partition_point(others.begin(), others.end(),
                                        [&](const Moment& moment) { return moment.time <= known; });
      for (; other != others.end() && other->time <= known_then; ++other) {
        const uint32_t number = other->number;
        if (dependencies_[number].clock.knows(from.clock.epoch())) break;  // and so do those after it
        if (time_of(moved_[number] ? next_[number] : number) <= known_then) return false;
      }
      return true;
    });
  }
  Time time_of(uint32_t number) const { return dependencies_[number].clock.epoch().time(); }

  const Dependencies& dependencies_;
  std::vector<uint32_t> stretches_;  // by dependency, from 0
  std::vector<uint32_t> next_;       // of the same group; kNoId: none
  std::vector<bool> moved_;          // to the next
  std::vector<Thread> threads_;      // those with dependencies
};

}  // namespace

std::vector<bool> superseded(const Dependencies& dependencies, const std::vector<uint32_t>& groups) {
  return Superseded(dependencies, groups).find();
}

}  // namespace heddle
