#include "checkers/predictive/cycle_search.h"

#include <algorithm>
#include <limits>

namespace heddle::predictive {

CycleSearch::CycleSearch(const Transactions& run, const std::vector<ShapeIndex>& indices,
                         const Concurrency& concurrency, const Replay& replay)
    : run_(run),
      indices_(indices),
      replay_(replay),
      groups_of_shape_(run.shapes.size()),
      parts_(find_parts(run, concurrency, participants_)) {
  for (ShapeId shape = 0; shape < run.shapes.size(); ++shape) {
    for (const VariableUse& use : indices[shape].variables) {
      if (use.variable >= uses_of_variable_.size()) uses_of_variable_.resize(use.variable + std::size_t{1});
      std::vector<Use>& of_variable = uses_of_variable_[use.variable];
      // A read-modify-write is both at once.
      if (use.first_read != kNoId && use.first_read != use.final_write)
        of_variable.push_back({shape, use.first_read, false});
      if (use.final_write != kNoId) of_variable.push_back({shape, use.final_write, true});
    }
  }
  for (const uint32_t group : participants_) groups_of_shape_[run.groups[group].shape].push_back(group);
}

ThreadParts CycleSearch::find_parts(const Transactions& run, const Concurrency& concurrency,
                                    std::vector<uint32_t>& participants) {
  std::vector<std::pair<ThreadId, ThreadId>> links;
  const std::vector<bool> has_partner = concurrency.find_partners([&](ThreadId a, ThreadId b) {
    if (links.empty() || links.back() != std::pair(a, b)) links.emplace_back(a, b);
  });
  // The first and the last that take part, of each thread that has any: if one of a thread is forced to come
  // before one of another, the first is before the last.
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  std::vector<std::size_t> place;  // by thread: in ends, plus one; 0: none
  for (const Group& group : run.groups)
    place.resize(std::max(place.size(), group.thread + std::size_t{1}), 0);
  for (uint32_t number = 0; number < run.groups.size(); ++number) {
    const Group& group = run.groups[number];
    if (!has_partner[number] && !group.synchronizes()) continue;
    participants.push_back(number);
    if (place[group.thread] == 0) {
      ends.emplace_back(number, number);
      place[group.thread] = ends.size();
    }
    auto& [first, last] = ends[place[group.thread] - 1];
    if (group.stretch < run.groups[first].stretch) first = number;
    // One that synchronizes inside ends later than others that began in the same stretch.
    if (std::pair(group.stretch, group.synchronizes()) >
        std::pair(run.groups[last].stretch, run.groups[last].synchronizes()))
      last = number;
  }
  for (const auto& [first, not_first] : ends)
    for (const auto& [not_last, last] : ends)
      if (run.groups[first].thread != run.groups[last].thread && forces(run.groups[first], run.groups[last]))
        links.emplace_back(run.groups[first].thread, run.groups[last].thread);
  std::vector<uint32_t> most(place.size());
  for (const uint32_t number : participants) {
    const Group& group = run.groups[number];
    most[group.thread] = static_cast<uint32_t>(std::min<uint64_t>(most[group.thread] + group.count, 2));
  }
  return {most, links};
}

bool CycleSearch::is_before(const CycleMember& a, const CycleMember& b) const {
  const Group& first = run_.groups[a.group];
  const Group& second = run_.groups[b.group];
  if (first.thread != second.thread) return forces(first, second);
  return (a.latest ? first.latest : first.earliest).first <
         (b.latest ? second.latest : second.earliest).first;
}

bool CycleSearch::are_related(uint32_t a, uint32_t b) const {
  const Group& first = run_.groups[a];
  const Group& second = run_.groups[b];
  return first.thread == second.thread || forces(first, second) || forces(second, first);
}

bool CycleSearch::conflict(uint32_t a, uint32_t b) const {
  bool found = false;
  for_each_conflict(indices_[run_.groups[a].shape], indices_[run_.groups[b].shape],
                    [&](const VariableUse&, const VariableUse&) { found = true; });
  return found;
}

// The chains that start at one root.
class CycleSearch::Chains {
 public:
  Chains(const CycleSearch& search, uint32_t root, uint64_t budget)
      : all_(search),
        budget_(std::min(budget, std::numeric_limits<uint64_t>::max() / kLooksPerStep) * kLooksPerStep) {
    members_.push_back({root, false});
    for_each_use(0, [&](uint32_t step, VariableId variable, bool writes) {
      last_use_of_root_ = std::max(last_use_of_root_, step);
      for (const Use& use : all_.uses_of_variable_[variable])
        if (writes || use.writes)
          for (const uint32_t other : all_.groups_of_shape_[use.shape]) closing_.push_back(other);
    });
    if (group(0).synchronizes())
      for (const uint32_t i : all_.participants_)
        if (all_.run_.groups[i].thread != group(0).thread && forces(all_.run_.groups[i], group(0)))
          closing_.push_back(i);
    std::sort(closing_.begin(), closing_.end());
    closing_.erase(std::unique(closing_.begin(), closing_.end()), closing_.end());
  }

