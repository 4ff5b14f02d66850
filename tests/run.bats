# run and compile: inputs, outputs, states, sizes, devices, the cache.
bats_require_minimum_version 1.5.0

setup()
{
	BIN=${BIN:-$BATS_TEST_DIRNAME/../build/bin}
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	mkdir -p cache
}

# doc NAME: writes a document of level graph from its text
doc()
{
	{ echo "sluice 1 ${2:-graph}"; cat; } | "$BIN/show" -p > "$1.mp"
}

# twice.mp: y = 2 x, x f32[2,3]
twice()
{
	doc twice <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [2, 3], role: "input"}
	%1 = CONST f32 2.0
	%2 = MUL f32 %0 %1
	%3 = SINK %2 {names: ["y"]}
	E
}

# x.npy: [[0 1 2] [3 4 5]] f32
x_npy()
{
	doc x <<-'E'
	%0 = ARANGE f32 6
	%1 = RESHAPE f32 %0 [2, 3]
	%2 = SINK %1 {names: ["x"]}
	E
	"$BIN/run" --interpret x.mp -o .
}

# sized.mp: y = x + m's arange, x f32[n, m]
sized()
{
	doc sized <<-'E'
	vars {n: [1, 8], m: [1, 100]}
	%0 = BUFFER f32 {name: "x", shape: ["n", "m"], role: "input"}
	%1 = ARANGE f32 "m"
	%2 = RESHAPE f32 %1 [1, "m"]
	%3 = EXPAND f32 %2 ["n", "m"]
	%4 = ADD f32 %0 %3
	%5 = SINK %4 {names: ["y"]}
	E
}

# fails STATUS TEXT command…: that status, one line on standard error with TEXT in it, nothing on standard output
fails()
{
	local status=$1 text=$2
	shift 2
	run "-$status" --separate-stderr "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"$text"* ]]
}

@test "prints outputs as NumPy does, with name and dtype" {
	twice; x_npy
	run -0 "$BIN/run" twice.mp x=x.npy
	[ "$output" = 'y f32[2,3]
[[ 0.  2.  4.]
 [ 6.  8. 10.]]' ]
	run -0 "$BIN/run" --interpret twice.mp x=x.npy
	[ "${lines[2]}" = ' [ 6.  8. 10.]]' ]
}

@test "writes a folder, an npz, numbered names" {
	twice; x_npy
	"$BIN/run" twice.mp x=x.npy -o new
	[ -f new/y.npy ]
	"$BIN/run" twice.mp x=x.npy -o new --numbered
	cmp new/y.npy new/output_0.npy
	"$BIN/run" twice.mp x=x.npy -o all.npz
	doc again <<-'E'
	%0 = BUFFER f32 {name: "y", shape: [2, 3], role: "input"}
	%1 = SINK %0 {names: ["z"]}
	E
	"$BIN/run" again.mp y=all.npz -o new
	cmp new/y.npy new/z.npy
}

@test "a document from a pipe, and several in one stream" {
	twice; x_npy
	run -0 bash -c "cat twice.mp twice.mp | '$BIN/run' x=x.npy | grep -c f32"
	[ "$output" = 2 ]
	run -0 bash -c "'$BIN/schedule' twice.mp | '$BIN/fuse' | '$BIN/lower' -t clang | '$BIN/run' @0=x.npy"
	[ "${lines[2]}" = ' [ 6.  8. 10.]]' ]
}

@test "rand depends only on the name, zeros are zero" {
	twice
	"$BIN/run" twice.mp x=rand -o a
	"$BIN/run" --interpret twice.mp x=rand -o b
	cmp a/y.npy b/y.npy
	run -0 "$BIN/run" twice.mp x=zeros
	[ "${lines[1]}" = '[[0. 0. 0.]' ]
}

@test "numbers in place of a file" {
	printf 'input x f32[n] where n in 1..9\ninput k i64\ninput u u64[2]\ninput t f16\noutput y = x, l = k, m = u, h = t\n' > n.t
	"$BIN/trace" n.t > n.mp
	run -0 "$BIN/run" n.mp x=1,-2.5,inf k=-9007199254740993 u=18446744073709551615 t=1e-1
	[ "$(tr -s ' \n' ' ' <<< "$output")" = "y f32[3] [ 1. -2.5 inf] l i64[] -9007199254740993 m u64[2] \
[18446744073709551615 18446744073709551615] h f16[] 0.1 " ]
	run -0 "$BIN/run" n.mp x=2, k=1 u=1,2 t=0
	[ "${lines[0]}" = 'y f32[1]' ]
	[ "${lines[5]}" = '[1 2]' ] || { echo "$output"; return 1; }
	run -0 "$BIN/run" n.mp x=2 n=3 k=1 u=1,2 t=0
	[ "${lines[1]}" = '[2. 2. 2.]' ]
	fails 4 "axis 0" "$BIN/run" n.mp x=2, k=1 u=1,2,3 t=0
	fails 4 "'n' is 2" "$BIN/run" n.mp x=2,3 n=3 k=1 u=1,2 t=0
	fails 2 "one axis" "$BIN/run" n.mp x=2, k=1,2 u=1,2 t=0
	fails 1 "cannot open" "$BIN/run" n.mp x=2,x k=1 u=1,2 t=0
}

@test "wrong inputs are reported by name" {
	twice; x_npy
	fails 4 "'x'" "$BIN/run" twice.mp
	fails 2 "'w'" "$BIN/run" twice.mp x=x.npy w=x.npy
	fails 2 "twice" "$BIN/run" twice.mp x=x.npy @0=x.npy
	fails 2 "@7" "$BIN/run" twice.mp @7=x.npy
	fails 1 "none.npy" "$BIN/run" twice.mp x=none.npy
	doc other <<-'E'
	%0 = BUFFER i32 {name: "x", shape: [2, 3], role: "input"}
	%1 = SINK %0
	E
	fails 4 "f32, not i32" "$BIN/run" other.mp x=x.npy
	doc other <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [3, 2], role: "input"}
	%1 = SINK %0
	E
	fails 4 "size 2, not 3" "$BIN/run" other.mp x=x.npy
	fails 2 "-n takes" "$BIN/run" twice.mp x=x.npy -n 0
}

