// The events a trace is made of (docs/design/events.md says what each means).
//
// Everything a checker needs to know about an operation's spelling and operand stands in one table,
// HEDDLE_OPERATIONS; readers, writers and reports are driven by it. To add an operation, add a line there,
// and the compiler names every switch that has to learn it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace heddle {

using ThreadId = uint32_t;
using SiteId = uint32_t;
using EventIndex = uint64_t;  // position in the trace, from 0

inline constexpr uint32_t kNoId = 0xFFFFFFFF;

// What an operand names. Each space has its own dense ids from 0.
enum class Space : uint8_t {
  kThread,
  kVariable,
  kLock,
  kBarrier,
  kSemaphore,
  kCondition,
  kBlock,
  kTask,
  kLocal,
  kLocalList,  // "a,b": the sources of a set(l,a,b)
  kValue,
  kFrame,  // one source location of a call stack
  kShape,  // what rounds of a loop have in common (trace/series.h)
  kRun,    // some rounds of one
  kNone,   // the operation has no operand
};
inline constexpr std::size_t kSpaces = static_cast<std::size_t>(Space::kNone);

// How the text format spells an operation's operands.
enum class Operands : uint8_t {
  kNone,          // nd
  kName,          // rel(m)
  kOptionalName,  // end, end(name)
  kBlock,         // begin, begin(name), begin(name,atomic), begin(name,deterministic)
  kRead,          // r(x), r(x,value), r(x)>local, look(x)>local
  kWrite,         // w(x), w(x,value), w(x)<local
  kAcquisition,   // acq(m), acq(m,try), acq(m,together)
  kEndOfLife,     // free(x), free(x,checked)
  kSync,          // sync(s), sync(s,release), sync(s,acquire)
  kOrder,         // ar(x,acquire), ar(x,acquire)>local, aw(x,release)<local
  kFence,         // fence, fence(release)
  kAssign,        // set(l,a,b)
  kNumber,        // take(x,2)
};

//  X(name, spelling, space of the operand, operands)
#define HEDDLE_OPERATIONS(X)                                            \
  X(kRead, "r", Space::kVariable, Operands::kRead)                      \
  X(kWrite, "w", Space::kVariable, Operands::kWrite)                    \
  X(kAtomicRead, "ar", Space::kVariable, Operands::kOrder)              \
  X(kAtomicWrite, "aw", Space::kVariable, Operands::kOrder)             \
  X(kAtomicUpdate, "armw", Space::kVariable, Operands::kOrder)          \
  X(kAtomicCompareFail, "acasfail", Space::kVariable, Operands::kOrder) \
  X(kAcquire, "acq", Space::kLock, Operands::kAcquisition)              \
  X(kRelease, "rel", Space::kLock, Operands::kName)                     \
  X(kAcquireShared, "acq_sh", Space::kLock, Operands::kAcquisition)     \
  X(kReleaseShared, "rel_sh", Space::kLock, Operands::kName)            \
  X(kFork, "fork", Space::kThread, Operands::kName)                     \
  X(kJoin, "join", Space::kThread, Operands::kName)                     \
  X(kThreadBegin, "start", Space::kNone, Operands::kNone)               \
  X(kThreadEnd, "stop", Space::kNone, Operands::kNone)                  \
  X(kBeginAtomic, "begin", Space::kBlock, Operands::kBlock)             \
  X(kBeginDeterministic, "begin", Space::kBlock, Operands::kBlock)      \
  X(kEnd, "end", Space::kBlock, Operands::kOptionalName)                \
  X(kArrive, "arrive", Space::kBarrier, Operands::kName)                \
  X(kLeave, "leave", Space::kBarrier, Operands::kName)                  \
  X(kPost, "post", Space::kSemaphore, Operands::kName)                  \
  X(kWait, "wait", Space::kSemaphore, Operands::kName)                  \
  X(kNotify, "notify", Space::kCondition, Operands::kName)              \
  X(kWake, "wake", Space::kCondition, Operands::kName)                  \
  X(kFence, "fence", Space::kNone, Operands::kFence)                    \
  X(kCommit, "commit", Space::kVariable, Operands::kName)               \
  X(kAlloc, "alloc", Space::kVariable, Operands::kName)                 \
  X(kFree, "free", Space::kVariable, Operands::kEndOfLife)              \
  X(kTaskBegin, "task", Space::kTask, Operands::kName)                  \
  X(kTaskEnd, "endtask", Space::kNone, Operands::kNone)                 \
  X(kMaybeBegin, "nd", Space::kNone, Operands::kNone)                   \
  X(kMaybeEnd, "endnd", Space::kNone, Operands::kNone)                  \
  X(kAssign, "set", Space::kLocal, Operands::kAssign)                   \
  X(kBranch, "br", Space::kLocal, Operands::kName)                      \
  X(kFocus, "focus", Space::kVariable, Operands::kName)                 \
  X(kSync, "sync", Space::kSemaphore, Operands::kSync)                  \
  X(kLook, "look", Space::kVariable, Operands::kRead)                   \
  X(kTouch, "touch", Space::kVariable, Operands::kRead)                 \
  X(kCount, "count", Space::kVariable, Operands::kName)                 \
  X(kTake, "take", Space::kVariable, Operands::kNumber)                 \
  X(kDrop, "drop", Space::kVariable, Operands::kNumber)                 \
  X(kAlive, "alive", Space::kVariable, Operands::kNumber)

