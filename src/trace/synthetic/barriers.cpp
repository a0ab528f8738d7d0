// A matrix solved in rounds: each worker rewrites its own rows; a barrier; all read the pivot rows of one of
// them; a barrier. Variables that many threads read and one rewrites are the dear case of race detection.
#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

class Barriers : public Shape {
 public:
  Barriers(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random),
        code_(options, random, names),
        update_(code_.add_block("update", options.block_length, random, names)),
        scan_(code_.add_block("scan", options.block_length, random, names)),
        workers_(options.threads),
        rows_{0, options.variables},
        rounds_(options.threads) {
    update_.writes = ~uint64_t{0};
    barrier_ = names.table(Space::kBarrier).intern("round");
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    // The first to begin a round pays for all: a worker that were missing would leave the others waiting.
    if (rounds_[worker] == paid_rounds_) {
      if (!budget.take(uint64_t{workers_} * (8 + update_.accesses + scan_.accesses))) return Plan::kDone;
      ++paid_rounds_;
    }
    const auto pivot = static_cast<uint32_t>(rounds_[worker]++ % workers_);
    script.restart(update_.site);
    script.add(Operation::kBeginAtomic, update_.name);
    update_.add_unlocked(script, rows_.share(worker, workers_), random_);
    script.add(Operation::kEnd, update_.name);
    add_barrier(script);
    script.continue_at(scan_.site);
    script.add(Operation::kBeginAtomic, scan_.name);
    scan_.add_reads(script, rows_.share(pivot, workers_), random_);
    script.add(Operation::kEnd, scan_.name);
    add_barrier(script);
    return Plan::kReady;
  }

 private:
  void add_barrier(Script& script) const {
    script.add(Operation::kArrive, barrier_);
    script.add(Operation::kLeave, barrier_);
  }

  Random& random_;
  Code code_;
  Block update_;
  Block scan_;
  uint32_t workers_;
  uint32_t barrier_ = 0;
  Range rows_;                    // shared out among the workers
  std::vector<uint64_t> rounds_;  // by worker: rounds begun
  uint64_t paid_rounds_ = 0;      // rounds taken from the budget
};

}  // namespace

std::unique_ptr<Shape> make_barriers(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<Barriers>(options, random, names);
}

}  // namespace heddle::synthetic
