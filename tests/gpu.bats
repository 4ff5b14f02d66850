#!/usr/bin/env bats
# Contractions on a GPU in tiles, and elements from one order to another (render/choose/gpu.c): any fold of any expression of loads, in any
# order of axes, by its roles alone. The loops are interpreted, and run by an OpenCL device if there
# is one.
bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

contractions() {
	cat <<-'E'
	input a f32[40, 70]
	input b f32[70, 50]
	input c f32[50, 70]
	input x f32[2, 20, 18, 33]
	input w f32[24, 20, 3, 3]
	input q f32[3, 40, 24]
	input k f32[3, 37, 24]
	input d f64[33, 65]
	input e f64[65, 47]
	input h f16[33, 65]
	input g f16[65, 47]
	input m i8[50, 40]
	input o i8[40, 60]
	size n in 1..200
	input s f32[n, 40]
	input t f32[40, n]
	input u f32[17, 8]
	input v f32[8, 64]
	output y0 = a @ b
	output y1 = a @ transpose(c, [1, 0])
	output y2 = min(expand(reshape(a, [40, 1, 70]), [40, 50, 70]) + expand(reshape(c, [1, 50, 70]), [40, 50, 70]), axis=2)
	output y3 = conv2d(x, w, padding=1)
	output y4 = q @ transpose(k, [0, 2, 1])
	output y5 = d @ e
	output y6 = h @ g
	output y7 = i32(m) @ i32(o)
	output y8 = relu(a @ b + 1.0) * 2.0
	output y9 = s @ t
	output z1 = max(abs(expand(reshape(a, [40, 1, 70]), [40, 50, 70]) * expand(reshape(c, [1, 50, 70]), [40, 50, 70])), axis=2)
	output z2 = relu(u @ v) * 0.125
	E
}

@test "gpu: contractions of all kinds in groups, items and tiles" {
	contractions | tool trace | tool fuse > g.mp
	tool lower -t opencl --explain g.mp > l.mp 2> told
	[ "$(grep -c "because of a contraction" told)" = 11 ] || { cat told; return 1; }
	local operands how
	for n in 1 77; do
		read -ra operands <<< "$(printf '%s=rand ' a b c x w q k d e h g m o s t u v) n=$n"
		tool run --interpret g.mp "${operands[@]}" -o a.npz
		for how in --interpret "-t opencl"; do
			[ "$how" = --interpret ] || tool run --devices | grep -q ^opencl || continue
			tool run $how l.mp "${operands[@]}" -o b.npz
			tool diff --rtol 2e-5 --atol 1e-4 a.npz b.npz
		done
	done
}

@test "gpu: tiles that do not divide the sizes are proved" {
	local size
	for size in "33 48" "33 49" "34 47" "64 47" "40 49" "129 133" "200 70" "131 67" "300 301"; do
		printf 'input a f32[%d, 65]\ninput b f32[65, %d]\noutput y = a @ b\n' $size | tool trace | tool fuse |
			tool lower -t opencl | tool prove -q || { echo "$size"; return 1; }
	done
}

@test "gpu: a pad, where items fill the memory of their group in its own order" {
	printf 'input a f16[8, 64]\noutput m = transpose(a, [1, 0])\n' | tool trace | tool fuse > t.mp
	tool run t.mp a=rand -o a.npz
	local list
	for list in '0.1 0.0.1 1.1; pad LOAD.0 4' '0.0.1 0.1 1.1; pad LOAD.0 2' '0.1 1.1 0.0.1; pad LOAD.0 1' '1.1 0.1 0.0.1; pad LOAD.0 3' '0.1 0.0.1 1.1'; do
		tool lower -t opencl --opt "E_64_8: split 0 3; split 0.0 2; split 1 2; kind 0.0.0 group; kind 1.0 group; kind 0.0.1 item; tile 0.1 3 1; stage LOAD.0 $list" t.mp > l.mp
		tool run --interpret l.mp a=rand -o b.npz
		tool diff a.npz b.npz
	done
}

# what NVIDIA's compiler would be given: accumulators and operands in few names, no array of a group's
# memory above its limit, and each operand loaded once for all items of the other side
@test "gpu: a matmul of 1024 in CUDA: 64 sums an item, 16 KB of shared memory" {
	printf 'input a f32[1024, 1024]\ninput b f32[1024, 1024]\noutput y = a @ b\n' | tool trace | tool fuse |
		tool render -t cuda | tool show > p.txt
	grep -q 'local_size: \[256\]' p.txt
	grep -q 'global_size: \[64\]' p.txt
	[ "$(grep -o '__shared__ float buf[01]\[[0-9]*\]' p.txt | grep -o '\[[0-9]*' | tr -d '[' | paste -sd+ | bc)" = 4160 ]
	grep -q 'float acc0\[64\]' p.txt
	[ "$(grep -o '__syncthreads' p.txt | wc -l)" = 2 ]
}

