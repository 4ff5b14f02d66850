#!/usr/bin/env bats
# What run says about values: --check-nan, --check-range, --dump, --keep. To add a program for
# --check-nan: a row of the first test.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# names TEXT PROGRAM NAME=VALUE…: run --check-nan, compiled and interpreted, from each level up to
# schedule, names the op
names() {
	local text=$1 level
	printf '%b' "$2" > p.t
	tool trace p.t > graph.mp
	tool schedule graph.mp > schedule.mp
	tool fuse schedule.mp > fuse.mp
	for level in graph schedule fuse; do
		for how in "" --interpret; do
			fails 1 tool run --check-nan $how $level.mp "${@:3}"
			grep -qE "$text" <<< "$errors" || { echo "$level $how: $errors"; return 1; }
		done
	done
}

# the targets whose kernels have values with lanes
lane_targets() {
	echo clang
	! has_llvm || echo llvm
}

@test "check-nan: the op that made it, its line, name, operands and place" {
	names 'LOG2 makes -inf of 0 at' 'input x f32[4]\ny = log(x - 1) * 2\noutput z = sum(y)\n' x=2,1,3,4
	grep -qF 'p.t:3 (z): ' <<< "$errors"
	names 'LOG2 makes -nan of -0.5 at' 'input x f32[4]\ny = log(x - 1) * 2\noutput z = sum(y)\n' x=2,0.5,3,4 ||
		names 'LOG2 makes nan of -0.5 at' 'input x f32[4]\ny = log(x - 1) * 2\noutput z = sum(y)\n' x=2,0.5,3,4
	names 'FDIV makes inf of 1 and 0 at' 'input x f32[2, 2]\noutput y = relu(1 / x)\n' x=0
	names 'MUL makes inf of 1.00000002e.30 and 1.00000002e.30 at' 'input x f32[3]\noutput y = x * x\n' x=1e30
	names 'makes inf of (finite values|120000)' 'input x f16[3]\noutput y = sum(x)\n' x=40000
	ok tool run --check-nan --interpret graph.mp x=40000,1,-40000
}

@test "check-nan: at level graph the op's own line" {
	printf 'input x f32[4]\ny = log(x - 1)\noutput z = sum(y * 2)\n' > p.t
	tool trace p.t > p.mp
	fails 1 tool run p.mp x=2,1,3,4 --check-nan
	[ "$errors" = 'run: p.t:2 (y): LOG2 makes -inf of 0 at [1]; the first buffer with one is z, of K0 r_4' ] ||
		[ "$errors" = 'run: p.t:2: LOG2 makes -inf of 0 at [1]; the first buffer with one is z, of K0 r_4' ]
}

@test "check-nan: what comes in is nobody's fault, nor is an infinite mask" {
	printf 'input x f32[4, 4]\noutput y = softmax(where(x < 0.5, x, -inf))\n' > p.t
	tool trace p.t > p.mp
	ok tool run p.mp x=rand --check-nan
	[ -z "$errors" ]
	ok tool run p.mp x=rand --check-nan --interpret
	printf 'input x f32[2]\noutput y = x + 1\n' > p.t
	tool trace p.t > p.mp
	ok tool run p.mp x=nan,1 --check-nan
}

@test "check-nan: a state that grows, in a later call" {
	printf 'state s f32[2] = [1, 1]\ns <- s * 1e20\noutput y = s + 0\n' > p.t
	tool trace p.t > p.mp
	ok tool run p.mp --check-nan
	fails 1 tool run p.mp --check-nan -n 2
	grep -q 'MUL makes inf of 1.00000002e+20 and 1.00000002e+20 at \[0\]' <<< "$errors"
	for t in $(lane_targets) c; do
		tool lower -t $t p.mp | tool render -t $t > c.mp
		fails 1 tool run c.mp --check-nan -n 2
		grep -q 'MUL makes inf of 1.00000002e+20 and 1.00000002e+20 at .*0; in K[0-9]' <<< "$errors"
	done
}

@test "check-nan: a program, whose ops are expanded: the kernel, its line, and the op" {
	local how t
	printf 'input x f32[4]\noutput z = sum(log(x))\n' > p.t
	printf 'input x f32[2]\noutput z = sin(exp(x))\n' > two.t
	printf 'input x f32[2]\noutput z = sin(x)\n' > in.t
	for t in $(lane_targets) c; do
		tool trace p.t | tool lower -t $t > l.mp
		tool render -t $t l.mp > c.mp
		for how in c.mp "-t $t l.mp" "--interpret c.mp" "--interpret l.mp"; do
			fails 1 tool run $how x=2,-1,3,4 --check-nan
			grep -qxE 'run: p.t:2 \(z\): LOG2 makes -?nan( at [a-z0-9=, ]*1)?; K0 r_4 writes NaN to buffer z, of finite values' <<< "$errors"
			ok tool run $how x=2,0,3,4 --check-nan
			grep -qxE 'run: p.t:2 \(z\): LOG2 makes -inf.*; K0 r_4 writes an infinity to buffer z, of finite values' <<< "$errors"
		done
		# what came in is not the first expansion's fault; of two, the first is named
		tool trace two.t | tool lower -t $t | tool render -t $t > c.mp
		fails 1 tool run c.mp x=1000,1 --check-nan
		grep -q 'EXP2 makes inf' <<< "$errors"
		tool trace in.t | tool lower -t $t | tool render -t $t > c.mp
		fails 1 tool run c.mp x=inf,1 --check-nan
		not grep -q 'SIN' <<< "$errors"
	done
}

