// What the tables of ndseq ask about a trace.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "checkers/sequential_spec/recorder.h"
#include "checkers/sequential_spec/relevance.h"
#include "support/sequential_run.h"
#include "support/table.h"
#include "trace/text_reader.h"

namespace heddle::test {

inline NdseqResult ask(std::string_view table) { return check_ndseq(parse_table(table).trace); }

// "b, a (a1, a2); without row 7": the sequential run found, and the if (true*) left out.
inline std::string sequential_run(std::string_view table) {
  const SequentialRun run = ask(table).coverage.sequential_run.value();
  if (!run.is_found) return "none";
  std::string text;
  for (const SequentialRun::Place& place : run.order)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", std::string(place.depth - 1, '>'), place.task);
  for (std::size_t i = 0; i < run.skipped.size(); ++i)
    text += (i == 0 ? "; without " : ", ") + run.skipped[i].frames.front();
  return text;
}

// "5 events, 2 irrelevant; 1 conflict warning, 0 warnings".
inline std::string counts(std::string_view table) {
  const SequentialRun run = ask(table).coverage.sequential_run.value();
  return fmt::format("{} events, {} irrelevant; {} by conflicts, {} by ndseq", run.events,
                     run.irrelevant_events, run.conflict_warnings, run.warnings);
}

// Rows of the table whose events are relevant; an update counts when its read or its write is.
inline std::vector<int> relevant_rows(std::string_view table) {
  using namespace sequential_spec;
  TextReader reader("table", parse_table(table).trace);
  Recorder recorder(reader.names());
  for (EventBatch batch = reader.next(); !batch.empty(); batch = reader.next()) recorder.process(batch);
  const History history = recorder.take();
  const Relevance relevance(history);
  std::vector<int> rows;
  for (NodeId node = 0; node < history.nodes.size(); ++node) {
    const int row = static_cast<int>(history.nodes[node].event) + 1;
    if (relevance.is_relevant(node) && (rows.empty() || rows.back() != row)) rows.push_back(row);
  }
  return rows;
}

inline std::vector<std::string> chain_of(const Finding& finding, std::size_t i) {
  std::vector<std::string> steps{finding.chains.at(i).title};
  for (const Step& step : finding.chains[i].steps)
    steps.push_back(fmt::format("{} {}{}{}", step.thread, step.operation, step.because.empty() ? "" : ": ",
                                step.because));
  return steps;
}

}  // namespace heddle::test
