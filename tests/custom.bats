#!/usr/bin/env bats
# CUSTOM, a user-written kernel: its code runs with --allow-custom and reaches no compiler without
# it; its arguments on each target; malformed documents. Most tests write a small document in show's
# text form, and its code.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

allow=--allow-custom

# text NAME [LEVEL] < lines: writes NAME.mp
text() { { echo "sluice 1 ${2:-graph}"; cat; } | tool show $allow -p > "$1.mp"; }

# sized.mp: y = 2·(-x)ᵀᵀ + 3 + x and its sums, the product and the sum by a CUSTOM over a transposed view; plain.mp: the same by ops
sized() {
	text sized <<-'E'
	vars {n: [1, 64]}
	%0 = BUFFER f32 {name: "x", shape: ["n", 4], role: "input"}
	%1 = NEG f32 %0
	%2 = PERMUTE f32 %1 [1, 0]
	%3 = CONST f32 3.0
	%4 = CUSTOM f32 %2 %3 {shape: [4, "n"], code: {clang: "static float twice(float v) { return 2 * v; }\nvoid custom(float *y, const float *x, const float *k, long n)\n{\n\tfor (long i = 0; i < 4 * n; i++)\n\t\ty[i] = twice(x[i]) + *k;\n}\n", opencl: "__kernel void custom(__global float *y, __global const float *x, __global const float *k, long n)\n{\n\tlong i = get_global_id(0);\n\ty[i] = 2 * x[i] + *k;\n}\n"}}
	%5 = PERMUTE f32 %4 [1, 0]
	%6 = ADD f32 %5 %0
	%7 = REDUCE f32 %6 ["ADD", [1]]
	%8 = SINK %5 %7 {names: ["y", "s"]}
	E
	text plain <<-'E'
	vars {n: [1, 64]}
	%0 = BUFFER f32 {name: "x", shape: ["n", 4], role: "input"}
	%1 = NEG f32 %0
	%2 = CONST f32 2.0
	%3 = MUL f32 %1 %2
	%4 = CONST f32 3.0
	%5 = ADD f32 %3 %4
	%6 = ADD f32 %5 %0
	%7 = REDUCE f32 %6 ["ADD", [1]]
	%8 = SINK %5 %7 {names: ["y", "s"]}
	E
}

# agrees FILE: FILE gives the same outputs as plain.mp
agrees() {
	ok tool run --interpret plain.mp x=rand n=7 -o plain.npz
	ok tool run $allow "$@" x=rand n=7 -o out.npz
	ok tool diff plain.npz out.npz
}

# armed.mp: its code creates a file when it is loaded
armed() {
	text armed <<-E
	%0 = BUFFER f32 {name: "x", shape: [3], role: "input"}
	%1 = CUSTOM f32 %0 {shape: [3], code: {clang: "int creat(const char *, unsigned); __attribute__((constructor)) static void seen(void) { creat(\"$PWD/seen\", 0600); } void custom(float *y, const float *x) { for (int i = 0; i < 3; i++) y[i] = x[i]; }"}}
	%2 = SINK %1 {names: ["y"]}
	E
}

@test "custom: no tool takes it without --allow-custom, at any level, and its code reaches no compiler" {
	armed
	export XDG_CACHE_HOME=$PWD/cache
	cp armed.mp graph.mp
	tool schedule $allow armed.mp > schedule.mp
	tool fuse $allow armed.mp > fused.mp
	tool lower -t clang $allow fused.mp > loops.mp
	tool render -t clang $allow loops.mp > program.mp
	tool compile $allow program.mp > object.mp
	text tensor tensor <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [3], role: "input"}
	%1 = CUSTOM %0 {shape: [3], code: {clang: "x"}}
	%2 = relu %1
	%3 = SINK %2
	E
	rm -rf cache
	local level t
	for level in graph tensor schedule fused loops program object; do
		for t in trace simplify schedule fuse lower render render-clang render-opencl compile run info show "run --interpret" \
			"show --count" "show --html" "rewrite -e 'SIN(x)->x'" "match x" "diff $level.mp" "run --interpret-only K0" "run -t opencl"; do
			fails 3 bash -c "\"\$BIN\"/$t $level.mp"
			[[ $errors == *CUSTOM*"needs --allow-custom"* ]] || { echo "$t: $errors"; return 1; }
		done
	done
	[ ! -e seen ]
	[ -z "$(find cache -type f)" ]
	ok tool run $allow armed.mp x=zeros
	[ -e seen ]
	[ -e cache ]
}

