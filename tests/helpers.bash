# What every test file loads: where the tools are, and a few ways to try them.
#
#   ok COMMAND…                it must end with 0; its output is in $output (stdout) and $errors (stderr)
#   fails STATUS COMMAND…      it must end with STATUS, print nothing on stdout and one line of ≤ 1000 bytes on stderr
#   not COMMAND…               it must fail
#   doc TEXT > FILE            a document from mkdoc's notation, unchecked
#   optional STAGE             its passes that can be left out
#   build PROGRAM [ROOM]       PROGRAM*.c of this folder, linked with the libraries, in $BATS_TEST_TMPDIR
#
# In bats a line that begins with ! cannot fail, nor can a command before &&: hence `not`, and a
# separate line for each condition.

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$TESTS")
BIN=${BIN:-$ROOT/build/bin}
case $BIN in /*) ;; *) BIN=$ROOT/$BIN ;; esac
PATH=$BIN:$PATH
export BIN PATH XDG_CACHE_HOME=${XDG_CACHE_HOME:-$BATS_RUN_TMPDIR/cache} XDG_CONFIG_HOME=$BATS_RUN_TMPDIR/config
export XDG_STATE_HOME=${XDG_STATE_HOME:-$BATS_RUN_TMPDIR/state}

# A sanitizer's report must not look like the tool's own failure.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:exitcode=99} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# whether LLVM's library is here, which -t llvm needs
has_llvm() {
	tool trace - <<< 'output y = f32([1])' > llvm.mp
	tool run -t llvm llvm.mp > /dev/null 2>&1 || [ $? != 3 ]
}
# The targets of GPUs that have a device here, as OpenCL has on a processor too.
gpus() { tool run --devices 2> /dev/null | sed -n 's/^\(opencl\|cuda\)\t.*/\1/p'; }
needs_gpu() { [ "$(gpus)" ] || skip "no OpenCL or CUDA device"; }
sanitized() { case $BIN in *san*) true ;; *) false ;; esac; }

# A tool by its name in BIN, so that the system's own trace or diff is never run.
tool() { "$BIN/$1" "${@:2}"; }

capture() {
	local dir=${BATS_TEST_TMPDIR:?}
	status=0
	"$@" > "$dir/stdout" 2> "$dir/stderr" || status=$?
	output=$(tr -d '\0' < "$dir/stdout")
	errors=$(cat "$dir/stderr")
}

ok() {
	capture "$@"
	[ "$status" = 0 ] || { echo "status $status: $*"; echo "$errors"; return 1; }
}

fails() {
	local want=$1 dir=${BATS_TEST_TMPDIR:?}
	capture "${@:2}"
	if [ "$status" != "$want" ]; then
		echo "status $status, not $want: ${*:2}"
		echo "$errors"
		return 1
	fi
	[ ! -s "$dir/stdout" ] || { echo "it printed on standard output: ${*:2}"; return 1; }
	one_line "$dir/stderr" || { echo "not one line of at most 1000 bytes: ${*:2}"; cat "$dir/stderr"; return 1; }
}

not() { ! "$@"; }

one_line() { [ "$(wc -l < "$1")" = 1 ] && [ "$(wc -c < "$1")" -le 1000 ]; }

optional() { tool "$1" --help | sed -n '/^passes/,$ s/^  \* \([a-z_]*\).*/\1/p'; }

build() {
	local flags=-O1 lib
	lib=$(dirname "$BIN")
	sanitized && flags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
	${CC:-cc} -std=c11 -D_GNU_SOURCE $flags -w -I"$ROOT/common" ${2:+-I"$ROOT/$2"} \
		-o "$BATS_TEST_TMPDIR/$1" "$TESTS/$1"*.c ${2:+"$lib/lib$2.a"} "$lib/libcommon.a" \
		-lmsgpackc -lxxhash -lsodium -lz -ldl -lpthread -lm
}

# mkdoc, built once per run
mkdoc() {
	local program=$BATS_RUN_TMPDIR/mkdoc
	if [ ! -x "$program" ]; then
		"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -o "$program.$$" "$TESTS/mkdoc.c" -lmsgpackc
		mv "$program.$$" "$program"
	fi
	"$program" "$@"
}

doc() { mkdoc "$@"; }

# A small document of level graph: y = 2x + x and its sums over rows, with a name, a symbolic size, a note and meta.
small_graph() {
	mkdoc '{uop: 1, level: "graph", vars: {n: [1, 8]}, meta: {made: "here", "two words": [1, nil, true, -0.5]}, nodes: [
		["BUFFER","f32",[],{name:"x",shape:["n",4],role:"input"}], ["CONST","f32",[],2.0],
		["MUL","f32",[0,1],nil,{name:"twice"}], ["ADD","f32",[2,0],nil], ["REDUCE","f32",[3],["ADD",[1]]],
		["SINK",nil,[3,4],{names:["y","sums"]}]]}'
}

# the rows of common/graph/ops.def, each on one line
op_rows() {
	awk '/^OP\(/ { on = 1 } on { sub(/^[ \t]+/, " "); printf "%s", $0 }
		on && /\)$/ { print ""; on = 0 }' "$ROOT/common/graph/ops.def"
}

# figures FORMAT [WORD…]: what `lower --measured` takes this machine's to be
figures() {
	mkdir -p cache/sluice
	chmod 700 cache cache/sluice
	printf "$@" > cache/sluice/machine
	chmod 600 cache/sluice/machine
	export XDG_CACHE_HOME=$PWD/cache
}
