// Compiled like the slow paths of accesses, without vector registers: they ask for the number of the call
// stack.
#include "runtime/contexts.h"

#include "runtime/connection.h"
#include "runtime/memory.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

namespace {

constexpr unsigned kTableBits = 23;
std::atomic<uint32_t>* table = nullptr;  // numbers by hash; open addressing

HEDDLE_INLINE uint32_t find_or_add(Channel& to, uint32_t caller, uint64_t pc) {
  const uint64_t hash = (pc ^ uint64_t{caller} << 40 ^ caller) * 0x9E3779B97F4A7C15;
  for (uint64_t at = hash >> (64 - kTableBits);; at = (at + 1) & ((uint64_t{1} << kTableBits) - 1)) {
    uint32_t number = table[at].load(std::memory_order_acquire);
    if (number == 0) {
      // Two threads may number the same stack twice; that does no harm.
      if (to.contexts.load(std::memory_order_relaxed) >= Channel::kContexts - 64) return caller;
      const uint32_t fresh = to.contexts.fetch_add(1, std::memory_order_relaxed);
      to.context[fresh] = {pc, caller};
      if (table[at].compare_exchange_strong(number, fresh, std::memory_order_acq_rel)) return fresh;
    }
    const Context& known = to.context[number];
    if (known.pc == pc && known.caller == caller) return number;
  }
}

}  // namespace

void reserve_contexts() {
  if (table == nullptr) {
    table = static_cast<std::atomic<uint32_t>*>(
        reserve(sizeof(std::atomic<uint32_t>) << kTableBits, "the numbers of call stacks"));
  } else {
    clear_and_give_back(reinterpret_cast<char*>(table), sizeof(std::atomic<uint32_t>) << kTableBits);
  }
}

uint32_t context_of(uint32_t caller, const void* pc) {
  Channel* const to = channel;
  return to == nullptr ? 0 : find_or_add(*to, caller, reinterpret_cast<uint64_t>(pc));
}

HEDDLE_KEEPS_REGISTERS uint32_t number_frame(HeddleFrame* frame) {
  Channel* const to = channel;
  if (to == nullptr) return 0;
  // Up to the first frame whose number is known, then back down; recursion would need the program's stack.
  constexpr unsigned kAtOnce = 64;
  HeddleFrame* unknown[kAtOnce];
  for (;;) {
    unsigned count = 0;
    HeddleFrame* up = frame;
    unsigned depth = 0;
    for (; up != nullptr && up->context == 0; up = up->caller) unknown[depth++ % kAtOnce] = up;
    uint32_t number = up == nullptr ? 0 : static_cast<uint32_t>(up->context);
    for (count = depth < kAtOnce ? depth : kAtOnce; count > 0; --count) {
      HeddleFrame* const here = unknown[--depth % kAtOnce];
      number = find_or_add(*to, number, reinterpret_cast<uint64_t>(here->return_address));
      here->context = number;
    }
    if (depth == 0) return number;
  }
}

}  // namespace heddle::runtime
