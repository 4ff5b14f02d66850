# Grids on the CPU: kernels whose items are shared by threads (common/README.md, level loops;
# run/host/pool.c). To add one, write a document of level loops with a grid, and call `each_way`
# with its operands.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# rows WORK: y[i] = the sum of the squares of row i of x, three times, through the item's local
# memory; n-1 rows
rows() {
	cat <<-T
	sluice 1 loops
	vars {n: [1, 9000]}
	%0 = VAR i64 ["n", 1, 9000]
	%1 = CONST i64 -1
	%2 = ADD i64 %0 %1
	%3 = SPECIAL i64 %2 "gidx0"
	%4 = BUFFER f32 {name: "x", shape: ["n-1", 40], role: "input"}
	%5 = BUFFER f32 {name: "y", shape: ["n-1"], role: "output"}
	%6 = PARAM f32 {slot: 0, shape: ["n-1"]}
	%7 = PARAM f32 {slot: 1, shape: ["n-1", 40]}
	%8 = CONST i64 40
	%9 = DEFINE_LOCAL f32 [0, 40, "stack"]
	%10 = RANGE i64 %8 [0, "loop"]
	%11 = MUL i64 %3 %8
	%12 = ADD i64 %11 %10
	%13 = INDEX f32 %7 %12
	%14 = LOAD f32 %13
	%15 = MUL f32 %14 %14
	%16 = INDEX f32 %9 %10
	%17 = STORE %16 %15
	%18 = ENDRANGE %10
	%19 = DEFINE_REG f32 [1, 1]
	%20 = CONST i64 0
	%21 = INDEX f32 %19 %20
	%22 = CONST f32 0.0
	%23 = STORE %21 %22
	%24 = CONST i64 3
	%25 = RANGE i64 %24 [0, "reduce"]
	%26 = RANGE i64 %8 [1, "reduce"]
	%27 = INDEX f32 %9 %26
	%28 = LOAD f32 %27
	%29 = LOAD f32 %21
	%30 = ADD f32 %29 %28
	%31 = STORE %21 %30
	%32 = ENDRANGE %26
	%33 = ENDRANGE %25
	%34 = INDEX f32 %6 %3
	%35 = STORE %34 %29
	%36 = KERNEL %9 %10 %17 %18 %19 %23 %25 %26 %31 %32 %33 %35 {name: "rows", global_size: ["n-1"], work: $1}
	%37 = CALL %36 %5 %4
	%38 = SINK %37 {names: ["y"]}
	T
}

# chain WORK TIMES: two buffers of 16 numbers; each call sets one to the other plus one, a number
# per item
chain() {
	cat <<-T
	sluice 1 loops
	meta {workspace: [128, 128]}
	%0 = BUFFER f32 {name: "x", shape: [16], role: "input"}
	%1 = BUFFER f32 {name: "a", shape: [16], role: "temp", offset: 0}
	%2 = BUFFER f32 {name: "b", shape: [16], role: "temp", offset: 64}
	%3 = BUFFER f32 {name: "y", shape: [16], role: "output"}
	%4 = PARAM f32 {slot: 0, shape: [16]}
	%5 = PARAM f32 {slot: 1, shape: [16]}
	%6 = CONST i64 16
	%7 = SPECIAL i64 %6 "gidx0"
	%8 = INDEX f32 %4 %7
	%9 = INDEX f32 %5 %7
	%10 = LOAD f32 %9
	%11 = CONST f32 1.0
	%12 = ADD f32 %10 %11
	%13 = STORE %8 %12
	%15 = KERNEL %13 {name: "more", global_size: [16], work: $1}
	%16 = CALL %15 %1 %0
	%17 = CALL %15 %2 %1
	%18 = CALL %15 %1 %2
	%19 = CALL %15 %3 %1
	%20 = SINK %16$(for i in $(seq "$2"); do printf ' %%17 %%18'; done) %19 {names: ["y"]}
	T
}

# each_way FILE OPERAND…: the interpreter's values, and the same bits with any number of threads and
# from run to run
each_way() {
	rm -rf want got seen
	tool run --interpret "$1" "${@:2}" -o want
	tool run -j 1 "$1" "${@:2}" -o got
	ok tool diff --rtol 1e-5 --atol 1e-6 want/y.npy got/y.npy
	for j in 2 3 8 2 2; do
		tool run -j $j "$1" "${@:2}" -n 3 -o seen
		cmp got/y.npy seen/y.npy || { echo "other bits with $j threads"; return 1; }
	done
}

@test "threads: the same bits with any number of threads, and from run to run" {
	for work in 1 3000 1000000; do
		rows $work | tool show -p > r.l
		each_way r.l x=rand n=3000
	done
}

@test "threads: symbolic grids, of one item, two, a prime, none" {
	rows 50000 | tool show -p > r.l
	for n in 2 3 8 18 128; do each_way r.l x=rand n=$n; done
	tool run -j 3 r.l x=rand n=1 | grep 'y f32\[0\]'
	tool run --interpret r.l x=rand n=1 | grep 'y f32\[0\]'
}

@test "threads: work can be a size, and can be left out" {
	rows '"n*n"' | tool show -p > r.l
	each_way r.l x=rand n=300
	rows 1 | sed 's/, work: 1}/}/' | tool show -p > r.l
	each_way r.l x=rand n=300
}

@test "threads: thousands of launches in a row" {
	for work in 1 200 20000; do
		chain $work 1000 | tool show -p > c.l
		for j in 1 2 3 8; do
			tool run -j $j c.l x=zeros -n 5 | grep '2002. 2002. 2002. 2002.'
		done
	done
}

