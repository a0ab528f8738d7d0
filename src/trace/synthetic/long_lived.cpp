// The first workers open a block, publish a configuration and then keep to their own data until the end.
// Every other block begins by reading a configuration, so it has an open block before it in every serial
// order and cannot be forgotten while that one is open. Nothing flows back into the open blocks, so there is
// no cycle.
#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

constexpr uint32_t kConfiguration = 4;  // variables in a configuration
constexpr uint32_t kStep = 8;           // accesses a session does at a time

class LongLived : public Shape {
 public:
  LongLived(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random),
        code_(options, random, names),
        session_(code_.add_block("session", kStep, random, names)),
        sessions_(std::max(1U, options.threads / 8)),
        stages_(sessions_) {
    Division division(options.variables);
    ready_ = division.take(sessions_);
    configuration_ = division.take(sessions_ * kConfiguration);
    own_ = division.take(std::max(sessions_, options.variables / 8));
    data_ = {division.rest(), std::min(options.locks, division.rest().count)};
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    return worker < sessions_ ? plan_session(worker, script, budget) : plan_other(script, budget);
  }

 private:
  enum class Stage : uint8_t { kNew, kOpening, kOpen, kClosed };

  Plan plan_session(uint32_t session, Script& script, Budget& budget) {
    Stage& stage = stages_[session];
    switch (stage) {
      case Stage::kNew:
        // Begin, the configuration, its publication; and the end is paid for now.
        if (!budget.take(3 + kConfiguration)) break;
        stage = Stage::kOpening;
        script.restart(session_.site);
        script.add(Operation::kBeginAtomic, session_.name);
        for (uint32_t i = 0; i < kConfiguration; ++i)
          script.add(Operation::kWrite, configuration_of(session).first + i);
        script.add(Operation::kAtomicWrite, ready_.first + session, MemoryOrder::kRelease);
        return Plan::kReady;
      case Stage::kOpening:
      case Stage::kOpen:
        stage = Stage::kOpen;
        script.restart(session_.site + 2 + kConfiguration);
        if (budget.take(kStep)) {
          session_.add_unlocked(script, own_.share(session, sessions_), random_);
          return Plan::kReady;
        }
        stage = Stage::kClosed;
        script.add(Operation::kEnd, session_.name);
        return Plan::kReady;
      case Stage::kClosed: break;
    }
    stage = Stage::kClosed;
    return Plan::kDone;
  }

  Plan plan_other(Script& script, Budget& budget) {
    const uint32_t session = random_.below(sessions_);
    if (stages_[session] == Stage::kNew || stages_[session] == Stage::kOpening) return Plan::kWait;
    const Block& block = code_.pick(random_);
    if (!budget.take(4 + block.locked_length(data_))) return Plan::kDone;
    script.restart(block.site);
    script.add(Operation::kBeginAtomic, block.name);
    script.add(Operation::kAtomicRead, ready_.first + session, MemoryOrder::kAcquire);
    script.add(Operation::kRead, configuration_of(session).pick(random_));
    block.add_locked(script, data_, random_);
    script.add(Operation::kEnd, block.name);
    return Plan::kReady;
  }

  Range configuration_of(uint32_t session) const { return configuration_.share(session, sessions_); }

  Random& random_;
  Code code_;
  Block session_;              // the block that stays open
  uint32_t sessions_;          // workers below this number run it
  Range ready_;                // an atomic flag per session, set when its configuration is there
  Range configuration_;        // kConfiguration per session: written by it before its flag, then only read
  Range own_;                  // touched by sessions only, shared out among them
  Guarded data_;               // of all other blocks
  std::vector<Stage> stages_;  // by session
};

}  // namespace

std::unique_ptr<Shape> make_long_lived(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<LongLived>(options, random, names);
}

}  // namespace heddle::synthetic
