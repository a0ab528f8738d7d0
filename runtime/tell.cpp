#include "runtime/tell.h"

#include <link.h>
#include <time.h>
#include <unistd.h>

#include "runtime/calm.h"
#include "runtime/contexts.h"
#include "runtime/put.h"
#include "runtime/spin_lock.h"
#include "runtime/system_calls.h"
#include "runtime/thread.h"

namespace heddle::runtime {

constinit std::atomic<bool> modules_have_changed{false};

namespace {

// Until the condition holds; false: the monitor is gone.
template <class Condition>
bool wait_for_monitor(Condition condition) {
  for (unsigned tries = 0; !condition(); ++tries) {
    if (tries < 10) {
      ::sched_yield();
      continue;
    }
    const timespec moment = {0, 100'000};
    system_call(SYS_nanosleep, &moment, 0);
    if (tries % 100 == 0 && !monitor_is_there()) return false;
  }
  return true;
}

// A chunk nobody uses; kChunks: the monitor is gone.
uint32_t take_chunk(Channel& to) {
  uint32_t taken = Channel::kChunks;
  const bool is_there = wait_for_monitor([&] {
    for (uint32_t word = 0; word < Channel::kChunks / 64; ++word) {
      uint64_t used = to.used_chunks[word].load(std::memory_order_acquire);
      while (~used != 0) {
        const auto bit = static_cast<uint32_t>(__builtin_ctzll(~used));
        if (!to.used_chunks[word].compare_exchange_weak(used, used | uint64_t{1} << bit)) continue;
        taken = word * 64 + bit;
        return true;
      }
    }
    return false;
  });
  return is_there ? taken : Channel::kChunks;
}

void put_ordered(Channel& to, Thread& thread, Record record) {
  const uint64_t ticket = to.tickets.fetch_add(1);
  if (ticket - to.consumed.load(std::memory_order_acquire) >= Channel::kPlaces && !wait_for_monitor([&] {
        return ticket - to.consumed.load(std::memory_order_acquire) < Channel::kPlaces;
      }))
    return;
  record.ticket = ticket + 1;
  put(thread, record);
  to.board[ticket % Channel::kPlaces].store((ticket + 1) << 16 | thread.chunk_index,
                                            std::memory_order_release);
}

bool make_place(Channel& to, Thread& thread) {
  if (has_places(thread, 1)) return true;
  if (!monitor_is_there()) return false;  // looked up where it costs little, and before memory is filled
  const uint32_t index = take_chunk(to);
  if (index == Channel::kChunks) return false;
  Chunk& chunk = to.chunk(index);
  chunk.stream = thread.stream;
  chunk.previous = thread.chunk == nullptr ? 0 : thread.chunk_index + 1;
  chunk.filled.store(0, std::memory_order_relaxed);
  thread.chunk = &chunk;
  thread.chunk_index = index;
  thread.filled = 0;
  put_ordered(to, thread, make_record({.operation = kToldNothing}, 0));
  return true;
}

void tell_lock(Thread& thread, const HeldLock& held) {
  const Told told = {.operation = static_cast<uint8_t>(held.operation),
                     .address = held.lock,
                     .pc = held.pc,
                     .extra = held.extra,
                     .context = held.context};
  for (uint32_t i = 0; i < held.depth; ++i) tell_as_it_is(thread, told);
}

// The locks that a calm thread has, without the blocks that it is in: for who waits.
void tell_held(Thread& thread) {
  if (!thread.held.any_untold()) return;
  thread.held.tell_untold(~uint32_t{0}, [&](const HeldLock& held) { tell_lock(thread, held); });
}

int tell_module(dl_phdr_info* info, std::size_t, void* given) {
  Thread& thread = *static_cast<Thread*>(given);
  Channel* const to = channel;
  if (to == nullptr) return 1;
  uint64_t begin = ~uint64_t{0};
  uint64_t end = 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uint64_t first = info->dlpi_addr + part.p_vaddr;
    if (first < begin) begin = first;
    if (first + part.p_memsz > end) end = first + part.p_memsz;
  }
  if (end == 0) return 0;
  char self[4096];
  const char* path = info->dlpi_name;
  if (path == nullptr || path[0] == 0) {
    const auto length = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length < 0 ? 0 : length] = 0;
    // The vDSO has no name either, but lies elsewhere.
    path = to->text_bytes.load() == 1 ? self : "";
  }
  const auto size = static_cast<uint32_t>(__builtin_strlen(path) + 1);
  const uint32_t at = to->text_bytes.fetch_add(size);
  if (at + size > Channel::kTextBytes) return 1;
  __builtin_memcpy(to->text + at, path, size);
  tell(thread, {.operation = kToldModule,
                .address = reinterpret_cast<const void*>(begin),
                .pc = reinterpret_cast<const void*>(end),
                .name = at,
                .caller = info->dlpi_addr});
  return 0;
}

}  // namespace

