// Table tests: a trace with one column per thread, time downward, and below it the exact findings.
//
//     expect_table("race", R"(
//       T1     | T2
//       w(x)   |
//              | r(x)
//       => data-race observed: T1 w(x), T2 r(x)
//     )");
//
// "=> clean" stands for no finding; several "=>" lines for several findings, in the order reported. Each
// event's site is its row ("row 2", counting events only), so that no two events look the same to
// deduplication.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checker.h"

namespace heddle::test {

struct Table {
  std::string trace;                  // in the text format
  std::vector<std::string> expected;  // the lines after "=>"
};

Table parse_table(std::string_view text);

// All findings of one checker on a trace in the text format.
std::vector<Finding> check_text(std::string_view checker, const std::string& trace,
                                const CheckerOptions& options = {});

// "data-race observed: T1 w(x), T2 r(x)"; with refuted blocks "atomicity-violation observed [inner, outer]:
// …"
std::string summary(const Finding& finding);

// Runs the checker on the table and expects exactly its findings.
void expect_table(std::string_view checker, std::string_view table, const CheckerOptions& options = {});

// The same for atomicity and determinism, whose two engines must give one verdict, with and without the race
// filter; the findings are those of the default, the graph engine's.
void expect_table_by_every_engine(std::string_view checker, std::string_view table);

// Expects the table's trace to be refused with a message that contains `message`. The table has no "=>"
// lines.
void expect_refused(std::string_view table, std::string_view message);

}  // namespace heddle::test
