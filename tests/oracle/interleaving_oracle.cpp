#include "interleaving_oracle.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace heddle::oracle {

namespace {

bool is_access(const Event& event) { return event.operation <= Operation::kAtomicCompareFail; }
bool is_read(const Event& event) {
  return event.operation == Operation::kRead || event.operation == Operation::kAtomicRead ||
         event.operation == Operation::kAtomicUpdate || event.operation == Operation::kAtomicCompareFail;
}
bool is_write(const Event& event) {
  return event.operation == Operation::kWrite || event.operation == Operation::kAtomicWrite ||
         event.operation == Operation::kAtomicUpdate;
}
bool takes(const Event& event) {
  return event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared;
}
bool gives_back(const Event& event) {
  return event.operation == Operation::kRelease || event.operation == Operation::kReleaseShared;
}
bool synchronizes(const Event& event) {
  return event.operation == Operation::kFork || event.operation == Operation::kJoin ||
         event.operation == Operation::kArrive || event.operation == Operation::kLeave ||
         event.operation == Operation::kPost || event.operation == Operation::kWait;
}

// The order every schedule keeps: of each thread, fork, join, barrier phases, posts before a later wait.
// Closed transitively.
std::vector<std::vector<bool>> forced_order(const std::vector<Event>& trace) {
  const std::size_t n = trace.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  // Phases of barriers: an arrival belongs to the open phase, unless its thread is in it or somebody has left
  // it.
  std::map<uint32_t, unsigned> open;
  std::map<std::pair<uint32_t, unsigned>, std::set<ThreadId>> arrived;
  std::set<std::pair<uint32_t, unsigned>> left;
  std::map<std::pair<uint32_t, ThreadId>, std::vector<unsigned>> to_leave;
  std::vector<unsigned> phase(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Event& event = trace[i];
    if (event.operation == Operation::kArrive) {
      unsigned& now = open[event.object];
      if (arrived[{event.object, now}].contains(event.thread) || left.contains({event.object, now})) ++now;
      arrived[{event.object, now}].insert(event.thread);
      to_leave[{event.object, event.thread}].push_back(now);
      phase[i] = now;
    }
    if (event.operation == Operation::kLeave) {
      std::vector<unsigned>& phases = to_leave[{event.object, event.thread}];
      phase[i] = phases.front();
      phases.erase(phases.begin());
      left.insert({event.object, phase[i]});
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const Event& a = trace[i];
      const Event& b = trace[j];
      const bool same_object = a.object == b.object;
      // A thread that does nothing is forked before it is joined all the same.
      const bool life = a.operation == Operation::kFork && b.operation == Operation::kJoin && same_object;
      before[i][j] = a.thread == b.thread || life ||
                     (a.operation == Operation::kFork && a.object == b.thread) ||
                     (b.operation == Operation::kJoin && b.object == a.thread) ||
                     (a.operation == Operation::kArrive && b.operation == Operation::kLeave && same_object &&
                      phase[i] == phase[j]) ||
                     (a.operation == Operation::kPost && b.operation == Operation::kWait && same_object);
    }
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i)
      if (before[i][k])
        for (std::size_t j = k + 1; j < n; ++j)
          if (before[k][j]) before[i][j] = true;
  return before;
}

}  // namespace

// One thing a thread does in a schedule. Locks held around a transaction are taken before it and given back
// after it.
struct Interleavings::Act {
  std::size_t event;   // kNone for locks given back after the transaction
  std::size_t member;  // transaction
  enum Kind { kPlain, kTake, kGive } kind = kPlain;
  uint32_t lock = 0;
  bool shared = false;
};

