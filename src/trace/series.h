// Rounds of a loop, which a file has as one event (docs/design/trace-format.md; runtime/series.h says how a
// program tells them). A reader puts what they did in its place, so that nobody else knows of them.
//
// Lives of variables in a row that begin or end at once are told in the same way: a round each.
//
// A *shape* is what such rounds have in common: their steps, block by block, with sites. A *run* is some
// rounds of a shape: through which blocks they went, which locals they had, and which variables their
// accesses were about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/names.h"

namespace heddle {

// Its operand is a run, in Space::kRun; its local the first of those that the rounds have for their own. No
// checker sees it.
inline constexpr auto kSeries = static_cast<Operation>(63);

struct SeriesShape {
  static constexpr uint32_t kFromOutside = 0xFFFF;  // Edge::from: the rounds are the loop's first
  static constexpr uint32_t kMostSteps = 1024;
  static constexpr uint32_t kMostBlocks = 64;

  static constexpr uint32_t kMostOperands = 0x10000;
  static constexpr uint32_t kNoOperand = 0xFFFFFFFF;

  struct Step {
    Operation operation;  // kRead, kWrite, kAssign or kBranch; also kAlloc and kFree
    SiteId site;
    uint32_t target;                // operand that is read to, written from, assigned or branched on
    std::vector<uint32_t> sources;  // operands, of an assignment
    bool tries = false;             // of kFree: it is checked
    bool is_life() const { return operation == Operation::kAlloc || operation == Operation::kFree; }
    bool has_variable() const {
      return operation == Operation::kRead || operation == Operation::kWrite || is_life();
    }
  };
  struct Edge {
    uint32_t from;  // the block before
    uint32_t first_step;
    uint32_t steps;
  };
  struct Block {
    uint32_t first_step;
    uint32_t steps;
    uint32_t first_edge;
    uint32_t edges;
  };
  uint32_t inputs = 0;  // operands: first values from outside, whose locals the run has, …
  uint32_t own = 0;     // … then locals in a row, of which the event has the first
  std::vector<Step> steps;
  std::vector<Edge> edges;
  std::vector<Block> blocks;  // the first is where each round begins; if there is no other, runs have no path

  std::string text() const;  // in Space::kShape
};

// In Space::kRun.
struct SeriesRun {
  uint32_t shape = 0;
  uint32_t previous = SeriesShape::kFromOutside;  // block
  uint32_t rounds = 0;                            // if it has no path
  std::string_view path;                          // a byte for each block
  std::vector<uint32_t> inputs;                   // locals; kNoId: a value that depends on nothing

  void add_to(std::string& text) const;
  // Then come the variables of each access that is made, one for each time; or, if all lie equally far from
  // the one before, the first and the distance.
  static void add_even(std::string& text, uint32_t first, int64_t distance, std::size_t count);
  static void add_variables(std::string& text, const std::vector<uint32_t>& of_step);
};

// Makes events of runs.
class SeriesReader {
 public:
  // Of one run, so that no file makes a reader take much memory.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 22;

  explicit SeriesReader(Names& names) : names_(names) {}

  // Appends what the run did. False: it is none that a recorder writes.
  bool add_events(const Event& series, std::vector<Event>& to);

 private:
  struct Known {
    enum class State : uint8_t { kNew, kGood, kBad } state = State::kNew;
    SeriesShape shape;
  };
  const SeriesShape* shape(uint32_t id);
  bool is_good(const SeriesShape& shape) const;
  bool read_variables(std::string_view text, const SeriesShape& shape, std::size_t events);

  uint32_t list_of(const SeriesShape::Step& step);

  Names& names_;
  std::vector<Known> shapes_;     // by id
  std::vector<uint32_t> locals_;  // by operand, of the present run
  std::vector<uint32_t> lists_;   // by step: the sources of an assignment
  std::string list_;
  std::vector<uint32_t> times_;                   // by step: how often the present run does it
  std::vector<std::vector<uint32_t>> variables_;  // by step, of the present one
  std::vector<uint32_t> next_;                    // by step, of its variables
};

}  // namespace heddle
