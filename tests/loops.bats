#!/usr/bin/env bats
# Derivatives of loops and branches, and vmap over them: loops.py has graphs, and compares with finite
# differences and separate runs.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	"${PYTHON:=python3}" -c 'import numpy' || skip "no NumPy"
}

# agrees CASE…: interpreted
agrees() {
	local case
	for case; do
		ok "$PYTHON" "$TESTS/loops.py" "$BIN" . "$case"
	done
}

@test "loops: recurrences of known, symbolic and data's lengths, 0 and 1 too" {
	agrees rnn data known lstm
}

@test "loops: a condition that ends it, a loop in a loop, gathers at places that turns compute" {
	agrees while nested walk
}

@test "loops: a branch in a loop, a loop in a branch, a size that one branch binds" {
	agrees branch looped
}

@test "loops: compiled, the same" {
	ok "$PYTHON" "$TESTS/loops.py" "$BIN" . looped --fast-compile
}

@test "loops: the forward loop is there once, with the states that it saves" {
	cat > p.l <<-'END'
		sluice 1 graph
		%0 = BUFFER f32 {name: "x", shape: [], role: "input"}
		%1 = CONST i64 5
		%2 = CARRY f32 %0 [0, 0]
		%3 = MUL f32 %2 %2
		%4 = LOOP %1 %3 {id: 0, limit: true, while: false, states: 1, values: 0}
		%5 = PICK f32 %4 0
		%6 = SINK %5 {names: ["y"]}
	END
	tool show -p p.l | tool grad | tool show > g.txt
	[ "$(grep -c '= LOOP' g.txt)" = 2 ]
	grep -q 'id: 0, limit: true, while: false, states: 1, values: 1' g.txt
	tool show -p p.l | tool jvp | tool show > j.txt
	[ "$(grep -c '= LOOP' j.txt)" = 1 ]
}

@test "loops: what has no derivative or pattern yet is status 3, and says why" {
	cat > p.l <<-'END'
		sluice 1 graph
		%0 = BUFFER f32 {name: "x", shape: [2], role: "input"}
		%1 = CONST i64 3
		%2 = CONST i64 1
		%3 = CARRY i64 %2 [0, 0]
		%4 = BIND i64 %3 ["k", 0, 9]
		%5 = RESHAPE f32 %0 [1, 2]
		%6 = CARRY f32 %5 [0, 1, ["k", 2]]
		%7 = PAD f32 %6 [[0, 1], [0, 0]]
		%8 = SIZE i64 "k+1"
		%9 = LOOP %1 %8 %7 {id: 0, limit: true, while: false, states: 2, values: 0}
		%10 = PICK f32 %9 [1, [4, 2]]
		%11 = MUL f32 %10 %10
		%12 = REDUCE f32 %11 ["ADD", [0, 1]]
		%13 = RESHAPE f32 %12 []
		%14 = SINK %13 {names: ["y"]}
	END
	tool show -p p.l > p.mp
	fails 3 "$BIN/grad" p.mp
	[[ "$errors" == *"a state whose shape [k,2] changes from turn to turn"* ]]
	tool jvp p.mp | tool run --interpret - x=1 tan_x=1 > out
	grep -qx 4.0 out
	fails 3 "$BIN/jac" --sparse p.mp
	[[ "$errors" == *"has no pattern"* ]]
	fails 3 "$BIN/grad" --check p.mp
}

@test "loops: grad in a program is grad of it" {
	cat > p.t <<-'END'
		input x f64[n, 3] where n in 0..64
		state w f64[3, 3] = [[0.1, 0.2, 0.3], [0.3, -0.2, 0.1], [0.5, 0.4, -0.1]]
		h = sum(w, axis=0) * 0
		for i in 0..n { h = sin(h @ w + x[i]) }
		loss = sum(h * h)
		output loss, grad_w = grad(loss, w)
	END
	tool trace p.t > own.mp
	sed 's/, grad_w = .*//' p.t > plain.t
	tool trace plain.t | tool grad > made.mp
	tool run --interpret own.mp x=rand n=4 -o own.npz
	tool run --interpret made.mp x=rand n=4 -o made.npz
	tool diff own.npz made.npz
	tool run --fast-compile own.mp x=rand n=4 -o compiled.npz
	tool diff --rtol 1e-9 own.npz compiled.npz
}

@test "derivatives of random programs with loops and branches: both modes, differences, compiled, by checkpoints" {
	"${PYTHON:=python3}" -c 'import numpy' || skip "no NumPy"
	cd "$BATS_TEST_TMPDIR"
	ok "$PYTHON" "$TESTS/grad_loops.py" "${SEED:-1}" "$(sanitized && echo 10 || echo 80)"
}
