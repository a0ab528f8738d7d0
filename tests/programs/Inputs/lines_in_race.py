"""lines_in_race.py SOURCE REPORT.json: fails unless every line of SOURCE that begins with CASE( or VALUE( stands in a
data race of the report."""

import json
import re
import sys

source, report = sys.argv[1:3]
name = source.rsplit("/", 1)[-1]
lines = {n: text.strip() for n, text in enumerate(open(source, encoding="utf-8"), 1) if re.match(r" +(CASE|VALUE)\(", text)}
found = {int(line) for finding in json.load(open(report, encoding="utf-8"))["findings"] if finding["rule"] == "HD1001"
         for step in finding["steps"] for line in re.findall(re.escape(name) + r":(\d+)", step["site"])}
missed = sorted(lines.keys() - found)
for line in missed:
    print(f"{source}:{line}: no race was found: {lines[line]}")
sys.exit(not lines or bool(missed))