@test "custom: clang, with a symbolic size and ops around, fused, unfused, saved at each level" {
	sized
	agrees sized.mp
	tool schedule $allow sized.mp > s.mp
	tool fuse $allow s.mp > f.mp
	tool render $allow s.mp > unfused.mp
	tool lower $allow f.mp > l.mp
	tool render $allow l.mp > p.mp
	tool compile $allow p.mp > o.mp
	for level in s f unfused l p o; do agrees $level.mp || { echo $level; return 1; }; done
	[ "$(tool show $allow s.mp | grep -c '= CUSTOM')" = 1 ]
	[ "$(tool show $allow f.mp | grep -c '= CUSTOM')" = 1 ]
}

@test "custom: OpenCL, one work item for each element, or as the arg says" {
	tool run --devices | grep -q ^opencl || skip "no OpenCL device"
	sized
	agrees -t opencl sized.mp
	tool show $allow sized.mp | sed 's/{shape: \[4, "n"\], code/{global_size: {opencl: ["(n*4+31)\/\/32"]}, local_size: {opencl: [32]}, shape: [4, "n"], code/
		s/long i = get_global_id(0);/long i = get_global_id(0); if (i >= 4 * n) return;/' | tool show $allow -p > grid.mp
	agrees -t opencl grid.mp
	tool render $allow -t opencl grid.mp | tool show $allow | grep -q 'alone: true, global_size: \["(n\*4+31)//32"\], local_size: \[32\]}'
	tool render $allow -t opencl sized.mp | tool show $allow | grep -q 'alone: true, global_size: \["n"\], local_size: \[4\]}'
}

@test "custom: CUDA and Metal get the code unchanged, with one item for each element" {
	text g <<-'E'
	vars {n: [1, 9]}
	%0 = BUFFER f16 {name: "x", shape: [3, "n", 100], role: "input"}
	%1 = CUSTOM f16 %0 {shape: [3, "n", 100], name: "k", code: {cuda: "extern \"C\" __global__ void k() {}", metal: "kernel void k() {}"}}
	%2 = SINK %1
	E
	for t in cuda metal; do
		ok tool render $allow -t $t g.mp
		tool show $allow "$BATS_TEST_TMPDIR/stdout" > $t.txt
		grep -q 'globals: \["f16", "f16"\], ins: \[1\], outs: \[0\], vars: \["n"\], alone: true, global_size: \["n\*3"\], local_size: \[100\]}' $t.txt
		grep -q "src: \".*void k() {}\"" $t.txt
	done
}

@test "custom: on the CPU, items that threads share" {
	text g <<-'E'
	vars {n: [1, 64]}
	%0 = BUFFER f32 {name: "x", shape: ["n"], role: "input"}
	%1 = CUSTOM f32 %0 {shape: ["n"], code: {clang: "void custom(float *y, const float *x, long n, long from, long to) { for (long i = from; i < to; i++) y[i] = x[i] * 0 + i + n; }"}, global_size: {clang: ["n"]}, work: {clang: 1000000}}
	%2 = CONST f32 -7.0
	%3 = ADD f32 %1 %2
	%4 = SINK %3 {names: ["y"]}
	E
	for j in 1 2 3 8; do
		ok tool run $allow -j $j g.mp x=rand n=7
		[[ $output == *"[0. 1. 2. 3. 4. 5. 6.]"* ]]
	done
	tool lower $allow --march x86-64-v3 g.mp | tool render $allow | tool show $allow > march.txt
	[ "$(grep -c 'flags: "-march=x86-64-v3"' march.txt)" = 2 ]
	tool lower $allow --march x86-64-v3 g.mp | tool show $allow | sed 's/march: "x86-64-v3"/march: "native -fplugin=x.so"/' |
		tool show $allow -p > plugin.mp
	fails 4 tool render $allow plugin.mp
	tool show $allow g.mp | sed 's/global_size: {clang: \["n"\]}/global_size: {clang: ["n", 2]}/' | tool show $allow -p > two.mp
	fails 4 tool render $allow two.mp
	[[ $errors == *"global_size of target clang is one size, the number of items" ]]
	tool show $allow g.mp | sed 's/work: {clang: 1000000}/local_size: {clang: [4]}/' | tool show $allow -p > local.mp
	fails 4 tool render $allow local.mp
	[[ $errors == *"local_size of target clang is not for a CPU" ]]
}

