#include "runtime/rare_access.h"

#include "runtime/cell.h"
#include "runtime/message.h"

namespace heddle::runtime {

namespace {

HEDDLE_INLINE Number layer(Thread& thread, Number upper, uint32_t below) {
  Thread::Layer& known = thread.layers[(upper + below + (below >> kNumberBits)) % Thread::kLayers];
  if (known.upper != upper || known.below != below) {
    Number number;
    auto make = [&] { number = number_of_layer(upper, below); };
    keep_registers(make);
    known = {upper, below, number};
  }
  return known.number;
}

// The 4 bytes of a word apart: for each the number of its stretch or group, 0 for none.
struct Bytes {
  Number of[4] = {};

  HEDDLE_INLINE static Bytes unpack(uint32_t word) {
    Bytes bytes;
    uint32_t open = 0xF;  // bytes no layer has named yet
    while (word != 0) {
      const Entry entry = entries[number_of(word)];
      const bool is_layer = entry.kind() == Entry::Kind::kLayer;
      const uint32_t named = bytes_of(word) & open;
      for (unsigned i = 0; i < 4; ++i)
        if ((named >> i & 1) != 0) bytes.of[i] = is_layer ? entry.upper() : number_of(word);
      open &= ~named;
      word = is_layer ? entry.below() : 0;
    }
    return bytes;
  }

  // The present stretch lies on top, so that its next bytes join it.
  HEDDLE_INLINE uint32_t pack(Thread& thread, Number present) const {
    uint32_t word = 0;
    uint32_t done = 0;
    for (unsigned i = 0; i < 4; ++i)
      if (of[i] != 0 && of[i] != present && (done >> i & 1) == 0) word = put(thread, of[i], word, done);
    for (unsigned i = 0; i < 4; ++i)
      if (of[i] == present && (done >> i & 1) == 0) word = put(thread, present, word, done);
    return word;
  }

 private:
  HEDDLE_INLINE uint32_t put(Thread& thread, Number number, uint32_t below, uint32_t& done) const {
    uint32_t named = 0;
    for (unsigned i = 0; i < 4; ++i) named |= static_cast<uint32_t>(of[i] == number) << i;
    done |= named;
    return named << kNumberBits | (below == 0 ? number : layer(thread, number, below));
  }
};

class Check {
 public:
  HEDDLE_INLINE Check(Thread& thread, bool writes, bool is_atomic)
      : thread_(thread), writes_(writes), is_atomic_(is_atomic) {
    const uint64_t stamp = present_stamp(thread);
    if (!is_atomic) {
      present_ = number_of(static_cast<uint32_t>(stamp));
      return;
    }
    if (thread.atomics_stamp != stamp) {
      thread.atomics_number = take_numbers(1);
      thread.atomics_stamp = stamp;
      entries[thread.atomics_number] = Entry::atomics(thread.slot, thread.time);
    }
    present_ = thread.atomics_number;
  }

  // The word after the access to these of its bytes. Sets the race if there is one.
  HEDDLE_INLINE Cell after(Cell old, unsigned first, unsigned size) {
    Cell fresh = old;
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned shift = 32 * half;
      uint32_t bytes = (((1U << size) - 1) << first) >> (4 * half) & 0xF;
      if (bytes == 0) continue;
      const auto write = static_cast<uint32_t>(old.write >> shift);
      const auto read = static_cast<uint32_t>(old.read >> shift);
      Bytes writes = Bytes::unpack(write);
      Bytes reads = Bytes::unpack(read);
      Number last = 0;
      Number last_result = 0;
      for (unsigned i = 0; i < 4; ++i) {
        if ((bytes >> i & 1) == 0) continue;
        expect_before(writes.of[i]);
        if (writes_) {
          expect_before(reads.of[i]);
          writes.of[i] = is_atomic_ ? joined(writes.of[i]) : present_;
          reads.of[i] = is_atomic_ ? joined(reads.of[i]) : present_;
        } else {
          if (reads.of[i] != last || last == 0) {
            last = reads.of[i];
            last_result = joined(last);
            if (last_result != present_ && !is_atomic_)
              heddle_thread_state.group = twice(kAllBytes | last_result);
          }
          reads.of[i] = last_result;
        }
      }
      const uint32_t new_read = reads.pack(thread_, present_);
      const uint32_t new_write = writes_ ? writes.pack(thread_, present_) : write;
      fresh.read = (fresh.read & ~(uint64_t{0xFFFFFFFF} << shift)) | uint64_t{new_read} << shift;
      fresh.write = (fresh.write & ~(uint64_t{0xFFFFFFFF} << shift)) | uint64_t{new_write} << shift;
      if (bytes == 0xF && race_ == 0 && !is_atomic_)
        thread_.change_of(writes_, twice(read), twice(write)) = {heddle_thread_state.stamp + writes_,
                                                                 {twice(read), twice(write)},
                                                                 {twice(new_read), twice(new_write)}};
    }
    return fresh;
  }

