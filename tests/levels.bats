#!/usr/bin/env bats
# Every level runs: a document saved at any level, interpreted or compiled, gives the results of the
# whole pipeline, and so does one made without an optional stage or pass.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# program NAME: writes NAME.t, and sets $operands to the operands for run
program() {
	case $1 in
	attention)      # contractions, a softmax between them, a mask, half precision at the end
		operands=(q=rand k=rand v=rand)
		cat <<-'T'
			input q f32[2, 6, 8]
			input k f32[2, 6, 8]
			input v f32[2, 6, 5]
			s = q @ permute(k, 0, 2, 1) * 0.35
			p = softmax(where(tril(ones([6, 6])) > 0, s, -1e9), axis=-1)
			output y = p @ v, half = f16(p @ v), most = max(p, axis=[1, 2])
		T
		;;
	state)          # three calls, each on what the one before left
		operands=(x=rand -n 3)
		cat <<-'T'
			input x f32[4, 3]
			state mean f32[3] = 0.5
			state calls i64 = 0
			state last f32[3, 4] = 1
			calls <- calls + 1
			d = mean(x, axis=0) - mean
			before = last
			last <- transpose(x) + before * 0.5
			mean <- mean + d / f32(calls)
			output moved = sum(d * d), n = calls, before, mean
		T
		;;
	symbolic)       # sizes known when it runs
		operands=(x=rand w=rand n=5 m=3)
		cat <<-'T'
			input x f32[n, 2*m] where n in 1..64, m in 1..9
			input w f32[2*m, 4]
			h = relu(x @ w - 0.5)
			output y = layernorm(h), rows = mean(x, axis=1) * n, turned = reshape(x[::-1], n * 2, m)
			output z = concat(h, h[::-1] * 2), count = sum(ones([n, m]))
		T
		;;
	places)         # scans, sorts, gathers and scatters over each other
		operands=(x=rand)
		cat <<-'T'
			input x f32[7, 5]
			i = argsort(x[:, 2])
			s = cumsum(x, axis=0)
			g = s[i]
			output y = scatter(zeros([9, 5]), i + 1, g, how="add")
			output up = sort(cumprod(x * 1.5, axis=1), axis=0), best = topk(x, 2)[0], at = argmax(g, axis=1)
			output bins = scatter(zeros([4], dtype="i32"), i32(x[:, 0] * 4), ones([7], dtype="i32"), how="add")
		T
		;;
	counted)        # sizes that are data, beside symbolic ones and a state
		operands=(x=rand n=7 -n 2)
		cat <<-'T'
			input x f32[n, 4] where n in 1..50
			state seen i64 = 0
			r = x[x[:, 0] > 0.5]
			at = nonzero(x > 0.7)
			seen <- seen + x[x > 0.9].size
			output some = x[x > 0.5], total = sum(r, axis=0), product = r @ x.T, flat = r.T.flatten(), places = at.T, seen
			output sorted = sort(x[at[0], at[1]]), all = concat(x, r, r[::-1]), soft = softmax(r @ r.T), kinds = unique(i32(x * 4))[3]
		T
		;;
	random)         # THREEFRY, integers of several widths, a convolution
		operands=(x=rand)
		cat <<-'T'
			input x f32[1, 2, 6, 6]
			w = rand([3, 2, 3, 3], key=11) - 0.5
			c = conv2d(x, w, padding=1)
			k = randint([6], 0, 100, key=3)
			output y = max_pool(relu(c), 2), n = k // 7 + k % 3, b = u8(k) << 1, t = sin(exp(c[0, 0, 0]))
		T
		;;
	esac > "$1.t"
}

# tee NAME: saves every level of NAME.t, in order
save_levels() {
	tool trace "$1.t" | tee 1-graph.mp | tool simplify | tee 2-simple.mp | tool schedule | tee 3-schedule.mp |
		tool fuse | tee 4-fused.mp | tool lower -t clang | tee 5-loops.mp | tool render -t clang |
		tee 6-program.mp | tool compile > 7-objects.mp
}

# same WHAT DOCUMENT [OPTION…]: it gives the results in whole.npz
same() {
	ok tool run "$2" "${@:3}" "${operands[@]}" -o this.npz || { echo "failed: $1"; return 1; }
	tool diff --rtol 2e-5 --atol 2e-5 whole.npz this.npz || { echo "differs: $1"; return 1; }
}

