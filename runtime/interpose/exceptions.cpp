// Exceptions that several threads share (std::exception_ptr). Each of them may drop its reference, and
// whoever drops the last one destroys the exception, after all that the others did with it. The library
// counts references in code of its own.
//
// Nearly all exceptions have one reference: then nobody is there to tell, and it takes a look at the count.
#include "runtime/interpose/exceptions.h"

#include <cxxabi.h>

#include <atomic>

#include "runtime/interpose/handed_on.h"
#include "runtime/interpose/real.h"
#include "runtime/spin_lock.h"

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the names are the library's
extern "C" {
void __cxa_end_catch();
void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void*) noexcept;  // std::exception_ptr::_M_release
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace heddle::runtime {

namespace {

// What stands in front of the exception's object in libstdc++, since GCC 4.5 (libsupc++/unwind-cxx.h): the
// count of references, then what throwing it takes.
constexpr std::size_t kHeader = 112;
constexpr std::size_t kCount = kHeader + 16;
constexpr std::size_t kClass = 80;  // in the header: who made it
constexpr uint64_t kIsOfGcc = 0x474E5543432B2B00;
constexpr uint64_t kIsThrownAgain = 1;  // by rethrow_exception: the header begins with the object's address

// Who drops a reference that is not the last. Held while the library does so, which runs nothing of the
// program's: at most it frees what throwing the exception again took.
constinit SpinLock lock;
constinit std::atomic<bool> any_is_shared{false};
__thread bool is_dropping = false;  // the calling thread: the library may come here from there

// The object of the exception that the calling thread has caught last; null: libstdc++ does not know it.
const char* caught() {
  const auto* const globals = reinterpret_cast<const char* const*>(abi::__cxa_get_globals());
  const char* const header = globals == nullptr ? nullptr : *globals;
  if (header == nullptr) return nullptr;
  const uint64_t made_by = *reinterpret_cast<const uint64_t*>(header + kClass);
  if (made_by == (kIsOfGcc | kIsThrownAgain)) return *reinterpret_cast<const char* const*>(header);
  return made_by == kIsOfGcc ? header + kHeader : nullptr;
}

bool is_shared(const char* object) {
  return __atomic_load_n(reinterpret_cast<const int*>(object - kCount), __ATOMIC_RELAXED) > 1;
}

// `drop` gives up a reference, or keeps it after all. As long as there are others it destroys nothing: they
// cannot be dropped meanwhile. Else nobody is left who could do anything with the exception.
template <class Drop>
void dropping(const char* object, const void* pc, Drop drop) {
  if (object == nullptr || !is_acting() || is_dropping) return drop();
  if (is_shared(object)) {
    const Inside inside;
    const Locked locked(lock);
    if (is_shared(object)) {
      any_is_shared.store(true, std::memory_order_relaxed);
      publish(object, pc);
      learn(object, pc);  // the count is changed by one instruction, which does both
      is_dropping = true;
      drop();
      is_dropping = false;
      return;
    }
  }
  if (any_is_shared.load(std::memory_order_relaxed)) learn(object, pc);
  drop();
}

}  // namespace

void unlock_exceptions() { lock.unlock(); }

HEDDLE_INTERPOSE void __cxa_end_catch() {
  dropping(caught(), HEDDLE_HERE, [] { REAL(__cxa_end_catch)(); });
}

// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming): likewise
HEDDLE_INTERPOSE void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void* pointer) noexcept {
  dropping(*static_cast<const char**>(pointer), HEDDLE_HERE,
           [&] { REAL(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(pointer); });
}

}  // namespace heddle::runtime
