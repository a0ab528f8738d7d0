#include "checkers/serializability_checker.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/hash.h"
#include "checkers/atomicity.h"
#include "checkers/cycle_report.h"
#include "checkers/serializability.h"
#include "checkers/serializability_rules.h"
#include "checkers/violation.h"
#include "core/recent_events.h"

namespace heddle {

namespace {

// How many violations are kept to be explained, and how many of them with the same blocks, site and
// operation: a later one may refute more of the blocks.
constexpr std::size_t kMostExplained = 256;
constexpr uint32_t kMostOfAPlace = 4;
// And of one transaction's outermost block, so that one with many places leaves room for others.
constexpr uint32_t kMostOfABlock = 32;

// What a report without a story says.
constexpr const char* kStoryFromGraph = "--engine graph tells the whole story";

bool filters_races(RaceFilter filter, bool explains) {
  return filter == RaceFilter::kOn || (filter == RaceFilter::kAuto && !explains);
}

// A block as a place in the program: its name, or without one the site of its begin.
uint64_t place_in_program(const Block& block) {
  return block.name != kNoId ? uint64_t{block.name} << 1 | 1 : uint64_t{block.site} << 1;
}

Space space_of(const Op& op) { return info(op.event.operation).space; }

// How often the threads of one transaction are in conflict over one object.
using ConflictCounts = tsl::robin_map<uint64_t, uint64_t, MixHash>;
uint64_t key_of(EventIndex root, const Op& op) {
  return mix(mix(root) ^ (uint64_t{op.event.object} << 8 | static_cast<uint64_t>(space_of(op))));
}

// The checkers find the same cycles.
void add_cycle(const CheckerContext& context, const Finding& finding) {
  context.findings.add(finding);
  if (context.of_atomicity == nullptr || finding.rule->id == kConflict.id) return;
  Finding same = finding;
  same.checker = kAtomicityChecker.name;
  context.of_atomicity->add(std::move(same));
}

// The story a report of the cycle tells.
template <class AnyCycle>
auto& argument(AnyCycle& cycle) {
  return cycle.refuted.empty() ? cycle.story : cycle.blame;
}

// The graph engine: over the whole trace, or over those parts that explain what a Decider found.
class Explainer : public Checker, private Serializability<Told>::Listener {
 public:
  Explainer(const CheckerContext& context, std::string_view name, bool conflict_freedom)
      : context_(context),
        name_(name),
        engine_(context.names, {filters_races(context.options.race_filter, true), conflict_freedom}, *this) {}

  // From now on explains these, and judges only the events that this takes; `pairs` is how many conflicts
  // there were in all, by key_of().
  void look_for(const std::vector<Violation>& violations, const ConflictCounts& pairs) {
    violations_ = violations;
    pairs_ = pairs;
    windows_ = windows_of(violations_);
  }
  // Goes on where the other one is, which has passed over all events so far.
  void follow(const Explainer& skimmed) {
    engine_.follow(skimmed.engine_);
    violated_ = skimmed.violated_;
  }
  // What the other one has reported need not be reported again.
  void take_over_reported(Explainer& other) { violated_ = std::move(other.violated_); }
  // Passes over events before those that are to be judged.
  void skim(const EventBatch& batch) { engine_.skim(batch); }

  void process(const EventBatch& batch) override {
    if (violations_.empty()) return engine_.process(batch);
    for (EventBatch rest = batch; !rest.empty();) {
      while (window_ < windows_.size() && windows_[window_].last < rest.first) {
        flush();
        engine_.restart();
        ++window_;
      }
      const bool judge = window_ < windows_.size() && windows_[window_].first <= rest.first;
      const EventIndex end = window_ == windows_.size() ? rest.first + rest.events.size()
                             : judge                    ? windows_[window_].last + 1
                                                        : windows_[window_].first;
      const std::size_t count = std::min<std::size_t>(rest.events.size(), end - rest.first);
      const EventBatch part{rest.first, rest.events.first(count), rest.ended_locks};
      if (judge) {
        engine_.process(part);
      } else {
        engine_.skim(part);
      }
      rest = {rest.first + count, rest.events.subspan(count)};
    }
  }

  Coverage coverage() const override {
    Coverage coverage;
    if (left_out_ > 0)
      coverage.note =
          fmt::format("There are {} more conflicts than the {} that were kept.", left_out_, kMostExplained);
    return coverage;
  }
  bool has_seen_enough() const override { return !violations_.empty() && window_ == windows_.size(); }

