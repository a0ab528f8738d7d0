#include "sample_reports.h"

#include <utility>

namespace heddle::test {

namespace {

constexpr Rule kRace{"HD1001", "data-race", "data race",
                     "Two threads access the same variable, at least one writes, and nothing orders them"};
constexpr Rule kDeadlock{"HD1101", "lock-order-cycle", "lock order cycle",
                         "Threads take the same locks in orders that can leave each waiting for another"};
constexpr Rule kAtomicity{
    "HD2001", "atomicity-violation", "atomicity violation",
    "A block that should be atomic gives a result that no serial order of the blocks gives"};
constexpr Rule kLockset{"HD1002", "unprotected-variable", "unprotected variable",
                        "No lock is held at every access of a variable that threads share"};

constexpr Rule kInterference{"HD3002", "determinism-interference", "interference",
                             "Operations outside a deterministic block came between its own"};
constexpr Rule kReordering{"HD4002", "not-robust", "store-buffer reordering",
                           "Store buffers give these operations an outcome that no interleaving has"};
constexpr Rule kCircle{"HD1003", "lock-order-cycle", "lock-order cycle", "Locks taken in a cyclic order"};

constexpr const char* kRacePage =
    "# HD1001 data-race\n\nTwo threads access the same variable.\n\n```cpp\nint x;\nvoid f() { ++x; "
    "}\n```\n\n"
    "See [the design](design.md).\n";

Step step(EventIndex event, std::string thread, std::string operation, std::string phrase,
          std::vector<std::string> frames) {
  Step step;
  step.event = event;
  step.thread = std::move(thread);
  step.operation = std::move(operation);
  step.phrase = std::move(phrase);
  step.frames = std::move(frames);
  return step;
}

Finding finding(const Rule& rule, std::string_view checker, Strength strength, std::string message,
                std::vector<Step> steps) {
  Finding finding;
  finding.rule = &rule;
  finding.checker = checker;
  finding.strength = strength;
  finding.message = std::move(message);
  finding.steps = std::move(steps);
  Findings list;
  list.add(std::move(finding));  // fills in threads and fingerprint as a run does
  return list.list().front();
}

Finding bank_race() {
  Step read = step(17, "T1", "r(balance)", "read balance", {"src/bank.cpp:29 in Account::withdraw"});
  read.held = "holding no lock";
  Step write = step(23, "T2", "w(balance)", "wrote balance", {"src/bank.cpp:24 in Account::deposit"});
  write.held = "holding mu";
  write.because = "no lock in common";
  Finding race =
      finding(kRace, "race", Strength::kObserved,
              "balance is written by T2 and read by T1, and nothing orders the two", {read, write});
  race.conclusion = "The read may see the value before the write, after it, or a mix of both.";
  race.advice = "hold mu at src/bank.cpp:29 too";
  race.input = "bank.std";
  return race;
}

Finding withdraw_not_atomic() {
  Step check = step(4, "T2", "r(balance)", "read balance", {"bank.cpp:31"});
  check.block = "Account::withdraw";
  Step between = step(9, "T1", "w(balance)", "wrote balance", {"bank.cpp:24"});
  between.block = "Account::deposit";
  between.because = "after T2's read, so withdraw comes before deposit";
  Step act = step(12, "T2", "w(balance)", "wrote balance", {"bank.cpp:35"});
  act.block = "Account::withdraw";
  act.because = "after T1's write, so withdraw comes after deposit";
  Finding violation = finding(kAtomicity, "atomicity", Strength::kObserved, "Account::withdraw is not atomic",
                              {check, between, act});
  violation.blocks = {"Account::withdraw"};
  violation.conclusion = "No order of the two calls gives this result.";
  violation.advice = "hold mu_ from line 31 to line 35";
  violation.input = "check_then_act.std";
  violation.count = 1204;
  violation.spans = {{Span::Kind::kBlock, "T2", "Account::withdraw", 3, 13, false},
                     {Span::Kind::kBlock, "T1", "Account::deposit", 7, 9, true},
                     {Span::Kind::kLock, "T1", "mu", 8, 10, false},
                     {Span::Kind::kSharedLock, "T2", "mu", 11, 12, false}};
  for (std::size_t i = 0; i < 3; ++i) violation.steps[i].transaction = i % 2;
  return violation;
}

Finding predicted_violation() {
  Finding violation = withdraw_not_atomic();
  static constexpr Rule kPredicted{"HD2003", "predicted-atomicity-violation", "atomicity violation predicted",
                                   "Another order of this run's operations interrupts a block"};
  violation.rule = &kPredicted;
  violation.checker = "blocks";
  violation.strength = Strength::kPredicted;
  violation.count = 1;
  Step begin =
      step(3, "T2", "begin(Account::withdraw)", "began atomic block Account::withdraw", {"bank.cpp:30"});
  Step end = step(13, "T2", "end(Account::withdraw)", "ended block Account::withdraw", {});
  violation.schedule = {begin, violation.steps[0], violation.steps[1], violation.steps[2], end};
  for (Step& step : violation.schedule) step.held = step.operation[0] == 'b' ? "" : "holding mu";
  violation.schedule[1].frames.push_back("main.cpp:7 in main");
  return violation;
}

Finding deep_deadlock() {
  Step first = step(100, "worker-1", "acq(cache.mu)", "acquired cache.mu",
                    {"/home/me/shop/src/cache.cpp:88:5 in shop::Cache::evict(std::string const&)",
                     "/home/me/shop/src/cache.cpp:41:9 in shop::Cache::put(std::string const&, shop::Item)",
                     "/home/me/shop/src/main.cpp:12:3 in main::{lambda()#1}::operator()() const"});
  first.held = "holding index.mu";
  first.because = "worker-1 waits for cache.mu here if main holds it";
  Step second = step(250, "main", "acq(index.mu)", "acquired index.mu",
                     {"/home/me/shop/src/index.cpp:17:3 in shop::Index::rebuild()",
                      "/usr/include/c++/12/bits/std_thread.h:252:13"});
  second.held = "holding cache.mu";
  second.because = "main waits for index.mu here if worker-1 holds it";
  Finding cycle =
      finding(kDeadlock, "deadlock", Strength::kPredicted,
              "worker-1 takes index.mu then cache.mu, main takes cache.mu then index.mu", {first, second});
  cycle.conclusion =
      "Another schedule lets each of the two threads take its first lock and then wait for the other's for "
      "ever, "
      "and no third lock that both hold keeps them apart.";
  cycle.advice = "take the two locks in the same order everywhere, or together with std::scoped_lock";
  cycle.input = "shop.heddle";
  return cycle;
}

// Writes that wait in store buffers, and where a fence helps.
Finding store_buffering() {
  Step said = step(3, "T1", "w(first)", "wrote first", {"meet.cpp:11 in arrive"});
  said.because = "still in T1's store buffer when T2 read first";
  Step looked = step(5, "T1", "r(second)", "read second", {"meet.cpp:12 in arrive"});
  looked.because = "later in the same thread";
  Step other_said = step(4, "T2", "w(second)", "wrote second", {"meet.cpp:21 in leave"});
  other_said.because = "still in T2's store buffer when T1 read second";
  Step other_looked = step(6, "T2", "r(first)", "read first", {"meet.cpp:22 in leave"});
  other_looked.because = "later in the same thread";
  Finding reordering = finding(kReordering, "robustness", Strength::kPredicted,
                               "what T1 and T2 do here has an outcome that no interleaving has",
                               {said, looked, other_said, other_looked});
  reordering.delays = {{said, other_looked}, {other_said, looked}};
  reordering.fences = {said};
  reordering.conclusion = "No interleaving of these operations gives that.";
  reordering.advice = "a full fence after meet.cpp:11 (T1 wrote first)";
  return reordering;
}

Finding potential_lockset() {
  Finding shared =
      finding(kLockset, "lockset", Strength::kPotential, "hits is shared and no lock protects it",
              {step(3, "T0", "w(hits)", "wrote hits", {"42"}),
               step(8, "T1", "armw(hits,relaxed)", "updated atomic hits (relaxed)", {"7"})});
  shared.advice = "choose one lock for hits, or make every access atomic";
  shared.chains = {{"why hits is relevant", {shared.steps[1], shared.steps[0]}}};
  shared.chains[0].steps[1].because = "its value went into the update";
  return shared;
}

Finding hostile_names() {
  Step first = step(0, "T\x1b[31m", "w(\xff\xfe)", "wrote \xff\xfe",
                    {"dir with space/bänk#1.cpp:3 in operator[](int)"});
  first.block = "größe::計算";
  first.because = "line\nbreak and a \x07 bell";
  Step second = step(1, "スレッド", "r(\xff\xfe)", "read \xff\xfe", {"<b>not html</b>\r"});
  second.held = "holding {mu}";
  Finding race = finding(kRace, "race", Strength::kObserved,
                         "\xff\xfe is written by T\x1b[31m and read by スレッド; see array[3](5) and {0}",
                         {first, second});
  race.conclusion =
      "Ünïcödé stays, \xC2\x9B"
      "control codes do not.";
  return race;
}

Finding long_headline() {
  const std::string name =
      "std::__detail::_Hashtable_alloc<std::allocator<std::__detail::_Hash_node<std::pair<int const, long>, "
      "false>>>";
  Finding race = finding(
      kRace, "race", Strength::kPredicted,
      "the reference count of the shared configuration is decremented by the thread that reloads it while "
      "the thread that serves requests still copies it, and nothing orders the two",
      {step(1000000, "reload", "w(count)", "wrote count",
            {"config.cpp:100 in " + name + "::_M_deallocate_node"}),
       step(2000000, "serve", "r(count)", "read count", {"config.cpp:7 in serve"})});
  race.steps[0].held = "holding config.mu and reload.mu";
  race.steps[0].because =
      "the lock that reload holds here is not the one that serve holds, because serve was given a copy of "
      "the mutex "
      "together with the copy of the configuration";
  race.steps[1].held = "holding config.mu (copy)";
  return race;
}

Finding no_sites() {
  return finding(kRace, "race", Strength::kObserved, "x is written by T0 and T1, and nothing orders the two",
                 {step(0, "T0", "w(x)", "wrote x", {}), step(1, "T1", "w(x)", "wrote x", {})});
}

// The same step in a block, with a reason to be there.
Step in_block(Step step, std::string block, std::string because = "") {
  step.block = std::move(block);
  step.because = std::move(because);
  return step;
}

// The steps of an argument that is longer than two blocks, not in the order of the trace.
Finding long_cycle() {
  Finding violation = finding(
      kAtomicity, "atomicity", Strength::kObserved, "Cart::total is not atomic",
      {in_block(step(40, "T1", "r(cart)", "read cart", {"cart.cpp:10 in Cart::total"}), "Cart::total"),
       in_block(step(41, "T2", "w(cart)", "wrote cart", {"cart.cpp:50"}), "Cart::add",
                "after T1's read, so Cart::total comes before Cart::add"),
       in_block(step(30, "T2", "w(\"log\")", "wrote \"log\"", {"log.cpp:7"}), "Cart::add"),
       in_block(step(44, "T3 & <T4>", "r(\"log\")", "read \"log\"", {"42"}), "",
                "after T2's write, so Cart::add comes before this operation"),
       in_block(step(45, "T3 & <T4>", "w(sum)", "wrote sum", {}), ""),
       in_block(step(46, "T1", "r(sum)", "read sum", {"C:\\cart.cpp:12"}), "Cart::price\x1b[0m",
                "after the write, so this operation comes before Cart::total")});
  violation.blocks = {"Cart::total"};
  return violation;
}

// A block of several threads: the argument leaves it in one and comes back in another.
Finding interference() {
  Finding violation = finding(
      kInterference, "determinism", Strength::kObserved, "operations outside sort come between its own",
      {in_block(step(5, "T1", "w(a)", "wrote a", {"sort.cpp:20"}), "sort"),
       in_block(step(6, "logger", "r(a)", "read a", {"log.cpp:5"}), "", "after T1's write"),
       in_block(step(9, "T2", "w(b)", "wrote b", {"sort.cpp:11"}), "sort", "after logger's read")});
  violation.blocks = {"sort"};
  return violation;
}

// Three threads that wait for each other, their steps in the order of the trace.
Finding lock_circle() {
  return finding(
      kCircle, "deadlock", Strength::kPotential, "C, A and B take c, a and b in a circle",
      {step(0, "C", "acq(c)", "acquired c", {"a.cpp:5 in j"}),
       step(1, "B", "acq(b)", "acquired b", {"a.cpp:3"}),
       in_block(step(2, "C", "acq(a)", "acquired a", {"a.cpp:6"}), "", "C waits for a, which A holds"),
       in_block(step(3, "B", "acq_sh(c)", "acquired c (shared)", {"a.cpp:4"}), "",
                "B waits for c, which C holds"),
       step(4, "A", "acq(a)", "acquired a", {"a.cpp:1"}),
       in_block(step(5, "A", "acq(b)", "acquired b", {"a.cpp:2"}), "", "A waits for b, which B holds")});
}

// A run with everything in its place; the findings are added by the caller.
RunReport run_of(std::vector<Finding> findings) {
  RunReport report;
  report.version = "0.1.0";
  report.rules = {{&kRace, kRacePage}, {&kLockset, ""}, {&kDeadlock, ""}, {&kAtomicity, ""}};
  report.findings = std::move(findings);
  return report;
}

RunReport race_run() {
  RunReport report = run_of({bank_race()});
  report.inputs = {{"bank.std", 1234, ""}};
  report.checkers = {{"race", Verdict::kViolations, ""}, {"deadlock", Verdict::kClean, ""}};
  report.command = "heddle check 'bank account.std'";
  return report;
}

RunReport mixed_run() {
  RunReport report =
      run_of({bank_race(), withdraw_not_atomic(), deep_deadlock(), potential_lockset(), no_sites()});
  report.inputs = {{"bank.std", 1234, ""},
                   {"check_then_act.std", 13, ""},
                   {"shop.heddle", 98765432, "torn after chunk 12; what follows was not read"}};
  report.checkers = {{"race", Verdict::kViolations, "24 events of uninstrumented code were met"},
                     {"lockset", Verdict::kViolations, ""},
                     {"deadlock", Verdict::kViolations, ""},
                     {"atomicity", Verdict::kViolations, ""},
                     {"tso", Verdict::kUndecided, "the budget of 1000000 steps ran out in 2 of 7 searches"}};
  report.suppressed = {{long_headline(), "the count is only a statistic", "ci.toml:12"}};
  report.notices = {"ci.toml:20: the suppression of HD1101 matched no finding",
                    "old.toml:1: the suppression of HD1001 expired on 2026-01-31 and no longer applies"};
  report.left_out = 1207;
  report.left_out_occurrences = 56789;
  return report;
}

RunReport clean_run() {
  RunReport report = run_of({});
  report.inputs = {{"a.std", 1000, ""}, {"b.std", 200, ""}, {"c.std", 34, ""}};
  report.checkers = {{"race", Verdict::kClean, ""}, {"deadlock", Verdict::kClean, ""}};
  return report;
}

RunReport suppressed_run() {
  RunReport report = run_of({});
  report.inputs = {{"a.heddle", 1, "torn after chunk 1; what follows was not read"}};
  report.checkers = {{"race", Verdict::kViolations, ""},
                     {"deadlock", Verdict::kClean, ""},
                     {"tso", Verdict::kUndecided, "the budget of 1000000 steps ran out in 2 of 7 searches"}};
  report.suppressed = {{bank_race(), "a statistic", "ci.toml:12"},
                       {no_sites(), "a \"quoted\" reason", "ci.toml:20"}};
  return report;
}

// ndseq: one trace that equals a sequential run, and one that does not.
RunReport sequential_run() {
  static constexpr Rule kTasks{"HD5001", "unserializable-tasks", "unserializable tasks",
                               "Parallel tasks did what no order of running them one after the other does"};
  Step read = step(1, "T1", "r(shared)>local", "read shared", {"refine.cpp:2"});
  Step between = step(7, "T2", "w(shared)<local", "wrote shared", {"refine.cpp:5", "main.cpp:8 in main"});
  between.because = "after T1's read of shared, so i=1 comes before i=2";
  Step write = step(11, "T1", "w(shared)<local", "wrote shared", {"refine.cpp:5"});
  write.because = "after T2's write of shared, so i=2 comes before i=1";
  Finding lost = finding(kTasks, "ndseq", Strength::kObserved,
                         "no order of i=1 and i=2 gives what they did to shared", {read, between, write});
  Step computed = step(5, "T1", "set(local,local)", "computed local", {"refine.cpp:3"});
  computed.because = "uses that value";
  Step result = write;
  result.because = "uses that value; shared is a focus location, and this is its task's last write of it";
  Step seen = between;
  seen.because = "shared is a focus location, and this is its task's last write of it";
  lost.conclusion = "i=1 would have to run before i=2 and after it.";
  lost.chains = {{"why T1's read of shared matters", {read, computed, result}},
                 {"why T2's write of shared matters", {seen}}};
  lost.input = "lost_commit.std";
  RunReport report = run_of({lost});
  report.inputs = {{"lost_commit.std", 15, ""}, {"search.std", 48, ""}};
  report.checkers = {{"ndseq", Verdict::kViolations, ""}};
  SequentialRun refuted;
  refuted.input = "lost_commit.std";
  refuted.tasks = 2;
  refuted.focus = 1;
  refuted.events = 6;
  refuted.maybes = 2;
  refuted.conflict_warnings = refuted.warnings = 1;
  SequentialRun found;
  found.input = "search.std";
  found.tasks = 5;
  found.focus = 2;
  found.events = 123456;
  found.irrelevant_events = 7890;
  found.maybes = 4;
  found.irrelevant_maybes = 3;
  found.conflict_warnings = 12;
  found.counted_all = false;
  found.is_found = true;
  found.order = {{"i=2", 1}, {"i=1", 1}, {"left", 2}, {"right", 2}, {"i=3", 1}};
  found.order_left_out = 7;
  Step skipped = step(8, "T1", "nd", "entered an if (true*)", {"search.cpp:4"});
  skipped.block = "i=1";
  found.skipped = {skipped, skipped};
  found.skipped[1].block = "i=2";
  found.skipped.push_back(step(9, "T2", "nd", "entered an if (true*)", {}));
  found.skipped[2].block = "i=3";
  report.sequential_runs = {refuted, found};
  return report;
}

RunReport one_input(std::vector<Finding> findings, std::string checker) {
  RunReport report = run_of(std::move(findings));
  report.inputs = {{"run.std", 2000001, ""}};
  report.checkers = {{std::move(checker), Verdict::kViolations, ""}};
  return report;
}

}  // namespace

std::vector<SampleReport> sample_reports() {
  return {
      {"race", race_run()},
      {"mixed", mixed_run()},
      {"hostile", one_input({hostile_names()}, "race")},
      {"long", one_input({long_headline()}, "race")},
      {"narrow", one_input({deep_deadlock(), withdraw_not_atomic()}, "all"), 64},
      {"cycles", one_input({long_cycle(), interference(), bank_race(), lock_circle()}, "all")},
      {"predicted", one_input({predicted_violation()}, "blocks")},
      {"potential", one_input({potential_lockset()}, "lockset")},
      {"store_buffers", one_input({store_buffering()}, "robustness")},
      {"sequential", sequential_run()},
      {"clean", clean_run()},
      {"suppressed", suppressed_run()},
  };
}

}  // namespace heddle::test
