#include "checkers/predictive/replay.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace heddle::predictive {

namespace {

constexpr EventIndex kNever = std::numeric_limits<EventIndex>::max();

enum class Start : uint8_t { kOwnPast, kWhereItBegan, kBeginningOfTrace };

// A step of the witness as an event of the trace.
struct Target {
  ScheduledStep step;
  ThreadId thread = 0;
  EventIndex index = 0;
  bool is_access = false;
  bool is_trailing = false;  // gives back a lock after the transaction: it need not be come to
};

// Each step after the one before it. (Locks around a transaction are given back in the witness in the reverse
// order; the thread may have done it in another.)
auto order_of_steps(const std::vector<Target>& targets) {
  tsl::robin_map<EventIndex, std::vector<Prerequisite>, MixHash> orders;
  for (std::size_t i = 1; i < targets.size(); ++i)
    if (targets[i].thread != targets[i - 1].thread)
      orders[targets[i].index].push_back({targets[i - 1].thread, targets[i - 1].index});
  return orders;
}

}  // namespace

// One search from one start.
class Replay::Attempt {
 public:
  Attempt(const Replay& replay, const std::vector<Target>& targets, Start start, const Orders& orders,
          bool to_the_end, uint64_t& looks_left)
      : run_(replay.run_),
        prerequisites_(start == Start::kOwnPast ? nullptr : &replay.prerequisites()),
        orders_(orders),
        looks_left_(looks_left) {
    for (const Target& target : targets) {
      Lane& lane = lanes_[lane_of(target.thread)];
      if (target.is_access) lane.accesses.push_back(target.index);
      lane.first = std::min(lane.first, target.index);
      if (to_the_end || !target.is_trailing) lane.goal = std::max(lane.goal, target.index + 1);
    }
    for (Lane& lane : lanes_) std::sort(lane.accesses.begin(), lane.accesses.end());
    set_starts(start);
    if (start == Start::kOwnPast) {
      for (Lane& lane : lanes_) set_limit_before_wall(lane);
    } else {
      set_limits();
    }
    for (Lane& lane : lanes_) lane.place = lane.start;
  }

  Feasibility run() {
    // The order of the members is forced by what is not looked at here.
    if (is_blind_) return Feasibility::kUnknown;
    const bool found = search();
    if (found) return Feasibility::kFeasible;
    return exhausted_ || meets_wall_ ? Feasibility::kUnknown : Feasibility::kInfeasible;
  }

  // Calls visit(event, is locking) for what was done, in its order.
  template <class Visit>
  void for_each_done(Visit visit) const {
    std::vector<Lane> again = lanes_;
    for (Lane& lane : again) {
      lane.place = lane.start;
      lane.access = 0;
    }
    for (const Done& done : done_) {
      Lane& lane = again[done.lane];
      if (done.is_access) {
        visit(lane.accesses[lane.access++], false);
      } else {
        const LoggedEvent& event = (*lane.log)[lane.place++];
        visit(event.index, event.locks());
      }
    }
  }

 private:
  // What one thread does: what is in its log, and the accesses of the witness.
  struct Lane {
    ThreadId thread = 0;
    const ThreadLog* log = nullptr;
    std::size_t start = 0;             // in the log
    std::size_t limit = 0;             // in the log: it goes no further
    std::vector<EventIndex> accesses;  // of the witness
    EventIndex first = kNever;         // step of the witness
    EventIndex goal = 0;               // all before this is to be done
    std::size_t place = 0;             // in the log: done up to here
    std::size_t access = 0;            // and up to here
  };
  struct Done {
    uint32_t lane = 0;
    bool is_access = false;
  };
  struct Holders {
    uint32_t readers = 0;
    bool written = false;  // held exclusively
  };
  // Acquires that can be tried where nothing else can be done.
  struct Choice {
    std::size_t done = 0;                // when it came up
    std::vector<uint32_t> candidates{};  // lanes, the last one is tried next
  };

  uint32_t lane_of(ThreadId thread) {
    const auto [known, is_new] = number_of_.try_emplace(thread, static_cast<uint32_t>(lanes_.size()));
    if (is_new) {
      static const ThreadLog nothing;
      lanes_.emplace_back();
      lanes_.back().thread = thread;
      lanes_.back().log = thread < run_.logs.size() ? &run_.logs[thread] : &nothing;
    }
    return known->second;
  }

