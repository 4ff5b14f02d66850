#!/usr/bin/env bats
# Golden texts: each file golden/NAME.SUFFIX is the tools' output for golden/NAME.t (golden.sh has
# the suffixes). Every file that is added is tested; `make rebase` rewrites them all.
load helpers

setup() {
	. "$TESTS/golden.sh"
	cd "$BATS_TEST_TMPDIR"
}

# golden SUFFIX: every file with that suffix is up to date
golden() {
	local name differs=0
	for name in $(golden_names); do
		[ -f "$GOLDEN/$name.$1" ] || continue
		golden_make "$name" "$1" > made 2> errors ||
			{ echo "$name.$1: a tool failed"; cat errors; differs=1; }
		command -p diff -u "$GOLDEN/$name.$1" made || { echo "differs: $name.$1"; differs=1; }
	done
	return $differs
}

# kernels NAME: the number of kernels after fuse
kernels() {
	(cd "$GOLDEN" && golden_graph "$1") | tool fuse | tool show --count | sed 's/.*kernels=\([0-9]*\).*/\1/'
}

@test "golden: graph" { golden graph; }
@test "golden: schedule" { golden schedule; }
@test "golden: fuse" { golden fuse; }
@test "golden: fuse --explain" { golden explain; }
@test "golden: kernels left of common model parts, however they are written" { golden kernels; }
@test "golden: lower for the CPU" { golden lower; }
@test "golden: lower to values with lanes" { golden lower.llvm; }
@test "golden: lower for GPUs" { golden lower.opencl; golden lower.cuda; golden lower.metal; }
@test "golden: C for gcc and clang" { golden c; }
@test "golden: C99" { golden c99; }
@test "golden: LLVM IR" { golden ll; }
@test "golden: OpenCL" { golden cl; }
@test "golden: CUDA" { golden cu; }
@test "golden: Metal" { golden metal; }
@test "golden: views" { golden views; }
@test "golden: messages" { golden err; }
@test "golden: results, interpreted" { golden out; }

@test "golden: every file belongs to a program and has a known suffix" {
	local f name suffix bad=0
	for suffix in c c99 cl cu metal; do [ -f "$GOLDEN/helpers.$suffix" ]; done
	for f in "$GOLDEN"/*; do
		f=${f##*/}
		name=${f%%.*} suffix=${f#*.}
		[ "$name" = helpers ] || [ -f "$GOLDEN/$name.t" ] || [ -f "$GOLDEN/$name.mp.txt" ] || { echo "$f: no program"; bad=1; }
		[[ " t mp.txt args opt $SUFFIXES " == *" $suffix "* ]] || { echo "$f: unknown suffix"; bad=1; }
	done
	[ "$bad" = 0 ]
}

@test "golden: compiled results are close to interpreted ones" {
	local name bad=0
	for name in $(golden_names); do
		[ -f "$GOLDEN/$name.out" ] || continue
		(cd "$GOLDEN" && golden_graph "$name") > g.mp
		tool run --interpret g.mp $(cat "$GOLDEN/$name.args" 2> /dev/null) -o a.npz
		tool run g.mp $(cat "$GOLDEN/$name.args" 2> /dev/null) -o b.npz
		tool diff a.npz b.npz || { echo "differs: $name"; bad=1; }
	done
	[ "$bad" = 0 ]
}

@test "golden: every action has its text" {
	local name names
	names=$(sed -nE 's/^(ACTION|REWRITE|WORD)\(([a-z_]+),.*/\2/p' "$ROOT/render/actions/actions.def")
	[ "$(wc -w <<< "$names")" -gt 10 ]
	for name in $names fuse_at stage_temp stage_prepared order_folds pack weights; do
		[ -f "$GOLDEN/act_$name.t" ] && ls "$GOLDEN/act_$name".c* || { echo "no act_$name"; return 1; }
	done
}

