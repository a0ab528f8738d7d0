// What a suppression describes, and how to find the one that describes a finding without trying them all.
#pragma once

#include <tsl/robin_map.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/suppressions.h"

namespace heddle {

// What a step works on: "balance" of "w(balance,5)". Empty when the operation has no operand.
std::string_view operand(const Step& step);
// Whether that is a variable.
bool is_access(const Step& step);

// The texts of a finding that patterns are compared to, taken apart once for all suppressions. Refers to the
// finding.
struct FindingTexts {
  struct OfStep {
    std::string_view operand;
    bool is_access = false;
    std::vector<std::string> places;  // frames and where they are; the directories in front need not match
    std::vector<std::string> names;   // functions and the block
  };

  explicit FindingTexts(const Finding& finding);

  std::string_view rule;  // its id
  std::vector<OfStep> steps;
};

// Whether the suppression, expired or not, describes the finding.
//
// Each pattern of `frames` must describe a step of its own: one of the step's frames (all of it, its place,
// or its function) or its block. A directory in front of the file need not be written. The order does not
// matter, as it does not for fingerprints: the same defect shows its steps in another order in the next run.
bool matches(const Suppression& suppression, const FindingTexts& finding);

// Suppressions by what is certain about their patterns: the bytes before the first wildcard and after the
// last. Each is filed once, under the pattern that it shares with the fewest others, so that thousands of
// entries and thousands of findings do not mean millions of comparisons.
class SuppressionIndex {
 public:
  void add(const Suppression& suppression, std::size_t number);

  // The numbers of all suppressions that may describe the finding, and of few others; ascending.
  std::vector<std::size_t> candidates(const FindingTexts& finding) const;

 private:
  enum class Kind : uint8_t { kAny, kFrame, kOperand };

  // Which bytes of a text have to be those of the pattern.
  struct Shape {
    Kind kind = Kind::kAny;
    bool whole = false;  // all of them; else
    std::size_t first = 0;
    std::size_t last = 0;

    auto operator<=>(const Shape&) const = default;
  };

  static Shape shape_of(Kind kind, std::string_view pattern);
  static uint64_t key(std::string_view rule, const Shape& shape, std::string_view text);

  std::set<Shape> shapes_;                                    // of all patterns filed
  tsl::robin_map<uint64_t, std::vector<std::size_t>> filed_;  // by key(): numbers, ascending
};

}  // namespace heddle
