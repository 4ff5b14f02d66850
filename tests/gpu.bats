#!/usr/bin/env bats
# Contractions on a GPU in tiles, and elements from one order to another (render/choose/gpu.c): any fold of any expression
# of loads, in any order of axes, by its roles alone. The loops for OpenCL and for CUDA are interpreted, and run by devices
# that are here.
bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

# agrees OPTION…: g.mp lowered for each target, as loops.TARGET, gives what it gives by itself for the operands, within what
# these options of diff allow
agrees() {
	local t
	tool run --interpret g.mp "${operands[@]}" -o a.npz
	for t in opencl cuda; do
		tool run --interpret loops.$t "${operands[@]}" -o b.npz
		tool diff "$@" a.npz b.npz || { echo "$t, interpreted"; return 1; }
		gpus | grep -q $t || continue
		tool run -t $t loops.$t "${operands[@]}" -o b.npz
		tool diff "$@" a.npz b.npz || { echo "$t, on the device"; return 1; }
	done
}

# g.mp lowered for both; what was chosen for OpenCL in `told`
lowered() {
	tool lower -t opencl --explain g.mp > loops.opencl 2> told
	tool lower -t cuda g.mp > loops.cuda
}

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
	lowered
	[ "$(grep -c "because of a contraction" told)" = 11 ] || { cat told; return 1; }
	local operands n
	for n in 1 77; do
		read -ra operands <<< "$(printf '%s=rand ' a b c x w q k d e h g m o s t u v) n=$n"
		agrees --rtol 2e-5 --atol 1e-4
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
@test "gpu: a matmul of 2048 in CUDA: 64 sums an item, 16 KB of shared memory" {
	printf 'input a f32[2048, 2048]\ninput b f32[2048, 2048]\noutput y = a @ b\n' | tool trace | tool fuse |
		tool render -t cuda | tool show > p.txt
	grep -q 'local_size: \[256\]' p.txt
	grep -q 'global_size: \[256\]' p.txt
	[ "$(grep -o '__shared__ float buf[01]\[[0-9]*\]' p.txt | grep -o '\[[0-9]*' | tr -d '[' | paste -sd+ | bc)" = 4160 ]
	grep -q 'float acc0\[64\]' p.txt
	[ "$(grep -o '__syncthreads' p.txt | wc -l)" = 2 ]
}

# a turn's loads stand behind the second barrier, under a condition, and are stored after the first one of the next turn
@test "gpu: what a group shares is loaded a turn ahead" {
	printf 'input a f32[96, 208]\ninput b f32[208, 64]\noutput y = a @ b\n' | tool trace | tool fuse > g.mp
	local list="r_*: split 0 32; split 0.1 2; split 1 32; split 1.1 2; split 2 16; order 0.0 1.0 0.1.0 0.1.1 1.1.0 1.1.1 2.0 2.1; \
kind 0.0 group; kind 1.0 group; kind 0.1.0 item; kind 1.1.0 item; tile 0.1.1 2 1; tile 1.1.1 2 1; kind 2.1 unroll; \
stage LOAD.0 2.1 0.1.0 0.1.1; stage LOAD.1 2.1 1.1.0 1.1.1" operands=(a=rand b=rand) t
	for t in opencl cuda; do
		tool lower -t $t --opt "$list" g.mp > loops.$t
		tool prove -q loops.$t
	done
	tool show --loops loops.cuda | awk '/barrier/ { n++ } n == 2 && /= \(.*a\[.* if r[0-9]+ < 12 else 0\)/ { found = 1 } END { exit !found }'
	agrees --rtol 2e-5 --atol 1e-4
	for t in opencl cuda; do
		tool lower -t $t --skip ahead --opt "$list" g.mp > loops.$t
	done
	not eval "tool show --loops loops.cuda | grep -q 'if r[0-9]* < 12 else 0'"
	agrees --rtol 2e-5 --atol 1e-4
}

@test "gpu: long sums are in parts, so that all multiprocessors have items" {
	cat > t.t <<-'E'
	size n in 1..3000
	input a f32[70000]
	input b f32[2500, 40]
	input c f32[32, 2048]
	input d f32[2048, 64]
	input e f32[2, 40000]
	input f f32[n, 9]
	output y0 = sum(a)
	output y1 = max(b, axis=0)
	output y2 = c @ d + 1
	output y3 = softmax(e * 3, axis=1)
	output y4 = sum(f, axis=0)
	output y5 = argmax(a)
	E
	tool trace t.t | tool fuse > g.mp
	lowered
	[ "$(grep -c 'a reduction in [0-9]* parts' told)" = 7 ] || { cat told; return 1; }
	tool prove -q loops.cuda
	local operands=({a,b,c,d,e,f}=rand n=77)
	agrees --rtol 2e-5 --atol 1e-3
}