@test "custom: definitions in two kernels do not clash, whatever their names" {
	text g <<-'E'
	%0 = BUFFER f32 {name: "E_3", shape: [3], role: "input"}
	%1 = CUSTOM f32 %0 {shape: [3], code: {clang: "#define custom_helper(v) ((v) + 1)\n#define float float\nint table = 3;\nvoid custom(float *y, const float *x) { for (int i = 0; i < table; i++) y[i] = custom_helper(x[i]); }"}}
	%2 = CUSTOM f32 %1 {shape: [3], code: {clang: "static const int table[] = {2, 1, 0};\nstatic float custom_helper(float v) { return v * 10; }\nvoid custom(float *y, const float *x) { for (int i = 0; i < 3; i++) y[i] = custom_helper(x[table[i]]); }"}}
	%3 = CUSTOM f32 %2 {shape: [3], name: "E_3", code: {clang: "void E_3(float *y, const float *x) { for (int i = 0; i < 3; i++) y[i] = x[i] - 5; }"}}
	%4 = NEG f32 %3
	%5 = SINK %4 {names: ["y"]}
	E
	tool show -p > x.mp <<-'E'
	sluice 1 graph
	%0 = ARANGE f32 3
	%1 = SINK %0 {names: ["E_3"]}
	E
	tool run --interpret x.mp -o .
	ok tool run $allow g.mp E_3=E_3.npy
	[[ $output == *"[-25. -15.  -5.]"* ]]
	ok tool run $allow -j 1 g.mp E_3=E_3.npy
	[[ $output == *"[-25. -15.  -5.]"* ]]
}

@test "custom: sources are row-major: views, constants, one twice, other dtypes, none, empty ones" {
	text g <<-'E'
	%0 = BUFFER i32 {name: "x", shape: [2, 3], role: "input"}
	%1 = FLIP i32 %0 [1]
	%2 = CONST i32 7
	%3 = EXPAND i32 %2 []
	%4 = CAST bool %0
	%5 = CAST f16 %0
	%6 = SHRINK i32 %0 [[0, 0], [0, 3]]
	%7 = CUSTOM i64 %1 %0 %0 %3 %4 %5 %6 {shape: [3, 2], code: {clang: "void custom(long *y, const int *f, const int *x, const int *x2, const int *c, const _Bool *b, const unsigned short *h, const int *none) { for (int i = 0; i < 6; i++) y[i] = f[i] * 1000 + x[i] * 100 + x2[i] * 10 + *c + (b[i] ? 0 : 100000) + (h[i] == 0x3c00 ? 1000000 : 0); }"}}
	%8 = PERMUTE i64 %7 [1, 0]
	%9 = CUSTOM u8 {shape: [2], name: "two", code: {clang: "void two(unsigned char *y) { y[0] = 200; y[1] = 55; }"}}
	%10 = CUSTOM u8 %9 {shape: [0], name: "never", code: {clang: "never compiled"}}
	%11 = SINK %8 %9 %10 {names: ["a", "b", "c"]}
	E
	tool show -p > x.mp <<-'E'
	sluice 1 graph
	%0 = ARANGE i32 6
	%1 = RESHAPE i32 %0 [2, 3]
	%2 = SINK %1 {names: ["x"]}
	E
	tool run --interpret x.mp -o .
	ok tool run $allow g.mp x=x.npy
	[[ $output == *"[[ 102007     227    4447]"*"[1001117    5337    3557]]"* ]] || { echo "$output"; return 1; }
	[[ $output == *"[200  55]"*"c u8[0]"* ]] || { echo "$output"; return 1; }
}