  Answer run() {
    const uint64_t looks = budget_;
    const bool takes_part =
        std::binary_search(all_.participants_.begin(), all_.participants_.end(), members_.front().group);
    const std::size_t longest = takes_part ? all_.parts_.longest_cycle(group(0).thread) : 0;
    Answer answer;
    for (most_ = 3; most_ <= longest && !is_over(); ++most_) {
      was_cut_short_ = false;
      lengthen();
      if (!was_cut_short_) break;
    }
    answer.exhausted = exhausted_ && !found_;
    answer.used = (looks - budget_ + kLooksPerStep - 1) / kLooksPerStep;
    answer.witness = found_ ? std::move(found_) : std::move(doubtful_);
    return answer;
  }

 private:
  static constexpr std::size_t kMostDoubts = 16;

  const Group& group(std::size_t member) const { return all_.run_.groups[members_[member].group]; }
  const Shape& shape(std::size_t member) const { return all_.run_.shapes[group(member).shape]; }
  bool is_over() const { return found_.has_value() || exhausted_ || doubts_ == kMostDoubts; }
  bool spend(uint64_t looks) {
    if (budget_ < looks) exhausted_ = true;
    budget_ -= std::min(budget_, looks);
    return !exhausted_;
  }

  // Calls use(step, variable, writes) for each uninitialized read and final write of the member.
  template <class Use>
  void for_each_use(std::size_t member, Use use) const {
    for (const VariableUse& of : all_.indices_[group(member).shape].variables) {
      if (of.first_read != kNoId && of.first_read != of.final_write) use(of.first_read, of.variable, false);
      if (of.final_write != kNoId) use(of.final_write, of.variable, true);
    }
  }

  void lengthen() {
    const std::size_t last = members_.size() - 1;
    if (last > 0) close();
    if (is_over()) return;
    for_each_use(last, [&](uint32_t step, VariableId variable, bool writes) {
      // A root that is left at its last use is not cut: there is nothing later to come back to.
      if (last == 0 && !group(0).synchronizes() && step >= last_use_of_root_) return;
      for (const Use& next : all_.uses_of_variable_[variable]) {
        if (is_over()) return;
        if (writes || next.writes) follow_conflict(step, next);
      }
    });
    if (!is_over()) follow_forced();
  }

  void follow_conflict(uint32_t step, const Use& next) {
    for (const uint32_t candidate : all_.groups_of_shape_[next.shape]) {
      if (is_over()) return;
      if (!is_in_part(candidate) || !is_worth_it(candidate)) continue;
      if (!spend(1)) return;
      if (comes_first(candidate, next.step, members_.size() - 1, step)) continue;
      if (!is_related_to_any(candidate, members_.size()) && !has_chord(candidate))
        add({candidate, false}, {false, step, next.step});
    }
  }

  // The chain goes on with a transaction that comes later anyway.
  void follow_forced() {
    const std::size_t last = members_.size() - 1;
    // The root is cut: all of it before another one says nothing, unless it synchronizes inside.
    if (last == 0 && !group(0).synchronizes()) return;
    // Twice in a row is once, unless the transaction between receives after it has signalled.
    if (last > 0 && edges_.back().is_forced && !group(last).synchronizes()) return;
    const auto try_group = [&](uint32_t candidate) {
      if (is_over() || !is_in_part(candidate) || !spend(1)) return;
      const bool same_thread = all_.run_.groups[candidate].thread == group(last).thread;
      const CycleMember next{candidate, same_thread};
      if (!all_.is_before(members_[last], next) || is_related_to_any(candidate, last)) return;
      if (has_chord(candidate)) return;
      add(next, {true, 0, 0});
    };
    if (members_.size() + 1 >= most_) {
      was_cut_short_ = true;
      for (const uint32_t candidate : closing_) try_group(candidate);
    } else {
      for (const uint32_t candidate : all_.participants_) try_group(candidate);
    }
  }

  // Whether a chain with this one added can become a cycle of most_ members.
  bool is_worth_it(uint32_t candidate) {
    if (members_.size() + 1 < most_ || std::binary_search(closing_.begin(), closing_.end(), candidate))
      return true;
    was_cut_short_ = true;
    return false;
  }

