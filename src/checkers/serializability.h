// The conflicts of a trace, as edges between its transactions (S0 §4, Fig. 5), and whether those close a
// cycle; with them the conflict freedom of transactions of several threads (checkers/conflict_freedom.h).
//
// Story = Since is the clock engine, Story = Told the graph engine (checkers/transaction_order.h). They see
// the same operations and the same edges; the graph engine also remembers the operations behind the edges and
// whose blocks are refuted.
//
// The race filter (S0 §5): plain accesses that race with nothing make no edges, because the synchronization
// that orders them already does; a racing pair makes the edge when its second access comes.
//
// Operations outside any block are transactions of their own. They are never held: all that matters of one is
// which open transactions come before it, and its thread carries that along (TransactionOrder::extend).
//
// Cost: O(1) per event plus that of the edges it makes; with the filter also that of RaceDetector.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "checkers/conflict_freedom.h"
#include "checkers/knowledge.h"
#include "checkers/story.h"
#include "checkers/transaction_order.h"
#include "core/barrier_phases.h"
#include "core/blocks.h"
#include "core/race_detector.h"
#include "trace/names.h"

namespace heddle {

// An operation as variables, locks and threads remember it.
template <class Story>
struct Mark;
template <>
struct Mark<Since> {
  TransactionHandle transaction;
};
template <>
struct Mark<Told> {
  TransactionHandle transaction;
  Op op;
  std::shared_ptr<const Knowledge> knowledge;  // of its thread, then
};

// A transaction that cannot be put into a serial order.
template <class Story>
struct Cycle {
  Op now;                         // the operation that closed it
  TransactionHandle transaction;  // of that operation
  Block root;                     // its outermost block
  std::vector<Block> around;      // the blocks the operation is in, innermost first
  Story story;                    // from the transaction back to it
  std::vector<Block> refuted;     // blocks that this proves not serializable by themselves, innermost first
  Story blame;                    // from the innermost of these back to it; each step happens after the last
};

template <class Story>
class Serializability {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_cycle(const Cycle<Story>& cycle) = 0;
    // Two operations of one transaction, by different threads. Without a story `earlier` may not be known;
    // then it is the same as `now`.
    virtual void on_conflict(TransactionHandle transaction, const Block& root, const Op& earlier,
                             const Op& now) = 0;
    // The transaction is over, at event `index`: no further cycle through its own operations.
    virtual void on_close(TransactionHandle transaction, EventIndex index) = 0;
  };

  struct Settings {
    bool race_filter = false;
    bool conflict_freedom = false;
  };

  Serializability(const Names& names, Settings settings, Listener& listener)
      : names_(names), settings_(settings), listener_(listener) {}

  void process(const EventBatch& batch);

  // Passes over events that are not to be judged. After them, restart() forgets all transactions and
  // conflicts, and process() judges what follows as if the trace began there; blocks begun earlier do not
  // count.
  void skim(const EventBatch& batch);
  void restart();
  // Goes on where the other one, which has only skimmed, is.
  void follow(const Serializability& skimmed);

  const LocksetTable& locksets() const { return locksets_; }

  // What RaceDetector asks of its owner.
  struct Access {
    Epoch epoch;
    Mark<Story> mark;
  };
  Access make_access(const Event& event, EventIndex index, Epoch epoch) {
    touch(event, index);
    return {epoch, mark(event.thread)};
  }
  bool still_now(const Access& access, ThreadId thread) const { return is_present(access.mark, thread); }
  void on_race(const Access& earlier, const Access& later, const Event& event);

 private:
  using Mark = heddle::Mark<Story>;

  struct Nothing {};
  struct Thread {
    bool inside = false;  // a transaction
    bool last_may_be_open =
        false;  // `last` is another's transaction, or one that outlives this thread's part
    // Inside: the transaction. Outside: a finished one that stands for all its thread has seen.
    TransactionHandle transaction;
    [[no_unique_address]] std::conditional_t<Story::kTold, Op, Nothing> last;  // the latest operation
    [[no_unique_address]] std::conditional_t<Story::kTold, std::shared_ptr<const Surroundings>, Nothing>
        around;  // of its operations; null: has changed
    [[no_unique_address]] std::conditional_t<Story::kTold, KnowledgeOfThread, Nothing> knowledge;
    [[no_unique_address]] std::conditional_t<Story::kTold, std::shared_ptr<const Knowledge>, Nothing>
        of_forker;  // what the forking operation knew, until the first operation
  };
  struct Transaction {
    uint32_t threads = 0;  // that may still add operations
    bool shared = false;   // has, or had, several threads
    EventIndex begin = 0;
  };
  // The latest operation of each thread that took part in something.
  struct Party {
    Epoch epoch;  // only its thread counts
    Mark mark;
  };
  class Parties {
   public:
    void put(ThreadId thread, const Mark& mark) { set_.put({Epoch(thread, 1), mark}); }
    void join(const Parties& other) {
      for (const Party& party : other.set_.entries()) set_.put(party);
    }
    void clear() { set_.clear(); }
    template <class Keep>
    void keep_if(Keep keep) {
      set_.drop_if([&](const Party& party) { return !keep(party); });
    }
    bool empty() const { return set_.empty(); }
    std::vector<Party>& entries() { return set_.entries(); }
    const std::vector<Party>& entries() const { return set_.entries(); }

