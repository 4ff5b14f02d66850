#!/usr/bin/env bats
# Prepared constants: values computed only from constants are computed once, before the first call,
# and if they are large the next run finds them in the cache. A case is a program in the text
# language and what fuse or run does with it.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	mkdir cache
}

# program LINES: writes p.t, traced to p.mp
program() { printf '%s\n' "$@" > p.t; tool trace p.t > p.mp; }

# roles DOCUMENT: prints NAME ROLE of each temporary and prepared buffer
roles() { tool show "$1" | sed -n 's/.*name: "\([^"]*\)".*role: "\(temp\|prepared\)".*/\1 \2/p'; }

# every_way OPERANDS: p.mp gives the same interpreted, fused and unfused, at each level, and
# compiled
every_way() {
	tool run --interpret p.mp "$@" -o a.npz
	tool fuse p.mp > f.mp
	tool lower f.mp > l.mp
	tool render -t clang l.mp > r.mp
	local doc
	for doc in f.mp l.mp r.mp; do tool run --interpret "$doc" "$@" -o b.npz; tool diff a.npz b.npz; done
	for doc in f.mp r.mp; do tool run "$doc" "$@" -n 3 -o b.npz; tool diff a.npz b.npz; done
	tool schedule p.mp | tool render -t clang | tool run "$@" -o b.npz
	tool diff a.npz b.npz
	tool fuse --skip prepare p.mp | tool run "$@" -o b.npz
	tool diff a.npz b.npz
}

@test "a value computed from constants is prepared, and its kernel is first" {
	program 'input x f32[n, 3] where n in 1..1000000' 'const v f32 = [0.5, 2, 0]' 'const w f32 = [1, -1, 3]' \
		'output y = x * 2 + 1' 'output z = x / sqrt(v + w * w)'
	every_way x=rand n=4
	[ "$(roles f.mp | grep -c prepared)" = 1 ]
	tool run r.mp x=rand n=4 -n 5 --profile -o b.npz 2> e
	[ "$(sed -n '/^before the calls/,$p' e | grep -c once)" = 1 ]
	[ "$(grep -c once e)" = 1 ]
}

@test "a chain of constants runs once, and stays out of the workspace" {
	program 'input x f32[5]' 'const w f32 = [3, 1, 2, nan, -inf]' 'p = sort(w)' 'q = cumsum(p + 1)' 'output y = x + q' 'output z = x * 2 - q'
	every_way x=rand
	roles f.mp | not grep -q temp
	tool fuse p.mp --explain 2>&1 > /dev/null | grep -q 'workspace 0 bytes'
	[ "$(tool show r.mp | grep -c 'role: "prepared", offset')" = 0 ]
}

@test "a value that depends on an input, a state or a symbolic size is not prepared" {
	program 'input x f32[n] where n in 1..8' 'state s f32 = [1, 2]' 'const w f32 = [1, 2]' \
		'a = cumsum(arange(n))' 'output y = x + sum(sin(a))' 'b = cumsum(s * w)' 'output z = sum(x) + b' 's <- s + sum(x)'
	tool fuse p.mp > f.mp
	roles f.mp | not grep -q prepared
	tool run --interpret p.mp x=rand n=3 -n 3 -o a.npz
	tool run f.mp x=rand n=3 -n 3 -o b.npz
	tool diff a.npz b.npz
}

@test "a buffer written in each call is not prepared, a scatter of constants is" {
	program 'input i i32[3]' 'input v f32[3]' 'const base f32 = [1, 2, 3, 4, 5, 6]' 'const j i32 = [0, 2, 4]' \
		'const u f32 = [10, 20, 30]' 'output y = cumsum(scatter(base, i, v)) + scatter(base, j, u)'
	every_way i=rand v=rand
	[ "$(roles f.mp | grep -c prepared)" = 1 ]
	[ "$(roles f.mp | grep -c temp)" = 1 ]
}

@test "a constant that would grow too much is computed where it is used" {
	program 'input x f32[4096, 4096]' 'const w f32 = [[1], [2]]' 'output y = sum(x * sum(expand(sin(w), [2, 4096]), axis=0), axis=1)' \
		'output z = sum(cumsum(expand(reshape(w, [2, 1, 1]), [2, 2048, 2048]), axis=1)) + x[0, 0]'
	tool fuse p.mp > f.mp
	tool show f.mp | grep 'role: "prepared"' | not grep -q 2048,
}

