#include "runtime/groups.h"

#include "runtime/memory.h"
#include "runtime/numbers.h"

namespace heddle::runtime {

constinit SpinLock GroupMemory::free_lock_;
Group* GroupMemory::free_[kClasses] = {};

void GroupMemory::give_back(Group* group) {
  const Locked locked(free_lock_);
  Group*& first = free_[class_of(group->count)];
  group->next = first;
  first = group;
}

void GroupMemory::get_more(uint32_t count) {
  constexpr std::size_t kAtOnce = 1024;  // bytes, about
  const unsigned index = class_of(count);
  const std::size_t size = (Group::bytes(uint32_t{4} << index) + 15) & ~std::size_t{15};
  const std::size_t groups = size < kAtOnce ? kAtOnce / size : 1;
  Group*& spare = spare_[index];
  {
    const Locked locked(free_lock_);
    Group*& free = free_[index];
    for (std::size_t i = 0; i < groups && free != nullptr; ++i) {
      Group* const group = free;
      free = group->next;
      group->next = spare;
      spare = group;
    }
  }
  if (spare == nullptr) {
    char* const memory = static_cast<char*>(allocate(groups * size));
    for (std::size_t i = 0; i < groups; ++i) {
      auto* const group = reinterpret_cast<Group*>(memory + i * size);
      group->next = spare;
      spare = group;
    }
  }
  // Rather sweep than grow: 8 times as soon as numbers that take the same memory would.
  hasten_sweep(8 * groups * size / sizeof(Entry));
}

void leave_free_groups() {
  GroupMemory::free_lock_.unlock();
  for (Group*& first : GroupMemory::free_) first = nullptr;
}

}  // namespace heddle::runtime
