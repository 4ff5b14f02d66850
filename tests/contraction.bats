# Contractions (common/index/contraction.c) are recognised by the ranges in which their operands
# move, and all decisions based on them treat sums of products and similar reductions alike. To add
# a case, add a row to a table.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# program INPUT, INPUT… = EXPRESSION: writes p.mp
program() {
	local inputs
	IFS=';' read -ra inputs <<< "${1%% = *}"
	{ printf 'input %s\n' "${inputs[@]}"; echo "output y = ${1#* = }"; } > p.t
	ok tool trace p.t && cp stdout p.mp
}

# passes each row of "PROGRAM | WHAT" to a command
each_row() {
	local row
	while IFS= read -r row; do
		program "${row%% | *}" && "$@" > is || return 1
		[ "$(cat is)" = "${row##* | }" ] || { echo "$row: it is $(cat is)"; return 1; }
	done
}

roles() { tool schedule p.mp | "$BATS_TEST_TMPDIR/check_contraction"; }

@test "the roles of ranges" {
	build check_contraction
	each_row roles <<-'END'
	a f32[5,7];b f32[7,9] = a @ b | row r0, column r1, reduction r2
	a f32[7,5];b f32[7,9] = transpose(a) @ b | row r0, column r1, reduction r2
	a f32[5,7];b f32[9,7] = a @ transpose(b) | row r0, column r1, reduction r2
	a f32[7,5];b f32[9,7] = transpose(a) @ transpose(b) | row r0, column r1, reduction r2
	a f32[7,5,9];b f32[7,9,4] = sum(reshape(a, [7,5,9,1]) * reshape(b, [7,1,9,4]), axis=[0,2]) | row r0, column r1, reduction r2, reduction r3
	a f32[35];b f32[7,9] = reshape(a, [5,7]) @ b | row r0, column r1, reduction r2
	a f32[n,7] where n in 1..5;b f32[7,9] = a @ b | row r0, column r1, reduction r2
	a f32[3,5,7];b f32[3,7,9] = a @ b | batch r0, row r1, column r2, reduction r3
	a f32[3,5,7];b f32[7,9] = a @ b | row r0, row r1, column r2, reduction r3
	a f32[5,7] = a @ [[1, 2], [3, 4], [5, 6], [7, 8], [9, 0], [1, 2], [3, 4]] | row r0, column r1, reduction r2
	a f32[5,7];b f32[9,7] = min(reshape(a, [5,1,7]) + reshape(b, [1,9,7]), axis=2) | row r0, column r1, reduction r2
	a f32[5,7];b f32[9,7] = max(reshape(a, [5,1,7]) * reshape(b, [1,9,7]), axis=2) | row r0, column r1, reduction r2
	a f32[5,7];b f32[9,7] = sum(where(reshape(a, [5,1,7]) > 0, reshape(b, [1,9,7]), 0.0), axis=2) | row r0, column r1, reduction r2
	a f32[5,7];b f32[9,7];c f32[7] = sum(reshape(a, [5,1,7]) * reshape(b, [1,9,7]) * c, axis=2) | row r0, column r1, reduction r2
	END
}

@test "windows, and patches that do not overlap" {
	build check_contraction
	each_row roles <<-'END'
	a f32[2,3,8,8];b f32[4,3,3,3] = conv2d(a, b) | row r0, column r1, row r2, row r3, reduction r4, window r5, window r6
	a f32[2,3,8,8];b f32[4,3,3,3] = conv2d(a, b, padding=1, stride=2) | row r0, column r1, row r2, row r3, reduction r4, window r5, window r6
	a f32[2,3,9,9];b f32[4,3,3,3] = conv2d(a, b, stride=3) | row r0, column r1, row r2, row r3, reduction r4, reduction r5, reduction r6
	a f32[2,4,8,8];b f32[4,1,3,3] = conv2d(a, b, groups=4) | row r0, batch r1, row r2, row r3, window r4, window r5; lopsided
	END
}

@test "an operand that is read only once" {
	build check_contraction
	each_row roles <<-'END'
	a f32[5,7];b f32[7] = a @ b | row r0, reduction r1; lopsided
	a f32[7,5];b f32[7] = b @ a | column r0, reduction r1; lopsided
	a f32[5,7];b f32[7] = min(a + b, axis=1) | row r0, reduction r1; lopsided
	a f32[5,7];b f32[7] = sum(where(b > 0, a, 0.0), axis=1) | column r0, reduction r1; lopsided
	END
}

