# Golden texts.  golden/NAME.t is a program, golden/NAME.mp.txt a document in text form; a file
# beside it named for what a tool makes of it holds that text.  To add a case, add a program and
# `touch` the files that should be kept, then `make rebase`.
#
#   NAME.args             operands of run, x=rand for one
#   NAME.opt              what `lower --opt` is given: actions by hand (render/README.md); act_NAME.t shows the action NAME
#   NAME.graph .schedule .fuse .lower .lower.TARGET     the document at that level
#   NAME.explain          what fuse says of it
#   NAME.kernels          what each kernel reads and writes when fuse is done, the last part of that (temporaries: t)
#                         (for a processor with vectors of 8 floats, whatever this one is)
#   NAME.c .c99 .ll .cl .cu .metal  the sources for clang, c, llvm, opencl, cuda and metal; of the functions that they bring along
#                         the names, the text of each stands once in helpers.c .c99 .cl .cu .metal
#   NAME.views            show --views
#   NAME.out              what run --interpret prints
#   NAME.err              the message, when trace refuses the program

GOLDEN=$TESTS/golden
SUFFIXES="graph schedule fuse explain kernels lower lower.opencl lower.cuda lower.metal lower.llvm c c99 ll cl cu metal views out err"

# the graph of NAME, on standard output
golden_graph() {
	if [ -f "$1.t" ]; then tool trace "$1.t"; else tool show -p "$1.mp.txt"; fi
}

# golden_lower NAME OPTION…: level schedule lowered, with the actions that NAME.opt has
golden_lower() {
	local opt=()
	[ ! -f "$1.opt" ] || opt=(--opt "$(cat "$1.opt")")
	tool lower "${opt[@]}" "${@:2}"
}

# golden_sources NAME SUFFIX: those in a document of level program, lines that stand behind a bar
golden_sources() {
	local target
	case $2 in c) target=clang ;; c99) target=c ;; ll) target=llvm ;; cl) target=opencl ;; cu) target=cuda ;; *) target=$2 ;; esac
	golden_graph "$1" | tool fuse | golden_lower "$1" -t "$target" --march x86-64-v3 | tool render -t "$target" | tool show |
		sed -n 's/^	|//p'
}

# golden_helpers names|texts: the blocks #ifndef HELPER_X … #endif of sources.  Names: the sources with a line of names
# in their place; texts: the blocks alone, each once, in order of their names.
golden_helpers() {
	awk -v want="$1" '
		function close_names() { if (want == "names" && names) print "// helpers:" names; names = "" }
		!depth && /^#ifndef HELPER_/ { depth = 1; block = $0; names = names " " substr($2, 8); next }
		depth && /^#if/ { depth++ }
		depth { block = block "\1" $0 }
		depth && /^#endif/ && !--depth { if (want == "texts") print block "\1"; ended = 1; next }
		depth { next }
		ended { ended = 0; if ($0 == "") next }
		want == "names" { close_names(); print }
		END { close_names() }' | if [ "$1" = texts ]; then LC_ALL=C sort -u | tr '\1' '\n'; else cat; fi
}

# the text of every helper in the sources of that suffix
golden_helper_texts() {
	local name
	for name in $(golden_names); do
		[ "$name" = helpers ] || [ ! -f "$name.$1" ] || golden_sources "$name" "$1" || return 1
	done | golden_helpers texts
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
	lower) golden_graph "$1" | tool fuse | golden_lower "$1" -t clang --march x86-64-v3 | tool show ;;
	lower.*) golden_graph "$1" | tool fuse | golden_lower "$1" -t "${2#lower.}" --march x86-64-v3 | tool show ;;
	c | c99 | ll | cl | cu | metal)
		if [ "$1" = helpers ]; then golden_helper_texts "$2"; else golden_sources "$1" "$2" | golden_helpers names; fi ;;
	views) golden_graph "$1" | tool show --views ;;
	out) golden_graph "$1" | tool run --interpret $(cat "$1.args" 2> /dev/null) ;;
	err) golden_graph "$1" 2>&1 > /dev/null || true ;;
	esac
)

# the programs, and the helpers of their sources
golden_names() {
	local f
	echo helpers
	for f in "$GOLDEN"/*.t "$GOLDEN"/*.mp.txt; do
		f=${f##*/}
		f=${f%.t}
		echo "${f%.mp.txt}"
	done
}
