#include "report/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "report/suppression_match.h"
#include "report/toml_document.h"

namespace heddle {

namespace {

constexpr std::array<std::string_view, 6> kKeys = {"rule",   "frames", "variable",
                                                   "object", "reason", "expires"};

// Reads one file's entries; every complaint carries the position it is about.
class Reader {
 public:
  Reader(std::span<const Rule* const> rules, const std::string& file)
      : rules_(rules), file_(printable(file)) {}

  std::vector<Suppression> read(std::string_view text) const {
    const toml::table root = parse_toml(text, file_);
    std::vector<Suppression> list;
    for (const auto& [key, node] : root) {
      if (key.str() != "suppress")
        fail(key.source().begin,
             fmt::format("unknown key '{}'; a suppression file holds [[suppress]] entries only{}",
                         printable(key.str()),
                         node.is_table() ? ", settings have their own file, heddle.toml" : ""));
      const toml::array* entries = node.as_array();
      if (entries == nullptr || (!entries->empty() && !entries->is_homogeneous<toml::table>()))
        fail(node.source().begin, "a suppression begins with [[suppress]], in double brackets");
      for (const toml::node& entry : *entries) list.push_back(read_entry(*entry.as_table()));
    }
    return list;
  }

 private:
  [[noreturn]] void fail(const toml::source_position& at, const std::string& what) const {
    throw InputError(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
  }

  Suppression read_entry(const toml::table& entry) const {
    for (const auto& [key, node] : entry)
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end()) fail_unknown_key(key);

    Suppression suppression;
    suppression.where = fmt::format("{}:{}", file_, entry.source().begin.line);
    suppression.rule = find_rule(required(entry, "rule"));
    suppression.reason = read_text(required(entry, "reason"), "reason");
    if (const toml::node* frames = entry.get("frames")) suppression.frames = read_frames(*frames);
    if (const toml::node* variable = entry.get("variable"))
      suppression.variable = read_text(*variable, "variable");
    if (const toml::node* object = entry.get("object")) suppression.object = read_text(*object, "object");
    if (const toml::node* expires = entry.get("expires")) suppression.expires = read_date(*expires);
    return suppression;
  }

  [[noreturn]] void fail_unknown_key(const toml::key& key) const {
    const std::string near = nearest(key.str(), {kKeys.begin(), kKeys.end()});
    const std::string hint = near.empty()
                                 ? fmt::format("; known are {}", join_with_and({kKeys.begin(), kKeys.end()}))
                                 : fmt::format("; did you mean '{}'?", near);
    fail(key.source().begin, fmt::format("unknown key '{}'{}", printable(key.str()), hint));
  }

  const toml::node& required(const toml::table& entry, std::string_view key) const {
    const toml::node* node = entry.get(key);
    if (node == nullptr)
      fail(entry.source().begin, fmt::format("this suppression has no {}, and needs one", key));
    return *node;
  }

  std::string read_text(const toml::node& node, std::string_view what) const {
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr) fail(node.source().begin, fmt::format("{} must be a text in quotes", what));
    if (text->get().find_first_not_of(" \t\r\n") == std::string::npos)
      fail(node.source().begin, fmt::format("{} must not be empty", what));
    return text->get();
  }

  std::vector<std::string> read_frames(const toml::node& node) const {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty())
      fail(node.source().begin, "frames must be a list of patterns, such as [\"bank.cpp:*\"]");
    std::vector<std::string> frames;
    for (const toml::node& frame : *list) frames.push_back(read_text(frame, "each pattern of frames"));
    return frames;
  }

  std::chrono::year_month_day read_date(const toml::node& node) const {
    const toml::value<toml::date>* date = node.as_date();
    if (date == nullptr)
      fail(node.source().begin, "expires must be a date such as 2027-01-31, without quotes");
    return {std::chrono::year(date->get().year), std::chrono::month(date->get().month),
            std::chrono::day(date->get().day)};
  }

  std::string find_rule(const toml::node& node) const {
    const std::string text = read_text(node, "rule");
    std::vector<std::string> known;
    for (const Rule* rule : rules_) {
      if (rule->id == text || rule->name == text) return std::string(rule->id);
      known.emplace_back(rule->id);
      known.emplace_back(rule->name);
    }
    const std::string near = nearest(text, known);
    const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
    fail(node.source().begin, fmt::format("there is no rule '{}'{}", printable(text), hint));
  }

  std::span<const Rule* const> rules_;
  std::string file_;  // for messages
};

std::string date_text(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace

Suppressions::Suppressions(std::span<const Rule* const> rules, std::chrono::year_month_day today)
    : rules_(rules.begin(), rules.end()), today_(today), index_(std::make_unique<SuppressionIndex>()) {}
Suppressions::~Suppressions() = default;
Suppressions::Suppressions(Suppressions&&) noexcept = default;

void Suppressions::load(const std::string& path) { parse(read_whole_file(path), path); }

void Suppressions::parse(std::string_view text, const std::string& name) {
  for (Suppression& suppression : Reader(rules_, name).read(text)) {
    index_->add(suppression, list_.size());
    list_.push_back(std::move(suppression));
  }
}

const Suppression* Suppressions::find(const Finding& finding) {
  const FindingTexts texts(finding);
  for (const std::size_t number : index_->candidates(texts)) {
    Suppression& suppression = list_[number];
    if (expired(suppression) || !matches(suppression, texts)) continue;
    ++suppression.used;
    return &suppression;
  }
  return nullptr;
}

std::vector<std::string> Suppressions::notices(std::span<const RuleHelp> checked) const {
  std::vector<std::string> notices;
  for (const Suppression& suppression : list_) {
    const auto say = [&](std::string_view what) {
      notices.push_back(
          fmt::format("{}: the suppression of {} {}", suppression.where, suppression.rule, what));
    };
    const bool could_match = std::any_of(checked.begin(), checked.end(), [&](const RuleHelp& help) {
      return help.rule->id == suppression.rule;
    });
    if (expired(suppression)) {
      say(fmt::format("expired on {} and no longer applies", date_text(*suppression.expires)));
    } else if (suppression.used == 0 && could_match) {
      say("matched no finding");
    }
    if (suppression.reason == kReasonPlaceholder) say("has no reason yet, only the placeholder");
  }
  return notices;
}

void apply_suppressions(Suppressions& suppressions, RunReport& report) {
  std::vector<Finding> left;
  for (Finding& finding : report.findings) {
    if (const Suppression* suppression = suppressions.find(finding)) {
      report.suppressed.push_back({std::move(finding), suppression->reason, suppression->where});
    } else {
      left.push_back(std::move(finding));
    }
  }
  report.findings = std::move(left);
  for (std::string& notice : suppressions.notices(report.rules)) report.notices.push_back(std::move(notice));
}

}  // namespace heddle
