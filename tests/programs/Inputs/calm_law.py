"""Runs tests/programs/calm_blocks with seeds from 1 on, calm from the beginning or soon. What is said of its blocks must be what
the program itself says, and what is said of its lock orders the same as when it tells everything. Prints how often each
answer was given; a wrong one ends it.

    calm_law.py PROGRAM SEEDS [HEDDLE]
"""
import collections
import json
import os
import subprocess
import sys

RIGHT = {("violation", "violations"), ("clean", "clean")}
AFTER = ["0", "30", "100"]  # records the program is asked to be calm
NEVER = "1000000"


def run(heddle, program, seed, calm_after):
    """What the program said, the verdict on its blocks, and the deadlocks found."""
    report = f"{program}.json"
    done = subprocess.run([heddle, "run", "--checkers", "atomicity,deadlock", "--format", "json", "-o", report, "--",
                           program, str(seed)], env={**os.environ, "HEDDLE_CALM_AFTER": calm_after},
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 66):
        sys.exit(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
    with open(report, encoding="utf-8") as file:
        result = json.load(file)
    verdicts = {checker["name"]: checker["verdict"] for checker in result["checkers"]}
    deadlocks = {(finding["fingerprint"], finding["strength"]) for finding in result["findings"]
                 if finding["checker"] == "deadlock"}
    return done.stdout.strip(), verdicts["atomicity"], deadlocks


def main():
    program, seeds, heddle = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "heddle"
    answers = collections.Counter()
    for seed in range(1, seeds + 1):
        expected, said, deadlocks = run(heddle, program, seed, AFTER[seed % len(AFTER)])
        if (expected, said) not in RIGHT:
            sys.exit(f"seed {seed}: the program is {expected}, heddle says {said}")
        *_, all_deadlocks = run(heddle, program, seed, NEVER)
        if deadlocks != all_deadlocks:
            sys.exit(f"seed {seed}: calm, the program has the deadlocks {deadlocks}, else {all_deadlocks}")
        answers[expected, said] += 1
        answers["deadlocks", "the same, and some" if deadlocks else "none"] += 1
    for (expected, said), count in sorted(answers.items()):
        print(f"{expected}: {said} {count}")


if __name__ == "__main__":
    main()
