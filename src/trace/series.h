// Rounds of a loop, which a file has as one event (docs/design/trace-format.md; runtime/series.h says how a
// program tells them). A reader puts what they did in its place, so that nobody else knows of them.
//
// A *shape* is what such rounds have in common: their steps, block by block, with sites and locals. A *run* is
// some rounds of a shape: through which blocks they went, and which variables their accesses were about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/names.h"

namespace heddle {

// Its operand is a run, in Space::kRun. No checker sees it.
inline constexpr auto kSeries = static_cast<Operation>(63);

struct SeriesShape {
  static constexpr uint32_t kFromOutside = 0xFFFF;  // Edge::from: the rounds are the loop's first
  static constexpr uint32_t kMostSteps = 1024;
  static constexpr uint32_t kMostBlocks = 64;

  struct Step {
    Event event;     // all but its thread and, of an access, the variable
    bool is_access;  // one of a plain read or write
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
  std::vector<Step> steps;
  std::vector<Edge> edges;
  std::vector<Block> blocks;  // the first is where each round begins; if there is no other, runs have no path

  std::string text() const;  // in Space::kShape
};

struct SeriesRun {
  uint32_t shape = 0;
  uint32_t previous = SeriesShape::kFromOutside;  // block
  uint32_t rounds = 0;                            // if it has no path
  std::string_view path;                          // a byte for each block
  std::vector<std::vector<uint32_t>> variables;   // by step: those of an access, one for each time it is made

  void add_to(std::string& text) const;  // in Space::kRun
};

// Makes events of runs.
class SeriesReader {
 public:
  // Of one run, so that no file makes a reader take much memory.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 22;

  explicit SeriesReader(const Names& names) : names_(names) {}

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

  const Names& names_;
  std::vector<Known> shapes_;                     // by id
  std::vector<uint32_t> times_;                   // by step: how often the present run does it
  std::vector<std::vector<uint32_t>> variables_;  // SeriesRun::variables of the present one
  std::vector<uint32_t> next_;                    // by step, of its variables
};

}  // namespace heddle
