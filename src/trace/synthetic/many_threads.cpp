// What programs with very many threads mostly do: most work on the thread's own data, some reading of what
// main set up before it started them, now and then something shared behind a lock.
#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

constexpr uint32_t kMostSettings = 64;  // main writes them one by one

class ManyThreads : public Shape {
 public:
  ManyThreads(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random),
        code_(options, random, names),
        start_(code_.add_block("main", kMostSettings, random, names)),
        workers_(options.threads) {
    Division division(options.variables);
    settings_ = division.take(std::min(kMostSettings, options.variables / 16));
    const Range guarded = division.take(options.variables / 8);
    guarded_ = {guarded, std::min(options.locks, guarded.count)};
    own_ = division.rest();
  }

  void plan_main(Script& script) override {
    script.restart(start_.site);
    for (uint32_t i = 0; i < settings_.count; ++i) script.add(Operation::kWrite, settings_.first + i);
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    const Block& block = code_.pick(random_);
    const uint32_t choice = random_.below(16);
    const bool locked = choice == 0;
    if (!budget.take(2 + (locked ? block.locked_length(guarded_) : block.accesses))) return Plan::kDone;
    script.restart(block.site);
    script.add(Operation::kBeginAtomic, block.name);
    if (locked) {
      block.add_locked(script, guarded_, random_);
    } else if (choice < 4) {
      block.add_reads(script, settings_, random_);
    } else {
      block.add_unlocked(script, own_.share(worker, workers_), random_);
    }
    script.add(Operation::kEnd, block.name);
    return Plan::kReady;
  }

 private:
  Random& random_;
  Code code_;
  Block start_;  // lines of main's writes; not a block of the trace
  uint32_t workers_;
  Range settings_;   // written by main, then only read
  Guarded guarded_;  // shared by all
  Range own_;        // touched by one worker each
};

}  // namespace

std::unique_ptr<Shape> make_many_threads(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<ManyThreads>(options, random, names);
}

}  // namespace heddle::synthetic
