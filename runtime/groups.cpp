#include "runtime/groups.h"

#include "runtime/memory.h"
#include "runtime/numbers.h"

namespace heddle::runtime {

void GroupMemory::get_more(uint32_t count) {
  constexpr std::size_t kAtOnce = 1024;  // bytes, about
  const unsigned index = class_of(count);
  const std::size_t size = (Group::bytes(uint32_t{4} << index) + 15) & ~std::size_t{15};
  const std::size_t groups = size < kAtOnce ? kAtOnce / size : 1;
  char* const memory = static_cast<char*>(allocate(groups * size));
  for (std::size_t i = 0; i < groups; ++i) {
    auto* const group = reinterpret_cast<Group*>(memory + i * size);
    group->next = spare_[index];
    spare_[index] = group;
  }
  // Rather sweep than grow.
  hasten_sweep(2 * groups * size / sizeof(Entry));
}

}  // namespace heddle::runtime
