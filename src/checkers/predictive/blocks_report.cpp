#include "checkers/predictive/blocks_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checkers/predictive/words.h"
#include "core/checker.h"

namespace heddle::predictive {

namespace {

std::string_view noun(StepKind kind) {
  switch (kind) {
    case StepKind::kRead: return "read";
    case StepKind::kWrite: return "write";
    case StepKind::kUpdate: return "update";
    case StepKind::kAcquire:
    case StepKind::kAcquireShared: return "acquisition";
    case StepKind::kRelease:
    case StepKind::kReleaseShared: return "release";
    case StepKind::kSignal: return "signal";
    case StepKind::kReceive: return "wait";
  }
  return {};
}

class Writer {
 public:
  Writer(const Witness& witness, const Transactions& run, const LocksetTable& locksets, const Names& names)
      : witness_(witness), run_(run), locksets_(locksets), names_(names) {}

  Finding write() {
    Finding finding;
    finding.strength = Strength::kPredicted;
    find_cuts();
    std::vector<std::string> blamed;
    for (const std::size_t member : cut_) {
      add_once(blamed, transaction_text(shape(member), group(member), names_));
      add_once(finding.blocks, stable_name(shape(member), group(member), names_));
    }
    // Wherever the cycle was entered, it is the same finding.
    std::sort(finding.blocks.begin(), finding.blocks.end());
    finding.message = fmt::format("{} {} not atomic in another schedule", join_with_and(blamed),
                                  blamed.size() == 1 ? "is" : "are");
    add_steps(finding);
    add_schedule(finding);
    finding.certain_at = 0;
    for (std::size_t i = 0; i < witness_.members.size(); ++i)
      finding.certain_at = std::max(finding.certain_at, instance(i).last);
    finding.conclusion = conclusion();
    finding.advice = advice();
    return finding;
  }

 private:
  std::size_t next(std::size_t member) const { return (member + 1) % witness_.members.size(); }
  std::size_t previous(std::size_t member) const {
    return (member + witness_.members.size() - 1) % witness_.members.size();
  }
  const Group& group(std::size_t member) const { return run_.groups[witness_.members[member].group]; }
  const Shape& shape(std::size_t member) const { return run_.shapes[group(member).shape]; }
  ThreadId thread(std::size_t member) const { return group(member).thread; }
  const Instance& instance(std::size_t member) const {
    return witness_.members[member].latest ? group(member).latest : group(member).earliest;
  }
  static void add_once(std::vector<std::string>& to, const std::string& text) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  }

  // Members that the cycle leaves before it comes back to them, and that reduction could not clear. One that
  // synchronizes in its middle and has a forced edge can be, too.
  void find_cuts() {
    for (std::size_t i = 0; i < witness_.members.size(); ++i) {
      const CycleEdge& out = witness_.edges[i];
      const CycleEdge& in = witness_.edges[previous(i)];
      const bool forced = out.is_forced || in.is_forced;
      if (!witness_.is_proved[i] && (forced ? group(i).synchronizes() : out.from < in.to)) cut_.push_back(i);
    }
    if (!cut_.empty()) return;
    for (std::size_t i = 0; i < witness_.members.size(); ++i)
      if (!witness_.is_proved[i]) cut_.push_back(i);
  }

  // In words that tell the members from each other.
  std::string name(std::size_t member) const {
    const std::string text = transaction_text(shape(member), group(member), names_);
    if (!shape(member).is_block) return text;
    for (std::size_t i = 0; i < witness_.members.size(); ++i)
      if (i != member && transaction_text(shape(i), group(i), names_) == text)
        return fmt::format("{}'s {}", names_.thread(thread(member)), text);
    return text;
  }

  Step step(std::size_t member, uint32_t number) const {
    Step result =
        report_step(shape(member), group(member), witness_.members[member].latest, number, locksets_, names_);
    result.transaction = member;
    return result;
  }

  std::string forced_reason(std::size_t member) const {
    if (thread(member) == thread(next(member)))
      return fmt::format("later in the same thread, so {} comes before {}", name(member), name(next(member)));
    return fmt::format("fork, join, a barrier or a semaphore puts something of {} before something of {}",
                       name(member), name(next(member)));
  }

  // Both ends of each edge, in the order of the cycle, from the first member that is cut.
  void add_steps(Finding& finding) const {
    const std::size_t start = cut_.empty() ? 0 : cut_.front();
    std::string reason;  // of a forced edge, told by the next step
    for (std::size_t k = 0; k < witness_.members.size(); ++k) {
      const std::size_t i = (start + k) % witness_.members.size();
      const CycleEdge& edge = witness_.edges[i];
      if (edge.is_forced) {
        reason = forced_reason(i);
        if (finding.steps.empty() || finding.steps.back().thread != names_.thread(thread(i)))
          finding.steps.push_back(step(i, landmark(i, true)));
        if (k + 1 == witness_.members.size()) add(finding, step(next(i), landmark(next(i), false)), reason);
        continue;
      }
      Step from = step(i, edge.from);
      const bool repeats = !finding.steps.empty() && finding.steps.back().event == from.event &&
                           finding.steps.back().thread == from.thread;
      if (!repeats) add(finding, std::move(from), reason);
      reason.clear();
      const std::string before =
          fmt::format("{}'s {}", names_.thread(thread(i)), noun(shape(i).steps[edge.from].kind));
      add(finding, step(next(i), edge.to),
          fmt::format("after {}, so {} comes before {}", before, name(i), name(next(i))));
    }
  }
  static void add(Finding& finding, Step step, const std::string& because) {
    step.because = because;
    finding.steps.push_back(std::move(step));
  }
  // A step that stands for a member where the forced order is the reason: its first signal or last receipt,
  // or its first access.
  uint32_t landmark(std::size_t member, bool leaving) const {
    const std::vector<ShapeStep>& steps = shape(member).steps;
    uint32_t best = kNoId;
    for (uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind == StepKind::kSignal && leaving) return i;
      if (steps[i].kind == StepKind::kReceive && !leaving) best = i;
    }
    if (best != kNoId) return best;
    for (uint32_t i = 0; i < steps.size(); ++i)
      if (is_access(steps[i].kind)) return i;
    return 0;
  }

