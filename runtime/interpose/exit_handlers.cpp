// What runs when the program ends, or a library is unloaded: destructors of static variables and functions
// given to atexit. Whoever runs them comes after all who gave them, which the lock of the C library's list
// sees to.
#include "runtime/interpose/handed_on.h"
#include "runtime/interpose/real.h"
#include "runtime/memory.h"

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);

namespace heddle::runtime {

namespace {

struct Handler {
  void (*function)(void*);
  void* argument;
};

const char kList = 0;  // stands for the C library's

void run_handler(void* kept) {
  const Handler handler = *static_cast<Handler*>(kept);
  destroy(static_cast<Handler*>(kept));
  learn(&kList, reinterpret_cast<const void*>(handler.function));
  handler.function(handler.argument);
}

}  // namespace

// atexit() comes here, too.
HEDDLE_INTERPOSE int __cxa_atexit(void (*function)(void*), void* argument, void* library) {
  publish(&kList, HEDDLE_HERE);
  return REAL(__cxa_atexit)(run_handler, create<Handler>(function, argument), library);
}

}  // namespace heddle::runtime
