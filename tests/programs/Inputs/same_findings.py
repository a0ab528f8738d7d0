"""same_findings.py A B: fails unless two JSON reports have the same findings, by their fingerprints."""
import json
import sys

reports = [json.load(open(path)) for path in sys.argv[1:3]]
found = [{f["fingerprint"]: f"{f['name']}: {f['message']}" for f in report["findings"]} for report in reports]
for here, there, path in ((found[0], found[1], sys.argv[1]), (found[1], found[0], sys.argv[2])):
    for fingerprint in here.keys() - there.keys():
        print(f"only in {path}: {here[fingerprint]}")
sys.exit(found[0].keys() != found[1].keys() or not found[0])
