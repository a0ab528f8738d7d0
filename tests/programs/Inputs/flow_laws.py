"""Random C++ programs with parallel tasks, recorded in few events and with every step, and what `ndseq` says held against each other
(docs/design/dataflow.md).

Usage: flow_laws.py FOLDER FIRST COUNT [OPTIMIZATION [OPTION…]]   with heddle and heddle-clang++ in PATH

One file has COUNT programs, of the seeds from FIRST on. The turns of schedule.h fix the order of what the tasks do, and a lock makes it
certain. Holds of each: both recordings have the same verdict, the same tasks and bodies of `if (HEDDLE_MAYBE)`, as many of which can be
left out, and plain conflict serializability warns of both or of neither. (Optimized, with every step fewer may be left out, and more
warned of: a computation that the compiler has moved into a body is told there, though it belongs in front of it.) And what is said to equal a sequential run does: of runs of the
sequential version, in random orders with random bodies left out, one ends with the same values of what is in focus. (Programs that enter
more than MOST_MAYBES bodies are left out of this: there are too many such runs.)
"""
import json
import os
import random
import subprocess
import sys
from pathlib import Path

PRELUDE = """// Made by flow_laws.py.
#include <heddle/heddle.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#ifdef IN_SEQUENCE
#include <sys/wait.h>
#include <unistd.h>
#endif
#include <cstdio>
#include <string>

#include "schedule.h"

struct Pair {
  long first;
  long second;
};
long whole[4] = {1, 2, 3, 4};
double real[4] = {1, 2, 3, 4};
int half[4] = {1, 2, 3, 4};
unsigned char bytes[16];
Pair pairs[2] = {{1, 2}, {3, 4}};
long* places[2] = {&whole[0], &whole[3]};
std::atomic<long> counter{1};
std::map<long, long> tree = {{0, 1}, {2, 3}};
std::vector<long> list = {1, 2};
std::shared_ptr<long> kept[2] = {std::make_shared<long>(5), std::make_shared<long>(6)};
std::weak_ptr<long> looking = kept[0];
std::mutex everybody;

struct Turn {
  explicit Turn(int number) {
#ifndef IN_SEQUENCE
    schedule::wait_for(number);
#endif
    everybody.lock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    everybody.unlock();
    schedule::end_turn();
  }
};
[[gnu::noinline]] long chosen(long which, long a, long b) { return which > 2 ? a + whole[which & 3] : b; }
[[gnu::noinline]] void put(long* to, long value) { *to = value; }
[[gnu::noinline]] Pair exchanged(Pair given, long more) { return {given.second + more, given.first}; }
[[gnu::noinline]] long depth(long left, long value) { return left <= 0 ? value : depth(left - 1, value + half[left & 3]) + 1; }
"""
SHARED = ["whole[0]", "whole[1]", "whole[2]", "whole[3]", "half[0]", "half[1]", "half[2]", "half[3]", "pairs[0].first", "pairs[1].second"]
LOCALS = ["a", "b", "c"]
MOST_MAYBES = 8
LOOPS_FROM = 10_000_000  # seeds of programs with loops that call nobody; those below are what they always were
NESTS_FROM = 20_000_000  # … and with loops inside of those, and shared pointers
SEQUENTIAL_RUNS = 20000  # at most
# Prints what the program ends with; with IN_SEQUENCE, whether a run of the sequential version ends with that, too.
MAIN = """
int main(int, char** arguments) {
  const int number = std::atoi(arguments[1]);
#ifdef IN_SEQUENCE
  for (int seed = 1; seed <= std::atoi(arguments[3]); ++seed) {
    if (const pid_t child = ::fork(); child != 0) {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status == 0) return 0;
      continue;
    }
    ::setenv("HEDDLE_SEQUENTIAL", std::to_string(seed).c_str(), 1);
    ::_exit(outcome_of(number) == arguments[2] ? 0 : 1);
  }
  return 1;
#else
  std::puts(outcome_of(number).c_str());
#endif
}
"""


