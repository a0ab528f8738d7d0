// A thread of the program, as the runtime knows it.
//
// The object of a thread that has ended serves a later one, which goes on counting its times. To all others
// the two are one thread, so the later one must be ordered after the other anyway: whoever creates it knows
// the other's end. Or nothing that the other one did is remembered any more.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "runtime/calm.h"
#include "runtime/channel.h"
#include "runtime/clock.h"
#include "runtime/groups.h"
#include "runtime/growing_array.h"
#include "runtime/held_locks.h"
#include "runtime/inside.h"
#include "runtime/layout.h"
#include "runtime/memory.h"
#include "runtime/numbers.h"
#include "runtime/open_blocks.h"
#include "runtime/page_runs.h"
#include "runtime/spans.h"
#include "runtime/spin_lock.h"
#include "runtime/stretches.h"
#include "runtime/sweep.h"

namespace heddle::runtime {

struct BarrierPhase;

// No word ever has this number with all bytes.
inline constexpr uint64_t kNoStamp = uint64_t{kAllBytes} << 32 | kAllBytes;

// An access of the thread, a series of them, the place of those that follow, or the beginning of a stretch.
struct Memo {
  // Address (44 bits), is it a write, size (17 bits), is it atomic, is it told; kNewStretch: a stretch.
  uint64_t what;
  // Of a stretch: its time. Above it stands, in words: of memory that is freed, its size; of a series of
  // words with gaps between them, from one to the next. Then the size is from the first to the last, and only
  // the first may have been told.
  uint64_t pc;

  static constexpr uint64_t kNewStretch = ~uint64_t{0};
  static constexpr uint64_t kMostBytes = (uint64_t{1} << 17) - 2;
  static constexpr uint64_t kIsFreed = kMostBytes + 1;  // in the place of the size
  static constexpr unsigned kCodeBits = 48;

  static Memo of_freed(const void* memory, uint64_t size, const void* pc) {
    return {(reinterpret_cast<uint64_t>(memory) & kAddressMask) | uint64_t{1} << 44 | kIsFreed << 45,
            size / 8 << kCodeBits | reinterpret_cast<uint64_t>(pc)};
  }
  // Where the thread does what comes after it in the stretch, until the next of these: the number of the call
  // stack, and the caller of a function that keeps no frame. No access fits it.
  static Memo of_place(uint32_t context, uint64_t caller) { return {context, caller}; }
  bool is_place() const { return what >> kAddressBits == 0; }
  uint64_t address() const { return what & kAddressMask; }
  bool writes() const { return (what >> 44 & 1) != 0; }
  bool frees() const { return (what >> 45 & ((uint64_t{1} << 17) - 1)) == kIsFreed; }
  uint64_t size() const { return frees() ? pc >> kCodeBits << 3 : what >> 45 & ((uint64_t{1} << 17) - 1); }
  uint64_t code() const { return pc & ((uint64_t{1} << kCodeBits) - 1); }
  uint64_t distance() const { return frees() ? 0 : pc >> kCodeBits << 3; }
  bool is_atomic() const { return (what >> 62 & 1) != 0; }
  bool is_told() const { return what >> 63 != 0; }

  // Whether it is about these bytes.
  bool overlaps(uint64_t begin, uint64_t bytes) const {
    if (address() >= begin + bytes || begin >= address() + size()) return false;
    if (distance() == 0 || begin < address()) return true;
    const uint64_t gone = (begin - address()) % distance();
    return gone < sizeof(uint64_t) || gone + bytes > distance();
  }
  // Of a series, the access that is about them.
  Memo at(uint64_t begin) const {
    if (distance() == 0) return *this;
    constexpr uint64_t kToldBit = uint64_t{1} << 63;
    constexpr uint64_t kSizeBits = kIsFreed << 45;
    uint64_t of_one = (what & ~(kAddressMask | kSizeBits)) | sizeof(uint64_t) << 45;
    uint64_t gone = begin < address() ? 0 : (begin - address()) / distance();
    if (begin >= address() && (begin - address()) % distance() >= sizeof(uint64_t)) ++gone;
    if (gone > 0) of_one &= ~kToldBit;
    return {of_one | (address() + gone * distance()), code()};
  }
};

// The state of 8 bytes of the program's memory (runtime/layout.h).
struct alignas(16) Cell {
  uint64_t read;
  uint64_t write;

