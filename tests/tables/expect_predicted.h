// What reduction and blocks report of a table of transactions. They run one after the other in these tables
// unless they say otherwise: what is reported is predicted. Where reduction reports and blocks does not, the
// block is atomic all the same.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "support/table.h"

namespace heddle::test {

// A table with what each of the two reports: lines "blocks => …", "reduction => …" and, where the coarser
// test of race freedom says something else, "common lock => …".
inline void expect_predicted(std::string_view text) {
  std::string rows;
  std::string blocks;
  std::string reduction;
  std::string common_lock;
  for (const std::string_view line : split(text, "\n")) {
    const std::size_t arrow = line.find("=>");
    const auto is_for = [&](std::string_view name) {
      return arrow != std::string_view::npos && line.find(name) < arrow;
    };
    std::string& to = is_for("blocks")        ? blocks
                      : is_for("reduction")   ? reduction
                      : is_for("common lock") ? common_lock
                                              : rows;
    to += std::string(arrow == std::string_view::npos ? line : line.substr(arrow)) + "\n";
  }
  expect_table("blocks", rows + blocks);
  expect_table("reduction", rows + reduction);
  expect_table("reduction", rows + (common_lock.empty() ? reduction : common_lock),
               {.race_freedom = RaceFreedom::kCommonLock});
}

}  // namespace heddle::test
