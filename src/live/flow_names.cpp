#include "live/flow_names.h"

#include <charconv>

namespace heddle {

FlowNames::OfThread& FlowNames::of(uint32_t thread) {
  if (thread >= threads_.size()) threads_.resize(std::size_t{thread} + 1);
  return threads_[thread];
}

void FlowNames::add_name(std::string& to, uint32_t thread, uint32_t label) {
  const auto add = [&](char before, uint32_t number) {
    char digits[10];
    const auto written = std::to_chars(digits, digits + sizeof(digits), number);
    to += before;
    to.append(digits, written.ptr);
  };
  add('l', thread);
  add('.', label);
}

uint32_t FlowNames::local(uint32_t thread, uint32_t label) {
  if (label == 0) return kNoId;
  std::vector<uint32_t>& locals = of(thread).locals;
  const auto name = [&](uint32_t number) {
    text_.clear();
    add_name(text_, thread, number);
    return names_.table(Space::kLocal).append(text_);
  };
  if (locals.empty()) {
    locals = {kNoId};
    for (uint32_t number = 1; number < kInRow; ++number) locals.push_back(name(number));
  }
  if (label >= locals.size()) locals.resize(std::size_t{label} * 2, kNoId);
  if (locals[label] == kNoId) locals[label] = name(label);
  return locals[label];
}

uint32_t FlowNames::list(uint32_t thread, const Labels& labels) {
  OfThread& of_thread = of(thread);
  if (of_thread.latest.empty()) of_thread.latest.resize(std::size_t{1} << kLatestBits);
  Latest& latest = of_thread.latest[place_of(labels)];
  if (latest.labels == labels) return latest.list;
  const auto [known, is_new] = of_thread.lists.try_emplace(labels, kNoId);
  if (is_new) {
    text_.clear();
    for (const uint32_t label : labels) {
      if (label == 0) continue;
      if (!text_.empty()) text_ += ',';
      add_name(text_, thread, label);
    }
    // No other list is the same: there is one for each.
    if (!text_.empty()) known.value() = names_.table(Space::kLocalList).append(text_);
  }
  latest = {labels, known->second};
  return known->second;
}

}  // namespace heddle
