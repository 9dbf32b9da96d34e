# Sourced by tests/run, examples/run and .ci/run: what gradzoo needs, and how it is built.
# Everything here is silent when there is nothing to do, and speaks on stderr.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

# Names of the Debian packages that are missing. It looks for what they bring, not for the packages:
# that is quick, needs no dpkg, and is content with the same things from elsewhere.
missing_packages() {
  local package probe
  while read -r package probe; do
    $probe >/dev/null 2>&1 || echo "$package"
  done <<'END'
meson command -v meson
ninja-build command -v ninja
g++ command -v c++
pkg-config command -v pkg-config
graphviz command -v dot
libopenblas-openmp-dev pkg-config --exists openblas
libfmt-dev pkg-config --exists fmt
nlohmann-json3-dev pkg-config --exists nlohmann_json
libcli11-dev pkg-config --exists CLI11
libncurses-dev pkg-config --exists ncursesw
libbenchmark-dev pkg-config --exists benchmark
doctest-dev test -e /usr/include/doctest/doctest.h -o -e /usr/local/include/doctest/doctest.h
END
}

# install PACKAGE...: with apt-get, through sudo when not root. Silent unless it fails.
install() {
  local as_root=() log
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  log=$(mktemp)
  "${as_root[@]}" apt-get update -qq </dev/null >"$log" 2>&1 || true  # the old lists may do
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      --no-install-recommends "$@" </dev/null >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# Installs what is missing, or says what it is and stops.
need_packages() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  missing=${missing% }
  [ -z "$missing" ] && return
  if ! command -v apt-get >/dev/null; then
    say "gradzoo: please install these first (Debian's names): $missing"
    exit 1
  fi
  say "Installing $missing"
  # shellcheck disable=SC2086
  if ! install $missing || [ -n "$(missing_packages)" ]; then
    say "gradzoo: could not install them; as root: apt-get install $missing"
    exit 1
  fi
}

# build DIR TARGET OPTION...: configures DIR with the Meson options if it is new, and builds the
# target (all: everything). What the compilers say is also kept in DIR/build.log.
build() {
  local dir=$1 target=$2 quiet=()
  shift 2
  if [ ! -e "$dir/build.ninja" ]; then
    say "Configuring $(basename "$dir")/"
    mkdir -p "$dir"
    if ! meson setup "$dir" "$root" "$@" </dev/null >"$dir/setup.log" 2>&1; then
      tail -n 20 "$dir/setup.log" >&2
      rm -f "$dir/build.ninja"
      return 1
    fi
  fi
  ninja -C "$dir" -n "$target" 2>/dev/null | grep -q '^ninja: no work to do' && return
  say "Building $(basename "$dir")/"
  [ -t 2 ] || quiet=(--quiet)
  if [ -t 2 ]; then
    NINJA_STATUS='[%f/%t] ' ninja -C "$dir" "$target" </dev/null >&2
  else
    ninja -C "$dir" --quiet "$target" </dev/null 2>&1 | tee -a "$dir/build.log" >&2
    return "${PIPESTATUS[0]}"
  fi
}
