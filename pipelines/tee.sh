#!/usr/bin/env bash
# Saves the document at every level, runs each saved one, interpreted and compiled, and shows that they agree.
#
#     tee.sh [PROGRAM [NAME=VALUE…]]           default: digits.t; SAVE=DIR keeps the documents
. "$(dirname "$0")/tools.sh"
program=${1:-$here/digits.t}
[ $# -gt 0 ] && shift
save=${SAVE:-$work}
mkdir -p "$save"

"$bin/trace" "$program" | tee "$save/1-graph.mp" |
	"$bin/simplify" | tee "$save/2-simple.mp" |
	"$bin/schedule" | tee "$save/3-schedule.mp" |
	"$bin/fuse" | tee "$save/4-fused.mp" |
	"$bin/lower" -t clang | tee "$save/5-loops.mp" |
	"$bin/render" -t clang | tee "$save/6-program.mp" |
	"$bin/run" "$@" -o "$work/whole.npz"

agree=0
for doc in "$save"/[1-6]-*.mp; do
	for how in --interpret ''; do
		"$bin/run" "$doc" "$@" $how -o "$work/this.npz"
		if "$bin/diff" "$work/whole.npz" "$work/this.npz" > "$work/difference"; then
			verdict=agrees
		else
			verdict=$(head -n 1 "$work/difference")
			agree=1
		fi
		printf '%-14s %-12s %s   %s\n' "$(basename "$doc" .mp)" "${how:-compiled}" "$verdict" "$(show_count "$doc")"
	done
done
exit $agree