@test "an input that no output needs may be left out" {
	doc spare <<-'E'
	%0 = BUFFER f32 {name: "a", shape: [2], role: "input"}
	%1 = BUFFER f32 {name: "b", shape: [2], role: "input"}
	%2 = SINK %1
	E
	run -0 "$BIN/run" spare.mp b=zeros
	[ "${lines[0]}" = 'out0 f32[2]' ]
	run -0 "$BIN/run" spare.mp @1=zeros a=rand
}

@test "size variables come from shapes and operands, and must agree" {
	sized; x_npy
	for how in "" --interpret; do
		run -0 "$BIN/run" $how sized.mp x=x.npy
		[ "${lines[2]}" = ' [3. 5. 7.]]' ]
		run -0 "$BIN/run" $how sized.mp x=zeros n=1 m=4
		[ "${lines[1]}" = '[[0. 1. 2. 3.]]' ]
		fails 4 "'m'" "$BIN/run" $how sized.mp x=zeros n=1
		fails 4 "'n' is 2 here and 3" "$BIN/run" $how sized.mp x=x.npy n=3
		fails 4 "outside 1 to 8" "$BIN/run" $how sized.mp x=zeros n=9 m=1
		fails 2 "not an integer" "$BIN/run" $how sized.mp x=zeros n=two m=1
	done
}

@test "states go from call to call" {
	doc count <<-'E'
	%0 = BUFFER i32 {name: "s", shape: [2], role: "state", data: b"0000000005000000"}
	%1 = CONST i32 1
	%2 = ADD i32 %0 %1
	%3 = ASSIGN i32 %0 %2
	%4 = SINK %3 %0 {names: ["new", "old"]}
	E
	for how in "" --interpret; do
		run -0 "$BIN/run" $how count.mp -n 3
		[ "${lines[1]}" = '[3 8]' ]
		[ "${lines[3]}" = '[2 7]' ]
	done
}

@test "a constant in a file is read in place; a file that is too short is reported" {
	printf '\001\000\000\000\002\000\000\000' > data.bin
	doc file <<-E
	%0 = BUFFER i32 {name: "c", shape: [2], role: "const", file: ["$PWD/data.bin", 0, 8]}
	%1 = SINK %0
	E
	run -0 "$BIN/run" file.mp
	[ "${lines[1]}" = '[1 2]' ]
	printf '\001' > data.bin
	fails 4 "too short" "$BIN/run" --interpret file.mp
	rm data.bin
	fails 1 "cannot open" "$BIN/run" --interpret file.mp
}