Interleavings::Interleavings(const std::vector<Event>& trace)
    : trace_(trace), before_(forced_order(trace)), variable_(trace.size()), held_(trace.size() + 1) {
  std::map<ThreadId, std::vector<bool>> blocks;        // atomic?
  std::map<ThreadId, std::size_t> open;                // transaction
  std::map<ThreadId, std::size_t> depth;               // of the block that is the transaction
  std::map<ThreadId, std::vector<std::size_t>> taken;  // events
  std::map<uint32_t, uint32_t> lives;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  // variable and life → number
  std::map<uint32_t, std::set<ThreadId>> users;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace[i];
    held_[i] = taken[event.thread];
    if (takes(event)) taken[event.thread].push_back(i);
    if (gives_back(event))
      std::erase_if(taken[event.thread], [&](std::size_t by) { return trace[by].object == event.object; });
    if (event.operation == Operation::kAlloc || event.operation == Operation::kFree) ++lives[event.object];
    if (is_access(event)) {
      const auto next = static_cast<uint32_t>(numbers.size());
      variable_[i] = numbers.try_emplace({event.object, lives[event.object]}, next).first->second;
      users[variable_[i]].insert(event.thread);
    }
    if (event.operation == Operation::kBeginAtomic || event.operation == Operation::kBeginDeterministic) {
      blocks[event.thread].push_back(event.operation == Operation::kBeginAtomic);
      if (event.operation == Operation::kBeginAtomic && !open.contains(event.thread)) {
        open[event.thread] = transactions_.size();
        depth[event.thread] = blocks[event.thread].size();
        transactions_.push_back({event.thread, true, {}, false, false});
      }
      continue;
    }
    if (event.operation == Operation::kEnd) {
      if (open.contains(event.thread) && depth[event.thread] == blocks[event.thread].size())
        open.erase(event.thread);
      blocks[event.thread].pop_back();
      continue;
    }
    if (open.contains(event.thread)) {
      Transaction& transaction = transactions_[open[event.thread]];
      transaction.events.push_back(i);
      transaction.synchronizes |= synchronizes(event);
    } else if (is_access(event)) {
      transactions_.push_back({event.thread, false, {i}, false, false});
    }
  }
  for (Transaction& transaction : transactions_)
    for (const std::size_t i : transaction.events)
      if (is_access(trace[i]) && users[variable_[i]].size() > 1) transaction.touches_shared = true;
  std::erase_if(transactions_, [](const Transaction& transaction) {
    return !transaction.touches_shared && !transaction.synchronizes;
  });
}

bool Interleavings::forces(std::size_t before, std::size_t after) const {
  for (const std::size_t i : transactions_[before].events)
    for (const std::size_t j : transactions_[after].events)
      if (before_[i][j]) return true;
  return false;
}

// What the member at `place` of its thread's members does, with the locks around it. A lock that is kept from
// one member of the thread to the next is not given back in between.
std::vector<Interleavings::Act> Interleavings::acts_of(const std::vector<std::size_t>& members,
                                                       std::size_t place) const {
  const auto kept = [&](std::size_t earlier, std::size_t later) {
    std::set<std::size_t> both;  // acquisitions
    const Transaction& a = transactions_[earlier];
    const Transaction& b = transactions_[later];
    const std::size_t last = a.events.back();
    std::vector<std::size_t> after = held_[last];
    if (takes(trace_[last])) after.push_back(last);
    if (gives_back(trace_[last]))
      std::erase_if(after, [&](std::size_t by) { return trace_[by].object == trace_[last].object; });
    for (const std::size_t by : after)
      if (std::count(held_[b.events.front()].begin(), held_[b.events.front()].end(), by) > 0) both.insert(by);
    return both;
  };
  const std::size_t member = members[place];
  const Transaction& transaction = transactions_[member];
  std::set<std::size_t> from_before;
  std::set<std::size_t> for_later;
  for (std::size_t i = place; i-- > 0;) {
    if (transactions_[members[i]].thread != transaction.thread) continue;
    from_before = kept(members[i], member);
    break;
  }
  for (std::size_t i = place + 1; i < members.size(); ++i) {
    if (transactions_[members[i]].thread != transaction.thread) continue;
    for_later = kept(member, members[i]);
    break;
  }
  std::vector<Act> acts;
  std::vector<std::size_t> held = held_[transaction.events.front()];
  for (const std::size_t by : held)
    if (!from_before.contains(by))
      acts.push_back(
          {by, member, Act::kTake, trace_[by].object, trace_[by].operation == Operation::kAcquireShared});
  for (const std::size_t i : transaction.events) {
    const Event& event = trace_[i];
    Act act{i, member, Act::kPlain, 0, false};
    if (takes(event)) {
      act = {i, member, Act::kTake, event.object, event.operation == Operation::kAcquireShared};
      held.push_back(i);
    }
    if (gives_back(event)) {
      act = {i, member, Act::kGive, event.object, event.operation == Operation::kReleaseShared};
      std::erase_if(held, [&](std::size_t by) { return trace_[by].object == event.object; });
    }
    acts.push_back(act);
  }
  for (const std::size_t by : held)
    if (!for_later.contains(by))
      acts.push_back({transaction.events.back(), member, Act::kGive, trace_[by].object,
                      trace_[by].operation == Operation::kAcquireShared});
  return acts;
}

