"""Random small C++ programs, built in full and focused, and what is found held against each other (docs/design/types.md).

Usage: focus_laws.py FOLDER FIRST COUNT [SCHEDULES]   with heddle and heddle-clang++ in PATH

One file has COUNT programs, of the seeds from FIRST on. The turns of schedule.h fix the order of their steps, so that all builds do the
same. Holds of each:
  every field that the full build finds a race on, each focused build finds one on, or reports the lock that guards it (HD1004);
  no focused build finds a race on another field;
  `blocks` says the same of the recorded execution and of what `trace reduce` leaves of it.
With SCHEDULES, programs all of whose fields are proven run so often without turns, in full: no race is found.
"""
import json
import random
import re
import subprocess
import sys
from pathlib import Path

MODES = ["field", "method", "combined"]
SHARED_FIELDS = "xyz"
STEPS = 4
FIRST_WITH_OWNERS = 1000  # a seed: those before are known programs
FIRST_WITH_BYTES = 2000
FIRST_WITH_WAITS = 3000
BLOCKS = 16


class Case:
    """One program: a class with a lock, fields that are guarded or not, methods that keep to it or do not."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = random.Random(seed)
        self.name = f"C{seed}"
        self.broken = self.dice.choice([0.0, 0.2, 0.4])  # how often a method forgets the lock
        self.methods = {}

    def lock(self, may_break=True):
        if may_break and self.dice.random() < self.broken:
            return ""
        kind = self.dice.choice(["std::lock_guard<std::mutex> l(mu)", "std::unique_lock<std::mutex> l(mu)"])
        return f"{kind};"

    def make_methods(self):
        for field in SHARED_FIELDS:
            self.methods[f"add_{field}"] = f"{self.lock()} {field} += 1;"
            self.methods[f"get_{field}"] = f"{self.lock()} lost += {field};"
            self.methods[f"raw_{field}"] = f"{field} += 2;"
            if self.dice.random() < 0.5:
                self.methods[f"late_{field}"] = f"{{ {self.lock(False)} {field} += 1; }} {self.after(field)}"
        pair = self.dice.sample(SHARED_FIELDS, 2)
        self.methods["both"] = f"{self.lock()} raw_{pair[0]}(); raw_{pair[1]}();"
        self.has_shares = self.seed >= FIRST_WITH_BYTES and self.dice.random() < 0.5
        if self.has_shares:
            self.make_shares()
        else:
            self.make_vector()
        self.methods["read_r"] = "lost += r;"
        self.methods["set_r"] = "r = 2;" if self.dice.random() < self.broken else "lost += r;"

        if self.seed >= FIRST_WITH_OWNERS:
            self.make_owners()
            self.make_atomics()
            self.make_ending()
        if self.seed >= FIRST_WITH_WAITS:
            self.make_waits()
            self.make_tasks()

    def make_vector(self):
        self.methods["grow"] = f"{self.lock()} v.push_back(1);"
        self.methods["sum"] = f"{self.lock()} for (const int each : v) lost += each;"
        self.methods["walk"] = f"{self.lock()} int* p = v.data(); for (std::size_t i = 0; i < v.size(); ++i) p[i] += 1;"
        if self.broken > 0:
            self.methods["keep"] = f"{self.lock()} kept = {self.dice.choice(['v.data()', 'nullptr'])};"
        self.methods["use_kept"] = "if (kept != nullptr) *kept += 1;" if self.dice.random() < self.broken else "lost += 1;"

    def make_shares(self):
        """Loops over shares of two vectors of bytes, divided by index. The reports' name for either is `the vector`."""
        to, out_of = self.dice.sample(["b", "c"], 2)
        for share in range(4):
            begin, end = share * BLOCKS // 4, (share + 1) * BLOCKS // 4
            if self.dice.random() < self.broken:
                end = min(end + 1, BLOCKS)
            swap = " ".join(f"{to}[4 * i + {at}] = {out_of}[4 * i + {at ^ 1}];" for at in range(4))
            lock = self.lock() if self.dice.random() < 0.5 else ""
            # The compiler does not know how often: what it knows, it makes straight code of.
            self.methods[f"share_{share}"] = (f"{lock} const std::size_t end = {end} + (lost < -1000000); "
                                              f"for (std::size_t i = {begin}; i < end; ++i) {{ {swap} }}")
        begin = self.dice.randrange(4 * BLOCKS)
        self.methods["look"] = f"{self.lock()} for (std::size_t i = {begin}; i < {4 * BLOCKS}; ++i) lost += {to}[i];"
        self.methods["exchange"] = f"{self.lock(False)} b.swap(c);" if self.dice.random() < self.broken else "lost += 1;"

    def make_owners(self):
        """An object that a std::unique_ptr has, which the class may come to know."""
        shown = self.dice.choice(["made.get()", "nullptr"])
        self.methods["make"] = (f"auto made = std::make_unique<N{self.seed}>(); made->o += 1; {{ {self.lock(False)} shown = {shown}; }} "
                                f"{self.after('made->o')} made.release();")
        self.methods["use_shown"] = f"{self.lock()} if (shown != nullptr) shown->o += 1;"

    def make_atomics(self):
        """What atomic operations use, and perhaps plain ones."""
        count = "__atomic_fetch_add(&a, 1, __ATOMIC_RELAXED);"
        self.methods["count"] = count
        self.methods["count_too"] = f"{self.lock()} a += 1;" if self.dice.random() < self.broken else count
        self.methods["raise_flag"] = "flag.store(1, std::memory_order_relaxed);"
        self.methods["see_flag"] = "lost += flag.load(std::memory_order_relaxed);"

    def make_ending(self):
        """An object whose destructor ends a thread that uses it."""
        self.ending = f"{self.lock()} n += 1;"
        self.methods["end"] = f"E{self.seed} e;"

    def make_waits(self):
        """Predicates that are true at once, most of them called with the lock held and about the object that it belongs to."""
        is_broken = self.dice.random() < self.broken
        wrong = self.dice.choice(["changed.wait(l, is); l.unlock(); is();", "l.unlock(); l.lock(); changed.wait(l, is); l.unlock(); lost += w;",
                                  "changed.wait(l, [&] { l.unlock(); const bool now = is(); l.lock(); return now; });"])
        right = self.dice.choice(["changed.wait(l, is); is();", "changed.wait_for(l, std::chrono::seconds(1), is); lost += w;",
                                  "changed.wait(l, [&] { l.unlock(); l.lock(); return is(); });"])
        captured = self.dice.choice(["&", "this", "=, this"])
        mutex = "another" if self.dice.random() < self.broken else "mu"
        self.methods["wait_w"] = (f"std::unique_lock<std::mutex> l({mutex}); const auto is = [{captured}] {{ return w >= 0; }}; "
                                  f"{wrong if is_broken else right}")
        self.methods["wait_too"] = f"std::unique_lock<std::mutex> l(mu); changed.wait(l, [{captured}] {{ return w >= 0; }});"
        self.methods["add_w"] = f"{self.lock()} w += 1;"

    def make_tasks(self):
        """A queue of functions that are moved out of it, and called with the lock or without."""
        self.methods["push"] = f"{self.lock()} q.push_back([this] {{ u += 1; }});"
        take = f"std::optional<std::function<void()>> task; {{ {self.lock()} if (!q.empty()) {{ task = take(); q.pop_front(); }} }}"
        self.methods["pop"] = f"{take} {self.lock()} if (task) (*task)();"
        self.methods["get_u"] = f"{self.lock()} lost += u;"

    def after(self, field):
        return f"{field} += 1;" if self.dice.random() < self.broken else "lost += 1;"

    def callable(self):
        raw = [name for name in self.methods if not name.startswith("raw_")]
        return raw + ([name for name in self.methods if name.startswith("raw_")] if self.broken > 0.2 else [])

    def step(self, turn):
        calls = []
        for _ in range(self.dice.randint(1, 2)):
            what = self.dice.random()
            method = self.dice.choice(self.callable())
            if what < 0.75:
                calls.append(f"shared.{method}();")
            elif what < 0.9:
                calls.append(f"{self.name} own; own.{self.dice.choice(list(self.methods))}(); own.x += 1;")
            else:
                calls.append(f"use_{self.name}(shared);")
        return "schedule::at(" + str(turn) + ", [&] { " + " ".join("{ " + call + " }" for call in calls) + " });"

    def text(self):
        self.make_methods()
        lines = [f"struct N{self.seed} {{", "  alignas(128) int o = 0;", "};"]
        if self.seed >= FIRST_WITH_OWNERS:
            lines += [f"struct E{self.seed} {{", f"  E{self.seed}() : t([this] {{ std::lock_guard<std::mutex> l(mu); n += 1; }}) {{}}",
                      f"  ~E{self.seed}() {{ {{ {self.ending} }} t.join(); n += 1; }}", "  std::mutex mu;", "  alignas(128) int n = 0;",
                      "  alignas(128) std::thread t;", "};"]
        lines += [f"struct {self.name} {{", f"  explicit {self.name}(int start = 1) : r(start), v(2) {{}}"]
        # Far apart, or one check would stand for two of them and name only one.
        lines += ["  std::mutex mu;"]
        lines += [f"  alignas(128) int {field} = 0;" for field in SHARED_FIELDS]
        lines += ["  alignas(128) int r;", "  alignas(128) std::vector<int> v;", "  alignas(128) int* kept = nullptr;",
                  f"  alignas(128) N{self.seed}* shown = nullptr;", "  alignas(128) int a = 0;", "  alignas(128) std::atomic<int> flag = 0;"]
        if self.has_shares:
            lines += [f"  alignas(128) std::vector<unsigned char> {name} = std::vector<unsigned char>({4 * BLOCKS});" for name in "bc"]
        if self.seed >= FIRST_WITH_WAITS:
            lines += ["  std::mutex another;", "  std::condition_variable changed;", "  alignas(128) int w = 0;", "  alignas(128) int u = 0;",
                      "  alignas(128) std::deque<std::function<void()>> q;",
                      "  std::optional<std::function<void()>> take() { std::optional<std::function<void()>> task = std::move(q.front()); return task; }"]
        lines += [f"  void {name}() {{ {body} }}" for name, body in self.methods.items()]
        lines += ["};"]
        method = self.dice.choice(self.callable())
        lines += [f"void use_{self.name}({self.name}& given) {{ given.{method}(); given.get_x(); }}"]
        turns = list(range(2 * STEPS))
        self.dice.shuffle(turns)
        first, second = sorted(turns[:STEPS]), sorted(turns[STEPS:])
        lines += [f"void run_{self.name}() {{", f"  {self.name} shared(3);"]
        lines += [f"  shared.{self.dice.choice(list(self.methods))}();" for _ in range(2)]
        for number, mine in enumerate((first, second)):
            lines += [f"  std::thread t{number}([&] {{"] + ["    " + self.step(turn) for turn in mine] + ["  });"]
        if self.broken > 0.2:
            lines += [f"  schedule::at({2 * STEPS}, [&] {{ shared.get_y(); }});"]
        lines += ["  t0.join();", "  t1.join();"]
        lines += [f"  shared.{self.dice.choice(list(self.methods))}();" for _ in range(2)]
        return "\n".join(lines + ["}"])


