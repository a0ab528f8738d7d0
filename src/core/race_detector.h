// Which earlier accesses race with the present one: FastTrack's epochs (Flanagan & Freund, PLDI 2009),
// extended by C++20 atomics. `race` makes findings of them; the race filter in front of atomicity and
// determinism makes edges of them.
//
// Exact per event: an access is compared with enough earlier ones that it is found to race iff it races with
// some earlier one, and every earlier access is either compared or happens before one that is. For that, a
// variable that has raced keeps the latest access of each thread until a write orders them all.
// Cost: O(1) per access in the common cases (same epoch, ordered owner, shared reader), O(threads) for a
// write after shared reads and for raced or atomic variables.
//
// Owner, the user of the detector, has
//   Access make_access(const Event&, EventIndex, Epoch)   what to remember of an access
//   bool still_now(const Access&, ThreadId)               of an access in the thread's present epoch: whether
//   a
//                                                         further one would be remembered the same way
//   void on_race(const Access& earlier, const Access& later, const Event&)
#pragma once

#include <deque>
#include <vector>

#include "core/access_history.h"
#include "core/happens_before.h"

namespace heddle {

template <class Access, class Owner>
class RaceDetector {
 public:
  RaceDetector(HappensBefore& order, Owner& owner) : order_(order), owner_(owner) {}

  // Variables below `count` may be accessed from now on.
  void cover(std::size_t count) {
    if (variables_.size() < count) variables_.resize(std::max(count, variables_.size() * 2));
  }
  void prefetch(uint32_t variable) const { __builtin_prefetch(&variables_[variable], 1); }

  void on_read(const Event& event, EventIndex index);
  void on_write(const Event& event, EventIndex index);
  void on_atomic(const Event& event, EventIndex index);
  void begin_new_life(uint32_t variable);

  void forget_all() {
    variables_.clear();
    free_histories_.clear();
    histories_.clear();
  }

  // Every access that is remembered.
  template <class Visit>
  void for_each_access(Visit visit) {
    for (Variable& variable : variables_) {
      if (!variable.write.epoch.is_never()) visit(variable.write);
      if (!variable.read.epoch.is_never()) visit(variable.read);
      if (variable.history == nullptr) continue;
      for (AccessSet<Access>* set : {&variable.history->writes, &variable.history->reads,
                                     &variable.history->atomic_writes, &variable.history->atomic_reads})
        for (Access& access : set->entries()) visit(access);
    }
  }

 private:
  // Without a history, `write` and `read` are the last of each kind and `read` is unordered with nothing
  // later dropped; with one, both are "never" and the history holds everything. At most one cache line.
  static constexpr std::size_t kAlignment = sizeof(Access) > 16 ? 64 : alignof(void*);
  struct alignas(kAlignment) Variable {
    Access write;
    Access read;
    AccessHistory<Access>* history = nullptr;
  };

  bool is_now(const Access& access, Epoch epoch) const {
    return access.epoch == epoch && owner_.still_now(access, epoch.thread());
  }
  void read_with_history(Variable& variable, const ThreadClock& now, const Event& event, EventIndex index);
  void write_with_history(Variable& variable, const ThreadClock& now, const Event& event, EventIndex index);
  AccessHistory<Access>& give_history(Variable& variable);
  void take_history(Variable& variable);
  void compare(const AccessSet<Access>& earlier, const Access& later, const ThreadClock& now,
               const Event& event) {
    for (const Access& access : earlier.entries())
      if (!now.knows(access.epoch)) [[unlikely]]
        owner_.on_race(access, later, event);
  }

