#!/usr/bin/env bash
# What is each optional pass worth?  Leaves each out in turn and prints the time of a run beside that of the whole.
#
#     ablate.sh [PROGRAM [NAME=VALUE…]]        default: digits.t; SECONDS_EACH=0.3 for each measurement
. "$(dirname "$0")/tools.sh"
program=${1:-$here/digits.t}
[ $# -gt 0 ] && shift
each=${SECONDS_EACH:-0.3}

# names of the passes that a stage can leave out, from its own help
optional() { "$bin/$1" --help | sed -n '/^passes/,$ s/^  \* \([a-z_]*\).*/\1/p' | grep -vx explain; }

# measure LABEL SCHEDULE-ARGS FUSE LOWER-ARGS: one row
measure() {
	local label=$1 fuse=$3
	"$bin/trace" "$program" | "$bin/schedule" $2 > "$work/s.mp"
	if [ "$fuse" = none ]; then cp "$work/s.mp" "$work/f.mp"; else "$bin/fuse" $fuse "$work/s.mp" > "$work/f.mp"; fi
	"$bin/lower" $4 "$work/f.mp" | "$bin/render" -t clang | "$bin/compile" > "$work/p.mp"
	"$bin/run" "$work/p.mp" "${inputs[@]}" --seconds "$each" --bench="$work/b.json" > /dev/null 2>&1
	t=$(tr -d '[:space:]' < "$work/b.json" | sed 's/.*"times_ms":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | sort -g | head -n 1)
	[ -n "${whole:-}" ] || whole=$t
	k=$(show_count "$work/f.mp" | sed 's/.*kernels=\([0-9]*\).*/\1/')
	printf '%-26s %10.3f ms %8.2f x %6d kernels\n' "$label" "$t" "$(awk "BEGIN {print $t / $whole}")" "$k"
}

inputs=("$@")
printf '%-26s %13s %10s\n' 'left out' 'fastest run' 'of whole'
measure 'nothing' '' '' ''
measure 'fuse' '' none ''
for p in $(optional schedule); do measure "schedule: $p" "--skip $p" '' ''; done
for p in $(optional fuse); do measure "fuse: $p" '' "--skip $p" ''; done
for p in $(optional lower); do measure "lower: $p" '' '' "--skip $p"; done
