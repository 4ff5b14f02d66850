#!/usr/bin/env bash
# The cost of each stage by the size of its graph: CPU seconds and peak memory, and how the time
# grows.
#
#     tests/bench/stages.sh                      every kind of graph at 100 000 and 1 000 000 nodes
#     tests/bench/stages.sh chain reduce         these kinds
#     STAGES="schedule fuse" SIZES="1000 10000" tests/bench/stages.sh chain
#
# Nothing fails because of its time, which says as much about the machine as about the stage; a
# stage that fails is reported.
set -e
here=$(cd "$(dirname "$0")" && pwd)
BIN=${BIN:-$here/../../build/bin}
STAGES=${STAGES:-trace simplify schedule fuse}
SIZES=${SIZES:-100000 1000000}
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(chain wide tree diamond perm views reduce)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -O2 -o "$dir/graphs" "$here/graphs.c" -lmsgpackc
${CC:-cc} -O2 -o "$dir/measure" "$here/measure.c"

# the document that a stage reads, made from $dir/graph when it is not there yet
input_of() {
	case $1 in
	trace|simplify|schedule) echo "$dir/graph" ;;
	fuse) saved schedule schedule graph ;;
	lower) saved fuse fuse schedule ;;
	render) saved lower "lower -t clang" fuse ;;
	*) echo "$0: no stage $1" >&2; exit 2 ;;
	esac
}

saved() {
	[ -s "$dir/$1" ] || { [ "$3" = graph ] || input_of "$3" >"$dir/null"; "$BIN"/$2 "$dir/$3" >"$dir/$1"; }
	echo "$dir/$1"
}

options_of() { case $1 in lower|render) echo "-t clang" ;; esac; }

# a small graph: start-up, in CPU milliseconds, the least of ten
"$dir/graphs" chain 10 >"$dir/graph"
for stage in $STAGES; do
	in=$(input_of "$stage")
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$dir/measure" "$BIN/$stage" $(options_of "$stage") "$in" 2>&1 >"$dir/null"
	done | sort -n | awk -v s="$stage" 'NR == 1 {printf "%-9s starts in %.1f ms\n", s, 1e3 * $1}'
done

printf '\n%-9s %-8s %9s %8s %8s %7s\n' stage kind nodes 'CPU s' 'peak MB' growth
declare -A before
for kind in "${kinds[@]}"; do
	for n in $SIZES; do
		rm -f "$dir"/{graph,schedule,fuse,lower}
		"$dir/graphs" "$kind" "$n" >"$dir/graph"
		for stage in $STAGES; do
			in=$(input_of "$stage")
			now=$("$dir/measure" "$BIN/$stage" $(options_of "$stage") "$in" 2>&1 >"$dir/null" | tail -n 1)
			printf '%s %s %s %s %s\n' "$stage" "$kind" "$n" "$now" "${before[$stage $kind]}" | awk '
				{printf "%-9s %-8s %9d %8.2f %8.0f", $1, $2, $3, $4, $5}
				NF > 5 && $6 > 0 {printf " %6.1fx", $4 / $6}
				{print ""}'
			before[$stage $kind]=$now
		done
	done
done
