#!/usr/bin/env bats
# What shortens the way to a first result, and changes no bit: kernels that are not optimised, tiles
# that stay loops, constants prepared without vectors. A case is a program or a model.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	mkdir cache
}

program() { printf '%s\n' "$@" > p.t; tool trace p.t | tool fuse > f.mp; }

# briefs: lowers f.mp to l.mp and prints the names of the kernels that are marked
briefs() {
	tool lower -t clang f.mp > l.mp
	tool show l.mp | sed -n 's/.*= KERNEL.*{name: "\([^"]*\)".*brief: true.*/\1/p'
}

# same_bits OPERANDS: f.mp gives the same bits whatever the compiler optimises
same_bits() {
	local cc
	tool render -t clang f.mp | tool run "$@" -o a.npz
	tool lower -t clang --skip brief f.mp | tool render -t clang | tool run "$@" -o b.npz
	cmp a.npz b.npz
	tool render -t clang f.mp | tool run --fast-compile "$@" -o b.npz
	cmp a.npz b.npz
	for cc in gcc clang; do
		command -v $cc > /dev/null || continue
		tool render -t clang f.mp | tool run --cc $cc "$@" -o b.npz
		cmp a.npz b.npz
	done
	! has_llvm || same_bits_llvm "$@"
}

# the same of LLVM's library
same_bits_llvm() {
	tool render -t llvm f.mp | tool run "$@" -o a.npz
	tool lower -t llvm --skip brief f.mp | tool render -t llvm | tool run "$@" -o b.npz
	cmp a.npz b.npz
	tool render -t llvm f.mp | tool run --fast-compile "$@" -o b.npz
	cmp a.npz b.npz
}

@test "cold: what takes little of a call is brief, and no more than that" {
	program 'input x f32[512, 512]' 'input v f32[8]' 'y = x @ x' 'output z = y @ x' 'output w = exp(contiguous(v * 2))'
	[ "$(briefs)" = E_8 ]
	program 'input x f32[64, 64]' 'y = x @ x' 'output z = y @ x'
	[ -z "$(briefs)" ]
}

@test "cold: constants are prepared by kernels that are brief, small ones without vectors" {
	program 'input x f32[1, 16, 30, 30]' 'w = reshape(f32(arange(32 * 16 * 25)) % 7, 32, 16, 5, 5)' \
		'output y = conv2d(x, w, padding=2)'
	briefs | grep -q pack
	tool show l.mp | grep 'KERNEL.*name: "pack"' > pack
	not grep -q tile pack
	same_bits x=rand
}

@test "cold: a tile whose elements take many ops stays a loop" {
	program 'input x f32[196, 128]' 'input w f32[128, 64]' 'y = x @ w' 'output z = y * sigmoid(y)'
	tool lower -t clang f.mp > l.mp
	[ "$(tool show l.mp | grep -c '= STORE')" -lt 100 ]
	tool prove l.mp
	tool run --interpret l.mp x=rand w=rand -o i.npz
	tool run l.mp x=rand w=rand -o c.npz
	tool diff i.npz c.npz
	same_bits x=rand w=rand
}

@test "cold: the same bits in models" {
	local m
	for m in resnet50 efficientnet_b0 gpt2; do
		cp "$TESTS/models/small/$m.onnx" .
		tool trace $m.onnx | tool fuse > f.mp
		operands=$(python3 -c "import sys, zipfile; print(*[n[:-4] + '=' + sys.argv[1] for n in zipfile.ZipFile(sys.argv[1]).namelist()])" \
			"$TESTS/models/small/$m.1.npz")
		same_bits $operands
	done
}

@test "cold: places that differ by constants have a pointer, for as long as their names stand" {
	local cc
	program 'input x f32[1, 16, 20, 20]' 'input w f32[16, 16, 3, 3]' 'input i i64[40]' \
		'output y = max_pool(conv2d(x, w, padding=1), 2)' 'output z = x[0, 3][:, i % 20] * 2'
	tool render -t clang f.mp > p.mp
	tool show p.mp | grep -q 'const float \*p[0-9]* = &'
	tool run --interpret f.mp x=rand w=rand i=rand -o a.npz
	for cc in gcc clang; do
		command -v $cc > /dev/null || continue
		tool run --cc $cc p.mp x=rand w=rand i=rand -o b.npz
		tool diff --rtol 1e-4 a.npz b.npz
	done
}

@test "cold: what an iteration that is written out decides is decided" {
	program 'input x f32[1, 64, 64, 64]' 'output y = max_pool(relu(x) * 2, 3, stride=2, padding=1)'
	tool lower -t clang --march x86-64-v4 --opt 'r_*: order 0 1 2; kind 3 unroll; kind 4 unroll; tile 2 1 16; grid 2' f.mp > l.mp
	# the middle row of a window is within the image: nothing asks
	tool show --loops l.mp > loops
	not grep -q 'true' loops
	[ "$(grep -c 'v[0-9]* = 0 < v0$' loops)" = 1 ]
	tool run --interpret f.mp x=rand -o a.npz
	tool run --interpret l.mp x=rand -o b.npz
	cmp a.npz b.npz
	same_bits x=rand
}

@test "cold: each core compiles as much of each class" {
	local n
	for n in 24 40 56 72 88 104; do
		echo "input a$n f32[$n, 48, 20]"
		echo "input b$n f32[$n, 20, $((n + 9))]"
		echo "output y$n = relu(a$n @ b$n) + 1"
	done > p.t
	tool trace p.t | tool render -t clang > p.mp
	for n in 1 2; do
		rm -rf cache/sluice
		tool compile -v -j $n p.mp -o c.mp 2> said
		[ "$(grep -c -- ' -shared ' said)" -ge $n ]
		[ "$(grep -c -- ' -O1 ' said)" = $n ]
	done
}
