"""Runs the programs of bench/programs plain, under other tools and under Heddle, and prints what each costs.

Called by bench/live. Times are CPU times (user and system), medians of several runs that take turns, so that a busy
neighbour hurts all alike; slowdowns are over plain -O2 in the same round. Heddle's time is that of the program and
the monitor together, and so is its memory, with what the two share counted once.
"""
import argparse
import statistics
import sys
from pathlib import Path

import running
from running import ATOMICS, KERNELS, LOCK_HEAVY, PROGRAMS, ROOT, Failed
from table import put_between

ONLINE = ["race", "deadlock", "atomicity", "determinism"]
RESULTS = ROOT / "docs/RESULTS.md"
BEGIN, END = "<!-- bench/live writes from here -->", "<!-- to here -->"


class Variant:
    """One way to build and run a program."""

    def __init__(self, name, compiler, before=(), environment=None):
        self.name = name
        self.compiler = compiler  # and its options
        self.before = before  # what runs the program; {} stands for its name
        self.environment = environment or {}

    def build(self, name, scratch):
        program = scratch / f"{name}.{'_'.join(Path(part).name for part in self.compiler)}"
        return running.build(self.compiler, PROGRAMS / f"{name}.cpp", program)

    def run(self, program, threads, size):
        """CPU seconds and peak MiB. A program that fails, or that a checker complains about, ends it all."""
        command = [part.replace("{}", str(program)) for part in self.before] + [str(program), str(threads), *size]
        done = running.run(command, self.environment, with_memory=True)
        if done.said and self.name not in ("record", "Helgrind"):
            raise Failed(f"{program.name} {threads}: {self.name} says: {done.said[:300]}")
        return done.seconds, done.mebibytes


def variants(wrapper):
    """The first three are what the bars are about, the first five do not take long."""
    tool = str(wrapper.parent / "heddle")
    heddle = [str(wrapper)]

    def run_with(checkers):
        return (tool, "run", "--checkers", checkers, "--output", "{}.txt", "--")

    return [Variant("plain", ["clang++-19"]),
            Variant("TSan", ["clang++-19", "-fsanitize=thread"]),
            Variant("Heddle", heddle, run_with(",".join(ONLINE))),
            Variant("GCC TSan", ["g++", "-fsanitize=thread"]),
            Variant("empty", heddle, environment={"HEDDLE_OFF": "1"}),
            *(Variant(checker, heddle, run_with(checker)) for checker in ONLINE),
            Variant("record", heddle, (tool, "record", "-o", "{}.heddle", "--")),
            Variant("Helgrind", ["clang++-19"], ("valgrind", "--tool=helgrind", "-q"))]


def measure(name, threads, chosen, arguments, size):
    programs = {variant.name: variant.build(name, arguments.scratch) for variant in chosen}
    rounds = {variant.name: [] for variant in chosen}
    for _ in range(arguments.runs):
        for variant in chosen:
            rounds[variant.name].append(variant.run(programs[variant.name], threads, size))
    time = {key: statistics.median(result[0] for result in results) for key, results in rounds.items()}
    memory = {key: statistics.median(result[1] for result in results) for key, results in rounds.items()}
    return time, memory


class Page:
    """What is printed, and at the end written."""

    def __init__(self):
        self.lines = []

    def add(self, line=""):
        self.lines.append(line)
        print(line, flush=True)

    def write(self):
        put_between(RESULTS, BEGIN, END, "\n".join(self.lines) + "\n")


def table(page, title, names, threads, chosen, arguments, size):
    others = [variant.name for variant in chosen if variant.name != "plain"]
    page.add(f"### {title}")
    page.add()
    page.add("| program, threads | plain s | " + " | ".join(f"{other} ×" for other in others) +
             " | Heddle ÷ TSan | MiB: plain | TSan | Heddle |")
    page.add("|---|" + "--:|" * (len(others) + 5))
    ratios = {}
    for name in names:
        for count in threads:
            time, memory = measure(name, count, chosen, arguments, size)
            ratio = time["Heddle"] / time["TSan"]
            ratios[name, count] = ratio
            cells = " | ".join(f"{time[other] / time['plain']:.2f}" for other in others)
            page.add(f"| {name}, {count} | {time['plain']:.2f} | {cells} | {ratio:.2f} | {memory['plain']:.0f} | "
                     f"{memory['TSan']:.0f} | {memory['Heddle']:.0f} |")
    page.add()
    for kind, members in (("CPU-bound kernels", KERNELS), ("programs that mostly lock", LOCK_HEAVY),
                          ("programs that mostly use atomics", ATOMICS)):
        for count in threads if set(members) <= set(names) else []:
            found = [ratios[name, count] for name in members]
            page.add(f"Geometric mean of Heddle ÷ TSan over the {kind}, {count} threads: "
                     f"{statistics.geometric_mean(found):.2f}; the highest {max(found):.2f}.")
    page.add()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrapper", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--small", dest="size", action="store_const", const=["small"], default=[])
    parser.add_argument("names", nargs="*", default=[*KERNELS, *LOCK_HEAVY, *ATOMICS])
    arguments = parser.parse_args()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    for old in arguments.scratch.iterdir():  # they may be of another Heddle
        old.unlink()
    page = Page()
    page.add(f"The median of {arguments.runs} runs each." if arguments.runs > 1 else "One run each.")
    page.add()
    chosen = variants(arguments.wrapper)
    if not arguments.size:
        table(page, "Normal inputs", arguments.names, arguments.threads, chosen[:5 if arguments.all else 3], arguments, [])
    if arguments.size or arguments.all:
        table(page, "Small inputs", arguments.names, arguments.threads, chosen if arguments.all else chosen[:3],
              arguments, ["small"])
    if arguments.write:
        page.write()


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"bench/live: {error}")
