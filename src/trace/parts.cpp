#include "trace/parts.h"

#include <algorithm>

namespace heddle {

std::string_view Parts::add(VariablePart part) {
  if (part.whole >= part.variable) return "a variable is part of a later one";
  if (!whole_of_.emplace(part.variable, part.whole).second) return "a variable is part of two others";
  wholes_[part.whole].push_back(part.variable);
  return {};
}

std::string_view Parts::complete() {
  // Parts have larger ids: whoever comes later here finds those of its parts done.
  std::vector<uint32_t> ids;
  ids.reserve(wholes_.size());
  for (const auto& [whole, parts] : wholes_) ids.push_back(whole);
  std::sort(ids.begin(), ids.end(), std::greater<>());
  for (const uint32_t whole : ids) {
    std::vector<uint32_t> innermost;
    for (const uint32_t part : wholes_[whole]) {
      if (const auto divided = wholes_.find(part); divided != wholes_.end()) {
        innermost.insert(innermost.end(), divided->second.begin(), divided->second.end());
      } else {
        innermost.push_back(part);
      }
      if (innermost.size() > kMost) return "a variable has more parts than bytes";
    }
    wholes_[whole] = std::move(innermost);
  }
  whole_of_.clear();
  return {};
}

void Parts::resolve(std::span<const Event> events, std::vector<Event>& resolved) const {
  resolved.clear();
  for (const Event& event : events) {
    const auto whole =
        info(event.operation).space == Space::kVariable ? wholes_.find(event.object) : wholes_.end();
    if (whole == wholes_.end()) {
      resolved.push_back(event);
      continue;
    }
    for (const uint32_t part : whole->second) {
      resolved.push_back(event);
      resolved.back().object = part;
    }
  }
}

}  // namespace heddle
