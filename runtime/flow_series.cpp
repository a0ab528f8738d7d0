// Loops that are told as series of rounds (runtime/series.h).
#include "runtime/connection.h"
#include "runtime/flow.h"
#include "runtime/flow_labels.h"
#include "runtime/flow_thread.h"
#include "runtime/interpose/real.h"
#include "runtime/own_variables.h"
#include "runtime/put.h"
#include "runtime/series.h"
#include "runtime/series_races.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

__attribute__((visibility("default"))) __thread HeddleSeriesBuffer heddle_series_buffer = {};

namespace heddle::runtime {

namespace {

// Where the pattern lies in the channel; 0: there is no room for it.
uint32_t place_in_channel(SeriesPattern& pattern) {
  if (const uint32_t known = __atomic_load_n(&pattern.told, __ATOMIC_ACQUIRE); known != 0) return known;
  Channel* const to = channel;
  const uint32_t at = (to->text_bytes.fetch_add(pattern.bytes + 8) + 7) & ~7U;
  // The upper half is the monitor's.
  if (at + pattern.bytes > Channel::kTextBytes / 2) return 0;
  __builtin_memcpy(to->text + at, &pattern, pattern.bytes);
  __atomic_store_n(&pattern.told, at, __ATOMIC_RELEASE);
  return at;
}

// A series' records come one after the other, whatever else the thread would tell.
class Words {
 public:
  Words(Thread& thread) : thread_(thread) {}

  void add(uint64_t word) {
    word_[count_++] = word;
    if (count_ == kSeriesWords) flush();
  }
  void flush() {
    if (count_ == 0) return;
    Told told = {.operation = kToldSeriesWords,
                 .pc = reinterpret_cast<const void*>(word_[0]),
                 .extra = static_cast<uint32_t>(word_[3] >> 32),
                 .name = word_[1],
                 .caller = word_[2],
                 .context = static_cast<uint32_t>(word_[3])};
    if (has_places(thread_, 1)) {
      put(thread_, make_record(told, told.context));
    } else {
      tell_words(thread_, told);
    }
    count_ = 0;
    word_[0] = word_[1] = word_[2] = word_[3] = 0;
  }

