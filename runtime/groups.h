// Memory for large groups of readers (runtime/stretches.h): each thread has some for the next ones it makes,
// since it makes them in the middle of the program's code. What a sweep gets back is for all threads: those
// that make many groups would else need ever more memory, while the others keep what they had.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/registers.h"
#include "runtime/spin_lock.h"
#include "runtime/stretches.h"

namespace heddle::runtime {

class GroupMemory {
 public:
  // For so many members, which the caller fills in. It belongs to the thread until a sweep says otherwise.
  HEDDLE_INLINE Group* make(Number number, uint32_t count) {
    Group*& first = spare_[class_of(count)];
    if (first == nullptr) {
      auto more = [&] { get_more(count); };
      keep_registers(more);
    }
    Group* const group = first;
    first = group->next;
    group->next = used_;
    used_ = group;
    group->number = number;
    group->count = count;
    return group;
  }

  // Those that nobody refers to any more are used again, by any thread.
  template <class IsUsed>
  void sweep(IsUsed is_used) {
    for (Group** link = &used_; *link != nullptr;) {
      Group* const group = *link;
      if (is_used(group->number)) {
        link = &group->next;
        continue;
      }
      *link = group->next;
      give_back(group);
    }
  }

 private:
  static constexpr unsigned kClasses = 24;  // 4 members, 8, 16, …
  static unsigned class_of(uint32_t count) {
    return count <= 4 ? 0 : static_cast<unsigned>(std::bit_width(count - 1)) - 2;
  }
  static void give_back(Group* group);
  void get_more(uint32_t count);

  Group* used_ = nullptr;
  Group* spare_[kClasses] = {};

  static SpinLock free_lock_;
  static Group* free_[kClasses];  // no thread's

  friend void leave_free_groups();
};

// In the child after a fork: what was about to be taken is lost.
void leave_free_groups();

}  // namespace heddle::runtime
