#include "race_oracle.h"

#include <map>
#include <set>

namespace heddle::oracle {

namespace {

using Matrix = std::vector<std::vector<bool>>;

bool is_atomic(const Event& e) {
  return e.operation == Operation::kAtomicRead || e.operation == Operation::kAtomicWrite ||
         e.operation == Operation::kAtomicUpdate || e.operation == Operation::kAtomicCompareFail;
}
bool is_plain(const Event& e) { return e.operation == Operation::kRead || e.operation == Operation::kWrite; }
bool is_write(const Event& e) {
  return e.operation == Operation::kWrite || e.operation == Operation::kAtomicWrite ||
         e.operation == Operation::kAtomicUpdate;
}
bool loads_atomically(const Event& e) { return is_atomic(e) && e.operation != Operation::kAtomicWrite; }
bool begins_life(const Event& e) {
  return e.operation == Operation::kAlloc || e.operation == Operation::kFree;
}
// The memory is given back, which is a write to who had it and to who uses it until somebody else has it.
bool gives_back(const Event& e) { return e.operation == Operation::kFree && e.tries; }
bool has_release(MemoryOrder o) {
  return o == MemoryOrder::kRelease || o == MemoryOrder::kAcqRel || o == MemoryOrder::kSeqCst;
}
bool has_acquire(MemoryOrder o) {
  return o == MemoryOrder::kAcquire || o == MemoryOrder::kAcqRel || o == MemoryOrder::kSeqCst;
}

// Marks the lock events that only repeat what the thread holds already: they order nothing.
std::vector<bool> inner_lock_events(const std::vector<Event>& trace) {
  std::vector<bool> inner(trace.size(), false);
  std::map<std::tuple<ThreadId, uint32_t, bool>, int> depth;  // thread, lock, shared
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    const bool shared = e.operation == Operation::kAcquireShared || e.operation == Operation::kReleaseShared;
    if (e.operation == Operation::kAcquire || e.operation == Operation::kAcquireShared)
      inner[i] = depth[{e.thread, e.object, shared}]++ > 0;
    if (e.operation == Operation::kRelease || e.operation == Operation::kReleaseShared)
      inner[i] = --depth[{e.thread, e.object, shared}] > 0;
  }
  return inner;
}

// The phase of each arrive and leave: an arrive is of the current phase of its barrier unless its thread
// arrived in it before or the phase has been left; the n-th leave of a thread is of the phase of its n-th
// arrive.
std::vector<int> barrier_phases(const std::vector<Event>& trace) {
  std::vector<int> phase_of(trace.size(), -1);
  std::map<uint32_t, int> current;                                     // barrier → phase
  std::set<std::pair<uint32_t, int>> left;                             // (barrier, phase) somebody has left
  std::set<std::tuple<uint32_t, int, ThreadId>> arrived;               // (barrier, phase, thread)
  std::map<std::pair<uint32_t, ThreadId>, std::vector<int>> arrivals;  // phases in order
  std::map<std::pair<uint32_t, ThreadId>, std::size_t> leaves;         // how many
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    const uint32_t b = e.object;
    if (e.operation == Operation::kArrive) {
      int& now = current[b];
      if (left.count({b, now}) || arrived.count({b, now, e.thread})) ++now;
      arrived.insert({b, now, e.thread});
      arrivals[{b, e.thread}].push_back(now);
      phase_of[i] = now;
    } else if (e.operation == Operation::kLeave) {
      const std::size_t n = leaves[{b, e.thread}]++;
      phase_of[i] = arrivals[{b, e.thread}].at(n);
      left.insert({b, phase_of[i]});
    }
  }
  return phase_of;
}

