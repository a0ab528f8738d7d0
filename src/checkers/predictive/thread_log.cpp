#include "checkers/predictive/thread_log.h"

#include <tsl/robin_map.h>

#include <algorithm>

#include "base/hash.h"
#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

namespace {

// A transaction begins or ends.
struct Boundary {
  EventIndex at = 0;  // what is logged before it counts
  std::vector<Holding>* holdings = nullptr;
};

// Goes along a thread's log and notes what is held at each boundary, in ascending order.
void find_holdings(const ThreadLog& log, const std::vector<Boundary>& boundaries) {
  std::vector<Holding> held;
  tsl::robin_map<EventIndex, StepPlace, MixHash> given_back;  // by acquisition
  auto boundary = boundaries.begin();
  for (const LoggedEvent& event : log) {
    for (; boundary != boundaries.end() && boundary->at <= event.index; ++boundary)
      *boundary->holdings = held;
    if (event.takes() && held.size() < kMostHeld)
      held.push_back({.lock = event.object, .since = event.index});
    if (!event.gives_back()) continue;
    std::erase_if(held, [&](const Holding& holding) {
      if (holding.lock != event.object) return false;
      given_back[holding.since] = {event.index, event.site};
      return true;
    });
  }
  for (; boundary != boundaries.end(); ++boundary) *boundary->holdings = held;
  for (const Boundary& of : boundaries)
    for (Holding& holding : *of.holdings)
      if (const auto place = given_back.find(holding.since); place != given_back.end())
        holding.given_back = place->second;
}

}  // namespace

std::size_t place_of(const ThreadLog& log, EventIndex index) {
  const auto place = std::partition_point(log.begin(), log.end(),
                                          [&](const LoggedEvent& event) { return event.index < index; });
  return static_cast<std::size_t>(place - log.begin());
}

std::size_t free_place_before(const ThreadLog& log, std::size_t place) {
  while (place > 0 && !log[place - 1].leaves_free) --place;
  return place;
}

std::vector<Origin> list_synchronizations(const std::vector<ThreadLog>& logs) {
  std::vector<Origin> list;
  for (ThreadId thread = 0; thread < logs.size(); ++thread) {
    for (const LoggedEvent& logged : logs[thread]) {
      if (logged.locks()) continue;
      Origin origin;
      origin.index = logged.index;
      origin.event.operation = logged.kind();
      origin.event.thread = thread;
      origin.event.object = logged.object;
      origin.event.site = logged.site;
      list.push_back(origin);
    }
  }
  std::sort(list.begin(), list.end(), [](const Origin& a, const Origin& b) { return a.index < b.index; });
  return list;
}

void find_holdings(Transactions& run) {
  std::vector<std::vector<Boundary>> of_thread(run.logs.size());
  for (Group& group : run.groups) {
    if (group.thread >= of_thread.size()) continue;  // it never took a lock
    for (Instance* instance : {&group.earliest, &group.latest}) {
      of_thread[group.thread].push_back({instance->first, &instance->before});
      of_thread[group.thread].push_back({instance->last + 1, &instance->after});
    }
  }
  for (ThreadId thread = 0; thread < run.logs.size(); ++thread) {
    std::sort(of_thread[thread].begin(), of_thread[thread].end(),
              [](const Boundary& a, const Boundary& b) { return a.at < b.at; });
    find_holdings(run.logs[thread], of_thread[thread]);
  }
}

}  // namespace heddle::predictive
