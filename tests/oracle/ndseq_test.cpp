// ndseq equals S3's definitions: the relevant events are those of ComputeRelevant, tasks are reported exactly
// when Def. 3's relation has a cycle, and what a report and a serial order say is so.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "checkers/sequential_spec/recorder.h"
#include "checkers/sequential_spec/relevance.h"
#include "ndseq_oracle.h"
#include "race_oracle.h"
#include "support/choices.h"
#include "support/read_events.h"
#include "support/real_steps.h"
#include "support/sequential_run.h"

namespace heddle::test {
namespace {

struct Shape {
  unsigned threads = 3;
  unsigned variables = 3;
  unsigned locals = 3;
  unsigned accesses = 8;  // how many reads and writes, where 4 is as many as assignments
  unsigned tasks = 4;     // how many tasks are begun and ended
  unsigned maybes = 4;
  unsigned counts = 1;
  unsigned pointers = 1;  // takes, drops and looks
  unsigned deepest = 4;
  bool atomics = true;
  bool forks = true;
  bool lives = true;
  bool barriers = false;
  bool own_locals = false;  // no thread uses what another one has set, as in recordings
};

// A trace that is well formed, from choices.
class Generator {
 public:
  explicit Generator(const Shape& shape) : shape_(shape), threads_(shape.threads) {}

  std::string make(const std::vector<Choice>& choices) {
    for (const Choice& choice : choices) add(choice);
    for (const unsigned x : focus_) put("T0", fmt::format("focus(x{})", x));
    return trace_;
  }
  std::vector<unsigned>& focus() { return focus_; }

 private:
  struct Thread {
    std::string open;  // t, n
    bool can_act = false;
    bool in_task = false;  // forked there
    bool has_acted = false;
    bool waits = false;  // at the barrier
  };

  void put(const std::string& thread, const std::string& operation) {
    trace_ += fmt::format("{}|{}|row {}\n", thread, operation, rows_++);
  }

  void add(const Choice& choice) {
    const unsigned t = choice[0] % shape_.threads;
    Thread& thread = threads_[t];
    const std::string name = fmt::format("T{}", t);
    if (t == 0 || !shape_.forks) thread.can_act = true;
    if (!thread.can_act) return fork(t);
    const std::string x = fmt::format("x{}", choice[2] % shape_.variables);
    const std::string own = shape_.own_locals ? name : "l";
    const std::string l = fmt::format("{}{}", own, choice[2] / 16 % shape_.locals);
    const std::string m = fmt::format("{}{}", own, choice[2] / 64 % shape_.locals);
    const bool is_in_task = thread.in_task || thread.open.find('t') != std::string::npos;
    std::vector<std::string> can;
    const auto offer = [&](unsigned weight, const std::string& operation) {
      can.insert(can.end(), weight, operation);
    };
    if (thread.waits) {
      offer(1, "leave(b)");
    } else {
      offer(shape_.accesses, fmt::format("r({})>{}", x, l));
      offer(shape_.accesses, fmt::format("w({})<{}", x, l));
      offer(1, fmt::format("r({})", x));
      offer(1, fmt::format("w({})", x));
      if (shape_.atomics) {
        for (const char* arrow : {">", ""}) {
          const std::string local = *arrow == 0 ? "" : arrow + l;
          offer(1, fmt::format("armw({},seq_cst){}", x, local));
          offer(1, fmt::format("acasfail({},relaxed){}", x, local));
          offer(1, fmt::format("ar({},acquire){}", x, local));
        }
        offer(1, fmt::format("aw({},release)<{}", x, l));
      }
      for (const char* assumed : {"look", "touch"}) {
        offer(1, fmt::format("{}({})>{}", assumed, x, l));
        offer(1, fmt::format("{}({})", assumed, x));
      }
      offer(shape_.counts, fmt::format("count({})", x));
      for (const char* pointer : {"take", "take", "drop", "drop", "alive"})
        offer(shape_.pointers, fmt::format("{}({},{})", pointer, x, choice[2] / 8 % 4));
      offer(2, fmt::format("set({},{})", l, m));
      offer(1, fmt::format("set({})", l));
      offer(1, fmt::format("set({},{},{}0)", l, m, own));
      offer(2, fmt::format("br({})", l));
      if (thread.open.size() < shape_.deepest) {
        offer(shape_.tasks, fmt::format("task(k{})", rows_));
        if (is_in_task) offer(shape_.maybes, "nd");
      }
      if (thread.open.ends_with('t')) offer(shape_.tasks, "endtask");
      if (thread.open.ends_with('n')) offer(shape_.maybes, "endnd");
      if (shape_.lives)
        offer(1, choice[2] % 2 == 0 ? fmt::format("alloc({})", x) : fmt::format("free({})", x));
      if (shape_.barriers) offer(4, "arrive(b)");
    }
    const std::string operation = can[choice[1] % can.size()];
    if (operation == "arrive(b)") thread.waits = true;
    if (operation == "leave(b)") thread.waits = false;
    if (operation.starts_with("task")) thread.open += 't';
    if (operation == "nd") thread.open += 'n';
    if (operation.starts_with("end")) thread.open.pop_back();
    if (operation.starts_with("free")) dead_.push_back(choice[2] % shape_.variables);
    if (operation.starts_with("alloc"))
      dead_.erase(std::remove(dead_.begin(), dead_.end(), choice[2] % shape_.variables), dead_.end());
    put(name, operation);
  }

