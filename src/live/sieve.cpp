#include "live/sieve.h"

#include <algorithm>
#include <utility>

#include "live/by_address.h"
#include "trace/event.h"

namespace heddle {

namespace {

constexpr unsigned kLineBits = 6;  // of an address: lines of 64 bytes

// One that the program did not tell.
runtime::Record made_up(uint8_t operation, uint64_t address = 0) {
  runtime::Record record = {};
  record.what = runtime::Record::pack(operation, 0, address);
  return record;
}
runtime::Record made_up(Operation operation, uint64_t address = 0) {
  return made_up(static_cast<uint8_t>(operation), address);
}

uint64_t place_of(const runtime::Record& record) {
  return mix(record.pc ^ mix(record.caller ^ uint64_t{record.context} << 32));
}

}  // namespace

static bool is_plain(uint8_t operation) {
  return operation == static_cast<uint8_t>(Operation::kRead) ||
         operation == static_cast<uint8_t>(Operation::kWrite) ||
         operation == static_cast<uint8_t>(Operation::kAssign) ||
         operation == static_cast<uint8_t>(Operation::kBranch) || operation == runtime::kToldSeries ||
         operation == runtime::kToldSeriesWords;
}

Sieve::Thread& Sieve::thread_of(uint32_t stream) {
  if (stream >= threads_.size())
    threads_.resize(std::max<std::size_t>(stream + std::size_t{1}, threads_.size() * 2));
  std::unique_ptr<Thread>& thread = threads_[stream];
  if (thread == nullptr) {
    thread = std::make_unique<Thread>();
    live_.push_back(stream);
  }
  return *thread;
}

bool Sieve::passes_as_it_is(const ToldRecord& told) {
  if (!lets_all_through_ || !is_plain(told.record.operation())) return false;
  Thread& thread = thread_of(told.stream);
  if (thread.is_new || thread.waits() || thread.is_busy()) return false;
  ++now_;
  if (told.record.operation() != runtime::kToldSeriesWords) thread.last = told.record;
  return true;
}

void Sieve::add(const ToldRecord& told, std::vector<ToldRecord>& passed) {
  if (passes_as_it_is(told)) return passed.push_back(told);
  const Record& record = told.record;
  Thread& thread = thread_of(told.stream);
  ++now_;
  switch (record.operation()) {
    case runtime::kToldNothing: return;
    case runtime::kToldModule: passed.push_back(told); return;
    case runtime::kToldWaiting:
      thread.awaited = record;
      thread.waits_since = now_;
      ++waits_;
      return;
    case runtime::kToldGaveUp: thread.awaited = {}; return;
    default: break;
  }
  if (!runtime::is_told_of_calm(record.operation())) {
    if (record.operation() != runtime::kToldSeriesWords) thread.last = record;
    if (thread.waits()) end_wait(thread, record);
  }

  const bool is_first = std::exchange(thread.is_new, false);  // a thread is met before it is waited for
  if (lets_all_through()) {
    follow(thread, told.stream, record);
    pass(thread, told, passed);
  } else {
    if (thread.kept.empty() && !thread.has_gap) {
      thread.passed_blocks = thread.blocks;
      thread.passed_held = thread.held;
    }
    const uint64_t before = thread.is_busy() ? thread.busy_since : now_;
    if (follow(thread, told.stream, record) || is_first || lets_all_through()) {
      pass_kept(passed);
      pass(thread, told, passed);
    } else {
      const uint64_t since = thread.is_busy() ? std::min(before, thread.busy_since) : before;
      thread.kept.push_back({now_, since, record, thread.last_given == now_});
      if (++kept_ >= next_trim_) drop();
      if (lets_all_through()) pass_kept(passed);
    }
  }
  if (record.operation() == static_cast<uint8_t>(Operation::kThreadEnd)) {
    if (thread.phase == Thread::Phase::kMatters) --blocks_that_matter_;
    threads_[told.stream].reset();
    live_.erase(std::find(live_.begin(), live_.end(), told.stream));
  }
}

// As core/waits.h has it: what a signal's handler does meanwhile ends no wait for a lock.
void Sieve::end_wait(Thread& thread, const Record& record) {
  const bool is_for_lock = thread.awaited.waits_for() == runtime::kForLock ||
                           thread.awaited.waits_for() == runtime::kForSharedLock;
  const auto operation = static_cast<Operation>(record.operation());
  const bool acquires = operation == Operation::kAcquire || operation == Operation::kAcquireShared;
  if (!is_for_lock || (acquires && record.address() == thread.awaited.address())) thread.awaited = {};
}

bool Sieve::follow(Thread& thread, uint32_t stream, const Record& record) {
  switch (record.operation()) {
    case runtime::kToldFree: return is_last_of_sync(thread, record);
    case runtime::kToldCalmIsOver: return has_mattered_ = true;
    case runtime::kToldSpan: give(thread); return true;
    case runtime::kToldKnowsSpan: return take(thread);
    case runtime::kToldCameBack: return true;
    case runtime::kToldDoubt: has_doubt_ = true; return false;
    case runtime::kToldRaceEarlier:
    case runtime::kToldRace:
    case runtime::kToldRaceFree:
    case runtime::kToldConstruct:
    case runtime::kToldUnfollowed: return lets_all_through_ = true;
    default: break;
  }
  if (record.operation() >= kStoredOperations) return false;
  switch (static_cast<Operation>(record.operation())) {
    case Operation::kRead:
    case Operation::kWrite: return false;
    case Operation::kAtomicRead:
    case Operation::kAtomicWrite:
    case Operation::kAtomicUpdate:
    case Operation::kAtomicCompareFail: return take_and_give(thread);
    case Operation::kSync:
      if (record.extra == 0) return take_and_give(thread);
      life_at(record.address());
      take_and_give(thread);
      meet(thread);
      return true;
    case Operation::kAcquire: return acquire(thread, stream, record, false);
    case Operation::kAcquireShared: return acquire(thread, stream, record, true);
    case Operation::kRelease: return release(thread, record, false);
    case Operation::kReleaseShared: return release(thread, record, true);
    case Operation::kLeave:
    case Operation::kWait: life_at(record.address()); [[fallthrough]];
    case Operation::kThreadBegin:
    case Operation::kJoin:
      take(thread);
      meet(thread);
      return true;
    case Operation::kArrive:
    case Operation::kPost: life_at(record.address()); [[fallthrough]];
    case Operation::kThreadEnd:
    case Operation::kFork:
      give(thread);
      meet(thread);
      return true;
    case Operation::kWake: thread.has_met |= !thread.held.empty(); return false;
    case Operation::kBeginAtomic:
      begin_busy(thread);
      if (thread.blocks++ == 0) thread.phase = Thread::Phase::kTaking;
      return false;
    case Operation::kBeginDeterministic:
      begin_busy(thread);
      ++thread.blocks;
      return lets_all_through_ = true;
    case Operation::kEnd: end_block(thread); return false;
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kLook:
    case Operation::kTouch:
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop:
    case Operation::kAlive:
    case Operation::kFocus: return lets_all_through_ = true;
    case Operation::kNotify:
    case Operation::kFence:
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
    case Operation::kNested: return false;
  }
  return false;
}

bool Sieve::take_and_give(Thread& thread) {
  const bool matters = take(thread);
  give(thread);
  return matters;
}

// True: the block it is in has begun to matter.
bool Sieve::take(Thread& thread) {
  if (thread.phase != Thread::Phase::kGiving) return false;
  thread.phase = Thread::Phase::kMatters;
  has_mattered_ = true;
  ++blocks_that_matter_;
  return true;
}

void Sieve::give(Thread& thread) {
  if (thread.phase == Thread::Phase::kTaking) thread.phase = Thread::Phase::kGiving;
  if (thread.is_busy()) thread.first_given = std::min(thread.first_given, now_);
  thread.last_given = now_;
}

// Others are met: in every schedule, at this place of the thread (checkers/forced_order.h).
void Sieve::meet(Thread& thread) {
  ++thread.meetings;
  thread.has_met |= !thread.held.empty();
}

void Sieve::begin_busy(Thread& thread) {
  if (!thread.is_busy()) thread.busy_since = now_;
}

void Sieve::end_busy(Thread& thread) {
  if (thread.held.empty()) thread.is_crossed = thread.has_tried = thread.has_met = false;
  if (!thread.is_busy()) thread.first_given = kNever;
}

void Sieve::end_block(Thread& thread) {
  if (thread.blocks == 0) return;
  if (--thread.blocks > 0) return;
  if (thread.phase == Thread::Phase::kMatters) --blocks_that_matter_;
  thread.phase = Thread::Phase::kOutside;
  end_busy(thread);
}

bool Sieve::acquire(Thread& thread, uint32_t stream, const Record& record, bool is_shared) {
  for (Held& held : thread.held)
    if (held.taken.address() == record.address() && held.is_shared == is_shared) {
      ++held.depth;
      return false;
    }
  if (!is_shared) {
    uint32_t& holder = holders_.try_emplace(record.address(), stream).first.value();
    // Somebody gave it back unseen.
    if (const uint32_t before = std::exchange(holder, stream); before != stream)
      lose(before, record.address());
  }
  bool matters = take(thread);
  const Held taken{record, now_, life_at(record.address()), 1, is_shared};
  if (!thread.held.empty()) matters |= is_new_order(thread, stream, taken);
  begin_busy(thread);
  thread.held.push_back(taken);
  return matters;
}

bool Sieve::release(Thread& thread, const Record& record, bool is_shared) {
  const auto held = std::find_if(thread.held.rbegin(), thread.held.rend(), [&](const Held& one) {
    return one.taken.address() == record.address() && one.is_shared == is_shared;
  });
  if (held == thread.held.rend()) {
    // It was taken unseen, or by another thread, which has it no longer.
    if (const auto holder = holders_.find(record.address()); holder != holders_.end())
      lose(holder->second, record.address());
    const bool matters = take(thread);
    give(thread);
    return matters;
  }
  if (--held->depth > 0) return false;
  give(thread);
  if (held != thread.held.rbegin()) thread.is_crossed = true;
  thread.has_tried |= held->taken.extra != 0;
  thread.held.erase(std::next(held).base());
  end_busy(thread);
  return false;
}

// The thread has the lock no longer, if it had it: as if it had given it back just now.
void Sieve::lose(uint32_t stream, uint64_t lock) {
  if (stream >= threads_.size() || threads_[stream] == nullptr) return;
  Thread& thread = *threads_[stream];
  const auto held = std::find_if(thread.held.begin(), thread.held.end(), [&](const Held& one) {
    return one.taken.address() == lock && !one.is_shared;
  });
  if (held == thread.held.end()) return;
  give(thread);
  thread.held.erase(held);
  end_busy(thread);
}

uint64_t Sieve::life_at(uint64_t address) {
  const auto [entry, is_new] = lives_.try_emplace(address >> kLineBits, Life{last_life_ + 1});
  if (is_new) ++last_life_;
  return entry->second.number;
}

// Whether the deadlock checker has not seen the thread take this lock so: from the same places, with the same
// locks, with the same doubts, in the same order forced by others.
bool Sieve::is_new_order(const Thread& thread, uint32_t stream, const Held& taken) {
  const auto add = [](uint64_t hash, const Held& held) {
    const uint64_t lock = mix(held.taken.address() << 1 | static_cast<uint64_t>(held.is_shared));
    return mix(hash ^ mix(lock ^ held.life) ^ place_of(held.taken));
  };
  uint64_t hash = mix(mix(thread.meetings) ^ (uint64_t{stream} << 4 | (thread.has_tried ? 8U : 0U) |
                                              (taken.taken.extra != 0 ? 4U : 0U) |
                                              (thread.is_crossed ? 2U : 0U) | (thread.has_met ? 1U : 0U)));
  for (const Held& held : thread.held) hash = add(hash, held);
  if (orders_.size() >= kMostOrders) orders_.clear();  // they are told once more
  return orders_.insert(add(hash, taken)).second;
}

// Whether a lock or its like that the checkers know lies in the memory that begins a new life: what comes in
// its place is another.
bool Sieve::is_last_of_sync(Thread& thread, const Record& record) {
  const uint64_t begin = record.address();
  const uint64_t end = begin + std::max<uint64_t>(record.name, 1);
  std::erase_if(thread.held, [&](const Held& held) {
    return held.taken.address() >= begin && held.taken.address() < end;
  });
  end_busy(thread);
  const uint64_t first = begin >> kLineBits;
  const uint64_t last = (end - 1) >> kLineBits;
  bool are_there = false;
  bool are_known = false;
  const auto end_life = [&](auto entry) {
    are_there = true;
    are_known |= entry->second.is_passed;
    return lives_.erase(entry);
  };
  if (last - first < lives_.size()) {
    for (uint64_t line = first; line <= last; ++line)
      if (const auto entry = lives_.find(line); entry != lives_.end()) end_life(entry);
  } else {
    for (auto entry = lives_.begin(); entry != lives_.end();)
      entry = entry->first >= first && entry->first <= last ? end_life(entry) : std::next(entry);
  }
  if (are_there) forget_in(holders_, begin, end);
  return are_known;
}

// Everything is, from the first that a thread gave to others while it was busy, should it take something
// before it is no longer. And threads are let through from where they got busy.
uint64_t Sieve::needed_from() const {
  uint64_t needed = kNever;
  for (const uint32_t stream : live_) needed = std::min(needed, threads_[stream]->first_given);
  for (bool is_settled = false; !is_settled;) {
    is_settled = true;
    for (const uint32_t stream : live_) {
      const Thread& thread = *threads_[stream];
      const auto end = thread.kept_from(needed);
      if (end == thread.kept.end() || end->since >= needed) continue;
      const auto given =
          std::find_if(thread.kept_from(end->since), end, [](const Thread::Kept& one) { return one.gives; });
      if (given == end) continue;
      needed = given->when;
      is_settled = false;
    }
  }
  return needed;
}

void Sieve::drop() {
  const uint64_t needed = needed_from();
  uint64_t oldest = kNever;  // of what is kept
  for (const uint32_t stream : live_) {
    Thread& thread = *threads_[stream];
    uint64_t own = thread.is_busy() ? std::min(needed, thread.busy_since) : needed;
    if (const auto next = thread.kept_from(needed); next != thread.kept.end())
      own = std::min(own, next->since);
    const auto end = thread.kept_from(own);
    if (end != thread.kept.begin()) {
      for (auto dropped = thread.kept.begin(); dropped != end; ++dropped)
        if (dropped->record.operation() == runtime::kToldFree)
          frees_.push_back({dropped->when, {stream, dropped->record}});
      kept_ -= static_cast<std::size_t>(end - thread.kept.begin());
      thread.kept.erase(thread.kept.begin(), end);
      thread.has_gap = has_dropped_ = true;
    }
    if (!thread.kept.empty()) oldest = std::min(oldest, thread.kept.front().when);
  }
  // Memory that a busy thread has accessed since.
  std::erase_if(frees_, [&](const auto& free) { return free.first < oldest; });
  next_trim_ = kept_ + limits_.kept + live_.size();  // to look at all threads takes time, too
  if (kept_ + frees_.size() > limits_.crowded) crowded_until_ = now_ + limits_.crowded_for;
}

// What the checkers have seen of a busy thread is like what it gave to others: from then on everything is
// needed until it is no longer busy, so that there is no gap in what it does.
void Sieve::pass(Thread& thread, const ToldRecord& told, std::vector<ToldRecord>& passed) {
  pass(told, passed);
  if (thread.is_busy()) thread.first_given = std::min(thread.first_given, now_);
}

void Sieve::pass(const ToldRecord& told, std::vector<ToldRecord>& passed) {
  passed.push_back(told);
  if (lets_all_through_) return;
  // One that has ended meanwhile is looked for in vain: its end is kept as well, and comes after this.
  if (const auto life = lives_.find(told.record.address() >> kLineBits); life != lives_.end())
    life.value().is_passed = true;
}

void Sieve::pass_kept(std::vector<ToldRecord>& passed) {
  if (!lets_all_through_ && kept_ > limits_.passed) drop();
  uint32_t after_gap = 0;  // a thread that goes on there, plus 1
  order_.swap(frees_);
  frees_.clear();
  for (const uint32_t stream : live_) {
    Thread& thread = *threads_[stream];
    if (std::exchange(thread.has_gap, false)) {
      end_before_gap(stream, thread, passed);
      after_gap = stream + 1;
    }
    for (const Thread::Kept& kept : thread.kept) order_.push_back({kept.when, {stream, kept.record}});
    if (!thread.kept.empty() && thread.is_busy()) thread.first_given = std::min(thread.first_given, now_);
    thread.kept.clear();
  }
  if (after_gap != 0) passed.push_back({after_gap - 1, made_up(kSkipped)});
  std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [when, told] : order_) pass(told, passed);
  order_.clear();
  kept_ = 0;
  next_trim_ = limits_.kept;
}

// What the checkers have seen begin, and not end, has ended in the gap: records are dropped only up to where
// a thread is in no block and has no lock.
void Sieve::end_before_gap(uint32_t stream, Thread& thread, std::vector<ToldRecord>& passed) {
  for (; thread.passed_blocks > 0; --thread.passed_blocks)
    passed.push_back({stream, made_up(Operation::kEnd)});
  for (; !thread.passed_held.empty(); thread.passed_held.pop_back()) {
    const Held& held = thread.passed_held.back();
    const auto operation = held.is_shared ? Operation::kReleaseShared : Operation::kRelease;
    for (uint32_t i = 0; i < held.depth; ++i)
      passed.push_back({stream, made_up(operation, held.taken.address())});
  }
}

}  // namespace heddle
