#include "pass/library_functions.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/TargetParser/Triple.h>

#include "pass/source_names.h"
#include "types/program.h"

namespace heddle {

using namespace llvm;

bool starts_thread(StringRef symbol) {
  return symbol == "pthread_create" || symbol == "thrd_create" ||
         symbol.starts_with("_ZNSt6thread15_M_start_thread");
}

bool is_atomic_function(StringRef name) {
  return name.starts_with("std::atomic::") || name.starts_with("std::__atomic_base::") ||
         name.starts_with("std::atomic_flag::") || name.starts_with("std::__atomic_float::") ||
         name.starts_with("std::__atomic_ref::") || name.starts_with("std::atomic_");
}

bool is_constructor(StringRef name) {
  const std::size_t colons = name.rfind("::");
  if (colons == StringRef::npos) return false;
  const StringRef of = name.take_front(colons);
  return name.substr(colons + 2) == of.substr(of.rfind("::") + 2);
}

StringRef ordering_of(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") == StringRef::npos ? 0 : name.rfind("::") + 2);
  const StringRef of = name.drop_back(function.size());
  if (of == "std::thread::" || of == "std::jthread::")
    return StringSwitch<StringRef>(function)
        .Cases("join", "~jthread", "operator=", types::kOrdersAfter)
        .Case("request_stop", types::kOrders)
        .Default("");
  if (of == "std::condition_variable::" || of == "std::_V2::condition_variable_any::")
    return function.starts_with("notify") ? types::kNotifies : "";
  const bool is_of_order = StringSwitch<bool>(of)
                               .Cases("std::barrier::", "std::latch::", "std::counting_semaphore::", true)
                               .Cases("std::future::", "std::shared_future::", "std::promise::", true)
                               .Cases("std::packaged_task::", "std::stop_source::", true)
                               .Default(false);
  if (is_of_order) return is_constructor(name) ? "" : types::kOrders;
  if (name.contains("try_lock") || name.contains("trylock") || name.contains("_timedlock"))
    return types::kOrdersAfter;
  return StringSwitch<StringRef>(name)
      .Cases("pthread_join", "thrd_join", "pthread_timedjoin_np", "pthread_tryjoin_np", types::kOrdersAfter)
      .Cases("pthread_cond_signal", "pthread_cond_broadcast", "cnd_signal", "cnd_broadcast", types::kNotifies)
      .Cases("pthread_barrier_wait", "pthread_once", "call_once", "std::call_once", types::kOrders)
      .Cases("sem_post", "sem_wait", "sem_trywait", "sem_timedwait", "sem_clockwait", types::kOrders)
      .Cases("cnd_wait", "cnd_timedwait", types::kOrders)
      .Default("");
}

bool is_synchronization(StringRef name) {
  return name.starts_with("std::condition_variable::") ||
         name.starts_with("std::_V2::condition_variable_any::") || name.starts_with("std::barrier::") ||
         name.starts_with("std::latch::") || name.starts_with("std::counting_semaphore::") ||
         name.starts_with("std::thread::") || name.starts_with("std::jthread::");
}

bool may_move_elements(StringRef symbol) {
  return symbol.contains("EO") || symbol.contains("emplace") || symbol.contains("swap") ||
         symbol.contains("exchange") || symbol.contains("insert") || symbol.contains("splice");
}

bool gives_iterator(StringRef name) {
  return StringSwitch<bool>(name.substr(name.rfind("::") + 2))
      .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", "data", "c_str", true)
      .Default(false);
}

bool only_looks(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") + 2);
  // It makes the element that it does not find.
  if (function == "operator[]" &&
      (name.starts_with("std::map::") || name.starts_with("std::unordered_map::")))
    return false;
  return gives_iterator(name) ||
         StringSwitch<bool>(function)
             .Cases("size", "empty", "length", "capacity", "max_size", "operator[]", "at", "front", "back",
                    true)
             .Cases("top", "operator*", "operator->", "get", "operator bool", "has_value", "use_count", true)
             .Default(false);
}

bool keeps_elements(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") + 2);
  if (is_constructor(name) || function.starts_with("~")) return true;
  return only_looks(name) ||
         StringSwitch<bool>(function)
             .Cases("push_back", "pop_back", "emplace_back", "clear", "resize", "reserve", true)
             .Cases("push", "pop", "emplace", "count", "contains", "append", "operator+=", "operator[]", true)
             .Cases("operator=", "reset", "push_front", "pop_front", "shrink_to_fit", true)
             .Default(false);
}

bool is_of_owner(StringRef name) { return name.starts_with("std::unique_ptr::"); }

bool makes_owner(StringRef symbol) { return symbol.starts_with("_ZSt11make_uniqueI"); }

bool takes_value(const Function& function) {
  if (!is_constructor(name_of(function).qualified)) return false;
  const auto [scope, parameters] = declaration_of(function);
  StringRef given(parameters);
  if (!given.consume_back("&&") && !given.consume_back("const&")) return false;
  return StringRef(scope).starts_with("std::function<") || given == scope ||
         scope == ("std::optional<" + given + ">").str();
}

bool moves_functions(const Function& function) {
  const auto [scope, parameters] = declaration_of(function);
  const bool is_made = StringRef(scope).starts_with("std::function<") && takes_value(function);
  return is_made || (StringRef(parameters).starts_with("std::function<") &&
                     StringRef(parameters).ends_with(">&&") && !StringRef(parameters).contains(','));
}

bool keeps_nothing(StringRef name) {
  const StringRef function = name.substr(name.rfind("::") == StringRef::npos ? 0 : name.rfind("::") + 2);
  return StringSwitch<bool>(function)
      .Cases("max", "min", "swap", "exchange", "abs", "clamp", "copy", "fill", "sort", "find", true)
      .Cases("operator<<", "operator>>", "operator==", "operator<", "operator!=", "operator+", "getline",
             true)
      .Cases("to_string", "stoi", "accumulate", "count", "append", "insert", "erase", "assign", true)
      .Cases("push_back", "emplace_back", "push", "emplace", "push_front", "resize", "operator[]", "at", true)
      .Cases("operator=", "operator+=", "compare", "substr", "distance", "equal", "reverse", "iota", true)
      .Default(false);
}

bool is_library_function(const Function& function) {
  const StringRef symbol = function.getName();
  if (symbol.contains("__gthread_") || symbol == "__clang_call_terminate") return true;
  if (!symbol.starts_with("_Z")) return false;
  // A template's name begins with what it returns.
  const std::string name = name_of(function).qualified;
  return is_of_library(StringRef(name)) || StringRef(name).contains(" std::");
}

bool is_harmless(const Function& function) {
  const StringRef symbol = function.getName();
  if (symbol.starts_with("__cxa_") || symbol.starts_with("_Unwind_") || symbol.starts_with("__gxx_") ||
      symbol.starts_with("__clang_call_terminate") || symbol.starts_with("pthread_") ||
      symbol.starts_with("sem_") || symbol.starts_with("_Znw") || symbol.starts_with("_Zna") ||
      symbol.starts_with("_Zdl") || symbol.starts_with("_Zda") || symbol.starts_with("__sanitizer_") ||
      symbol.starts_with("__asan_"))
    return true;
  const bool is_known =
      StringSwitch<bool>(symbol)
          .Cases("clock_gettime", "nanosleep", "usleep", "sleep", "sched_yield", "gettimeofday", true)
          .Cases("rand", "srand", "rand_r", "random", "srandom", "drand48", "exit", "_exit", true)
          .Cases("__assert_fail", "__errno_location", "sysconf", "getpid", "time", "clock", true)
          .Cases("thrd_create", "thrd_join", "thrd_yield", "mtx_init", "atexit", "quick_exit", true)
          .Cases("getopt", "getopt_long", "isatty", "abort", "syscall", "strerror", "localtime_r", true)
          .Cases("socket", "bind", "listen", "accept", "connect", "shutdown", "setsockopt", true)
          .Cases("close", "poll", "select", "pipe", "fcntl", "ioctl", "kill", "signal", true)
          .Cases("posix_memalign", "aligned_alloc", "secure_getenv", "gethostname", "qsort", true)
          .Default(false);
  if (is_known) return true;
  static const TargetLibraryInfoImpl known{Triple("x86_64-pc-linux-gnu")};
  LibFunc which;
  return known.getLibFunc(symbol, which);
}

}  // namespace heddle
