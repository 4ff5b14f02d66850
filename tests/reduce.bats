#!/usr/bin/env bats
# reduce: the smallest document that still fails. To add a fault: a `planted` line, with what a stage
# does wrong; the program below has to reach it.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir stages
	export SLUICE_PATH=$PWD/stages
	cat > p.t <<-'END'
		input x f32[8, 16]
		input w f32[16, 12]
		input k i32[8]
		const c f32 = [1.5, -2, 3]
		h = layernorm(x @ w)
		g = gelu(h) + sigmoid(h * 2)
		m = reshape(g, [8, 4, 3]) * c
		s = sin(sum(m, axis=1)) + sqrt(abs(min(m, axis=1)))
		t = where(x < 0.5, log(x + 1), 1 / (x + 2))
		u = take(t, k, axis=0) + cast(cast(t * 100, i32) % 7, f32)
		output y = softmax(s, axis=1), z = cumsum(m, axis=0), q = mean(u), r = argmax(u, axis=1), v = max(u - t, axis=0)
	END
	tool trace p.t > p.mp
	# whether fuse changes the results: the judge of most tests
	cat > wrong <<-'END'
		#!/bin/bash
		inputs=$("$BIN/show" "$1" | sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p')
		"$BIN/run" "$1" --interpret $inputs -o right.$$.npz || exit 1
		"$SLUICE_PATH/fuse" "$1" > changed.$$.mp
		"$BIN/run" changed.$$.mp --interpret $inputs -o wrong.$$.npz
		"$BIN/diff" right.$$.npz wrong.$$.npz --rtol 1e-3
		status=$?
		rm -f *.$$.*
		[ $status = 1 ]
	END
	chmod +x wrong
}

nodes() { tool show "$1" | grep -c '^%'; }

# planted RULE: fuse with a wrong rule, from more than 100 nodes to less than 20
planted() {
	printf '#!/bin/sh\n"$BIN/fuse" "$1" | "$BIN/rewrite" --once -e "%s"\n' "$1" > stages/fuse
	chmod +x stages/fuse
	ok tool reduce p.mp -o small.mp -- ./wrong
	[ "$(nodes small.mp)" -lt 20 ] || { echo "$1: $(nodes small.mp) nodes"; tool show small.mp; return 1; }
	./wrong small.mp > /dev/null
}

@test "ten planted faults come below 20 nodes" {
	[ "$(nodes p.mp)" -gt 100 ]
	planted 'EXP2(x) -> EXP2(x) + x * x'
	planted 'SIN(x) -> SIN(x) * 2'
	planted 'LOG2(x) -> LOG2(x) + 1'
	planted 'SQRT(x) -> x'
	planted 'SUB(x, y) -> y - x'
	planted 'CMPLT(x, y) -> CMPLT(y, x)'
	planted 'MAX(x, y) -> MIN(x, y)'
	planted 'RECIP(x) -> x'
	planted 'NEG(x) -> x'
	planted 'WHERE(c, x, y) -> WHERE(c, y, x)'
}

@test "a stage that crashes" {
	printf '#!/bin/sh\n"$BIN/show" "$1" | grep -q "= SQRT" && kill -SEGV $$\nexec "$BIN/fuse" "$1"\n' > stages/fuse
	chmod +x stages/fuse
	ok tool reduce p.t -o small.mp -- sh -c '"$SLUICE_PATH/fuse" "$1" > out; [ $? = 139 ]' sh
	[ "$(nodes small.mp)" -le 3 ]
	tool show small.mp | grep -q SQRT
}

@test "the same whatever -j is, on standard output, text is whole at each step" {
	tool reduce p.mp -- sh -c '"$BIN/show" {} | grep -q "= SIN "' > one.mp
	tool reduce p.mp -j 3 -o three.mp -- sh -c '"$BIN/show" {} | grep -q "= SIN "'
	cmp one.mp three.mp
	[ "$(nodes one.mp)" = 3 ]
	tool show one.mp | grep -q 'shape: \[1, 1\]'
}

@test "levels schedule and loops: calls, statements, actions, sizes" {
	tool fuse p.mp > fuse.mp
	tool lower p.mp > lower.mp
	for level in fuse lower; do
		ok tool reduce $level.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "= SQRT "'
		[ "$(nodes small.mp)" -lt 20 ] || { tool show small.mp; return 1; }
		[ "$(tool show small.mp | grep -c '= CALL')" = 1 ]
		tool show small.mp | grep -q SQRT
		tool show small.mp | tool show -p > again.mp
		tool match 'SQRT(x)' again.mp
	done
	ok tool reduce lower.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "actions: \[.*tile"'
	[ "$(nodes small.mp)" -lt 12 ]
	tool show small.mp | grep -q 'actions: \[\["tile"[^]]*\]\]'
}

@test "calls, slots, statements, ranges and axes of a schedule" {
	printf 'input x f32[6, 5]\ninput z f32[6, 5]\na = cast(cast(x, f16), f32) * z\nb = sum(a, axis=1, keepdims=true)\noutput y = sqrt(a - b), w = a * 2\n' > c.t
	tool trace c.t | tool schedule > c.mp
	ok tool reduce c.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "= SQRT "'
	[ "$(nodes small.mp)" -le 9 ] || { tool show small.mp; return 1; }
	[ "$(tool show small.mp | grep -c 'shape: \[\]')" -ge 2 ]
	tool show small.mp | grep -q 'names: \["'
	# two calls, one reading what the other wrote: what is between them is handed on
	ok tool reduce c.mp -o small.mp -- sh -c '[ $("$BIN/show" {} | grep -c "= CALL ") -ge 2 ] && "$BIN/show" {} | grep -q temp'
	[ "$(nodes small.mp)" -le 14 ] || { tool show small.mp; return 1; }
	tool fuse c.mp > f.mp
	ok tool reduce f.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "= RREDUCE "'
	[ "$(nodes small.mp)" -le 13 ] || { tool show small.mp; return 1; }
}

