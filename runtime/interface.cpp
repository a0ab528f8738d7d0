// Whether the code that was loaded is built for this runtime.
#include "runtime/interface.h"

#include <dlfcn.h>

#include "runtime/message.h"
#include "runtime/put.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

const char* file_at(const void* address) {
  Dl_info found;
  return ::dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname : "?";
}

bool is_any_known = false;

[[noreturn]] void refuse(const void* code) {
  fail(
      "%s was built by another version of Heddle than its runtime, %s: they do not fit. Build all of the "
      "program again, with the heddle-clang++ that this runtime came with",
      file_at(code), file_at(reinterpret_cast<const void*>(&kInterface)));
}

}  // namespace

void refuse_unknown_code(const void* code) {
  if (!is_any_known) refuse(code);
}

}  // namespace heddle::runtime

extern "C" {

// From all code that is loaded, before anything else that it does.
__attribute__((visibility("default"))) void heddle_check_interface(uint32_t built_for) {
  heddle::runtime::is_any_known = true;
  if (built_for != heddle::runtime::kInterface) heddle::runtime::refuse(__builtin_return_address(0));
}

}  // extern "C"
