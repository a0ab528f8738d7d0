#include "cli/live_check.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "checkers/atomicity.h"
#include "checkers/deadlock.h"
#include "checkers/determinism.h"
#include "checkers/race.h"
#include "checkers/registry.h"
#include "checkers/standstill.h"
#include "cli/focus_notes.h"
#include "cli/question.h"
#include "core/pipeline.h"
#include "live/channel_reader.h"
#include "live/live_trace.h"

namespace heddle {

namespace {

// Where only races are looked for: so much is told to explain them by. The program finds them by itself.
constexpr uint64_t kExplainedRecords = 1U << 16;

// A table that grows leaves its old memory behind, in which the next one has no room: it goes back to the
// system at once, so that monitor and program together need little. Left to itself, glibc keeps it.
void give_back_large_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 17);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// Whether the checker has found the same race. From another place that called the same function it is another
// one, as in a recording.
bool is_known(const Finding& race, const Findings& races) {
  return std::any_of(races.list().begin(), races.list().end(), [&](const Finding& known) {
    return known.steps.size() == 2 && known.steps[0].phrase == race.steps[0].phrase &&
           known.steps[1].phrase == race.steps[1].phrase && known.steps[0].frames == race.steps[0].frames &&
           known.steps[1].frames == race.steps[1].frames;
  });
}

}  // namespace

LiveCheck::LiveCheck(Settings settings) : settings_(std::move(settings)), report_(settings_.checkers) {
  give_back_large_memory();
}

// What has happened is told also when it was told before that it may.
void LiveCheck::tell_new(const Found& found, const std::string& program) {
  for (const Findings& of_checker : found.by_checker)
    for (const Finding& finding : of_checker.list()) {
      const auto [told, is_new] = told_.try_emplace(finding.fingerprint, finding.strength);
      if (!is_new && told->second <= finding.strength) continue;
      told->second = finding.strength;
      Finding shown = finding;
      shown.input = program;
      if (settings_.on_finding) settings_.on_finding(shown);
    }
}

// The program's runtime sees every access, the checkers only those that are told; and no checker sees who
// waits. What they have found themselves is not found again.
void LiveCheck::add_told(LiveTrace& trace, Found& found) {
  const Names& names = trace.names();
  if (found.races != nullptr)
    for (const ToldRace& race : trace.take_races()) {
      Step earlier = make_step(race.earlier, race.index, names);
      if (earlier.frames.empty())
        earlier.because = "too much has happened since to say where; `heddle record` keeps all places";
      Finding finding = race_finding(std::move(earlier), make_step(race.later, race.index, names),
                                     std::string(names.variable(race.later.object)));
      if (!is_known(finding, *found.races)) found.races->add(std::move(finding));
    }
  for (const std::vector<BlockedThread>& circle : trace.take_standstills())
    if (found.deadlocks != nullptr) found.deadlocks->add(standstill_finding(circle, names));
}

