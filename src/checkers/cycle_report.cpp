#include "checkers/cycle_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checkers/serializability_rules.h"
#include "core/checker.h"

namespace heddle {

namespace {

// "bank.cpp:32" of "bank.cpp:32 in Account::withdraw"; empty without a site.
std::string place(SiteId site, const Names& names) {
  const std::vector<std::string> frames = names.frames(site);
  return frames.empty() ? "" : frames.front().substr(0, frames.front().find(" in "));
}

// What an operation is called afterwards: "T2's read".
std::string_view noun(Operation operation) {
  switch (operation) {
    case Operation::kRead: return "read";
    case Operation::kWrite: return "write";
    case Operation::kAtomicRead: return "load";
    case Operation::kAtomicWrite: return "store";
    case Operation::kAtomicUpdate: return "update";
    case Operation::kAtomicCompareFail: return "comparison";
    case Operation::kLook:
    case Operation::kTouch: return "call";
    case Operation::kCount:
    case Operation::kTake:
    case Operation::kDrop: return "counting";
    case Operation::kAlive: return "look";
    case Operation::kRelease:
    case Operation::kReleaseShared: return "release";
    case Operation::kAcquire:
    case Operation::kAcquireShared: return "acquisition";
    case Operation::kFork: return "start of the thread";
    case Operation::kJoin: return "join";
    case Operation::kArrive: return "arrival";
    case Operation::kPost: return "post";
    case Operation::kWait: return "wait";
    case Operation::kThreadEnd: return "end";
    case Operation::kLeave:
    case Operation::kThreadBegin:
    case Operation::kBeginAtomic:
    case Operation::kBeginDeterministic:
    case Operation::kEnd:
    case Operation::kNotify:
    case Operation::kWake:
    case Operation::kFence:
    case Operation::kCommit:
    case Operation::kAlloc:
    case Operation::kFree:
    case Operation::kTaskBegin:
    case Operation::kTaskEnd:
    case Operation::kMaybeBegin:
    case Operation::kMaybeEnd:
    case Operation::kAssign:
    case Operation::kBranch:
    case Operation::kFocus:
    case Operation::kSync:
    case Operation::kNested: return "operation";
  }
  return "operation";
}

const Block* root_of(const Op& op) {
  return op.around == nullptr || op.around->blocks.empty() ? nullptr : &op.around->blocks.back();
}

bool same_transaction(const Op& a, const Op& b) {
  return root_of(a) != nullptr && root_of(b) != nullptr && root_of(a)->begin == root_of(b)->begin;
}

bool is_in(const Op& op, const Block& block) {
  return op.around != nullptr &&
         std::any_of(op.around->blocks.begin(), op.around->blocks.end(),
                     [&](const Block& around) { return around.begin == block.begin; });
}

// The chain from where it leaves its first transaction: what its threads do among themselves is no part of
// it.
std::vector<Hop> from_the_last_exit(const std::vector<Hop>& hops) {
  auto first = hops.begin();
  while (first != hops.end() && first + 1 != hops.end() && same_transaction(hops.front().from, first->to))
    ++first;
  return {first, hops.end()};
}

bool waits_for_others(const Op& op) {
  const Operation operation = op.event.operation;
  return operation == Operation::kJoin || operation == Operation::kArrive || operation == Operation::kLeave ||
         operation == Operation::kWait;
}
bool lets_others_go_on(const Op& op) {
  return op.event.operation == Operation::kFork || op.event.operation == Operation::kPost;
}

// The locks that guard an operation: those held, and the one it takes or gives back.
std::vector<uint32_t> guards(const Op& op, const LocksetTable& locksets) {
  std::vector<uint32_t> locks;
  if (op.around != nullptr)
    for (const HeldLock& held : locksets.members(op.around->held)) locks.push_back(held.lock);
  if (info(op.event.operation).space == Space::kLock) locks.push_back(op.event.object);
  return locks;
}

class Writer {
 public:
  explicit Writer(const ReportContext& context) : context_(context), names_(context.names) {}

  Step step(const Op& op) const {
    Step result = make_step(op.event, op.index, names_);
    if (op.around != nullptr) {
      result.held = context_.locksets.describe(op.around->held, names_);
      result.block_is_known = true;
      if (!op.around->blocks.empty())
        result.block = names_.name(Space::kBlock, op.around->blocks.front().name);
      result.transaction = op.around->blocks.empty() ? op.index : op.around->blocks.back().begin;
    }
    return result;
  }

