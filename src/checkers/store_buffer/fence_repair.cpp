#include "checkers/store_buffer/fence_repair.h"

#include <tsl/robin_map.h>

#include <algorithm>

#include "base/hash.h"

namespace heddle::store_buffer {

namespace {

// Limits on what is tried, so that advice never takes much longer than the answer.
constexpr std::size_t kMostQuestions = 64;
constexpr std::size_t kMostOpsAsked = 20'000'000;  // of all questions together; one is always asked
constexpr std::size_t kMostPlaces = 24;
constexpr std::size_t kMostCycles = 256;
constexpr std::size_t kMostLooks = 1'000'000;  // at known cycles

using PlaceId = uint64_t;

struct KnownCycle {
  std::vector<Want> wants;
  std::vector<PlaceId>
      fences;  // it is there only with these: a fence puts its thread's transactions in order
};

bool contains(const std::vector<PlaceId>& places, PlaceId place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

class RepairSearch {
 public:
  RepairSearch(const History& history, Question question, uint64_t budget, const Answer& answer)
      : history_(history), question_(question), budget_(budget), answer_(answer), timing_(history) {
    for (OpId id = 0; id < history.ops.size(); ++id)
      if (history.ops[id].stores) {
        stores_of_[place_of(id)].push_back(id);
        stores_of_thread_[key_of(place_of(id), id)].push_back(id);
      }
  }

  Repair run() {
    for (std::size_t i = answer_.without_delay; i < answer_.cycles.size(); ++i) learn(answer_.cycles[i], {});
    if (cycles_.empty()) return {};
    // Each round tries all sets of the places known, the smallest first, until one is right or one brings in
    // a cycle that was not known.
    while (!stopped_) {
      learned_ = false;
      for (std::size_t size = 1; size <= kMostFences; ++size) {
        chosen_.clear();
        if (choose(0, size)) return found();
        if (learned_ || stopped_) break;
      }
      if (!learned_) break;
    }
    return {stopped_ ? Repair::Outcome::kGaveUp : Repair::Outcome::kNone, {}};
  }

 private:
  PlaceId place_of(OpId id) const {
    const SiteId site = history_.ops[id].event.site;
    return site == kNoId ? PlaceId{id} << 1 | 1 : PlaceId{site} << 1;
  }

  // Of the place in the thread of an operation.
  uint64_t key_of(PlaceId place, OpId id) const { return place * history_.threads + history_.ops[id].thread; }

  void learn(const Cycle& cycle, const std::vector<PlaceId>& fences) {
    if (fences.empty() && std::none_of(cycle.commits.begin(), cycle.commits.end(), is_delayed)) return;
    if (cycles_.size() >= kMostCycles) return;
    cycles_.push_back({cycle.wants, fences});
    learned_ = true;
    for (const Commit& commit : cycle.commits) {
      const PlaceId place = place_of(commit.store);
      if (!contains(places_, place) && places_.size() < kMostPlaces) places_.push_back(place);
    }
  }

  // Completes chosen_ with `more` of the places from `first` on. True if that repairs everything.
  bool choose(std::size_t first, std::size_t more) {
    if (more == 0) return breaks_all_cycles() && is_clean();
    for (std::size_t i = first; i + more <= places_.size() && !learned_ && !stopped_; ++i) {
      chosen_.push_back(places_[i]);
      if (choose(i + 1, more - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  // A cheap look before the question is asked: with the fences the known cycles must be impossible.
  bool breaks_all_cycles() {
    looks_ += cycles_.size();
    if (looks_ > kMostLooks) stopped_ = true;
    return !stopped_ && std::none_of(cycles_.begin(), cycles_.end(), [&](const KnownCycle& cycle) {
      if (!std::all_of(cycle.fences.begin(), cycle.fences.end(),
                       [&](PlaceId place) { return contains(chosen_, place); }))
        return false;
      std::vector<Want> fenced = cycle.wants;
      for (const Want& want : cycle.wants) {
        add_fence(want.store, fenced);
        if (want.kind == Want::Kind::kInOrder) add_fence(want.other, fenced);
      }
      return timing_.allows(fenced);
    });
  }

  // The commit comes before the first fence after the store, that is before what follows that fence.
  void add_fence(OpId store, std::vector<Want>& wants) {
    for (const PlaceId place : chosen_) {
      const std::vector<OpId>& stores = stores_of_thread_[key_of(place, store)];
      const auto at = std::lower_bound(stores.begin(), stores.end(), store);
      if (at != stores.end() && *at + 1 < history_.ops.size())
        wants.push_back({Want::Kind::kCommitBefore, store, *at + 1});
    }
  }

  bool is_clean() {
    asked_ops_ += history_.ops.size();
    ++questions_;
    if (questions_ > kMostQuestions || (questions_ > 1 && asked_ops_ > kMostOpsAsked)) {
      stopped_ = true;
      return false;
    }
    std::vector<OpId> after;
    for (const PlaceId place : chosen_)
      after.insert(after.end(), stores_of_[place].begin(), stores_of_[place].end());
    std::vector<OpId> origin;
    const History fenced = with_fences(history_, after, origin);
    const Answer answer = find_cycles(fenced, question_, budget_);
    if (answer.cycles.size() <= answer_.without_delay && answer.undecided <= answer_.undecided) return true;
    for (Cycle cycle : answer.cycles) {
      const std::vector<PlaceId> fences = fences_of(cycle, origin);
      translate(cycle, origin);
      learn(cycle, fences);
    }
    return false;
  }

  // The places of the new fences that the cycle leads through. Program order is there without them.
  std::vector<PlaceId> fences_of(const Cycle& cycle, const std::vector<OpId>& origin) const {
    std::vector<PlaceId> fences;
    if (question_ == Question::kOperations) return fences;
    for (const Link& link : cycle.links)
      for (const OpId op : {link.from, link.to})
        if (origin[op] == kNoOp) fences.push_back(place_of(origin[op - 1]));
    return fences;
  }

  // What the cycle says of commits, to the operations of the history without fences.
  static void translate(Cycle& cycle, const std::vector<OpId>& origin) {
    for (Want& want : cycle.wants) {
      want.store = origin[want.store];
      want.other = origin[want.other];
    }
    for (Commit& commit : cycle.commits) {
      commit.store = origin[commit.store];
      commit.after = origin[commit.after];
    }
  }

  Repair found() const {
    Repair repair{Repair::Outcome::kFound, {}};
    for (const PlaceId place : chosen_) repair.after.push_back(stores_of_.at(place).front());
    return repair;
  }

  const History& history_;
  Question question_;
  uint64_t budget_;
  const Answer& answer_;
  Timing timing_;
  tsl::robin_map<PlaceId, std::vector<OpId>> stores_of_;                   // by place, in order
  tsl::robin_map<uint64_t, std::vector<OpId>, MixHash> stores_of_thread_;  // by place and thread, in order
  std::vector<KnownCycle> cycles_;
  std::vector<PlaceId> places_;  // of their stores
  std::vector<PlaceId> chosen_;
  std::size_t questions_ = 0;
  std::size_t asked_ops_ = 0;
  std::size_t looks_ = 0;
  bool learned_ = false;
  bool stopped_ = false;
};

}  // namespace

Repair find_repair(const History& history, Question question, uint64_t budget, const Answer& answer) {
  return RepairSearch(history, question, budget, answer).run();
}

}  // namespace heddle::store_buffer