@test "custom: states, temporaries that share memory, constants" {
	text g <<-'E'
	%0 = BUFFER f32 {name: "s", shape: [4], role: "state", data: b"00000000000000000000000000000000"}
	%1 = CUSTOM f32 %0 {shape: [4], name: "step", code: {clang: "void step(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[3 - i] + i; }"}}
	%2 = ASSIGN f32 %0 %1
	%3 = CUSTOM f32 %2 {shape: [4], name: "turn", code: {clang: "void turn(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[3 - i]; }"}}
	%4 = CUSTOM f32 %3 {shape: [4], name: "turn", code: {clang: "void turn(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[3 - i]; }"}}
	%5 = CUSTOM f32 %4 {shape: [4], name: "turn", code: {clang: "void turn(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[3 - i]; }"}}
	%6 = SINK %2 %5 %0 {names: ["new", "turned", "old"]}
	E
	for skip in "" "--skip plan" "--skip order"; do
		tool schedule $allow $([ "$skip" = "--skip order" ] && echo $skip) g.mp |
			tool fuse $allow $([ "$skip" = "--skip plan" ] && echo $skip) > f.mp
		ok tool run $allow -n 3 f.mp
		[[ $output == *"new f32[4]"*"[3. 4. 5. 6.]"*"turned f32[4]"*"[6. 5. 4. 3.]"*"old f32[4]"*"[3. 3. 3. 3.]"* ]] || { echo "$output"; return 1; }
	done
}

@test "custom: vars passes a size variable that the shape does not name" {
	text g <<-'E'
	vars {n: [1, 64], m: [1, 64]}
	%0 = BUFFER f32 {name: "x", shape: ["m", "n"], role: "input"}
	%1 = CUSTOM f32 %0 {shape: [], vars: ["m", "n"], code: {clang: "void custom(float *y, const float *x, long m, long n) { *y = 10 * m + n; }"}}
	%2 = CUSTOM f32 %0 {shape: ["2*n + m", "m"], code: {clang: "void custom(float *y, const float *x, long n, long m) { for (long i = 0; i < (2 * n + m) * m; i++) y[i] = 10 * m + n; }"}}
	%3 = SHRINK f32 %2 [[0, 1], [0, 1]]
	%4 = SINK %1 %3 {names: ["a", "b"]}
	E
	ok tool run $allow g.mp x=rand n=5 m=3
	[[ $output == *"a f32[]"*35.*"b f32[1,1]"*"[[35.]]"* ]]
}

@test "custom: no code for a target is 3 and names those with code; code with errors is 1" {
	sized
	fails 3 tool render $allow -t metal sized.mp
	[[ $errors == "render-metal: node "*" CUSTOM (custom): there is no code for target metal; there is for: clang, opencl" ]]
	armed
	tool show $allow armed.mp | sed 's/code: {.*}}/code: {clang: "void custom(float *y) { y[0] = \\"\\"; no such thing }"}}/' | tool show $allow -p > bad.mp
	fails 1 tool run $allow bad.mp x=zeros
	[[ $errors == "run: custom: the compiler failed: custom:1:"* ]]
}

@test "custom: it cannot be interpreted, at any level; other kernels can" {
	sized
	cp sized.mp graph.mp
	tool schedule $allow sized.mp > schedule.mp
	tool lower $allow schedule.mp > loops.mp
	tool render $allow schedule.mp > program.mp
	for level in graph schedule loops program; do
		fails 3 tool run $allow --interpret $level.mp x=rand n=7
		[[ $errors == *"CUSTOM (custom): a user-written kernel cannot be interpreted" ]]
	done
	fails 3 tool run $allow --interpret-only custom program.mp x=rand n=7
	agrees program.mp --interpret-only K0,K1,E_n_4
}