namespace {

// Which write each read sees (by event, 1 + the write; the initial value is 1 + the read itself) and, behind
// that, which write of each variable is last.
constexpr std::size_t kMostEvents = 64;
constexpr std::size_t kMostVariables = 32;
using View = std::array<uint8_t, kMostEvents + kMostVariables>;

View view_of(const std::vector<std::size_t>& order, const std::vector<Event>& trace,
             const std::vector<uint32_t>& variable) {
  View view{};
  for (const std::size_t i : order) {
    if (!is_access(trace[i])) continue;
    uint8_t& last = view[kMostEvents + variable[i]];
    const auto number = static_cast<uint8_t>(i + 1);
    if (is_read(trace[i])) view[i] = last == 0 ? number : last;
    if (is_write(trace[i])) last = number;
  }
  return view;
}

}  // namespace

void Interleavings::for_each_schedule(
    const std::vector<std::size_t>& members,
    const std::function<bool(const std::vector<std::size_t>&)>& visit) const {
  // Members of one thread in the order of the trace make one sequence.
  std::vector<std::size_t> sorted = members;
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return transactions_[a].events.front() < transactions_[b].events.front();
  });
  std::map<ThreadId, std::vector<Act>> sequences;
  for (std::size_t place = 0; place < sorted.size(); ++place) {
    const std::vector<Act> acts = acts_of(sorted, place);
    std::vector<Act>& sequence = sequences[transactions_[sorted[place]].thread];
    sequence.insert(sequence.end(), acts.begin(), acts.end());
  }
  std::set<std::size_t> all;
  for (const std::size_t member : members)
    all.insert(transactions_[member].events.begin(), transactions_[member].events.end());
  std::map<ThreadId, std::size_t> done;
  std::set<std::size_t> done_events;
  std::map<uint32_t, std::pair<int, int>> holders;  // lock → exclusive, shared
  std::vector<std::size_t> events;
  bool wanted = true;
  const std::function<void()> run = [&] {
    if (!wanted) return;
    bool complete = true;
    for (const auto& [thread, sequence] : sequences) {
      if (done[thread] == sequence.size()) continue;
      complete = false;
      const Act& act = sequence[done[thread]];
      const bool ready = std::all_of(all.begin(), all.end(), [&](std::size_t other) {
        return !before_[other][act.event] || act.kind == Act::kGive || done_events.contains(other) ||
               trace_[other].thread == thread;
      });
      if (!ready) continue;
      auto& [exclusive, shared] = holders[act.lock];
      if (act.kind == Act::kTake && (exclusive > 0 || (!act.shared && shared > 0))) continue;
      const int change = act.kind == Act::kTake ? 1 : act.kind == Act::kGive ? -1 : 0;
      (act.shared ? shared : exclusive) += change;
      ++done[thread];
      const bool is_new = all.contains(act.event) && done_events.insert(act.event).second;
      if (is_new) events.push_back(act.event);
      run();
      if (is_new) {
        events.pop_back();
        done_events.erase(act.event);
      }
      --done[thread];
      auto& [exclusive_now, shared_now] = holders[act.lock];
      (act.shared ? shared_now : exclusive_now) -= change;
    }
    if (!complete) return;
    wanted = visit(events);
  };
  run();
}

