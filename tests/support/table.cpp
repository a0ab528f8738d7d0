#include "support/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "core/pipeline.h"
#include "trace/text_reader.h"

namespace heddle::test {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A trace a few events at a time, so that what checkers do between batches is tested too.
class InSmallBatches : public TraceSource {
 public:
  explicit InSmallBatches(const std::string& trace) : reader_("table", trace) {}

  EventBatch next() override {
    if (rest_.empty()) rest_ = reader_.next();
    const std::size_t count = std::min<std::size_t>(kSmall, rest_.events.size());
    const EventBatch batch{rest_.first, rest_.events.first(count)};
    rest_ = {rest_.first + count, rest_.events.subspan(count)};
    return batch;
  }
  const Names& names() const override { return reader_.names(); }
  std::string where(EventIndex index) const override { return reader_.where(index); }

 private:
  static constexpr std::size_t kSmall = 3;

  TextReader reader_;
  EventBatch rest_;
};

}  // namespace

Table parse_table(std::string_view text) {
  Table table;
  std::vector<std::string_view> threads;
  int row = 0;
  for (const std::string_view raw : split(text, "\n")) {
    const std::string_view line = trimmed(raw);
    if (line.empty()) continue;
    if (line.starts_with("=>")) {
      if (const std::string_view expected = trimmed(line.substr(2)); expected != "clean")
        table.expected.emplace_back(expected);
      continue;
    }
    const std::vector<std::string_view> cells = split(raw, "|");
    if (threads.empty()) {
      for (const std::string_view cell : cells) threads.push_back(trimmed(cell));
      continue;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view operation = trimmed(cells[i]);
      if (!operation.empty()) table.trace += fmt::format("{}|{}|row {}\n", threads.at(i), operation, ++row);
    }
  }
  return table;
}

std::vector<Finding> check_text(std::string_view checker, const std::string& trace,
                                const CheckerOptions& options) {
  InSmallBatches reader(trace);
  Findings findings;
  const CheckerContext context{reader.names(), findings, options};
  std::vector<std::unique_ptr<Checker>> checkers;
  for (const CheckerEntry* entry : select_checkers(checker)) checkers.push_back(entry->make(context));
  run_checkers(reader, checkers);
  explain(
      checkers, [&] { return std::make_unique<InSmallBatches>(trace); },
      [&](std::size_t, const Names& names) { return CheckerContext{names, findings, options}; });
  return findings.list();
}

std::string summary(const Finding& finding) {
  std::vector<std::string> steps;
  steps.reserve(finding.steps.size());
  for (const Step& step : finding.steps) steps.push_back(fmt::format("{} {}", step.thread, step.operation));
  const std::string blocks =
      finding.blocks.empty() ? "" : fmt::format(" [{}]", fmt::join(finding.blocks, ", "));
  return fmt::format("{} {}{}: {}", finding.rule->name, to_string(finding.strength), blocks,
                     fmt::join(steps, ", "));
}

void expect_table(std::string_view checker, std::string_view text, const CheckerOptions& options) {
  const Table table = parse_table(text);
  std::vector<std::string> found;
  for (const Finding& finding : check_text(checker, table.trace, options)) found.push_back(summary(finding));
  EXPECT_EQ(found, table.expected) << "on the trace\n" << table.trace;
}

void expect_table_by_every_engine(std::string_view checker, std::string_view text) {
  expect_table(checker, text);
  expect_table(checker, text, {.recent_events = 0});  // explained by a second reading
  const Table table = parse_table(text);
  for (const Engine engine : {Engine::kGraph, Engine::kClock}) {
    for (const RaceFilter filter : {RaceFilter::kOn, RaceFilter::kOff}) {
      CheckerOptions options;
      options.engine = engine;
      options.race_filter = filter;
      EXPECT_EQ(check_text(checker, table.trace, options).empty(), table.expected.empty())
          << (engine == Engine::kGraph ? "graph" : "clock") << " engine, filter "
          << (filter == RaceFilter::kOn ? "on" : "off") << ", on the trace\n"
          << table.trace;
    }
  }
}

void expect_refused(std::string_view text, std::string_view message) {
  const Table table = parse_table(text);
  try {
    check_text("all", table.trace);
    ADD_FAILURE() << "accepted:\n" << table.trace;
  } catch (const InputError& error) {
    EXPECT_NE(std::string_view(error.what()).find(message), std::string_view::npos)
        << "refused with \"" << error.what() << "\" on the trace\n"
        << table.trace;
  }
}

}  // namespace heddle::test
