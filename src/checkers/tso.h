// tso: blocks that should be atomic, and store buffers that can break them.
//
// A report means: the operations of this run, with the writes of each thread reaching memory as late as x86
// allows, put transactions in an order that no serial execution gives. Strength predicted: the run is silent
// about when writes reached memory, and some execution of the same operations in the same order has the
// cycle. Observed: the trace has commits, and this very execution has it. No report means: TSO-serializable,
// whatever the store buffers do with this order of operations. Paper: S2, as ALGORITHMS §5 corrects it
// (docs/design/store-buffers.md). Cost: memory some 90 bytes an operation; time linear in operations for
// a fixed number of threads, but for parts of the conflict graph that delayed writes make cyclic: there a
// search with a budget.
#pragma once

#include <array>
#include <memory>

#include "core/checker.h"

namespace heddle {

inline constexpr std::array<Rule, 1> kTsoRules = {{{
    "HD4001",
    "tso-violation",
    "store-buffer atomicity violation",
    "Blocks that should be atomic are not when writes wait in store buffers, as they do on x86.",
}}};

std::unique_ptr<Checker> make_tso_checker(const CheckerContext& context);

inline constexpr CheckerEntry kTsoChecker{
    "tso", "blocks that the store buffers of x86 can break (TSO-serializability)", false, kTsoRules,
    make_tso_checker};

}  // namespace heddle
