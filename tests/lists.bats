#!/usr/bin/env bats
# What run offers with lists of steps: feeds, files and reports of what happens in a loop's turns,
# threads, memory by lifetimes, devices. What the steps mean is in steps.bats.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# graph LINE…: a document of level graph, with a size variable m
graph() {
	{
		echo "sluice 1 graph"
		echo "vars {m: [0, 100000]}"
		printf '%s\n' "$@"
	} > g.l
	tool show -p g.l > g.mp
}

# y = x * 2^n, and v = 1 / (x * 2), 1 / (x * 4), …
doubling() {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = BUFFER f32 {name: "x", shape: [2], role: "input"}' \
		'%2 = CARRY f32 %1 [0, 0]' \
		'%3 = ADD f32 %2 %2' \
		'%4 = RECIP f32 %3' \
		'%5 = LOOP %0 %3 %4 {id: 0, limit: true, while: false, states: 1, values: 1}' \
		'%6 = PICK f32 %5 0' \
		'%7 = PICK f32 %5 [1, ["m", 2]]' \
		'%8 = BUFFER f32 {name: "z", shape: ["m"], role: "input"}' \
		'%9 = SINK %6 %7 %8 {names: ["y", "v", "z"]}'
}

@test "lists: --feed gives each call its rows" {
	doubling
	echo 'output x = f32(arange(6))' > x.t
	tool trace x.t | tool run -o .
	tool run g.mp n=1 m=1 z=0 --feed x=x.npy,batch=2 -n 2 > out
	grep -qx '\[0. 2. 4. 6.\]' out
	tool run --interpret g.mp n=1 m=1 z=0 --feed x=x.npy,batch=2 -n 2 | cmp - out
}

@test "lists: --keep and --dump show what is written in each turn" {
	local how
	doubling
	for how in '' --interpret; do
		rm -rf keep
		mkdir keep
		tool fuse g.mp | tool run $how n=3 x=1 z=1 m=3 --keep keep -o out
		[ "$(ls keep | grep -c '^000.turn[012].E_2.[a-z0-9]*.npy')" = 6 ]
		tool fuse g.mp | tool run $how n=3 x=1 z=1 m=3 --dump K0 -o out 2> text
		grep -q '^K0 E_2, turn 2 reads s0 f32\[2\]' text
		[ "$(grep -c writes text)" = 6 ]
		grep -qx '\[0.125 0.125\]' text
	done
	capture "$BIN/run" g.mp n=3 x=1 z=1 m=3 --dump K9
	[ "$status" = 2 ]
}

@test "lists: --check-range takes all turns together" {
	doubling
	tool run g.mp n=3 x=1 z=1 m=3 --check-range 2> text > out
	grep -qE '^- +input +x +f32\[2\] +1 +1 +1 +0 +0 +0$' text
	grep -qE '^K0 +E_2 +[a-z0-9]+ +f32\[2\] +2 +8 +4.66667 +0 +0 +0$' text
	[ "$(grep -c '^K0' text)" = 2 ]
}

@test "lists: --check-nan says the op and the turn" {
	doubling
	# a quarter of the greatest, doubled three times
	fails 1 "$BIN/run" g.mp n=3 x=8.5e37 z=1 m=3 --check-nan
	[[ "$errors" == *"ADD makes inf of"*"K0 E_2, turn 2"* ]] || { echo "$errors"; return 1; }
	fails 1 "$BIN/run" g.mp n=2 x=0.0 z=1 m=2 --check-nan
	[[ "$errors" == *"RECIP makes inf of 0 at [0]"* ]]
	tool run g.mp n=3 x=1 z=1 m=3 --check-nan > out
}

@test "lists: --profile counts turns, --interpret-only knows calls by their number" {
	doubling
	tool run g.mp n=3 x=1 z=1 m=3 -n 2 --profile=p.mp 2> text > out
	grep -qE ' 0 E_2.*, 3 times$' text
	tool show p.mp | grep -q 'timings: \[\[0, "E_2", '
	tool show --html p.mp | grep -q '^\["LOOP"'
	tool run g.mp n=3 x=1 z=1 m=3 --interpret-only K0 --profile 2> text | cmp - out
	grep -qE ' 0 E_2 \(interpreted\).*, 3 times$' text
}

