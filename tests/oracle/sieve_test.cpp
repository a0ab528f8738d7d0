// What the sieve of a running program's records leaves out makes no difference: on random traces, however
// little it keeps, what goes through
//   - is a well-formed trace,
//   - has a first cycle iff the whole has, at the same event, with the same blocks to blame,
//   - has no data race that the whole does not have,
//   - has the same lock-order cycles, as certain.
#include "live/sieve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "checkers/deadlock.h"
#include "core/pipeline.h"
#include "race_oracle.h"
#include "serializability_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"

namespace heddle::test {
namespace {

using runtime::Record;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Few enough that threads take locks in the same order at the same places.
constexpr std::size_t kPlaces = 3;

// "T1|acq(m0)|row 7" at one of these.
std::string with_places(const std::string& text) {
  std::string result;
  for (const std::string& line : lines_of(text)) {
    const std::size_t row = line.rfind("row ");
    result += row == std::string::npos ? line
                                       : fmt::format("{}place {}", line.substr(0, row),
                                                     std::stoul(line.substr(row + 4)) % kPlaces);
    result += '\n';
  }
  return result;
}

// A trace as a program tells it, and what the sieve lets through as a trace again.
class Program {
 public:
  explicit Program(const std::string& text)
      : reader_("trace", text), lines_(lines_of(text)), events_(read_events(text)) {
    while (!reader_.next().empty()) continue;
    for (const auto& [earlier, later] : oracle::races(events_)) racing_.insert(later);
  }

  const std::vector<Event>& events() const { return events_; }

  std::string through(const Sieve::Limits& limits) const {
    Sieve sieve(Sieve::LetsThrough::kWhatMatters, limits);
    std::vector<Sieve::ToldRecord> passed;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      // The runtime says of an access that it is in race with an earlier one.
      if (racing_.contains(i))
        sieve.add({events_[i].thread, record(runtime::kToldRaceEarlier, 0, i)}, passed);
      sieve.add({events_[i].thread, record_of(i)}, passed);
    }
    std::string text;
    for (const auto& told : passed) text += line_of(told);
    return text;
  }

 private:
  static constexpr uint64_t kObjectBytes = 4096;  // no two objects are in the same line of a cache

  static Record record(uint8_t operation, uint64_t address, std::size_t index) {
    Record result = {};
    result.what = Record::pack(operation, 8, address);
    result.pc = 1 + index % kPlaces;
    result.ticket = index + 1;
    return result;
  }
  Record record_of(std::size_t index) const {
    const Event& event = events_[index];
    const bool begins_life = event.operation == Operation::kAlloc || event.operation == Operation::kFree;
    const auto space = static_cast<uint64_t>(info(event.operation).space);
    const uint64_t address = info(event.operation).space == Space::kNone || event.object == kNoId
                                 ? 0
                                 : space << 32 | (event.object + 1) * kObjectBytes;
    Record result = record(begins_life ? uint8_t{runtime::kToldFree} : static_cast<uint8_t>(event.operation),
                           address, index);
    if (begins_life) result.name = 8;
    if (event.tries) result.extra = 1;
    if (event.operation == Operation::kFork || event.operation == Operation::kJoin)
      result.extra = event.object;
    return result;
  }

  std::string line_of(const Sieve::ToldRecord& told) const {
    const Record& record = told.record;
    if (record.operation() == runtime::kToldRaceEarlier) return {};
    if (record.ticket != 0) return lines_[record.ticket - 1] + "\n";
    const std::string thread(reader_.names().thread(told.stream));
    if (record.operation() == Sieve::kSkipped) {
      std::string text;
      for (uint32_t id = 0; id < reader_.names().table(Space::kVariable).size(); ++id)
        text += fmt::format("{}|free({})|gap\n", thread, reader_.names().variable(id));
      return text;
    }
    const auto operation = static_cast<Operation>(record.operation());
    if (operation == Operation::kEnd) return fmt::format("{}|end|gap\n", thread);
    const auto lock = static_cast<uint32_t>((record.address() & 0xFFFFFFFF) / kObjectBytes - 1);
    return fmt::format("{}|{}({})|gap\n", thread, info(operation).spelling, reader_.names().lock(lock));
  }

