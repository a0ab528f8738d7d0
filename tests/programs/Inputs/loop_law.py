"""Runs tests/programs/loop_states with seeds from 1 on, or from FIRST. Where the program itself says that nothing is in race,
nothing may be reported; else what is reported must be one of the races that it names, and something must be. Every other
run drops all that the threads know of each other from the state of memory as often as can be. Prints how often each
answer was given; a wrong one ends it.

    loop_law.py PROGRAM SEEDS [FIRST]
"""
import collections
import os
import re
import subprocess
import sys


OPERATION = re.compile(r"^  (T\d (?:read|wrote|loaded atomic|stored atomic|freed)) (.*(?:\n {6}.*)*)", re.MULTILINE)


def operations(finding):
    """Who did what, and all that is said of it."""
    return [(did, " ".join(said.split())) for did, said in OPERATION.findall(finding)]


def is_one_of(races, found):
    """Whether the two operations are those of one of the races; the place of one that is long ago may be forgotten."""
    def fits(operation, race):
        did, said = operation
        who, where = race.split(" in ")
        return did == who and (f"in {where}" in said or "too much has happened" in said)

    return len(found) == 2 and any(fits(found[0], one) and fits(found[1], other) or
                                   fits(found[1], one) and fits(found[0], other) for one, other in races)


def answer(program, seed):
    """Clean or race; what is wrong, if anything is."""
    done = subprocess.run([program, str(seed)], capture_output=True, text=True, check=False, timeout=100,
                          env={**os.environ, "HEDDLE_SWEEP_AFTER": str(seed % 2 * 64)})
    expected = done.stdout.splitlines()
    if expected == ["clean"]:
        return "clean", None if done.returncode == 0 and not done.stderr else f"nothing is in race: {done.stderr}"
    races = [line.removeprefix("race ").split("; ") for line in expected]
    found = [operations(finding) for finding in done.stderr.split("data race: ")[1:]]
    is_right = done.returncode == 66 and found and all(is_one_of(races, finding) for finding in found)
    return "race", None if is_right else f"exit code {done.returncode}, in race are {races}, reported: {done.stderr}"


def main():
    program, seeds, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    answers = collections.Counter()
    for seed in range(first, first + seeds):
        said, wrong = answer(program, seed)
        if wrong:
            sys.exit(f"seed {seed}: {wrong}")
        answers[said] += 1
    for said, count in sorted(answers.items()):
        print(f"{said} {count}")


if __name__ == "__main__":
    main()