@test "check-nan: a value with lanes: the lane, whatever is in the others; not what a store drops" {
	local how t
	printf 'input x f32[16]\noutput y = where(x < 3, 1 / x, x)\n' > p.t
	printf 'input x f32[16]\noutput y = log(x)\n' > log.t
	printf 'input x f32[13]\noutput y = 2 / x\n' > drop.t
	for t in $(lane_targets); do
		tool trace p.t | tool lower -t $t --skip legalise --opt 'E_16: tile 0 1 16' > p.mp
		tool show p.mp | grep -q 'FDIV f32x16'
		for how in "" --interpret; do
			tool render -t $t p.mp > c.mp
			ok tool run c.mp $how --check-nan x=inf,nan,2,1,2,1,2,1,2,1,2,1,2,1,2,1
			fails 1 tool run c.mp $how --check-nan x=inf,nan,2,1,2,1,2,1,2,0,2,1,0,1,2,1
			grep -qE 'p.t:2 \(y\): FDIV makes inf of 1 and 0 at (.* )?lane=9; in K0 E_16' <<< "$errors"
		done
		# statements of more lanes than a register has
		tool trace log.t | tool lower -t $t --march x86-64-v3 --opt 'E_16: tile 0 1 16' > log.mp
		tool show log.mp | grep -q 'WHERE f32x8 .*of: "LOG2"'
		fails 1 tool run --interpret log.mp --check-nan x=1,1,1,1,1,1,1,1,1,1,1,-1,1,1,1,1
		grep -q 'LOG2 makes .*lane=3; K0' <<< "$errors"
		# a gate with lanes
		tool trace drop.t | tool lower -t $t --opt 'E_13: split 0 8 guard; order 0.0 0.1; tile 0.1 1 8' > drop.mp
		tool show drop.mp | grep -q 'FDIV f32x8'
		ok tool run --interpret drop.mp --check-nan x=2
		[ -z "$errors" ]
		fails 1 tool run --interpret drop.mp --check-nan x=1,1,1,1,1,1,1,1,1,1,1,1,0
		grep -q 'FDIV makes inf of 2 and 0 at r0=1 lane=4; in K0' <<< "$errors"
	done
}

@test "check-range: least, greatest, mean, zeros, NaNs and infinities" {
	printf 'input x f32[4]\noutput y = log(x), s = sum(x)\n' > p.t
	tool trace p.t > p.mp
	for how in "" --interpret; do
		ok tool run p.mp x=0,1,-1,0 --check-range $how
		grep -Eq 'BUFFER +x|input +x' <<< "$errors"
		grep -Eq ' x +f32\[4\] +-1 +1 +0 +2 +0 +0$' <<< "$errors"
		grep -Eq ' y +f32\[4\] +0 +0 +0 +1 +1 +2$' <<< "$errors"
		[ "$(grep -c '^call ' <<< "$errors")" = 1 ]
	done
}

@test "dump: what a call reads and writes; a buffer; a node" {
	printf 'input x f32[2]\nt = sum(x * 2)\noutput y = x / t\n' > p.t
	tool trace p.t > p.mp
	ok tool run p.mp x=1,3 --dump K0
	grep -q '^K0 .* reads x f32\[2\]$' <<< "$errors"
	grep -q '^K0 .* writes ' <<< "$errors"
	not grep -q '^K1' <<< "$errors"
	ok tool run p.mp x=1,3 --dump y
	grep -q '^K[0-9]* .* writes y f32\[2\]$' <<< "$errors"
	ok tool run p.mp x=1,3 --dump y,t --interpret
	grep -q '^%[0-9]* .* t ' <<< "$errors"
	fails 2 tool run p.mp x=1,3 --dump K77 -o out.npz
	grep -qF "no call, kernel or buffer is called 'K77'" <<< "$errors"
}

@test "dump and keep: the files of one call" {
	printf 'input x f32[2]\nt = sum(x * 2)\noutput y = x / t\n' > p.t
	tool trace p.t > p.mp
	ok tool run p.mp x=1,3 --dump y --keep kept -o out.npz
	[ "$(ls kept/*.y.npy | wc -l)" = 1 ]
	[ "$(ls kept/*.in.x.npy | wc -l)" = 1 ]
	tool run p.mp x=1,3 -o y
	tool diff kept/*.y.npy y/y.npy
	ok tool run p.mp x=1,3 --interpret --keep nodes
	tool diff nodes/*.y.npy y/y.npy
	ls nodes/*.BUFFER.x.npy
}