  // The whole cycle is inside one part of the threads: that of the first two that differ.
  bool is_in_part(uint32_t candidate) const {
    const ThreadId thread = all_.run_.groups[candidate].thread;
    if (thread == group(0).thread) return true;
    return part_ == kNoId ? all_.parts_.common(group(0).thread, thread) != kNoId
                          : all_.parts_.contains(part_, thread);
  }

  // Whether a step of a group comes before a step of the member, of another thread, in every schedule.
  bool comes_first(uint32_t candidate, uint32_t step, std::size_t member, uint32_t members_step) const {
    const Group& other = all_.run_.groups[candidate];
    return other.thread != group(member).thread &&
           group(member).clock_at(members_step).knows(other.clock_at(step).epoch());
  }

  // In a shortest cycle only neighbours are related. The root is everybody's neighbour at the end.
  bool is_related_to_any(uint32_t candidate, std::size_t members) const {
    for (std::size_t i = 0; i < members; ++i) {
      const bool may_close =
          i == 0 && group(0).synchronizes() && all_.run_.groups[candidate].thread != group(0).thread;
      if (!may_close && all_.are_related(members_[i].group, candidate)) return true;
    }
    return false;
  }

  // Nor do they conflict: one of the two would come first, and with that edge the cycle were shorter. So of
  // all the threads that write a variable no more than two are in it.
  bool has_chord(uint32_t candidate) {
    const bool is_last = members_.size() + 1 == most_;
    for (std::size_t i = is_last ? 1 : 0; i + 1 < members_.size(); ++i)
      if (!spend(1) || all_.conflict(members_[i].group, candidate)) return true;
    return false;
  }

  void add(const CycleMember& member, const CycleEdge& edge) {
    if (members_.size() == most_) {
      was_cut_short_ = true;
      return;
    }
    if (!spend(kLooksPerStep)) return;
    const uint32_t part = part_;
    const ThreadId thread = all_.run_.groups[member.group].thread;
    if (part_ == kNoId && thread != group(0).thread) part_ = all_.parts_.common(group(0).thread, thread);
    members_.push_back(member);
    edges_.push_back(edge);
    lengthen();
    members_.pop_back();
    edges_.pop_back();
    part_ = part;
  }

  void close() {
    if (members_.size() < most_) return;  // shorter cycles were tried before
    const std::size_t last = members_.size() - 1;
    if (group(0).synchronizes() && all_.is_before(members_[last], members_[0])) try_cycle({true, 0, 0});
    for_each_use(last, [&](uint32_t step, VariableId variable, bool writes) {
      for_each_use(0, [&](uint32_t to, VariableId of, bool root_writes) {
        if (is_over() || of != variable || !(writes || root_writes) || !spend(1)) return;
        if (comes_first(members_[0].group, to, last, step)) return;
        // Leaving the root after coming back to it is no cut.
        if (!edges_.front().is_forced && edges_.front().from >= to) return;
        try_cycle({false, step, to});
      });
    });
  }

  void try_cycle(const CycleEdge& closing) {
    std::vector<CycleEdge> edges = edges_;
    edges.push_back(closing);
    build_lanes();
    std::vector<OrderConstraint> constraints = forced_constraints();
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (!edges[i].is_forced)
        constraints.push_back({place(i, edges[i].from), place((i + 1) % edges.size(), edges[i].to)});
    uint64_t steps = budget_ / kLooksPerStep;
    SearchAnswer answer = find_schedule(lanes_, constraints, table_, steps);
    budget_ = steps * kLooksPerStep;
    exhausted_ |= answer.exhausted;
    if (!answer.schedule) return;
    Witness witness{members_, std::move(edges), std::move(*answer.schedule)};
    all_.replay_.judge(witness, budget_);
    if (witness.feasibility == Feasibility::kFeasible) {
      found_ = std::move(witness);
    } else {
      ++doubts_;
      if (!doubtful_) doubtful_ = std::move(witness);
    }
  }

  LanePlace place(std::size_t member, uint32_t step) const { return places_[member][step]; }

