#!/usr/bin/env bash
# The time from a program to its first result, by target: with an empty cache, and again with a full one.
#
#     cold.sh ROUNDS TARGET… -- FILE…       FILE.1.npz, if it is there, has the inputs
#
# Targets take turns.  A line for each program and target: least and median ms cold, ratio of the least to the first
# target's, least ms warm.
set -eu
bin=${SLUICE_BIN:-$(cd "$(dirname "$0")/../.." && pwd)/build/bin}
rounds=$1
shift
targets=()
while [ "$1" != -- ]; do targets+=("$1"); shift; done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

us() { local t=${EPOCHREALTIME/./}; echo "${t/,/}"; }

# once FILE TARGET SUFFIX: appends its time
once() {
	local from
	from=$(us)
	"$bin/run" -t "$2" "$1" "${inputs[@]}" -o "$work/out.npz"
	echo $(($(us) - from)) >> "$work/$2.$3"
}

for f; do
	inputs=()
	npz=${f%.*}.1.npz
	if [ -f "$npz" ]; then
		for name in $(python3 -c 'import sys, zipfile; print(*[n[:-4] for n in zipfile.ZipFile(sys.argv[1]).namelist()])' "$npz"); do
			inputs+=("$name=$npz")
		done
	fi
	rm -f "$work"/*.cold "$work"/*.warm
	for _ in $(seq "$rounds"); do
		for t in "${targets[@]}"; do
			rm -rf "$work/cache"
			once "$f" "$t" cold
			once "$f" "$t" warm
		done
	done
	first=
	for t in "${targets[@]}"; do
		least=$(sort -n "$work/$t.cold" | head -n 1)
		median=$(sort -n "$work/$t.cold" | sed -n "$((rounds / 2 + 1))p")
		first=${first:-$least}
		echo "$(basename "$f") $t $least $median $first $(sort -n "$work/$t.warm" | head -n 1)" |
			awk '{printf "%-20s %-8s cold %7.1f %7.1f ms  ratio %.2f   warm %6.1f ms\n", $1, $2, $3/1e3, $4/1e3, $3/$5, $6/1e3}'
	done
done