  // The blocks around the operations of the hops, for each thread once. When they end is not known yet.
  std::vector<Span> spans(const std::vector<Hop>& hops) const {
    std::vector<Span> result;
    const auto add = [&](const Op& op) {
      if (op.around == nullptr) return;
      for (auto block = op.around->blocks.rbegin(); block != op.around->blocks.rend(); ++block) {
        auto span = std::find_if(result.begin(), result.end(), [&](const Span& known) {
          return known.from == block->begin && known.thread == thread(op);
        });
        if (span == result.end())
          span = result.insert(
              span, {Span::Kind::kBlock, thread(op), block_text(*block, names_), block->begin, 0, true});
        span->to = std::max(span->to, op.index);
      }
    };
    for (const Hop& hop : hops) {
      add(hop.from);
      add(hop.to);
    }
    return result;
  }

  std::string thread(const Op& op) const { return std::string(names_.thread(op.event.thread)); }

  // "T2's read"
  std::string deed(const Op& op) const {
    return fmt::format("{}'s {}", thread(op), noun(op.event.operation));
  }

  // Whose transaction an operation belongs to, in words that tell it from `other`'s.
  std::string transaction(const Op& op, const Op& other) const {
    const Block* root = root_of(op);
    if (root == nullptr) return fmt::format("this operation of {}", thread(op));
    const Block* others = root_of(other);
    std::string text = block_text(*root, names_);
    if (others == nullptr || block_text(*others, names_) != text) return text;
    return fmt::format("{}'s {}", names_.thread(root->opener), text);
  }

  // Why the second operation of a hop comes after the first, and what that says of their transactions.
  std::string reason(const Hop& hop) const {
    if (hop.from.event.thread == hop.to.event.thread) return "later in the same thread";
    if (same_transaction(hop.from, hop.to)) return fmt::format("after {}, in the same block", deed(hop.from));
    return fmt::format("after {}, so {} comes before {}", deed(hop.from), transaction(hop.from, hop.to),
                       transaction(hop.to, hop.from));
  }

  // What one hop's end has to do with the next one's start.
  std::string connection(const Op& end, const Op& start) const {
    if (start.index < end.index) return "earlier in the same block";
    if (start.event.thread == end.event.thread) return fmt::format("later in {}", thread(start));
    return "in the same block";
  }

  std::vector<Step> steps(const std::vector<Hop>& hops) const {
    std::vector<Step> result;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      if (i == 0 || hops[i].from.index != hops[i - 1].to.index) {
        result.push_back(step(hops[i].from));
        if (i > 0) result.back().because = connection(hops[i - 1].to, hops[i].from);
      }
      result.push_back(step(hops[i].to));
      result.back().because = reason(hops[i]);
    }
    return result;
  }

  // The transactions along the hops other than the first one's, each once, in words.
  std::vector<std::string> others(const std::vector<Hop>& hops) const {
    std::vector<std::string> result;
    for (std::size_t i = 0; i + 1 < hops.size(); ++i) {
      const std::string text = transaction(hops[i].to, hops.front().from);
      if (std::find(result.begin(), result.end(), text) == result.end()) result.push_back(text);
    }
    return result;
  }

  bool is_shared(const Op& op, uint32_t lock) const {
    return op.event.operation == Operation::kReleaseShared ||
           op.event.operation == Operation::kAcquireShared ||
           (op.around != nullptr && context_.locksets.find(op.around->held, lock) == Hold::kShared);
  }

  std::string advice(const std::vector<Hop>& hops, const Block& block) const {
    const Op& leaves = hops.front().from;
    const Op& returns = hops.back().to;
    if (waits_for_others(leaves) || waits_for_others(returns))
      return fmt::format("{} waits for other threads in its middle and cannot be {}: {}",
                         block_text(block, names_), block.deterministic ? "run alone" : "atomic",
                         block.deterministic ? "put all who meet there into one deterministic block"
                                             : "mark it deterministic instead, or end it before it waits");
    if (lets_others_go_on(leaves))
      return fmt::format(
          "{} {} in its middle, so what that one does can come between: {}", block_text(block, names_),
          leaves.event.operation == Operation::kFork ? "starts another thread" : "lets another thread go on",
          block.deterministic ? "order the operations of both, or end the block before"
                              : "mark it deterministic instead, or end it before");
    const std::vector<uint32_t> before = guards(leaves, context_.locksets);
    const std::vector<uint32_t> between = guards(hops.front().to, context_.locksets);
    for (const uint32_t lock : guards(returns, context_.locksets)) {
      // Who came between held it too, so the block cannot have held it all the time.
      if (std::find(before.begin(), before.end(), lock) == before.end() ||
          std::find(between.begin(), between.end(), lock) == between.end() || is_shared(leaves, lock))
        continue;
      const std::string from = place(leaves.event.site, names_);
      const std::string to = place(returns.event.site, names_);
      if (from.empty() || to.empty() || from == to)
        return fmt::format("hold {} once, from the first of {}'s operations to the last", names_.lock(lock),
                           block_text(block, names_));
      return fmt::format("hold {} without a gap from {} to {}", names_.lock(lock), from, to);
    }
    const auto is_atomic = [](const Op& op) {
      return op.event.operation > Operation::kWrite && op.event.operation <= Operation::kAtomicCompareFail;
    };
    if (is_atomic(leaves) && is_atomic(returns) && leaves.event.object == returns.event.object)
      return fmt::format(
          "make the operations on {} one read-modify-write or a compare-exchange loop, or hold a mutex "
          "around all of {}",
          names_.variable(leaves.event.object), block_text(block, names_));
    if (block.deterministic)
      return fmt::format("let nothing outside {} use what it works on before all its threads have ended",
                         block_text(block, names_));
    return fmt::format("hold one mutex around all of {}, wherever this data is used",
                       block_text(block, names_));
  }

