// Cycles and conflicts as findings: the argument step by step, why no serial order works, what to do.
#pragma once

#include "checkers/violation.h"
#include "core/finding.h"
#include "trace/names.h"

namespace heddle {

// What a report needs to say things in words.
struct ReportContext {
  const Names& names;
  const LocksetTable& locksets;
  std::string_view checker;
};

// "Account::withdraw", "the block at bank.cpp:30".
std::string block_text(const Block& block, const Names& names);

Finding report_cycle(const Cycle<Told>& cycle, const ReportContext& context);
Finding report_conflict(const Op& earlier, const Op& now, const ReportContext& context);
// The clock engine knows where, not why.
Finding report_violation(const Violation& violation, const ReportContext& context, std::string_view hint);

}  // namespace heddle
