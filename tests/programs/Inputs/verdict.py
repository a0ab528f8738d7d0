"""verdict.py TRACE…: what `ndseq` finds in each recording, whatever the number of events it was told in: the verdict and
what the findings are about."""
import json
import subprocess
import sys

for trace in sys.argv[1:]:
    done = subprocess.run(["heddle", "check", trace, "--checkers", "ndseq", "--format", "json"], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 66):
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    run = found["sequential_runs"][0]
    print(found["checkers"][0]["verdict"], run["tasks"], run["maybes"], run["conflict_warnings"], run["ndseq_warnings"])
    for finding in found["findings"]:
        print(finding["strength"], finding["message"])
