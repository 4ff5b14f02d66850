# lower and render: sources compile without warnings, every target gives the same numbers, launch
# data, names cannot escape, actions as data, a user's own target.
bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# text NAME < nodes: NAME.mp, a document of level graph
text() { { echo "sluice 1 graph"; cat; } | tool show -p > "$1.mp"; }

contraction() {
	text mm <<-'T'
	%0 = BUFFER f32 {name: "a", shape: [20, 33], role: "input"}
	%1 = BUFFER f32 {name: "b", shape: [33, 70], role: "input"}
	%2 = RESHAPE f32 %0 [20, 1, 33]
	%3 = EXPAND f32 %2 [20, 70, 33]
	%4 = PERMUTE f32 %1 [1, 0]
	%5 = RESHAPE f32 %4 [1, 70, 33]
	%6 = EXPAND f32 %5 [20, 70, 33]
	%7 = MUL f32 %3 %6
	%8 = REDUCE f32 %7 ["ADD", [2]]
	%9 = RESHAPE f32 %8 [20, 70]
	%10 = SINK %9 {names: ["y"]}
	T
}

softmax() {
	text sm <<-'T'
	%0 = BUFFER f32 {name: "x", shape: [6, 300], role: "input"}
	%1 = REDUCE f32 %0 ["MAX", [1]]
	%2 = EXPAND f32 %1 [6, 300]
	%3 = SUB f32 %0 %2
	%4 = EXP2 f32 %3
	%5 = REDUCE f32 %4 ["ADD", [1]]
	%6 = EXPAND f32 %5 [6, 300]
	%7 = FDIV f32 %4 %6
	%8 = SINK %7 {names: ["y"]}
	T
}

sorted() {
	text so <<-'T'
	%0 = BUFFER f32 {name: "x", shape: [3, 200], role: "input"}
	%1 = SORT i64 %0 [1, false]
	%2 = SORT i64 %0 [1, true]
	%3 = SCAN f32 %0 ["ADD", 1]
	%4 = SINK %1 %2 %3 {names: ["up", "down", "sums"]}
	T
}

halves() {
	text ha <<-'T'
	%0 = BUFFER f16 {name: "x", shape: [4, 50], role: "input"}
	%1 = BUFFER bf16 {name: "w", shape: [4, 50], role: "input"}
	%2 = MUL f16 %0 %0
	%3 = CAST bf16 %2
	%4 = ADD bf16 %3 %1
	%5 = CAST f64 %4
	%6 = REDUCE f64 %5 ["ADD", [0, 1]]
	%7 = CAST i8 %4
	%8 = SINK %4 %6 %7
	T
}

integers() {
	text in <<-'T'
	%0 = BUFFER i32 {name: "x", shape: [90], role: "input"}
	%1 = BUFFER i32 {name: "y", shape: [90], role: "input"}
	%2 = IDIV i32 %0 %1
	%3 = MOD i32 %0 %1
	%4 = FLOORDIV i32 %0 %1
	%5 = FLOORMOD i32 %0 %1
	%6 = SHL i32 %0 %1
	%7 = SHR i32 %0 %1
	%8 = POW i32 %0 %1
	%9 = MUL i32 %8 %0
	%10 = CMPLT bool %2 %3
	%11 = CAST u64 %4
	%12 = THREEFRY u64 %11 %11
	%13 = SINK %2 %3 %4 %5 %6 %7 %9 %10 %12
	T
}

# src DOC: prints the sources of a document of level program
src() { tool show "$1" | sed -n 's/^\t|//p'; }

@test "C compiles as C11 with -Wall -Werror" {
	contraction; softmax; sorted; halves; integers
	for g in mm sm so ha in; do
		tool render -t clang $g.mp > $g.p
		src $g.p > $g.c
		grep -q '_call(void \*const \*bufs' $g.c
		"${CC:-cc}" -std=c11 -O1 -fwrapv -Wall -Werror -c -o $g.o $g.c
	done
}

@test "every target that runs here gives the interpreter's numbers" {
	contraction; softmax; sorted; halves; integers
	targets="clang $(gpus)"
	for g in mm sm so ha in; do
		inputs=$(tool show $g.mp | sed -n 's/.*BUFFER.*name: "\([a-z]*\)".*/\1=rand/p')
		tool run --interpret $g.mp $inputs -o want.npz
		for t in $targets; do
			tool render -t $t $g.mp | tool run $inputs -o got.npz
			[ $g = ha ] && bits=--bf16 || bits=
			ok tool diff $bits --rtol 1e-4 --atol 1e-4 want.npz got.npz
		done
	done
}

@test "CUDA compiles with nvcc, if installed" {
	command -v nvcc > /dev/null || skip "there is no nvcc"
	contraction; softmax; sorted; halves; integers
	for g in mm sm so ha in; do
		tool render -t cuda $g.mp > $g.p
		src $g.p >> all.cu
	done
	nvcc -Werror all-warnings --ptx -o all.ptx all.cu
}

