#!/usr/bin/env bats
# Values with lanes at level loops: what they mean, what is refused, and the passes that make them.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# the document with the lines of $1 as a kernel's statements: it has x f32[16], at i64[8], y f32[16], z f32[8]
kernel() {
	{
		cat <<- END
			sluice 1 loops
			%0 = BUFFER f32 {name: "x", shape: [16], role: "input"}
			%1 = BUFFER i64 {name: "at", shape: [8], role: "input"}
			%2 = BUFFER f32 {name: "y", shape: [16], role: "output"}
			%3 = BUFFER f32 {name: "z", shape: [8], role: "output"}
			%4 = PARAM f32 {slot: 0, shape: [16]}
			%5 = PARAM f32 {slot: 1, shape: [8]}
			%6 = PARAM f32 {slot: 2, shape: [16]}
			%7 = PARAM i64 {slot: 3, shape: [8]}
			%8 = CONST i64 0
			%9 = CONST i64 8
			%10 = RAMP i64x8 %8 1
			%11 = INDEX f32x8 %5 %10
			%12 = INDEX f32x8 %4 %10
			%13 = RAMP i64x8 %9 1
			%14 = INDEX f32x8 %4 %13
			%15 = INDEX f32x8 %6 %10
			%16 = LOAD f32x8 %15
		END
		cat
		printf '%%90 = KERNEL %s {name: "k"}\n%%91 = CALL %%90 %%2 %%3 %%0 %%1\n%%92 = SINK %%91 {names: ["y", "z"]}\n' "$1"
	} > k.txt
}

xs=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15

# all ways of running it print the same: in languages without lanes they are loops
runs() {
	tool show -p k.txt > k.mp
	[ "$(tool show k.mp | tool show -p | tool show)" = "$(tool show k.mp)" ]
	ok tool run --interpret k.mp x=$xs at=3,-1,15,16,0,0,7,99
	said=$output
	for t in clang c llvm; do
		[ $t != llvm ] || has_llvm || continue
		tool render -t $t k.mp > p.mp
		ok tool run p.mp x=$xs at=3,-1,15,16,0,0,7,99
		[ "$output" = "$said" ] || { echo "$t: $output"; return 1; }
	done
}

@test "lanes: a gather under a mask, a shuffle, a broadcast" {
	kernel '%33 %35 %36 %39 %41' <<- END
		%20 = INDEX i64x8 %7 %10
		%21 = LOAD i64x8 %20
		%22 = CONST i64 16
		%23 = BROADCAST i64x8 %22
		%24 = CONST i64 -1
		%25 = BROADCAST i64x8 %24
		%26 = CMPLT boolx8 %25 %21
		%27 = CMPLT boolx8 %21 %23
		%28 = AND boolx8 %26 %27
		%29 = INDEX f32x8 %6 %21
		%30 = LOAD f32x8 %29 %28
		%31 = CONST f32 2.0
		%32 = BROADCAST f32x8 %31
		%33 = STORE %11 %30
		%35 = LET f32x8 %16 0
		%37 = SHUFFLE f32x8 %35 [7, 6, 5, 4, 3, 2, 1, 0]
		%38 = MULACC f32x8 %35 %32 %37
		%36 = STORE %12 %38
		%40 = SHUFFLE f32 %35 [5]
		%39 = LET f32 %40 1
		%42 = BROADCAST f32x8 %39
		%41 = STORE %14 %42
	END
	runs
	[[ $said == *"7.  8.  9. 10. 11. 12. 13. 14.  5.  5.  5.  5."* ]]
	[[ $said == *" 3.  0. 15.  0.  0.  0.  7.  0."* ]]
}

