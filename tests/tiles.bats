# Tiles, vectors, packed operands, split and jammed sums: contractions, reductions and row kernels
# of random shapes (1, primes, sizes close to those of tiles; tiles.py) against the interpreter, for
# each vector width.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

inputs_of() { tool show "$1" | sed -n 's/.*name: "\([a-z]*\)".*role: "input".*/\1=rand/p'; }

# tiled FROM TO [OPTION of lower…]: seeds FROM to TO, by the interpreter, by its loops, and compiled
tiled() {
	local seed
	for seed in $(seq "$1" "$2"); do
		python3 "$TESTS/tiles.py" "$seed" > t.t
		tool trace t.t > t.mp
		tool fuse t.mp | tool lower -t clang "${@:3}" > l.mp
		# shellcheck disable=SC2046
		tool run --interpret t.mp $(inputs_of t.mp) -o i.npz &&
			tool run --interpret l.mp $(inputs_of t.mp) -o l.npz &&
			tool run l.mp $(inputs_of t.mp) -o c.npz &&
			tool diff --rtol 1e-5 --atol 2e-5 i.npz l.npz &&
			tool diff --rtol 1e-5 --atol 2e-5 i.npz c.npz || { echo "seed $seed"; cut -c1-200 t.t; return 1; }
	done
}

@test "tiles: random kernels" { tiled 1 40; }

@test "tiles: random kernels, shorter vectors" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	tiled 41 60 --march x86-64-v3
	tiled 61 70 --march x86-64
}

@test "tiles: given actions, for any shape" {
	printf 'input a f32[13, 37]\ninput b f32[37, 50]\noutput y = relu(a @ b)\n' > m.t
	tool trace m.t > m.mp
	tool run --interpret m.mp a=rand b=rand -o i.npz
	for list in '' 'partial 8' 'tile 0 5 1' 'tile 1 3 4' 'tile 0 4 1; tile 1 2 8; grid 2' 'order 1 0; tile 1 3 16; jam 4' 'order 1 0; tile 1 3 16; jam 5 1' \
		'tile 0 2 1; tile 1 1 16; chunk 0 3; grid 3' 'order 1 0; tile 0 13 1; tile 1 1 2; grid 1; nontemporal'; do
		tool fuse m.mp | tool lower --opt "r_*: $list" > l.mp
		tool run l.mp a=rand b=rand -o c.npz
		tool run --interpret l.mp a=rand b=rand -o l.npz
		tool diff --rtol 1e-5 i.npz c.npz && tool diff --rtol 1e-5 i.npz l.npz || { echo "$list"; return 1; }
	done
	tool fuse m.mp > f.mp
	fails 4 tool lower --opt 'r_*: tile 7 2 1' f.mp
	fails 4 tool lower --opt 'r_*: tile 1 1 3' f.mp
	fails 4 tool lower --opt 'r_*: grid 9' f.mp
	fails 2 tool lower --opt 'tile 1 2' f.mp
	fails 3 tool lower --march z80 f.mp
}

@test "tiles: lists by hand for several kernels" {
	printf 'input x f32[40, 72]\noutput y = x @ transpose(x), s = sum(x, axis=0)\n' | tool trace | tool fuse > s.mp
	tool lower -t clang --opt 'r_40_*: tile 0 2 1' --opt 'r_72*: partial 2' --explain s.mp > l.mp 2> told
	grep -q 'r_40_.*: actions: tile 0 2 1$' told
	grep -q 'r_72.*: actions: partial 2$' told
	tool run --interpret s.mp x=rand -o a.npz
	tool run --interpret l.mp x=rand -o b.npz
	tool diff --rtol 1e-5 a.npz b.npz
	# each list is for some kernel; of the schedule they are one behind the other
	fails 2 tool lower -t clang --opt 'r_40_*: tile 0 2 1' --opt 'X: partial 2' s.mp
	fails 4 tool layout -t clang --opt 'SINK: split y 0 4' --opt 'SINK: split y 9 4' s.mp
	ok tool layout -t clang --opt 'SINK: split y 0 4' --opt 'SINK: split y 1 4' s.mp
	[ "$(tool show --loops stdout | grep -c 'for r[0-9]* < 10$')" = 2 ]
}