// [atomics.order], [atomics.fences]: edges from what releases to what acquires, through the store that `load`
// reads.
void add_atomic_edges(const std::vector<Event>& trace, std::size_t load, Matrix& ordered) {
  const uint32_t x = trace[load].object;
  // The stores whose release sequence contains the one that `load` reads, latest first.
  std::vector<std::size_t> heads;
  for (std::size_t i = load; i-- > 0;) {
    const Event& e = trace[i];
    if (e.object != x || !(is_write(e) || begins_life(e))) continue;
    if (!is_atomic(e)) break;
    heads.push_back(i);
    if (e.operation == Operation::kAtomicWrite) break;
  }
  std::vector<std::size_t> releasing;
  for (const std::size_t head : heads) {
    if (has_release(trace[head].order)) releasing.push_back(head);
    for (std::size_t f = 0; f < head; ++f)
      if (trace[f].operation == Operation::kFence && trace[f].thread == trace[head].thread &&
          has_release(trace[f].order))
        releasing.push_back(f);
  }
  std::vector<std::size_t> acquiring;
  if (has_acquire(trace[load].order)) acquiring.push_back(load);
  for (std::size_t f = load + 1; f < trace.size(); ++f)
    if (trace[f].operation == Operation::kFence && trace[f].thread == trace[load].thread &&
        has_acquire(trace[f].order))
      acquiring.push_back(f);
  for (const std::size_t from : releasing)
    for (const std::size_t to : acquiring) ordered[from][to] = true;
}

}  // namespace

Matrix happens_before(const std::vector<Event>& trace) {
  const std::size_t n = trace.size();
  Matrix ordered(n, std::vector<bool>(n, false));
  const std::vector<bool> inner = inner_lock_events(trace);
  const std::vector<int> phase = barrier_phases(trace);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const Event& a = trace[i];
      const Event& b = trace[j];
      const bool same_object = a.object == b.object;
      const bool a_releases = a.operation == Operation::kRelease;
      const bool a_releases_shared = a.operation == Operation::kReleaseShared;
      const bool b_acquires = b.operation == Operation::kAcquire;
      const bool b_acquires_shared = b.operation == Operation::kAcquireShared;
      if (a.thread == b.thread || (a.operation == Operation::kFork && a.object == b.thread) ||
          (b.operation == Operation::kJoin && b.object == a.thread) ||
          // A thread begins and ends even if it does nothing in between.
          (same_object && a.operation == Operation::kFork && b.operation == Operation::kJoin) ||
          (same_object && !inner[i] && !inner[j] &&
           ((a_releases && (b_acquires || b_acquires_shared)) || (a_releases_shared && b_acquires))) ||
          (same_object && a.operation == Operation::kPost && b.operation == Operation::kWait) ||
          (same_object && a.operation == Operation::kSync && b.operation == Operation::kSync) ||
          (same_object && a.operation == Operation::kArrive && b.operation == Operation::kLeave &&
           phase[i] == phase[j]))
        ordered[i][j] = true;
    }
    if (loads_atomically(trace[i])) add_atomic_edges(trace, i, ordered);
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i)
      if (ordered[i][k])
        for (std::size_t j = k + 1; j < n; ++j)
          if (ordered[k][j]) ordered[i][j] = true;
  return ordered;
}

std::vector<std::pair<EventIndex, EventIndex>> races(const std::vector<Event>& trace) {
  const Matrix ordered = happens_before(trace);
  std::vector<std::pair<EventIndex, EventIndex>> result;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Event& a = trace[i];
    if (!is_plain(a) && !is_atomic(a) && !gives_back(a)) continue;
    for (std::size_t j = i + 1; j < trace.size(); ++j) {
      const Event& b = trace[j];
      if (begins_life(b) && b.object == a.object) {
        if (gives_back(b) && a.thread != b.thread && !ordered[i][j]) result.emplace_back(i, j);
        break;
      }
      if (!is_plain(b) && !is_atomic(b)) continue;
      if (a.object != b.object || a.thread == b.thread) continue;
      if (!is_write(a) && !is_write(b) && !gives_back(a)) continue;
      if (is_atomic(a) && is_atomic(b)) continue;
      if (!ordered[i][j]) result.emplace_back(i, j);
    }
  }
  return result;
}

}  // namespace heddle::oracle
