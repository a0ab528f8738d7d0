// How the compiler plug-in describes an atomic operation to the runtime.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::runtime {

struct Thread;

// What it does; both for a read-modify-write.
inline constexpr uint32_t kAtomicRead = 1;
inline constexpr uint32_t kAtomicWrite = 2;
// Beside kAtomicRead: a compare-exchange that failed.
inline constexpr uint32_t kAtomicCompare = 4;

// What its order means.
inline constexpr uint32_t kAcquires = 1;
inline constexpr uint32_t kReleases = 2;
inline constexpr uint32_t kIsSequential = 4;  // seq_cst, beside what else it means

// Where it says whether relaxed loads that are in no race need not be told: not 0. The compiler plug-in asks
// before such loads of focused programs.
void set_quiet(const std::atomic<uint32_t>* where);  // null: all are told

// The operation lies between the two, in the name of code at `pc`. A load may do with less.
void begin_atomic(const void* variable);
// Whether it was told.
bool end_atomic(const void* variable, uint64_t size, uint32_t kind, uint32_t order, const char* name,
                const void* pc);

// The same for loads, which take no lock if nothing has changed since the thread last did them. What begins
// says how it did; end_load(): true, the value may be another by now, and all is to be done once more.
uint32_t begin_load(const void* variable);
bool end_load(const void* variable, uint64_t size, uint32_t order, const char* name, uint32_t begun,
              const void* pc);

// What a block that is open gave goes on to those who use the variable after a read-modify-write that was not
// told. The variable had been used so often before it (Sync::uses): if others have used it since, it is not
// known which of them came after it.
void pass_on_gifts(const void* variable, uint32_t uses_before);

// Whether one more operation of that kind leaves the state of the memory as it is.
bool is_noted(Thread& thread, const void* variable, uint64_t size, bool writes);
// Sees to it for an operation that writes, if that takes no change of what others see; false: it does.
bool note_update(Thread& thread, const void* variable, uint64_t size, const void* pc);

// The thread goes on somewhere else, out of an operation that it may be at: its address was wrong.
void abandon_atomic(Thread& thread);

void fence(uint32_t order, const void* pc);
// That it was done; end_atomic() does so when there are several threads.
void tell_atomic(Thread& thread, const void* variable, uint64_t size, uint32_t kind, uint32_t order,
                 const char* name, const void* pc);

}  // namespace heddle::runtime
