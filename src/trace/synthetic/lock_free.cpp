// What lock-free code does to store buffers: most accesses are to the worker's own data and wait in its
// buffer for a long time; each block has one access to an atomic that all share. A store to such an atomic is
// a plain mov, and a fence ends its block, so that it waits only while that block runs, but others may read
// and write the atomic meanwhile. One shared access a block keeps the blocks serializable with and without
// store buffers.
#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

class LockFree : public Shape {
 public:
  LockFree(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random), code_(options, random, names), workers_(options.threads) {
    Division division(options.variables);
    shared_ = division.take(std::max(2U, options.variables / 64));
    own_ = division.rest();
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    const Block& block = code_.pick(random_);
    const uint32_t choice = random_.below(8);
    const bool stores = choice < 3;
    const bool fences = stores || choice < 6;
    if (!budget.take(3 + block.accesses + (fences ? 1 : 0))) return Plan::kDone;
    const Range own = own_.share(worker, workers_);
    script.restart(block.site);
    script.add(Operation::kBeginAtomic, block.name);
    const uint32_t before = block.accesses / 2;
    for (uint32_t i = 0; i < before; ++i) script.add(block.access(i), own.pick(random_));
    if (stores) {
      script.add(Operation::kAtomicWrite, shared_.pick(random_), MemoryOrder::kRelease);
    } else if (choice == 3) {
      script.add(Operation::kAtomicUpdate, shared_.pick(random_), MemoryOrder::kAcqRel);
    } else {
      script.add(Operation::kAtomicRead, shared_.pick(random_), MemoryOrder::kAcquire);
    }
    for (uint32_t i = before; i < block.accesses; ++i) script.add(block.access(i), own.pick(random_));
    if (fences) script.add(Operation::kFence, kNoId, MemoryOrder::kSeqCst);
    script.add(Operation::kEnd, block.name);
    return Plan::kReady;
  }

 private:
  Random& random_;
  Code code_;
  uint32_t workers_;
  Range shared_;  // atomics
  Range own_;     // touched by one worker each
};

}  // namespace

std::unique_ptr<Shape> make_lock_free(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<LockFree>(options, random, names);
}

}  // namespace heddle::synthetic
