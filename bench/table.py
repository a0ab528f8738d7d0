"""Runs bench/measure.cpp once per cell, makes the tables of docs/RESULTS.md and puts them between its markers.

Called by bench/run, which builds what is needed. A row's cells belong to one trace: it is made, every measurement is
repeated in turn (so that a slow moment of the machine hits all of them alike), medians are taken, the trace is removed.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

BASE = {"shape": "two-phase-locked", "threads": 8, "variables": 10_000, "burst": 8}
SHAPES = ["two-phase-locked", "late-violation", "long-lived", "feeders", "many-threads", "barriers"]
CHECKERS = ["race", "lockset", "deadlock", "atomicity", "determinism", "all"]
SERIAL_SHAPES = ["two-phase-locked", "late-violation", "long-lived", "feeders"]  # what atomicity's bars are about
TEXT_BYTES_PER_EVENT = 26  # an estimate, to know beforehand whether the disk is large enough
LONG = 10**8  # traces of this length are measured once
GRAPH_EVENTS = 10**6  # the graph engine alone is measured on traces up to this length …
GRAPH_THREADS = 64  # … and this many threads: it explains, and is not made for more
BEGIN = "<!-- bench/run writes from here -->"
END = "<!-- to here -->"


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run")
    parser.add_argument("--quick", action="store_true", help="up to 10^6 events, printed only")
    parser.add_argument("--max-events", type=float, default=1e8, help="leave out longer traces")
    parser.add_argument("--runs", type=int, default=5, help="the median of this many runs")
    parser.add_argument("--measure", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.max_events = min(options.max_events, 1e6)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    return options


class Bench:
    def __init__(self, options):
        self.options = options
        self.scratch = options.scratch
        self.scratch.mkdir(parents=True, exist_ok=True)

    def measure(self, *words):
        done = subprocess.run([self.options.measure, *map(str, words)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"bench/run: heddle_measure {' '.join(map(str, words))} failed")
        return json.loads(done.stdout)

    def medians(self, jobs, events=0):
        """The median of each job's seconds, the greatest of its peaks; the jobs take turns."""
        runs = {name: [] for name in jobs}
        for _ in range(1 if events >= LONG else self.options.runs):
            for name, words in jobs.items():
                runs[name].append(self.measure(*words))
        return {
            name: {
                "events": results[0]["events"],
                "findings": results[0]["findings"],
                "undecided": results[0]["undecided"],
                "seconds": statistics.median(result["cpu_seconds"] for result in results),
                "wall": statistics.median(result["wall_seconds"] for result in results),
                "peak": max(result["peak_bytes"] for result in results),
            }
            for name, results in runs.items()
        }

    def trace(self, label, settings):
        """All measurements of one trace: {format: {job: medians}, plus its size on disk}."""
        words = [f"{key}={value}" for key, value in settings.items()]
        row = {"label": label, "settings": settings}
        for extension, kind in (("heddle", "binary"), ("std", "text")):
            path = self.scratch / f"trace.{extension}"
            need = settings["events"] * TEXT_BYTES_PER_EVENT
            if kind == "text" and shutil.disk_usage(self.scratch).free < 1.2 * need:
                row["note"] = f"text at {power(settings['events'])} events left out: it needs {need / 1e9:.0f} GB of disk"
                continue
            print(f"bench/run: {label}, {kind}", file=sys.stderr, flush=True)
            jobs = {"scan": ("scan", path), "read": ("read", path)}
            jobs.update({checker: ("check", checker, path) for checker in CHECKERS})
            try:
                written = self.measure("write", path, *words)
                size = path.stat().st_size
                row[kind] = self.medians(jobs, settings["events"])
                row[kind]["write"] = {"events": written["events"], "seconds": written["cpu_seconds"],
                                      "wall": written["wall_seconds"], "peak": written["peak_bytes"]}
                row[kind]["bytes"] = size / settings["events"]
            finally:
                path.unlink(missing_ok=True)
        return row


    def serializability(self, shape, label, settings):
        """atomicity and determinism on one binary trace, and what their engines cost apart."""
        words = [f"{key}={value}" for key, value in (settings | {"shape": shape}).items()]
        path = self.scratch / "trace.heddle"
        print(f"bench/run: {shape}, {label}", file=sys.stderr, flush=True)
        jobs = {"read": ("read", path), "atomicity": ("check", "atomicity", path),
                "determinism": ("check", "determinism", path), "unfiltered": ("check", "atomicity", path, "nofilter", "clock")}
        if settings["events"] <= GRAPH_EVENTS and settings["threads"] <= GRAPH_THREADS:
            jobs["graph"] = ("check", "atomicity", path, "graph")
        try:
            self.measure("write", path, *words)
            return {"shape": shape, "label": label, "settings": settings, "cells": self.medians(jobs, settings["events"])}
        finally:
            path.unlink(missing_ok=True)