@test "reductions that are not contractions" {
	build check_contraction
	each_row roles <<-'END'
	a f32[5,7] = sum(a, axis=1) | none
	a f32[5,7] = sum(a * a, axis=1) | none
	a f32[5,7];b f32[5,7] = sum(a * b, axis=1) | none
	a f32[5,7];b f32[5,1] = sum(a * b, axis=1) | none
	a f32[7];b f32[7] = a @ b | none
	a f32[5,7];c i64[9] = sum(gather(a, c), axis=0) | none
	a f32[2,4,8,8] = max_pool(a, [2,2]) | none
	END
	program "a f32[5];b f32[9] = reshape(a, [5,1]) * b"
	[ -z "$(roles)" ]
}

# the number of kernels at level schedule, and after fuse
kernels() {
	tool schedule p.mp > s.mp
	tool fuse s.mp > f.mp
	tool show --count s.mp | sed 's/.* kernels=\([0-9]*\).*/\1/'
	tool show --count f.mp | sed 's/.* kernels=\([0-9]*\).*/\1/'
}
counted() { kernels | tr '\n' ' ' | sed 's/ $//'; }

@test "values inside it have no buffer, and work after it is fused" {
	each_row counted <<-'END'
	a f32[5,7];b f32[9,7] = relu(sum(reshape(a, [5,1,7]) * reshape(b, [1,9,7]), axis=2)) | 2 1
	a f32[5,7];b f32[9,7] = relu(min(reshape(a, [5,1,7]) + reshape(b, [1,9,7]), axis=2)) | 2 1
	a f32[5,7];b f32[9,7] = relu(max(reshape(a, [5,1,7]) * reshape(b, [1,9,7]), axis=2)) | 2 1
	a f32[5,7];b f32[7] = relu(a @ b) | 2 1
	a f32[5,7];b f32[7] = relu(min(a + b, axis=1)) | 2 1
	a f32[5,7];b bool[7] = relu(sum(where(b, a, 0.0), axis=1)) | 2 1
	END
}

# softmax needs each element more than once: it gets another kernel, however the rows are reduced
@test "each element of it is computed once" {
	each_row counted <<-'END'
	a f32[50,70];b f32[70] = softmax(a @ b) | 8 2
	a f32[50,70];b f32[70] = softmax(min(a + b, axis=1)) | 8 2
	a f32[50,70];b f32[70] = softmax(max(a * b, axis=1)) | 8 2
	a f32[50,70];b bool[70] = softmax(sum(where(b, a, 0.0), axis=1)) | 8 2
	END
}

@test "rows that are read again anyway are reduced in place" {
	each_row counted <<-'END'
	a f32[50,70];b f32[70] = softmax(a + b) | 8 1
	a f32[50,70];b f32[70] = softmax(a * b) | 8 1
	a f32[4,50,70];b f32[50,70] = softmax(a + b) | 8 1
	a f32[4,50,70];b bool[50,70] = softmax(where(b, a, -1e9)) | 8 1
	END
}

# the constant is packed in panels, whatever ops are applied to it
@test "constant operands are packed" {
	for fold in 'sum(x * w, axis=2)' 'min(x + w, axis=2)' 'sum(where(w > 0, x, 0.0), axis=2)' 'sum(relu(x) * w, axis=2)'; do
		cat > p.t <<-END
		input a f32[40,30]
		x = reshape(a, [40,1,30])
		w = reshape(sin(f32(arange(1500))), [1,50,30])
		output y = $fold
		END
		tool trace p.t > p.mp
		tool fuse p.mp | tool lower -t clang --march x86-64-v3 --explain > l.mp 2> told
		grep -q 'is packed in panels' told || { echo "$fold"; cat told; return 1; }
		tool run --interpret p.mp a=rand -o i.npz
		tool run --interpret l.mp a=rand -o l.npz
		tool fuse p.mp | tool run a=rand -o c.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz c.npz
	done
}

# first_loops OPTION…: the order of p.mp's loops in the lists of its reductions
first_loops() { tool fuse p.mp | tool lower -t clang "$@" --explain 2>&1 > l.mp | sed -n 's/.* r_.*: actions: \(order [^;]*\);.*/\1/p'; }