# what is summed along rows beside their products: once, before them, whose accumulators fill registers
@test "tiles: sums of rows beside their products" {
	printf 'input a f32[50, 64]\ninput b f32[64, 70]\noutput y = (a @ b) / sqrt(sum(a * a, axis=1, keepdims=true))\n' | tool trace > s.mp
	tool fuse s.mp | tool lower -t clang --explain > l.mp 2> told
	grep -q 'actions: order 0 1; ' told
	tool show --loops l.mp > loops
	[ "$(grep -n -m1 ' + v\([0-9]*\) \* v\1$' loops | cut -d: -f1)" -lt "$(grep -n -m1 ' b\[' loops | cut -d: -f1)" ]
	tool run --interpret s.mp a=rand b=rand -o i.npz
	tool run --interpret l.mp a=rand b=rand -o l.npz
	tool run l.mp a=rand b=rand -o c.npz
	tool diff --rtol 1e-5 i.npz l.npz
	tool diff --rtol 1e-5 i.npz c.npz
}

# the panels that are prefetched are the weights', whatever else is read along the columns
@test "tiles: panels of a layer with a bias" {
	printf 'input w f32[1024, 1056]\ninput b f32[1056]\noutput u = w + 0, c = b + 0\n' | tool trace > w.mp
	tool run --interpret w.mp w=rand b=rand -o w.npz
	printf 'input x f32[64, 1024]\nconst w = load("w.npz", "u")\nconst b = load("w.npz", "c")\noutput y = b + x @ w\n' > m.t
	tool trace m.t | tool fuse | tool lower -t clang --march x86-64-v3 --explain > l.mp 2> told
	grep -q 'r_64_.*: actions: .*prefetch_loads' told
}

# rows pages apart, in memory: the row of the processor says how it reads runs of them
@test "tiles: rows in memory are read in runs, or a few wide ones at once where runs are slow" {
	printf 'input x f32[256, 2051]\noutput y = sum(x, axis=0), z = max(x * 0.5, axis=0)\n' | tool trace | tool fuse > p.mp
	tool run --interpret p.mp x=rand -o a.npz
	local runs
	for runs in 14 8; do
		figures 'cache: 32768 524288 16777216\nread: 192 99 53 14\nruns: %s\n' $runs
		tool lower -t clang --march x86-64-v3 --measured --explain p.mp > l.mp 2> told
		if [ $runs = 14 ]; then
			grep -q 'parts_r_.*tile 0 29 8; .*prefetch_loads 1' told
		else
			grep -q 'parts_r_.*tile 0 129 8; .*jam 8' told
			not grep -q prefetch_loads told
		fi
		tool lower -t clang --march x86-64-v3 --measured --prove p.mp > /dev/null
		tool run l.mp x=rand -o b.npz
		tool diff --rtol 1e-4 a.npz b.npz
	done
}

# rows of a page and more are read one after another, unless they meet what their neighbours meet
@test "tiles: sums of rows, each by itself or side by side" {
	local expr n want
	while read -r n want expr; do
		printf 'input x f32[1030, %s]\ninput b f32[%s]\noutput y = %s\n' "$n" "$n" "$expr" | tool trace > m.mp
		tool fuse m.mp > p.mp
		tool lower -t clang --march x86-64-v3 --explain p.mp > l.mp 2> told
		grep -q " r_.*: actions: order 0; ${want//|/ }" told || { cat told; return 1; }
		tool run --interpret m.mp x=rand b=rand -o a.npz
		tool run l.mp x=rand b=rand -o b.npz
		tool diff --rtol 1e-4 a.npz b.npz
	done <<-'END'
	1100 grid|1;.partial|64 sum(x, axis=1)
	1100 tile|0|4|1;.grid|1;.partial|32 sum(x * b, axis=1)
	700 tile|0|4|1;.grid|1;.partial|32 sum(x, axis=1)
	END
}

# a softmax prefetches the row that it will store, where there is more than a second cache holds, and none that goes past the caches
@test "tiles: the row that is stored is prefetched" {
	local rows want
	figures 'cache: 32768 65536 1048576\n'
	while read -r rows want; do
		printf 'input x f32[%s, 640]\noutput y = softmax(x, axis=1)\n' "$rows" | tool trace > m.mp
		tool fuse m.mp > p.mp
		tool lower -t clang --march x86-64-v3 --measured --explain p.mp > l.mp 2> told
		[ "$(tool show --loops l.mp | grep -c 'prefetch y\[')" "$want" 0 ] || { cat told; return 1; }
		[ "$want" = -eq ] || grep -q 'what is stored to fetched before' told
		tool run --interpret m.mp x=rand -o a.npz
		tool run l.mp x=rand -o b.npz
		tool diff --rtol 1e-5 --atol 1e-6 a.npz b.npz
		tool lower -t clang --march x86-64-v3 --measured --prove p.mp > /dev/null
	done <<-'END'
	30 -eq
	300 -gt
	700 -eq
	END
}

