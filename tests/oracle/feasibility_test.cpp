// Which events of one transaction can fall between two of another: the grid equals the enumeration of all
// interleavings, for any use of locks; and S1's lockset test (Thm 5.1) equals both where no deadlock is
// possible.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "checkers/predictive/interleaving_grid.h"
#include "support/table.h"

namespace heddle::test {
namespace {

struct Operation {
  enum Kind { kEvent, kTake, kTakeShared, kGive } kind = kEvent;
  unsigned lock = 0;
};
using Sequence = std::vector<Operation>;
// Locks held after each number of operations, and whether shared.
using Held = std::vector<std::vector<std::pair<unsigned, bool>>>;

Held held_along(const Sequence& sequence) {
  Held held(1);
  for (const Operation& operation : sequence) {
    auto now = held.back();
    if (operation.kind == Operation::kTake || operation.kind == Operation::kTakeShared)
      now.emplace_back(operation.lock, operation.kind == Operation::kTakeShared);
    if (operation.kind == Operation::kGive)
      std::erase_if(now, [&](const auto& lock) { return lock.first == operation.lock; });
    held.push_back(std::move(now));
  }
  return held;
}

predictive::Axis axis_of(const Sequence& sequence, LocksetTable& locksets) {
  predictive::Axis axis;
  for (const auto& held : held_along(sequence)) {
    LocksetId set = kEmptyLockset;
    for (const auto& [lock, shared] : held) set = locksets.add(set, lock, shared);
    axis.held.push_back(set);
  }
  axis.needs.assign(sequence.size(), 0);
  return axis;
}

// All states on complete interleavings, by running every one.
std::set<std::pair<std::size_t, std::size_t>> states_of_all_interleavings(const Sequence& first,
                                                                          const Sequence& second) {
  const Held a = held_along(first);
  const Held b = held_along(second);
  std::set<std::pair<std::size_t, std::size_t>> live;
  std::vector<std::pair<std::size_t, std::size_t>> path;
  const std::function<void(std::size_t, std::size_t)> run = [&](std::size_t i, std::size_t j) {
    for (const auto& [lock, shared] : a[i])
      for (const auto& [other, other_shared] : b[j])
        if (lock == other && !(shared && other_shared)) return;
    path.emplace_back(i, j);
    if (i == first.size() && j == second.size()) live.insert(path.begin(), path.end());
    if (i < first.size()) run(i + 1, j);
    if (j < second.size()) run(i, j + 1);
    path.pop_back();
  };
  run(0, 0);
  return live;
}

Sequence random_sequence(bool nested, bool shared) {
  const auto pick = [](unsigned count) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0U, count));
  };
  Sequence sequence;
  std::vector<unsigned> held;
  const auto give = [&](std::size_t which) {
    sequence.push_back({Operation::kGive, held[which]});
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
  };
  for (unsigned i = pick(7) + 1; i > 0; --i) {
    const unsigned lock = pick(3);
    const unsigned kind = pick(4);
    if (kind == 0) sequence.push_back({Operation::kEvent, 0});
    if ((kind == 1 || kind == 2) && std::count(held.begin(), held.end(), lock) == 0) {
      sequence.push_back({shared && pick(2) == 0 ? Operation::kTakeShared : Operation::kTake, lock});
      held.push_back(lock);
    }
    if (kind == 3 && !held.empty()) give(nested ? held.size() - 1 : pick(static_cast<unsigned>(held.size())));
  }
  while (!held.empty()) give(held.size() - 1);
  return sequence;
}

RC_GTEST_PROP(FeasibilityLaw, TheGridEqualsAllInterleavings, ()) {
  const bool nested = *rc::gen::arbitrary<bool>();
  const Sequence first = random_sequence(nested, true);
  const Sequence second = random_sequence(nested, true);
  LocksetTable locksets;
  const predictive::InterleavingGrid grid(axis_of(first, locksets), axis_of(second, locksets), locksets);
  const auto live = states_of_all_interleavings(first, second);
  for (uint32_t i = 0; i <= first.size(); ++i)
    for (uint32_t j = 0; j <= second.size(); ++j) RC_ASSERT(grid.is_live(i, j) == live.contains({i, j}));
}

