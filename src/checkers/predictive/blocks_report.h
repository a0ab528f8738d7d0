// A schedule that no serial order explains, as a finding.
#pragma once

#include "checkers/predictive/witness.h"
#include "core/finding.h"
#include "trace/names.h"

namespace heddle::predictive {

// The finding blames the members that the cycle cuts. Rule, checker and schedule are left to the caller.
Finding report_witness(const Witness& witness, const Transactions& run, const LocksetTable& locksets,
                       const Names& names);

}  // namespace heddle::predictive
