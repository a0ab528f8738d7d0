#include "cli/default_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "runtime/blocks.h"
#include "symbols/executable.h"

namespace heddle {

namespace {

constexpr std::size_t kMostNames = 3;

// "a", "a and b", "a, b and 4 more".
std::string listed(std::vector<std::string> names) {
  if (names.size() > kMostNames) {
    const std::size_t others = names.size() - kMostNames + 1;
    names.resize(kMostNames - 1);
    names.push_back(fmt::format("{} more", others));
  }
  return join_with_and(names);
}

}  // namespace

void add_notice_of_defaults(RunReport& report, const std::string& program) {
  std::set<std::string> refuted;
  for (const Finding& finding : report.findings) refuted.insert(finding.blocks.begin(), finding.blocks.end());
  if (refuted.empty()) return;
  const std::vector<NotedBlock> blocks = noted_blocks(program);
  std::vector<std::string> by_default;
  for (const std::string& name : refuted)
    if (std::any_of(blocks.begin(), blocks.end(), [&](const NotedBlock& block) {
          return block.name == name && block.origin == kHeddleByDefault;
        }))
      by_default.push_back(name);
  if (by_default.empty()) return;
  report.notices.push_back(fmt::format(
      "{} should be atomic by default: public in a class that owns a mutex or an atomic. Where that is not "
      "meant, put the name under 'ignore' in a spec file (heddle spec --help)",
      listed(std::move(by_default))));
}

}  // namespace heddle
