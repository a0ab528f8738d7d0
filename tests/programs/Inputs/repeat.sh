# repeat.sh PROGRAM N [ARGUMENT…]: runs the program N times under `heddle run` and prints how often which
# fingerprints were found: one line when every run found the same; "none" is that of runs without findings.
# Fails when there are several.
program=$1 times=$2
shift 2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for ((i = 0; i < times; ++i)); do
  heddle run --format json -o "$directory/report" -- "$program" "$@" > "$directory/output" 2>&1
  code=$?
  found=$(grep -o '"fingerprint": "[^"]*"' "$directory/report" | cut -d'"' -f4 | sort | tr '\n' ' ')
  echo "exit code $code, fingerprints: ${found:-none}"
done | sort | uniq -c | tee "$directory/counts"
(($(wc -l < "$directory/counts") == 1))