# rows that are looked up: one after another where registers hold the sums, else a few at once
@test "tiles: sums of rows that are looked up" {
	local columns jam
	for columns in 64 512; do
		printf 'input i i64[50, 30]\ninput w f32[900, %s]\noutput y = sum(embedding(i, w), axis=1), z = max(embedding(i, w), axis=1)\n' \
			$columns | tool trace | tool fuse > p.mp
		tool lower -t clang --march x86-64-v3 --explain p.mp > l.mp 2> told
		jam=$(grep -c 'actions: .*jam 4' told || true)
		[ $columns = 64 ] && [ "$jam" = 0 ] || { [ $columns = 512 ] && [ "$jam" -gt 0 ]; }
		tool run --interpret p.mp i=zeros w=rand -o a.npz
		tool run l.mp i=zeros w=rand -o b.npz
		tool diff --rtol 1e-5 a.npz b.npz
	done
}

# a long chain of operations for each element, and more than the last cache holds: twice as many vectors side by side, stored past
# the caches; of less neither
@test "tiles: elements with long chains whose data no cache holds" {
	local n want
	while read -r n want; do
		printf 'input x f32[%s]\ninput z f32[%s]\noutput y = gelu(x * z + 1)\n' "$n" "$n" | tool trace | tool fuse |
			tool lower -t clang --march x86-64-v4 --explain 2> told > l.mp
		grep -q "actions: order 0; $want\$" told || { cat told; return 1; }
	done <<-'END'
	1000000 tile 0 4 16; grid 1
	8000000 tile 0 8 16; grid 1; nontemporal; prefetch_loads 0
	END
}

# windows are written out from 4096 terms on
@test "tiles: small windows are written out" {
	local n
	for n in 14 5; do
		printf 'input x f32[1,32,%s,%s]\ninput w f32[32,1,3,3]\noutput y = conv2d(x, w, padding=1, groups=32)\n' $n $n > p.t
		tool trace p.t > p.mp
		tool fuse p.mp | tool lower -t clang --march x86-64-v4 --explain > l.mp 2> told
		if [ $n = 14 ]; then
			grep -q 'actions: .*kind 3 unroll; kind 4 unroll' told
		fi
		tool run --interpret p.mp x=rand w=rand -o i.npz
		tool run --interpret l.mp x=rand w=rand -o l.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
	done
}

# blocks_of PROGRAM…: its list is of blocks of a reduction, and what they add is what panels add, in the same order
blocks_of() {
	printf '%s\n' "$@" > m.t
	tool trace m.t > m.mp
	tool fuse m.mp > s.mp
	tool lower -t clang --march x86-64-v3 --measured --explain s.mp > l.mp 2> told
	grep -q ' r_.*: actions: .*split [0-9]* [0-9]* peel; .*prefetch_loads' told || { cat told; return 1; }
	tool run --interpret m.mp x=rand -o a.npz
	tool run --interpret l.mp x=rand -o b.npz
	tool run -j 3 l.mp x=rand -o c.npz
	tool lower -t llvm --march x86-64-v3 --measured s.mp | tool render -t llvm | tool run x=rand -o d.npz
	tool lower -t clang --march x86-64-v3 s.mp | tool run x=rand -o e.npz
	tool diff --rtol 1e-5 --atol 1e-5 a.npz b.npz
	tool diff --rtol 1e-5 --atol 1e-5 a.npz d.npz
	tool diff --rtol 0 --atol 0 c.npz e.npz
}

