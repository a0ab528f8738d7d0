#include "checkers/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "checkers/predictive/atomicity_search.h"
#include "checkers/predictive/blocks_report.h"
#include "checkers/predictive/collector.h"
#include "checkers/predictive/run_note.h"
#include "checkers/predictive/witness_schedule.h"

namespace heddle {

namespace {

using namespace predictive;

class BlocksChecker : public Checker {
 public:
  explicit BlocksChecker(const CheckerContext& context)
      : context_(context), deadlock_(make_deadlock_checker(context)) {}

  void process(const EventBatch& batch) override {
    deadlock_->process(batch);
    collector_.process(batch);
  }

  void finish() override {
    deadlock_->finish();
    may_deadlock_ = !context_.findings.list().empty();
    Transactions whole = collector_.finish();
    note_ = run_note(whole);
    const Transactions run = that_matter(std::move(whole));
    result_ = search_violations(run, collector_.locksets(), context_.options.budget, context_.on_search);
    const std::vector<Origin> synchronizations =
        result_.witnesses.empty() ? std::vector<Origin>() : list_synchronizations(run.logs);
    // Whichever of its blocks a cycle was found from, it is one finding when the same blocks are to blame.
    std::set<std::pair<std::vector<std::string>, std::vector<uint32_t>>> told;
    for (const Witness& witness : result_.witnesses) {
      Finding finding = report_witness(witness, run, collector_.locksets(), context_.names);
      std::vector<uint32_t> members;
      members.reserve(witness.members.size());
      for (const CycleMember& member : witness.members) members.push_back(member.group);
      std::sort(members.begin(), members.end());
      if (!told.emplace(finding.blocks, std::move(members)).second) continue;
      finding.rule = &kPredictedViolation;
      finding.checker = kBlocksChecker.name;
      const std::vector<Finding>& kept = context_.findings.list();
      const std::size_t known = kept.size();
      context_.findings.add(std::move(finding));
      if (kept.size() == known) continue;
      Finding& added = context_.findings.list().back();
      added.schedule =
          schedule_steps(witness, added.steps, run, synchronizations, collector_.locksets(), context_.names);
    }
    is_cut_ = !result_.witnesses.empty();
    result_.witnesses.clear();
  }

  Coverage coverage() const override {
    Coverage coverage = deadlock_->coverage();
    const auto add = [&](const std::string& text) {
      if (text.empty()) return;
      if (!coverage.note.empty()) coverage.note += "; ";
      coverage.note += text;
    };
    if (may_deadlock_ && !is_cut_ && result_.exhausted == 0 && result_.too_large == 0)
      add("every schedule that runs to its end is fine; one that deadlocks is not atomic");
    if (result_.exhausted > 0) {
      coverage.undecided = true;
      add(fmt::format("the search gave up on {} before all orders were tried; more with --budget",
                      result_.exhausted == 1 ? "one kind of block"
                                             : fmt::format("{} kinds of blocks", result_.exhausted)));
    }
    if (result_.too_large > 0) {
      coverage.undecided = true;
      add(fmt::format("{} so many critical sections that it was not compared with another as long",
                      result_.too_large == 1
                          ? "one kind of block has"
                          : fmt::format("each of {} kinds of blocks has", result_.too_large)));
    }
    add(note_);
    return coverage;
  }

 private:
  CheckerContext context_;
  std::unique_ptr<Checker> deadlock_;
  Collector collector_{true};
  SearchResult result_;
  bool may_deadlock_ = false;  // something was found by the deadlock checker
  bool is_cut_ = false;        // a violation was found
  std::string note_;
};

}  // namespace

std::unique_ptr<Checker> make_blocks_checker(const CheckerContext& context) {
  return std::make_unique<BlocksChecker>(context);
}

}  // namespace heddle
