#include "trace/parts.h"

#include <algorithm>
#include <string>

#include "trace/names.h"

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

void Parts::resolve(std::span<const Event> events, std::vector<Event>& resolved, Names& names) const {
  resolved.clear();
  for (const Event& event : events) {
    const auto whole =
        info(event.operation).space == Space::kVariable ? wholes_.find(event.object) : wholes_.end();
    if (whole == wholes_.end()) {
      resolved.push_back(event);
      continue;
    }
    add_for_each(event, whole->second, names, resolved);
  }
}

void Parts::add_for_each(const Event& event, std::span<const uint32_t> variables, Names& names,
                         std::vector<Event>& to) {
  const bool assigns = event.local != kNoId &&
                       (event.operation == Operation::kRead || event.operation == Operation::kAtomicRead ||
                        event.operation == Operation::kAtomicCompareFail);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Event of_part = event;
    of_part.object = variables[i];
    const bool is_rest = assigns && i > 0;
    if (is_rest) of_part.local = names.table(Space::kLocal).intern("rest");
    if (i > 0 && event.operation == Operation::kAtomicUpdate) of_part.local = kNoId;  // it decides something
    to.push_back(of_part);
    if (!is_rest) continue;
    Event join = event;
    join.operation = Operation::kAssign;
    join.order = MemoryOrder::kPlain;
    join.size = 0;
    join.value = kNoId;
    join.object = event.local;
    join.local =
        names.table(Space::kLocalList).intern(std::string(names.name(Space::kLocal, event.local)) + ",rest");
    to.push_back(join);
  }
}

}  // namespace heddle
