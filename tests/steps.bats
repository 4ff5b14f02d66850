#!/usr/bin/env bats
# Steps whose sizes and branches are data: bodies by scope, what a branch alone needs, sizes bound
# in the middle, states that grow; interpreted, and as lists of calls at every later level. Their
# values are in ops.bats, broken rules in malformed.txt.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# graph LINE…: a document of level graph, with a size variable m
graph() {
	{
		echo "sluice 1 graph"
		echo "vars {m: [0, 8]}"
		printf '%s\n' "$@"
	} > g.l
	tool show -p g.l > g.mp
}

# levels: g.mp at every level, as LEVEL.mp; read back from text each is the same
levels() {
	local level
	tool simplify g.mp > simple.mp
	tool schedule g.mp > schedule.mp
	tool fuse schedule.mp > fuse.mp
	tool lower -t clang fuse.mp > loops.mp
	tool render -t clang loops.mp > program.mp
	for level in g schedule fuse loops program; do
		tool show $level.mp | tool show -p | cmp - $level.mp
	done
}

# gives WANTED OPERAND…: what run prints at every level, as one line
gives() {
	local want=$1 level
	shift
	levels
	for level in g simple schedule fuse loops program; do
		tool run --interpret $level.mp "$@" > $level.out
	done
	tool run g.mp "$@" > compiled.out
	tool run --allow-code program.mp "$@" > rendered.out
	for level in *.out; do
		[ "$(tr -s ' \n' ' ' < $level | sed 's/ *$//')" = "$want" ] || { echo "$level"; cat $level; return 1; }
	done
}

# stops MESSAGE OPERAND…: it ends with status 4 and a message with that, interpreted and compiled
stops() {
	local want=$1 how
	shift
	for how in --interpret -j2; do
		fails 4 "$BIN/run" $how g.mp "$@"
		[[ "$errors" == *"$want"* ]] || { echo "$errors"; return 1; }
	done
}

# a list that grows by one row a turn, as the contract has it
growing() {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = CONST i64 0' \
		'%2 = CARRY i64 %1 [0, 0]' \
		'%3 = BIND i64 %2 ["t", 0, "m"]' \
		'%4 = CONST f32 0.0' \
		'%5 = RESHAPE f32 %4 [1, 1]' \
		'%6 = EXPAND f32 %5 [1, 2]' \
		'%7 = SHRINK f32 %6 [[0, 0], [0, 2]]' \
		'%8 = CARRY f32 %7 [0, 1, ["t", 2]]' \
		'%9 = SIZE i64 "t+1"' \
		'%10 = TURN i64 0' \
		'%11 = CAST f32 %10' \
		'%12 = RESHAPE f32 %11 [1, 1]' \
		'%13 = EXPAND f32 %12 [1, 2]' \
		'%14 = PAD f32 %8 [[0, 1], [0, 0]]' \
		'%15 = PAD f32 %13 [["t", 0], [0, 0]]' \
		'%16 = ADD f32 %14 %15' \
		'%17 = LOOP %0 %9 %16 {id: 0, limit: true, while: false, states: 2, values: 0}' \
		'%18 = PICK i64 %17 0' \
		'%19 = BIND i64 %18 ["T", 0, "m+1"]' \
		'%20 = PICK f32 %17 [1, ["T", 2]]' \
		'%21 = BUFFER f32 {name: "x", shape: ["m"], role: "input"}' \
		'%22 = SINK %20 %21 {names: ["list", "x"]}'
}

@test "steps: a list that grows" {
	growing
	gives 'list f32[3,2] [[0. 0.] [1. 1.] [2. 2.]] x f32[4] [7. 7. 7. 7.]' m=4 x=7 n=3
	gives 'list f32[0,2] [] x f32[4] [7. 7. 7. 7.]' m=4 x=7 n=0
	gives 'list f32[0,2] [] x f32[0] []' m=0 x=zeros n=-3
}

@test "steps: a size outside its bounds is one line, with what it is" {
	growing
	stops "BIND: size t = 2 is not in [0, 1]" m=1 x=7 n=3
}

