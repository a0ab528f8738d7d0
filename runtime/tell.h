// Telling the monitor (runtime/channel.h).
#pragma once

#include <cstdint>

#include "runtime/channel.h"
#include "runtime/connection.h"
#include "runtime/open_blocks.h"
#include "runtime/registers.h"
#include "trace/event.h"

namespace heddle::runtime {

struct Thread;

// Something that is ordered among what all threads tell. `pc` is a return address of the program.
struct Told {
  uint8_t operation;
  const void* address = nullptr;
  const void* pc = nullptr;
  uint8_t size = 0;
  uint32_t extra = 0;
  uint64_t name = 0;
  uint64_t caller = 0;
  uint32_t context = kNow;
  static constexpr uint32_t kNow = 0xFFFFFFFF;  // where the thread is
};
void tell(Thread& thread, const Told& told);
HEDDLE_INLINE Record make_record(const Told& told, uint32_t context) {
  return {Record::pack(told.operation, told.size, told.address),
          reinterpret_cast<uint64_t>(told.pc),
          told.name,
          told.caller,
          context,
          told.extra,
          0};
}
// The same, whatever the thread has not told yet.
void tell_as_it_is(Thread& thread, const Told& told);
// Ordered only among what its own thread tells.
void tell_unordered(Thread& thread, const Told& told);
// The same, and belongs to what it has told right before. The context is its own affair.
void tell_words(Thread& thread, const Told& told);

// That a block has begun; a block that has nothing told of it is not told either (runtime/open_blocks.h).
HEDDLE_INLINE Told told_begin(const OpenBlocks::Open& open) {
  const auto operation =
      open.block->kind == kHeddleAtomic ? Operation::kBeginAtomic : Operation::kBeginDeterministic;
  return {.operation = static_cast<uint8_t>(operation),
          .address = open.object,
          .pc = open.pc,
          .extra = open.block->origin,
          .name = reinterpret_cast<uint64_t>(open.block->name),
          .context = open.context};
}
// Those, and the locks that a calm thread has taken without telling (runtime/calm.h).
void tell_pending(Thread& thread);

// Whether the monitor wants to know what orders threads: who takes which lock, and the like.
bool tells_order();

// What the calling thread did to the object.
void tell(Operation operation, const void* object, const void* pc, uint32_t extra = 0);

// What a calm program keeps. Threads are ordered by something of which it makes no difference who came first;
// in a block that is told all the same, for the data that it orders. And the calling thread wakes those who
// wait for the condition, or has waited: that orders nothing by itself.
void tell_sync(const void* object, const void* pc);
// The same where no schedule turns the order around: those who wait for the object go on only after it was
// handed over. A calm program tells of it, as of semaphores.
void tell_handed_over(const void* object, const void* pc);
void tell_waited(const void* object, const void* pc);
void tell_notified(const void* condition, const void* pc);
void tell_woken(const void* condition, const void* pc);

// The calling thread has to wait for the object, or the thread that has this stream; and it has not got it.
// `holder` is who has it, as holder_of() says (runtime/sync.h).
void tell_waiting(WaitsFor what, const void* object, const void* pc, uint32_t stream = 0,
                  uint32_t holder = 0);
void tell_gave_up(const void* object, const void* pc);

// From the slow paths: an access, the first of its kind in the stretch. The stretch may be over then.
HEDDLE_KEEPS_REGISTERS void tell_access(Thread& thread, const void* address, uint64_t size_and_kind,
                                        const char* name, const void* caller, const void* pc);

// All that is loaded now.
void tell_modules(Thread& thread);
extern std::atomic<bool> modules_have_changed;  // or may have: told before the next of all else

}  // namespace heddle::runtime
