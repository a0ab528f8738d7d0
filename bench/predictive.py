"""Measures reduction and blocks on runs of few different transactions, many times over, and writes the tables of
docs/RESULTS.md between their markers.

Called by bench/predictive, which builds what is needed. The runs are lucky: transactions one after the other, spread
over the threads, so that nothing is observed and everything has to be predicted. Half of the kinds lock in two phases
(reduction proves them), most of the others give the lock back and take it again but are atomic all the same (S1's
example (9)), one in twenty reads in one critical section and writes in the next.

Two more tables: runs of many kinds that all meet, so that comparing pairs is nearly all there is to do, on one core and
on all; and the synthetic shapes of `heddle trace generate`, in which no two blocks are alike.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import table

BEGIN = "<!-- bench/predictive writes from here -->"
END = "<!-- to here: bench/predictive -->"
THREADS = 8
OBJECTS = 40


def two_phase(number, choose):
    first, second = sorted(choose.sample(range(OBJECTS), 2))
    lines = []
    for position, thing in enumerate((first, second)):
        lines += [f"acq(m{thing})"] + [f"{choose.choice('rw')}(o{thing}.{field})" for field in range(2)]
    return lines + [f"rel(m{second})", f"rel(m{first})"]


def twice(number, choose):
    thing = choose.randrange(OBJECTS)
    return [f"acq(n{thing})", f"w(p{thing})", f"r(p{thing})", f"rel(n{thing})", f"acq(n{thing})", f"w(p{thing})",
            f"rel(n{thing})"]


def gap(number, choose):
    thing = choose.randrange(OBJECTS)
    return [f"acq(g{thing})", f"r(q{thing})", f"rel(g{thing})", f"acq(g{thing})", f"w(q{thing})", f"rel(g{thing})"]


def kinds(count, rounds):
    """The text of each kind, by thread. With several rounds a block does the same again; two-phase ones stay so."""
    choose = random.Random(1)
    result = []
    for number in range(count):
        body = (gap if number % 20 == 19 else twice if number % 2 else two_phase)(number, choose)
        if number % 2 == 0:  # the accesses again, the locks once
            body = [line for line in body for _ in range(rounds if line[0] in "rw" and line[1] == "(" else 1)]
        elif number % 20 != 19:
            body = body * rounds
        lines = [f"begin(kind{number})"] + body + ["end"]
        result.append(["".join(f"T{thread}|{line}|kind{number}.cpp:{i + 1}\n" for i, line in enumerate(lines))
                       for thread in range(1, THREADS + 1)])
    return result


def crowded(count, _rounds):
    """Kinds of different names that all meet, none reducible, all atomic: three of twelve variables, written and read back
    in one critical section and written again in the next."""
    choose = random.Random(3)
    result = []
    for number in range(count):
        chosen = choose.sample(range(12), 3)
        body = (["acq(n)"] + [line for v in chosen for line in (f"w(p{v})", f"r(p{v})")] + ["rel(n)", "acq(n)"] +
                [f"w(p{v})" for v in chosen] + ["rel(n)"])
        lines = [f"begin(kind{number})"] + body + ["end"]
        result.append(["".join(f"T{thread}|{line}|kind{number}.cpp:{i + 1}\n" for i, line in enumerate(lines))
                       for thread in range(1, THREADS + 1)])
    return result


def make(path, count, transactions, rounds, of=kinds):
    blocks = of(count, rounds)
    choose = random.Random(2)
    with path.open("w", encoding="utf-8") as file:
        file.write("".join(f"main|fork(T{thread})|\n" for thread in range(1, THREADS + 1)))
        for start in range(0, transactions, 10_000):
            size = min(10_000, transactions - start)
            file.write("".join(choose.choice(choose.choice(blocks)) for _ in range(size)))
        file.write("".join(f"main|join(T{thread})|\n" for thread in range(1, THREADS + 1)))


def measure(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/predictive: {done.stderr.strip()}")
    return json.loads(done.stdout)


def row(options, count, transactions, rounds=1):
    path = options.scratch / "lucky.std"
    binary = options.scratch / "lucky.heddle"
    print(f"bench/predictive: {count} kinds, {transactions} transactions", file=sys.stderr, flush=True)
    make(path, count, transactions, rounds)
    subprocess.run([options.heddle, "trace", "convert", path, "-o", binary], check=True, capture_output=True)
    path.unlink()
    cells = {}
    try:
        for name, words in (("read", ("read", binary)), ("reduction", ("check", "reduction", binary)),
                            ("blocks", ("check", "blocks", binary))):
            runs = [measure(options.measure, *words) for _ in range(options.runs)]
            cells[name] = {key: statistics.median(run[key] for run in runs)
                           for key in ("events", "findings", "undecided", "wall_seconds", "cpu_seconds", "peak_bytes")}
    finally:
        binary.unlink(missing_ok=True)
    return {"kinds": count, "transactions": transactions, "cells": cells}


def by_cores(options, count):
    """Wall and CPU time of blocks on one core and on all of them."""
    path = options.scratch / "crowded.std"
    binary = options.scratch / "crowded.heddle"
    print(f"bench/predictive: {count} kinds that all meet", file=sys.stderr, flush=True)
    make(path, count, 8 * count, 1, crowded)
    subprocess.run([options.heddle, "trace", "convert", path, "-o", binary], check=True, capture_output=True)
    path.unlink()
    cores = sorted(os.sched_getaffinity(0))
    times = {}
    try:
        for name, allowed in (("one", cores[:1]), ("all", cores)):
            command = ["taskset", "-c", ",".join(map(str, allowed)), options.measure]
            runs = [measure(command[0], *command[1:], "check", "blocks", binary) for _ in range(options.runs)]
            times[name] = min(runs, key=lambda run: run["wall_seconds"])
    finally:
        binary.unlink(missing_ok=True)
    one, both = times["one"], times["all"]
    return [str(count), f"{one['events']:.0f}", f"{one['cpu_seconds']:.2f}", f"{one['wall_seconds']:.2f}",
            f"{both['cpu_seconds']:.2f}", f"{both['wall_seconds']:.2f}",
            f"{one['wall_seconds'] / both['wall_seconds']:.2f}", "yes" if both["undecided"] else "no"]


def by_shape(options, shape, events):
    path = options.scratch / f"{shape}.heddle"
    print(f"bench/predictive: {shape}, {events} events", file=sys.stderr, flush=True)
    subprocess.run([options.heddle, "trace", "generate", "--shape", shape, "--events", str(events), "-o", path],
                   check=True, capture_output=True)
    try:
        runs = [measure(options.measure, "check", "blocks", path) for _ in range(options.runs)]
    finally:
        path.unlink(missing_ok=True)
    seconds = statistics.median(run["cpu_seconds"] for run in runs)
    return [shape, table.power(events), f"{seconds:.2f}", f"{1e6 * seconds / events:.2f}",
            f"{runs[0]['peak_bytes'] / 1e6:.0f}", str(runs[0]["findings"]), "yes" if runs[0]["undecided"] else "no"]


def line(entry):
    cells = entry["cells"]
    return [str(entry["kinds"]), table.power(entry["transactions"]), f"{cells['read']['events']:.0f}",
            f"{cells['read']['cpu_seconds']:.2f}", f"{cells['reduction']['cpu_seconds']:.2f}",
            f"{cells['blocks']['cpu_seconds']:.2f}", f"{cells['blocks']['wall_seconds']:.2f}",
            f"{1e6 * cells['blocks']['cpu_seconds'] / entry['transactions']:.2f}",
            f"{cells['blocks']['peak_bytes'] / 1e6:.0f}", f"{cells['reduction']['findings']:.0f}",
            f"{cells['blocks']['findings']:.0f}", "yes" if cells["blocks"]["undecided"] else "no"]


CORES_HEADER = ["kinds", "events", "one core: CPU s", "wall s", "all cores: CPU s", "wall s", "times as fast", "gave up"]
SHAPES_HEADER = ["shape", "events", "CPU s", "µs per event", "peak MB", "findings", "gave up"]
HEADER = ["kinds", "transactions", "events", "read, s", "reduction, s", "blocks, s", "blocks, wall s", "blocks, µs per transaction",
          "blocks, peak MB", "reduction's findings", "blocks' findings", "blocks gave up"]


def main():
    parser = argparse.ArgumentParser(prog="bench/predictive")
    parser.add_argument("--quick", action="store_true", help="up to 10^5 transactions, printed only")
    parser.add_argument("--runs", type=int, default=3, help="the median of this many runs")
    parser.add_argument("--measure", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--heddle", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--results", required=True, type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    by_length = [row(options, 300, n) for n in (10**4, 10**5, 10**6) if not options.quick or n <= 10**5]
    by_kinds = [row(options, n, 10**5) for n in (100, 200, 400, 800, 1600)]
    long_blocks = [] if options.quick else [row(options, 300, 10**5, 18)]
    cores = [by_cores(options, n) for n in ((500,) if options.quick else (500, 1000, 2000))]
    shapes = [by_shape(options, shape, events) for shape in ("feeders", "barriers", "long-lived")
              for events in (10**5, 10**6) if not options.quick or events <= 10**5]
    longest = by_length[-1]["cells"]["blocks"]["cpu_seconds"]
    before = by_length[-2]["cells"]["blocks"]["cpu_seconds"]
    report = "\n\n".join([
        f"Machine: {table.machine()}.",
        f"CPU seconds, of all cores together, the median of {options.runs} runs; binary traces, {THREADS} threads. Reading is part of each check. "
        "Wall time well above CPU time: the machine was busy.",
        "More transactions of the same 300 kinds:", table.table(HEADER, [line(entry) for entry in by_length]),
        f"Time of `blocks` for the last ten times the transactions, over ten (1.00: linear): {longest / before / 10:.2f}.",
        "More kinds, 10^5 transactions:", table.table(HEADER, [line(entry) for entry in by_kinds]),
        "Longer transactions:", table.table(HEADER, [line(entry) for entry in long_blocks]),
        f"Kinds that all meet, so that pairs are nearly all there is to do (the run with the least wall time of "
        f"{options.runs}):", table.table(CORES_HEADER, cores),
        "Synthetic shapes, in which no two blocks are alike:", table.table(SHAPES_HEADER, shapes)]) + "\n"
    print(report)
    if options.quick:
        return
    table.put_between(options.results, BEGIN, END, report)
    print(f"bench/predictive: written to {options.results}", file=sys.stderr)


if __name__ == "__main__":
    main()
