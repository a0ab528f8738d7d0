// ndseq: parallel tasks that are not equivalent to a sequential run of their specification.
//
// A report means: tasks of this run (iterations of a parallel loop, bodies of a parallel begin) are ordered
// both ways by operations that matter to the focus locations or to a branch, so no order of running them one
// after the other, whatever the if (true*) choose, keeps what the operations saw. Strength observed. It may
// be a false alarm where the values would have been the same all the same (docs/rules/HD5001.md). No report
// means: the tasks run one by one, in the order told and with the if (true*) bodies told left out, reach the
// same values in the focus locations (S3, Theorem 1). Paper: S3 §5 and ALGORITHMS §6, docs/design/ndseq.md.
// Cost: memory some 75 bytes an event; time linear in events, times the depth of tasks, but for a logarithm
// where many tasks write one location.
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 1> kNdseqRules = {{{
    "HD5001",
    "unserializable-tasks",
    "unserializable tasks",
    "Parallel tasks did what no order of running them one after the other does, though it matters to the "
    "outcome.",
}}};

std::unique_ptr<Checker> make_ndseq_checker(const CheckerContext& context);

inline constexpr CheckerEntry kNdseqChecker{
    "ndseq", "parallel tasks that no sequential run of their specification equals", false, kNdseqRules,
    make_ndseq_checker};

}  // namespace heddle
