# Actions with random parameters on random kernels, whose sizes are 1, primes and close to those of
# tiles (actions.py), against the interpreter: a list that lower accepts gives the graph's values;
# any other is refused in one line.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# drawn SEEDS COUNT TARGET ACTION…: COUNT kernels of each seed for each action; most lists must be
# accepted
drawn() {
	local action seed n m taken=0 refused=0 from=${SEED:-1}
	for action in "${@:4}"; do
		for seed in $(seq "$from" $((from + $1 - 1))); do
			python3 "$TESTS/actions.py" "$action" "$seed" "$2" "$3" > told || { echo "$action, seed $seed:"; cat told; return 1; }
			read -r n _ m _ < <(tail -n 1 told)
			taken=$((taken + n)) refused=$((refused + m))
		done
		[ "$taken" -gt 0 ] && [ "$taken" -gt "$refused" ] || { echo "$action: $taken lists taken, $refused refused"; return 1; }
	done
}

@test "actions: order and grid" { drawn 3 12 clang order grid; }
@test "actions: loops that are threads and vectors" { drawn 6 12 clang kind; }
@test "actions: tile and chunk" { drawn 3 12 clang tile chunk; }
@test "actions: ranges split, reductions outside of the loops of their accumulators" { drawn 6 12 clang split; }
@test "actions: ranges in blocks, what is left peeled" { drawn 6 12 clang peel; }
@test "actions: partial accumulators and jam" { drawn 3 12 clang partial jam; }
@test "actions: products of narrow integers as one op" { drawn 6 12 clang swap; }
@test "actions: parts of reductions" { drawn 6 12 clang rfactor; }
@test "actions: reductions with ranges of their own" { drawn 6 12 clang own; }
@test "actions: stage, packed operands too, and the next row prefetched" { drawn 3 12 clang stage prefetch_loads; }
@test "actions: the next row prefetched where other ranges of its place are tiled" {
	printf 'input x f16[8, 7, 5]\noutput y = cast(f32(x)[2:8, 1:4, 1:5], f16)\n' > p.t
	tool trace p.t | tool fuse > p.mp
	tool lower -t clang --opt 'E_*: stage MUL.2 0; order 2 1 0; stage ADD.3 2 0; tile 2 4 1; tile 0 4 1; prefetch_loads 1' p.mp > l.mp
	tool show l.mp | grep -q PREFETCH
	tool run l.mp x=rand -o a.npz
	tool run --interpret p.mp x=rand -o b.npz
	tool diff a.npz b.npz
	# and where what no tile takes is in a loop of its own
	printf 'input a f32[1, 3, 13, 11]\ninput b f32[4, 3, 3, 3]\noutput y = conv2d(a, b, padding=1)\n' | tool trace | tool fuse > c.mp
	tool lower -t llvm --opt 'r_*: tile 4 2 1; tile 5 2 1; tile 0 1 8; stage LOAD.1 0 3 5; prefetch_loads 1; stage RREDUCE.0 1' c.mp > l.mp
	tool run -t llvm l.mp a=rand b=rand -o a.npz
	tool run --interpret c.mp a=rand b=rand -o b.npz
	tool diff --atol 1e-5 a.npz b.npz
}

@test "actions: transpose, prefetched and nontemporal stores" { drawn 3 12 clang transpose prefetch_stores nontemporal; }

@test "actions: values with lanes, by LLVM" {
	has_llvm || skip "no LLVM library"
	drawn 2 10 llvm tile transpose jam partial stage chunk
}

# worded COUNT TARGET SEED…: random lists, as they are and in the primitives that --explain prints
worded() {
	local seed
	for seed in "${@:3}"; do
		python3 "$TESTS/words.py" "$seed" "$1" "$2" > told || { cat told; return 1; }
		[ "$(sed -nE '$s/.* ([0-9]+) with words.*/\1/p' told)" -gt 5 ]
	done
}

@test "actions: words and the primitives that they stand for make the same loops" {
	worded 5 clang 1 2
	worded 5 opencl 1
}

# run by pocl or another OpenCL device if there is one, and always by the interpreter of loops
@test "actions: items and groups of a GPU, local memory" { drawn 1 "$(sanitized && echo 3 || echo 8)" opencl bind group stage split peel swap own; }
@test "actions: ranges that are groups, items and tiles of a GPU" { drawn 2 "$(sanitized && echo 3 || echo 8)" opencl kind; }

