#include "checkers/forced_order.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

// `clock` is of the two pasts together. A moment it has gone beyond is no longer where the thread's part
// ends.
template <class Clock>
void add(std::vector<Epoch>& moments, const std::vector<Epoch>& more, const Clock& clock) {
  if (moments.empty() && more.empty()) return;
  moments.insert(moments.end(), more.begin(), more.end());
  std::erase_if(moments, [&](Epoch moment) { return clock.time_of(moment.thread()) > moment.time(); });
  std::sort(moments.begin(), moments.end(), [](Epoch a, Epoch b) { return a.thread() < b.thread(); });
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
}

}  // namespace

void ForcedOrder::Past::join(const Past& other) {
  clock.join(other.clock);
  add(inside, other.inside, clock);
}

ForcedOrder::Thread& ForcedOrder::thread(ThreadId id) {
  while (threads_.size() <= id) threads_.emplace_back(static_cast<ThreadId>(threads_.size()));
  return threads_[id];
}

bool ForcedOrder::meet_first(ThreadId id) {
  Thread& thread = this->thread(id);
  const bool unforked = thread.life == Life::kUnknown;
  thread.life = Life::kRunning;
  if (unforked) thread.stretch = ++stretches_;
  return unforked;
}

ForcedOrder::Past ForcedOrder::publish(ThreadId id) {
  Thread& thread = this->thread(id);
  thread.stretch = ++stretches_;
  const Epoch now = thread.clock.epoch();
  Past past{thread.clock.publish(), thread.inside};
  if (held_.of(id) != kEmptyLockset) add(past.inside, {now}, past.clock);
  return past;
}

void ForcedOrder::receive(ThreadId id, const Past& past) {
  Thread& thread = this->thread(id);
  thread.clock.join(past.clock);
  add(thread.inside, past.inside, thread.clock);
  thread.stretch = ++stretches_;
}

void ForcedOrder::update(const Event& event) {
  switch (event.operation) {
    case Operation::kFork:
      thread(event.object).life = Life::kForked;
      receive(event.object, publish(event.thread));
      return;
    case Operation::kJoin:
      receive(event.thread, publish(event.object));
      thread(event.object).life = Life::kEnded;
      if (is_last_join(event)) {
        thread(event.object).clock.forget();
        thread(event.object).inside = {};
      }
      return;
    case Operation::kThreadEnd: thread(event.thread).life = Life::kEnded; return;
    case Operation::kArrive:
      if (event.object >= barriers_.size()) barriers_.resize(event.object + std::size_t{1});
      barriers_[event.object].arrive(event.thread, publish(event.thread));
      return;
    case Operation::kLeave: receive(event.thread, barriers_[event.object].leave(event.thread)); return;
    case Operation::kPost:
      if (event.object >= semaphores_.size()) semaphores_.resize(event.object + std::size_t{1});
      semaphores_[event.object].join(publish(event.thread));
      return;
    case Operation::kWait:
      if (event.object < semaphores_.size()) receive(event.thread, semaphores_[event.object]);
      return;
    case Operation::kSync:
      if (event.order == MemoryOrder::kRelease) {
        if (event.object >= handed_over_.size()) handed_over_.resize(event.object + std::size_t{1});
        handed_over_[event.object].join(publish(event.thread));
      } else if (event.order == MemoryOrder::kAcquire && event.object < handed_over_.size()) {
        receive(event.thread, handed_over_[event.object]);
      }
      return;
    case Operation::kRead:
    case Operation::kWrite:
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail:
    case Operation::kAcquire:
    case Operation::kRelease:
    case Operation::kAcquireShared:
    case Operation::kReleaseShared:
    case Operation::kThreadBegin:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kFence:
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus:
    case Operation::kNested: return;
  }
}

Time ForcedOrder::settled(ThreadId id) const {
  // A trace need not have forks; while one thread is all there is, others are to be expected from nowhere.
  if (threads_.size() < 2) return 0;
  Time settled = std::numeric_limits<Time>::max();
  for (const Thread& other : threads_)
    if (&other != &threads_[id] && (other.life == Life::kForked || other.life == Life::kRunning))
      settled = std::min(settled, other.clock.time_of(id));
  return settled;
}

}  // namespace heddle