@test "custom: malformed ones are 4" {
	local arg bad=0
	while read -r arg; do
		mkdoc "{uop: 1, level: \"graph\", vars: {n: [1, 9]}, nodes: [[\"BUFFER\",\"f32\",[],{name:\"x\",shape:[\"n\"],role:\"input\"}],
			[\"CUSTOM\",\"f32\",[0],$arg],[\"SINK\",nil,[1],nil]]}" > g.mp
		for t in trace show schedule; do
			fails 4 tool $t $allow g.mp && [[ $errors == *"node 1 CUSTOM"* ]] || { echo "    $t $arg"; bad=1; }
		done
	done <<-'E'
	nil
	3
	[]
	{}
	{code:{clang:"x"}}
	{shape:[3]}
	{shape:[3],code:nil}
	{shape:[3],code:"x"}
	{shape:[3],code:["x"]}
	{shape:[3],code:{clang:nil}}
	{shape:[3],code:{clang:""}}
	{shape:[3],code:{clang:"a\x00b"}}
	{shape:[3],code:{clang:3}}
	{shape:[3],code:{"":"x"}}
	{shape:[3],code:{"../x":"x"}}
	{shape:[3],code:{"-x":"x"}}
	{shape:[-3],code:{clang:"x"}}
	{shape:["k"],code:{clang:"x"}}
	{shape:3,code:{clang:"x"}}
	{shape:[4611686018427387904],code:{clang:"x"}}
	{shape:[3],code:{clang:"x"},name:""}
	{shape:[3],code:{clang:"x"},name:3}
	{shape:[3],code:{clang:"x"},name:"3x"}
	{shape:[3],code:{clang:"x"},name:"a b"}
	{shape:[3],code:{clang:"x"},name:"f(){} void g"}
	{shape:[3],code:{clang:"x"},name:"x\n#include </etc/passwd>"}
	{shape:[3],code:{clang:"x"},vars:"n"}
	{shape:[3],code:{clang:"x"},vars:["m"]}
	{shape:[3],code:{clang:"x"},vars:[3]}
	{shape:[3],code:{clang:"x"},vars:["n","n"]}
	{shape:[3],code:{clang:"x"},global_size:[3]}
	{shape:[3],code:{clang:"x"},global_size:{opencl:3}}
	{shape:[3],code:{clang:"x"},global_size:{opencl:[]}}
	{shape:[3],code:{clang:"x"},global_size:{opencl:[1,1,1,1]}}
	{shape:[3],code:{clang:"x"},global_size:{opencl:["k"]}}
	{shape:[3],code:{clang:"x"},global_size:{opencl:["); system(0"]}}
	{shape:[3],code:{clang:"x"},local_size:{opencl:[nil]}}
	{shape:[3],code:{clang:"x"},work:{clang:[1]}}
	E
	[ $bad = 0 ]
	mkdoc '[$x,["CUSTOM",nil,[0],{shape:[3],code:{clang:"x"}}],!1]' > g.mp
	fails 4 tool show $allow g.mp
	mkdoc '[$x,["CUSTOM","f32",[0],{shape:[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],code:{clang:"x"}}],!1]' > g.mp
	fails 3 tool show $allow g.mp
	mkdoc '[$x,["SINK",nil,[],nil],["CUSTOM","f32",[0],{shape:[3],code:{clang:"x"}}]]' > g.mp
	fails 4 tool show $allow g.mp
}

@test "custom: malformed ones at later levels are 4" {
	armed
	tool schedule $allow armed.mp | tool show $allow > s.txt
	broken() {
		sed "$1" s.txt > b.txt
		not cmp -s s.txt b.txt
		fails 4 bash -c '"$BIN/show" --allow-custom -p b.txt 2> e || { s=$?; head -n 1 e >&2; exit $s; }'
		[[ $errors == *"$2" ]] || { echo "$errors"; return 1; }
	}
	broken 's/slot: 1/slot: 2/' "source 0 is not the PARAM of slot 1"
	broken 's/CALL %\([0-9]*\) %\([0-9]*\) %\([0-9]*\)/CALL %\1 %\2/' "the number of buffers is not one more than the kernel's sources"
	broken 's/PARAM f32/PARAM f64/' "the dtype of buffer 1 is not the kernel's"
	local custom
	custom=$(sed -n 's/^%\([0-9]*\) = CUSTOM.*/\1/p' s.txt)
	broken "s/SINK %[0-9]*/SINK %$custom/" "a CUSTOM is used by a node that is not a CALL"
	broken 's/name: "custom"/name: "a-b"/' "the name is not a C identifier"
	# a buffer smaller than what the kernel takes is found when the sizes are known
	sed 's/PARAM f32 {slot: 1, shape: \[3\]}/PARAM f32 {slot: 1, shape: [30]}/' s.txt | tool show $allow -p > small.mp
	fails 4 tool run $allow small.mp x=zeros
	sed 's/CUSTOM f32 %\([0-9]*\) {shape: \[3\]/CUSTOM f32 %\1 {shape: [30]/' s.txt | tool show $allow -p > small.mp
	fails 4 tool run $allow small.mp x=zeros
	[[ $errors == *"the buffer of slot 0 is not what the kernel takes" ]]
}

@test "custom: names of buffers, outputs and notes do not reach generated code" {
	mkdoc '{uop: 1, level: "graph", nodes: [["BUFFER","f32",[],{name:"*\\ x; } system(0); \"",shape:[3],role:"input"},{name:"*\\/ #error"}],
		["CUSTOM","f32",[0],{shape:[3],code:{clang:"void custom(float *y, const float *x) { for (int i = 0; i < 3; i++) y[i] = x[i]; }"}},
		{name:"*/ #error </pre><script>", loc:"\n#error"}], ["NEG","f32",[1],nil,{name:"*/\n#error"}],
		["SINK",nil,[2],{names:["y; #error"]}]]}' > g.mp
	ok tool run $allow g.mp '@0=zeros'
	tool render $allow g.mp > p.mp
	ok tool show $allow --html p.mp
	# but for the page's own
	[ "$(grep -c '<script' "$BATS_TEST_TMPDIR/stdout")" = 2 ]
}

