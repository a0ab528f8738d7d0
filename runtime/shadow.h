// The memory that holds the state of the program's memory (runtime/layout.h).
#pragma once

#include <cstddef>

#include "runtime/channel.h"

namespace heddle::runtime {

extern char* shadow_base;

// The state of memory from this size on is given back to the system when it is forgotten, not only cleared.
inline constexpr std::size_t kLargeMemory = std::size_t{1} << 15;

void reserve_shadow();

// The memory's life ends, with the locks that were in it. Where `how` says that it was given back: at `pc`.
void forget(const void* memory, std::size_t size, EndOfLife how = kIsAnother, const void* pc = nullptr);

// Whether it matters that memory begins a new life. Where there is one thread, all that was freed is ordered
// before what comes, but a recording has its names.
bool follows_lives();

// It begins a new one: whoever had it before gave it back. What is marked as freed is so no longer.
void begin_life(const void* memory, std::size_t size);

}  // namespace heddle::runtime
