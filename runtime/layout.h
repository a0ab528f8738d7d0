// What code compiled with the plug-in and the runtime must agree on: where the state of a piece of memory
// lies, what its words mean, and what the runtime keeps for each thread at a known place.
//
// Shadow. Every 8 bytes of the program's memory have 16 bytes of state: two words of 4 bytes for reads, then
// two for writes; the first of each pair is for bytes 0 to 3, the second for bytes 4 to 7. The state of
// address a lies at base + 2 × (a mod 2^44, rounded down to a multiple of 8).
//
// A word is a *stamp*: in its low 28 bits the number of a stretch (what one thread does between two of its
// synchronizations), in its high 4 bits which of the 4 bytes are meant. "This was checked already" is thus
// one comparison with the thread's present stamp, for 4 bytes or, with the stamp twice, for 8.
#pragma once

#include <cstdint>

namespace heddle::runtime {

inline constexpr uint64_t kAddressBits = 44;
inline constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;

inline constexpr uint64_t kCellMask = kAddressMask & ~uint64_t{7};
inline constexpr uint64_t kHalfMask = kAddressMask & ~uint64_t{3};

inline constexpr uint32_t kNumberBits = 28;
inline constexpr uint32_t kNumberMask = (uint32_t{1} << kNumberBits) - 1;
inline constexpr uint32_t kAllBytes = uint32_t{0xF} << kNumberBits;

}  // namespace heddle::runtime

extern "C" {

// One activation of a compiled function that calls others, while it runs. Reports walk this list.
struct HeddleFrame {
  HeddleFrame* caller;
  const void* return_address;
  uint64_t context;  // number of the call stack down to here; 0: nobody asked yet
};

struct HeddleThreadState {
  uint64_t stamp;      // the present stamp, twice; matches nothing when the thread is in a new stretch
  uint64_t group;      // the same for a group of readers that the present stretch belongs to
  char* shadow;        // base of the shadow
  HeddleFrame* frame;  // the innermost
  void* thread;        // heddle::runtime::Thread; null while nothing is to be checked
  uint32_t inside;     // calls of the runtime that the thread is in (runtime/inside.h)
  uint64_t cell_mask;  // which bits of an address say where its state is: of 8 bytes, of 4 bytes. None when
  uint64_t half_mask;  // nothing is to be checked, so that there need be no shadow
};

extern __thread HeddleThreadState heddle_thread_state __attribute__((tls_model("initial-exec")));

}  // extern "C"