  friend bool operator==(Cell, Cell) = default;
};

struct Sync;
struct CountedFrame;

struct Thread {
  // What the words for reads become when the present stretch reads: they depend on nothing else.
  struct Join {
    uint32_t from;
    uint32_t to;
    uint32_t stamp;  // of that stretch
  };
  static constexpr unsigned kJoinBits = 9;
  static constexpr unsigned kOrdered = 256;
  volatile uint64_t page = 0;  // it is changing the state of, plus 1 (runtime/ownership.h)
  uint32_t serial = 0;         // no other thread has it
  PageRuns taken_pages;        // away from their owners
  PageRuns first_pages;        // that nobody had
  Memo* memos = nullptr;
  uint32_t memo = 0;           // how many there were
  uint32_t first_memo = 0;     // of the present stretch
  uint32_t noted_context = 0;  // of the last Memo::of_place in the stretch; both 0: there was none
  uint64_t noted_caller = 0;
  HeddleThreadState* state = nullptr;  // null: it does not run
  Numbers numbers;                     // for its next stretches, groups and layers
  GroupMemory large_groups;            // that it made
  Join joins[1U << kJoinBits] = {};
  // What it made of late, to use again.
  struct Layer {
    Number upper;
    uint32_t below;
    Number number;
  };
  struct Joined {
    Number readers;
    Number stretch;
    Number group;
  };
  static constexpr unsigned kMade = 64;
  Layer layers[kMade] = {};
  Joined groups[kMade] = {};
  // Its last stretch in each open group (runtime/open_groups.h), by the group's place; 0: it is in none.
  static constexpr uint32_t kOpenGroups = 1U << 12;
  Number* open_groups = nullptr;
  // How often it joined other readers of a cell, of late.
  struct Joins {
    const Cell* cell;
    uint32_t count;
  };
  static constexpr unsigned kJoinedCells = 64;
  Joins joins_of_cells[kJoinedCells] = {};
  uint64_t atomics_stamp = 0;  // the stretch whose atomic operations have atomics_number
  Number atomics_number = 0;
  // What atomic operations of that stretch left as the state of cells: it stays that after another one.
  struct Noted {
    Cell cell;
    uint64_t stamp;
    unsigned part;  // of the cell: where it begins, and 8 times its size
    bool writes;
    friend bool operator==(const Noted&, const Noted&) = default;
  };
  static constexpr unsigned kNotedBits = 4;
  Noted noted[1U << kNotedBits] = {};
  // Parts of a cell have places of their own, and so have reads and writes: they come by turns.
  Noted& place_of(const Noted& like) {
    const uint64_t kind = like.part + (like.writes ? 1 : 0);
    return noted[((like.cell.read + like.cell.write + kind) * 0x9E3779B97F4A7C15) >> (64 - kNotedBits)];
  }
  uint64_t ordered[kOrdered] = {};  // words that are ordered before all this thread will do

  // Long series of accesses that it has made in its present stretch, the last few: what lies in one of them
  // is done. A stretch is known by its stamp and by `breaks`, since numbers are used again.
  struct Done {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t step = 0;  // 0: no gaps
    uint64_t size = 0;  // of an element, if there are gaps
    uint64_t stamp = 0;
    uint64_t breaks = 0;
    bool writes = false;
  };
  static constexpr unsigned kDone = 4;
  Done done[kDone] = {};
  unsigned next_done = 0;
  // The memory may begin a new life.
  void forget_done() {
    for (Done& series : done) series.stamp = 0;
  }

  // What it tells the monitor (runtime/tell.h).
  Chunk* chunk = nullptr;
  uint32_t chunk_index = 0;
  uint32_t filled = 0;        // of the chunk
  uint32_t stream = 0;        // no other thread has or had it
  uint32_t left_to_tell = 0;  // accesses of the present stretch

  // The last that it told, if that was an atomic load: the same once more, of the same value, is no news. A
  // thread that waits for a variable to change would tell of nothing else.
  struct Load {
    const void* variable = nullptr;
    uint32_t version = 0;  // of the variable
    uint32_t order = 0;
    const Chunk* chunk = nullptr;  // where it was told
    uint32_t filled = 0;
    friend bool operator==(const Load&, const Load&) = default;
  };
  Load last_load;
  bool has_announced_race = false;    // of the atomic operation that it is at
  volatile bool is_updating = false;  // at a relaxed read-modify-write (runtime/relaxed_updates.cpp)
  OpenBlocks blocks;
  HeldLocks held;
  SpinLock giving_lock;                   // for what follows, and for `blocks` while something was given
  Giving giving;                          // of the outermost block
  bool has_untold = false;                // it has left something untold, because all was calm
  bool holds_off_calm = false;            // the outermost block has used atomics, before the calm
  GrowingArray<bool> known_spans;         // it has told that it knows of (runtime/spans.h)
  bool has_told_waiting = false;          // the last that it told is that it waits
  uint64_t breaks = 0;                    // how often a stretch has ended, other than for a block
  uint32_t depth_outside_completion = 0;  // of the library operation whose completion function runs
  BarrierPhase* phase = nullptr;          // of the std::barrier it waits at
  uint32_t left_blocks = 0;               // while it waits for a condition_variable_any
  uint32_t disposals = 0;                 // of objects whose last reference it dropped, one in the other
  uint32_t left_for_disposal = 0;         // blocks
  GrowingArray<const void*> at_end;       // objects that others learn from when it ends
  uint32_t library_depth = 0;             // operations of the standard library it is in (runtime/blocks.h)
  uint32_t locks_together = 0;            // calls of std::lock that it is in
  uint32_t taken_together = 0;            // locks that it has taken in there

