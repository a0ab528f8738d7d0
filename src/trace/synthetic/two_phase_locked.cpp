// Blocks that take all their locks before they give one back: conflict serializable, and free of deadlocks
// because locks are taken in ascending order.
#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

class TwoPhaseLocked : public Shape {
 public:
  TwoPhaseLocked(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random), code_(options, random, names), data_{{0, options.variables}, options.locks} {}

  Plan plan(uint32_t, Script& script, Budget& budget) override {
    const Block& block = code_.pick(random_);
    if (!budget.take(2 + block.locked_length(data_))) return Plan::kDone;
    script.restart(block.site);
    script.add(Operation::kBeginAtomic, block.name);
    block.add_locked(script, data_, random_);
    script.add(Operation::kEnd, block.name);
    return Plan::kReady;
  }

 private:
  Random& random_;
  Code code_;
  Guarded data_;
};

}  // namespace

std::unique_ptr<Shape> make_two_phase_locked(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<TwoPhaseLocked>(options, random, names);
}

}  // namespace heddle::synthetic
