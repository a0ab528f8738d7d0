#include "runtime/rare_access.h"

#include "runtime/access_check.h"
#include "runtime/cell.h"
#include "runtime/note.h"
#include "runtime/open_groups.h"
#include "runtime/patches.h"
#include "runtime/tell_race.h"

namespace heddle::runtime {

namespace {

// The word of a part of a cell that has only one: of all 8 bytes, or of half of them. 0: it has several.
HEDDLE_INLINE uint32_t only_word(uint64_t words, unsigned first, unsigned size) {
  const auto low = static_cast<uint32_t>(words);
  if (size == 8) return twice(low) == words ? low : 0;
  if (size != 4 || first % 4 != 0) return 0;
  return first == 0 ? low : static_cast<uint32_t>(words >> 32);
}

// An access to at most 8 bytes of one cell.
class RareAccess {
 public:
  enum class Next : uint8_t { kNothing, kTryAgain, kCloseGroups, kReportRace, kSettlePage };

  HEDDLE_INLINE RareAccess(Thread& thread, const void* place, unsigned size, uint64_t kind, const char* name,
                           const void* caller, const void* pc)
      : thread_(thread), place_(place), size_(size), kind_(kind), name_(name), caller_(caller), pc_(pc) {}

  // Does it, if nothing has to be done first.
  HEDDLE_INLINE Next attempt() {
    if (heddle_thread_state.stamp == kNoStamp) begin_stretch(thread_);
    const AtPage page(thread_, place_);
    const AtPatches patches(page.is_patched() ? page_of(place_) : kNoPage);
    if (!page.is_settled() &&
        (!patches || !take_out(*patches, cell_in_page(reinterpret_cast<uint64_t>(place_)), thread_.serial)))
      return Next::kSettlePage;
    Cell* const cell = cell_of(place_);
    const Cell old = *cell;
    const uint64_t stamp = heddle_thread_state.stamp;
    AccessCheck check(thread_, writes(), is_atomic());
    if (has_open_group(old, first(), size_)) {
      if (patches) return Next::kSettlePage;
      const uint32_t group = only_word(old.read, first(), size_);
      if (is_update()) {
        // In race with nothing: whoever does anything else closes the group first.
        if (!is_open_to(group, size_ == 8, true)) return Next::kCloseGroups;
        note(thread_, place_, size_ | kind_, name_, caller_, pc_, /*is_told=*/true);
        join_open_updates(thread_, group, check.present());
        return Next::kNothing;
      }
      if (kind_ != 0 || !is_open_to(group, size_ == 8, false) || !check.is_after_whole(old.write))
        return Next::kCloseGroups;
      note(thread_, place_, size_, name_, caller_, pc_);
      join_open_group(thread_, group, stamp);
      return Next::kNothing;
    }
    Cell fresh = check.after(old, first(), size_);
    race_ = check.race();
    is_race_with_write_ = check.is_race_with_write();
    const Next next = race_ == 0 ? Next::kNothing : Next::kReportRace;
    if (fresh == old) return next;
    note(thread_, place_, size_ | kind_, name_, caller_, pc_, /*is_told=*/is_atomic() || race_ != 0);
    const bool may_open = (kind_ == 0 || is_update()) && race_ == 0 && page.is_everybodys();
    const Number group = may_open ? opened(cell, fresh) : 0;
    if (group != 0) fresh.read = with_group(fresh.read, group);
    if (group != 0 && is_update()) fresh.write = with_group(fresh.write, group);
    const bool is_done =
        group == 0 ? page.exchange(cell, old, fresh) : page.exchange_as_sole(cell, old, fresh);
    if (group == 0) return is_done ? next : Next::kTryAgain;
    if (!is_done) {
      auto take_back = [&] { take_back_open_group(group); };
      keep_registers(take_back);
      return Next::kTryAgain;
    }
    if (is_update()) {
      join_open_updates(thread_, kAllBytes | group, check.present());
    } else {
      join_open_group(thread_, kAllBytes | group, stamp);
    }
    return next;
  }

  void report_race() const {
    tell_race(thread_,
              {race_, is_race_with_write_, place_, size_, writes(), is_atomic(), name_, caller_, pc_});
  }

