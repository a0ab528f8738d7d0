# expect_races.sh PROGRAM [RACY CLEAN]: runs the cases of data_races.cpp, or those named, and fails unless exactly the
# racy ones report a data race, with the places of both accesses. WITHOUT in the environment names one to leave out.
racy="write_write write_read read_write same_byte byte_of_a_word word_over_a_byte unaligned_overlap
  write_after_readers byte_with_a_history relaxed_store relaxed_load broken_release_sequence failed_exchange
  atomic_and_plain plain_before_atomic one_of_two_stores"
clean="read_read neighbouring_bytes neighbouring_halves unaligned_beside locked shared_readers
  many_locks_at_once   bytes_with_histories release_acquire fences release_sequence atomics_only heap_reuse joined"
(($# == 1)) || racy=$2 clean=$3
[[ -z ${WITHOUT:-} ]] || racy=${racy/$WITHOUT/}
status=0
for name in $racy $clean; do
  said=$("$1" "$name" 2>&1)
  code=$?
  case " $(echo $racy) " in
    *" $name "*)
      [[ $said == *"HD1001 observed"* && $code == 66 ]] || { echo "$name: exit code $code: $said"; status=1; } ;;
    *) [[ -z $said && $code == 0 ]] || { echo "$name: exit code $code: $said"; status=1; } ;;
  esac
done
exit $status
