// Traces no program can have produced are refused, with the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/table.h"

namespace heddle::test {
namespace {

TEST(WellFormed, LocksAreHeldByOneThread) {
  expect_refused("T1 | T2\n acq(m) |\n | acq(m)", "table:2: T2 acquires m, which T1 holds since event 0");
  expect_refused("T1 | T2\n acq_sh(m) |\n | acq(m)", "T2 acquires m, which T1 holds shared since event 0");
  expect_refused("T1 | T2\n acq(m) |\n | acq_sh(m)",
                 "T2 acquires m shared, which T1 holds exclusively since event 0");
  expect_refused("T1 | T2\n acq_sh(m) |\n acq(m)|", "T1 acquires m, which it already holds shared");
  expect_table("all", "T1 | T2\n acq_sh(m) |\n | acq_sh(m)\n rel_sh(m) | \n | rel_sh(m)\n => clean");
}

TEST(WellFormed, EveryHolderHasItsOwnBeginning) {
  expect_refused("T1 | T2 | T3\n acq_sh(m) ||\n | acq_sh(m) |\n || acq(m)",
                 "T3 acquires m, which T1 holds shared since event 0");
  expect_refused("T1 | T2 | T3\n acq_sh(m) ||\n | acq_sh(m) |\n rel_sh(m) ||\n || acq(m)",
                 "T3 acquires m, which T2 holds shared since event 1");
  expect_refused("T1 | T2\n acq_sh(m) |\n | acq_sh(m)\n | acq(m)",
                 "T2 acquires m, which it already holds shared since event 1");
}

TEST(WellFormed, OnlyAHolderReleases) {
  expect_refused("T1 | T2\n rel(m) |", "T1 releases m, which it does not hold");
  expect_refused("T1 | T2\n acq(m) |\n | rel(m)",
                 "T2 releases m, which it does not hold; T1 does, since event 0");
  expect_refused("T1 | T2\n acq(m) |\n rel_sh(m) |", "T1 releases m shared, which it does not hold");
  expect_refused("T1 | T2\n acq(m) |\n acq(m) |\n rel(m) |\n rel(m) |\n rel(m) |", "T1 releases m");
}

TEST(WellFormed, LongNamesAreShortenedInTheReason) {
  const std::string name(1000, 'm');
  expect_refused("T1\n rel(" + name + ")",
                 "T1 releases " + std::string(80, 'm') + "…, which it does not hold");
}

TEST(WellFormed, BlocksNest) {
  expect_refused("T1\n end", "T1 ends a block, but none is open");
  expect_refused("T1\n begin(f)\n begin(g)\n end(f)", "T1 ends block f, but the innermost open block is g");
  expect_table("all", "T1\n begin(f)\n begin\n end(g)\n end(f)\n begin(f)\n => clean");
}

TEST(WellFormed, ThreadsLiveFromForkToJoin) {
  expect_refused("T1 | T2\n | r(x)\n fork(T2) |", "T1 forks T2, which has acted before");
  expect_refused("T1 | T2\n fork(T2) |\n fork(T2) |", "T1 forks T2, which was forked before");
  expect_refused("T1\n fork(T1)", "T1 forks itself");
  expect_refused("T1\n join(T1)", "T1 joins itself");
  expect_refused("T1 | T2\n join(T2) |", "T1 joins T2, which was neither forked nor seen");
  expect_refused("T1 | T2\n fork(T2) |\n join(T2) |\n | r(x)", "table:3: T2 acts after it was joined");
  expect_refused("T1\n r(x)\n start", "T1 starts, but it has acted before");
  expect_refused("T1\n stop\n r(x)", "T1 acts after its stop");
  expect_table("all", "T1 | T2\n fork(T2) |\n join(T2) |\n join(T2) |\n => clean");
}

TEST(WellFormed, BarriersAreLeftAfterArriving) {
  expect_refused("T1 | T2\n arrive(b) |\n | leave(b)", "T2 leaves barrier b without having arrived");
  expect_refused("T1\n arrive(b)\n leave(b)\n leave(b)", "T1 leaves barrier b without having arrived");
}

TEST(WellFormed, CommitsFollowTheStoreBuffer) {
  expect_refused("T1\n commit(x)", "T1 commits x, but no write of it is in its store buffer");
  expect_refused("T1\n w(x)\n w(y)\n commit(y)",
                 "T1 commits y, but the oldest write in its store buffer is to x");
  expect_refused("T1 | T2\n w(x) |\n | commit(x)", "T2 commits x, but no write");
  expect_table("all", "T1\n w(x)\n w(y)\n commit(x)\n commit(y)\n => clean");
  const std::string some = "T1\n w(a)\n w(b)\n w(c)\n w(d)\n commit(a)\n w(e)\n commit(b)\n commit(c)\n";
  expect_table("all", some + " commit(d)\n w(f)\n commit(e)\n commit(f)\n => clean");
  expect_refused(some + " commit(e)", "the oldest write in its store buffer is to d");
  expect_refused(some + " commit(d)\n commit(e)\n commit(e)", "T1 commits e, but no write");
}

TEST(WellFormed, CommitsComeBeforeWhatDrainsTheStoreBuffer) {
  const char* emptied = "T1 commits x, but its store buffer was emptied at event 1";
  for (const char* drain : {"fence", "armw(y,relaxed)", "aw(y,seq_cst)", "acq(m)", "fork(T3)", "post(s)"})
    expect_refused(fmt::format("T1\n w(x)\n {}\n commit(x)", drain), emptied);
  expect_refused("T1\n w(x)\n stop\n commit(x)", "T1 acts after its stop");
  expect_refused("T1 | T2\n w(x) |\n | join(T1)\n commit(x) |", "T1 acts after it was joined");
  expect_table("all", "T1\n w(x)\n fence(release)\n ar(y,seq_cst)\n commit(x)\n => clean");
  // Taking a lock again that one holds is no locked instruction.
  expect_table("all", "T1\n acq(m)\n w(x)\n acq(m)\n commit(x)\n => clean");
  // The write of before the fence never reached memory by a commit of its own; the one after it does.
  expect_table("all", "T1\n w(x)\n fence\n w(x)\n commit(x)\n => clean");
}

TEST(WellFormed, TasksAndMaybesClose) {
  expect_refused("T1\n endtask", "T1 ends a task, but none is open");
  expect_refused("T1\n endnd", "T1 has endnd, but no nd is open");
}

TEST(WellFormed, WhatIsOpenAtTheEndIsFine) {
  expect_table("all", "T1 | T2\n fork(T2) |\n acq(m) |\n begin(f) |\n arrive(b) |\n task(k) |\n => clean");
}

}  // namespace
}  // namespace heddle::test