# levels NAME: every saved level, interpreted and compiled, against the interpreted graph
levels() {
	local doc operands
	program "$1"
	save_levels "$1"
	tool run --interpret 1-graph.mp "${operands[@]}" -o whole.npz
	for doc in [1-7]-*.mp; do
		same "$1, $doc interpreted" "$doc" --interpret
	done
	for doc in 1-graph.mp 3-schedule.mp 5-loops.mp 7-objects.mp; do
		same "$1, $doc compiled" "$doc"
	done
}

# without NAME: each optional stage and pass left out, interpreted at the level it changes;
# whole.npz is from the interpreted graph
without() {
	local pass stage operands
	program "$1"
	tool trace "$1.t" > g.mp
	tool run --interpret g.mp "${operands[@]}" -o whole.npz
	for pass in $(optional schedule); do
		tool schedule --skip "$pass" g.mp > s.mp
		same "$1, schedule without $pass" s.mp --interpret
		tool fuse s.mp | tool lower -t clang > l.mp
		same "$1, schedule without $pass, lowered" l.mp --interpret
	done
	for pass in $(optional fuse); do
		tool fuse --skip "$pass" g.mp > s.mp
		same "$1, fuse without $pass" s.mp --interpret
		tool lower -t clang s.mp > l.mp
		same "$1, fuse without $pass, lowered" l.mp --interpret
	done
	for pass in $(optional lower); do
		for stage in clang opencl; do
			tool fuse g.mp | tool lower -t $stage --skip "$pass" > l.mp
			same "$1, lower -t $stage without $pass" l.mp --interpret
		done
	done
	tool schedule g.mp | tool lower -t clang > l.mp
	same "$1, without fuse" l.mp --interpret
	tool fuse --strict g.mp | tool lower --strict -t clang > l.mp
	same "$1, strict" l.mp --interpret
}

# compiled NAME: compiles the plainest program (everything optional left out), and the one without
# fuse
compiled() {
	local operands
	program "$1"
	tool trace "$1.t" > g.mp
	tool run --interpret g.mp "${operands[@]}" -o whole.npz
	tool schedule g.mp | tool render -t clang > p.mp
	same "$1, without fuse, compiled" p.mp
	tool schedule --skip simplify --skip order g.mp | tool lower -t clang --skip actions | tool render -t clang > p.mp
	same "$1, without anything, compiled" p.mp
}

# on_gpus NAME: the whole pipeline on each, and without fuse
on_gpus() {
	local operands target
	needs_gpu
	program "$1"
	tool trace "$1.t" > g.mp
	tool run --interpret g.mp "${operands[@]}" -o whole.npz
	tool schedule g.mp > s.mp
	for target in $(gpus); do
		same "$1, $target" g.mp -t "$target"
		same "$1, $target without fuse" s.mp -t "$target"
	done
}

@test "levels: attention, every saved level" { levels attention; }
@test "levels: state, every saved level" { levels state; }
@test "levels: symbolic sizes, every saved level" { levels symbolic; }
@test "levels: scan, sort, gather and scatter, every saved level" { levels places; }
@test "levels: sizes that are data, every saved level" { levels counted; }
@test "levels: random, convolution, integers, every saved level" { levels random; }

@test "levels: attention, each pass left out" { without attention; }
@test "levels: state, each pass left out" { without state; }
@test "levels: symbolic sizes, each pass left out" { without symbolic; }
@test "levels: scan, sort, gather and scatter, each pass left out" { without places; }
@test "levels: sizes that are data, each pass left out" { without counted; }
@test "levels: random, convolution, integers, each pass left out" { without random; }

@test "levels: attention, plain and compiled" { compiled attention; }
@test "levels: state, plain and compiled" { compiled state; }
@test "levels: symbolic sizes, plain and compiled" { compiled symbolic; }
@test "levels: scan, sort, gather and scatter, plain and compiled" { compiled places; }
@test "levels: random, convolution, integers, plain and compiled" { compiled random; }

@test "levels: attention on GPUs" { on_gpus attention; }
@test "levels: state on GPUs" { on_gpus state; }
@test "levels: symbolic sizes on GPUs" { on_gpus symbolic; }
@test "levels: scan, sort, gather and scatter on GPUs" { on_gpus places; }
@test "levels: sizes that are data on GPUs" { on_gpus counted; }
@test "levels: random, convolution, integers on GPUs" { on_gpus random; }

