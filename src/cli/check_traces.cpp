#include "cli/check_traces.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "cli/progress.h"
#include "cli/report_builder.h"
#include "core/annotate.h"
#include "core/pipeline.h"
#include "import/open_trace.h"

namespace heddle {

namespace {

// A pipe can be read only once.
bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

// Opens a trace that has been read whole; what is wrong with it now was not then.
template <class Use>
void read_again(const std::string& path, Use use) {
  try {
    use([&] { return open_trace(path); });
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (the file changed while it was being checked)", error.what()));
  }
}

void check_trace(const std::string& path, const std::vector<const CheckerEntry*>& selected,
                 const CheckerOptions& options, std::size_t kept_per_checker, bool wants_spans,
                 ReportBuilder& report) {
  const std::string name = input_name(path);
  const std::unique_ptr<TraceSource> source = open_trace(path);
  // Findings apart for each checker: one that finds much must not use up the place of another.
  std::vector<Findings> found(selected.size(), Findings(kept_per_checker));
  std::optional<Progress> progress("checking " + printable(name));
  const std::vector<std::unique_ptr<Checker>> checkers = make_checkers(selected, found, [&](std::size_t i) {
    CheckerContext context{source->names(), found[i], options, can_be_read_again(path)};
    context.on_search = [&](double part) { progress->update(part); };
    return context;
  });
  const Traversal traversal =
      run_checkers(*source, checkers,
                   [&](uint64_t events, const TraceSource& reader) { progress->update(events, reader); });
  progress.reset();
  read_again(path, [&](const auto& open) {
    Progress again("explaining " + printable(name));
    explain(
        checkers, open,
        [&](std::size_t i, const Names& names) {
          return shared_context(selected, found, i, {names, found[i], options});
        },
        [&](uint64_t events, const TraceSource& reader) { again.update(events, reader); });
  });
  std::vector<Finding> findings =
      report.add_input({name, traversal.events, source->note()}, coverage_of(checkers), found);
  if (can_be_read_again(path) && wants_spans && !findings.empty()) {
    read_again(path, [&](const auto& open) { annotate_spans(findings, *open()); });
  } else if (can_be_read_again(path) && needs_blocks(findings)) {
    read_again(path, [&](const auto& open) { annotate_blocks(findings, *open()); });
  }
  report.add_findings(std::move(findings), name);
}

}  // namespace

RunReport check_traces(const std::vector<std::string>& paths,
                       const std::vector<const CheckerEntry*>& checkers, const CheckerOptions& options,
                       std::size_t kept_per_checker, bool wants_spans) {
  ReportBuilder report(checkers);
  for (const std::string& path : paths)
    check_trace(path, checkers, options, kept_per_checker, wants_spans, report);
  return report.finish();
}

}  // namespace heddle
