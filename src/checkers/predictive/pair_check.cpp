#include "checkers/predictive/pair_check.h"

#include <algorithm>
#include <array>

#include "checkers/predictive/interleaving_grid.h"

namespace heddle::predictive {

namespace {

// Which serial orders an interleaving contradicts so far.
enum Contradicted : uint8_t { kNone = 0, kSecondFirst = 1, kFirstFirst = 2, kBothOrders = 3 };

constexpr uint32_t kNever = 0;

// One transaction, reduced to what concerns the other one: its accesses to variables both access and one
// writes, and all that is not an access.
struct Side {
  const PairMember& member;
  std::vector<uint32_t> steps;     // kept, as positions in the shape
  std::vector<uint32_t> place_of;  // by position in the shape: how many kept ones come before it
  Axis axis;
  // By kept step: it contradicts an order if the other one has done fewer steps than this.
  std::vector<uint32_t> contradicts_before;
  std::vector<uint32_t>
      variable;  // by kept step: number of the variable, in common.variables; kNoId: no access

  explicit Side(const PairMember& of) : member(of) {}
};

// States of a transaction between a write and the last read that is to see it: a write of the other one there
// is UP3.
struct Span {
  uint32_t from = 0;
  uint32_t to = 0;
};

std::vector<VariableId> common_variables(const PairMember& first, const PairMember& second) {
  std::vector<VariableId> common;
  auto a = first.uses.begin();
  auto b = second.uses.begin();
  while (a != first.uses.end() && b != second.uses.end()) {
    if (a->variable < b->variable) {
      ++a;
    } else if (b->variable < a->variable) {
      ++b;
    } else {
      if (a->writes() || b->writes()) common.push_back(a->variable);
      ++a;
      ++b;
    }
  }
  return common;
}

const VariableUse& use_of(const PairMember& member, VariableId variable) {
  return *std::lower_bound(member.uses.begin(), member.uses.end(), variable,
                           [](const VariableUse& use, VariableId id) { return use.variable < id; });
}

Side make_side(const PairMember& member, const std::vector<VariableId>& common, bool keep_all) {
  Side side(member);
  const std::vector<ShapeStep>& steps = member.shape.steps;
  side.place_of.reserve(steps.size());
  for (uint32_t i = 0; i < steps.size(); ++i) {
    side.place_of.push_back(static_cast<uint32_t>(side.steps.size()));
    uint32_t variable = kNoId;
    if (is_access(steps[i].kind)) {
      const auto found = std::lower_bound(common.begin(), common.end(), steps[i].object);
      const bool is_common = found != common.end() && *found == steps[i].object;
      if (!is_common && !keep_all) continue;
      if (is_common) variable = static_cast<uint32_t>(found - common.begin());
    }
    side.steps.push_back(i);
    side.axis.held.push_back(steps[i].held);
    side.variable.push_back(variable);
  }
  side.axis.held.push_back(kEmptyLockset);
  side.contradicts_before.assign(side.steps.size(), kNever);
  return side;
}

// How many steps of `other` come before each of `side` in every schedule.
void find_needs(Side& side, const Side& other) {
  side.axis.needs.assign(side.steps.size(), 0);
  for (std::size_t i = 0; i < side.steps.size(); ++i) {
    const ThreadClock& clock = side.member.group.clock_at(side.steps[i]);
    // Later steps know all that earlier ones know.
    uint32_t known = i == 0 ? 0 : side.axis.needs[i - 1];
    while (known < other.steps.size() && clock.knows(other.member.group.clock_at(other.steps[known]).epoch()))
      ++known;
    side.axis.needs[i] = known;
  }
}

// Evidence that `side` comes first, on one variable.
void find_contradictions(Side& side, const VariableUse& mine, const Side& other, const VariableUse& theirs) {
  const auto before = [&](uint32_t step, uint32_t others_step) {
    if (step == kNoId || others_step == kNoId) return;
    uint32_t& limit = side.contradicts_before[side.place_of[step]];
    limit = std::max(limit, other.place_of[others_step] + 1);
  };
  before(mine.first_write, theirs.last_read);
  before(mine.first_read, theirs.final_write);
  before(mine.final_write, theirs.final_write);
}

std::vector<std::vector<Span>> find_spans(const Side& side, std::size_t variables) {
  std::vector<std::vector<Span>> spans(variables);
  std::vector<uint32_t> written(variables, kNoId);  // the last write so far
  for (uint32_t i = 0; i < side.steps.size(); ++i) {
    const uint32_t variable = side.variable[i];
    if (variable == kNoId) continue;
    const StepKind kind = side.member.shape.steps[side.steps[i]].kind;
    if (reads(kind) && written[variable] != kNoId) {
      const Span span{written[variable] + 1, i};
      if (!spans[variable].empty() && spans[variable].back().from == span.from) {
        spans[variable].back().to = span.to;
      } else {
        spans[variable].push_back(span);
      }
    }
    if (writes(kind)) written[variable] = i;
  }
  return spans;
}

bool is_inside(const std::vector<Span>& spans, uint32_t state) {
  const auto next =
      std::partition_point(spans.begin(), spans.end(), [&](const Span& span) { return span.to < state; });
  return next != spans.end() && next->from <= state;
}

class Walk {
 public:
  Walk(Side& first, Side& second, std::size_t variables, const LocksetTable& locksets, uint8_t at_start)
      : first_(first),
        second_(second),
        grid_(first.axis, second.axis, locksets),
        first_spans_(find_spans(first, variables)),
        second_spans_(find_spans(second, variables)),
        width_(first.axis.steps()),
        height_(second.axis.steps()),
        at_start_(at_start),
        reached_((std::size_t{width_} + 1) * (std::size_t{height_} + 1), 0) {}