@test "steps: only the branch that is taken is computed, checks and all" {
	graph '%0 = BUFFER bool {name: "c", shape: [], role: "input"}' \
		'%1 = BUFFER f32 {name: "x", shape: ["m"], role: "input"}' \
		'%2 = SIZE i64 "m+100"' \
		'%3 = BIND i64 %2 ["big", 0, 3]' \
		'%4 = ARANGE f32 "big"' \
		'%5 = REDUCE f32 %4 ["ADD", [0]]' \
		'%6 = RESHAPE f32 %5 []' \
		'%7 = RESHAPE f32 %1 [3]' \
		'%8 = REDUCE f32 %7 ["ADD", [0]]' \
		'%9 = RESHAPE f32 %8 []' \
		'%10 = IF %0 %6 %9 1' \
		'%11 = PICK f32 %10 0' \
		'%12 = SINK %11 {names: ["y"]}'
	gives 'y f32[] 6.0' c=0 x=2 m=3
	fails 4 "$BIN/run" --interpret g.mp c=0 x=2 m=4
	[[ "$errors" == *"RESHAPE: "* ]]
	fails 4 "$BIN/run" g.mp c=0 x=2 m=4
	[[ "$errors" == *"the sizes do not match: "* ]]
	stops "size big = 103 is not in [0, 3]" c=1 x=2 m=3
}

@test "steps: a loop in a loop, whose inner one starts from the outer one's state" {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = CONST i64 1' \
		'%2 = CARRY i64 %1 [0, 0]' \
		'%3 = TURN i64 0' \
		'%4 = CARRY i64 %2 [1, 0]' \
		'%5 = TURN i64 1' \
		'%6 = ADD i64 %4 %5' \
		'%7 = LOOP %3 %6 {id: 1, limit: true, while: false, states: 1, values: 0}' \
		'%8 = PICK i64 %7 0' \
		'%9 = MUL i64 %8 %2' \
		'%10 = LOOP %0 %9 %8 {id: 0, limit: true, while: false, states: 1, values: 1}' \
		'%11 = PICK i64 %10 0' \
		'%12 = PICK i64 %10 [1, ["m"]]' \
		'%13 = BUFFER f32 {name: "x", shape: ["m"], role: "input"}' \
		'%14 = SINK %11 %12 {names: ["product", "sums"]}'
	# states 1, 1*1, 1*1, 1*2, 2*5; sums 1, 1, 2, 5
	gives 'product i64[] 10 sums i64[4] [1 1 2 5]' n=4 m=4
	stops 'shape [3], needs [m]' n=3 m=4
}

@test "steps: a condition ends a loop, and the number of turns is a value" {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = CARRY i64 %0 [0, 0]' \
		'%2 = CONST i64 2' \
		'%3 = FLOORDIV i64 %1 %2' \
		'%4 = CONST i64 0' \
		'%5 = CMPLT bool %4 %0' \
		'%6 = CMPLT bool %4 %3' \
		'%7 = LOOP %5 %6 %3 {id: 0, limit: false, while: true, states: 1, values: 0}' \
		'%8 = PICK i64 %7 1' \
		'%9 = SINK %8 {names: ["bits"]}'
	gives 'bits i64[] 7' n=100
	gives 'bits i64[] 0' n=0
}

@test "steps: level tensor has them, with functions of the library in a body" {
	cat > t.l <<-'E'
	sluice 1 tensor
	%0 = BUFFER f32 {name: "x", shape: [2, 2], role: "input"}
	%1 = TURN 0
	%2 = GATHER %0 %1
	%3 = softmax %2 {axis: -1}
	%4 = CONST i64 2
	%5 = LOOP %4 %3 {id: 0, limit: true, while: false, states: 0, values: 1}
	%6 = PICK f32 %5 0
	%7 = SINK %6 {names: ["y"]}
	E
	tool show -p t.l | tool trace > g.mp
	gives 'y f32[2,2] [[0.5 0.5] [0.5 0.5]]' x=1
}

