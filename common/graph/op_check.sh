#!/bin/sh
# Is each row of ops.def complete?  An op needs, by its class and where it may stand, loops in the
# interpreter, a spelling for each target, a derivative, a batching rule and a test.  What is missing
# is listed, with the file where it goes, and the status is 1.
#
#     ops.def: COS: no loops on floats: FLOATS(COS, …) in common/interp/float.c
#
# op_check.sh ops.def int.c float.c helpers.c targets.def decompose.rules grad.rules vmap.rules
# make.py points.txt
exec awk '
function field(name,   at) {
	at = match(row, "[.]" name " = ({[^}]*}|\"[^\"]*\"|[^,)]*)")
	return at ? substr(row, at + length(name) + 4, RLENGTH - length(name) - 4) : ""
}
function lacks(what) { printf "ops.def: %s: %s\n", op, what; missing = 1 }
function plain(s) { gsub(/"/, "", s); return s }

# the loops that its dtypes need, and those that there are
function check_loops(   takes, row_says) {
	takes = field("takes")
	row_says = field("interp")
	if (takes ~ /ANY|NUM|INT|I32|U64/ && !(("ints_" op) in loops))
		lacks("no loops on integers: a line " op " in " ints_file)
	if (takes ~ /ANY|NUM|FLT/ && !(("floats_" op) in loops))
		lacks("no loops on floats: FLOATS(" op ", …) in " floats_file)
	if (takes ~ /ANY|NUM|INT|I32|U64/ && row_says !~ "ints_" op ||
	    takes ~ /ANY|NUM|FLT/ && row_says !~ "floats_" op)
		lacks("its row does not name its loops: .interp in " ops_file)
}

# how each target writes it: a form, or ops in its place
function check_spelling(   form, t, none) {
	form = field("c")
	if (form ~ /C_(HELPER|DIVISION|EXTREME|SHIFT)/ && !(op in helper))
		lacks("no function in the prelude: [OP_" op "] in " helpers_file)
	if (form ~ /C_(FUNCTION|INFIX|SUM|COMPARE|DIVISION|SHIFT)/ && field("c_text") == "")
		lacks("no function or operator of C: .c_text in " ops_file)
	for (t = 1; t <= ntargets; t++)
		if (index(" " target_lacks[t] " ", " " op " ") ? !decomposed() : form == "")
			none = none " " target[t]
	if (none != "")
		lacks("no spelling for" none ": .c in " ops_file ", or .lacks in " targets_file \
			" and a line in " decompose_file)
}

function decomposed(   infix) {
	infix = plain(field("infix"))
	return (op in decompose) || (infix != "" && (infix in decompose)) ||
		(op == "NEG" && ("-" in decompose))
}

function check_row() {
	if (field("cls") == "" || field("levels") == "") {
		lacks("no class, or no levels: .cls and .levels in " ops_file)
		return
	}
	if (field("identity") != "" && (field("commutes") == "" || field("associates") == ""))
		lacks("a fold that does not commute or associate")
	casting = field("cls") ~ /CASTING/      # by two dtypes: common/graph/cast.c
	elementwise = casting || field("cls") ~ /UNARY|BINARY|COMPARE|TERNARY/
	if (elementwise && !casting)
		check_loops()
	if (elementwise) {
		check_spelling()
		if (field("cost") == "")
			lacks("no cost: .cost in " ops_file)
	}
	if (field("levels") !~ /ALL|GRAPHS/)
		return
	if (field("grad") == "" || (field("grad") == "GRAD_RULE") != (op in grad))
		lacks("no derivative: .grad = GRAD_RULE in " ops_file " and a line in " grad_file \
			", or GRAD_NONE alone")
	if (!(op in batch) && !(elementwise && ("elementwise" in batch)))
		lacks("no batching rule: a line in " vmap_file)
	if (field("takes") != "" && !(op in tested))
		lacks("no test: a line in " points_file ", or a case in " make_file)
}

FNR == 1 {
	if (++nfile == 1) ops_file = FILENAME
	else if (nfile == 2) ints_file = FILENAME
	else if (nfile == 3) floats_file = FILENAME
	else if (nfile == 4) helpers_file = FILENAME
	else if (nfile == 5) targets_file = FILENAME
	else if (nfile == 6) decompose_file = FILENAME
	else if (nfile == 7) grad_file = FILENAME
	else if (nfile == 8) vmap_file = FILENAME
	else if (nfile == 9) make_file = FILENAME
	else points_file = FILENAME
}
nfile == 1 {
	if (/^OP\(/) rows[++nrows] = ""
	if (nrows && !/^$|^\/\*/) rows[nrows] = rows[nrows] $0
}
nfile == 2 || nfile == 3 {
	if (match($0, /(ints|floats)_[A-Z0-9]+\[/)) loops[substr($0, RSTART, RLENGTH - 1)]
	if (match($0, /^[A-Z]+\([A-Z0-9]+,/) && !/LOOP/) {
		split(substr($0, RSTART, RLENGTH - 1), part, "(")
		loops[(nfile == 2 ? "ints_" : "floats_") part[2]]
	}
}
nfile == 4 && match($0, /\[OP_[A-Z0-9]+\]/) { helper[substr($0, RSTART + 4, RLENGTH - 5)] }
nfile == 5 && /^TARGET\(/ {
	target[++ntargets] = substr($1, 8, length($1) - 8)
	target_lacks[ntargets] = match($0, /lacks = "[^"]*"/) ? substr($0, RSTART + 9, RLENGTH - 10) : ""
}
nfile >= 6 && nfile <= 8 && match($0, /^[A-Za-z0-9]+/) {
	name = substr($0, 1, RLENGTH)
	if (nfile == 6 && / -> /) decompose[name]
	if (nfile == 7) grad[name]
	if (nfile == 8) batch[name]
}
nfile == 6 && /^-x -> / { decompose["-"] }
nfile == 6 && /^x [^ ]+ y -> / { decompose[$2] }
nfile == 9 {
	for (rest = $0; match(rest, /"[A-Z0-9]+"/); rest = substr(rest, RSTART + RLENGTH))
		tested[substr(rest, RSTART + 1, RLENGTH - 2)]
}
nfile == 10 && !/^#/ { tested[$1] }
END {
	for (i = 1; i <= nrows; i++) {
		row = rows[i]
		op = substr(row, 4, index(row, ",") - 4)
		check_row()
	}
	exit missing
}
' "$@" >&2
