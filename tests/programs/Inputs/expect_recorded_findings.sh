# expect_recorded_findings.sh NAME.cpp OUTPUT BROKEN FIXED: what is found in the recordings of the cases named in BROKEN,
# thin and full, is what is found while they run. In those of the cases named in FIXED nothing is.
source=$1 output=$2 broken=$3 fixed=$4
status=0
complain() {
  echo "$1"
  status=1
}
for level in -O0 -O2; do
  heddle-clang++ -std=c++20 $level "$source" -o "$output" || exit 1
  for name in $broken $fixed; do
    for mode in thin full; do
      rm -f "$output.heddle" "$output".*.json  # of the case before
      heddle record --mode $mode -o "$output.heddle" -- "$output" $name > "$output.said" 2>&1
      heddle check "$output.heddle" --checkers race --format json -o "$output.check.json"
      code=$?
      if [[ " $broken " == *" $name "* ]]; then
        heddle run --format json -o "$output.run.json" -- "$output" $name > "$output.said" 2>&1
        python3 "${BASH_SOURCE[0]%/*}/same_findings.py" "$output.run.json" "$output.check.json" ||
          complain "$level $name $mode: another finding than while it runs"
      else
        [[ $code == 0 ]] || complain "$level $name $mode: exit code $code: $(cat "$output.check.json")"
      fi
    done
  done
done
exit $status
