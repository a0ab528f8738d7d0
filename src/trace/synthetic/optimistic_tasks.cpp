// What parallel loops with optimistic updates do (S3 §4.1), with their data flow: each task works on its
// worker's own data, then commits to one shared location, which a lock guards. One task in four has looked at
// the location before and finds, in an if (true*), that it may have changed; what it saw then is not used. So
// by conflicts alone many tasks are ordered both ways, while by what matters to the shared locations, which
// are the focus, they are not.
#include <fmt/format.h>

#include <algorithm>

#include "trace/synthetic/code.h"
#include "trace/synthetic/shape.h"

namespace heddle::synthetic {

namespace {

constexpr uint32_t kNamedTasks = 1000;

class OptimisticTasks : public Shape {
 public:
  OptimisticTasks(const SyntheticOptions& options, Random& random, Names& names)
      : random_(random), workers_(options.threads), locks_(options.locks), accesses_(options.block_length) {
    Division division(options.variables);
    shared_ = division.take(options.threads);
    own_ = division.rest();
    for (uint32_t i = 0; i < kNamedTasks; ++i) names.table(Space::kTask).append(fmt::format("i={}", i));
    const auto local = [&](const char* name) { return names.table(Space::kLocal).intern(name); };
    const auto list = [&](const char* locals) { return names.table(Space::kLocalList).intern(locals); };
    work_ = local("work");
    before_ = local("before");
    now_ = local("now");
    same_ = local("same");
    result_ = local("result");
    done_ = local("done");
    of_work_ = list("work");
    of_looks_ = list("before,now");
    of_result_ = list("now,work");
    site_ = names.sites().size();
    for (uint32_t line = 10; line < 10 + 3 * accesses_ + 30; ++line)
      names.intern_site(fmt::format("tasks.cpp:{}", line));
    main_site_ = names.intern_site("main.cpp:8");
  }

  void plan_main(Script& script) override {
    for (uint32_t i = 0; i < shared_.count; ++i) {
      script.continue_at(main_site_);
      script.add(Operation::kFocus, shared_.first + i);
    }
  }

  Plan plan(uint32_t worker, Script& script, Budget& budget) override {
    const bool in_vain = random_.below(4) == 0;
    if (!budget.take(11 + 3 * accesses_ + (in_vain ? 8 : 0))) return Plan::kDone;
    const Range own = own_.share(worker, workers_);
    const uint32_t shared = shared_.pick(random_);
    const uint32_t lock = shared % locks_;
    const SiteId commit = site_ + 1 + 3 * accesses_;
    script.restart(site_);
    script.add(Operation::kTaskBegin, next_task_++ % kNamedTasks);
    for (uint32_t i = 0; i < accesses_; ++i) {
      script.add(Operation::kRead, own.pick(random_), MemoryOrder::kPlain, work_);
      script.add(Operation::kAssign, work_, MemoryOrder::kPlain, of_work_);
      script.add(Operation::kWrite, own.pick(random_), MemoryOrder::kPlain, work_);
    }
    if (in_vain) {
      script.continue_at(commit);
      script.add(Operation::kAtomicRead, shared, MemoryOrder::kAcquire, before_);
      script.add(Operation::kMaybeBegin, kNoId);
      script.add(Operation::kAcquire, lock);
      script.add(Operation::kAtomicRead, shared, MemoryOrder::kAcquire, now_);
      script.add(Operation::kRelease, lock);
      script.add(Operation::kAssign, same_, MemoryOrder::kPlain, of_looks_);
      script.add(Operation::kBranch, same_);
      script.add(Operation::kMaybeEnd, kNoId);
    }
    script.continue_at(commit + 8);
    script.add(Operation::kMaybeBegin, kNoId);
    script.add(Operation::kAcquire, lock);
    script.add(Operation::kAtomicRead, shared, MemoryOrder::kAcquire, now_);
    script.add(Operation::kAssign, result_, MemoryOrder::kPlain, of_result_);
    script.add(Operation::kAtomicWrite, shared, MemoryOrder::kRelease, result_);
    script.add(Operation::kRelease, lock);
    script.add(Operation::kAssign, done_);
    script.add(Operation::kMaybeEnd, kNoId);
    script.add(Operation::kBranch, done_);
    script.add(Operation::kTaskEnd, kNoId);
    return Plan::kReady;
  }

 private:
  Random& random_;
  uint32_t workers_;
  uint32_t locks_;
  uint32_t accesses_;  // of own data, in a task
  uint32_t next_task_ = 0;
  Range shared_;                                                                 // atomics
  Range own_;                                                                    // touched by one worker each
  uint32_t work_ = 0, before_ = 0, now_ = 0, same_ = 0, result_ = 0, done_ = 0;  // locals
  uint32_t of_work_ = 0, of_looks_ = 0, of_result_ = 0;                          // lists of them
  SiteId site_ = 0;                                                              // of a task's first line
  SiteId main_site_ = 0;
};

}  // namespace

std::unique_ptr<Shape> make_optimistic_tasks(const SyntheticOptions& options, Random& random, Names& names) {
  return std::make_unique<OptimisticTasks>(options, random, names);
}

}  // namespace heddle::synthetic
