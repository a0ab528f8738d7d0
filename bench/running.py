"""Builds and runs programs, for the benchmarks that measure them: CPU times, memory, what Heddle reports."""
import contextlib
import json
import os
import re
import statistics
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "bench/programs"
BASELINE = ["clang++-19"]
# Programs that compute.
KERNELS = ["series", "sor", "sparse", "lufact", "crypt", "moldyn", "montecarlo", "raytracer"]
# Programs that mostly lock, with a size for which a tool that follows every lock takes seconds, where their own normal
# size takes minutes.
LOCK_HEAVY = {"queue": "500000", "hashmap": "2000000", "bank": "3000000"}
ATOMICS = ["counters"]  # use atomic variables and little else


class Failed(Exception):
    """A program could not be built, or did not do what it should; says which and why."""


class TookTooLong(Failed):
    """It was not over in time, and was stopped."""


class Run:
    """What became of one run."""

    def __init__(self, code, said, usage, memory):
        self.code = code
        self.said = said  # on stderr
        self.seconds = usage.ru_utime + usage.ru_stime  # of it and all that it waited for
        self.mebibytes = memory  # at most at once, of it and all processes it started; None: not asked for


class MemoryWatch:
    """Looks every 50 ms how much memory a process and all below it have, what they share counted once."""

    def __init__(self, pid):
        self.most = 0
        self._pid = pid
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    def _watch(self):
        pause = 0.005  # the first look: some runs are short
        while not self._is_over.wait(pause):
            self.most = max(self.most, self._now())
            pause = 0.05

    def _now(self):
        """MiB."""
        kibibytes = 0
        waiting = [self._pid]
        while waiting:
            process = Path("/proc") / str(waiting.pop())
            try:
                for task in (process / "task").iterdir():
                    waiting += (task / "children").read_text().split()
                kibibytes += int(re.search(r"^Pss: *(\d+) kB", (process / "smaps_rollup").read_text(), re.M).group(1))
            except (OSError, AttributeError):
                pass  # it has just ended
        return kibibytes / 1024


def build(compiler, source, out, kind=()):
    """Compiles one file as the benchmarks do, and returns the program; does nothing when it is there."""
    if not out.exists():
        command = [*map(str, compiler), "-std=c++20", "-O2", "-g", "-pthread", *kind, str(source), "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{source.name} is not compiled by {Path(compiler[0]).name}: {done.stderr[-1500:].strip()}")
    return out


def with_headers(compiler, scratch):
    """The compiler with all standard headers that the programs include compiled beforehand: for many short builds."""
    names = {name for path in PROGRAMS.iterdir() if path.suffix in (".cpp", ".h")
             for name in re.findall(r"^#include (<.*>)", path.read_text(encoding="utf-8"), re.MULTILINE)}
    header = scratch / "headers.h"
    header.write_text("".join(f"#include {name}\n" for name in sorted(names)), encoding="utf-8")
    return [*compiler, "-include-pch", build(compiler, header, scratch / "headers.pch", ["-x", "c++-header"])]


def run(command, environment=None, codes=(0,), seconds=600, folder=None, with_memory=False):
    """Runs a command, in a folder, whose exit code must be one of these; its output goes nowhere."""
    command = [str(part) for part in command]
    with subprocess.Popen(["timeout", "--foreground", str(seconds), *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=folder, env={**os.environ, **(environment or {})}) as process:
        with MemoryWatch(process.pid) if with_memory else contextlib.nullcontext() as watch:
            said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    if code not in codes:
        called = " ".join([Path(command[0]).name, *command[1:]])
        if code == 124:
            raise TookTooLong(f"{called}: not over after {seconds} s")
        raise Failed(f"{called}: exit code {code}: {said[-1500:].strip()}")
    return Run(code, said, usage, watch and watch.most)


def checked(heddle, checkers, program, arguments, may_be_wrong=False):
    """Runs a program under `heddle run`: the run, and its findings. A broken program may have a wrong result."""
    report = Path(f"{program}.json")
    report.unlink(missing_ok=True)
    done = run([heddle, "run", "--checkers", ",".join(checkers), "--format", "json", "--output", report, "--exit-code", "66",
                "--", program, *arguments], codes=(0, 1, 66) if may_be_wrong else (0, 66))
    if "wrong result" in done.said and not may_be_wrong:  # its exit code gives way to that for findings
        raise Failed(f"{Path(program).name}: {done.said[:500].strip()}")
    try:
        return done, json.loads(report.read_text(encoding="utf-8"))["findings"]
    except (OSError, ValueError, KeyError) as error:
        raise Failed(f"{Path(program).name}: heddle run has left no report ({error}): {done.said[-500:]}") from error


def median_and_spread(values, digits=1):
    """`12.3 (11.9–13.0)`: the median, the least and the greatest."""
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) < 2:
        return middle
    return f"{middle} ({min(values):.{digits}f}–{max(values):.{digits}f})"
