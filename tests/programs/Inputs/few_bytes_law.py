"""few_bytes_law.py PROGRAM FIRST SEEDS: runs tests/programs/few_bytes with seeds from FIRST on. Its last accesses are found to be in
race if and only if the program says that they are; a wrong answer ends it. Prints how many races were found."""
import json
import re
import subprocess
import sys

program, first, seeds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
races = 0
for seed in range(first, first + seeds):
    said = subprocess.run([program, str(seed), "say"], capture_output=True, text=True, check=True)
    expected = {int(line) for line in said.stdout.split()}
    report = f"{program}.json"
    done = subprocess.run(["heddle", "run", "--checkers", "race", "--format", "json", "-o", report, "--", program, str(seed)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 66):
        sys.exit(f"seed {seed}: exit code {done.returncode}: {done.stderr}")
    with open(report, encoding="utf-8") as file:
        findings = json.load(file)["findings"]
    found = {int(re.search(r"few_bytes\.cpp:(\d+)", finding["steps"][-1]["site"])[1]) for finding in findings}
    if found != expected:
        sys.exit(f"seed {seed}: in race are the accesses of the lines {sorted(expected)}, found were {sorted(found)}")
    races += len(found)
print(f"{races} races in {seeds} runs")
