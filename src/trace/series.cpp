#include "trace/series.h"

#include <algorithm>
#include <optional>

namespace heddle {

namespace {

void put(std::string& to, uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(0x80 | (number & 0x7F));
  to += static_cast<char>(number);
}

uint64_t folded(int64_t number) {
  return static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
}
int64_t unfolded(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

// What is not there is 0, and remembered.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  uint64_t number() {
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      if (text_.empty()) break;
      const auto byte = static_cast<uint8_t>(text_.front());
      text_.remove_prefix(1);
      result |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return result;
    }
    is_good_ = false;
    return 0;
  }
  uint32_t below(uint64_t limit) {
    const uint64_t result = number();
    is_good_ &= result < limit;
    return is_good_ ? static_cast<uint32_t>(result) : 0;
  }
  uint32_t id() { return below(uint64_t{kNoId} + 1) - 1; }  // stored plus one
  std::string_view bytes(uint32_t count) {
    is_good_ &= count <= text_.size();
    const std::string_view result = text_.substr(0, is_good_ ? count : 0);
    text_.remove_prefix(result.size());
    return result;
  }
  bool is_good() const { return is_good_; }
  bool has_ended() const { return is_good_ && text_.empty(); }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
  bool is_good_ = true;
};

// Calls `visit(first step, how many)` for all that the run goes through, in order.
template <class Visit>
bool go_through(const SeriesShape& shape, uint32_t previous, uint32_t rounds, std::string_view path,
                Visit visit) {
  const bool has_path = shape.blocks.size() > 1;
  const std::size_t count = has_path ? path.size() : rounds;
  for (std::size_t i = 0; i < count; ++i) {
    const uint32_t number = has_path ? static_cast<uint8_t>(path[i]) : 0;
    if (number >= shape.blocks.size()) return false;
    const SeriesShape::Block& block = shape.blocks[number];
    for (uint32_t e = block.first_edge; e < block.first_edge + block.edges; ++e)
      if (shape.edges[e].from == previous) visit(shape.edges[e].first_step, shape.edges[e].steps);
    visit(block.first_step, block.steps);
    previous = number;
  }
  return true;
}

}  // namespace

std::string SeriesShape::text() const {
  std::string text;
  put(text, inputs);
  put(text, own);
  put(text, steps.size());
  put(text, edges.size());
  put(text, blocks.size());
  for (const Step& step : steps) {
    put(text, static_cast<uint64_t>(step.operation));
    put(text, uint32_t{step.site + 1});
    put(text, uint32_t{step.target + 1});
    if (step.operation == Operation::kFree) put(text, step.tries ? 1 : 0);
    if (step.operation != Operation::kAssign) continue;
    put(text, step.sources.size());
    for (const uint32_t source : step.sources) put(text, source);
  }
  for (const Edge& edge : edges) {
    put(text, edge.from);
    put(text, edge.first_step);
    put(text, edge.steps);
  }
  for (const Block& block : blocks) {
    put(text, block.first_step);
    put(text, block.steps);
    put(text, block.first_edge);
    put(text, block.edges);
  }
  return text;
}

void SeriesRun::add_to(std::string& text) const {
  put(text, shape);
  put(text, previous);
  put(text, rounds);
  int64_t before = 0;
  for (const uint32_t local : inputs) {
    const int64_t stored = local == kNoId ? 0 : int64_t{local} + 1;
    put(text, folded(stored - before));
    before = stored;
  }
  put(text, path.size());
  text += path;
}

void SeriesRun::add_even(std::string& text, uint32_t first, int64_t distance, std::size_t count) {
  put(text, uint64_t{first} << 1);
  if (count > 1) put(text, folded(distance));
}

