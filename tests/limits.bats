#!/usr/bin/env bats
# Limits on what a document may take: --limit mem, time and work, --no-limit, and what holds by default.
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

# about 4.6e18 steps
bomb() {
	tool show -p > bomb.mp <<-'E'
	sluice 1 graph
	%0 = BUFFER f32 {name: "x", shape: [1, 1], role: "input"}
	%1 = EXPAND f32 %0 [2147483648, 2147483647]
	%2 = REDUCE f32 %1 ["MAX", [0, 1]]
	%3 = SINK %2 {names: ["y"]}
	E
}

@test "work: what would take years is refused at every level" {
	bomb
	tool schedule bomb.mp > s.mp
	tool lower -t clang s.mp > l.mp
	tool render -t clang l.mp > p.mp
	local f
	for f in bomb s l p; do
		fails 4 timeout 20 "$BIN/run" $f.mp x=rand
		[[ $errors == *"limit of work"* ]] || { echo "$errors"; return 1; }
		fails 4 timeout 20 "$BIN/run" --interpret $f.mp x=rand
	done
	# with leave it runs, until its time is over
	fails 4 timeout 20 "$BIN/run" --limit work=1e30,time=1 bomb.mp x=rand
	[[ $errors == *"limit of time"* ]]
	status=0
	timeout 2 "$BIN/run" --no-limit bomb.mp x=rand || status=$?
	[ "$status" = 124 ]
	small_graph > g.mp
	ok tool run --limit work=1K g.mp x=rand n=2
	fails 4 "$BIN/run" --limit work=10 g.mp x=rand n=2
}

@test "work: loops that end where a place in the grid says count with the sizes of the call" {
	cat > attend.t <<-'E'
	input q f32[n, 32] where n in 1..2147483647
	input k f32[m, 32] where m in 1..2147483647
	output y = softmax(q @ k.T) @ k
	E
	tool trace attend.t | tool fuse | tool render -t clang > p.mp
	ok tool run p.mp q=rand k=rand n=5 m=9
}

@test "work: tiles of open sizes count as they are" {
	printf '%s\n' 'input x f32[b, n, 8] where b in 1..2000000000, n in 1..2000000000' \
		'input w f32[b, 8, n]' 'output y = exp2(x @ w) @ x' > t.t
	tool trace t.t | tool fuse | tool render -t clang > p.mp
	ok tool run p.mp x=rand w=rand b=1 n=9
}

@test "mem: a document that asks for more than its limit is refused, one that does not is not" {
	sanitized && skip "a sanitizer's memory has no limit"
	tool show -p > g.mp <<-'E'
	sluice 1 graph
	%0 = BUFFER f32 {name: "x", shape: [1], role: "input"}
	%1 = EXPAND f32 %0 [100000000]
	%2 = CONTIGUOUS f32 %1
	%3 = SINK %2 {names: ["y"]}
	E
	fails 4 tool run --interpret --limit mem=200M g.mp x=rand
	[[ $errors == *"limit of memory"* ]]
	fails 4 tool run --limit mem=200M g.mp x=rand
	ok tool run --interpret --limit mem=2G g.mp x=rand
	small_graph > g.mp
	ok tool run --limit mem=200M g.mp x=rand n=2
}

@test "time is a document's: a stream of many is not cut, and waiting does not count" {
	small_graph > g.mp
	{ cat g.mp; sleep 1.5; cat g.mp; } | tool simplify --limit time=1 | tool show --count > seen
	[ "$(wc -l < seen)" = 2 ]
}

@test "a limit that is none is wrong usage" {
	small_graph > g.mp
	local l
	for l in mem time=soon work=-1 memory=1G mem=1X time=0 ''; do
		fails 2 tool simplify --limit "$l" g.mp
	done
}
