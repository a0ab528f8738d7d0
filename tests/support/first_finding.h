// Of several findings, the one that was certain first.
#pragma once

#include <algorithm>
#include <vector>

#include "core/finding.h"

namespace heddle::test {

// There must be one.
inline const Finding& first_certain(const std::vector<Finding>& findings) {
  return *std::min_element(findings.begin(), findings.end(),
                           [](const Finding& a, const Finding& b) { return a.certain_at < b.certain_at; });
}

}  // namespace heddle::test