@test "Metal: its source, and no f64" {
	softmax; halves
	tool render -t metal sm.mp > sm.p
	src sm.p > sm.metal
	for s in 'kernel void' 'device float \*y \[\[buffer(0)\]\]' 'device const float \*x \[\[buffer(1)\]\]' \
		'threadgroup float buf0\[128\];' 'threadgroup_barrier(mem_flags::mem_threadgroup);' 'precise::exp2('; do
		grep -q "$s" sm.metal
	done
	fails 3 tool render -t metal ha.mp
	[[ $errors == *f64* ]]
}

@test "launch data: items on the CPU, groups and items on a GPU" {
	softmax
	tool render -t clang sm.mp | tool show > cpu
	grep -q 'global_size: \[6\]' cpu
	not grep -q local_size cpu
	tool render -t opencl sm.mp | tool show > gpu
	grep -q 'global_size: \[6\], local_size: \[64\]' gpu
	grep -q 'ins: \[1\], outs: \[0\]' gpu
}

@test "symbolic sizes: one kernel for all" {
	text v <<-'T'
	vars {n: [1, 1000]}
	%0 = BUFFER f32 {name: "x", shape: ["n", 7], role: "input"}
	%1 = REDUCE f32 %0 ["ADD", [0]]
	%2 = SINK %1 {names: ["y"]}
	T
	for t in clang opencl; do
		tool render -t $t v.mp > v.p
		tool show v.p | grep -q 'vars: \["n"\]'
	done
	tool render -t clang v.mp | tool run x=zeros n=100 > y
	grep -q '0' y
}

@test "a value after a softmax is computed once per row" {
	softmax
	tool lower --march x86-64-v3 sm.mp | tool render -t clang > sm.p
	src sm.p > sm.c
	[ "$(grep -c '<< 23' sm.c)" -ge 1 ]
	[ "$(grep -c 'float buf[0-9]*\[300\];' sm.c)" = 1 ]
}

@test "columns of a contraction are computed in parallel" {
	contraction
	ok tool lower --explain mm.mp
	[[ $errors == *"r1 in tiles of "*" vectors of "* ]]
}

@test "actions are data: none, replayed, given, and refused when they do not fit" {
	contraction
	tool lower mm.mp > mm.l
	tool lower --stop-after actions mm.mp > mm.a
	tool render mm.l > mm.lp
	src mm.lp > made
	tool lower mm.a | tool render > mm.rp
	src mm.rp > again
	cmp made again
	tool lower --skip actions mm.mp | tool run a=rand b=rand -o plain.npz
	tool run mm.l a=rand b=rand -o chosen.npz
	tool show mm.a | sed 's/\["order", [01], [01]\]/["order", 1, 0]/; s/, \["tile", [^]]*\]//g; s/, \["grid", [^]]*\]//; s/, \["stage", [^]]*\]//g; s/, \["partial", [^]]*\]//' | tool show -p > mm.b
	tool lower mm.b | tool render > mm.p
	src mm.p > mm.src
	grep -A1 'for (long r1 = 0; r1 < 70; r1++) {' mm.src | grep -q 'for (long r0'
	tool show mm.a | sed 's/\["order", [01], [01]\]/["order", 0, 9]/' | tool show -p > mm.c
	fails 4 tool lower mm.c
	tool show mm.a | sed 's/\["order", [01], [01]\]/["transpose", 1]/' | tool show -p > mm.d
	fails 4 tool lower mm.d
}

@test "names and locations in a document stay inside identifiers and comments" {
	text n <<-'T'
	%0 = BUFFER f32 {name: "a*\\ x; int", shape: [3], role: "input"}
	%1 = BUFFER f32 {name: "int", shape: [3], role: "input"}
	%2 = ADD f32 %0 %1 @{loc: "*/ system(1); /*", name: "q\"; */"}
	%3 = SINK %2 {names: ["r1"]}
	T
	for t in clang opencl cuda metal; do
		tool render -t $t n.mp > n.p
		src n.p > n.$t
		not grep -q 'system(1); /\*' n.$t
		not grep -q '[* ]int[,)]' n.$t
	done
	"${CC:-cc}" -std=c11 -Wall -Werror -x c -c -o n.o n.clang
}

@test "targets: described, unknown, a user's own" {
	ok tool render-clang --describe
	[[ $output == *"name: clang"*"lanes:"* ]]
	contraction
	fails 3 tool lower -t nosuch mm.mp
	fails 3 tool render -t ../x mm.mp
	mkdir own
	cat > own/render-mine <<-'S'
	#!/bin/sh
	if [ "$1" = --describe ]; then
		printf 'gpu: 0\nlanes: 0\nlacks: RECIP MULACC MAX\n'
	else
		exit 3
	fi
	S
	chmod +x own/render-mine
	SLUICE_PATH=$PWD/own tool lower -t mine mm.mp | tool show > l
	grep -q 'target: "mine"' l
	not grep -q DEFINE_REG.*16 l
	printf '#!/bin/sh\necho lanes 3\n' > own/render-mine
	SLUICE_PATH=$PWD/own fails 4 tool lower -t mine mm.mp
}