@test "large results are cached, keyed by what they are computed from" {
	program 'i = reshape(arange(32768), 64, 512)' 'output w = f32(i % 7 - 3), v = f32(i % 5 - 1)'
	tool run --interpret p.mp -o .
	program 'input x f32[n, 64] where n in 1..8' 'const w = load("w.npy")' 'output y = x @ (sin(w) * 2 + w)'
	tool run p.mp x=rand n=2 --profile -o a.npz 2> e
	grep -q once e
	[ "$(find cache -name '*.data' | wc -l)" = 1 ]
	tool run p.mp x=rand n=2 --profile -o b.npz 2> e
	grep -q cached e
	cmp a.npz b.npz
	# all of it is asked for again when each call is to be seen
	mkdir kept
	tool run p.mp x=rand n=2 --keep kept -o b.npz
	ls kept/000.*
	# another content of the same file, the same size and date
	cp -p w.npy old.npy
	cp v.npy w.npy
	touch -r old.npy w.npy
	fails 4 tool run p.mp x=rand n=2
	[[ "$errors" == *"w.npy has changed since it was traced" ]]
	program 'input x f32[n, 64] where n in 1..8' 'const w = load("w.npy")' 'output y = x @ (sin(w) * 2 + w)'
	tool run p.mp x=rand n=2 --profile -o b.npz 2> e
	grep -q once e
	not cmp -s a.npz b.npz
	tool run --interpret p.mp x=rand n=2 -o c.npz
	tool diff b.npz c.npz
	[ "$(find cache -name '*.data' | wc -l)" = 2 ]
	# one that is harmed is made again
	for f in $(find cache -name '*.data'); do printf harm | dd of="$f" bs=1 seek=5000 conv=notrunc status=none; done
	tool run p.mp x=rand n=2 --profile -o c.npz 2> e
	grep -q once e
	cmp b.npz c.npz
	for f in $(find cache -name '*.data'); do truncate -s 1000 "$f"; done
	tool run p.mp x=rand n=2 -o c.npz
	cmp b.npz c.npz
}

# Eight weights of 4 MB, plain and prepared, in files that can be mapped (.npy) and that cannot
# (.npz), found in the cache or not. A single call never has all of them in memory; when another
# call follows, they stay.
@test "with one call, weights are loaded and evicted one after another" {
	local from what line i
	for i in 0 1 2 3 4 5 6 7; do
		line+="${line:+, }w$i = sin(f32(reshape(arange(1048576), 1024, 1024)) + $i)"
	done
	program "output $line"
	mkdir w
	tool run p.mp -o w
	tool run p.mp -o w.npz
	for from in 'w/w%d.npy")' 'w.npz", "w%d")'; do
		for what in 'x @ w%d' 'x @ (w%d + 1)'; do
			program 'input x f32[1, 1024]' "$(for i in 0 1 2 3 4 5 6 7; do
				printf "const w%d = load(\"$from\nx = $what / 64\n" $i $i $i
			done)" 'output x'
			tool run p.mp x=rand -v -o a.npz 2> once
			tool run p.mp x=rand -v -o b.npz 2> cached
			tool run p.mp x=rand -v -n 2 -o c.npz 2> twice
			tool run p.mp x=rand --interpret -o d.npz
			cmp a.npz b.npz
			cmp a.npz c.npz
			tool diff a.npz d.npz
			sed -n 's/.*at most \([0-9]*\).*/\1/p' once cached twice | tr '\n' ' ' > most
			cat most
			sanitized || awk '{ exit !($1 < 22 && $2 < 22 && $3 > 33) }' most
		done
	done
}

# kept K: a program whose prepared buffer takes 8 MiB
kept() {
	program 'input x f32[n, 64] where n in 1..8' 'const w f32 = [[1, 2, 3, 4, 5, 6, 7, 8]]' \
		"c = cumsum(expand(reshape(w * $1, [1, 8, 1]), [64, 8, 4096]), axis=2)" 'output y = sum(x @ reshape(c, [64, 32768]))'
}

# asked SIZE: whether it is cached, with that size limit
asked() { SLUICE_CACHE_SIZE=$1 tool run p.mp x=rand n=2 --profile -o a.npz 2>&1 | grep -o 'once\|cached' | sort -u; }

