#include "checkers/predictive/reducibility.h"

#include <algorithm>
#include <span>

namespace heddle::predictive {

Reducibility::Reducibility(const Transactions& run, const std::vector<ShapeIndex>& indices,
                           const LocksetTable& locksets)
    : run_(run), indices_(indices), locksets_(locksets) {}

Mover Reducibility::mover_of(uint32_t number, std::size_t step) {
  const Mover mover = movers().of(shape(number).steps[step], group(number).thread);
  if (mover != Mover::kNone || concurrency().has_rival(number, static_cast<uint32_t>(step))) return mover;
  return Mover::kBoth;
}

bool Reducibility::is_reducible(uint32_t number) {
  return !movers().find_break(shape(number), group(number).thread) ||
         !find_break(shape(number), [&](std::size_t i) { return mover_of(number, i); });
}

bool Reducibility::is_reducible_in_cycles(uint32_t number) {
  const ShapeIndex& index = indices_[group(number).shape];
  std::vector<bool> counts(shape(number).steps.size(), true);
  std::vector<uint32_t> uses;
  for (const VariableUse& use : index.variables) {
    for (const uint32_t step : index.accesses_of(use))
      counts[step] = step == use.first_read || step == use.final_write;
    for (const uint32_t step : {use.first_read, use.final_write})
      if (step != kNoId) uses.push_back(step);
  }
  std::sort(uses.begin(), uses.end());
  for (const LockUse& lock : index.locks) {
    const std::span<const uint32_t> steps = index.steps_of(lock);  // acquire, release, acquire, …
    for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
      const auto use = std::lower_bound(uses.begin(), uses.end(), steps[i]);
      counts[steps[i]] = counts[steps[i + 1]] = use != uses.end() && *use < steps[i + 1];
    }
  }
  return !find_break(shape(number),
                     [&](std::size_t i) { return counts[i] ? mover_of(number, i) : Mover::kBoth; });
}

void Reducibility::add_cuts(uint32_t number, std::vector<VariableId>& variables) {
  const std::vector<ShapeStep>& steps = shape(number).steps;
  const auto mover = [&](std::size_t i) { return movers().of(steps[i], group(number).thread); };
  const std::optional<Break> by_locks = find_break(
      shape(number), [&](std::size_t i) { return is_access(steps[i].kind) ? Mover::kBoth : mover(i); });
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_access(steps[i].kind) && (by_locks || mover(i) == Mover::kNone))
      variables.push_back(steps[i].object);
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
}

}  // namespace heddle::predictive
