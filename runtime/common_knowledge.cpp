#include "runtime/common_knowledge.h"

#include <algorithm>

#include "runtime/interpose/signals.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constexpr uint64_t kEverything = ~uint64_t{0};

// What the thread knows, by slot. False: it is about to learn more.
bool look_at_clock(const Thread& thread, uint64_t* times, uint32_t count) {
  const uint32_t before = thread.clock_changes;
  asm volatile("" ::: "memory");
  for (uint32_t slot = 0; slot < count; ++slot) times[slot] = std::max(times[slot], thread.clock[slot]);
  asm volatile("" ::: "memory");
  return before % 2 == 0 && before == thread.clock_changes;
}

// What it will know before it does anything: of one that waits for the end of another, what that one knows.
bool look_at_next(const Thread& thread, uint64_t* times, uint32_t count) {
  times[thread.slot] = kEverything;
  const bool does_nothing_else = !handles_signals();
  const Thread* known = &thread;
  for (uint32_t i = 0; i < count; ++i) {
    if (!look_at_clock(*known, times, count)) return false;
    if (known->awaits == nullptr || !does_nothing_else) return true;
    known = known->awaits;
    if (known->has_ended) return true;
    times[known->slot] = std::max(times[known->slot], __atomic_load_n(&known->time, __ATOMIC_RELAXED) - 1);
  }
  return true;  // they wait for each other
}

}  // namespace

CommonKnowledge::CommonKnowledge() {
  // The memory of a small clock stays readable when the clock outgrows it.
  const uint32_t count = thread_count;
  if (count > kMostThreads) return;
  std::fill_n(known_, count, kEverything);
  for_each_thread([&](const Thread& thread) {
    if (thread.has_ended) return;
    uint64_t times[kMostThreads] = {};
    const bool is_seen = look_at_next(thread, times, count);
    for (uint32_t slot = 0; slot < count; ++slot)
      known_[slot] = std::min(known_[slot], is_seen ? times[slot] : 0);
  });
}

bool CommonKnowledge::covers_number(Number number) const {
  const Entry entry = entries[number];
  switch (entry.kind()) {
    case Entry::Kind::kStretch:
    case Entry::Kind::kAtomics: return covers_stretch(entry);
    case Entry::Kind::kGroup:
      if (entry.is_open()) return false;  // who reads it joins it all the time
      for (uint32_t i = 0; i < entry.member_count(); ++i)
        if (!covers_stretch(entries[entry.member(i)])) return false;
      return true;
    case Entry::Kind::kLayer:
      return covers_number(entry.upper()) && (number_of(entry.below()) == 0 || covers(entry.below()));
  }
  return false;
}

}  // namespace heddle::runtime
