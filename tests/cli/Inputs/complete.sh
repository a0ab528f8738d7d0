# complete.sh SCRIPT WORD…: what bash would offer for the last word, a line each.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_heddle
printf '%s\n' "${COMPREPLY[@]}"
