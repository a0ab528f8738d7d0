#include "report/suppression_match.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "base/hash.h"
#include "report/glob.h"
#include "report/location.h"

namespace heddle {

namespace {

// A place is described also without the directories in front of it.
struct PlacePattern {
  explicit PlacePattern(const std::string& pattern) : whole(pattern), below_directory("*/" + pattern) {}

  bool matches(std::string_view place) const {
    return glob_matches(whole, place) || glob_matches(below_directory, place);
  }

  const std::string& whole;
  std::string below_directory;
};

bool step_matches(const PlacePattern& pattern, const FindingTexts::OfStep& step) {
  return std::any_of(step.places.begin(), step.places.end(),
                     [&](const std::string& place) { return pattern.matches(place); }) ||
         std::any_of(step.names.begin(), step.names.end(),
                     [&](const std::string& name) { return glob_matches(pattern.whole, name); });
}

// Gives each pattern a step of its own if that can be done, by augmenting paths (bipartite matching).
class Assignment {
 public:
  Assignment(const std::vector<std::string>& patterns, const std::vector<FindingTexts::OfStep>& steps)
      : owner_(steps.size()) {
    for (const std::string& text : patterns) {
      const PlacePattern pattern(text);
      std::vector<std::size_t>& fitting = fits_.emplace_back();
      for (std::size_t s = 0; s < steps.size(); ++s)
        if (step_matches(pattern, steps[s])) fitting.push_back(s);
      if (fitting.empty()) return;  // and fewer rows than patterns: nothing to assign
    }
    for (assigned_ = 0; assigned_ < patterns.size(); ++assigned_) {
      std::vector<bool> tried(steps.size());
      if (!find_step(assigned_, tried)) return;
    }
  }

  std::size_t assigned() const { return assigned_; }

 private:
  // Steps are few (an argument people can read), so the depth is too.
  bool find_step(std::size_t pattern, std::vector<bool>& tried) {
    for (const std::size_t step : fits_[pattern]) {
      if (tried[step]) continue;
      tried[step] = true;
      if (owner_[step] && !find_step(*owner_[step], tried)) continue;
      owner_[step] = pattern;
      return true;
    }
    return false;
  }

