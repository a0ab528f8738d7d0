// Locks that the program's first thread holds before there is anybody to tell: nothing is told of a program
// that has one thread. When a monitor comes, it is told of those that are still held, with the places where
// they were taken.
//
// Only for a process that was never connected. In the child of one that was, what the forking thread held is
// not known.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/event.h"

namespace heddle::runtime {

// The calling thread, which is the only one, has taken the lock, or is about to give it back.
void remember_lock(Operation operation, const void* lock, const void* pc, uint32_t extra);
void forget_lock(const void* lock);
// What lies in this memory is no lock any more.
void forget_locks(const void* memory, std::size_t size);

bool holds_early_lock(const void* lock);

// All that are held, in the order in which they were taken; they are the monitor's from then on, or nobody's.
void tell_early_locks();

}  // namespace heddle::runtime
