#!/usr/bin/env bats
# The pipelines over functions in C: ik.sh and fit.sh reach the results they state, with derivatives
# made by trace and jac.

load helpers

setup() { export SLUICE_BIN=$BIN; cd "$BATS_TEST_TMPDIR"; }
pipeline() { "$ROOT/pipelines/$1" "${@:2}"; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'; }
# the residuals of ik.sh, one per line
residuals() { sed -n 's/^step .*: residual \([^ ]*\) .*/\1/p' <<< "$output"; }

@test "ik: the residual falls below 1e-10, faster with each step" {
	ok pipeline ik.sh
	grep -q '^Jacobian: 224 x 224 in 7 products' <<< "$output"
	below "$(residuals | tail -n 1)" 1e-10
	[ "$(residuals | wc -l)" -le 8 ]
	# near the solution each step squares it
	residuals | awk '{ if (last != "" && last < 0.1 && last > 1e-6 && $1 > 2 * last ^ 2) bad = 1; last = $1 } END { exit bad }'
}

@test "ik: the angles it gives put the tool on the path, interpreted, and in C compiled by clang" {
	OUT=$PWD/q.npy ok pipeline ik.sh
	tool trace "$ROOT/pipelines/ik-path.t" | tool run -o start
	compiler=cc
	! command -v clang > /dev/null || compiler=clang
	tool trace --cc $compiler "$ROOT/pipelines/arm.c" > arm.mp
	ok tool run --interpret arm.mp q=q.npy path=start/path.npy
	mm=$(awk '/^mm / { getline; print }' <<< "$output")
	below "$mm" 1e-6
	# all joints but the free one move
	[ "$(tool run --interpret arm.mp q=start/q.npy path=start/path.npy | awk '/^mm / { getline; print ($1 > 100) }')" = 1 ]
}

@test "ik: a limit that is not reached is a failure" {
	LIMIT=1e-300 STEPS=2 capture pipeline ik.sh
	[ "$status" = 1 ]
	[[ $errors == "not below 1e-300 after 2 steps" ]]
	[ "$(residuals | wc -l)" = 3 ]
}

# parameter K of fit.sh's result is within 4 standard deviations of VALUE
near() { awk -v name="b$1" -v want="$2" '$1 == name { found = 1; exit !(($3 - want) ^ 2 < (4 * $5) ^ 2 && $5 > 0) } END { if (!found) exit 1 }' <<< "$output"; }

@test "fit: finds the parameters of the data, and their uncertainty" {
	for seed in 1 2; do
		SEED=$seed ok pipeline fit.sh
		k=0
		for want in 98 0.0105 100 67 24 72 180 19; do
			near $k $want || { echo "b$k of seed $seed is not $want"; echo "$output"; return 1; }
			k=$((k + 1))
		done
		# the noise that was put in, and no step that raises the residual
		awk '/^ *[0-9]+ / { if (last != "" && $2 > last) bad = 1; last = $2 } END { exit bad || last < 1.5 || last > 2.4 }' <<< "$output"
	done
}

@test "fit: the figures of SciPy's curve_fit on the same data" {
	SEED=1 ok pipeline fit.sh
	while read -r line; do grep -qF "$line" <<< "$output" || { echo "no $line"; echo "$output"; return 1; }; done <<-'E'
		b0 = 98.4234 +- 0.49
		b3 = 67.0135 +- 0.09
		b4 = 24.129 +- 0.15
		b7 = 18.9763 +- 0.17
		residual: 1.89515
	E
}

@test "fit: a user's own data, without noise, to the last digit; wrong data are refused" {
	cat > clean.t <<-'E'
		x = f64(arange(60)) * 4
		output x, y = 80 * exp(-0.012 * x) + 95 * exp(-((x - 72) / 21) ** 2) + 50 * exp(-((x - 170) / 22) ** 2)
	E
	tool trace clean.t | tool run -o . > /dev/null
	STEPS=20 ok pipeline fit.sh x.npy y.npy
	for line in 'b0 = 80 ' 'b1 = 0.012 ' 'b2 = 95 ' 'b3 = 72 ' 'b4 = 21 ' 'b5 = 50 ' 'b6 = 170 ' 'b7 = 22 '; do
		grep -qF "$line" <<< "$output" || { echo "no $line"; echo "$output"; return 1; }
	done
	below "$(sed -n 's/^residual: //p' <<< "$output")" 1e-9
	printf 'output y = f64(arange(61))\n' > other.t
	tool trace other.t | tool run -o . > /dev/null
	capture pipeline fit.sh x.npy y.npy
	[ "$status" != 0 ]
	STEPS=0 capture pipeline fit.sh
	[ "$status" = 2 ]
}
