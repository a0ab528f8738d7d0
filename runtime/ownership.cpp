#include "runtime/ownership.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/memory.h"
#include "runtime/thread.h"

namespace heddle::runtime {

uint32_t* owners = nullptr;

namespace {

bool has_barrier = false;

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

void reserve_owners() {
  owners =
      static_cast<uint32_t*>(reserve(sizeof(uint32_t) << (kAddressBits - kPageBits), "the owners of pages"));
  has_barrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

void settle(Thread& thread, uint64_t page) {
  uint32_t* const place = owners + page;
  for (;;) {
    uint32_t owner = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (owner == thread.serial || owner == kEverybody) return;
    if (owner == kChanging) {
      ::sched_yield();
      continue;
    }
    const uint32_t next = owner != 0 ? kChanging : has_barrier ? thread.serial : kEverybody;
    if (!__atomic_compare_exchange_n(place, &owner, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    if (next != kChanging) return;
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    const Thread* const before = threads_by_serial[owner];
    while (before->page == page + 1) ::sched_yield();
    __atomic_store_n(place, kEverybody, __ATOMIC_RELEASE);
    return;
  }
}

}  // namespace heddle::runtime
