#include "checkers/ended_locks.h"

#include <algorithm>

namespace heddle {

namespace {

// The threads of some dependencies, as far as it matters: none, which one, or several.
class Threads {
 public:
  void add(ThreadId thread) {
    if (none()) {
      one_ = thread;
    } else if (one_ != thread) {
      several_ = true;
    }
  }
  bool none() const { return one_ == kNoId; }
  bool several() const { return several_; }
  // Whether there is one of each, and not the same.
  bool differ_from(const Threads& others) const {
    return !none() && !others.none() && (several_ || others.several_ || one_ != others.one_);
  }

 private:
  ThreadId one_ = kNoId;
  bool several_ = false;
};

struct Uses {
  bool ended = false;
  Threads wanting;
  Threads holding;

  bool can_link() const { return !ended || wanting.differ_from(holding); }
  bool can_part() const { return !ended || holding.several(); }  // as a gate lock
};

}  // namespace

void forget_ended_locks(Dependencies& dependencies, std::span<const uint32_t> ended, std::size_t locks) {
  std::vector<Uses> uses(locks);
  for (const uint32_t lock : ended) uses[lock].ended = true;
  for (bool is_settled = false; !is_settled;) {
    for (Uses& of : uses) of.wanting = of.holding = {};
    for (const Dependency& one : dependencies) {
      uses[one.wanted.lock].wanting.add(one.thread);
      for (const Acquisition& holding : one.holding) uses[holding.lock].holding.add(one.thread);
    }
    is_settled =
        std::erase_if(dependencies, [&](Dependency& one) {
          std::erase_if(one.holding, [&](const Acquisition& holding) {
            return !uses[holding.lock].can_link() && !uses[holding.lock].can_part();
          });
          return !uses[one.wanted.lock].can_link() ||
                 std::none_of(one.holding.begin(), one.holding.end(),
                              [&](const Acquisition& holding) { return uses[holding.lock].can_link(); });
        }) == 0;
  }
}

}  // namespace heddle
