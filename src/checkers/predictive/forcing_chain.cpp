#include "checkers/predictive/forcing_chain.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <utility>

#include "base/hash.h"
#include "core/barrier_phases.h"

namespace heddle::predictive {

namespace {

using Place = uint32_t;  // in the list of synchronizations
constexpr Place kStart = kNoId;

// An arrival that comes after the start, of those of a phase.
struct Arrival {
  Place place = kStart;

  void join(const Arrival& other) { place = std::min(place, other.place); }
};

// The arrivals of a phase.
struct Phase {
  std::vector<EventIndex> arrivals;

  void join(const Phase& other) {
    arrivals.insert(arrivals.end(), other.arrivals.begin(), other.arrivals.end());
  }
};

// Goes through the trace's synchronization once, and notes how each thread learns of the start.
class Search {
 public:
  Search(const std::vector<Origin>& all, ThreadId from, EventIndex since) : all_(all), since_(since) {
    learned_[from] = kStart;
  }

  bool run(ThreadId to, EventIndex until) {
    for (Place place = 0; place < all_.size() && all_[place].index <= until; ++place) {
      step(place, all_[place].event);
      if (learned_.contains(to)) return true;
    }
    return false;
  }

  ForcingChain chain(ThreadId to) const {
    ForcingChain chain;
    for (Place place = learned_.at(to); place != kStart; place = before_.at(place)) {
      chain.steps.push_back(all_[place]);
      if (const auto own = arrived_.find(place); own != arrived_.end())
        chain.arrivals.push_back(all_[own->second]);
    }
    std::reverse(chain.steps.begin(), chain.steps.end());
    return chain;
  }

 private:
  void step(Place place, const Event& event) {
    const bool counts = all_[place].index >= since_;
    const auto knows = learned_.find(event.thread);
    const bool signals = counts && knows != learned_.end();
    const auto is = [&](Operation operation) { return event.operation == operation; };
    if (is(Operation::kArrive)) {
      if (signals) before_[place] = knows->second;
      barriers_[event.object].arrive(event.thread, {signals ? place : kStart});
      arrivals_[{event.thread, event.object}].push_back(place);
    } else if (is(Operation::kLeave)) {
      const Place by = barriers_[event.object].leave(event.thread).place;
      std::deque<Place>& own = arrivals_[{event.thread, event.object}];
      arrived_[place] = own.front();
      own.pop_front();
      if (by != kStart) learn(event.thread, place, by);
    } else if (is(Operation::kPost)) {
      if (signals && posts_.try_emplace(event.object, place).second) before_[place] = knows->second;
    } else if (is(Operation::kWait)) {
      if (const auto post = posts_.find(event.object); post != posts_.end())
        learn(event.thread, place, post->second);
    } else if (is(Operation::kFork)) {
      if (signals) learn(event.object, place, knows->second);
    } else if (is(Operation::kJoin)) {
      if (const auto child = learned_.find(event.object); counts && child != learned_.end())
        learn(event.thread, place, child->second);
    }
  }
  void learn(ThreadId thread, Place place, Place by) {
    if (learned_.try_emplace(thread, place).second) before_[place] = by;
  }

  const std::vector<Origin>& all_;
  EventIndex since_;
  tsl::robin_map<ThreadId, Place, MixHash> learned_;     // by which operation
  tsl::robin_map<Place, Place, MixHash> before_;         // the operation before it in the chain
  tsl::robin_map<Place, Place, MixHash> arrived_;        // by departure: its thread's arrival
  tsl::robin_map<uint32_t, Place, MixHash> posts_;       // by semaphore: the first one that counts
  std::map<uint32_t, BarrierPhases<Arrival>> barriers_;  // by barrier
  std::map<std::pair<ThreadId, uint32_t>, std::deque<Place>>
      arrivals_;  // by thread and barrier: not left yet
};

}  // namespace

BarrierPhaseNumbers find_phases(const std::vector<Origin>& synchronizations) {
  BarrierPhaseNumbers phases;
  std::map<uint32_t, BarrierPhases<Phase>> barriers;
  for (const auto& [event, index] : synchronizations) {
    if (event.operation == Operation::kArrive) barriers[event.object].arrive(event.thread, {{index}});
    if (event.operation != Operation::kLeave) continue;
    const Phase phase = barriers[event.object].leave(event.thread);
    const EventIndex first = phase.arrivals.front();
    phases[index] = first;
    // Who leaves first has all arrivals before it; later ones are told by those who leave later.
    for (const EventIndex arrival : std::views::reverse(phase.arrivals))
      if (!phases.try_emplace(arrival, first).second) break;
  }
  return phases;
}

ForcingChain find_forcing_chain(const std::vector<Origin>& synchronizations, ThreadId from, EventIndex since,
                                ThreadId to, EventIndex until) {
  Search search(synchronizations, from, since);
  return search.run(to, until) ? search.chain(to) : ForcingChain();
}

}  // namespace heddle::predictive