  void finish() override {
    flush();
    // What the clock engine saw and this one did not: the two part after a first cycle, whose last edge each
    // leaves out of its own graph.
    for (const Violation& violation : violations_)
      if (!violation.is_conflict && violated_.insert(place_in_program(violation.cycle.root)).second)
        add_cycle(context_, report_violation(violation, report_context(),
                                             "the graph engine, which leaves out "
                                             "the edge that closed an earlier cycle, does not see this one"));
  }

 private:
  // A violation that a later operation of the same transaction may show more plainly: where a lock order
  // gives it away, the accesses behind the lock are what people want to read.
  struct Pending {
    TransactionHandle transaction;
    Cycle<Told> cycle;
  };
  // Two operations of one transaction that only the scheduler orders.
  struct Conflict {
    TransactionHandle transaction;
    EventIndex root;  // where its outermost block begins
    Op earlier;
    Op now;
    EventIndex certain_at = 0;
    uint64_t count = 1;  // of pairs on the same object
  };

  void on_cycle(const Cycle<Told>& cycle) override {
    for (Pending& pending : pending_) {
      if (pending.transaction != cycle.transaction || !same_blocks(pending.cycle, cycle)) continue;
      if (argument(cycle).better_than(argument(pending.cycle))) argument(pending.cycle) = argument(cycle);
      return;
    }
    if (is_news(cycle)) pending_.push_back({cycle.transaction, cycle});
  }

  void on_conflict(TransactionHandle transaction, const Block& root, const Op& earlier,
                   const Op& now) override {
    // One finding for each object: the first pair of operations stands for all.
    const auto known = std::find_if(conflicts_.begin(), conflicts_.end(), [&](const Conflict& conflict) {
      return conflict.transaction == transaction && conflict.now.event.object == now.event.object &&
             space_of(conflict.now) == space_of(now);
    });
    if (known != conflicts_.end()) {
      ++known->count;
    } else if (conflicts_.size() >= kMostExplained) {
      ++left_out_;
    } else {
      conflicts_.push_back({transaction, root.begin, earlier, now, now.index});
    }
  }

  void on_close(TransactionHandle transaction, EventIndex) override {
    if (!pending_.empty() || !conflicts_.empty()) report(transaction);
  }

  void flush() {
    while (!pending_.empty()) report(pending_.front().transaction);
    while (!conflicts_.empty()) report(conflicts_.front().transaction);
  }

  void report(TransactionHandle transaction) {
    std::erase_if(pending_, [&](const Pending& pending) {
      if (pending.transaction != transaction) return false;
      add_cycle(context_, report_cycle(pending.cycle, report_context()));
      return true;
    });
    std::vector<Conflict> conflicts;
    std::erase_if(conflicts_, [&](const Conflict& conflict) {
      if (conflict.transaction != transaction) return false;
      conflicts.push_back(conflict);
      return true;
    });
    report(conflicts);
  }

  // Conflicts on the variables behind a lock say more than those on the lock itself.
  void report(std::vector<Conflict>& conflicts) {
    for (const Conflict& conflict : conflicts) {
      bool shown_by_variables = false;
      for (Conflict& other : conflicts) {
        if (space_of(conflict.now) != Space::kLock || !is_guarded(other, conflict.now.event.object)) continue;
        other.certain_at = std::min(other.certain_at, conflict.now.index);
        shown_by_variables = true;
      }
      if (!shown_by_variables) context_.findings.add(finding_of(conflict));
    }
  }

  Finding finding_of(const Conflict& conflict) const {
    Finding finding = report_conflict(conflict.earlier, conflict.now, report_context());
    finding.certain_at = conflict.certain_at;
    const auto known = pairs_.find(key_of(conflict.root, conflict.now));
    finding.count = known != pairs_.end() ? known->second : conflict.count;
    return finding;
  }

  // Whether both operations are accesses that hold the lock.
  bool is_guarded(const Conflict& conflict, uint32_t lock) const {
    const auto holds = [&](const Op& op) {
      return engine_.locksets().find(op.around->held, lock) != Hold::kNone;
    };
    return space_of(conflict.now) == Space::kVariable && holds(conflict.earlier) && holds(conflict.now);
  }

