#include "checkers/predictive/movers.h"

#include <algorithm>
#include <utility>

namespace heddle::predictive {

char letter(Mover mover) {
  switch (mover) {
    case Mover::kBoth: return 'B';
    case Mover::kRight: return 'R';
    case Mover::kLeft: return 'L';
    case Mover::kNone: return 'N';
  }
  return '?';
}

Movers::Movers(const Transactions& run, LocksetTable locksets, RaceFreedom test)
    : run_(run), locksets_(std::move(locksets)), test_(test) {
  for (uint32_t number = 0; number < run.groups.size(); ++number) {
    const Group& group = run.groups[number];
    const Shape& shape = run.shapes[group.shape];
    for (std::size_t i = 0; i < shape.steps.size(); ++i) {
      const ShapeStep& step = shape.steps[i];
      if (is_access(step.kind) && !step.idle && !step.initializes) add(step, {number, i, group.thread});
    }
  }
  if (test_ != RaceFreedom::kCommonLock) return;
  guarded_.resize(profiles_.size());
  for (VariableId variable = 0; variable < profiles_.size(); ++variable) {
    const std::vector<Profile>& profiles = profiles_[variable];
    if (profiles.empty()) continue;
    for (const HeldLock& candidate : locksets_.members(profiles.front().held)) {
      const bool everywhere = std::all_of(profiles.begin(), profiles.end(), [&](const Profile& profile) {
        const Hold hold = locksets_.find(profile.held, candidate.lock);
        return hold == Hold::kExclusive || (hold == Hold::kShared && !profile.writes);
      });
      if (everywhere) guarded_[variable] = true;
    }
  }
}

void Movers::add(const ShapeStep& step, const Place& place) {
  if (step.object >= profiles_.size()) profiles_.resize(step.object + std::size_t{1});
  std::vector<Profile>& profiles = profiles_[step.object];
  const auto known = std::find_if(profiles.begin(), profiles.end(), [&](const Profile& profile) {
    return profile.held == step.held && profile.writes == writes(step.kind);
  });
  if (known == profiles.end()) {
    profiles.push_back({step.held, writes(step.kind), {place, {}}});
  } else if (known->places[0].thread != place.thread && known->places[1].thread == kNoId) {
    known->places[1] = place;
  }
}

std::optional<Movers::Place> Movers::rival(const ShapeStep& step, ThreadId thread) const {
  if (!is_access(step.kind) || step.idle || step.initializes || is_guarded(step.object)) return std::nullopt;
  for (const Profile& profile : profiles_[step.object]) {
    if (!profile.writes && !writes(step.kind)) continue;
    // The common-lock test has failed for this variable: whoever else accesses it will do.
    if (test_ == RaceFreedom::kPairwise && !locksets_.compatible(profile.held, step.held)) continue;
    for (const Place& place : profile.places)
      if (place.thread != kNoId && place.thread != thread) return place;
  }
  // Under the common-lock test even accesses that nobody disturbs are not known to be race-free (Thm 4.4).
  if (test_ == RaceFreedom::kCommonLock)
    for (const Profile& profile : profiles_[step.object])
      for (const Place& place : profile.places)
        if (place.thread != kNoId && place.thread != thread) return place;
  return std::nullopt;
}

Mover Movers::of(const ShapeStep& step, ThreadId thread) const {
  switch (step.kind) {
    case StepKind::kRead:
    case StepKind::kWrite:
    case StepKind::kUpdate: return rival(step, thread) ? Mover::kNone : Mover::kBoth;
    case StepKind::kAcquire:
    case StepKind::kAcquireShared: return run_.lock_is_shared[step.object] ? Mover::kRight : Mover::kBoth;
    case StepKind::kRelease:
    case StepKind::kReleaseShared: return run_.lock_is_shared[step.object] ? Mover::kLeft : Mover::kBoth;
    case StepKind::kSignal: return Mover::kLeft;
    case StepKind::kReceive: return Mover::kRight;
  }
  return Mover::kNone;
}

std::optional<Break> Movers::find_break(const Shape& shape, ThreadId thread) const {
  return predictive::find_break(shape, [&](std::size_t i) { return of(shape.steps[i], thread); });
}

}  // namespace heddle::predictive