@test "rows are outside of columns where they do not stay in the second cache, or all columns are in the first" {
	each_row first_loops --march x86-64-v3 <<-'END'
	a f32[4096,256] = sum(reshape(a, [4096,1,256]) * reshape(sin(f32(arange(32768))), [1,128,256]), axis=2) | order 0 1 3
	a f32[64,256] = sum(reshape(a, [64,1,256]) * reshape(sin(f32(arange(32768))), [1,128,256]), axis=2) | order 1 3 0
	a f32[4096,256] = min(reshape(a, [4096,1,256]) + reshape(sin(f32(arange(32768))), [1,128,256]), axis=2) | order 0 1 3
	a f32[64,256] = min(reshape(a, [64,1,256]) + reshape(sin(f32(arange(32768))), [1,128,256]), axis=2) | order 1 3 0
	a f32[4096,256] = sum(where(reshape(arange(32768) % 3 == 0, [1,128,256]), reshape(a, [4096,1,256]), 0.0), axis=2) | order 0 1 3
	a f32[1,256,40,32] = conv2d(a, reshape(sin(f32(arange(32768))), [128,256,1,1])) | order 2 0 5
	a f32[1,256,16,16] = conv2d(a, reshape(sin(f32(arange(32768))), [128,256,1,1])) | order 0 5 2
	a f32[400,40] = sum(reshape(a, [400,1,40]) * reshape(sin(f32(arange(3840))), [1,96,40]), axis=2) | order 0 1 3
	a f32[400,64] = sum(reshape(a, [400,1,64]) * reshape(sin(f32(arange(8192))), [1,128,64]), axis=2) | order 1 3 0
	a f32[40,400] = sum(reshape(transpose(a), [400,1,40]) * reshape(sin(f32(arange(3840))), [1,96,40]), axis=2) | order 1 3 0
	END
}

# of constants that are larger themselves as many columns as fit are a chunk, which all rows meet before the next
# acc + where(c, x, 0) adds the lanes that the mask names, where a processor has masks
@test "sums of what a condition names: additions of masked lanes" {
	local fold
	for fold in 'where(a > 0, b, 0.0)' 'where(a > 0, 0.0, b)' 'where((a > 0) & (b < 2), b * a, 0.0)' 'where(b > 0, 0, a)'; do
		printf 'input x f32[13,21]\ninput z f32[21,40]\na = x[:,:,none]\nb = z[none,:,:]\noutput y = sum(%s, axis=1)\n' "$fold" > p.t
		tool trace p.t > p.mp
		tool fuse p.mp | tool lower -t clang --march x86-64-v4 > l.mp
		tool render l.mp -t clang | grep -aqE "= add_(all_)?if_f32x16\(acc[0-9]*, " || { echo "$fold"; return 1; }
		tool fuse p.mp | tool lower -t clang --march x86-64-v4 --prove > /dev/null 2> proved
		tool fuse p.mp | tool lower -t clang --march x86-64-v3 | tool render -t clang > r.mp
		run grep -aqE "add_(all_)?if" r.mp
		[ "$status" = 1 ]
		tool run --interpret p.mp x=rand z=rand -o i.npz
		tool run --interpret l.mp x=rand z=rand -o l.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
		grep -qw avx512dq /proc/cpuinfo || continue
		tool run l.mp x=rand z=rand -o c.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz c.npz
	done
}

# a word of bits is read for all lanes where a processor has no masks; infinities and NaN of the last terms are left out
@test "conditions of sums that vectors use again are words" {
	local fold t prove=--prove
	for fold in 'where(c, b, 0.0)' 'where(c, 0, w)' 'where(c, b * 2, 0)'; do
		for t in f32 f64; do
			cat > p.t <<-END
			input x $t[3,9]
			input z $t[9,260]
			k = arange(9)
			c = ((x > 0.3) & (k < 7)[none,:])[:,:,none]
			b = (z / $t(k < 7)[:,none])[none,:,:]
			w = z[none,:,:]
			output y = sum($fold, axis=1)
			END
			tool trace p.t > p.mp
			tool fuse p.mp > f.mp
			tool lower -t clang --march x86-64-v3 $prove --explain f.mp > l.mp 2> told
			grep -q 'a condition of its sum as words of bits' told || { cat told; return 1; }
			prove=
			tool run --interpret p.mp x=rand z=rand -o i.npz
			tool run --interpret l.mp x=rand z=rand -o l.npz
			tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
			grep -qw avx2 /proc/cpuinfo || continue
			tool run l.mp x=rand z=rand -o c.npz
			tool diff --rtol 1e-5 --atol 1e-5 i.npz c.npz
		done
	done
	# not one that differs by lane, nor what few vectors use
	for fold in 'input x f32[9,11,300]|where(x > 0, z[none,:,:], 0)' 'input x f32[9,11]|where(x[:,:,none] > 0, z[none,:,:20], 0)'; do
		printf '%s\ninput z f32[11,300]\noutput y = sum(%s, axis=1)\n' "${fold%%|*}" "${fold#*|}" > p.t
		tool trace p.t | tool fuse | tool lower -t clang --march x86-64-v3 --explain 2> told > /dev/null
		run grep -q 'words of bits' told
		[ "$status" = 1 ]
	done
}

