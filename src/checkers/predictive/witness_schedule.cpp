#include "checkers/predictive/witness_schedule.h"

#include <algorithm>
#include <map>

#include "checkers/predictive/forcing_chain.h"
#include "checkers/predictive/words.h"
#include "core/checker.h"

namespace heddle::predictive {

namespace {

class Writer {
 public:
  Writer(const Witness& witness, const std::vector<Step>& argument, const Transactions& run,
         const LocksetTable& locksets, const Names& names)
      : witness_(witness), argument_(argument), run_(run), locksets_(locksets), names_(names) {}

  std::vector<Step> write() {
    find_outside();
    std::vector<std::size_t> left(witness_.members.size(), 0);  // steps of each member still to come
    for (const ScheduledStep& scheduled : witness_.schedule) ++left[scheduled.member];
    begun_.resize(left.size());
    ended_.resize(left.size());
    for (std::size_t i = 0; i < witness_.schedule.size(); ++i) {
      const std::size_t member = witness_.schedule[i].member;
      const ShapeStep& step = shape(member).steps[witness_.schedule[i].step];
      const Origin origin = origin_at(i);
      if (!(step.around && is_release(step.kind))) add_outside_before(thread(member), origin.index);
      if (!step.around) begin(member);
      if (step.around && is_release(step.kind)) end(member);
      add_step(i);
      if (--left[member] == 0) end(member);
    }
    for (Step& step : schedule_)
      for (const Step& key : argument_)
        if (key.event == step.event && key.thread == step.thread && key.operation == step.operation)
          step.because = key.because;
    return std::move(schedule_);
  }

 private:
  // An operation of no member that forces an order between them.
  struct Outside {
    Origin origin;
    std::vector<std::size_t> after;  // others that must come first
    bool is_done = false;
  };

  const Group& group(std::size_t member) const { return run_.groups[witness_.members[member].group]; }
  const Shape& shape(std::size_t member) const { return run_.shapes[group(member).shape]; }
  ThreadId thread(std::size_t member) const { return group(member).thread; }
  bool latest(std::size_t member) const { return witness_.members[member].latest; }
  const Instance& instance(std::size_t member) const {
    return latest(member) ? group(member).latest : group(member).earliest;
  }
  Origin origin_at(std::size_t scheduled) const {
    const ScheduledStep& step = witness_.schedule[scheduled];
    return origin_of(shape(step.member), group(step.member), latest(step.member), step.step);
  }

  void find_outside() {
    for (std::size_t i = 0; i < witness_.members.size(); ++i) {
      const std::size_t next = (i + 1) % witness_.members.size();
      if (!witness_.edges[i].is_forced || thread(i) == thread(next)) continue;
      const ForcingChain chain = find_forcing_chain(run_.synchronizations, thread(i), instance(i).first,
                                                    thread(next), instance(next).last);
      std::size_t before = kInside;
      for (const Origin& step : chain.steps) {
        const std::size_t number = add_outside(step);
        if (before != kInside)
          (number == kInside ? before_inside_[step.index] : outside_[number].after).push_back(before);
        if (number != kInside && step.event.operation == Operation::kFork)
          fork_of_[step.event.object] = number;
        before = number;
      }
      for (const Origin& arrival : chain.arrivals) add_outside(arrival);
    }
    for (auto& [of_thread, numbers] : outside_of_thread_)
      std::sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
        return outside_[a].origin.index < outside_[b].origin.index;
      });
  }
  // Its number; kInside when a member does it.
  std::size_t add_outside(const Origin& origin) {
    const ThreadId of = origin.event.thread;
    for (std::size_t i = 0; i < witness_.members.size(); ++i)
      if (thread(i) == of && instance(i).first <= origin.index && origin.index <= instance(i).last)
        return kInside;
    for (const std::size_t number : outside_of_thread_[of])
      if (outside_[number].origin.index == origin.index) return number;
    outside_.push_back({origin, {}});
    outside_of_thread_[of].push_back(outside_.size() - 1);
    return outside_.size() - 1;
  }