@test "size variables, constants in files" {
	printf 'input x f32[n, 4] where n in 1..9\nconst c f32 = [[1, 2, 3, 4], [5, 6, 7, 8]]\noutput y = sin(x) @ c.T * 3, z = sum(x)\n' > v.t
	tool trace v.t > v.mp
	ok tool reduce v.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "REDUCE"'
	[ "$(nodes small.mp)" -le 4 ]
	not grep -q vars <(tool show small.mp)
}

@test "what it refuses" {
	fails 2 tool reduce p.mp
	fails 2 tool reduce -- true
	fails 2 tool reduce p.mp -j none -o s.mp -- true
	fails 1 tool reduce p.mp -- false
	grep -q 'does not end with 0 for the document as it is: status 1' <<< "$errors"
	fails 1 tool reduce p.mp --time 0.2 -- sleep 100
	echo garbage > g.mp
	fails 4 tool reduce g.mp -- true
	fails 1 tool reduce p.mp -- ./nothere
	mkdir tmp
	TMPDIR=$PWD/tmp ok tool reduce p.mp -o s.mp -- true
	[ -z "$(ls tmp)" ]
	[ "$(nodes s.mp)" -le 2 ]
}

@test "reduce: lists with loops: what their bodies need not is left out" {
	local level
	tool schedule "$TESTS/fuzz/corpus/documents/steps_list.mp" > s.mp
	tool fuse s.mp | tool lower -t clang > l.mp
	for level in s l; do
		ok tool reduce $level.mp -o small.mp -- sh -c '"$BIN/show" {} | grep -q "= SWAP "'
		tool show small.mp > small.txt
		grep -q '= LOOP ' small.txt
		[ "$(grep -c '^%' small.txt)" -le 8 ]
	done
}

@test "reduce: of registers that hand a value on, none is left" {
	tool show -p > k.mp <<-'E'
	sluice 1 loops
	%0 = CONST i64 0
	%1 = BUFFER f32 {name: "x", shape: [], role: "input"}
	%2 = BUFFER f32 {name: "y", shape: [], role: "output"}
	%3 = PARAM f32 {slot: 0, shape: []}
	%4 = PARAM f32 {slot: 1, shape: []}
	%5 = DEFINE_REG f32 [0, 1]
	%6 = DEFINE_REG f32 [1, 1]
	%7 = INDEX f32 %4 %0
	%8 = LOAD f32 %7
	%9 = INDEX f32 %5 %0
	%10 = STORE %9 %8
	%11 = LOAD f32 %9
	%12 = INDEX f32 %6 %0
	%13 = STORE %12 %11
	%14 = LOAD f32 %12
	%15 = INDEX f32 %3 %0
	%16 = STORE %15 %14
	%17 = KERNEL %5 %10 %6 %13 %16 {name: "k", actions: [], target: "clang"}
	%18 = CALL %17 %2 %1
	%19 = SINK %18 {names: ["y"]}
	E
	echo '"$BIN/run" --interpret "$1" x=5 | grep -qx 5.0 && "$BIN/run" --interpret "$1" x=7 | grep -qx 7.0' > same
	tool reduce k.mp -o small.mp -- bash same
	# what was stored stands for what is loaded
	[ "$(tool show small.mp | grep -c DEFINE_REG)" = 0 ]
	[ "$(nodes small.mp)" -lt "$(nodes k.mp)" ]
}

@test "reduce: a kernel with lanes becomes one without" {
	printf 'input x f32[64]\noutput y = x * 3 + 1\n' > v.t
	tool trace v.t | tool fuse | tool lower -t clang > v.mp
	tool show v.mp | grep -q 'MUL f32x'
	tool reduce v.mp -o small.mp -- bash -c '"$BIN/show" "$1" | grep -q "MUL f32"' judge
	tool show small.mp | grep -q 'MUL f32 '
	[ "$(tool show small.mp | grep -c f32x)" = 0 ]
}

@test "reduce: of a loop that stands twice, one goes" {
	tool show -p > twice.mp <<-'E'
	sluice 1 loops
	%0 = CONST i64 0
	%1 = CONST i64 3
	%2 = BUFFER f32 {name: "y", shape: [], role: "output"}
	%3 = PARAM f32 {slot: 0, shape: []}
	%4 = CONST f32 1.0
	%5 = DEFINE_REG f32 [0, 1]
	%6 = INDEX f32 %5 %0
	%7 = LOAD f32 %6
	%8 = CONST f32 0.0
	%9 = STORE %6 %8
	%10 = RANGE i64 %1 [0, "reduce"]
	%11 = ADD f32 %7 %4
	%12 = STORE %6 %11
	%13 = ENDRANGE %10
	%14 = INDEX f32 %3 %0
	%15 = STORE %14 %7
	%16 = KERNEL %5 %9 %10 %12 %13 %9 %10 %12 %13 %15 {name: "k", actions: [], target: "clang"}
	%17 = CALL %16 %2
	%18 = SINK %17 {names: ["y"]}
	E
	tool reduce twice.mp -o small.mp -- bash -c '"$BIN/show" "$1" | grep -q ENDRANGE' judge
	[ "$(tool show small.mp | sed -n 's/.*= KERNEL \(.*\) {.*/\1/p' | wc -w)" -le 2 ]
}
