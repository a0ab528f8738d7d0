"""Runs tests/programs/calm_blocks with seeds from 1 on, calm from the beginning, and compares what is said of its blocks with
what the program itself says. Prints how often each answer was given; a wrong one ends it.

    calm_law.py PROGRAM SEEDS [HEDDLE]
"""
import collections
import json
import os
import subprocess
import sys

RIGHT = {("violation", "violations"), ("clean", "clean"), ("violation", "undecided"), ("clean", "undecided")}


def main():
    program, seeds, heddle = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "heddle"
    report = f"{program}.json"
    answers = collections.Counter()
    for seed in range(1, seeds + 1):
        done = subprocess.run([heddle, "run", "--checkers", "atomicity,deadlock", "--format", "json", "-o", report, "--",
                               program, str(seed)], env={**os.environ, "HEDDLE_CALM_AFTER": "0"},
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 66):
            sys.exit(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
        with open(report, encoding="utf-8") as file:
            verdicts = {checker["name"]: checker["verdict"] for checker in json.load(file)["checkers"]}
        answer = (done.stdout.strip(), verdicts["atomicity"])
        if answer not in RIGHT:
            sys.exit(f"seed {seed}: the program is {answer[0]}, heddle says {answer[1]}")
        answers[answer] += 1
    for (expected, said), count in sorted(answers.items()):
        print(f"{expected}: {said} {count}")


if __name__ == "__main__":
    main()
