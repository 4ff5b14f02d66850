# Golden texts.  golden/NAME.t is a program, golden/NAME.mp.txt a document in text form; a file
# beside it named for what a tool makes of it holds that text.  To add a case, add a program and
# `touch` the files that should be kept, then `make rebase`.
#
#   NAME.args             operands of run, x=rand for one
#   NAME.graph .schedule .fuse .lower .lower.TARGET     the document at that level
#   NAME.explain          what fuse says of it
#   NAME.kernels          what each kernel reads and writes when fuse is done, the last part of that (temporaries: t)
#                         (for a processor with vectors of 8 floats, whatever this one is)
#   NAME.c .cl .cu .metal the sources for clang, opencl, cuda and metal
#   NAME.views            show --views
#   NAME.out              what run --interpret prints
#   NAME.err              the message, when trace refuses the program

GOLDEN=$TESTS/golden
SUFFIXES="graph schedule fuse explain kernels lower lower.opencl lower.cuda lower.metal c cl cu metal views out err"

# the graph of NAME, on standard output
golden_graph() {
	if [ -f "$1.t" ]; then tool trace "$1.t"; else tool show -p "$1.mp.txt"; fi
}

# the sources in a document of level program: lines that stand behind a bar
golden_sources() {
	golden_graph "$1" | tool fuse | tool lower -t "$2" --march x86-64-v3 | tool render -t "$2" | tool show | sed -n 's/^	|//p'
}

# golden_make NAME SUFFIX: what the tools print today.  Names of files are relative, so they look
# the same everywhere.
golden_make() (
	set -o pipefail
	cd "$GOLDEN" || exit 1
	case $2 in
	graph) golden_graph "$1" | tool show ;;
	schedule) golden_graph "$1" | tool schedule | tool show ;;
	fuse) golden_graph "$1" | tool fuse | tool show ;;
	explain) golden_graph "$1" | tool fuse --explain 2>&1 > /dev/null ;;
	kernels) golden_graph "$1" | tool fuse --explain 2>&1 > /dev/null | sed -En '/ -> /{s/ t[0-9]+\b/ t/g;p}' ;;
	lower) golden_graph "$1" | tool fuse | tool lower -t clang --march x86-64-v3 | tool show ;;
	lower.*) golden_graph "$1" | tool fuse | tool lower -t "${2#lower.}" | tool show ;;
	c) golden_sources "$1" clang ;;
	cl) golden_sources "$1" opencl ;;
	cu) golden_sources "$1" cuda ;;
	metal) golden_sources "$1" metal ;;
	views) golden_graph "$1" | tool show --views ;;
	out) golden_graph "$1" | tool run --interpret $(cat "$1.args" 2> /dev/null) ;;
	err) golden_graph "$1" 2>&1 > /dev/null || true ;;
	esac
)

# the programs
golden_names() {
	local f
	for f in "$GOLDEN"/*.t "$GOLDEN"/*.mp.txt; do
		f=${f##*/}
		f=${f%.t}
		echo "${f%.mp.txt}"
	done
}
