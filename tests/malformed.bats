#!/usr/bin/env bats
# Malformed documents: status 4 (3 if the document asks for something unsupported), one line,
# nothing on standard output.
load helpers

setup_file() { mkdoc '[]' > /dev/null; }

# A hostile header must not cost memory: 1 GB of address space must be enough for all of these.
limited() {
	if sanitized; then
		timeout 60 "$@"
	else
		(ulimit -v 1000000 && exec timeout 20 "$@")
	fi
}

refused() {
	fails "$1" limited "$BIN/trace" "$2" && fails "$1" limited "$BIN/show" "$2"
}

@test "each document of malformed.txt is refused" {
	local bad=0 total=0 want text
	while read -r want text; do
		case $want in '#'* | '') continue ;; esac
		mkdoc "$text" > "$BATS_TEST_TMPDIR/g.mp" || { echo "no document: $text"; bad=$((bad + 1)); continue; }
		total=$((total + 1))
		refused "$want" "$BATS_TEST_TMPDIR/g.mp" || { echo "    $text"; bad=$((bad + 1)); }
	done < "$TESTS/malformed.txt"
	echo "$bad of $total were not refused as they should"
	[ "$bad" = 0 ]
	[ "$total" -gt 250 ]
}

@test "a document cut short at any byte is refused, with the offset" {
	local g=$BATS_TEST_TMPDIR/g.mp n k
	small_graph > "$BATS_TEST_TMPDIR/whole"
	n=$(wc -c < "$BATS_TEST_TMPDIR/whole")
	for ((k = 1; k < n; k++)); do
		head -c "$k" "$BATS_TEST_TMPDIR/whole" > "$g"
		fails 4 "$BIN/show" "$g"
		[[ $errors == *": ends early at byte $k" ]] || { echo "$errors"; return 1; }
		[ $((k % 8)) != 0 ] || fails 4 "$BIN/trace" "$g"
	done
}

@test "one byte changed anywhere ends with 0, 3 or 4, and one line or none" {
	local g=$BATS_TEST_TMPDIR/g.mp n k
	small_graph > "$BATS_TEST_TMPDIR/whole"
	n=$(wc -c < "$BATS_TEST_TMPDIR/whole")
	for ((k = 0; k < n; k++)); do
		for byte in '\xff' '\x00' '\x90'; do
			{ head -c "$k" "$BATS_TEST_TMPDIR/whole"; printf "$byte"; tail -c "+$((k + 2))" "$BATS_TEST_TMPDIR/whole"; } > "$g"
			capture limited "$BIN/show" "$g"
			case $status in
			0) ;;
			3 | 4) one_line "$BATS_TEST_TMPDIR/stderr" && [ -z "$output" ] ;;
			*) echo "byte $k $byte: status $status: $errors"; return 1 ;;
			esac
		done
	done
}

@test "a name that tries to leave its line is escaped in the message" {
	doc '[["BUFFER","f32",[],{name:"a\n\x1b[31mb\x7f",shape:[3],role:"input"}],!0]' > "$BATS_TEST_TMPDIR/g.mp"
	fails 4 "$BIN/trace" "$BATS_TEST_TMPDIR/g.mp"
	LC_ALL=C not grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$BATS_TEST_TMPDIR/stderr"
}

@test "a very long name gives a message of one line of at most 1000 bytes" {
	local long
	long=$(printf 'n%.0s' {1..5000})
	doc "[[\"BUFFER\",\"f32\",[],{name:\"$long\",shape:[3],role:\"input\"}],!0]" > "$BATS_TEST_TMPDIR/g.mp"
	refused 4 "$BATS_TEST_TMPDIR/g.mp"
	doc "[[\"$long\",nil,[],nil],!0]" > "$BATS_TEST_TMPDIR/g.mp"
	refused 4 "$BATS_TEST_TMPDIR/g.mp"
	doc "[[\"CONST\",\"$long\",[],1],!0]" > "$BATS_TEST_TMPDIR/g.mp"
	refused 4 "$BATS_TEST_TMPDIR/g.mp"
}

@test "the message names node, op and name" {
	doc '[$x,["BUFFER","f32",[],{name:"z",shape:[5],role:"input"}],["ADD","f32",[0,1],nil,{name:"h"}],!2]' \
		> "$BATS_TEST_TMPDIR/g.mp"
	fails 4 "$BIN/trace" "$BATS_TEST_TMPDIR/g.mp"
	[ "$errors" = "trace: node 2 ADD (h): shapes [3,4] and [5] do not match" ]
}

@test "a document that ends early in a pipe, and garbage after a document" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	fails 4 bash -c 'head -c 100 "$1" | "$BIN/show"' - "$BATS_TEST_TMPDIR/g.mp"
	capture bash -c '{ cat "$1"; printf "\301"; } | "$BIN/show" --count' - "$BATS_TEST_TMPDIR/g.mp"
	[ "$status" = 4 ]
	[ "$output" = "graph nodes=6 kernels=0 copies=0" ]
}

@test "a graph 200000 nodes deep is read, and one broken at its far end is refused" {
	local g=$BATS_TEST_TMPDIR/g.mp
	{
		echo 'sluice 1 graph'
		echo '%0 = BUFFER f32 {name: "x", shape: [4], role: "input"}'
		awk 'BEGIN { for (i = 1; i <= 200000; i++) printf "%%%d = NEG f32 %%%d\n", i, i - 1 }'
		echo '%200001 = SINK %200000'
	} > "$BATS_TEST_TMPDIR/g.txt"
	ok "$BIN/show" -p "$BATS_TEST_TMPDIR/g.txt"
	mv "$BATS_TEST_TMPDIR/stdout" "$g"
	ok "$BIN/show" --count "$g"
	[ "$output" = "graph nodes=200002 kernels=0 copies=0" ]
	head -c -1 "$g" > "$g.cut"
	refused 4 "$g.cut"
}
