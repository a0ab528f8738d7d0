#include "runtime/memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "runtime/message.h"
#include "runtime/spin_lock.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constexpr std::size_t kSmallest = 16;
constexpr std::size_t kLargestClass = std::size_t{1} << 16;  // more is mapped for itself
constexpr unsigned kClasses = 13;                            // 16, 32, … 64 KiB
constexpr std::size_t kRegion = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;

using Free = SpareMemory::Free;

struct SizeClass {
  SpinLock lock;
  Free* free = nullptr;
  char* next = nullptr;  // never used yet
  char* end = nullptr;
};

constinit SizeClass classes[kClasses];

unsigned class_of(std::size_t size) {
  return size <= kSmallest ? 0 : static_cast<unsigned>(std::bit_width(size - 1)) - 4;
}

// Of what the calling thread has freed; null: it has none.
void* take_spare(unsigned index) {
  if (index >= SpareMemory::kClasses || this_thread == nullptr) return nullptr;
  const Inside inside;
  SpareMemory& spare = this_thread->spare;
  Free* const first = spare.first[index];
  if (first == nullptr) return nullptr;
  spare.first[index] = first->next;
  --spare.count[index];
  return first;
}
// False: it has enough.
bool keep_spare(unsigned index, Free* memory) {
  if (index >= SpareMemory::kClasses || this_thread == nullptr) return false;
  const Inside inside;
  SpareMemory& spare = this_thread->spare;
  if (spare.count[index] == SpareMemory::kMost) return false;
  memory->next = spare.first[index];
  spare.first[index] = memory;
  ++spare.count[index];
  return true;
}

// Asks the system itself: mmap() and munmap() are the program's (runtime/interpose/memory.cpp), and what lies
// where is no doing of the program's here.
void* map(std::size_t size) {
  const long memory = ::syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == -1 ? nullptr : reinterpret_cast<void*>(memory);
}

}  // namespace

void* reserve(std::size_t size, const char* what) {
  void* const memory = map(size);
  if (memory == nullptr)
    fail("the system refused %zu MiB of address space for %s; is there a limit on it (ulimit -v)?",
         size >> 20, what);
  ::madvise(memory, size, MADV_DONTDUMP);
  return memory;
}

void make_writable(char* begin, std::size_t size) {
  const int error = errno;
  ::madvise(begin, size, MADV_POPULATE_WRITE);
  errno = error;
}

void clear_and_give_back(char* begin, std::size_t size) {
  char* const end = begin + size;
  auto* const first =
      reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(begin) + kPage - 1) & ~(kPage - 1));
  auto* const last = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(end) & ~(kPage - 1));
  if (first >= last) {
    __builtin_memset(begin, 0, size);
    return;
  }
  __builtin_memset(begin, 0, static_cast<std::size_t>(first - begin));
  ::madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED);
  __builtin_memset(last, 0, static_cast<std::size_t>(end - last));
}

void* allocate(std::size_t size) {
  if (size > kLargestClass) {
    void* const memory = map(size);
    if (memory == nullptr) fail("out of memory (%zu bytes)", size);
    return memory;
  }
  const unsigned index = class_of(size);
  const std::size_t whole = kSmallest << index;
  if (void* const spare = take_spare(index); spare != nullptr) {
    __builtin_memset(spare, 0, whole);
    return spare;
  }
  SizeClass& of_size = classes[index];
  Locked locked(of_size.lock);
  if (Free* const first = of_size.free; first != nullptr) {
    of_size.free = first->next;
    __builtin_memset(static_cast<void*>(first), 0, whole);
    return first;
  }
  if (of_size.next == of_size.end) {
    of_size.next = static_cast<char*>(map(kRegion));
    if (of_size.next == nullptr) fail("out of memory (%zu bytes)", size);
    of_size.end = of_size.next + kRegion;
  }
  void* const memory = of_size.next;
  of_size.next += whole;
  return memory;
}

void deallocate(void* memory, std::size_t size) {
  if (size > kLargestClass) {
    ::syscall(SYS_munmap, memory, size);
    return;
  }
  const unsigned index = class_of(size);
  auto* const free = static_cast<Free*>(memory);
  if (keep_spare(index, free)) return;
  SizeClass& of_size = classes[index];
  Locked locked(of_size.lock);
  free->next = of_size.free;
  of_size.free = free;
}

void leave_free_memory() {
  for (SizeClass& of_size : classes) {
    of_size.lock.unlock();
    of_size.free = nullptr;
    of_size.next = of_size.end = nullptr;
  }
}

}  // namespace heddle::runtime