@test "lanes: two scalars side by side, halves put together" {
	kernel '%24 %25 %26' <<- END
		%20 = SHUFFLE f32x4 %16 [4, 5, 6, 7]
		%21 = SHUFFLE f32x4 %16 [0, 1, 2, 3]
		%22 = SHUFFLE f32x8 %20 %21 [0, 1, 2, 3, 4, 5, 6, 7]
		%23 = RAMP i64x8 %8 2
		%27 = INDEX f32x8 %4 %23
		%28 = CONST i64 1
		%29 = RAMP i64x8 %28 2
		%30 = INDEX f32x8 %4 %29
		%24 = STORE %11 %22
		%25 = STORE %27 %16
		%26 = STORE %30 %22
	END
	runs
	[[ $said == *"0. 4. 1. 5. 2. 6. 3. 7. 4. 0. 5. 1. 6. 2. 7. 3."* ]]
	[[ $said == *"4. 5. 6. 7. 0. 1. 2. 3."* ]]
}

@test "lanes: a store under a gate of its own lanes leaves the others" {
	kernel '%20 %25 %26' <<- END
		%20 = STORE %12 %16
		%21 = CONST i32 0
		%22 = RAMP i32x8 %21 1
		%23 = CONST i32 3
		%24 = BROADCAST i32x8 %23
		%27 = CMPLT boolx8 %22 %24
		%25 = STORE %11 %16 %27
		%26 = STORE %14 %16
	END
	runs
	[[ $said == *"0. 1. 2. 0. 0. 0. 0. 0."* ]]
}

@test "lanes: what is no such document is refused in a line" {
	refused() { fails 4 tool show -p k.txt; [[ $errors == *"$1"* ]] || { echo "$errors"; return 1; }; }
	kernel '%20' <<< '%20 = STORE %11 %9'
	refused "the value is i64, the place f32x8"
	kernel '%20' < <(printf '%%21 = ADD f32x8 %%16 %%16\n%%22 = CONST f32 1.0\n%%23 = ADD f32x8 %%21 %%22\n%%20 = STORE %%11 %%23\n')
	refused "dtypes f32x8 and f32 do not match"
	kernel '%20' < <(printf '%%21 = SHUFFLE f32x2 %%16 [0, 8]\n%%20 = STORE %%11 %%16\n')
	refused "lane 8 of 8"
	kernel '%20' < <(printf '%%21 = RAMP i64x8 %%10 1\n%%20 = STORE %%11 %%16\n')
	refused "it makes lanes of a scalar"
	kernel '%20' < <(printf '%%21 = RANGE i64 %%10 [0, "loop"]\n%%20 = STORE %%11 %%16\n')
	refused "RANGE takes no lanes"
	kernel '%20' < <(printf '%%21 = CAST f32 %%10\n%%20 = STORE %%11 %%16\n')
	refused "differ in lanes"
	kernel '%20' < <(printf '%%21 = CONST f32x8 1.0\n%%20 = STORE %%11 %%16\n')
	refused "node 17 CONST"
	kernel '%20 %21 %22' < <(printf '%%20 = RANGE i64 %%9 [0, "vector"]\n%%21 = STORE %%11 %%16\n%%22 = ENDRANGE %%20\n')
	tool show -p k.txt > k.mp 2> errors || true
	fails 4 tool run --interpret k.mp x=$xs at=0
}

@test "lanes: a place that is outside is found, in the lane where it is" {
	kernel '%20 %22' < <(printf '%%20 = STORE %%12 %%16\n%%21 = CONST i64 1\n%%23 = RAMP i64x8 %%21 1\n%%24 = INDEX f32x8 %%5 %%23\n%%22 = STORE %%24 %%16\n')
	tool show -p k.txt > k.mp
	fails 4 tool run --interpret k.mp x=$xs at=0
	[[ $errors == *"and the size is 8"* ]]
	ok tool run --guard --interpret k.mp x=$xs at=0
	[[ $output == *"0. 0. 1. 2. 3. 4. 5. 6."* ]]
}