  // Of functions that say when they begin and end (runtime/frames.h).
  CountedFrame* counted_frames = nullptr;
  uint32_t counted_frame_count = 0;

  // Where it found the objects it used of late.
  struct KnownSync {
    static constexpr uint64_t kNotKnown = ~uint64_t{0};
    const void* address = nullptr;
    Sync* sync = nullptr;
    uint64_t learnt = kNotKnown;  // what was left there (Sync::left) when the thread had learnt all of it
    uint64_t added = kNotKnown;   // the thread's `knowledge` when all of it stood there
  };
  static constexpr unsigned kSyncBits = 8;
  KnownSync syncs[1U << kSyncBits] = {};
  Sync* locked_variable = nullptr;  // of the atomic operation that it is at

  // Atomic loads that it has done of late. To do one again, where nothing has changed since, is to do
  // nothing.
  struct KnownLoad {
    Load load;
    const Sync* sync = nullptr;
    uint64_t stamp = 0;  // of the stretch, and `breaks`
    uint64_t breaks = 0;
    uint32_t clock_changes = 0;
    Cell cell = {};  // what it left as the state of the memory
    friend bool operator==(const KnownLoad&, const KnownLoad&) = default;
  };
  static constexpr unsigned kLoads = 16;
  KnownLoad loads[kLoads] = {};
  KnownLoad& load_of(const void* variable) {
    return loads[reinterpret_cast<uint64_t>(variable) / 8 % kLoads];
  }
  bool is_load_repeated = false;  // the next one takes the variable's lock
  void forget_sync(const void* address) {
    for (KnownSync& known : syncs)
      if (known.address == address) known = {};
  }

  SpareMemory spare;

  uint32_t slot = 0;
  uint64_t time = 2;          // 0 is no time, and what it published last has the one before
  bool is_time_used = false;  // the state of some memory has it
  Clock clock;
  Clock beyond;                         // what it depends on and need not come after
  volatile uint32_t clock_changes = 0;  // twice for each; odd while it changes (runtime/common_knowledge.h)
  Gathered at_release_fence;            // what relaxed stores publish; empty without a release fence
  Gathered until_acquire_fence;  // what relaxed loads have seen, to be learnt at the next acquire fence
  uint64_t knowledge = 0;        // how often what it may have to publish has changed
  // The clock as last published, if it has more than Published::kFew times; null: it has changed since.
  // Whoever changes the clock says so by learnt().
  Times* shared = nullptr;
  Published end;  // what it knew then

  // Under threads_lock:
  Thread* next_ended = nullptr;    // when nobody holds this one
  uint32_t holders = 0;            // who creates it, itself, and who may join it
  bool has_name = false;           // or needs none
  bool is_remembered = true;       // the state of memory refers to its stretches
  bool has_ended = false;          // nothing more is done in its name
  const Thread* awaits = nullptr;  // whose end it waits for, for ever: it does nothing before that

  // Whether there is anything for forget_given() to forget.
  bool has_given() const { return giving.time != 0 || holds_off_calm; }

  static constexpr uint32_t kMemos = 1U << 12;

  // Numbers other than the present stretch's and group's may mean something else from now on.
  void forget_numbers() {
    for (Join& join : joins) join = {};
    for (Layer& layer : layers) layer = {};
    for (Joined& group : groups) group = {};
    for (uint64_t& words : ordered) words = 0;
    for (Noted& known : noted) known = {};
    atomics_stamp = 0;
    ++breaks;  // no block comes back to the stretch before it
  }

  void new_stretch() {
    heddle_thread_state.stamp = heddle_thread_state.group = kNoStamp;
    ++breaks;
  }

  [[gnu::always_inline]] Memo& next_memo() { return memos[memo++ % kMemos]; }

