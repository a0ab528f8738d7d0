// heddle explain: what a rule means, why it matters and what to do about a finding of it.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "checkers/registry.h"
#include "cli/exit_code.h"
#include "cli/heddle.h"
#include "cli/options.h"
#include "cli/rule_pages.h"

namespace heddle {

namespace {

std::string list_of_rules() {
  std::string text;
  for (const Rule* rule : all_rules())
    text += fmt::format("{}  {:<25}  {}\n", rule->id, rule->name, rule->brief);
  return text;
}

[[noreturn]] void refuse_rule(const std::string& word) {
  std::vector<std::string> names;
  std::vector<std::string> all;
  for (const Rule* rule : all_rules()) {
    names.emplace_back(rule->name);
    names.emplace_back(rule->id);
    all.push_back(fmt::format("{} {}", rule->id, rule->name));
  }
  const std::string near = nearest(word, names);
  throw InputError(fmt::format("unknown rule '{}'{}; the rules are {}", printable(word),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near),
                               join_with_and(all)));
}

int explain(const std::string& word) {
  std::string text;
  if (word.empty()) {
    text = list_of_rules();
  } else {
    const Rule* rule = find_rule(word);
    if (rule == nullptr) refuse_rule(word);
    text = rule_page(rule->id);
  }
  OutputFile out("-");
  out.write(text);
  out.commit();
  return kExitClean;
}

}  // namespace

void add_explain_command(CLI::App& root, Commands& commands) {
  auto rule = std::make_shared<std::string>();
  CLI::App* app =
      root.add_subcommand("explain", "Explain a rule: what it reports, why it matters, how to fix it.");
  add_text(*app, "RULE", *rule, kRuleType,
           "A rule's id or name, such as HD1001 or data-race. Without one, all are listed.");
  app->footer(R"(Examples:
  heddle explain            list the rules
  heddle explain HD1001
  heddle explain data-race
)");
  commands.push_back({app, [rule] { return explain(*rule); }});
}

}  // namespace heddle
