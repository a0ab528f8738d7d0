// Series of rounds (runtime/series.h) as events of a trace: in a recording one event each (trace/series.h),
// else as if the program had told every step.
#include <algorithm>
#include <utility>

#include "live/live_trace.h"

namespace heddle {

using runtime::Record;
using runtime::SeriesPattern;
using runtime::SeriesStep;

namespace {

bool is_access(const SeriesStep& step) { return step.address != runtime::kNoOperand; }

}  // namespace

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

// Of an access whose addresses lie equally far apart. Variables that lie in a row have numbers in a row,
// because they are met address by address.
bool LiveTrace::add_variables_in_row(const SeriesStep& step, const InRow& row) {
  uint64_t address = row.first;
  const EvenRows::Accesses accesses = {address & Record::kAddressMask48, row.stride, row.count, step.size};
  if (EvenRows::Numbers known; even_rows_.find(accesses, variables_.changes(), known)) {
    SeriesRun::add_even(text_, known.first, known.distance, row.count);
    return true;
  }
  const uint32_t first = variable_in_row(step, row, 0);
  const uint32_t second = row.count > 1 ? variable_in_row(step, row, 1) : first;
  const int64_t distance = int64_t{second} - int64_t{first};
  if (first != Variables::kNone && second != Variables::kNone &&
      variables_.are_even(address & Record::kAddressMask48, step.size, row.stride,
                          row.stride == 0 ? 1 : row.count, first, distance)) {
    even_rows_.add(accesses, variables_.changes(), {first, distance});
    SeriesRun::add_even(text_, first, distance, row.count);
    return true;
  }
  step_variables_.clear();
  for (uint32_t i = 0; i < row.count; ++i, address += row.stride) {
    const uint32_t variable = variable_in_row(step, row, i);
    if (variable == Variables::kNone) return false;
    step_variables_.push_back(variable);
  }
  SeriesRun::add_variables(text_, step_variables_);
  return true;
}

uint32_t LiveTrace::variable_in_row(const SeriesStep& step, const InRow& row, uint32_t i) {
  const uint64_t address = row.first + i * row.stride;
  const uint32_t known = variables_.known_whole(address & Record::kAddressMask48, step.size);
  if (known != Variables::kNone) return known;
  begin_array(step, row, address & Record::kAddressMask48);
  return variable_at(step, address);
}

// What lies at the address and behind it, and is accessed by the step alone or together with other steps
// (`a[i]` and `a[i + 1]`, with i += 2).
void LiveTrace::begin_array(const SeriesStep& step, const InRow& row, uint64_t address) {
  constexpr uint32_t kFew = 8;
  constexpr uint64_t kMostLanes = 64;
  const uint64_t size = step.size;
  if (row.count < kFew || row.stride < size || row.stride % size != 0) return;
  const uint64_t lanes = row.stride / size;
  if (lanes > kMostLanes) return;
  // Each lane is one step's, or there are gaps.
  uint64_t has_lane = 0;
  uint64_t begin = 0;           // where the last of the lanes begins
  uint64_t end = ~uint64_t{0};  // where the first ends
  for (const InRow& other : rows_by_step_) {
    if (other.step == nullptr || other.step->size != step.size || other.step->name != step.name ||
        other.stride != row.stride)
      continue;
    const uint64_t start = other.first & Record::kAddressMask48;
    const uint64_t behind = start + other.count * row.stride;
    // Near enough to be of the same array.
    if ((start - address) % size != 0 || start > address + row.stride || behind < address) continue;
    has_lane |= uint64_t{1} << start / size % lanes;
    begin = std::max(begin, start);
    end = std::min(end, behind);
  }
  if (has_lane != (lanes == kMostLanes ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1)) return;
  begin = begin + size - row.stride;
  if (address < begin || address >= end) return;
  variables_.begin_row(address, step.size, (end - address) / size);
}

uint32_t LiveTrace::variable_at(const SeriesStep& step, uint64_t address) {
  series_access_.what = Record::pack(step.operation, step.size, address);
  return variables_.whole(series_access_.address(), step.size);
}

// Which accesses have addresses that lie equally far apart, to rows_by_step_. False: what is told does not
// fit together.
bool LiveTrace::find_rows(const ToldSeries::Told& told) {
  const SeriesPattern& pattern = *told.pattern;
  const runtime::SeriesRounds& of = told.rounds;
  struct Visits {
    uint64_t first = 0;  // round that goes through the block
    uint32_t count = 0;
    bool is_once_a_round = true;  // from the first on
  };
  std::array<Visits, runtime::kMostBlocks> visits_of{};
  std::array<InRow, runtime::kMostListed> rows_of{};  // by listed address
  uint64_t round = ~uint64_t{0};                      // what is told may go on within one
  const uint32_t all = pattern.blocks == 1 ? of.rounds : of.path_size;
  if (pattern.blocks == 1 && pattern.listed == 0) {
    visits_of[0].count = all;
  } else {
    uint64_t to_visit = 0;  // blocks that have accesses, a bit each
    for (uint32_t number = 0; number < pattern.blocks; ++number) {
      const runtime::SeriesBlock& block = pattern.block()[number];
      const std::span steps(pattern.step() + block.first_step, block.steps);
      if (block.changes_addresses() || std::ranges::any_of(steps, is_access))
        to_visit |= uint64_t{1} << number;
    }
    runtime::ListedAddresses listed(pattern, of, static_cast<uint32_t>(told.addresses.size()));
    for (uint32_t i = 0; i < all; ++i) {
      const uint32_t number = pattern.blocks == 1 ? 0 : of.path[i];
      if (number == 0) ++round;
      if ((to_visit >> number & 1) == 0) {
        listed.pass(number);
        continue;
      }
      Visits& visits = visits_of[number];
      if (visits.count == 0) visits.first = round;
      visits.is_once_a_round &= round == visits.first + visits.count;
      ++visits.count;
      if (!listed.enter(number)) return false;
      const runtime::SeriesBlock& block = pattern.block()[number];
      for (uint32_t a = block.first_listed; a < uint32_t{block.first_listed} + block.listed; ++a) {
        InRow& row = rows_of[a - pattern.in_series];
        const uint64_t address = listed[static_cast<uint16_t>(a)];
        if (row.count == 0) row.first = address;
        if (row.count == 1) row.stride = address - row.first;
        row.is_even &= address == row.first + row.count * row.stride;
        ++row.count;
      }
    }
    if (!listed.are_all_used()) return false;
  }
  rows_by_step_.assign(pattern.steps, {});
  for (uint32_t number = 0; number < pattern.blocks; ++number) {
    const runtime::SeriesBlock& block = pattern.block()[number];
    const Visits& visits = visits_of[number];
    for (uint32_t i = block.first_step; i < uint32_t{block.first_step} + block.steps; ++i) {
      const SeriesStep& step = pattern.step()[i];
      InRow& row = rows_by_step_[i];
      if (step.address < pattern.in_series && visits.is_once_a_round) {
        const uint64_t* const series = of.series + 2 * step.address;
        row = {.first = series[0] + visits.first * series[1], .stride = series[1], .count = visits.count};
      } else if (step.address >= block.first_listed && step.address < block.first_listed + block.listed &&
                 rows_of[step.address - pattern.in_series].is_even) {
        row = rows_of[step.address - pattern.in_series];
      } else {
        continue;
      }
      row.step = &step;
      row.first += static_cast<uint64_t>(int64_t{step.offset});
    }
  }
  return true;
}

// Of accesses that are not one of each of some rounds, to variables_by_step_. False: one is not whole, or
// what is told does not fit together.
template <class Begin>
bool LiveTrace::add_variables_of_visits(const ToldSeries::Told& told, Begin begin) {
  const SeriesPattern& pattern = *told.pattern;
  const runtime::SeriesRounds& of = told.rounds;
  if (variables_by_step_.size() < pattern.steps) variables_by_step_.resize(pattern.steps);
  for (std::vector<uint32_t>& of_step : variables_by_step_) of_step.clear();
  std::array<std::vector<uint32_t>, runtime::kMostBlocks>& accesses = accesses_by_block_;
  uint64_t to_visit = 0;  // blocks, a bit each
  uint64_t has_any = 0;
  for (uint32_t number = 0; number < pattern.blocks; ++number) {
    const runtime::SeriesBlock& block = pattern.block()[number];
    accesses[number].clear();
    for (uint32_t i = block.first_step; i < uint32_t{block.first_step} + block.steps; ++i)
      if (is_access(pattern.step()[i]) && rows_by_step_[i].step == nullptr) accesses[number].push_back(i);
    const uint64_t bit = uint64_t{1} << number;
    if (!accesses[number].empty()) has_any |= bit;
    if (!accesses[number].empty() || block.changes_addresses()) to_visit |= bit;
  }
  if (has_any == 0) return true;
  runtime::ListedAddresses listed(pattern, of, static_cast<uint32_t>(told.addresses.size()));
  const uint32_t visits = pattern.blocks == 1 ? of.rounds : of.path_size;
  uint64_t round = ~uint64_t{0};
  for (uint32_t visit = 0; visit < visits; ++visit) {
    const uint32_t number = pattern.blocks == 1 ? 0 : of.path[visit];
    if (number == 0) ++round;
    if ((to_visit >> number & 1) == 0) {
      listed.pass(number);
      continue;
    }
    if (!listed.enter(number)) return false;
    for (const uint32_t i : accesses[number]) {
      const SeriesStep& step = pattern.step()[i];
      const uint64_t address = step.address >= pattern.in_series
                                   ? listed[step.address]
                                   : of.series[2 * step.address] + round * of.series[2 * step.address + 1];
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
  if (!find_rows(told)) return false;
  const auto begin = [&](const SeriesStep& step) {
    series_access_.name = step.name;
    series_access_.pc = step.pc;
    series_access_.context = told.head.context;
  };
  accessing_ = &series_access_;  // where that is, is asked for only where a variable begins
  bool is_whole = add_variables_of_visits(told, begin);
  for (uint32_t i = 0; i < pattern.steps && is_whole; ++i) {
    const SeriesStep& step = pattern.step()[i];
    if (step.address == runtime::kNoOperand) continue;
    if (const InRow& row = rows_by_step_[i]; row.step != nullptr) {
      begin(step);
      is_whole = row.count == 0 || add_variables_in_row(step, row);
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
    in_series_ += known->events - 1;
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
  const uint64_t events = told.events(steps);
  in_series_ += events - 1;
  series_.know_run(told, number, uint64_t{event.object} + 1, events);
  return true;
}

}  // namespace heddle
