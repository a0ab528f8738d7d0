// Small random traces that are well formed by construction, made from a list of choices so that rapidcheck
// can shrink a failing trace by shrinking the list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

// What a trace may contain. Every count may be 0.
struct TraceShape {
  unsigned threads = 4;
  unsigned variables = 3;
  unsigned locks = 3;
  unsigned barriers = 1;
  unsigned semaphores = 1;
  bool shared_locks = true;
  bool recursive_locks = true;
  bool atomics = true;  // and fences
  bool fork_join = true;
  bool lives = true;   // alloc and free
  bool blocks = true;  // begin and end
  // Off unless a test asks for them; without them a list of choices makes the same trace as ever.
  unsigned block_weight = 1;          // how many begins and ends, where 4 is as many as plain reads
  unsigned deepest_block = ~0U;       // blocks open at once in one thread
  bool deterministic_blocks = false;  // three of four blocks are deterministic; else all are atomic
  bool unique_blocks = false;         // the block of event i is named "bi"; else of three names
  unsigned fork_weight = 2;           // how many forks
  bool all_forked = false;            // T0 runs from the start, all other threads are forked before they act
  bool stops = false;                 // start and stop
  unsigned fence_weight = 0;          // how many full fences, where 4 is as many as plain reads
};

// Thread, operation and operand of one event; any values will do.
using Choice = std::array<uint8_t, 3>;

// The trace in the text format, at most one event per choice; event i has the site "row i".
std::string random_trace(const std::vector<Choice>& choices, const TraceShape& shape = {});

}  // namespace heddle::test
