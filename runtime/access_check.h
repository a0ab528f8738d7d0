// The rules of an access in full: what it makes of any state that its memory can have (runtime/layout.h,
// runtime/stretches.h), except an open group, which is closed before.
#pragma once

#include "runtime/cell.h"
#include "runtime/numbers.h"
#include "runtime/registers.h"
#include "runtime/stretches.h"
#include "runtime/thread.h"

namespace heddle::runtime {

HEDDLE_INLINE Number layer(Thread& thread, Number upper, uint32_t below) {
  Thread::Layer& known = thread.layers[(upper + below + (below >> kNumberBits)) % Thread::kMade];
  if (known.upper != upper || known.below != below) {
    const Number number = take(thread.numbers);
    entries[number] = Entry::layer(upper, below);
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

// What an access makes of the state it finds.
class AccessCheck {
 public:
  HEDDLE_INLINE AccessCheck(Thread& thread, bool writes, bool is_atomic)
      : thread_(thread), writes_(writes), is_atomic_(is_atomic) {
    const uint64_t stamp = heddle_thread_state.stamp;
    if (!is_atomic) {
      present_ = number_of(static_cast<uint32_t>(stamp));
      return;
    }
    if (thread.atomics_stamp != stamp) {
      thread.atomics_number = take(thread.numbers);
      thread.atomics_stamp = stamp;
      entries[thread.atomics_number] = Entry::atomics(thread.slot, thread.time);
      thread.is_time_used = true;
    }
    present_ = thread.atomics_number;
  }

  // The state after the access to these of its bytes. Sets the race if there is one.
  HEDDLE_INLINE Cell after(Cell old, unsigned first, unsigned size) {
    Cell fresh = old;
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned shift = 32 * half;
      const uint32_t bytes = (((1U << size) - 1) << first) >> (4 * half) & 0xF;
      if (bytes == 0) continue;
      const auto write = static_cast<uint32_t>(old.write >> shift);
      const auto read = static_cast<uint32_t>(old.read >> shift);
      if (half == 1 && size == 8 && twice(read) == old.read && twice(write) == old.write) {
        // Both halves are alike, as most are.
        fresh = {twice(static_cast<uint32_t>(fresh.read)), twice(static_cast<uint32_t>(fresh.write))};
        break;
      }
      const Words now = bytes == 0xF && is_whole(read) && is_whole(write) ? whole_after(read, write)
                                                                          : after(read, write, bytes);
      fresh.read = (fresh.read & ~(uint64_t{0xFFFFFFFF} << shift)) | uint64_t{now.read} << shift;
      fresh.write = (fresh.write & ~(uint64_t{0xFFFFFFFF} << shift)) | uint64_t{now.write} << shift;
      if (bytes == 0xF && race_ == 0 && !is_atomic_) {
        // Nothing was in race with any of the bytes, so all that was looked at is ordered before now.
        thread_.ordered_like(write) = twice(write);
        if (writes_) {
          thread_.ordered_like(read) = twice(read);
        } else {
          thread_.join_of(read) = {read, now.read, static_cast<uint32_t>(heddle_thread_state.stamp)};
        }
      }
    }
    return fresh;
  }

  // Whether all these words stand for comes before. Then nothing has been found yet.
  HEDDLE_INLINE bool is_after_whole(uint64_t writes) {
    const auto low = static_cast<uint32_t>(writes);
    const auto high = static_cast<uint32_t>(writes >> 32);
    if (!is_whole(low) || !is_whole(high)) return false;
    expect_before(number_of(low));
    if (high != low) expect_before(number_of(high));
    return race_ == 0;
  }

  // Who has read some bytes, now that the present stretch reads them after all who wrote them.
  HEDDLE_INLINE Number readers_after(Number readers) const {
    const Number result = joined(readers);
    if (result != present_ && !is_atomic_ && race_ == 0)
      heddle_thread_state.group = twice(kAllBytes | result);
    return result;
  }

  // The number of what is accessed so in the present stretch.
  HEDDLE_INLINE Number present() const { return present_; }
  HEDDLE_INLINE Number race() const { return race_; }
  HEDDLE_INLINE bool is_race_with_write() const { return race_with_write_; }

 private:
  struct Words {
    uint32_t read;
    uint32_t write;
  };

  // Whether all 4 bytes have the same history.
  HEDDLE_INLINE static bool is_whole(uint32_t word) {
    return word == 0 || (bytes_of(word) == 0xF && entries[number_of(word)].kind() != Entry::Kind::kLayer);
  }
  HEDDLE_INLINE Words whole_after(uint32_t read, uint32_t write) {
    expect_write_before(number_of(write));
    if (writes_) {
      expect_before(number_of(read));
      if (!is_atomic_) return {kAllBytes | present_, kAllBytes | present_};
      return {kAllBytes | joined(number_of(read)), kAllBytes | joined(number_of(write))};
    }
    if (race_ != 0) write = kAllBytes | unsettled(number_of(write));
    return {kAllBytes | readers_after(number_of(read)), write};
  }
  HEDDLE_INLINE Words after(uint32_t read, uint32_t write, uint32_t bytes) {
    Bytes writes = Bytes::unpack(write);
    Bytes reads = Bytes::unpack(read);
    Number last = 0;
    Number last_result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if ((bytes >> i & 1) == 0) continue;
      expect_write_before(writes.of[i]);
      if (writes_) {
        expect_before(reads.of[i]);
        writes.of[i] = is_atomic_ ? joined(writes.of[i]) : present_;
        reads.of[i] = is_atomic_ ? joined(reads.of[i]) : present_;
      } else {
        if (reads.of[i] != last || last == 0) {
          last = reads.of[i];
          last_result = readers_after(last);
        }
        reads.of[i] = last_result;
        if (race_ != 0) writes.of[i] = unsettled(writes.of[i]);
      }
    }
    const bool writes_change = writes_ || race_ != 0;
    return {reads.pack(thread_, present_), writes_change ? writes.pack(thread_, present_) : write};
  }

  // The same writer under a number that is nobody's stamp: after a read that races with it, its next write is
  // to be looked at, too.
  HEDDLE_INLINE Number unsettled(Number writer) const {
    if (writer == 0 || entries[writer].kind() == Entry::Kind::kGroup) return writer;
    Thread::Joined& known = thread_.groups[writer % Thread::kMade];
    if (known.readers != writer || known.stretch != writer) {
      const Number number = take(thread_.numbers);
      entries[number] = Entry::pair(writer, writer);
      known = {writer, writer, number};
    }
    return known.group;
  }

  HEDDLE_INLINE bool is_before(Number stretch) const {
    return stretch == present_ || thread_.is_before(entries[stretch]);
  }

  // Looked at before the reads: a write stands among them too.
  HEDDLE_INLINE void expect_write_before(Number number) {
    if (race_ != 0) return;
    expect_before(number);
    race_with_write_ = race_ != 0;
  }
  HEDDLE_INLINE void expect_before(Number number) {
    if (number == 0 || number == present_ || race_ != 0) return;
    const Entry entry = entries[number];
    if (entry.kind() != Entry::Kind::kGroup) {
      if (is_in_race_with(number)) race_ = number;
      return;
    }
    for (uint32_t i = 0; i < entry.member_count(); ++i)
      if (is_in_race_with(entry.member(i))) {
        race_ = entry.member(i);
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
    const bool is_group = entry.kind() == Entry::Kind::kGroup;
    if (!is_group && is_covered(readers)) return present_;
    Thread::Joined& known = thread_.groups[(readers + present_) % Thread::kMade];
    if (known.readers == readers && known.stretch == present_) return known.group;
    const uint32_t before = is_group ? entry.member_count() : 1;
    uint32_t others = 0;
    Number last = 0;
    Number sum = mixed(present_);
    for (uint32_t i = 0; i < before; ++i) {
      const Number member = is_group ? entry.member(i) : readers;
      if (member == present_) return readers;
      if (is_covered(member)) continue;
      ++others;
      last = member;
      sum += mixed(member);
    }
    Number group = present_;
    if (others > 0) {
      const Entry before_now = is_group ? entry : Entry::pair(last, present_);
      RecentGroups& recent = recent_groups[sum % kRecentGroups];
      group = 0;
      for (unsigned i = 0; i < RecentGroups::kMost && group == 0; ++i) {
        const Number made = __atomic_load_n(&recent.numbers[i], __ATOMIC_ACQUIRE);
        if (made != 0 && consists_of(entries[made], before_now, others)) group = made;
      }
      if (group == 0) {
        group = take(thread_.numbers);
        if (others == 1) {
          entries[group] = Entry::pair(last, present_);
        } else {
          make_large_group(group, entry, others);
        }
        __atomic_store_n(&recent.numbers[group % RecentGroups::kMost], group, __ATOMIC_RELEASE);
      }
    }
    known = {readers, present_, group};
    return group;
  }

  // Sums of these tell sets of numbers apart, as sums of the numbers do not: those of threads that do the
  // same lie equally far apart.
  HEDDLE_INLINE static Number mixed(Number number) {
    const Number product = number * 0x9E3779B9U;
    return product ^ product >> 15;
  }

  HEDDLE_INLINE static bool has(Entry group, Number number) {
    for (uint32_t i = 0; i < group.member_count(); ++i)
      if (group.member(i) == number) return true;
    return false;
  }

  // Whether the group is the present stretch and the `others` among those before that are to be kept.
  HEDDLE_INLINE bool consists_of(Entry group, Entry before, uint32_t others) const {
    constexpr uint32_t kMost = 64;  // to compare each with each
    if (group.kind() != Entry::Kind::kGroup || others > kMost || group.member_count() != others + 1)
      return false;
    if (!has(group, present_)) return false;
    for (uint32_t i = 0; i <= others; ++i) {
      const Number member = group.member(i);
      if (member != present_ && (is_covered(member) || !has(before, member))) return false;
    }
    for (uint32_t i = 0; i < before.member_count(); ++i)
      if (!is_covered(before.member(i)) && !has(group, before.member(i))) return false;
    return true;
  }

  HEDDLE_INLINE void make_large_group(Number number, Entry before, uint32_t others) const {
    Group* const group = thread_.large_groups.make(number, others + 1);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < before.member_count(); ++i)
      if (!is_covered(before.member(i))) group->members[filled++] = before.member(i);
    group->members[filled] = present_;
    entries[number] = Entry::group(group);
  }

  Thread& thread_;
  bool writes_;
  bool is_atomic_;
  Number present_ = 0;
  Number race_ = 0;  // what the access is in race with; 0: nothing
  bool race_with_write_ = false;
};

}  // namespace heddle::runtime
