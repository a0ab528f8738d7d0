#include "live/told_series.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/flow.h"
#include "trace/event.h"

namespace heddle {

using runtime::Record;
using runtime::SeriesBlock;
using runtime::SeriesEdge;
using runtime::SeriesPattern;
using runtime::SeriesStep;
using runtime::SeriesWalk;

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
  if (pattern.blocks == 0 || pattern.blocks > runtime::kMostBlocks || pattern.steps == 0 ||
      pattern.listed > runtime::kMostListed)
    return false;
  for (const SeriesWalk& walk : std::span(pattern.walk(), pattern.walks))
    if (walk.address < pattern.in_series || walk.address >= addresses) return false;
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
           within(block.first_walk, block.walks, pattern.walks) &&
           (block.listed == 0 ||
            (block.first_listed >= pattern.in_series && within(block.first_listed, block.listed, addresses)));
  });
}

}  // namespace

const SeriesPattern* ToldSeries::pattern_at(uint64_t place) {
  const auto [entry, is_new] = patterns_.try_emplace(place);
  if (is_new && place % 8 == 0 && place + sizeof(SeriesPattern) <= runtime::Channel::kTextBytes) {
    SeriesPattern head;
    std::memcpy(&head, channel_.text + place, sizeof(head));
    const uint64_t bytes = sizeof(head) + head.walks * sizeof(runtime::SeriesWalk) +
                           head.steps * sizeof(SeriesStep) + head.edges * sizeof(SeriesEdge) +
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
  const std::span<const uint8_t> path(result.rounds.path, path_size);
  if (std::ranges::any_of(path, [&](uint8_t number) { return number >= pattern->blocks; })) return result;
  if (uint64_t{pattern->steps} * std::max(result.rounds.rounds, path_size) > uint64_t{1} << 26) return result;
  result.addresses = {words.data() + addresses_at, addresses};
  result.inputs = {reinterpret_cast<const uint32_t*>(words.data() + inputs_at), pattern->inputs};
  result.head = thread.head;
  result.words = words;
  result.pattern = pattern;
  return result;
}

namespace {

// Words but for the inputs, and those.
struct Divided {
  std::span<const uint64_t> before;
  std::span<const uint64_t> inputs;
  std::span<const uint64_t> behind;
};

Divided divided(std::span<const uint64_t> words, const SeriesPattern& pattern) {
  const std::size_t begin = 2 + 2 * std::size_t{pattern.in_series};
  const std::size_t size = (std::size_t{pattern.inputs} + 1) / 2;
  return {words.first(begin), words.subspan(begin, size), words.subspan(begin + size)};
}

}  // namespace

bool ToldSeries::is_of(const Place& place, const Told& told, uint64_t hash) {
  if (place.hash != hash || place.pattern != told.head.name || place.words.size() != told.words.size())
    return false;
  const Divided then = divided(place.words, *told.pattern);
  const Divided now = divided(told.words, *told.pattern);
  return std::ranges::equal(then.before, now.before) && std::ranges::equal(then.behind, now.behind);
}

ToldSeries::Place& ToldSeries::place_of(const Told& told) {
  if (places_.empty()) places_.resize(kPlaces);
  const Divided words = divided(told.words, *told.pattern);
  uint64_t hash = told.head.name;
  for (const std::span<const uint64_t> part : {words.before, words.behind})
    hash = XXH3_64bits_withSeed(part.data(), part.size_bytes(), hash);
  // The first of a pair is the one that was put there last.
  const std::size_t pair = hash % kPlaces & ~std::size_t{1};
  Place& first = places_[pair];
  if (is_of(first, told, hash)) return first;
  Place& second = places_[pair + 1];
  if (is_of(second, told, hash)) return second;
  if (first.pattern != 0) std::swap(first, second);  // else somebody asked in vain
  first.hash = hash;
  first.pattern = 0;  // nothing is known yet; there is no pattern at 0
  return first;
}

ToldSeries::Known* ToldSeries::known(const Told& told, uint64_t thread, uint64_t changes) {
  present_ = &place_of(told);
  if (present_->pattern == 0 || present_->known.changes != changes) return nullptr;
  if (present_->context != context_of(told, thread) ||
      !std::ranges::equal(divided(present_->words, *told.pattern).inputs,
                          divided(told.words, *told.pattern).inputs))
    present_->known.run = 0;
  return &present_->known;
}

// What was there before has to go in either case: so there is room again, sooner or later.
bool ToldSeries::keep(const Told& told) {
  kept_ -= present_->words.size();
  if (kept_ + told.words.size() > kMostWords) {
    *present_ = {};
    present_ = nullptr;
    return false;
  }
  kept_ += told.words.size();
  present_->words.assign(told.words.begin(), told.words.end());
  return true;
}

void ToldSeries::know(const Told& told, Known known) {
  if (!keep(told)) return;
  present_->known = std::move(known);
  present_->pattern = told.head.name;
}

void ToldSeries::know_run(const Told& told, uint64_t thread, uint64_t run, uint64_t events) {
  if (present_ == nullptr) return;
  present_->known.run = run;
  present_->known.events = events;
  present_->context = context_of(told, thread);
  std::ranges::copy(told.words, present_->words.begin());  // with its inputs
}

uint64_t ToldSeries::Told::steps() const {
  if (pattern->blocks == 1) {
    if (rounds.rounds == 0) return 0;
    const SeriesBlock& block = pattern->block()[0];
    uint64_t steps = uint64_t{block.steps} * rounds.rounds;
    for (const SeriesEdge& edge : std::span(pattern->edge() + block.first_edge, block.edges))
      steps += edge.steps * (edge.from == 0 ? uint64_t{rounds.rounds} - 1 : 0) +
               (edge.from == rounds.previous ? edge.steps : 0);
    return steps;
  }
  // From each block, and from outside, to each: paths are long.
  std::array<std::array<uint32_t, runtime::kMostBlocks>, runtime::kMostBlocks + 1> made;
  const auto row = [&](uint16_t from) { return std::min<std::size_t>(from, pattern->blocks); };
  for (std::size_t from = 0; from <= pattern->blocks; ++from)
    for (uint32_t to = 0; to < pattern->blocks; ++to) made[from][to] = pattern->block()[to].steps;
  for (uint32_t to = 0; to < pattern->blocks; ++to) {
    const SeriesBlock& block = pattern->block()[to];
    for (const SeriesEdge& edge : std::span(pattern->edge() + block.first_edge, block.edges))
      made[row(edge.from)][to] += edge.steps;
  }
  uint64_t steps = 0;
  std::size_t previous = row(rounds.previous);
  for (const uint8_t number : std::span(rounds.path, rounds.path_size)) {
    steps += made[previous][number];
    previous = number;
  }
  return steps;
}

uint64_t ToldSeries::Told::events(uint64_t steps) const {
  uint64_t visits[runtime::kMostBlocks] = {rounds.rounds};
  bool is_counted = pattern->blocks == 1;
  for (uint32_t number = 0; number < pattern->blocks; ++number) {
    const SeriesBlock& block = pattern->block()[number];
    uint64_t nothing = 0;
    for (const SeriesStep& step : std::span(pattern->step() + block.first_step, block.steps))
      nothing += is_operation(step, Operation::kBranch) && label(step.target) == 0 ? 1 : 0;
    if (nothing == 0) continue;
    if (!is_counted) {
      visits[0] = 0;
      for (uint32_t i = 0; i < rounds.path_size; ++i) ++visits[rounds.path[i]];
      is_counted = true;
    }
    steps -= nothing * visits[number];
  }
  return steps;
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
