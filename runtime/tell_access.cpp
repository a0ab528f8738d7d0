// Telling about accesses, from the slow paths: compiled like them, without vector registers.
#include "runtime/contexts.h"
#include "runtime/rare_access.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

HEDDLE_KEEPS_REGISTERS void tell_access(Thread& thread, const void* address, uint64_t size_and_kind,
                                        const char* name, const void* caller, const void* pc) {
  const bool writes = (size_and_kind & kWrites) != 0;
  const uint64_t size = size_and_kind & ~(kWrites | kIsAtomic);
  const auto operation = static_cast<uint8_t>(writes ? Operation::kWrite : Operation::kRead);
  if (tells_every_access) thread.new_stretch();
  const uint64_t what = Record::pack(operation, static_cast<uint8_t>(size <= 255 ? size : 0), address);
  HeddleFrame* const frame = heddle_thread_state.frame;
  if (thread.chunk == nullptr || thread.filled == Chunk::kRecords ||
      (frame != nullptr && frame->context == 0)) {
    auto slowly = [&] {
      tell_unordered(thread, {.operation = operation,
                              .address = address,
                              .pc = pc,
                              .size = static_cast<uint8_t>(size <= 255 ? size : 0),
                              .extra = static_cast<uint32_t>(size),
                              .name = reinterpret_cast<uint64_t>(name),
                              .caller = reinterpret_cast<uint64_t>(caller)});
    };
    keep_registers(slowly);
    return;
  }
  Chunk& chunk = *thread.chunk;
  Record& record = chunk.records[thread.filled];
  record.what = what;
  record.pc = reinterpret_cast<uint64_t>(pc);
  record.name = reinterpret_cast<uint64_t>(name);
  record.caller = reinterpret_cast<uint64_t>(caller);
  record.context = frame == nullptr ? 0 : static_cast<uint32_t>(frame->context);
  record.extra = static_cast<uint32_t>(size);
  record.ticket = 0;
  chunk.filled.store(++thread.filled, std::memory_order_release);
}

}  // namespace heddle::runtime
