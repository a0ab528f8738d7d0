// Places that atomic operations access, and whether anything else does. Two atomic operations are never in a
// race; an atomic one and a plain one are unless something orders them, whatever lock the plain one holds.
#pragma once

#include <map>
#include <string>

#include "types/held_locks.h"

namespace heddle::types {

class AtomicPlaces {
 public:
  AtomicPlaces(const CallGraph& graph, const ProgramFlow& flow, const Places& places, const HeldLocks& locks);

  struct Uses {
    std::size_t atomically = 0;  // a function
    // A plain access that others may see.
    bool is_mixed = false;
    std::size_t plainly = 0;  // a function
    bool writes = false;
    std::string site;
  };
  const std::map<std::string, Uses>& all() const { return uses_; }

 private:
  std::map<std::string, Uses> uses_;  // by place
};

}  // namespace heddle::types
