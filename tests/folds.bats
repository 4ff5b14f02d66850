# Folds of tuples, and attention with a running maximum, which is one: every level and target
# against the interpreter of level schedule before layout.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

tuples() { tool show -p "$TESTS/golden/fold_tuples.mp.txt"; }

@test "folds: a maximum with a sum of powers, and the place of a maximum, at each level and target" {
	tuples > s.mp
	ok tool run --interpret s.mp x=rand -o i.npz
	ok tool prove s.mp
	ok tool show --loops s.mp
	grep -q 'component 1 of tuples over .* of (x' <<< "$output"
	for target in clang c llvm embedded opencl; do
		tool lower -t $target s.mp > l.mp
		ok tool prove l.mp
		ok tool run --interpret l.mp x=rand -o l.npz
		tool diff i.npz l.npz
		[ $target != opencl ] || continue
		[ $target != llvm ] || has_llvm || continue
		ok tool run -t $target s.mp x=rand -o c.npz
		tool diff i.npz c.npz
	done
	# guarded tails fold the identities; the loop of the fold outside of that of the rows
	tool lower -t clang --opt 'r_5_37: split 1 8; rfactor 1.1; stage RREDUCE.0 1.1; stage RREDUCE.1 1.1' --skip layout s.mp > l.mp
	ok tool run l.mp x=rand -o c.npz
	tool diff i.npz c.npz
	fails 4 tool lower -t clang --opt 'r_5_37: split 1 8; rfactor 1.1; stage RREDUCE.0 1.1' --skip layout s.mp
	# a range of its own, by the name of either component
	for list in 'split RREDUCE.1.1 8 peel' 'split RREDUCE.*.1 8' 'split RREDUCE.0.1 8; rfactor RREDUCE.0.1.1; stage RREDUCE.0 RREDUCE.0.1.1; stage RREDUCE.1 RREDUCE.0.1.1'; do
		tool lower -t clang --opt "r_5_37: $list" --skip layout s.mp > l.mp
		ok tool run l.mp x=rand -o c.npz
		tool diff i.npz c.npz
	done
	fails 4 tool lower -t clang --opt 'r_5_37: split RREDUCE.0.1 8; split RREDUCE.1.1 4' --skip layout s.mp
	tool lower -t clang --opt 'r_5_37n1: split 1 8; order 1.0 0 1.1' --skip layout s.mp > l.mp
	ok tool run l.mp x=rand -o c.npz
	tool diff i.npz c.npz
}

# malformed SED: the document of tuples, changed, is refused in one line
malformed() {
	sed "$1" "$TESTS/golden/fold_tuples.mp.txt" > m.txt
	tool show -p m.txt > m.mp 2> told || { [ "$(wc -l < told)" = 1 ]; return; }
	fails 4 tool fuse m.mp
}

@test "folds: tuples and rules that are none are refused" {
	malformed 's/^%37 = STORE %35 %33/%37 = STORE %35 %16/'
	malformed 's/^%33 = RREDUCE f32 %32 %7 0/%33 = RREDUCE f32 %32 %7 2/'
	malformed 's/^%33 = RREDUCE f32 %32 %7 0/%33 = RREDUCE f32 %32 %7 "ADD"/'
	malformed 's/^%33 = RREDUCE f32 %32 %7 0/%33 = RREDUCE f32 %12 %7 0/'
	malformed 's/^%20 = MAX f32 %16 %18/%20 = MAX f32 %16 %12/'
	malformed 's/^%16 = SIDE f32 \[0, 0\]/%16 = SIDE f32 [2, 0]/'
	malformed 's/^%16 = SIDE f32 \[0, 0\]/%16 = SIDE f32 [0, 3]/'
	malformed 's/^%32 = TUPLE %12 %13 %14 %15 %20 %31/%32 = TUPLE %12 %13 %14 %12 %20 %31/'
	malformed 's/^%32 = TUPLE %12 %13 %14 %15 %20 %31/%32 = TUPLE %12 %13 %14 %15 %20/'
	malformed 's/^%32 = TUPLE %12 %13 %14 %15 %20 %31/%32 = TUPLE %12 %13 %14 %15 %20 %22/'
}

