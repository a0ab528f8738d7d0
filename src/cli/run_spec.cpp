#include "cli/run_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "symbols/executable.h"

namespace heddle {

RunSpec::RunSpec(const std::string& path) {
  if (!path.empty()) spec_ = SpecFile::parse(read_whole_file(path), input_name(path));
}

bool RunSpec::is_ignored(std::string_view block) {
  const std::lock_guard lock(mutex_);
  if (std::find(seen_.begin(), seen_.end(), block) == seen_.end()) seen_.emplace_back(block);
  return std::any_of(spec_.ignore.begin(), spec_.ignore.end(),
                     [&](const SpecPattern& pattern) { return spec_matches(pattern.text, block); });
}

std::vector<ChannelReader::SpecBlock> RunSpec::blocks_of(pid_t pid) const {
  if (spec_.atomic.empty() && spec_.deterministic.empty()) return {};
  const auto fits = [](const std::vector<SpecPattern>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const SpecPattern& pattern) { return spec_matches(pattern.text, name); });
  };
  std::vector<ChannelReader::SpecBlock> blocks;
  for (const FunctionPlace& function : functions_for_thread_sanitizer(fmt::format("/proc/{}/exe", pid))) {
    if (fits(spec_.ignore, function.name)) continue;
    const bool is_deterministic = fits(spec_.deterministic, function.name);
    if (is_deterministic || fits(spec_.atomic, function.name))
      blocks.push_back({function.begin, function.end, is_deterministic ? 1U : 0U, function.name});
  }
  return blocks;
}

std::vector<std::string> RunSpec::notices(const std::string& program) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> blocks = seen_;
  for (NotedBlock& block : noted_blocks(program)) blocks.push_back(std::move(block.name));
  std::vector<std::string> result;
  for (const std::string& pattern : patterns_without_function(program))
    result.push_back(
        fmt::format("no function of the program's own file fits '{}', a pattern of the spec file that it was "
                    "compiled with; heddle spec {} lists its blocks",
                    printable(pattern), printable(program)));
  for (const auto* list : {&spec_.atomic, &spec_.deterministic, &spec_.ignore})
    for (const SpecPattern& pattern : *list) {
      const bool fits = std::any_of(blocks.begin(), blocks.end(), [&](const std::string& block) {
        return spec_matches(pattern.text, block);
      });
      if (!fits)
        result.push_back(
            fmt::format("{}: no block of the program fits '{}'", pattern.where, printable(pattern.text)));
    }
  return result;
}

}  // namespace heddle