@test "tiles: panels of which the second cache does not hold two are read in blocks of the reduction" {
	figures 'cores: 1\ncache: 32768 65536 16777216\n'
	local w='const w = load("w.npz", "u")' k
	# blocks of 384 iterations are even; of 383 some are left, in a loop of their own
	for k in 384 383; do
		printf 'input w f32[%d, 176]\noutput u = w - 0.5\n' $k | tool trace | tool run --interpret w=rand -o w.npz
		blocks_of "input x f32[12, $k]" "$w" 'output y = relu(x @ w) + 1'
		[ "$(tool show --loops l.mp | grep -c '^ *prefetch ')" = $((k == 383 ? 2 : 1)) ] || { tool show --loops l.mp; return 1; }
	done
	tool lower -t clang --march x86-64-v3 --measured --prove s.mp > /dev/null
	# few columns: threads would wait for each other
	printf '%s\n' 'input x f32[24, 1149]' "$w" 'output y = x @ concat([w, w, w], axis=0)[:, :48]' | tool trace | tool fuse |
		tool lower -t clang --march x86-64-v3 --measured --explain 2> told > /dev/null
	not grep -q peel told
	# a tile's panels of channels lie apart: a block of each is prefetched
	sed -i s/65536/131072/ cache/sluice/machine
	printf 'input w f32[256, 64, 3, 3]\noutput u = w - 0.5\n' | tool trace | tool run --interpret w=rand -o w.npz
	blocks_of 'input x f32[1, 64, 7, 7]' "$w" 'output y = conv2d(x, w, padding=1)'
	[ "$(tool show --loops l.mp | sed '1,/^K[0-9]* r_256/d; /^K/,$d' | grep -c '^ *prefetch ')" = 2 ] || { tool show --loops l.mp; return 1; }
}

@test "tiles: what tiles that follow read is prefetched, where elements wait for a chain and for memory" {
	figures 'cache: 4096 16384 65536\n'
	printf 'input x f32[16384]\ninput k f32[1]\noutput y = gelu(x * k)\n' | tool trace | tool fuse > p.mp
	tool lower -t clang --march x86-64-v4 --measured p.mp > l.mp
	[ "$(tool show --loops l.mp | grep -c '^ *prefetch x')" = 8 ] || { tool show --loops l.mp; return 1; }
	not grep -q 'prefetch k' <(tool show --loops l.mp)
	# between what elements side by side compute, behind the values of their places
	printf 'input x f32[5, 7, 300]\ninput k f32[1]\noutput y = exp(x[:, 1:6, 3:131] / k)\n' | tool trace | tool fuse > p.mp
	tool lower -t clang --march x86-64-v4 --opt 'E_*: tile 2 8 16; grid 2; prefetch_loads 2' p.mp > l.mp
	[ "$(tool show --loops l.mp | grep -c '^ *prefetch x')" = 8 ]
	tool render -t clang l.mp > r.mp
	tool run --interpret p.mp x=rand k=rand -o i.npz
	tool run --interpret l.mp x=rand k=rand -o l.npz
	tool diff --rtol 1e-5 i.npz l.npz
	# beside loops of another tile, of what tiles leave, and of a sum in lanes
	printf 'input x f32[n, 37] where n in 1..64\ninput k f32[37]\noutput y = exp(x) * k + sum(x, axis=1, keepdims=true)\n' | tool trace | tool fuse > p.mp
	local list n
	for list in 'tile 1 2 8' 'tile 0 2 1; tile 1 2 8' 'tile 1 1 8; grid 2' 'tile 1 2 8; stage LOAD.0 1'; do
		tool lower -t clang --opt "*: $list; prefetch_loads 1" p.mp > l.mp
		grep -q '^ *prefetch x' <(tool show --loops l.mp)
		for n in 1 5; do
			tool run --interpret p.mp x=rand k=rand n=$n -o i.npz
			tool run --interpret l.mp x=rand k=rand n=$n -o l.npz
			tool run l.mp x=rand k=rand n=$n -o c.npz
			tool diff --rtol 1e-5 i.npz l.npz
			tool diff --rtol 1e-5 i.npz c.npz
		done
	done
}

