// Focused `blocks` (S4 §6.2): the verdict on a trace whose proven blocks are reduced is that on the whole
// trace. Traces are random; every variable is used with its lock, so that blocks that take all their locks
// before they give one back are what the type check proves.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/choices.h"
#include "support/read_events.h"
#include "support/table.h"
#include "trace/reduced_blocks.h"

namespace heddle::test {
namespace {

// Blocks one after the other, of three threads: `blocks` finds the other orders by itself. Locks are taken in
// one order, so that no deadlock is possible.
std::string random_blocks(const std::vector<Choice>& choices) {
  std::string text;
  for (const Choice& choice : choices) {
    const std::string thread = fmt::format("T{}", choice[0] % 3);
    const bool is_safe = choice[1] % 2 == 0;
    text += fmt::format("{}|begin({})|\n", thread, is_safe ? "safe" : "risky");
    const auto use = [&](unsigned variable, unsigned how) {
      if (how % 3 != 1) text += fmt::format("{}|r(x{})|\n", thread, variable);
      if (how % 3 != 0) text += fmt::format("{}|w(x{})|\n", thread, variable);
    };
    const unsigned first = choice[2] % 4;
    const unsigned second = choice[2] / 4 % 4;
    const unsigned how = choice[1] / 2;
    const auto lock_of = [](unsigned variable) { return variable % 2; };
    if (is_safe) {
      const unsigned low = std::min(lock_of(first), lock_of(second));
      const unsigned high = std::max(lock_of(first), lock_of(second));
      text += fmt::format("{}|acq(m{})|\n", thread, low);
      if (lock_of(first) == low) use(first, how);
      if (high != low) text += fmt::format("{}|acq(m{})|\n", thread, high);
      if (lock_of(first) != low) use(first, how);
      use(second, how / 3);
      use(first, how / 9);
      if (high != low) text += fmt::format("{}|rel(m{})|\n", thread, high);
      text += fmt::format("{}|rel(m{})|\n", thread, low);
    } else {
      for (const unsigned variable : {first, second}) {
        text += fmt::format("{}|acq(m{})|\n", thread, lock_of(variable));
        use(variable, variable == first ? how : how / 3);
        text += fmt::format("{}|rel(m{})|\n", thread, lock_of(variable));
      }
    }
    text += fmt::format("{}|end|\n", thread);
  }
  return text;
}

std::string text_of(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    const std::string_view spelling = info(event.operation).spelling;
    if (event.operation == Operation::kBeginAtomic)
      text += fmt::format("T{}|begin(b{})|\n", event.thread, event.object);
    else if (event.operation == Operation::kEnd)
      text += fmt::format("T{}|end|\n", event.thread);
    else
      text += fmt::format("T{}|{}(o{})|\n", event.thread, spelling, event.object);
  }
  return text;
}

bool is_violated(const std::string& checker, const std::string& trace) {
  const std::vector<Finding> findings = check_text(checker, trace);
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.rule->id == "HD2003" || finding.rule->id == "HD2002";
  });
}

RC_GTEST_PROP(ReducedBlocks, GiveTheVerdictOfTheWholeTrace, ()) {
  std::vector<Choice> choices = *any_choices();
  if (choices.size() > 5) choices.resize(5);
  const std::string whole = random_blocks(choices);
  const std::vector<Event> events = read_events(whole);
  // The first block that begins has id 0.
  const std::size_t begin = whole.find("begin(");
  const bool safe_is_first = begin != std::string::npos && whole.compare(begin, 10, "begin(safe") == 0;
  const bool has_both = whole.find("safe") != std::string::npos && whole.find("risky") != std::string::npos;
  const uint32_t safe = safe_is_first || !has_both ? 0 : 1;
  const bool has_safe = whole.find("safe") != std::string::npos;
  const std::vector<Event> reduced =
      with_reduced_blocks(events, [&](uint32_t block) { return has_safe && block == safe; });
  RC_ASSERT(reduced.size() <= events.size());
  const std::string less = text_of(reduced);
  RC_LOG() << whole << "--\n" << less;
  for (const std::string checker : {"blocks", "reduction"})
    RC_ASSERT(is_violated(checker, whole) == is_violated(checker, less));
}

TEST(ReducedBlocks, OneReadAndOneWriteForEachVariableWithAllLocks) {
  const std::string trace =
      "T0|begin(a)|\nT0|acq(m)|\nT0|r(x)|\nT1|r(z)|\nT0|acq(n)|\nT0|w(x)|\nT0|w(y)|\nT0|r(y)|\n"
      "T0|r(x)|\nT0|rel(n)|\nT0|rel(m)|\nT0|end|\n";
  EXPECT_EQ(text_of(with_reduced_blocks(read_events(trace), [](uint32_t) { return true; })),
            "T0|begin(b0)|\nT1|r(o1)|\nT0|acq(o0)|\nT0|acq(o1)|\nT0|r(o0)|\nT0|w(o0)|\nT0|w(o2)|\n"
            "T0|rel(o1)|\nT0|rel(o0)|\nT0|end|\n");
}

// With S4's reduced set, a write alone for what was read and written, the read between the two writes is
// lost.
TEST(ReducedBlocks, ReadsOfWhatIsWrittenLaterMatter) {
  const std::string safe = "T1|begin(safe)|\nT1|acq(m)|\nT1|r(x)|\nT1|w(x)|\nT1|rel(m)|\nT1|end|\n";
  const std::string blind = "T1|begin(safe)|\nT1|acq(m)|\nT1|w(x)|\nT1|rel(m)|\nT1|end|\n";
  const std::string risky =
      "T0|begin(risky)|\nT0|acq(m)|\nT0|w(x)|\nT0|rel(m)|\nT0|acq(m)|\nT0|w(x)|\nT0|rel(m)|\nT0|end|\n";
  EXPECT_TRUE(is_violated("blocks", safe + risky));
  EXPECT_FALSE(is_violated("blocks", blind + risky));
}

TEST(ReducedBlocks, WhatIsNotTwoPhaseStays) {
  for (const std::string inside :
       {"T0|acq(m)|\nT0|rel(m)|\nT0|acq(m)|\nT0|rel(m)|\n", "T0|fork(T1)|\n", "T0|acq(m)|\n"}) {
    const std::vector<Event> events =
        read_events("T0|begin(a)|\n" + inside + "T0|r(x)|\nT0|r(x)|\nT0|end|\n");
    EXPECT_EQ(with_reduced_blocks(events, [](uint32_t) { return true; }), events) << inside;
  }
}

}  // namespace
}  // namespace heddle::test