  // Whether a path contradicts both orders.
  bool find() {
    if (!grid_.is_live(0, 0)) return false;
    at(0, 0) = static_cast<uint8_t>(1U << at_start_);
    std::vector<uint8_t> inside_second(second_spans_.size());
    for (uint32_t j = 0; j <= height_; ++j) {
      for (std::size_t v = 0; v < inside_second.size(); ++v)
        inside_second[v] = is_inside(second_spans_[v], j) ? 1 : 0;
      for (uint32_t i = 0; i <= width_; ++i) {
        const uint8_t here = at(i, j);
        if (here == 0) continue;
        if (grid_.first_can_go(i, j)) {
          const uint32_t variable = first_.variable[i];
          const bool breaks = variable != kNoId && inside_second[variable] != 0 && writes(kind(first_, i));
          at(i + 1, j) |= add(here, breaks ? kBothOrders : simple(first_, i, j, kSecondFirst));
        }
        if (grid_.second_can_go(i, j)) at(i, j + 1) |= add(here, second_step(i, j));
      }
    }
    return (at(width_, height_) & 1U << kBothOrders) != 0;
  }

  // The steps of such a path, with as few changes between the two as going back finds.
  std::vector<ScheduledStep> path() {
    std::vector<ScheduledStep> steps;
    uint32_t i = width_;
    uint32_t j = height_;
    uint8_t contradicted = kBothOrders;
    uint32_t member = 1;
    while (i > 0 || j > 0) {
      std::optional<uint8_t> before = back(i, j, contradicted, member);
      if (!before) {
        member = 1 - member;
        before = back(i, j, contradicted, member);
      }
      contradicted = *before;
      --(member == 0 ? i : j);
      steps.push_back({member, member == 0 ? i : j});
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  uint8_t& at(uint32_t i, uint32_t j) { return reached_[std::size_t{j} * (width_ + std::size_t{1}) + i]; }
  static StepKind kind(const Side& side, uint32_t step) {
    return side.member.shape.steps[side.steps[step]].kind;
  }
  static uint8_t simple(const Side& side, uint32_t step, uint32_t others_done, uint8_t order) {
    return others_done < side.contradicts_before[step] ? order : uint8_t{kNone};
  }
  uint8_t first_step(uint32_t i, uint32_t j) const {
    const uint32_t variable = first_.variable[i];
    if (variable != kNoId && writes(kind(first_, i)) && is_inside(second_spans_[variable], j))
      return kBothOrders;
    return simple(first_, i, j, kSecondFirst);
  }
  uint8_t second_step(uint32_t i, uint32_t j) const {
    const uint32_t variable = second_.variable[j];
    if (variable != kNoId && writes(kind(second_, j)) && is_inside(first_spans_[variable], i))
      return kBothOrders;
    return simple(second_, j, i, kFirstFirst);
  }
  // A set of the four values of Contradicted, each with `more` added.
  static uint8_t add(uint8_t set, uint8_t more) {
    if (more == kNone) return set;
    uint8_t result = 0;
    for (unsigned value = 0; value <= kBothOrders; ++value)
      if ((set & 1U << value) != 0) result |= static_cast<uint8_t>(1U << (value | more));
    return result;
  }
  // What was contradicted before the member's last step, if that step led here.
  std::optional<uint8_t> back(uint32_t i, uint32_t j, uint8_t contradicted, uint32_t member) {
    if ((member == 0 ? i : j) == 0) return std::nullopt;
    const uint32_t from_i = member == 0 ? i - 1 : i;
    const uint32_t from_j = member == 0 ? j : j - 1;
    const bool possible =
        member == 0 ? grid_.first_can_go(from_i, from_j) : grid_.second_can_go(from_i, from_j);
    if (!possible) return std::nullopt;
    const uint8_t more = member == 0 ? first_step(from_i, from_j) : second_step(from_i, from_j);
    for (uint8_t value = 0; value <= kBothOrders; ++value)
      if ((at(from_i, from_j) & 1U << value) != 0 && (value | more) == contradicted) return value;
    return std::nullopt;
  }

  Side& first_;
  Side& second_;
  InterleavingGrid grid_;
  std::vector<std::vector<Span>> first_spans_;
  std::vector<std::vector<Span>> second_spans_;
  uint32_t width_;
  uint32_t height_;
  uint8_t at_start_;
  std::vector<uint8_t> reached_;  // by state: which values of Contradicted a path there can have, a bit each
};

// The path with the accesses that were left out: each right after the step before it, so that whatever waits
// for that step waits for it as well.
std::vector<ScheduledStep> with_all_steps(const std::vector<ScheduledStep>& path, const Side& first,
                                          const Side& second) {
  std::vector<ScheduledStep> steps;
  std::array<uint32_t, 2> done{};
  for (const ScheduledStep& step : path) {
    const Side& side = step.member == 0 ? first : second;
    const bool is_last = step.step + 1 == side.steps.size();
    const auto end =
        is_last ? static_cast<uint32_t>(side.member.shape.steps.size()) : side.steps[step.step + 1];
    for (uint32_t& next = done[step.member]; next < end; ++next) steps.push_back({step.member, next});
  }
  return steps;
}

}  // namespace

PairAnswer check_pair(const PairMember& first, const PairMember& second, const LocksetTable& locksets) {
  const std::vector<VariableId> common = common_variables(first, second);
  const bool first_needed = forces(first.group, second.group);
  const bool second_needed = forces(second.group, first.group);
  const uint8_t at_start =
      static_cast<uint8_t>((first_needed ? kSecondFirst : kNone) | (second_needed ? kFirstFirst : kNone));
  PairAnswer answer;
  if (common.empty() && at_start != kBothOrders) return answer;
  // Where neither order is possible any schedule will do, and there may be no common variable.
  Side a = make_side(first, common, at_start == kBothOrders);
  Side b = make_side(second, common, at_start == kBothOrders);
  if ((a.steps.size() + 1) * (b.steps.size() + 1) > kMostCells) {
    answer.too_large = true;
    return answer;
  }
  find_needs(a, b);
  find_needs(b, a);
  for (const VariableId variable : common) {
    find_contradictions(a, use_of(first, variable), b, use_of(second, variable));
    find_contradictions(b, use_of(second, variable), a, use_of(first, variable));
  }
  Walk walk(a, b, common.size(), locksets, at_start);
  if (walk.find()) answer.schedule = with_all_steps(walk.path(), a, b);
  return answer;
}

}  // namespace heddle::predictive
