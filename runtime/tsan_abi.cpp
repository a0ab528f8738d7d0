// What code compiled with -fsanitize=thread, by g++ or clang, calls: objects of both kinds can be linked to a
// checked program. Their accesses are in tsan_accesses.S. Memory has no names there.
#include <cstddef>
#include <cstdint>

#include "runtime/access.h"
#include "runtime/atomics.h"
#include "runtime/frames.h"
#include "runtime/interpose/real.h"
#include "runtime/spec_blocks.h"
#include "runtime/sync.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

HEDDLE_INTERPOSE void __tsan_func_entry(const void* return_address) {
  const auto stack = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  enter_function(return_address, stack);
  if (const HeddleBlock* const block = spec_block_at(HEDDLE_HERE); block != nullptr)
    begin_block(block, nullptr, stack, HEDDLE_HERE);
}
HEDDLE_INTERPOSE void __tsan_func_exit() {
  if (const HeddleBlock* const block = spec_block_at(HEDDLE_HERE); block != nullptr)
    end_block(block, HEDDLE_HERE);
  leave_function();
}

HEDDLE_INTERPOSE void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  access_memory(from, size, HEDDLE_HERE);
  access_memory(to, size | kWrites, HEDDLE_HERE);
  return __builtin_memcpy(to, from, size);
}
HEDDLE_INTERPOSE void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  access_memory(from, size, HEDDLE_HERE);
  access_memory(to, size | kWrites, HEDDLE_HERE);
  return __builtin_memmove(to, from, size);
}
HEDDLE_INTERPOSE void* __tsan_memset(void* to, int value, std::size_t size) {
  access_memory(to, size | kWrites, HEDDLE_HERE);
  return __builtin_memset(to, value, size);
}

// g++ calls them by their own names; heddle-clang++ has the linker put these in their place (--wrap).
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's
#define HEDDLE_WRAP(name) extern "C" __attribute__((alias("__tsan_" #name), visibility("default")))
HEDDLE_WRAP(memcpy) void* __wrap_memcpy(void* to, const void* from, std::size_t size);
HEDDLE_WRAP(memmove) void* __wrap_memmove(void* to, const void* from, std::size_t size);
HEDDLE_WRAP(memset) void* __wrap_memset(void* to, int value, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)

HEDDLE_INTERPOSE void __tsan_acquire(void* object) {
  if (is_acting() && ordered_after(object)) tell_sync(object, HEDDLE_HERE);
}
HEDDLE_INTERPOSE void __tsan_release(void* object) {
  if (!is_acting()) return;
  releasing_shared(object);
  tell_sync(object, HEDDLE_HERE);
}

namespace {

// `order` is one of std::memory_order.
uint32_t meaning_of(int order) {
  switch (order & 7) {
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE: return kAcquires;
    case __ATOMIC_RELEASE: return kReleases;
    case __ATOMIC_ACQ_REL: return kAcquires | kReleases;
    case __ATOMIC_SEQ_CST: return kAcquires | kReleases | kIsSequential;
    default: return 0;
  }
}

// Every operation is done in the strongest order: what the weaker ones would let happen is rare, and the
// check goes by the order the program asked for.
template <class T>
T exchange_if(volatile T* place, T expected, T desired) {
  return __sync_val_compare_and_swap(place, expected, desired);
}
template <class T>
T load(volatile T* place) {
  if constexpr (sizeof(T) == 16) {
    return exchange_if<T>(place, 0, 0);
  } else {
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);
  }
}
template <class T, class Change>
T update(volatile T* place, Change change) {
  for (T before = load(place);;) {
    const T found = exchange_if<T>(place, before, change(before));
    if (found == before) return before;
    before = found;
  }
}

const void* plain(const volatile void* place) { return const_cast<const void*>(place); }

