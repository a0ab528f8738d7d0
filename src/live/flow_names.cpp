#include "live/flow_names.h"

#include <fmt/format.h>

namespace heddle {

FlowNames::OfThread& FlowNames::of(uint32_t thread) {
  if (thread >= threads_.size()) threads_.resize(std::size_t{thread} + 1);
  return threads_[thread];
}

std::string FlowNames::name(uint32_t thread, uint32_t label) { return fmt::format("l{}.{}", thread, label); }

uint32_t FlowNames::local(uint32_t thread, uint32_t label) {
  if (label == 0) return kNoId;
  std::vector<uint32_t>& locals = of(thread).locals;
  if (label >= locals.size()) locals.resize(std::size_t{label} * 2, kNoId);
  if (locals[label] == kNoId) locals[label] = names_.table(Space::kLocal).append(name(thread, label));
  return locals[label];
}

uint32_t FlowNames::list(uint32_t thread, const Labels& labels) {
  const auto [known, is_new] = of(thread).lists.try_emplace(labels, kNoId);
  if (is_new) {
    std::string text;
    for (const uint32_t label : labels)
      if (label != 0) text += (text.empty() ? "" : ",") + name(thread, label);
    if (!text.empty()) known.value() = names_.table(Space::kLocalList).intern(text);
  }
  return known->second;
}

}  // namespace heddle
