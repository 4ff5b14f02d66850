#!/usr/bin/env bash
# Measures what each optional stage and pass is worth: leaves each out in turn and prints the time
# of a run compared with the whole pipeline.
#
#     ablate.sh [PROGRAM [NAME=VALUE…]]        default: digits.t; SECONDS_EACH=0.3 for each measurement
. "$(dirname "$0")/tools.sh"
program=${1:-$here/digits.t}
[ $# -gt 0 ] && shift
each=${SECONDS_EACH:-0.3}
stages=${stages#simplify }      # schedule does it

# the optional passes of a stage, from its help; layout is a stage here
optional() { "$bin/$1" --help | sed -n '/^passes/,$ s/^  \* \([a-z_]*\).*/\1/p' | grep -vx 'explain\|layout' || true; }

# without [STAGE [PASS]]: compiles the program without that stage, or without that pass of it;
# $work/kernels.mp is the input of lower
without() {
	local left=${1:-} pass=${2:-} s skip
	"$bin/trace" "$program" > "$work/at.mp"
	for s in $stages; do
		skip=
		[ "$s" != "$left" ] || skip=$pass
		# lower runs layout unless it has been run
		[ "$s $left $pass" != 'lower layout ' ] || skip=layout
		[ "$s" != lower ] || cp "$work/at.mp" "$work/kernels.mp"
		[ "$s $pass" != "$left " ] || continue
		stage "$s" ${skip:+--skip "$skip"} "$work/at.mp" > "$work/next.mp"
		mv "$work/next.mp" "$work/at.mp"
	done
	"$bin/compile" "$work/at.mp" > "$work/p.mp"
}

# measure LABEL [STAGE [PASS]]: prints one row
measure() {
	local t k
	without "${@:2}"
	"$bin/run" "$work/p.mp" "${inputs[@]}" --seconds "$each" --bench="$work/b.json" > /dev/null 2>&1
	t=$(tr -d '[:space:]' < "$work/b.json" | sed 's/.*"times_ms":\[\([^]]*\)\].*/\1/' |
		tr ',' '\n' | awk 'NR == 1 || $1 < least { least = $1 } END { print least }')
	[ -n "${whole:-}" ] || whole=$t
	k=$(show_count "$work/kernels.mp" | sed 's/.*kernels=\([0-9]*\).*/\1/')
	printf '%-26s %10.6f ms %8.2f x %6d kernels\n' "$1" "$t" "$(awk "BEGIN {print $t / $whole}")" "$k"
}

inputs=("$@")
printf '%-26s %13s %10s\n' 'left out' 'fastest run' 'of whole'
measure nothing
measure fuse fuse
measure layout layout
for s in $stages; do
	for p in $(optional "$s"); do measure "$s: $p" "$s" "$p"; done
done