@test "threads: more than processors, fewer than asked for" {
	chain 20000 50 | tool show -p > c.l
	command -v taskset > /dev/null || skip "no taskset"
	taskset -c "$(taskset -cp $$ | sed 's/.*[ ,-]//')" "$BIN/run" -j 4 c.l x=zeros -n 20 | grep '102. 102.'
	tool run -j 300 c.l x=zeros -n 2 | grep '102. 102.'
}

@test "threads: several documents in one stream" {
	chain 20000 2 | tool show -p > c.l
	[ "$(cat c.l c.l c.l | tool run -j 2 x=zeros | grep -c '6. 6. 6.')" = 3 ]
}

@test "threads: a signal and a failing run end them" {
	chain 100000 2000 | tool show -p > c.l
	"$BIN/run" -j 4 c.l x=zeros -n 100000000 > /dev/null 3>&- &
	sleep 0.3
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" = 143 ]
	fails 1 tool run -j 4 c.l x=zeros -o /proc/nowhere/y.npz
}

@test "threads: whole programs" {
	cat > p.t <<-T
	input x f32[n, 48] where n in 1..400
	input w f32[48, 33]
	output y = softmax(relu(x @ w) + 1) @ permute(w, [1, 0])
	T
	tool trace p.t | tool render -t clang | tool compile > p.p
	each_way p.p x=rand w=rand n=1
	each_way p.p x=rand w=rand n=397
}

@test "threads: a malformed grid is refused" {
	rows 1 > r.txt
	sed 's/global_size: \["n-1"\]/global_size: ["n-1", 2]/' r.txt | tool show -p > two.l
	fails 4 tool render -t clang two.l
	[[ $errors == *"one size"* ]]
	sed 's/global_size: \["n-1"\], //' r.txt | tool show -p > none.l
	fails 4 tool render -t clang none.l
	[[ $errors == *"gidx0 is below"*"and the grid has 1"* ]]
	for bad in 'global_size: 3' 'global_size: []' 'global_size: ["q"]' 'global_size: [-1]'; do
		sed "s/global_size: \[\"n-1\"\]/$bad/" r.txt > bad.txt
		fails 4 tool show -p bad.txt
	done
	tool show -p r.txt | tool render -t clang | tool show > p.txt
	sed 's/, global_size: \["n-1"\]/, global_size: ["n-1", 2]/' p.txt > q.txt
	not cmp -s p.txt q.txt
	tool show -p q.txt > bad.p
	fails 4 tool run --allow-code bad.p x=rand n=3
	sed 's/work: 1/work: "q"/' r.txt > bad.txt
	fails 4 tool show -p bad.txt
}

@test "threads: every item runs exactly once, however the launch is split" {
	local san= common="${BIN%/bin}/libcommon.a" out=$BATS_TEST_TMPDIR/check_pool
	sanitized && san="-fsanitize=address,undefined"
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 $san -w -I"$ROOT/common" -I"$ROOT/run" -o "$out" "$TESTS/check_pool.c" \
		"$ROOT/run/host/pool.c" "$ROOT/run/host/cores.c" "$common" -lmsgpackc -lxxhash -lsodium -lz -ldl -lpthread -lm
	[ "$("$out" 3000)" = "0 items were not run once" ]
	# and no two threads touch one thing at a time, where the compiler can tell
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -fsanitize=thread -w -I"$ROOT/common" -I"$ROOT/run" -o "$out.t" \
		"$TESTS/check_pool.c" "$ROOT/run/host/pool.c" "$ROOT/run/host/cores.c" "$common" \
		-lmsgpackc -lxxhash -lsodium -lz -ldl -lpthread -lm 2> /dev/null || return 0
	sanitized || ! setarch -R true || ok setarch -R "$out.t" 300
}

@test "an estimate of work that overflows counts as large" {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[n, m] where n in 1..9, m in 1..9\noutput y = softmax(x)\n' > s.t
	tool trace s.t | tool fuse | tool lower -t clang | tool render -t clang | tool show |
		sed 's/work: [^,}]*/work: "n*4611686018427387904*4"/' > s.txt
	grep -q 'work: "n\*4611686018427387904\*4"' s.txt
	tool show -p s.txt > s.mp
	ok tool run --allow-code --no-limit s.mp x=rand n=2 m=3 -j 2 -o a.npz
	tool trace s.t | tool run --interpret x=rand n=2 m=3 -o b.npz
	tool diff a.npz b.npz
}

@test "threads: launches from either end" {
	figures 'cores: 2\ncache: 4096 16384 65536\n'
	printf 'input x f32[700, 64]\noutput y = softmax(x, axis=1)\noutput z = sum(x, axis=1)\n' | tool trace | tool fuse > p.mp
	tool lower -t clang --measured p.mp | tee l.mp | tool render -t clang > r.mp
	grep -aq alternate r.mp
	tool run --interpret p.mp x=rand -o a.npz
	local n j
	for n in 1 2 5; do
		for j in 1 2 3; do
			tool run r.mp -j $j -n $n x=rand -o b$j.npz
			tool diff --rtol 1e-5 a.npz b$j.npz
			cmp b1.npz b$j.npz
		done
	done
	# caches that hold it all
	figures 'cores: 2\ncache: 4096 4194304 65536000\n'
	tool lower -t clang --measured p.mp > l.mp
	not grep -aq alternate l.mp
}