  // A lane for each thread. Locks kept from one transaction of the thread to the next are not given back
  // between.
  void build_lanes() {
    lanes_.clear();
    places_.assign(members_.size(), {});
    std::vector<ThreadId> thread_of_lane;
    for (uint32_t member = 0; member < members_.size(); ++member) {
      const auto known = std::find(thread_of_lane.begin(), thread_of_lane.end(), group(member).thread);
      const auto lane = static_cast<uint32_t>(known - thread_of_lane.begin());
      if (known != thread_of_lane.end()) continue;
      thread_of_lane.push_back(group(member).thread);
      lanes_.emplace_back();
      std::vector<uint32_t> of_thread;
      for (uint32_t other = member; other < members_.size(); ++other)
        if (group(other).thread == group(member).thread) of_thread.push_back(other);
      // At most two, in the order of the chain, which is that of the thread, unless the root comes last.
      std::sort(of_thread.begin(), of_thread.end(),
                [&](uint32_t a, uint32_t b) { return all_.is_before(members_[a], members_[b]); });
      std::vector<Holding> kept;
      for (std::size_t i = 0; i < of_thread.size(); ++i) {
        const std::vector<Holding> next_kept =
            i + 1 < of_thread.size() ? kept_between(of_thread[i], of_thread[i + 1]) : std::vector<Holding>();
        append(lane, of_thread[i], kept, next_kept);
        kept = next_kept;
      }
    }
  }

  const Instance& instance(uint32_t member) const { return instance_of(all_.run_, members_[member]); }
  std::vector<Holding> kept_between(uint32_t earlier, uint32_t later) const {
    std::vector<Holding> kept;
    for (const Holding& holding : instance(earlier).after)
      if (std::any_of(instance(later).before.begin(), instance(later).before.end(),
                      [&](const Holding& other) { return other.is_same(holding); }))
        kept.push_back(holding);
    return kept;
  }

  void append(uint32_t lane, uint32_t member, const std::vector<Holding>& kept_before,
              const std::vector<Holding>& kept_after) {
    const auto keeps = [](const std::vector<Holding>& kept, uint32_t lock) {
      return std::any_of(kept.begin(), kept.end(),
                         [&](const Holding& holding) { return holding.lock == lock; });
    };
    const std::vector<ShapeStep>& steps = shape(member).steps;
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const bool acquires = is_acquire(steps[i].kind);
      const auto next = static_cast<uint32_t>(lanes_[lane].size());
      const bool left_out = steps[i].around && keeps(acquires ? kept_before : kept_after, steps[i].object);
      // The step before a release that is left out, the step after an acquire that is, stand for it.
      places_[member].push_back({lane, left_out && !acquires ? next - 1 : next});
      if (!left_out) lanes_[lane].push_back({{member, i}, acquires, kEmptyLockset});
    }
    set_held(lane);
  }

  // What is held after each step of the lane.
  void set_held(uint32_t lane) {
    LocksetId held = kEmptyLockset;
    for (LaneStep& step : lanes_[lane]) {
      const ShapeStep& of = shape(step.step.member).steps[step.step.step];
      if (is_acquire(of.kind)) held = table_.add(held, of.object, of.kind == StepKind::kAcquireShared);
      if (is_release(of.kind)) held = table_.remove(held, of.object);
      step.held = held;
    }
  }

  // The forced order between the members of different threads.
  std::vector<OrderConstraint> forced_constraints() const {
    std::vector<OrderConstraint> constraints;
    for (std::size_t a = 0; a < members_.size(); ++a) {
      for (std::size_t b = 0; b < members_.size(); ++b) {
        if (group(a).thread == group(b).thread || !forces(group(a), group(b))) continue;
        uint32_t known = 0;  // steps of a that come before the present one of b
        for (uint32_t step = 0; step < shape(b).steps.size(); ++step) {
          const uint32_t before = known;
          while (known < shape(a).steps.size() &&
                 group(b).clock_at(step).knows(group(a).clock_at(known).epoch()))
            ++known;
          if (known > before) constraints.push_back({place(a, known - 1), place(b, step)});
        }
      }
    }
    return constraints;
  }

  const CycleSearch& all_;
  uint64_t budget_;                // in looks
  uint32_t last_use_of_root_ = 0;  // its last uninitialized read or final write
  std::size_t most_ = 0;           // members
  std::vector<CycleMember> members_;
  std::vector<CycleEdge> edges_;  // between them
  uint32_t part_ = kNoId;         // of the threads that the cycle is in; kNoId: all members are of one thread
  std::vector<uint32_t> closing_;  // groups that may be the last member, ascending
  bool was_cut_short_ = false;     // a chain of most_ members could be lengthened
  bool exhausted_ = false;
  std::optional<Witness> found_;
  std::optional<Witness> doubtful_;  // the first of those that the run cannot come to, as far as is known
  std::size_t doubts_ = 0;
  // Of the cycle being tried.
  std::vector<Lane> lanes_;
  std::vector<std::vector<LanePlace>> places_;  // by member and step of its shape
  LocksetTable table_;
};

CycleSearch::Answer CycleSearch::find(uint32_t root, uint64_t budget) const {
  return Chains(*this, root, budget).run();
}

}  // namespace heddle::predictive
