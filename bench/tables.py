"""The papers' tables on C++ programs: what Heddle reports and what it costs, beside what the papers report.

Called by `bench/run tables`, which builds what is needed, and with --quick by the tests. A program that fails is named
and the others go on; the exit code is 1 then, and also when a program has other warnings than is expected of it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import tomllib

import table
import table_determinism
import table_others
from running import PROGRAMS, ROOT, Failed

SECTIONS = {"S0": table_determinism, "S1": table_others.Predictive, "S2": table_others.StoreBuffers,
            "S3": table_others.Sequential, "S4": table_others.Focused}
RESULTS = ROOT / "docs/RESULTS.md"
PAPERS = tomllib.loads((ROOT / "bench/papers.toml").read_text(encoding="utf-8"))


def marks(name):
    return f"<!-- bench/run tables writes {name} from here -->", f"<!-- to here, {name} -->"


class Context:
    """What all tables need: tools, scratch space, the papers' figures, and what went wrong so far."""

    def __init__(self, options):
        self.bin = options.bin.resolve()
        self.heddle = self.bin / "heddle"
        self.wrapper = self.bin / "heddle-clang++"
        self.compiler = [self.wrapper]
        self.measure = options.measure
        self.data = options.data
        self.runs = options.runs
        self.programs = options.programs  # those of S0 that are wanted; None: all
        self.scratch = options.scratch.resolve()
        self.papers = PAPERS
        self.wrong = []
        self.asserted = 0
        self.bars = {}  # by section: what the design asks for and what was reached
        self.misses = {}  # by section: what does not reach it, and why
        self.lock = threading.Lock()

    def say(self, text):
        print(f"bench/run tables: {text}", file=sys.stderr, flush=True)

    def expect(self, program, checker, expected, seen, what="warnings", names=()):
        """`expected` is a count, or `N+` for N or more; `names`: what was counted."""
        is_least = expected.endswith("+")
        least = int(expected.rstrip("+"))
        with self.lock:
            self.asserted += 1
            if seen != least and not (is_least and seen > least):
                self.found_wrong(f"{program}: {checker}: expected {least}{' or more' if is_least else ''} {what}, saw {seen}" +
                                 (f": {', '.join(names)}" if names else ""))

    def found_wrong(self, text):
        self.wrong.append(text)
        self.say(text)

    def attempt(self, what, action, *arguments):
        """The action's result, or None after naming what failed."""
        try:
            return action(*arguments)
        except (Failed, SystemExit, OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
            with self.lock:
                self.found_wrong(f"{what} failed: {error if isinstance(error, (Failed, SystemExit, OSError)) else repr(error)}")
            return None

    def on_all_cores(self, jobs):
        """Jobs by name, (function, arguments …), one per core at a time: their results, None for those that fail."""
        pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        try:
            begun = {name: pool.submit(*job) for name, job in jobs.items()}
            return {name: self.attempt(name, job.result) for name, job in begun.items()}
        finally:  # after ^C, what has not begun never does
            pool.shutdown(cancel_futures=True)

    def json(self, command):
        """What a command prints that exits with 0, or with 66 for findings."""
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 66):
            raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr[-1500:].strip()}")
        return json.loads(done.stdout)

    def bar(self, section, text):
        self.bars.setdefault(section, []).append(text)

    def miss(self, section, text):
        self.misses.setdefault(section, []).append(text)


def arguments():
    titles = "".join(f"\n  {name}  {PAPERS[name]['title']}" for name in SECTIONS)
    parser = argparse.ArgumentParser(prog="bench/run tables", description=__doc__.splitlines()[0], epilog=f"the papers:{titles}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small inputs; compares the warnings, measures nothing, writes nothing")
    parser.add_argument("--only", default=",".join(SECTIONS), help="the papers whose tables are wanted, separated by commas (all)")
    parser.add_argument("--runs", type=int, default=3, help="medians of this many runs (3)")
    parser.add_argument("--programs", help="of S0 only these, separated by commas; docs/RESULTS.md is not written")
    parser.add_argument("--print-only", action="store_true", help="do not write docs/RESULTS.md")
    parser.add_argument("--data", type=pathlib.Path, default=PROGRAMS / "programs.toml", help=argparse.SUPPRESS)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = [name.strip() for name in options.only.split(",")]
    for name in options.only:
        if name not in SECTIONS:
            parser.error(f"there is no paper '{name}'; there are {', '.join(SECTIONS)}")
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if options.programs is not None:
        if "S0" not in options.only:
            parser.error("--programs chooses among those of S0, and S0 is not asked for")
        options.programs = [name.strip() for name in options.programs.split(",")]
        options.print_only = True
    return options, parser


def prepare(options, parser):
    """The context, once all is there that will be needed: better to hear of it now than in half an hour."""
    needed = [options.bin / "heddle", options.bin / "heddle-clang++"]
    if not options.quick and {"S1", "S2"} & set(options.only):
        needed.append(options.measure or "heddle_measure (--measure)")
    for file in needed:
        if not os.path.exists(file):
            parser.error(f"{file} is not there; bench/run tables builds it")
    context = Context(options)
    try:
        table_determinism.load(context)
        if not options.quick and not options.print_only:
            table.check_marks(RESULTS, [marks(name) for name in options.only])
    except LookupError as error:
        parser.error(error.args[0])
    shutil.rmtree(context.scratch, ignore_errors=True)  # what is there may be of another Heddle
    context.scratch.mkdir(parents=True)
    return context


def report_on(context, name):
    """The section's text: whose table it is, on which machine, the tables, the bars that are missed."""
    begun = time.monotonic()
    parts = SECTIONS[name].section(context)
    if not parts:
        return None
    paper = context.papers[name]
    of = f"{paper['table']} of *{paper['title']}*" if "table" in paper else f"*{paper['title']}*, which has no table of measurements"
    bars = context.bars.get(name, [])
    misses = context.misses.get(name, [])
    seconds = time.monotonic() - begun
    made = f"Made in {f'{seconds / 60:.0f} min' if seconds > 90 else f'{seconds:.0f} s'}; the load of the last quarter of an hour was {os.getloadavg()[2]:.1f}"
    head = f"After {of}. Columns marked {name} are the paper's own figures, on its machine, for its programs."
    if "table" not in paper:
        head = f"After {of}."
    return "\n\n".join([head, f"Machine: {table.machine()}. {made}.", *parts,
                        *(f"Bar of the design: {bar}." for bar in bars),
                        *(["Above it:\n\n" + "\n".join(f"- {line}." for line in misses)] if misses else [])]) + "\n"


def write(context, options, name):
    """Makes one paper's tables, prints them, and writes them unless something in them is wrong."""
    before = len(context.wrong)
    report = context.attempt(name, report_on, context, name)
    if report is None:
        return
    print(f"### {name}\n\n{report}", flush=True)
    if options.print_only:
        return
    if len(context.wrong) > before:
        context.say(f"{name} is not complete: {RESULTS.relative_to(ROOT)} keeps what it has")
        return
    table.put_between(RESULTS, *marks(name), report)
    context.say(f"{name} is written to {RESULTS.relative_to(ROOT)}")


def main():
    options, parser = arguments()
    context = prepare(options, parser)
    try:
        for name in options.only:
            if options.quick:
                context.attempt(name, SECTIONS[name].quick, context)
            else:
                write(context, options, name)
    except KeyboardInterrupt:
        context.say("interrupted")
        return 130
    if context.wrong:
        context.say("\n  ".join([f"{len(context.wrong)} wrong:", *context.wrong]))
        return 1
    context.say(f"{context.asserted} counts of warnings are as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
