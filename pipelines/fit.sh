#!/usr/bin/env bash
# Fits a curve to noisy measurements by nonlinear least squares. A function in C (fit.c) is one
# Levenberg–Marquardt step, whose parameters are states; run calls it repeatedly.
#
#     fit.sh                    250 points from seed 1
#     SEED=7 STEPS=20 fit.sh    others, more steps
#     fit.sh x.npy y.npy        your own, f64
[ $# != 2 ] || set -- "$(realpath "$1")" "$(realpath "$2")"
. "$(dirname "$0")/tools.sh"
steps=${STEPS:-12}
[[ $steps =~ ^[0-9]+$ && $steps -ge 1 && $steps -le 100 ]] || { echo "STEPS is 1 to 100, not '$steps'" >&2; exit 2; }
cd "$work"
[ $# = 2 ] || "$bin/trace" "$here/fit-data.t" | "$bin/run" seed="${SEED:-1}" -o .
"$bin/trace" "$here/fit.c" --cflags "-DSTEPS=$steps" | "$bin/run" -n "$steps" x="${1:-x.npy}" y="${2:-y.npy}" > out

# the numbers of each output, one per line after its name
tr -d '[]' < out | awk 'NF == 2 && $1 ~ /^[a-z]/ { name = $1; next } { for (i = 1; i <= NF; i++) print name, $i }' > numbers
awk '
	$1 == "steps" {
		if (!k++) print "step      rms       b0       b1       b2       b3       b4       b5       b6       b7"
		if (k % 9 == 1) printf "%4d", (k - 1) / 9 + 1
		printf " %8.5g%s", $2, k % 9 ? "" : "\n"
	}
	{ value[$1, ++count[$1]] = $2 }
	END {
		print ""
		for (i = 1; i <= 8; i++) printf "b%d = %.6g +- %.2g\n", i - 1, value["p", i], value["deviation", i]
		printf "residual: %.6g\n", value["rms", 1]
	}' numbers
