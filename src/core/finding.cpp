#include "core/finding.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>

namespace heddle {

namespace {

// `text` with every hexadecimal number ("0x7ffe…") replaced by "0x", so that addresses do not tell runs apart.
std::string without_addresses(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "0x") {
      result += "0x";
      i += 2;
      while (i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0) ++i;
    } else {
      result += text[i++];
    }
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

std::string compute_fingerprint(const Finding& finding) {
  std::vector<std::string> keys;
  for (const Step& step : finding.steps)
    keys.push_back(without_addresses(fmt::format("{}\x1f{}", step.operation, fmt::join(step.frames, "\x1f"))));
  std::sort(keys.begin(), keys.end());
  const std::string whole = fmt::format("{}\x1e{}\x1e{}", finding.rule->id, fmt::join(finding.blocks, "\x1f"),
                                        fmt::join(keys, "\x1e"));
  return fmt::format("{:016x}", XXH3_64bits(whole.data(), whole.size()));
}

void Findings::add(Finding finding) {
  finding.fingerprint = compute_fingerprint(finding);
  if (finding.threads.empty()) {
    for (const Step& step : finding.steps)
      if (std::find(finding.threads.begin(), finding.threads.end(), step.thread) == finding.threads.end())
        finding.threads.push_back(step.thread);
  }
  if (const auto known = by_fingerprint_.find(finding.fingerprint); known != by_fingerprint_.end()) {
    list_[known->second].count += finding.count;
    return;
  }
  if (list_.size() >= limit_) {
    left_out_ += finding.count;
    return;
  }
  by_fingerprint_.emplace(finding.fingerprint, list_.size());
  list_.push_back(std::move(finding));
}

}  // namespace heddle
