#include "core/finding.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace heddle {

namespace {

// `text` with hexadecimal numbers ("0x7ffe…"), array indices ("[17]") and the numbers of objects of one name
// ("r(mu_#2)") emptied, so that neither addresses nor the object that happened to be hit tell two runs apart.
std::string without_numbers(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool address = text.substr(i, 2) == "0x";
    const bool object = text[i] == '#';
    const std::size_t begin = i + (address ? 2 : 1);
    const std::size_t end = std::min(
        text.size(), text.find_first_not_of(address ? "0123456789abcdefABCDEF" : "0123456789", begin));
    const bool ends_name = end == text.size() || text[end] == ')' || text[end] == ',';
    if (object && end > begin && ends_name) {
      i = end;
      continue;
    }
    result += text[i];
    if (address) result += 'x';
    i = address || text[i] == '[' ? end : begin;
  }
  return result;
}

// Of a function that calls itself only the innermost call: how deep it went is no matter of what is wrong.
std::vector<std::string_view> without_recursion(const std::vector<std::string>& frames) {
  std::vector<std::string_view> result;
  std::string_view caller;
  for (const std::string& frame : frames) {
    const std::size_t in = frame.find(" in ");
    const std::string_view function =
        in == std::string::npos ? std::string_view() : std::string_view(frame).substr(in);
    if (function.empty() || function != caller) result.push_back(frame);
    caller = function;
  }
  return result;
}

}  // namespace

std::string_view to_string(Strength strength) {
  switch (strength) {
    case Strength::kObserved: return "observed";
    case Strength::kPredicted: return "predicted";
    case Strength::kPotential: return "potential";
  }
  return {};
}

std::string_view to_string(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::kBlock: return "block";
    case Span::Kind::kTask: return "task";
    case Span::Kind::kLock: return "lock";
    case Span::Kind::kSharedLock: return "shared lock";
  }
  return {};
}

std::string compute_fingerprint(const Finding& finding) {
  std::vector<std::string> keys;
  keys.reserve(finding.steps.size());
  for (const Step& step : finding.steps)
    keys.push_back(without_numbers(
        fmt::format("{}\x1f{}", step.operation, fmt::join(without_recursion(step.frames), "\x1f"))));
  std::sort(keys.begin(), keys.end());
  const std::string whole = fmt::format("{}\x1e{}\x1e{}", finding.rule->id, fmt::join(finding.blocks, "\x1f"),
                                        fmt::join(keys, "\x1e"));
  return fmt::format("{:016x}", XXH3_64bits(whole.data(), whole.size()));
}

std::size_t Findings::add(Finding finding) {
  finding.fingerprint = compute_fingerprint(finding);
  if (finding.threads.empty()) {
    for (const Step& step : finding.steps)
      if (std::find(finding.threads.begin(), finding.threads.end(), step.thread) == finding.threads.end())
        finding.threads.push_back(step.thread);
  }
  if (const auto known = by_fingerprint_.find(finding.fingerprint); known != by_fingerprint_.end()) {
    Finding& kept = list_[known->second];
    finding.count += kept.count;
    if (finding.strength < kept.strength) {
      kept = std::move(finding);
    } else {
      kept.count = finding.count;
    }
    return known->second;
  }
  if (list_.size() >= limit_) {
    left_out_ += finding.count;
    return limit_;
  }
  by_fingerprint_.emplace(finding.fingerprint, list_.size());
  list_.push_back(std::move(finding));
  return list_.size() - 1;
}

void Findings::again(std::size_t handle) {
  if (handle < list_.size()) {
    ++list_[handle].count;
  } else {
    ++left_out_;
  }
}

}  // namespace heddle
