#include "checkers/standstill.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "checkers/deadlock.h"

namespace heddle {

namespace {

std::string lock_name(uint32_t lock, const Names& names) { return printable(names.lock(lock)); }
std::string thread_name(ThreadId thread, const Names& names) { return printable(names.thread(thread)); }

Step taken_step(const TakenLock& taken, const Names& names) {
  Event event;
  event.operation = taken.is_shared ? Operation::kAcquireShared : Operation::kAcquire;
  event.thread = taken.thread;
  event.object = taken.lock;
  event.site = taken.site;
  return make_step(event, taken.index, names);
}

// It has not happened and never will.
Step waiting_step(const BlockedThread& blocked, const BlockedThread& next, const Names& names) {
  Event event;
  event.thread = blocked.thread;
  event.object = blocked.wait.object;
  event.site = blocked.wait.site;
  const std::string thread = thread_name(blocked.thread, names);
  std::vector<std::string> held;
  held.reserve(blocked.locks.size());
  for (const uint32_t lock : blocked.locks) held.push_back(lock_name(lock, names));
  Step step;
  if (blocked.wait.what == Wait::For::kThread) {
    event.operation = Operation::kJoin;
    step = make_step(event, blocked.wait.index, names);
    step.phrase = fmt::format("waits for the end of {}", names.thread(event.object));
    step.because = fmt::format("{} cannot end: it waits itself", thread_name(blocked.wait.object, names));
  } else {
    const bool is_shared = blocked.wait.what == Wait::For::kSharedLock;
    event.operation = is_shared ? Operation::kAcquireShared : Operation::kAcquire;
    step = make_step(event, blocked.wait.index, names);
    step.phrase = fmt::format("waits for {}{}", names.lock(event.object), is_shared ? " shared" : "");
    const bool is_own = next.thread == blocked.thread;
    step.because = fmt::format("{} waits for {}, which {} holds", thread, lock_name(event.object, names),
                               is_own ? "it" : thread_name(next.thread, names));
    if (is_own) step.because += " itself";
  }
  step.held = held.empty() ? "holding no lock" : "holding " + join_with_and(held);
  return step;
}

std::string advice(std::span<const BlockedThread> circle, const std::vector<std::string>& locks,
                   const Names& names) {
  if (circle.size() == 1) {
    const std::string give_back = fmt::format("let {} give {} back before it takes it again",
                                              thread_name(circle[0].thread, names), locks.front());
    if (circle[0].held.is_shared || circle[0].wait.what == Wait::For::kSharedLock)
      return give_back + ", or take it alone from the start: what is held shared cannot become held alone";
    return give_back + ", or use a recursive mutex";
  }
  for (const BlockedThread& blocked : circle)
    if (blocked.wait.what == Wait::For::kThread)
      return fmt::format("do not hold {} while waiting for the end of {}", join_with_and(locks),
                         thread_name(blocked.wait.object, names));
  return fmt::format("take {} in the same order everywhere, or lock them together with std::scoped_lock",
                     join_with_and(locks));
}

}  // namespace

Finding standstill_finding(std::span<const BlockedThread> circle, const Names& names) {
  Finding finding;
  finding.rule = &kDeadlockRules[0];
  finding.checker = kDeadlockChecker.name;
  finding.strength = Strength::kObserved;
  // From the thread that came first, so that every run says the same.
  const auto first = std::min_element(circle.begin(), circle.end(),
                                      [](const auto& a, const auto& b) { return a.thread < b.thread; });
  std::vector<std::string> threads;
  std::vector<std::string> locks;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const std::size_t at = (static_cast<std::size_t>(first - circle.begin()) + i) % circle.size();
    const BlockedThread& blocked = circle[at];
    threads.push_back(thread_name(blocked.thread, names));
    if (blocked.held.lock != kNoId) {
      locks.push_back(lock_name(blocked.held.lock, names));
      finding.steps.push_back(taken_step(blocked.held, names));
    }
    finding.steps.push_back(waiting_step(blocked, circle[(at + 1) % circle.size()], names));
    finding.certain_at = std::max(finding.certain_at, blocked.wait.index);
  }
  if (circle.size() == 1) {
    finding.message = fmt::format("{} waits for {}, which it holds itself", threads[0], locks[0]);
    finding.conclusion = fmt::format("{} stands still and can never go on.", threads[0]);
  } else {
    finding.message = fmt::format("{} wait for each other and stand still", join_with_and(threads));
    finding.conclusion = fmt::format("{} can ever go on.", circle.size() == 2 ? "Neither" : "None of them");
  }
  finding.advice = advice(circle, locks, names);
  return finding;
}

}  // namespace heddle