@test "steps: a list of calls has the steps between, and a segment's kernels are fused" {
	growing
	levels
	tool show schedule.mp | grep -q 'LOOP .* {turn: "turn_0", limit: true, while: false}'
	tool show fuse.mp | sed -n '/REGION/p' | grep -qE 'REGION( %[0-9]+){5}'
}

@test "steps: show draws them, and bisect tells whether they are right" {
	local level
	growing
	levels
	for level in g schedule program; do
		tool show -g $level.mp | grep -q LOOP
		tool show --html $level.mp | grep -q '^\["LOOP"'
	done
	ok tool bisect g.mp m=4 x=7 n=3
	[[ "$output" == *"run: the same"* ]]
	ok tool bisect --prove g.mp
	[[ "$output" == *"render: the same"* ]]
}

@test "steps: --prove compares each segment before and after a pass" {
	growing
	tool schedule g.mp > schedule.mp
	ok "$BIN/fuse" --prove schedule.mp
	[ "$(grep -c '^fuse produce: the same' "$BATS_TEST_TMPDIR/stderr")" = 4 ]
	not grep -v ': the same' "$BATS_TEST_TMPDIR/stderr"
}

# proved A B: prove says that they are the same
proved() {
	ok "$BIN/prove" "$1" "$2"
	[[ "$output" == "the same"* ]] || { echo "$1 $2: $output"; return 1; }
}

# planted LEVEL SED WHAT: LEVEL.mp with that change is refuted, and so it is said
planted() {
	tool show "$1.mp" | sed 's/  # .*//' > sound.txt
	sed "$2" sound.txt > changed.txt
	not cmp -s sound.txt changed.txt
	tool show -p changed.txt > changed.mp
	capture "$BIN/prove" "$1.mp" changed.mp
	[[ "$status" = 1 && "$output" == *"$3"* ]] || { echo "$status $output $errors"; return 1; }
}

@test "steps: prove A B follows loops, branches and sizes through the levels" {
	local level before d
	for d in "$TESTS"/fuzz/corpus/documents/steps_*.mp "$TESTS/ops/steps.mp"; do
		cp "$d" g.mp
		levels
		tool lower -t opencl fuse.mp > groups.mp
		proved g.mp program.mp
		for level in "g simple" "simple schedule" "schedule fuse" "fuse loops" "fuse groups" "loops program"; do
			read -r before level <<< "$level"
			proved "$before.mp" "$level.mp"
		done
	done
}

@test "steps: prove A B refutes what goes wrong in a body, a branch, a state or a size" {
	local d=$TESTS/fuzz/corpus/documents
	cp "$d/steps_nested.mp" g.mp && levels
	planted loops 's/= CONST i64 1$/= CONST i64 2/' 'differs over the field'
	planted schedule 's/ADD i64/SUB i64/' ' differs over the field'
	planted schedule 's/= SWAP \(%[0-9]*\) \(%[0-9]*\)$/= TAKE \1 \1/' ' differs over the field'
	cp "$d/steps_list.mp" g.mp && levels
	planted loops 's/\["T", 0, "m+1"\]/["T", 0, 2]/' 'it stops where the other does not: node '
	cp "$d/steps_while.mp" g.mp && levels
	planted schedule 's/CMPLT bool/CMPNE bool/' 'it stops where the other does not: more than '
	cp "$d/steps_branch.mp" g.mp && levels
	planted fuse 's/\(= IF %[0-9]*\) \(%[0-9]*\) \(%[0-9]*\)$/\1 \3 \2/' 'it stops where the other does not: '
	cp "$d/steps_states.mp" g.mp && levels
	planted schedule 's/f32 1.0/f32 1.5/' ' differs over the field'
}

