#!/usr/bin/env bats
# Fuzzing, a little of each kind with a fixed seed (`make fuzz` does more), and what fuzzing found: a document that once broke
# a tool stands in fuzz/corpus/documents, an input of a libFuzzer target in fuzz/corpus/TARGET.
load helpers

setup_file() {
	mkdir -p "$BATS_FILE_TMPDIR/found"
	export FUZZ=$TESTS/fuzz FOUND=$BATS_FILE_TMPDIR/found
}

# A tool over a document of the corpus: 0, 2, 3 or 4, and one line where it is not 0.
decent() {
	capture timeout 60 "$@"
	case $status in
	0) return 0 ;;
	2 | 3 | 4) one_line "$BATS_TEST_TMPDIR/stderr" && [ ! -s "$BATS_TEST_TMPDIR/stdout" ] && return 0 ;;
	esac
	echo "status $status: $*"
	head -c 2000 "$BATS_TEST_TMPDIR/stderr"
	return 1
}

@test "every tool ends decently on each document of the corpus" {
	local d bad=0
	for d in "$FUZZ"/corpus/documents/*; do
		for tool in "show" "show --html" "info" "simplify" "schedule" "fuse" "lower -t clang" "lower -t opencl" "render -t clang"; do
			decent "$BIN"/$tool "$d" || bad=$((bad + 1))
		done
	done
	[ "$bad" = 0 ]
}