   private:
    AccessSet<Party> set_;
  };
  struct Variable {
    Mark write;       // the latest
    Parties readers;  // since
  };
  struct Lock {
    Mark exclusive;  // the latest release
    Parties shared;  // shared releases since
  };

  template <class T>
  static T& at(std::vector<T>& items, uint32_t id) {
    if (id >= items.size()) items.resize(std::max<std::size_t>(id + std::size_t{1}, items.size() * 2));
    return items[id];
  }
  Transaction& transaction(TransactionHandle handle) { return at(transactions_, handle.index); }

  void end_lock(uint32_t lock);
  void cover_names();
  void on_event(const Event& event, EventIndex index);
  void on_access(const Event& event, EventIndex index);
  void on_filtered_access(const Event& event, EventIndex index);
  void on_begin(const Event& event, EventIndex index);
  void on_end(const Event& event, EventIndex index);
  void on_fork(const Event& event, EventIndex index);
  void on_join(const Event& event, EventIndex index);

  // An operation: start(), after() for each earlier one it conflicts with, done().
  void start(const Event& event, EventIndex index) {
    touch(event, index);
    now_ = op(event, index);
    fresh_ = false;
  }
  void after(const Mark& earlier);
  void after(const Parties& earlier) {
    for (const Party& party : earlier.entries()) after(party.mark);
  }
  // The same, and forgets those that nothing open comes before: semaphores remember many who never come back.
  void after_and_tidy(Parties& earlier) {
    after(earlier);
    earlier.keep_if([&](const Party& party) { return order_.exists(party.mark.transaction); });
  }
  Mark done();

  // Before any operation of a thread outside: its first one must not be mistaken for the one that forked it.
  void touch(const Event& event, EventIndex index) {
    Thread& thread = threads_[event.thread];
    if (thread.last_may_be_open) [[unlikely]]
      part_from_last(thread, event, index);
    if constexpr (Story::kTold) {
      learn_from_forker(thread, event, index);
      thread.last = op(event, index);
    }
  }
  Op op(const Event& event, EventIndex index) { return {index, event, surroundings(event.thread)}; }
  std::shared_ptr<const Surroundings> surroundings(ThreadId id);  // null without stories
  void surroundings_change(ThreadId id) {
    if constexpr (Story::kTold) threads_[id].around.reset();
  }
  void part_from_last(Thread& thread, const Event& event, EventIndex index);
  void learn_from_forker(Thread& thread, const Event& event, EventIndex index);
  // Of the edge from an earlier operation to the present one.
  Story story(const Mark& from) {
    if constexpr (Story::kTold) {
      return Story::of(from.op, now_);
    } else {
      const Thread& thread = threads_[now_.event.thread];
      Story story;
      if (thread.inside) story.first = transaction(thread.transaction).begin;
      if (order_.is_open(from.transaction))
        story.first = std::min(story.first, transaction(from.transaction).begin);
      return story;
    }
  }
  // The thread's latest operation.
  Mark mark(ThreadId id) {
    Thread& thread = threads_[id];
    if constexpr (Story::kTold) {
      // A thread that has done nothing yet stands for the operation that forked it.
      return {thread.transaction, thread.last,
              thread.of_forker != nullptr ? thread.of_forker : thread.knowledge.snapshot()};
    } else {
      return {thread.transaction};
    }
  }
  // Whether a further operation of the thread would leave the same mark, as far as order is concerned.
  bool is_present(const Mark& mark, ThreadId id) const {
    const Thread& thread = threads_[id];
    if (mark.transaction != thread.transaction || thread.last_may_be_open) return false;
    if constexpr (Story::kTold) {
      return thread.knowledge.is_current(mark.knowledge);
    } else {
      return true;
    }
  }
  const Block& root(ThreadId id) const { return blocks_[blocks_.outermost(blocks_.inner(id))]; }
  void blame(const Mark& earlier);
  // The present operation cannot be put into a serial order. Blame without a closed cycle is possible after
  // an earlier cycle, whose last edge was left out.
  bool has_cycle() const { return closes_cycle_ || !refuted_.empty(); }
  void hold(const Event& event);
  void stop(ThreadId id, EventIndex index);
  static void forget_what_it_knew(Thread& thread);
  void leave(TransactionHandle handle, EventIndex index);
  void check_conflict_freedom();
  void collect();

  const Names& names_;
  Settings settings_;
  Listener& listener_;
  Blocks blocks_;
  LocksetTable locksets_;
  HeldLocks held_{locksets_};  // only with stories
  TransactionOrder<Story> order_;
  ConflictFreedom conflict_freedom_;
  std::vector<Thread> threads_;            // all that have a name
  std::vector<Transaction> transactions_;  // by index of the handle; only of open ones
  std::vector<Variable> variables_;        // without filter: all; with it: only what atomics do
  std::vector<Lock> locks_;
  std::vector<Parties> semaphores_;  // posts
  std::vector<BarrierPhases<Parties>> barriers_;
  HappensBefore synchronization_;  // with filter
  RaceDetector<Access, Serializability> races_{synchronization_, *this};

  Op now_;              // the present operation
  bool fresh_ = false;  // its thread's transaction was made by this operation: nobody else has seen it
  bool closes_cycle_ = false;
  Cycle<Story> cycle_;            // of the present operation, if it closes one
  std::vector<BlockId> refuted_;  // the blocks of cycle_.refuted
};

}  // namespace heddle
