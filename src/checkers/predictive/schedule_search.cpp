#include "checkers/predictive/schedule_search.h"

#include <algorithm>
#include <set>

namespace heddle::predictive {

namespace {

class Search {
 public:
  Search(const std::vector<Lane>& lanes, const std::vector<OrderConstraint>& constraints,
         const LocksetTable& locksets, uint64_t& steps_left)
      : lanes_(lanes), locksets_(locksets), steps_left_(steps_left), done_(lanes.size(), 0) {
    waits_for_.resize(lanes.size());
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) waits_for_[lane].resize(lanes[lane].size());
    for (const OrderConstraint& constraint : constraints)
      waits_for_[constraint.after.lane][constraint.after.step].push_back(constraint.before);
  }

  bool run() {
    if (steps_left_ == 0) {
      exhausted_ = true;
      return false;
    }
    --steps_left_;
    const std::size_t start = schedule_.size();
    const std::vector<uint32_t> before = done_;
    do_what_only_helps();
    const bool complete = is_complete();
    if (complete || (seen_.insert(done_).second && try_acquires())) return true;
    schedule_.resize(start);
    done_ = before;
    return false;
  }

  bool exhausted() const { return exhausted_; }
  std::vector<ScheduledStep>& schedule() { return schedule_; }

 private:
  bool is_complete() const {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if (done_[lane] < lanes_[lane].size()) return false;
    return true;
  }
  LocksetId held(std::size_t lane) const {
    return done_[lane] == 0 ? kEmptyLockset : lanes_[lane][done_[lane] - 1].held;
  }
  bool can_go(std::size_t lane) const {
    const std::vector<LanePlace>& waits = waits_for_[lane][done_[lane]];
    return std::all_of(waits.begin(), waits.end(),
                       [&](const LanePlace& place) { return done_[place.lane] > place.step; });
  }
  void go(std::size_t lane) { schedule_.push_back(lanes_[lane][done_[lane]++].step); }

  void do_what_only_helps() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        while (done_[lane] < lanes_[lane].size() && !lanes_[lane][done_[lane]].acquires && can_go(lane)) {
          go(lane);
          moved = true;
        }
      }
    }
  }

  bool try_acquires() {
    for (std::size_t lane = 0; lane < lanes_.size() && !exhausted_; ++lane) {
      if (done_[lane] == lanes_[lane].size() || !lanes_[lane][done_[lane]].acquires || !can_go(lane))
        continue;
      const LocksetId wanted = lanes_[lane][done_[lane]].held;
      bool is_free = true;
      for (std::size_t other = 0; other < lanes_.size(); ++other)
        if (other != lane && !locksets_.compatible(wanted, held(other))) is_free = false;
      if (!is_free) continue;
      const std::size_t start = schedule_.size();
      go(lane);
      if (run()) return true;
      schedule_.resize(start);
      --done_[lane];
    }
    return false;
  }

  const std::vector<Lane>& lanes_;
  const LocksetTable& locksets_;
  uint64_t& steps_left_;
  std::vector<std::vector<std::vector<LanePlace>>> waits_for_;  // by lane and step
  std::vector<uint32_t> done_;                                  // by lane
  std::set<std::vector<uint32_t>> seen_;                        // states whose acquires were tried
  std::vector<ScheduledStep> schedule_;
  bool exhausted_ = false;
};

}  // namespace

SearchAnswer find_schedule(const std::vector<Lane>& lanes, const std::vector<OrderConstraint>& constraints,
                           const LocksetTable& locksets, uint64_t& steps_left) {
  Search search(lanes, constraints, locksets, steps_left);
  SearchAnswer answer;
  if (search.run()) answer.schedule = std::move(search.schedule());
  answer.exhausted = search.exhausted();
  return answer;
}

}  // namespace heddle::predictive
