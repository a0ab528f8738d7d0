# expect_endings.sh NAME.test PROGRAM: runs the cases of endings.cpp and fails unless each reports the same bug, with
# exit code 66, and says the signal that ended the program, if any. The deadlock is ended after two seconds, as a
# test runner would do it.
test=$1 program=$2
lines=$(grep -n -o '// here: [a-z_]*' "${test%.test}.cpp" | sed -E 's/([0-9]+):.* (.*)/-D\2=\1/')
status=0
expect() {  # CASE WORDS [COMMAND…]: the case's report has the words
  local name=$1 words=$2
  shift 2
  heddle run --color never -o "$program.report" -- "$@" "$program" "$name" > "$program.out" 2>&1
  local code=$?
  if ((code != 66)) || [[ -s $program.out && $name != throws ]] || ! grep -q "$words" "$program.report" ||
    ! FileCheck --check-prefix=returns $lines "$test" < "$program.report"; then
    echo "$name: exit code $code"
    cat "$program.out" "$program.report"
    status=1
  fi
}
ulimit -c 0
for name in returns exits exits_at_once exits_in_handler forks; do expect $name ''; done
expect is_killed 'ended by signal 9 '
expect is_terminated 'ended by signal 15 '
expect crashes 'ended by signal 11 '
expect aborts 'ended by signal 6 '
expect throws 'ended by signal 6 '
expect deadlocks '' timeout -s KILL 2
exit $status
