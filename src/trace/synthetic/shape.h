// What the workers of a synthetic trace do (synthetic.h says what such a trace is, synthetic.cpp when each
// acts).
//
// A shape hands out work a script at a time. It asks the budget for the events a script will cost before it
// plans it, so that the trace ends with every block closed and exactly as long as was asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "trace/names.h"
#include "trace/synthetic.h"

namespace heddle::synthetic {

// Consecutive variables.
struct Range {
  uint32_t first = 0;
  uint32_t count = 0;

  uint32_t pick(Random& random) const { return first + random.below(count); }
  // The share of worker `number` out of `workers`.
  Range share(uint32_t number, uint32_t workers) const {
    const uint32_t size = count / workers;
    return {first + number * size, size};
  }
};

// Cuts the variables into parts of at least one each.
class Division {
 public:
  explicit Division(uint32_t variables) : rest_{0, variables} {}

  Range take(uint32_t count) {
    const Range part{rest_.first, count < 1 ? 1 : count};
    rest_.first += part.count;
    rest_.count -= part.count;
    return part;
  }
  Range rest() const { return rest_; }

 private:
  Range rest_;  // not given out
};

// Events one thread will do next, in order.
class Script {
 public:
  explicit Script(ThreadId thread) : thread_(thread) {}

  // Empties it; the events to come stand on consecutive source lines from `site` on.
  void restart(SiteId site) {
    events_.clear();
    position_ = 0;
    site_ = site;
  }
  // The events to come stand on source lines from `site` on.
  void continue_at(SiteId site) { site_ = site; }
  void add(Operation operation, uint32_t object, MemoryOrder order = MemoryOrder::kPlain,
           uint32_t local = kNoId) {
    Event& event = events_.emplace_back();
    event.operation = operation;
    event.order = order;
    event.thread = thread_;
    event.object = object;
    event.local = local;
    event.site = site_++;
  }

  std::size_t size() const { return events_.size(); }
  bool done() const { return position_ == events_.size(); }
  const Event& current() const { return events_[position_]; }
  void advance() { ++position_; }

 private:
  ThreadId thread_;
  std::vector<Event> events_;
  std::size_t position_ = 0;  // events before it are in the trace
  SiteId site_ = 0;           // of the next event added
};

// Events that nobody has asked for yet.
class Budget {
 public:
  explicit Budget(uint64_t left) : left_(left) {}

  bool take(uint64_t count) {
    if (count > left_) return false;
    left_ -= count;
    return true;
  }
  uint64_t left() const { return left_; }

 private:
  uint64_t left_;
};

enum class Plan : uint8_t {
  kReady,  // the script has the thread's next events
  kWait,   // other threads must act first
  kDone,   // the thread does nothing more
};

class Shape {
 public:
  virtual ~Shape() = default;

  // What main does before it forks the workers.
  virtual void plan_main(Script&) {}
  // Worker `worker` (from 0) has done its earlier scripts. Once kDone has been the answer it is not asked
  // again.
  virtual Plan plan(uint32_t worker, Script& script, Budget& budget) = 0;
};

// Each takes its names from `names` and its variables from 0 to options.variables - 1; workers are threads 1,
// 2, ….
std::unique_ptr<Shape> make_two_phase_locked(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_long_lived(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_feeders(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_many_threads(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_barriers(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_lock_free(const SyntheticOptions& options, Random& random, Names& names);
std::unique_ptr<Shape> make_optimistic_tasks(const SyntheticOptions& options, Random& random, Names& names);

}  // namespace heddle::synthetic
