// Cycles as pictures: the findings that put threads in a circle (atomicity violations, interference,
// lock-order cycles) as a Graphviz digraph, a cluster each.
//
// In a violation a node is a block or an operation outside of blocks, and an edge says why its end comes
// after its start; blocks to blame are red. In a lock-order cycle a node is a thread, and an edge says for
// whom it waits.
#pragma once

#include <string>

#include "report/run_report.h"

namespace heddle {

// Always a valid graph in UTF-8, without clusters when there are no such findings.
std::string dot_report(const RunReport& report);

}  // namespace heddle
