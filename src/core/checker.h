// A checker: it sees the events of a trace in order and adds what is wrong to Findings.
//
// Events come in batches, so that one virtual call serves thousands of events; inside, a checker runs a plain
// loop with a switch over Operation that has no default (the compiler names the forgotten case).
// Operation::kNested never matters. Ids in events are dense, see trace/names.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/finding.h"
#include "core/sequential_run.h"
#include "trace/event.h"
#include "trace/names.h"

namespace heddle {

enum class Granularity : uint8_t { kField, kObject };

// How atomicity and determinism search for cycles (checkers/transaction_order.h).
enum class Engine : uint8_t {
  kAuto,   // decide with the clock engine; when it finds something, let the graph engine explain it
  kGraph,  // the graph engine decides and explains
  kClock,  // the clock engine decides; a report says where, not why
};

enum class RaceFilter : uint8_t {
  kAuto,  // in front of the clock engine, not in front of the graph engine, whose reports name plain accesses
  kOn,
  kOff,
};

// How reduction decides that an access is race-free (checkers/predictive/movers.h).
enum class RaceFreedom : uint8_t {
  kPairwise,    // it shares a lock with every rival
  kCommonLock,  // one lock is held at every access of the variable: coarser
};

// What a user can set about checkers. Each field says which checker reads it.
struct CheckerOptions {
  Granularity granularity = Granularity::kField;  // lockset: one candidate set per variable or per object
  uint64_t budget = 1'000'000;                    // searches: steps before a checker answers "undecided"
  Engine engine = Engine::kAuto;                  // atomicity, determinism
  RaceFilter race_filter = RaceFilter::kAuto;  // atomicity, determinism: leave out race-free plain accesses
  RaceFreedom race_freedom = RaceFreedom::kPairwise;  // reduction
  // atomicity, determinism: events kept (16 bytes each, 24 with data) so that what is found near the end of
  // the trace is explained without reading it again
  std::size_t recent_events = std::size_t{1} << 18;
};

struct CheckerContext {
  const Names& names;  // grows while the trace is read; covers every id seen so far
  Findings& findings;
  const CheckerOptions& options;
  bool can_be_read_again = true;  // the trace: false for a pipe
  bool is_live = false;           // the trace is a running program: what is found is to be told at once
  // determinism: atomicity's findings, when it works for that checker too (checkers/registry.h); else null
  Findings* of_atomicity = nullptr;
  // blocks: told now and then what part of a search is done, from 0 to 1; may be empty
  std::function<void(double part)> on_search = {};
};

// What a checker's silence is worth.
struct Coverage {
  bool undecided = false;     // a budget ran out before the question was answered
  std::string note;           // what was not covered, in a sentence; empty: everything was
  bool is_applicable = true;  // false: the trace has nothing that the checker is about
  std::optional<SequentialRun> sequential_run = {};  // ndseq
};

class Checker {
 public:
  virtual ~Checker() = default;

  virtual void process(const EventBatch& batch) = 0;
  // The trace has ended; anything to say only then is said now.
  virtual void finish() {}
  virtual Coverage coverage() const { return {}; }

  // A checker may leave it at the decision that something is wrong. Then, after finish(), the trace is read
  // again from its start for the explainer, which adds the findings. `again` is the context of that reading.
  virtual bool has_more_to_explain() const { return false; }
  virtual std::unique_ptr<Checker> explainer(const CheckerContext& /*again*/) const { return nullptr; }
  // An explainer that has seen all it needs: the rest of the trace need not be read again.
  virtual bool has_seen_enough() const { return false; }
};

inline std::vector<Coverage> coverage_of(std::span<const std::unique_ptr<Checker>> checkers) {
  std::vector<Coverage> covered;
  for (const std::unique_ptr<Checker>& checker : checkers) covered.push_back(checker->coverage());
  return covered;
}

// How a checker presents itself to the command line. checkers/registry.cpp lists them all.
struct CheckerEntry {
  std::string_view name;   // "race"
  std::string_view brief;  // one line for --help
  bool by_default;  // run when the user names no checkers: what it reports is real, or says *potential*
  std::span<const Rule> rules;  // what it can report
  std::unique_ptr<Checker> (*make)(const CheckerContext& context);
  // False: of a running program, what live/sieve.h lets through is enough, and numbers of locks may come to
  // stand for others (EventBatch::ended_locks).
  bool needs_whole_run = true;
};

// "wrote balance", "acquired mu": an operation as a report says it.
std::string operation_phrase(const Event& event, const Names& names);

// A step of an argument from an event; frames, thread and wording filled in.
Step make_step(const Event& event, EventIndex index, const Names& names);

}  // namespace heddle