 private:
  // Has no patches.
  static constexpr uint64_t kNoPage = 0;

  HEDDLE_INLINE bool writes() const { return (kind_ & kWrites) != 0; }
  HEDDLE_INLINE bool is_atomic() const { return (kind_ & kIsAtomic) != 0; }
  HEDDLE_INLINE unsigned first() const {
    return static_cast<unsigned>(reinterpret_cast<uint64_t>(place_) % 8);
  }

  HEDDLE_INLINE bool is_update() const { return kind_ == (kWrites | kIsAtomic); }

  // The others that this access has joined, as an open group, once that is worth while; 0: it is not.
  HEDDLE_INLINE Number opened(const Cell* cell, const Cell& fresh) {
    const uint32_t word = only_word(fresh.read, first(), size_);
    if (bytes_of(word) != 0xF || entries[number_of(word)].kind() != Entry::Kind::kGroup ||
        (is_update() && only_word(fresh.write, first(), size_) != word) || !is_often_joined(thread_, cell))
      return 0;
    Number group = 0;
    auto open = [&] { group = open_group(thread_, number_of(word), size_ == 8, is_update()); };
    keep_registers(open);
    return group;
  }
  HEDDLE_INLINE uint64_t with_group(uint64_t words, Number group) const {
    const uint64_t both = twice(kAllBytes | group);
    const uint64_t mask = size_ == 8 ? ~uint64_t{0} : uint64_t{0xFFFFFFFF} << 8 * first();
    return (words & ~mask) | (both & mask);
  }

  Thread& thread_;
  const void* place_;
  unsigned size_;
  uint64_t kind_;
  const char* name_;
  const void* caller_;
  const void* pc_;
  Number race_ = 0;
  bool is_race_with_write_ = false;
};

}  // namespace

bool join_updates(Thread& thread, const void* variable, unsigned size, const void* pc) {
  if (heddle_thread_state.stamp == kNoStamp) begin_stretch(thread);
  const AtPage page(thread, variable);
  if (!page.is_everybodys()) return false;
  const auto first = static_cast<unsigned>(reinterpret_cast<uint64_t>(variable) % 8);
  const uint32_t group = only_word(cell_of(variable)->read, first, size);
  if (!is_open_to(group, size == 8, true)) return false;
  note(thread, variable, size | kWrites | kIsAtomic, nullptr, nullptr, pc, /*is_told=*/true);
  join_open_updates(thread, group, AccessCheck(thread, true, true).present());
  return true;
}

HEDDLE_KEEPS_REGISTERS void settle_page(Thread& thread, const void* address) {
  auto act = [&] { settle(thread, page_of(address)); };
  keep_registers(act);
}

HEDDLE_KEEPS_REGISTERS void patch_page(Thread& thread, const void* address) {
  auto act = [&] { begin_patches(thread, page_of(address)); };
  keep_registers(act);
}

HEDDLE_KEEPS_REGISTERS void rare_access(const void* address, uint64_t size_and_kind, const char* name,
                                        const void* caller, const void* pc) {
  Thread& thread = *static_cast<Thread*>(heddle_thread_state.thread);
  const uint64_t kind = size_and_kind & (kWrites | kIsAtomic);
  uint64_t size = size_and_kind & ~kind;
  auto at = reinterpret_cast<uint64_t>(address);
  while (size > 0) {
    const unsigned first = at % 8;
    const auto here = static_cast<unsigned>(size < 8 - first ? size : 8 - first);
    const void* const place = reinterpret_cast<const void*>(at);
    RareAccess access(thread, place, here, kind, name, caller, pc);
    for (auto next = RareAccess::Next::kTryAgain; next != RareAccess::Next::kNothing;) {
      next = access.attempt();
      if (next == RareAccess::Next::kNothing || next == RareAccess::Next::kTryAgain) continue;
      auto act = [&] {
        if (next == RareAccess::Next::kCloseGroups) return close_groups(thread, place);
        if (next == RareAccess::Next::kSettlePage) return settle(thread, page_of(place));
        access.report_race();
        next = RareAccess::Next::kNothing;
      };
      keep_registers(act);
    }
    at += here;
    size -= here;
  }
}

}  // namespace heddle::runtime