@test "in chunks of as many columns as it holds" {
	program 'a f32[1,160,15,13] = conv2d(a, reshape(sin(f32(arange(22400))), [140,160,1,1]))'
	figures 'cache: 8192 114688 1048576\n'
	tool fuse p.mp | tool lower -t clang --march x86-64-v3 --measured --explain > l.mp 2> told
	grep -q 'order 2 0 5; kind 4 unroll; tile 2 6 1; tile 0 2 1; tile 5 1 4; chunk 0 9; grid 4' told || { cat told; return 1; }
	tool fuse p.mp | tool lower -t clang --march x86-64-v3 --measured --prove > /dev/null 2> proved
	tool run --interpret p.mp a=rand -o i.npz
	tool run --interpret l.mp a=rand -o l.npz
	tool run -j 3 l.mp a=rand -o c.npz
	tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
	tool diff --rtol 1e-5 --atol 1e-5 i.npz c.npz
}

# what stands behind an attention reads its heads: head k//64 at k%64; the sum is then over two ranges
@test "ranges of sums of which operands take quotient and remainder are two" {
	local fold
	for fold in 'sum(h * w, axis=2)' 'min(h + w, axis=2)' 'sum(where(w > 0, h, 0.0), axis=2)'; do
		cat > p.t <<-END
		input x f32[3, 20, 32]
		h = reshape(transpose(x, [1, 0, 2]), [20, 1, 96])
		w = reshape(sin(f32(arange(4800))), [1, 50, 96])
		output y = $fold
		END
		tool trace p.t > p.mp
		tool fuse p.mp > s.mp
		tool lower -t clang --march x86-64-v3 --explain s.mp > l.mp 2> told
		grep -q 'r2 is taken apart by 32' told || { echo "$fold"; cat told; return 1; }
		tool layout -t clang --march x86-64-v3 --stop-after sums s.mp | tool show --loops > loops
		grep -q 'over r2 < 3, r[0-9] < 32' loops || { cat loops; return 1; }
		ok tool prove -q p.mp l.mp
		tool run --interpret p.mp x=rand -o i.npz
		tool run --interpret l.mp x=rand -o l.npz
		tool run s.mp x=rand -o c.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz l.npz
		tool diff --rtol 1e-5 --atol 1e-5 i.npz c.npz
	done
	# not into loops of a few turns
	sed -i 's/3, 20, 32/12, 20, 8/' p.t
	tool trace p.t | tool fuse | tool lower -t clang --explain 2> told > l.mp
	not grep -q 'taken apart' told
}

# stages OPTION…: how many operands p.mp's list packs
stages() { tool fuse p.mp | tool lower -t clang "$@" --explain 2>&1 > l.mp | grep -c ' r_.*: actions: .*; stage ' || true; }

@test "rows that share more places of a set than the second cache has are packed" {
	each_row stages --march x86-64-v3 <<-'END'
	a f32[128,784];b f32[784,512] = a @ b | 1
	a f32[128,784];b f32[784,500] = a @ b | 0
	a f32[128,256];b f32[256,512] = a @ b | 0
	a f32[128,784];b f32[784,512] = min(reshape(a, [128,784,1]) + reshape(b, [1,784,512]), axis=1) | 1
	a f32[128,784];b bool[784,2048] = sum(where(reshape(b, [1,784,2048]), reshape(a, [128,784,1]), 0.0), axis=1) | 1
	END
}

# a short loop in a longer one is written out, unless a tile's windows overlap along it
@test "the innermost loop, written out" {
	program 'a f32[1,128,15,13] = conv2d(a, reshape(sin(f32(arange(17920))), [140,128,1,1]))'
	tool fuse p.mp | tool lower -t clang --march x86-64-v3 --explain > l.mp 2> told
	grep -q 'r_140_15_13_128: actions: .*kind 4 unroll' told || { cat told; return 1; }
	tool fuse p.mp | tool lower -t clang --march x86-64-v3 --prove > /dev/null
	program 'a f32[1,3,30,30] = conv2d(a, reshape(sin(f32(arange(9408))), [64,3,7,7]), stride=2)'
	tool fuse p.mp | tool lower -t clang --march x86-64-v3 --explain > l.mp 2> told
	grep -q 'r_64_12_12_3_7_7: actions: order' told || { cat told; return 1; }
	not grep -q 'r_64_12_12_3_7_7: actions: .*unroll' told
}