void SeriesRun::add_variables(std::string& text, const std::vector<uint32_t>& of_step) {
  if (of_step.empty()) return;
  const auto distance = [&](std::size_t i) { return int64_t{of_step[i]} - int64_t{of_step[i - 1]}; };
  bool is_even = true;
  for (std::size_t i = 2; i < of_step.size() && is_even; ++i) is_even = distance(i) == distance(1);
  if (is_even) return add_even(text, of_step[0], of_step.size() > 1 ? distance(1) : 0, of_step.size());
  put(text, uint64_t{of_step[0]} << 1 | 1);
  for (std::size_t i = 1; i < of_step.size(); ++i) put(text, folded(distance(i)));
}

bool SeriesReader::is_good(const SeriesShape& shape) const {
  const auto within = [](uint32_t first, uint32_t count, std::size_t size) {
    return first <= size && count <= size - first;
  };
  const auto is_operand = [&](uint32_t operand) { return operand < shape.inputs + shape.own; };
  for (const SeriesShape::Step& step : shape.steps) {
    const bool is_other = step.operation == Operation::kAssign || step.operation == Operation::kBranch;
    if (!step.has_variable() && !is_other) return false;
    if (step.is_life() && step.target != SeriesShape::kNoOperand) return false;
    if (step.site != kNoId && step.site >= names_.sites().size()) return false;
    if (!is_operand(step.target) && (is_other || step.target != SeriesShape::kNoOperand)) return false;
    if (!std::all_of(step.sources.begin(), step.sources.end(), is_operand)) return false;
  }
  for (const SeriesShape::Edge& edge : shape.edges)
    if (!within(edge.first_step, edge.steps, shape.steps.size())) return false;
  for (const SeriesShape::Block& block : shape.blocks)
    if (!within(block.first_step, block.steps, shape.steps.size()) ||
        !within(block.first_edge, block.edges, shape.edges.size()))
      return false;
  return !shape.blocks.empty();
}

const SeriesShape* SeriesReader::shape(uint32_t id) {
  const StringTable& texts = names_.table(Space::kShape);
  if (id >= texts.size()) return nullptr;
  if (id >= shapes_.size()) shapes_.resize(texts.size());
  Known& known = shapes_[id];
  if (known.state == Known::State::kNew) {
    Reader text(texts[id]);
    SeriesShape& shape = known.shape;
    shape.inputs = text.below(SeriesShape::kMostOperands);
    shape.own = text.below(SeriesShape::kMostOperands);
    shape.steps.resize(text.below(SeriesShape::kMostSteps + 1));
    shape.edges.resize(text.below(SeriesShape::kMostSteps + 1));
    shape.blocks.resize(text.below(SeriesShape::kMostBlocks + 1));
    for (SeriesShape::Step& step : shape.steps) {
      step.operation = static_cast<Operation>(text.below(kStoredOperations));
      step.site = text.id();
      step.target = text.id();
      step.tries = step.operation == Operation::kFree && text.below(2) == 1;
      if (step.operation != Operation::kAssign) continue;
      step.sources.resize(text.below(SeriesShape::kMostSteps));
      for (uint32_t& source : step.sources) source = text.below(SeriesShape::kMostOperands);
    }
    for (SeriesShape::Edge& edge : shape.edges)
      edge = {text.below(0x10000), text.below(0x10000), text.below(0x10000)};
    for (SeriesShape::Block& block : shape.blocks)
      block = {text.below(0x10000), text.below(0x10000), text.below(0x10000), text.below(0x10000)};
    known.state = text.has_ended() && is_good(shape) ? Known::State::kGood : Known::State::kBad;
  }
  return known.state == Known::State::kGood ? &known.shape : nullptr;
}