template <class T>
T atomic_load(const volatile T* place, int order, const void* pc) {
  for (;;) {
    const uint32_t begun = begin_load(plain(place));
    const T value = load(const_cast<volatile T*>(place));
    if (!end_load(plain(place), sizeof(T), meaning_of(order), nullptr, begun, pc)) return value;
  }
}
template <class T>
void atomic_store(volatile T* place, T value, int order, const void* pc) {
  begin_atomic(plain(place));
  update(place, [&](T) { return value; });
  end_atomic(plain(place), sizeof(T), kAtomicWrite, meaning_of(order), nullptr, pc);
}
template <class T, class Change>
T atomic_update(volatile T* place, int order, const void* pc, Change change) {
  begin_atomic(plain(place));
  const T before = update(place, change);
  end_atomic(plain(place), sizeof(T), kAtomicRead | kAtomicWrite, meaning_of(order), nullptr, pc);
  return before;
}
// What was there.
template <class T>
T atomic_exchange_if(volatile T* place, T expected, T desired, int order, int order_of_failure,
                     const void* pc) {
  begin_atomic(plain(place));
  const T found = exchange_if(place, expected, desired);
  const bool done = found == expected;
  end_atomic(plain(place), sizeof(T), kAtomicRead | (done ? kAtomicWrite : kAtomicCompare),
             meaning_of(done ? order : order_of_failure), nullptr, pc);
  return found;
}

}  // namespace

using Word8 = uint8_t;
using Word16 = uint16_t;
using Word32 = uint32_t;
using Word64 = uint64_t;
using Word128 = unsigned __int128;

#define HEDDLE_UPDATE(bits, name, result)                                                                  \
  HEDDLE_INTERPOSE Word##bits __tsan_atomic##bits##_##name(volatile Word##bits* place, Word##bits operand, \
                                                           int order) {                                    \
    return atomic_update(place, order, HEDDLE_HERE,                                                        \
                         [&]([[maybe_unused]] Word##bits before) { return Word##bits(result); });          \
  }
#define HEDDLE_EXCHANGE_IF(bits, name)                                                                      \
  HEDDLE_INTERPOSE int __tsan_atomic##bits##_compare_exchange_##name(                                       \
      volatile Word##bits* place, Word##bits* expected, Word##bits desired, int order, int of_failure) {    \
    const Word##bits found = atomic_exchange_if(place, *expected, desired, order, of_failure, HEDDLE_HERE); \
    if (found == *expected) return 1;                                                                       \
    *expected = found;                                                                                      \
    return 0;                                                                                               \
  }
#define HEDDLE_ATOMICS(bits)                                                                            \
  HEDDLE_INTERPOSE Word##bits __tsan_atomic##bits##_load(const volatile Word##bits* place, int order) { \
    return atomic_load(place, order, HEDDLE_HERE);                                                      \
  }                                                                                                     \
  HEDDLE_INTERPOSE void __tsan_atomic##bits##_store(volatile Word##bits* place, Word##bits value,       \
                                                    int order) {                                        \
    atomic_store(place, value, order, HEDDLE_HERE);                                                     \
  }                                                                                                     \
  HEDDLE_UPDATE(bits, exchange, operand)                                                                \
  HEDDLE_UPDATE(bits, fetch_add, before + operand)                                                      \
  HEDDLE_UPDATE(bits, fetch_sub, before - operand)                                                      \
  HEDDLE_UPDATE(bits, fetch_and, before& operand)                                                       \
  HEDDLE_UPDATE(bits, fetch_or, before | operand)                                                       \
  HEDDLE_UPDATE(bits, fetch_xor, before ^ operand)                                                      \
  HEDDLE_UPDATE(bits, fetch_nand, ~(before & operand))                                                  \
  HEDDLE_EXCHANGE_IF(bits, strong)                                                                      \
  HEDDLE_EXCHANGE_IF(bits, weak)                                                                        \
  HEDDLE_INTERPOSE Word##bits __tsan_atomic##bits##_compare_exchange_val(                               \
      volatile Word##bits* place, Word##bits expected, Word##bits desired, int order, int of_failure) { \
    return atomic_exchange_if(place, expected, desired, order, of_failure, HEDDLE_HERE);                \
  }

HEDDLE_ATOMICS(8)
HEDDLE_ATOMICS(16)
HEDDLE_ATOMICS(32)
HEDDLE_ATOMICS(64)
HEDDLE_ATOMICS(128)

HEDDLE_INTERPOSE void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  fence(meaning_of(order), HEDDLE_HERE);
}
HEDDLE_INTERPOSE void __tsan_atomic_signal_fence(int) {}

}  // namespace heddle::runtime
