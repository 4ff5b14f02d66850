#!/usr/bin/env bash
# Sluice against the machine alone: compares each program of quick/ with the shortest time that the
# machine's measured limits allow.
#
#     tests/bench/quick.sh                        all of them, on all cores
#     THREADS=1 SECONDS_EACH=1 tests/bench/quick.sh matmul conv
#
# roof.c measures the limits: multiply-adds per second, and bytes per second at the next larger size
# of memory. A program's shortest time is the longer of the times for its flops and for its bytes,
# which are in workloads.tsv. Only a C compiler and the tools are needed. Workloads without a
# program there (whole networks) take part once `make bench` has written their models.
set -e -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
BIN=${BIN:-$here/../../build/bin}
THREADS=${THREADS:-$(nproc)}
SECONDS_EACH=${SECONDS_EACH:-0.4}
MODELS=${MODELS:-$here/../../build/bench/data}
[ -x "$BIN/run" ] || { echo "$0: no tools in $BIN: make them, or set BIN" >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
PATH=$BIN:$PATH

flags="-std=c11 -D_GNU_SOURCE -O2 -ffp-contract=fast"
${CC:-cc} $flags -march=native -o "$dir/roof" "$here/roof.c" -lpthread 2>"$dir/said" ||
	${CC:-cc} $flags -o "$dir/roof" "$here/roof.c" -lpthread
"$dir/roof" "$THREADS" | tee "$dir/limits"
cp "$here"/quick/*.t "$dir"
trace "$dir/weights.t" | run -o "$dir"

wanted() {
	[ "$#" -eq 1 ] && return 0
	for w in "${@:2}"; do case $1 in "$w"*) return 0 ;; esac; done
	return 1
}

# the file of the workload $1
source_of() { [ -f "$dir/$1.t" ] && echo "$dir/$1.t" || echo "$MODELS/$1/model.onnx"; }

# what run is to read for it
operands_of() {
	case $(source_of "$1") in
	*.t) sed -n 's/^input \([a-z]*\) .*/\1=rand/p' "$dir/$1.t" ;;
	*) sed 's/.*"inputs": \[\([^]]*\)\].*/\1/; s/[",]/ /g' "$MODELS/$1/meta.json" | tr -s ' ' '\n' | sed '/^$/d' |
		awk -v at="$MODELS/$1" '{ printf "@%d=%s/in_%s.npy\n", NR - 1, at, $0 }' ;;
	esac
}

# its least and median ms, or "failed" and why
measure() {
	{ trace "$(source_of "$1")" | fuse | lower -t clang | compile; } >"$dir/program" 2>"$dir/said" || { failed; return; }
	run "$dir/program" $(operands_of "$1") -j "$THREADS" --bench --seconds "$SECONDS_EACH" 2>"$dir/said" || { failed; return; }
	sed 's/.*min \([0-9.]*\) ms  median \([0-9.]*\) ms.*/\1 \2/' "$dir/said"
}

failed() { echo "failed $(head -n 1 "$dir/said")"; }

printf '\n%-16s %9s %9s %9s %9s %9s  %s\n' workload 'least ms' median GFLOP/s GB/s 'limit ms' 'of limit'
grep -v '^#' "$here/workloads.tsv" | while read -r name _ flops read written _; do
	[ -f "$(source_of "$name")" ] && wanted "$name" "$@" || continue
	awk -v name="$name" -v flops="$((flops))" -v read="$((read))" -v written="$((written))" -v got="$(measure "$name")" '
		/GFLOP/ { peak = 1e9 * $3 }
		/MiB/ { if (!reach || last < read + written) { last = $1 * 1048576; r = 1e9 * $4; c = 1e9 * $6; w = 1e9 * $8; reach = 1 } }
		END {
			split(got, ms, " ")
			if (ms[1] == "failed") { printf "%-16s %s\n", name, got; exit }
			both = read < written ? read : written
			moving = 2 * both / c + (read - both) / r + (written - both) / w
			least = 1e3 * (flops / peak > moving ? flops / peak : moving)
			printf "%-16s %9.3f %9.3f %9.1f %9.1f %9.3f  %6.0f %%\n", name, ms[1], ms[2], flops / ms[1] / 1e6,
				(read + written) / ms[1] / 1e6, least, 100 * least / ms[1]
		}' "$dir/limits"
done
