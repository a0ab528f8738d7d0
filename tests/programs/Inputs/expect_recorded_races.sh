# expect_recorded_races.sh PROGRAM RECORDING [OPTION…]: records the cases of data_races.cpp, and fails unless a
# data race is found in the recordings of exactly the racy ones.
racy="write_write write_read read_write same_byte byte_of_a_word word_over_a_byte unaligned_overlap
  write_after_readers byte_with_a_history relaxed_store relaxed_load broken_release_sequence failed_exchange
  atomic_and_plain plain_before_atomic one_of_two_stores"
clean="read_read neighbouring_bytes neighbouring_halves unaligned_beside locked shared_readers
  many_locks_at_once bytes_with_histories release_acquire fences release_sequence atomics_only heap_reuse joined"
program=$1 recording=$2
shift 2
status=0
for name in $racy $clean; do
  said=$(heddle record "$@" -o "$recording" -- "$program" "$name" 2>&1) ||
    { echo "$name: not recorded: $said"; status=1; }
  said=$(heddle check "$recording" --checkers race 2>&1)
  code=$?
  case " $(echo $racy) " in
    *" $name "*) expected=66 ;;
    *) expected=0 ;;
  esac
  [[ $code == "$expected" ]] || { echo "$name: exit code $code: $said"; status=1; }
done
exit $status
