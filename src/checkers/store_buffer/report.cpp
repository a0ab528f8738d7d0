#include "checkers/store_buffer/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checkers/cycle_report.h"
#include "core/checker.h"

namespace heddle::store_buffer {

namespace {

constexpr const char* kFence = "std::atomic_thread_fence(std::memory_order_seq_cst)";

class Writer {
 public:
  Writer(const Cycle& cycle, const ReportContext& context)
      : cycle_(cycle), context_(context), history_(context.history), links_(links_to_show()) {}

  Finding write() const {
    Finding finding;
    finding.rule = &context_.rule;
    finding.checker = context_.checker;
    finding.strength = history_.is_execution() ? Strength::kObserved : Strength::kPredicted;
    finding.blocks = refuted_blocks();
    finding.message = message(finding.blocks);
    add_steps(finding);
    for (const Commit& commit : cycle_.commits)
      if (is_delayed(commit)) finding.delays.push_back({step(commit.store), step(commit.after)});
    finding.conclusion = conclusion();
    finding.advice = advice();
    if (!finding.delays.empty())
      for (const OpId store : context_.repair.after) finding.fences.push_back(step(store));
    for (const Link& link : links_)
      finding.certain_at = std::max({finding.certain_at, op(link.from).index, op(link.to).index});
    return finding;
  }

 private:
  const Op& op(OpId id) const { return history_.ops[id]; }
  bool is_same_thread(const Link& link) const { return op(link.from).thread == op(link.to).thread; }
  uint32_t node(OpId id) const { return node_of(history_, context_.question, id); }

  // Begins with the link whose first operation is the earliest. Program order needs no operations in between.
  std::vector<Link> links_to_show() const {
    std::vector<Link> links = cycle_.links;
    const auto is_earlier = [&](const Link& a, const Link& b) { return a.from < b.from; };
    std::rotate(links.begin(), std::min_element(links.begin(), links.end(), is_earlier), links.end());
    if (context_.question == Question::kTransactions) {
      pass_straight_through(links);
      return links;
    }
    // A cycle may begin in the midst of program order.
    const auto crosses =
        std::find_if(links.begin(), links.end(), [&](const Link& link) { return !is_same_thread(link); });
    std::rotate(links.begin(), crosses + 1, links.end());
    std::vector<Link> shown;
    for (const Link& link : links) {
      if (!shown.empty() && is_same_thread(link) && is_same_thread(shown.back())) {
        shown.back().to = link.to;
      } else {
        shown.push_back(link);
      }
    }
    std::rotate(shown.begin(), std::min_element(shown.begin(), shown.end(), is_earlier), shown.end());
    return shown;
  }

  // Where a transaction can be left by the operation it was entered by, or entered by the one it is left by,
  // the cycle does not need it to be more than that operation.
  void pass_straight_through(std::vector<Link>& links) const {
    for (std::size_t i = 0; i < links.size(); ++i) {
      Link& link = links[i];
      const OpId entry = links[(i + links.size() - 1) % links.size()].to;
      const OpId exit = links[(i + 1) % links.size()].from;
      if (!is_same_thread(link)) continue;
      if (is_in_order(entry, exit)) {
        link = {entry, exit};
      } else if (is_in_order(entry, link.to)) {
        link.from = entry;
      } else if (is_in_order(link.from, exit)) {
        link.to = exit;
      }
    }
  }
  bool is_in_order(OpId earlier, OpId later) const {
    return earlier < later && op(earlier).thread == op(later).thread &&
           in_thread_conflict(history_, earlier, later);
  }

  Step step(OpId id) const {
    Step result = make_step(op(id).event, op(id).index, context_.names);
    result.transaction = node(id);
    return result;
  }

  void add_steps(Finding& finding) const {
    OpId last = kNoOp;
    for (const Link& link : links_) {
      if (last != link.from) {
        finding.steps.push_back(step(link.from));
        if (last != kNoOp) finding.steps.back().because = "in the same block";
      }
      finding.steps.push_back(step(link.to));
      finding.steps.back().because = reason(link);
      last = link.to;
    }
    // The last operation is in the node of the first, and is it itself where that is a single operation.
    if (last == links_.front().from && finding.steps.size() > 1) {
      finding.steps.front().because = finding.steps.back().because;
      finding.steps.pop_back();
    }
  }

  std::string thread(OpId id) const { return std::string(context_.names.thread(op(id).thread)); }
  std::string phrase(OpId id) const { return step(id).phrase; }

  // Why the link holds, and what follows from it.
  std::string reason(const Link& link) const {
    std::string why = order(link);
    if (context_.question == Question::kOperations || node(link.from) == node(link.to)) return why;
    return fmt::format("{}, so {} comes before {}", why, transaction(link.from, link.to),
                       transaction(link.to, link.from));
  }

  std::string order(const Link& link) const {
    const OpId from = link.from;
    const OpId to = link.to;
    if (is_same_thread(link)) return "later in the same thread";
    if (op(from).location == kNoId || op(from).location != op(to).location)
      return fmt::format("after {} {}", thread(from), phrase(from));
    if (op(to).stores && to < from)
      return fmt::format("still in {}'s store buffer when {}", thread(to),
                         op(from).stores ? fmt::format("{}'s write reached memory", thread(from))
                                         : fmt::format("{} {}", thread(from), phrase(from)));
    if (op(from).stores) return fmt::format("after {}'s write had reached memory", thread(from));
    return fmt::format("after {} {}", thread(from), phrase(from));
  }