std::string trace_of(const Sequence& sequence, int thread) {
  std::string text;
  for (const Operation& operation : sequence)
    if (operation.kind != Operation::kEvent)
      text += fmt::format("T{}|{}(m{})|\n", thread, operation.kind == Operation::kGive ? "rel" : "acq",
                          operation.lock);
  return text;
}

// Thm 5.1: for events e1, e2 of the first and e3 of the second.
RC_GTEST_PROP(FeasibilityLaw, LocksetsDecideWhereNoDeadlockIsPossible, ()) {
  const Sequence first = random_sequence(true, false);
  const Sequence second = random_sequence(true, false);
  const bool may_deadlock = !check_text("deadlock", trace_of(first, 1) + trace_of(second, 2)).empty();
  RC_TAG(may_deadlock ? "potential deadlock" : "none");
  LocksetTable locksets;
  const predictive::Axis axis = axis_of(first, locksets);
  const predictive::Axis other = axis_of(second, locksets);
  const predictive::InterleavingGrid grid(axis, other, locksets);
  const Held first_held = held_along(first);
  const Held second_held = held_along(second);
  for (uint32_t e1 = 0; e1 < first.size(); ++e1) {
    for (uint32_t e2 = e1 + 1; e2 < first.size(); ++e2) {
      for (uint32_t e3 = 0; e3 < second.size(); ++e3) {
        if (first[e1].kind + first[e2].kind + second[e3].kind != 0) continue;
        bool feasible = false;
        for (uint32_t i = e1 + 1; i <= e2; ++i) feasible |= grid.second_can_go(i, e3);
        std::set<unsigned> throughout;  // held from before e1 until after e2
        for (const auto& [lock, shared] : first_held[e1]) throughout.insert(lock);
        for (uint32_t i = e1; i < e2; ++i)
          if (first[i].kind == Operation::kGive) throughout.erase(first[i].lock);
        bool disjoint = true;
        for (const auto& [lock, shared] : second_held[e3]) disjoint &= !throughout.contains(lock);
        if (feasible) RC_ASSERT(disjoint);
        if (!may_deadlock) RC_ASSERT(feasible == disjoint);
      }
    }
  }
}

// (10): disjoint locksets, and yet not feasible.
TEST(Feasibility, Example10) {
  const Sequence first = {{Operation::kTake, 1}, {Operation::kTake, 2}, {Operation::kGive, 2}, {}, {},
                          {Operation::kGive, 1}};
  const Sequence second = {
      {Operation::kTake, 2}, {Operation::kTake, 1}, {Operation::kGive, 1}, {}, {Operation::kGive, 2}};
  LocksetTable locksets;
  const predictive::InterleavingGrid grid(axis_of(first, locksets), axis_of(second, locksets), locksets);
  EXPECT_FALSE(grid.second_can_go(4, 3));
  EXPECT_TRUE(grid.second_can_go(0, 3));
  EXPECT_TRUE(grid.second_can_go(6, 3));
}

// A step that needs others to be done waits for them.
TEST(Feasibility, ForcedOrder) {
  LocksetTable locksets;
  predictive::Axis first = axis_of({{}, {}}, locksets);
  const predictive::Axis second = axis_of({{}, {}}, locksets);
  first.needs = {0, 2};
  const predictive::InterleavingGrid grid(first, second, locksets);
  EXPECT_TRUE(grid.first_can_go(0, 0));
  EXPECT_FALSE(grid.first_can_go(1, 1));
  EXPECT_TRUE(grid.first_can_go(1, 2));
}

}  // namespace
}  // namespace heddle::test
