// Calls of functions that do not tell their data flow, and are in no table (docs/design/dataflow.md): each is
// taken to read and write all that its arguments reach and, unless it is of the C++ library, a state that all
// such functions share. When it does that is not known, so it is told before the call and after it: what
// another task does in between comes both before and after the call.
#include <link.h>
#include <setjmp.h>
#include <sys/mman.h>

#include "runtime/access.h"
#include "runtime/flow.h"
#include "runtime/flow_labels.h"
#include "runtime/flow_thread.h"
#include "runtime/interpose/real.h"
#include "runtime/open_marks.h"
#include "runtime/system_calls.h"
#include "runtime/system_code.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

// What functions without labels may keep; reports call it by this name.
extern "C" {
__attribute__((visibility("hidden"))) uint64_t unseen_state = 0;
}

namespace heddle::runtime {

namespace {

// What lies in front of functions that tell their data flow.
bool is_followed(const void* function) {
  const auto address = reinterpret_cast<uint64_t>(function);
  constexpr uint64_t kPage = 4096;
  if (address < kPage) return false;
  const uint64_t mark = address - sizeof(uint64_t);
  // Where a function begins a page, there may be nothing in front.
  if (address % kPage < sizeof(uint64_t) &&
      system_call(SYS_msync, mark / kPage * kPage, kPage, MS_ASYNC) != 0)
    return false;
  uint64_t found;
  __builtin_memcpy(&found, reinterpret_cast<const void*>(mark), sizeof(found));
  return found == kFollowedMark;
}

// Where a library defines the function; null: it does not.
const void* defined_in(const link_map& library, const char* name) {
  void* const handle = ::dlopen(library.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  const void* const found = ::dlsym(handle, name);
  Dl_info where;
  // It is asked for in what the library depends on, too.
  const bool is_there = found != nullptr && ::dladdr(found, &where) != 0 &&
                        reinterpret_cast<uint64_t>(where.dli_fbase) == library.l_addr;
  ::dlclose(handle);
  return is_there ? found : nullptr;
}

// In a program that is not position-independent, the address of a function of a library may be that of an
// entry in the program's table of jumps, which has the function's name and is not where it is defined. Null:
// it is none.
const void* behind_jump(const void* address) {
  Dl_info found;
  void* entry = nullptr;
  if (::dladdr1(address, &found, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr ||
      static_cast<const ElfW(Sym)*>(entry)->st_shndx != SHN_UNDEF || found.dli_saddr != address)
    return nullptr;
  for (const link_map* library = _r_debug.r_map; library != nullptr; library = library->l_next)
    if (library->l_name[0] != 0)  // else the program itself
      if (const void* const function = defined_in(*library, found.dli_sname); function != nullptr)
        return function;
  return nullptr;
}

// Whether the address is that of a jump to a function that tells its data flow.
bool is_followed_behind_jump(const void* address) {
  struct Known {
    const void* address;
    bool is_followed;
  };
  constexpr uint64_t kKnown = 256;
  static __thread Known known[kKnown];
  Known& here = known[reinterpret_cast<uint64_t>(address) / 16 % kKnown];
  if (here.address != address) {
    const Inside inside;
    const void* const function = behind_jump(address);
    here = {address, function != nullptr && is_followed(function)};
  }
  return here.is_followed;
}

// The label grows with what is told: a branch on it before is none on what it is now.
void tell_what_may_happen(Thread& thread, const OpenCall& call) {
  const auto operation =
      static_cast<uint8_t>((call.kind & kOnlyReads) != 0 ? Operation::kLook : Operation::kTouch);
  const auto told = [&](const void* address, uint64_t size) {
    return Told{.operation = operation,
                .address = address,
                .pc = call.pc,
                .size = static_cast<uint8_t>(size),
                .extra = call.label << kOrderBits};
  };
  renew(call.label);
  const bool has_state = (call.kind & kHasNoState) == 0;
  Objects& objects = flow_thread.reached;
  reach(call.count == 0 ? nullptr : &flow_thread.open_pointers[call.pointers], call.count,
        has_state ? call.callee : nullptr, objects);
  // The first, so that findings are about it rather than about what it may know by name.
  if (has_state) tell_quickly(thread, told(&unseen_state, sizeof(unseen_state)));
  for (uint32_t i = 0; i < objects.size(); ++i)
    for_each_word(reinterpret_cast<uint64_t>(objects[i].begin), objects[i].size,
                  [&](uint64_t at, uint32_t size) {
                    const void* const here = reinterpret_cast<const void*>(at);
                    forget_reads(here, size);
                    tell_quickly(thread, told(here, size));
                  });
  // Ordered among what all threads tell, and with it all that this one has told before.
  if (has_state) tell(thread, told(&unseen_state, sizeof(unseen_state)));
}

// setjmp and longjmp have pointers of the program in their buffer, but do nothing to what these point to.
// What is given to longjmp, setjmp returns: that counts as branched on. False: it is neither.
bool tell_jump(const HeddleFlowCall& call, const uint32_t (&given)[4], const void* frame, const void* pc) {
  const void* const buffer = call.pointers[0];
  flow_thread.library_label = 0;
  if (is_setjmp(call.callee)) {
    // We and setjmp are called from the same place of the stack, above the frame pointer and the return
    // address.
    meet_setjmp(buffer, reinterpret_cast<uint64_t>(frame) + 16);
    library_access(buffer, sizeof(__jmp_buf) | kWrites, pc);
    return true;
  }
  if (!is_longjmp(call.callee)) return false;
  flow_thread.library_label = joined({given[0], given[1], given[2], given[3]}, pc);
  library_access(buffer, sizeof(__jmp_buf), pc);
  branch(flow_thread.library_label, pc);
  flow_thread.library_label = 0;
  return true;
}

}  // namespace

void end_calls(const char* top) {
  GrowingArray<OpenCall>& open = flow_thread.open;
  while (!open.empty() && open.back().top <= top) {
    const OpenCall call = open.back();
    heddle_flow_state.outside = call.outside;
    Thread* const thread = (call.kind & kTellsItself) != 0 ? nullptr : telling_thread();
    if (thread != nullptr) {
      tell_what_may_happen(*thread, call);
      if ((call.kind & kMayThrow) != 0) branch(call.label, call.pc);
    }
    open.remove_last();
    while (flow_thread.open_pointers.size() > call.pointers) flow_thread.open_pointers.remove_last();
  }
}

// Before a call that may be one of a function without labels; the arguments have these. The label of what the
// function sees; kNoLabel when it tells that itself.
HEDDLE_INTERPOSE uint32_t heddle_flow_before_call(const HeddleFlowCall* call, uint32_t a, uint32_t b,
                                                  uint32_t c, uint32_t d) {
  if (is_followed(call->callee)) return kNoLabel;
  end_calls(call->top);
  const uint32_t given[] = {a, b, c, d};
  if (call->count > 0 && tell_jump(*call, given, __builtin_frame_address(0), HEDDLE_HERE)) return kNoLabel;
  Thread* const thread = telling_thread();
  if (thread == nullptr) return 0;
  const void* const pc = HEDDLE_HERE;
  const uint32_t label = joined_now({a, b, c, d}, pc);
  const uint32_t pointers = flow_thread.open_pointers.size();
  if (is_followed_behind_jump(call->callee)) {
    // Where its library calls it by another address, it does not know that it was called by us: its arguments
    // depend on all of these then, and what it returns counts as branched on.
    flow_thread.open.add() = {call->callee, pc, call->top, kTellsItself, label, heddle_flow_state.outside,
                              pointers,     0};
    heddle_flow_state.outside = label;
    return kNoLabel;
  }
  tell_unordered(*thread, {.operation = kToldUnfollowed, .address = call->callee, .context = 0});
  for (uint32_t i = 0; i < call->count; ++i) flow_thread.open_pointers.add() = call->pointers[i];
  OpenCall& open = flow_thread.open.add();
  // Who calls by a pointer does not know that it is one of these, which do all to their arguments.
  const uint32_t kind = call->kind | (is_code_of_cxx_library(call->callee) ? kHasNoState : 0);
  open = {call->callee, pc, call->top, kind, label, heddle_flow_state.outside, pointers, call->count};
  tell_what_may_happen(*thread, open);
  heddle_flow_state.outside = label;  // for what it calls
  return label;
}

// After it: what the result depends on.
HEDDLE_INTERPOSE uint32_t heddle_flow_after_unknown_call(const char* top, uint32_t label) {
  heddle_flow_state.callee = nullptr;
  end_calls(top);
  const uint32_t said = heddle_flow_state.result == kNoLabel ? 0 : heddle_flow_state.result;
  if (label == kNoLabel) return said;
  // Of a function without labels, one of the program's that it has called may have said it.
  return joined({label, said}, HEDDLE_HERE);
}

// An exception has come to a function.
HEDDLE_INTERPOSE void heddle_flow_landed(const char* top) {
  heddle_flow_state.callee = nullptr;
  end_calls(top);
}

}  // namespace heddle::runtime