  bool spend(uint64_t looks) {
    if (looks_left_ < looks) exhausted_ = true;
    looks_left_ -= std::min(looks_left_, looks);
    return !exhausted_;
  }

  void set_starts(Start start) {
    EventIndex began = kNever;
    for (Lane& lane : lanes_) {
      lane.start = free_place_before(*lane.log, place_of(*lane.log, lane.first));
      began = std::min(began, lane.start < lane.log->size()
                                  ? std::min<EventIndex>((*lane.log)[lane.start].index, lane.first)
                                  : lane.first);
    }
    if (start == Start::kOwnPast) return;
    if (start == Start::kBeginningOfTrace) began = 0;
    began_ = began;
    // Who is inside a critical section then has to be able to leave it.
    for (ThreadId thread = 0; began > 0 && thread < run_.logs.size(); ++thread) {
      const std::size_t place = place_of(run_.logs[thread], began);
      if (place > 0 && !run_.logs[thread][place - 1].leaves_free) lane_of(thread);
    }
    for (Lane& lane : lanes_) set_start(lane);
  }
  void set_start(Lane& lane) {
    lane.start = place_of(*lane.log, began_);
    lane.limit = lane.start;
    for (std::size_t i = free_place_before(*lane.log, lane.start); i < lane.start; ++i)
      apply((*lane.log)[i], true);
  }

  // A lane that begins without a lock and needs nobody: up to where it leaves or enters the others' sight.
  void set_limit_before_wall(Lane& lane) {
    const auto is_wall = [&](std::size_t place) { return !(*lane.log)[place].locks(); };
    lane.limit = lane.start;
    while (lane.limit < lane.log->size() && !is_reached(lane, lane.limit) && !is_wall(lane.limit) && spend(1))
      ++lane.limit;
    const bool stops = lane.limit < lane.log->size() && is_wall(lane.limit);
    if (!stops) return;
    is_blind_ |= (*lane.log)[lane.limit].index < lane.goal;
    meets_wall_ |= !is_reached(lane, lane.limit);
  }
  // Whether a lane need not go on from here: its goal is behind it and it holds no lock.
  static bool is_reached(const Lane& lane, std::size_t place) {
    const bool is_free = place == 0 || (*lane.log)[place - 1].leaves_free;
    return is_free && (place == lane.log->size() || (*lane.log)[place].index >= lane.goal);
  }

  // How far each lane may go: as far as somebody needs, and on until it holds no lock.
  void set_limits() {
    std::vector<uint32_t> open;
    open.reserve(lanes_.size());
    for (uint32_t lane = 0; lane < lanes_.size(); ++lane) open.push_back(lane);
    const auto need = [&](const Prerequisite& needed) {
      const std::size_t known = lanes_.size();
      const uint32_t number = lane_of(needed.thread);
      if (number == known) set_start(lanes_[number]);
      if (number < known && lanes_[number].goal > needed.until) return;
      lanes_[number].goal = std::max(lanes_[number].goal, needed.until + 1);
      open.push_back(number);
    };
    while (!open.empty() && !exhausted_) {
      const uint32_t number = open.back();
      open.pop_back();
      if (const Prerequisite* start = prerequisites_->start_of(lanes_[number].thread);
          start != nullptr && start->until >= began_)
        need(*start);
      // Lanes move while others are added.
      while (lanes_[number].limit < lanes_[number].log->size() &&
             !is_reached(lanes_[number], lanes_[number].limit) && spend(1)) {
        const LoggedEvent event = (*lanes_[number].log)[lanes_[number].limit++];
        prerequisites_->for_each(event, [&](const Prerequisite& needed) {
          if (needed.until >= began_) need(needed);
        });
      }
    }
  }

  // The next event of a lane; kNever: none.
  static EventIndex next(const Lane& lane) {
    const EventIndex logged = lane.place < lane.limit ? (*lane.log)[lane.place].index : kNever;
    const EventIndex access = lane.access < lane.accesses.size() ? lane.accesses[lane.access] : kNever;
    return std::min(logged, access);
  }
  static bool is_access_next(const Lane& lane) {
    return lane.access < lane.accesses.size() && lane.accesses[lane.access] == next(lane);
  }
  bool is_done(const Prerequisite& needed) const {
    const auto number = number_of_.find(needed.thread);
    if (number == number_of_.end()) return true;
    const Lane& lane = lanes_[number->second];
    // What a lane does not go to at all is not done, either.
    const bool is_behind = lane.place == lane.log->size() || (*lane.log)[lane.place].index > needed.until;
    return is_behind && (lane.access == lane.accesses.size() || lane.accesses[lane.access] > needed.until);
  }
  bool takes_lock(const LoggedEvent& event) const {
    return event.takes() && run_.lock_is_shared[event.object];
  }

