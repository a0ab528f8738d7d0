// deadlock: threads that can each wait for a lock another of them holds, all forever.
//
// A report means: the run took locks in a cyclic order, in different threads, with no gate lock around them
// and no fork, join, barrier, semaphore, future or call_once between them (deadlock_search.h has the
// definition). Strength predicted: another schedule of this run's operations surely deadlocks. Potential:
// nothing known prevents it, see Doubt. No report means: no schedule of this run's operations ends with
// threads waiting for each other's locks. Waiting in a join, at a barrier or a semaphore is not looked at,
// nor are one thread's attempts to lock against itself. (Deadlocks that happen in a running program:
// standstill.h.) Method: Goodlock (Havelund 2000; Agarwal, Wang & Stoller 2005) with reader locks,
// incrementally. Cost: O(1) per lock event, two or three hash lookups, when the thread did the same before
// since its last synchronization; a search when it is new and its locks lie on a cycle. Other events:
// nothing.
//
// Why a cycle without doubt is a deadlock. Let each participant stop where it last held no lock before its
// acquisition, and take of everybody else what the forced order needs for that. That part of the trace, in
// its old order, is a schedule, and it leaves all locks free (Doubt::kPastHoldsLock excludes the rest; a
// participant needs nothing of another's final stretch, or their acquisitions would be ordered). From there
// run only the final stretches, which synchronize with nobody (kSynchronized), wait for every lock that they
// give back (kTried) and nest (kNotNested): what a participant holds at its acquisition it takes and keeps,
// and what it takes in between it gives back before it takes more to keep. If the stretches can be run to
// their ends, all wait in the cycle. They can be, in an order in which each lock is kept only after the
// others' passing uses of it, unless those uses demand a circular order: each of some participants passes
// through a lock that the next one keeps by then. Bring these to where they hold only what they keep (a
// smaller problem of the same form, since sets to keep go together) and run on: none can finish its passing
// use, so they wait for each other. Either way a deadlock among the participants.
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 1> kDeadlockRules = {{{
    "HD1003",
    "lock-order-cycle",
    "lock-order cycle",
    "Threads take locks in an order that lets each wait forever for a lock another one holds.",
}}};

std::unique_ptr<Checker> make_deadlock_checker(const CheckerContext& context);
// The same, forgetting what can no longer matter each time so many lock dependencies have come; tests set it
// low.
std::unique_ptr<Checker> make_deadlock_checker(const CheckerContext& context, std::size_t collect_every);

inline constexpr CheckerEntry kDeadlockChecker{
    "deadlock",
    "locks taken in a cyclic order, so that another schedule deadlocks (Goodlock)",
    true,
    kDeadlockRules,
    make_deadlock_checker,
    /*needs_whole_run=*/false};

}  // namespace heddle