  void fork(unsigned t) {
    Thread& parent = threads_[t - 1];
    if (!parent.can_act || parent.waits) return;
    threads_[t].can_act = true;
    threads_[t].in_task = parent.in_task || parent.open.find('t') != std::string::npos;
    put(fmt::format("T{}", t - 1), fmt::format("fork(T{})", t));
  }

 public:
  const std::vector<unsigned>& dead() const { return dead_; }

 private:
  Shape shape_;
  std::vector<Thread> threads_;
  std::string trace_;
  std::size_t rows_ = 0;
  std::vector<unsigned> focus_;
  std::vector<unsigned> dead_;  // freed variables
};

std::string any_trace(const Shape& shape, std::size_t most) {
  std::vector<Choice> choices = *rc::gen::resize(100, any_choices());
  if (choices.size() > most) choices.resize(most);
  const auto marks = *rc::gen::inRange<unsigned>(0, 1U << shape.variables);
  Generator probe(shape);
  probe.make(choices);
  Generator generator(shape);
  for (unsigned x = 0; x < shape.variables; ++x)
    if ((marks >> x & 1) != 0 && std::find(probe.dead().begin(), probe.dead().end(), x) == probe.dead().end())
      generator.focus().push_back(x);
  return generator.make(choices);
}

struct Checked {
  std::vector<Finding> findings;
  Coverage coverage;
  std::vector<bool> relevant;
  std::vector<bool> relevant_write;
};

Checked check(const std::string& trace) {
  Checked checked;
  NdseqResult result = check_ndseq(trace);
  checked.findings = std::move(result.findings);
  checked.coverage = std::move(result.coverage);

  using namespace sequential_spec;
  TextReader again("trace", trace);
  Recorder recorder(again.names());
  std::size_t events = 0;
  for (EventBatch batch = again.next(); !batch.empty(); batch = again.next()) {
    recorder.process(batch);
    events += batch.events.size();
  }
  const History history = recorder.take();
  const Relevance relevance(history);
  checked.relevant.resize(events, false);
  checked.relevant_write.resize(events, false);
  for (NodeId node = 0; node < history.nodes.size(); ++node)
    if (relevance.is_relevant(node))
      (history.nodes[node].kind == Kind::kWrite ? checked.relevant_write
                                                : checked.relevant)[history.nodes[node].event] = true;
  return checked;
}

void expect_definition(const std::string& trace) {
  RC_LOG() << trace;
  const oracle::NdseqAnswer expected = oracle::ndseq(trace);
  const Checked found = check(trace);
  RC_ASSERT(found.relevant == expected.relevant);
  RC_ASSERT(found.relevant_write == expected.relevant_write);
  RC_ASSERT(found.findings.empty() == !expected.has_cycle);
  const bool has_tasks = trace.find("|task(") != std::string::npos;
  RC_ASSERT(found.coverage.sequential_run.has_value() == has_tasks);
  RC_TAG(fmt::format("{}, {}", expected.has_cycle ? "reported" : "serializable",
                     expected.has_conflict_cycle ? "conflict cycle" : "no conflict cycle"));
  if (!has_tasks) return;
  const SequentialRun& run = *found.coverage.sequential_run;
  RC_ASSERT((run.conflict_warnings > 0) == expected.has_conflict_cycle);
  RC_ASSERT(run.warnings == found.findings.size());
  RC_ASSERT(run.is_found == !expected.has_cycle);
  for (const Finding& finding : found.findings) {
    expect_real_steps(trace, finding);
    for (const Chain& chain : finding.chains)
      for (const Step& step : chain.steps)
        RC_ASSERT(expected.relevant[step.event] || expected.relevant_write[step.event]);
  }
  // The order told keeps all conflicts, and has every task once.
  std::map<std::string, std::size_t> place;
  for (const SequentialRun::Place& task : run.order) RC_ASSERT(place.emplace(task.task, place.size()).second);
  if (run.is_found)
    for (const auto& [earlier, later] : expected.before) RC_ASSERT(place.at(earlier) < place.at(later));
}

bool is_access(const Event& event) { return event.operation <= Operation::kAtomicCompareFail; }

// By event: its variable in the life that it has then.
std::vector<std::string> lives_of(const std::vector<Event>& events) {
  std::map<uint32_t, int> lives;
  std::vector<std::string> names;
  for (const Event& event : events) {
    if (event.operation == Operation::kAlloc || event.operation == Operation::kFree) ++lives[event.object];
    names.push_back(is_access(event) ? fmt::format("{}@{}", event.object, lives[event.object]) : "");
  }
  return names;
}

// The answer is called uncertain iff two operations race that both matter, or any two of a location that
// matters and is accessed by several threads of one task.
void expect_certainty(const std::string& trace) {
  RC_LOG() << trace;
  const oracle::NdseqAnswer answer = oracle::ndseq(trace);
  const auto matters = [&](EventIndex i) { return answer.relevant[i] || answer.relevant_write[i]; };
  const auto races = oracle::races(read_events(trace));
  const std::vector<Event> events = read_events(trace);
  const std::vector<std::string> lives = lives_of(events);
  std::set<std::string> that_matter;
  std::set<std::string> shared;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!is_access(events[i])) continue;
    if (matters(i)) that_matter.insert(lives[i]);
    for (EventIndex j = 0; j < i; ++j)
      if (is_access(events[j]) && lives[i] == lives[j] && answer.task[i] == answer.task[j] &&
          events[i].thread != events[j].thread)
        shared.insert(lives[i]);
  }
  const bool is_uncertain = std::any_of(races.begin(), races.end(), [&](const auto& race) {
    const std::string& place = lives[race.first];
    return (matters(race.first) && matters(race.second)) ||
           (shared.count(place) > 0 && that_matter.count(place) > 0);
  });
  const Coverage coverage = check_ndseq(trace).coverage;
  RC_PRE(coverage.sequential_run.has_value());
  RC_TAG(is_uncertain ? "uncertain" : races.empty() ? "no race" : "races that do not matter");
  RC_ASSERT((coverage.note.find("are a data race") != std::string::npos) == is_uncertain);
  // Else it is the same whichever of two racing accesses came first: of neighbours, so of all.
  if (is_uncertain) return;
  std::vector<std::string> lines;
  std::stringstream text(trace);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  for (const auto& [earlier, later] : races) {
    if (later != earlier + 1) continue;
    std::swap(lines[earlier], lines[later]);
    oracle::NdseqAnswer other = oracle::ndseq(fmt::format("{}\n", fmt::join(lines, "\n")));
    std::swap(lines[earlier], lines[later]);
    for (std::vector<bool>* relevant : {&other.relevant, &other.relevant_write})
      std::vector<bool>::swap((*relevant)[earlier], (*relevant)[later]);
    RC_ASSERT(other.relevant == answer.relevant);
    RC_ASSERT(other.relevant_write == answer.relevant_write);
    RC_ASSERT(other.has_cycle == answer.has_cycle);
  }
}