# attends PROGRAM INPUT…: layout makes it a running maximum, and it gives what it gave before
attends() {
	local j
	tool trace - <<< "$1" | tool fuse > s.mp
	ok tool run --interpret s.mp "${@:2}" -o i.npz
	tool layout -t clang --explain s.mp 2> told > l.mp
	grep -q 'a running maximum and sum over blocks' told
	ok tool prove l.mp
	ok tool run --interpret l.mp "${@:2}" -o l.npz
	tool diff i.npz l.npz
	tool lower -t clang l.mp > k.mp
	ok tool prove k.mp
	tool show k.mp > k.txt
	not grep -q '"\(scores\|powers\)1"' k.txt
	ok tool run --interpret k.mp "${@:2}" -o k.npz
	tool diff i.npz k.npz
	for j in 1 2 3 8; do
		ok tool run -j $j k.mp "${@:2}" -o c$j.npz
		tool diff i.npz c$j.npz
		cmp c1.npz c$j.npz
	done
}

@test "folds: attention over many keys, of whole blocks and of others" {
	attends 'input q f32[2, 64, 8]
input k f32[2, 2048, 8]
output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' q=rand k=rand
	for target in c embedded; do
		ok tool run -t $target s.mp q=rand k=rand -o c.npz
		tool diff i.npz c.npz
	done
	attends 'input q f32[3, 67, 5]
input k f32[3, 1361, 5]
input v f32[3, 1361, 40]
output y = softmax(q @ transpose(k, [0, 2, 1]) * 0.25) @ v + 1' q=rand k=rand v=rand
	attends 'input q f64[1, 64, 8]
input k f64[1, 1100, 8]
output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' q=rand k=rand
}

@test "folds: attention over any number of keys; its memory grows with it alone" {
	for n in 1 31 130; do
		attends 'input q f32[2, n, 8] where n in 1..4096
input k f32[2, n, 8]
output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' n=$n q=rand k=rand
	done
	# no buffer has the number of keys along two of its axes
	grep 'BUFFER.*"temp"' k.txt > temps
	not grep -q 'shape: [^]]*n[^]]*,[^]]*n[^]]*\]' temps
}

@test "folds: masks, rows of them, NaN and infinities are what they are without blocks" {
	attends 'input q f32[1, 100, 8]
input k f32[1, 1500, 8]
i = reshape(arange(100), [100, 1])
j = reshape(arange(1500), [1, 1500])
s = where(i * 16 <= j, -inf, q @ transpose(k, [0, 2, 1]))
t = where((i == 7) & (j == 3), nan, where((i == 9) & (j == 1000), inf, s))
output y = softmax(t) @ where(reshape(arange(1500), [1500, 1]) == 1200, inf, k)' q=rand k=rand
}

@test "folds: --strict and short rows leave softmax as it is" {
	tool trace - <<< 'input q f32[2, 64, 8]
input k f32[2, 2048, 8]
output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' | tool fuse > s.mp
	tool layout -t clang --strict --explain s.mp 2> told > l.mp
	not grep -q running told
	tool layout -t opencl --explain s.mp 2> told > l.mp
	not grep -q running told
	tool trace - <<< 'input q f32[2, 64, 8]
input k f32[2, 1024, 8]
output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' | tool fuse | tool layout -t clang --explain 2> told > l.mp
	not grep -q running told
}

# a second cache in which the scores of few rows fit, though their keys are no more than a block's
@test "folds: attention on a processor with small caches" {
	local keys sizes
	for keys in 512 300 129 j; do
		figures 'cache: 32768 131072 8388608\n'
		sizes=
		[ $keys != j ] || sizes=', j in 1..200'
		printf '%s\n' "input q f32[2, n, 8] where n in 100..200$sizes" "input k f32[2, $keys, 8]" \
			'output y = softmax(q @ transpose(k, [0, 2, 1])) @ k' | tool trace | tool fuse > s.mp
		XDG_CACHE_HOME=$PWD/cache tool lower -t clang --measured --explain s.mp > l.mp 2> told
		[ $keys = 129 ] || grep -q 'a running maximum and sum over blocks' told || { echo "$keys"; return 1; }
		for n in 100 133; do
			tool run --interpret s.mp q=rand k=rand n=$n ${sizes:+j=110} -o a.npz
			tool run l.mp q=rand k=rand n=$n ${sizes:+j=110} -o b.npz
			tool diff --rtol 1e-5 --atol 1e-6 a.npz b.npz
		done
	done
}

