#include "trace/reduced_blocks.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle {

namespace {

// One execution of a proven block.
struct Execution {
  std::size_t begin = 0;
  std::size_t end = 0;     // of kEnd; 0: not over
  std::size_t moment = 0;  // when it has all its locks
  bool is_plain = true;    // it can be reduced
  bool has_released = false;
  std::vector<Event> acquired;    // and given back
  std::vector<std::size_t> held;  // locks of those, now
  std::vector<Event> reads;       // of what others wrote before: one for each variable
  std::vector<Event> writes;      // one for each variable
  std::set<uint32_t> accessed;    // variables
  std::set<uint32_t> written;
  unsigned depth = 0;  // blocks open in it, itself included
};

bool takes(Operation operation) {
  return operation == Operation::kAcquire || operation == Operation::kAcquireShared;
}
bool gives_back(Operation operation) {
  return operation == Operation::kRelease || operation == Operation::kReleaseShared;
}
bool begins(Operation operation) {
  return operation == Operation::kBeginAtomic || operation == Operation::kBeginDeterministic;
}

void see(Execution& execution, const Event& event, std::size_t index) {
  if (takes(event.operation)) {
    execution.is_plain &= !execution.has_released;
    execution.acquired.push_back(event);
    execution.held.push_back(event.object);
    execution.moment = index;
  } else if (gives_back(event.operation)) {
    execution.has_released = true;
    const auto found = std::find(execution.held.begin(), execution.held.end(), event.object);
    execution.is_plain &= found != execution.held.end();  // else it was taken before the block
    if (found != execution.held.end()) execution.held.erase(found);
  } else if (event.operation == Operation::kRead || event.operation == Operation::kWrite) {
    const bool is_first = execution.accessed.insert(event.object).second;
    if (event.operation == Operation::kRead && is_first) execution.reads.push_back(event);
    if (event.operation == Operation::kWrite && execution.written.insert(event.object).second)
      execution.writes.push_back(event);
  } else if (!begins(event.operation) && event.operation != Operation::kEnd) {
    execution.is_plain = false;
  }
}

std::vector<Execution> executions_of(std::span<const Event> events,
                                     const std::function<bool(uint32_t)>& is_atomic) {
  std::vector<Execution> all;
  std::map<ThreadId, std::size_t> open;  // of them, by thread
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    const auto inside = open.find(event.thread);
    if (inside == open.end()) {
      if (!begins(event.operation) || event.object == kNoId || !is_atomic(event.object)) continue;
      open[event.thread] = all.size();
      Execution& execution = all.emplace_back();
      execution.begin = execution.moment = i;
      execution.depth = 1;
      continue;
    }
    Execution& execution = all[inside->second];
    see(execution, event, i);
    if (begins(event.operation)) ++execution.depth;
    if (event.operation != Operation::kEnd || --execution.depth > 0) continue;
    execution.end = i;
    execution.is_plain &= execution.held.empty();
    open.erase(inside);
  }
  return all;
}

Event given_back(Event acquisition) {
  acquisition.operation =
      acquisition.operation == Operation::kAcquire ? Operation::kRelease : Operation::kReleaseShared;
  acquisition.tries = false;
  acquisition.order = MemoryOrder::kPlain;
  return acquisition;
}

}  // namespace

std::vector<Event> with_reduced_blocks(std::span<const Event> events,
                                       const std::function<bool(uint32_t block)>& is_atomic) {
  const std::vector<Execution> all = executions_of(events, is_atomic);
  std::vector<bool> is_left_out(events.size());
  std::map<std::size_t, const Execution*> moments;
  for (const Execution& execution : all) {
    if (!execution.is_plain || execution.end == 0) continue;
    const ThreadId thread = events[execution.begin].thread;
    for (std::size_t i = execution.begin + 1; i < execution.end; ++i)
      if (events[i].thread == thread) is_left_out[i] = true;
    moments[execution.moment] = &execution;
  }
  std::vector<Event> reduced;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_left_out[i]) reduced.push_back(events[i]);
    const auto here = moments.find(i);
    if (here == moments.end()) continue;
    const Execution& execution = *here->second;
    for (const Event& acquisition : execution.acquired) reduced.push_back(acquisition);
    for (const Event& read : execution.reads) reduced.push_back(read);
    for (const Event& write : execution.writes) reduced.push_back(write);
    for (auto acquisition = execution.acquired.rbegin(); acquisition != execution.acquired.rend();
         ++acquisition)
      reduced.push_back(given_back(*acquisition));
  }
  return reduced;
}

}  // namespace heddle