bool SeriesReader::read_variables(std::string_view from, const SeriesShape& shape, std::size_t events) {
  Reader text(from);
  const uint32_t known = names_.table(Space::kVariable).size();
  if (variables_.size() < shape.steps.size()) variables_.resize(shape.steps.size());
  if (events > kMostEvents) return false;
  for (std::size_t i = 0; i < shape.steps.size(); ++i) {
    std::vector<uint32_t>& of_step = variables_[i];
    of_step.clear();
    if (!shape.steps[i].has_variable() || times_[i] == 0) continue;
    const uint64_t first = text.number();
    const bool is_even = (first & 1) == 0;
    int64_t variable = static_cast<int64_t>(first >> 1);
    int64_t distance = 0;
    of_step.reserve(times_[i]);
    for (uint32_t time = 0; time < times_[i]; ++time) {
      if (time > 0) {
        if (time == 1 || !is_even) distance = unfolded(text.number());
        if (distance > INT32_MAX * int64_t{2} || distance < INT32_MIN * int64_t{2}) return false;
        variable += distance;
      }
      if (variable < 0 || variable >= int64_t{known} || !text.is_good()) return false;
      of_step.push_back(static_cast<uint32_t>(variable));
    }
  }
  return text.has_ended();
}

uint32_t SeriesReader::list_of(const SeriesShape::Step& step) {
  list_.clear();
  for (const uint32_t source : step.sources) {
    if (locals_[source] == kNoId) continue;
    if (!list_.empty()) list_ += ',';
    list_ += names_.name(Space::kLocal, locals_[source]);
  }
  return list_.empty() ? kNoId : names_.table(Space::kLocalList).intern(list_);
}

bool SeriesReader::add_events(const Event& series, std::vector<Event>& to) {
  Reader text(names_.name(Space::kRun, series.object));
  const SeriesShape* const of = shape(text.below(kNoId));
  if (of == nullptr || !text.is_good()) return false;
  const uint32_t previous = text.below(0x10000);
  const uint32_t rounds = text.below(kMostEvents);
  const uint32_t known = names_.table(Space::kLocal).size();
  locals_.clear();
  int64_t stored = 0;
  for (uint32_t i = 0; i < of->inputs; ++i) {
    stored += unfolded(text.number());
    if (stored < 0 || stored > int64_t{known} || !text.is_good()) return false;
    locals_.push_back(static_cast<uint32_t>(stored) - 1);
  }
  if (of->own > 0 && (series.local >= known || of->own > known - series.local)) return false;
  for (uint32_t i = 0; i < of->own; ++i) locals_.push_back(series.local + i);
  const std::string_view path = text.bytes(text.below(kMostEvents));
  if (!text.is_good() || (of->blocks.size() > 1) == path.empty()) return false;
  times_.assign(of->steps.size(), 0);
  std::size_t events = 0;
  const bool is_whole = go_through(*of, previous, rounds, path, [&](uint32_t first, uint32_t steps) {
    if (events > kMostEvents) return;
    for (uint32_t i = first; i < first + steps; ++i) ++times_[i];
    events += steps;
  });
  if (!is_whole || !read_variables(text.rest(), *of, events)) return false;
  next_.assign(of->steps.size(), 0);
  lists_.assign(of->steps.size(), kNoId);
  for (std::size_t i = 0; i < of->steps.size(); ++i)
    if (of->steps[i].operation == Operation::kAssign && times_[i] > 0) lists_[i] = list_of(of->steps[i]);
  to.reserve(to.size() + events);
  go_through(*of, previous, rounds, path, [&](uint32_t first, uint32_t steps) {
    for (uint32_t i = first; i < first + steps; ++i) {
      const SeriesShape::Step& step = of->steps[i];
      const uint32_t local = step.target == SeriesShape::kNoOperand ? kNoId : locals_[step.target];
      if (!step.has_variable() && local == kNoId) continue;
      Event& event = to.emplace_back();
      event.operation = step.operation;
      event.thread = series.thread;
      event.site = step.site;
      event.tries = step.tries;
      event.object = step.has_variable() ? variables_[i][next_[i]++] : local;
      event.local = step.has_variable() ? local : lists_[i];
    }
  });
  return true;
}

}  // namespace heddle
