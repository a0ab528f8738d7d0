// Atomic operations and fences of C++20, as the compiler plug-in marks them.
//
// The operation itself stays in the program. It happens between heddle_begin_atomic() and
// heddle_end_atomic(), which hold the variable's lock, so that what is known of the variable follows the
// order in which it really changed. A load that the thread has done before needs no lock: if the variable has
// the same version before it and after it, nobody has changed it since. A load synchronizes with the release
// sequence of the latest store: the store and the read-modify-writes after it.
#include "runtime/atomics.h"

#include <utility>

#include "runtime/calm.h"
#include "runtime/cell.h"
#include "runtime/conflicts.h"
#include "runtime/flow.h"
#include "runtime/interpose/real.h"
#include "runtime/rare_access.h"
#include "runtime/spans.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// How a load was begun.
constexpr uint32_t kTookLock = 0;
constexpr uint32_t kTookNoLock = 1;

void join_published(Gathered& gathered, Thread& thread) {
  const Published published = thread.publish();
  gathered.join(published);
}

MemoryOrder memory_order(uint32_t order) {
  switch (order) {
    case kAcquires: return MemoryOrder::kAcquire;
    case kReleases: return MemoryOrder::kRelease;
    case kAcquires | kReleases: return MemoryOrder::kAcqRel;
    case kAcquires | kReleases | kIsSequential: return MemoryOrder::kSeqCst;
    default: return MemoryOrder::kRelaxed;
  }
}

Operation operation_of(uint32_t kind) {
  return kind == kAtomicRead          ? Operation::kAtomicRead
         : kind == kAtomicWrite       ? Operation::kAtomicWrite
         : (kind & kAtomicWrite) != 0 ? Operation::kAtomicUpdate
                                      : Operation::kAtomicCompareFail;
}

// The thread leaves what it knows at the variable, for those who come after it and those who depend on it.
void leave(Thread& thread, Sync& sync, bool writes, bool releases) {
  const bool has_conflicts = !sync.is_guard && any_has_given();
  if (!releases && !has_conflicts) return;
  const Published published = releases ? thread.publish() : thread.publish_again();
  if (releases) {
    sync.gathered.join(published);
    ++sync.left;
  }
  if (has_conflicts) leave_conflicts(sync, published, writes);
}

}  // namespace

void tell_atomic(Thread& thread, const void* variable, uint64_t size, uint32_t kind, uint32_t order,
                 const char* name, const void* pc) {
  tell(thread, {.operation = static_cast<uint8_t>(operation_of(kind)),
                .address = variable,
                .pc = pc,
                .size = static_cast<uint8_t>(size),
                .extra = static_cast<uint32_t>(memory_order(order)) | told_local << kOrderBits,
                .name = reinterpret_cast<uint64_t>(name)});
}

namespace {
constexpr std::atomic<uint32_t> kAllAreTold = 0;
}

extern "C" {
__attribute__((visibility("default"))) const std::atomic<uint32_t>* heddle_quiet = &kAllAreTold;
}

void set_quiet(const std::atomic<uint32_t>* where) { heddle_quiet = where == nullptr ? &kAllAreTold : where; }