@test "steps: prove A B does not call the same what leaves out a check" {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = CONST i64 1' \
		'%2 = ADD i64 %0 %1' \
		'%3 = BIND i64 %2 ["k", 0, 3]' \
		'%4 = ARANGE i64 "k"' \
		'%5 = SINK %4 {names: ["y"]}'
	levels
	tool show loops.mp | sed 's/\["k", 0, 3\]/["k", 0, 64]/' | tool show -p > wide.mp
	capture "$BIN/prove" loops.mp wide.mp
	[ "$status" = 3 ]
	[[ "$output" == *"it goes on where the other stops: node "*" BIND: "* ]]
	capture "$BIN/prove" wide.mp loops.mp
	[ "$status" = 1 ]
}

@test "steps: called again, and with more threads, the same" {
	growing
	tool run g.mp m=4 x=7 n=3 > once
	tool run -n 3 -j 4 g.mp m=4 x=7 n=3 | cmp once -
}

@test "steps: many turns whose sizes differ take no more memory than the largest" {
	growing
	sed 's/m: \[0, 8\]/m: [0, 100000]/' g.l | tool show -p | tool fuse | tool render -t clang > p.mp
	tool run --limit mem=256M -j1 p.mp m=20000 x=1 n=5000 -o out.npz
}

@test "sizes: a variable may be 0, interpreted and compiled" {
	local n
	cat > p.t <<-'E'
	input x f32[n, 33] where n in 0..64
	input h f32[1, 3, m, 16] where m in 0..64
	const w f32 = ones([8, 3, 3, 3])
	output rows = softmax(x), columns = softmax(x, axis=0), sums = sum(x, axis=0), most = max(x, axis=1)
	output square = x.T @ x, wide = x @ x.T, run = cumsum(x, axis=0), order = sort(x, axis=0)
	output both = concat([x, exp(x)], axis=0), back = x[::-1], picture = conv2d(h, w, padding=1)
	E
	tool trace p.t > g.mp
	tool fuse g.mp | tool render -t clang > p.mp
	for n in 0 1 9; do
		tool run --interpret g.mp x=rand h=rand "n=$n" m=$((n + 1)) -o a.npz
		tool run p.mp x=rand h=rand "n=$n" m=$((n + 1)) -o b.npz
		tool diff --rtol 1e-5 a.npz b.npz
	done
	tool show g.mp | tool show -p | cmp - g.mp
}

@test "steps: states beside them are kept from call to call, as they were within a call" {
	local how
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = BUFFER f32 {name: "s", shape: [2], role: "state", data: b"0000803f00000040"}' \
		'%2 = CONST f32 1.0' \
		'%3 = ADD f32 %1 %2' \
		'%4 = ASSIGN f32 %1 %3' \
		'%5 = BIND i64 %0 ["k", 0, 2]' \
		'%6 = SHRINK f32 %1 [[0, "k"]]' \
		'%7 = CARRY f32 %3 [0, 0]' \
		'%8 = ADD f32 %7 %1' \
		'%9 = LOOP %0 %8 {id: 0, limit: true, while: false, states: 1, values: 0}' \
		'%10 = PICK f32 %9 0' \
		'%11 = REDUCE f32 %4 ["ADD", [0]]' \
		'%12 = SINK %4 %6 %10 %11 {names: ["s", "old", "looped", "sum"]}'
	levels
	for how in '--interpret g.mp' '--interpret schedule.mp' '--interpret loops.mp' 'g.mp'; do
		tool run $how -n 2 n=2 | tr -s ' \n' ' ' > out
		grep -qx 's f32\[2\] \[3. 4.\] old f32\[2\] \[2. 3.\] looped f32\[2\] \[ *7. 10.\] sum f32\[1\] \[7.\] *' out || { echo "$how"; cat out; return 1; }
	done
	tool run g.mp -n 2 n=2 --save s.safetensors -o first.npz
	tool run g.mp n=2 --load s.safetensors -o more.npz
	tool run --interpret g.mp -n 3 n=2 -o all.npz
	tool diff all.npz more.npz
}

