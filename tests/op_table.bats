#!/usr/bin/env bats
# The table of ops is complete or it does not build: the row COS, which no level has, is added alone, and make names what is
# missing; then ops/cos.patch adds the whole of it.  common/ADDING-AN-OP.md tells of it.
load helpers

NEEDED="show trace jvp schedule fuse layout lower render render-clang compile run diff"

setup() {
	cd "$BATS_TEST_TMPDIR"
	(cd "$ROOT" && tar -cf - Makefile common trace schedule fuse render run tests/ops tests/ops.bats tests/helpers.bash) | tar -xf -
}

# the tools that the test needs, by a compiler that need not optimise
build() { make -j4 CFLAGS=-O0 WARN= ONNX_PROTO= B=build "$@"; }

@test "op table: the row COS alone does not build, and each thing that is missing is named" {
	local what row
	row=$(sed -n '/^+OP(COS,/s/^+\(.*\),$/\1)/p' tests/ops/cos.patch)
	awk -v row="$row" '/^OP\(TRUNC,/ { print row } { print }' common/graph/ops.def > with
	grep -q '^OP(COS,.*)$' with
	mv with common/graph/ops.def
	capture build all
	[ "$status" != 0 ]
	sed -n '/^    ops.def: COS/s/^    //p' "$ROOT/common/ADDING-AN-OP.md" > told
	[ "$(wc -l < told)" = 6 ]
	while read -r what; do
		grep -qxF "$what" <<< "$errors" || { echo "not told: $what"; echo "$errors"; return 1; }
	done < told
	[ "$(grep -c '^ops.def: ' <<< "$errors")" = 6 ]
	[ -z "$(find build -name '*.o')" ]
}

@test "op table: the whole of COS is at most five files, and works, interpreted and compiled" {
	[ "$(grep -c '^+++ ' tests/ops/cos.patch)" -le 5 ]
	patch -p1 < tests/ops/cos.patch
	for name in $NEEDED; do echo "build/bin/$name"; done | xargs make -j4 CFLAGS=-O0 WARN= ONNX_PROTO= > log 2>&1 ||
		{ tail -n 20 log; return 1; }
	grep '^COS' tests/ops/points.txt > line
	sed -i '/^[^#]/d' tests/ops/points.txt
	cat line >> tests/ops/points.txt
	BIN=$PWD/build/bin ok bats -f 'points.txt|every row' tests/ops.bats
}