  std::vector<std::vector<std::size_t>> fits_;     // by pattern: the steps it describes
  std::vector<std::optional<std::size_t>> owner_;  // by step: its pattern
  std::size_t assigned_ = 0;                       // patterns that have a step
};

// The texts that a pattern of frames may describe, those without directories included.
template <class Visit>
void for_each_frame_text(const FindingTexts::OfStep& step, Visit visit) {
  for (const std::string& place : step.places) {
    visit(std::string_view(place));
    for (std::size_t slash = place.find('/'); slash != std::string::npos; slash = place.find('/', slash + 1))
      visit(std::string_view(place).substr(slash + 1));
  }
  for (const std::string& name : step.names) visit(std::string_view(name));
}

}  // namespace

std::string_view operand(const Step& step) {
  const std::string_view operation = step.operation;
  const std::size_t open = operation.find('(');
  if (open == std::string_view::npos) return {};
  const std::string_view rest = operation.substr(open + 1);
  return rest.substr(0, rest.find_first_of(",)"));
}

bool is_access(const Step& step) {
  const std::string_view spelling = std::string_view(step.operation).substr(0, step.operation.find('('));
  return std::any_of(kOperationInfo.begin(), kOperationInfo.end(), [&](const OperationInfo& operation) {
    return operation.spelling == spelling && operation.space == Space::kVariable;
  });
}

FindingTexts::FindingTexts(const Finding& finding) : rule(finding.rule->id) {
  for (const Step& step : finding.steps) {
    OfStep& texts = steps.emplace_back();
    texts.operand = operand(step);
    texts.is_access = is_access(step);
    if (!step.block.empty()) texts.names.push_back(step.block);
    for (const std::string& frame : step.frames) {
      texts.places.push_back(frame);
      Location location = parse_location(frame);
      if (!location.function.empty()) texts.names.push_back(std::move(location.function));
      if (location.file.empty()) continue;
      std::string line = location.file + ":" + std::to_string(location.line);
      if (line != location.place) texts.places.push_back(std::move(line));
      if (location.place != frame) texts.places.push_back(std::move(location.place));
    }
  }
}

bool matches(const Suppression& suppression, const FindingTexts& finding) {
  if (finding.rule != suppression.rule) return false;
  const std::vector<FindingTexts::OfStep>& steps = finding.steps;
  const auto accesses = [&](const FindingTexts::OfStep& step) {
    return step.is_access && glob_matches(suppression.variable, step.operand);
  };
  const auto works_on = [&](const FindingTexts::OfStep& step) {
    return glob_matches(suppression.object, step.operand);
  };
  if (!suppression.variable.empty() && std::none_of(steps.begin(), steps.end(), accesses)) return false;
  if (!suppression.object.empty() && std::none_of(steps.begin(), steps.end(), works_on)) return false;
  const std::size_t patterns = suppression.frames.size();
  return patterns <= steps.size() && Assignment(suppression.frames, steps).assigned() == patterns;
}

SuppressionIndex::Shape SuppressionIndex::shape_of(Kind kind, std::string_view pattern) {
  // Lengths are rounded down: few shapes keep a look-up cheap, and a little more or less of a text hardly
  // tells it better from others.
  constexpr std::size_t kStep = 4;
  constexpr std::size_t kMost = 32;
  const std::size_t first = pattern.find_first_of("*?");
  if (first == std::string_view::npos) return {kind, true, 0, 0};
  const std::size_t last = pattern.size() - pattern.find_last_of("*?") - 1;
  const auto rounded = [=](std::size_t length) { return std::min(length, kMost) / kStep * kStep; };
  return {kind, false, rounded(first), rounded(last)};
}

uint64_t SuppressionIndex::key(std::string_view rule, const Shape& shape, std::string_view text) {
  const std::hash<std::string_view> hash;
  uint64_t result = mix(hash(rule) + static_cast<uint64_t>(shape.kind));
  if (shape.whole) return mix(result ^ hash(text));
  result = mix(result ^ hash(text.substr(0, shape.first)));
  return mix(result ^ hash(text.substr(text.size() - shape.last)) ^ 1);
}

void SuppressionIndex::add(const Suppression& suppression, std::size_t number) {
  // Any of its patterns would do: each has to describe something of the finding.
  Shape best;
  uint64_t best_key = key(suppression.rule, best, {});
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  const auto consider = [&](Kind kind, const std::string& pattern) {
    const Shape shape = shape_of(kind, pattern);
    if (!shape.whole && shape.first + shape.last == 0) return;  // says nothing
    const uint64_t its_key = key(suppression.rule, shape, pattern);
    const auto known = filed_.find(its_key);
    const std::size_t others = known == filed_.end() ? 0 : known->second.size();
    if (others >= fewest) return;
    best = shape;
    best_key = its_key;
    fewest = others;
  };
  if (!suppression.variable.empty()) consider(Kind::kOperand, suppression.variable);
  if (!suppression.object.empty()) consider(Kind::kOperand, suppression.object);
  for (const std::string& frame : suppression.frames) consider(Kind::kFrame, frame);
  shapes_.insert(best);
  filed_[best_key].push_back(number);
}

std::vector<std::size_t> SuppressionIndex::candidates(const FindingTexts& finding) const {
  std::vector<std::size_t> numbers;
  const auto look_up = [&](const Shape& shape, std::string_view text) {
    if (shape.first + shape.last > text.size()) return;
    const auto found = filed_.find(key(finding.rule, shape, text));
    if (found != filed_.end()) numbers.insert(numbers.end(), found->second.begin(), found->second.end());
  };
  for (const Shape& shape : shapes_) {
    switch (shape.kind) {
      case Kind::kAny: look_up(shape, {}); break;
      case Kind::kOperand:
        for (const FindingTexts::OfStep& step : finding.steps) look_up(shape, step.operand);
        break;
      case Kind::kFrame:
        for (const FindingTexts::OfStep& step : finding.steps)
          for_each_frame_text(step, [&](std::string_view text) { look_up(shape, text); });
        break;
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace heddle