  HappensBefore& order_;
  Owner& owner_;
  std::vector<Variable> variables_;                     // by variable
  std::deque<AccessHistory<Access>> histories_;         // storage behind Variable::history
  std::vector<AccessHistory<Access>*> free_histories_;  // histories no variable has
};

template <class Access, class Owner>
inline void RaceDetector<Access, Owner>::on_read(const Event& event, EventIndex index) {
  Variable& variable = variables_[event.object];
  const ThreadClock& now = order_.clock(event.thread);
  const Epoch epoch = now.epoch();
  // [FT READ SAME EPOCH]; after its own write of the same epoch a read adds nothing either.
  if (is_now(variable.read, epoch) || is_now(variable.write, epoch)) return;
  if (variable.history == nullptr && now.knows(variable.write.epoch)) [[likely]] {
    const Access access = owner_.make_access(event, index, epoch);
    if (now.knows(variable.read.epoch)) {  // [FT READ EXCLUSIVE]; also the first read
      variable.read = access;
    } else {
      give_history(variable).reads.put(access);  // [FT READ SHARE]
    }
    return;
  }
  read_with_history(variable, now, event, index);  // [FT READ SHARED], races, atomics
}

template <class Access, class Owner>
inline void RaceDetector<Access, Owner>::on_write(const Event& event, EventIndex index) {
  Variable& variable = variables_[event.object];
  const ThreadClock& now = order_.clock(event.thread);
  const Epoch epoch = now.epoch();
  // [FT WRITE SAME EPOCH]: a foreign access since would have raced
  if (is_now(variable.write, epoch)) return;
  if (variable.history == nullptr && now.knows(variable.write.epoch) && now.knows(variable.read.epoch))
      [[likely]] {
    variable.write =
        owner_.make_access(event, index, epoch);  // [FT WRITE EXCLUSIVE]; the read before it is dominated
    variable.read = Access();
    return;
  }
  write_with_history(variable, now, event, index);  // [FT WRITE SHARED], races, atomics
}

// In these three the access is made anew once it has been compared: races may have changed what there is to
// remember of it.
template <class Access, class Owner>
void RaceDetector<Access, Owner>::read_with_history(Variable& variable, const ThreadClock& now,
                                                    const Event& event, EventIndex index) {
  AccessHistory<Access>& history = give_history(variable);
  const Access access = owner_.make_access(event, index, now.epoch());
  compare(history.writes, access, now, event);
  compare(history.atomic_writes, access, now, event);
  history.reads.put(owner_.make_access(event, index, now.epoch()));
}

template <class Access, class Owner>
void RaceDetector<Access, Owner>::write_with_history(Variable& variable, const ThreadClock& now,
                                                     const Event& event, EventIndex index) {
  AccessHistory<Access>& history = give_history(variable);
  const Access access = owner_.make_access(event, index, now.epoch());
  for (AccessSet<Access>* earlier :
       {&history.writes, &history.reads, &history.atomic_writes, &history.atomic_reads}) {
    compare(*earlier, access, now, event);
    earlier->drop_known(now);
  }
  order_.forget_releases(event.object);
  if (history.empty()) {
    take_history(variable);
    variable.write = owner_.make_access(event, index, now.epoch());
  } else {
    history.writes.put(owner_.make_access(event, index, now.epoch()));
  }
}

template <class Access, class Owner>
void RaceDetector<Access, Owner>::on_atomic(const Event& event, EventIndex index) {
  order_.before_atomic(event);
  const ThreadClock& now = order_.clock(event.thread);
  AccessHistory<Access>& history = give_history(variables_[event.object]);
  const bool writes =
      event.operation == Operation::kAtomicWrite || event.operation == Operation::kAtomicUpdate;
  const Access access = owner_.make_access(event, index, now.epoch());
  compare(history.writes, access, now, event);
  if (writes) compare(history.reads, access, now, event);
  (writes ? history.atomic_writes : history.atomic_reads).put(owner_.make_access(event, index, now.epoch()));
  order_.after_atomic(event);
}

template <class Access, class Owner>
void RaceDetector<Access, Owner>::begin_new_life(uint32_t variable) {
  if (variables_[variable].history != nullptr) take_history(variables_[variable]);
  variables_[variable].write = Access();
  variables_[variable].read = Access();
}

template <class Access, class Owner>
AccessHistory<Access>& RaceDetector<Access, Owner>::give_history(Variable& variable) {
  if (variable.history != nullptr) return *variable.history;
  if (free_histories_.empty()) free_histories_.push_back(&histories_.emplace_back());
  variable.history = free_histories_.back();
  free_histories_.pop_back();
  if (!variable.write.epoch.is_never()) variable.history->writes.put(variable.write);
  if (!variable.read.epoch.is_never()) variable.history->reads.put(variable.read);
  variable.write = Access();
  variable.read = Access();
  return *variable.history;
}

template <class Access, class Owner>
void RaceDetector<Access, Owner>::take_history(Variable& variable) {
  variable.history->clear();
  free_histories_.push_back(variable.history);
  variable.history = nullptr;
}

}  // namespace heddle
