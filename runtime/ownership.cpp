#include "runtime/ownership.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

#include "runtime/memory.h"
#include "runtime/thread.h"

namespace heddle::runtime {

uint32_t* owners = nullptr;
uint32_t* owned_pages = nullptr;
uint64_t owned_count = 0;

namespace {

bool has_barrier = false;
constinit std::atomic<uint32_t> is_paused{0};  // a futex
constinit std::atomic<uint32_t> settling{0};   // threads that are changing owners

// Makes an owner one that no thread has, and back.
constexpr uint32_t kPauseBit = uint32_t{1} << 31;

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

// While it lives, owners may be changed: nobody pauses.
class Settling {
 public:
  Settling() {
    for (;;) {
      settling.fetch_add(1);
      if (is_paused.load() == 0) return;
      settling.fetch_sub(1);
      wait_while_paused();
    }
  }
  ~Settling() { settling.fetch_sub(1); }
  Settling(const Settling&) = delete;
  Settling& operator=(const Settling&) = delete;
};

}  // namespace

void reserve_owners() {
  owners =
      static_cast<uint32_t*>(reserve(sizeof(uint32_t) << (kAddressBits - kPageBits), "the owners of pages"));
  owned_pages =
      static_cast<uint32_t*>(reserve(sizeof(uint32_t) << (kAddressBits - kPageBits), "the pages owned"));
  has_barrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

bool can_pause() { return has_barrier; }

void wait_while_paused() {
  const int error = errno;
  while (is_paused.load() != 0) ::syscall(SYS_futex, &is_paused, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error;
}

Pause::Pause() {
  is_paused.store(1);
  while (settling.load() != 0) ::sched_yield();
  for (uint64_t i = 0; i < owned_count; ++i)
    __atomic_fetch_xor(owners + owned_pages[i], kPauseBit, __ATOMIC_RELAXED);
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  for_each_thread([](const Thread& thread) {
    while (thread.page != 0) ::sched_yield();
  });
  std::atomic_thread_fence(std::memory_order_acquire);
}

Pause::~Pause() {
  for (uint64_t i = 0; i < owned_count; ++i)
    __atomic_fetch_xor(owners + owned_pages[i], kPauseBit, __ATOMIC_RELEASE);
  is_paused.store(0);
  ::syscall(SYS_futex, &is_paused, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void give_pages_to_everybody() {
  settling.store(0);
  for (uint64_t i = 0; i < owned_count; ++i) owners[owned_pages[i]] = kEverybody;
}

void settle(Thread& thread, uint64_t page) {
  const Settling now;
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
    if (owner == 0)
      owned_pages[__atomic_fetch_add(&owned_count, 1, __ATOMIC_RELAXED)] = static_cast<uint32_t>(page);
    if (next != kChanging) return;
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    const Thread* const before = threads_by_serial[owner];
    while (before->page == page + 1) ::sched_yield();
    __atomic_store_n(place, kEverybody, __ATOMIC_RELEASE);
    return;
  }
}

}  // namespace heddle::runtime
