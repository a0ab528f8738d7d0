// blocks and reduction against all schedules of all subsets of a small run's transactions (ALGORITHMS §4):
//   - blocks reports a violation iff some subset has a schedule that no serial order explains (Thm 5.2
//   to 5.4),
//   - the run as a whole, with all that its threads did, can come to that schedule iff it says predicted,
//   - the schedule it shows is one, keeps the locks, and as a trace of its own (--emit-witness) is a
//   violation
//     that `atomicity` observes, whatever forces the order,
//   - reduction never misses what there is (Thm 4.1), and blocks reports nothing that reduction does not.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "interleaving_oracle.h"
#include "report/witness_trace.h"
#include "support/choices.h"
#include "support/read_events.h"
#include "support/table.h"

namespace heddle::test {
namespace {

struct Limits {
  TraceShape shape;
  std::size_t most_events = 12;
};

std::string small_trace(const Limits& limits) {
  std::vector<Choice> choices = *rc::gen::scale(1.0, any_choices());
  if (choices.size() > limits.most_events) choices.resize(limits.most_events);
  return random_trace(choices, limits.shape);
}

std::vector<Finding> predicted(const std::string& trace, const CheckerOptions& options = {}) {
  std::vector<Finding> findings = check_text("blocks", trace, options);
  std::erase_if(findings, [](const Finding& finding) { return finding.rule->id != "HD2003"; });
  return findings;
}

// Whether a thread arrives at a barrier again before it has left it. The text format does not number phases:
// in another order its second arrival can fall into the first one's.
bool arrives_twice(const std::vector<Event>& events) {
  std::map<std::pair<ThreadId, uint32_t>, int> inside;
  for (const Event& event : events) {
    if (event.operation == Operation::kLeave) --inside[{event.thread, event.object}];
    if (event.operation == Operation::kArrive && ++inside[{event.thread, event.object}] > 1) return true;
  }
  return false;
}

void expect_real_schedule(const Finding& finding, const std::vector<Event>& events,
                          const oracle::Interleavings& all) {
  RC_ASSERT(!finding.schedule.empty());
  std::vector<std::size_t> order;
  for (const Step& step : finding.schedule) {
    const auto is = [&](const char* start) { return step.operation.starts_with(start); };
    const bool is_around = (is("acq") || is("rel")) && step.block.empty();  // not of the transaction
    if (!is("begin") && !is("end") && !is_around) order.push_back(step.event);
  }
  // Operations that force the order need not be of a transaction.
  std::set<std::size_t> inside;
  for (const oracle::Transaction& transaction : all.transactions())
    inside.insert(transaction.events.begin(), transaction.events.end());
  std::erase_if(order, [&](std::size_t i) { return !inside.contains(i); });
  std::vector<std::size_t> once;
  for (const std::size_t i : order)
    if (std::find(once.begin(), once.end(), i) == once.end()) once.push_back(i);
  // All that is shown, of transactions or not.
  std::vector<std::size_t> shown;
  for (const Step& step : finding.schedule)
    if (!step.operation.starts_with("begin") && !step.operation.starts_with("end") &&
        !step.because.starts_with("the trace ends before this"))
      shown.push_back(step.event);
  const std::string witness = witness_trace(finding);
  RC_LOG() << "the schedule:\n" << witness;
  RC_ASSERT(all.is_violation(once));
  RC_TAG(finding.strength == Strength::kPredicted ? "predicted" : "potential");
  RC_ASSERT(all.is_reachable(shown) == (finding.strength == Strength::kPredicted));
  RC_ASSERT(events.size() > once.back());
  // A view that no serial order gives is a cycle of conflicts, the forced order among them.
  if (!arrives_twice(events)) RC_ASSERT(!check_text("atomicity", witness).empty());
}

void check_laws(const std::string& trace) {
  const std::vector<Event> events = read_events(trace);
  const oracle::Interleavings all(events);
  RC_PRE(all.transactions().size() <= 6);
  const std::optional<bool> atomic = all.is_atomic(1'000);
  RC_PRE(atomic.has_value());
  RC_LOG() << trace;
  const std::vector<Finding> findings = predicted(trace);
  const bool reducible = check_text("reduction", trace).empty();
  RC_TAG(*atomic ? (reducible ? "atomic, reducible" : "atomic, not reducible") : "violation");
  RC_ASSERT(findings.empty() == *atomic);
  for (const Finding& finding : findings) expect_real_schedule(finding, events, all);
  if (!*atomic) RC_ASSERT(!reducible);
  CheckerOptions coarse;
  coarse.race_freedom = RaceFreedom::kCommonLock;
  if (!reducible) RC_ASSERT(!check_text("reduction", trace, coarse).empty());
}

// Sets of transactions that ran one after the other: a run in which nothing went wrong, whatever they are.
// Most are blocks of several operations.
struct SetShape {
  unsigned threads = 2;
  unsigned transactions = 2;  // most of a thread
  unsigned operations = 5;    // most of a block
  unsigned variables = 2;
  unsigned locks = 2;
  bool nested = false;    // locks are released in reverse order
  bool shared = false;    // reader locks, too
  bool updates = false;   // read-modify-writes, too
  bool forks = false;     // T0 forks the last thread in one of its transactions, and may join it
  bool posts = false;     // semaphores are posted and waited for, in transactions and between them
  bool sections = false;  // critical sections outside of transactions, which are in nobody's way but a run's
};

class TransactionSet {
 public:
  explicit TransactionSet(const SetShape& shape) : shape_(shape) {}

  std::string make() {
    const unsigned rounds = pick(shape_.transactions) + 1;
    const unsigned acting = shape_.forks ? shape_.threads - 1 : shape_.threads;
    for (unsigned round = 0; round < rounds; ++round)
      for (unsigned thread = 0; thread < acting; ++thread) transaction(thread);
    if (is_forked_) {
      for (unsigned i = 0; i <= pick(2); ++i) transaction(shape_.threads - 1);
      wants_join_ = pick(2) == 0;
    }
    if (is_forked_ || pick(2) == 0) transaction(0);
    return text_;
  }

 private:
  static unsigned pick(unsigned count) {
    return count == 0
               ? 0
               : static_cast<unsigned>(*rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0U, count)));
  }
  void line(unsigned thread, const std::string& operation) {
    text_ += fmt::format("T{}|{}|row {}\n", thread, operation, row_++);
  }
  void access(unsigned thread) {
    const unsigned variable = pick(shape_.variables);
    const unsigned kind = pick(shape_.updates ? 5 : 4);
    line(thread, kind < 2   ? fmt::format("r(x{})", variable)
                 : kind < 4 ? fmt::format("w(x{})", variable)
                            : fmt::format("armw(x{},relaxed)", variable));
  }
  void take(unsigned thread) {
    const unsigned lock = pick(shape_.locks);
    for (const auto& [held, shared] : held_)
      if (held == lock) return;
    const bool shared = shape_.shared && pick(2) == 0;
    held_.emplace_back(lock, shared);
    line(thread, fmt::format("{}(m{})", shared ? "acq_sh" : "acq", lock));
  }
  void give_back(unsigned thread) {
    if (held_.empty()) return;
    const std::size_t which = shape_.nested ? held_.size() - 1 : pick(static_cast<unsigned>(held_.size()));
    line(thread, fmt::format("{}(m{})", held_[which].second ? "rel_sh" : "rel", held_[which].first));
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  // A block, or an access; with a lock around it now and then.
  void transaction(unsigned thread) {
    if (shape_.sections && pick(2) == 0) section(thread);
    if (shape_.posts && pick(2) == 0) hand_over(thread);
    if (shape_.locks > 0 && pick(5) == 0) take(thread);
    if (pick(4) > 0) {
      line(thread, fmt::format("begin(b{})", row_));
      for (unsigned i = pick(shape_.operations) + 1; i > 0; --i) operation(thread);
      if (pick(4) > 0)
        while (!held_.empty()) give_back(thread);
      line(thread, "end");
    } else {
      operation(thread);
    }
    while (!held_.empty()) give_back(thread);
  }
  // A critical section that is part of no transaction, and what others wait for in it; not always ended
  // before the transaction begins.
  void section(unsigned thread) {
    take(thread);
    if (shape_.posts && pick(2) == 0) hand_over(thread);
    if (shape_.forks && thread == 0 && !is_forked_ && pick(2) == 0) fork();
    if (pick(3) == 0) take(thread);
    while (!held_.empty() && pick(4) > 0) give_back(thread);
  }
  void fork() {
    is_forked_ = true;
    line(0, fmt::format("fork(T{})", shape_.threads - 1));
  }
  void hand_over(unsigned thread) {
    const unsigned semaphore = pick(2);
    const bool waits = posted_[semaphore] > 0 && pick(2) == 0;
    posted_[semaphore] += waits ? -1 : 1;
    line(thread, fmt::format("{}(s{})", waits ? "wait" : "post", semaphore));
  }
  void operation(unsigned thread) {
    if (shape_.posts && pick(4) == 0) return hand_over(thread);
    if (shape_.forks && thread == 0 && !is_forked_ && pick(4) == 0) return fork();
    if (wants_join_ && thread == 0 && pick(2) == 0) {
      wants_join_ = false;
      return line(0, fmt::format("join(T{})", shape_.threads - 1));
    }
    const unsigned kind = pick(shape_.locks > 0 ? 5 : 3);
    if (kind == 3) return take(thread);
    if (kind == 4) return give_back(thread);
    access(thread);
  }

  SetShape shape_;
  std::string text_;
  unsigned row_ = 0;
  std::vector<std::pair<unsigned, bool>> held_;  // by the thread acting: lock, shared
  bool is_forked_ = false;
  bool wants_join_ = false;
  std::array<int, 2> posted_{};  // by semaphore: and not waited for
};

void check_set(const SetShape& shape) { check_laws(TransactionSet(shape).make()); }

TraceShape shape_of(unsigned threads, unsigned variables, unsigned locks) {
  TraceShape shape;
  shape.threads = threads;
  shape.variables = variables;
  shape.locks = locks;
  shape.barriers = 0;
  shape.semaphores = 0;
  shape.shared_locks = false;
  shape.recursive_locks = false;
  shape.atomics = false;
  shape.fork_join = false;
  shape.lives = false;
  shape.block_weight = 4;
  shape.deepest_block = 1;
  shape.unique_blocks = true;
  return shape;
}

RC_GTEST_PROP(PredictiveLaw, OneVariable, ()) { check_laws(small_trace({shape_of(2, 1, 1), 14})); }
RC_GTEST_PROP(PredictiveLaw, TwoVariables, ()) { check_laws(small_trace({shape_of(2, 2, 0), 11})); }
RC_GTEST_PROP(PredictiveLaw, TwoThreadsWithLocks, ()) { check_laws(small_trace({shape_of(2, 2, 2), 18})); }
RC_GTEST_PROP(PredictiveLaw, ThreeThreads, ()) { check_laws(small_trace({shape_of(3, 3, 1), 13})); }
RC_GTEST_PROP(PredictiveLaw, ForkAndJoin, ()) {
  TraceShape shape = shape_of(3, 2, 1);
  shape.fork_join = true;
  check_laws(small_trace({shape, 14}));
}
RC_GTEST_PROP(PredictiveLaw, Barriers, ()) {
  TraceShape shape = shape_of(3, 2, 0);
  shape.barriers = 1;
  check_laws(small_trace({shape, 16}));
}
RC_GTEST_PROP(PredictiveLaw, BarriersAndSemaphores, ()) {
  TraceShape shape = shape_of(2, 1, 1);
  shape.barriers = 2;
  shape.semaphores = 1;
  shape.fork_join = true;
  check_laws(small_trace({shape, 18}));
}
RC_GTEST_PROP(PredictiveLaw, Everything, ()) {
  TraceShape shape = shape_of(3, 2, 2);
  shape.fork_join = true;
  shape.barriers = 1;
  shape.semaphores = 1;
  shape.shared_locks = true;
  shape.atomics = true;
  shape.lives = true;
  shape.deepest_block = 2;
  check_laws(small_trace({shape, 16}));
}

RC_GTEST_PROP(PredictiveLaw, SetsOfOneVariable, ()) {
  check_set({.operations = 4, .variables = 1, .locks = 1});
}
RC_GTEST_PROP(PredictiveLaw, SetsOfTwoVariables, ()) {
  check_set({.transactions = 1, .operations = 6, .locks = 1});
}
RC_GTEST_PROP(PredictiveLaw, SetsWithPotentialDeadlock, ()) {
  check_set({.transactions = 1, .operations = 9, .nested = true});
}
RC_GTEST_PROP(PredictiveLaw, SetsWithAnyLocking, ()) {
  check_set({.transactions = 1, .operations = 9, .locks = 3, .shared = true, .updates = true});
}
RC_GTEST_PROP(PredictiveLaw, SetsOfThreeThreads, ()) {
  check_set({.threads = 3, .transactions = 1, .operations = 4, .variables = 3, .locks = 1});
}
RC_GTEST_PROP(PredictiveLaw, SetsOfThreeThreadsWithoutLocks, ()) {
  check_set({.threads = 3, .operations = 2, .variables = 4, .locks = 0});
}
RC_GTEST_PROP(PredictiveLaw, SetsOfFourThreads, ()) {
  check_set({.threads = 4, .transactions = 1, .operations = 2, .variables = 4, .locks = 0});
}
RC_GTEST_PROP(PredictiveLaw, SetsWithForks, ()) {
  check_set({.threads = 3, .transactions = 1, .operations = 5, .locks = 1, .updates = true, .forks = true});
}

RC_GTEST_PROP(PredictiveLaw, SetsBesideCriticalSections, ()) {
  check_set({.threads = 3,
             .transactions = 1,
             .operations = 3,
             .updates = true,
             .forks = true,
             .posts = true,
             .sections = true});
}

RC_GTEST_PROP(PredictiveLaw, SetsWithSemaphores, ()) {
  check_set({.threads = 3, .transactions = 2, .operations = 4, .locks = 1, .posts = true});
}

}  // namespace
}  // namespace heddle::test