@test "actions: lists that do not fit their kernel are refused" {
	local list
	printf 'input x f32[n, 48] where n in 3..40\ninput w f32[48, 33]\noutput y = x @ w\n' > m.t
	tool trace m.t | tool fuse > m.mp
	for list in 'order 0' 'order 0 0' 'order 0 2' 'tile 0 2' 'tile 0 0 1' 'tile 1 1 3' 'tile 1 2 16; tile 0 4 1; tile 0 1 1' \
		'tile 1 1 16; tile 0 2 1' 'tile 1 4096 64' 'chunk 1 2' 'tile 0 4 1; chunk 0 1' 'tile 0 2 1; chunk 0 3' \
		'tile 2 2 1; chunk 2 2' 'tile 1 1 16; chunk 1 4' 'grid 3' 'tile 0 64 1; grid 1' 'partial 3' 'partial 2048' 'jam 65' \
		'tile 0 1 64; tile 1 64 1; partial 1024' 'transpose LOAD.5' 'transpose LOAD.1 1' 'stage' 'stage RREDUCE.0' 'stage 0 1' 'stage LOAD.1 0' 'stage LOAD.1 2; stage LOAD.1 1' \
		'prefetch_loads' 'prefetch_loads 2' 'tile 0 2 1; prefetch_loads 0' 'bind 64 0 1' 'group 64 0' 'faster' 'stage LOAD.1000 1' 'stage LOAD 1' 'stage LOAD. 1' 'pad LOAD.0 1' 'grid -1' 'jam' \
		'split 0 2 peel; kind 0.0 thread' 'split 1 16 peel; kind 1.1 thread' 'split 1 16 peel; split 1.1 4' 'split 1 64 peel' 'split 1 16 peel; order 0 1.1 1.0' 'split 2 16 peel; order 2.0 0 2.1 1' \
		'split 1 16 peel; kind 1 unroll' 'split 1 16 peel; stage LOAD.1 1.1' 'split 2 16 peel; rfactor 2 4' 'split 2 16 peel; rfactor 2.1' 'split 0 2 peel; split 1 2 peel; grid 3' \
		'split 0 64 overlap; kind 0.1 jam' 'split 0 2 overlap; kind 0.1 jam; kind 0.1 vector' 'split 1 32 overlap; split 1.1 12; kind 1.1.0 jam; kind 1.1.1 vector' \
		'split 1 32 overlap; split 1.1 16; kind 1.1.0 jam' 'split 0 2 peel; kind 0.1 jam; split 0.0 2 overlap' 'kind 0 jam' 'kind 2 jam 0' 'kind 0 jam 4' 'kind 2 jam 4 near' 'kind 2 jam 4; kind 2 jam 2' \
		'split 0 2 overlap; kind 0.1 jam; split 0.0 2; kind 0.0.0 thread' 'split 0 2 overlap; kind 0.1 thread' 'rfactor 0 4' 'rfactor 2 3' 'kind 0.1 jam' 'order 0.0 1' 'stage LOAD.0 register' \
		'kind 1 thread' 'kind 0 thread; kind 0 thread' 'kind 2 thread' 'kind 0 vector' 'kind 1 vector' 'split 1 4; kind 1.1 vector; tile 1.1 1 4' 'kind 0 faster' \
		'split RREDUCE.0.0 2' 'split RREDUCE.0.3 2' 'split RREDUCE.1.2 2' 'split LOAD.0.2 2' 'split RREDUCE.0. 2' 'split RREDUCE.0 2' 'split RREDUCE.*.0 2' 'split RREDUCE.* 2' 'kind RREDUCE.0.2.0 unroll' 'split RREDUCE.0.2 8; kind RREDUCE.0.2 unroll' \
		'kind RREDUCE.0.2x unroll' 'order 0 1 2 RREDUCE.0.2' 'tile RREDUCE.0.2 2 1; chunk RREDUCE.0.2 2' 'kind RREDUCE.0.2 thread'; do
		fails 4 tool lower --opt "r_*: $list" m.mp || { echo "$list"; return 1; }
	done
	for list in 'bind 64 2' 'bind 3 0' 'bind 0 0' 'group 64 2' 'tile 0 2 1' 'grid 1' 'bind 64 0 1; tile 1 2 1' 'group 2048 0' \
		'kind 0 item' 'kind 2 group' 'kind 0 vector' 'kind 0 group; tile 0 2 1' 'kind 0 group; kind 0 item' 'kind 0 unroll' 'kind 1 unroll; tile 1 2 1' 'split 1 11; kind 1.1 item'; do
		fails 4 tool lower -t opencl --opt "r_*: $list" m.mp || { echo "$list"; return 1; }
	done
}

