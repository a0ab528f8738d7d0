"""Runs programs plain, fully checked for races and focused, and prints S4's Tables 1 and 2 for them.

Called by bench/focus. Times are CPU times (user and system) of the program and the monitor together, medians of several
runs that take turns. Overhead is over plain -O2; speed-up is of the cost of checking, as S4 defines it:
(full - focused) / (full - plain).
"""
import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

from running import KERNELS, LOCK_HEAVY, ROOT, Failed, run

OURS = ["elevator", "tsp", "hedc"]
# With which these take about as long as the others, plain: with their own sizes, or those of the benchmarks that follow every
# lock, what is measured is mostly how the monitor starts.
SIZES = {"elevator": "1000000", "hedc": "400000", "hashmap": "10000000", "bank": "25000000"}
RECORDED = {"elevator": "1000", "tsp": "8", "hedc": "100", "queue": "500", "hashmap": "2000", "bank": "2000", "montecarlo": "200",
            "raytracer": "20"}  # sizes: blocks looks at pairs of pairs
MODES = ["field", "method", "combined"]
NO_CHECKS = ["-Xclang", "-mllvm", "-Xclang", "-heddle-check-accesses=false"]
BOWTIE = "bowtie_1.3.1.orig.tar.gz"
WORTH_SAVING = 0.05  # of the plain time: where full checking costs less, what focus saves of it is noise
BAR = 0.40  # overhead of the combined mode
# What keeps programs above the bar: what is not proven of them. Of tsp, hedc, queue, hashmap and bank found by looking at the checks
# that are left in their code; of the others, by reading their source.
REASONS = {
    "sor": "cells of one array, which threads divide by rows and by colour between barriers: no proof knows indices or phases",
    "sparse": "elements of two vectors that change roles at each barrier, divided by index; entries of the matrix, which are only read, are proven",
    "lufact": "rows of one array that are dealt out by `row % threads` between barriers: no proof knows indices or phases",
    "crypt": "elements of local vectors that threads divide by index: each loop over them is checked once, as a range, and what costs is memory for their state",
    "elevator": "nothing is left to check: what costs is to look at clocks when locks change hands",
    "tsp": "nothing is left to check in the search: what costs is to ask at each node whether anybody wants to know of blocks and relaxed loads",
    "hedc": "nothing is left to check in the threads: what costs is to look at clocks when locks change hands, and to mark what is freed",
    "moldyn": "elements of vectors that threads divide by index between barriers, by way of functions that get one of them",
    "queue": "how often threads wait for each other decides, which differs from run to run; what is left to check is what becomes of a task when it is out of the queue",
    "hashmap": "tables that are parts of what has the lock, and whose methods do not see it; their nodes, behind chains of `std::unique_ptr` in vectors, from which the lock cannot be reached",
    "bank": "nothing is left to check in a transfer: what costs is to look at each lock whether there is anything to learn, a fifth of the time",
    "bowtie": "half of its fields are not proven: objects that a thread keeps for itself behind pointers, members of its own containers, the index that is read into raw memory before there are threads",
}
PATIENCE = 30  # seconds for one check of a recorded execution
RESULTS = ROOT / "docs/RESULTS.md"
BEGIN, END = "<!-- bench/focus writes from here -->", "<!-- to here, focus -->"


def say(text):
    print(f"bench/focus: {text}", file=sys.stderr, flush=True)