@test "tiles: what follows in streams of constants is prefetched, where the last cache does not keep them" {
	printf 'input w f32[301, 128]\noutput u = w - 0.5\n' | tool trace | tool run --interpret w=rand -o w.npz
	printf 'input x f32[1, 301]\nconst w = load("w.npz", "u")\noutput y = x @ w\n' > m.t
	tool trace m.t | tool fuse > p.mp
	tool run --interpret p.mp x=rand -o i.npz
	local last
	for last in 65536 16777216; do
		figures 'cache: 4096 16384 %s\n' $last
		tool lower -t clang --march x86-64-v4 --measured p.mp > l.mp
		# 150 iterations of two streams, of four lines each; the last one by itself
		[ "$(tool show --loops l.mp | sed '1,/for r[0-9]* < 150/d' | grep -c '^ *prefetch w')" = $((last == 65536 ? 8 : 0)) ] ||
			{ tool show --loops l.mp; return 1; }
		tool lower -t clang --march x86-64-v3 --measured p.mp > l.mp
		tool run --interpret l.mp x=rand -o l.npz
		tool run l.mp x=rand -o c.npz
		tool diff --rtol 1e-4 --atol 1e-5 i.npz l.npz
		tool diff --rtol 1e-4 --atol 1e-5 i.npz c.npz
	done
	# of iterations whose number is known only at the call
	printf 'input a f32[n] where n in 2..90\ninput b f32[n, 24]\noutput y = sum(reshape(a, [n, 1]) * b, axis=0)\n' | tool trace | tool fuse > p.mp
	tool lower -t clang --opt 'r_*: tile 0 2 8; jam 2 1; prefetch_loads 1' p.mp > l.mp
	grep -q '^ *prefetch b' <(tool show --loops l.mp)
	for last in 2 7; do
		tool run --interpret p.mp a=rand b=rand n=$last -o i.npz
		tool run l.mp a=rand b=rand n=$last -o c.npz
		tool diff --rtol 1e-5 i.npz c.npz
	done
}

@test "tiles: threads keep what they wrote" {
	printf '%s\n' 'input a f32[64, 16, 1, 1]' 'input b f32[64, 1, 3, 3]' 'input c f32[32, 64, 1, 1]' \
		'output u = a - 0.5' 'output v = b - 0.5' 'output w = c - 0.5' | tool trace | tool run --interpret a=rand b=rand c=rand -o w.npz
	# rows in even chunks; in tiles of which one is computed twice; in none, since too many would be
	local n cores how
	while read -r n cores how; do
		printf '%s\n' "input x f32[1, 16, $n, $n]" 'const a = load("w.npz", "u")' 'const b = load("w.npz", "v")' 'const c = load("w.npz", "w")' \
			'y = relu(conv2d(x, a))' 'z = relu(conv2d(y, b, padding=1, groups=64))' 'output r = conv2d(z, c)' | tool trace | tool fuse > p.mp
		figures 'cores: %s\n' "$cores"
		tool lower -t clang --march x86-64-v4 --measured --explain p.mp > l.mp 2> told
		if [ "$how" = none ]; then
			not grep -q 'threads keep' told
		else
			grep -q "_3_3: threads keep what they wrote: .*r1 .* outermost" told
			grep -q "_3_3: actions: $how" told
		fi
		tool run --interpret p.mp x=rand -o a.npz
		tool run --interpret l.mp x=rand -o l.npz
		tool diff --rtol 1e-4 a.npz l.npz
		[ "$n $cores" != "16 2" ] || tool lower -t clang --march x86-64-v4 --measured --prove p.mp > /dev/null
		tool lower -t clang --measured p.mp | tool run -j 3 x=rand -o b.npz
		tool diff --rtol 1e-4 a.npz b.npz
	done <<- 'E'
		16 2 order 0 1 .* chunk 1 2; grid 4
		66 2 order 0 1 .* chunk 1 17; grid 3
		10 2 order 1 0 .* grid 4
		16 1 none
	E
	# a list by hand is left as it is
	figures 'cores: 2\n'
	tool lower -t clang --march x86-64-v4 --measured --explain --opt 'r_64_*_3_3: order 0 1 2 5; tile 5 1 16; grid 2' p.mp 2> told > /dev/null
	not grep -q '_3_3: threads keep' told
}

@test "tiles: no item computes again what all of them need, unless that is little beside the rest" {
	# a row alone, all of an array, the columns of a few rows: shared by threads or not
	local shape axis shared
	while read -r shape axis shared; do
		axis=${axis#-}
		printf '%s\n' "input x f32[$shape]" "output y = (x - mean(x$axis)) / (std(x$axis) + 0.5)" | tool trace | tool fuse > p.mp
		tool lower -t clang --march x86-64-v4 p.mp > l.mp
		[ "$(tool show --loops l.mp | grep -c '  grid')" = "$shared" ]
		tool run --interpret p.mp x=rand -o a.npz
		tool lower -t clang p.mp | tool run -j 3 x=rand -o b.npz
		tool diff --rtol 1e-4 a.npz b.npz
	done <<- 'E'
		1000 - 0
		64,64 - 0
		33,33,4 - 0
		64,64 ,axis=1,keepdims=true 1
		300,64 ,axis=1,keepdims=true 1
	E
}