@test "custom: show, diff, match, rewrite and simplify accept it; text round trips at every level" {
	sized
	tool simplify $allow sized.mp > graph.mp
	tool schedule $allow graph.mp > schedule.mp
	tool lower $allow schedule.mp > loops.mp
	tool render $allow loops.mp > program.mp
	for level in graph schedule loops program; do
		tool show $allow $level.mp > $level.txt
		tool show $allow -p $level.txt > back.mp
		cmp $level.mp back.mp
		ok tool diff $allow $level.mp back.mp
		[ -z "$output" ]
		for how in --count -g --html; do ok tool show $allow $how $level.mp; done
		ok tool match $allow -c 'CUSTOM(a, b)' $level.mp
		[ "$output" = 1 ]
	done
	tool show $allow --html program.mp | grep -qE '"writes":\[[0-9]+\],"reads":\[[0-9]+(,[0-9]+)+\],"kernel":[0-9]+'
	sed 's/return 2 \* v/return 3 * v/' graph.txt | tool show $allow -p > other.mp
	capture tool diff $allow graph.mp other.mp
	[ "$status" = 1 ]
	[[ $output == *"+ %4 = CUSTOM"* ]]
	tool rewrite $allow -e 'CUSTOM(a, b) -> a * b' graph.mp > g.mp
	ok tool show g.mp
	[[ $output != *CUSTOM* ]]
}

@test "custom: equal ones are called once, unused ones not at all" {
	text g <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [3], role: "input"}
	%1 = CUSTOM f32 %0 {shape: [3], code: {clang: "void custom(float *y, const float *x) { y[0] = y[1] = y[2] = 2; }"}}
	%2 = CUSTOM f32 %0 {shape: [3], code: {clang: "void custom(float *y, const float *x) { y[0] = y[1] = y[2] = 2; }"}}
	%3 = CUSTOM f32 %0 {shape: [3], code: {clang: "none"}}
	%4 = MUL f32 %1 %2
	%5 = SINK %4 {names: ["y"]}
	E
	tool schedule $allow g.mp > s.mp
	[ "$(tool show $allow s.mp | grep -c '= CALL')" = 2 ]
	ok tool run $allow g.mp x=zeros
	[[ $output == *"[4. 4. 4.]"* ]]
}

