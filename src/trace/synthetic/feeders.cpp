// One worker opens a block and consumes messages in it until the end; all others produce them in short
// blocks. A message is a variable that the producer allocates and writes and the consumer reads and frees,
// handed over by a semaphore. So every short block comes before the open one in any serial order and none
// after it: each use of a variable is a new life, so that nothing flows back and there is no cycle.
#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

constexpr uint32_t kMostMessages = 1024;  // on their way at the same time

// Variables in the order they came. Room for all is made at once.
class Queue {
 public:
  explicit Queue(uint32_t capacity) : ring_(capacity) {}

  bool empty() const { return count_ == 0; }
  void push(uint32_t variable) { ring_[(first_ + count_++) % ring_.size()] = variable; }
  uint32_t pop() {
    const uint32_t variable = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --count_;
    return variable;
  }

 private:
  std::vector<uint32_t> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class Feeders : public Shape {
 public:
  Feeders(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random),
        code_(options, random, names),
        consumer_(code_.add_block("consumer", 0, random, names)),
        workers_(options.threads),
        producing_(options.threads - 1),
        sent_(options.threads, kNoId),
        arrived_(messages_of(options)),
        free_(messages_of(options)) {
    Division division(options.variables);
    const Range messages = division.take(messages_of(options));
    for (uint32_t i = 0; i < messages.count; ++i) free_.push(messages.first + i);
    own_ = division.rest();
    semaphore_ = names.table(Space::kSemaphore).intern("messages");
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    return worker == 0 ? plan_consumer(script, budget) : plan_producer(worker, script, budget);
  }

 private:
  enum class Stage : uint8_t { kNew, kOpen, kClosed };

  static uint32_t messages_of(const SyntheticOptions& options) {
    return std::clamp(options.variables / 2, 1U, kMostMessages);
  }

  Plan plan_consumer(Script& script, Budget& budget) {
    switch (stage_) {
      case Stage::kNew:
        if (!budget.take(2)) break;  // begin and end
        stage_ = Stage::kOpen;
        script.restart(consumer_.site);
        script.add(Operation::kBeginAtomic, consumer_.name);
        return Plan::kReady;
      case Stage::kOpen:
        if (consumed_ != kNoId) free_.push(consumed_);
        consumed_ = kNoId;
        if (arrived_.empty() && producing_ > 0) return Plan::kWait;
        script.restart(consumer_.site + 1);
        if (arrived_.empty()) {
          stage_ = Stage::kClosed;
          script.add(Operation::kEnd, consumer_.name);
          return Plan::kReady;
        }
        consumed_ = arrived_.pop();
        script.add(Operation::kWait, semaphore_);
        script.add(Operation::kRead, consumed_);
        script.add(Operation::kFree, consumed_);
        return Plan::kReady;
      case Stage::kClosed: break;
    }
    stage_ = Stage::kClosed;
    return Plan::kDone;
  }

  Plan plan_producer(uint32_t worker, Script& script, Budget& budget) {
    uint32_t& sent = sent_[worker];
    if (sent != kNoId) arrived_.push(sent);
    sent = kNoId;
    if (stage_ == Stage::kNew || free_.empty()) return Plan::kWait;
    const Block& block = code_.pick(random_);
    // Begin, end, allocating, writing and posting the message; and its consumption is paid for now.
    if (!budget.take(5 + block.accesses + 3)) {
      --producing_;
      return Plan::kDone;
    }
    sent = free_.pop();
    script.restart(block.site);
    script.add(Operation::kBeginAtomic, block.name);
    block.add_unlocked(script, own_.share(worker, workers_), random_);
    script.add(Operation::kAlloc, sent);
    script.add(Operation::kWrite, sent);
    script.add(Operation::kPost, semaphore_);
    script.add(Operation::kEnd, block.name);
    return Plan::kReady;
  }

  Random& random_;
  Code code_;
  Block consumer_;  // the block that stays open
  uint32_t workers_;
  uint32_t semaphore_ = 0;
  Stage stage_ = Stage::kNew;   // of the consumer
  uint32_t producing_;          // workers that may still send
  uint32_t consumed_ = kNoId;   // the message in the consumer's latest script
  std::vector<uint32_t> sent_;  // by worker: the message in its latest script
  Queue arrived_;               // messages posted and not consumed
  Queue free_;                  // variables for new messages
  Range own_;                   // touched by one worker each
};

}  // namespace

std::unique_ptr<Shape> make_feeders(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<Feeders>(options, random, names);
}

}  // namespace heddle::synthetic