  TextReader reader_;
  std::vector<std::string> lines_;
  std::vector<Event> events_;
  std::set<EventIndex> racing_;  // with an earlier event
};

// Where an event of a trace stands, in words that are the same whatever was left out.
class Places {
 public:
  explicit Places(const std::string& text) : lines_(lines_of(text)) {}
  std::string operator()(EventIndex index) const { return lines_[index]; }

 private:
  std::vector<std::string> lines_;
};

struct Cycles {
  std::string first;              // where it is certain; empty: there is none
  std::set<std::string> refuted;  // where these blocks begin

  friend bool operator==(const Cycles&, const Cycles&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Cycles& cycles) {
    out << '"' << cycles.first << '"';
    for (const std::string& block : cycles.refuted) out << ", " << block;
    return out;
  }
};
Cycles cycles_of(const std::string& text) {
  const std::vector<Event> events = read_events(text);
  const auto first = oracle::first_cycle(events);
  if (!first) return {};
  const Places place(text);
  Cycles cycles{place(*first), {}};
  for (const EventIndex block : oracle::refuted_blocks(events, *first)) cycles.refuted.insert(place(block));
  return cycles;
}

std::set<std::string> races_of(const std::string& text) {
  const Places place(text);
  std::set<std::string> races;
  for (const auto& [earlier, later] : oracle::races(read_events(text)))
    races.insert(place(earlier) + " and " + place(later));
  return races;
}

std::set<std::string> deadlocks_of(const std::string& text) {
  TextReader reader("trace", text);
  Findings findings;
  const CheckerOptions options;
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(kDeadlockChecker.make({reader.names(), findings, options}));
  run_checkers(reader, checkers);
  std::set<std::string> deadlocks;
  for (const Finding& finding : findings.list()) {
    std::string text_of = fmt::format("{}: {}", to_string(finding.strength), finding.message);
    for (const Step& step : finding.steps)
      text_of += fmt::format("; {} at {}", step.thread, step.frames.empty() ? "" : step.frames.front());
    deadlocks.insert(text_of);
  }
  return deadlocks;
}

rc::Gen<Sieve::Limits> any_limits() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::size_t>(1, 12), rc::gen::inRange<std::size_t>(0, 6),
                     rc::gen::element<std::size_t>(3, 10, 1000)),
      [](const auto& t) {
        const auto [kept, passed, crowded] = t;
        return Sieve::Limits{kept, passed, crowded, 7};
      });
}

void obey(const TraceShape& shape) {
  const auto choices = *any_choices();
  const auto limits = *rc::gen::noShrink(any_limits());
  const std::string whole = random_trace(choices, shape);
  const Program program(whole);
  const std::string sieved = program.through(limits);
  RC_LOG() << whole << "through, keeping " << limits.kept << ", passing " << limits.passed
           << ", crowded past " << limits.crowded << "\n"
           << sieved;
  RC_CLASSIFY(sieved.size() < whole.size(), "something was left out");
  const Cycles cycles = cycles_of(whole);
  RC_CLASSIFY(!cycles.first.empty(), "there is a cycle");
  RC_ASSERT(cycles_of(sieved) == cycles);
  const std::set<std::string> races = races_of(whole);
  for (const std::string& race : races_of(sieved)) RC_ASSERT(races.contains(race));
  RC_ASSERT(deadlocks_of(with_places(sieved)) == deadlocks_of(with_places(whole)));
}

// Mostly blocks and locks: little forces an order, so much is left out.
constexpr TraceShape kLocking{.threads = 3,
                              .variables = 2,
                              .locks = 3,
                              .barriers = 0,
                              .semaphores = 0,
                              .atomics = false,
                              .fork_join = false,
                              .lives = false,
                              .block_weight = 3};

RC_GTEST_PROP(Sieve, LeavesOutNothingThatMatters, ()) { obey({.block_weight = 2}); }
RC_GTEST_PROP(Sieve, LeavesOutNothingThatMattersAmongLocks, ()) { obey(kLocking); }
RC_GTEST_PROP(Sieve, LeavesOutNothingThatMattersAmongLocksAlone, ()) {
  TraceShape shape = kLocking;
  shape.variables = 0;
  shape.locks = 4;
  obey(shape);
}
RC_GTEST_PROP(Sieve, LeavesOutNothingThatMattersAmongAtomics, ()) {
  TraceShape shape = kLocking;
  shape.atomics = true;
  shape.locks = 2;
  shape.lives = true;
  obey(shape);
}

}  // namespace
}  // namespace heddle::test
