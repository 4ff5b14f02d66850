#!/usr/bin/env bats
# Fuzzing, a little of each kind with a fixed seed (`make fuzz` does more), and what fuzzing found: a document that once broke
# a tool stands in fuzz/corpus/documents, an input of a libFuzzer target in fuzz/corpus/TARGET.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

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

@test "a document that is broken, after one that is right, is told in the tool's name" {
	capture "$BIN/render-clang" "$FUZZ/corpus/render-clang/two_second_bad.mp"
	[ "$status" = 4 ]
	one_line stderr
	grep -q '^render-clang: ' stderr
}

# mutate, with the tools' own libraries
mutate() {
	local flags=-O1 lib
	lib=$(dirname "$BIN")
	sanitized && flags="-O1 -fsanitize=address,undefined"
	${CC:-cc} -std=c11 -D_GNU_SOURCE $flags -w -I"$ROOT/common" -o "$1" "$FUZZ/mutate_main.c" "$FUZZ/mutate.c" \
		"$lib/libcommon.a" -lmsgpackc -lxxhash -lz -ldl -lpthread -lm
}

@test "documents changed at random: status 0, 2, 3 or 4, one line, nothing on standard output but whole documents" {
	local changed
	mkdir -p seeds san
	# judge.py knows by its path what has sanitizers
	sanitized && changed=$PWD/san/mutate || changed=$PWD/mutate
	mutate "$changed"
	cp "$TESTS"/compat/1/{places,symbolic,conv}.{graph,schedule,fused,loops.clang,loops.opencl}.mp seeds/
	python3 "$FUZZ/documents.py" --bin "$BIN" --mutate "$changed" --seeds seeds --seed 1 --seconds 20 --found "$FOUND"
}

@test "random graphs: every level, target, list of actions and number of threads gives what the interpreter gives" {
	python3 "$FUZZ/graphs.py" --bin "$BIN" --seed 1 --seconds 30 --found "$FOUND"
}

@test "random ONNX models: ONNX Runtime's values" {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c 'import onnx, onnxruntime' 2> /dev/null || skip "no ONNX Runtime"
	"$python" -W ignore "$FUZZ/onnx_models.py" --bin "$BIN" --seed 1 --seconds 20 --found "$FOUND"
}

@test "allocations and writes that fail, full disks, kills: a result is right and whole, or none" {
	sanitized && skip "sanitizers have an allocator of their own"
	python3 "$FUZZ/faults.py" --bin "$BIN" --seed 1 --seconds 20 --cc "${CC:-cc}"
}

@test "libFuzzer: each reader and stage, a few thousand inputs" {
	local fuzzers=$ROOT/build/fuzz/fuzz
	[ -x "$fuzzers/document" ] || skip "make fuzz builds what is run here"
	SEED=1 RUNS=2000 bash "$FUZZ/targets.sh" "$BIN" "$fuzzers" "$BATS_TEST_TMPDIR/work" 10 $(cd "$fuzzers" && ls -I '*.o' -I '*.d' -I mutate)
}