 private:
  Thread& thread_;
  uint64_t word_[kSeriesWords] = {};
  uint32_t count_ = 0;
};

// Reads of what was written are no longer what they were.
void forget_written(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t rounds) {
  constexpr uint32_t kFew = 128;
  if (pattern.blocks > 1 || pattern.listed > 0 || rounds > kFew) return forget_all_reads();
  for (uint32_t i = 0; i < pattern.steps; ++i) {
    const SeriesStep& step = pattern.step()[i];
    if (step.operation != static_cast<uint8_t>(Operation::kWrite)) continue;
    uint64_t address = of.series[std::size_t{2} * step.address] + static_cast<uint64_t>(int64_t{step.offset});
    for (uint32_t round = 0; round < rounds; ++round, address += of.series[2 * step.address + 1])
      forget_reads(reinterpret_cast<const void*>(address), step.size);
  }
}

// What a block branches on from outside the loop is branched on, once the loop has gone through it.
void know_branches(const SeriesPattern& pattern, const SeriesRounds& of, const uint64_t* inputs) {
  uint64_t visited = 1;
  for (uint32_t i = 0; i < of.path_size; ++i) visited |= uint64_t{1} << of.path[i];
  for (uint32_t number = 0; number < pattern.blocks; ++number) {
    if ((visited >> number & 1) == 0) continue;
    const SeriesBlock& block = pattern.block()[number];
    for (uint32_t i = block.first_step; i < uint32_t{block.first_step} + block.steps; ++i) {
      const SeriesStep& step = pattern.step()[i];
      if (step.operation == static_cast<uint8_t>(Operation::kBranch) && step.target < pattern.inputs)
        know_branch(static_cast<uint32_t>(inputs[step.target]));
    }
  }
}

// Later rounds do not have what only the first one begins with: the less differs, the more is the same as
// before.
void drop_first_inputs(const SeriesPattern& pattern, uint64_t* inputs) {
  constexpr uint32_t kMost = 64;
  if (pattern.inputs == 0 || pattern.inputs > kMost) return;
  uint64_t used = 0;
  const auto use = [&](uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; ++i) {
      const SeriesStep& step = pattern.step()[i];
      if (step.target < pattern.inputs) used |= uint64_t{1} << step.target;
      for (uint32_t source = 0; source < step.sources; ++source)
        if (step.source[source] < pattern.inputs) used |= uint64_t{1} << step.source[source];
    }
  };
  for (uint32_t number = 0; number < pattern.blocks; ++number)
    use(pattern.block()[number].first_step, pattern.block()[number].steps);
  for (uint32_t i = 0; i < pattern.edges; ++i)
    if (pattern.edge()[i].from != kFromOutside) use(pattern.edge()[i].first_step, pattern.edge()[i].steps);
  for (uint32_t i = 0; i < pattern.inputs; ++i)
    if ((used >> i & 1) == 0) inputs[i] = 0;
}

uint32_t rounds_of(const HeddleSeriesRun& run) {
  if (run.pattern->blocks == 1) return static_cast<uint32_t>(run.rounds);
  uint32_t rounds = 0;
  for (uint64_t i = 0; i < run.path; ++i) rounds += heddle_series_buffer.path[i] == 0 ? 1 : 0;
  return rounds;
}

void tell_rounds(Thread& thread, const HeddleSeriesRun& run, uint32_t place, const SeriesRounds& of,
                 uint32_t addresses, const uint64_t* inputs, const void* pc) {
  const SeriesPattern& pattern = *run.pattern;
  const uint32_t words =
      2 + 2 * pattern.in_series + (pattern.inputs + 1) / 2 + addresses + (of.path_size + 7) / 8;
  tell_quickly(thread, {.operation = kToldSeries,
                        .address = reinterpret_cast<const void*>(run.label),
                        .pc = pc,
                        .extra = words,
                        .name = place});
  const Inside inside;
  Words to(thread);
  to.add(of.previous | uint64_t{of.rounds} << 32);
  to.add(of.path_size | uint64_t{addresses} << 32);
  for (uint32_t i = 0; i < 2U * pattern.in_series; ++i) to.add(of.series[i]);
  for (uint32_t i = 0; i < pattern.inputs; i += 2)
    to.add(inputs[i] | (i + 1 < pattern.inputs ? inputs[i + 1] << 32 : 0));
  for (uint32_t i = 0; i < addresses; ++i) to.add(of.addresses[i]);
  for (uint32_t i = 0; i < of.path_size; i += 8) {
    uint64_t word = 0;
    __builtin_memcpy(&word, of.path + i, of.path_size - i < 8 ? of.path_size - i : 8);
    to.add(word);
  }
  to.flush();
}

// There is no room for the pattern in the channel.
void tell_each_step(Thread& thread, const HeddleSeriesRun& run, const SeriesRounds& of, uint32_t addresses,
                    const uint64_t* inputs) {
  const SeriesPattern& pattern = *run.pattern;
  const auto label = [&](uint16_t operand) -> uint64_t {
    if (operand == kNoOperand) return 0;
    return operand < pattern.inputs ? inputs[operand] : run.label + operand - pattern.inputs;
  };
  for_each_step(pattern, of, addresses, [&](const SeriesStep& step, uint32_t, uint64_t address) {
    const uint64_t target = label(step.target);
    Told told = {.operation = step.operation, .pc = reinterpret_cast<const void*>(step.pc)};
    if (step.address != kNoOperand) {
      told.address = reinterpret_cast<const void*>(address);
      told.size = step.size;
      told.extra = static_cast<uint32_t>(target) << kOrderBits;
      told.name = step.name;
    } else {
      if (target == 0) return;
      uint64_t from[kMostSources] = {};
      for (uint32_t i = 0; i < step.sources; ++i) from[i] = label(step.source[i]);
      told.address = reinterpret_cast<const void*>(target | from[5] << kLabelBits);
      told.name = from[0] | from[1] << 32;
      told.caller = from[2] | from[3] << 32;
      told.extra = static_cast<uint32_t>(from[4]);
    }
    tell_quickly(thread, told);
  });
}

// Of all that is on the stack, the deepest place matters.
void see_stack(const SeriesPattern& pattern, const SeriesRounds& of, uint32_t addresses) {
  const auto see = [](uint64_t address) {
    const auto* const at = reinterpret_cast<const char*>(address);
    if (at < flow_thread.deepest && at >= flow_thread.deepest_possible) flow_thread.deepest = at;
  };
  int64_t least = 0;  // of what is listed
  for (uint32_t i = 0; i < pattern.steps; ++i) {
    const SeriesStep& step = pattern.step()[i];
    if (step.address < pattern.in_series) {
      const uint64_t first =
          of.series[std::size_t{2} * step.address] + static_cast<uint64_t>(int64_t{step.offset});
      see(first);
      see(first + (of.rounds - 1) * of.series[2 * step.address + 1]);
    } else if (step.address != kNoOperand && step.offset < least) {
      least = step.offset;
    }
  }
  for (uint32_t a = 0; a < addresses; ++a) see(of.addresses[a] + static_cast<uint64_t>(least));
  bool goes_down = false;
  for (uint32_t i = 0; i < pattern.walks; ++i) goes_down |= pattern.walk()[i].stride < 0;
  if (!goes_down) return;
  ListedAddresses listed(pattern, of, addresses);
  for (uint32_t visit = 0; visit < of.path_size; ++visit) {
    listed.enter(of.path[visit]);
    const SeriesBlock& block = pattern.block()[of.path[visit]];
    for (uint32_t i = block.first_walk; i < uint32_t{block.first_walk} + block.walks; ++i)
      see(listed[static_cast<uint16_t>(pattern.walk()[i].address)] + static_cast<uint64_t>(least));
  }
}

// Of a loop with one block, in the order in which it goes; of another one, as if it had.
void see_own_variables(const SeriesPattern& pattern, const SeriesRounds& of) {
  const auto first = [&](const SeriesStep& step) {
    return of.series[std::size_t{2} * step.address] + static_cast<uint64_t>(int64_t{step.offset});
  };
  bool has_any = false;
  for (uint32_t i = 0; i < pattern.steps; ++i) {
    const SeriesStep& step = pattern.step()[i];
    has_any |=
        step.address < pattern.in_series && is_own_variable(reinterpret_cast<const void*>(first(step)));
  }
  for (uint32_t round = 0; has_any && round < of.rounds; ++round)
    for (uint32_t i = 0; i < pattern.steps; ++i) {
      const SeriesStep& step = pattern.step()[i];
      if (step.address >= pattern.in_series) continue;
      const auto* const at =
          reinterpret_cast<const void*>(first(step) + round * of.series[2 * step.address + 1]);
      if (!is_own_variable(at)) continue;
      if (step.operation == static_cast<uint8_t>(Operation::kWrite)) {
        own_variable_is_written(at);
      } else {
        own_variable_is_read(at, reinterpret_cast<const char*>(step.name),
                             reinterpret_cast<const void*>(step.pc));
      }
    }
}

}  // namespace