@test "levels: a pass that is required or unknown is refused with a message" {
	small_graph > g.mp
	fails 2 tool schedule --skip split g.mp
	fails 2 tool fuse --skip nosuch g.mp
}

@test "the output of --stop-after for any pass of fuse can be shown, and gives the same results" {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[3,4]\noutput y = softmax(x) + x\noutput z = max(x, axis=1)\n' > s.t
	tool trace s.t | tool schedule > s.mp
	tool run --interpret s.mp x=rand -o whole.npz
	for pass in $(tool fuse --help | sed -n '/^passes/,$ s/^[ *]* \([a-z]*\)  .*/\1/p'); do
		tool fuse --stop-after "$pass" s.mp > at.mp
		tool show at.mp | tool show -p | cmp - at.mp
		tool fuse at.mp > again.mp
		for doc in at.mp again.mp; do
			tool run $doc x=rand -o at.npz
			tool diff --rtol 1e-5 --atol 1e-6 whole.npz at.npz
		done
	done
}

@test "calls that fill memory are directly before their readers, if that needs less memory" {
	cd "$BATS_TEST_TMPDIR"
	{
		echo "input x f32[64, 64]"
		for i in 0 1 2 3 4 5; do echo "input w$i f32[64, 64]"; done
		for i in 0 1 2 3 4 5; do echo "k$i = matmul(x, w$i)"; done
		echo "y0 = matmul(k0, k1)"
		for i in 1 2 3 4; do echo "y$i = relu(matmul(y$((i - 1)), k$((i + 1))))"; done
		echo "output z = y4 + 1"
	} > p.t
	tool trace p.t > p.mp
	tool fuse --skip order p.mp --explain 2> before > /dev/null
	tool fuse p.mp --explain 2> after > f.mp
	grep -o 'workspace [0-9]*' before after
	[ "$(grep -o 'workspace [0-9]*' after | cut -d' ' -f2)" -lt "$(grep -o 'workspace [0-9]*' before | cut -d' ' -f2)" ]
	local given="x=rand w0=rand w1=rand w2=rand w3=rand w4=rand w5=rand"
	# shellcheck disable=SC2086
	ok tool run --interpret p.mp $given -o i.npz
	# shellcheck disable=SC2086
	ok tool run f.mp $given -o c.npz
	tool diff --rtol 1e-4 i.npz c.npz
}

@test "levels: a scatter of one value at one index takes every iteration, also with none" {
	cd "$BATS_TEST_TMPDIR"
	cat > one.t <<-'T'
		input x f64[3]
		input k i64[4]
		input n f64[m] where m in 1..5
		o = ones([4], dtype=f64)
		c = contiguous(o * 2)
		output add = scatter(x, k * 0, o, how="add"), mul = scatter(x, k % 1, exp(o), how="mul"), set = scatter(x, k * 0, o)
		output stored = scatter(x, k * 0, c, how="add"), both = scatter(x, contiguous(k * 0), contiguous(c + 1), how="add")
		output outside = scatter(x, k * 0 + 7, o, how="add"), most = scatter(x, k * 0, o * 7, how="max")
		output rows = scatter(zeros([2, 3]), expand(i64([[0], [1]]), 2, 5), ones([2, 5, 3]), how="add")
		def some(how) = scatter(x, i64(expand(f64([0]), size(n) - 1)), expand(f64([9]), size(n) - 1), how=how)
		output few = some("add"), last = some("set"), half = scatter(f16(x), i64(expand(f64([0]), 5000)), expand(f16([1]), 5000), how="add")
	T
	tool trace one.t > g.mp
	tool schedule g.mp > s.mp
	tool fuse s.mp > f.mp
	for m in 1 4; do
		ok tool run --interpret g.mp x=1,2,3 k=zeros n=zeros m=$m -o g.npz
		for level in s f; do
			ok tool run --interpret $level.mp x=1,2,3 k=zeros n=zeros m=$m -o l.npz
			ok tool diff g.npz l.npz
		done
		ok tool run g.mp x=1,2,3 k=zeros n=zeros m=$m -o l.npz
		ok tool diff g.npz l.npz
	done
	ok tool run f.mp x=1,2,3 k=zeros n=zeros m=4
	[[ $output == *$'add f64[3]\n[5. 2. 3.]'*$'both f64[3]\n[13.  2.  3.]'*$'last f64[3]\n[9. 2. 3.]'* ]] || { echo "$output"; return 1; }
}