def program_of(cases):
    head = ["// Made by focus_laws.py.", "#include <atomic>", "#include <chrono>", "#include <condition_variable>", "#include <cstdlib>",
            "#include <deque>", "#include <functional>", "#include <memory>", "#include <mutex>", "#include <optional>", "#include <thread>", "#include <vector>",
            '#include "turns.h"', "thread_local long lost = 0;"]
    choose = [f"  if (number == {case.seed}) run_{case.name}();" for case in cases]
    return "\n".join([*head, *[case.text() for case in cases], "int main(int argc, char** argv) {",
                      "  const int number = std::atoi(argv[1]);", "  schedule::is_free = argc > 2;", *choose, "}", ""])


def run(command, codes=(0,), **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode not in codes:
        sys.exit(f"focus_laws: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def findings(folder, build, seed, *more):
    """Names of what races were found on, and of locks that somebody did without."""
    out = folder / "found.json"
    run(["heddle", "run", "--checkers", "race", "--format", "json", "-o", out, "--", f"./{build}", seed, *more], (0, 66), cwd=folder)
    races, locks = set(), set()
    for finding in json.loads(out.read_text(encoding="utf-8"))["findings"]:
        # Objects have numbers as they are met. What the vector keeps goes by many names.
        names = {re.sub(r"#\d+", "", step["operation"][2:-1]) for step in finding["steps"]}
        names = {name if re.fullmatch(r"C\d+::([xyzrawu]|kept|shown)|N\d+::o|E\d+::n", name) else "the vector" for name in names}
        if finding["rule"] == "HD1001":
            races.add(" and ".join(sorted(names)))
        elif finding["rule"] == "HD1004":
            locks.add(re.search(r"what (\S+)::mu guards", finding["message"])[1])
    return races, locks


def blocks_of(folder, trace):
    out = folder / "blocks.json"
    code = run(["heddle", "check", trace, "--checkers", "blocks", "--format", "json", "-o", out], (0, 66), cwd=folder).returncode
    return code, sorted({finding["message"] for finding in json.loads(out.read_text(encoding="utf-8"))["findings"]})


def main():
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    schedules = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    folder.mkdir(parents=True, exist_ok=True)
    turns = (Path(__file__).parent.parent / "schedule.h").read_text(encoding="utf-8")
    turns = turns.replace("inline int turn = 0;", "inline int turn = 0;\ninline bool is_free = false;  // nobody waits")
    turns = turns.replace("while (!has_come(number))", "while (!is_free && !has_come(number))")
    (folder / "turns.h").write_text(turns, encoding="utf-8")
    cases = [Case(seed) for seed in range(first, first + count)]
    (folder / "cases.cpp").write_text(program_of(cases), encoding="utf-8")
    compiler = ["heddle-clang++", "-std=c++20", f"-O{1 + first // count % 3}", "cases.cpp", "-pthread"]
    run([*compiler, "--heddle-summaries", "-o", "full"], cwd=folder)
    run(["heddle", "types", "infer", "./full", "-o", "owners"], cwd=folder)
    checked = run(["heddle", "types", "check", "./full", "--types", "owners"], cwd=folder).stdout
    unproven = set(re.findall(r"^  (\w+)::", checked.split("methods that")[0], re.MULTILINE))
    for mode in MODES:
        run(["heddle", "focus", "./full", "--types", "owners", "--mode", mode, "-o", f"{mode}.focus"], cwd=folder)
        run([*compiler, f"--heddle-focus={mode}.focus", "-o", mode], cwd=folder)
    racy = proven = reduced = 0
    for case in cases:
        seed = str(case.seed)
        races, _ = findings(folder, "full", seed)
        racy += len(races) > 0
        for mode in MODES:
            found, locks = findings(folder, mode, seed)
            lost = {race for race in races - found if not any(name.split("::")[0] in locks for name in race.split(" and "))}
            if lost or found - races:
                sys.exit(f"focus_laws: seed {seed}, mode {mode}: full finds {sorted(races)}, focused {sorted(found)}, locks {sorted(locks)}; "
                         f"cd {folder}; heddle run --checkers race -- ./{mode} {seed}")
        run(["heddle", "record", "--mode", "full", "-o", "whole.heddle", "--", "./full", seed], (0, 66), cwd=folder)
        left = run(["heddle", "trace", "reduce", "whole.heddle", "--focus", "combined.focus", "-o", "less.heddle"], cwd=folder).stderr
        kept, before = [int(word) for word in re.findall(r"\d+", left.replace(",", ""))[:2]]
        reduced += kept < before
        whole, less = blocks_of(folder, "whole.heddle"), blocks_of(folder, "less.heddle")
        if whole != less:
            sys.exit(f"focus_laws: seed {seed}: blocks says {whole} of all and {less} of what is left; cd {folder}")
        if unproven & {case.name, f"N{seed}", f"E{seed}"}:
            continue
        proven += 1
        for _ in range(schedules):
            if findings(folder, "full", seed, "free")[0]:
                sys.exit(f"focus_laws: seed {seed}: all is proven, and a race is found; cd {folder}; heddle run -- ./full {seed} free")
    print(f"{count} programs: {racy} with races, {proven} wholly proven, {reduced} with less to check; focused as in full"
          + (f"; {proven * schedules} free runs of proven programs without a race" if schedules else ""))


main()
