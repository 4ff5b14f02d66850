# Values with lanes: each op on each dtype, and each form of index, gate, store and register. The
# passes make them of loops of kind "vector", which vectors.py writes; against the interpreter and,
# bit for bit, against the same kernels as plain loops.
bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; build lanes_stage render; }

# loops KIND LANES GROUP > document of level loops
loops() { python3 "$TESTS/vectors.py" "$@" | tool show -p; }
# kernels LANES GROUP: with lanes
kernels() { loops vector "$@" | ./lanes_stage; }

# compiler NAME FLAG: a compiler with a flag, for example for another processor
compiler() {
	local name
	name=$PWD/$(basename "$1")$2
	printf '#!/bin/sh\nexec %s "$@" %s\n' "$1" "$2" > "$name"
	chmod +x "$name"
	echo "$name"
}

x86() { [ "$(uname -m)" = x86_64 ]; }

# near GOT: the interpreter's values, each within the tolerance in its name
near() {
	local n differs=0
	for n in $(tool show v.mp | tail -n 1 | grep -oE '\.[0-9]"' | tr -d '."' | sort -u); do
		tool diff --ulp "$n" --only "*.$n" i.npz "$1" || differs=1
	done
	return $differs
}

# agrees LANES CC GROUP… The plain loops are not vectorized: gcc 12 gets some gated stores wrong
# when it vectorizes them.
agrees() {
	local lanes=$1 cc=$2 g plain
	plain=$(compiler "$cc" -fno-tree-vectorize)
	for g in "${@:3}"; do
		kernels "$lanes" "$g" | tool render -t clang > v.mp
		loops loop "$lanes" "$g" | tool render -t clang > l.mp
		ok tool run --interpret v.mp -o i.npz
		ok tool run --cc="$cc" v.mp -o v.npz
		ok tool run --cc="$plain" l.mp -o l.npz
		tool diff --ulp 0 --zeros l.npz v.npz || { echo "^ $g, $lanes lanes, $cc: a loop's value first"; return 1; }
		near v.npz || { echo "^ $g, $lanes lanes, $cc: the interpreter's value first"; return 1; }
	done
}

@test "vectors: floats and halves" { agrees 16 cc f32 f16; }
@test "vectors: integers" { agrees 16 cc i8 u16 i32 u64; }
@test "vectors: bool, and all the forms" { agrees 16 cc bool forms; }
@test "vectors: few lanes and many" { agrees 2 cc forms; agrees 64 cc u8; }

@test "vectors: clang" {
	command -v clang > c || skip "no clang"
	agrees 16 clang f32 i8 forms
}

@test "vectors: processors with shorter vectors, and with hardly any" {
	x86 || skip "not an x86"
	agrees 8 "$(compiler cc -march=x86-64-v3)" f64 bf16 forms
	agrees 4 "$(compiler cc -march=x86-64)" f32 u32
	command -v clang > c || return 0
	agrees 8 "$(compiler clang -march=x86-64-v3)" i64
	agrees 4 "$(compiler clang -march=x86-64)" f16 i16
}

@test "vectors: the generated code compiles without a warning" {
	for g in forms f32 f16 i8 u64; do
		kernels 16 $g | tool render -t clang | tool show | sed -n 's/^\t|//p' > $g.c
		"${CC:-cc}" -std=c11 -O1 -fwrapv -Wall -Werror -c -o $g.o $g.c
	done
}

@test "vectors: registers are variables, and other statements stay loops" {
	kernels 8 forms | tool render -t clang | tool show > forms.txt
	grep -q 'acc[0-9]* = mulacc_f32x8(' forms.txt
	grep -q '__attribute__((aligned(64))) float acc0\[8\];' forms.txt
	grep -A5 'void last_lane' forms.txt | grep -q '= f32_0_\[r0\];'
	# targets without vectors have loops
	loops vector 16 f32 | tool show | sed 's/target: "clang"/target: "opencl", global_size: [1], local_size: [1]/' | tool show -p |
		tool render -t opencl | tool show > opencl.txt
	grep -q 'for (int r1 = 0; r1 < 16; r1++)' opencl.txt
}

@test "vectors: names in a document do not clash with those of functions" {
	printf 'input load_f32x16 f32[40]\ninput max_f32 f32[40]\noutput y = maximum(load_f32x16, max_f32)\n' > names.t
	tool trace names.t > names.mp
	ok tool run --interpret names.mp load_f32x16=rand max_f32=rand -o i.npz
	ok tool run names.mp load_f32x16=rand max_f32=rand -o c.npz
	tool diff i.npz c.npz
}

@test "vectors: an impossible body or size of a vector loop is malformed" {
	loops vector 16 forms | tool show > forms.txt
	sed -E 's/^(%[0-9]+ = CONST i64) 16$/\1 12/' forms.txt | tool show -p > size.mp || true
	fails 4 tool render -t clang size.mp
	loops vector 4 f32 | tool show > f32.txt
	sed -E '0,/= RANGE i64 %[0-9]+ \[0, "loop"\]/s/"loop"/"vector"/; s/CONST i64 32$/CONST i64 33/' f32.txt |
		tool show -p > nest.mp || true
	fails 4 tool render -t clang nest.mp
}