@test "lower goes as far as an action of a list: what it leaves can be shown, run, proved and lowered on" {
	cd "$BATS_TEST_TMPDIR"
	local k list='r_*: split 2 8; split 0 8; split 1 16; order 2.0 0.0 1.0 0.1 1.1 2.1; kind 1.1 vector'
	printf '%s\n' 'input a f32[24, 40]' 'input b f32[40, 32]' 'output c = a @ b' | tool trace | tool fuse > s.mp
	tool run --interpret s.mp a=rand b=rand -o whole.npz
	for k in 0 1 2 3 4 5 6; do
		tool lower -t clang --opt "$list" --stop-after "action:$k" s.mp > at.mp
		tool show at.mp | tool show -p | cmp - at.mp
		tool prove s.mp at.mp
		tool lower -t clang at.mp > on.mp
		for doc in at.mp on.mp; do
			tool run --interpret $doc a=rand b=rand -o at.npz
			tool diff --rtol 1e-5 --atol 1e-6 whole.npz at.npz
		done
	done
	tool lower -t clang --opt "$list" s.mp | tool show --loops | cmp - <(tool show --loops on.mp)
	tool lower -t clang --opt "$list" --stop-after action:3 s.mp | tool show --loops > 3.txt
	cmp 3.txt - <<-'E'
	K0 r_24_32_40(c, a, b)
	  actions: split 2 8; split 0 8; split 1 16
	  for r0 < 3
	    for r1 < 8
	      for r2 < 2
	        for r3 < 16
	          s0 = add over r4 < 5, r5 < 8 of a[r0 * 320 + r1 * 40 + r4 * 8 + r5] * b[r4 * 256 + r5 * 32 + r2 * 16 + r3]
	          c[r0 * 256 + r1 * 32 + r2 * 16 + r3] = s0
	E
	# each of them printed, and proved by itself
	tool lower -t clang --opt "$list" -d action s.mp 2>&1 > /dev/null | grep '^#' | cmp - <(printf '# lower: after action:%d\n' 1 2 3 4 5)
	tool lower -t clang --opt "$list" -d action:2 s.mp 2>&1 > /dev/null | grep '^#' | cmp - <(echo '# lower: after action:2')
	tool lower -t clang --opt "$list" --prove s.mp 2>&1 > /dev/null | grep -c '^lower action:[1-5]: the same' | grep -qx 5
	tool lower -t clang --opt "$list" --prove --stop-after action:2 s.mp 2>&1 > /dev/null | sed -n 's/: the same.*//p' | tail -n 2 | cmp - <(printf 'lower action:%d\n' 1 2)
	for k in action action: action:x action:-1 action:1234567; do
		fails 2 tool lower -t clang --stop-after "$k" s.mp
		[[ $errors == *"no place in the pass rewrites: it has action:1"* ]]
	done
	fails 2 tool fuse --stop-after action:1 s.mp
}

@test "show --loops: kernels as nests of loops, from level schedule on" {
	printf '%s\n' 'input x f32[4, n] where n in 1..900' 'output y = softmax(x, axis=1)' 'output z = cumsum(x, axis=0)' | tool trace > g.mp
	tool fuse g.mp > s.mp
	tool show --loops s.mp > s.txt
	sed -n '/^K[0-9]* r_4_n/,$p' s.txt | sed 's/^K[0-9]* //' | head -5 | cmp - <(cat <<-'E'
	r_4_n(y, x)
	  for r0 < 4
	    s0 = max over r1 < n of x[r0, r1]
	    s1 = add over r1 < n of exp2((x[r0, r1] - s0) * 1.4426950216293335)
	    for r1 < n
	E
	)
	grep -q '      s0 = running add over r0 < 4 of x\[r0, r1\]' s.txt
	tool lower -t clang --opt 'r_4_n: split 0 2' --stop-after rewrites s.mp | tool show --loops | grep -q '    for r1 < 2'
	tool lower -t opencl s.mp | tool show --loops > l.txt
	grep -q '  grid \[4\] of groups of \[128\]' l.txt
	grep -q '^  actions: order 0 1; group 128 0' l.txt
	grep -q '^  barrier' l.txt
	tool lower -t clang --march x86-64-v4 s.mp | tool render -t clang | tool show --loops | grep -q ' +: 16\]'
	run tool show --loops g.mp
	[ "$status" = 2 ]
	[[ $output == *"level graph has no loops"* ]]
}