@test "actions: what a list writes out is bounded" {
	printf 'input a f32[64, 3000000]\noutput y = sum(a, axis=1)\n' | tool trace | tool fuse > m.mp
	fails 4 tool lower -t opencl --skip layout --opt 'r_*: kind 0 item; kind 1 unroll' m.mp
	fails 4 tool lower -t opencl --skip layout --opt 'r_*: split 1 10000; kind 0 item; kind 1.1 unroll' m.mp
	ok tool lower -t opencl --skip layout --opt 'r_*: split 1 16; kind 0 item; kind 1.1 unroll' m.mp
}

@test "actions: what is added in place is in no two chunks" {
	printf 'input x f32[1, 48]\nconst i = [0]\ninput u f32[1, 48]\noutput y = scatter(x, i, u, how="add")\n' | tool trace > g.mp
	tool fuse g.mp > m.mp
	fails 4 tool lower -t llvm --opt 'E_48n1: tile 0 2 8; chunk 0 2' m.mp
	tool lower -t llvm --opt 'E_48n1: tile 0 1 8; chunk 0 2' m.mp > l.mp
	tool run g.mp x=rand u=rand -o a.npz
	tool run --interpret l.mp x=rand u=rand -o b.npz
	tool diff a.npz b.npz
}

@test "actions: what is added in place by padded pieces is neither read nor written beyond its end" {
	printf 'input x f32[4, 47]\nconst i = [3]\ninput u f32[1, 47]\noutput y = scatter(x, i, u, how="add")\n' | tool trace > g.mp
	tool fuse g.mp > m.mp
	tool run g.mp x=rand u=rand -o a.npz
	for n in 8 24 46; do
		tool lower -t clang --opt "E_47: split 0 $n pad; order 0.0 0.1; grid 1" m.mp > l.mp
		tool run l.mp x=rand u=rand -o b.npz
		tool diff a.npz b.npz
	done
}

@test "actions: what is transposed inside of a reduction over the same range, or of an operand, is refused" {
	printf 'input a f32[16, 24]\noutput y = softmax(transpose(a, [1, 0]))\n' | tool trace | tool fuse > s.mp
	printf 'input a f32[16, 24]\ninput b f32[32, 24]\noutput y = a @ transpose(b, [1, 0])\n' | tool trace | tool fuse > m.mp
	fails 4 tool lower -t clang --opt '*: tile 1 1 1; tile 0 1 16; transpose LOAD.0 1; jam 4' s.mp
	fails 4 tool lower -t clang --opt '*: tile 0 1 1; tile 1 1 8; transpose LOAD.0 1; partial 2' s.mp
	fails 4 tool lower -t clang --opt '*: tile 0 2 1; tile 1 1 4; transpose LOAD.1 1; prefetch_stores' m.mp
	ok tool lower -t clang --opt '*: tile 0 2 1; tile 1 1 4; transpose LOAD.1 1; jam 2' m.mp
}

@test "actions: what is peeled is added in the order of plain loops, and proved" {
	local list
	printf 'input x f32[n, 19] where n in 1..40\ninput w f32[19, 33]\noutput y = x @ w\n' > m.t
	tool trace m.t | tool fuse > m.mp
	for n in 1 7 40; do tool lower -t clang --skip actions m.mp | tool run n=$n x=rand w=rand -o plain$n.npz; done
	for list in 'split 2 8 peel' 'split 2 8 peel; order 2.0 0 1 2.1' 'split 0 4 peel; split 1 10 peel; order 0.0 1.0 0.1 1.1' \
		'split 1 8 peel; split 2 4 peel; kind 2.1 unroll; order 1.0 2.0 0 1.1 2.1; kind 1.1 unroll' 'split 2 5 peel; order 0 2.0 1 2.1; kind 0 thread'; do
		tool lower -t clang --opt "r_*: $list" m.mp > l.mp
		ok tool prove m.mp l.mp || { echo "$list: $output"; return 1; }
		for n in 1 7 40; do
			tool run n=$n x=rand w=rand l.mp -o l.npz
			ok tool diff --ulp 0 plain$n.npz l.npz || { echo "$list, n=$n: $output"; return 1; }
		done
	done
}

