// What a thread keeps of the data flow that it tells.
#pragma once

#include <cstdint>

namespace heddle::runtime {

struct Thread;
struct Told;

struct KnownRead {
  const void* address;
  uint32_t size;
  uint32_t label;
  uint64_t stamp;    // of the stretch (runtime/layout.h)
  uint64_t written;  // the state of the memory: who wrote it last
  uint64_t era;
};

struct FlowThread {
  static constexpr unsigned kReads = 256;
  static constexpr unsigned kBranches = 64;
  uint64_t era;                  // labels and places in the trace mean the same as long as it does not change
  KnownRead reads[kReads];       // by address
  uint32_t branches[kBranches];  // labels that this era has branched on
  uint32_t library_label;        // what the function of the C library it is in has read so far
  uint32_t tasks;                // it is in
  uint32_t pauses;               // constructs it is in, and no task of theirs
  // Of the task's stack: the lowest address seen, and where it cannot be any more. The next task of the
  // thread has the same stack.
  const char* deepest;
  const char* deepest_possible;
};
extern __thread FlowThread flow_thread __attribute__((tls_model("initial-exec")));

// The calling thread; null when it has nothing to tell.
Thread* telling_thread();
void tell_quickly(Thread& thread, const Told& told);
void new_era();

}  // namespace heddle::runtime
