#!/usr/bin/env bats
# What a tool may be given, and where it may write: programs and models in place of documents, -o FILE, arrays from
# standard input and over endpoints, files of a document that have changed. To add a test: a command line, and what it
# gives (ok) or how it is refused (fails STATUS, then says).
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[n, 4] where n in 1..64\noutput y = x * 2\n' > f.t
	printf 'input y f32[n, 4] where n in 1..64\noutput z = sum(y, axis=1)\noutput w = y\n' > two.t
	printf 'v = f32(reshape(arange(12), [3, 4]))\noutput x = v\noutput d = f64(v)\noutput rows = f32(reshape(arange(28), [7, 4]))\n' > x.t
	tool trace x.t | tool run --interpret -o .
}

# the last message has the text
says() { [[ "$errors" == *"$1"* ]] || { echo "it says: $errors"; return 1; }; }

# two commands print the same
alike() { [ "$(bash -c "$1")" = "$(bash -c "$2")" ]; }

onnx() { echo "$TESTS/models/small/bert_base.onnx"; }

# ---- programs and models

@test "each tool takes a program, by name and over a pipe" {
	ok tool run --interpret f.t x=x.npy
	local printed=$output
	for stage in simplify schedule fuse; do
		alike "tool() { \"$BIN/\$@\"; }; '$BIN/$stage' f.t | '$BIN/show'" "'$BIN/trace' f.t | '$BIN/$stage' | '$BIN/show'"
		ok bash -c "'$BIN/$stage' < f.t | '$BIN/run' --interpret x=x.npy"
		[ "$output" = "$printed" ]
	done
	ok bash -c "cat f.t | '$BIN/run' --interpret x=x.npy"
	[ "$output" = "$printed" ]
	ok bash -c "cat f.t | '$BIN/trace' | '$BIN/run' --interpret x=x.npy"
	[ "$output" = "$printed" ]
	ok bash -c "'$BIN/lower' -t clang f.t | '$BIN/run' --interpret x=x.npy"
	[ "$output" = "$printed" ]
	for how in "show --count" "match --count ANY" "prove -q"; do
		ok tool $how f.t
		printed=$output
		ok bash -c "cat f.t | '$BIN/'$how"
		[ "$output" = "$printed" ]
	done
	ok tool diff f.t f.t
	ok tool prove f.t f.t
	cp f.t program
	ok tool run program x=x.npy
}

@test "each tool takes a model, whatever its name" {
	tool trace "$(onnx)" > want.mp
	cp "$(onnx)" model
	for tool in trace simplify; do
		ok tool $tool model
	done
	alike "'$BIN/show' --count model" "'$BIN/show' --count want.mp"
	alike "'$BIN/fuse' '$(onnx)' | '$BIN/show' --count" "'$BIN/fuse' want.mp | '$BIN/show' --count"
}

@test "a model over a pipe: its numbers go into the document" {
	tool trace --embed "$(onnx)" > want.mp
	ok bash -c "cat '$(onnx)' | '$BIN/trace' - > got.mp"
	cmp want.mp got.mp
	alike "'$BIN/fuse' < '$(onnx)' | '$BIN/show' --count" "'$BIN/fuse' want.mp | '$BIN/show' --count"
	fails 4 bash -c "head -c 300 '$(onnx)' | '$BIN/trace'"
}

@test "what a program says of its faults comes from trace" {
	echo 'output y = nothing' > wrong.t
	for tool in trace fuse run show; do
		fails 4 tool $tool wrong.t
		says "trace: wrong.t:1"
	done
	fails 4 bash -c "'$BIN/fuse' < wrong.t"
	says "trace: standard input:1"
}

@test "what is no input says what it is" {
	tool fuse f.t > f.mp
	tool show f.mp > f.txt
	tool run x.t --interpret -o x.npz
	gzip -k x.npz
	for tool in run fuse show diff; do
		local b=; [ $tool = diff ] && b=f.mp
		fails 4 tool $tool f.txt $b
		says "text of level schedule: show -p reads it"
		fails 4 tool $tool x.npy $b
		says "an array (.npy)"
	done
	fails 4 tool fuse x.npz
	says ".npz"
	fails 4 tool fuse x.npz.gz
	says "gzip"
	fails 4 tool show -p f.mp
	says "a document already"
	fails 4 bash -c "'$BIN/trace' < f.txt"
	says "show -p reads it"
	head -c 300 /dev/zero > zeros
	fails 4 tool run zeros
}

