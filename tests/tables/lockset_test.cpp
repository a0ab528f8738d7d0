#include "checkers/lockset.h"

#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

// virgin → exclusive: one thread needs no lock.
TEST(Lockset, OneThreadNeedsNoLock) {
  expect_table("lockset", R"(
    T1
    w(x)
    r(x)
    w(x)
    => clean
  )");
}

// exclusive → shared: what is only read once shared needs no lock.
TEST(Lockset, ReadOnlyAfterInitializationNeedsNoLock) {
  expect_table("lockset", R"(
    T1   | T2   | T3
    w(x) |      |
         | r(x) |
         |      | r(x)
    r(x) |      |
    => clean
  )");
}

// exclusive → shared-modified: the second thread's write without a lock.
TEST(Lockset, SecondThreadWritesWithoutLock) {
  expect_table("lockset", R"(
    T1   | T2
    w(x) |
         | w(x)
    => unguarded-variable potential: T1 w(x), T2 w(x)
  )");
}

// shared → shared-modified: the candidates were empty before; the write makes it a finding.
TEST(Lockset, WriteAfterUnguardedReads) {
  expect_table("lockset", R"(
    T1      | T2
    w(x)    |
            | r(x)
    acq(m)  |
    w(x)    |
    => unguarded-variable potential: T1 w(x), T2 r(x), T1 w(x)
  )");
}

// shared → shared-modified by the first thread's write, guarded: clean.
TEST(Lockset, SharedThenWrittenUnderTheSameLock) {
  expect_table("lockset", R"(
    T1      | T2
    w(x)    |
            | acq(m)
            | r(x)
            | rel(m)
    acq(m)  |
    w(x)    |
    => clean
  )");
}

// shared-modified → reported: a read without the lock is enough.
TEST(Lockset, UnguardedReadAfterGuardedWrites) {
  expect_table("lockset", R"(
    T1      | T2
    acq(m)  |
    w(x)    |
    rel(m)  |
            | acq(m)
            | w(x)
            | rel(m)
    r(x)    |
    => unguarded-variable potential: T1 w(x), T2 w(x), T1 r(x)
  )");
}

// reported is final: one finding per life of the variable.
TEST(Lockset, ReportsOnce) {
  expect_table("lockset", R"(
    T1   | T2
    w(x) |
         | w(x)
    w(x) |
         | w(x)
    => unguarded-variable potential: T1 w(x), T2 w(x)
  )");
}

TEST(Lockset, CandidatesShrinkStepByStep) {
  expect_table("lockset", R"(
    T1      | T2      | T3
    w(x)    |         |
            | acq(a)  |
            | acq(b)  |
            | w(x)    |
            | w(x)    |
            | rel(b)  |
            | w(x)    |
            | rel(a)  |
            |         | acq(b)
            |         | w(x)
    => unguarded-variable potential: T1 w(x), T2 w(x), T2 w(x), T3 w(x)
  )");
}

// What the first thread did before the second came is initialization, whatever it held.
TEST(Lockset, FirstThreadsLocksDoNotCount) {
  expect_table("lockset", R"(
    T1      | T2
    w(x)    |
            | acq(m)
            | w(x)
            | rel(m)
    acq(m)  |
    w(x)    |
    => clean
  )");
}

TEST(Lockset, ReaderLockGuardsReads) {
  expect_table("lockset", R"(
    T1         | T2
    w(x)       |
               | acq_sh(m)
               | r(x)
               | rel_sh(m)
    acq(m)     |
    w(x)       |
    rel(m)     |
               | acq_sh(m)
               | r(x)
    => clean
  )");
}

TEST(Lockset, ReaderLockDoesNotGuardAWrite) {
  expect_table("lockset", R"(
    T1         | T2
    w(x)       |
               | acq(m)
               | w(x)
               | rel(m)
    acq_sh(m)  |
    w(x)       |
    => unguarded-variable potential: T1 w(x), T2 w(x), T1 w(x)
  )");
}

TEST(Lockset, AtomicsNeedNoLockAmongThemselves) {
  expect_table("lockset", R"(
    T1               | T2
    aw(x,relaxed)    |
                     | armw(x,acq_rel)
    ar(x,acquire)    |
                     | acasfail(x,seq_cst)
    aw(x,release)    |
    => clean
  )");
}

TEST(Lockset, PlainBesideAtomicNeedsALock) {
  expect_table("lockset", R"(
    T1             | T2
    aw(x,relaxed)  |
                   | armw(x,relaxed)
    r(x)           |
    => unguarded-variable potential: T1 aw(x,relaxed), T2 armw(x,relaxed), T1 r(x)
  )");
  expect_table("lockset", R"(
    T1             | T2
    aw(x,relaxed)  |
                   | acq(m)
                   | armw(x,relaxed)
                   | rel(m)
    acq(m)         |
    r(x)           |
    => clean
  )");
}

TEST(Lockset, FailedCompareExchangeIsARead) {
  expect_table("lockset", R"(
    T1    | T2
    w(x)  |
          | acasfail(x,relaxed)
    r(x)  |
    => clean
  )");
}

TEST(Lockset, AllocAndFreeBeginANewLife) {
  expect_table("lockset", R"(
    T1       | T2
    w(x)     |
    free(x)  |
             | alloc(x)
             | w(x)
    => clean
  )");
  expect_table("lockset", R"(
    T1       | T2
    w(x)     |
             | r(x)
             | free(x)
    w(x)     |
    => clean
  )");
}

