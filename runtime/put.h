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

}  // namespace heddle::runtime