@test "gpu: images whose axes are one range, and constants in the order in which they are read" {
	{
		printf 'input x f32[2, 8, 14, 14]\ninput z f32[1, 16, 7, 7]\nconst w f32 = '
		awk 'BEGIN { for (o = 0; o < 16; o++) { printf o ? ", [" : "[["; for (c = 0; c < 8; c++) { printf c ? ", [" : "["
			for (i = 0; i < 3; i++) { printf i ? ", [" : "["; for (j = 0; j < 3; j++) printf "%s%g", j ? ", " : "", sin(++n)
			printf "]" } printf "]" } printf "]" } print "]" }'
		printf '%s\n' 'output y0 = relu(conv2d(x, w, padding=1))' 'output y1 = conv2d(x, w, stride=2, padding=1)' \
			'output y2 = conv2d(z[:, :8], w) + 1'
	} > t.t
	tool trace t.t | tool fuse > g.mp
	lowered
	[ "$(grep -c 'are one range' told)" = 3 ] || { cat told; return 1; }
	[ "$(grep -c 'is packed in panels of 16' told)" = 3 ] || { cat told; return 1; }
	tool prove -q loops.cuda
	tool prove -q loops.opencl
	local operands=(x=rand z=rand)
	agrees --rtol 2e-5 --atol 1e-4
}

@test "gpu: what is read along one axis and written along another goes through blocks" {
	printf '%s\n' 'input a f32[70, 45]' 'input b f32[3, 40, 5, 33]' 'input c f16[n, 64] where n in 32..90' 'input d i32[33, 32]' 'input e i32[32, 33]' \
		'output y0 = transpose(a, [1, 0]) * 2' 'output y1 = transpose(b, [0, 3, 2, 1])' 'output y2 = transpose(c, [1, 0])' \
		'output y3 = transpose(d, [1, 0]) + e' 'output y4 = pad(transpose(a, [1, 0]), [[1, 2], [3, 0]])' |
		tool trace | tool fuse > g.mp
	lowered
	[ "$(grep -c "blocks of 32 x 32 in the group's memory" told)" -ge 5 ] || { cat told; return 1; }
	tool prove -q loops.opencl
	local operands n
	for n in 32 77; do
		operands=({a,b,c,d,e}=rand n=$n)
		agrees
	done
}

@test "gpu: rows are folded by warps, which exchange values in registers" {
	printf '%s\n' 'input x f32[5, n] where n in 1..2000' 'input z i32[3, 700]' 'input h f16[4, 300]' 'input d f64[4, 300]' \
		'output y = softmax(x, axis=1)' 'output m = max(z, axis=1)' 'output a = argmax(x, axis=1)' \
		'output b = sum(h, axis=1)' 'output c = min(d, axis=1)' 'output e = any(z > 0, axis=1)' |
		tool trace | tool fuse > g.mp
	lowered
	tool prove -q loops.cuda
	tool show loops.cuda > l.txt
	[ "$(grep -c EXCHANGE l.txt)" -ge 25 ]
	grep -q BARRIER l.txt
	local operands n
	for n in 1 64 1999; do
		operands=({x,z,h,d}=rand n=$n)
		agrees --rtol 2e-5 --atol 1e-4
	done
	tool render-cuda loops.cuda | tool show | grep -q '__shfl_xor_sync(0xffffffffu, acc0, 16)'
	run ! tool render-opencl loops.cuda
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
	lowered
	[ "$(grep -c 'columns (.*a group, in .* parts' told)" = 7 ] || { cat told; return 1; }
	grep -q 'a reduction of 96 .* for each of 5000 rows' told
	tool prove loops.opencl
	local n operands
	for n in 1 77 300; do
		operands=({a,b,c,d,e,f,g}=rand n=$n)
		agrees --rtol 2e-5 --atol 1e-4
	done
	# neighbours read neighbours
	printf 'input x f32[4096, 1024]\noutput y = sum(x, axis=0)\n' | tool trace | tool fuse | tool render -t cuda |
		tool show > k.cu
	grep -q 'x\[.*gidx0 / 16 \* 32 + v1\]' k.cu
	grep -q 'v1 = lidx0 % 32' k.cu
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
	local operands n
	lowered
	tool prove -q loops.opencl
	[ "$(tool show loops.opencl | grep -c '"vector"')" -ge 10 ]
	for n in 1 77; do
		read -ra operands <<< "$(printf 'a%s=rand ' f32 f16 f64 i8 u16 bool) x=rand z=rand q=rand v=rand n=$n"
		agrees --rtol 2e-5 --atol 1e-5
	done
	# both accesses of a transpose, and no single one
	printf 'input a f32[64, 64]\noutput y = transpose(a, [1, 0])\n' | tool trace | tool render -t cuda | tool show > p.txt
	[ "$(grep -c '(f32x4 \*)&' p.txt)" = 2 ]
	[ "$(grep -c '(const f32x4 \*)&' p.txt)" = 2 ]
	run ! grep -E ' = a\[|^[^*]*y\[.*\] = ' p.txt
}
