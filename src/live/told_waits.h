// Who holds which lock and who waits for what, by all that a program has told (live/sieve.h).
#pragma once

#include <functional>
#include <span>

#include "core/waits.h"
#include "live/sieve.h"
#include "trace/event.h"

namespace heddle {

// How the waits speak of places and objects.
struct WaitWords {
  std::function<SiteId(const runtime::Record&)> site_of;
  std::function<uint32_t(Space, const runtime::Record&, SiteId)> number_of;  // of locks, conditions, …
};

// `threads`: their ids, by stream; kNoId: not known.
Waits told_waits(const Sieve& sieve, std::span<const ThreadId> threads, const WaitWords& words);

}  // namespace heddle
