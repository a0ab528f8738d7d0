#include "runtime/stretches.h"

#include "runtime/memory.h"

namespace heddle::runtime {

Entry* entries = nullptr;
RecentGroups recent_groups[kRecentGroups] = {};

void forget_recent_groups() { __builtin_memset(recent_groups, 0, sizeof(recent_groups)); }

void reserve_entries() {
  entries = static_cast<Entry*>(reserve(sizeof(Entry) << kNumberBits, "the numbers of stretches"));
}

}  // namespace heddle::runtime
