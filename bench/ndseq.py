"""Measures ndseq: growth with events, tasks' depth in contention, memory; and sets its verdicts beside those of plain
conflict serializability, as S3's Table 1, on the traces of examples/traces that have tasks.

Called by bench/ndseq, which builds what is needed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from table import END, Bench, machine, power, put_between, table

BEGIN = "<!-- bench/ndseq writes from here -->"
BASE = {"shape": "optimistic-tasks", "threads": 8, "variables": 10000, "burst": 8, "events": 10**6}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/ndseq")
    parser.add_argument("--write", action="store_true", help="into docs/RESULTS.md")
    parser.add_argument("--runs", type=int, default=3, help="the median of this many runs")
    parser.add_argument("--max-events", type=float, default=1e7, help="leave out longer traces")
    parser.add_argument("--measure", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--heddle", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--examples", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def sequential_runs(options, paths):
    """What ndseq says about each trace that has tasks."""
    done = subprocess.run([options.heddle, "check", "--checkers", "ndseq", "--format", "json", *map(str, paths)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 66):
        sys.exit("bench/ndseq: heddle check failed")
    return json.loads(done.stdout).get("sequential_runs", [])


def measured(bench, label, **settings):
    """One trace: a row of the table."""
    path = bench.scratch / "trace.heddle"
    settings = BASE | settings
    print(f"bench/ndseq: {label}", file=sys.stderr, flush=True)
    try:
        bench.measure("write", path, *[f"{key}={value}" for key, value in settings.items()])
        cells = bench.medians({"read": ("read", path), "ndseq": ("check", "ndseq", path)})
        (run,) = sequential_runs(bench.options, [path])
    finally:
        path.unlink(missing_ok=True)
    cell = cells["ndseq"]
    return [label, f"{run['tasks']:,}", f"{cells['read']['seconds']:.2f}", f"{cell['seconds']:.2f}",
            f"{cell['seconds'] / settings['events'] * 1e9:.0f}", f"{cell['peak'] / 1e6:.0f}",
            f"{cell['peak'] / settings['events']:.0f}", f"{run['irrelevant_events'] / run['events']:.0%}",
            str(run["conflict_warnings"]), str(run["ndseq_warnings"])]


def verdicts(options):
    rows = []
    for path in sorted(options.examples.glob("*.std")):
        for run in sequential_runs(options, [path]):
            rows.append([path.name, f"{run['tasks']:,}", f"{run['maybes']:,}", f"{run['focus']:,}", f"{run['events']:,}",
                         f"{run['irrelevant_events']:,}", str(run["conflict_warnings"]), str(run["ndseq_warnings"])])
    return table(["trace", "tasks", "if (true*)", "focus", "events", "irrelevant", "warnings: conflicts", "ndseq"], rows)


def main():
    options = arguments()
    bench = Bench(options)
    columns = ["trace", "tasks", "read s", "ndseq s", "ns/event", "peak MB", "B/event", "irrelevant", "warnings: conflicts",
               "ndseq"]
    lengths = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= options.max_events]
    by_length = [measured(bench, f"{power(n)} events", events=n) for n in lengths]
    by_threads = [measured(bench, f"{n} threads", threads=n) for n in (2, 8, 32, 128)]
    by_variables = [measured(bench, f"{n} variables", variables=n) for n in (100, 1000, 10000, 100000)]
    report = "\n\n".join([
        f"Machine: {machine()}.",
        f"CPU seconds, the median of {options.runs} runs; reading is included. Shape optimistic-tasks (`heddle trace generate`), "
        f"{BASE['threads']} threads, {BASE['variables']} variables, unless said otherwise. Warnings are distinct by source lines.",
        "More events:", table(columns, by_length),
        f"{power(BASE['events'])} events, more threads:", table(columns, by_threads),
        f"{power(BASE['events'])} events, fewer and more variables (all but 8 of them a worker's own):",
        table(columns, by_variables),
        "Both verdicts on the traces of `examples/traces` that have tasks, as Table 1 of the paper sets them side by side:",
        verdicts(options)]) + "\n"
    print(report)
    if options.write:
        put_between(options.results, BEGIN, END, report)


if __name__ == "__main__":
    main()
