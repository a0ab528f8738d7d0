// Holds back what no checker needs of a running program.
//
// A block that gives nothing back before it has taken all that it takes (locks, what others left in atomic
// variables, …) is in order whatever the others do: every way through it goes forward in time (two-phase
// locking; Lipton's R* N? L*). Programs made of such blocks have no cycle, and none need be looked for. Only
// a block that takes something after it gave something back can be on a cycle, and then all of the cycle
// happens between the first that it gave back and its end. So records are kept until it is clear whether a
// block that was then open is of that kind. If so, they go on to the checkers, and so does all else until the
// block ends; if not, they are dropped.
//
// What goes on whatever the blocks are: all that forces an order (threads, barriers, semaphores), locks taken
// in an order or at places not seen before, deterministic blocks, and from the first data race on everything.
//
// Where records were dropped the trace has a gap (kSkipped): blocks and locks that were open have ended, and
// no access before it may be compared with one after it, because what ordered them may be in the gap. No
// cycle reaches over a gap: a block that gave something back was not open then. docs/design/sieve.md has the
// argument, and tests/oracle/sieve_test.cpp holds it to that.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "live/channel_reader.h"
#include "runtime/channel.h"

namespace heddle {

class Sieve {
 public:
  using ToldRecord = ChannelReader::ToldRecord;

  // An operation that is no operation: something was left out before the next record.
  static constexpr uint8_t kSkipped = 255;

  enum class LetsThrough : uint8_t { kAll, kWhatMatters };
  struct Limits {
    std::size_t kept = 2048;    // records, and one a thread, before those that are not needed are dropped
    std::size_t passed = 1024;  // go on with one that matters though they are not needed: they explain it
    std::size_t crowded = 1U << 18;   // records that cannot be dropped yet; past these, all is let through …
    uint64_t crowded_for = 1U << 17;  // … for so many records
    uint64_t calm = 1U << 18;         // records without anything that matters, before accesses are not wanted
  };
  explicit Sieve(LetsThrough what) : Sieve(what, Limits()) {}
  Sieve(LetsThrough what, const Limits& limits)
      : limits_(limits), lets_all_through_(what == LetsThrough::kAll), next_trim_(limits.kept) {
    orders_.max_load_factor(0.8F);  // there may be many, and each is asked for once in a while
  }

  // Whether the next record goes on and there is nothing else to do about it, as with most of a program whose
  // data is followed; then it is added.
  bool passes_as_it_is(const ToldRecord& told);
  // The next record of the program; what is let through is appended to `passed`, in the program's order.
  void add(const ToldRecord& told, std::vector<ToldRecord>& passed);
  // Lets through what it keeps, too: somebody wants to know what the threads do.
  void pass_kept(std::vector<ToldRecord>& passed);

  // A lock that a thread has.
  struct Held {
    runtime::Record taken;
    uint64_t when;  // among all records
    uint64_t life;  // of the lock, or one in the same line of memory: another one in its place has another
    uint32_t depth = 1;
    bool is_shared;
  };
  // What a thread does now, by all that was told.
  struct Thread {
    std::vector<Held> held;        // in the order taken
    runtime::Record last = {};     // that it told
    runtime::Record awaited = {};  // how it began to wait; no operation: it does not
    uint64_t waits_since = 0;      // among all records

    bool waits() const { return awaited.what != 0; }

   private:
    friend class Sieve;
    enum class Phase : uint8_t {
      kOutside,  // of all blocks
      kTaking,   // in a block that has given nothing back
      kGiving,   // that has
      kMatters,  // and has taken something after that
    };
    struct Kept {
      uint64_t when;
      uint64_t since;  // when the thread got busy; outside of all blocks and without locks: now
      runtime::Record record;
      bool gives;  // something to others; last, so that the record is copied in whole words
    };

    bool is_busy() const { return blocks > 0 || !held.empty(); }
    auto kept_from(uint64_t time) const {
      return std::lower_bound(kept.begin(), kept.end(), time,
                              [](const Kept& one, uint64_t limit) { return one.when < limit; });
    }

