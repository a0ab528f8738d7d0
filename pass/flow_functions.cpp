#include "pass/flow_functions.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Function.h>

#include "runtime/flow.h"

namespace heddle {

using namespace llvm;

namespace {

// Memory, threads, locks, exceptions, time, output: what they give back is no value of the program's.
const StringSet<>& constants() {
  static const StringSet<> names = {
      "malloc",
      "calloc",
      "aligned_alloc",
      "posix_memalign",
      "memalign",
      "free",
      "malloc_usable_size",
      // operator new and delete, of every kind
      "_Znwm",
      "_Znam",
      "_ZnwmSt11align_val_t",
      "_ZnamSt11align_val_t",
      "_ZnwmRKSt9nothrow_t",
      "_ZnamRKSt9nothrow_t",
      "_ZdlPv",
      "_ZdaPv",
      "_ZdlPvm",
      "_ZdaPvm",
      "_ZdlPvSt11align_val_t",
      "_ZdlPvmSt11align_val_t",
      "_ZdaPvSt11align_val_t",
      "_ZdaPvmSt11align_val_t",
      // std::allocator<char>, of unoptimized code
      "_ZNSaIcEC1Ev",
      "_ZNSaIcEC2Ev",
      "_ZNSaIcEC1ERKS_",
      "_ZNSaIcEC2ERKS_",
      "_ZNSaIcED1Ev",
      "_ZNSaIcED2Ev",
      "__cxa_allocate_exception",
      "__cxa_free_exception",
      "__cxa_throw",
      "__cxa_rethrow",
      "__cxa_begin_catch",
      "__cxa_end_catch",
      "__cxa_get_exception_ptr",
      "__cxa_guard_acquire",
      "__cxa_guard_release",
      "__cxa_guard_abort",
      "__cxa_atexit",
      "__cxa_thread_atexit",
      "__cxa_pure_virtual",
      "__clang_call_terminate",
      "_ZSt9terminatev",
      "_ZSt19uncaught_exceptionsv",
      "_ZSt17current_exceptionv",
      "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
      "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",
      "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",
      "_Unwind_Resume",
      "abort",
      "exit",
      "_Exit",
      "_exit",
      "quick_exit",
      "pthread_create",
      "pthread_join",
      "pthread_detach",
      "pthread_self",
      "pthread_mutex_lock",
      "pthread_mutex_trylock",
      "pthread_mutex_unlock",
      "pthread_mutex_init",
      "pthread_mutex_destroy",
      "pthread_rwlock_rdlock",
      "pthread_rwlock_wrlock",
      "pthread_rwlock_unlock",
      "pthread_spin_lock",
      "pthread_spin_unlock",
      "pthread_cond_wait",
      "pthread_cond_signal",
      "pthread_cond_broadcast",
      "pthread_key_create",
      "__pthread_key_create",
      "pthread_once",
      "__gthread_active_p",
      "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
      "_ZNSt6thread4joinEv",
      "_ZNSt6thread6detachEv",
      "_ZNSt6thread20hardware_concurrencyEv",
      "_ZNSt6thread6_StateD2Ev",
      "_ZNSt18condition_variable10notify_allEv",
      "_ZNSt18condition_variable10notify_oneEv",
      "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
      "_ZNSt18condition_variableC1Ev",
      "_ZNSt18condition_variableD1Ev",
      "sched_yield",
      "usleep",
      "nanosleep",
      "clock_nanosleep",
      "fopen",
      "_ZNSt6chrono3_V212steady_clock3nowEv",
      "_ZNSt6chrono3_V212system_clock3nowEv",
      // what the standard library throws
      "_ZSt17__throw_bad_allocv",
      "_ZSt28__throw_bad_array_new_lengthv",
      "_ZSt20__throw_length_errorPKc",
      "_ZSt20__throw_out_of_rangePKc",
      "_ZSt24__throw_out_of_range_fmtPKcz",
      "_ZSt19__throw_logic_errorPKc",
      "_ZSt20__throw_system_errori",
      "_ZSt25__throw_bad_function_callv",
      "_ZSt24__throw_invalid_argumentPKc",
  };
  return names;
}

const StringSet<>& computations() {
  static const StringSet<> names = [] {
    StringSet<> all;
    for (const char* name :
         {"sin",       "cos",   "tan",    "asin",      "acos",   "atan",    "atan2",    "sinh",   "cosh",
          "tanh",      "asinh", "acosh",  "atanh",     "exp",    "exp2",    "expm1",    "log",    "log2",
          "log10",     "log1p", "pow",    "sqrt",      "cbrt",   "hypot",   "fabs",     "floor",  "ceil",
          "round",     "trunc", "rint",   "nearbyint", "lround", "llround", "lrint",    "llrint", "fmod",
          "remainder", "fmin",  "fmax",   "fma",       "fdim",   "erf",     "erfc",     "tgamma", "lgamma",
          "copysign",  "ldexp", "scalbn", "scalbln",   "ilogb",  "logb",    "nextafter"}) {
      all.insert(name);
      all.insert((Twine(name) + "f").str());
      all.insert((Twine(name) + "l").str());
    }
    for (const char* name : {"abs", "labs", "llabs", "tolower", "toupper", "isalpha", "isdigit", "isspace",
                             "isalnum", "isupper", "islower", "ispunct", "isprint", "isxdigit",
                             "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
                             "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm"})
      all.insert(name);
    return all;
  }();
  return names;
}

}  // namespace

namespace {

// Of libstdc++, what is no template. It does to its arguments, and what they reach, whatever it does.
bool is_of_standard_library(StringRef name) {
  for (const char* beginning :
       {"_ZNSt", "_ZNKSt", "_ZSt", "_ZNSo", "_ZNSi", "_ZNSd", "_ZNSs", "_ZNKSs", "_ZNSa", "_ZNKSo", "_ZNKSi"})
    if (name.starts_with(beginning)) return true;
  return false;
}

// Writing to a stream throws only if somebody has asked for that.
bool writes_to_stream(StringRef name) {
  return name.starts_with("_ZNSo") || name.starts_with("_ZStls") || name.contains("ostream");
}

}  // namespace

uint32_t kind_of_call(const CallBase& call) {
  const Function* const callee = call.getCalledFunction();
  const bool is_standard = callee != nullptr && is_of_standard_library(callee->getName());
  uint32_t kind = 0;
  if (!call.doesNotThrow() && !(is_standard && writes_to_stream(callee->getName())))
    kind |= runtime::kMayThrow;
  if (call.onlyReadsMemory()) kind |= runtime::kOnlyReads;
  if (is_standard || call.onlyAccessesArgMemory()) kind |= runtime::kHasNoState;
  return kind;
}

FlowOfCall flow_of_call(const CallBase& call) {
  if (call.isInlineAsm()) return FlowOfCall::kComputes;
  const Function* const callee = call.getCalledFunction();
  if (callee != nullptr && callee->hasFnAttribute(Attribute::DisableSanitizerInstrumentation))
    return FlowOfCall::kComputes;  // whoever wrote it wants it so
  if (callee == nullptr || !callee->isDeclaration()) return FlowOfCall::kUnknown;
  const StringRef name = callee->getName();
  if (callee->isIntrinsic() || computations().contains(name)) return FlowOfCall::kComputes;
  if (constants().contains(name) || name.starts_with("heddle_")) return FlowOfCall::kConstant;
  if (call.doesNotAccessMemory() && call.doesNotThrow()) return FlowOfCall::kComputes;
  return FlowOfCall::kUnknown;
}

}  // namespace heddle