@test "gpu: what is read along one axis and written along another goes through blocks" {
	printf '%s\n' 'input a f32[70, 45]' 'input b f32[3, 40, 5, 33]' 'input c f16[n, 64] where n in 32..90' 'input d i32[33, 32]' 'input e i32[32, 33]' \
		'output y0 = transpose(a, [1, 0]) * 2' 'output y1 = transpose(b, [0, 3, 2, 1])' 'output y2 = transpose(c, [1, 0])' \
		'output y3 = transpose(d, [1, 0]) + e' 'output y4 = pad(transpose(a, [1, 0]), [[1, 2], [3, 0]])' |
		tool trace | tool fuse > g.mp
	tool lower -t opencl --explain g.mp > l.mp 2> told
	[ "$(grep -c "blocks of 32 x 32 in the group's memory" told)" -ge 5 ] || { cat told; return 1; }
	tool prove -q l.mp
	for n in 32 77; do
		tool run --interpret g.mp {a,b,c,d,e}=rand n=$n -o a.npz
		tool run --interpret l.mp {a,b,c,d,e}=rand n=$n -o b.npz
		tool diff a.npz b.npz
		tool run --devices | grep -q ^opencl || continue
		tool run -t opencl l.mp {a,b,c,d,e}=rand n=$n -o b.npz
		tool diff a.npz b.npz
	done
}

@test "gpu: rows are folded by warps, which exchange values in registers" {
	printf '%s\n' 'input x f32[5, n] where n in 1..2000' 'input z i32[3, 700]' 'input h f16[4, 300]' 'input d f64[4, 300]' \
		'output y = softmax(x, axis=1)' 'output m = max(z, axis=1)' 'output a = argmax(x, axis=1)' \
		'output b = sum(h, axis=1)' 'output c = min(d, axis=1)' 'output e = any(z > 0, axis=1)' |
		tool trace | tool fuse > g.mp
	tool lower -t cuda g.mp > l.mp
	tool prove -q l.mp
	tool show l.mp > l.txt
	[ "$(grep -c EXCHANGE l.txt)" -ge 25 ]
	grep -q BARRIER l.txt
	for n in 1 64 1999; do
		tool run --interpret g.mp {x,z,h,d}=rand n=$n -o a.npz
		tool run --interpret l.mp {x,z,h,d}=rand n=$n -o b.npz
		tool diff --rtol 2e-5 --atol 1e-4 a.npz b.npz
	done
	tool render-cuda l.mp | tool show | grep -q '__shfl_xor_sync(0xffffffffu, acc0, 16)'
	run ! tool render-opencl l.mp
}

@test "gpu: columns are folded in parts, a group for a few of them; rows by a group each, however many" {
	cat > t.t <<-'E'
	size n in 1..300
	input a f32[300, 200]
	input b f32[3, 70, 33]
	input c f32[n, 40]
	input d f64[64, 8]
	input e i8[999, 65]
	input f f32[5000, 96]
	input g f32[9, 40, 16, 16]
	output y0 = sum(a, axis=0)
	output y1 = max(a, axis=0)
	output y2 = mean(b * b, axis=1)
	output y3 = sum(c, axis=0)
	output y4 = prod(d, axis=0)
	output y5 = sum(i32(e), axis=0)
	output y6 = sum(f, axis=1)
	output y7 = softmax(a, axis=0)
	output y8 = sum(g, axis=[0, 1])
	output y9 = min(abs(expand(reshape(f, [1, 5000, 96]), [3, 5000, 96])), axis=[0, 1])
	E
	tool trace t.t | tool fuse > g.mp
	tool lower -t opencl --explain g.mp > l.mp 2> told
	[ "$(grep -c 'columns (.*a group, in .* parts' told)" = 7 ] || { cat told; return 1; }
	grep -q 'a reduction of 96 .* for each of 5000 rows' told
	tool prove l.mp
	local n how
	for n in 1 77 300; do
		operands=$(printf '%s=rand ' a b c d e f g)
		tool run --interpret g.mp $operands n=$n -o a.npz
		for how in --interpret "-t opencl"; do
			[ "$how" = --interpret ] || tool run --devices | grep -q ^opencl || continue
			tool run $how l.mp $operands n=$n -o b.npz
			tool diff --rtol 2e-5 --atol 1e-4 a.npz b.npz
		done
	done
	# neighbours read neighbours
	printf 'input x f32[4096, 1024]\noutput y = sum(x, axis=0)\n' | tool trace | tool fuse | tool render -t cuda |
		tool show > k.cu
	grep -q 'x\[.*gidx0 \* 32 + v0\]' k.cu
	grep -q 'v0 = lidx0 % 32' k.cu
}

@test "gpu: an EXCHANGE where not all items come, in a short group, or of a distance there is not" {
	printf '%s\n' 'input x f32[5, 1000]' 'output y = max(x, axis=1)' | tool trace | tool fuse | tool lower -t cuda | tool show > l.txt
	refused() {     # what is said; the command
		run tool "${@:2}"
		[ "$status" = 4 ] && [[ $output == *"$1"* ]] || { echo "$status $output"; return 1; }
	}
	sed 's/\(EXCHANGE .*\) 16$/\1 3/' l.txt > edited.txt
	refused "the distance is 1, 2, 4, 8 or 16" show -p edited.txt
	sed 's/local_size: \[128\]/local_size: [48]/; s/CONST i64 128$/CONST i64 48/' l.txt > edited.txt
	tool show -p edited.txt > edited.mp
	refused "not made of warps" prove -q edited.mp
	local value store first last
	value=$(sed -n 's/^\(%[0-9]*\) = EXCHANGE.*/\1/p' l.txt | tail -1)
	store=$(sed -n "s/^\(%[0-9]*\) = STORE %[0-9]* $value\$/\1/p" l.txt)
	first=$(sed -n 's/^\(%[0-9]*\) = IF .*/\1/p' l.txt | head -1)
	last=$(sed -n "s/^\(%[0-9]*\) = ENDIF $first\$/\1/p" l.txt)
	sed "/ KERNEL /{s/ $first / /; s/ $last / /; s/ $store / $first $store $last /}" l.txt > edited.txt
	tool show -p edited.txt > edited.mp
	refused "EXCHANGE stands where not all items" prove -q edited.mp
}

# each width of an element, rows of which 16 bytes are a part or not, a number of them that is only
# known when it runs, a gate; what an item has side by side goes through a register
@test "gpu: items read and write 16 bytes where places are known to be multiples of that" {
	local d
	for d in f32 f16 f64 i8 u16 bool; do
		printf 'input a%s %s[96, 256]\noutput t%s = transpose(a%s, [1, 0])\n' "$d" "$d" "$d" "$d"
		[ "$d" = bool ] || printf 'output s%s = a%s * 3\n' "$d" "$d"
	done > g.t
	printf '%s\n' 'input x f32[7, 1024]' 'input z f32[7, 1022]' 'input q f32[n, 36] where n in 1..90' 'input v f16[3, 2048]' \
		'output y = softmax(x, axis=1)' 'output y1 = softmax(z, axis=1)' 'output y2 = softmax(q, axis=1)' \
		'output y3 = transpose(q, [1, 0])' 'output y4 = softmax(v, axis=1)' \
		'output y5 = softmax(pad(x, [[0, 1], [0, 8]]), axis=1)' 'output y6 = sum(x[:, 3:], axis=1)' >> g.t
	tool trace g.t | tool fuse > g.mp
	local operands
	read -ra operands <<< "$(printf 'a%s=rand ' f32 f16 f64 i8 u16 bool) x=rand z=rand q=rand v=rand"
	tool lower -t opencl g.mp > l.mp
	tool prove -q l.mp
	[ "$(tool show l.mp | grep -c '"vector"')" -ge 10 ]
	for n in 1 77; do
		tool run --interpret g.mp "${operands[@]}" n=$n -o a.npz
		tool run --interpret l.mp "${operands[@]}" n=$n -o b.npz
		tool diff --rtol 2e-5 --atol 1e-5 a.npz b.npz
		tool run --devices | grep -q ^opencl || continue
		tool run -t opencl l.mp "${operands[@]}" n=$n -o b.npz
		tool diff --rtol 2e-5 --atol 1e-5 a.npz b.npz
	done
	# both accesses of a transpose, and no single one
	printf 'input a f32[64, 64]\noutput y = transpose(a, [1, 0])\n' | tool trace | tool render -t cuda | tool show > p.txt
	[ "$(grep -c '(f32x4 \*)&' p.txt)" = 2 ]
	[ "$(grep -c '(const f32x4 \*)&' p.txt)" = 2 ]
	run ! grep -E ' = a\[|^[^*]*y\[.*\] = ' p.txt
}
