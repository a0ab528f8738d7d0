#include "report/dot_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/layout.h"
#include "report/location.h"
#include "report/suppression_match.h"

namespace heddle {

namespace {

constexpr std::string_view kLockOrder = "HD1003";
constexpr std::array<std::string_view, 3> kCycles = {"HD2001", "HD3002", kLockOrder};
constexpr std::size_t kTitleWidth = 72;  // columns of a line
constexpr std::size_t kLabelWidth = 36;

// Text from a trace inside the quotes of a label. Graphviz reads escapes and HTML entities there.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '&') {
      result += "&amp;";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// The text in lines of at most `width`, each ended as Graphviz wants it ("\l": to the left).
std::string wrapped(std::string_view text, std::size_t width, std::string_view end) {
  std::string result;
  for (const std::string& line : wrap(printable(text), width, width)) {
    result += escaped(line);
    result += end;
  }
  return result;
}

struct Node {
  std::vector<const Step*> steps;  // of one thread
};

struct Edge {
  std::size_t from;
  std::size_t to;
  std::string label;
  bool argued = true;  // else it only says what belongs together
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

// Steps in the order of the argument: each comes after the one before, and the last is in the block in which
// the first is.
Graph argument(const std::vector<Step>& steps) {
  Graph graph;
  std::vector<std::size_t> node_of;  // by step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const bool goes_on = i > 0 && steps[i - 1].thread == step.thread && steps[i - 1].block == step.block &&
                         !step.block.empty();
    const bool returns = i > 0 && i + 1 == steps.size() && steps.front().thread == step.thread;
    if (goes_on || returns) {
      node_of.push_back(returns ? 0 : node_of.back());
    } else {
      node_of.push_back(graph.nodes.size());
      graph.nodes.emplace_back();
    }
    graph.nodes[node_of[i]].steps.push_back(&step);
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (node_of[i] == node_of[i - 1]) continue;
    const bool argued = !steps[i].because.empty();
    const bool same_thread = steps[i].thread == steps[i - 1].thread;
    const std::string label = argued ? steps[i].because : same_thread ? "later in the same thread" : "";
    graph.edges.push_back({node_of[i - 1], node_of[i], label, argued});
  }
  if (graph.nodes.size() > 1 && node_of.back() != 0)
    graph.edges.push_back({node_of.back(), 0, "in the same block", false});
  return graph;
}

// A thread that waits for a lock waits for the thread that holds it. The step that waits says why it is
// there; the one that took the lock to hold it does not.
Graph waiting(const std::vector<Step>& steps) {
  Graph graph;
  std::vector<std::size_t> node_of;  // by step
  for (const Step& step : steps) {
    const auto known = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return node.steps.front()->thread == step.thread;
    });
    node_of.push_back(static_cast<std::size_t>(known - graph.nodes.begin()));
    if (known == graph.nodes.end()) graph.nodes.emplace_back();
    graph.nodes[node_of.back()].steps.push_back(&step);
  }
  for (std::size_t waits = 0; waits < steps.size(); ++waits) {
    if (steps[waits].because.empty()) continue;
    for (std::size_t holds = 0; holds < steps.size(); ++holds)
      if (node_of[holds] != node_of[waits] && steps[holds].because.empty() &&
          operand(steps[holds]) == operand(steps[waits]))
        graph.edges.push_back({node_of[waits], node_of[holds], steps[waits].because});
  }
  return graph;
}

bool is_blamed(const Finding& finding, const Node& node) {
  return std::any_of(node.steps.begin(), node.steps.end(), [&](const Step* step) {
    return std::find(finding.blocks.begin(), finding.blocks.end(), step->block) != finding.blocks.end();
  });
}

// "T2 in Account::withdraw", then a line for each operation.
std::string node_label(const Node& node) {
  const std::string& block = node.steps.front()->block;
  const bool one_block = std::all_of(node.steps.begin(), node.steps.end(),
                                     [&](const Step* step) { return step->block == block; });
  const auto in = [](const std::string& name) { return name.empty() ? "" : " in " + escaped(name); };
  std::string label = escaped(node.steps.front()->thread) + (one_block ? in(block) : "") + "\\l";
  for (const Step* step : node.steps) {
    label += escaped(step->phrase);
    if (!step->frames.empty()) label += "  " + escaped(place_text(parse_location(step->frames.front())));
    label += (one_block ? "" : in(step->block)) + "\\l";
  }
  return label;
}

std::string cluster(const Finding& finding, std::size_t number, bool name_input) {
  std::string title = fmt::format("{} {}: {} ({})", finding.rule->id, finding.rule->title, finding.message,
                                  to_string(finding.strength));
  if (name_input && !finding.input.empty()) title += " in " + finding.input;
  std::string text = fmt::format("  subgraph cluster_{} {{\n    label=\"{}\";\n", number,
                                 wrapped(title, kTitleWidth, "\\l"));
  const Graph graph = finding.rule->id == kLockOrder ? waiting(finding.steps) : argument(finding.steps);
  const auto name = [&](std::size_t node) { return fmt::format("n{}_{}", number, node + 1); };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    text += fmt::format("    {} [label=\"{}\"{}];\n", name(i), node_label(graph.nodes[i]),
                        is_blamed(finding, graph.nodes[i]) ? ", color=red, fontcolor=red" : "");
  for (const Edge& edge : graph.edges)
    text += fmt::format("    {} -> {} [label=\"{}\"{}];\n", name(edge.from), name(edge.to),
                        wrapped(edge.label, kLabelWidth, "\\l"), edge.argued ? "" : ", style=dashed");
  return text + "  }\n";
}

}  // namespace

std::string dot_report(const RunReport& report) {
  std::string text =
      "digraph heddle {\n"
      "  graph [fontname=\"sans-serif\", labeljust=l];\n"
      "  node [shape=box, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n";
  std::size_t number = 0;
  for (const Finding& finding : report.findings)
    if (std::find(kCycles.begin(), kCycles.end(), finding.rule->id) != kCycles.end())
      text += cluster(finding, ++number, report.inputs.size() > 1);
  return text + "}\n";
}

}  // namespace heddle