@test "lists: threads are started once, share a body's kernels, and change no result" {
	graph '%0 = BUFFER i64 {name: "n", shape: [], role: "input"}' \
		'%1 = BUFFER f32 {name: "x", shape: [1, 512], role: "input"}' \
		'%2 = BUFFER f32 {name: "w", shape: [512, 512], role: "input"}' \
		'%3 = CARRY f32 %1 [0, 0]' \
		'%4 = RESHAPE f32 %3 [512, 1]' \
		'%5 = EXPAND f32 %4 [512, 512]' \
		'%6 = MUL f32 %5 %2' \
		'%7 = REDUCE f32 %6 ["ADD", [0]]' \
		'%8 = CONST f32 0.00390625' \
		'%9 = MUL f32 %7 %8' \
		'%10 = LOOP %0 %9 {id: 0, limit: true, while: false, states: 1, values: 0}' \
		'%11 = PICK f32 %10 0' \
		'%12 = BIND i64 %0 ["k", 0, 1000]' \
		'%13 = SHRINK f32 %2 [[0, "k"], [0, 512]]' \
		'%14 = SIN f32 %13' \
		'%15 = SINK %11 %14 {names: ["y", "sine"]}'
	tool fuse g.mp | tool render -t clang > p.mp
	tool run --allow-code -j 1 p.mp n=200 x=rand w=rand -o one.npz
	timeout 60 "$BIN/run" --allow-code -j 3 -n 5 p.mp n=200 x=rand w=rand -o more.npz
	cmp one.npz more.npz
}

# chain N: N values of [m, 16], each made of the one before and of a size that this one gives
chain() {
	local i last=%0 size=%1 at=2 lines=('%0 = BUFFER f32 {name: "x", shape: ["m", 16], role: "input"}'
		'%1 = BUFFER i64 {name: "n", shape: [], role: "input"}')
	for ((i = 0; i < $1; i++)); do
		lines+=("%$at = BIND i64 $size [\"k$i\", 0, 9]" "%$((at + 1)) = SIZE i64 \"k$i\""
			"%$((at + 2)) = CAST f32 %$((at + 1))" "%$((at + 3)) = ADD f32 $last %$((at + 2))"
			"%$((at + 4)) = REDUCE f32 %$((at + 3)) [\"MAX\", [0, 1]]"
			"%$((at + 5)) = RESHAPE f32 %$((at + 4)) []" "%$((at + 6)) = CAST i64 %$((at + 5))")
		last=%$((at + 3)) size=%$((at + 6))
		at=$((at + 7))
	done
	graph "${lines[@]}" "%$at = SINK $last {names: [\"y\"]}"
}

# planned OPERAND…: the megabytes of temporaries of a run, by run's own account
planned() {
	"$BIN/run" -v "$@" 2>&1 > out | sed -n 's/.*memory: .* plan \([0-9]*\).*/\1/p'
}

@test "lists: memory follows what is needed at one time, also across steps" {
	local options
	chain 12
	tool fuse g.mp | tool render -t clang > p.mp
	# 6.4 MB a value: the last but one and, but for the output, the one that is made of it
	for options in '' '-n 3'; do
		[ "$(planned --allow-code $options p.mp n=0 m=100000 x=0 -o y)" -le 13 ]
	done
	tool run --interpret g.mp n=0 m=100 x=rand -o a.npz
	tool run --allow-code p.mp n=0 m=100 x=rand -o b.npz
	tool diff a.npz b.npz
}

@test "lists: a device with memory of its own" {
	needs_gpu
	local target
	for target in $(gpus); do
		doubling
		tool run g.mp n=3 x=1 z=1 m=3 -n 2 -o a.npz
		tool run -t "$target" g.mp n=3 x=1 z=1 m=3 -n 2 -o b.npz
		tool diff a.npz b.npz
		tool run -t "$target" g.mp n=0 x=1 z=1 m=0 -o b.npz
		chain 3
		tool run g.mp n=1 m=100 x=0.5 -o a.npz
		tool run -t "$target" g.mp n=1 m=100 x=0.5 -o b.npz
		tool diff a.npz b.npz
	done
}

@test "lists: what a turn reads of an input is read in place, backwards too" {
	local back
	for back in 0 1; do
		graph '%0 = BUFFER f32 {name: "x", shape: ["m", 3], role: "input"}' \
			'%1 = SIZE i64 "m"' \
			'%2 = TURN i64 0' \
			'%3 = CONST i64 1' \
			'%4 = SUB i64 %1 %2' \
			'%5 = SUB i64 %4 %3' \
			"%6 = GATHER f32 %0 $([ $back = 1 ] && echo %5 || echo %2)" \
			'%7 = CONST f32 0.0' \
			'%8 = RESHAPE f32 %7 [1]' \
			'%9 = EXPAND f32 %8 [3]' \
			'%10 = CARRY f32 %9 [0, 0]' \
			'%11 = REDUCE f32 %10 ["ADD", [0]]' \
			'%12 = EXPAND f32 %11 [3]' \
			'%13 = ADD f32 %12 %6' \
			'%14 = LOOP %1 %13 %13 {id: 0, limit: true, while: false, states: 1, values: 1}' \
			'%15 = PICK f32 %14 1' \
			'%16 = SINK %15 {names: ["y"]}'
		tool fuse g.mp > fuse.mp
		# one kernel, APPEND and SWAP
		tool show fuse.mp | grep -qE 'REGION( %[0-9]+){3} \{checks: \[\["le", "turn_0\+1", "m"\]\]\}'
		tool run --interpret g.mp m=9 x=rand -o a.npz
		tool run fuse.mp m=9 x=rand -o b.npz
		tool diff --rtol 1e-5 a.npz b.npz
		tool run fuse.mp m=0 x=rand > out
	done
	# a place that is not always inside is 0 there
	sed -i 's/%6 = GATHER f32 %0 %5/%6 = GATHER f32 %0 %4/' g.l
	tool show -p g.l > g.mp
	tool run --interpret g.mp m=9 x=rand -o a.npz
	tool run g.mp m=9 x=rand -o b.npz
	tool diff --rtol 1e-5 a.npz b.npz
}

