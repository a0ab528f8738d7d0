// What a transaction does to each variable, as others see it: the part of it that decides how it can be
// ordered against other transactions.
//
// An *uninitialized read* has no write of the same variable before it in its transaction; the *final write*
// has none after it (S1 §5.3).
#pragma once

#include <algorithm>
#include <vector>

#include "checkers/predictive/transactions.h"

namespace heddle::predictive {

struct VariableUse {
  VariableId variable = kNoId;
  // Positions in Shape::steps; kNoId: none.
  uint32_t first_read = kNoId;  // the first uninitialized one
  uint32_t last_read = kNoId;   // the last uninitialized one
  uint32_t first_write = kNoId;
  uint32_t final_write = kNoId;

  bool writes() const { return final_write != kNoId; }
};

// By ascending variable.
inline std::vector<VariableUse> variable_uses(const Shape& shape) {
  std::vector<VariableUse> uses;
  tsl::robin_map<VariableId, std::size_t, MixHash> place;
  for (uint32_t i = 0; i < shape.steps.size(); ++i) {
    const ShapeStep& step = shape.steps[i];
    if (!is_access(step.kind)) continue;
    const auto [found, is_new] = place.try_emplace(step.object, uses.size());
    if (is_new) uses.push_back({step.object, kNoId, kNoId, kNoId, kNoId});
    VariableUse& use = uses[found->second];
    if (reads(step.kind) && !use.writes()) {
      if (use.first_read == kNoId) use.first_read = i;
      use.last_read = i;
    }
    if (writes(step.kind)) {
      if (use.first_write == kNoId) use.first_write = i;
      use.final_write = i;
    }
  }
  std::sort(uses.begin(), uses.end(),
            [](const VariableUse& a, const VariableUse& b) { return a.variable < b.variable; });
  return uses;
}

}  // namespace heddle::predictive
