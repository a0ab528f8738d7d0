#include "checkers/store_buffer/analysis.h"

#include <algorithm>

namespace heddle::store_buffer {

namespace {

// Larger parts show a cycle through their first node instead of a shortest one.
constexpr std::size_t kMostToSearchForShortest = 64;

bool is_fenced(const History& history) {
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (!history.ops[id].stores) continue;
    const OpId drain = history.drain[id];
    if (drain == history.ops.size() || history.ops[drain].transaction != history.ops[id].transaction)
      return false;
  }
  return true;
}

std::vector<Link> shortest_cycle(const Graph& graph, const std::vector<uint32_t>& part) {
  const auto is_in_part = [&](uint32_t node) { return std::binary_search(part.begin(), part.end(), node); };
  std::vector<Link> best;
  for (const uint32_t node : part) {
    std::vector<Link> cycle = graph.shortest_way(node, node, is_in_part);
    if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
    if (best.size() == 2 || part.size() > kMostToSearchForShortest) break;
  }
  return best;
}

class Analysis {
 public:
  Analysis(const History& history, Question question, uint64_t budget)
      : history_(history),
        question_(question),
        budget_(budget),
        is_answered_(node_count(history, question), false),
        in_threads_(thread_links(history, question)) {}

  Answer run() {
    if (history_.is_execution()) {
      add_cycles_of(history_.committed);
      return std::move(answer_);
    }
    answer_.is_fenced = is_fenced(history_);
    // Without delay every execution is a sequentially consistent one: nothing to find for kOperations.
    if (question_ == Question::kTransactions) add_cycles_of(earliest_commits(history_));
    answer_.without_delay = answer_.cycles.size();
    const TraceLinks between = trace_links(history_);
    if (between.possible.empty()) return std::move(answer_);
    std::vector<std::vector<uint32_t>> parts =
        Graph(history_, question_, {&in_threads_, &between.certain, &between.possible}).cyclic_parts();
    drop_answered(parts);
    if (parts.empty()) return std::move(answer_);
    add_cycles_of(latest_commits(history_));
    drop_answered(parts);
    search(Graph(history_, question_, {&in_threads_, &between.certain}), parts);
    return std::move(answer_);
  }

 private:
  void add_cycles_of(const std::vector<Time>& committed) {
    const std::vector<Link> between = execution_links(history_, committed);
    const Graph graph(history_, question_, {&in_threads_, &between});
    for (const std::vector<uint32_t>& part : graph.cyclic_parts()) add_if_new(graph, part);
  }

  void add_if_new(const Graph& graph, const std::vector<uint32_t>& part) {
    if (is_answered(part)) return;
    Cycle cycle;
    cycle.links = shortest_cycle(graph, part);
    for (const Link& link : cycle.links) {
      const Op& from = history_.ops[link.from];
      const Op& to = history_.ops[link.to];
      if (from.thread == to.thread || from.location != to.location || from.location == kNoId) continue;
      const Wants wants = wants_of(history_, link.from, link.to);
      for (const Want& want : {wants.first, wants.second})
        if (want.kind != Want::Kind::kNothing) cycle.wants.push_back(want);
    }
    Timing timing(history_);
    timing.allows(cycle.wants);
    cycle.commits = timing.commits();
    add(std::move(cycle));
    for (const uint32_t node : part) is_answered_[node] = true;
  }

  void add(Cycle cycle) { answer_.cycles.push_back(std::move(cycle)); }

  bool is_answered(const std::vector<uint32_t>& part) const {
    return std::any_of(part.begin(), part.end(), [&](uint32_t node) { return is_answered_[node]; });
  }
  void drop_answered(std::vector<std::vector<uint32_t>>& parts) const {
    std::erase_if(parts, [&](const auto& part) { return is_answered(part); });
  }

  void search(const Graph& certain, std::vector<std::vector<uint32_t>>& parts) {
    // The smallest first: what the budget leaves undecided are the largest.
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      return std::pair(a.size(), a.front()) < std::pair(b.size(), b.front());
    });
    std::vector<uint32_t> part_of(node_count(history_, question_), kNoId);
    for (uint32_t i = 0; i < parts.size(); ++i)
      for (const uint32_t node : parts[i]) part_of[node] = i;
    std::vector<std::vector<OpId>> ops(parts.size());
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const uint32_t part = part_of[node_of(history_, question_, id)];
      if (part != kNoId && history_.ops[id].location != kNoId) ops[part].push_back(id);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      CycleSearch search(history_, question_, certain, parts[i], ops[i], budget_);
      if (std::optional<Cycle> cycle = search.run()) {
        add(std::move(*cycle));
      } else if (search.is_exhausted()) {
        ++answer_.undecided;
        answer_.largest_undecided = std::max<uint64_t>(answer_.largest_undecided, parts[i].size());
      }
    }
  }

  const History& history_;
  Question question_;
  uint64_t budget_;
  std::vector<bool> is_answered_;  // by node: a cycle of its part is known
  std::vector<Link> in_threads_;
  Answer answer_;
};

}  // namespace

Answer find_cycles(const History& history, Question question, uint64_t budget) {
  return Analysis(history, question, budget).run();
}

}  // namespace heddle::store_buffer
