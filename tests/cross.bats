# The same programs by other compilers and for other processors, against the interpreter: GCC and
# Clang with AVX-512, with AVX2 alone and with SSE2 alone; AArch64, compiled here and run under
# QEMU's user mode (README.md has the packages). To add a kind of program, add a case in source_of.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

need() {
	local c
	for c; do
		command -v "$c" > where || skip "no $c"
	done
}

# has_x86 FLAG…: skips unless this is an x86 that runs code for that level
has_x86() {
	local f
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	for f; do
		grep -qw "$f" /proc/cpuinfo || skip "this processor has no $f"
	done
}

# source_of KIND SEED: writes t.t, and sets near to the tolerance of its values
source_of() {
	near=(--rtol 1e-5 --atol 1e-4)
	case $1 in
	moves) python3 "$TESTS/moves.py" "$2" 12; near=(--ulp 0 --zeros) ;;
	swaps) python3 "$TESTS/swaps.py" "$2"; near=(--ulp 0) ;;
	reductions) python3 "$TESTS/reductions.py" "$2"; near=(--rtol 1e-4) ;;
	*) python3 "$TESTS/$1.py" "$2" ;;
	esac > t.t
}

graph_of() {
	source_of "$@"
	ok tool trace t.t
	cp stdout t.mp
}

inputs_of() { tool show "$1" | sed -n 's/.*name: "\([a-z0-9]*\)".*role: "input".*/\1='"$2"'/p'; }

# compiled CC MARCH KIND SEED…
compiled() {
	local cc=$1 march=$2 kind=$3 seed
	for seed in "${@:4}"; do
		graph_of "$kind" "$seed"
		# shellcheck disable=SC2046
		ok tool run --interpret t.mp $(inputs_of t.mp rand) -o i.npz
		tool fuse t.mp | tool lower -t clang --march "$march" > l.mp
		# shellcheck disable=SC2046
		ok tool run --cc "$cc" l.mp $(inputs_of t.mp rand) -o c.npz
		tool diff "${near[@]}" i.npz c.npz || { echo "^ $kind.py $seed, $cc, $march"; return 1; }
	done
}

# programs of each kind, with seeds from FIRST on
several() {
	local n=$3
	compiled "$1" "$2" tiles $(seq "$n" $((n + 5)))
	compiled "$1" "$2" layout $((n + 1)) $((n + 2))
	compiled "$1" "$2" moves "$n"
	compiled "$1" "$2" reductions "$n"
}

@test "cross: gcc, AVX-512" { need gcc; has_x86 avx512f avx512bw avx512cd avx512dq avx512vl; several gcc x86-64-v4 100; }
@test "cross: gcc, AVX2 alone" { need gcc; has_x86 avx2 fma bmi2; several gcc x86-64-v3 120; }
@test "cross: gcc, SSE2 alone" { need gcc; has_x86; several gcc x86-64 140; }
@test "cross: clang, AVX-512" { need clang; has_x86 avx512f avx512bw avx512cd avx512dq avx512vl; several clang x86-64-v4 160; }
@test "cross: clang, AVX2 alone" { need clang; has_x86 avx2 fma bmi2; several clang x86-64-v3 180; }
@test "cross: clang, SSE2 alone" { need clang; has_x86; several clang x86-64 200; }

# on_arm DOCUMENT (of level program): writes its outputs to out/; the inputs are the files NAME.npy
# here
on_arm() {
	local flags=(-std=gnu11 -O2 -w -march="${march:-armv8-a}" -fwrapv -fno-strict-aliasing -fno-math-errno -fno-trapping-math -ffp-contract=off)
	rm -rf out ./*.npy
	mkdir out
	tool show "$1" | python3 "$TESTS/cross.py" .
	# shellcheck disable=SC2046
	aarch64-linux-gnu-gcc "${flags[@]}" $(cat flags) -static -o main main.c -lm
	qemu-aarch64 ./main out
}

# arm KIND SEED…: for the processor $march
arm() {
	local seed name inputs
	for seed in "${@:2}"; do
		graph_of "$1" "$seed"
		tool fuse t.mp | tool lower --march "${march:-armv8-a}" | tool render -t clang > p.mp
		on_arm p.mp
		inputs=()
		for name in *.npy; do inputs+=("${name%.npy}=$name"); done
		ok tool run --interpret t.mp "${inputs[@]}" -o want
		tool diff "${near[@]}" want out || { echo "^ $1.py $seed"; return 1; }
		rm -rf want
	done
}

arm_needs() { need aarch64-linux-gnu-gcc qemu-aarch64; }

@test "cross: AArch64, tiles" { arm_needs; arm tiles $(seq 220 231); }
@test "cross: AArch64, convolutions laid out" { arm_needs; arm layout 33 28 31 35; }
@test "cross: AArch64, kernels that only move data" { arm_needs; arm moves 5 6; }
@test "cross: AArch64, long reductions" { arm_needs; arm reductions 1 2; }

@test "cross: AArch64, products of narrow integers, with and without an instruction for them" {
	arm_needs
	arm swaps 2 5 9
	march=armv8.2-a+dotprod arm swaps 5 7 11 16 19
	grep -q sdot main.c
}

@test "cross: AArch64, each form of a loop of vectors" {
	arm_needs
	for g in forms f32 f16 i8 u16 i64; do
		python3 "$TESTS/vectors.py" vector 4 "$g" | tool show -p | tool render -t clang > v.mp
		on_arm v.mp
		ok tool run --interpret v.mp -o want
		for n in $(tool show v.mp | tail -n 1 | grep -oE '\.[0-9]"' | tr -d '."' | sort -u); do
			tool diff --ulp "$n" --only "*.$n" want out || { echo "^ $g"; return 1; }
		done
		rm -rf want
	done
}

# portable COMPILER…: target c, compiled with no option that the arithmetic would need, with places in
# 32 bits as on small machines
portable() {
	local seed name inputs kind
	need "$1"
	for kind in tiles:40 tiles:41 layout:31 moves:7 reductions:3; do
		graph_of "${kind%:*}" "${kind#*:}"
		rm -rf out want ./*.npy
		mkdir out
		tool fuse t.mp | tool render -t c | tool show | python3 "$TESTS/cross.py" .
		sed -i '1i #include <stdint.h>\n#define int_fast32_t int32_t' main.c
		"$@" -w -o main main.c -lm
		ok ./main out
		[ -z "$errors" ] || { echo "$errors"; return 1; }
		inputs=()
		for name in *.npy; do inputs+=("${name%.npy}=$name"); done
		ok tool run --interpret t.mp "${inputs[@]}" -o want
		tool diff "${near[@]}" want out || { echo "^ $kind, $*"; return 1; }
	done
}

@test "cross: C99 without options, sanitized" { portable gcc -std=c99 -O1 -fsanitize=undefined; }
@test "cross: C99 without options, by gcc with all instructions" { portable gcc -O3 -march=native; }
@test "cross: C99 without options, by clang" { portable clang -O2 -march=native; }

@test "cross: a program that names a processor is compiled for that one only" {
	has_x86
	graph_of tiles 3
	tool fuse t.mp | tool lower --march x86-64 > l.mp
	# shellcheck disable=SC2046
	XDG_CACHE_HOME=$PWD/cache ok tool run -v l.mp $(inputs_of t.mp rand) -o c.npz
	grep -q -e '-march=x86-64 ' <<< "$errors"
	! grep -q -e native <<< "$errors" || { echo "$errors"; return 1; }
}