  static bool same_blocks(const Cycle<Told>& a, const Cycle<Told>& b) {
    return std::equal(a.refuted.begin(), a.refuted.end(), b.refuted.begin(), b.refuted.end(),
                      [](const Block& x, const Block& y) { return x.begin == y.begin; });
  }
  // Whether the cycle violates a block that no finding has named yet; from now on they are named.
  bool is_news(const Cycle<Told>& cycle) {
    bool news = false;
    for (const Block& block : cycle.refuted) news |= violated_.insert(place_in_program(block)).second;
    if (cycle.refuted.empty()) news = violated_.insert(place_in_program(cycle.root)).second;
    return news;
  }

  ReportContext report_context() const { return {context_.names, engine_.locksets(), name_}; }

  CheckerContext context_;
  std::string_view name_;
  std::vector<Violation> violations_;           // to be explained; none: whatever there is
  ConflictCounts pairs_;                        // none: those seen
  std::vector<Window> windows_;                 // of them
  std::size_t window_ = 0;                      // the present or next one
  std::vector<Pending> pending_;                // of open transactions, in order of detection
  uint64_t left_out_ = 0;                       // conflicts past kMostExplained
  std::vector<Conflict> conflicts_;             // of open transactions, in order of detection
  tsl::robin_set<uint64_t, MixHash> violated_;  // blocks named in a finding
  Serializability<Told> engine_;
};

// The clock engine. Keeps one violation of each kind, for the graph engine to explain or to be reported as it
// is.
class Decider : public Checker, private Serializability<Since>::Listener {
 public:
  Decider(const CheckerContext& context, std::string_view name, bool conflict_freedom)
      : context_(context),
        name_(name),
        conflict_freedom_(conflict_freedom),
        recent_(context.options.recent_events,
                context.is_live ? RecentEvents::Keeps::kPacked : RecentEvents::Keeps::kPlain),
        engine_(context.names, {filters_races(context.options.race_filter, false), conflict_freedom}, *this) {
    if (context.options.engine != Engine::kClock)
      follower_ = std::make_unique<Explainer>(context, name, conflict_freedom);
  }

  void process(const EventBatch& batch) override {
    engine_.process(batch);
    if (follower_ != nullptr) recent_.add(batch, [&](const EventBatch& oldest) { follower_->skim(oldest); });
    if (context_.is_live && open_ < violations_.size()) explain_closed();
  }
  void finish() override {
    if (context_.is_live) {
      explain(std::exchange(violations_, {}));
      return report_unexplained();
    }
    if (follower_ == nullptr) {
      for (const Violation& violation : violations_)
        add_cycle(context_,
                  report_violation(violation, {context_.names, engine_.locksets(), name_}, kStoryFromGraph));
    } else if (!violations_.empty() && windows_of(violations_).front().first >= recent_.first()) {
      follower_->look_for(violations_, pairs_);
      recent_.for_each_batch([&](const EventBatch& batch) { follower_->process(batch); });
      follower_->finish();
      is_explained_ = true;
    }
  }
  Coverage coverage() const override {
    Coverage coverage;
    if (left_out_ > 0)
      coverage.note = fmt::format(
          "There are violations at {} more places; of one block only the first {} "
          "are looked at, in all the first {}",
          left_out_, kMostOfABlock, kMostExplained);
    return coverage;
  }
  bool has_more_to_explain() const override {
    return follower_ != nullptr && !violations_.empty() && !is_explained_;
  }
  std::unique_ptr<Checker> explainer(const CheckerContext& again) const override {
    auto explainer = std::make_unique<Explainer>(again, name_, conflict_freedom_);
    explainer->look_for(violations_, pairs_);
    return explainer;
  }

 private:
  // Violations of a block for which the recent events did not reach back far enough.
  struct Unexplained {
    Violation first;
    uint32_t times;
  };
  static constexpr uint32_t kMostTries = 256;  // to find one for which they do

  void on_cycle(const Cycle<Since>& cycle) override { add({cycle, false, {}, kNever}); }
  void on_conflict(TransactionHandle transaction, const Block& root, const Op& earlier,
                   const Op& now) override {
    Cycle<Since> cycle;
    cycle.now = now;
    cycle.transaction = transaction;
    cycle.root = root;
    ++pairs_[key_of(root.begin, now)];
    add({cycle, true, earlier, kNever});
  }
  void on_close(TransactionHandle transaction, EventIndex index) override {
    if (open_ == 0) return;
    for (Violation& violation : violations_) {
      if (violation.last != kNever || violation.cycle.transaction != transaction) continue;
      violation.last = index;
      --open_;
    }
  }

