// Called from the slow paths of accesses: compiled like them, without vector registers.
#include "runtime/patches.h"

#include "runtime/access_check.h"
#include "runtime/cell.h"
#include "runtime/open_groups.h"
#include "runtime/shadow.h"

namespace heddle::runtime {

namespace {

// What an access costs, in cells that are looked at one by one.
constexpr int32_t kCostOfAccess = 16;
constexpr int32_t kMostCredit = 2048;

// Fewer cells are better off without a patch.
constexpr unsigned kFewest = 8;

constexpr uint64_t kAll = ~uint64_t{0};

// Each bit that many after the one before, by the logarithm.
constexpr uint64_t kEvery[] = {kAll,
                               0x5555555555555555,
                               0x1111111111111111,
                               0x0101010101010101,
                               0x0001000100010001,
                               0x0000000100000001,
                               0x0000000000000001};

HEDDLE_INLINE unsigned lowest(uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

// Some cells of a page, those from one word of the set to another.
struct Some {
  CellSet set;
  unsigned begin;
  unsigned end;

  HEDDLE_INLINE explicit Some(CellRow row) {
    const unsigned last = row.first + (row.count - 1) * row.step;
    begin = row.first / 64;
    end = last / 64 + 1;
    if ((row.step & (row.step - 1)) == 0 && row.step <= 64) {
      const uint64_t bits = kEvery[lowest(row.step)] << row.first % row.step;
      for (unsigned i = begin; i < end; ++i) set.words[i] = bits;
      set.words[begin] &= kAll << row.first % 64;
      set.words[end - 1] &= kAll >> (63 - last % 64);
      return;
    }
    for (unsigned i = begin; i < end; ++i) set.words[i] = 0;
    for (unsigned cell = row.first; cell <= last; cell += row.step)
      set.words[cell / 64] |= uint64_t{1} << cell % 64;
  }
  // None yet, in the same words.
  struct None {};
  HEDDLE_INLINE Some(const Some& like, None) : begin(like.begin), end(like.end) {
    for (unsigned i = begin; i < end; ++i) set.words[i] = 0;
  }

  template <class Visit>
  HEDDLE_INLINE void for_each(Visit visit) const {
    for (unsigned i = begin; i < end; ++i)
      for (uint64_t bits = set.words[i]; bits != 0; bits &= bits - 1) visit(i * 64 + lowest(bits));
  }
};

HEDDLE_INLINE bool has_few(const CellSet& set, unsigned begin, unsigned end) {
  unsigned count = 0;
  for (unsigned i = begin; i < end; ++i)
    for (uint64_t bits = set.words[i]; bits != 0; bits &= bits - 1)
      if (++count == kFewest) return false;
  return true;
}

HEDDLE_INLINE void store(Cell& cell, Cell state) {
  if (cell == state) return;  // memory that is all zero may not be there
  *const_cast<volatile uint64_t*>(&cell.read) = state.read;
  *const_cast<volatile uint64_t*>(&cell.write) = state.write;
}

// The patches of a page, under their lock, and its cells.
class Page {
 public:
  HEDDLE_INLINE Page(Patches& patches, uint64_t page)
      : patches_(patches), cells_(reinterpret_cast<Cell*>(shadow_base + (page << (kPageBits + 1)))) {}

  HEDDLE_INLINE Cell& cell(unsigned number) const { return cells_[number]; }

  HEDDLE_INLINE Cell state(unsigned patch) const { return patches_.states[patch]; }

  // Whether some of these cells are in the patch. It may have been none for a while.
  HEDDLE_INLINE bool has_any(unsigned patch, const Some& left) const {
    if ((patches_.used >> patch & 1) == 0) return false;
    uint64_t any = 0;
    for (unsigned i = left.begin; i < left.end; ++i) any |= cells(patch).words[i] & left.set.words[i];
    return any != 0;
  }
  // Those that are in the patch are left no longer.
  HEDDLE_INLINE void pass_over(unsigned patch, Some& left) const {
    for (unsigned i = left.begin; i < left.end; ++i) left.set.words[i] &= ~cells(patch).words[i];
  }

  // Those of the patch that are left have this state from now on, and are left no longer.
  HEDDLE_INLINE void change(unsigned patch, Some& left, Cell fresh) const {
    CellSet& all = cells(patch);
    uint64_t others = 0;
    for (unsigned i = 0; i < left.begin; ++i) others |= all.words[i];
    for (unsigned i = left.begin; i < left.end; ++i) others |= all.words[i] & ~left.set.words[i];
    for (unsigned i = left.end; i < CellSet::kWords; ++i) others |= all.words[i];
    if (others == 0) {
      pass_over(patch, left);
      patches_.used &= ~(1U << patch);
      if (const unsigned same = patch_of(fresh); same < Patches::kMost) {
        for (unsigned i = left.begin; i < left.end; ++i) cells(same).words[i] |= all.words[i];
      } else {
        patches_.states[patch] = fresh;
        patches_.used |= 1U << patch;
      }
      return;
    }
    Some moved(left, Some::None());
    for (unsigned i = left.begin; i < left.end; ++i) {
      moved.set.words[i] = all.words[i] & left.set.words[i];
      all.words[i] &= ~moved.set.words[i];
      left.set.words[i] &= ~moved.set.words[i];
    }
    if (has_few(all, 0, CellSet::kWords)) dissolve(patch);
    put(moved, fresh);
  }

  // Cells that were in no patch get the state.
  HEDDLE_INLINE void gather(const Some& some, Cell state) const {
    if (put(some, state)) some.for_each([&](unsigned number) { store(cell(number), Cell()); });
  }

  // The cell says itself what its state is, from now on.
  HEDDLE_INLINE void take_out(unsigned number) const {
    const unsigned word = number / 64;
    const uint64_t bit = uint64_t{1} << number % 64;
    for (unsigned used = patches_.used; used != 0; used &= used - 1) {
      const unsigned patch = lowest(used);
      if ((cells(patch).words[word] & bit) == 0) continue;
      cells(patch).words[word] &= ~bit;
      store(cell(number), patches_.states[patch]);
      return;
    }
  }
  // The same for all of a patch.
  HEDDLE_INLINE void dissolve(unsigned patch) const {
    const Cell state = patches_.states[patch];
    for (unsigned i = 0; i < CellSet::kWords; ++i)
      for (uint64_t bits = cells(patch).words[i]; bits != 0; bits &= bits - 1)
        store(cell(i * 64 + lowest(bits)), state);
    patches_.used &= ~(1U << patch);
  }

 private:
  HEDDLE_INLINE CellSet& cells(unsigned patch) const { return patches_.cells[patch]; }

  // Cells that are in no patch get the state, in one if they are worth it. False: they are not.
  HEDDLE_INLINE bool put(const Some& some, Cell state) const {
    unsigned patch = patch_of(state);
    if (patch == Patches::kMost && has_few(some.set, some.begin, some.end)) {
      some.for_each([&](unsigned number) { store(cell(number), state); });
      return false;
    }
    if (patch == Patches::kMost) {
      patch = free_patch();
      patches_.states[patch] = state;
      for (uint64_t& word : cells(patch).words) word = 0;
    }
    for (unsigned i = some.begin; i < some.end; ++i) cells(patch).words[i] |= some.set.words[i];
    return true;
  }

  // kMost: there is none.
  HEDDLE_INLINE unsigned patch_of(Cell state) const {
    for (unsigned used = patches_.used; used != 0; used &= used - 1)
      if (patches_.states[lowest(used)] == state) return lowest(used);
    return Patches::kMost;
  }

  // One that is not used, or no longer.
  HEDDLE_INLINE unsigned free_patch() const {
    constexpr uint32_t kAllUsed = (1U << Patches::kMost) - 1;
    if (patches_.used == kAllUsed) dissolve(smallest());
    const unsigned patch = lowest(~patches_.used);
    patches_.used |= 1U << patch;
    return patch;
  }
  HEDDLE_INLINE unsigned smallest() const {
    unsigned best = 0;
    unsigned fewest = kCellsOfPage + 1;
    for (unsigned patch = 0; patch < Patches::kMost; ++patch) {
      unsigned count = 0;
      for (uint64_t word : cells(patch).words) count += static_cast<unsigned>(__builtin_popcountll(word));
      if (count < fewest) {
        fewest = count;
        best = patch;
      }
    }
    return best;
  }

  Patches& patches_;
  Cell* cells_;
};

// What an access of 8 bytes makes of a state that is not known to be ordered. False: a race, or an open
// group, whose rules are others.
template <bool kIsWrite>
[[gnu::noinline]] HEDDLE_KEEPS_REGISTERS bool look_at_state(Thread& thread, Cell old, Cell& fresh) {
  if (has_open_group(old)) return false;
  AccessCheck check(thread, kIsWrite, /*is_atomic=*/false);
  fresh = check.after(old, 0, 8);
  return check.race() == 0;
}

template <bool kIsWrite>
HEDDLE_INLINE bool look_at(Thread& thread, Cell old, Cell& fresh) {
  const uint64_t stamp = heddle_thread_state.stamp;
  fresh = old;
  if (kIsWrite ? old.write == stamp : old.read == stamp || old.read == heddle_thread_state.group) return true;
  // Then the writes are, too (access.cpp).
  if (old.read != 0 && thread.ordered_like(old.read) != old.read)
    return look_at_state<kIsWrite>(thread, old, fresh);
  fresh.read = stamp;
  if (kIsWrite) fresh.write = stamp;
  return true;
}

// What was done when a race is found stands: it was right, and who goes on one by one finds it done.
template <bool kIsWrite>
HEDDLE_INLINE bool access_some(Thread& thread, const Page& page, Some& left) {
  // One that is made meanwhile has none of those that are left.
  for (unsigned patch = 0; patch < Patches::kMost; ++patch) {
    if (!page.has_any(patch, left)) continue;
    Cell fresh;
    if (!look_at<kIsWrite>(thread, page.state(patch), fresh)) return false;
    if (fresh == page.state(patch)) {
      page.pass_over(patch, left);
    } else {
      page.change(patch, left, fresh);
    }
  }
  // The others have their states themselves.
  Some alike(left, Some::None());
  Cell from = {};
  Cell to = {};
  bool is_any_alike = false;
  bool is_done = true;
  left.for_each([&](unsigned number) {
    const Cell old = page.cell(number);
    if (!is_done) return;
    if (!is_any_alike || !(old == from)) {
      Cell fresh;
      if (!look_at<kIsWrite>(thread, old, fresh)) {
        is_done = false;
        return;
      }
      if (is_any_alike && !(fresh == to)) {
        page.gather(alike, to);
        for (unsigned i = alike.begin; i < alike.end; ++i) alike.set.words[i] = 0;
      }
      is_any_alike = true;
      from = old;
      to = fresh;
    }
    alike.set.words[number / 64] |= uint64_t{1} << number % 64;
  });
  if (is_any_alike) page.gather(alike, to);
  return is_done;
}

HEDDLE_INLINE bool pay(Patches& patches, unsigned cells, uint32_t user) {
  if (patches.user != user) patches.user = kEverybody;
  const int32_t credit = patches.credit + static_cast<int32_t>(cells) - kCostOfAccess;
  patches.credit = credit < kMostCredit ? credit : kMostCredit;
  return credit >= 0;
}

}  // namespace

HEDDLE_KEEPS_REGISTERS bool access_patches(Thread& thread, uint64_t page, CellRow row, bool writes) {
  const AtPatches patches(page);
  if (!patches || !pay(*patches, row.count, thread.serial)) return false;
  ++patches->series;
  Some left(row);
  const Page here(*patches, page);
  return writes ? access_some<true>(thread, here, left) : access_some<false>(thread, here, left);
}

HEDDLE_KEEPS_REGISTERS bool take_out(Patches& patches, unsigned cell, uint32_t user) {
  if (!pay(patches, 1, user)) return false;
  Page(patches, patches.page).take_out(cell);
  return true;
}

HEDDLE_KEEPS_REGISTERS void take_all_out(Patches& patches) {
  const Page page(patches, patches.page);
  for (unsigned patch = 0; patch < Patches::kMost; ++patch)
    if ((patches.used >> patch & 1) != 0) page.dissolve(patch);
}

HEDDLE_KEEPS_REGISTERS void set_state(Patches& patches, CellRow row, Cell state) {
  Some left(row);
  const Page page(patches, patches.page);
  for (unsigned patch = 0; patch < Patches::kMost; ++patch)
    if (page.has_any(patch, left)) page.change(patch, left, state);
  page.gather(left, state);
}

}  // namespace heddle::runtime
