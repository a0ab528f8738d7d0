// What synchronization objects carry from one thread to another, by the object's address.
#pragma once

#include "runtime/clock.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

struct Sync {
  Sync* next = nullptr;  // with the same hash
  const void* address = nullptr;
  SpinLock lock;               // for the members below
  Published released;          // by the last who had it alone: that thread knew all before
  Clock gathered;              // by those who shared it since
  bool is_held_alone = false;  // of a reader–writer lock
};

// Made when first asked for.
Sync& sync_at(const void* address);

// The calling thread has got the object, or is about to give it back; alone, or shared with others.
void acquired(const void* object);
void acquired_shared(const void* object);
void releasing(const void* object);
void releasing_shared(const void* object);

// The same for reader–writer locks, which are given back by the same call whoever has them.
void acquired_alone(const void* lock);
void releasing_alone_or_shared(const void* lock);

}  // namespace heddle::runtime
