#include "checkers/reduction.h"

#include <fmt/format.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "checkers/predictive/collector.h"
#include "checkers/predictive/movers.h"
#include "checkers/predictive/run_note.h"
#include "checkers/predictive/words.h"

namespace heddle {

namespace {

using namespace predictive;

std::string_view mover_name(Mover mover) {
  switch (mover) {
    case Mover::kBoth: return "both-mover";
    case Mover::kRight: return "right-mover";
    case Mover::kLeft: return "left-mover";
    case Mover::kNone: return "non-mover";
  }
  return {};
}

// "R B L [N] L": the form of a transaction, the offending step in brackets. Long ones lose their middle.
std::string mover_string(const Shape& shape, ThreadId thread, const Movers& movers, std::size_t offends) {
  constexpr std::size_t kAround = 24;  // steps shown before the offending one
  constexpr std::size_t kAfter = 8;
  std::vector<std::string> letters;
  std::size_t at = 0;
  for (std::size_t i = 0; i < shape.steps.size(); ++i) {
    if (shape.steps[i].around) continue;
    const char mover = letter(movers.of(shape.steps[i], thread));
    if (i == offends) at = letters.size();
    letters.push_back(i == offends ? fmt::format("[{}]", mover) : std::string(1, mover));
  }
  const std::size_t from = at > kAround ? at - kAround : 0;
  const std::size_t to = std::min(letters.size(), at + kAfter + 1);
  return fmt::format(
      "{}{}{}", from > 0 ? "… " : "",
      fmt::join(letters.begin() + static_cast<long>(from), letters.begin() + static_cast<long>(to), " "),
      to < letters.size() ? " …" : "");
}

class Reduction : public Checker {
 public:
  explicit Reduction(const CheckerContext& context) : context_(context) {}

  void process(const EventBatch& batch) override { collector_.process(batch); }

  void finish() override {
    run_ = collector_.finish();
    const Movers movers(run_, collector_.locksets(), context_.options.race_freedom);
    tsl::robin_set<uint64_t, MixHash> seen;  // shape and thread
    for (const Group& group : run_.groups) {
      const Shape& shape = run_.shapes[group.shape];
      if (!shape.is_block || !seen.insert(uint64_t{group.shape} << 32 | group.thread).second) continue;
      if (const std::optional<Break> found = movers.find_break(shape, group.thread))
        context_.findings.add(report(group, *found, movers));
    }
  }

  Coverage coverage() const override { return {false, run_note(run_)}; }

 private:
  std::string why(const ShapeStep& step, ThreadId thread, const Movers& movers) const {
    switch (movers.of(step, thread)) {
      case Mover::kRight:
        return step.kind == StepKind::kReceive ? "it waits for other threads, who may do something first"
                                               : "others may take the lock first";
      case Mover::kLeft:
        return step.kind == StepKind::kSignal ? "from here on others may go on"
                                              : "from here on others may take the lock";
      case Mover::kNone: return "others may access the variable at the same time";
      case Mover::kBoth: break;
    }
    return {};
  }

  Finding report(const Group& group, const Break& found, const Movers& movers) const {
    const Names& names = context_.names;
    const Shape& shape = run_.shapes[group.shape];
    const std::string name = transaction_text(shape, group, names);
    const auto mover = [&](std::size_t step) { return movers.of(shape.steps[step], group.thread); };
    Finding finding;
    finding.rule = &kNotReducible;
    finding.checker = kReductionChecker.name;
    finding.strength = Strength::kPotential;
    finding.message = fmt::format("{} has a {} after a {}", name, mover_name(mover(found.offends)),
                                  mover_name(mover(found.committed)));
    finding.blocks.push_back(stable_name(shape, group, names));
    for (const std::size_t i : {found.committed, found.offends}) {
      finding.steps.push_back(report_step(shape, group, false, i, collector_.locksets(), names));
      finding.steps.back().because =
          fmt::format("a {}: {}", mover_name(mover(i)), why(shape.steps[i], group.thread, movers));
    }
    for (const std::size_t i : {found.committed, found.offends})
      add_rival(shape.steps[i], group.thread, movers, finding);
    finding.certain_at = group.earliest.last;
    finding.count = group.count;
    finding.conclusion = fmt::format(
        "As movers {} is {}: a {} after a {}, at {}, so what other threads do may come between. Whether that "
        "can "
        "do harm, --checkers blocks decides.",
        name, mover_string(shape, group.thread, movers, found.offends), mover_name(mover(found.offends)),
        mover_name(mover(found.committed)), place_text(origin_of(shape, group, false, found.offends), names));
    finding.advice = advice(shape, group, found, name);
    return finding;
  }

  void add_rival(const ShapeStep& step, ThreadId thread, const Movers& movers, Finding& finding) const {
    const std::optional<Movers::Place> rival = movers.rival(step, thread);
    if (!rival) return;
    const Group& group = run_.groups[rival->group];
    Step with = report_step(run_.shapes[group.shape], group, false, rival->step, collector_.locksets(),
                            context_.names);
    const bool known = std::any_of(finding.steps.begin(), finding.steps.end(), [&](const Step& other) {
      return other.event == with.event && other.thread == with.thread;
    });
    if (known) return;
    with.because = "may come right before or after it";
    finding.steps.push_back(std::move(with));
  }

  std::string advice(const Shape& shape, const Group& group, const Break& found,
                     const std::string& name) const {
    const ShapeStep& committed = shape.steps[found.committed];
    const ShapeStep& offends = shape.steps[found.offends];
    const std::string from = place_text(origin_of(shape, group, false, found.committed), context_.names);
    const std::string to = place_text(origin_of(shape, group, false, found.offends), context_.names);
    if (committed.kind == StepKind::kSignal || offends.kind == StepKind::kReceive)
      return fmt::format(
          "{} starts, wakes or waits for other threads in its middle; do that before or after it, or do not "
          "expect it to be atomic",
          name);
    if (is_release(committed.kind))
      return fmt::format("keep {} {}", context_.names.lock(committed.object), span_text(from, to, name));
    return fmt::format("hold one lock {}, here and at the other accesses", span_text(from, to, name));
  }

  CheckerContext context_;
  Collector collector_{false};
  Transactions run_;
};

}  // namespace

std::unique_ptr<Checker> make_reduction_checker(const CheckerContext& context) {
  return std::make_unique<Reduction>(context);
}

}  // namespace heddle