enum class Operation : uint8_t {
#define HEDDLE_ENUMERATOR(name, spelling, space, operands) name,
  HEDDLE_OPERATIONS(HEDDLE_ENUMERATOR)
#undef HEDDLE_ENUMERATOR
  // A lock taken again by its holder, or given back while still held: WellFormed turns the event into this,
  // and checkers pass over it. Never stored in a file.
  kNested,
};
inline constexpr std::size_t kStoredOperations = static_cast<std::size_t>(Operation::kNested);

struct OperationInfo {
  std::string_view spelling;
  Space space;
  Operands operands;
};

inline constexpr std::array<OperationInfo, kStoredOperations> kOperationInfo = {{
#define HEDDLE_INFO(name, spelling, space, operands) {spelling, space, operands},
    HEDDLE_OPERATIONS(HEDDLE_INFO)
#undef HEDDLE_INFO
}};

constexpr const OperationInfo& info(Operation operation) {
  return kOperationInfo[static_cast<std::size_t>(operation)];
}

// How the text format ties an access to a local: `r(x)>l`, the value goes to it; `w(x)<l`, it comes from it.
constexpr char local_arrow(Operation access) {
  return access == Operation::kWrite || access == Operation::kAtomicWrite ? '<' : '>';
}

// C++ memory orders. Fences and atomics; kSync, see is_hand_over(), and acquisitions, see is_together();
// plain accesses and all else carry kPlain.
enum class MemoryOrder : uint8_t { kPlain, kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };
inline constexpr std::size_t kMemoryOrders = 6;
inline constexpr std::array<std::string_view, kMemoryOrders> kOrderSpelling = {
    "", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};

constexpr bool acquires(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kAcqRel || order == MemoryOrder::kSeqCst;
}
constexpr bool releases(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel || order == MemoryOrder::kSeqCst;
}

struct Event {
  Operation operation = Operation::kRead;
  MemoryOrder order = MemoryOrder::kPlain;
  uint16_t size : 15 = 0;  // bytes accessed; 0: the variable as a whole
  // Acquisitions: it would not have waited for the lock, or not for ever. kFree: see is_checked_free().
  // kJoin: see is_last_join().
  bool tries : 1 = false;
  ThreadId thread = 0;
  uint32_t object = kNoId;  // the operand, an id in info(operation).space
  SiteId site = kNoId;
  uint32_t value =
      kNoId;  // accesses: the value read or written, in Space::kValue; kTake and its kin: the number
  uint32_t local = kNoId;  // accesses: the local it goes to or comes from (an update: both, new value from it
                           // and old one to it; kLook, kTouch: what was seen so far, with what is seen here);
                           // kAssign: its sources, in Space::kLocalList

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 24);

// The thread gives the variable's memory back. What another thread does to it is in race with that unless the
// two are ordered, until the memory is given to somebody (kAlloc, or another kFree). Else the end of a life
// is just that: readers of traces cannot tell whose doing it was.
constexpr bool is_checked_free(const Event& event) {
  return event.operation == Operation::kFree && event.tries;
}

// No schedule turns the order around: who waits for something (kAcquire: a future, what is done once) goes on
// only after it is there (kRelease). Other kSync order threads as they happened to come.
constexpr bool is_hand_over(const Event& event) {
  return event.operation == Operation::kSync && event.order != MemoryOrder::kPlain;
}

// Nobody joins the thread again, so that what it knew need not be kept: programs can start threads for ever.
// Only where a running program is checked; in traces threads may be joined several times.
constexpr bool is_last_join(const Event& event) { return event.operation == Operation::kJoin && event.tries; }

// The lock is taken together with the one that the thread has taken just before (std::lock): to wait for it,
// the thread would have given that one back, and those taken together with it.
constexpr bool is_together(const Event& event) {
  return (event.operation == Operation::kAcquire || event.operation == Operation::kAcquireShared) &&
         event.order == MemoryOrder::kAcqRel;
}

// Consecutive events of a trace.
struct EventBatch {
  EventIndex first = 0;     // index of events[0] in the trace
  std::span<Event> events;  // empty: the trace has ended
  // Locks whose life was over before the first of the events: from here on their numbers can stand for
  // others. Only where a running program is checked, so that it can make locks for ever.
  std::span<const uint32_t> ended_locks = {};

  bool empty() const { return events.empty(); }
};

}  // namespace heddle
