#!/usr/bin/env bats
# Every op, with every dtype it accepts, by the interpreter at every level, in C for gcc and clang,
# in C99, by LLVM and on GPUs, against NumPy's values. ops/make.py wrote the documents, inputs and values in
# ops/ and explains the names of the outputs.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# prints document DTYPE at a level
at_level() {
	local doc=$TESTS/ops/$1.mp
	case $2 in
	graph) cat "$doc" ;;
	schedule) tool schedule "$doc" ;;
	fuse) tool fuse "$doc" ;;
	loops) tool fuse "$doc" | tool lower -t clang ;;
	program) tool fuse "$doc" | tool render -t clang ;;
	c | llvm | embedded) tool fuse "$doc" | tool render -t "$2" ;;
	gpu) tool fuse "$doc" | tool lower -t opencl ;;
	opencl | cuda) tool fuse "$doc" | tool render -t "$2" ;;
	esac
}

# the operands of run for DTYPE: each input from one .npz
operands() {
	tool show "$TESTS/ops/$1.mp" | sed -n 's/.*{name: "\([a-z0-9_]*\)".*role: "input".*/\1=in.npz/p'
}

# near DTYPE: out.npz has NumPy's values, each output within the tolerance in its name
near() {
	local group how differs=0
	tool show "$TESTS/ops/$1.mp" | tail -n 1 | grep -oE '\.[zb]?[0-9]"' | tr -d '."' | sort -u > groups
	for group in $(cat groups); do
		how=(--ulp "${group#[zb]}" --only "*.$group")
		case $group in z*) how+=(--zeros) ;; b*) how+=(--bf16) ;; esac
		tool diff "${how[@]}" values.npz out.npz || differs=1
	done
	return $differs
}

# agrees DTYPE LEVEL [OPTION of run…]
agrees() {
	gzip -dc "$TESTS/ops/$1.in.npz.gz" > in.npz
	gzip -dc "$TESTS/ops/$1.out.npz.gz" > values.npz
	at_level "$1" "$2" > level.mp
	rm -f out.npz
	ok tool run level.mp "${@:3}" -o out.npz $(operands "$1")
	near "$1" || { echo "^ $1 at $2, NumPy's value first"; return 1; }
}

interpreted() {
	local level
	for level in graph schedule fuse loops program gpu; do
		agrees "$1" $level --interpret
	done
}

by_llvm() {
	has_llvm || skip "no LLVM library"
	agrees "$1" llvm
}

on_gpus() {
	local target
	needs_gpu
	for target in $(gpus); do
		agrees "$1" "$target"
	done
}

# the dtypes that a row of the table accepts
dtypes_of() {
	local floats="f16 bf16 f32 f64" ints="i8 i16 i32 i64 u8 u16 u32 u64"
	case $1 in
	ANY) echo bool $ints $floats ;;
	NUM) echo $ints $floats ;;
	INT) echo $ints ;;
	FLT) echo $floats ;;
	INTB) echo bool $ints ;;
	I64) echo i64 ;;
	U64) echo u64 ;;
	esac
}

@test "ops: every row of ops.def has a case for every dtype" {
	local op kind dtype missing=0
	for dtype in $(dtypes_of ANY); do
		tool show "$TESTS/ops/$dtype.mp" | sed -n 's/^%[0-9]* = \([A-Z0-9]*\).*/\1/p' | sort -u > "$dtype.ops"
	done
	tool show "$TESTS/ops/steps.mp" | sed -n 's/^%[0-9]* = \([A-Z0-9]* [a-z0-9]*\) .*/\1/p' > steps.ops
	while read -r op kind; do
		for dtype in $(dtypes_of "$kind"); do
			grep -qx "$op" "$dtype.ops" || grep -qx "$op $dtype" steps.ops || grep -q "^$op [^ ]*\b$dtype\b" "$TESTS/ops/points.txt" || { echo "no case: $op $dtype"; missing=1; }
		done
	done < <(op_rows | grep -E 'levels = (ALL|GRAPHS)' |
		sed -n 's/^OP(\([A-Z0-9]*\),.*TAKES_\([A-Z0-9]*\),.*/\1 \2/p')
	[ "$missing" = 0 ]
}

@test "ops: every combining op of REDUCE, SCAN and SCATTER has a case, and every pair of CAST" {
	local dtype op to
	for dtype in $(dtypes_of ANY); do
		tool show "$TESTS/ops/$dtype.mp" > doc
		for op in ADD MUL MAX MIN; do
			grep -q "REDUCE .*\[\"$op\"" doc
			grep -q "SCAN .*\[\"$op\"" doc
			grep -q "SCATTER .*\"$op\"" doc
		done
		grep -q 'SCATTER .*"SET"' doc
		for to in $(dtypes_of ANY); do
			grep -q "CAST $to " doc
		done
	done
}