# listed LINE…: a list of level schedule after an input n and temporaries t and v
listed() {
	{
		echo "sluice 1 schedule"
		echo "vars {m: [0, 8]}"
		echo '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}'
		echo '%1 = BUFFER i64 {name: "t", shape: [], role: "temp"}'
		echo '%2 = BUFFER i64 {name: "v", shape: [2], role: "temp"}'
		echo '%3 = BUFFER i64 {name: "y", shape: [], role: "output"}'
		printf '%s\n' "$@"
	} > list.l
}

# refuses STATUS MESSAGE LINE…: such a list is no document
refuses() {
	listed "${@:3}"
	refused "$1" "$2"
}

# refused STATUS MESSAGE: list.l is none
refused() {
	capture "$BIN/show" -p list.l
	[[ "$status" = "$1" && -z "$output" && "$errors" == *"$2"* ]] || { echo "$status $errors, not $*"; return 1; }
}

# ends MESSAGE LINE…: it is one, and ends so when it is run
ends() {
	local want=$1
	shift
	listed "$@"
	tool show -p list.l > list.mp
	fails 4 "$BIN/run" --interpret list.mp $(grep -q '%0\b' <(tail -n +7 list.l) && echo n=2)
	[[ "$errors" == *"$want"* ]] || { echo "$errors"; return 1; }
}

@test "steps: lists that break the rules are refused" {
	local loop='{turn: "k", limit: true, while: false}' names='{names: ["y"]}'
	refuses 4 'neither a temporary nor an output' '%4 = TAKE %0 %1' "%5 = SINK %4 $names"
	refuses 4 'neither a temporary nor an output' '%4 = SWAP %1 %0' "%5 = SINK %4 $names"
	refuses 4 'exchanges an output' '%4 = SWAP %1 %3' "%5 = SINK %4 $names"
	refuses 4 'the ranks' '%4 = APPEND %1 %3' "%5 = SINK %4 $names"
	refuses 4 'REGION is no entry' '%4 = REGION' "%5 = SINK %4 $names"
	refuses 4 'BUFFER is no entry' '%4 = REGION %1' "%5 = SINK %4 $names"
	refuses 4 'sources, needs 3' '%4 = REGION' "%5 = LOOP %0 %4 $loop" "%6 = SINK %5 $names"
	refuses 4 'LOOP' "%4 = LOOP %0 %1 $loop" "%5 = SINK %4 $names"
	refuses 4 'not an i64 scalar' '%4 = REGION' "%5 = LOOP %2 %1 %4 $loop" "%6 = SINK %5 $names"
	refuses 4 'not a buffer of a bool' '%4 = REGION' '%5 = IF %0 %4 %4' "%6 = SINK %5 $names"
	refuses 4 'neither a limit nor' '%4 = REGION' '%5 = LOOP %1 %4 {turn: "k", limit: false, while: false}' "%6 = SINK %5 $names"
	refuses 4 'bound twice' '%4 = REGION' "%5 = LOOP %0 %1 %4 $loop" '%6 = BIND i64 %0 ["k", 0, 8]' "%7 = SINK %5 %6 $names"
	refuses 4 'bound twice' '%4 = BIND i64 %0 ["m", 0, 8]' "%5 = SINK %4 $names"
	refuses 4 'k is not declared' '%4 = BUFFER f32 {name: "z", shape: ["k"], role: "temp"}' '%5 = BIND i64 %0 ["k", 0, 8]' "%6 = SINK %5 $names"
	refuses 4 'the source is not a buffer' '%4 = CONST i64 1' '%5 = BIND i64 %4 ["k", 0, 8]' "%6 = SINK %5 $names"
	refuses 4 'one name' '%4 = BUFFER i64 {name: "t", shape: [], role: "output"}' '%5 = TAKE %4 %1' "%6 = SINK %5 $names"
	refuses 4 'checks' '%4 = REGION {checks: [["le", "m"]]}' "%5 = LOOP %0 %1 %4 $loop" "%6 = SINK %5 $names"
}