@test "diff and match: 1 is a result, 5 a failure" {
	printf 'input x f32[n, 4] where n in 1..64\noutput y = x * 3\n' > other.t
	capture tool diff f.t other.t
	[ "$status" = 1 ]
	capture tool diff -q x.npy d.npy
	[ "$status" = 1 ]
	fails 5 tool diff f.t nowhere.t
	fails 5 tool diff x.npy nowhere.npy
	fails 1 tool show nowhere.t
	capture tool match 'SIN(x)' f.t
	[ "$status" = 1 ]
	fails 5 tool match 'SIN(x)' nowhere.t
	fails 4 tool match 'SIN(x)' x.npy
	fails 2 tool match
	[ -w /dev/full ] || return 0
	capture bash -c "'$BIN/diff' f.t other.t > /dev/full"
	[ "$status" = 5 ]
}

# ---- files that a document names

# a program whose numbers are in w.npy, 100 000 of them or as many as are given
weights() {
	echo "output w = f32(arange(${1:-100000})) * ${2:-1}" > w.t
	tool run --interpret w.t -o w.npy
	echo 'w = load("w.npy")
		input x f32[1]
		output y = w[:3] * x, s = sum(w)' | sed 's/, s =/\noutput s =/' > named.t
}

@test "a file that has changed since trace is refused" {
	weights
	ok tool trace named.t -o named.mp
	ok tool show named.mp
	[[ "$output" =~ file:\ \[\"w.npy\",\ 128,\ 400000,\ \"[0-9a-f]{16}\"\] ]]
	for how in --interpret ""; do
		ok tool run $how named.mp x=2
	done
	local printed=$output
	touch w.npy
	ok tool run named.mp x=2
	[ "$output" = "$printed" ]
	weights 100000 2
	for how in --interpret ""; do
		fails 4 tool run $how named.mp x=2
		says "w.npy has changed since it was traced"
	done
	fails 4 tool trace named.mp
	weights
	ok tool run named.mp x=2
	[ "$output" = "$printed" ]
}

# the paths of files in a document
paths() { tool show "$1" | grep -o 'file: \["[^"]*"' | cut -d'"' -f2; }
path_bytes() { python3 -c 'import re, sys; print(*re.findall(rb"[./a-z]*w.npy", open(sys.argv[1], "rb").read()))' "$1"; }

@test "paths are relative to the document, which can be moved with its files" {
	mkdir -p at/data at/out/deep
	cd at/data
	weights
	cd ..
	ok tool trace data/named.t -o data/named.mp
	[ "$(path_bytes data/named.mp)" = "b'w.npy'" ]
	ok tool fuse data/named.mp -o out/deep/fused.mp
	[ "$(path_bytes out/deep/fused.mp)" = "b'../../data/w.npy'" ]
	ok tool lower out/deep/fused.mp -o data/loops.mp
	[ "$(path_bytes data/loops.mp)" = "b'w.npy'" ]
	tool trace data/named.t | tool fuse | tool render -t clang -o out/program.mp
	[ "$(path_bytes out/program.mp)" = "b'../data/w.npy'" ]
	ok tool compile out/program.mp -o out/deep/compiled.mp
	ok tool run data/named.mp x=2
	local printed=$output all=(data/named.mp out/deep/fused.mp data/loops.mp out/program.mp out/deep/compiled.mp)
	cd ..
	mv at elsewhere
	for document in "${all[@]}"; do
		ok tool run "elsewhere/$document" x=2
		[ "$output" = "$printed" ]
	done
	# over a pipe they are relative to the working folder
	[ "$(paths elsewhere/out/deep/fused.mp)" = "$PWD/elsewhere/data/w.npy" ]
	fails 1 tool run x=2 < elsewhere/data/named.mp
	(cd elsewhere/data && ok tool run x=2 < named.mp && [ "$output" = "$printed" ])
	# what has no folder in common with its file has its whole path
	[ "$(cd elsewhere/data && tool trace named.t | paths -)" = "$PWD/elsewhere/data/w.npy" ]
}

@test "a program that was moved is still its user's; with another file it is not" {
	mkdir a b
	cd a
	weights
	cd ..
	tool trace a/named.t | tool fuse | tool render -t clang -o a/program.mp
	mv a c
	ok tool run c/program.mp x=2
	tool show c/program.mp | sed 's/, 128, 400000/, 132, 400000/; s/, "[0-9a-f]\{16\}"\]/]/' > c/other.txt
	tool show -p c/other.txt -o c/other.mp
	fails 3 tool run c/other.mp x=2
}

@test "trace says that a file is missing or too short" {
	weights
	tool trace named.t -o named.mp
	tool show named.mp | sed 's/, "[0-9a-f]\{16\}"\]/]/' > named.txt
	tool show -p named.txt -o old.mp
	ok tool run old.mp x=2
	weights 10
	fails 4 tool trace named.mp
	says "too short"
	fails 4 tool trace old.mp
	says "too short"
	rm w.npy
	fails 1 tool trace old.mp
	says "w.npy: cannot open"
}

@test "--embed puts the numbers into the document" {
	weights
	ok tool run named.t x=2
	local printed=$output
	ok tool trace --embed named.t -o named.mp
	rm w.npy
	ok tool run named.mp x=2
	[ "$output" = "$printed" ]
}

# ---- names and numbers that are not there

@test "a number on the command line has to be one of the input's dtype" {
	printf 'input a u8[2]\ninput b i64\ninput c f32\ninput d u64\ninput e bool\noutput p = a\noutput q = b\noutput r = c\noutput s = d\noutput t = e\n' > n.t
	ok tool run --interpret n.t a=255,0 b=-9223372036854775808 c=300 d=18446744073709551615 e=1
	[[ "$output" == *"[255"*"0]"*-9223372036854775808*"300."*18446744073709551615*True* ]]
	for wrong in "a=300 b=0 c=0 d=0 e=0" "a=-1 b=0 c=0 d=0 e=0" "a=1.5 b=0 c=0 d=0 e=0" "a=0,256 b=0 c=0 d=0 e=0" \
		"a=0 b=9223372036854775808 c=0 d=0 e=0" "a=0 b=0 c=0 d=-1 e=0" "a=0 b=0 c=0 d=18446744073709551616 e=0" "a=0 b=0 c=0 d=0 e=2"; do
		fails 2 tool run --interpret n.t $wrong
		says "does not fit"
	done
}

@test "--interpret-only names calls that are there" {
	ok tool run f.t x=x.npy --interpret-only K0
	fails 2 tool run f.t x=x.npy --interpret-only K9
	says "no call is K9"
	fails 2 tool run f.t x=x.npy --interpret-only K0,elsewhere
	says "no call is elsewhere"
}

@test "options of models name what is there, and are for models" {
	fails 2 tool trace "$(onnx)" --set nothing=3
	says "--set nothing=3: the model has no such size"
	fails 2 tool trace "$(onnx)" --const nothing=x.npy
	says "no such input"
	fails 2 tool trace f.t --set n=3
	says "--set is for ONNX models"
	fails 2 bash -c "'$BIN/trace' --set n=3 < f.t"
}

@test "a reader that leaves early is no error" {
	for k in {1..3000}; do echo "output y$k = $k"; done > long.t
	tool trace long.t -o long.mp
	ok bash -c "'$BIN/show' long.mp | head -n 1"
	[ -z "$errors" ]
	ok bash -c "'$BIN/match' ANY long.mp | head -n 1"
	[ -z "$errors" ]
}

# ---- -o

@test "-o of a stage is a file, whole or not there" {
	ok tool fuse f.t -o f.fused
	[ -z "$output" ]
	alike "'$BIN/show' f.fused" "'$BIN/fuse' f.t | '$BIN/show'"
	ok tool simplify f.fused -o f.fused || [ "$status" = 3 ]
	ok tool fuse f.fused -o f.fused
	ok tool render -t clang f.fused -o f.prog
	ok tool compile f.prog -o f.built
	ok tool run f.built x=x.npy
	ok tool show f.fused --html -o page.html
	grep -q '<html' page.html
	ok tool show f.fused -o f.txt
	ok tool show -p f.txt -o again.mp
	cmp f.fused again.mp
	ok bash -c "'$BIN/trace' f.t -o - | '$BIN/show' --count"
	ok bash -c "'$BIN/trace' f.t -o /dev/stdout | '$BIN/show' --count"
	fails 1 tool fuse f.t -o nowhere/f.mp
	fails 4 tool fuse x.npy -o left.mp
	fails 4 tool fuse --no-walls x.npy -o left.mp
	sleep 0.1
	[ -z "$(ls | grep -e left -e 'fused\.')" ]
}

@test "a document on a full disk is not there" {
	[ -w /dev/full ] || skip "no /dev/full"
	fails 1 tool fuse f.t -o /dev/full
}

# ---- run: where outputs go, and arrays come from

@test "run -o: one array, all in an archive, a folder, standard output" {
	ok tool run f.t x=x.npy -o y.npy
	[ -f y.npy ]
	ok bash -c "'$BIN/run' f.t x=x.npy -o - | cmp - y.npy"
	ok tool run f.t x=x.npy -o out/
	cmp out/y.npy y.npy
	mkdir out.d
	ok tool run f.t x=x.npy -o out.d
	fails 2 tool run f.t x=x.npy -o y.txt
	says "not as .txt"
	[ ! -e y.txt ]
	fails 2 tool run two.t y=y.npy -o z.npy
	says "2 outputs"
	fails 2 tool run two.t y=y.npy -o -
}

@test "x=- is standard input" {
	ok tool run f.t x=x.npy
	local printed=$output
	ok bash -c "cat x.npy | '$BIN/run' f.t x=-"
	[ "$output" = "$printed" ]
	ok tool run f.t x=- < x.npy
	[ "$output" = "$printed" ]
	tool run x.t --interpret -o all.npz
	ok tool run f.t x=- < all.npz
	[ "$output" = "$printed" ]
	fails 2 bash -c "cat x.npy | '$BIN/run' x=-"
	says "standard input is the document already"
	fails 4 tool run f.t x=- < f.t
}

@test "--cast takes another dtype" {
	ok tool run f.t x=x.npy
	local printed=$output
	fails 4 tool run f.t x=d.npy
	says "--cast"
	ok tool run --cast f.t x=d.npy
	[ "$output" = "$printed" ]
	printf 'input k i32[3, 4]\noutput y = k + 1\n' > ints.t
	ok tool run --cast ints.t k=d.npy
	printf 'output k = f32(reshape(arange(12), [3, 4])) + 0.5\n' > half.t
	tool run half.t -o half.npy
	fails 4 tool run --cast ints.t k=half.npy
	says "of which not all are i32"
}

@test "--feed writes the rows of all batches" {
	ok tool run f.t --feed x=rows.npy,batch=3 -o y.npy
	for how in "" --interpret; do
		ok tool run $how f.t --feed x=rows.npy,batch=3
		[ "$(grep -c '^ *\[' <<< "$output")" = 6 ]
		[[ "$output" == "y f32[6,4]"*"[40. 42. 44. 46.]]" ]]
	done
	ok tool run f.t --feed x=rows.npy,batch=3 -n 1
	[[ "$output" == "y f32[3,4]"* ]]
}

@test "results go over an endpoint to another run" {
	local at=ipc://$BATS_TEST_TMPDIR/end
	ok tool run f.t x=x.npy -o y.npy
	tool run --interpret two.t y=y.npy > want
	tool run --interpret two.t y="$at" > got &
	ok timeout 60 "$BIN/run" f.t x=x.npy -o "$at"
	wait $!
	cmp want got
}
