#include "runtime/sweep.h"

#include <pthread.h>

#include <atomic>
#include <csignal>

#include "runtime/common_knowledge.h"
#include "runtime/numbers.h"
#include "runtime/open_groups.h"
#include "runtime/ownership.h"
#include "runtime/patches.h"
#include "runtime/shadow.h"
#include "runtime/thread.h"

namespace heddle::runtime {

namespace {

constinit std::atomic<bool> is_sweeping{false};

class Sweep {
 public:
  void run() {
    for_each_thread([](Thread& thread) { thread.is_remembered = false; });
    uint64_t pages = 0;
    pause_.for_each_page([&](uint64_t page) {
      const bool is_used = mark_page(page);
      pages += is_used;
      return is_used;
    });
    for_each_thread([&](Thread& thread) {
      if (thread.state == nullptr) return;
      mark_words(thread.state->stamp);
      mark_words(thread.state->group);
    });
    forget_recent_groups();
    sweep_open_groups(marking_);
    for_each_thread([&](Thread& thread) {
      thread.large_groups.sweep([&](Number number) { return marking_.is_marked(number); });
      thread.forget_numbers();
    });
    // The thread may be about to use one of them.
    for_each_thread([&](Thread& thread) { marking_.mark_all(thread.numbers); });
    marking_.set_cost(pages * kCellsOfPage / 4 + uint64_t{thread_count} * 1024);
  }

 private:
  void mark(Number number) {
    if (!marking_.mark(number)) return;
    const Entry entry = entries[number];
    switch (entry.kind()) {
      case Entry::Kind::kStretch:
      case Entry::Kind::kAtomics: threads_by_serial[entry.slot() + 1]->is_remembered = true; break;
      case Entry::Kind::kGroup:
        if (entry.is_open()) {
          for_each_in_open_group(entry, [&](Number stretch) { mark(stretch); });
        } else {
          for (uint32_t i = 0; i < entry.member_count(); ++i) mark(entry.member(i));
        }
        break;
      case Entry::Kind::kLayer:
        mark(entry.upper());
        mark(number_of(entry.below()));
        break;
    }
  }
  void mark_words(uint64_t words) {
    mark(number_of(static_cast<uint32_t>(words)));
    mark(number_of(static_cast<uint32_t>(words >> 32)));
  }

  // Without what all threads know of.
  uint64_t needed(uint64_t words) const {
    const auto low = static_cast<uint32_t>(words);
    const auto high = static_cast<uint32_t>(words >> 32);
    const uint32_t needed_low = common_.covers(low) ? 0 : low;
    const uint32_t needed_high = high == low ? needed_low : common_.covers(high) ? 0 : high;
    return uint64_t{needed_high} << 32 | needed_low;
  }

  // True when something is known of cells in patches. `are_all`: these are all cells, or were; so the cells
  // have nothing that is not marked.
  bool mark_patches(uint64_t page, bool& are_all) {
    const AtPatches patches(page);  // forget() may change them now
    if (!patches) return false;
    bool is_used = false;
    are_all = has_all_cells(*patches);
    for_each_state(*patches, 0, kCellsOfPage, [&](Cell& state) {
      state.read = needed(state.read);
      state.write = needed(state.write);
      mark_words(state.read);
      mark_words(state.write);
      is_used |= !(state == Cell());
    });
    return is_used;
  }

  // False when nothing was known of the page's memory. Its state is then given back.
  bool mark_page(uint64_t page) {
    char* const begin = shadow_base + (page << (kPageBits + 1));
    auto* const cells = reinterpret_cast<Cell*>(begin);
    Cell last = {};
    Cell needed_last = {};
    bool are_all_in_patches = false;
    bool is_used = mark_patches(page, are_all_in_patches);
    for (uint64_t i = are_all_in_patches ? kCellsOfPage : 0; i < kCellsOfPage; ++i) {
      // forget() may clear it now; nobody else changes it.
      const Cell cell = {__atomic_load_n(&cells[i].read, __ATOMIC_RELAXED),
                         __atomic_load_n(&cells[i].write, __ATOMIC_RELAXED)};
      if (cell == Cell()) continue;
      is_used = true;
      if (!(cell == last)) {
        last = cell;
        needed_last.read = needed(cell.read);
        needed_last.write = cell.write == cell.read ? needed_last.read : needed(cell.write);
        mark_words(needed_last.read);
        if (needed_last.write != needed_last.read) mark_words(needed_last.write);
      }
      clear_halves(cells[i].read, cell.read, needed_last.read);
      clear_halves(cells[i].write, cell.write, needed_last.write);
    }
    if (is_used) return true;
    clear_and_give_back(begin, kCellsOfPage * sizeof(Cell));
    end_empty_patches(page);
    return false;
  }
  // What was cleared meanwhile stays so.
  static void clear_halves(uint64_t& words, uint64_t from, uint64_t to) {
    if (from == to) return;
    auto* const halves = reinterpret_cast<uint32_t*>(&words);
    if (static_cast<uint32_t>(to) == 0) __atomic_store_n(halves, 0, __ATOMIC_RELAXED);
    if (to >> 32 == 0) __atomic_store_n(halves + 1, 0, __ATOMIC_RELAXED);
  }

  Locked threads_{threads_lock};
  Pause pause_;
  Marking marking_;
  const CommonKnowledge common_;
};

}  // namespace

void allow_sweeps() { is_sweeping.store(false); }

void sweep_if_due() {
  if (!is_sweep_due()) return;
  if (!can_pause() || is_sweeping.exchange(true)) return wait_while_paused();
  // A signal's handler would wait for the end of the pause.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Sweep().run();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  is_sweeping.store(false);
}

}  // namespace heddle::runtime
