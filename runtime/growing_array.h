// An array that grows, in memory of the runtime's own (runtime/memory.h). For plain data. Without a
// constructor and a destructor that would have to run: a global one is ready before the program begins.
#pragma once

#include <cstdint>

#include "runtime/memory.h"

namespace heddle::runtime {

template <class T>
class GrowingArray {
 public:
  bool empty() const { return count_ == 0; }
  uint32_t size() const { return count_; }
  T& operator[](uint32_t at) { return items_[at]; }
  const T& operator[](uint32_t at) const { return items_[at]; }
  const T& back() const { return items_[count_ - 1]; }

  // The new last one, which holds nothing in particular.
  [[gnu::always_inline]] T& add() {
    if (count_ == capacity_) grow();
    return items_[count_++];
  }
  void remove_last() { --count_; }
  void remove(uint32_t at) {
    --count_;
    for (; at < count_; ++at) items_[at] = items_[at + 1];
  }
  void clear() { count_ = 0; }
  void give_back() {
    if (items_ != nullptr) deallocate(items_, capacity_ * sizeof(T));
  }

 private:
  [[gnu::noinline]] void grow() {
    const uint32_t capacity = capacity_ == 0 ? 16 : capacity_ * 2;
    auto* const items = static_cast<T*>(allocate(capacity * sizeof(T)));
    for (uint32_t i = 0; i < count_; ++i) items[i] = items_[i];
    give_back();
    items_ = items;
    capacity_ = capacity;
  }

  T* items_ = nullptr;
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
};

}  // namespace heddle::runtime