// The second life is a finding of its own: it happened at other sites.
TEST(Lockset, EachLifeIsReported) {
  expect_table("lockset", R"(
    T1       | T2
    w(x)     |
             | w(x)
    free(x)  |
             | w(x)
    w(x)     |
    => unguarded-variable potential: T1 w(x), T2 w(x)
    => unguarded-variable potential: T2 w(x), T1 w(x)
  )");
}

TEST(Lockset, SameSitesInAnotherLifeAreCountedNotRepeated) {
  std::string trace;
  for (int life = 0; life < 5; ++life) trace += "T1|w(x)|a:1\nT2|w(x)|a:2\nT2|free(x)|a:3\n";
  const std::vector<Finding> findings = check_text("lockset", trace);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 5U);
}

// A lock taken again by its holder is given back once: the inner release does not release.
TEST(Lockset, RecursiveLockStaysHeld) {
  expect_table("lockset", R"(
    T1      | T2
    w(x)    |
            | acq(m)
            | acq(m)
            | rel(m)
            | w(x)
            | rel(m)
    acq(m)  |
    w(x)    |
    => clean
  )");
}

TEST(Lockset, ObjectGranularityPutsFieldsTogether) {
  const std::string_view table = R"(
    T1            | T2
    w(p->left)    |
                  | acq(m)
                  | w(p->left)
                  | rel(m)
    w(p->right)   |
  )";
  expect_table("lockset", std::string(table) + "=> clean");
  CheckerOptions options;
  options.granularity = Granularity::kObject;
  expect_table(
      "lockset",
      std::string(table) + "=> unguarded-variable potential: T1 w(p->left), T2 w(p->left), T1 w(p->right)",
      options);
}

// A new life of o.b says nothing about o.a.
TEST(Lockset, ALifeOfOneFieldDoesNotForgetTheOthers) {
  CheckerOptions options;
  options.granularity = Granularity::kObject;
  expect_table("lockset", R"(
    A       | B
    w(o.a)  |
            | alloc(o.b)
            | w(o.b)
    => unguarded-variable potential: A w(o.a), B w(o.b)
  )",
               options);
}

TEST(Lockset, AnObjectLivesAnewWhenItOrAllItsFieldsDo) {
  CheckerOptions options;
  options.granularity = Granularity::kObject;
  expect_table("lockset", R"(
    A          | B
    w(o.a)     |
    w(o.b)     |
    free(o.a)  |
    free(o.b)  |
               | w(o.a)
               | w(o.b)
    => clean
  )",
               options);
  expect_table("lockset", R"(
    A        | B
    w(o.a)   |
    w(o.b)   |
    free(o)  |
             | w(o.a)
             | w(o.b)
    => clean
  )",
               options);
  // o.a is used again before o.b ends, so the object has lived on.
  expect_table("lockset", R"(
    A          | B
    w(o.a)     |
    w(o.b)     |
    free(o.a)  |
    w(o.a)     |
    free(o.b)  |
               | w(o.b)
    => unguarded-variable potential: A w(o.a), B w(o.b)
  )",
               options);
}

// Who comes first is taken for the initializer, so the verdict depends on the schedule.
TEST(Lockset, TheFirstThreadMattersToTheVerdict) {
  expect_table("lockset", R"(
    A     | B
    w(x)  |
          | acq(m)
          | w(x)
          | rel(m)
    => clean
  )");
  expect_table("lockset", R"(
    A     | B
          | acq(m)
          | w(x)
          | rel(m)
    w(x)  |
    => unguarded-variable potential: B w(x), A w(x)
  )");
}

TEST(Lockset, ObjectOfAVariable) {
  EXPECT_EQ(object_of("x"), "x");
  EXPECT_EQ(object_of("a.b"), "a");
  EXPECT_EQ(object_of("a.b.c"), "a.b");
  EXPECT_EQ(object_of("p->left"), "p");
  EXPECT_EQ(object_of("p->node.key"), "p->node");
  EXPECT_EQ(object_of("p.node->key"), "p.node");
  EXPECT_EQ(object_of("v[3]"), "v");
  EXPECT_EQ(object_of("v[3].x"), "v[3]");
  EXPECT_EQ(object_of("v[w[1]]"), "v");
  EXPECT_EQ(object_of("v[1][2]"), "v[1]");
  EXPECT_EQ(object_of(".x"), ".x");
  EXPECT_EQ(object_of("]"), "]");
}

TEST(Lockset, ArguesStepByStep) {
  const std::vector<Finding> findings =
      check_text("lockset",
                 "T1|w(x)|a:1\nT2|acq(mu)|a:2\nT2|acq(lk)|a:3\nT2|w(x)|a:4\nT2|rel(mu)|a:5\n"
                 "T2|w(x)|a:6\nT2|rel(lk)|a:7\nT1|acq_sh(lk)|a:8\nT1|w(x)|a:9\n");
  ASSERT_EQ(findings.size(), 1U);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.message, "threads share x, and no lock is held at every access");
  ASSERT_EQ(finding.steps.size(), 4U);
  EXPECT_EQ(finding.steps[0].held, "holding no lock");
  EXPECT_EQ(finding.steps[0].because,
            "the first thread to use it; nothing is checked while it is the only one");
  EXPECT_EQ(finding.steps[1].held, "holding mu and lk");
  EXPECT_EQ(finding.steps[1].because, "the second thread; candidates are the locks held here, {mu, lk}");
  EXPECT_EQ(finding.steps[2].because, "the candidates {mu, lk} shrink to {lk}");
  EXPECT_EQ(finding.steps[3].held, "holding lk (shared)");
  EXPECT_EQ(finding.steps[3].because,
            "a lock held shared does not guard a write; the candidates {lk} shrink to {}");
  EXPECT_EQ(finding.advice, "hold lk at every access to x");
}

}  // namespace
}  // namespace heddle::test