@test "steps: lists that nest too deep, or stand for too many entries, are status 3" {
	local i lines=('%4 = REGION') many=('%4 = TAKE %1 %0' '%5 = REGION %4') c='%3 = BUFFER bool {name: "c", shape: [], role: "input"}'
	for ((i = 0; i < 70; i++)); do
		lines+=("%$((5 + 2 * i)) = LOOP %0 %1 %$((4 + 2 * i)) {turn: \"k$i\", limit: true, while: false}" "%$((6 + 2 * i)) = REGION %$((5 + 2 * i))")
	done
	refuses 3 'more than 64 deep' "${lines[@]}" "%145 = SINK %143"
	for ((i = 0; i < 40; i++)); do
		many+=("%$((6 + 2 * i)) = IF %3 %$((5 + 2 * i)) %$((5 + 2 * i))" "%$((7 + 2 * i)) = REGION %$((6 + 2 * i))")
	done
	listed "${many[@]}" '%86 = SINK %84'
	sed -i "s/^%3 = .*/$c/" list.l
	refused 3 "more than 1048576 entries"
}

@test "steps: lists that read what nothing has written end with status 4" {
	local loop='{turn: "k", limit: true, while: false}' names='{names: ["y"]}'
	ends 'nothing has been written' '%4 = TAKE %3 %1' "%5 = SINK %4 $names"
	ends 'nothing has been written' '%4 = BIND i64 %1 ["k", 0, 8]' "%5 = SINK %4 $names"
	ends 'is not written' '%4 = TAKE %1 %0' "%5 = SINK %4 $names"
	ends 'is not in [0, 1]' '%4 = BIND i64 %0 ["k", 0, 1]' '%5 = TAKE %3 %0' "%6 = SINK %4 %5 $names"
	ends 'has no value' '%4 = BIND i64 %0 ["k", 0, 8]' '%5 = BUFFER i64 {name: "b", shape: ["k"], role: "output"}' \
		'%6 = PARAM i64 {slot: 0, shape: ["k"]}' '%7 = VAR i64 ["k", 0, 8]' '%8 = RANGE i64 %7 [0, "loop"]' '%9 = INDEX i64 %6 %8' '%10 = CONST i64 1' \
		'%11 = STORE %9 %10' '%12 = KERNEL %11 {name: "e"}' '%13 = CALL %12 %5' '%14 = TAKE %3 %0' '%15 = SINK %13 %4 %14 {names: ["y", "b"]}'
	ends 'differ in shape' '%4 = BUFFER i64 {name: "a", shape: [2, 2], role: "temp"}' '%5 = BUFFER i64 {name: "w", shape: [2], role: "const", data: b"00000000000000000000000000000000"}' \
		'%6 = BUFFER i64 {name: "q", shape: [1], role: "const", data: b"0000000000000000"}' '%7 = APPEND %4 %5' '%8 = APPEND %4 %6' "%9 = SINK %7 %8 $names"
}

@test "sizes: of masks, and integers as sizes and bounds; two that do not agree are status 4, never cut" {
	local how feed
	cat > p.t <<-'T'
	input n i64
	input x f32[6]
	input y f32[6]
	a = x[x > 0]
	output z = a + y[y > 0], r = arange(n), s = sum(ones([n, 2])), t = reshape(a, [n, -1])
	T
	tool trace p.t > g.mp
	for how in cat "tool fuse"; do
		$how < g.mp > h.mp
		ok tool run h.mp x=1,0,2,0,0,3 y=0,4,5,6,0,0 n=3
		[[ $output == *$'z f32[3]\n[5. 7. 9.]'*$'r i64[3]\n[0 1 2]'*$'s f32[]\n6.0'*'t f32[3,1]'* ]] || { echo "$output"; return 1; }
		for feed in "y=1,0,0,0,0,0 n=3" "y=1,1,1,1,0,0 n=3" "y=0,4,5,6,0,0 n=2" "y=0,4,5,6,0,0 n=-1"; do
			fails 4 tool run h.mp x=1,0,2,0,0,3 $feed || { echo "$how $feed"; return 1; }
		done
	done
}
