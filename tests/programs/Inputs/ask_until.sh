# ask_until.sh OUTPUT COUNT WORDS COMMAND…: runs the command, whose first line is the number of a process, asks that
# process what its threads do (SIGUSR2) until the answer has a line with the words so often, at most a thousand times,
# ends it and prints the last answer.
output=$1 count=$2 words=$3
shift 3
: > "$output.out"
"$@" > "$output.out" 2> "$output.report" &
until [[ -n $process ]]; do
  sleep 0.02
  process=$(head -1 "$output.out")
done
answer() { tac "$output.report" | sed '/what the threads of/q' | tac; }
for ((asked = 1; asked <= 1000; ++asked)); do
  (($(answer | grep -c "$words") >= count)) && break
  # Before it has a second thread it would not know the signal.
  (($(ls "/proc/$process/task" | wc -l) < 2)) || kill -USR2 "$process"
  sleep 0.02
done
kill -TERM "$process"
wait
answer