@test "golden: kernels with given actions compute the graph's values" {
	local name operands target targets near
	for name in "$GOLDEN"/*.opt; do
		name=${name##*/} name=${name%.opt}
		cd "$GOLDEN"
		golden_graph "$name" > "$BATS_TEST_TMPDIR/g.mp"
		tool fuse "$BATS_TEST_TMPDIR/g.mp" > "$BATS_TEST_TMPDIR/f.mp"
		targets=clang
		[ ! -f "$name.cl" ] || targets="opencl $(gpus | sed /opencl/d)"
		for target in $targets; do
			golden_lower "$name" -t "$target" "$BATS_TEST_TMPDIR/f.mp" > "$BATS_TEST_TMPDIR/$target.mp"
		done
		cd "$BATS_TEST_TMPDIR"
		mapfile -t operands < <(tool show g.mp | sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p')
		[ ! -f "$GOLDEN/$name.args" ] || read -ra operands -d '' <<< "${operands[*]} $(cat "$GOLDEN/$name.args")" || true
		tool run --interpret g.mp "${operands[@]}" -o a.npz
		for target in $targets; do
			tool run --interpret $target.mp "${operands[@]}" -o b.npz
			tool diff a.npz b.npz || { echo "differs: $name, its loops interpreted"; return 1; }
			[ $target = clang ] || gpus | grep -q $target || continue
			tool run -t $target $target.mp "${operands[@]}" -o c.npz
			[ $target = clang ] && near=() || near=(--rtol 1e-5 --atol 1e-6)
			tool diff "${near[@]}" a.npz c.npz || { echo "differs: $name, compiled for $target"; return 1; }
		done
	done
}

@test "golden: merged kernels compute the graph's values" {
	local name bad=0
	for name in $(golden_names); do
		[ -f "$GOLDEN/$name.kernels" ] || continue
		(cd "$GOLDEN" && golden_graph "$name") > g.mp
		mapfile -t operands < <(tool show g.mp | sed -n 's/.*name: "\([^"]*\)".*role: "input".*/\1=rand/p')
		operands+=($(cat "$GOLDEN/$name.args"))
		tool run --interpret g.mp "${operands[@]}" -o a.npz
		tool run g.mp "${operands[@]}" -o b.npz
		tool diff --rtol 1e-4 --atol 1e-4 a.npz b.npz || { echo "differs: $name"; bad=1; }
	done
	[ "$bad" = 0 ]
}

@test "fuse: softmax, layer norm, log-sum-exp and relu(a @ b + bias) are one kernel each" {
	local name
	for name in softmax layernorm logsumexp linear_relu; do
		[ "$(kernels $name)" = 1 ] || { echo "$name: $(kernels $name) kernels"; return 1; }
	done
	tool trace "$GOLDEN/linear_relu.t" | tool fuse --explain 2> explained > /dev/null
	grep -q ': 3 reads, 1 write: a b bias -> y$' explained
	for name in softmax layernorm logsumexp; do
		tool trace "$GOLDEN/$name.t" | tool fuse --explain 2> explained > /dev/null
		grep -Eq ', 1 write: .*-> y$' explained || { cat explained; return 1; }
		grep -q '^fuse: workspace 0 bytes' explained
	done
}

@test "fuse: a value after a reduction, used twice, is stored once; a cheap one is computed twice" {
	# one kernel stores h, each output has one that reads it
	[ "$(kernels stored)" = 3 ]
	tool trace "$GOLDEN/stored.t" | tool fuse | tool show > text
	[ "$(grep -c 'role: "temp"' text)" = 1 ]
	# the cheap one has no buffer, wherever it is wanted
	tool trace "$GOLDEN/cheap.t" | tool fuse | tool show > text
	[ "$(grep -c 'role: "temp"' text)" = 0 ]
	tool trace "$GOLDEN/cheap.t" | tool fuse --explain 2>&1 > /dev/null | grep -q 'computed in each'
	tool trace "$GOLDEN/stored.t" | tool fuse | tool run x=rand w=rand -o a.npz
	tool trace "$GOLDEN/stored.t" | tool run --interpret x=rand w=rand -o b.npz
	tool diff --rtol 1e-4 --atol 1e-4 a.npz b.npz
}