def call(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode not in (0, 66):
        sys.exit(f"bench/focus: {' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def cpu_seconds(command, folder):
    try:
        return run(command, codes=(0, 66), folder=folder).seconds
    except Failed as failed:
        sys.exit(f"bench/focus: {failed}")


class Program:
    """A program of this repository: one source file."""

    def __init__(self, name, arguments, small):
        self.name = name
        self.source = ROOT / "bench/programs" / f"{name}.cpp"
        self.arguments = arguments
        self.discovery = ["2", "small"]
        self.recorded = ["2", RECORDED[name]] if name in RECORDED else None
        if small:
            self.arguments = self.discovery

    def lines(self):
        return len(self.source.read_text(encoding="utf-8").splitlines())

    def build(self, compiler, out):
        call([*compiler, "-std=c++20", "-O2", "-g", "-I", ROOT / "bench/programs", self.source, "-pthread", "-o", out])

    def folder(self):
        return None


def beside_package(package, file):
    """Where a source package's file lies: beside the binary package, whichever mirror this machine uses."""
    found = subprocess.run(["apt-get", "download", "--print-uris", package], capture_output=True, text=True, check=False)
    if not found.stdout.startswith("'"):
        sys.exit(f"bench/focus: apt-get does not know {package}; run apt-get update, or give --no-bowtie")
    return found.stdout.split("'")[1].rsplit("/", 1)[0] + "/" + file


class Bowtie:
    """bowtie 1.3.1 from Debian's source packages: aligns short reads to a genome, which both come with it."""
    name = "bowtie"
    recorded = None

    def __init__(self, scratch, small):
        self.tree = scratch / "bowtie-1.3.1"
        if not self.tree.exists():
            say(f"fetching {BOWTIE} from where the Debian packages come from")
            archive = scratch / "bowtie.tar.gz"
            urllib.request.urlretrieve(beside_package("bowtie", BOWTIE), archive)
            with tarfile.open(archive) as packed:
                packed.extractall(scratch, filter="data") if hasattr(tarfile, "data_filter") else packed.extractall(scratch)
        index = self.tree / "indexes/bench.1.ebwt"
        if not index.exists():
            (self.tree / "indexes").mkdir(exist_ok=True)
            self.make("bowtie-build-s", ["clang++-19"], self.tree / "bowtie-build-s")
            call([self.tree / "bowtie-build-s", "genomes/NC_008253.fna", "indexes/bench"], cwd=self.tree)
        reads = "reads/e_coli_1000.fq"
        self.discovery = ["-p", "2", "-v", "2", "-S", "indexes/bench", reads]
        self.arguments = self.discovery if small else ["-p", "2", "-v", "3", "-a", "-S", "indexes/bench", ",".join([reads] * 10)]

    def lines(self):
        return sum(len(path.read_text(encoding="utf-8", errors="replace").splitlines())
                   for pattern in ("*.cpp", "*.h") for path in self.tree.glob(pattern))

    def make(self, target, compiler, out):
        (self.tree / target).unlink(missing_ok=True)
        call(["make", target, f"CXX={' '.join(map(str, compiler))}", "EXTRA_FLAGS=-g -w"], cwd=self.tree)
        (self.tree / target).rename(out)

    def build(self, compiler, out):
        self.make("bowtie-align-s", compiler, out)

    def folder(self):
        return self.tree


def prepare(program, wrapper, scratch):
    """Builds all variants; what the check proves."""
    heddle = wrapper.parent / "heddle"
    at = {key: scratch / f"{program.name}.{key}" for key in ["plain", "full", *MODES, "log", "types"]}
    say(f"{program.name}: building, discovering, proving")
    program.build(["clang++-19"], at["plain"])
    program.build([wrapper, "--heddle-summaries"], at["full"])
    call([heddle, "types", "discover", "-o", at["log"], "--", at["full"], *program.discovery], cwd=program.folder())
    call([heddle, "types", "infer", at["full"], "--log", at["log"], "-o", at["types"]])
    checked = call([heddle, "types", "check", at["full"], "--types", at["types"]]).stdout
    proven = re.search(r"fields +(\d+) of (\d+)", checked)
    typed = re.search(r"methods +(\d+) of (\d+) typed, (\d+)", checked)
    for mode in MODES:
        focus = scratch / f"{program.name}.{mode}.focus"
        call([heddle, "focus", at["full"], "--types", at["types"], "--mode", mode, "-o", focus])
        program.build([wrapper, f"--heddle-focus={focus}"], at[mode])
    fields = int(proven[2]) - int(proven[1]), int(proven[2])
    methods = int(typed[2]) - int(typed[1]), int(typed[2])
    return at, fields, methods


def measure(program, at, wrapper, runs, builds=("plain", "full", *MODES)):
    heddle = wrapper.parent / "heddle"
    rounds = {key: [] for key in builds}
    for _ in range(runs):
        for key, times in rounds.items():
            checked = [] if key == "plain" else [heddle, "run", "--checkers", "race", "--output", f"{at[key]}.txt", "--"]
            times.append(cpu_seconds([*checked, at[key], *program.arguments], program.folder()))
    return {key: statistics.median(times) for key, times in rounds.items()}


def print_bounds(programs, wrapper, scratch, runs):
    """What proofs could save at most: the combined mode beside a build that checks no access at all, as if all had been proven."""
    print("| program | plain s | full s | combined s | speed-up | no checks s | bound of the speed-up |\n|---|" + "--:|" * 6, flush=True)
    gains = {"combined": [], "bound": []}
    for program in programs:
        at = prepare(program, wrapper, scratch)[0]
        at["bound"] = scratch / f"{program.name}.bound"
        program.build([wrapper, f"--heddle-focus={scratch / f'{program.name}.combined.focus'}", *NO_CHECKS], at["bound"])
        time = measure(program, at, wrapper, runs, ("plain", "full", "combined", "bound"))
        cost = time["full"] - time["plain"]
        is_worth_saving = cost >= WORTH_SAVING * time["plain"]
        for key, all_gains in gains.items():
            all_gains += [(time["full"] - time[key]) / cost] if is_worth_saving else []
        said = {key: percent(all_gains[-1]) if is_worth_saving else "–" for key, all_gains in gains.items()}
        print(f"| {program.name} | {time['plain']:.2f} | {time['full']:.2f} | {time['combined']:.2f} | {said['combined']} | "
              f"{time['bound']:.2f} | {said['bound']} |", flush=True)
    means = {key: percent(statistics.mean(all_gains)) for key, all_gains in gains.items()}
    print(f"\nMedians of {runs} runs; mean speed-up {means['combined']}, bound {means['bound']}.")


def seconds_to_check(heddle, checker, trace):
    """CPU seconds of a check; nothing if it takes longer than anybody waits."""
    command = [heddle, "check", trace, "--output", os.devnull]
    command += ["--checkers", checker] if checker else []
    if not checker:
        command = [heddle, "trace", "info", trace]
    try:
        before = os.times()
        done = subprocess.run([str(part) for part in command], capture_output=True, timeout=PATIENCE, check=False)
        after = os.times()
    except subprocess.TimeoutExpired:
        return None
    if done.returncode not in (0, 66):
        sys.exit(f"bench/focus: {' '.join(map(str, command))}: {done.returncode}: {done.stderr[-500:]}")
    return after.children_user + after.children_system - before.children_user - before.children_system


def focused_checks(program, at, wrapper, scratch):
    """S4's Table 2: the same execution as it was, and with the accesses of proven blocks reduced (S4 section 6.2)."""
    heddle = wrapper.parent / "heddle"
    whole, less = scratch / f"{program.name}.heddle", scratch / f"{program.name}.less.heddle"
    call([heddle, "record", "--mode", "full", "-o", whole, "--", at["full"], *program.recorded], cwd=program.folder())
    call([heddle, "trace", "reduce", whole, "--focus", scratch / f"{program.name}.combined.focus", "-o", less])
    events = [int(re.search(r"events +([\d,]+)", call([heddle, "trace", "info", trace]).stdout)[1].replace(",", ""))
              for trace in (whole, less)]
    cells = [program.name, f"{events[0]:,}", f"{events[1]:,}"]
    for checker in ("blocks", "reduction"):
        cost = []
        for trace in (whole, less):
            read, checked = seconds_to_check(heddle, None, trace), seconds_to_check(heddle, checker, trace)
            cost.append(None if checked is None else max(checked - read, 0.0))
        cells += [f"> {PATIENCE}" if one is None else f"{one:.2f}" for one in cost]
        cells.append("" if None in cost or cost[0] < 0.1 else percent((cost[0] - cost[1]) / cost[0]))
    return "| " + " | ".join(cells) + " |"


class Rows:
    """What was measured, kept beside the programs, so that a table can be made in several runs: of one build of Heddle, or not at all."""

    def __init__(self, wrapper, scratch, settings):
        built = hashlib.sha256(json.dumps(settings).encode())
        for part in ("bin/heddle", "lib/heddle_pass.so", "lib/libheddle_runtime.so"):
            built.update((wrapper.parent.parent / part).read_bytes())
        self.build = built.hexdigest()
        self.file = scratch / "rows.json"
        kept = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.rows = kept["rows"] if kept.get("build") == self.build else {}

    def keep(self, name, row):
        self.rows[name] = row
        self.file.write_text(json.dumps({"build": self.build, "rows": self.rows}), encoding="utf-8")


def measured(program, wrapper, scratch, runs):
    at, fields, methods = prepare(program, wrapper, scratch)
    row = {"lines": program.lines(), "fields": fields, "methods": methods, "runs": runs, "time": measure(program, at, wrapper, runs)}
    row["second"] = focused_checks(program, at, wrapper, scratch) if program.recorded else None
    return row


def percent(value):
    return f"{value * 100:.0f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrapper", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--go-on", action="store_true")
    parser.add_argument("--no-bowtie", action="store_true")
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    arguments.scratch, arguments.wrapper = arguments.scratch.resolve(), arguments.wrapper.resolve()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    sizes = {**dict.fromkeys(KERNELS + OURS), **LOCK_HEAVY, **SIZES}
    programs = [Program(name, ["2", *([size] if size else [])], arguments.small) for name, size in sizes.items()]
    if not arguments.no_bowtie and (not arguments.programs or "bowtie" in arguments.programs):
        programs.append(Bowtie(arguments.scratch, arguments.small))
    if arguments.programs:
        programs = [program for program in programs if program.name in arguments.programs]
    if arguments.bound:
        return print_bounds(programs, arguments.wrapper, arguments.scratch, arguments.runs)
    lines = ["| program | lines | plain s | full s | unsafe fields | field s | overhead | speed-up | untyped methods | method s | overhead "
             "| speed-up | combined s | overhead | speed-up |", "|---|" + "--:|" * 14]
    print("\n".join(lines), flush=True)
    overheads, speedups, second, runs = [], [], [], {}
    kept = Rows(arguments.wrapper, arguments.scratch, [arguments.small])
    for program in programs:
        if not arguments.go_on or program.name not in kept.rows:
            kept.keep(program.name, measured(program, arguments.wrapper, arguments.scratch, arguments.runs))
        measurement = kept.rows[program.name]
        runs.setdefault(measurement["runs"], []).append(program.name)
        fields, methods, time = measurement["fields"], measurement["methods"], measurement["time"]
        cost = max(time["full"] - time["plain"], 1e-9)
        over = {mode: (time[mode] - time["plain"]) / time["plain"] for mode in MODES}
        is_worth_saving = cost >= WORTH_SAVING * time["plain"]
        gain = {mode: percent((time["full"] - time[mode]) / cost) if is_worth_saving else "–" for mode in MODES}
        overheads.append(over["combined"])
        speedups += [(time["full"] - time["combined"]) / cost] if is_worth_saving else []
        row = (f"| {program.name} | {measurement['lines']} | {time['plain']:.2f} | {time['full']:.2f} | {fields[0]}/{fields[1]} | "
               f"{time['field']:.2f} | {percent(over['field'])} | {gain['field']} | {methods[0]}/{methods[1]} | "
               f"{time['method']:.2f} | {percent(over['method'])} | {gain['method']} | "
               f"{time['combined']:.2f} | {percent(over['combined'])} | {gain['combined']} |")
        lines.append(row)
        print(row, flush=True)
        if measurement["second"]:
            second.append(measurement["second"])
    summary = (f"Combined: median overhead {percent(statistics.median(overheads))} (bar: 40 %), mean speed-up of the cost of "
               f"checking {percent(statistics.mean(speedups))} (bar: 74 %) over {len(speedups)} programs: where full checking costs less than "
               f"{percent(WORTH_SAVING)}, there is nothing to save.")
    # Most have the same number.
    usual = max(runs, key=lambda number: len(runs[number]))
    taken = f"Medians of {usual} runs" + "".join(f"; {', '.join(names)}: of {number}" for number, names in runs.items() if number != usual) + "."
    above = [f"- {program.name}, {percent(over)}: {REASONS.get(program.name, 'not looked into')}."
             for program, over in zip(programs, overheads) if over > BAR]
    table = ["| program | events | focused | blocks s | focused s | speed-up | reduction s | focused s | speed-up |", "|---|" + "--:|" * 8]
    lines += ["", taken, "", summary, *(["", f"Above {percent(BAR)}, and what is not proven there:", "", *above] if above else [])]
    lines += ["", "The checkers of recorded executions, without reading them (S4's Table 2). Smaller inputs:", "", *table, *second]
    print("\n".join(["", taken, "", summary, "", *above, "", *table, *second]))
    if arguments.write:
        text = RESULTS.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN, 1)
        RESULTS.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1], encoding="utf-8")


main()