  // Whether all that the lane's next event waits for is done, locks aside.
  bool is_ready(const Lane& lane) const {
    if (const auto orders = orders_.find(next(lane)); orders != orders_.end())
      for (const Prerequisite& needed : orders->second)
        if (!is_done(needed)) return false;
    if (prerequisites_ == nullptr) return true;
    const Prerequisite* start = prerequisites_->start_of(lane.thread);
    if (start != nullptr && start->until < next(lane) && !is_done(*start)) return false;
    if (is_access_next(lane)) return true;
    bool is_ready = true;
    prerequisites_->for_each((*lane.log)[lane.place],
                             [&](const Prerequisite& needed) { is_ready = is_ready && is_done(needed); });
    return is_ready;
  }
  bool is_free(const LoggedEvent& acquire) const {
    const auto holders = holders_.find(acquire.object);
    if (holders == holders_.end() || holders->second.written) return holders == holders_.end();
    return acquire.kind() == Operation::kAcquireShared || holders->second.readers == 0;
  }

  void apply(const LoggedEvent& event, bool forward) {
    if (!event.locks() || !run_.lock_is_shared[event.object]) return;
    const bool takes = event.takes() == forward;
    Holders& holders = holders_[event.object];
    if (event.kind() == Operation::kAcquire || event.kind() == Operation::kRelease) {
      holders.written = takes;
    } else {
      takes ? ++holders.readers : --holders.readers;
    }
    if (!holders.written && holders.readers == 0) holders_.erase(event.object);
  }
  void go(uint32_t number) {
    Lane& lane = lanes_[number];
    const bool is_access = is_access_next(lane);
    if (is_access) {
      ++lane.access;
    } else {
      apply((*lane.log)[lane.place++], true);
    }
    done_.push_back({number, is_access});
  }
  void undo_to(std::size_t count) {
    for (; done_.size() > count; done_.pop_back()) {
      Lane& lane = lanes_[done_.back().lane];
      if (done_.back().is_access) {
        --lane.access;
      } else {
        apply((*lane.log)[--lane.place], false);
      }
    }
  }

  void do_what_only_helps() {
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t number = 0; number < lanes_.size(); ++number) {
        const Lane& lane = lanes_[number];
        const auto helps = [&] { return is_access_next(lane) || !takes_lock((*lane.log)[lane.place]); };
        while (next(lane) != kNever && helps() && is_ready(lane) && spend(1)) {
          go(number);
          moved = true;
        }
      }
      if (!spend(lanes_.size())) return;
    }
  }
  // Acquires that can be done, the earliest in the trace last.
  std::vector<uint32_t> find_candidates() const {
    std::vector<uint32_t> candidates;
    for (uint32_t number = 0; number < lanes_.size(); ++number) {
      const Lane& lane = lanes_[number];
      if (next(lane) != kNever && !is_access_next(lane) && takes_lock((*lane.log)[lane.place]) &&
          is_free((*lane.log)[lane.place]) && is_ready(lane))
        candidates.push_back(number);
    }
    std::sort(candidates.begin(), candidates.end(),
              [&](uint32_t a, uint32_t b) { return next(lanes_[a]) > next(lanes_[b]); });
    return candidates;
  }
  bool is_complete() const {
    return std::all_of(lanes_.begin(), lanes_.end(),
                       [&](const Lane& lane) { return lane.first == kNever || next(lane) >= lane.goal; });
  }
  // States are told apart by a hash of 64 bits. Should two have the same, an order may be missed; none is
  // made up.
  uint64_t state() const {
    uint64_t hash = 0;
    for (const Lane& lane : lanes_) hash = mix(hash ^ (uint64_t{lane.place} << 20 ^ lane.access));
    return hash;
  }

  bool search() {
    tsl::robin_set<uint64_t, MixHash> seen;
    std::vector<Choice> choices;
    for (;;) {
      do_what_only_helps();
      if (exhausted_) return false;
      if (is_complete()) return true;
      if (seen.insert(state()).second) choices.push_back({done_.size(), find_candidates()});
      while (!choices.empty() && choices.back().candidates.empty()) choices.pop_back();
      if (choices.empty()) return false;
      undo_to(choices.back().done);
      const uint32_t lane = choices.back().candidates.back();
      choices.back().candidates.pop_back();
      go(lane);
    }
  }

  const Transactions& run_;
  const Prerequisites* prerequisites_;  // none: nobody needs another thread
  const Orders& orders_;
  uint64_t& looks_left_;
  EventIndex began_ = 0;  // all before this is done
  std::vector<Lane> lanes_;
  tsl::robin_map<ThreadId, uint32_t, MixHash> number_of_;  // by thread: its lane
  tsl::robin_map<uint32_t, Holders, MixHash> holders_;     // by lock that is held
  std::vector<Done> done_;
  bool exhausted_ = false;
  bool is_blind_ = false;    // a member needs or wakes other threads
  bool meets_wall_ = false;  // a lane could have gone on
};