@test "some calls interpreted, the rest compiled" {
	doc two <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [4], role: "input"}
	%1 = REDUCE f32 %0 ["ADD", [0]]
	%2 = EXPAND f32 %1 [4]
	%3 = ADD f32 %0 %2
	%4 = CONTIGUOUS f32 %3
	%5 = REDUCE f32 %4 ["MAX", [0]]
	%6 = SINK %5 %4 {names: ["m", "y"]}
	E
	"$BIN/schedule" two.mp > s.mp
	"$BIN/run" s.mp x=rand -o all
	for list in K0 K1 K0,K1; do
		"$BIN/run" s.mp x=rand -o "$list" --interpret-only "$list"
		cmp "all/m.npy" "$list/m.npy"
		cmp "all/y.npy" "$list/y.npy"
	done
	status=0
	"$BIN/run" s.mp x=rand -o none --interpret-only nothing 2> told || status=$?
	[ "$status" = 2 ]
}

@test "bench prints, and writes JSON" {
	twice
	run -0 --separate-stderr "$BIN/run" twice.mp x=rand --bench=b.json --seconds 0.01
	[ -z "$output" ]
	[[ $stderr == *median* ]]
	run -0 grep -cE '^\{"build_ms": [0-9.]+, "first_ms": [0-9.]+, "times_ms": \[([0-9.]+, ){6,}[0-9.]+\], "rss_mb": [0-9.]+\}$' b.json
	run -0 --separate-stderr "$BIN/run" twice.mp x=rand --profile=p.mp -n 3
	"$BIN/show" p.mp | grep -q timings
}

@test "devices are listed, and a missing one is reported" {
	twice; x_npy
	run -0 "$BIN/run" --devices
	[[ ${lines[0]} == cpu* ]]
	fails 3 "'cpu:3'" "$BIN/run" twice.mp x=x.npy --device cpu:3
	fails 3 "'abacus'" "$BIN/run" twice.mp x=x.npy --device abacus
	doc copy <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [2, 3], role: "input"}
	%1 = COPY f32 %0 "abacus"
	%2 = SINK %1
	E
	fails 3 "abacus" "$BIN/run" copy.mp x=x.npy
	fails 3 "abacus" "$BIN/run" --interpret copy.mp x=x.npy
}

@test "an OpenCL platform that aborts does not end the list of devices" {
	mkdir vendors
	echo '#include <stdlib.h>
		__attribute__((constructor)) static void start(void) { abort(); }' > bad.c
	"${CC:-cc}" -shared -fPIC -o bad.so bad.c
	echo "$PWD/bad.so" > vendors/bad.icd
	run -0 --separate-stderr env OCL_ICD_VENDORS="$PWD/vendors" "$BIN/run" --devices
	[[ $output == cpu* && $output != *opencl* ]]
	# without a loader of OpenCL there is nothing to say
	[ -z "$stderr" ] || [[ $stderr == "run: opencl: a platform dies"* && $stderr != *$'\n'* ]]
}

