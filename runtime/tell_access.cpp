// Telling about accesses, from the slow paths: compiled like them, without vector registers.
#include "runtime/put.h"
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
  const Told told = {.operation = operation,
                     .address = address,
                     .pc = pc,
                     .size = static_cast<uint8_t>(size <= 255 ? size : 0),
                     .extra = static_cast<uint32_t>(size <= 255 ? 0 : size),
                     .name = reinterpret_cast<uint64_t>(name),
                     .caller = reinterpret_cast<uint64_t>(caller)};
  HeddleFrame* const frame = heddle_thread_state.frame;
  if (!has_places(thread, thread.blocks.pending() + 1) || (frame != nullptr && frame->context == 0) ||
      thread.has_untold || thread.giving.time != 0) {
    auto slowly = [&] { tell_unordered(thread, told); };
    keep_registers(slowly);
    return;
  }
  thread.blocks.tell_pending([&](const OpenBlocks::Open& open, uint32_t) {
    put(thread, make_record(told_begin(open), open.context));
  });
  put(thread, make_record(told, frame == nullptr ? 0 : static_cast<uint32_t>(frame->context)));
}

}  // namespace heddle::runtime
