#include "report/witness_trace.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"

namespace heddle {

namespace {

// "T1" of "join(T1)"; empty when the operation is another one.
std::string_view operand_of(std::string_view operation, std::string_view name) {
  if (!operation.starts_with(name) || !operation.substr(name.size()).starts_with('(')) return {};
  const std::string_view rest = operation.substr(name.size() + 1);
  return rest.substr(0, rest.find_first_of(",)"));
}

constexpr std::string_view kOpening = "# A schedule of the operations of ";

}  // namespace

bool is_witness_trace(const std::string& path) {
  std::string start(kOpening.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kOpening;
}

std::string witness_trace(const Finding& finding) {
  std::string text =
      fmt::format("{}{}:\n# {}.\n# heddle check --checkers atomicity confirms it.\n", kOpening,
                  finding.input.empty() ? "a run" : printable(finding.input), printable(finding.message));
  if (finding.strength == Strength::kPotential)
    text += "# It is one of these blocks and accesses alone; the run they are from may not come to it.\n";
  std::map<std::pair<std::string, std::string>, int> arrivals;  // thread and barrier → not left yet
  for (const Step& step : finding.schedule) {
    if (const auto barrier = operand_of(step.operation, "arrive"); !barrier.empty())
      ++arrivals[{step.thread, std::string(barrier)}];
    // A thread that arrived before its transaction began does so at the start.
    if (const auto barrier = operand_of(step.operation, "leave"); !barrier.empty())
      if (arrivals[{step.thread, std::string(barrier)}]-- == 0) {
        arrivals[{step.thread, std::string(barrier)}] = 0;
        text += fmt::format("{}|arrive({})|\n", step.thread, barrier);
      }
  }
  std::set<std::string, std::less<>> known;  // threads
  for (const Step& step : finding.schedule) {
    known.insert(step.thread);
    if (const auto child = operand_of(step.operation, "fork"); !child.empty()) known.emplace(child);
    if (const auto child = operand_of(step.operation, "join"); !child.empty() && !known.contains(child))
      continue;
    text += fmt::format("{}|{}|{}\n", step.thread, step.operation, fmt::join(step.frames, " < "));
  }
  return text;
}

}  // namespace heddle