namespace {

// One begins, or is over. Under the lock.
void count_use(Sync& sync) {
  sync.uses.store(sync.uses.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
void lock_variable(const void* variable) {
  enter_runtime();  // until end_atomic()
  this_thread->locked_variable = &lock_sync(variable);
  count_use(*this_thread->locked_variable);
}
void unlock_variable(Thread& thread) {
  Sync& sync = *std::exchange(thread.locked_variable, nullptr);
  count_use(sync);
  sync.lock.unlock();
}
// The variable has been changed, if it was about to be.
void make_version_even(Sync& sync) {
  if (const uint32_t version = sync.version.load(std::memory_order_relaxed); version % 2 != 0)
    sync.version.store(version + 1, std::memory_order_release);
}

// Whether the words of the cell are its state: they may be nothing where it is in a patch
// (runtime/patches.h).
bool says_state(const Cell& cell) { return !(cell == Cell()); }

// What the operation leaves, if `cell` is that.
Thread::Noted noted(const Cell& cell, const void* variable, uint64_t size, bool writes) {
  const auto part = static_cast<unsigned>(reinterpret_cast<uint64_t>(variable) % 8 + 8 * size);
  return {cell, heddle_thread_state.stamp, part, writes};
}
bool is_in_cell(const void* variable, uint64_t size) {
  return size <= 8 - reinterpret_cast<uint64_t>(variable) % 8;
}

// The access, for races with plain ones. Most are to cells of a state that the stretch has left elsewhere.
void access_atomically(Thread& thread, const void* variable, uint64_t size, bool writes, const char* name,
                       const void* pc) {
  if (is_noted(thread, variable, size, writes)) return;
  rare_access(variable, size | kIsAtomic | (writes ? kWrites : 0), name, nullptr, pc);
  if (!is_in_cell(variable, size) || thread.has_announced_race) return;
  const Thread::Noted now = noted(*cell_of(variable), variable, size, writes);
  if (says_state(now.cell)) thread.place_of(now) = now;
}

Thread::Load load_now(const Thread& thread, const Sync& sync, const void* variable, uint32_t order) {
  return {variable, sync.version.load(std::memory_order_relaxed), order, thread.chunk, thread.filled};
}

// What is known of a load that the thread did now, if it would do it.
Thread::KnownLoad known_now(const Thread& thread, const Sync& sync, const void* variable, uint32_t order) {
  return {load_now(thread, sync, variable, order),
          &sync,
          heddle_thread_state.stamp,
          thread.breaks,
          thread.clock_changes,
          *cell_of(variable)};
}

// Whether a load may be known to make no difference when it comes again. In a block that gave something it
// does: it leaves that at the variable (runtime/conflicts.h).
bool may_be_known(const Thread& thread) {
  return !tells_every_access && !thread.has_given() && thread.blocks.pending() == 0;
}

}  // namespace

bool is_noted(Thread& thread, const void* variable, uint64_t size, bool writes) {
  if (heddle_thread_state.stamp == kNoStamp || !is_in_cell(variable, size)) return false;
  const Thread::Noted now = noted(*cell_of(variable), variable, size, writes);
  return thread.place_of(now) == now;
}

bool note_update(Thread& thread, const void* variable, uint64_t size, const void* pc) {
  if (is_noted(thread, variable, size, true)) return true;
  if (!is_in_cell(variable, size) || !join_updates(thread, variable, static_cast<unsigned>(size), pc))
    return false;
  const Thread::Noted now = noted(*cell_of(variable), variable, size, true);
  thread.place_of(now) = now;
  return true;
}

void begin_atomic(const void* variable) {
  if (heddle_thread_state.thread == nullptr) return;
  lock_variable(variable);
  std::atomic<uint32_t>& version = this_thread->locked_variable->version;
  version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

uint32_t begin_load(const void* variable) {
  if (heddle_thread_state.thread == nullptr) return kTookLock;
  Thread& thread = *this_thread;
  const Thread::KnownLoad& known = thread.load_of(variable);
  if (known.load.variable == variable && !std::exchange(thread.is_load_repeated, false) &&
      known.sync->version.load(std::memory_order_acquire) == known.load.version)
    return kTookNoLock;
  lock_variable(variable);
  return kTookLock;
}

bool end_load(const void* variable, uint64_t size, uint32_t order, const char* name, uint32_t begun,
              const void* pc) {
  if (begun == kTookLock) {
    end_atomic(variable, size, kAtomicRead, order, name, pc);
    return false;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Thread& thread = *this_thread;
  const Thread::KnownLoad& known = thread.load_of(variable);
  const bool is_same = known.load.variable == variable && may_be_known(thread) && says_state(known.cell) &&
                       known == known_now(thread, *known.sync, variable, order);
  if (!is_same) thread.is_load_repeated = true;
  return !is_same;
}

bool end_atomic(const void* variable, uint64_t size, uint32_t kind, uint32_t order, const char* name,
                const void* pc) {
  if (heddle_thread_state.thread == nullptr) return false;
  Thread& thread = *this_thread;
  Sync& sync = *thread.locked_variable;
  const bool reads = (kind & kAtomicRead) != 0;
  const bool writes = (kind & kAtomicWrite) != 0;
  bool is_news = false;
  if (!sync.is_guard) take_conflicts(thread, sync, writes);
  if (reads && !sync.gathered.is_empty()) {
    if ((order & kAcquires) == 0) {
      thread.until_acquire_fence.join(sync.gathered);
    } else {
      is_news = sync.is_guard ? thread.acquire_beside(sync.gathered) : thread.acquire(sync.gathered);
    }
  }
  access_atomically(thread, variable, size, writes, name, pc);
  if (writes) {
    if (!reads) sync.gathered.clear();  // a store begins a new release sequence
    if ((order & kReleases) == 0 && !thread.at_release_fence.is_empty())
      sync.gathered.join(thread.at_release_fence);
  }
  leave(thread, sync, writes, writes && (order & kReleases) != 0);
  make_version_even(sync);
  // An access that is in a race has been announced, and must follow.
  const bool is_awaited = std::exchange(thread.has_announced_race, false);
  bool is_told = false;
  if (!sync.is_guard) {
    // In a block that has just begun, it is the first that the block does.
    const bool is_repeated = !writes && !tells_every_access && thread.blocks.pending() == 0 &&
                             thread.last_load == load_now(thread, sync, variable, order);
    is_told = is_awaited || (!is_repeated && tells_order() && !keeps_outside_of_blocks(thread));
    if (is_told) tell_atomic(thread, variable, size, kind, order, name, pc);
    if (!writes) thread.last_load = load_now(thread, sync, variable, order);
  } else if (is_news) {
    // Whether somebody has initialized the variable already makes no difference to what the thread does.
    tell_waited(variable, pc);
  }
  if (kind == kAtomicRead && !is_awaited && is_in_cell(variable, size) && may_be_known(thread))
    thread.load_of(variable) = known_now(thread, sync, variable, order);
  unlock_variable(thread);
  leave_runtime();
  return is_told;
}

void pass_on_gifts(const void* variable, uint32_t uses_before) {
  Thread& thread = *this_thread;
  lock_variable(variable);
  Sync& sync = *thread.locked_variable;
  if (sync.conflicts != nullptr && sync.uses.load(std::memory_order_relaxed) != uses_before + 1) {
    blur_givers(thread, sync.conflicts->writes);
    blur_givers(thread, sync.conflicts->reads);
  }
  take_conflicts(thread, sync, true);
  leave(thread, sync, true, false);
  sync.version.store(sync.version.load(std::memory_order_relaxed) + 2, std::memory_order_release);
  unlock_variable(thread);
  leave_runtime();
}

void abandon_atomic(Thread& thread) {
  thread.is_updating = false;
  if (thread.locked_variable == nullptr) return;
  make_version_even(*thread.locked_variable);
  unlock_variable(thread);
}

void fence(uint32_t order, const void* pc) {
  if (heddle_thread_state.thread == nullptr) return;
  const Inside inside;
  Thread& thread = *this_thread;
  if ((order & kAcquires) != 0) thread.acquire(thread.until_acquire_fence);
  if ((order & kReleases) != 0) {
    thread.at_release_fence.clear();
    join_published(thread.at_release_fence, thread);
  }
  if (!tells_order() || is_calm()) return;  // atomic operations give and take, not fences
  tell(thread, {.operation = static_cast<uint8_t>(Operation::kFence),
                .pc = pc,
                .extra = static_cast<uint32_t>(memory_order(order))});
}

HEDDLE_INTERPOSE void heddle_begin_atomic(const void* variable) { begin_atomic(variable); }
HEDDLE_INTERPOSE void heddle_end_atomic(const void* variable, uint64_t size, uint32_t kind, uint32_t order,
                                        const char* name) {
  end_atomic(variable, size, kind, order, name, HEDDLE_HERE);
}
HEDDLE_INTERPOSE uint32_t heddle_begin_load(const void* variable) { return begin_load(variable); }
HEDDLE_INTERPOSE uint32_t heddle_end_load(const void* variable, uint64_t size, uint32_t order,
                                          const char* name, uint32_t begun) {
  return end_load(variable, size, order, name, begun, HEDDLE_HERE) ? 1 : 0;
}
HEDDLE_INTERPOSE void heddle_fence(uint32_t order) { fence(order, HEDDLE_HERE); }

}  // namespace heddle::runtime