# point_graph OP DTYPE SOURCE…: the op on inputs s0, s1 … as the text form has it, and the inputs themselves in in.npz
point_graph() {
	local k=0 s n
	n=$(tr -cd , <<< "$3" | wc -c)
	for s in "${@:3}"; do
		printf '%%%d = BUFFER %s {name: "s%d", shape: [%d], role: "input"}\n' $k "$2" $k $((n + 1)) >> nodes
		printf 'output s%d = %s(%s)\n' $k "$2" "$s" >> in.t
		k=$((k + 1))
	done
	printf 'sluice 1 graph\n%s\n%%%d = %s %s%s\n%%%d = SINK %%%d {names: ["y"]}\n' "$(cat nodes)" $k "$1" "$2" \
		"$(seq -f ' %%%g' -s '' 0 $((k - 1)))" $((k + 1)) $k
	tool trace in.t | tool run --interpret -o in.npz
}

# point OP DTYPE ULPS SOURCES VALUES: the op gives them, interpreted and compiled
point() {
	local how near=(--ulp "$3") sources=()
	[ "$2" != bf16 ] || near+=(--bf16)
	rm -f nodes in.t
	IFS=';' read -ra sources <<< "$4"
	point_graph "$1" "$2" "${sources[@]}" > g.txt
	tool show -p g.txt > g.mp
	printf 'output y = %s(%s)\n' "$2" "$5" > want.t
	tool trace want.t | tool run --interpret -o want.npz
	for how in --interpret ""; do
		ok tool run $how g.mp $(seq -f 's%g=in.npz' 0 $((${#sources[@]} - 1))) -o out.npz
		tool diff "${near[@]}" want.npz out.npz || { echo "^ $1 $2 $how"; return 1; }
	done
}

# slope VALUES SLOPES: of point's graph by its first source, in f64
slope() {
	printf 'x = f64(%s)\noutput tan_s0 = x * 0 + 1\n' "$2" > one.t
	tool trace one.t | tool run --interpret -o one.npz
	printf 'output y = f64(%s)\noutput tan_y = f64(%s)\n' "$1" "$2" > want.t
	tool trace want.t | tool run --interpret -o want.npz
	tool jvp -w s0 g.mp > jvp.mp
	ok tool run --interpret jvp.mp s0=in.npz tan_s0=one.npz -o out.npz
	tool diff --rtol 1e-6 want.npz out.npz
}

@test "ops: the values that points.txt has" {
	local op dtypes near sources values slopes dtype
	while IFS='|' read -r op sources values slopes; do
		read -r op dtypes near <<< "$op"
		for dtype in ${dtypes//,/ }; do
			point "$op" "$dtype" "$near" "$sources" "$values"
		done
		[ -z "$slopes" ] || slope "$values" "$slopes" || { echo "^ the derivative of $op"; return 1; }
	done < <(grep -v '^#\|^$' "$TESTS/ops/points.txt")
}

@test "ops: CUSTOM is refused, with its name" {
	mkdoc '{uop: 1, level: "graph", nodes: [["BUFFER","f32",[],{name:"x",shape:[3],role:"input"}],
		["CUSTOM","f32",[0],{shape:[3],code:{clang:"*/"}}], ["SINK",nil,[1],nil]]}' > c.mp
	local stage
	for stage in trace schedule fuse "run --interpret"; do
		fails 3 tool $stage c.mp
		[[ $errors == *"node 1 CUSTOM"* ]]
	done
}

@test "ops: a value that is off by one unit is found" {
	printf 'output a = f32([1.0, -0.0, 2.0])\n' > a.t
	printf 'output a = f32([1.00000012, 0.0, 2.0])\n' > b.t
	for p in a b; do tool trace $p.t | tool run --interpret -o $p.npz; done
	ok tool diff --ulp 1 a.npz b.npz
	capture tool diff --ulp 0 a.npz b.npz
	[ "$status" = 1 ]
	[[ $output == *"1 of 3 differ, most at [0]"* ]]
	capture tool diff --ulp 1 --zeros a.npz b.npz
	[ "$status" = 1 ]
	[[ $output == *"most at [1]"* ]]
	fails 2 tool diff --only 'b*' a.npz b.npz
	printf 'output a = i64([9223372036854775807])\n' > a.t
	printf 'output a = i64([9223372036854775806])\n' > b.t
	for p in a b; do tool trace $p.t | tool run --interpret -o $p.npz; done
	capture tool diff a.npz b.npz
	[ "$status" = 1 ]
}

@test "ops: loops, branches and sizes that data gives, interpreted at every level" { interpreted steps; }
@test "ops: loops, branches and sizes that data gives, fused and compiled" { agrees steps program; }
@test "ops: loops, branches and sizes that data gives, fused, in C99" { agrees steps c; }
@test "ops: loops, branches and sizes that data gives, fused, by LLVM" { by_llvm steps; }
@test "ops: loops, branches and sizes that data gives, fused, on GPUs" { on_gpus steps; }
@test "ops: bool, interpreted at every level" { interpreted bool; }
@test "ops: loops, branches and sizes that data gives, fused, for a microcontroller" { agrees steps embedded; }
@test "ops: bool, fused and compiled" { agrees bool program; }
@test "ops: bool, fused, in C99" { agrees bool c; }
@test "ops: bool, fused, by LLVM" { by_llvm bool; }
@test "ops: bool, fused, on GPUs" { on_gpus bool; }
@test "ops: i8, interpreted at every level" { interpreted i8; }
@test "ops: i8, fused and compiled" { agrees i8 program; }
@test "ops: i8, fused, in C99" { agrees i8 c; }
@test "ops: i8, fused, by LLVM" { by_llvm i8; }
@test "ops: i8, fused, for a microcontroller" { agrees i8 embedded; }
@test "ops: i8, fused, on GPUs" { on_gpus i8; }
@test "ops: i16, interpreted at every level" { interpreted i16; }
@test "ops: i16, fused and compiled" { agrees i16 program; }
@test "ops: i16, fused, in C99" { agrees i16 c; }
@test "ops: i16, fused, by LLVM" { by_llvm i16; }
@test "ops: i16, fused, on GPUs" { on_gpus i16; }
@test "ops: i32, interpreted at every level" { interpreted i32; }
@test "ops: i32, fused and compiled" { agrees i32 program; }
@test "ops: i32, fused, in C99" { agrees i32 c; }
@test "ops: i32, fused, by LLVM" { by_llvm i32; }
@test "ops: i32, fused, on GPUs" { on_gpus i32; }
@test "ops: i64, interpreted at every level" { interpreted i64; }
@test "ops: i64, fused and compiled" { agrees i64 program; }
@test "ops: i64, fused, in C99" { agrees i64 c; }
@test "ops: i64, fused, by LLVM" { by_llvm i64; }
@test "ops: i64, fused, for a microcontroller" { agrees i64 embedded; }
@test "ops: i64, fused, on GPUs" { on_gpus i64; }
@test "ops: u8, interpreted at every level" { interpreted u8; }
@test "ops: u8, fused and compiled" { agrees u8 program; }
@test "ops: u8, fused, in C99" { agrees u8 c; }
@test "ops: u8, fused, by LLVM" { by_llvm u8; }
@test "ops: u8, fused, on GPUs" { on_gpus u8; }
@test "ops: u16, interpreted at every level" { interpreted u16; }
@test "ops: u16, fused and compiled" { agrees u16 program; }
@test "ops: u16, fused, in C99" { agrees u16 c; }
@test "ops: u16, fused, by LLVM" { by_llvm u16; }
@test "ops: u16, fused, on GPUs" { on_gpus u16; }
@test "ops: u32, interpreted at every level" { interpreted u32; }
@test "ops: u32, fused and compiled" { agrees u32 program; }
@test "ops: u32, fused, in C99" { agrees u32 c; }
@test "ops: u32, fused, by LLVM" { by_llvm u32; }
@test "ops: u32, fused, on GPUs" { on_gpus u32; }
@test "ops: u64, interpreted at every level" { interpreted u64; }
@test "ops: u64, fused and compiled" { agrees u64 program; }
@test "ops: u64, fused, in C99" { agrees u64 c; }
@test "ops: u64, fused, by LLVM" { by_llvm u64; }
@test "ops: u64, fused, on GPUs" { on_gpus u64; }
@test "ops: f16, interpreted at every level" { interpreted f16; }
@test "ops: f16, fused and compiled" { agrees f16 program; }
@test "ops: f16, fused, in C99" { agrees f16 c; }
@test "ops: f16, fused, by LLVM" { by_llvm f16; }
@test "ops: f16, fused, for a microcontroller" { agrees f16 embedded; }
@test "ops: f16, fused, on GPUs" { on_gpus f16; }
@test "ops: bf16, interpreted at every level" { interpreted bf16; }
@test "ops: bf16, fused and compiled" { agrees bf16 program; }
@test "ops: bf16, fused, in C99" { agrees bf16 c; }
@test "ops: bf16, fused, by LLVM" { by_llvm bf16; }
@test "ops: bf16, fused, on GPUs" { on_gpus bf16; }
@test "ops: f32, interpreted at every level" { interpreted f32; }
@test "ops: f32, fused and compiled" { agrees f32 program; }
@test "ops: f32, fused, in C99" { agrees f32 c; }
@test "ops: f32, fused, by LLVM" { by_llvm f32; }
@test "ops: f32, fused, for a microcontroller" { agrees f32 embedded; }
@test "ops: f32, fused, on GPUs" { on_gpus f32; }
@test "ops: f64, interpreted at every level" { interpreted f64; }
@test "ops: f64, fused and compiled" { agrees f64 program; }
@test "ops: f64, fused, in C99" { agrees f64 c; }
@test "ops: f64, fused, by LLVM" { by_llvm f64; }
@test "ops: f64, fused, for a microcontroller" { agrees f64 embedded; }
@test "ops: f64, fused, on GPUs" { on_gpus f64; }
