#include "live/told_waits.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace heddle {

namespace {

using runtime::Record;

Wait wait_of(const Record& record, std::span<const ThreadId> threads, const WaitWords& words) {
  Wait wait;
  wait.site = words.site_of(record);
  const auto for_object = [&](Wait::For what, Space space) {
    wait.what = what;
    wait.object = words.number_of(space, record, wait.site);
    return wait;
  };
  switch (record.waits_for()) {
    case runtime::kForLock: return for_object(Wait::For::kLock, Space::kLock);
    case runtime::kForSharedLock: return for_object(Wait::For::kSharedLock, Space::kLock);
    case runtime::kForCondition: return for_object(Wait::For::kCondition, Space::kCondition);
    case runtime::kForLatch:
    case runtime::kForFuture:
    case runtime::kForSemaphore: return for_object(Wait::For::kSemaphore, Space::kSemaphore);
    case runtime::kForBarrier: return for_object(Wait::For::kBarrier, Space::kBarrier);
    case runtime::kForThread:
      if (record.name >= threads.size() || threads[record.name] == kNoId) return {};
      wait.what = Wait::For::kThread;
      wait.object = threads[record.name];
      return wait;
  }
  return {};
}

struct Taken {
  const Sieve::Held* held;
  ThreadId thread;
};

// Those that still count: whoever took a lock alone last has it, or those who share it since.
std::vector<Taken> still_held(std::vector<Taken> taken) {
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.held->when > b.held->when; });
  tsl::robin_map<uint64_t, Taken, MixHash> latest;  // by address
  std::erase_if(taken, [&](const Taken& one) {
    const Taken& later = latest.try_emplace(one.held->taken.address(), one).first->second;
    return later.thread != one.thread && !(later.held->is_shared && one.held->is_shared);
  });
  return taken;
}

}  // namespace

Waits told_waits(const Sieve& sieve, std::span<const ThreadId> threads, const WaitWords& words) {
  Waits waits;
  std::vector<Taken> taken;
  Event event;
  for (uint32_t stream = 0; stream < threads.size(); ++stream) {
    const Sieve::Thread* const now = sieve.thread(stream);
    event.thread = threads[stream];
    if (event.thread == kNoId) continue;
    event.operation = now == nullptr ? Operation::kThreadEnd : Operation::kThreadBegin;
    event.site = now == nullptr ? kNoId : words.site_of(now->last);
    waits.follow(event, 0);
    if (now == nullptr) continue;
    for (const Sieve::Held& held : now->held) taken.push_back({&held, event.thread});
  }
  taken = still_held(std::move(taken));
  for (const Taken& one : taken) {
    event.operation = one.held->is_shared ? Operation::kAcquireShared : Operation::kAcquire;
    event.thread = one.thread;
    event.site = words.site_of(one.held->taken);
    event.object = words.number_of(Space::kLock, one.held->taken, event.site);
    waits.follow(event, one.held->when);
  }
  // A calm program tells who has a lock only when somebody waits for it.
  std::vector<uint64_t> held_unseen;  // by address: several may wait for one
  for (uint32_t stream = 0; stream < threads.size(); ++stream) {
    const Sieve::Thread* const now = sieve.thread(stream);
    if (now == nullptr || !now->waits() || now->awaited.holder() == 0) continue;
    const uint32_t holder = now->awaited.holder() - 1;
    const bool is_known = std::any_of(taken.begin(), taken.end(), [&](const Taken& one) {
      return one.held->taken.address() == now->awaited.address();
    });
    if (is_known || holder >= threads.size() || sieve.thread(holder) == nullptr) continue;
    if (sieve.thread(holder)->waits()) continue;  // it has told all that it has since
    const uint64_t lock = now->awaited.address();
    if (std::find(held_unseen.begin(), held_unseen.end(), lock) != held_unseen.end()) continue;
    held_unseen.push_back(lock);
    event.operation = Operation::kAcquire;
    event.thread = threads[holder];
    event.site = kNoId;
    event.object = words.number_of(Space::kLock, now->awaited, kNoId);
    waits.follow(event, now->waits_since);
  }
  for (uint32_t stream = 0; stream < threads.size(); ++stream) {
    const Sieve::Thread* const now = sieve.thread(stream);
    if (now == nullptr || !now->waits() || threads[stream] == kNoId) continue;
    Wait wait = wait_of(now->awaited, threads, words);
    wait.index = now->waits_since;
    waits.begin(threads[stream], wait);
  }
  return waits;
}

}  // namespace heddle
