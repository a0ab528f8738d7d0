#include "checkers/serializability_checker.h"

#include <tsl/robin_set.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "checkers/cycle_report.h"
#include "checkers/serializability.h"

namespace heddle {

namespace {

bool filters_races(RaceFilter filter, bool explains) {
  return filter == RaceFilter::kOn || (filter == RaceFilter::kAuto && !explains);
}

// A block as a place in the program: its name, or without one the site of its begin.
uint64_t place_in_program(const Block& block) {
  return block.name != kNoId ? uint64_t{block.name} << 1 | 1 : uint64_t{block.site} << 1;
}

// The graph engine, or the clock engine on its own.
template <class Story>
class SerializabilityChecker : public Checker, private Serializability<Story>::Listener {
 public:
  SerializabilityChecker(const CheckerContext& context, std::string_view name, bool conflict_freedom)
      : context_(context),
        name_(name),
        engine_(context.names, {filters_races(context.options.race_filter, Story::kTold), conflict_freedom},
                *this) {}

  void process(const EventBatch& batch) override { engine_.process(batch); }
  void finish() override {
    // What is open when the program stops is judged as it is.
    while (!pending_.empty()) on_close(pending_.front().transaction);
    while (!conflicts_.empty()) on_close(conflicts_.front().transaction);
  }

 private:
  // A violation that a later operation of the same transaction may show more plainly: where a lock order
  // gives it away, the accesses behind the lock are what people want to read.
  struct Pending {
    TransactionHandle transaction;
    Cycle<Story> cycle;
  };
  // Two operations of one transaction that only the scheduler orders.
  struct Conflict {
    TransactionHandle transaction;
    Op earlier;
    Op now;
    EventIndex certain_at = 0;
    uint64_t count = 1;  // of pairs on the same object
  };

  void on_cycle(const Cycle<Story>& cycle) override {
    for (Pending& pending : pending_) {
      if (pending.transaction != cycle.transaction || !same_blocks(pending.cycle, cycle)) continue;
      if (const Story& better = argument(cycle); better.better_than(argument(pending.cycle))) {
        argument(pending.cycle) = better;
      }
      return;
    }
    if (!is_news(cycle)) return;
    pending_.push_back({cycle.transaction, cycle});
    if constexpr (!Story::kTold) on_close(cycle.transaction);
  }

  void on_close(TransactionHandle transaction) override {
    for (std::size_t i = 0; i < pending_.size();) {
      if (pending_[i].transaction != transaction) {
        ++i;
        continue;
      }
      context_.findings.add(report_cycle(pending_[i].cycle, report_context()));
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!conflicts_.empty()) report_conflicts(transaction);
  }

  void on_conflict(TransactionHandle transaction, const Op& earlier, const Op& now) override {
    // One finding for each object: the first pair of operations stands for all.
    const auto known = std::find_if(conflicts_.begin(), conflicts_.end(), [&](const Conflict& conflict) {
      return conflict.transaction == transaction && conflict.now.event.object == now.event.object &&
             space_of(conflict.now) == space_of(now);
    });
    if (known != conflicts_.end()) {
      ++known->count;
      return;
    }
    conflicts_.push_back({transaction, earlier, now, now.index});
    if constexpr (!Story::kTold) report_conflicts(transaction);
  }

  // Conflicts on the variables behind a lock say more than those on the lock itself.
  void report_conflicts(TransactionHandle transaction) {
    std::vector<Conflict> mine;
    for (const Conflict& conflict : conflicts_)
      if (conflict.transaction == transaction) mine.push_back(conflict);
    std::erase_if(conflicts_, [&](const Conflict& conflict) { return conflict.transaction == transaction; });
    for (const Conflict& conflict : mine) {
      if (space_of(conflict.now) != Space::kLock) continue;
      for (Conflict& behind : mine)
        if (guarded_by(behind, conflict.now.event.object))
          behind.certain_at = std::min(behind.certain_at, conflict.now.index);
    }
    for (const Conflict& conflict : mine) {
      const bool shown_by_variables = space_of(conflict.now) == Space::kLock &&
                                      std::any_of(mine.begin(), mine.end(), [&](const Conflict& behind) {
                                        return guarded_by(behind, conflict.now.event.object);
                                      });
      if (shown_by_variables) continue;
      Finding finding = report_conflict(conflict.earlier, conflict.now, report_context());
      finding.certain_at = conflict.certain_at;
      finding.count = conflict.count;
      context_.findings.add(std::move(finding));
    }
  }

