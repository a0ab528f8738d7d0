#include "core/checker.h"

#include <fmt/format.h>

namespace heddle {

std::string operation_phrase(const Event& event, const Names& names) {
  if (event.operation == Operation::kNested) return "took a lock it holds";
  const Space space = info(event.operation).space;
  const std::string_view object =
      space == Space::kVariable ? names.variable(event.object) : names.name(space, event.object);
  // Of an atomic access that only the state of its memory tells about, the order is not known.
  const std::string order = event.order == MemoryOrder::kPlain
                                ? ""
                                : fmt::format(" ({})", kOrderSpelling[static_cast<std::size_t>(event.order)]);
  switch (event.operation) {
    case Operation::kRead: return fmt::format("read {}", object);
    case Operation::kWrite: return fmt::format("wrote {}", object);
    case Operation::kAtomicRead: return fmt::format("loaded atomic {}{}", object, order);
    case Operation::kAtomicWrite: return fmt::format("stored atomic {}{}", object, order);
    case Operation::kAtomicUpdate: return fmt::format("updated atomic {}{}", object, order);
    case Operation::kAtomicCompareFail: return fmt::format("compared atomic {}{}, unequal", object, order);
    case Operation::kAcquire: return fmt::format("{} {}", event.tries ? "tried and got" : "acquired", object);
    case Operation::kRelease: return fmt::format("released {}", object);
    case Operation::kAcquireShared:
      return fmt::format("{} {} shared", event.tries ? "tried and got" : "acquired", object);
    case Operation::kReleaseShared: return fmt::format("released {} shared", object);
    case Operation::kFork: return fmt::format("started {}", object);
    case Operation::kJoin: return fmt::format("joined {}", object);
    case Operation::kThreadBegin: return "began";
    case Operation::kThreadEnd: return "ended";
    case Operation::kBeginAtomic: return fmt::format("began atomic block {}", object);
    case Operation::kBeginDeterministic: return fmt::format("began deterministic block {}", object);
    case Operation::kEnd: return fmt::format("ended block {}", object);
    case Operation::kArrive: return fmt::format("arrived at barrier {}", object);
    case Operation::kLeave: return fmt::format("left barrier {}", object);
    case Operation::kPost: return fmt::format("posted {}", object);
    case Operation::kWait: return fmt::format("waited for {}", object);
    case Operation::kNotify: return fmt::format("notified {}", object);
    case Operation::kWake: return fmt::format("woke from {}", object);
    case Operation::kFence: return fmt::format("fenced{}", order);
    case Operation::kCommit: return fmt::format("committed {}", object);
    case Operation::kAlloc: return fmt::format("allocated {}", object);
    case Operation::kFree: return fmt::format("freed {}", object);
    case Operation::kTaskBegin: return fmt::format("began task {}", object);
    case Operation::kTaskEnd: return "ended a task";
    case Operation::kMaybeBegin: return "entered an if (true*)";
    case Operation::kMaybeEnd: return "left an if (true*)";
    case Operation::kAssign: return fmt::format("computed {}", object);
    case Operation::kBranch: return fmt::format("branched on {}", object);
    case Operation::kFocus: return fmt::format("marked {} as focus", object);
    case Operation::kLook: return fmt::format("called a function that may have read {}", object);
    case Operation::kTouch: return fmt::format("called a function that may have read and written {}", object);
    case Operation::kCount: return fmt::format("counted in {}", object);
    case Operation::kTake: return fmt::format("took a pointer of {}", object);
    case Operation::kDrop: return fmt::format("dropped a pointer of {}", object);
    case Operation::kAlive: return fmt::format("looked whether a pointer of {} is left", object);
    case Operation::kSync: return fmt::format("synchronized through {}", object);
    case Operation::kNested: break;
  }
  return {};
}

Step make_step(const Event& event, EventIndex index, const Names& names) {
  Step step;
  step.event = index;
  step.thread = names.thread(event.thread);
  step.operation = operation_text(event, names);
  step.phrase = operation_phrase(event, names);
  step.frames = names.frames(event.site);
  return step;
}

}  // namespace heddle
