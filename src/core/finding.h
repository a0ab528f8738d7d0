// What a checker has to say, as data. Text, JSON, SARIF and HTML render the same Finding.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"

namespace heddle {

// A kind of defect Heddle reports. The id and name never change once released; docs/rules/<id>.md explains
// it.
struct Rule {
  std::string_view id;     // "HD1001"
  std::string_view name;   // "data-race"
  std::string_view title;  // "data race", how a report begins
  std::string_view brief;  // one sentence for lists and SARIF
};

// The strongest first.
enum class Strength : uint8_t {
  kObserved,   // happened in this run
  kPredicted,  // happens in some other order of this run's operations that the synchronization allows
  kPotential,  // a discipline was broken; may be a false alarm
};
std::string_view to_string(Strength strength);

// One operation of the argument.
struct Step {
  EventIndex event = 0;
  std::string thread;
  std::string operation;            // as the text format writes it: "w(balance)"
  std::string phrase;               // the same in words: "wrote balance"
  std::vector<std::string> frames;  // call stack, innermost first; may be empty
  std::string block;                // innermost open block at the event; empty: none
  bool block_is_known = false;      // else annotate_blocks() finds it
  std::string held;                 // locks held, in words: "holding mu", "holding no lock"; empty: not told
  std::string because;              // why this step matters to the argument; may be empty
  std::optional<uint64_t> transaction;  // the same number for steps of one transaction; none: not told
};

// How long a thread was in a block or a task or held a lock. A picture of the finding draws it around the
// steps that lie in it.
struct Span {
  enum class Kind : uint8_t { kBlock, kTask, kLock, kSharedLock };

  Kind kind = Kind::kBlock;
  std::string thread;
  std::string name;      // of the block, the task or the lock
  EventIndex from = 0;   // the event that began it, took the lock, or forked the thread inside it
  EventIndex to = 0;     // the event that ended it
  bool is_open = false;  // it has not ended or the end is not known: `to` is the last step in it
};

std::string_view to_string(Span::Kind kind);

// A write that waits in its thread's store buffer until another operation has happened.
struct Delay {
  Step write;
  Step until;
};

// Why something in the steps is so: operations that lead from it to the reason, in that order.
struct Chain {
  std::string title;  // what it shows, a phrase: "why T1's read of x matters"
  std::vector<Step> steps;
};

struct Finding {
  const Rule* rule = nullptr;
  std::string_view checker;
  Strength strength = Strength::kObserved;
  std::string message;               // what is wrong, one sentence without a full stop, names the subject
  std::vector<std::string> blocks;   // names of refuted blocks (atomicity, determinism); else empty
  std::vector<std::string> threads;  // threads taking part, in order of their first step
  std::vector<Step> steps;           // the argument, in its own order
  std::vector<Step> schedule;        // predicted: the whole order of operations that shows it; else empty
  std::vector<Delay> delays;         // tso, robustness: the writes that must wait for it to happen
  std::vector<Step> fences;          // tso, robustness: a full fence after each of these removes it
  std::vector<Span> spans;           // the blocks and locks around the steps, as far as known
  std::vector<Chain> chains;         // what stands behind single steps; shown after the conclusion
  EventIndex certain_at = 0;         // the first event at which the defect was certain
  std::string conclusion;            // what follows from the steps, a full sentence; may be empty
  std::string advice;                // what to do next, without "fix:"; may be empty
  std::string input;                 // the trace it was found in (set by the pipeline's caller)
  std::string
      fingerprint;  // stable between runs: free of addresses, array indices, thread names and event indices
  uint64_t count = 1;  // how often the same finding occurred
};

// Sixteen hexadecimal digits from the rule and the steps' operations and frames, whatever the steps' order.
std::string compute_fingerprint(const Finding& finding);

// The findings of one run, each once, in order of first occurrence.
class Findings {
 public:
  // At most `limit` different findings are kept; further ones are only counted.
  explicit Findings(std::size_t limit = 1000) : limit_(limit) {}

  // Fills in fingerprint and threads, and keeps the finding unless an equal one (same fingerprint) is there
  // that is as strong: a stronger one takes the place of a weaker, so that the order in which they come does
  // not matter. The result stands for it in again().
  std::size_t add(Finding finding);
  // The finding occurred once more: cheap enough for a checker to call on every occurrence.
  void again(std::size_t handle);

  std::vector<Finding>& list() { return list_; }
  const std::vector<Finding>& list() const { return list_; }
  uint64_t left_out() const { return left_out_; }

 private:
  std::size_t limit_;
  std::vector<Finding> list_;
  tsl::robin_map<std::string, std::size_t> by_fingerprint_;  // index into list_
  uint64_t left_out_ = 0;                                    // occurrences of findings past the limit
};

}  // namespace heddle
