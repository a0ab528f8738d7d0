#include "checkers/predictive/blocks_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checkers/predictive/words.h"
#include "core/checker.h"

namespace heddle::predictive {

namespace {

class Writer {
 public:
  Writer(const Witness& witness, const Transactions& run, const LocksetTable& locksets, const Names& names)
      : witness_(witness), run_(run), locksets_(locksets), names_(names) {}

  Finding write() {
    Finding finding;
    const bool is_feasible = witness_.feasibility == Feasibility::kFeasible;
    finding.strength = is_feasible ? Strength::kPredicted : Strength::kPotential;
    find_cuts();
    std::vector<std::string> blamed;
    for (const std::size_t member : cut_) {
      add_once(blamed, transaction_text(shape(member), group(member), names_));
      add_once(finding.blocks, stable_name(shape(member), group(member), names_));
      for (const std::string& inner : inner_blocks(member)) add_once(finding.blocks, inner);
    }
    // "inner is not atomic …, nor is outer around it"
    std::vector<std::string> around;
    if (cut_.size() == 1) {
      around = inner_blocks(cut_.front());
      around.push_back(blamed.front());
      blamed = {around.front()};
      around.erase(around.begin());
    }
    // Wherever the cycle was entered, it is the same finding.
    std::sort(finding.blocks.begin(), finding.blocks.end());
    const bool is_one = blamed.size() == 1;
    finding.message = fmt::format("{} {}", join_with_and(blamed),
                                  !is_feasible    ? "may not be atomic in another schedule"
                                  : is_observed() ? (is_one ? "is not atomic in this run's own schedule"
                                                            : "are not atomic in this run's own schedule")
                                  : is_one        ? "is not atomic in another schedule"
                                                  : "are not atomic in another schedule");
    for (const std::string& outer : around) finding.message += fmt::format(", nor is {} around it", outer);
    add_steps(finding);
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
  const Instance& instance(std::size_t member) const { return instance_of(run_, witness_.members[member]); }
  EventIndex index_of(std::size_t member, uint32_t step) const {
    return predictive::index_of(run_, witness_.members[member], step);
  }
  // Whether the trace has the cycle as it is.
  bool is_observed() const {
    for (std::size_t i = 0; i < witness_.members.size(); ++i) {
      const CycleEdge& edge = witness_.edges[i];
      if (!edge.is_forced && index_of(i, edge.from) > index_of(next(i), edge.to)) return false;
    }
    return true;
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

  // Blocks inside of a member that are cut with it, innermost first.
  std::vector<std::string> inner_blocks(std::size_t member) const {
    const CycleEdge& out = witness_.edges[member];
    const CycleEdge& in = witness_.edges[previous(member)];
    if (!shape(member).is_block || out.is_forced || in.is_forced) return {};
    return inner_names(shape(member), group(member), out.from, in.to, names_);
  }

  // In words that tell the members from each other.
  std::string name(std::size_t member) const {
    std::string text = transaction_text(shape(member), group(member), names_);
    const auto is_also = [&](std::size_t i) {
      return i != member && transaction_text(shape(i), group(i), names_) == text;
    };
    bool is_elsewhere = false;
    bool is_in_thread = false;
    for (std::size_t i = 0; i < witness_.members.size(); ++i) {
      is_elsewhere |= is_also(i);
      is_in_thread |= is_also(i) && thread(i) == thread(member);
    }
    if (!is_elsewhere) return text;
    const Origin begin = begin_of(shape(member), group(member), witness_.members[member].latest);
    const std::string of_thread =
        shape(member).is_block ? fmt::format("{}'s {}", names_.thread(thread(member)), text) : text;
    return is_in_thread ? fmt::format("{} at {}", of_thread, place_text(begin, names_)) : of_thread;
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
    const auto some_of = [&](std::size_t i) {
      return group(i).synchronizes() ? fmt::format("some of {}", name(i)) : name(i);
    };
    return fmt::format("{} comes before {} in every schedule (by fork, join, a barrier or a semaphore)",
                       some_of(member), some_of(next(member)));
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

  std::string conclusion() const {
    const std::string allowed = witness_.feasibility != Feasibility::kFeasible
                                    ? "The synchronization inside these blocks and accesses allows this order"
                                : is_observed() ? "This is the order they came in"
                                                : "The synchronization allows this order";
    std::string rest;
    if (witness_.feasibility == Feasibility::kInfeasible)
      rest =
          " But no order of the whole run comes to it: what these threads did before or between forbids it. "
          "In "
          "a run in which they did not, it may happen.";
    if (witness_.feasibility == Feasibility::kUnknown)
      rest =
          " Whether an order of the whole run comes to it was not found out within --budget: what these "
          "threads did before or between may forbid it.";
    if (witness_.members.size() == 2) {
      const std::size_t self = cut_.empty() ? 0 : cut_.front();
      return fmt::format(
          "{}, and no serial order gives its result: {} would have to come before {} and after it.{}",
          allowed, name(self), name(1 - self), rest);
    }
    std::vector<std::string> all;
    for (std::size_t i = 0; i < witness_.members.size(); ++i) add_once(all, name(i));
    return fmt::format(
        "{}, and no serial order of {} gives its result: each would have to come before the next, and the "
        "last "
        "before the first.{}",
        allowed, join_with_and(all), rest);
  }

  std::string place(std::size_t member, uint32_t step) const {
    return place_text(origin_of(shape(member), group(member), witness_.members[member].latest, step), names_);
  }

  std::string advice() const {
    const std::size_t self = cut_.empty() ? 0 : cut_.front();
    const CycleEdge& out = witness_.edges[self];
    const CycleEdge& in = witness_.edges[previous(self)];
    if (out.is_forced || in.is_forced || synchronizes_between(self, out.from, in.to))
      return fmt::format(
          "{} starts, wakes or waits for other threads in its middle; do that before or after it, or do "
          "not expect it to be atomic",
          name(self));
    const std::vector<ShapeStep>& steps = shape(self).steps;
    const std::string span = span_text(place(self, out.from), place(self, in.to), name(self));
    for (const HeldLock& lock : locksets_.members(steps[out.from].held)) {
      if (lock.shared || locksets_.find(steps[in.to].held, lock.lock) == Hold::kNone) continue;
      const bool has_gap = std::any_of(
          steps.begin() + out.from, steps.begin() + in.to,
          [&](const ShapeStep& step) { return is_release(step.kind) && step.object == lock.lock; });
      const std::vector<std::string> without = places_without(self, lock.lock);
      const std::string elsewhere = join_with_and(without);
      if (has_gap)
        return fmt::format("hold {} without a gap {}{}", names_.lock(lock.lock), span,
                           without.empty() ? "" : fmt::format(", and at {}", elsewhere));
      if (!without.empty())
        return fmt::format("take {} at {} too: {} holds it{}", names_.lock(lock.lock), elsewhere, name(self),
                           place(self, out.from) == place(self, in.to) ? "" : " " + span);
    }
    return fmt::format("hold one lock {}, and at {}", span, join_with_and(places_without(self, kNoId)));
  }

  // A lock held all the while would keep those away that it starts, wakes or waits for.
  bool synchronizes_between(std::size_t member, uint32_t from, uint32_t to) const {
    if (from >= to || !group(member).synchronizes()) return false;
    const std::vector<ShapeStep>& steps = shape(member).steps;
    return std::any_of(steps.begin() + from, steps.begin() + to, [](const ShapeStep& step) {
      return !is_access(step.kind) && !is_acquire(step.kind) && !is_release(step.kind);
    });
  }

  // Where those who come between do it without the lock.
  std::vector<std::string> places_without(std::size_t self, uint32_t lock) const {
    std::vector<std::string> places;
    const auto add = [&](std::size_t member, uint32_t step) {
      if (locksets_.find(shape(member).steps[step].held, lock) == Hold::kNone)
        add_once(places, place(member, step));
    };
    add(next(self), witness_.edges[self].to);
    add(previous(self), witness_.edges[previous(self)].from);
    return places;
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
