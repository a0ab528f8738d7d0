#include "runtime/spans.h"

#include <atomic>

#include "runtime/contexts.h"
#include "runtime/growing_array.h"
#include "runtime/relaxed_updates.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

// A block that was open at the end of the calm and had given something.
struct Span {
  const Thread* thread;
  uint32_t stream;  // of the thread
  uint64_t time;    // when it first gave something
  bool is_blurred;  // clocks may show more than what depends on that
};

// Made once, by who ends the calm. A way back to one that is open may go through one that has ended, so all
// count until all have ended.
GrowingArray<Span> spans;
constinit std::atomic<uint32_t> open_spans{0};
constinit std::atomic<bool> is_way_in_doubt{false};  // somebody may depend on one, or not

// Told by `thread` in the name of `other`.
void tell_for(Thread& thread, const Thread& other, const Told& told) {
  tell_as_it_is(thread, {.operation = kToldFor, .name = other.stream, .context = 0});
  tell_as_it_is(thread, told);
}

uint32_t what_was_given(const Giving& giving) {
  if (giving.operation == Operation::kReleaseShared) return kGaveLock | kGaveShared;
  return giving.operation == Operation::kRelease ? kGaveLock : 0;
}

// Under the other one's giving_lock.
void tell_span(Thread& thread, Thread& other) {
  other.blocks.tell_outer(other.giving.blocks,
                          [&](const OpenBlocks::Open& open) { tell_for(thread, other, told_begin(open)); });
  tell_for(thread, other,
           {.operation = kToldSpan,
            .address = other.giving.object,
            .pc = other.giving.pc,
            .extra = what_was_given(other.giving),
            .context = other.giving.context});
  other.giving.span = spans.size();
  spans.add() = {&other, other.stream, other.giving.time, other.giving.is_blurred};
  open_spans.fetch_add(1);
}

bool& is_known(Thread& thread, uint32_t span) {
  while (thread.known_spans.size() <= span) thread.known_spans.add() = false;
  return thread.known_spans[span];
}

}  // namespace

void end_calm(Thread& thread) {
  Channel* const to = channel;
  if (to == nullptr) return;
  const Inside inside;
  uint32_t state = to->calm.load();
  while (state == Channel::kCalm || state == Channel::kCalmShouldEnd) {
    if (!to->calm.compare_exchange_weak(state, Channel::kCalmEnds)) continue;
    if (!has_calm_begun.load()) {  // nothing is untold
      to->calm.store(Channel::kCalmIsOver);
      return;
    }
    wait_for_untold_updates(thread);
    tell_as_it_is(thread, {.operation = kToldCalmIsOver, .context = 0});
    // Who gives something from now on sees that the calm ends; who did before is found here. Threads that
    // come now are no longer calm.
    const uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_ACQUIRE);
    for (uint32_t serial = 1; serial <= count; ++serial) {
      Thread& other = *threads_by_serial[serial];
      const Locked locked(other.giving_lock);
      if (other.giving.time != 0) tell_span(thread, other);
    }
    to->calm.store(Channel::kCalmIsOver);
    return;
  }
  while (to->calm.load() == Channel::kCalmEnds) ::sched_yield();
}

void tell_known_spans(Thread& thread, const void* pc) {
  if (open_spans.load(std::memory_order_relaxed) == 0) return;
  for (uint32_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    if (span.stream == thread.stream || is_known(thread, i) ||
        !thread.depends_on(span.thread->slot, span.time))
      continue;
    is_known(thread, i) = true;
    if (__atomic_load_n(&span.is_blurred, __ATOMIC_RELAXED)) {
      is_way_in_doubt = true;
    } else {
      tell_as_it_is(thread, {.operation = kToldKnowsSpan, .pc = pc, .name = span.stream});
    }
  }
}

void tell_come_back(Thread& thread) {
  Giving& giving = thread.giving;
  if (giving.span == Giving::kNoSpan || giving.is_told) return;
  const bool has_come_back = giving.back_from.stream != Giver::kNobody;
  const bool is_blurred = __atomic_load_n(&spans[giving.span].is_blurred, __ATOMIC_RELAXED);
  if (is_way_in_doubt || (has_come_back && is_blurred)) return tell_doubt(thread);
  if (!has_come_back) return;
  giving.is_told = true;
  tell_as_it_is(thread, {.operation = kToldCameBack,
                         .address = giving.object,
                         .pc = giving.pc,
                         .extra = what_was_given(giving) | giving.back_from.context << kGivenBits,
                         .name = giving.back_from.stream,
                         .caller = reinterpret_cast<uint64_t>(giving.back_from.pc),
                         .context = giving.context});
}

bool any_open_span() { return open_spans.load() != 0; }

void end_span(Thread& thread) {
  if (thread.giving.span != Giving::kNoSpan) open_spans.fetch_sub(1);
}

void forget_spans() {
  spans.clear();
  open_spans = 0;
  has_calm_begun = is_way_in_doubt = false;
  for (Givers& part : givers) part.number = 0;
}

namespace {

template <class Left>
void blur(const Thread& thread, const Left& left) {
  if (!any_has_given()) return;
  const auto hears_of = [&](const Thread& other, uint64_t time) {
    if (&other == &thread) return left.is_known(other.slot, time);  // its own comes back to it
    return !thread.depends_on(other.slot, time) && left.tells_of(other.slot, time);
  };
  const Channel* const to = channel;
  if (to == nullptr) return;
  while (to->calm.load() == Channel::kCalmEnds) ::sched_yield();
  if (to->calm.load() == Channel::kCalmIsOver) {
    for (uint32_t i = 0; i < spans.size(); ++i)
      if (hears_of(*spans[i].thread, spans[i].time))
        __atomic_store_n(&spans[i].is_blurred, true, __ATOMIC_RELAXED);
    return;
  }
  const uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_ACQUIRE);
  for (uint32_t serial = 1; serial <= count; ++serial) {
    Thread& other = *threads_by_serial[serial];
    if (__atomic_load_n(&other.giving.time, __ATOMIC_RELAXED) == 0) continue;
    const Locked locked(other.giving_lock);
    Giving& giving = other.giving;
    if (giving.time != 0 && hears_of(other, giving.time)) giving.is_blurred = true;
  }
}

}  // namespace

void blur_givers(const Thread& thread, const Published& left) { blur(thread, left); }
void blur_givers(const Thread& thread, const Gathered& left) { blur(thread, left); }

void tell_doubt(Thread& thread) { tell_as_it_is(thread, {.operation = kToldDoubt, .context = 0}); }

}  // namespace heddle::runtime
