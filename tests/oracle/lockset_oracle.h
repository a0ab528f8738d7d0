// The definition of an unguarded variable, computed the slow way: the candidates anew for every prefix of
// every life.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// Which variables share one state, and when it begins anew.
struct Owners {
  std::function<uint32_t(uint32_t)> owner;  // of a variable; those with one owner share its state
  std::function<bool(uint32_t)> is_whole;   // alloc and free of it begin a new life of its owner in any case
};

// For each life of an owner that is unguarded in it, the events of the argument: its first access, and every
// access that began, shrank or missed the candidate set. A life ends when all variables used in it have been
// allocated or freed since.
std::set<std::vector<EventIndex>> unguarded_variables(const std::vector<Event>& trace, const Owners& owners);

}  // namespace heddle::oracle
