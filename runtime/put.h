// Putting records into a thread's chunk (runtime/channel.h), from the slow paths as well.
#pragma once

#include "runtime/registers.h"
#include "runtime/thread.h"

namespace heddle::runtime {

HEDDLE_INLINE bool has_places(const Thread& thread, uint32_t count) {
  return thread.chunk != nullptr && thread.filled + count <= Chunk::kRecords;
}

HEDDLE_INLINE void put(Thread& thread, const Record& record) {
  Chunk& chunk = *thread.chunk;
  chunk.records[thread.filled] = record;
  chunk.filled.store(++thread.filled, std::memory_order_release);
}

// Whether the monitor may not have seen the last record of the thread, because it has no ticket.
inline bool is_last_unordered(const Thread& thread) {
  return thread.chunk != nullptr && thread.filled > 0 && thread.chunk->records[thread.filled - 1].ticket == 0;
}

}  // namespace heddle::runtime
