#include "checkers/predictive/pair_check.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "checkers/predictive/interleaving_grid.h"
#include "checkers/predictive/sections.h"

namespace heddle::predictive {

namespace {

// States of a grid that cost as much as one look.
constexpr uint64_t kCellsPerLook = 16;

void add_accesses(Side& side, const VariableUse& use) {
  for (const uint32_t step : side.member.index.accesses_of(use)) side.accesses.push_back({step, 0});
}

// Evidence that `side` comes first, on one variable.
void find_contradictions(Side& side, const VariableUse& mine, const VariableUse& theirs) {
  const auto before = [&](uint32_t step, uint32_t others_step) {
    if (step == kNoId || others_step == kNoId) return;
    const auto access =
        std::lower_bound(side.accesses.begin(), side.accesses.end(), step,
                         [](const Access& a, uint32_t position) { return a.step < position; });
    access->contradicts_before = std::max(access->contradicts_before, others_step + 1);
  };
  before(mine.first_write, theirs.last_read);
  before(mine.first_read, theirs.final_write);
  before(mine.final_write, theirs.final_write);
}

// Which steps in which order make an interleaving unserializable.
struct Evidence {
  std::vector<Need> of_first;
  std::vector<Need> of_second;
};

// Both orders contradicted, if some path through the grid does that.
//
// A path in a section of each is free to do the accesses of both in any order. So the best way to have the
// first one's contradiction and still get the second one's is to stop the first right after it: per pair of
// sections, the earliest step of the first that can be next with its contradiction done, and the same for the
// second, is all there is to know.
class Walk {
 public:
  Walk(const Side& first, const Side& second, const InterleavingGrid& grid) : grid_(grid) {
    sides_ = {&first, &second};
    for (std::size_t member = 0; member < 2; ++member) {
      const Side& side = *sides_[member];
      begins_[member].push_back(0);
      strongest_[member].assign(side.cuts.size() + 1, {});
      for (std::size_t i = 0, section = 0; i <= side.accesses.size(); ++i) {
        const std::size_t of =
            i == side.accesses.size() ? side.cuts.size() + 1 : side.section_of(side.accesses[i].step);
        for (; section < of; ++section) begins_[member].push_back(i);
        if (i == side.accesses.size()) break;
        Access& strongest = strongest_[member][of];
        if (side.accesses[i].contradicts_before > strongest.contradicts_before) strongest = side.accesses[i];
      }
    }
  }

  // By member: evidence that cuts it, if some path has such. When the first one's is found nothing else is
  // looked for.
  std::array<std::optional<Evidence>, 2> find(bool first_at_start, bool second_at_start) const {
    std::array<std::optional<Evidence>, 2> found;
    const auto width = static_cast<uint32_t>(sides_[0]->cuts.size() + 1);
    const auto height = static_cast<uint32_t>(sides_[1]->cuts.size() + 1);
    std::vector<Reached> first_row(width);  // of the row before, and then of this one
    std::vector<Reached> second_row(width);
    std::vector<std::size_t> next(begins_[0]);  // by section: its first access that still contradicts
    for (uint32_t j = 0; j < height; ++j) {
      Reached first_left;
      Reached second_left;
      std::size_t second_next = begins_[1][j];
      for (uint32_t i = 0; i < width; ++i) {
        Reached first;
        Reached second;
        if (grid_.is_live(i, j)) {
          const uint32_t first_begin = sides_[0]->begin_of(i);
          const uint32_t second_begin = sides_[1]->begin_of(j);
          first = better(first_row[i], first_left.entering(first_begin));
          second = better(second_left, second_row[i].entering(second_begin));
          if (i == 0 && j == 0 && first_at_start) first = {0, {}};
          if (i == 0 && j == 0 && second_at_start) second = {0, {}};
          first = better(first, contradicting(0, next[i], i, second_begin));
          second = better(second, contradicting(1, second_next, j, first_begin));
          if (first.next < strongest_[1][j].contradicts_before) {
            found[0] = evidence(first.by, strongest_[1][j]);
            return found;
          }
          if (!found[1] && second.next < strongest_[0][i].contradicts_before)
            found[1] = evidence(strongest_[0][i], second.by);
        }
        first_row[i] = first_left = first;
        second_row[i] = second_left = second;
      }
    }
    return found;
  }