  HEDDLE_INLINE Number race() const { return race_; }

 private:
  HEDDLE_INLINE bool is_before(Number stretch) const {
    return stretch == present_ || thread_.is_before(entries[stretch]);
  }

  HEDDLE_INLINE void expect_before(Number number) {
    if (number == 0 || number == present_ || race_ != 0) return;
    const Entry entry = entries[number];
    if (entry.kind() != Entry::Kind::kGroup) {
      if (is_in_race_with(number)) race_ = number;
      return;
    }
    const Group& group = entry.group();
    for (uint32_t i = 0; i < group.count; ++i)
      if (is_in_race_with(group.members[i])) {
        race_ = group.members[i];
        return;
      }
  }
  HEDDLE_INLINE bool is_in_race_with(Number stretch) const {
    return !is_before(stretch) && !(is_atomic_ && entries[stretch].kind() == Entry::Kind::kAtomics);
  }

  // Whether all that the stretch may be in race with is in race with the present one too.
  HEDDLE_INLINE bool is_covered(Number stretch) const {
    return is_before(stretch) && (!is_atomic_ || entries[stretch].kind() == Entry::Kind::kAtomics);
  }

  // The readers, with the present stretch and without those before it.
  HEDDLE_INLINE Number joined(Number readers) const {
    if (readers == 0 || readers == present_) return present_;
    const Entry entry = entries[readers];
    if (entry.kind() != Entry::Kind::kGroup && is_covered(readers)) return present_;
    Number group;
    auto make = [&] { group = group_with_present(readers); };
    keep_registers(make);
    return group;
  }

  [[gnu::noinline]] Number group_with_present(Number readers) const {
    const Entry entry = entries[readers];
    const bool is_group = entry.kind() == Entry::Kind::kGroup;
    const uint32_t before = is_group ? entry.group().count : 1;
    const std::size_t bytes = (before + 1) * sizeof(Number);
    auto* const members = static_cast<Number*>(allocate(bytes));
    uint32_t count = 0;
    bool is_in = false;
    for (uint32_t i = 0; i < before; ++i) {
      const Number member = is_group ? entry.group().members[i] : readers;
      if (member == present_ || is_covered(member)) continue;
      if (!is_in && member > present_) {
        members[count++] = present_;
        is_in = true;
      }
      members[count++] = member;
    }
    if (!is_in) members[count++] = present_;
    const Number group = count == 1 ? present_ : number_of_group(members, count);
    deallocate(members, bytes);
    return group;
  }

  Thread& thread_;
  bool writes_;
  bool is_atomic_;
  Number present_ = 0;
  Number race_ = 0;  // what the access is in race with; 0: nothing
};

}  // namespace

HEDDLE_KEEPS_REGISTERS void rare_access(const void* address, uint64_t size_and_kind, const void* caller,
                                        const void* pc) {
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const bool writes = (size_and_kind & kWrites) != 0;
  const bool is_atomic = (size_and_kind & kIsAtomic) != 0;
  uint64_t size = size_and_kind & ~(kWrites | kIsAtomic);
  (void)caller;
  auto at = reinterpret_cast<uint64_t>(address);
  while (size > 0) {
    const unsigned first = at % 8;
    const auto here = static_cast<unsigned>(size < 8 - first ? size : 8 - first);
    const void* const place = reinterpret_cast<const void*>(at);
    Cell* const cell = cell_of(place);
    for (;;) {
      Number race = 0;
      {
        const AtPage page(thread, place);
        if (page.is_settled()) {
          const Cell old = *cell;
          Check check(thread, writes, is_atomic);
          const Cell fresh = check.after(old, first, here);
          if (!(fresh == old)) {
            if (!page.exchange(cell, old, fresh)) continue;
            thread.remember(place, here, writes, pc);
          }
          race = check.race();
          if (race == 0) break;
        }
      }
      if (race != 0) {
        auto report = [&] {
          say("race: %s of %u bytes at %p, pc %p", writes ? "write" : "read", here, place, pc);
        };
        keep_registers(report);
        break;
      }
      auto settle_page = [&] { settle(thread, page_of(place)); };
      keep_registers(settle_page);
    }
    at += here;
    size -= here;
  }
}

}  // namespace heddle::runtime