@test "the cache is bounded: the most recently used entries stay" {
	local i
	for i in 1 2 3 4 5 6; do
		kept $i
		[ "$(asked 1G)" = once ]
		# as if hours had gone
		find cache -type f -newer p.t ! -name grown -exec touch -d "-$((20 - i)) hours" {} +
	done
	kept 2
	[ "$(asked 1G)" = cached ]
	[ "$(find cache -name '*.data' | wc -l)" = 6 ]
	kept 7
	[ "$(asked 32M)" = once ]
	[ "$(find cache -name '*.data' | wc -l)" = 3 ]
	[ "$(asked 32M)" = cached ]
	for i in 2 6; do
		kept $i
		[ "$(asked 32M)" = cached ]
	done
	# what does not fit is not kept, and the rest stays, as it was just used
	kept 3
	[ "$(asked 8M)" = once ]
	[ "$(asked 0)" = once ]
	[ "$(find cache -name '*.data' | wc -l)" = 3 ]
	fails 2 env SLUICE_CACHE_SIZE=much "$BIN/run" p.mp x=rand n=2 -o b.npz
}

@test "GPUs fill them once as well" {
	needs_gpu
	local target
	program 'input x f32[n, 3] where n in 1..1000000' 'const v f32 = [0.5, 2, 0]' 'const w f32 = [1, -1, 3]' \
		'output y = x / sqrt(v + w * w)'
	tool run --interpret p.mp x=rand n=4 -o a.npz
	for target in $(gpus); do
		tool fuse p.mp | tool render -t "$target" | tool run x=rand n=4 -n 3 -o b.npz
		tool diff a.npz b.npz
	done
}

@test "a document that breaks the rules of prepared buffers is refused" {
	program 'input x f32[1000, 3]' 'const v f32 = [0.5, 2, 0]' 'output y = x / sqrt(v + 1)'
	tool fuse p.mp | tool show > f.text
	call=$(sed -n 's/.*\(%[0-9]*\) = SINK %\([0-9]*\) %\([0-9]*\) .*/\2 \3/p' f.text)
	set -- $call
	# after a call that runs each time
	sed "s/SINK %$1 %$2/SINK %$2 %$1/" f.text > b.text
	fails 4 tool show -p b.text
	[[ $errors == *"after a call that runs each time"* ]]
	# from an input
	sed 's/role: "const", data: b"[0-9a-f]*"/role: "input"/' f.text > b.text
	fails 4 tool show -p b.text
	[[ $errors == *"from a buffer that is not constant"* ]]
	# that nothing fills
	sed "/ CALL /{ s/= CALL %[0-9]* %[0-9]* %[0-9]*$/= CALL/; t gone; b; : gone; d }; s/SINK %$1 /SINK /" f.text > b.text
	fails 4 tool show -p b.text
	[[ $errors == *"that no call has filled"* ]]
	# at level graph
	tool show p.mp | sed 's/role: "input"/role: "prepared"/' > b.text
	fails 4 tool show -p b.text
}

# ---- scales folded into weights

# folds N LINES: a program in which fuse folds N scales; it gives the same as before within the
# contract's bound (f32, results of magnitude 1 to 10) at each level, and exactly the same with
# --strict
folds() {
	local n=$1 doc
	shift
	program "$@"
	tool run --interpret p.mp $feed -o a.npz
	tool fuse p.mp --explain 2> e > f.mp
	[ "$(grep -c 'constant scale behind it is folded' e)" = "$n" ] || { cat e; return 1; }
	tool lower f.mp > l.mp
	tool render -t clang l.mp > r.mp
	for doc in f.mp l.mp r.mp; do
		tool run --interpret "$doc" $feed -o b.npz
		tool diff --rtol 0 --atol 5e-5 a.npz b.npz
	done
	tool run r.mp $feed -n 2 -o b.npz
	tool diff --rtol 0 --atol 5e-5 a.npz b.npz
	tool fuse --strict p.mp --explain 2> e > s.mp
	not grep -q 'constant scale' e
	tool run --interpret s.mp $feed -o c.npz
	tool fuse --skip scales p.mp | tool run --interpret $feed -o d.npz
	tool diff c.npz d.npz
	tool diff --rtol 1e-6 a.npz c.npz
}

# how many buffers a kernel that runs each time reads
reads() { grep -q "^fuse: r_.*: $1 reads, 1 write: .* -> y\$" e || { cat e; return 1; }; }

