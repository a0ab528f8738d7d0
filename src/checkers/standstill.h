// What there is to say of threads that wait for each other now: a deadlock that has happened.
//
// It is the deadlock checker's rule, observed. The steps are those of the cycle that the checker predicts
// when the same threads get by each other, so the two are one finding.
#pragma once

#include <span>

#include "core/checker.h"
#include "core/waits.h"

namespace heddle {

// `circle`: each waits for the next one, the last one for the first (Waits::circle_of).
Finding standstill_finding(std::span<const BlockedThread> circle, const Names& names);

}  // namespace heddle