@test "actions: two reductions over one range, one split, the other in another order, the output in tiles" {
	local list loops='max over r2 < 48|add over r3 < 48'
	printf 'input x f32[n, 48] where n in 1..9\noutput y = softmax(x)\n' > s.t
	tool trace s.t | tool fuse > s.mp
	tool show --loops s.mp | grep -q 'max over r1 < 48'
	tool lower --opt 'r_*: split RREDUCE.1.1 8; split RREDUCE.0.1 5' --stop-after binders s.mp > own.mp
	[ "$(tool show --loops own.mp | grep -cE "$loops")" = 2 ]
	tool show own.mp | sed 's/actions: .*\]\], b/b/' | tool show -p | tool lower --skip actions > plain.mp
	tool show own.mp | sed 's/binders: .*\]\]/binders: [5]/' | tool show -p > bad.mp
	fails 4 tool lower bad.mp
	for n in 1 9; do tool run --interpret n=$n x=rand s.mp -o i$n.npz; done
	for list in 'split RREDUCE.1.1 8' 'split RREDUCE.0.1 5; order RREDUCE.0.1.1 0 1' 'split RREDUCE.1.1 7 peel; order RREDUCE.1.1.0 0 1 RREDUCE.1.1.1; split RREDUCE.0.1 16' \
		'rfactor RREDUCE.1.1 16' 'split RREDUCE.1.1 4; rfactor RREDUCE.1.1.1; split 1 32 overlap; kind 1.1 vector' 'split RREDUCE.0.1 8; split RREDUCE.1.1 8; split 1 10 overlap; kind RREDUCE.0.1.1 unroll' \
		'kind RREDUCE.0.1 unroll; kind RREDUCE.1.1 jam 3; tile 1 1 16' 'split RREDUCE.*.1 8; split 1 10 overlap' 'split RREDUCE.*.1 8; split RREDUCE.1.1 5 peel; kind RREDUCE.*.1.1 unroll'; do
		for target in clang opencl; do
			[[ $target = clang || $list != *@(order|vector|peel|tile|overlap)* ]] || continue
			tool lower -t $target --opt "r_*: $list" s.mp > l.mp
			ok tool prove s.mp l.mp || { echo "$target, $list: $output"; return 1; }
			for n in 1 9; do
				tool run --interpret n=$n x=rand l.mp -o l.npz
				ok tool diff --rtol 2e-6 i$n.npz l.npz || { echo "$target, $list, n=$n: $output"; return 1; }
			done
		done
		tool lower --opt "r_*: $list" s.mp | tool run n=9 x=rand -o c.npz
		ok tool diff --rtol 2e-6 i9.npz c.npz || { echo "compiled, $list: $output"; return 1; }
		# the document as it is between two passes is lowered to the same loops
		tool lower --opt "r_*: $list" s.mp > whole.mp
		tool lower --opt "r_*: $list" --stop-after binders s.mp | tool lower > again.mp
		ok tool diff whole.mp again.mp || { echo "again: $list"; return 1; }
	done
}

@test "actions: reductions share a range that is not the output's" {
	printf 'input x f32[5, 48]\noutput y = x * sum(x * x, axis=1, keepdims=true) + sum(x, axis=1, keepdims=true)\n' | tool trace | tool fuse > s.mp
	tool lower --opt 'r_*: split RREDUCE.*.1 8; split 1 7 overlap; kind 1.1 vector' s.mp > l.mp 2>&1 && return 1
	tool lower --opt 'r_*: split RREDUCE.*.1 8; split 1 16 overlap; kind 1.1 vector' s.mp > l.mp
	[ "$(tool show --loops l.mp | grep -c 'reduce$')" = 2 ]
	tool lower --opt 'r_*: split RREDUCE.0.1 8; split RREDUCE.1.1 8' s.mp | tool show --loops > two
	[ "$(grep -c 'reduce$' two)" = 4 ]
	ok tool prove s.mp l.mp
	tool run --interpret x=rand s.mp -o i.npz
	tool run x=rand l.mp -o l.npz
	ok tool diff --rtol 2e-6 i.npz l.npz
}

@test "actions: serial loops stay in order" {
	local list
	printf 'input x f32[9, 7]\noutput y = cumsum(x, axis=0)\n' > s.t
	tool trace s.t | tool fuse > s.mp
	for list in 'order 1 0' 'grid 1' 'tile 1 2 1'; do ok tool lower --opt "scan_*: $list" s.mp; done
	for list in 'order 0 1' 'tile 0 2 1' 'grid 2' 'split 0 2 peel' 'split 0 2 overlap' 'split 0 2; order 0.1 0.0 1' 'split 0 2; rfactor 0.1'; do
		fails 4 tool lower --opt "scan_*: $list" s.mp || { echo "$list"; return 1; }
	done
	fails 4 tool lower -t opencl --opt 'scan_*: bind 16 0' s.mp
	fails 4 tool lower -t opencl --opt 'scan_*: group 16 1' s.mp
}

