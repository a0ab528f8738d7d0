# expect_findings.sh NAME.test OUTPUT BROKEN FIXED: builds NAME.cpp without and with optimization and runs its cases
# under `heddle run`. A case named in BROKEN must end with exit code 66 and the report that NAME.test says (FileCheck,
# with the case as prefix). A case named in FIXED must end with exit code 0 and without any finding.
source "${BASH_SOURCE[0]%/*}/cases.sh"
broken=$3 fixed=$4
for level in -O0 -O2; do
  build $level
  for name in $broken $fixed; do
    heddle run --color never -o "$output.report" -- "$output" "$name"
    code=$?
    if [[ " $broken " == *" $name "* ]]; then
      ((code == 66)) || complain "$level $name: exit code $code instead of 66"
      compare $level $name
    else
      ((code == 0)) && grep -q '^no findings' "$output.report" || complain "$level $name: exit code $code"
    fi
  done
done
exit $status