  static Space space_of(const Op& op) { return info(op.event.operation).space; }
  // Whether both operations are accesses that hold the lock.
  bool guarded_by(const Conflict& conflict, uint32_t lock) const {
    const auto holds = [&](const Op& op) {
      return op.around != nullptr && engine_.locksets().find(op.around->held, lock) != Hold::kNone;
    };
    return space_of(conflict.now) == Space::kVariable && holds(conflict.earlier) && holds(conflict.now);
  }

  static bool same_blocks(const Cycle<Story>& a, const Cycle<Story>& b) {
    return std::equal(a.refuted.begin(), a.refuted.end(), b.refuted.begin(), b.refuted.end(),
                      [](const Block& x, const Block& y) { return x.begin == y.begin; });
  }
  static Story& argument(Cycle<Story>& cycle) { return cycle.refuted.empty() ? cycle.story : cycle.blame; }
  static const Story& argument(const Cycle<Story>& cycle) {
    return cycle.refuted.empty() ? cycle.story : cycle.blame;
  }

  // Whether the cycle violates a block that no finding has named yet; from now on they are named.
  bool is_news(const Cycle<Story>& cycle) {
    bool news = false;
    for (const Block& block : cycle.refuted) news |= violated_.insert(place_in_program(block)).second;
    if (cycle.refuted.empty()) news = violated_.insert(place_in_program(cycle.root)).second;
    return news;
  }

  ReportContext report_context() const { return {context_.names, engine_.locksets(), name_}; }

  CheckerContext context_;
  std::string_view name_;
  std::vector<Pending> pending_;                // in order of detection
  tsl::robin_set<uint64_t, MixHash> violated_;  // blocks named in a finding
  std::vector<Conflict> conflicts_;             // of open transactions
  Serializability<Story> engine_;
};

// The clock engine decides whether there is anything to explain; the graph engine then explains it.
class Decider : public Checker, private Serializability<Untold>::Listener {
 public:
  Decider(const CheckerContext& context, std::string_view name, bool conflict_freedom)
      : name_(name),
        conflict_freedom_(conflict_freedom),
        engine_(context.names, {filters_races(context.options.race_filter, false), conflict_freedom}, *this) {
  }

  void process(const EventBatch& batch) override {
    if (!violated_) engine_.process(batch);
  }
  bool has_more_to_explain() const override { return violated_; }
  std::unique_ptr<Checker> explainer(const CheckerContext& again) const override {
    return std::make_unique<SerializabilityChecker<Told>>(again, name_, conflict_freedom_);
  }

 private:
  void on_cycle(const Cycle<Untold>&) override { violated_ = true; }
  void on_conflict(TransactionHandle, const Op&, const Op&) override { violated_ = true; }
  void on_close(TransactionHandle) override {}

  std::string_view name_;
  bool conflict_freedom_;
  bool violated_ = false;
  Serializability<Untold> engine_;
};

}  // namespace

std::unique_ptr<Checker> make_serializability_checker(const CheckerContext& context, std::string_view name,
                                                      bool conflict_freedom) {
  switch (context.options.engine) {
    case Engine::kAuto:
      if (context.can_be_read_again) return std::make_unique<Decider>(context, name, conflict_freedom);
      [[fallthrough]];
    case Engine::kGraph:
      return std::make_unique<SerializabilityChecker<Told>>(context, name, conflict_freedom);
    case Engine::kClock:
      return std::make_unique<SerializabilityChecker<Untold>>(context, name, conflict_freedom);
  }
  return nullptr;
}

}  // namespace heddle
