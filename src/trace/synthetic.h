// Traces made up by seed, for benchmarks and for trying Heddle out: any length, exact and repeatable.
//
// A main thread T0 forks the workers T1, T2, …, which run until the events are used up; then it joins them.
// A simulated scheduler interleaves the workers and makes them wait for locks and
// barriers as a real one would, so every trace is well formed. The same options give the same events on every
// machine. Memory does not depend on the number of events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/source.h"

namespace heddle {

// Every shape but kLateViolation is free of data races, lock-order cycles and atomicity violations.
enum class SyntheticShape : uint8_t {
  kTwoPhaseLocked,   // blocks take all their locks before they give one back
  kLateViolation,    // the same, with one violation among the last events, see SyntheticTrace::planted
  kLongLived,        // a few blocks stay open all the time, and every other block depends on one of them
  kFeeders,          // short blocks hand messages to one block that stays open all the time
  kManyThreads,      // mostly own data, some shared and never written, some behind locks
  kBarriers,         // arrays rewritten between barriers and read by all
  kLockFree,         // mostly own data, and one shared atomic a block; stores of it are fenced
  kOptimisticTasks,  // tasks with data flow: own work, and a commit of shared data that some try in vain
                     // first
};

struct SyntheticShapeInfo {
  SyntheticShape shape;
  std::string_view name;   // "two-phase-locked", as a user writes it
  std::string_view brief;  // one line for --help
};
std::span<const SyntheticShapeInfo> synthetic_shapes();
// The shape with this name. Throws InputError naming the known ones.
SyntheticShape find_synthetic_shape(std::string_view name);

struct SyntheticOptions {
  SyntheticShape shape = SyntheticShape::kTwoPhaseLocked;
  uint64_t seed = 1;
  uint64_t events = 1'000'000;  // in the whole trace, exactly
  uint32_t threads = 8;         // workers; the main thread comes on top
  uint32_t variables = 10'000;
  uint32_t locks = 0;          // 0: eight per worker
  uint32_t block_length = 12;  // mean number of accesses in a block
  uint32_t burst = 8;          // mean number of events between two switches of the thread
};

// The violation in a trace of shape kLateViolation: T1 reads the variable "late" inside a block, main writes
// it, T1 writes it; nothing orders main's write with the other two.
struct PlantedViolation {
  EventIndex read = 0;     // T1's read
  EventIndex race = 0;     // main's write: the first event that races, with `read`
  EventIndex closing = 0;  // T1's write: races with `race`, and closes the block's cycle
};

class SyntheticTrace : public TraceSource {
 public:
  // Throws InputError when the options cannot be met (fewer events than it takes to fork and join the
  // threads, …).
  explicit SyntheticTrace(const SyntheticOptions& options);
  ~SyntheticTrace() override;

  EventBatch next() override;
  const Names& names() const override;
  std::string where(EventIndex index) const override;
  double progress() const override;

  // Known from the start; nothing for other shapes.
  std::optional<PlantedViolation> planted() const;

 private:
  class Schedule;

  std::unique_ptr<Schedule> schedule_;
  std::vector<Event> events_;  // the latest batch
};

}  // namespace heddle