uint32_t LiveCheck::check(Connection& connection, const std::string& program) {
  ChannelReader reader(connection);
  reader.channel().told_per_stretch = settings_.told_per_stretch;
  if (settings_.blocks_of) reader.name_blocks(settings_.blocks_of(connection.pid()));
  const bool needs_all = std::any_of(settings_.checkers.begin(), settings_.checkers.end(),
                                     [](const CheckerEntry* checker) { return checker->needs_whole_run; });
  LiveTrace trace(reader, program, LiveTrace::Divided::kForgotten, settings_.ignores_block,
                  needs_all ? Sieve::LetsThrough::kAll : Sieve::LetsThrough::kWhatMatters);
  // `heddle run` refuses such programs; this one was started by itself, or has such libraries. It waits for
  // the answer: later it may have ended, and its libraries with it.
  if (const std::string mixed = mixed_focus_of_process(connection.pid(), program); !mixed.empty())
    fmt::print(stderr, "heddle: {}\n", mixed);
  connection.answer(0, 0);
  if (settings_.checkers.size() == 1 && settings_.checkers.front()->name == kRaceChecker.name)
    trace.needs_races_only(kExplainedRecords);
  Found found{std::vector<Findings>(settings_.checkers.size(), Findings(settings_.kept_per_checker))};
  const std::vector<std::unique_ptr<Checker>> checkers =
      make_checkers(settings_.checkers, found.by_checker, [&](std::size_t i) {
        return CheckerContext{trace.names(), found.by_checker[i], settings_.options, false, true};
      });
  for (std::size_t i = 0; i < settings_.checkers.size(); ++i) {
    if (settings_.checkers[i]->name == kRaceChecker.name) found.races = &found.by_checker[i];
    if (settings_.checkers[i]->name == kDeadlockChecker.name) found.deadlocks = &found.by_checker[i];
  }
  std::size_t known = 0;
  Questions questions(reader.channel());
  const auto tell = [&] {
    const bool is_asked = questions.any();
    // Before the races are taken: it looks at what is told more closely.
    const std::string threads = is_asked ? threads_text(program, trace) : std::string();
    const bool stands_still = trace.any_standstill();
    add_told(trace, found);
    std::size_t count = 0;
    for (const Findings& of_checker : found.by_checker) count += of_checker.list().size();
    if (count == known && !stands_still && !is_asked) return;
    known = count;
    const std::lock_guard lock(mutex_);
    tell_new(found, program);
    if (is_asked && settings_.on_question) settings_.on_question(threads + findings_text(found.by_checker));
  };
  trace.while_waiting(tell);
  run_checkers(trace, checkers, [&](uint64_t, const TraceSource&) { tell(); });
  add_told(trace, found);
  std::string standstill = standstill_text(trace);
  const std::lock_guard lock(mutex_);
  if (!standstill.empty()) standstills_.push_back(std::move(standstill));
  tell_new(found, program);
  std::vector<Finding> findings =
      report_.add_input({program, trace.told(), {}}, coverage(checkers, trace), found.by_checker);
  // They are about what ndseq makes of the run; the other checkers have seen all of it.
  for (std::string& notice : trace.flow_notices()) notices_.push_back(std::move(notice));
  const bool any_block = std::any_of(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return !finding.blocks.empty(); });
  if (any_block && trace.calm_until() > 0)
    notices_.push_back(fmt::format(
        "{} had nothing to explain for {}, and told of no plain accesses after a while; where a "
        "finding lacks them, `heddle record` and `heddle check` show them; what is called 'earlier' "
        "was done while nothing was told",
        program, counted(trace.calm_until(), "event")));
  const auto result = static_cast<uint32_t>(findings.size());
  report_.add_findings(std::move(findings), program);
  return result;
}

// A race may be all that breaks a block, and the checkers of blocks have not seen both of its accesses.
std::vector<Coverage> LiveCheck::coverage(std::span<const std::unique_ptr<Checker>> checkers,
                                          const LiveTrace& trace) const {
  std::vector<Coverage> covered = coverage_of(checkers);
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const std::string_view name = settings_.checkers[i]->name;
    const bool has_blocks = (name == kAtomicityChecker.name && trace.has_begun_atomic()) ||
                            (name == kDeterminismChecker.name && trace.has_begun_deterministic());
    if (!has_blocks) continue;
    if (trace.has_doubt()) {
      covered[i].undecided = true;
      covered[i].note =
          "a block that took something after it had given something back was open when others like it were, "
          "and "
          "the program had told nothing of its locks for a while; `heddle record` and `heddle check` see all";
    }
    if (!trace.has_untold_race()) continue;
    covered[i].undecided = true;
    covered[i].note =
        "a data race was found after its first access was forgotten: whether it breaks a block as well is "
        "not "
        "known; mend the race first, or use `heddle record` and `heddle check`, which see all accesses";
  }
  return covered;
}

RunReport LiveCheck::finish() {
  RunReport report = report_.finish();
  report.notices = std::move(notices_);
  return report;
}

}  // namespace heddle