@test "a scale after a linear layer is folded into its weights, however it is written" {
	local feed="x=rand n=3" w='const w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]' b='const b f32 = [0.1, -0.2, 0]'
	local s='const s f32 = [2, -3, 0]' x='input x f32[n, 4] where n in 1..64' way
	folds 1 "$x" "$w" "$b" "$s" 'output y = relu(x @ w * s)'
	tool fuse p.mp --explain 2> e > f.mp
	reads 2
	for way in '(x @ w + b) * s' '(b + x @ w) * s - b' '(x @ w - b) * s + b' '(b - x @ w) * s' '-(x @ w - b) / (s + 1.5)' \
		's * (x @ w) + b' '(x @ w * s + b) * b - s' 'b - s * (s + x @ w)'; do
		folds 1 "$x" "$w" "$b" "$s" "output y = tanh($way)"
	done
	# one number, where there are more results than weights
	folds 1 "$x" "$w" "$b" 'output y = (x @ w + b) * 0.3'
	feed="x=rand" folds 0 'input x f32[2, 4]' "$w" "$b" 'output y = (x @ w + b) * 0.3'
	folds 1 "$x" "$w" "$s" 'output y = x @ w * reshape(s * s + 1, [1, 3])'
	# weights the other way round
	folds 1 'input x f32[n, 3] where n in 1..64' "$w" 'const s f32 = [1, 2, 3, 4]' 'output y = x @ transpose(w) / s'
}

@test "values that do not scale weights are left unchanged" {
	local feed="x=rand n=3" w='const w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]'
	local s='const s f32 = [2, -3, 0]' x='input x f32[n, 4] where n in 1..64'
	# a bias alone; a scale behind something else; one that is not constant; one that moves with rows
	folds 0 "$x" "$w" "$s" 'output y = relu(x @ w + s)'
	folds 0 "$x" "$w" "$s" 'output y = relu(x @ w) * s'
	folds 0 "$x" "$w" 'output y = (x @ w) * x[:, :1]'
	feed="x=rand" folds 0 'input x f32[3, 4]' "$w" 'const r f32 = [[1], [2], [-1]]' 'output y = x @ w * r'
	# weights, or the sum, wanted elsewhere
	folds 0 "$x" "$w" "$s" 'output y = x @ w * s' 'output z = sum(w * x[0, 0])'
	folds 0 "$x" "$w" "$s" 'h = x @ w' 'output y = h * s + h'
	folds 0 "$x" "$w" "$s" 'h = x @ w' 'output y = h * s' 'output z = h'
	# half floats round in between; whole numbers wrap
	feed="x=rand n=2" folds 0 'input x i32[n, 2] where n in 1..4' 'const w i32 = [[1, 2], [3, 4]]' 'const s i32 = [5, 7]' 'output y = x @ w * s'
	# weights that are an input
	feed="x=rand w=rand" folds 0 'input x f32[3, 4]' 'input w f32[4, 3]' "$s" 'output y = x @ w * s'
}

@test "a batch norm after a convolution costs one addition, however it is written" {
	local feed="x=rand n=2" x='input x f32[n, 2, 6, 5] where n in 1..16' way
	local w='const w f32 = [[[[0.1, 0.2], [-0.3, 0.4]], [[0.5, -0.6], [0.7, 0.8]]], [[[-0.9, 1], [0.1, 0.3]], [[0.2, 0], [0, 0.25]]], [[[1, 1], [0, 0]], [[0.5, 0.5], [1, -1]]]]'
	local norm='const m f32 = [0.1, -0.2, 0.3]
const v f32 = [1, 0.5, 2]
const g f32 = [1.5, -0.5, 0]
const b f32 = [0.25, 0, -1]
const c f32 = [0.5, 0.25, 0.125]'
	for way in 'batchnorm(conv2d(x, w), m, v, g, b)' 'batchnorm(conv2d(x, w, c, stride=2, padding=1), m, v, g, b)' \
		'batchnorm(conv2d(x, w, c, dilation=2), m, v)' \
		'(conv2d(x, w) - reshape(m, [3, 1, 1])) / sqrt(reshape(v, [3, 1, 1]) + 1e-5) * reshape(g, [3, 1, 1]) + reshape(b, [3, 1, 1])' \
		'conv2d(x, w, c) * reshape(g, [1, 3, 1, 1]) + reshape(b, [1, 3, 1, 1])' \
		'reshape(g * rsqrt(v + 1e-3), [3, 1, 1]) * (conv2d(x, w, c) - reshape(m, [3, 1, 1])) + reshape(b, [3, 1, 1])'; do
		folds 1 "$x" "$w" "$norm" "output y = relu($way)"
		tool fuse p.mp --explain 2> e > f.mp
		reads 3
		[ "$(grep -c '1 write' e)" = 3 ]
	done
	# behind it a residual
	folds 1 "$x" "$w" "$norm" "output y = relu(batchnorm(conv2d(x, w, padding=1), m, v, g, b) + sum(x))"
}