# tiles over the axes beside the scan, over parts of it, and both; their threads; what is left of the last part
@test "actions: tiled scans, and scans in parts" {
	local list n
	printf 'input x f32[n, 37] where n in 9..70\noutput y = cumsum(x, axis=0)\noutput m = cummax(x, axis=0, reverse=true)\noutput k = cumprod(i8(x * 9), axis=0, dtype="i8")\n' |
		tool trace | tool fuse > s.mp
	for n in 9 16 70; do tool run --interpret s.mp n=$n x=rand -o i$n.npz; done
	for list in 'tile 1 2 16' 'tile 1 3 1; grid 1' 'split 1 8; tile 1.1 1 8; order 1.0 1.1 0' 'split 0 8' 'split 0 8; rfactor 2' 'split 0 8 pad; rfactor 2; stage RREDUCE.0 2' \
		'split 0 8; rfactor 2; order 0.0 1 0.1; tile 1 1 16; kind 0.0 thread' 'split 0 9; rfactor 2; tile 0.0 2 1; tile 1 1 8' 'split 0 8; rfactor 2; split 0.1 4; rfactor 4' \
		'split 0 8; rfactor 2; split 2 2; rfactor 2.1; stage RREDUCE.0 2.0 2.1'; do
		tool lower -t clang --opt "scan_*: $list" s.mp > l.mp || { echo "$list"; return 1; }
		ok tool prove s.mp l.mp || { echo "$list: $output"; return 1; }
		for n in 9 16 70; do
			tool run l.mp n=$n x=rand -o l.npz
			ok tool diff --rtol 1e-5 i$n.npz l.npz || { echo "$list, n=$n: $output"; return 1; }
		done
	done
	for list in 'split 0 8; rfactor 2; kind 0.0 item 8' 'split 0 8; rfactor 2; kind 0.0 item 16; kind 1 item 16' 'split 0 8; rfactor 2; stage RREDUCE.0 2; kind 1 item 8'; do
		tool lower -t opencl --opt "scan_*: $list" s.mp > l.mp || { echo "$list"; return 1; }
		ok tool prove s.mp l.mp || { echo "$list: $output"; return 1; }
		tool run --interpret l.mp n=70 x=rand -o l.npz
		ok tool diff --rtol 1e-5 i70.npz l.npz || { echo "$list: $output"; return 1; }
	done
}

@test "actions: no row buffer is chosen across a loop that must run in order" {
	printf 'input w f64[3, 2]\noutput y = minimum(softmax(w, axis=1), cumprod(w, axis=0))\n' > r.t
	tool trace r.t > r.mp
	ok tool run --interpret r.mp w=rand -o i.npz
	ok tool run r.mp w=rand -o c.npz
	ok tool diff i.npz c.npz
}

# a scan of what is the same along an axis inside of its own loop has no lanes: these would be inside of that loop too
@test "actions: a scan that does not depend on the innermost axis" {
	local size
	for size in 1 2 3; do
		printf 'input b f32[2, 8, 5]\noutput y = cumsum(expand(reshape(sum(b, axis=2), [1, 1, 1, 2, 8, 1]), [10, 7, 3, 2, 8, %d]), axis=0)\n' "$size" |
			tool trace > s.mp
		tool run s.mp b=rand -o a.npz
		tool run --interpret s.mp b=rand -o b.npz
		tool diff --rtol 1e-5 a.npz b.npz
	done
}

# calls that share slices are one kernel only while their items are these slices, in this order
@test "actions: a list that has other items than its slices leaves the calls apart" {
	printf 'input q f32[4, 512, 64]\ninput k f32[4, 512, 64]\ninput v f32[4, 512, 64]\noutput y = softmax(q @ transpose(k, [0, 2, 1])) @ v\n' |
		tool trace | tool fuse > a.mp
	tool run a.mp q=rand k=rand v=rand -o a.npz
	local list name
	name=$(tool layout a.mp | tool show | sed -n 's/.*KERNEL.*name: "\([^"]*\)".*slice: {first: true.*/\1/p' | head -n 1)
	[ -n "$name" ]
	for list in 'order 1 0 2 4; grid 2' 'order 0 1 2 4; grid 1' 'order 0 1 2 4; grid 3' 'order 0 1 2 4; grid 2; tile 2 4 1' ''; do
		ok tool lower --opt "$name: $list" a.mp || { echo "$list"; return 1; }
		tool run stdout q=rand k=rand v=rand -o b.npz
		tool diff --rtol 1e-4 --atol 1e-6 a.npz b.npz || { echo "$list"; return 1; }
	done
}
