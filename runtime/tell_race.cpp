#include "runtime/tell_race.h"

#include "runtime/flow.h"
#include "runtime/spans.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

struct Found {
  Memo memo = {};
  Memo place = {};  // Memo::of_place
};

// The access of the stretch to that memory, as its thread remembers it; false: it does not. The thread may go
// on meanwhile, so the memo is copied and looked at again.
bool find_memo(const Thread& thread, uint64_t time, const Race& race, bool was_atomic, Found& found) {
  const uint32_t newest = thread.memo;
  const uint64_t address = reinterpret_cast<uint64_t>(race.address) & kAddressMask;
  bool is_found = false;
  bool has_place = false;
  for (uint32_t age = 1; age < Thread::kMemos && age <= newest; ++age) {
    const Memo memo = thread.memos[(newest - age) % Thread::kMemos];
    if (memo.what == Memo::kNewStretch) {
      if (memo.pc < time) return false;
      if (memo.pc == time && is_found) return true;
      is_found = false;
      continue;
    }
    if (memo.is_place()) {
      if (is_found && !has_place) found.place = memo;
      has_place = is_found;
      continue;
    }
    // Of what the stretch did, the latest of that kind.
    if (!is_found && memo.overlaps(address, race.size) && memo.is_atomic() == was_atomic &&
        memo.writes() == race.earlier_wrote) {
      found = {memo.at(address), {}};
      is_found = true;
      has_place = false;
    }
  }
  return false;
}

struct Bytes {
  const void* address;
  uint64_t size;
};
// Of all that is freed: what the earlier access was about. Of a long one only these 4 bytes.
Bytes freed_bytes(const Race& race, const Memo& memo) {
  const auto here = reinterpret_cast<uint64_t>(race.address);
  if (memo.pc == 0 || memo.size() > 8) return {race.address, race.size};
  return {reinterpret_cast<const void*>((here & ~kAddressMask) | memo.address()), memo.size()};
}

}  // namespace

void tell_race(Thread& thread, const Race& race) {
  if (tells_every_access) thread.new_stretch();
  if (is_calm()) end_calm(thread);
  const Entry stretch = entries[race.earlier];
  const Thread& other = *threads_by_serial[stretch.slot() + 1];
  const bool was_atomic = stretch.kind() == Entry::Kind::kAtomics;
  Found found;
  if (!find_memo(other, stretch.time(), race, was_atomic, found)) found = {};
  const Memo memo = found.memo;
  const auto operation_of = [](bool is_atomic, bool is_write) {
    return static_cast<uint8_t>(is_atomic  ? is_write ? Operation::kAtomicWrite : Operation::kAtomicRead
                                : is_write ? Operation::kWrite
                                           : Operation::kRead);
  };
  tell_unordered(thread, {.operation = kToldRaceEarlier,
                          .address = memo.pc == 0 ? race.address : reinterpret_cast<void*>(memo.address()),
                          .pc = reinterpret_cast<void*>(memo.code()),
                          .size = memo.frees() ? static_cast<uint8_t>(Operation::kFree)
                                               : operation_of(was_atomic, race.earlier_wrote),
                          .extra = other.stream,
                          .name = memo.pc == 0 ? 0 : memo.size() << 1 | static_cast<uint64_t>(memo.is_told()),
                          .caller = found.place.pc,
                          .context = static_cast<uint32_t>(found.place.what)});
  thread.has_announced_race = race.is_atomic;
  const Bytes bytes = race.frees ? freed_bytes(race, memo) : Bytes{race.address, race.size};
  tell(thread, {.operation = race.frees                       ? uint8_t{kToldRaceFree}
                             : race.is_atomic || follows_data ? uint8_t{kToldRace}
                                                              : operation_of(false, race.writes),
                .address = bytes.address,
                .pc = race.pc,
                .size = static_cast<uint8_t>(bytes.size),
                .name = reinterpret_cast<uint64_t>(race.name),
                .caller = reinterpret_cast<uint64_t>(race.caller)});
}

}  // namespace heddle::runtime