  [[gnu::always_inline]] Join& join_of(uint32_t read) {
    return joins[(read * 0x9E3779B9U) >> (32 - kJoinBits)];
  }
  // What is known to be ordered before all this thread will do, for words like this one.
  [[gnu::always_inline]] uint64_t& ordered_like(uint64_t words) { return ordered[words % kOrdered]; }
  [[gnu::always_inline]] bool is_before(Entry stretch) const {
    return stretch.slot() == slot || clock.covers(stretch.slot(), stretch.time());
  }

  // Of the one that ended before it, only what the state of memory refers to remains.
  void start_again() {
    forget_numbers();
    {
      const ClockChange change(*this);
      clock.clear();
    }
    beyond.clear();
    at_release_fence.clear();
    until_acquire_fence.clear();
    forget_shared();
    for (KnownSync& known : syncs) known = {};
    ++knowledge;
    is_time_used = true;  // the last may be that of a large table
    end = Published();
    has_name = false;
    is_remembered = true;
    has_ended = false;
  }

  Published publish();
  // The same to those who only depend on it: no later time than the last that was published.
  Published publish_again();
  // Whether publish() would say nothing that is not said there: the thread has done nothing since it last
  // published, and all that it has learnt is there.
  bool adds_nothing_to(const Published& known) const {
    return !needs_new_time() && known.covers(slot, last_time()) && beyond.is_empty() &&
           ((shared != nullptr && known.has(shared)) ||
            is_all_known([&](uint32_t other, uint64_t at) { return known.covers(other, at); }));
  }
  bool adds_nothing_to(const Gathered& known) const {
    // What others left themselves is no way back to what they gave (runtime/calm.h).
    const bool has_own = !any_has_given();
    return !needs_new_time() && known.own().covers(slot, last_time()) && beyond.is_empty() &&
           is_all_known([&](uint32_t other, uint64_t at) {
             return known.known().covers(other, at) || (has_own && known.own().covers(other, at));
           });
  }
  // Whether it may have to publish what it has not done when `knowledge` was the same.
  bool has_to_publish() const { return needs_new_time() || !beyond.is_empty(); }
  // True when it was news. `by` is who left it, if that is known.
  bool acquire(const Published& other, const Giver& by = {}) {
    const Inside inside;
    if (giving.time != 0 && by.stream != stream && other.tells_of(slot, giving.time)) giving.back_from = by;
    if (other.beyond() != nullptr) beyond.join_beyond(clock, *other.beyond());
    const ClockChange change(*this);
    return learnt(clock.join(other));
  }
  bool acquire(const Gathered& other) {
    const Inside inside;
    if (giving.time != 0 && other.is_known(slot, giving.time)) giving.back_from = {};
    beyond.join_beyond(clock, other.beyond());
    const ClockChange change(*this);
    const bool is_news = clock.join(other.known());
    return learnt(clock.join(other.own()) || is_news);
  }
  // The same where who came first makes no difference to anybody: the thread depends on none of it.
  template <class Left>
  bool acquire_beside(const Left& left) {
    blur_givers(*this, left);
    return acquire(left);
  }
  // Depends on what they left, and need not come after it.
  void depend_on(const Gathered& other) {
    const Inside inside;
    const ClockChange change(*this);
    if (giving.time != 0 && other.is_known(slot, giving.time)) giving.back_from = {};
    beyond.join_beyond(clock, other.known());
    beyond.join_beyond(clock, other.own());
    beyond.join_beyond(clock, other.beyond());
  }
  bool depends_on(uint32_t other, uint64_t other_time) const {
    return clock.covers(other, other_time) || beyond.covers(other, other_time);
  }

  // What the other one did is no longer anybody's. Whoever gets its place does something else.
  void outlive(Thread& other) {
    const ClockChange change(*this);
    learnt(clock.raise(other.slot, other.time++));
  }

 private:
  Times* share_beyond();

  // To one who knows the time that was published last. A large table has that time for its own.
  template <class Covers>
  bool is_all_known(Covers covers) const {
    if (shared != nullptr) return true;
    if (clock.size() > Published::kFew) return false;  // of many threads it is not worth looking
    for (uint32_t other = 0; other < clock.size(); ++other)
      if (other != slot && !covers(other, clock[other])) return false;
    return true;
  }

  // While it lives, others who look at the clock can tell that it changes.
  class ClockChange {
   public:
    explicit ClockChange(Thread& thread) : thread_(thread) {
      thread_.clock_changes = thread_.clock_changes + 1;
      asm volatile("" ::: "memory");
    }
    ~ClockChange() {
      asm volatile("" ::: "memory");
      thread_.clock_changes = thread_.clock_changes + 1;
    }
    ClockChange(const ClockChange&) = delete;
    ClockChange& operator=(const ClockChange&) = delete;

