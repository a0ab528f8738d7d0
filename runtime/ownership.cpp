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
#include "runtime/patches.h"
#include "runtime/shadow.h"
#include "runtime/sole_changer.h"
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

void begin_settling() {
  for (;;) {
    settling.fetch_add(1);
    if (is_paused.load() == 0) return;
    settling.fetch_sub(1);
    wait_while_paused();
  }
}
void end_settling() { settling.fetch_sub(1); }

}  // namespace

Settling::Settling() { begin_settling(); }
Settling::~Settling() { end_settling(); }

void wait_until_left(uint64_t page) {
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  const uint32_t count = __atomic_load_n(&thread_count, __ATOMIC_ACQUIRE);
  for (uint32_t serial = 1; serial <= count; ++serial)
    while (threads_by_serial[serial]->page == page + 1) ::sched_yield();
  std::atomic_thread_fence(std::memory_order_acquire);
}

void reserve_owners() {
  owners =
      static_cast<uint32_t*>(reserve(sizeof(uint32_t) << (kAddressBits - kPageBits), "the owners of pages"));
  owned_pages =
      static_cast<uint32_t*>(reserve(sizeof(uint32_t) << (kAddressBits - kPageBits), "the pages owned"));
  has_barrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  reserve_patches(has_barrier);
}

bool can_pause() { return has_barrier; }

void wait_while_paused() {
  const int error = errno;
  while (is_paused.load() != 0) ::syscall(SYS_futex, &is_paused, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error;
}

void pass_barrier_everywhere() { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

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

AlonePage::AlonePage(uint64_t page) : page_(page) {
  begin_settling();
  uint32_t expected = kEverybody;
  is_alone_ = __atomic_compare_exchange_n(owners + page, &expected, kChanging, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED);
  if (is_alone_) wait_until_left(page);
}

AlonePage::~AlonePage() {
  if (is_alone_) __atomic_store_n(owners + page_, kEverybody, __ATOMIC_RELEASE);
  end_settling();
}

void give_pages_to_everybody() {
  settling.store(0);
  SoleChanger::forget_all();
  unlock_patches();
  for (uint64_t i = 0; i < owned_count; ++i) {
    drop_patches(owned_pages[i]);
    owners[owned_pages[i]] = kEverybody;
  }
}

namespace {

// A thread that has ended changes nothing any more: its page becomes the other's. False: it has not ended.
bool inherit(Thread& thread, uint64_t page) {
  const auto has_ended = [](uint32_t owner) {
    return owner != 0 && owner < kFirstPaused && threads_by_serial[owner]->state == nullptr;
  };
  uint32_t owner = __atomic_load_n(owners + page, __ATOMIC_RELAXED);
  if (!has_ended(owner)) return false;
  const Locked nobody_comes(threads_lock);
  const Settling now;
  return has_ended(owner) && __atomic_compare_exchange_n(owners + page, &owner, thread.serial, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// Makes the page, and those of the same owner that the thread may come to next, everybody's: a barrier costs
// the same for one and for many.
void take_away(Thread& thread, uint64_t page, uint32_t owner) {
  Pages& pages = thread.taken_pages.next(page);
  const auto takes = [&](uint64_t next) {
    uint32_t expected = owner;
    return __atomic_compare_exchange_n(owners + next, &expected, kChanging, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
  };
  const Pages wanted = pages;
  pages = {page, page + 1};
  while (pages.end < wanted.end && takes(pages.end)) ++pages.end;
  while (pages.begin > wanted.begin && takes(pages.begin - 1)) --pages.begin;
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  const Thread* const before = threads_by_serial[owner];
  while (before->page > pages.begin && before->page <= pages.end) ::sched_yield();
  for (uint64_t taken = pages.begin; taken < pages.end; ++taken)
    __atomic_store_n(owners + taken, kEverybody, __ATOMIC_RELEASE);
}

// Nobody has accessed the page before. The program's code reads the state of memory first and finds a page of
// zeros that the system shares among all; to write there takes another fault, and costs all cores of the
// program. So where one page comes after the other, the state of the next ones gets memory at once.
void prepare(Thread& thread, uint64_t page) {
  const Pages& pages = thread.first_pages.next(page);
  if (pages.count() > 1)
    make_writable(shadow_base + (pages.begin << (kPageBits + 1)), pages.count() << (kPageBits + 1));
}

}  // namespace

void settle(Thread& thread, uint64_t page) {
  if (inherit(thread, page)) return;
  const Settling now;
  uint32_t* const place = owners + page;
  for (;;) {
    uint32_t owner = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (owner == thread.serial || owner == kEverybody) return;
    if (owner == kChanging) {
      ::sched_yield();
      continue;
    }
    if (owner == kPatched) {
      end_patches(thread, page);
      continue;
    }
    const uint32_t next = owner != 0 ? kChanging : has_barrier ? thread.serial : kEverybody;
    if (!__atomic_compare_exchange_n(place, &owner, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    if (next == kChanging) {
      take_away(thread, page, owner);
    } else {
      owned_pages[__atomic_fetch_add(&owned_count, 1, __ATOMIC_RELAXED)] = static_cast<uint32_t>(page);
      prepare(thread, page);
    }
    return;
  }
}

}  // namespace heddle::runtime
