// A cycle in words: which operation comes before which and why, which writes waited in which store buffers,
// and where fences help.
#pragma once

#include <string_view>

#include "checkers/store_buffer/cycle_search.h"
#include "checkers/store_buffer/fence_repair.h"
#include "core/finding.h"

namespace heddle::store_buffer {

struct ReportContext {
  const Names& names;
  const History& history;
  Question question;
  const Rule& rule;
  std::string_view checker;
  const Repair& repair;  // of the whole trace
};

Finding report(const Cycle& cycle, const ReportContext& context);

}  // namespace heddle::store_buffer
