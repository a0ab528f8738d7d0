// ndseq on a trace in the text format: what it finds, and what it says about the trace as a whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkers/ndseq.h"
#include "core/pipeline.h"
#include "trace/text_reader.h"

namespace heddle::test {

struct NdseqResult {
  std::vector<Finding> findings;
  Coverage coverage;
};

inline NdseqResult check_ndseq(const std::string& trace) {
  TextReader reader("trace", trace);
  Findings findings;
  const CheckerOptions options;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(make_ndseq_checker({reader.names(), findings, options}));
  run_checkers(reader, checkers);
  return {findings.list(), checkers.front()->coverage()};
}

}  // namespace heddle::test
