"""Runs programs plain, fully checked for races and focused, and prints S4's Tables 1 and 2 for them.

Called by bench/focus. Times are CPU times (user and system) of the program and the monitor together, medians of several
runs that take turns. Overhead is over plain -O2; speed-up is of the cost of checking, as S4 defines it:
(full - focused) / (full - plain).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ["series", "sor", "sparse", "lufact", "crypt", "moldyn", "montecarlo", "raytracer"]
LOCKING = {"queue": "100000", "hashmap": "2000000", "bank": "3000000"}
OURS = ["elevator", "tsp", "hedc"]
MODES = ["field", "method", "combined"]
BOWTIE = "bowtie_1.3.1.orig.tar.gz"
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
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        process = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=nothing, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if os.waitstatus_to_exitcode(status) not in (0, 66):
        sys.exit(f"bench/focus: {command}: status {status}: {said[-500:].decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime


class Program:
    """A program of this repository: one source file."""

    def __init__(self, name, arguments, small):
        folder = "focus_programs" if name in OURS else "programs"
        self.name = name
        self.source = ROOT / "bench" / folder / f"{name}.cpp"
        self.arguments = arguments
        self.discovery = ["2", "small"]
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


def measure(program, at, wrapper, runs):
    heddle = wrapper.parent / "heddle"
    rounds = {key: [] for key in ["plain", "full", *MODES]}
    for _ in range(runs):
        for key, times in rounds.items():
            checked = [] if key == "plain" else [heddle, "run", "--checkers", "race", "--output", f"{at[key]}.txt", "--"]
            times.append(cpu_seconds([*checked, at[key], *program.arguments], program.folder()))
    return {key: statistics.median(times) for key, times in rounds.items()}


def percent(value):
    return f"{value * 100:.0f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wrapper", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--no-bowtie", action="store_true")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    arguments.scratch, arguments.wrapper = arguments.scratch.resolve(), arguments.wrapper.resolve()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    programs = [Program(name, ["2"], arguments.small) for name in KERNELS + OURS]
    programs += [Program(name, ["2", size], arguments.small) for name, size in LOCKING.items()]
    if not arguments.no_bowtie and (not arguments.programs or "bowtie" in arguments.programs):
        programs.append(Bowtie(arguments.scratch, arguments.small))
    if arguments.programs:
        programs = [program for program in programs if program.name in arguments.programs]
    lines = ["| program | lines | plain s | full s | unsafe fields | field s | overhead | speed-up | untyped methods | method s | overhead "
             "| speed-up | combined s | overhead | speed-up |", "|---|" + "--:|" * 14]
    print("\n".join(lines), flush=True)
    overheads, speedups = [], []
    for program in programs:
        at, fields, methods = prepare(program, arguments.wrapper, arguments.scratch)
        time = measure(program, at, arguments.wrapper, arguments.runs)
        cost = max(time["full"] - time["plain"], 1e-9)
        over = {mode: (time[mode] - time["plain"]) / time["plain"] for mode in MODES}
        gain = {mode: (time["full"] - time[mode]) / cost for mode in MODES}
        overheads.append(over["combined"])
        speedups.append(gain["combined"])
        row = (f"| {program.name} | {program.lines()} | {time['plain']:.2f} | {time['full']:.2f} | {fields[0]}/{fields[1]} | "
               f"{time['field']:.2f} | {percent(over['field'])} | {percent(gain['field'])} | {methods[0]}/{methods[1]} | "
               f"{time['method']:.2f} | {percent(over['method'])} | {percent(gain['method'])} | "
               f"{time['combined']:.2f} | {percent(over['combined'])} | {percent(gain['combined'])} |")
        lines.append(row)
        print(row, flush=True)
    summary = (f"Combined: median overhead {percent(statistics.median(overheads))} (bar: 40 %), mean speed-up of the cost of "
               f"checking {percent(statistics.mean(speedups))} (bar: 74 %).")
    lines += ["", summary]
    print("\n" + summary)
    if arguments.write:
        text = RESULTS.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN, 1)
        RESULTS.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1], encoding="utf-8")


main()