void tell(Thread& thread, const Told& told) {
  const Inside inside;
  if (modules_have_changed.load(std::memory_order_relaxed) && modules_have_changed.exchange(false))
    tell_modules(thread);
  follow(thread, told.operation, told.address, told.pc);
  // That memory ends belongs to no block, and neither does a calm thread's wait.
  if (told.operation == kToldWaiting && is_calm()) {
    tell_held(thread);
  } else if (told.operation != kToldFree && told.operation != kToldGaveUp) {
    tell_pending(thread);
  }
  thread.has_told_waiting = told.operation == kToldWaiting;
  tell_as_it_is(thread, told);
}

void tell_as_it_is(Thread& thread, const Told& told) {
  const Inside inside;
  Channel* const to = channel;
  if (to == nullptr || !make_place(*to, thread)) return;
  put_ordered(
      *to, thread,
      make_record(told, told.context == Told::kNow ? context_of(heddle_thread_state.frame) : told.context));
}

namespace {

void tell_blocks_and_locks(Thread& thread) {
  const auto tell_locks = [&](uint32_t blocks) {
    thread.held.tell_untold(blocks, [&](const HeldLock& held) { tell_lock(thread, held); });
  };
  tell_locks(thread.blocks.size() - thread.blocks.pending());
  thread.blocks.tell_pending([&](const OpenBlocks::Open& open, uint32_t blocks) {
    Channel* const to = channel;
    if (to != nullptr && make_place(*to, thread)) put(thread, make_record(told_begin(open), open.context));
    tell_locks(blocks);
  });
}

}  // namespace

void tell_pending(Thread& thread) {
  if (thread.blocks.pending() == 0 && !thread.held.any_untold()) return;
  if (thread.giving.time == 0) return tell_blocks_and_locks(thread);
  // Who ends the calm may be telling of the blocks, too (runtime/spans.h).
  const Locked locked(thread.giving_lock);
  tell_blocks_and_locks(thread);
}

void tell_unordered(Thread& thread, const Told& told) {
  const Inside inside;
  follow(thread, told.operation, told.address, told.pc);
  tell_pending(thread);
  Channel* const to = channel;
  if (to == nullptr || !make_place(*to, thread)) return;
  put(thread,
      make_record(told, told.context == Told::kNow ? context_of(heddle_thread_state.frame) : told.context));
}

void tell_words(Thread& thread, const Told& told) {
  Channel* const to = channel;
  if (to != nullptr && make_place(*to, thread)) put(thread, make_record(told, told.context));
}

bool tells_order() {
  const Channel* const to = channel;
  return this_thread != nullptr && to != nullptr && to->is_quiet.load(std::memory_order_relaxed) == 0;
}

void tell(Operation operation, const void* object, const void* pc, uint32_t extra) {
  const bool is_of_threads = operation == Operation::kThreadBegin || operation == Operation::kThreadEnd;
  if (tells_order() || (is_of_threads && this_thread != nullptr))
    tell(*this_thread,
         {.operation = static_cast<uint8_t>(operation), .address = object, .pc = pc, .extra = extra});
}

namespace {

// The thread has met others, in an order that no schedule changes.
void tell_forced(MemoryOrder order, const void* object, const void* pc) {
  if (!tells_order()) return;
  tell(Operation::kSync, object, pc, static_cast<uint32_t>(order));
  this_thread->held.meet();
}

}  // namespace

void tell_sync(const void* object, const void* pc) {
  if (tells_order() && !keeps_outside_of_blocks(*this_thread)) tell(Operation::kSync, object, pc);
}
void tell_handed_over(const void* object, const void* pc) { tell_forced(MemoryOrder::kRelease, object, pc); }
void tell_waited(const void* object, const void* pc) { tell_forced(MemoryOrder::kAcquire, object, pc); }
void tell_notified(const void* condition, const void* pc) {
  if (!is_calm()) tell(Operation::kNotify, condition, pc);
}
void tell_woken(const void* condition, const void* pc) {
  if (!is_calm()) tell(Operation::kWake, condition, pc);
}

void tell_waiting(WaitsFor what, const void* object, const void* pc, uint32_t stream, uint32_t holder) {
  if (tells_order())
    tell(*this_thread, {.operation = kToldWaiting,
                        .address = object,
                        .pc = pc,
                        .extra = what | holder << kWaitsForBits,
                        .name = stream});
}

void tell_gave_up(const void* object, const void* pc) {
  if (tells_order()) tell(*this_thread, {.operation = kToldGaveUp, .address = object, .pc = pc});
}

void tell_modules(Thread& thread) { ::dl_iterate_phdr(tell_module, &thread); }

}  // namespace heddle::runtime