def power(number):
    digits = str(int(number))
    return f"10^{len(digits) - 1}" if digits == "1" + "0" * (len(digits) - 1) else digits


def rate(cell):
    return cell["events"] / cell["seconds"] / 1e6


def millions(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def megabytes(value):
    return f"{value / 2**20:.0f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join("---" if i == 0 else "--:" for i in range(len(header))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def throughput(rows, kind):
    """M events/s for everything done to a trace, and what else is measured about it."""
    header = ["trace", "B/event", "scan", "read", *CHECKERS, "read ÷ scan", "race ÷ scan", "peak MB: read", "race", "all"]
    lines = []
    for row in rows:
        cells = row.get(kind)
        if cells is None:
            continue
        # A scan counts lines, of which only text has one per event; its time is what matters.
        scan = row["settings"]["events"] / cells["scan"]["seconds"] / 1e6
        lines.append([row["label"], f"{cells['bytes']:.2f}", millions(scan), millions(rate(cells["read"]))]
                     + [millions(rate(cells[checker])) for checker in CHECKERS]
                     + [f"{cells[job]['seconds'] / cells['scan']['seconds']:.1f}" for job in ("read", "race")]
                     + [megabytes(cells[job]["peak"]) for job in ("read", "race", "all")])
    return table(header, lines)


def growth(rows):
    """How much longer ten times the events take, over ten: 1.00 is linear."""
    lines = []
    for shorter, longer in zip(rows, rows[1:]):
        for kind in ("binary", "text"):
            if kind not in shorter or kind not in longer:
                continue
            factor = longer["settings"]["events"] / shorter["settings"]["events"]
            lines.append([f"{kind}, {longer['label']} over {shorter['label']}"]
                         + [f"{longer[kind][job]['seconds'] / shorter[kind][job]['seconds'] / factor:.2f}"
                            for job in ("read", *CHECKERS)]
                         + [f"{longer[kind][job]['peak'] / shorter[kind][job]['peak']:.2f}" for job in ("read", "all")])
    return table(["", "read", *CHECKERS, "memory: read", "all"], lines)


def serializability_table(rows):
    lines = []
    for row in rows:
        cells = row["cells"]
        lines.append([f"{row['shape']}, {row['label']}"]
                     + [millions(rate(cells[job])) if job in cells else "" for job in ("read", "atomicity", "determinism",
                                                                                       "unfiltered", "graph")]
                     + [f"{cells['determinism']['seconds'] / cells['atomicity']['seconds']:.2f}",
                        megabytes(cells["atomicity"]["peak"]), str(cells["atomicity"]["findings"])])
    return table(["trace", "read", "atomicity", "determinism", "no filter", "graph engine", "determinism ÷ atomicity",
                  "peak MB", "findings"], lines)


def bars(base, by_shape):
    """The budgets of the design, measured on the base line and, for atomicity, on its four shapes."""
    binary, text = base["binary"], base.get("text")
    checks = [("reading binary, M events/s", "≥ 50", rate(binary["read"]), rate(binary["read"]) >= 50),
              ("`race` on binary, M events/s", "≥ 15", rate(binary["race"]), rate(binary["race"]) >= 15),
              ("bytes per event on disk", "≤ 8", binary["bytes"], binary["bytes"] <= 8)]
    if text is not None:
        checks.insert(2, ("`race` on text, M events/s", "≥ 5", rate(text["race"]), rate(text["race"]) >= 5))
    for row in by_shape:
        if row["label"] not in SERIAL_SHAPES:
            continue
        for kind, least in (("binary", 10), ("text", 5)):
            if kind in row:
                value = rate(row[kind]["atomicity"])
                checks.append((f"`atomicity` on {kind}, {row['label']}, M events/s", f"≥ {least}", value, value >= least))
        ratio = row["binary"]["determinism"]["seconds"] / row["binary"]["atomicity"]["seconds"]
        checks.append((f"`determinism` ÷ `atomicity`, {row['label']}", "≤ 1.3", ratio, ratio <= 1.3))
    return table(["bar", "wanted", f"measured at {base['label']} events", ""],
                 [[what, wanted, f"{value:.1f}", "met" if met else "**missed**"] for what, wanted, value, met in checks])


def machine():
    cpu = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    compiler = subprocess.run(["clang++-19", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return (f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB of memory; {system}, Linux {platform.release()}; "
            f"{compiler}, release build; {datetime.date.today().isoformat()}")


def noise(rows):
    """Wall time over CPU time: above 1 when other processes took the cores away."""
    ratios = [cell["wall"] / cell["seconds"] for row in rows for kind in ("binary", "text") if kind in row
              for cell in row[kind].values() if isinstance(cell, dict) and cell["seconds"] > 0.05]
    return statistics.median(ratios) if ratios else 1.0


def check_marks(path, pairs):
    """Fails unless a file has all these marks, in order."""
    document = path.read_text(encoding="utf-8")
    for begin, end in pairs:
        if not 0 <= document.find(begin) < document.find(end):
            raise LookupError(f"{path} has no place for these results: the lines '{begin}' and '{end}', in this order")


def put_between(path, begin, end, report):
    """Replaces what stands between two marks of a file; the file is whole at every moment."""
    document = path.read_text(encoding="utf-8")
    before, rest = document.split(begin, 1)
    after = rest.split(end, 1)[1]
    partial = path.with_suffix(".md.partial")
    partial.write_text(f"{before}{begin}\n\n{report}\n{end}{after}", encoding="utf-8")
    partial.replace(path)


def main():
    options = arguments()
    bench = Bench(options)
    longest = int(options.max_events)
    wide = min(1_000_000, longest)
    lengths = [n for n in (10**5, 10**6, 10**7, 10**8) if n <= longest]
    if not lengths:
        sys.exit("bench/run: --max-events must be at least 100000")

    def row(label, **settings):
        return bench.trace(label, BASE | {"events": wide} | settings)

    by_length = [row(power(n), events=n) for n in lengths]
    by_shape = [row(shape, shape=shape) for shape in SHAPES]
    by_threads = [row(f"{n} threads", threads=n) for n in (2, 8, 64, 512)]
    by_threads.append(row("8 threads, a switch after nearly every event", burst=1))
    by_variables = [row(f"{power(n)} variables", variables=n) for n in (10**3, 10**4, 10**5, 10**6)]
    made = bench.medians({shape: ("synthesize", f"shape={shape}", f"events={wide}") for shape in SHAPES})
    making = [[shape, millions(rate(made[shape]))]
              + [millions(rate(cells[kind]["write"])) if kind in cells else "" for kind in ("binary", "text")]
              for shape, cells in zip(SHAPES, by_shape)]
    serial_base = {key: BASE[key] for key in ("threads", "variables", "burst")}
    serial = [bench.serializability(shape, power(n), serial_base | {"events": n})
              for shape in SERIAL_SHAPES for n in lengths if n >= 10**6]
    serial_threads = [bench.serializability(shape, f"{n} threads", serial_base | {"events": min(10**6, longest), "threads": n})
                      for shape in SERIAL_SHAPES for n in (8, 64, 512)]
    serial_variables = [bench.serializability(shape, f"{power(n)} variables",
                                              serial_base | {"events": min(10**6, longest), "variables": n})
                        for shape in SERIAL_SHAPES for n in (10**3, 10**6)]
    rows = by_length + by_shape + by_threads + by_variables
    base = max(by_length, key=lambda r: min(r["settings"]["events"], 10**7))

    parts = [f"Machine: {machine()}.",
             f"Speeds are million events per second of CPU time on one core, the median of {options.runs} runs (one run at {power(LONG)} events); ratios "
             f"are within one run. Wall time was {noise(rows):.2f} × CPU time (much above 1: the machine was busy).",
             "### The bars", bars(base, by_shape),
             "### Longer traces", f"Shape {BASE['shape']}, {BASE['threads']} threads, {BASE['variables']} variables.",
             "Binary:", throughput(by_length, "binary"), "Text:", throughput(by_length, "text"),
             "Time for ten times the events, over ten (1.00: linear), and memory (1.00: flat):", growth(by_length)]
    for title, group in (("Shapes", by_shape), ("Threads", by_threads), ("Variables", by_variables)):
        parts += [f"### {title}", f"{power(wide)} events.", "Binary:", throughput(group, "binary"), "Text:",
                  throughput(group, "text")]
    parts += ["### Atomicity and determinism", "Binary traces, 8 threads and 10^4 variables unless said otherwise. *atomicity* and "
              "*determinism* include what it takes to explain a violation. *no filter*: the clock engine "
              "without the race filter. *graph engine*: `--engine graph` over the whole trace.",
              serializability_table(serial), "10^6 events, more threads:", serializability_table(serial_threads),
              "10^6 events, fewer and more variables:", serializability_table(serial_variables)]
    parts += ["### Making traces", f"{power(wide)} events, M events/s; writing includes making them.",
              table(["shape", "generate", "and write binary", "and write text"], making)]
    notes = sorted({r["note"] for r in rows if "note" in r})
    report = "\n\n".join(parts + notes) + "\n"
    print(report)
    if options.quick:
        return
    put_between(options.results, BEGIN, END, report)
    print(f"bench/run: written to {options.results}", file=sys.stderr)


if __name__ == "__main__":
    main()
