#include "core/waits.h"

#include <algorithm>

namespace heddle {

namespace {

// A thread that has to wait for this one cannot have it while the other has it so.
bool excludes(const TakenLock& taken, const Wait& wait) {
  return !taken.is_shared || wait.what == Wait::For::kLock;
}

}  // namespace

void Waits::follow(const Event& event, EventIndex index) {
  Thread& thread = of(event.thread);
  if (event.site != kNoId) thread.last = event.site;
  bool goes_on = thread.wait.what != Wait::For::kNothing && !thread.wait.is_for_lock();
  if (event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared) {
    takers(event.object)
        .push_back(
            {event.object, event.thread, event.site, index, event.operation == Operation::kAcquireShared});
    ++thread.held;
    goes_on |= thread.wait.is_for_lock() && thread.wait.object == event.object;
  } else if (event.operation == Operation::kRelease || event.operation == Operation::kReleaseShared) {
    std::vector<TakenLock>& taken = takers(event.object);
    const auto last = std::find_if(taken.rbegin(), taken.rend(),
                                   [&](const TakenLock& one) { return one.thread == event.thread; });
    if (last != taken.rend()) {
      taken.erase(std::next(last).base());
      --thread.held;
    }
  } else if (event.operation == Operation::kThreadEnd) {
    thread.is_over = true;
  }
  if (goes_on) thread.wait = {};
}

std::vector<ThreadId> Waits::awaited(const Wait& wait) const {
  if (wait.what == Wait::For::kThread) return {wait.object};
  std::vector<ThreadId> result;
  if (!wait.is_for_lock() || wait.object >= taken_.size()) return result;
  for (const TakenLock& taken : taken_[wait.object])
    if (excludes(taken, wait) && std::find(result.begin(), result.end(), taken.thread) == result.end())
      result.push_back(taken.thread);
  return result;
}

// Depth first: a wait is over only when all whom it is for have gone on, so any way back to the first thread
// is a circle.
std::vector<BlockedThread> Waits::circle_of(ThreadId first) const {
  std::vector<ThreadId> path;
  std::vector<std::vector<ThreadId>> left;  // of each of the path, whom it waits for and was not looked at
  std::vector<bool> seen(threads_.size());
  const auto enter = [&](ThreadId thread) {
    if (thread >= threads_.size() || seen[thread]) return;
    seen[thread] = true;
    path.push_back(thread);
    left.push_back(awaited(threads_[thread].wait));
  };
  enter(first);
  while (!path.empty()) {
    if (left.back().empty()) {
      path.pop_back();
      left.pop_back();
      continue;
    }
    const ThreadId next = left.back().back();
    left.back().pop_back();
    const bool waits_for_lock = std::any_of(
        path.begin(), path.end(), [&](ThreadId thread) { return threads_[thread].wait.is_for_lock(); });
    if (next != first || !waits_for_lock) {
      enter(next);
      continue;
    }
    std::vector<BlockedThread> circle;
    for (std::size_t i = 0; i < path.size(); ++i)
      circle.push_back(blocked(path[i], threads_[path[(i + path.size() - 1) % path.size()]].wait));
    return circle;
  }
  return {};
}

BlockedThread Waits::blocked(ThreadId thread, const Wait& awaiting) const {
  BlockedThread result;
  result.thread = thread;
  result.wait = threads_[thread].wait;
  for (const TakenLock& taken : held_by(thread)) {
    if (result.held.lock == kNoId && awaiting.is_for_lock() && taken.lock == awaiting.object &&
        excludes(taken, awaiting))
      result.held = taken;
    if (result.locks.empty() || result.locks.back() != taken.lock) result.locks.push_back(taken.lock);
  }
  return result;
}

std::vector<TakenLock> Waits::held_by(ThreadId thread) const {
  std::vector<TakenLock> result;
  for (const std::vector<TakenLock>& taken : taken_)
    for (const TakenLock& one : taken)
      if (one.thread == thread) result.push_back(one);
  return result;
}

}  // namespace heddle
