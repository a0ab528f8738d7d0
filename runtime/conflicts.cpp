#include "runtime/conflicts.h"

#include <utility>

#include "runtime/memory.h"
#include "runtime/sync.h"
#include "runtime/thread.h"

namespace heddle::runtime {

void take_conflicts(Thread& thread, Sync& sync, bool writes) {
  if (sync.conflicts == nullptr) return;
  if (!any_has_given()) return forget_conflicts(sync);
  thread.depend_on(sync.conflicts->writes);
  if (writes) thread.depend_on(sync.conflicts->reads);
}

void leave_conflicts(Sync& sync, const Published& published, bool writes) {
  if (sync.conflicts == nullptr) sync.conflicts = create<Conflicts>();
  if (!writes) return sync.conflicts->reads.join(published);
  sync.conflicts->writes.clear();
  sync.conflicts->writes.join(published);
  sync.conflicts->reads.clear();
}

void forget_conflicts(Sync& sync) {
  if (sync.conflicts != nullptr) destroy(std::exchange(sync.conflicts, nullptr));
}

}  // namespace heddle::runtime
