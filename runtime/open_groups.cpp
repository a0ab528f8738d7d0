#include "runtime/open_groups.h"

#include "runtime/ownership.h"
#include "runtime/spin_lock.h"

namespace heddle::runtime {

namespace {

constexpr uint32_t kPlaces = Thread::kOpenGroups;

constinit SpinLock lock;        // for what follows
Number group_at[kPlaces] = {};  // 0: the place is free
uint32_t touched_places = 0;    // those after have never been used
uint32_t free_places[kPlaces];  // of the touched ones
uint32_t free_count = 0;

uint32_t take_place(Number group) {
  const Locked locked(lock);
  if (free_count == 0 && touched_places == kPlaces) return kPlaces;
  const uint32_t place = free_count > 0 ? free_places[--free_count] : touched_places++;
  group_at[place] = group;
  return place;
}

// Under the lock.
void free_place(uint32_t place) {
  for_each_thread([&](Thread& thread) { thread.open_groups[place] = 0; });
  group_at[place] = 0;
  free_places[free_count++] = place;
}

Thread& thread_of(Number stretch) { return *threads_by_serial[entries[stretch].slot() + 1]; }

// An ordinary group of those that are in the open one.
Number closed(Thread& thread, Entry open) {
  uint32_t count = 0;
  Number last = 0;
  Number first = 0;
  for_each_in_open_group(open, [&](Number stretch) {
    first = last;
    last = stretch;
    ++count;
  });
  if (count < 2) return last;
  const Number number = take(thread.numbers);
  if (count == 2) {
    entries[number] = Entry::pair(first, last);
    return number;
  }
  Group* const group = thread.large_groups.make(number, count);
  uint32_t filled = 0;
  for_each_in_open_group(open, [&](Number stretch) { group->members[filled++] = stretch; });
  entries[number] = Entry::group(group);
  return number;
}

uint32_t closed_word(Thread& thread, uint32_t word) {
  if (!is_open(word)) return word;
  const Number group = closed(thread, entries[number_of(word)]);
  return group == 0 ? 0 : kAllBytes | group;
}

}  // namespace

Number open_group(Thread& thread, Number members, bool is_of_cell, bool is_of_updates) {
  if (!can_pause()) return 0;
  const Entry entry = entries[members];
  const uint32_t count = entry.member_count();
  const auto wanted = is_of_updates ? Entry::Kind::kAtomics : Entry::Kind::kStretch;
  for (uint32_t i = 0; i < count; ++i)
    if (entries[entry.member(i)].kind() != wanted) return 0;
  const Number group = take(thread.numbers);
  const uint32_t place = take_place(group);
  if (place == kPlaces) return 0;
  // No thread has two among them: the later one would have replaced the other.
  for (uint32_t i = 0; i < count; ++i) thread_of(entry.member(i)).open_groups[place] = entry.member(i);
  entries[group] = Entry::open(place, is_of_cell, is_of_updates);
  return group;
}

void take_back_open_group(Number group) {
  const Locked locked(lock);
  free_place(entries[group].place());
}

void close_groups(Thread& thread, const void* address) {
  const AlonePage page(page_of(address));
  if (!page.is_alone()) return;
  Cell* const cell = cell_of(address);
  for (;;) {
    const Cell old = {__atomic_load_n(&cell->read, __ATOMIC_RELAXED),
                      __atomic_load_n(&cell->write, __ATOMIC_RELAXED)};
    const auto low = static_cast<uint32_t>(old.read);
    const auto high = static_cast<uint32_t>(old.read >> 32);
    if (!has_open_group(old)) return;
    const uint32_t new_low = closed_word(thread, low);
    const uint32_t new_high = high == low ? new_low : closed_word(thread, high);
    // A group of updates is the same for who has written.
    const auto write_low = static_cast<uint32_t>(old.write);
    const auto write_high = static_cast<uint32_t>(old.write >> 32);
    const uint32_t new_write_low = is_open(write_low) ? new_low : write_low;
    const uint32_t new_write_high = is_open(write_high) ? new_high : write_high;
    // Who frees the memory waits for nobody.
    if (exchange_shared(cell, old,
                        {uint64_t{new_high} << 32 | new_low, uint64_t{new_write_high} << 32 | new_write_low}))
      return;
  }
}

void sweep_open_groups(const Marking& used) {
  const Locked locked(lock);
  for (uint32_t place = 0; place < touched_places; ++place)
    if (group_at[place] != 0 && !used.is_marked(group_at[place])) free_place(place);
}

void unlock_open_groups() { lock.unlock(); }

}  // namespace heddle::runtime
