"""S1 to S4: the tables that other benchmarks measure, each in a form that stands beside the paper's."""
import re
import subprocess
import sys
import types

import ndseq_programs
import predictive
import store_buffers
from running import PROGRAMS, ROOT, Failed, build, run
from table import Bench, table


def findings(context, checker, trace):
    return len(context.json([context.heddle, "check", "--checkers", checker, "--format", "json", trace])["findings"])


def generate(context, shape, events, **settings):
    trace = context.scratch / f"{shape}.heddle"
    run([context.heddle, "trace", "generate", "--shape", shape, "--events", str(events), "-o", trace,
         *(part for key, value in settings.items() for part in (f"--{key}", str(value)))])
    return trace


def options_of(context, folder):
    """What the other benchmarks take their settings from."""
    scratch = context.scratch / folder
    scratch.mkdir(exist_ok=True)
    return types.SimpleNamespace(heddle=context.heddle, measure=str(context.measure), scratch=scratch, runs=context.runs)


class Predictive:
    """S1: reduction and blocks, on runs in which nothing went wrong."""
    # Of N kinds of transactions half are not of the form that reduction proves, one in twenty is really not atomic.
    KINDS = [100, 400, 1600]
    # Recorded with the blocks that are expected by default: (program, size)
    RECORDED = [("elevator", "small"), ("hedc", "small"), ("tsp", "small"), ("queue", "small"), ("hashmap", "20000"), ("bank", "20000")]

    @staticmethod
    def quick(context):
        trace = context.scratch / "lucky.std"
        predictive.make(trace, 100, 3000, 1)
        for checker, expected in (("reduction", "50"), ("blocks", "5"), ("atomicity", "0")):
            context.expect("100 kinds of transactions", checker, expected, findings(context, checker, trace))

    @staticmethod
    def recorded(context, options, name, size):
        context.say(f"S1: {name}, recorded")
        program = build([context.wrapper], PROGRAMS / f"{name}.cpp", context.scratch / f"{name}.recorded")
        trace = options.scratch / "run.heddle"
        run([context.heddle, "record", "-o", trace, "--", program, "2", size])
        try:
            cells = Bench(options).medians({checker: ("check", checker, trace) for checker in ("atomicity", "reduction", "blocks")})
        finally:
            trace.unlink()
        for checker in ("atomicity", "blocks"):  # what reduction cannot prove may still be right
            context.expect(f"S1: {name} {size}", checker, "0", cells[checker]["findings"])
        return [f"{name} {size}", f"{cells['blocks']['events']:,}", *(str(cells[checker]["findings"]) for checker in cells),
                *(f"{cells[checker]['seconds']:.2f}" for checker in cells), "yes" if cells["blocks"]["undecided"] else "no"]

    @staticmethod
    def section(context):
        options = options_of(context, "predictive")
        rows = [context.attempt(f"S1: {count} kinds", predictive.row, options, count, 10**5) for count in Predictive.KINDS]
        for row in filter(None, rows):
            for checker, one_in in (("reduction", 2), ("blocks", 20)):
                context.expect(f"S1: {row['kinds']} kinds", checker, str(row["kinds"] // one_in),
                               int(row["cells"][checker]["findings"]))
        recorded = [context.attempt(f"S1: {name}", Predictive.recorded, context, options, name, size)
                    for name, size in Predictive.RECORDED]
        paper = context.papers["S1"]
        return [f"The paper: reduction takes {paper['reduction']}; blocks {paper['blocks']}.",
                f"Runs in which nothing goes wrong, of a few kinds of transactions 10^5 times in all, 8 threads; CPU seconds, medians of {context.runs} runs. Half of the kinds are of a "
                "form that reduction cannot prove; one in twenty is really not atomic, and `blocks` finds exactly those:",
                table(predictive.HEADER, [predictive.line(row) for row in rows if row]),
                "Programs of bench/programs, recorded with 2 threads and the blocks that are expected by default. They are right; CPU seconds include reading:",
                table(["program", "events", "warnings: atomicity", "reduction", "blocks", "atomicity s", "reduction s", "blocks s", "blocks gave up"],
                      [row for row in recorded if row])]


class StoreBuffers:
    """S2: verdicts and time of tso and robustness."""

    @staticmethod
    def quick(context):
        jobs = [("task_pool.std", ROOT / "examples/traces/task_pool.std", "atomicity", "0"),
                ("task_pool.std", ROOT / "examples/traces/task_pool.std", "tso", "1+")]
        lock_free = generate(context, "lock-free", 5000)
        jobs += [("lock-free", lock_free, checker, "0") for checker in ("tso", "robustness")]
        for label, trace, checker, expected in jobs:
            context.expect(label, checker, expected, findings(context, checker, trace))

    @staticmethod
    def section(context):
        bench = Bench(options_of(context, "store_buffers"))

        def row(label, **settings):
            return context.attempt(f"S2: {label}", lambda: store_buffers.measured(bench, label, **settings))

        by_threads = [row(f"{n} threads", threads=n) for n in (2, 4, 8, 16)]
        by_variables = [row(f"{n} variables", variables=n) for n in (100, 1000, 10000)]
        undrained = [row("long-lived", shape="long-lived", variables=10000, burst=8)]
        paper = context.papers["S2"]
        base = store_buffers.BASE
        return [f"The paper: monitoring a trace is {paper['tso']}; {paper['fenced']}.",
                f"10^6 events, shape lock-free, {base['threads']} threads and {base['variables']} variables unless said otherwise; CPU seconds, medians of {context.runs} runs, reading included.",
                "In *long-lived* a thread publishes by release stores and never drains its buffer.",
                table(store_buffers.COLUMNS, [found for found in by_threads + by_variables + undrained if found])]


class Sequential:
    """S3's Table 1: events, irrelevant events, warnings of conflict serializability and of ndseq."""
    PAPER = {"mesh": "meshrefine", "pi": "pi3", "keysearch": "keysearch3"}

    @staticmethod
    def check(context, name, arguments, conflicts, warnings):
        scratch = context.scratch / "ndseq"
        scratch.mkdir(exist_ok=True)
        label = " ".join([name, *arguments])
        found = ndseq_programs.check_program(context.bin, scratch, name, arguments)
        if conflicts is not None:
            context.expect(label, "conflict serializability", "1+" if conflicts else "0", found["conflict_warnings"])
        context.expect(label, "ndseq", str(warnings), found["ndseq_warnings"])
        return found

    @staticmethod
    def quick(context):
        context.say(f"S3: building, recording and checking {len(ndseq_programs.PROGRAMS)} runs")
        runs = {}  # by program, which is built once
        for name, *rest in ndseq_programs.PROGRAMS:
            runs.setdefault(name, []).append(rest)

        def check_all(name):
            for rest in runs[name]:
                Sequential.check(context, name, *rest)

        context.on_all_cores({name: (check_all, name) for name in runs})

    @staticmethod
    def section(context):
        paper = context.papers["S3"]
        theirs = {name: dict(zip(paper["columns"], row)) for name, row in paper["rows"].items()}
        rows, shown = [], set()
        for name, arguments, conflicts, warnings in ndseq_programs.PROGRAMS:
            label = " ".join([name, *arguments])
            context.say(f"S3: {label}")
            found = context.attempt(f"S3: {label}", Sequential.check, context, name, arguments, conflicts, warnings)
            if found is None:
                continue
            their_name = Sequential.PAPER.get(name, name)
            same = theirs.get(their_name) if not arguments else None
            shown.add(their_name)
            rows.append([label, str(found["tasks"]), str(found["maybes"]), str(found["focus"]), f"{found['events']:,}",
                         f"{found['irrelevant_events']:,}", str(found["conflict_warnings"]), str(found["ndseq_warnings"]),
                         *([str(same[column]) for column in ("events", "irrelevant", "conflicts")] +
                           [f"{same['ndseq']} {same['note']}".strip()] if same else [""] * 4)])
        missing = [f"{name} (conflicts {row['conflicts']}, ndseq {row['ndseq']})" for name, row in theirs.items() if name not in shown]
        return ["The programs of examples/ndseq, built with `--heddle-dataflow`, recorded and checked; their inputs are much smaller than the paper's. Warnings are distinct by source lines, in the paper as well. "
                "`phylogeny` and `raytracer` have the paper's bugs, and are reported; `fixed` does not have them. *unmarked*: the specification lacks its `if (true*)`. "
                "`lazy` is the lazy initialization for which the paper's sunflow and xalan have their false alarms.",
                table(["program", "tasks", "if (true*)", "focus", "events", "irrelevant", "warnings: conflicts", "ndseq", "S3: events", "S3: irrelevant",
                       "S3: conflicts", "S3: ndseq"], rows),
                "Of the paper's table without a twin of ours, because they are whole applications (24,000 and 302,000 lines of Java): " +
                ", ".join(missing) + "."]


class Focused:
    """S4's Tables 1 and 2, as bench/focus.py prints them for the paper's programs."""
    PROGRAMS = ["elevator", "tsp", "hedc", "moldyn", "raytracer", "montecarlo"]

    @staticmethod
    def measured(context, *more):
        command = [sys.executable, ROOT / "bench/focus.py", "--wrapper", context.wrapper, "--scratch", context.scratch / "focus", "--no-bowtie", *more]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"bench/focus ends with exit code {done.returncode}")
        return done.stdout.strip()

    @staticmethod
    def quick(context):
        """Focused or not, nothing is reported about a correct program."""
        if context.attempt("S4", Focused.measured, context, "--small", "--runs", "1", "--", "elevator") is None:
            return
        reports = sorted((context.scratch / "focus").glob("elevator.*.txt"))
        if not reports:
            context.attempt("S4", Focused.nothing_to_read)
        for report in reports:
            seen = 0 if "no findings" in report.read_text(encoding="utf-8") else 1
            context.expect(report.stem, "race", "0", seen)

    @staticmethod
    def nothing_to_read():
        raise Failed("bench/focus has left no reports")

    @staticmethod
    def section(context):
        context.say("S4: bench/focus")
        printed = Focused.measured(context, "--runs", str(context.runs), "--", *Focused.PROGRAMS)
        summary = re.search(r"median overhead (-?\d+) %", printed)
        if summary is None:
            raise Failed("bench/focus does not print a median overhead")
        if int(summary[1]) > 40:
            context.miss("S4", f"{summary[1]} %: what a proof does not spare is the cost of following locks, and elements of arrays that threads divide among "
                               "themselves have no lock to prove anything from")
        context.bar("S4", f"Combined, median overhead at most 40 %; here {summary[1]} %")
        paper = context.papers["S4"]
        percent = {index for index, column in enumerate(paper["columns"]) if "overhead" in column or "speed-up" in column}
        first = [[name, *(f"{cell} %" if index in percent else str(cell) for index, cell in enumerate(row))] for name, row in paper["rows"].items()]
        second = [[name, *(f"{cell} %" if index >= 4 else str(cell) for index, cell in enumerate(row))]
                  for name, row in paper["atomicity"]["rows"].items()]
        return [f"Ours (`bench/focus`): CPU seconds of the program and its monitor, 2 threads, medians of {context.runs} runs; overhead over plain -O2, speed-up of the cost of checking.",
                printed, "S4's own Table 1, seconds on a Sun Blade 100:", table(["S4: program", *paper["columns"]], first),
                "S4's own Table 2, seconds on a Sun Blade 1500:", table(["S4: program", *paper["atomicity"]["columns"]], second)]
