#!/usr/bin/python3
"""Runs all suites of a test build and counts single tests; ./test calls it once the build is done.

The last line on stdout is `N passed, N failed`. The exit code is 0 only when something passed and nothing failed.
"""

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-19")
# The laws' random traces are the same each time, so that the same sources give the same answer; campaigns with new
# seeds are tests/campaign.
LAW_SEED = "seed=1"
SOURCE_FOLDERS = ["src", "tests", "bench", "runtime", "pass", "include", "examples"]


class Tally:
    """What passed and what failed, over all suites."""

    def __init__(self):
        self.passed = 0
        self.failed = []  # (name, command that repeats it, what it printed)

    def add(self, name, passed, repeat, printed=""):
        if passed:
            self.passed += 1
        else:
            self.failed.append((name, repeat, printed))


def say(text):
    print(text, flush=True)


def sources(extensions=(".cpp", ".h")):
    # What git knows or would add: build directories and editors' droppings are not ours to judge.
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCE_FOLDERS],
        capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        files = [ROOT / line for line in listed.stdout.splitlines()]
    else:
        files = [path for folder in SOURCE_FOLDERS for path in (ROOT / folder).rglob("*")]
    return sorted({path for path in files if path.suffix in extensions and path.is_file()})


def from_junit(path, tally, suite, repeat):
    """Adds the cases of a JUnit file, which ctest and lit both write. A missing file is a failure of the suite."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        tally.add(f"{suite} did not run to its end", False, "./test")
        return
    for case in cases:
        if case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            # lit's unsupported tests; ctest gives a test that could not be started a failure as well.
            if case.find("failure") is None:
                continue
        failure = case.find("failure") if case.find("failure") is not None else case.find("error")
        tally.add(f"{suite}: {case.get('name')}", failure is None, repeat(case.get("name")),
                  (failure.text or "") if failure is not None else "")


def run_ctest(build, jobs, pattern, tally):
    say("== unit, table, oracle, golden and fuzz tests")
    results = build / "ctest.xml"
    results.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build), "-j", str(jobs), "--output-on-failure", "--no-tests=ignore",
               "--output-junit", str(results)]
    with subprocess.Popen(command + (["-R", pattern] if pattern else []), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={"RC_PARAMS": LAW_SEED, **os.environ}) as process:
        for line in process.stdout:
            # Of what passes only the count is news.
            if not re.match(r"\s*(Start\s+\d+:|\d+/\d+ Test\s+#\d+: .* Passed )|Internal ctest changing|$", line):
                sys.stdout.write(line)
    if pattern and not results.exists():
        return
    from_junit(results, tally, "ctest", lambda name: f"./test -R '^{re.escape(name)}$'")


def run_lit(build, suite, jobs, pattern, tally):
    say(f"== {suite} tests")
    results = build / f"lit_{suite}.xml"
    results.unlink(missing_ok=True)
    # What a failed test printed comes from the results, after everything else.
    command = [sys.executable, str(LLVM / "build/utils/lit/lit.py"), "-j", str(jobs), "--quiet",
               "--xunit-xml-output", str(results), str(build / "tests" / suite)]
    if pattern:
        command += ["--filter", pattern, "--allow-empty-runs"]
    subprocess.run(command, check=False)
    if pattern and not results.exists():
        return
    from_junit(results, tally, suite, lambda name: f"./test -R '{re.escape(name)}'")


def run_browser(build, pattern, tally):
    """The HTML report in Chromium, by node's own test runner."""
    say("== browser tests")
    results = build / "browser.xml"
    results.unlink(missing_ok=True)
    folder = ROOT / "tests/browser"
    files = sorted(folder.glob("*.test.mjs"))
    names = [name for path in files for name in re.findall(r'test\("([^"]+)"', path.read_text())]
    if pattern and not any(re.search(pattern, name) for name in names):
        return  # a browser is not started for nothing
    command = ["node", "--test", f"--test-reporter={folder / 'junit.mjs'}", f"--test-reporter-destination={results}"]
    if pattern:
        command.append(f"--test-name-pattern={pattern}")
    subprocess.run(command + [str(path) for path in files], check=False,
                   env={**os.environ, "HEDDLE": str(build / "bin/heddle")})
    from_junit(results, tally, "browser", lambda name: f"./test -R '{re.escape(name)}'")


