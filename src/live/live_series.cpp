// Series of rounds (runtime/series.h) as events of a trace: in a recording one event each (trace/series.h),
// else as if the program had told every step.
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
  if (divided_ == Divided::kRecorded && telling.races.empty() && telling.came_back.what == 0 &&
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

// Of an access that every round makes, in series. Variables that lie in a row have numbers in a row, because
// they are met address by address.
bool LiveTrace::add_variables_of_rounds(const ToldSeries::Told& told, const SeriesStep& step,
                                        uint32_t count) {
  const uint64_t stride = told.rounds.series[2 * step.address + 1];
  uint64_t address = told.rounds.series[2 * step.address] + static_cast<uint64_t>(int64_t{step.offset});
  if (step.size == 8) {
    const uint32_t first = variable_at(step, address);
    const uint32_t second = count > 1 ? variable_at(step, address + stride) : first;
    const int64_t distance = int64_t{second} - int64_t{first};
    if (variables_.are_even(address & Record::kAddressMask48, stride, stride == 0 ? 1 : count, first,
                            distance)) {
      SeriesRun::add_even(text_, first, distance, count);
      return true;
    }
  }
  step_variables_.clear();
  for (uint32_t round = 0; round < count; ++round, address += stride) {
    const uint32_t variable = variable_at(step, address);
    if (variable == Variables::kNone) return false;
    step_variables_.push_back(variable);
  }
  SeriesRun::add_variables(text_, step_variables_);
  return true;
}

uint32_t LiveTrace::variable_at(const SeriesStep& step, uint64_t address) {
  series_access_.what = Record::pack(step.operation, step.size, address);
  return variables_.whole(series_access_.address(), step.size);
}

// Of all other accesses, to variables_by_step_; and how often a round begins. False: one is not whole, or
// what is told does not fit together.
template <class Begin, class IsOfRounds>
bool LiveTrace::add_variables_of_visits(const ToldSeries::Told& told, Begin begin, IsOfRounds is_of_rounds,
                                        uint32_t& rounds) {
  const SeriesPattern& pattern = *told.pattern;
  const runtime::SeriesRounds& of = told.rounds;
  if (pattern.blocks == 1 && pattern.listed == 0) {
    rounds = of.rounds;
    return true;
  }
  if (variables_by_step_.size() < pattern.steps) variables_by_step_.resize(pattern.steps);
  for (std::vector<uint32_t>& of_step : variables_by_step_) of_step.clear();
  std::array<std::vector<uint32_t>, runtime::kMostBlocks>& accesses = accesses_by_block_;
  for (uint32_t number = 0; number < pattern.blocks; ++number) {
    const runtime::SeriesBlock& block = pattern.block()[number];
    accesses[number].clear();
    for (uint32_t i = block.first_step; i < uint32_t{block.first_step} + block.steps; ++i)
      if (pattern.step()[i].address != runtime::kNoOperand && !is_of_rounds(i)) accesses[number].push_back(i);
  }
  runtime::ListedAddresses listed(pattern, of, static_cast<uint32_t>(told.addresses.size()));
  const uint32_t visits = pattern.blocks == 1 ? of.rounds : of.path_size;
  for (uint32_t visit = 0; visit < visits; ++visit) {
    const uint32_t number = pattern.blocks == 1 ? 0 : of.path[visit];
    if (number >= pattern.blocks) return false;
    if (number == 0) ++rounds;
    if (!listed.enter(number)) return false;
    for (const uint32_t i : accesses[number]) {
      const SeriesStep& step = pattern.step()[i];
      const uint64_t address =
          step.address >= pattern.in_series
              ? listed[step.address]
              : of.series[2 * step.address] + (uint64_t{rounds} - 1) * of.series[2 * step.address + 1];
      const uint64_t place = address + static_cast<uint64_t>(int64_t{step.offset});
      uint32_t variable = variables_.known_whole(place & Record::kAddressMask48, step.size);
      if (variable == Variables::kNone) {
        begin(step);
        variable = variable_at(step, place);
        if (variable == Variables::kNone) return false;
      }
      variables_by_step_[i].push_back(variable);
    }
  }
  return listed.are_all_used();
}

// False: one of them is not whole.
bool LiveTrace::add_series_variables(const ToldSeries::Told& told) {
  const SeriesPattern& pattern = *told.pattern;
  const auto begin = [&](const SeriesStep& step) {
    series_access_.name = step.name;
    series_access_.pc = step.pc;
    series_access_.context = told.head.context;
  };
  accessing_ = &series_access_;  // where that is, is asked for only where a variable begins
  const auto is_of_rounds = [&](uint32_t i) {
    const runtime::SeriesBlock& block = pattern.block()[0];
    return i >= block.first_step && i < uint32_t{block.first_step} + block.steps &&
           pattern.step()[i].address < pattern.in_series;
  };
  uint32_t visits = 0;  // of the first block
  bool is_whole = add_variables_of_visits(told, begin, is_of_rounds, visits);
  for (uint32_t i = 0; i < pattern.steps && is_whole; ++i) {
    const SeriesStep& step = pattern.step()[i];
    if (step.address == runtime::kNoOperand) continue;
    if (is_of_rounds(i)) {
      begin(step);
      is_whole = visits == 0 || add_variables_of_rounds(told, step, visits);
    } else {
      SeriesRun::add_variables(text_, variables_by_step_[i]);
    }
  }
  accessing_ = nullptr;
  return is_whole;
}

// Sites depend on the call stack.
uint32_t LiveTrace::shape_of(const ToldSeries::Told& told) {
  const auto [entry, is_new] = shapes_.try_emplace(told.head.name << 32 | told.head.context, kNoId);
  if (!is_new) return entry->second;
  const SeriesPattern& pattern = *told.pattern;
  SeriesShape shape;
  shape.inputs = pattern.inputs;
  shape.own = pattern.labels;
  for (const SeriesStep& step : std::span(pattern.step(), pattern.steps)) {
    Record at = {};
    at.pc = step.pc != 0 ? step.pc : told.head.pc;
    at.context = told.head.context;
    SeriesShape::Step& made = shape.steps.emplace_back();
    made.operation = static_cast<Operation>(step.operation);
    made.site = sites_.site_of(at);
    made.target = step.target == runtime::kNoOperand ? SeriesShape::kNoOperand : step.target;
    made.sources.assign(step.source, step.source + step.sources);
  }
  for (const runtime::SeriesEdge& edge : std::span(pattern.edge(), pattern.edges))
    shape.edges.push_back({edge.from, edge.first_step, edge.steps});
  for (const runtime::SeriesBlock& block : std::span(pattern.block(), pattern.blocks))
    shape.blocks.push_back({block.first_step, block.steps, block.first_edge, block.edges});
  const uint32_t id = names_.table(Space::kShape).intern(shape.text());
  shapes_[told.head.name << 32 | told.head.context] = id;
  return id;
}

bool LiveTrace::record_series(const ToldSeries::Told& told, Thread& thread) {
  const SeriesPattern& pattern = *told.pattern;
  const runtime::SeriesRounds& rounds = told.rounds;
  if (told.head.address() + pattern.labels > FlowNames::kInRow) return false;
  Event event;
  event.operation = kSeries;
  event.thread = thread.id;
  if (pattern.labels > 0) event.local = flow_.local(thread.flow, told.head.address());
  // The same addresses have the same variables, as long as none has ended or come apart.
  const uint64_t number = flow_.number_of(thread.flow);
  ToldSeries::Known* known = series_.known(told, number, variables_.changes());
  if (known != nullptr && known->run != 0) {
    event.object = static_cast<uint32_t>(known->run - 1);
    add(event);
    in_series_ += told.events(known->steps) - 1;
    return true;
  }
  run_.shape = shape_of(told);
  run_.previous = rounds.previous;
  run_.rounds = pattern.blocks == 1 ? rounds.rounds : 0;
  run_.path = {reinterpret_cast<const char*>(rounds.path), rounds.path_size};
  run_.inputs.clear();
  for (const uint32_t input : told.inputs) run_.inputs.push_back(flow_.local(thread.flow, input));
  text_.clear();
  run_.add_to(text_);
  uint64_t steps = 0;
  if (known != nullptr) {
    text_ += known->variables;
    steps = known->steps;
  } else {
    const std::size_t begin = text_.size();
    if (!add_series_variables(told)) return false;
    steps = told.steps();
    series_.know(told, {variables_.changes(), text_.substr(begin), steps});
  }
  event.object = names_.table(Space::kRun).intern(text_);
  add(event);
  in_series_ += told.events(steps) - 1;
  series_.know_run(told, number, uint64_t{event.object} + 1);
  return true;
}

}  // namespace heddle
