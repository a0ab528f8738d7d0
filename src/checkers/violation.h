// What the clock engine found, and so which parts of the trace the graph engine has to see to explain it.
#pragma once

#include <vector>

#include "checkers/serializability.h"

namespace heddle {

struct Violation {
  Cycle<Since> cycle;        // of a conflict only `now`, `root` and `transaction`
  bool is_conflict = false;  // between threads of one transaction
  Op earlier;                // of a conflict: the first operation; the same as `now` where it is not known
  EventIndex last = 0;       // where the transaction ended; further on there is nothing to add
};

// Consecutive events.
struct Window {
  EventIndex first = 0;
  EventIndex last = 0;
};

// From the first event of all transactions on a cycle to the last that may still show it more plainly; in
// order, those that overlap made one.
std::vector<Window> windows_of(const std::vector<Violation>& violations);

}  // namespace heddle
