# What ./heddle and ./test share: the Debian packages they need, installing them, and building a preset.
#
# Sourced, never run. Expects `root` (the repository) and `me` (the name to speak under). Everything it says goes to
# stderr; a failure says what to do next and ends with exit code 125, Heddle's code for "not your program's fault".

release_packages=(g++ cmake ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev
  libdw-dev libtbb-dev robin-map-dev libxxhash-dev libzstd-dev clang-19 llvm-19-dev)
test_packages=("${release_packages[@]}" libclang-rt-19-dev llvm-19-tools libgtest-dev librapidcheck-dev
  clang-format-19 python3 python3-jsonschema man-db)
lint_packages=(clang-tidy-19)
# The browser tests: Node may have come from elsewhere than Debian, and brings npm along then.
browser_packages=(chromium)
command -v node >/dev/null && command -v npm >/dev/null || browser_packages+=(nodejs npm)

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# fail LOG MESSAGE…: the message, the end of the log, where the rest is.
fail() {
  local log=$1
  shift
  say "$@"
  if [[ -s $log ]]; then
    tail -n 25 "$log" | sed 's/^/  | /' >&2
    say "the whole log: $log"
  fi
  exit 125
}

# Copies stdin to LOG and shows the lines that begin with PATTERN: on a terminal in place, else one below the other.
show_progress() {
  local log=$1 pattern=$2 line columns
  if [[ -t 2 ]]; then
    columns=$(stty size <&2 2>/dev/null) && columns=${columns#* }
    [[ ${columns:-0} -gt 0 ]] || columns=80
  fi
  while IFS= read -r line || [[ -n $line ]]; do
    printf '%s\n' "$line"
    [[ $line =~ ^$pattern ]] || continue
    if [[ -t 2 ]]; then
      printf '\r\e[K%s' "${line:0:columns - 1}" >&2
    else
      printf '%s\n' "$line" >&2
    fi
  done >>"$log"
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

# Installs those of the named packages that are not there.
install_packages() {
  # Where there is no dpkg the build itself finds out what is missing.
  command -v dpkg-query >/dev/null || return 0
  local package status missing=() installed
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null)
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0

  local as_root=() log=$root/build/install.log
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "" "these Debian packages are missing, and there is no sudo to install them. As root, run:
  apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null ||
    fail "" "these packages are missing, and there is no apt-get to install them: ${missing[*]}"

  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  mkdir -p "${log%/*}" && : >"$log" || fail "" "cannot write to $root/build"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300
    -o Dpkg::Use-Pty=0 -o APT::Cmd::Disable-Script-Warning=true)
  # An update that reaches only some mirrors may still be enough; what counts is the installation.
  "${apt[@]}" update </dev/null 2>&1 | show_progress "$log" 'Get:'
  "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null 2>&1 |
    show_progress "$log" '(Get:|Unpacking|Setting up)'
  status=${PIPESTATUS[0]}
  ((status == 0)) || fail "$log" "apt-get could not install ${missing[*]}"
}

# Installs what web/ needs to be built and tested, exactly as its lock file says, unless that is there.
install_web() {
  local log=$root/build/web.log stamp=$root/web/node_modules/.installed
  cmp -s "$root/web/package-lock.json" "$stamp" && return 0
  say "installing the packages of web/ (npm ci)"
  mkdir -p "${log%/*}" && : >"$log" || fail "" "cannot write to $root/build"
  (cd "$root/web" && npm ci --ignore-scripts --no-audit --no-fund) >"$log" 2>&1 ||
    fail "$log" "npm could not install the packages of web/; it needs the network for that, once"
  cp "$root/web/package-lock.json" "$stamp"
}

# True when PRESET was built here and nothing it is made of has changed since. Costs one `find`.
is_fresh() {
  local stamp=$root/build/$1/.built_from
  [[ -f $stamp && $(<"$stamp") == "$root" ]] || return 1
  local changed
  changed=$(find "${@:2}" -newer "$stamp" -print -quit 2>/dev/null) && [[ -z $changed ]]
}

# What build_preset has configured.
build_targets() {
  (cd "$root" && cmake --build --preset "$preset" ${targets[0]:+--target "${targets[@]}"}) 2>&1 |
    show_progress "$log" '\[[0-9]+/[0-9]+\]'
  ((PIPESTATUS[0] == 0))
}

# Configures and builds PRESET (TARGET… only, or everything). The stamp carries the time the build began, so that
# what is edited during the build counts as changed.
build_preset() {
  local preset=$1 targets=("${@:2}") dir=$root/build/$1 log=$root/build/$1/build.log fresh=()
  mkdir -p "$dir" && : >"$log" || fail "" "cannot write to $dir"
  command -v cmake >/dev/null || fail "" "cmake is missing; install what these Debian packages hold: ${release_packages[*]}"
  # A tree that was moved or copied has a cache that names the old place.
  [[ -f $dir/.built_from && $(<"$dir/.built_from") == "$root" ]] || fresh=(--fresh)
  printf '%s\n' "$root" >"$dir/.building"
  rm -f "$dir/.built_from"
  (cd "$root" && cmake --preset "$preset" "${fresh[@]}") >>"$log" 2>&1 ||
    fail "$log" "could not configure the $preset build; if a package is missing, install: ${release_packages[*]}"
  if ! build_targets; then
    # The system's packages were updated: their files bear the time at which they were packed, so Ninja sees nothing.
    grep -q 'has been modified since the precompiled header' "$log" || fail "$log" "the $preset build failed"
    find "$dir" -name '*.pch' -delete
    build_targets || fail "$log" "the $preset build failed"
  fi
  mv "$dir/.building" "$dir/.built_from"
}

# Runs FUNCTION ARGS… while no other launch from this repository does.
with_build_lock() {
  mkdir -p "$root/build" && : >>"$root/build/.lock" || fail "" "cannot write to $root/build"
  exec 9<"$root/build/.lock"
  if ! flock -n 9; then
    say "waiting for another build in $root to end"
    flock 9 || fail "" "cannot lock $root/build/.lock"
  fi
  # With its descriptor closed for the call the shell keeps a copy that no child inherits, so a daemon that a package
  # starts cannot hold the lock for ever.
  "$@" 9<&-
  exec 9<&-
}
