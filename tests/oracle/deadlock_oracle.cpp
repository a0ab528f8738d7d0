#include "deadlock_oracle.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

namespace heddle::oracle {

namespace {

using Index = std::size_t;
struct Holding {
  Index since;  // where the lock was taken
  bool shared;
};
using Held = std::map<uint32_t, Holding>;  // by lock

bool is_acquire(const Event& event) {
  return event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared;
}
bool is_release(const Event& event) {
  return event.operation == Operation::kRelease || event.operation == Operation::kReleaseShared;
}

// before[i]: the events that must come before event i whatever the schedule (direct reasons only).
std::vector<std::set<Index>> forced_edges(const std::vector<Event>& trace) {
  std::vector<std::set<Index>> before(trace.size());
  struct Phase {
    std::set<ThreadId> threads;
    std::vector<Index> arrivals;
    bool left = false;
  };
  std::map<uint32_t, std::vector<Phase>> barriers;
  std::map<std::pair<uint32_t, ThreadId>, std::vector<Index>>
      phases_of;                                          // (barrier, thread) → phase of its n-th arrive
  std::map<std::pair<uint32_t, ThreadId>, Index> leaves;  // (barrier, thread) → how many so far
  for (Index i = 0; i < trace.size(); ++i) {
    const Event& event = trace[i];
    for (Index j = 0; j < i; ++j) {
      if (trace[j].thread == event.thread) before[i].insert(j);
      if (trace[j].operation == Operation::kFork && trace[j].object == event.thread) before[i].insert(j);
      if (event.operation == Operation::kJoin && trace[j].thread == event.object) before[i].insert(j);
      if (event.operation == Operation::kJoin && trace[j].operation == Operation::kFork &&
          trace[j].object == event.object)
        before[i].insert(j);
      if (event.operation == Operation::kWait && trace[j].operation == Operation::kPost &&
          trace[j].object == event.object)
        before[i].insert(j);
      if (event.operation == Operation::kSync && event.order == MemoryOrder::kAcquire &&
          trace[j].operation == Operation::kSync && trace[j].order == MemoryOrder::kRelease &&
          trace[j].object == event.object)
        before[i].insert(j);
    }
    std::vector<Phase>& phases = barriers[event.object];
    const std::pair<uint32_t, ThreadId> who{event.object, event.thread};
    if (event.operation == Operation::kArrive) {
      if (phases.empty() || phases.back().left || phases.back().threads.count(event.thread) != 0)
        phases.emplace_back();
      phases.back().threads.insert(event.thread);
      phases.back().arrivals.push_back(i);
      phases_of[who].push_back(phases.size() - 1);
    }
    if (event.operation == Operation::kLeave) {
      Phase& phase = phases[phases_of[who][leaves[who]++]];
      phase.left = true;
      before[i].insert(phase.arrivals.begin(), phase.arrivals.end());
    }
  }
  return before;
}

std::vector<std::vector<bool>> closure(const std::vector<std::set<Index>>& before) {
  std::vector<std::vector<bool>> ordered(before.size(), std::vector<bool>(before.size(), false));
  for (Index i = 0; i < before.size(); ++i)
    for (const Index j : before[i]) {
      ordered[j][i] = true;
      for (Index k = 0; k < j; ++k)
        if (ordered[k][j]) ordered[k][i] = true;
    }
  return ordered;
}

// What each thread holds just before each of its events.
std::vector<Held> held_before(const std::vector<Event>& trace) {
  std::map<ThreadId, Held> now;
  std::vector<Held> result;
  for (const Event& event : trace) {
    result.push_back(now[event.thread]);
    if (is_acquire(event))
      now[event.thread][event.object] = {result.size() - 1, event.operation == Operation::kAcquireShared};
    if (is_release(event)) now[event.thread].erase(event.object);
  }
  return result;
}

// The acquisition at `first` and all that are made together with it, by the index of their events: those that
// follow it in the thread at once.
std::vector<Index> taken_together(const std::vector<Event>& trace, Index first) {
  std::vector<Index> group{first};
  for (Index i = first + 1; i < trace.size(); ++i) {
    if (trace[i].thread != trace[first].thread) continue;
    if (!is_together(trace[i])) break;
    group.push_back(i);
  }
  return group;
}

// What each thread holds while it waits before its events: those it takes together are not held then.
std::vector<Held> held_waiting(const std::vector<Event>& trace) {
  std::vector<Held> result = held_before(trace);
  for (Index first = 0; first < trace.size(); ++first)
    if (is_acquire(trace[first]) && !is_together(trace[first]))
      for (const Index i : taken_together(trace, first)) result[i] = result[first];
  return result;
}

bool conflicts(const Held& held, uint32_t lock, bool shared) {
  const auto found = held.find(lock);
  return found != held.end() && !(found->second.shared && shared);
}

}  // namespace

std::set<Cycle> lock_cycles(const std::vector<Event>& trace) {
  const std::vector<std::vector<bool>> ordered = closure(forced_edges(trace));
  const std::vector<Held> held = held_waiting(trace);
  std::vector<Index> dependencies;
  for (Index i = 0; i < trace.size(); ++i)
    if (is_acquire(trace[i]) && !trace[i].tries && !held[i].empty()) dependencies.push_back(i);
  // Whether i would wait for what j holds.
  const auto waits = [&](Index i, Index j) {
    return conflicts(held[j], trace[i].object, trace[i].operation == Operation::kAcquireShared);
  };
  const auto together = [&](Index i, Index j) {
    return trace[i].thread != trace[j].thread && !ordered[i][j] && !ordered[j][i] &&
           std::none_of(held[i].begin(), held[i].end(),
                        [&](const auto& one) { return conflicts(held[j], one.first, one.second.shared); });
  };
  std::set<Cycle> cycles;
  std::vector<Index> chosen;
  const std::function<void()> choose = [&] {
    if (chosen.size() >= 2) {
      bool cycle = true;
      for (Index i = 0; i < chosen.size(); ++i)
        for (Index j = 0; j < chosen.size(); ++j)
          if (i != j) cycle &= waits(chosen[i], chosen[j]) == (j == (i + 1) % chosen.size());
      if (cycle) {
        Cycle participants;
        for (Index i = 0; i < chosen.size(); ++i) {
          const uint32_t wanted_before = trace[chosen[(i + chosen.size() - 1) % chosen.size()]].object;
          participants.insert({trace[chosen[i]].thread, held[chosen[i]].at(wanted_before).since, chosen[i]});
        }
        cycles.insert(participants);
      }
    }
    for (const Index next : dependencies)
      if (std::all_of(chosen.begin(), chosen.end(), [&](Index one) { return together(one, next); })) {
        chosen.push_back(next);
        choose();
        chosen.pop_back();
      }
  };
  choose();
  return cycles;
}

std::set<std::set<ThreadId>> reachable_deadlocks(const std::vector<Event>& trace) {
  const std::vector<std::set<Index>> before = forced_edges(trace);
  const std::vector<Held> held = held_before(trace);
  std::map<ThreadId, std::vector<Index>> program;
  for (Index i = 0; i < trace.size(); ++i) program[trace[i].thread].push_back(i);

  using State = std::map<ThreadId, Index>;  // thread → how many of its events were run
  std::set<std::set<ThreadId>> deadlocks;
  std::set<State> seen;
  std::vector<State> open{State()};
  for (const auto& [thread, events] : program) open.back()[thread] = 0;
  seen.insert(open.back());
  while (!open.empty()) {
    const State state = open.back();
    open.pop_back();
    std::vector<bool> done(trace.size(), false);
    for (const auto& [thread, events] : program)
      for (Index i = 0; i < state.at(thread); ++i) done[events[i]] = true;
    // What a thread holds now: what it holds before its next event, or after its last.
    const auto holds = [&](ThreadId thread) {
      const std::vector<Index>& events = program.at(thread);
      if (state.at(thread) < events.size()) return held[events[state.at(thread)]];
      Held result = held[events.back()];
      const Event& last = trace[events.back()];
      if (is_acquire(last))
        result[last.object] = {events.back(), last.operation == Operation::kAcquireShared};
      if (is_release(last)) result.erase(last.object);
      return result;
    };
    std::map<ThreadId, std::set<ThreadId>> waits;  // thread → who holds what it waits for
    for (const auto& [thread, events] : program) {
      if (state.at(thread) == events.size()) continue;
      const Index next = events[state.at(thread)];
      if (!std::all_of(before[next].begin(), before[next].end(), [&](Index i) { return done[i]; })) continue;
      // Those taken together are taken at once, when all of them are free.
      std::vector<Index> step{next};
      if (is_acquire(trace[next])) step = taken_together(trace, next);
      for (const Index one : step)
        for (const auto& [other, others_events] : program)
          if (is_acquire(trace[one]) && other != thread &&
              conflicts(holds(other), trace[one].object, trace[one].operation == Operation::kAcquireShared))
            waits[thread].insert(other);
      if (waits.count(thread) != 0) {
        // A try goes on without the lock, where the trace does not say.
        if (trace[next].tries) waits.erase(thread);
        continue;
      }
      State after = state;
      after[thread] += step.size();
      if (seen.insert(after).second) open.push_back(after);
    }
    // All simple circles of the waits-for relation.
    std::vector<ThreadId> path;
    const std::function<void()> walk = [&] {
      for (const ThreadId next : waits[path.back()]) {
        if (next == path.front()) deadlocks.insert(std::set<ThreadId>(path.begin(), path.end()));
        if (std::find(path.begin(), path.end(), next) != path.end() || waits.count(next) == 0) continue;
        path.push_back(next);
        walk();
        path.pop_back();
      }
    };
    std::vector<ThreadId> waiting;
    waiting.reserve(waits.size());
    for (const auto& [thread, others] : waits) waiting.push_back(thread);
    for (const ThreadId thread : waiting) {
      path.assign(1, thread);
      walk();
    }
  }
  return deadlocks;
}

}  // namespace heddle::oracle