// Of each conflict in the cycle the second step after the first. What else conflicts may come in any order:
// these alone contradict every serial one.
Replay::Orders Replay::order_of_edges(const Witness& witness) const {
  Orders orders;
  for (std::size_t i = 0; i < witness.edges.size(); ++i) {
    const CycleMember& from = witness.members[i];
    const CycleMember& to = witness.members[(i + 1) % witness.members.size()];
    if (witness.edges[i].is_forced) continue;
    orders[index_of(run_, to, witness.edges[i].to)].push_back(
        {run_.groups[from.group].thread, index_of(run_, from, witness.edges[i].from)});
  }
  return orders;
}

const Prerequisites& Replay::prerequisites() const {
  std::call_once(is_ready_, [&] { prerequisites_.emplace(run_.logs); });
  return *prerequisites_;
}

void Replay::judge(Witness& witness, uint64_t& looks_left) const {
  std::vector<Target> targets;
  std::vector<ScheduledStep> invented;  // locks given back that the run never gave back
  bool has_own_past = true;
  for (const ScheduledStep& scheduled : witness.schedule) {
    const CycleMember& member = witness.members[scheduled.member];
    const Group& group = run_.groups[member.group];
    const Shape& shape = run_.shapes[group.shape];
    const ShapeStep& step = shape.steps[scheduled.step];
    const bool is_trailing = step.around && is_release(step.kind);
    if (is_trailing && stays_held(instance_of(run_, member), step.object)) {
      invented.push_back(scheduled);
      continue;
    }
    targets.push_back(
        {scheduled, group.thread, index_of(run_, member, scheduled.step), is_access(step.kind), is_trailing});
  }
  for (const CycleMember& a : witness.members) {
    has_own_past = has_own_past && !run_.groups[a.group].past_is_open;
    for (const CycleMember& b : witness.members)
      has_own_past = has_own_past && (run_.groups[a.group].thread == run_.groups[b.group].thread ||
                                      !forces(run_.groups[a.group], run_.groups[b.group]));
  }

  witness.feasibility = Feasibility::kUnknown;
  bool is_known = true;
  const std::array<Orders, 2> orders = {order_of_steps(targets), order_of_edges(witness)};
  for (const Start start : {Start::kOwnPast, Start::kWhereItBegan, Start::kBeginningOfTrace}) {
    if (start == Start::kOwnPast && !has_own_past) continue;
    for (const bool as_shown : {true, false}) {
      // Something is left for the next attempt.
      uint64_t looks = looks_left / 2;
      looks_left -= looks;
      Attempt attempt(*this, targets, start, orders[as_shown ? 0 : 1], as_shown, looks);
      const Feasibility answer = attempt.run();
      looks_left += looks;
      is_known = answer != Feasibility::kUnknown;
      if (answer != Feasibility::kFeasible) continue;
      witness.feasibility = answer;
      std::map<EventIndex, ScheduledStep> step_of;
      for (const Target& target : targets) step_of[target.index] = target.step;
      witness.schedule.clear();
      attempt.for_each_done([&](EventIndex event, bool is_locking) {
        const auto step = step_of.find(event);
        if (step != step_of.end()) witness.schedule.push_back(step->second);
        if (step != step_of.end() || !is_locking) witness.order.push_back(event);
      });
      witness.schedule.insert(witness.schedule.end(), invented.begin(), invented.end());
      return;
    }
    // A past of its own decides it, and so does the beginning of the trace.
    if (is_known && start != Start::kWhereItBegan) break;
  }
  if (is_known) witness.feasibility = Feasibility::kInfeasible;
}

}  // namespace heddle::predictive