@test "programs that would take too much memory, or days, are refused with a message" {
	local doc level memory=(4 "limit of memory")
	[[ $BIN != */san/* ]] || memory=(1 "no memory")
	doc large <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [1], role: "input"}
	%1 = EXPAND f32 %0 [70368744177664]
	%2 = CONTIGUOUS f32 %1
	%3 = SINK %2
	E
	doc long <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [1], role: "input"}
	%1 = EXPAND f32 %0 [2305843009213693952]
	%2 = REDUCE f32 %1 ["ADD", [0]]
	%3 = SINK %2
	E
	for doc in large long; do
		"$BIN/schedule" $doc.mp > schedule.mp
		"$BIN/lower" -t clang schedule.mp > lower.mp
		for level in $doc schedule lower; do
			case $doc in
			large) fails "${memory[@]}" "$BIN/run" --interpret $level.mp x=rand ;;
			long) fails 4 "limit of work" "$BIN/run" --interpret $level.mp x=rand ;;
			esac
		done
	done
	fails "${memory[@]}" "$BIN/run" large.mp x=rand
}

@test "GPUs give what the interpreter gives" {
	local target g targets
	targets=$("$BIN/run" --devices 2> /dev/null | sed -n 's/^\(opencl\|cuda\)\t.*/\1/p')
	[ "$targets" ] || skip "no OpenCL or CUDA device"
	twice; x_npy; sized
	for target in $targets; do
		for g in twice sized; do
			"$BIN/run" -t "$target" $g.mp x=x.npy -o a
			"$BIN/run" --interpret $g.mp x=x.npy -o b
			cmp a/y.npy b/y.npy
		done
		doc idle <<-'END'
			%0 = BUFFER f32 {name: "x", shape: [2, 3], role: "input"}
			%1 = BUFFER f32 {name: "idle", shape: [4], role: "input"}
			%2 = NEG f32 %0
			%3 = SINK %2 {names: ["y"]}
		END
		"$BIN/run" -t "$target" idle.mp x=x.npy idle=zeros -o a
	done
}

@test "cuda kernels compile without a GPU; running them reports that there is none" {
	ldconfig -p | grep -q libnvrtc.so || command -v nvcc || skip "neither NVRTC nor nvcc"
	twice
	"$BIN/schedule" twice.mp | "$BIN/lower" -t cuda | "$BIN/render" -t cuda | "$BIN/compile" > c.mp
	"$BIN/show" c.mp | grep -qE '\.(ptx|cubin)"'
	"$BIN/run" --devices | grep -q ^cuda && skip "there is a GPU"
	fails 3 "CUDA" "$BIN/run" c.mp x=rand
}

@test "objects come from the cache the second time" {
	twice
	"$BIN/schedule" twice.mp | "$BIN/lower" -t clang | "$BIN/render" -t clang > p.mp
	"$BIN/compile" p.mp > one.mp
	# a compiler that cannot compile is not asked
	real=$(readlink -f "$(command -v cc || command -v gcc || command -v clang)")
	run -0 "$BIN/compile" -v p.mp
	"$BIN/compile" p.mp | cmp - one.mp
	run -0 --separate-stderr bash -c "'$BIN/compile' -v p.mp > two.mp"
	[ -z "$stderr" ]
}

@test "kernels that differ only in names and comments are compiled once" {
	local body='= sum(exp2(P0) * P1, -1)'
	printf 'input x f32[n, 64] where n in 1..9\ninput w f32[64]\noutput y %s\n' \
		"$(sed 's/P0/x/; s/P1/w/' <<< "$body")" > one.t
	printf '# another\n\ninput a f32[n, 64] where n in 1..9\ninput f32s f32[64]\noutput sums %s\n' \
		"$(sed 's/P0/a/; s/P1/f32s/' <<< "$body")" > two.t
	for t in one two; do
		"$BIN/trace" $t.t | "$BIN/render" -t clang > $t.p
		"$BIN/compile" -v $t.p > $t.o 2> $t.log
	done
	grep -q -- '-o ' one.log
	run ! grep -q -- '-o ' two.log
	"$BIN/run" one.o x=zeros w=rand n=3 -o a
	"$BIN/run" two.o a=zeros f32s=rand n=3 -o b
	run ! cmp -s one.o two.o
	[ "$("$BIN/run" one.o x=zeros w=zeros n=3 | tail -n 1)" = "$("$BIN/run" two.o a=zeros f32s=zeros n=3 | tail -n 1)" ]
}

@test "a cache key depends on what a source means, not just on its names" {
	# one body, but in the second text the factor is a static constant and the parameter is not read
	source_of() {
		cat <<-T
		sluice 1 program
		%0 = BUFFER f32 {name: "x", shape: [1], role: "input"}
		%1 = BUFFER f32 {name: "y", shape: [1], role: "output"}
		%2 = PARAM f32 {slot: 0, shape: [1]}
		%3 = CONST i64 0
		%4 = INDEX f32 %2 %3
		%5 = CONST f32 0.0
		%6 = STORE %4 %5
		%7 = KERNEL %6 {name: "k"}
		%8 = PROGRAM %7 {name: "k", src:
			|struct two { float s, t; };
			|$1
			|void k(float *restrict y, const float *restrict $2)
			|{
			|	struct two v = {2, 3};
			|	y[0] = $3;
			|}
			|void k_call(void *const *bufs, const long *vars, long from, long to) { k(bufs[0], bufs[1]); }
			, target: "clang", flags: "", globals: ["f32", "f32"], ins: [1], outs: [0], vars: []}
		%9 = CALL %8 %1 %0
		%10 = SINK %9 {names: ["y"]}
		T
	}
	value() { "$BIN/show" -p text | "$BIN/run" --allow-code x=zeros | tail -n 1; }
	source_of '' s 'v.s + s[0]' > text; [ "$(value)" = '[2.]' ]
	source_of '' t 'v.t + t[0]' > text; [ "$(value)" = '[3.]' ]
	source_of '#define f p[0] + 5' p 'f' > text; [ "$(value)" = '[5.]' ]
	source_of 'static const float p[1] = {1};
			|#define f p[0] + 5' q 'f' > text; [ "$(value)" = '[6.]' ]
	source_of '/* p */ static float p(void) { return 7; }' q '(p)() + q[0]' > text; [ "$(value)" = '[7.]' ]
	source_of 'static const char *p = "/* q";' q 'p[3] + q[0] /* ? */' > text; [ "$(value)" = '[113.]' ]
	source_of 'static const char *q = "/* p";' p 'q[3] + p[0] /* // */' > text; [ "$(value)" = '[112.]' ]
}

@test "fast-compile has separate objects, and the same numbers" {
	twice; x_npy
	"$BIN/run" twice.mp x=x.npy -o a
	n=$(find cache -name '*.so' | wc -l)
	"$BIN/run" --fast-compile -v twice.mp x=x.npy -o b 2> log
	grep -q -- '-O0' log
	cmp a/y.npy b/y.npy
	[ "$(find cache -name '*.so' | wc -l)" -gt "$n" ]
	"$BIN/render" -t clang twice.mp | "$BIN/compile" --fast-compile -v 2> log | "$BIN/run" x=x.npy -o c
	run ! grep -q -- '-o ' log
	cmp a/y.npy c/y.npy
}

@test "a kernel that the compiler does not take is compiled with other options" {
	twice; x_npy
	"$BIN/run" twice.mp x=x.npy -o a
	local needs
	for needs in -O1 $([ "$(uname -m)" != x86_64 ] || echo -march=x86-64); do
		# with an empty cache, a compiler that fails as long as it is not asked so
		rm -r cache
		printf '#!/bin/sh\ncase " $* " in *" %s "*) exec cc "$@" ;; esac\necho "x.c:1: internal compiler error" >&2\nexit 1\n' \
			"$needs" > picky
		chmod +x picky
		"$BIN/run" --fast-compile -v twice.mp x=x.npy --cc ./picky -o b 2> log
		grep -q "the compiler failed: x.c:1: internal compiler error; once more, with .*$needs" log
		cmp a/y.npy b/y.npy
		"$BIN/run" --fast-compile twice.mp x=x.npy --cc ./picky -o b 2> log
		[ ! -s log ]
	done
}

# nothing is left in the cache but entries; workers that end with a run tidy up on their own
tidied() {
	for _ in $(seq 400); do
		[ -z "$(find cache -name 'tmp.*')" ] && break
		sleep 0.05
	done
	[ -z "$(find cache -name 'tmp.*')" ]
}

@test "eight runs at once with an empty cache" {
	x_npy
	doc many <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [2, 3], role: "input"}
	%1 = REDUCE f32 %0 ["ADD", [1]]
	%2 = CONTIGUOUS f32 %1
	%3 = REDUCE f32 %2 ["MUL", [0]]
	%4 = CONTIGUOUS f32 %3
	%5 = EXP2 f32 %4
	%6 = SINK %5 %2 {names: ["a", "b"]}
	E
	for i in 1 2 3 4 5 6 7 8; do
		"$BIN/run" many.mp x=x.npy -o "o$i" & pids+=($!)
	done
	for p in "${pids[@]}"; do wait "$p"; done
	for i in 2 3 4 5 6 7 8; do cmp o1/a.npy "o$i/a.npy"; cmp o1/b.npy "o$i/b.npy"; done
	tidied
}

@test "a damaged cache entry is built again" {
	twice; x_npy
	"$BIN/run" twice.mp x=x.npy -o a
	for so in $(find cache -name '*.so'); do
		printf 'harm' | dd of="$so" bs=1 seek=2000 conv=notrunc status=none
	done
	"$BIN/run" twice.mp x=x.npy -o b
	cmp a/y.npy b/y.npy
	for so in $(find cache -name '*.so'); do truncate -s 100 "$so"; done
	"$BIN/run" twice.mp x=x.npy -o c
	cmp a/y.npy c/y.npy
}

@test "without a folder for the cache it still runs" {
	twice; x_npy
	XDG_CACHE_HOME=/proc/nowhere "$BIN/run" twice.mp x=x.npy -o a
	[ -f a/y.npy ]
	env -u XDG_CACHE_HOME -u HOME "$BIN/run" twice.mp x=x.npy -o b
	cmp a/y.npy b/y.npy
}

@test "a compiler that fails, or is missing, is reported in one line" {
	twice
	printf '#!/bin/sh\necho "x.c:1: error: no" >&2\necho more >&2\nexit 1\n' > cc1
	chmod +x cc1
	fails 1 "error: no" "$BIN/run" twice.mp x=rand --cc ./cc1
	fails 1 "no-such-cc" "$BIN/run" twice.mp x=rand --cc no-such-cc
	tidied
}

@test "an empty input exits silently with 4, a cut one with a message" {
	run -4 --separate-stderr "$BIN/run" < /dev/null
	[ -z "$output$stderr" ]
	twice
	head -c 40 twice.mp > cut.mp
	fails 4 "cut.mp" "$BIN/run" cut.mp
}
