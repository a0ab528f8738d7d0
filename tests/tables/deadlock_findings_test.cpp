// Which cycles are one finding, and what it says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

TEST(DeadlockFindings, EachLockCycleOnce) {
  std::string trace;
  for (int round = 0; round < 10; ++round)
    trace +=
        "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|x:3\nT1|rel(a)|x:4\nT1|post(s)|x:5\n"
        "T2|acq(b)|y:1\nT2|acq(a)|y:2\nT2|rel(a)|y:3\nT2|rel(b)|y:4\nT2|post(s)|y:5\n";
  EXPECT_EQ(check_text("deadlock", trace).size(), 1U);
}

// Two places of T1 and one of T2 make two pairs. The numbers of sites, which an operation elsewhere shifts,
// do not matter.
TEST(DeadlockFindings, PlacesInDifferentStretchesAreToldApart) {
  for (const char* elsewhere : {"", "z:1"}) {
    const std::string trace = fmt::format(
        "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|\nT1|rel(a)|\nT1|post(s)|{}\n"
        "T1|acq(a)|x:5\nT1|acq(b)|x:6\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|y:1\nT2|acq(a)|y:2\n",
        elsewhere);
    EXPECT_EQ(check_text("deadlock", trace).size(), 2U) << trace;
  }
}

// Whoever suppresses the first pair must still hear of the second.
TEST(DeadlockFindings, PlacesInOneStretchAreToldApart) {
  const std::vector<Finding> findings = check_text(
      "deadlock",
      "T2|acq(b)|y:1\nT2|acq(a)|y:2\nT2|rel(a)|\nT2|rel(b)|\nT1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|\n"
      "T1|rel(a)|\nT1|acq(a)|x:5\nT1|acq(b)|x:6\nT1|rel(b)|\nT1|rel(a)|\n");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].conclusion, "If T2 stops before y:2 and T1 before x:2, both wait forever.");
  EXPECT_EQ(findings[1].conclusion, "If T2 stops before y:2 and T1 before x:6, both wait forever.");
}

// What was uncertain in the first round is certain in the second, at the same sites.
TEST(DeadlockFindings, ACertainOccurrenceWins) {
  const std::string round =
      "T1|acq(a)|x:1\nT1|acq(b)|x:2\nT1|rel(b)|x:3\nT1|rel(a)|x:4\n"
      "T2|acq(b)|y:1\n{}T2|acq(a)|y:2\nT2|rel(a)|y:3\nT2|rel(b)|y:4\n";
  const std::string uncertain = fmt::format(fmt::runtime(round), "T2|post(s)|\n");
  const std::string certain = fmt::format(fmt::runtime(round), "");
  ASSERT_EQ(check_text("deadlock", uncertain).size(), 1U);
  EXPECT_EQ(check_text("deadlock", uncertain)[0].strength, Strength::kPotential);
  const std::vector<Finding> both = check_text("deadlock", uncertain + certain);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].strength, Strength::kPredicted);
  EXPECT_EQ(both[0].conclusion, "If T1 stops before x:2 and T2 before y:2, both wait forever.");
}

TEST(DeadlockFindings, Argues) {
  const std::vector<Finding> findings =
      check_text("deadlock",
                 "T1|acq(a)|bank.cpp:30 in f\nT1|acq(b)|bank.cpp:31 in f\nT1|rel(b)|\nT1|rel(a)|\n"
                 "T2|acq(b)|bank.cpp:40 in g\nT2|acq(a)|bank.cpp:41 in g\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message, "T1 and T2 take a and b in opposite orders");
  EXPECT_EQ(findings[0].steps[1].because, "T1 waits for b, which T2 holds");
  EXPECT_EQ(findings[0].steps[1].held, "holding a");
  EXPECT_EQ(findings[0].steps[3].because, "T2 waits for a, which T1 holds");
  EXPECT_EQ(findings[0].conclusion,
            "If T1 stops before bank.cpp:31 in f and T2 before bank.cpp:41 in g, both wait forever.");
  EXPECT_EQ(findings[0].advice,
            "take a and b in the same order everywhere, or lock them together with std::scoped_lock");
}

// Traces of other tools have numbers for sites, and some have none.
TEST(DeadlockFindings, SaysWhereWithoutSourceLines) {
  const std::vector<Finding> findings =
      check_text("deadlock", "T1|acq(a)|1\nT1|acq(b)|2\nT1|rel(b)|\nT1|rel(a)|\nT2|acq(b)|3\nT2|acq(a)|\n");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].conclusion, "If T1 stops before site 2 and T2 before it takes a, both wait forever.");
}

}  // namespace
}  // namespace heddle::test
