#include "checkers/conflict_freedom.h"

namespace heddle {

namespace {

enum class Part : uint8_t { kNone, kRead, kWrite, kWriteUnchecked };

// What the operation is to conflict freedom: reads conflict with writes, writes with both.
Part part_of(Operation operation) {
  switch (operation) {
    case Operation::kRead:
    case Operation::kAtomicRead:
    case Operation::kAtomicCompareFail:
    case Operation::kAcquireShared:
    case Operation::kReleaseShared: return Part::kRead;
    case Operation::kWrite:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAcquire:                                // [CF ACQUIRE]
    case Operation::kWait: return Part::kWrite;              // posts commute, waits take turns
    case Operation::kRelease: return Part::kWriteUnchecked;  // [CF RELEASE]
    case Operation::kFork:
    case Operation::kJoin:
    case Operation::kThreadBegin:
    case Operation::kThreadEnd:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kArrive:
    case Operation::kLeave:
    case Operation::kPost:
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
    case Operation::kSync:
    case Operation::kNested: return Part::kNone;
  }
  return Part::kNone;
}

uint64_t packed(TransactionHandle transaction) {
  return uint64_t{transaction.index} << 32 | transaction.generation;
}

}  // namespace

std::optional<Op> ConflictFreedom::check(TransactionHandle transaction, const Op& now) {
  const Event& event = now.event;
  const Part part = part_of(event.operation);
  if (part == Part::kNone) return std::nullopt;
  Key key;
  key.object = number_of(info(event.operation).space, event.object);
  key.transaction = packed(transaction);
  if (const auto life = lives_.find(key.object); life != lives_.end()) key.life = life->second;
  const auto [entry, is_new] = objects_.try_emplace(key);
  if (is_new) keys_[key.transaction].push_back(key);
  Object& object = entry.value();

  const ThreadClock& clock = order_.clock(event.thread);
  std::optional<Op> conflict;
  const auto compare = [&](const AccessSet<Access>& earlier) {
    for (const Access& access : earlier.entries())
      if (!clock.knows(access.epoch) && (!conflict || access.op.index < conflict->index))
        conflict = access.op;
  };
  if (part == Part::kRead) {
    if (event.operation != Operation::kReleaseShared) compare(object.writes);
    object.reads.put({clock.epoch(), now});
    return conflict;
  }
  if (part == Part::kWrite) {
    compare(object.writes);
    compare(object.reads);
  }
  object.writes.drop_known(clock);
  object.reads.drop_known(clock);
  object.writes.put({clock.epoch(), now});
  return conflict;
}

void ConflictFreedom::forget(TransactionHandle transaction) {
  const auto keys = keys_.find(packed(transaction));
  if (keys == keys_.end()) return;
  for (const Key& key : keys->second) objects_.erase(key);
  keys_.erase(keys);
}

}  // namespace heddle
