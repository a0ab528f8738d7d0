// Telling the monitor (runtime/channel.h).
#pragma once

#include <cstdint>

#include "runtime/channel.h"
#include "runtime/connection.h"
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
// Ordered only among what its own thread tells.
void tell_unordered(Thread& thread, const Told& told);

// What the calling thread did to the object.
void tell(Operation operation, const void* object, const void* pc, uint32_t extra = 0);

// The calling thread has to wait for the object, or the thread that has this stream; and it has not got it.
void tell_waiting(WaitsFor what, const void* object, const void* pc, uint32_t stream = 0);
void tell_gave_up(const void* object, const void* pc);

// From the slow paths: an access, the first of its kind in the stretch. The stretch may be over then.
HEDDLE_KEEPS_REGISTERS void tell_access(Thread& thread, const void* address, uint64_t size_and_kind,
                                        const char* name, const void* caller, const void* pc);

// All that is loaded now.
void tell_modules(Thread& thread);
extern std::atomic<bool> modules_have_changed;  // or may have: told before the next of all else

}  // namespace heddle::runtime