  // Those with the same one are taken for the same violation.
  static uint64_t place_of(const Violation& violation) {
    const Event& event = violation.cycle.now.event;
    uint64_t place = mix(uint64_t{event.site} << 8 | static_cast<uint64_t>(event.operation));
    for (const Block& block : violation.cycle.around) place = mix(place ^ place_in_program(block));
    if (violation.is_conflict)
      place = mix(mix(place ^ place_in_program(violation.cycle.root)) ^ event.object);
    return place;
  }

  void add(const Violation& violation) {
    const uint32_t before = seen_[place_of(violation)]++;
    if (before >= kMostOfAPlace) return;
    uint32_t& of_block = kept_of_block_[place_in_program(violation.cycle.root)];
    if (kept_ >= kMostExplained || of_block >= kMostOfABlock) {
      if (before == 0) ++left_out_;
      return;
    }
    violations_.push_back(violation);
    ++kept_;
    ++of_block;
    ++open_;
  }

  // Those whose transactions are over.
  void explain_closed() {
    std::vector<Violation> closed;
    std::erase_if(violations_, [&](const Violation& violation) {
      if (violation.last == kNever) return false;
      closed.push_back(violation);
      return true;
    });
    explain(closed);
  }
  // From the recent events, as far as they reach back. A block that was interrupted for long may be
  // interrupted again, and then for less long: only if it is not, there is no story to tell.
  void explain(std::vector<Violation> violations) {
    std::erase_if(violations, [&](const Violation& violation) {
      if (follower_ != nullptr && windows_of({violation}).front().first >= recent_.first()) return false;
      const uint64_t block = place_in_program(violation.cycle.root);
      if (explained_.contains(block)) return true;
      Unexplained& unexplained = unexplained_.try_emplace(block, Unexplained{violation, 0}).first->second;
      if (follower_ != nullptr && unexplained.times++ < kMostTries) {
        --seen_[place_of(violation)];
        --kept_of_block_[block];
        --kept_;
      }
      return true;
    });
    if (violations.empty()) return;
    Explainer explainer(context_, name_, conflict_freedom_);
    explainer.follow(*follower_);
    explainer.look_for(violations, pairs_);
    recent_.for_each_batch([&](const EventBatch& batch) { explainer.process(batch); });
    explainer.finish();
    follower_->take_over_reported(explainer);
    for (const Violation& violation : violations) {
      explained_.insert(place_in_program(violation.cycle.root));
      unexplained_.erase(place_in_program(violation.cycle.root));
    }
  }
  void report_unexplained() {
    for (const auto& [block, unexplained] : unexplained_)
      add_cycle(context_,
                report_violation(unexplained.first, {context_.names, engine_.locksets(), name_},
                                 follower_ == nullptr ? kStoryFromGraph
                                                      : "it began too long ago to tell the whole story; "
                                                        "heddle record keeps the whole run"));
  }

  static constexpr EventIndex kNever = std::numeric_limits<EventIndex>::max();

  CheckerContext context_;
  std::string_view name_;
  bool conflict_freedom_;
  std::vector<Violation> violations_;  // in order of detection; live: those not explained yet
  std::size_t kept_ = 0;               // of them, explained ones included
  ConflictCounts pairs_;
  std::size_t open_ = 0;                                       // of them: in transactions that are still open
  tsl::robin_map<uint64_t, uint32_t, MixHash> seen_;           // place in the program → violations there
  tsl::robin_map<uint64_t, uint32_t, MixHash> kept_of_block_;  // outermost block → violations kept
  tsl::robin_set<uint64_t, MixHash> explained_;                // live: outermost blocks
  std::map<uint64_t, Unexplained> unexplained_;                // live: by outermost block
  uint64_t left_out_ = 0;                                      // places past kMostExplained or kMostOfABlock
  RecentEvents recent_;
  std::unique_ptr<Explainer> follower_;  // has skimmed all before recent_; null: nothing is to be explained
  bool is_explained_ = false;
  Serializability<Since> engine_;
};

}  // namespace

std::unique_ptr<Checker> make_serializability_checker(const CheckerContext& context, std::string_view name,
                                                      bool conflict_freedom) {
  switch (context.options.engine) {
    case Engine::kAuto:
      if (!context.can_be_read_again && !context.is_live)
        return std::make_unique<Explainer>(context, name, conflict_freedom);
      [[fallthrough]];
    case Engine::kClock: return std::make_unique<Decider>(context, name, conflict_freedom);
    case Engine::kGraph: return std::make_unique<Explainer>(context, name, conflict_freedom);
  }
  return nullptr;
}

}  // namespace heddle
