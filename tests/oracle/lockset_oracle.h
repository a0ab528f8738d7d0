// The definition of an unguarded variable, computed the slow way: the candidates anew for every prefix of
// every life.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "trace/event.h"

namespace heddle::oracle {

// For each life of a variable that is unguarded in it, the events of the argument: its first access, and
// every access that began, shrank or missed the candidate set. `owner` says which variables share one state.
std::set<std::vector<EventIndex>> unguarded_variables(const std::vector<Event>& trace,
                                                      const std::function<uint32_t(uint32_t)>& owner);

}  // namespace heddle::oracle
