#!/usr/bin/env bats
# The interpreter's shortcuts (sums of products, reductions from tables, axes along which nothing
# moves) against plain evaluation, in one program: CONTIGUOUS between a product and its sum keeps
# them apart. To add a case, write y = …, z = … in `program`.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# program M N K DTYPE: y is a sum of products, z the same computed product by product
program() {
	cat <<-T
		input a $4[$1, $3]
		input b $4[$3, $2]
		input c $4[2, $1, $3]
		def apart(p, axis) = $4(sum(contiguous(p), axis=axis))
		output y0 = a @ b, z0 = apart(a[:, none, :] * b.T, -1)
		output y1 = $4(sum(b.T[:, none, :] * a, axis=-1)), z1 = apart(b.T[:, none, :] * a, -1)
		output y2 = $4(sum(c[:, :, none, :] * b.T, axis=-1)), z2 = apart(c[:, :, none, :] * b.T, -1)
		output y3 = $4(sum(c * a, axis=[0, 2])), z3 = apart(c * a, [0, 2])
		output y4 = $4(sum((c[:, :, none, :] + a[:, none, :]) * (b.T * b.T), axis=[0, 3]))
		output z4 = apart((c[:, :, none, :] + a[:, none, :]) * (b.T * b.T), [0, 3])
		output y5 = c @ a.T[:, ::-1], z5 = apart(c[:, :, none, :] * a[::-1], -1)
		output y6 = $4(sum(expand(a[none], [3, $1, $3]) * a[:, :1], axis=-1)), z6 = apart(expand(a[none], [3, $1, $3]) * a[:, :1], -1)
	T
}

# near LEFT RIGHT DTYPE: each y in LEFT is close to the z in RIGHT; integers and exact values are
# equal
near() {
	local how=(--rtol 1e-5 --atol 1e-5)
	case $3 in f16) how=(--rtol 2e-2 --atol 2e-2) ;; bf16) how=(--bf16 --rtol 5e-2 --atol 5e-2) ;; esac
	for i in 0 1 2 3 4 5 6; do
		tool diff "${how[@]}" "$1/y$i.npy" "$2/z$i.npy" || { echo "differs: $i"; return 1; }
	done
}

# sums M N K DTYPE: checks the graph and its kernels, fused and unfused
sums() {
	local operands=(a=rand b=rand c=rand) doc
	program "$@" > p.t
	tool trace p.t > p-graph.mp
	tool schedule p-graph.mp | tee p-schedule.mp | tool fuse > p-fused.mp
	for doc in graph schedule fused; do
		rm -rf "$doc" && mkdir "$doc"
		ok tool run --interpret "p-$doc.mp" "${operands[@]}" -o "$doc/"
		near "$doc" "$doc" "$4" || { echo "$doc: $*"; return 1; }
		near "$doc" graph "$4" || { echo "$doc by graph: $*"; return 1; }
	done
}

@test "interpret: sums of products, sizes close to those of blocks" {
	sums 1 1 1 f32
	sums 5 7 3 f32
	sums 4 8 256 f32
	sums 65 9 257 f32
	sums 3 129 31 f64
	sums 66 130 40 f32
}

@test "interpret: sums of products, empty ones" {
	sums 0 4 5 f32
	sums 3 0 5 i32
	sums 3 4 0 f32
}

@test "interpret: sums of products of every dtype, integers wrap" {
	for dtype in f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64; do
		sums 9 17 33 "$dtype"
	done
}

@test "interpret: products that are not finite" {
	cat > p.t <<-'T'
		const a f32[4, 3] = [[inf, 1, 2], [nan, 0, 1], [0, 3, -inf], [1, 2, 3]]
		input x f32[1]
		b = [[0, 1], [1, 5], [2, 3]] * (x + 1)
		output y = a @ b
	T
	tool trace p.t > g.mp
	ok tool run --interpret g.mp x=zeros
	[ "$(tr -d ' .\n' <<< "$output")" = 'yf32[4,2][[naninf][nannan][-inf-inf][820]]' ] || { echo "$output"; return 1; }
}

@test "interpret: nested reductions in a loop that they do not depend on" {
	cat > p.t <<-'T'
		input x f32[7, 5, 6]
		m = mean(x, axis=[0, 2], keepdims=true)
		v = mean((x - m) ** 2, axis=[0, 2], keepdims=true)
		s = softmax(x, axis=1) * softmax(x, axis=0)
		output y = (x - m) / sqrt(v + 1e-5), s, t = s - sum(s, axis=[0, 1, 2], keepdims=true), c = cumsum(s, axis=1) * m
	T
	tool trace p.t > g.mp
	tool run --interpret g.mp x=rand -o whole.npz
	for doc in schedule fuse; do
		tool "$doc" g.mp > d.mp
		tool run --interpret d.mp x=rand -o this.npz
		tool diff --rtol 1e-5 --atol 1e-5 whole.npz this.npz
	done
}
