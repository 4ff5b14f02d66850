# Kernels whose loads have another layout than their stores, against the interpreter, bit for bit:
# moves.py makes programs of random shapes (1, primes, sizes close to those of tiles), orders and
# dtypes.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# moved SEED COUNT [OPTION of lower…]
moved() {
	python3 "$TESTS/moves.py" "$1" "$2" > m.t
	tool trace m.t > m.mp
	tool show m.mp | sed -n 's/.*name: "\([ab][0-9]*\)".*/\1=rand/p' > inputs
	# shellcheck disable=SC2046
	ok tool run --interpret m.mp $(cat inputs) -o i.npz
	tool fuse m.mp | tool lower -t clang "${@:3}" --explain > l.mp 2> told
	# shellcheck disable=SC2046
	ok tool run l.mp $(cat inputs) -o c.npz
	tool diff --ulp 0 --zeros i.npz c.npz
}

@test "moves: random layout changes" {
	moved 1 40
	grep -q "turned in registers" told
	moved 2 40
}

@test "moves: shorter vectors" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	moved 3 40 --march x86-64-v3
	moved 4 20 --march x86-64
}

# turned ROWS COLUMNS: what turns such a matrix, in told, is right
turned() {
	printf 'input a f32[%d, %d]\noutput y = transpose(a, [1, 0])\n' "$1" "$2" > m.t
	tool trace m.t > m.mp
	ok tool run --interpret m.mp a=rand -o i.npz
	tool fuse m.mp | tool lower -t clang --explain > l.mp 2> told
	ok tool run l.mp a=rand -o c.npz
	tool diff --ulp 0 i.npz c.npz
	ok tool run --interpret l.mp a=rand -o d.npz
	tool diff --ulp 0 i.npz d.npz
}

@test "moves: lines to store to are prefetched when they are far apart" {
	turned 230 257
	tool show l.mp | grep -q PREFETCH
	grep -q 'actions: order 1 0; tile .*prefetch_stores' told
}

@test "moves: long rows of what is stored are written from end to end" {
	turned 301 257
	tool show l.mp > text
	not grep -q PREFETCH text
	grep -Eq 'actions: order 0 1; tile 0 ([0-9]+) 1; tile 1 1 \1; grid 1; transpose' told
	# few would be written twice, or by too few threads
	turned 301 33
	grep -q 'actions: order 1 0' told
	turned 301 16
	grep -q 'actions: order 1 0' told
}

# whole_lines OPTION…: for each row "INPUT LIST | OUTPUT", the list is so, and values stay what they are
whole_lines() {
	local p list
	while read -r p list; do
		printf 'input x %s\noutput y = %s\n' "$p" "${list#*| }" | tool trace | tool fuse > m.mp
		tool lower -t clang "$@" --explain m.mp > l.mp 2> told
		grep -qE "actions: ${list%% |*}" told || { echo "$p"; cat told; return 1; }
		tool run --interpret m.mp x=rand -o a.npz
		tool run l.mp x=rand -o b.npz
		tool diff a.npz b.npz
	done
}

# a line in parts is read, or written again: each tile stores whole ones, also where these do not divide the rows
@test "moves: what no cache holds is stored in whole lines" {
	whole_lines --march x86-64-v3 <<-'END'
	f32[2048,4096] order 1 0; tile 0 8 1; tile 1 2 8; chunk 1 4; grid 2; nontemporal; | transpose(x, [1, 0])
	f64[1024,4104] order 1 0; tile 0 4 1; tile 1 4 4; chunk 1 4; grid 2; nontemporal; | transpose(x, [1, 0])
	f16[4096,4108] order 1 0; tile 0 8 1; tile 1 4 8; chunk 1 4; grid 2; nontemporal; | transpose(x, [1, 0])
	f32[2,96,211,211] order 0 3 2; tile 2 8 1; tile 3 2 8; grid 3; nontemporal; | transpose(x, [0, 2, 3, 1])
	f32[2055,4104] order 1 0; tile 0 8 1; tile 1 2 8; chunk 1 4; grid 2; .*transpose | transpose(x, [1, 0])
	END
	# also of what the last cache holds, where lines that lie pages apart are read slowly; parts of lines do not pass it
	figures 'cache: 32768 131072 16777216\nread: 192 99 53 14\nruns: 8\n'
	whole_lines --march x86-64-v3 --measured <<-'END'
	f32[512,512] order 1 0; tile 0 8 1; tile 1 2 8; chunk 1 4; grid 2; nontemporal; | transpose(x, [1, 0])
	f16[640,512] order 1 0; tile 0 8 1; tile 1 4 8; chunk 1 4; grid 2; nontemporal; | transpose(x, [1, 0])
	f16[512,40,24] order .*; grid [0-9]; prefetch_stores; transpose | transpose(x, [0, 2, 1])
	END
}