@test "lanes: loops of kind vector and the lanes they become compute the same" {
	local f
	for f in "$TESTS"/golden/*.out "$TESTS"/golden/act_*.c; do
		f=${f##*/} f=${f%.*}
		[ -f "$TESTS/golden/$f.t" ] || continue
		[ $f != act_swap ] || continue          # to instructions that llvm lacks
		(cd "$TESTS/golden" && tool trace "$f.t") > g.mp
		args=($(cat "$TESTS/golden/$f.args" 2> /dev/null || true))
		[ -f "$TESTS/golden/$f.out" ] || args+=($(operands g.mp))
		opt=()
		[ ! -f "$TESTS/golden/$f.opt" ] || opt=(--opt "$(cat "$TESTS/golden/$f.opt")")
		tool fuse g.mp > s.mp
		tool lower -t llvm "${opt[@]}" s.mp > a.mp
		tool lower -t llvm --skip lanes "${opt[@]}" s.mp > b.mp
		tool prove a.mp > /dev/null
		for k in a b; do (cd "$TESTS/golden" && tool run --interpret "$OLDPWD/$k.mp" "${args[@]}" -o "$OLDPWD/$k.npz"); done
		cmp a.npz b.npz || { echo "differs: $f"; return 1; }
	done
}

# operands DOC: rand for each input
operands() { tool show "$1" | sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p'; }

@test "lanes: a target whose row has none gets none" {
	printf 'input x f32[64, 64]\noutput y = x @ transpose(x)\n' > t.t
	tool trace t.t | tool fuse > s.mp
	tool lower -t llvm s.mp | tool show | grep -q 'RAMP i64x'
	tool lower -t llvm s.mp | tool show --loops | grep -Eq '^ *acc[0-9]+\[[0-9]+ \+: [0-9]+\] = acc.* \* '
	tool lower -t llvm --skip lanes s.mp | tool show > skipped
	not grep -q RAMP skipped
	grep -q '"vector"' skipped
	for t in c embedded opencl; do
		tool lower -t $t s.mp | tool show > none
		not grep -q RAMP none
	done
}

@test "lanes: accumulators are registers, or arrays where the pass is left out" {
	printf 'input x f32[40, 72]\noutput y = x @ transpose(x)\noutput s = sum(x, axis=1)\n' > t.t
	tool trace t.t | tool fuse > s.mp
	tool lower -t llvm --march x86-64-v3 s.mp > l.mp
	tool lower -t llvm --march x86-64-v3 --skip registers s.mp > arrays.mp
	tool show l.mp | grep -q 'DEFINE_REG f32 \[[0-9]*, 8, "vector"\]'
	not grep -q '"vector"' <(tool show arrays.mp)
	for f in l arrays; do
		tool prove $f.mp > /dev/null
		tool run --interpret $f.mp x=rand -o $f.npz
	done
	cmp l.npz arrays.npz
	# a vector has a place for each lane and one for all
	tool show l.mp | sed 's/\(DEFINE_REG f32 .[0-9]*, \)8, "vector"/\14, "vector"/' > wrong
	fails 4 tool show -p wrong
}

@test "lanes: no more of them than a register holds" {
	printf 'input x f32[40, 200]\ninput z f64[40, 200]\nw = x * cast(z, f32)\noutput y = where(w < x, w * w, x)\noutput s = sum(w, axis=1)\n' > w.t
	tool trace w.t > g.mp
	tool fuse g.mp > s.mp
	tool lower -t llvm --march x86-64-v3 --opt '*: tile 1 1 64' s.mp > l.mp
	tool show l.mp | grep -q f32x8
	not grep -q 'f32x[1-9][0-9]' <(tool show l.mp)
	tool lower -t llvm --march x86-64-v3 --opt '*: tile 1 1 64' --skip legalise s.mp > wide.mp
	tool show wide.mp | grep -q f32x64
	tool lower -t llvm --skip actions s.mp > plain.mp
	tool run --interpret plain.mp x=rand z=rand -o a.npz
	for f in l wide; do
		tool prove $f.mp > /dev/null
		tool run --interpret $f.mp x=rand z=rand -o b.npz
		tool diff --rtol 1e-5 --atol 1e-4 a.npz b.npz
	done
}

# a target whose row has vectors, whose documents are then render-clang's: its values with lanes are what loops of kind
# vector give, bit for bit
@test "lanes: render-clang prints them" {
	mkdir stages
	printf '#!/bin/sh\nrender-clang --describe | sed "s/vectors: 0/vectors: 1/"\n' > stages/render-lanes
	chmod +x stages/render-lanes
	for f in linear_relu softmax conv2d turned gelu_erf rotary_pairs rmsnorm_of_half layernorm logsumexp; do
		tool trace "$TESTS/golden/$f.t" > g.mp
		tool fuse g.mp > s.mp
		mapfile -t args < <(operands g.mp; grep -oE "[a-z]+=[0-9]+" "$TESTS/golden/$f.args")
		SLUICE_PATH=$PWD/stages PATH=$BIN:$PATH tool lower -t lanes s.mp | tool show |
			sed 's/target: "lanes"/target: "clang"/; s/layout: "lanes"/layout: "clang"/' > l.txt
		grep -q 'SHUFFLE\|RAMP i64x' l.txt || { echo "no lanes: $f"; return 1; }
		tool show -p l.txt > l.mp
		(cd "$TESTS/golden" && tool run "$OLDPWD/l.mp" "${args[@]}" -o "$OLDPWD/a.npz")
		(cd "$TESTS/golden" && tool run -t clang "$OLDPWD/s.mp" "${args[@]}" -o "$OLDPWD/b.npz")
		cmp a.npz b.npz || { echo "differs: $f"; return 1; }
	done
}

# the vectors of a tile's row are loaded by name, once for all its rows
@test "lanes: a value that several operations use has a name" {
	printf 'input a f32[24, 32]\ninput b f32[32, 64]\noutput y = a @ b\n' | tool trace | tool fuse > s.mp
	for t in clang llvm; do
		tool lower -t $t --march x86-64-v3 s.mp > l.mp
		tool lower -t $t --march x86-64-v3 --skip shared s.mp > plain.mp
		loads() { tool show --loops "$1" | grep -o 'LOAD b\|b\[' | wc -l; }
		[ "$(loads l.mp)" -gt 0 ]
		[ "$(loads l.mp)" -lt "$(loads plain.mp)" ]
		tool prove l.mp > /dev/null
		for f in l plain; do
			tool run --interpret $f.mp a=rand b=rand -o $f.npz
		done
		cmp l.npz plain.npz
	done
	tool run -t clang s.mp a=rand b=rand -o c.npz
	tool diff --rtol 1e-5 --atol 1e-5 c.npz l.npz
}

# a statement of each of several elements before the next statement of any
@test "lanes: what neighbouring elements are computed of stands side by side" {
	printf 'input x f32[20, 128]\noutput y = softmax(x)\n' | tool trace | tool fuse > s.mp
	tool lower -t llvm --march x86-64-v4 --skip shared s.mp > l.mp
	tool lower -t llvm --march x86-64-v4 --skip abreast --skip shared s.mp > apart.mp
	longest() { tool show --loops "$1" | awk '/^ *v[0-9]+ = / {if (++n > most) most = n; next} {n = 0} END {print most}'; }
	[ "$(longest l.mp)" -ge 12 ]
	[ "$(longest l.mp)" -le 24 ]
	[ "$(longest apart.mp)" -le 4 ]
	for f in l apart; do
		tool prove $f.mp > /dev/null
		tool run --interpret $f.mp x=rand -o $f.npz
	done
	cmp l.npz apart.npz

	# a state that is read and written: what is read stays behind the stores to it
	printf 'state s f32[128] = arange(128) / 128\ns <- exp2(s - 2)\noutput y = s\n' > r.t
	tool trace r.t | tool fuse > s.mp
	tool lower -t llvm --march x86-64-v4 s.mp > l.mp
	[ "$(longest l.mp)" -le 4 ]
	tool run --interpret s.mp -o a.npz
	tool run --interpret l.mp -o b.npz
	tool diff --rtol 1e-6 a.npz b.npz
}