@test "folds: the least of each row, in the greatest of columns, is computed once" {
	printf '%s\n' 'input x f32[17, 65]' 'input b f32[1, 65]' 'input a f32[17, 1]' 'm = max(x)' 'd = x + m - b' \
		'n = sum(d) * 0.001' 'output z = m' 'output w = n' 'e = maximum(d + n, a)' 'r = min(e, axis=1, keepdims=true)' 'f = e * r' \
		'c = max(f, axis=0, keepdims=true)' 'output y = (f + c) * a' | tool trace > g.mp
	tool fuse --explain g.mp > s.mp 2> said
	# the least has a kernel of its own: it is not run over for each column
	grep -q 'stored, .*e+06 against' said
	[ "$(tool show s.mp | grep -c '= KERNEL')" = 5 ]
	tool run --interpret g.mp x=rand a=rand b=rand -o i.npz
	tool render -t clang s.mp | tool run x=rand a=rand b=rand -o c.npz
	tool diff --rtol 1e-5 i.npz c.npz
}

# a norm and a softmax of all of it: what the rows' sums give is in row buffers when all is folded, so the folds have vectors of parts
@test "folds: a fold over what is in row buffers has several accumulators" {
	printf '%s\n' 'input x f32[100, 100]' 'm = mean(x, axis=1, keepdims=true)' 'd = x - m' \
		'n = d / sqrt(mean(d * d, axis=1, keepdims=true) + 1e-5)' 'e = exp(n - max(n))' 'output y = e / sum(e)' | tool trace > g.mp
	tool fuse g.mp > s.mp
	[ "$(tool show s.mp | grep -c '= KERNEL')" = 1 ]
	tool lower -t clang --march x86-64-v3 s.mp > l.mp
	tool show --loops l.mp > loops
	# the greatest and the sum of all; no loop adds element by element
	[ "$(grep -c 'acc[0-9]*\[0 +: 8\] = acc[0-9]*\[0 +: 8\] + buf' loops)" -gt 0 ]
	not grep -q 'acc[0-9]*\[0\] = acc[0-9]*\[0\] + buf.*\[r' loops
	tool run --interpret g.mp x=rand -o i.npz
	tool run l.mp x=rand -o c.npz
	tool diff --rtol 1e-5 i.npz c.npz
}

# a body of several functions, of which one vector of parts is a copy; a sum whose last loop is a block in memory: no parts along the others
@test "folds: large bodies have one vector of parts, blocks as many as they have elements" {
	printf '%s\n' 'input x f32[521]' 'input z f32[521]' \
		'output y = sum((sin(x) * z + cos(z)) / (tan(x * 0.1) + sin(z) + 3) + exp(x * z))' | tool trace > g.mp
	tool fuse g.mp | tool lower -t clang --march x86-64-v3 > l.mp
	tool show --loops l.mp > loops
	# 65 turns of eight, and one element
	[ "$(grep -c 'for r.* < 65  reduce' loops)" = 1 ]
	[ "$(grep -cE '^    acc[0-9]+.0 .: 8. = acc' loops)" = 1 ]
	tool run --interpret g.mp x=rand z=rand -o i.npz
	tool run l.mp x=rand z=rand -o c.npz
	tool diff --rtol 1e-5 i.npz c.npz
	printf '%s\n' 'input x f32[100, 16]' 'e = exp(x - max(x))' 'p = e / sum(e)' 'output y = softmax(p, axis=1) + p' | tool trace > g.mp
	tool fuse g.mp | tool lower -t clang --march x86-64-v3 > l.mp
	tool show --loops l.mp > loops
	grep -q 'acc[0-9]*\[0 +: 8\] = ' loops
	not grep -q ' by 16\]' loops
	tool run --interpret g.mp x=rand -o i.npz
	tool run l.mp x=rand -o c.npz
	tool diff --rtol 1e-5 i.npz c.npz
}