class Case:
    """One program: tasks made of turns, some of them in what may be left out or in tasks inside."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = random.Random(seed)
        # Few locations meet often, many seldom.
        self.shared = self.dice.sample(SHARED, self.dice.randint(2, 6))
        # What is branched on matters: with branches everywhere nothing could be left out.
        self.branching = self.dice.choice([0.0, 0.05, 0.5])
        self.branches = False  # there are some in the statement that is being made
        self.loops = seed >= LOOPS_FROM
        self.nests = seed >= NESTS_FROM

    def location(self):
        return self.dice.choice(self.shared)

    def value(self, depth=0):
        kind = self.dice.randint(0, (13 if self.branches else 8) if depth < 3 else 5)
        if kind <= 2:
            return self.dice.choice(LOCALS)
        if kind == 3:
            return str(self.dice.randint(0, 5))
        if kind <= 5:
            return self.location()
        one, other = self.value(depth + 1), self.value(depth + 1)
        if kind <= 8:
            return f"({one} {self.dice.choice('+-*^')} {other})"
        return [f"({one} / ({other} | 1))", f"({self.condition(depth + 1)} ? {one} : {other})", f"chosen({one} & 3, {other}, {self.location()})",
                f"whole[{one} & 3]", f"static_cast<long>(real[{one} & 3] * 2)"][kind - 9]

    def condition(self, depth=0):
        condition = f"{self.value(depth + 1)} {self.dice.choice(['<', '==', '!='])} {self.value(depth + 1)}"
        return f"({condition})" if depth < 2 and self.dice.random() < 0.8 else f"({condition} && {self.value(depth + 1)} > 1)"

    def statements(self, most, depth=0):
        return " ".join(self.statement(depth) for _ in range(self.dice.randint(1, most)))

    def body(self, depth):
        """Of what may be left out."""
        around, self.branches = self.branches, self.dice.random() < 0.7
        condition, text = self.condition(), self.statements(3, depth + 1)
        self.branches = around
        mark = "HEDDLE_MAYBE" if self.dice.random() < 0.6 else f"HEDDLE_MAYBE && {condition}"
        return f"if ({mark}) {{\n{text} }}\n"

    def element(self):
        """Of an array, in a round of a loop."""
        index = self.dice.choice(["i", "i", "i", "3 - i", "i ^ 1", "(i + 1) & 3", "2"] + (["whole[i] & 3"] if self.branches else []))
        return f"{self.dice.choice(['whole', 'whole', 'half'])}[{index}]"

    def nest(self, outer):
        """A loop inside of a loop: its arrays are walked, and indexed by what others hold."""
        inner = "j" if outer == "i" else "k"
        index = self.dice.choice([inner, inner, f"({outer} + {inner}) & 3", f"3 - {inner}", f"{outer} ^ {inner}"] +
                                 ([f"whole[{inner}] & 3", f"half[{inner}] & 3"] if self.branches else []))
        element, rounds = f"{self.dice.choice(['whole', 'half'])}[{index}]", []
        for _ in range(self.dice.randint(1, 2)):
            rounds.append(self.dice.choice([f"{self.dice.choice(LOCALS)} += {element};", f"{element} = {self.value(2)} + {self.element()};",
                                            f"{element} += {self.dice.choice(LOCALS)};", self.round(1)]))
        if outer == "i" and self.dice.random() < 0.3:
            rounds.append(self.nest("j"))
        if self.branches and self.dice.random() < 0.2:
            rounds.append(f"if ({element} > {self.dice.choice(LOCALS)}) {self.dice.choice(['break', 'continue'])};")
        most = self.dice.choice(["4", "4", "3", f"{outer} + 1", "(half[i] & 3)" if self.branches else "2"])
        return f"for (long {inner} = {self.dice.randint(0, 1)}; {inner} < {most}; ++{inner}) {{ {' '.join(rounds)} }}"

    def sharing(self):
        """With std::shared_ptr: copies count, and who looks how many there are may see others' copies."""
        return self.dice.choice(["kept[0] = kept[1];", "{ const auto copy = kept[0]; a += *copy; }", f"*kept[1] = {self.value(2)};",
                                 "b = kept[0].use_count();", "if (auto there = looking.lock()) c += *there;", "kept[1] = std::make_shared<long>(a);",
                                 f"kept[0] = std::make_shared<long>({self.location()}); looking = kept[0];", "kept[1].reset(new long(b));"])

    def round(self, depth=0):
        """What a loop that calls nobody does in each of its rounds."""
        if self.nests and depth == 0 and self.dice.random() < 0.4:
            return self.nest("i")
        one, other = self.dice.choice([self.element(), self.value(2)]), self.dice.choice([self.element(), *LOCALS])
        kind = self.dice.randint(0, 11 if self.branches and depth < 2 else 7)
        if kind <= 2:
            return f"{self.element()} = {one} * 2 + {other};"
        if kind <= 4:
            return f"{self.dice.choice(LOCALS)} += {one};"
        if kind == 5:
            return f"{self.element()} = {one};"
        if kind == 6:
            return f"{self.element()} += {other};"
        if kind == 7:
            return "{ const long kept = a; a = b; b = kept; }"
        if kind == 8:
            return f"if ({one} > {other}) break;"
        if kind == 9:
            return f"a = {one} < {other} ? {other} : c;"
        rest = f" else {{ {self.round(depth + 1)} }}" if self.dice.random() < 0.5 else ""
        return f"if ({one} < {other}) {{ {self.round(depth + 1)} {self.round(depth + 1)} }}{rest}"

    def statement(self, depth):
        if depth == 0:
            self.branches = self.dice.random() < self.branching
        if self.loops and self.dice.random() < 0.3:
            rounds = " ".join(self.round() for _ in range(self.dice.randint(1, 3)))
            return f"for (long i = {self.dice.randint(0, 2)}; i < {self.dice.choice(['4', '4', '3', '(a & 3)'])}; ++i) {{ {rounds} }}"
        if self.nests and self.dice.random() < 0.1:
            return self.sharing()
        if depth < 3 and self.dice.random() < 0.25:
            return self.body(depth)
        if depth == 0 and self.dice.random() < 0.1:  # used in a body first and behind it later
            return f"a = {self.location()} * b + {self.location()}; if (HEDDLE_MAYBE) {{\n{self.location()} = a; }}\n{self.location()} = a;"
        kind = self.dice.randint(0, (25 if depth < 3 else 20) if self.branches else 14)
        if kind <= 3:
            return f"{self.location()} = {self.value()};"
        if kind <= 7:
            return f"{self.dice.choice(LOCALS)} = {self.value()};"
        if kind == 8:
            return f"{self.location()} += 1;"
        one, other = self.value(1), self.value(1)
        if kind <= 20:
            return [f"put(&whole[1], {other});", f"pairs[0] = exchanged(pairs[1], {one});", "pairs[0] = pairs[1];",
                    "for (int i = 0; i < 4; ++i) real[i] = real[i] * 2 + static_cast<double>(whole[i]);", f"a += counter.fetch_add({one});",
                    f"for (long i = 0; i < {'1500' if depth == 0 else '2'}; ++i) {{ b += {one}; {self.location()} = b; }}",
                    f"put(&whole[{one} & 3], {other});", f"pairs[{one} & 1] = exchanged(pairs[{other} & 1], a);",
                    f"std::memcpy(&whole[{one} & 3], bytes, {self.dice.choice([2, 4, 8])}); bytes[{other} & 15] = 1;",
                    f"*places[{one} & 1] = {other};", f"tree[{one} & 3] += {other};",
                    f"list.push_back({one}); a = list[list.size() - 1];"][kind - 9]
        if kind <= 23:
            other = f" else {{ {self.statements(2, depth + 1)} }}" if self.dice.random() < 0.4 else ""
            return f"if {self.condition()} {{ {self.statements(2, depth + 1)} }}{other}"
        if kind == 24:
            return f"for (long i = 0; i < ({one} & 3); ++i) {{ {self.statements(2, depth + 2)} }}"
        return f"c = depth({self.value()} & 7, {self.location()});"

    def items(self, most, depth):
        """What a task does: a turn is ["turn", text, number]."""
        made = []
        for _ in range(self.dice.randint(1, most)):
            kind = self.dice.random()
            if depth == 0 and kind < 0.2:
                made.append(["maybe", self.items(2, 1)])
            elif depth < 2 and kind < 0.35:
                made.append(["inside", self.items(2, 2), self.items(2, 2)])
            else:
                made.append(["turn", self.statements(3), None])
        return made

    def in_order(self, items):
        """The turns, tasks inside at random."""
        for item in items:
            if item[0] == "turn":
                yield item
            elif item[0] == "maybe":
                yield from self.in_order(item[1])
            else:
                yield from self.mixed([self.in_order(item[1]), self.in_order(item[2])])

    def mixed(self, strands):
        while strands:
            strand = self.dice.choice(strands)
            try:
                yield next(strand)
            except StopIteration:
                strands.remove(strand)

    def text_of(self, items):
        text = []
        for item in items:
            if item[0] == "turn":
                text.append(f"{{ const Turn turn({item[2]});\n{item[1]} }}")
            elif item[0] == "maybe":
                text.append(f"if (HEDDLE_MAYBE) {{\n{self.text_of(item[1])} }}\n")
            else:
                both = [f"[&] {{ long a = 1, b = 2, c = 3;\n{self.text_of(inner)} }}" for inner in item[1:]]
                text.append(f"heddle::parallel_invoke({both[0]}, {both[1]});")
        return "\n".join(text)

    def text(self):
        tasks = [self.items(4, 0) for _ in range(self.dice.randint(2, 3))]
        for number, turn in enumerate(self.mixed([self.in_order(task) for task in tasks])):
            turn[2] = number
        bodies = [f"void task_{self.seed}_{number}() {{\n long a = 1, b = 2, c = 3;\n{self.text_of(task)}\n}}" for number, task in enumerate(tasks)]
        calls = "".join(f"    if (number == {number}) task_{self.seed}_{number}();\n" for number in range(len(tasks)))
        results = self.dice.sample(SHARED, self.dice.randint(1, 3))
        focus = "".join(f"  heddle::focus({name});\n" for name in results)
        focus += "  return " + ' + " " + '.join(f"std::to_string({name})" for name in results) + ";\n"
        return "\n".join(bodies) + (f"\nstd::string run_{self.seed}() {{\n  heddle::parallel_for(0, {len(tasks)}, [](int number) {{\n{calls}  }});\n{focus}}}\n")


