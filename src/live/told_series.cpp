#include "live/told_series.h"

#include <algorithm>
#include <cstring>

#include "runtime/flow.h"
#include "trace/event.h"

namespace heddle {

using runtime::Record;
using runtime::SeriesBlock;
using runtime::SeriesEdge;
using runtime::SeriesPattern;
using runtime::SeriesStep;

namespace {

bool is_operation(const SeriesStep& step, Operation operation) {
  return step.operation == static_cast<uint8_t>(operation);
}

bool is_access(const SeriesStep& step) {
  return is_operation(step, Operation::kRead) || is_operation(step, Operation::kWrite);
}

// Whether no number in it leads out of it.
bool is_good(const SeriesPattern& pattern) {
  const auto within = [](uint32_t first, uint32_t count, uint32_t size) { return first + count <= size; };
  const uint32_t operands = uint32_t{pattern.inputs} + pattern.labels;
  const uint32_t addresses = uint32_t{pattern.in_series} + pattern.listed;
  const auto is_operand = [&](uint16_t operand) {
    return operand == runtime::kNoOperand || operand < operands;
  };
  if (pattern.blocks == 0 || pattern.blocks > runtime::kMostBlocks || pattern.steps == 0 || pattern.listed > runtime::kMostListed) return false;
  for (const SeriesStep& step : std::span(pattern.step(), pattern.steps)) {
    const bool is_other = is_operation(step, Operation::kAssign) || is_operation(step, Operation::kBranch);
    if (!is_access(step) && !is_other) return false;
    if (is_access(step) ? step.address >= addresses || step.size == 0 || step.size > 8
                        : step.address != runtime::kNoOperand)
      return false;
    if (!is_operand(step.target) || step.sources > runtime::kMostSources) return false;
    if (!std::all_of(step.source, step.source + runtime::kMostSources, is_operand)) return false;
  }
  for (const SeriesEdge& edge : std::span(pattern.edge(), pattern.edges))
    if (!within(edge.first_step, edge.steps, pattern.steps)) return false;
  return std::ranges::all_of(std::span(pattern.block(), pattern.blocks), [&](const SeriesBlock& block) {
    return within(block.first_step, block.steps, pattern.steps) &&
           within(block.first_edge, block.edges, pattern.edges) &&
           (block.listed == 0 || (block.first_listed >= pattern.in_series &&
                                  within(block.first_listed, block.listed, addresses)));
  });
}

}  // namespace

const SeriesPattern* ToldSeries::pattern_at(uint64_t place) {
  const auto [entry, is_new] = patterns_.try_emplace(place);
  if (is_new && place % 8 == 0 && place + sizeof(SeriesPattern) <= runtime::Channel::kTextBytes) {
    SeriesPattern head;
    std::memcpy(&head, channel_.text + place, sizeof(head));
    const uint64_t bytes = sizeof(head) + head.steps * sizeof(SeriesStep) + head.edges * sizeof(SeriesEdge) +
                           head.blocks * sizeof(SeriesBlock);
    if (place + bytes <= runtime::Channel::kTextBytes) {
      auto copy = std::make_unique<uint64_t[]>((bytes + 7) / 8);
      std::memcpy(copy.get(), channel_.text + place, bytes);
      std::memcpy(copy.get(), &head, sizeof(head));
      if (is_good(*reinterpret_cast<const SeriesPattern*>(copy.get()))) entry.value() = std::move(copy);
    }
  }
  return reinterpret_cast<const SeriesPattern*>(entry->second.get());
}

void ToldSeries::begin(Thread& thread, const Record& head) {
  thread.head = head;
  thread.words.clear();
}

bool ToldSeries::add(Thread& thread, const Record& words) {
  if (thread.head.what == 0) return false;
  const uint64_t last = words.context | uint64_t{words.extra} << 32;
  thread.words.insert(thread.words.end(), {words.pc, words.name, words.caller, last});
  return thread.words.size() >= thread.head.extra;
}

ToldSeries::Told ToldSeries::told(const Thread& thread) {
  Told result;
  const SeriesPattern* const pattern = pattern_at(thread.head.name);
  const std::vector<uint64_t>& words = thread.words;
  if (pattern == nullptr || words.size() < 2) return result;
  const auto path_size = static_cast<uint32_t>(words[1]);
  const auto addresses = static_cast<uint32_t>(words[1] >> 32);
  const uint64_t inputs_at = 2 + 2 * uint64_t{pattern->in_series};
  const uint64_t addresses_at = inputs_at + (uint64_t{pattern->inputs} + 1) / 2;
  const uint64_t path_at = addresses_at + addresses;
  if (path_at + (uint64_t{path_size} + 7) / 8 > words.size()) return result;
  result.rounds = {static_cast<uint32_t>(words[0] >> 32),
                   static_cast<uint16_t>(words[0]),
                   path_size,
                   reinterpret_cast<const uint8_t*>(words.data() + path_at),
                   words.data() + 2,
                   words.data() + addresses_at};
  if (uint64_t{pattern->steps} * std::max(result.rounds.rounds, path_size) > uint64_t{1} << 26) return result;
  result.addresses = {words.data() + addresses_at, addresses};
  result.inputs = {reinterpret_cast<const uint32_t*>(words.data() + inputs_at), pattern->inputs};
  result.head = thread.head;
  result.words = words;
  result.pattern = pattern;
  return result;
}

uint64_t ToldSeries::place_of(const Told& told) {
  uint64_t hash = mix(told.head.name);
  const std::size_t inputs = 2 + 2 * std::size_t{told.pattern->in_series};
  for (std::size_t i = 0; i < told.words.size(); ++i)
    if (i < inputs || i >= inputs + (told.inputs.size() + 1) / 2)
      hash = (hash ^ told.words[i]) * 0x9E3779B97F4A7C15 ^ hash >> 32;
  return mix(hash) % kKnown;
}

bool ToldSeries::is_same(const Known& known, const Told& told) {
  const std::size_t inputs = 2 + 2 * std::size_t{told.pattern->in_series};
  const std::size_t behind = inputs + (told.inputs.size() + 1) / 2;
  return known.place == told.head.name && known.words.size() == told.words.size() &&
         std::equal(known.words.begin(), known.words.begin() + static_cast<std::ptrdiff_t>(inputs),
                    told.words.begin()) &&
         std::equal(known.words.begin() + static_cast<std::ptrdiff_t>(behind), known.words.end(),
                    told.words.begin() + static_cast<std::ptrdiff_t>(behind));
}

const std::string* ToldSeries::known_variables(const Told& told, uint64_t changes) {
  if (told.words.size() > kMostWords) return nullptr;
  if (known_.empty()) known_.resize(kKnown);
  const Known& known = known_[place_of(told)];
  return known.changes == changes && is_same(known, told) ? &known.text : nullptr;
}

void ToldSeries::know_variables(const Told& told, uint64_t changes, std::string text) {
  if (told.words.size() <= kMostWords)
    known_[place_of(told)] = {changes, told.head.name, {told.words.begin(), told.words.end()}, std::move(text)};
}

uint64_t ToldSeries::Told::events() const {
  uint64_t by_block[runtime::kMostBlocks] = {};
  const auto count = [&](uint32_t first, uint32_t steps) {
    uint64_t events = 0;
    for (const SeriesStep& step : std::span(pattern->step() + first, steps))
      events += is_access(step) || label(step.target) != 0 ? 1 : 0;
    return events;
  };
  for (uint32_t i = 0; i < pattern->blocks; ++i)
    by_block[i] = count(pattern->block()[i].first_step, pattern->block()[i].steps);
  uint64_t events = 0;
  uint16_t previous = rounds.previous;
  const uint32_t visits = pattern->blocks > 1 ? rounds.path_size : rounds.rounds;
  for (uint32_t i = 0; i < visits; ++i) {
    const uint16_t number = pattern->blocks > 1 ? rounds.path[i] : 0;
    const SeriesBlock& block = pattern->block()[number];
    for (const SeriesEdge& edge : std::span(pattern->edge() + block.first_edge, block.edges))
      if (edge.from == previous) events += edge.steps;  // assignments
    events += by_block[number];
    previous = number;
  }
  return events;
}

Record ToldSeries::Told::record(const SeriesStep& step, uint64_t address) const {
  Record record = {};
  record.pc = step.pc != 0 ? step.pc : head.pc;
  record.context = head.context;
  const uint64_t target = label(step.target);
  if (is_access(step)) {
    record.what = Record::pack(step.operation, step.size, address);
    record.name = step.name;
    record.extra = static_cast<uint32_t>(target) << runtime::kOrderBits;
    return record;
  }
  if (target == 0) return {};
  record.what = Record::pack(step.operation, 0, target);
  if (!is_operation(step, Operation::kAssign)) return record;
  std::array<uint64_t, runtime::kMostSources> from = {};
  for (uint32_t i = 0; i < step.sources; ++i) from[i] = label(step.source[i]);
  record.what |= from[5] << runtime::kLabelBits;
  record.name = from[0] | from[1] << 32;
  record.caller = from[2] | from[3] << 32;
  record.extra = static_cast<uint32_t>(from[4]);
  return record;
}

}  // namespace heddle