@test "custom: level tensor infers the dtype; .t has custom and text, and errors with positions" {
	text g tensor <<-'E'
	%0 = BUFFER f32 {name: "x", shape: [3], role: "input"}
	%1 = CONST 4
	%2 = CUSTOM %0 %1 {shape: [3], code: {clang: "void custom(float *y, const float *x, const float *k) { for (int i = 0; i < 3; i++) y[i] = x[i] + *k; }"}}
	%3 = relu %2
	%4 = SINK %3 {names: ["y"]}
	E
	ok tool run $allow g.mp x=zeros
	[[ $output == *"[4. 4. 4.]"* ]]
	mkdir code
	echo 'void fill(int *y, const float *x, long n, long m) { for (long i = 0; i < n * 2; i++) y[i] = 10 * n + m; }' > code/fill.c
	cat > code/p.t <<-'E'
	input x f32[n, m] where n in 1..9, m in 1..9
	def fill(x, n) = custom(x, shape=[n, 2], dtype=i32, name="fill", vars=[n, m], clang=text("fill.c"), opencl=["none", [n, 2], 1])
	output y = fill(x, n) + 1
	E
	ok tool trace $allow code/p.t
	tool show $allow "$BATS_TEST_TMPDIR/stdout" | grep -q 'global_size: {opencl: \["n", 2\]}, local_size: {opencl: \[1\]}}'
	ok bash -c '"$BIN/trace" --allow-custom code/p.t | "$BIN/run" --allow-custom x=rand n=2 m=3'
	[[ $output == *"[[24 24]"* ]]
	errs() {
		printf '%s\n' 'input x f32[3]' "output y = $2" > e.t
		capture tool trace $allow e.t
		[ "$status" = "$1" ] && [[ $errors == *"$3"* ]] || { echo "$2: $status $errors"; return 1; }
	}
	errs 4 'custom(x)' 'e.t:2:12: custom: no code is given'
	errs 4 'custom(x, clang=3)' 'expected a text, got the number 3'
	errs 4 'custom(clang="x")' 'the dtype is missing'
	errs 4 'custom(dtype=f32, clang="x")' 'e.t:2:12: '
	errs 4 'custom(x, clang="x", dtype="f33")' "'f33' is no dtype"
	errs 4 'custom(x, clang="x", vars=[3])' 'only size variables have a name'
	errs 4 'custom(x, clang="x", shape=["a"])' 'expected sizes'
	errs 4 'custom(x, clang="x", name="a b")' 'not a C identifier'
	errs 4 'custom("x", clang="x")' 'expected a tensor'
	errs 1 'custom(x, clang=text("none.c"))' 'cannot open'
	errs 4 'text()' 'text takes a file name'
	printf '%s\n' 'input x f32[3]' 'output y = custom(x, clang="x")' > e.t
	capture tool trace e.t
	[ "$status" = 3 ]
	[[ $errors == *"e.t:2:12: "*"needs --allow-custom"* ]]
	printf '%s\n' 'state s f32[1] = custom(shape=[1], dtype=f32, clang="x")' 'output s' > e.t
	capture tool trace $allow e.t
	[ "$status" = 3 ]
}

@test "custom: a user's own stage or target gets the option only if there is a CUSTOM" {
	mkdir own
	printf '#!/bin/sh\necho "schedule $*" >&2\nexec "%s/schedule" "$@"\n' "$BIN" > own/schedule
	printf '#!/bin/sh\n[ "$1" = --describe ] && exec "%s/render-clang" --describe\necho "render-mine $*" >&2\nexec "%s/render-clang" "$@"\n' \
		"$BIN" "$BIN" > own/render-mine
	chmod +x own/*
	sized
	SLUICE_PATH=$PWD/own ok tool lower $allow sized.mp
	[ "$errors" = "schedule --allow-custom" ]
	SLUICE_PATH=$PWD/own ok tool lower $allow plain.mp
	[ "$errors" = "schedule " ]
	tool lower $allow -t clang sized.mp > l.mp
	SLUICE_PATH=$PWD/own ok tool render $allow -t mine l.mp
	[ "$errors" = "render-mine --allow-custom" ]
}

@test "custom: together with prepared constants, and with weights in another layout" {
	cat > p.t <<-'E'
	input x f32[2, 64]
	const w f32[64, 64] = 0.5
	const b = [1, 2, 3, 4]
	k = custom(-(f32(b) * 2), clang="void custom(float *y, const float *x) { for (int i = 0; i < 4; i++) y[i] = x[3 - i]; }")
	h = x @ w
	g = custom(h, w, clang="void custom(float *y, const float *x, const float *w) { for (int i = 0; i < 128; i++) y[i] = x[i] * w[i]; }")
	output y = (g @ w)[:, :4] + k
	E
	tool trace $allow p.t > g.mp
	printf 'output x = ones([2, 64])\n' > x.t
	tool trace x.t | tool run -o .
	for n in 1 3; do
		ok tool run $allow -n $n g.mp x=x.npy
		[[ $output == *"[[504. 506. 508. 510.]"*"[504. 506. 508. 510.]]"* ]] || { echo "$output"; return 1; }
	done
	ok bash -c '"$BIN/schedule" --allow-custom g.mp | "$BIN/run" --allow-custom x=x.npy'
	[[ $output == *"[[504. 506. 508. 510.]"* ]]
}
