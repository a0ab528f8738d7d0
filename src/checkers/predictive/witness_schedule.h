// The schedule of a witness, step by step: a trace of its own.
#pragma once

#include <vector>

#include "checkers/predictive/witness.h"
#include "core/finding.h"
#include "trace/names.h"

namespace heddle::predictive {

// All steps of the transactions with their begins and ends, and the operations outside of them that force the
// order the argument rests on (forcing_chain.h), of the run's `synchronizations` (thread_log.h). A lock that
// the run never gave back is given back only where another thread takes it next. Steps of the argument keep
// their reasons.
std::vector<Step> schedule_steps(const Witness& witness, const std::vector<Step>& argument,
                                 const Transactions& run, const std::vector<Origin>& synchronizations,
                                 const LocksetTable& locksets, const Names& names);

}  // namespace heddle::predictive
