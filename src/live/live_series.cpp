// Series of rounds (runtime/series.h) as events of a trace: in a recording one event each (trace/series.h), else as if
// the program had told every step.
#include <algorithm>
#include <utility>

#include "live/live_trace.h"

namespace heddle {

using runtime::Record;
using runtime::SeriesPattern;
using runtime::SeriesStep;

void LiveTrace::tell_series(uint32_t stream) {
  Thread& telling = thread(stream);
  const ToldSeries::Told told = series_.told(telling.series);
  telling.series.head = {};
  if (told.pattern == nullptr) return;
  if (telling.race.what != 0) telling.races.push_back(std::exchange(telling.race, {}));
  now_ = telling.id;
  if (divided_ == Divided::kRecorded && telling.races.empty() && telling.stirred.what == 0 &&
      record_series(told, telling))
    return;
  std::vector<Record> races = std::exchange(telling.races, {});
  runtime::for_each_step(*told.pattern, told.rounds, static_cast<uint32_t>(told.addresses.size()),
                         [&](const SeriesStep& step, uint32_t, uint64_t address) {
                           const Record record = told.record(step, address);
                           if (record.what == 0) return;
                           const auto race = std::find_if(races.begin(), races.end(), [&](const Record& one) {
                             return step.address != runtime::kNoOperand && one.ticket >= record.address() &&
                                    one.ticket < record.address() + step.size;
                           });
                           if (race != races.end()) {
                             thread(stream).race = *race;
                             races.erase(race);
                           }
                           translate(stream, record);
                         });
}

// Of each access of each round, one for one; address by address, so that variables that lie in a row have numbers in
// a row.
bool LiveTrace::add_series_variables(const ToldSeries::Told& told, SiteId site) {
  const SeriesPattern& pattern = *told.pattern;
  if (run_.variables.size() < pattern.steps) run_.variables.resize(pattern.steps);
  for (std::vector<uint32_t>& of_step : run_.variables) of_step.clear();
  bool is_whole = true;
  Record at = {};
  accessing_ = &at;
  accessing_at_ = site;
  const auto add = [&](const SeriesStep& step, std::vector<uint32_t>& to, uint64_t address) {
    at.what = Record::pack(step.operation, step.size, address);
    const uint32_t variable = variables_.whole(at.address(), step.size);
    is_whole &= variable != Variables::kNone;
    to.push_back(variable);
  };
  const auto begin = [&](const SeriesStep& step) {
    at.name = step.name;
    at.pc = step.pc;
    at.context = told.head.context;
    accessing_at_ = sites_.site_of(at);
  };
  const runtime::SeriesRounds& rounds = told.rounds;
  if (pattern.blocks == 1 && pattern.listed == 0) {
    for (uint32_t i = 0; i < pattern.steps && is_whole; ++i) {
      const SeriesStep& step = pattern.step()[i];
      if (step.address == runtime::kNoOperand) continue;
      begin(step);
      std::vector<uint32_t>& of_step = run_.variables[i];
      of_step.reserve(rounds.rounds);
      uint64_t address = rounds.series[2 * step.address] + static_cast<uint64_t>(int64_t{step.offset});
      for (uint32_t round = 0; round < rounds.rounds; ++round, address += rounds.series[2 * step.address + 1])
        add(step, of_step, address);
    }
  } else {
    is_whole &= runtime::for_each_step(pattern, rounds, static_cast<uint32_t>(told.addresses.size()),
                                       [&](const SeriesStep& step, uint32_t i, uint64_t address) {
                                         if (step.address == runtime::kNoOperand) return;
                                         if (run_.variables[i].empty() || step.name != 0) begin(step);
                                         add(step, run_.variables[i], address);
                                       });
  }
  accessing_ = nullptr;
  return is_whole;
}

// Sites depend on the call stack, locals on the thread and its labels.
uint32_t LiveTrace::shape_of(const ToldSeries::Told& told, Thread& thread) {
  text_.clear();
  const auto add = [&](uint64_t number) { text_.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  add(told.head.name);
  add(told.head.address());
  add(uint64_t{told.head.context} << 32 | flow_.number_of(thread.flow));
  for (const uint32_t input : told.inputs) add(input);
  if (const auto known = shapes_.find(text_); known != shapes_.end()) return known->second;
  const SeriesPattern& pattern = *told.pattern;
  SeriesShape shape;
  std::vector<uint32_t> kept(pattern.steps + std::size_t{1}, 0);  // steps before each that are events
  for (uint32_t i = 0; i < pattern.steps; ++i) {
    const SeriesStep& step = pattern.step()[i];
    Record record = told.record(step, 0);
    kept[i + 1] = kept[i];
    if (record.what == 0 && step.address == runtime::kNoOperand) continue;
    SeriesShape::Step& made = shape.steps.emplace_back();
    made.is_access = step.address != runtime::kNoOperand;
    made.event.operation = static_cast<Operation>(step.operation);
    if (made.is_access) {
      made.event.local = flow_.local(thread.flow, told.label(step.target));
    } else {
      flow_.set_locals(thread.flow, record, made.event);
      record.caller = 0;
    }
    made.event.site = sites_.site_of(record);
    ++kept[i + 1];
  }
  const auto steps = [&](uint32_t first, uint32_t count) { return std::pair(kept[first], kept[first + count] - kept[first]); };
  for (const runtime::SeriesEdge& edge : std::span(pattern.edge(), pattern.edges)) {
    const auto [first, count] = steps(edge.first_step, edge.steps);
    shape.edges.push_back({edge.from, first, count});
  }
  for (const runtime::SeriesBlock& block : std::span(pattern.block(), pattern.blocks)) {
    const auto [first, count] = steps(block.first_step, block.steps);
    shape.blocks.push_back({first, count, block.first_edge, block.edges});
  }
  const uint32_t id = names_.table(Space::kShape).intern(shape.text());
  shapes_.emplace(text_, id);
  return id;
}

bool LiveTrace::record_series(const ToldSeries::Told& told, Thread& thread) {
  const runtime::SeriesRounds& rounds = told.rounds;
  if (!add_series_variables(told, kNoId)) return false;
  run_.shape = shape_of(told, thread);
  run_.previous = rounds.previous;
  run_.rounds = told.pattern->blocks == 1 ? rounds.rounds : 0;
  run_.path = {reinterpret_cast<const char*>(rounds.path), rounds.path_size};
  text_.clear();
  run_.add_to(text_);
  Event event;
  event.operation = kSeries;
  event.thread = thread.id;
  event.object = names_.table(Space::kRun).intern(text_);
  add(event);
  for (const std::vector<uint32_t>& of_step : run_.variables) in_series_ += of_step.size();
  return true;
}

}  // namespace heddle
