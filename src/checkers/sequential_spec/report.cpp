#include "checkers/sequential_spec/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/checker.h"

namespace heddle::sequential_spec {

namespace {

constexpr std::size_t kMostChainSteps = 24;   // of one chain; its middle is left out
constexpr std::size_t kMostPlaces = 100'000;  // of the serial order
constexpr std::size_t kMostSkipped = 1'000;   // if (true*) listed

class Writer {
 public:
  explicit Writer(const ReportContext& context)
      : names_(context.names), history_(context.history), relevance_(context.relevance) {}

  Step step(NodeId node) const {
    Step step = make_step(history_.event(node), history_.nodes[node].event, names_);
    const TaskId task = history_.task(node);
    if (task != kProgram) step.block = name(task);
    step.block_is_known = true;
    return step;
  }
  std::string name(TaskId task) const { return task_name(history_, names_, task); }

  // "T1's read of x".
  std::string subject(NodeId node) const {
    std::string who(names_.thread(history_.context(node).thread));
    const Node& operation = history_.nodes[node];
    const auto variable = [&] { return names_.variable(history_.variables[operation.object]); };
    const bool is_assumed =
        operation.operation == Operation::kLook || operation.operation == Operation::kTouch;
    if (is_assumed && operation.kind != Kind::kAssign)
      return fmt::format("{}'s call that may {} {}", who, operation.kind == Kind::kRead ? "read" : "write",
                         variable());
    switch (operation.kind) {
      case Kind::kRead: return fmt::format("{}'s read of {}", who, variable());
      case Kind::kWrite: return fmt::format("{}'s write of {}", who, variable());
      case Kind::kCount: return fmt::format("{}'s counting in {}", who, variable());
      case Kind::kMeet: return fmt::format("{} at the barrier", who);
      case Kind::kAssign:
      case Kind::kBranch:
      case Kind::kMaybe:
      case Kind::kUndone: break;
    }
    return who;
  }

  // From the operation to what matters by itself.
  Chain why(NodeId node) const {
    Chain chain;
    chain.title = fmt::format("why {} matters", subject(node));
    std::vector<NodeId> way{node};
    while (relevance_.reason(way.back()) != way.back()) way.push_back(relevance_.reason(way.back()));
    for (std::size_t i = 0; i < way.size(); ++i) {
      // Of an update, both halves are one operation.
      if (i > 0 && history_.nodes[way[i]].event == history_.nodes[way[i - 1]].event) continue;
      chain.steps.push_back(step(way[i]));
      if (i > 0) chain.steps.back().because = link(way[i - 1], way[i]);
    }
    if (chain.steps.size() > kMostChainSteps) {
      const std::size_t left_out = chain.steps.size() - kMostChainSteps;
      const auto middle = chain.steps.begin() + kMostChainSteps / 2;
      chain.steps.erase(middle, middle + static_cast<std::ptrdiff_t>(left_out));
      chain.steps[kMostChainSteps / 2].because =
          fmt::format("{} before it left out", counted(left_out, "step"));
    }
    std::string& last = chain.steps.back().because;
    last += (last.empty() ? "" : "; ") + matters_by_itself(way.back());
    return chain;
  }

 private:
  // Why `node` matters when `next` does.
  std::string link(NodeId node, NodeId next) const {
    const Node& from = history_.nodes[node];
    const Node& to = history_.nodes[next];
    if (from.kind == Kind::kMaybe) return "stands in this if (true*), so its body cannot be left out";
    if (to.kind == Kind::kMaybe) return "cannot be left out, and with it the branches in it";
    if (from.kind == Kind::kWrite && to.kind == Kind::kRead) {
      if (history_.task(node) == history_.task(next) && node > next)
        return "comes before it in the same task: with a read, every task's next write counts";
      return node < next ? "reads it, or could in another order of the tasks"
                         : "comes before it, but need not in another order of the tasks";
    }
    if (from.kind == Kind::kCount && to.kind == Kind::kRead)
      return "reads the sum, to which this adds, or would in another order of the tasks";
    if (to.kind == Kind::kBranch) return "is decided by that value";
    return "uses that value";
  }

