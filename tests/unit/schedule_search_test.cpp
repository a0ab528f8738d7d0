// Schedules of several lanes with an order to keep: found where there is one, and given up when it takes too
// long.
#include "checkers/predictive/schedule_search.h"

#include <gtest/gtest.h>

namespace heddle::predictive {
namespace {

class ScheduleSearch : public testing::Test {
 protected:
  // "a": an access; "+1": takes lock 1; "-1": gives it back.
  Lane lane(uint32_t member, const std::vector<std::string>& operations) {
    Lane lane;
    LocksetId held = kEmptyLockset;
    for (const std::string& operation : operations) {
      const bool acquires = operation[0] == '+';
      if (operation.size() > 1) {
        const auto lock = static_cast<uint32_t>(operation[1] - '0');
        held = acquires ? locksets_.add(held, lock, false) : locksets_.remove(held, lock);
      }
      lane.push_back({{member, static_cast<uint32_t>(lane.size())}, acquires, held});
    }
    return lane;
  }
  std::string found(const std::vector<Lane>& lanes, const std::vector<OrderConstraint>& constraints,
                    uint64_t budget = 1000) {
    const SearchAnswer answer = find_schedule(lanes, constraints, locksets_, budget);
    if (answer.exhausted) return "exhausted";
    if (!answer.schedule) return "none";
    std::string text;
    for (const ScheduledStep& step : *answer.schedule)
      text += std::to_string(step.member) + std::to_string(step.step) + " ";
    return text;
  }

  LocksetTable locksets_;
};

TEST_F(ScheduleSearch, KeepsTheOrder) {
  EXPECT_EQ(found({lane(0, {"a", "a"}), lane(1, {"a"})}, {{{0, 0}, {1, 0}}, {{1, 0}, {0, 1}}}), "00 10 01 ");
}

TEST_F(ScheduleSearch, ACircleHasNone) {
  EXPECT_EQ(found({lane(0, {"a"}), lane(1, {"a"})}, {{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}}), "none");
}

TEST_F(ScheduleSearch, ALockKeepsOthersOut) {
  const std::vector<OrderConstraint> between = {{{0, 1}, {1, 1}}, {{1, 1}, {0, 2}}};
  EXPECT_EQ(found({lane(0, {"+1", "a", "a", "-1"}), lane(1, {"+1", "a", "-1"})}, between), "none");
  EXPECT_EQ(found({lane(0, {"+1", "a", "a", "-1"}), lane(1, {"+2", "a", "-2"})}, between),
            "00 01 10 11 12 02 03 ");
}

TEST_F(ScheduleSearch, GoesBackFromADeadlock) {
  // Each takes its first lock: then nobody can go on, so one has to go first.
  const std::string order = found({lane(0, {"+1", "+2", "-2", "-1"}), lane(1, {"+2", "+1", "-1", "-2"})}, {});
  EXPECT_EQ(order, "00 01 02 03 10 11 12 13 ");
}

TEST_F(ScheduleSearch, GivesUpWhenTheBudgetIsSpent) {
  EXPECT_EQ(found({lane(0, {"+1", "-1"}), lane(1, {"+1", "-1"})}, {}, 1), "exhausted");
}

TEST_F(ScheduleSearch, FourPhilosophersOfWhomOneMustEatFirst) {
  std::vector<Lane> lanes;
  for (uint32_t i = 0; i < 4; ++i) {
    const std::string left = "+" + std::to_string(i);
    const std::string right = "+" + std::to_string((i + 1) % 4);
    lanes.push_back(lane(i, {left, right, "a", "-" + right.substr(1), "-" + left.substr(1)}));
  }
  const std::string order = found(lanes, {{{3, 2}, {0, 0}}, {{3, 2}, {1, 0}}, {{3, 2}, {2, 0}}});
  EXPECT_EQ(order.substr(0, 9), "30 31 32 ");
}

}  // namespace
}  // namespace heddle::predictive
