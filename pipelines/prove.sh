#!/usr/bin/env bash
# prove.sh [-t 'TARGET …'] FILE…: proves, for each program or model, that what every stage and every pass of it wrote means
# what it was given (`prove`). Prints a row for each that is not proved, then a table of how many were; ends with 1 if one was
# refuted. FILEs are what `trace` reads; OPT has further options of `lower` (--opt …, --strict).
set -uo pipefail
bin=${SLUICE_BIN:-${BIN:-$(dirname "$0")/../build/bin}}
targets='clang opencl'
while getopts t: o; do targets=$OPTARG; done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo 'usage: prove.sh [-t TARGETS] FILE…' >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
declare -A proved refuted unknown
rows=()

# step NAME A B: one comparison, counted under NAME; fails where B is no document on its own
step() {
	local said status
	[ -n "${proved[$1]+set}" ] || { rows+=("$1"); proved[$1]=0 refuted[$1]=0 unknown[$1]=0; }
	cmp -s "$2" "$3" && { proved[$1]=$((proved[$1] + 1)); return; }
	said=$(timeout "${LIMIT:-60}" "$bin/prove" "$2" "$3" 2>&1)
	status=$?
	case $status in
	0) proved[$1]=$((proved[$1] + 1)); return ;;
	1) refuted[$1]=$((refuted[$1] + 1)); said="REFUTED $said" ;;
	4) return 1 ;;
	*) unknown[$1]=$((unknown[$1] + 1)); said="unknown ($status) $said" ;;
	esac
	printf '\r\033[K%s: %s: %s\n' "$program" "$1" "$said"
	return 0
}

# passes STAGE IN OUT [OPTION…]: each pass of a stage against the one before it; OUT is the last
passes() {
	local stage=$1 from=$2 out=$3 pass
	shift 3
	for pass in $("$bin/$stage" --help | awk '/^passes/ { on = 1; next } !on { next } NF < 2 { exit }
		{ print $1 == "*" ? $2 : $1 }'); do
		"$bin/$stage" "$@" --stop-after "$pass" "$from" > "$dir/next" 2> "$dir/error" || {
			sed "s|^|$program: |" "$dir/error"
			return 1
		}
		step "$stage $pass" "${last:-$from}" "$dir/next" || continue
		last=$dir/last
		mv "$dir/next" "$last"
	done
	last=
	"$bin/$stage" "$@" "$from" > "$out"
}

n=0
for program; do
	n=$((n + 1)) last=
	[ -t 1 ] && printf '\r\033[K%d of %d: %s' "$n" $# "$program"
	"$bin/trace" "$program" > "$dir/graph" 2> /dev/null || continue
	passes simplify "$dir/graph" "$dir/simple" &&
		passes schedule "$dir/graph" "$dir/schedule" &&
		passes fuse "$dir/schedule" "$dir/fused" || continue
	for target in $targets; do
		passes lower "$dir/fused" "$dir/loops" -t "$target" ${OPT:-}
	done
done
printf '\r\033[K%-22s %8s %8s %8s\n' pass proved refuted unknown
bad=0
for row in "${rows[@]}"; do
	printf '%-22s %8d %8d %8d\n' "$row" "${proved[$row]}" "${refuted[$row]}" "${unknown[$row]}"
	bad=$((bad + refuted[$row]))
done
[ $bad -eq 0 ]
