"""Measures tso and robustness: growth with events, with threads, and with what is left in the store buffers.

Called by bench/store_buffers, which builds what is needed.
"""

import argparse
import pathlib
import sys

from table import END, Bench, machine, power, put_between, table

BEGIN = "<!-- bench/store_buffers writes from here -->"
CHECKERS = ["atomicity", "tso", "robustness"]
COLUMNS = ["trace", "read s", "atomicity s",
           *(f"{name} {column}".strip() for name in ("tso", "robustness") for column in ("s", "ns/event", "peak MB", "verdict"))]
BASE = {"shape": "lock-free", "threads": 4, "variables": 1000, "burst": 4, "events": 10**6}


def arguments():
    parser = argparse.ArgumentParser(prog="bench/store_buffers")
    parser.add_argument("--write", action="store_true", help="into docs/RESULTS.md")
    parser.add_argument("--runs", type=int, default=3, help="the median of this many runs")
    parser.add_argument("--max-events", type=float, default=1e7, help="leave out longer traces")
    parser.add_argument("--measure", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def verdict(cell):
    if cell["findings"]:
        return "violations"
    return "undecided" if cell["undecided"] else "clean"


def measured(bench, label, **settings):
    """One trace: a row of the table."""
    path = bench.scratch / "trace.heddle"
    settings = BASE | settings
    print(f"bench/store_buffers: {label}", file=sys.stderr, flush=True)
    try:
        bench.measure("write", path, *[f"{key}={value}" for key, value in settings.items()])
        cells = bench.medians({"read": ("read", path)} | {name: ("check", name, path) for name in CHECKERS})
    finally:
        path.unlink(missing_ok=True)
    row = [label, f"{cells['read']['seconds']:.2f}", f"{cells['atomicity']['seconds']:.2f}"]
    for name in ("tso", "robustness"):
        cell = cells[name]
        row += [f"{cell['seconds']:.2f}", f"{cell['seconds'] / settings['events'] * 1e9:.0f}",
                f"{cell['peak'] / 1e6:.0f}", verdict(cell)]
    return row


def main():
    options = arguments()
    bench = Bench(options)
    lengths = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= options.max_events]
    by_length = [measured(bench, f"{power(n)} events", events=n) for n in lengths]
    by_threads = [measured(bench, f"{n} threads", threads=n) for n in (2, 4, 8, 16, 32)]
    by_variables = [measured(bench, f"{n} variables", variables=n) for n in (100, 1000, 10000)]
    shapes = ["two-phase-locked", "many-threads", "barriers", "feeders", "long-lived"]
    by_shape = [measured(bench, shape, shape=shape, variables=10000, burst=8) for shape in shapes]
    report = "\n\n".join([
        f"Machine: {machine()}.",
        f"CPU seconds, the median of {options.runs} runs; reading is included. Shape lock-free (`heddle trace generate`), {BASE['threads']} threads, "
        f"{BASE['variables']} variables, a switch about every {BASE['burst']} events, unless said otherwise.",
        "More events:", table(COLUMNS, by_length),
        f"{power(BASE['events'])} events, more threads:", table(COLUMNS, by_threads),
        f"{power(BASE['events'])} events, fewer and more variables (a 64th of them shared):", table(COLUMNS, by_variables),
        f"{power(BASE['events'])} events of the other shapes. In *long-lived* a thread publishes by release stores and never drains its buffer:",
        table(COLUMNS, by_shape)]) + "\n"
    print(report)
    if options.write:
        put_between(options.results, BEGIN, END, report)


if __name__ == "__main__":
    main()