@test "lists: a branch's constants are prepared when it is first taken" {
	python3 -c 'import struct; open("w", "wb").write(struct.pack("<40000f", *[1] * 40000))'
	graph '%0 = BUFFER bool {name: "c", shape: [], role: "input"}' \
		'%1 = BUFFER f32 {name: "x", shape: [200], role: "input"}' \
		"%2 = BUFFER f32 {name: \"w\", shape: [200, 200], role: \"const\", file: [\"$PWD/w\", 0, 160000]}" \
		'%3 = SIN f32 %2' \
		'%4 = RESHAPE f32 %1 [200, 1]' \
		'%5 = EXPAND f32 %4 [200, 200]' \
		'%6 = MUL f32 %5 %3' \
		'%7 = REDUCE f32 %6 ["ADD", [0]]' \
		'%8 = RESHAPE f32 %7 [200]' \
		'%9 = IF %0 %8 %1 1' \
		'%10 = PICK f32 %9 0' \
		'%11 = SINK %10 {names: ["y"]}'
	tool run g.mp c=0 x=1 --profile -v -o y 2> text
	not grep -qE '(once|cached) ' text
	grep -q 'memory: weights 0.0 MB' text
	tool run g.mp c=1 x=1 --profile -v -n 2 -o y 2> text
	grep -qE '(once|cached) ' text
	grep -q 'memory: weights 0.2 MB' text
}

@test "lists: in a body too memory is what is needed at one time, also of states that grow" {
	local i at=5 last=%3 size=%1 lines=('%0 = BUFFER f32 {name: "x", shape: ["m", 16], role: "input"}'
		'%1 = BUFFER i64 {name: "n", shape: [], role: "input"}' '%2 = CONST i64 5' '%3 = CARRY f32 %0 [0, 0]' '%4 = TURN i64 0')
	for ((i = 0; i < 9; i++)); do
		lines+=("%$at = BIND i64 $size [\"k$i\", 0, 9]" "%$((at + 1)) = SIZE i64 \"k$i\""
			"%$((at + 2)) = CAST f32 %$((at + 1))" "%$((at + 3)) = ADD f32 $last %$((at + 2))"
			"%$((at + 4)) = REDUCE f32 %$((at + 3)) [\"MAX\", [0, 1]]"
			"%$((at + 5)) = RESHAPE f32 %$((at + 4)) []" "%$((at + 6)) = CAST i64 %$((at + 5))")
		last=%$((at + 3)) size=%$((at + 6))
		at=$((at + 7))
	done
	graph "${lines[@]}" "%$at = LOOP %2 $last {id: 0, limit: true, while: false, states: 1, values: 0}" \
		"%$((at + 1)) = PICK f32 %$at 0" "%$((at + 2)) = SINK %$((at + 1)) {names: [\"y\"]}"
	tool fuse g.mp | tool render -t clang > p.mp
	tool run --interpret g.mp n=0 m=100 x=rand -o a.npz
	tool run --allow-code p.mp n=0 m=100 x=rand -o b.npz
	tool diff a.npz b.npz
	# the state, which lives through the turn, and two values of 6.4 MB: at most 1.2 times that
	[ "$(planned --allow-code p.mp n=0 m=100000 x=0 -n 2 -o y)" -le 23 ]
}

@test "lists: a state whose next content only an output reads is kept" {
	printf '%s\n' 'state seen i64[8] = 0' 'state pos i64 = 0' 'input x i64' \
		'seen <- scatter(seen, pos, x + pos)' 'pos <- pos + 1' 'output y = seen[:pos]' > s.t
	tool trace s.t > s.mp
	for n in 1 4; do
		tool run --interpret s.mp x=3 -n $n > want
		tool run s.mp x=3 -n $n > have
		cmp want have
	done
	grep -q '\[3 4 5 6\]' have
}