  // In words that tell it from the other one's.
  std::string transaction(OpId id, OpId other) const {
    const Block* block = history_.block_of(id);
    if (block == nullptr) return fmt::format("this operation of {}", thread(id));
    const Block* others = history_.block_of(other);
    std::string text = block_text(*block, context_.names);
    if (others == nullptr || block_text(*others, context_.names) != text) return text;
    return fmt::format("{}'s {}", context_.names.thread(block->opener), text);
  }

  // Those that the cycle needs to be one: it leaves them by an operation that is not in order after the one
  // it enters them by (S2, Prop. 3 (i)). There is one at least.
  std::vector<std::string> refuted_blocks() const {
    std::vector<std::string> names;
    if (context_.question == Question::kOperations) return names;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const OpId entry = links_[i].to;
      const OpId exit = links_[(i + 1) % links_.size()].from;
      const Block* block = history_.block_of(entry);
      if (block == nullptr || entry == exit || is_in_order(entry, exit)) continue;
      const std::string name =
          block->name == kNoId && block->site == kNoId ? "unnamed block" : block_text(*block, context_.names);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

  bool has_delay() const { return std::any_of(cycle_.commits.begin(), cycle_.commits.end(), is_delayed); }

  std::string message(const std::vector<std::string>& blocks) const {
    if (context_.question == Question::kOperations) {
      std::vector<std::string> threads;
      for (const Link& link : links_)
        if (std::find(threads.begin(), threads.end(), thread(link.from)) == threads.end())
          threads.push_back(thread(link.from));
      return fmt::format(
          "what {} do here has an outcome that no interleaving has, because writes wait in store buffers",
          join_with_and(threads));
    }
    return fmt::format(
        "{} {} not {}atomic{}", join_with_and(blocks), blocks.size() > 1 ? "are" : "is",
        blocks.size() > 2    ? "all "
        : blocks.size() == 2 ? "both "
                             : "",
        has_delay() ? " when writes wait in store buffers" : ", with store buffers or without");
  }

  std::string conclusion() const {
    std::string text;
    for (const Commit& commit : cycle_.commits) {
      if (!is_delayed(commit)) continue;
      text += fmt::format("{}'s write of {} stays in {}'s store buffer until {} has {}. ",
                          thread(commit.store), context_.names.variable(op(commit.store).event.object),
                          thread(commit.store), thread(commit.after), perfect(phrase(commit.after)));
    }
    text += context_.question == Question::kOperations ? "No interleaving of these operations gives that."
                                                       : "No serial order gives that.";
    return text;
  }

  // "written x" of "wrote x".
  static std::string perfect(const std::string& phrase) {
    return phrase.starts_with("wrote ") ? "written " + phrase.substr(6) : phrase;
  }

  std::string place(OpId id) const {
    const std::vector<std::string> frames = context_.names.frames(op(id).event.site);
    const std::string what = fmt::format("{} {}", thread(id), phrase(id));
    if (frames.empty()) return fmt::format("{} (event {})", what, op(id).index);
    return fmt::format("{} ({})", frames.front().substr(0, frames.front().find(" in ")), what);
  }

  // Whether some block of the cycle starts or waits for another thread.
  bool needs_others() const {
    return std::any_of(cycle_.links.begin(), cycle_.links.end(), [&](const Link& link) {
      switch (op(link.from).event.operation) {
        case Operation::kFork:
        case Operation::kArrive:
        case Operation::kPost: return true;
        default: return op(link.to).event.operation == Operation::kJoin;
      }
    });
  }

  std::string advice() const {
    if (!has_delay() && needs_others())
      return "a block that lets another thread go on and waits for it cannot be atomic: do not mark it so, "
             "or "
             "mark it deterministic";
    if (!has_delay())
      return "a fence does not help, this happens without store buffers as well: make the blocks atomic "
             "(heddle explain HD2001), for example with a mutex";
    switch (context_.repair.outcome) {
      case Repair::Outcome::kFound: {
        std::vector<std::string> places;
        places.reserve(context_.repair.after.size());
        for (const OpId store : context_.repair.after) places.push_back("after " + place(store));
        return fmt::format(
            "a full fence, {}, {}. Checked again with {}, this order of operations has no such cycle; "
            "another order may need more",
            kFence, join_with_and(places), places.size() == 1 ? "it" : "them");
      }
      case Repair::Outcome::kNone:
        return "no set of up to four fences removes every such cycle of this trace: use a mutex, or "
               "read-modify-writes";
      case Repair::Outcome::kGaveUp:
      case Repair::Outcome::kNothingToRepair:
        return fmt::format("a full fence, {}, after the writes that wait; which are enough was not found out",
                           kFence);
    }
    return {};
  }

  const Cycle& cycle_;
  const ReportContext& context_;
  const History& history_;
  std::vector<Link> links_;
};

}  // namespace

Finding report(const Cycle& cycle, const ReportContext& context) { return Writer(cycle, context).write(); }

}  // namespace heddle::store_buffer
