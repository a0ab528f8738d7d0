#include "core/blocks.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Event begin(ThreadId thread, bool deterministic) {
  Event event;
  event.operation = deterministic ? Operation::kBeginDeterministic : Operation::kBeginAtomic;
  event.thread = thread;
  return event;
}

TEST(Blocks, NestAndEnd) {
  Blocks blocks;
  blocks.begin(begin(0, false), 10);
  const BlockId outer = blocks.inner(0);
  blocks.begin(begin(0, false), 11);
  const BlockId inner = blocks.inner(0);
  EXPECT_EQ(blocks[inner].parent, outer);
  EXPECT_EQ(blocks.outermost(inner), outer);
  EXPECT_EQ(blocks[inner].number, 2U);
  blocks.end(0);
  EXPECT_EQ(blocks.inner(0), outer);
  blocks.end(0);
  EXPECT_EQ(blocks.inner(0), kNoId);
}

TEST(Blocks, OnlyADeterministicBlockAdopts) {
  Blocks blocks;
  blocks.begin(begin(0, false), 0);
  EXPECT_FALSE(blocks.fork(0, 1));
  EXPECT_EQ(blocks.inner(1), kNoId);
  blocks.begin(begin(0, true), 1);
  EXPECT_FALSE(blocks.fork(0, 2)) << "an atomic block stands around it";
}

TEST(Blocks, AnAtomicBlockInBetweenLeavesTheForkToTheOuterOne) {
  Blocks blocks;
  blocks.begin(begin(0, true), 0);
  const BlockId outer = blocks.inner(0);
  blocks.begin(begin(0, false), 1);
  EXPECT_TRUE(blocks.fork(0, 1));
  EXPECT_EQ(blocks.inner(1), outer);
}

TEST(Blocks, ABlockLivesUntilItsLastThreadHasStopped) {
  Blocks blocks;
  blocks.begin(begin(0, true), 7);
  const BlockId block = blocks.inner(0);
  EXPECT_TRUE(blocks.fork(0, 1));
  blocks.end(0);
  blocks.begin(begin(0, true), 8);
  EXPECT_NE(blocks.inner(0), block) << "thread 1 is still in the first one";
  EXPECT_EQ(blocks[blocks.inner(1)].begin, 7U);
  blocks.stop(1);
  blocks.begin(begin(2, true), 9);
  EXPECT_EQ(blocks.inner(2), block) << "its place is free again";
}

}  // namespace
}  // namespace heddle
