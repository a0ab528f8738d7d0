// The litmus shapes of ALGORITHMS §5, with the verdict of each: under robustness with every operation for
// itself, under tso with each thread's part as a block. The events are issued in the order written, one
// thread after the other unless said otherwise; what decides is when the writes reach memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "support/table.h"

namespace heddle::test {
namespace {

enum class Verdict { kClean, kViolation };
using enum Verdict;

// "A w(x)" for each event, in order.
using Shape = std::vector<std::string>;

std::string trace_of(const Shape& shape, bool in_blocks) {
  std::string trace;
  std::string open;  // threads whose block has begun
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const char thread = shape[i][0];
    if (in_blocks && open.find(thread) == std::string::npos) {
      trace += fmt::format("{}|begin(f{})|\n", thread, thread);
      open += thread;
    }
    trace += fmt::format("{}|{}|row {}\n", thread, shape[i].substr(2), i);
    const bool is_last = std::none_of(shape.begin() + static_cast<std::ptrdiff_t>(i) + 1, shape.end(),
                                      [&](const std::string& later) { return later[0] == thread; });
    if (in_blocks && is_last) trace += fmt::format("{}|end|\n", thread);
  }
  return trace;
}

struct Litmus {
  const char* name;
  Shape shape;
  Verdict robustness;
  Verdict tso;
};

void PrintTo(const Litmus& litmus, std::ostream* out) { *out << litmus.name; }

class LitmusShape : public testing::TestWithParam<Litmus> {};

TEST_P(LitmusShape, HasItsVerdicts) {
  const Litmus& litmus = GetParam();
  const auto verdict = [&](const char* checker, bool in_blocks) {
    return check_text(checker, trace_of(litmus.shape, in_blocks)).empty() ? kClean : kViolation;
  };
  EXPECT_EQ(verdict("robustness", false), litmus.robustness) << trace_of(litmus.shape, false);
  EXPECT_EQ(verdict("robustness", true), litmus.robustness) << "blocks do not matter";
  EXPECT_EQ(verdict("tso", true), litmus.tso) << trace_of(litmus.shape, true);
  EXPECT_EQ(verdict("tso", false), kClean)
      << "no operation alone can be broken unless a fence orders its thread";
}

// Store buffering: the one shape in which a store passes a later load.
const std::vector<Litmus> kStoreBuffering = {
    {"SB", {"A w(x)", "A r(y)", "B w(y)", "B r(x)"}, kViolation, kViolation},
    {"SB_both_stores_first", {"A w(x)", "B w(y)", "A r(y)", "B r(x)"}, kViolation, kViolation},
    {"SB_fence_in_A", {"A w(x)", "A fence", "A r(y)", "B w(y)", "B r(x)"}, kClean, kClean},
    {"SB_fence_in_B", {"A w(x)", "A r(y)", "B w(y)", "B fence", "B r(x)"}, kViolation, kViolation},
    {"SB_fences", {"A w(x)", "A fence", "A r(y)", "B w(y)", "B fence", "B r(x)"}, kClean, kClean},
    {"SB_seq_cst",
     {"A aw(x,seq_cst)", "A ar(y,seq_cst)", "B aw(y,seq_cst)", "B ar(x,seq_cst)"},
     kClean,
     kClean},
    {"SB_release_acquire",
     {"A aw(x,release)", "A ar(y,acquire)", "B aw(y,release)", "B ar(x,acquire)"},
     kViolation,
     kViolation},
    {"SB_exchange", {"A armw(x,relaxed)", "A r(y)", "B armw(y,relaxed)", "B r(x)"}, kClean, kClean},
    // R: the second store must not pass the load.
    {"R", {"A w(x)", "A w(y)", "B w(y)", "B r(x)"}, kViolation, kViolation},
    {"R_fence_in_A", {"A w(x)", "A w(y)", "A fence", "B w(y)", "B r(x)"}, kClean, kClean},
    {"R_B_first", {"B w(y)", "B r(x)", "A w(x)", "A w(y)"}, kViolation, kViolation},
    {"R_B_first_fence_in_B", {"B w(y)", "B fence", "B r(x)", "A w(x)", "A w(y)"}, kClean, kClean},
};

// In the others the buffers keep what program order says: robust. As blocks most break all the same, a late
// write lets another thread see a half: a fence at the end of the first block is enough for the order given.
const std::vector<Litmus> kKeptByTheBuffers = {
    {"MP", {"A w(x)", "A w(y)", "B r(y)", "B r(x)"}, kClean, kViolation},
    {"MP_fence", {"A w(x)", "A w(y)", "A fence", "B r(y)", "B r(x)"}, kClean, kClean},
    {"LB", {"A r(x)", "A w(y)", "B r(y)", "B w(x)"}, kClean, kViolation},
    {"LB_fence", {"A r(x)", "A w(y)", "A fence", "B r(y)", "B w(x)"}, kClean, kClean},
    {"S", {"A w(x)", "A w(y)", "B r(y)", "B w(x)"}, kClean, kViolation},
    {"S_fence", {"A w(x)", "A w(y)", "A fence", "B r(y)", "B w(x)"}, kClean, kClean},
    {"WW", {"A w(x)", "A w(y)", "B w(y)", "B w(x)"}, kClean, kViolation},  // 2+2W
    {"WW_fence", {"A w(x)", "A w(y)", "A fence", "B w(y)", "B w(x)"}, kClean, kClean},
    {"IRIW", {"A w(x)", "B w(y)", "C r(x)", "C r(y)", "D r(y)", "D r(x)"}, kClean, kClean},
    {"IRIW_fences",
     {"A w(x)", "A fence", "B w(y)", "B fence", "C r(x)", "C r(y)", "D r(y)", "D r(x)"},
     kClean,
     kClean},
    // Each reader sees one write and not the other; memory is one for all, so that is an interleaving, but of
    // operations, not of blocks.
    {"IRIW_reads_in_between",
     {"A w(x)", "B w(y)", "C r(x)", "D r(y)", "C r(y)", "D r(x)"},
     kClean,
     kViolation},
};

std::string name_of(const testing::TestParamInfo<Litmus>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(StoreBuffering, LitmusShape, testing::ValuesIn(kStoreBuffering), name_of);
INSTANTIATE_TEST_SUITE_P(KeptByTheBuffers, LitmusShape, testing::ValuesIn(kKeptByTheBuffers), name_of);

}  // namespace
}  // namespace heddle::test
