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
         const std::vector<Origin>& synchronizations, const LocksetTable& locksets, const Names& names)
      : witness_(witness),
        argument_(argument),
        run_(run),
        synchronizations_(synchronizations),
        locksets_(locksets),
        names_(names) {}

  std::vector<Step> write() {
    find_outside();
    if (witness_.feasibility == Feasibility::kFeasible) sort_outside();
    std::vector<std::size_t> left(witness_.members.size(), 0);  // steps of each member still to come
    for (const ScheduledStep& scheduled : witness_.schedule) ++left[scheduled.member];
    begun_.resize(left.size());
    ended_.resize(left.size());
    for (std::size_t i = 0; i < witness_.schedule.size(); ++i) {
      const std::size_t member = witness_.schedule[i].member;
      const ShapeStep& step = shape(member).steps[witness_.schedule[i].step];
      const Origin origin = origin_at(i);
      if (witness_.feasibility == Feasibility::kFeasible) {
        add_outside_up_to(origin.index);
      } else if (!(step.around && is_release(step.kind))) {
        add_outside_before(origin);
      }
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
    bool is_done = false;
  };

  const Group& group(std::size_t member) const { return run_.groups[witness_.members[member].group]; }
  const Shape& shape(std::size_t member) const { return run_.shapes[group(member).shape]; }
  ThreadId thread(std::size_t member) const { return group(member).thread; }
  bool latest(std::size_t member) const { return witness_.members[member].latest; }
  const Instance& instance(std::size_t member) const { return instance_of(run_, witness_.members[member]); }
  Origin origin_at(std::size_t scheduled) const {
    const ScheduledStep& step = witness_.schedule[scheduled];
    return origin_of(shape(step.member), group(step.member), latest(step.member), step.step);
  }

  void find_outside() {
    for (std::size_t i = 0; i < witness_.members.size(); ++i) {
      const std::size_t next = (i + 1) % witness_.members.size();
      if (!witness_.edges[i].is_forced || thread(i) == thread(next)) continue;
      const ForcingChain chain = find_forcing_chain(synchronizations_, thread(i), instance(i).first,
                                                    thread(next), instance(next).last);
      for (const Origin& step : chain.steps) add_outside(step);
      for (const Origin& arrival : chain.arrivals) add_outside(arrival);
    }
    const auto arrives = [](const Outside& of) { return of.origin.event.operation == Operation::kArrive; };
    if (std::any_of(outside_.begin(), outside_.end(), arrives)) phases_ = find_phases(synchronizations_);
    for (auto& [of_thread, numbers] : outside_of_thread_)
      std::sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
        return outside_[a].origin.index < outside_[b].origin.index;
      });
  }
  void add_outside(const Origin& origin) {
    const ThreadId of = origin.event.thread;
    for (std::size_t i = 0; i < witness_.members.size(); ++i)
      if (thread(i) == of && instance(i).first <= origin.index && origin.index <= instance(i).last) return;
    for (const std::size_t number : outside_of_thread_[of])
      if (outside_[number].origin.index == origin.index) return;
    outside_.push_back({origin});
    outside_of_thread_[of].push_back(outside_.size() - 1);
  }

  // The order is known: what is outside comes where the run comes to it.
  void sort_outside() {
    for (std::size_t i = 0; i < witness_.order.size(); ++i) place_in_order_[witness_.order[i]] = i + 1;
    std::sort(outside_.begin(), outside_.end(), [&](const Outside& a, const Outside& b) {
      return std::pair(place_of(a.origin.index), a.origin.index) <
             std::pair(place_of(b.origin.index), b.origin.index);
    });
  }
  // 0: before all of them.
  std::size_t place_of(EventIndex event) const {
    const auto place = place_in_order_.find(event);
    return place == place_in_order_.end() ? 0 : place->second;
  }
  void add_outside_up_to(EventIndex event) {
    for (;
         next_outside_ < outside_.size() && place_of(outside_[next_outside_].origin.index) <= place_of(event);
         ++next_outside_)
      show(outside_[next_outside_]);
  }

  // What happens outside before an event of a member, or of no member: signals that it waits for, its
  // thread's start and what its thread did before. Signals come first: who arrives at a barrier right before
  // leaving it is in the phase of those it waits for.
  void add_outside_before(const Origin& origin) {
    const Event& event = origin.event;
    const auto is = [&](Operation operation) { return event.operation == operation; };
    if (is(Operation::kWait) || is(Operation::kLeave)) {
      for (std::size_t number = 0; number < outside_.size(); ++number)
        if (releases(outside_[number].origin, origin)) add_outside_step(number);
    }
    if (is(Operation::kJoin)) add_all_of(event.object, origin.index);
    add_all_of(event.thread, origin.index);
  }
  // Whether a post or arrival is one that a wait or departure comes after.
  bool releases(const Origin& signal, const Origin& receipt) const {
    if (signal.event.object != receipt.event.object || signal.index >= receipt.index) return false;
    if (signal.event.operation == Operation::kPost) return receipt.event.operation == Operation::kWait;
    if (signal.event.operation != Operation::kArrive || receipt.event.operation != Operation::kLeave)
      return false;
    const auto phase = phases_.find(signal.index);
    const auto left = phases_.find(receipt.index);
    return phase != phases_.end() && left != phases_.end() && phase->second == left->second;
  }
  // What is outside of a thread before an event, and who started it.
  void add_all_of(ThreadId of, EventIndex before) {
    for (std::size_t number = 0; number < outside_.size(); ++number) {
      const Event& event = outside_[number].origin.event;
      if (event.operation == Operation::kFork && event.object == of) add_outside_step(number);
    }
    const auto numbers = outside_of_thread_.find(of);
    if (numbers == outside_of_thread_.end()) return;
    for (const std::size_t number : numbers->second)
      if (outside_[number].origin.index < before) add_outside_step(number);
  }
  void add_outside_step(std::size_t number) {
    Outside& outside = outside_[number];
    if (outside.is_done) return;
    outside.is_done = true;
    add_outside_before(outside.origin);
    show(outside);
  }
  void show(const Outside& outside) {
    schedule_.push_back(make_step(outside.origin.event, outside.origin.index, names_));
    schedule_.back().block_is_known = true;
  }

  void begin(std::size_t member) {
    if (!shape(member).is_block || begun_[member]) return;
    begun_[member] = true;
    add_boundary(member, begin_of(shape(member), group(member), latest(member)));
  }
  void end(std::size_t member) {
    if (!shape(member).is_block || ended_[member]) return;
    ended_[member] = true;
    Origin origin = begin_of(shape(member), group(member), latest(member));
    origin.event.operation = Operation::kEnd;
    origin.event.site = instance(member).end_site;
    origin.index = instance(member).last;
    add_boundary(member, origin);
  }
  void add_boundary(std::size_t member, const Origin& origin) {
    schedule_.push_back(make_step(origin.event, origin.index, names_));
    schedule_.back().block_is_known = true;
    schedule_.back().block = names_.name(Space::kBlock, origin.event.object);
    schedule_.back().transaction = member;
  }

  void add_step(std::size_t scheduled) {
    const ScheduledStep& at = witness_.schedule[scheduled];
    const bool is_invented = gives_back_what_stayed_held(at);
    if (is_invented && !is_taken_later(scheduled)) return;
    schedule_.push_back(
        report_step(shape(at.member), group(at.member), latest(at.member), at.step, locksets_, names_));
    schedule_.back().transaction = at.member;
    if (is_invented)
      schedule_.back().because =
          "the trace ends before this; it counts as given back here, for others to take";
  }
  bool gives_back_what_stayed_held(const ScheduledStep& at) const {
    const ShapeStep& step = shape(at.member).steps[at.step];
    if (!step.around || !is_release(step.kind)) return false;
    return stays_held(instance(at.member), step.object);
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

  const Witness& witness_;
  const std::vector<Step>& argument_;
  const Transactions& run_;
  const std::vector<Origin>& synchronizations_;
  const LocksetTable& locksets_;
  const Names& names_;
  std::vector<Outside> outside_;
  std::map<ThreadId, std::vector<std::size_t>> outside_of_thread_;  // numbers, in the order of the trace
  BarrierPhaseNumbers phases_;
  tsl::robin_map<EventIndex, std::size_t, MixHash> place_in_order_;  // of a feasible witness, from 1
  std::size_t next_outside_ = 0;
  std::vector<bool> begun_;  // by member
  std::vector<bool> ended_;
  std::vector<Step> schedule_;
};

}  // namespace

std::vector<Step> schedule_steps(const Witness& witness, const std::vector<Step>& argument,
                                 const Transactions& run, const std::vector<Origin>& synchronizations,
                                 const LocksetTable& locksets, const Names& names) {
  return Writer(witness, argument, run, synchronizations, locksets, names).write();
}

}  // namespace heddle::predictive