  std::string matters_by_itself(NodeId node) const {
    const Node& operation = history_.nodes[node];
    if (operation.kind == Kind::kWrite)
      return fmt::format("{} is a focus location, and this is its task's last write of it",
                         names_.variable(history_.variables[operation.object]));
    if (operation.kind == Kind::kCount)
      return fmt::format("{} is a focus location", names_.variable(history_.variables[operation.object]));
    if (operation.kind == Kind::kRead)
      return "the trace does not tell where the value goes, so it may decide anything";
    return "a branch outside any if (true*): the run must go the same way";
  }

  const Names& names_;
  const History& history_;
  const Relevance& relevance_;
};

std::vector<std::string> without_repetition(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  for (const std::string& item : items)
    if (std::find(once.begin(), once.end(), item) == once.end()) once.push_back(item);
  return once;
}

std::string text_of(NodeId node, const ReportContext& context) {
  const Event event = context.history.event(node);
  const std::vector<std::string> frames = context.names.frames(event.site);
  return fmt::format("{} {}{}", context.names.thread(event.thread), operation_phrase(event, context.names),
                     frames.empty() ? "" : fmt::format(" at {}", frames.front()));
}

}  // namespace

std::string uncertainty(NodeId earlier, NodeId later, const ReportContext& context) {
  return fmt::format(
      "{} and {} are a data race, and it matters which came first: that is not certain, and so the answer is "
      "not; "
      "mend the race first (--checkers race)",
      text_of(earlier, context), text_of(later, context));
}

std::string interference(NodeId beside, NodeId inside, const ReportContext& context) {
  return fmt::format(
      "{}, in none of the tasks that ran meanwhile, and {} in {}: what a thread does beside them has no "
      "place "
      "in their order; let a task do it, or a thread that a task starts",
      text_of(beside, context), text_of(inside, context),
      task_name(context.history, context.names, context.history.task(inside)));
}

std::string task_name(const History& history, const Names& names, TaskId id) {
  const Task& task = history.tasks[id];
  if (task.is_meeting) return fmt::format("the meeting at {}", names.name(Space::kBarrier, task.name));
  std::string name(names.name(Space::kTask, task.name));
  if (task.part > 0) name += fmt::format(" (part {})", task.part + 1);
  return name;
}

std::vector<std::string> lines_of(const std::vector<Before>& cycle, const Names& names,
                                  const History& history) {
  std::vector<std::string> lines;
  for (const Before& edge : cycle) {
    for (const NodeId node : {edge.earlier, edge.later}) {
      const std::vector<std::string> frames = names.frames(history.nodes[node].site);
      lines.push_back(frames.empty() ? operation_text(history.event(node), names) : frames.front());
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

Finding report(const std::vector<Before>& cycle, const ReportContext& context) {
  const History& history = context.history;
  const Writer writer(context);
  std::vector<Before> edges = cycle;
  std::rotate(edges.begin(),
              std::min_element(edges.begin(), edges.end(),
                               [](const Before& a, const Before& b) { return a.earlier < b.earlier; }),
              edges.end());
  Finding finding;
  finding.rule = &context.rule;
  finding.checker = context.checker;
  std::vector<std::string> tasks;
  std::vector<std::string> variables;
  std::vector<NodeId> shown;
  bool meets = false;
  // A look at shared pointers may read what is left and what is borrowed.
  const auto is_shown_last = [&](NodeId node) {
    if (shown.empty()) return false;
    const Node& last = history.nodes[shown.back()];
    return shown.back() == node ||
           (last.operation == Operation::kAlive && last.event == history.nodes[node].event);
  };
  for (const Before& edge : edges) {
    if (!history.tasks[edge.from].is_meeting) tasks.push_back(writer.name(edge.from));
    const bool by_meeting = history.nodes[edge.earlier].kind == Kind::kMeet;
    meets |= by_meeting;
    if (!by_meeting)
      variables.emplace_back(context.names.variable(history.variables[history.nodes[edge.earlier].object]));
    if (!is_shown_last(edge.earlier)) {
      finding.steps.push_back(writer.step(edge.earlier));
      shown.push_back(edge.earlier);
    }
    Step later = writer.step(edge.later);
    later.because = by_meeting
                        ? fmt::format("so {} comes before {}", writer.name(edge.from), writer.name(edge.to))
                        : fmt::format("after {}, so {} comes before {}", writer.subject(edge.earlier),
                                      writer.name(edge.from), writer.name(edge.to));
    if (is_shown_last(edge.later)) {
      std::string& because = finding.steps.back().because;
      because += (because.empty() ? "" : "; ") + later.because;
    } else {
      finding.steps.push_back(std::move(later));
      shown.push_back(edge.later);
    }
    finding.certain_at = std::max<EventIndex>(
        {finding.certain_at, history.nodes[edge.earlier].event, history.nodes[edge.later].event});
  }
  tasks = without_repetition(tasks);
  variables = without_repetition(variables);
  finding.message = variables.empty()
                        ? fmt::format("{} {} others at a barrier inside tasks of their own",
                                      join_with_and(tasks), tasks.size() == 1 ? "meets" : "meet")
                        : fmt::format("no order of {} gives what they did to {}", join_with_and(tasks),
                                      join_with_and(variables));
  finding.conclusion = fmt::format("{} would have to run before {}{} and after {}.", tasks.front(),
                                   tasks.size() > 1 ? tasks[1] : "the others", tasks.size() > 2 ? ", …" : "",
                                   tasks.size() > 2 ? tasks.back() : (tasks.size() > 1 ? "it" : "them"));
  for (const NodeId node : shown)
    if (context.relevance.is_relevant(node)) finding.chains.push_back(writer.why(node));
  const bool is_assumed = std::any_of(shown.begin(), shown.end(), [&](NodeId node) {
    const Operation operation = history.nodes[node].operation;
    return operation == Operation::kLook || operation == Operation::kTouch;
  });
  if (is_assumed) {
    finding.strength = Strength::kPotential;
    finding.advice =
        "build what is called with --heddle-dataflow, or, if it changes nothing, say so where it is "
        "declared: "
        "[[gnu::pure]], and [[gnu::const]] if it does not even read memory";
    return finding;
  }
  finding.advice = meets ? "let tasks of one parallel construct meet, not tasks inside different ones"
                         : "make what the tasks do to the variable one atomic step, or, where the outcome "
                           "may do without it, put "
                           "it into an if (true*) (heddle explain HD5001)";
  return finding;
}

void tell_order(const TaskOrder& order, const ReportContext& context, SequentialRun& run) {
  const History& history = context.history;
  const Writer writer(context);
  const std::vector<uint32_t> places = order.places();
  std::vector<std::vector<TaskId>> children(history.tasks.size());
  for (TaskId task = 1; task < history.tasks.size(); ++task)
    if (!history.tasks[task].is_meeting) children[history.tasks[task].parent].push_back(task);
  std::vector<TaskId> next{kProgram};
  while (!next.empty()) {
    const TaskId task = next.back();
    next.pop_back();
    if (task != kProgram) {
      if (run.order.size() < kMostPlaces) {
        run.order.push_back({writer.name(task), history.tasks[task].depth});
      } else {
        ++run.order_left_out;
      }
    }
    std::vector<TaskId>& inside = children[task];
    std::sort(inside.begin(), inside.end(), [&](TaskId a, TaskId b) { return places[a] > places[b]; });
    next.insert(next.end(), inside.begin(), inside.end());
  }
  for (const NodeId maybe : history.maybes) {
    const MaybeId guard = history.context(maybe).guard;
    if (context.relevance.is_relevant(maybe)) continue;
    if (guard != kNoMaybe && !context.relevance.is_relevant(history.maybes[guard])) continue;
    if (run.skipped.size() < kMostSkipped) {
      run.skipped.push_back(writer.step(maybe));
    } else {
      ++run.skipped_left_out;
    }
  }
}

}  // namespace heddle::sequential_spec