std::optional<bool> Interleavings::is_serializable(const std::vector<std::size_t>& members,
                                                   uint64_t most) const {
  // What serial orders give.
  std::vector<View> serial;
  std::vector<std::size_t> order = members;
  std::sort(order.begin(), order.end());
  do {
    bool allowed = true;
    std::vector<std::size_t> events;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) allowed &= !forces(order[j], order[i]);
      events.insert(events.end(), transactions_[order[i]].events.begin(),
                    transactions_[order[i]].events.end());
    }
    if (allowed) serial.push_back(view_of(events, trace_, variable_));
  } while (std::next_permutation(order.begin(), order.end()));

  uint64_t schedules = 0;
  bool good = true;
  for_each_schedule(members, [&](const std::vector<std::size_t>& events) {
    good = std::find(serial.begin(), serial.end(), view_of(events, trace_, variable_)) != serial.end();
    return good && ++schedules <= most;
  });
  if (!good) return false;
  if (schedules > most) return std::nullopt;
  return true;
}

bool Interleavings::is_violation(const std::vector<std::size_t>& order) const {
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      if (before_[order[j]][order[i]]) return false;
  std::vector<std::size_t> members;
  for (std::size_t m = 0; m < transactions_.size(); ++m)
    if (std::any_of(order.begin(), order.end(), [&](std::size_t i) {
          return std::count(transactions_[m].events.begin(), transactions_[m].events.end(), i) > 0;
        }))
      members.push_back(m);
  const View view = view_of(order, trace_, variable_);
  do {
    bool allowed = true;
    std::vector<std::size_t> events;
    for (std::size_t a = 0; a < members.size(); ++a) {
      for (std::size_t b = a + 1; b < members.size(); ++b) allowed &= !forces(members[b], members[a]);
      for (const std::size_t i : transactions_[members[a]].events)
        if (std::count(order.begin(), order.end(), i) > 0) events.push_back(i);
    }
    if (allowed && view_of(events, trace_, variable_) == view) return false;
  } while (std::next_permutation(members.begin(), members.end()));
  return true;
}

bool Interleavings::is_reachable(const std::vector<std::size_t>& order) const {
  std::map<ThreadId, std::vector<std::size_t>> of_thread;
  for (std::size_t i = 0; i < trace_.size(); ++i) of_thread[trace_[i].thread].push_back(i);
  std::map<std::size_t, std::size_t> place;  // in the order
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::set<std::vector<bool>> seen;
  std::vector<bool> done(trace_.size());
  const std::function<bool(std::size_t)> run = [&](std::size_t come_to) {
    if (come_to == order.size()) return true;
    if (!seen.insert(done).second) return false;
    std::map<uint32_t, std::pair<int, int>> holders;  // lock → exclusive, shared
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      if (!done[i] || !(takes(trace_[i]) || gives_back(trace_[i]))) continue;
      const bool shared = trace_[i].operation == Operation::kAcquireShared ||
                          trace_[i].operation == Operation::kReleaseShared;
      auto& [of_writers, of_readers] = holders[trace_[i].object];
      (shared ? of_readers : of_writers) += takes(trace_[i]) ? 1 : -1;
    }
    for (const auto& [thread, events] : of_thread) {
      const auto next = std::find_if(events.begin(), events.end(), [&](std::size_t i) { return !done[i]; });
      if (next == events.end()) continue;
      const bool is_shown = place.contains(*next);
      if (is_shown && place[*next] != come_to) continue;
      bool ready = true;
      for (std::size_t i = 0; i < trace_.size(); ++i) ready &= !before_[i][*next] || done[i];
      const auto [writers, readers] = holders[trace_[*next].object];
      if (trace_[*next].operation == Operation::kAcquire) ready &= writers == 0 && readers == 0;
      if (trace_[*next].operation == Operation::kAcquireShared) ready &= writers == 0;
      if (!ready) continue;
      done[*next] = true;
      if (run(come_to + (is_shown ? 1 : 0))) return true;
      done[*next] = false;
    }
    return false;
  };
  return run(0);
}

std::optional<bool> Interleavings::is_atomic(uint64_t most) const {
  const std::size_t n = transactions_.size();
  // Small subsets first: they are quick, and refute most.
  for (std::size_t size = 2; size <= n; ++size) {
    std::vector<bool> chosen(n, false);
    std::fill(chosen.begin(), chosen.begin() + static_cast<long>(size), true);
    do {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < n; ++i)
        if (chosen[i]) members.push_back(i);
      const std::optional<bool> answer = is_serializable(members, most);
      if (!answer) return std::nullopt;
      if (!*answer) return false;
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
  }
  return true;
}

}  // namespace heddle::oracle
