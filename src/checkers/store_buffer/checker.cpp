#include "checkers/store_buffer/checker.h"

#include <fmt/format.h>

#include "base/text.h"
#include "checkers/store_buffer/analysis.h"
#include "checkers/store_buffer/history.h"

namespace heddle::store_buffer {

namespace {

class StoreBufferChecker : public Checker {
 public:
  StoreBufferChecker(const CheckerContext& context, std::string_view name, const Rule& rule,
                     Question question)
      : context_(context), name_(name), rule_(rule), question_(question) {}

  void process(const EventBatch& batch) override { recorder_.process(batch); }
  void finish() override {
    const History history = recorder_.take();
    answer_ = find_cycles(history, question_, context_.options.budget);
    for (const Cycle& cycle : answer_.cycles) {
      Finding finding;
      finding.rule = &rule_;
      finding.checker = name_;
      finding.strength = history.is_execution() ? Strength::kObserved : Strength::kPredicted;
      for (const Link& link : cycle.links)
        for (const OpId id : {link.from, link.to}) {
          const Op& op = history.ops[id];
          Event event;
          event.operation = op.operation;
          event.order = op.order;
          event.thread = op.thread;
          event.object = op.object;
          event.site = op.site;
          finding.steps.push_back(make_step(event, op.event, context_.names));
        }
      context_.findings.add(std::move(finding));
    }
  }
  Coverage coverage() const override {
    Coverage coverage;
    coverage.undecided = answer_.undecided > 0;
    return coverage;
  }

 private:
  CheckerContext context_;
  std::string_view name_;
  const Rule& rule_;
  Question question_;
  Recorder recorder_;
  Answer answer_;
};

}  // namespace

std::unique_ptr<Checker> make_checker(const CheckerContext& context, std::string_view name, const Rule& rule,
                                      Question question) {
  return std::make_unique<StoreBufferChecker>(context, name, rule, question);
}

}  // namespace heddle::store_buffer