def run(command, codes=(0,), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=300, **options)
    if done.returncode not in codes:
        sys.exit(f"flow_laws: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def said_of(folder, program, seed, **more):
    outcome = run(["heddle", "record", "-o", "run.heddle", "--", program, seed], cwd=folder,
                  env=os.environ | {"HEDDLE_THREADS": "16"} | more).stdout.strip()
    found = json.loads(run(["heddle", "check", "run.heddle", "--checkers", "ndseq", "--format", "json"], (0, 66), cwd=folder).stdout)
    row = found["sequential_runs"][0]
    return {"verdict": found["checkers"][0]["verdict"], "tasks": row["tasks"], "maybes": row["maybes"], "left out": row["irrelevant_maybes"],
            "conflicts": row["conflict_warnings"] > 0, "outcome": outcome}, row["events"]


def agree(few, every, optimization):
    if optimization == "-O0":
        return few == every
    same = [key for key in few if key not in ("verdict", "left out")]
    return all(few[key] == every[key] for key in same) and few["left out"] >= every["left out"] and \
        (few["verdict"] == every["verdict"] or few["verdict"] == "clean")


def main():
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    optimization = sys.argv[4] if len(sys.argv) > 4 else "-O2"
    more = sys.argv[5:]
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(seed) for seed in range(first, first + count)]
    text = PRELUDE + "\n".join(case.text() for case in cases)
    choose = "".join(f"  if (number == {case.seed}) return run_{case.seed}();\n" for case in cases)
    (folder / "cases.cpp").write_text(f"{text}\nstd::string outcome_of(int number) {{\n{choose}  return \"\";\n}}\n{MAIN}", encoding="utf-8")
    build = ["heddle-clang++", "-std=c++20", optimization, "-fwrapv", "-w", f"-I{Path(__file__).resolve().parent.parent}", "cases.cpp"]
    run([*build, *more, "--heddle-dataflow", "-o", "cases"], cwd=folder)
    without = "-Xclang -mllvm -Xclang -heddle-series=false".split()
    run([*build, *without, *more, "--heddle-dataflow", "-o", "every_step"], cwd=folder)
    header = Path(run(["which", "heddle-clang++"]).stdout.strip()).parent.parent / "include"
    run(["clang++-19", *build[1:], f"-I{header}", "-DHEDDLE_SEQUENTIAL", "-DIN_SEQUENCE", "-pthread", "-o", "in_sequence"], cwd=folder)
    verdicts, fewer, equal = {}, 0, 0
    for case in cases:
        few, events = said_of(folder, "./cases", case.seed)
        every, all_events = said_of(folder, "./every_step", case.seed, HEDDLE_EVERY_STEP="1")
        if not agree(few, every, optimization):
            sys.exit(f"flow_laws: seed {case.seed} {optimization}: {few} in few events, {every} with every step; cd {folder}; "
                     f"HEDDLE_THREADS=16 heddle record -o run.heddle -- ./cases {case.seed}, and with HEDDLE_EVERY_STEP=1 of ./every_step")
        verdicts[few["verdict"]] = verdicts.get(few["verdict"], 0) + 1
        fewer += events < all_events
        if few["verdict"] != "clean" or few["maybes"] > MOST_MAYBES:
            continue
        command = ["./in_sequence", case.seed, few["outcome"], SEQUENTIAL_RUNS]
        if run(command, (0, 1), cwd=folder).returncode != 0:
            sys.exit(f"flow_laws: seed {case.seed} {optimization}: said to equal a sequential run, and none was found that ends with "
                     f"{few['outcome']}; cd {folder}; {' '.join(map(str, command))}")
        equal += 1
    told = ", ".join(f"{times} {verdict}" for verdict, times in sorted(verdicts.items()))
    print(f"{count} programs: {told}; {fewer} of them in fewer events; the same is said of every step; {equal} found to equal a sequential run")


main()
