#include "checkers/predictive/concurrency.h"

#include <algorithm>
#include <tuple>

namespace heddle::predictive {

namespace {

// Transactions of one thread beside one of another that are looked at one by one.
constexpr std::size_t kMostLooks = 64;

bool is_wholly_before(const Group& before, const Group& after) {
  return after.clock_at_start().knows(before.clock_at_end().epoch());
}

}  // namespace

std::pair<Chain::const_iterator, Chain::const_iterator> overlapping(const Transactions& run, uint32_t group,
                                                                    const Chain& chain) {
  const Group& of = run.groups[group];
  const auto first = std::partition_point(
      chain.begin(), chain.end(), [&](uint32_t other) { return is_wholly_before(run.groups[other], of); });
  const auto last = std::partition_point(
      first, chain.end(), [&](uint32_t other) { return !is_wholly_before(of, run.groups[other]); });
  return {first, last};
}

Concurrency::Concurrency(const Transactions& run, const std::vector<ShapeIndex>& indices,
                         const LocksetTable& locksets)
    : run_(run), indices_(indices), locksets_(locksets) {
  std::vector<uint32_t> order(run.groups.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t number) {
      const Group& group = run.groups[number];
      return std::tuple(group.thread, group.stretch, group.earliest.first);
    };
    return key(a) < key(b);
  });
  for (const uint32_t number : order) {
    const Group& group = run.groups[number];
    for (const VariableUse& use : indices[group.shape].variables) {
      if (use.variable >= chains_.size()) chains_.resize(use.variable + std::size_t{1});
      std::vector<OfThread>& of_variable = chains_[use.variable];
      if (of_variable.empty() || of_variable.back().thread != group.thread)
        of_variable.push_back({.thread = group.thread, .chain = {}, .ends = {}});
      of_variable.back().chain.push_back(number);
      of_variable.back().ends.push_back(group.clock_at_end().epoch().time());
      of_variable.back().writes |= use.writes();
    }
  }
}

const VariableUse& Concurrency::use_of(uint32_t group, VariableId variable) const {
  const std::vector<VariableUse>& uses = indices_[run_.groups[group].shape].variables;
  return *std::lower_bound(uses.begin(), uses.end(), variable,
                           [](const VariableUse& use, VariableId id) { return use.variable < id; });
}

std::span<const uint32_t> Concurrency::beside(uint32_t group, const OfThread& of) const {
  const Group& own = run_.groups[group];
  const Time known = own.clock_at_start().time_of(of.thread);
  const auto first =
      static_cast<std::size_t>(std::upper_bound(of.ends.begin(), of.ends.end(), known) - of.ends.begin());
  std::size_t last = first;
  while (last < of.chain.size() && last - first <= kMostLooks &&
         !is_wholly_before(own, run_.groups[of.chain[last]]))
    ++last;
  return std::span(of.chain).subspan(first, last - first);
}

bool Concurrency::has_rival(uint32_t group, uint32_t step) const {
  const Group& own = run_.groups[group];
  const ShapeStep& access = run_.shapes[own.shape].steps[step];
  for (const OfThread& of : chains_[access.object]) {
    if (of.thread == own.thread || !(of.writes || writes(access.kind))) continue;
    const std::span<const uint32_t> near = beside(group, of);
    if (near.size() > kMostLooks) return true;
    for (const uint32_t other : near) {
      const Group& others = run_.groups[other];
      for (const uint32_t i : indices_[others.shape].accesses_of(use_of(other, access.object))) {
        const ShapeStep& rival = run_.shapes[others.shape].steps[i];
        if (!writes(access.kind) && !writes(rival.kind)) continue;
        if (!locksets_.compatible(access.held, rival.held)) continue;
        const bool is_ordered = own.clock_at(step).knows(others.clock_at(i).epoch()) ||
                                others.clock_at(i).knows(own.clock_at(step).epoch());
        if (!is_ordered) return true;
      }
    }
  }
  return false;
}

bool Concurrency::meets_any(uint32_t group, const VariableUse& use, const OfThread& of) const {
  const std::span<const uint32_t> near = beside(group, of);
  return near.size() > kMostLooks || std::any_of(near.begin(), near.end(), [&](uint32_t other) {
           return use.writes() || use_of(other, use.variable).writes();
         });
}

}  // namespace heddle::predictive
