# expect_hangs.sh NAME.test OUTPUT HANGING FIXED: builds NAME.cpp without and with optimization and runs its cases.
# Each prints its process number first. A case named in HANGING must say, while it stands still, what NAME.test says
# (FileCheck, with the case as prefix), also when it is asked (SIGUSR2), itself or `heddle run`; then it is ended. A
# case named in FIXED must end by itself, without any finding.
source "${BASH_SOURCE[0]%/*}/cases.sh"
hanging=$3 fixed=$4
# Waits until the report has the words so often, at most a minute.
appears() {  # COUNT WORDS
  for ((i = 0; i < 3000; ++i)); do
    (($(grep -c "$2" "$output.report") >= $1)) && return
    sleep 0.02
  done
  complain "$level $name: '$2' did not appear"
}
for level in -O0 -O2; do
  build $level
  for name in $hanging; do
    : > "$output.report"
    heddle run --color never -- "$output" "$name" > "$output.out" 2> "$output.report" &
    tool=$!
    appears 1 'HD1003 observed'
    program=$(head -1 "$output.out")
    kill -USR2 "$program"
    appears 1 'so far'
    kill -USR2 $tool
    appears 2 'so far'
    kill -TERM "$program"
    wait $tool
    code=$?
    ((code == 66)) || complain "$level $name: exit code $code instead of 66"
    compare $level $name
  done
  for name in $fixed; do
    heddle run --color never -o "$output.report" -- "$output" "$name" > "$output.out"
    code=$?
    ((code == 0 && $(wc -l < "$output.out") == 1)) && grep -q '^no findings' "$output.report" ||
      complain "$level $name: exit code $code"
  done
done
exit $status
