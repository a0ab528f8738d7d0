#include "checkers/predictive/explain_pair.h"

#include <algorithm>
#include <array>
#include <optional>

namespace heddle::predictive {

namespace {

// The two as seen from one of them, which is to be cut by the other.
struct View {
  const PairMember& own;
  const PairMember& other;
  const std::vector<std::size_t>& own_time;  // by step: when the schedule does it
  const std::vector<std::size_t>& other_time;
};

// Calls visit(step, kind) for the accesses to a variable.
template <class Visit>
void for_each_access(const PairMember& member, const VariableUse& use, Visit visit) {
  for (const uint32_t step : member.index.accesses_of(use)) visit(step, member.shape.steps[step].kind);
}

// A step of the other one between two of the own: the patterns UP1 to UP4 of S1.
std::optional<std::vector<CycleEdge>> one_variable(const View& view, const VariableUse& own,
                                                   const VariableUse& other) {
  std::optional<std::vector<CycleEdge>> found;
  const auto between = [&](uint32_t from, uint32_t to, auto accept) {
    if (found || from == kNoId || to == kNoId || from >= to) return;
    for_each_access(view.other, other, [&](uint32_t step, StepKind kind) {
      if (!found && accept(step, kind) && view.other_time[step] > view.own_time[from] &&
          view.other_time[step] < view.own_time[to])
        found = std::vector<CycleEdge>{{false, from, step}, {false, step, to}};
    });
  };
  const auto any_write = [](uint32_t, StepKind kind) { return writes(kind); };
  const auto final_write = [&](uint32_t step, StepKind) { return step == other.final_write; };
  const auto uninitialized_read = [&](uint32_t step, StepKind kind) {
    return reads(kind) && (other.first_write == kNoId || step <= other.first_write);
  };
  between(own.first_read, own.last_read, any_write);              // UP2
  between(own.first_read, own.final_write, final_write);          // UP4
  between(own.first_write, own.final_write, uninitialized_read);  // UP1
  uint32_t written = kNoId;
  for_each_access(view.own, own, [&](uint32_t step, StepKind kind) {  // UP3
    if (reads(kind)) between(written, step, any_write);
    if (writes(kind)) written = step;
  });
  return found;
}

// The conflict by which the own one comes first with the earliest step of it, and the one by which it comes
// last with the latest.
struct Extremes {
  std::optional<CycleEdge> leaves;
  std::optional<CycleEdge> comes_back;
};

Extremes extremes(const View& view) {
  Extremes result;
  const auto conflict = [&](uint32_t own, uint32_t other) {
    if (own == kNoId || other == kNoId) return;
    if (view.own_time[own] < view.other_time[other]) {
      if (!result.leaves || own < result.leaves->from) result.leaves = CycleEdge{false, own, other};
    } else if (!result.comes_back || own > result.comes_back->to) {
      result.comes_back = CycleEdge{false, other, own};
    }
  };
  for_each_conflict(view.own.index, view.other.index, [&](const VariableUse& own, const VariableUse& other) {
    conflict(own.first_read, other.final_write);
    conflict(own.last_read, other.final_write);
    conflict(own.final_write, other.first_read);
    conflict(own.first_write, other.last_read);
    conflict(own.final_write, other.final_write);
  });
  return result;
}

std::optional<std::vector<CycleEdge>> explain(const View& view, bool only_if_cut) {
  std::optional<std::vector<CycleEdge>> found;
  for_each_conflict(view.own.index, view.other.index, [&](const VariableUse& own, const VariableUse& other) {
    if (!found) found = one_variable(view, own, other);
  });
  if (found) return found;
  Extremes both = extremes(view);
  const bool cut = both.leaves && both.comes_back && both.leaves->from < both.comes_back->to;
  if (cut) return std::vector<CycleEdge>{*both.leaves, *both.comes_back};
  const CycleEdge forced{true, 0, 0};
  const bool leaves_anyway = forces(view.own.group, view.other.group);
  const bool comes_back_anyway = forces(view.other.group, view.own.group);
  if (only_if_cut && !(view.own.group.synchronizes() && (leaves_anyway || comes_back_anyway)))
    return std::nullopt;
  if (!(both.leaves || leaves_anyway) || !(both.comes_back || comes_back_anyway)) return std::nullopt;
  return std::vector<CycleEdge>{leaves_anyway ? forced : *both.leaves,
                                comes_back_anyway ? forced : *both.comes_back};
}

}  // namespace

PairExplanation explain_pair(const PairMember& first, const PairMember& second,
                             const std::vector<ScheduledStep>& schedule) {
  std::array<std::vector<std::size_t>, 2> time;
  time[0].resize(first.shape.steps.size());
  time[1].resize(second.shape.steps.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) time[schedule[i].member][schedule[i].step] = i;
  const View forward{first, second, time[0], time[1]};
  const View backward{second, first, time[1], time[0]};
  for (const bool only_if_cut : {true, false}) {
    if (auto edges = explain(forward, only_if_cut)) return {std::move(*edges), false};
    if (auto edges = explain(backward, only_if_cut)) return {std::move(*edges), true};
  }
  return {{{true, 0, 0}, {true, 0, 0}}, false};
}

}  // namespace heddle::predictive