  // A write of the one between a write of the other and the last read that is to see it: UP3.
  std::optional<Evidence> find_overwritten(std::size_t writer, const VariableUse& written,
                                           const VariableUse& kept) const {
    const Side& side = *sides_[writer];
    const Side& other = *sides_[1 - writer];
    if (!written.writes() || !kept.writes()) return std::nullopt;
    const std::vector<ShapeStep>& others_steps = other.member.shape.steps;
    std::vector<uint32_t> writes_to;  // one of each section
    for (const uint32_t step : side.member.index.accesses_of(written))
      if (writes(side.member.shape.steps[step].kind) &&
          (writes_to.empty() || side.section_of(writes_to.back()) != side.section_of(step)))
        writes_to.push_back(step);
    uint32_t last_write = kNoId;
    uint32_t last_read = kNoId;
    std::optional<Evidence> found;
    const auto try_span = [&] {
      if (found || last_write == kNoId || last_read == kNoId) return;
      for (const uint32_t step : writes_to) {
        const uint32_t i = side.section_of(step);
        for (uint32_t j = other.section_of(last_write); j <= other.section_of(last_read); ++j) {
          if (!(writer == 0 ? grid_.is_live(i, j) : grid_.is_live(j, i))) continue;
          found.emplace();
          (writer == 0 ? found->of_first : found->of_second).push_back({step, last_write + 1});
          (writer == 0 ? found->of_second : found->of_first).push_back({last_read, step + 1});
          return;
        }
      }
    };
    for (const uint32_t step : other.member.index.accesses_of(kept)) {
      if (reads(others_steps[step].kind)) last_read = last_write == kNoId ? kNoId : step;
      if (!writes(others_steps[step].kind)) continue;
      try_span();
      last_write = step;
      last_read = kNoId;
    }
    try_span();
    return found;
  }

 private:
  // One member can be here, its contradiction done, with this step next.
  struct Reached {
    uint32_t next = std::numeric_limits<uint32_t>::max();  // none: it cannot
    Access by;                                             // the contradiction; none: the forced order

    Reached entering(uint32_t begin) const {
      return next == std::numeric_limits<uint32_t>::max() ? *this : Reached{begin, by};
    }
  };
  static Reached better(const Reached& a, const Reached& b) { return b.next < a.next ? b : a; }

  // Right after the section's first access that contradicts when the other one has done `others` steps. Those
  // before `access` do not; it moves on.
  Reached contradicting(std::size_t member, std::size_t& access, std::size_t section, uint32_t others) const {
    const std::vector<Access>& accesses = sides_[member]->accesses;
    while (access < begins_[member][section + 1] && accesses[access].contradicts_before <= others) ++access;
    if (access == begins_[member][section + 1]) return {};
    return {accesses[access].step + 1, accesses[access]};
  }

  static Evidence evidence(const Access& of_first, const Access& of_second) {
    Evidence result;
    if (of_first.contradicts_before > 0)
      result.of_second.push_back({of_first.contradicts_before - 1, of_first.step + 1});
    if (of_second.contradicts_before > 0)
      result.of_first.push_back({of_second.contradicts_before - 1, of_second.step + 1});
    return result;
  }

