#include "checkers/predictive/sections.h"

namespace heddle::predictive {

namespace {

void sort(std::vector<Cut>& cuts) {
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

}  // namespace

void add_locks(Side& a, Side& b, const LocksetTable& locksets) {
  std::vector<uint32_t> left_out;
  const auto keeps_apart = [&](const LockUse& mine, const LockUse& others) {
    for (const HeldLock& gate : locksets.members(mine.with)) {
      const Hold theirs = locksets.find(others.with, gate.lock);
      const bool excludes = theirs == Hold::kExclusive || (theirs == Hold::kShared && !gate.shared);
      if (excludes && !std::binary_search(left_out.begin(), left_out.end(), gate.lock)) return true;
    }
    return false;
  };
  const auto add = [](Side& side, const LockUse& use) {
    for (const uint32_t step : side.member.index.steps_of(use))
      side.locking.push_back({step, Cut::Kind::kLock});
  };
  for_each_common(a.member.index.locks, b.member.index.locks, &LockUse::lock,
                  [&](const LockUse& mine, const LockUse& others) {
                    if (keeps_apart(mine, others)) {
                      left_out.push_back(mine.lock);
                    } else {
                      add(a, mine);
                      add(b, others);
                    }
                  });
  sort(a.locking);
  sort(b.locking);
}

std::vector<Need> forced_needs(const Side& side, const Side& other) {
  std::vector<Need> needs;
  const Group& group = side.member.group;
  const Group& others = other.member.group;
  const auto known_to = [&](uint32_t step, uint32_t of_other) {
    return group.clock_at(step).knows(others.clock_at(of_other).epoch());
  };
  // The first number from `from` to `end` that satisfies what all after it satisfy as well.
  const auto first_that = [](uint32_t from, uint32_t end, auto holds) {
    while (from < end) {
      const uint32_t middle = from + (end - from) / 2;
      if (holds(middle)) {
        end = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  };
  uint32_t known = 0;
  for (uint32_t step = 0; known < other.steps();) {
    step = first_that(step, side.steps(), [&](uint32_t i) { return known_to(i, known); });
    if (step == side.steps()) break;
    known = first_that(known, other.steps(), [&](uint32_t i) { return !known_to(step, i); });
    needs.push_back({step, known});
  }
  return needs;
}

void cut(Side& side, const std::vector<Need>& own, const std::vector<Need>& others) {
  side.cuts = side.locking;
  for (const Need& need : own) side.cuts.push_back({need.at, Cut::Kind::kNeed});
  for (const Need& need : others) side.cuts.push_back({need.others, Cut::Kind::kDone});
  sort(side.cuts);
}

Axis axis_of(const Side& side, const Side& other, const std::vector<Need>& needs) {
  Axis axis;
  const std::vector<ShapeStep>& steps = side.member.shape.steps;
  for (std::size_t section = 0; section <= side.cuts.size(); ++section) {
    const uint32_t inside = side.begin_of(section);
    axis.held.push_back(inside < steps.size() ? steps[inside].held : kEmptyLockset);
  }
  axis.needs.assign(side.cuts.size(), 0);
  for (const Need& need : needs) {
    uint32_t& sections = axis.needs[side.section_at({need.at, Cut::Kind::kNeed}) - std::size_t{1}];
    sections = std::max(sections, other.section_at({need.others, Cut::Kind::kDone}));
  }
  return axis;
}

}  // namespace heddle::predictive