  // All steps, with the begins and ends of the blocks: a trace of its own.
  void add_schedule(Finding& finding) const {
    std::vector<std::size_t> left(witness_.members.size(), 0);  // steps of each member still to come
    for (const ScheduledStep& scheduled : witness_.schedule) ++left[scheduled.member];
    std::vector<bool> begun(witness_.members.size()), ended(witness_.members.size());
    for (std::size_t i = 0; i < witness_.schedule.size(); ++i) {
      const ScheduledStep& scheduled = witness_.schedule[i];
      const std::size_t member = scheduled.member;
      const ShapeStep& of = shape(member).steps[scheduled.step];
      const bool taken_before = of.around && is_acquire(of.kind);
      if (!taken_before && !begun[member]) {
        begun[member] = true;
        if (shape(member).is_block) finding.schedule.push_back(boundary(member, true));
      }
      if (of.around && !taken_before) end(member, finding, ended);
      finding.schedule.push_back(scheduled_step(member, scheduled.step));
      if (--left[member] == 0) end(member, finding, ended);
    }
    for (Step& in_schedule : finding.schedule)
      for (const Step& key : finding.steps)
        if (key.event == in_schedule.event && key.thread == in_schedule.thread &&
            key.operation == in_schedule.operation)
          in_schedule.because = key.because;
  }
  void end(std::size_t member, Finding& finding, std::vector<bool>& ended) const {
    if (!shape(member).is_block || ended[member]) return;
    ended[member] = true;
    finding.schedule.push_back(boundary(member, false));
  }
  Step boundary(std::size_t member, bool begins) const {
    const Origin begin = begin_of(shape(member), group(member), witness_.members[member].latest);
    Event event = begin.event;
    if (!begins) {
      event.operation = Operation::kEnd;
      event.site = kNoId;
    }
    Step result = make_step(event, begins ? begin.index : instance(member).last, names_);
    result.block_is_known = true;
    result.block = names_.name(Space::kBlock, event.object);
    result.transaction = member;
    return result;
  }
  Step scheduled_step(std::size_t member, uint32_t number) const {
    Step result = step(member, number);
    const ShapeStep& of = shape(member).steps[number];
    if (!of.around || is_acquire(of.kind)) return result;
    // Behind a lock given back after the transaction stands the event that took it.
    Event event = origin_of(shape(member), group(member), witness_.members[member].latest, number).event;
    event.operation = of.kind == StepKind::kRelease ? Operation::kRelease : Operation::kReleaseShared;
    result.operation = operation_text(event, names_);
    result.phrase = operation_phrase(event, names_);
    return result;
  }

  std::string conclusion() const {
    std::vector<std::string> others;
    for (std::size_t i = 0; i < witness_.members.size(); ++i) add_once(others, name(i));
    if (witness_.members.size() == 2) {
      const std::size_t self = cut_.empty() ? 0 : cut_.front();
      return fmt::format(
          "The synchronization allows this order, and no serial order gives its result: {} would have to "
          "come before {} "
          "and after it.",
          name(self), name(1 - self));
    }
    return fmt::format(
        "The synchronization allows this order, and no serial order of {} gives its result: each would have "
        "to come "
        "before the next, and the last before the first.",
        join_with_and(others));
  }

  std::string advice() const {
    const std::size_t self = cut_.empty() ? 0 : cut_.front();
    const CycleEdge& out = witness_.edges[self];
    const CycleEdge& in = witness_.edges[previous(self)];
    if (out.is_forced || in.is_forced)
      return fmt::format(
          "{} starts, wakes or waits for other threads in its middle; do that before or after it, or do "
          "not expect it to be atomic",
          name(self));
    const auto place = [&](uint32_t step) {
      return place_text(origin_of(shape(self), group(self), witness_.members[self].latest, step), names_);
    };
    for (const HeldLock& lock : locksets_.members(shape(self).steps[out.from].held))
      if (locksets_.find(shape(self).steps[in.to].held, lock.lock) != Hold::kNone && !lock.shared)
        return fmt::format("hold {} without a gap from {} to {}", names_.lock(lock.lock), place(out.from),
                           place(in.to));
    return fmt::format("hold one lock from {} to {}, and at the other accesses", place(out.from),
                       place(in.to));
  }

  const Witness& witness_;
  const Transactions& run_;
  const LocksetTable& locksets_;
  const Names& names_;
  std::vector<std::size_t> cut_;  // members, in the order of the cycle
};

}  // namespace

Finding report_witness(const Witness& witness, const Transactions& run, const LocksetTable& locksets,
                       const Names& names) {
  return Writer(witness, run, locksets, names).write();
}

}  // namespace heddle::predictive