    bool is_new = true;
    Phase phase = Phase::kOutside;
    uint32_t blocks = 0;  // that it is in
    // Of the present time in blocks or with locks:
    uint64_t busy_since = 0;
    uint64_t first_given = kNever;  // when it first gave something back
    uint64_t last_given = 0;        // in all
    bool is_crossed = false;        // locks were not given back in reverse order
    bool has_tried = false;         // it has given back one that it took without waiting for it
    bool has_met = false;           // it has waited for or signalled others while it had a lock
    uint64_t meetings = 0;          // how often others were met that force an order, in all
    std::vector<Kept> kept;
    // What the checkers believe it to be in and to have, if something was dropped since.
    uint32_t passed_blocks = 0;
    std::vector<Held> passed_held;
    bool has_gap = false;
  };
  // Null: the thread is not there, or no longer.
  const Thread* thread(uint32_t stream) const {
    return stream < threads_.size() ? threads_[stream].get() : nullptr;
  }

  // How often a thread began to wait.
  uint64_t waits() const { return waits_; }
  uint64_t records() const { return now_; }
  bool has_dropped() const { return has_dropped_; }
  // Whether a block may be broken by what threads did not tell while all was calm.
  bool has_doubt() const { return has_doubt_; }
  // Whether plain accesses should be told. They serve to explain: until there is something to explain the
  // program can save the effort.
  bool wants_accesses() const { return !may_become_calm() || now_ < limits_.calm; }
  // Whether all is in order so far. What is not, once, ends that for good.
  bool may_become_calm() const { return !lets_all_through_ && !has_mattered_; }

 private:
  using Record = runtime::Record;
  static constexpr uint64_t kNever = ~uint64_t{0};

  Thread& thread_of(uint32_t stream);
  bool lets_all_through() const {
    return lets_all_through_ || blocks_that_matter_ > 0 || now_ < crowded_until_;
  }
  // The thread does this. True: the checkers must see it.
  bool follow(Thread& thread, uint32_t stream, const Record& record);
  bool acquire(Thread& thread, uint32_t stream, const Record& record, bool is_shared);
  bool release(Thread& thread, const Record& record, bool is_shared);
  bool is_last_of_sync(Thread& thread, const Record& record);
  void end_wait(Thread& thread, const Record& record);
  bool take(Thread& thread);
  void give(Thread& thread);
  bool take_and_give(Thread& thread);
  void meet(Thread& thread);
  void begin_busy(Thread& thread);
  void end_busy(Thread& thread);
  void end_block(Thread& thread);
  void lose(uint32_t stream, uint64_t lock);
  uint64_t life_at(uint64_t address);
  bool is_new_order(const Thread& thread, uint32_t stream, const Held& taken);

  // Drops what is not needed.
  void drop();
  uint64_t needed_from() const;
  void pass(Thread& thread, const ToldRecord& told, std::vector<ToldRecord>& passed);
  void pass(const ToldRecord& told, std::vector<ToldRecord>& passed);
  void end_before_gap(uint32_t stream, Thread& thread, std::vector<ToldRecord>& passed);

  Limits limits_;
  bool lets_all_through_;      // for good
  bool has_mattered_ = false;  // a block
  bool has_doubt_ = false;
  uint64_t now_ = 0;  // how many records there were
  uint64_t waits_ = 0;
  uint64_t blocks_that_matter_ = 0;  // open ones
  uint64_t crowded_until_ = 0;
  std::size_t kept_ = 0;
  std::size_t next_trim_;  // of kept_
  bool has_dropped_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;  // by stream; null: not there
  std::vector<uint32_t> live_;                    // streams
  using Timed = std::pair<uint64_t, ToldRecord>;  // when among all records
  std::vector<Timed> frees_;                      // dropped, but after something that is kept
  std::vector<Timed> order_;                      // of what is passed
  tsl::robin_set<uint64_t, MixHash> orders_;      // locks taken while others were held: hashes of how
  static constexpr std::size_t kMostOrders = 1U << 17;
  struct Life {
    uint64_t number;
    bool is_passed = false;  // something of it: the checkers must hear of its end
  };
  tsl::robin_map<uint64_t, Life, MixHash> lives_;        // of locks and their kin, by address / 64
  tsl::robin_map<uint64_t, uint32_t, MixHash> holders_;  // who took a lock alone last, by address
  uint64_t last_life_ = 0;
};

}  // namespace heddle
