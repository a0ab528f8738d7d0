#include "checkers/ndseq.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "checkers/sequential_spec/certain_order.h"
#include "checkers/sequential_spec/other_threads.h"
#include "checkers/sequential_spec/recorder.h"
#include "checkers/sequential_spec/relevance.h"
#include "checkers/sequential_spec/report.h"
#include "checkers/sequential_spec/task_order.h"

namespace heddle {

using sequential_spec::Before;
using sequential_spec::History;
using sequential_spec::Kind;
using sequential_spec::NodeId;
using sequential_spec::Recorder;
using sequential_spec::Relevance;
using sequential_spec::ReportContext;
using sequential_spec::TaskOrder;

namespace {

// More events than this are not kept (some 75 bytes each); the answer is undecided then.
constexpr std::size_t kMostNodes = 300'000'000;
constexpr EventIndex kMostEvents = 4'000'000'000;  // of all kinds; a node has 32 bits for its event's index

using Lines = std::set<std::vector<std::string>>;

class NdseqChecker : public Checker {
 public:
  explicit NdseqChecker(const CheckerContext& context)
      : context_(context), recorder_(std::in_place, context.names) {}

  // Of a running program nothing is kept before its first task, and so nothing at all of most programs.
  void process(const EventBatch& batch) override {
    if (too_long_) return;
    if (context_.is_live && !has_tasks_) {
      has_tasks_ = std::any_of(batch.events.begin(), batch.events.end(),
                               [](const Event& event) { return event.operation == Operation::kTaskBegin; });
      if (!has_tasks_) return;
    }
    recorder_->process(batch);
    too_long_ = recorder_->size() > kMostNodes || batch.first > kMostEvents;
    if (too_long_) recorder_.reset();
  }

  void finish() override {
    if (too_long_) return;
    const History history = recorder_->take();
    recorder_.reset();
    assumed_ = history.assumed;
    has_hand_overs_ = history.hand_overs > 0;
    has_data_flow_ = history.has_data_flow;
    if (context_.is_live && !has_data_flow_) return;
    run_.tasks = static_cast<uint64_t>(
        std::count_if(history.tasks.begin() + 1, history.tasks.end(),
                      [](const sequential_spec::Task& task) { return task.part == 0 && !task.is_meeting; }));
    run_.focus = static_cast<uint64_t>(std::count(history.is_focus.begin(), history.is_focus.end(), true));
    if (run_.tasks == 0) return;
    count_conflicts(history);
    const Relevance relevance(history);
    count_events(history, relevance);
    const TaskOrder order(history, [&](NodeId node) { return relevance.is_relevant(node); });
    const ReportContext report{context_.names, history, relevance, kNdseqRules.front(), kNdseqChecker.name};
    if (const auto race = sequential_spec::find_uncertain_order(history, relevance))
      uncertainty_ = sequential_spec::uncertainty(race->earlier, race->later, report);
    run_.is_certain = uncertainty_.empty();
    run_.is_found = order.is_serializable();
    if (run_.is_found) {
      if (const auto found = sequential_spec::find_interference(history, relevance))
        interference_ = sequential_spec::interference(found->beside, found->inside, report);
      return tell_order(order, report, run_);
    }
    for_each_distinct(order, history, [&](const std::vector<Before>& cycle) {
      ++run_.warnings;
      context_.findings.add(sequential_spec::report(cycle, report));
    });
  }

  Coverage coverage() const override {
    // Without it, a program tells only a thread's first accesses between two synchronizations.
    if (context_.is_live && !has_data_flow_)
      return {.note =
                  "the program ran no heddle::parallel_for or parallel_invoke, or was not built with "
                  "--heddle-dataflow",
              .is_applicable = false};
    if (too_long_)
      return {
          .undecided = true,
          .note = fmt::format("the trace has more than {} accesses, assignments and branches, or {} events, "
                              "which are not kept: check a part of it",
                              kMostNodes, kMostEvents)};
    if (run_.tasks == 0)
      return {.note = "the trace has no tasks: no parallel loop or parallel begin", .is_applicable = false};
    Coverage coverage;
    coverage.sequential_run = run_;
    std::vector<std::string> notes;
    if (run_.focus == 0) {
      coverage.undecided = true;
      notes.emplace_back(
          "nothing is named as the result (heddle::focus in programs, focus(x) in traces), so only branches "
          "count as the outcome");
    }
    if (!uncertainty_.empty()) {
      coverage.undecided = true;
      notes.push_back(uncertainty_);
    }
    if (!interference_.empty()) {
      coverage.undecided = true;
      notes.push_back(interference_);
    }
    if (!has_data_flow_)
      notes.emplace_back(
          "the trace does not tell how values depend on each other, so every read counts as a branch");
    if (!run_.counted_all)
      notes.emplace_back("there may be more warnings than were counted; --budget allows more");
    if (assumed_ > 0)
      notes.push_back(fmt::format(
          "functions not built with --heddle-dataflow were called, and taken to use all that their arguments "
          "reach, what they may know by name or have kept, and unseen_state, which they share ({} assumed)",
          counted(assumed_, "use")));
    if (has_hand_overs_)
      notes.emplace_back(
          "tasks used semaphores, and whether a sequential run would wait for ever there is not judged");
    coverage.note = fmt::format("{}", fmt::join(notes, "; "));
    return coverage;
  }

 private:
  template <class Use>
  void for_each_distinct(const TaskOrder& order, const History& history, Use use) {
    const TaskOrder::Cycles cycles = order.cycles(context_.options.budget);
    run_.counted_all &= cycles.is_complete;
    Lines known;
    for (const std::vector<Before>& cycle : cycles.list)
      if (known.insert(sequential_spec::lines_of(cycle, context_.names, history)).second) use(cycle);
  }

  // What plain conflict serializability of the tasks, to which every access matters, has to say.
  void count_conflicts(const History& history) {
    const TaskOrder order(history, [](NodeId) { return true; });
    for_each_distinct(order, history, [&](const std::vector<Before>&) { ++run_.conflict_warnings; });
  }

  // As S3 §6.4 counts them: accesses and branches.
  void count_events(const History& history, const Relevance& relevance) {
    for (NodeId node = 0; node < history.nodes.size(); ++node) {
      const Kind kind = history.nodes[node].kind;
      if (kind == Kind::kAssign || kind == Kind::kMeet || kind == Kind::kUndone) continue;
      const bool is_irrelevant = !relevance.is_relevant(node);
      ++run_.events;
      run_.irrelevant_events += is_irrelevant ? 1 : 0;
      if (kind != Kind::kMaybe) continue;
      ++run_.maybes;
      run_.irrelevant_maybes += is_irrelevant ? 1 : 0;
    }
  }

  CheckerContext context_;
  std::optional<Recorder> recorder_;  // until all is recorded
  bool too_long_ = false;
  bool has_tasks_ = false;  // of a running program, so far
  bool has_hand_overs_ = false;
  std::string uncertainty_;   // of the order of what matters; empty: it is certain
  std::string interference_;  // of threads that are in no task; empty: there is none that matters
  uint64_t assumed_ = 0;      // accesses, by functions that tell nothing
  bool has_data_flow_ = false;
  SequentialRun run_;
};

}  // namespace

std::unique_ptr<Checker> make_ndseq_checker(const CheckerContext& context) {
  return std::make_unique<NdseqChecker>(context);
}

}  // namespace heddle
