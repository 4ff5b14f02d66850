# Sourced by the pipelines. $bin is the folder of the tools (SLUICE_BIN, else the build beside this
# folder, else the one that `sluice path` prints), $here the folder of the pipelines, and $work a
# folder that is removed when the script ends. With --help a script prints its first comment.
set -euo pipefail
case ${1:-} in --help|-h) sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$0"; exit ;; esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${SLUICE_BIN:-$here/../build/bin}
[ -x "$bin/trace" ] || bin=$(sluice path 2>/dev/null | tr ':' '\n' | tail -n 1)
[ -x "$bin/trace" ] || { echo "no tools in $bin: run make, or set SLUICE_BIN" >&2; exit 1; }
bin=$(cd "$bin" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# the stages between trace and run, and those that need a target
stages='simplify schedule fuse layout lower render'
targeted=' layout lower render '
target=clang

# stage NAME [ARGUMENT…]: runs it
stage() {
	case $targeted in *" $1 "*) set -- "$1" -t "$target" "${@:2}" ;; esac
	"$(tool "$1")" "${@:2}"
}
tool() { echo "$bin/$1"; }

us() { echo $(($(date +%s%N) / 1000)); }

show_count() { "$bin/show" --count "$1"; }