// From the constructors of files that have such loops: where the code lies that does what their patterns say.
HEDDLE_INTERPOSE void heddle_series_places(uint64_t* begin, uint64_t* end) {
  for (uint64_t* place = begin; place < end; place += 2) *reinterpret_cast<uint64_t*>(place[1]) = place[0];
}

// Before the loop. The first of the labels that it has for its own; 0: it is not to be told.
HEDDLE_INTERPOSE uint32_t heddle_series_begin(const SeriesPattern* pattern) {
  if (telling_thread() == nullptr) return 0;
  return fresh_labels(pattern->labels, pattern->keeps_labels != 0);
}

// When the loop is left, or has kept as much as it can.
HEDDLE_INTERPOSE void heddle_series_tell(HeddleSeriesRun* run) {
  Thread* const thread = telling_thread();
  SeriesPattern& pattern = *run->pattern;
  if (thread == nullptr || run->label == 0 || channel == nullptr) return;
  const void* const pc = HEDDLE_HERE;
  auto* const series = reinterpret_cast<uint64_t*>(run + 1);
  uint64_t* const inputs = series + std::size_t{2} * pattern.in_series;
  const uint32_t rounds = rounds_of(*run);
  if (rounds == 0 && run->path == 0) return;
  if (run->previous != kFromOutside) drop_first_inputs(pattern, inputs);
  for (uint32_t i = 0; i < pattern.inputs; ++i)
    inputs[i] = settled(*thread, static_cast<uint32_t>(inputs[i]));
  SeriesRounds of = {rounds,
                     static_cast<uint16_t>(run->previous),
                     static_cast<uint32_t>(run->path),
                     heddle_series_buffer.path,
                     series,
                     heddle_series_buffer.addresses};
  const auto addresses = static_cast<uint32_t>(run->addresses);
  see_stack(pattern, of, addresses);
  see_own_variables(pattern, of);
  look_for_races(pattern, of, rounds, addresses);
  if (pattern.writes) forget_written(pattern, of, rounds);
  const auto advance = [&](uint32_t by) {
    for (std::size_t i = 0; i < pattern.in_series; ++i) series[2 * i] += by * series[2 * i + 1];
    run->previous = of.previous = pattern.blocks == 1 ? 0 : of.path[of.path_size - 1];
  };
  if (const uint32_t place = place_in_channel(pattern); place != 0) {
    // Long ones in pieces, where nothing is listed.
    const uint32_t most = pattern.blocks == 1 && addresses == 0 ? kMostAtOnce / pattern.steps : rounds;
    for (uint32_t left = rounds; left > most; left -= most) {
      of.rounds = most;
      tell_rounds(*thread, *run, place, of, 0, inputs, pc);
      advance(most);
      of.rounds = left - most;
    }
    tell_rounds(*thread, *run, place, of, addresses, inputs, pc);
  } else {
    tell_each_step(*thread, *run, of, addresses, inputs);
  }
  advance(of.rounds);
  know_branches(pattern, of, inputs);
  const auto label = static_cast<uint32_t>(run->label);
  if (!pattern.keeps_labels) return release_labels(label);
  // There were no more labels: whoever has these may have others' soon.
  for (uint32_t i = 0; label == kMostLabels && i < pattern.labels; ++i) branch(label + i, pc);
}

}  // namespace heddle::runtime
