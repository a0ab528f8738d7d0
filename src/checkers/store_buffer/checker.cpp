#include "checkers/store_buffer/checker.h"

#include <fmt/format.h>

#include "base/text.h"
#include "checkers/store_buffer/analysis.h"
#include "checkers/store_buffer/fence_repair.h"
#include "checkers/store_buffer/history.h"
#include "checkers/store_buffer/report.h"

namespace heddle::store_buffer {

namespace {

// Stores of an execution that are still in their buffers when the trace ends.
uint64_t count_uncommitted(const History& history) {
  uint64_t count = 0;
  for (OpId op = 0; op < history.ops.size(); ++op)
    count += history.ops[op].stores && history.drain[op] == history.ops.size() &&
             (op >= history.committed.size() || history.committed[op] == kNever);
  return count;
}

class StoreBufferChecker : public Checker {
 public:
  StoreBufferChecker(const CheckerContext& context, std::string_view name, const Rule& rule,
                     Question question, std::size_t most_operations)
      : context_(context), name_(name), rule_(rule), question_(question), most_operations_(most_operations) {}

  // A running program tells only a thread's first accesses between two synchronizations, and keeping all it
  // tells would take memory for as long as it runs.
  void process(const EventBatch& batch) override {
    if (context_.is_live || too_long_) return;
    recorder_.process(batch);
    too_long_ = recorder_.size() > most_operations_;
    if (too_long_) recorder_ = Recorder();
  }

  void finish() override {
    const History history = recorder_.take();
    if (history.is_execution()) uncommitted_ = count_uncommitted(history);
    answer_ = find_cycles(history, question_, context_.options.budget);
    if (answer_.cycles.empty()) return;
    const Repair repair = repair_of(history);
    for (const Cycle& cycle : answer_.cycles)
      context_.findings.add(report(cycle, {context_.names, history, question_, rule_, name_, repair}));
  }

  Coverage coverage() const override {
    Coverage coverage;
    if (context_.is_live)
      return {true,
              fmt::format("needs all accesses: heddle record --mode full, then heddle check --checkers {}",
                          name_)};
    if (too_long_)
      return {true,
              fmt::format("the trace has more than {} operations, which are not kept: check a part of it",
                          most_operations_)};
    coverage.undecided = answer_.undecided > 0;
    if (coverage.undecided)
      coverage.note = fmt::format(
          "{} of operations, the largest of {}, {} not searched to the end within {}; --budget allows "
          "more",
          counted(answer_.undecided, "group"), counted(answer_.largest_undecided, "node"),
          answer_.undecided == 1 ? "was" : "were", counted(context_.options.budget, "step"));
    if (uncommitted_ > 0)
      coverage.note +=
          fmt::format("{}{} had not reached memory when the trace ended; when it does is not judged",
                      coverage.note.empty() ? "" : "; ", counted(uncommitted_, "write"));
    if (question_ == Question::kTransactions && answer_.is_fenced && answer_.without_delay > 0)
      coverage.note += fmt::format(
          "{}every transaction ends with a fence, so what atomicity reports was taken over without a search "
          "(Theorem 3)",
          coverage.note.empty() ? "" : "; ");
    return coverage;
  }

 private:
  // Whatever the commits were, fences have to hold in every execution.
  Repair repair_of(const History& history) const {
    const uint64_t budget = context_.options.budget;
    if (!history.is_execution()) return find_repair(history, question_, budget, answer_);
    History trace = history;
    trace.committed.clear();
    return find_repair(trace, question_, budget, find_cycles(trace, question_, budget));
  }

  CheckerContext context_;
  std::string_view name_;
  const Rule& rule_;
  Question question_;
  std::size_t most_operations_;
  bool too_long_ = false;     // there were more
  uint64_t uncommitted_ = 0;  // of an execution
  Recorder recorder_;
  Answer answer_;
};

}  // namespace

std::unique_ptr<Checker> make_checker(const CheckerContext& context, std::string_view name, const Rule& rule,
                                      Question question, std::size_t most_operations) {
  return std::make_unique<StoreBufferChecker>(context, name, rule, question, most_operations);
}

}  // namespace heddle::store_buffer
