// What one thread leaves for others through something that makes no difference by who came first: those who
// come later are ordered after it, and are in no conflict with it.
#pragma once

#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

inline void publish(const void* object, const void* pc) {
  if (!is_acting()) return;
  releasing_shared(object);
  tell_sync(object, pc);
}
inline void learn(const void* object, const void* pc) {
  if (is_acting() && ordered_after(object)) tell_sync(object, pc);
}

}  // namespace heddle::runtime
