#!/usr/bin/env bats
# What `render -t c` and `render -t clang` write compiles without a warning by gcc and clang, as C99
# and as C++. The documents: every program of golden/, every op with every dtype, a net of digits,
# random contractions, nets and slices. A new kind of document is a line in documents.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# prints the names of documents of level schedule, which it makes here
documents() {
	local f name
	(cd "$TESTS/golden" && ls -- *.t *.mp.txt) | while read -r f; do
		name=${f%.t} name=${name%.mp.txt}
		[ ! -f "$TESTS/golden/$name.err" ] || continue
		(cd "$TESTS/golden" && golden_graph "$name") | tool fuse > "$name.mp"
		echo "$name"
	done
	for f in "$TESTS"/ops/*.mp; do
		name=op_$(basename "$f" .mp)
		tool fuse "$f" > "$name.mp"
		echo "$name"
	done
	tool trace "$ROOT/pipelines/digits.t" | tool fuse > digits.mp
	echo digits
	for f in tiles layout slices; do
		python3 "$TESTS/$f.py" 5 > "$f.t"
		tool trace "$f.t" | tool fuse > "$f.mp"
		echo "$f"
	done
}

setup_file() {
	. "$TESTS/golden.sh"
	cd "$BATS_FILE_TMPDIR"
	documents > names
	[ "$(wc -l < names)" -gt 60 ]
}

# quiet TARGET PROCESSOR COMPILER…: it says nothing about the sources for that target
quiet() {
	local name lower=(tool lower -t "$1") march=()
	command -v "$3" > where || skip "no $3"
	[ "$2" = any ] || lower+=(--march "$2")
	[ "$2" = any ] || [ "$(uname -m)" != x86_64 ] || march=(-march="$2")
	while read -r name; do
		"${lower[@]}" "$BATS_FILE_TMPDIR/$name.mp" | tool render -t "$1" | tool show | sed -n 's/^	|//p' > "$name.c"
		"${@:3}" -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror "${march[@]}" -fsyntax-only "$name.c" 2>> said || echo "$name"
	done < "$BATS_FILE_TMPDIR/names" > loud
	[ ! -s loud ] || { cat loud; head -n 20 said; return 1; }
}

@test "warnings: C99 by gcc" { quiet c any gcc -std=c99; }
@test "warnings: C99 by clang" { quiet c any clang -std=c99; }
@test "warnings: C99 as C++ by g++" { quiet c any g++ -x c++ -std=c++11; }
@test "warnings: C99 as C++ by clang++" { quiet c any clang++ -x c++ -std=c++20; }
@test "warnings: vectors by gcc" { quiet clang x86-64-v4 gcc -std=c99; }
@test "warnings: vectors by clang" { quiet clang x86-64-v3 clang -std=c99; }
@test "warnings: vectors as C++ by g++" { quiet clang x86-64-v3 g++ -x c++ -std=c++20; }
@test "warnings: vectors as C++ by clang++" { quiet clang x86-64-v4 clang++ -x c++ -std=c++11; }

@test "warnings: sources of several kernels share a file" {
	local t
	for t in c clang; do
		tool trace "$ROOT/pipelines/digits.t" | tool fuse | tool render -t $t | tool show | sed -n 's/^	|//p' > $t.c
		[ "$(grep -c '_call(void' $t.c)" -gt 3 ]
		"${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -c -o $t.o $t.c
	done
}

@test "warnings: C99 refuses -ffast-math" {
	echo 'output y = exp(f32([1.0]))' > y.t
	tool trace y.t | tool fuse | tool render -t c | tool show | sed -n 's/^	|//p' > y.c
	"${CC:-cc}" -std=c99 -c -o y.o y.c
	not "${CC:-cc}" -std=c99 -ffast-math -c -o y.o y.c 2> said
	grep -q 'ffast-math' said
}