  // What the thread does outside before this event of its own, and what the event waits for; and the thread
  // must have been started.
  void add_outside_before(ThreadId of, EventIndex index) {
    if (const auto fork = fork_of_.find(of); fork != fork_of_.end()) add_outside_step(fork->second);
    if (const auto waits = before_inside_.find(index); waits != before_inside_.end())
      for (const std::size_t number : waits->second) add_outside_step(number);
    for (const std::size_t number : outside_of_thread_[of])
      if (outside_[number].origin.index < index) add_outside_step(number);
  }
  void add_outside_step(std::size_t number) {
    Outside& outside = outside_[number];
    if (outside.is_done) return;
    outside.is_done = true;
    // Others first: who arrives at a barrier right before leaving it is in the phase of those it waits for.
    for (const std::size_t other : outside.after) add_outside_step(other);
    add_outside_before(outside.origin.event.thread, outside.origin.index);
    schedule_.push_back(make_step(outside.origin.event, outside.origin.index, names_));
    schedule_.back().block_is_known = true;
  }

  void begin(std::size_t member) {
    if (!shape(member).is_block || begun_[member]) return;
    begun_[member] = true;
    add_boundary(begin_of(shape(member), group(member), latest(member)));
  }
  void end(std::size_t member) {
    if (!shape(member).is_block || ended_[member]) return;
    ended_[member] = true;
    Origin origin = begin_of(shape(member), group(member), latest(member));
    origin.event.operation = Operation::kEnd;
    origin.event.site = kNoId;
    origin.index = instance(member).last;
    add_boundary(origin);
  }
  void add_boundary(const Origin& origin) {
    schedule_.push_back(make_step(origin.event, origin.index, names_));
    schedule_.back().block_is_known = true;
    schedule_.back().block = names_.name(Space::kBlock, origin.event.object);
  }

  void add_step(std::size_t scheduled) {
    const ScheduledStep& at = witness_.schedule[scheduled];
    const bool is_invented = gives_back_what_stayed_held(at);
    if (is_invented && !is_taken_later(scheduled)) return;
    schedule_.push_back(
        report_step(shape(at.member), group(at.member), latest(at.member), at.step, locksets_, names_));
    if (is_invented)
      schedule_.back().because =
          "the trace ends before this; it counts as given back here, for others to take";
  }
  bool gives_back_what_stayed_held(const ScheduledStep& at) const {
    const ShapeStep& step = shape(at.member).steps[at.step];
    if (!step.around || !is_release(step.kind)) return false;
    const std::vector<Holding>& held = instance(at.member).after;
    return std::any_of(held.begin(), held.end(), [&](const Holding& holding) {
      return holding.lock == step.object && !holding.given_back;
    });
  }
  bool is_taken_later(std::size_t scheduled) const {
    const ScheduledStep& at = witness_.schedule[scheduled];
    const uint32_t lock = shape(at.member).steps[at.step].object;
    return std::any_of(witness_.schedule.begin() + static_cast<long>(scheduled), witness_.schedule.end(),
                       [&](const ScheduledStep& later) {
                         const ShapeStep& step = shape(later.member).steps[later.step];
                         return is_acquire(step.kind) && step.object == lock;
                       });
  }

  static constexpr std::size_t kInside = ~std::size_t{0};

  const Witness& witness_;
  const std::vector<Step>& argument_;
  const Transactions& run_;
  const LocksetTable& locksets_;
  const Names& names_;
  std::vector<Outside> outside_;
  std::map<ThreadId, std::vector<std::size_t>> outside_of_thread_;  // numbers, in the order of the trace
  std::map<EventIndex, std::vector<std::size_t>> before_inside_;  // by event of a member: outside, before it
  std::map<ThreadId, std::size_t> fork_of_;                       // by thread: who starts it
  std::vector<bool> begun_;                                       // by member
  std::vector<bool> ended_;
  std::vector<Step> schedule_;
};

}  // namespace

std::vector<Step> schedule_steps(const Witness& witness, const std::vector<Step>& argument,
                                 const Transactions& run, const LocksetTable& locksets, const Names& names) {
  return Writer(witness, argument, run, locksets, names).write();
}

}  // namespace heddle::predictive