 private:
  const ReportContext& context_;
  const Names& names_;
};

const Rule& rule_of(const Block& root) { return root.deterministic ? kInterference : kAtomicityViolation; }

Finding begin_report(const Rule& rule, const Op& now, const ReportContext& context) {
  Finding finding;
  finding.rule = &rule;
  finding.checker = context.checker;
  finding.strength = Strength::kObserved;
  finding.certain_at = now.index;
  return finding;
}

// "inner is not atomic, nor is outer around it"
std::string refutation(const std::vector<Block>& refuted, const Names& names) {
  const bool deterministic = refuted.front().deterministic;
  std::string text = fmt::format(
      fmt::runtime(deterministic ? "operations outside {} come between its own" : "{} is not atomic"),
      block_text(refuted.front(), names));
  for (std::size_t i = 1; i < refuted.size(); ++i)
    text += fmt::format(
        fmt::runtime(deterministic ? ", and between those of {} around it" : ", nor is {} around it"),
        block_text(refuted[i], names));
  return text;
}

}  // namespace

std::string block_text(const Block& block, const Names& names) {
  if (block.name != kNoId) return std::string(names.name(Space::kBlock, block.name));
  const std::string at = place(block.site, names);
  return at.empty() ? fmt::format("the block of {} at event {}", names.thread(block.opener), block.begin)
                    : fmt::format("the block at {}", at);
}

namespace {

// The same in every run: free of threads and events, since fingerprints are made of it.
std::string stable_name(const Block& block, const Names& names) {
  return block.name == kNoId && block.site == kNoId ? "unnamed block" : block_text(block, names);
}

}  // namespace

Finding report_cycle(const Cycle<Told>& cycle, const ReportContext& context) {
  const Writer writer(context);
  Finding finding = begin_report(rule_of(cycle.root), cycle.now, context);
  for (const Block& block : cycle.refuted) finding.blocks.push_back(stable_name(block, context.names));
  const bool blamed = !cycle.refuted.empty();
  const Told& story = blamed ? cycle.blame : cycle.story;
  const std::vector<Hop> hops = from_the_last_exit(story.hops());
  const Block& subject = blamed ? cycle.refuted.front() : cycle.root;
  const std::string name = block_text(subject, context.names);
  const std::vector<std::string> others = writer.others(hops);
  finding.steps = writer.steps(hops);
  finding.spans = writer.spans(hops);
  // A thread that has ended its part of a block whose other threads go on comes after the block by its own
  // order.
  if (blamed && !hops.empty() && !is_in(hops.front().from, subject))
    finding.steps.front().because =
        fmt::format("after the part of {} in {}, by program order", finding.steps.front().thread, name);
  if (blamed) {
    finding.message = refutation(cycle.refuted, context.names);
    const Hop& out = hops.front();
    const Op& after = is_in(out.from, subject) ? out.to : out.from;
    const Op& before = hops.back().from;
    std::string next = writer.transaction(after, hops.back().to);
    std::string last = writer.transaction(before, hops.back().to);
    // An inner block and another's outermost one may have the same name.
    std::string self = name;
    for (auto [text, op] : {std::pair(&next, &after), std::pair(&last, &before)})
      if (*text == name) {
        *text = fmt::format("{}'s {}", context.names.thread(root_of(*op)->opener), name);
        self = fmt::format("{}'s {}", context.names.thread(subject.opener), name);
      }
    if (last == next)
      last = after.index == before.index || root_of(before) != nullptr
                 ? "it"
                 : fmt::format("a later one of {}", writer.thread(before));
    finding.conclusion = fmt::format(
        "No serial order gives this result: {} would have to come before {} and after {}.", self, next, last);
  } else {
    finding.message = fmt::format("no serial order of {}{}{} gives this result", name,
                                  others.size() == 1 ? " and " : ", ", join_with_and(others));
    finding.conclusion =
        "Each of these comes before the next, and the last before the first. None of them alone is to blame: "
        "each would be explained by a serial order of its own.";
  }
  if (story.left_out() > 0)
    finding.conclusion += fmt::format(" ({} further steps in the middle are left out.)", story.left_out());
  if (!hops.empty()) finding.advice = writer.advice(hops, subject);
  return finding;
}