RC_GTEST_PROP(NdseqDefinition, CertainOrder, ()) { expect_certainty(any_trace({.own_locals = true}, 40)); }
RC_GTEST_PROP(NdseqDefinition, CertainOrderOfFew, ()) {
  expect_certainty(any_trace(
      {.threads = 3, .accesses = 3, .tasks = 8, .maybes = 12, .deepest = 2, .own_locals = true}, 40));
}
RC_GTEST_PROP(NdseqDefinition, Everything, ()) { expect_definition(any_trace({}, 60)); }
RC_GTEST_PROP(NdseqDefinition, OneVariable, ()) {
  expect_definition(any_trace({.threads = 4, .variables = 1, .tasks = 8, .deepest = 2, .lives = false}, 80));
}
// Long enough for the search tree of NearestWrites.
RC_GTEST_PROP(NdseqDefinition, ManyWrites, ()) {
  expect_definition(any_trace({.threads = 3,
                               .variables = 1,
                               .locals = 4,
                               .accesses = 30,
                               .tasks = 10,
                               .maybes = 10,
                               .deepest = 2,
                               .atomics = false,
                               .lives = false},
                              160));
}
RC_GTEST_PROP(NdseqDefinition, Counts, ()) {
  expect_definition(any_trace({.threads = 4,
                               .variables = 2,
                               .accesses = 3,
                               .tasks = 8,
                               .maybes = 6,
                               .counts = 24,
                               .deepest = 3,
                               .lives = false},
                              80));
}
RC_GTEST_PROP(NdseqDefinition, Pointers, ()) {
  expect_definition(any_trace({.threads = 3,
                               .variables = 1,
                               .locals = 1,
                               .accesses = 1,
                               .tasks = 6,
                               .maybes = 1,
                               .counts = 0,
                               .pointers = 16,
                               .deepest = 2,
                               .atomics = false,
                               .lives = false},
                              60));
}
RC_GTEST_PROP(NdseqDefinition, PointersAndBarriers, ()) {
  expect_definition(any_trace({.threads = 3,
                               .variables = 1,
                               .accesses = 2,
                               .tasks = 6,
                               .maybes = 2,
                               .pointers = 16,
                               .deepest = 3,
                               .atomics = false,
                               .barriers = true},
                              70));
}
RC_GTEST_PROP(NdseqDefinition, Nested, ()) {
  expect_definition(any_trace({.threads = 4, .variables = 2, .tasks = 10, .maybes = 6, .deepest = 6}, 70));
}
RC_GTEST_PROP(NdseqDefinition, NoForks, ()) {
  expect_definition(any_trace({.threads = 4, .variables = 2, .tasks = 8, .forks = false}, 60));
}
RC_GTEST_PROP(NdseqDefinition, Barriers, ()) {
  expect_definition(
      any_trace({.threads = 4, .variables = 2, .tasks = 6, .deepest = 3, .barriers = true}, 60));
}

}  // namespace
}  // namespace heddle::test