@test "groups, one channel each, transposed, in time, axes of size 1" {
	local feed="x=rand n=2" s='const s f32 = [2, -1, 0.5, 3]' t='const t f32 = [1, 0, -1, 0.5]'
	folds 1 'input x f32[n, 4, 5, 5] where n in 1..9' 'const k f32 = [1, 2, 3, 4]' "$s" "$t" 'const u f32 = [[1, -1, 0.5], [0, 2, 1], [1, 1, 1]]' \
		'w = reshape(k, [4, 1, 1, 1]) * reshape(u, [1, 1, 3, 3])' 'output y = batchnorm(conv2d(x, w, groups=4), t, s * s, s, t)'
	folds 1 'input x f32[n, 4, 6] where n in 1..9' 'const w f32 = [[[1, 2], [3, 4]], [[0, 1], [1, 0]], [[1, 1], [1, 1]], [[-1, 0], [0, -1]]]' "$s" "$t" \
		'output y = conv1d(x, w, groups=2, padding=1) * reshape(s, [4, 1]) - reshape(t, [4, 1])'
	folds 1 'input x f32[n, 2, 6] where n in 1..9' 'const w f32 = [[[1, 2], [3, 4], [0, 1], [1, 0]], [[1, 1], [1, 1], [-1, 0], [0, -1]]]' "$s" "$t" \
		'output y = conv_transpose1d(x, w, stride=2) * reshape(s, [4, 1]) - reshape(t, [4, 1])'
	folds 1 'input x f32[n, 3] where n in 1..9' 'const w f32 = [[2], [3], [4]]' 'const s f32 = [-0.5]' 'output y = (x @ w + 1) * s'
	folds 0 'input x f32[n, 1] where n in 1..9' 'const w f32 = [[2, 3, 4]]' 'const s f32 = [-0.5, 0, 2]' 'output y = (x @ w + 1) * s'
	# a part of the weights, and a scale as long as that part
	feed="x=rand n=2" folds 0 'input x f32[n, 2] where n in 1..9' 'const w f32 = [[1, 2, 3, 4], [5, 6, 7, 8]]' 'const s f32 = [3, 4]' 'output y = x @ w[:, 1:3] * s'
}

@test "weights and scales that are not finite stay so" {
	local feed="x=rand n=3"
	folds 1 'input x f32[n, 2] where n in 1..9' 'const w f32 = [[1, nan, 3, -inf], [5, 6, inf, 8]]' 'const s f32 = [2, 1, -1, 0.5]' \
		'output y = x @ w * s'
}

@test "a convolution and a norm against sums in double precision" {
	PYTHONPATH=$TESTS python3 - <<-'END'
	import npy, random, struct
	r = random.Random(5)
	def save(name, shape, values):
	    npy.save(name + ".npy", "<f4", shape, struct.pack("<%df" % len(values), *values))
	def drawn(name, *shape, least=-1):
	    n = 1
	    for s in shape: n *= s
	    v = list(struct.unpack("<%df" % n, struct.pack("<%df" % n, *(r.uniform(least, 2) for _ in range(n)))))
	    save(name, shape, v)
	    return v
	N, C, O, H, W, K = 2, 3, 5, 7, 6, 3
	x, w, c = drawn("x", N, C, H, W), drawn("w", O, C, K, K), drawn("c", O)
	m, v, g, b = drawn("m", O), drawn("v", O, least=0.25), drawn("g", O), drawn("b", O)
	y = []
	for n in range(N):
	    for o in range(O):
	        for i in range(H - K + 1):
	            for j in range(W - K + 1):
	                s = c[o] + sum(x[((n * C + k) * H + i + p) * W + j + q] * w[((o * C + k) * K + p) * K + q]
	                    for k in range(C) for p in range(K) for q in range(K))
	                y.append(max((s - m[o]) / (v[o] + 1e-5) ** 0.5 * g[o] + b[o], 0.0))
	save("y", (N, O, H - K + 1, W - K + 1), y)
	END
	atol=$(python3 -c 'import struct; d = open("y.npy", "rb").read()[128:]; print(2e-5 * max(struct.unpack("<%df" % (len(d) // 4), d)))')
	program 'input x f32[n, 3, 7, 6] where n in 1..16' 'const w = load("w.npy")' 'const c = load("c.npy")' 'const m = load("m.npy")' \
		'const v = load("v.npy")' 'const g = load("g.npy")' 'const b = load("b.npy")' 'output y = relu(batchnorm(conv2d(x, w, c), m, v, g, b))'
	tool fuse p.mp --explain 2> e > f.mp
	grep -q 'constant scale' e
	for how in --interpret "-n 2"; do
		tool run $how f.mp x=x.npy -o out
		tool diff --rtol 0 --atol "$atol" y.npy out/y.npy
	done
}