   private:
    Thread& thread_;
  };
  bool learnt(bool is_news) {
    if (is_news) forget_shared();
    knowledge += is_news ? 1 : 0;
    return is_news;
  }
  // What a block gives back first is known by its time (runtime/calm.h).
  bool needs_new_time() const { return is_time_used || blocks.any_matters(); }
  // What publish() said last.
  uint64_t last_time() const { return time - 1; }
  void forget_shared() {
    if (shared != nullptr) shared->release();
    shared = nullptr;
  }
};

// The calling thread; null before it is known and after it has ended.
extern __thread Thread* this_thread __attribute__((tls_model("initial-exec")));

// Whether what the calling thread does is the program's own doing.
inline bool is_acting() { return this_thread != nullptr && this_thread->library_depth == 0; }

extern bool is_parallel;  // there are several threads
// From now on accesses are checked: there is a second thread.
void become_parallel();
// The calling thread is the only one left, and all that was done is ordered before what it will do.
void become_serial();

// The others are gone: this is the child after a fork. Under threads_lock.
void become_only_thread();

void attach_main_thread();
// Held by its creator, itself and, if somebody may join it, that one. `creator` is null for the main thread.
Thread* make_thread(const Thread* creator, bool is_joinable);
void let_go(Thread* thread, uint32_t holders = 1);

// Its creator and itself say who it is, whichever comes first: the name is not looked at when the thread may
// have got rid of it.
void name_thread(Thread* thread, const pthread_t* name);
Thread* find_thread(pthread_t name);  // null: it is not known
void let_go_of_name(Thread* thread);  // nobody will ask for it any more

extern Thread** threads_by_serial;
extern uint32_t thread_count;
extern SpinLock threads_lock;  // no thread comes or goes

// Those that have ended too. Under the lock.
template <class Visit>
void for_each_thread(Visit visit) {
  for (uint32_t serial = 1; serial <= thread_count; ++serial) visit(*threads_by_serial[serial]);
}

// The thread enters and leaves a block; `stack` is where the frame of the function lies, or below it.
void begin_block(const HeddleBlock* block, const void* object, uint64_t stack, const void* pc);
void end_block(const HeddleBlock* block, const void* pc);

// A thread that waits for a condition lets others in on purpose: what it does before, to find out that it has
// to wait, and what it does after are judged apart. The result says what to enter again.
uint32_t leave_atomic_blocks(Thread& thread, const void* pc, bool only_by_default = false);
void enter_atomic_blocks_again(Thread& thread, uint32_t left, const void* pc);
// The same; a calm thread, which has told nothing of them, need not leave them (runtime/calm.h).
uint32_t leave_atomic_blocks_to_wait(Thread& thread, const void* pc);

// Nothing is told of a program that has only one thread. Of the blocks that such a program is in when it
// starts a thread, a deterministic one has that thread as a part, and an atomic one is one no longer once it
// has joined it; so their beginning is told then. Nobody asked for those that are atomic by default.
void tell_untold_blocks(Thread& thread, const void* pc);

void attach(Thread* thread);  // to the calling one
void detach();                // it is at its end

// Where it says how many accesses a thread tells of each of its stretches, at most: the monitor's word, or
// none.
extern const std::atomic<uint32_t>* told_per_stretch;
extern const std::atomic<uint32_t> nothing_told;
extern bool tells_all_of_stretch;
// Nothing that was done before makes an access not worth telling: each is a stretch of its own.
extern bool tells_every_access;

// The thread is not at a page.
[[gnu::always_inline]] inline uint64_t begin_stretch(Thread& thread) {
  if (thread.numbers.left == 0) {
    auto sweep = [] { sweep_if_due(); };
    keep_registers(sweep);
  }
  const Number number = take(thread.numbers);
  entries[number] = Entry::stretch(thread.slot, thread.time);
  thread.is_time_used = true;
  thread.first_memo = thread.memo;
  Memo& memo = thread.next_memo();
  memo.what = Memo::kNewStretch;
  memo.pc = thread.time;
  thread.noted_context = 0;
  thread.noted_caller = 0;
  thread.left_to_tell = told_per_stretch->load(std::memory_order_relaxed);
  const uint64_t stamp = twice(kAllBytes | number);
  // What it does in the stretch is before all it does after that. No other stretch gets the number before a
  // sweep, which makes all threads forget what is ordered.
  thread.ordered_like(stamp) = stamp;
  return heddle_thread_state.stamp = stamp;
}

}  // namespace heddle::runtime
