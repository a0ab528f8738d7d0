# exits.sh N COMMAND…: fails unless the command exits with N. Its output passes through.
wanted=$1
shift
"$@"
got=$?
if ((got != wanted)); then
  echo "exits.sh: exit code $got instead of $wanted: $*" >&2
  exit 1
fi
