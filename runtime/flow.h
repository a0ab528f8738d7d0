// Data flow inside the checked program, for code compiled with --heddle-dataflow (pass/flow_pass.h).
//
// Every value of the program has a *label*: the local of the trace (`r(x)>l`, `set(l,a,b)`) whose latest
// assignment it depends on; 0 for what depends on nothing that threads share. Labels are the thread's own and
// are used again when no value can have them any more: at the end of a function, and now and then in a loop.
//
// Nothing is told before the program's first parallel construct: what happens until then is the same in every
// run, so that it depends on nothing.
#pragma once

#include <cstdint>

namespace heddle::runtime {

// Labels that a function or a loop may use up before those of values that are gone are used again.
inline constexpr uint32_t kManyLabels = 2048;
// In use at a time; what more values depend on counts as a branch. A few more are used to move them.
inline constexpr uint32_t kMostLabels = 1U << 22;
// In HeddleFlowState::result while a call runs: the callee has not said what its result depends on.
inline constexpr uint32_t kNoLabel = 0xFFFFFFFF;
// In front of the code of functions that are compiled with labels.
inline constexpr uint64_t kFollowedMark = 0xC1E5'4EDD'1E0F'104E;
// That one assignment joins; the record has place for no more (runtime/channel.h).
inline constexpr uint32_t kMostJoined = 6;
inline constexpr uint32_t kLabelBits = 24;
static_assert(2 * kMostLabels <= 1U << kLabelBits);
inline constexpr uint32_t kMostArguments = 16;  // whose labels are handed over; those of later ones are 0

// What is known about a function that may be without labels.
enum FlowCallKind : uint32_t {
  kMayThrow = 1,
  kOnlyReads = 2,
  kHasNoState = 4,  // that its calls share, beyond what its arguments reach
  kTellsItself = 8,
};

// In the size of a global variable that is told of: other files know it by its name.
inline constexpr uint64_t kNamedByOthers = uint64_t{1} << 63;

extern bool is_built_to_follow;  // at least a part of the program
extern bool follows_data;        // and the program has begun a construct

// What the record of the access that is being told says about its local; 0: nothing.
extern __thread uint32_t told_local __attribute__((tls_model("initial-exec")));
inline constexpr uint32_t kOrderBits = 3;  // of Record::extra; the local lies above

// In place of access_memory(): a function of the C library reads or writes memory of the program's.
void library_access(const void* address, uint64_t size_and_kind, const void* pc);

}  // namespace heddle::runtime

extern "C" {

// How labels get from callers to callees and back.
struct HeddleFlowState {
  uint32_t next;       // label to be given
  uint32_t result;     // of the function that has returned
  const void* callee;  // whom the labels of the arguments are for
  uint32_t arguments[heddle::runtime::kMostArguments];
  uint32_t outside;  // of all that the function without labels has seen that is being called; 0: none is
};
extern __thread HeddleFlowState heddle_flow_state __attribute__((tls_model("initial-exec")));

// A call of a function that may be without labels.
struct HeddleFlowCall {
  const void* callee;
  const void* const* pointers;  // among the arguments
  uint32_t count;
  uint32_t kind;    // of FlowCallKind
  const char* top;  // of the caller's frame: where it returns to
};

}  // extern "C"