  const InterleavingGrid& grid_;
  std::array<const Side*, 2> sides_{};
  std::array<std::vector<std::size_t>, 2> begins_;  // by section: its first access; and the end
  std::array<std::vector<Access>, 2> strongest_;    // by section: what contradicts for longest
};

// Some interleaving of the whole that meets the needs, with as few changes between the two as going straight
// ahead gives.
std::vector<ScheduledStep> schedule(const Side& first, const Side& second, const InterleavingGrid& grid) {
  std::vector<ScheduledStep> steps;
  const std::array<const Side*, 2> sides = {&first, &second};
  std::array<uint32_t, 2> section{};
  std::array<uint32_t, 2> done{};
  const auto do_section = [&](uint32_t member) {
    const Side& side = *sides[member];
    const uint32_t end = section[member] < side.cuts.size() ? side.cuts[section[member]].step : side.steps();
    for (uint32_t& next = done[member]; next < end; ++next) steps.push_back({member, next});
  };
  const auto can_go = [&](uint32_t member) {
    return member == 0 ? grid.first_can_go(section[0], section[1])
                       : grid.second_can_go(section[0], section[1]);
  };
  for (uint32_t member = 0;;) {
    if (!can_go(member)) member = 1 - member;
    if (!can_go(member)) break;
    do_section(member);
    ++section[member];
    do_section(member);
  }
  do_section(0);
  do_section(1);
  return steps;
}

}  // namespace

PairAnswer check_pair(const PairMember& first, const PairMember& second, const LocksetTable& locksets,
                      uint64_t& looks_left) {
  const bool first_needed = forces(first.group, second.group);
  const bool second_needed = forces(second.group, first.group);
  PairAnswer answer;
  Side a(first);
  Side b(second);
  for_each_conflict(first.index, second.index, [&](const VariableUse& mine, const VariableUse& theirs) {
    add_accesses(a, mine);
    add_accesses(b, theirs);
  });
  // Where neither order is possible any schedule will do, and there may be no common variable.
  if (a.accesses.empty() && !(first_needed && second_needed)) return answer;
  const auto by_step = [](const Access& x, const Access& y) { return x.step < y.step; };
  std::sort(a.accesses.begin(), a.accesses.end(), by_step);
  std::sort(b.accesses.begin(), b.accesses.end(), by_step);
  add_locks(a, b, locksets);
  std::vector<Need> a_needs = second_needed ? forced_needs(a, b) : std::vector<Need>();
  std::vector<Need> b_needs = first_needed ? forced_needs(b, a) : std::vector<Need>();
  cut(a, a_needs, b_needs);
  cut(b, b_needs, a_needs);
  const uint64_t cells = uint64_t{a.cuts.size() + 1} * (b.cuts.size() + 1);
  answer.too_large = cells > kMostCells;
  const uint64_t cost = 1 + cells / kCellsPerLook;
  if (answer.too_large || cost > looks_left) {
    answer.exhausted = true;
    return answer;
  }
  looks_left -= cost;
  const InterleavingGrid grid(axis_of(a, b, a_needs), axis_of(b, a, b_needs), locksets);
  if (!grid.is_live(0, 0)) return answer;
  std::optional<Evidence> found;
  if (first_needed && second_needed) {
    found.emplace();
  } else {
    for_each_conflict(first.index, second.index, [&](const VariableUse& mine, const VariableUse& theirs) {
      find_contradictions(a, mine, theirs);
      find_contradictions(b, theirs, mine);
    });
    const Walk walk(a, b, grid);
    const std::array<std::optional<Evidence>, 2> cuts = walk.find(first_needed, second_needed);
    found = cuts[0];
    // UP3, first where it is the first one that is cut.
    for (const std::size_t writer : {std::size_t{1}, std::size_t{0}}) {
      for_each_conflict(first.index, second.index, [&](const VariableUse& mine, const VariableUse& theirs) {
        if (!found)
          found =
              writer == 0 ? walk.find_overwritten(0, mine, theirs) : walk.find_overwritten(1, theirs, mine);
      });
      if (!found) found = cuts[1];
    }
  }
  if (!found) return answer;
  a_needs.insert(a_needs.end(), found->of_first.begin(), found->of_first.end());
  b_needs.insert(b_needs.end(), found->of_second.begin(), found->of_second.end());
  cut(a, a_needs, b_needs);
  cut(b, b_needs, a_needs);
  const InterleavingGrid with_evidence(axis_of(a, b, a_needs), axis_of(b, a, b_needs), locksets);
  if (!with_evidence.is_live(0, 0)) throw std::logic_error("a violation that no schedule has");
  answer.schedule = schedule(a, b, with_evidence);
  return answer;
}

}  // namespace heddle::predictive