Finding report_violation(const Violation& violation, const ReportContext& context, std::string_view hint) {
  const Cycle<Since>& cycle = violation.cycle;
  Finding finding = begin_report(violation.is_conflict ? kConflict : rule_of(cycle.root), cycle.now, context);
  const std::string name = block_text(cycle.root, context.names);
  const Writer writer(context);
  if (!violation.is_conflict) {
    Op begin;
    begin.index = cycle.root.begin;
    begin.event.operation =
        cycle.root.deterministic ? Operation::kBeginDeterministic : Operation::kBeginAtomic;
    begin.event.thread = cycle.root.opener;
    begin.event.object = cycle.root.name;
    begin.event.site = cycle.root.site;
    finding.steps.push_back(writer.step(begin));
    finding.steps.back().block = context.names.name(Space::kBlock, cycle.root.name);
    finding.steps.back().block_is_known = true;
  } else if (violation.earlier.index != cycle.now.index) {
    finding.steps.push_back(writer.step(violation.earlier));
  }
  finding.steps.push_back(writer.step(cycle.now));
  Step& step = finding.steps.back();
  if (violation.is_conflict) {
    finding.message =
        fmt::format("{} {}, in conflict with another thread of {}", step.thread, step.phrase, name);
    step.because = "no fork, join, barrier or semaphore puts this after an operation of the other thread";
  } else {
    finding.message =
        fmt::format("no serial order of {} and other operations of this run gives this result", name);
    step.because = fmt::format("puts {} both before and after other operations", name);
  }
  step.block_is_known = !violation.is_conflict;
  if (!cycle.around.empty()) step.block = context.names.name(Space::kBlock, cycle.around.front().name);
  finding.conclusion = fmt::format("The clock engine does not know the other operations; {}.", hint);
  return finding;
}

Finding report_conflict(const Op& earlier, const Op& now, const ReportContext& context) {
  const Writer writer(context);
  Finding finding = begin_report(kConflict, now, context);
  for (const Block& block : now.around->blocks)
    if (is_in(earlier, block)) finding.blocks.push_back(stable_name(block, context.names));
  const std::string inside = finding.blocks.empty() ? "a deterministic block" : finding.blocks.front();
  finding.steps = {writer.step(earlier), writer.step(now)};
  Step& last = finding.steps.back();
  last.because = fmt::format("no fork, join, barrier or semaphore puts this after {}", writer.deed(earlier));
  const Step& first = finding.steps.front();
  const Space space = info(now.event.operation).space;
  finding.message = fmt::format("{} {}, {} {}, both in {}, and {}", first.thread, first.phrase, last.thread,
                                last.phrase, inside,
                                space == Space::kLock ? "nothing but the lock orders the two"
                                                      : "only the scheduler decides which is first");
  const std::string object(context.names.name(space, now.event.object));
  if (space == Space::kVariable) {
    const std::vector<uint32_t> before = guards(earlier, context.locksets);
    const std::vector<uint32_t> after = guards(now, context.locksets);
    const auto common = std::find_first_of(after.begin(), after.end(), before.begin(), before.end());
    finding.conclusion =
        common == after.end()
            ? fmt::format("What {} computes depends on the schedule.", inside)
            : fmt::format(
                  "Both hold {}, but a mutex only keeps them apart: which of them is first, and so what {} "
                  "computes, depends on the schedule.",
                  context.names.lock(*common), inside);
    finding.advice = fmt::format(
        "give each thread its own part of {} and combine the parts after the join, or put a "
        "barrier between the two",
        object);
  } else if (space == Space::kLock) {
    finding.conclusion = fmt::format(
        "When each of the threads gets {} depends on the schedule, and so may all that they do "
        "while they hold it.",
        object);
    finding.advice =
        "let the threads of the block work on separate data, or order them by join, barrier or semaphore";
  } else {
    finding.conclusion =
        fmt::format("Which of the two waits gets which post of {} depends on the schedule.", object);
    finding.advice = "give each waiting thread a semaphore of its own";
  }
  return finding;
}

}  // namespace heddle
