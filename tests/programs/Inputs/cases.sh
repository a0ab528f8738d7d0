# What expect_findings.sh and expect_hangs.sh share. Sourced with the arguments of the script: NAME.test OUTPUT ….
test=$1 output=$2
source=${test%.test}.cpp
# `here: LINE` in the program makes [[LINE]] the number of that line.
lines=$(grep -n -o 'here: [a-z_]*' "$source" | sed -E 's/([0-9]+):.* (.*)/-D\2=\1/')
status=0

complain() {
  echo "$1"
  cat "$output.report"
  status=1
}

# Reports name the source without its folder: a long path would break their lines elsewhere.
build() {  # OPTIMIZATION
  heddle-clang++ -std=c++20 -Wall -Werror "$1" -ffile-prefix-map="${source%/*}/=" "$source" -o "$output" || exit 1
}

# Complains unless the report says what NAME.test says of the case, and nothing of the C library's start code.
compare() {  # OPTIMIZATION CASE
  FileCheck --check-prefix="$2" --implicit-check-not=libc.so $lines "$test" < "$output.report" || complain "$1 $2: another report was expected"
}
