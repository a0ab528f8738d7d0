#include "lockset_oracle.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace heddle::oracle {

namespace {

constexpr uint32_t kAtomic = kNoId;  // the lock all atomic accesses hold

struct Access {
  EventIndex index;
  ThreadId thread;
  bool write;
  std::set<uint32_t> guards;  // locks that count for it
};
using Life = std::vector<Access>;  // its accesses, in trace order

std::vector<Life> lives_of(const std::vector<Event>& trace, const Owners& owners) {
  struct Holding {
    int depth = 0;
    bool shared = false;
  };
  std::map<ThreadId, std::map<uint32_t, Holding>> held;
  std::map<uint32_t, Life> open;
  std::map<uint32_t, std::set<uint32_t>>
      used;  // by owner: variables in the open life, not allocated nor freed since
  std::vector<Life> lives;
  for (EventIndex index = 0; index < trace.size(); ++index) {
    const Event& event = trace[index];
    const auto is = [&](auto... operations) { return ((event.operation == operations) || ...); };
    auto& mine = held[event.thread];
    if (is(Operation::kAcquire, Operation::kAcquireShared)) {
      ++mine[event.object].depth;
      mine[event.object].shared = is(Operation::kAcquireShared);
    }
    if (is(Operation::kRelease, Operation::kReleaseShared) && --mine[event.object].depth == 0)
      mine.erase(event.object);
    if (is(Operation::kAlloc, Operation::kFree)) {
      const uint32_t owner = owners.owner(event.object);
      used[owner].erase(event.object);
      if (used[owner].empty() || owners.is_whole(event.object)) {
        lives.push_back(std::exchange(open[owner], {}));
        used[owner].clear();
      }
    }
    const bool write = is(Operation::kWrite, Operation::kAtomicWrite, Operation::kAtomicUpdate);
    if (!write && !is(Operation::kRead, Operation::kAtomicRead, Operation::kAtomicCompareFail)) continue;
    std::set<uint32_t> guards;
    for (const auto& [lock, holding] : mine)
      if (!write || !holding.shared) guards.insert(lock);
    if (!is(Operation::kRead, Operation::kWrite)) guards.insert(kAtomic);
    open[owners.owner(event.object)].push_back({index, event.thread, write, guards});
    used[owners.owner(event.object)].insert(event.object);
  }
  for (auto& [variable, life] : open) lives.push_back(std::move(life));
  return lives;
}

// The events of the argument; empty: guarded.
std::vector<EventIndex> argument(const Life& life) {
  std::size_t second = 0;
  while (second < life.size() && life[second].thread == life[0].thread) ++second;
  for (std::size_t last = second; last < life.size(); ++last) {
    std::set<uint32_t> candidates = life[second].guards;
    std::vector<EventIndex> events{life[0].index, life[second].index};
    bool modified = false;
    for (std::size_t i = second; i <= last; ++i) {
      std::set<uint32_t> rest;
      std::set_intersection(candidates.begin(), candidates.end(), life[i].guards.begin(),
                            life[i].guards.end(), std::inserter(rest, rest.end()));
      if (rest != candidates) events.push_back(life[i].index);
      candidates = rest;
      modified |= life[i].write;
    }
    if (!modified || !candidates.empty()) continue;
    if (events.back() != life[last].index) events.push_back(life[last].index);
    return events;
  }
  return {};
}

}  // namespace

std::set<std::vector<EventIndex>> unguarded_variables(const std::vector<Event>& trace, const Owners& owners) {
  std::set<std::vector<EventIndex>> result;
  for (const Life& life : lives_of(trace, owners))
    if (std::vector<EventIndex> events = argument(life); !events.empty()) result.insert(std::move(events));
  return result;
}

}  // namespace heddle::oracle