def check_format(tally):
    say("== format")
    for path in sources():
        done = subprocess.run(["clang-format-19", "--dry-run", "--Werror", str(path)], capture_output=True, text=True,
                              check=False)
        name = path.relative_to(ROOT)
        if done.returncode != 0:
            say(f"{name}: not formatted")
        tally.add(f"format: {name}", done.returncode == 0, f"clang-format-19 -i {name}")


def check_includes(tally):
    """A layer is named in every include: `../` would go around the rules of cmake/HeddleLayer.cmake."""
    say("== includes")
    bad = [f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for path in sources()
           for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
           if re.match(r'\s*#\s*include\s*"\.\./', line)]
    for line in bad:
        say(line)
    tally.add("includes: none goes through ../", not bad, "./test")


def check_scripts(tally):
    say("== scripts")
    for script in ["heddle", "test", ".ci/run", "tools/setup.sh", "tools/heddle-clang++", "bench/run", "bench/live",
                   "bench/store_buffers", "tests/campaign"]:
        done = subprocess.run(["bash", "-n", str(ROOT / script)], check=False)
        tally.add(f"scripts: {script}", done.returncode == 0, f"bash -n {script}")


def run_tidy(build, jobs, tally):
    say("== clang-tidy")
    # What each folder is compiled with; the runtime is a build of its own.
    builds = {"src": build, "tests": build, "pass": build, "runtime": build / "runtime"}
    files = [path for path in sources((".cpp",)) if path.relative_to(ROOT).parts[0] in builds]
    running = []

    def finish_one():
        path, process = running.pop(0)
        output = process.communicate()[0]
        if process.returncode != 0:
            say(output)
        name = path.relative_to(ROOT)
        compiled_in = builds[name.parts[0]].relative_to(ROOT)
        tally.add(f"clang-tidy: {name}", process.returncode == 0, f"clang-tidy-19 -p {compiled_in} {name}")

    for path in files:
        running.append((path, subprocess.Popen(
            ["clang-tidy-19", "-p", str(builds[path.relative_to(ROOT).parts[0]]), "--quiet", "--warnings-as-errors=*", str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")))
        if len(running) >= jobs:
            finish_one()
    while running:
        finish_one()


def last_lines(text, count=100):
    lines = text.rstrip().splitlines()
    left_out = [f"[{len(lines) - count} lines before these]"] if len(lines) > count else []
    return "\n".join(left_out + lines[-count:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--filter")
    parser.add_argument("--lint", action="store_true")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    jobs = os.cpu_count() or 2
    tally = Tally()
    if not arguments.filter:
        check_format(tally)
        check_includes(tally)
        check_scripts(tally)
    run_ctest(arguments.build, jobs, arguments.filter, tally)
    for suite in ("cli", "programs"):
        run_lit(arguments.build, suite, jobs, arguments.filter, tally)
    run_browser(arguments.build, arguments.filter, tally)
    if arguments.lint:
        run_tidy(arguments.build, jobs, tally)

    if tally.failed:
        for name, _, printed in tally.failed:
            if printed:
                say(f"\n== {name} printed\n{last_lines(printed)}")
        say("\nfailed:")
        for name, repeat, _ in tally.failed:
            say(f"  {name}\n    again: {repeat}")
    elif tally.passed == 0:
        say(f"no test matches '{arguments.filter}'")
    say(f"{tally.passed} passed, {len(tally.failed)} failed")
    return 0 if tally.passed > 0 and not tally.failed else 1


if __name__ == "__main__":
    sys.exit(main())
