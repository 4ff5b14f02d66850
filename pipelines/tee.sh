#!/usr/bin/env bash
# Saves the document after every stage, runs each saved document, interpreted and compiled, and
# checks that the results agree.
#
#     tee.sh [PROGRAM [NAME=VALUE…]]           default: digits.t; SAVE=DIR keeps the documents
. "$(dirname "$0")/tools.sh"
program=${1:-$here/digits.t}
[ $# -gt 0 ] && shift
save=${SAVE:-$work}
mkdir -p "$save"

# through NUMBER STAGE…: runs the stages one after another and saves the output of each
through() {
	tee "$save/$1-$2.mp" | if [ $# = 2 ]; then cat; else stage "$3" | through $(($1 + 1)) "${@:3}"; fi
}
"$bin/trace" "$program" | through 1 trace $stages | "$bin/run" "$@" -o "$work/whole.npz"

agree=0
for doc in "$save"/[0-9]-*.mp; do
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
