// Programs close descriptors that they have not opened: all of them, when they become daemons. The one that
// leads to the monitor does not exist for them; who wants its number gets it, and it moves.
#include <unistd.h>

#include <cerrno>

#include "runtime/connection.h"
#include "runtime/interpose/real.h"
#include "runtime/system_calls.h"

namespace heddle::runtime {

namespace {

constexpr int kNone = -1;

// The monitor's, if it is among these; else kNone.
int own_among(unsigned first, unsigned last) {
  const int own = own_descriptor();
  return own != kNone && first <= static_cast<unsigned>(own) && static_cast<unsigned>(own) <= last ? own
                                                                                                   : kNone;
}

// False: `wanted` is ours, and there is no other for us.
bool make_way(int wanted) {
  if (wanted < 0 || wanted != own_descriptor() || move_own_descriptor()) return true;
  errno = EBUSY;
  return false;
}

}  // namespace

HEDDLE_INTERPOSE int close(int descriptor) {
  if (descriptor < 0 || descriptor != own_descriptor()) return REAL(close)(descriptor);
  errno = EBADF;
  return -1;
}

HEDDLE_INTERPOSE int close_range(unsigned first, unsigned last, int flags) noexcept {
  const int own = own_among(first, last);
  if (own == kNone) return REAL(close_range)(first, last, flags);
  const auto before = static_cast<unsigned>(own) - 1;
  const auto after = static_cast<unsigned>(own) + 1;
  if (first <= before && own > 0)
    if (const int result = REAL(close_range)(first, before, flags); result != 0) return result;
  return after <= last ? REAL(close_range)(after, last, flags) : 0;
}

HEDDLE_INTERPOSE void closefrom(int lowest) noexcept {
  const auto first = static_cast<unsigned>(lowest < 0 ? 0 : lowest);
  const int own = own_among(first, ~0U);
  if (own == kNone) return REAL(closefrom)(lowest);
  for (unsigned descriptor = first; descriptor < static_cast<unsigned>(own); ++descriptor)
    system_call(SYS_close, descriptor);  // closefrom() is no cancellation point
  REAL(closefrom)(own + 1);
}

HEDDLE_INTERPOSE int dup2(int from, int to) noexcept {
  return from == to || make_way(to) ? REAL(dup2)(from, to) : -1;
}
HEDDLE_INTERPOSE int dup3(int from, int to, int flags) noexcept {
  return from == to || make_way(to) ? REAL(dup3)(from, to, flags) : -1;
}

}  // namespace heddle::runtime
