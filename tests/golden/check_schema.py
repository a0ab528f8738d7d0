"""Checks that every expected JSON report satisfies the published schema, and that the schema can refuse one.

usage: check_schema.py SCHEMA DIRECTORY [SUFFIX]
"""

import copy
import json
import pathlib
import sys

import jsonschema


def without(report, *path):
    """The report with one field removed."""
    broken = copy.deepcopy(report)
    place = broken
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return broken


def with_value(report, value, *path):
    """The report with one field replaced."""
    broken = copy.deepcopy(report)
    place = broken
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return broken


def broken_reports(report):
    """Reports that each break one promise of the schema. `report` has a finding and a suppressed one."""
    yield without(report, "heddle")
    yield with_value(report, "unsure", "checkers", 0, "verdict")
    yield with_value(report, -1, "inputs", 0, "events")
    for field in ("rule", "name", "checker", "strength", "message", "blocks", "threads", "steps", "certain_at", "fingerprint"):
        yield without(report, "findings", 0, field)
    for field in ("event", "thread", "operation", "site", "because"):
        yield without(report, "findings", 0, "steps", 0, field)
    yield with_value(report, "certain", "findings", 0, "strength")
    yield with_value(report, 0, "format")
    yield with_value(report, "mutex", "findings", 1, "spans", 0, "kind")
    yield without(report, "findings", 1, "spans", 0, "to")
    yield without(report, "findings", 3, "chains", 0, "title")
    yield with_value(report, "x1001", "findings", 0, "rule")
    yield with_value(report, 0, "findings", 0, "count")
    yield without(report, "suppressed", 0, "suppression")


def main(schema_path, directory, suffix="json"):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema)
    files = sorted(pathlib.Path(directory).glob("*." + suffix))
    if not files:
        return [f"{directory}: no file ends in .{suffix}"]
    failures = []
    for path in files:
        report = json.loads(path.read_text(encoding="utf-8"))
        failures += [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(report)]
    if suffix == "json":
        mixed = json.loads((pathlib.Path(directory) / "mixed.json").read_text(encoding="utf-8"))
        for number, broken in enumerate(broken_reports(mixed)):
            if validator.is_valid(broken):
                failures.append(f"{schema_path}: accepts broken report {number}")
    return failures


if __name__ == "__main__":
    problems = main(*sys.argv[1:])
    print("\n".join(problems) or "every report satisfies the schema")
    sys.exit(1 if problems else 0)
