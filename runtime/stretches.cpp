#include "runtime/stretches.h"

#include <atomic>

#include "runtime/memory.h"
#include "runtime/message.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

Entry* entries = nullptr;

constinit std::atomic<Number> next_number{1};

namespace {

// Finds groups and layers by content. Open addressing; doubles.
class Known {
 public:
  template <class Same, class Make>
  Number find(uint64_t hash, Same same, Make make) {
    Locked locked(lock_);
    if (count_ * 2 >= size_) grow();
    std::size_t at = hash & (size_ - 1);
    for (; table_[at].number != 0; at = (at + 1) & (size_ - 1))
      if (table_[at].hash == hash && same(entries[table_[at].number])) return table_[at].number;
    const Number number = take_numbers(1);
    entries[number] = make();
    table_[at] = {hash, number};
    ++count_;
    return number;
  }

 private:
  struct Slot {
    uint64_t hash;
    Number number;
  };

  void grow() {
    const std::size_t size = size_ == 0 ? 1024 : size_ * 2;
    auto* const table = static_cast<Slot*>(allocate(size * sizeof(Slot)));
    for (std::size_t i = 0; i < size_; ++i) {
      if (table_[i].number == 0) continue;
      std::size_t at = table_[i].hash & (size - 1);
      while (table[at].number != 0) at = (at + 1) & (size - 1);
      table[at] = table_[i];
    }
    if (table_ != nullptr) deallocate(table_, size_ * sizeof(Slot));
    table_ = table;
    size_ = size;
  }

  SpinLock lock_;
  Slot* table_ = nullptr;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
};

constinit Known known;

uint64_t mix(uint64_t x) {
  x *= 0x9E3779B97F4A7C15;
  return x ^ (x >> 29);
}

}  // namespace

void reserve_entries() {
  entries = static_cast<Entry*>(reserve(sizeof(Entry) << kNumberBits, "the numbers of stretches"));
}

Number number_of_layer(Number upper, uint32_t below) {
  const Entry layer = Entry::layer(upper, below);
  return known.find(
      mix(uint64_t{upper} << 32 | below), [&](Entry entry) { return entry == layer; }, [&] { return layer; });
}

Number number_of_group(const Number* members, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; ++i) hash = mix(hash ^ members[i]);
  return known.find(
      hash,
      [&](Entry entry) {
        if (entry.kind() != Entry::Kind::kGroup || entry.group().count != count) return false;
        for (uint32_t i = 0; i < count; ++i)
          if (entry.group().members[i] != members[i]) return false;
        return true;
      },
      [&] {
        auto* const group = static_cast<Group*>(allocate(sizeof(Group) + count * sizeof(Number)));
        group->count = count;
        for (uint32_t i = 0; i < count; ++i) group->members[i] = members[i];
        return Entry::group(group);
      });
}

}  // namespace heddle::runtime
