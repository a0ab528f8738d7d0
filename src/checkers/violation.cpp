#include "checkers/violation.h"

#include <algorithm>

namespace heddle {

namespace {

// How far behind a cycle's last operation its transaction is searched for accesses that show it more plainly.
constexpr EventIndex kFurther = 10'000;

}  // namespace

std::vector<Window> windows_of(const std::vector<Violation>& violations) {
  std::vector<Window> windows;
  for (const Violation& violation : violations) {
    const Cycle<Since>& cycle = violation.cycle;
    windows.push_back({std::min(cycle.story.first, cycle.root.begin),
                       std::max(cycle.now.index, std::min(violation.last, cycle.now.index + kFurther))});
  }
  std::sort(windows.begin(), windows.end(),
            [](const Window& a, const Window& b) { return a.first < b.first; });
  std::vector<Window> merged;
  for (const Window& window : windows) {
    if (!merged.empty() && window.first <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, window.last);
    } else {
      merged.push_back(window);
    }
  }
  return merged;
}

}  // namespace heddle
