#!/usr/bin/env bats
# Documents to text and back, and through the readers, give the same bytes at every level.
load helpers

# show, then show -p, gives the original bytes
same_bytes() {
	"$BIN/show" "$1" > "$BATS_TEST_TMPDIR/text" && "$BIN/show" -p "$BATS_TEST_TMPDIR/text" > "$BATS_TEST_TMPDIR/back" &&
		cmp "$1" "$BATS_TEST_TMPDIR/back"
}

@test "a graph with sizes, notes, meta and names" {
	small_graph > "$BATS_TEST_TMPDIR/raw"
	ok "$BIN/show" "$BATS_TEST_TMPDIR/raw"
	echo "$output" | "$BIN/show" -p > "$BATS_TEST_TMPDIR/g.mp"
	same_bytes "$BATS_TEST_TMPDIR/g.mp"
}

@test "equal nodes stay distinct and dead ones are kept" {
	doc '[$x,["NEG","f32",[0],nil],["NEG","f32",[0],nil],["CONST","i8",[],3],["ADD","f32",[1,2],nil],!4]' \
		> "$BATS_TEST_TMPDIR/g.mp"
	same_bytes "$BATS_TEST_TMPDIR/g.mp"
	ok "$BIN/show" --count "$BATS_TEST_TMPDIR/g.mp"
	[ "$output" = "graph nodes=6 kernels=0 copies=0" ]
}

@test "numbers of every kind" {
	doc '{uop: 1, level: "graph", meta: {n: [0, -1, 127, 128, -32, -33, 255, 256, 65535, 65536, -32768, -32769, 4294967295,
		4294967296, 9223372036854775807, -9223372036854775808, 18446744073709551615, 0.0, -0.0, 1.5, 1e300, 5e-324,
		0.1, inf, -inf, nan, <cb ff f8 00 00 00 00 00 00>, <cb 7f f0 00 00 00 00 00 01>, 1e22, 123456789012345680.0]},
		nodes: [["CONST","f64",[],-0.0],["CONST","u64",[],18446744073709551615],["CONST","f32",[],nan],!0]}' \
		> "$BATS_TEST_TMPDIR/g.mp"
	same_bytes "$BATS_TEST_TMPDIR/g.mp"
}

@test "strings, bins and multi-line sources" {
	doc '{uop: 1, level: "graph", meta: {empty: "", "": 1, "two words": "a \"quoted\" \\ back", ctl: "\x01\x1f\x7f\t",
		lines: "int main(void)\n{\n\treturn 0; /* | # @ */\n}\n", last: "a\nb", first: "\n", cr: "a\r\nb", utf: "é€𝄞",
		list: ["x\ny", ["\n\n", {k: "|\n|"}]], bin: b"", more: b"00ff10", nul: "a\x00b", t: true, f: false, z: nil},
		nodes: [$c, ["SINK",nil,[0],{names:["y#@%"]},{loc:"a.t:3", src:"one\ntwo"}]]}' > "$BATS_TEST_TMPDIR/g.mp"
	same_bytes "$BATS_TEST_TMPDIR/g.mp"
	grep -q $'^\t|{$' "$BATS_TEST_TMPDIR/text"
}

@test "level tensor: functions, no dtypes" {
	doc '{uop: 1, level: "tensor", nodes: [["BUFFER","f32",[],{name:"x",shape:[2,3],role:"input"}], ["softmax",nil,[0],{axis:-1}],
		["relu",nil,[1],nil], ["ADD",nil,[1,2],nil], !3]}' > "$BATS_TEST_TMPDIR/g.mp"
	same_bytes "$BATS_TEST_TMPDIR/g.mp"
	grep -q '^%1 = softmax %0 {axis: -1}$' "$BATS_TEST_TMPDIR/text"
}

@test "every level of a pipeline" {
	cat > "$BATS_TEST_TMPDIR/p.t" <<-'P'
		input x f32[6, 5]
		input w f32[5, 4]
		y = softmax(relu(x @ w))
		s = sum(x, axis=0)
		output y
		output s
	P
	local d=$BATS_TEST_TMPDIR
	"$BIN/trace" "$d/p.t" > "$d/1.mp"
	"$BIN/simplify" "$d/1.mp" > "$d/2.mp"
	"$BIN/schedule" "$d/2.mp" > "$d/3.mp"
	"$BIN/fuse" "$d/3.mp" > "$d/4.mp"
	for target in clang opencl cuda metal; do
		"$BIN/lower" -t "$target" "$d/4.mp" > "$d/5.$target.mp"
		"$BIN/render" -t "$target" "$d/5.$target.mp" > "$d/6.$target.mp"
	done
	for g in "$d"/[1-6].*mp; do
		echo "$g"
		same_bytes "$g"
		"$BIN/diff" "$g" "$BATS_TEST_TMPDIR/back"
	done
}

@test "several documents in one stream and in one text" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	ok "$BIN/show" -p <("$BIN/show" "$BATS_TEST_TMPDIR/g.mp")
	cp "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/g.mp"
	doc '[$c, !0]' > "$BATS_TEST_TMPDIR/h.mp"
	cat "$BATS_TEST_TMPDIR"/[ghg].mp "$BATS_TEST_TMPDIR/h.mp" > "$BATS_TEST_TMPDIR/all.mp"
	same_bytes "$BATS_TEST_TMPDIR/all.mp"
	ok "$BIN/simplify" "$BATS_TEST_TMPDIR/all.mp"
	[ "$("$BIN/show" --count "$BATS_TEST_TMPDIR/stdout" | wc -l)" = 3 ]
}

@test "a document is passed on as soon as it is complete" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	"$BIN/show" --count < "$BATS_TEST_TMPDIR/fifo" > "$BATS_TEST_TMPDIR/seen" &
	exec 7> "$BATS_TEST_TMPDIR/fifo"
	head -c 50 "$BATS_TEST_TMPDIR/g.mp" >&7
	tail -c +51 "$BATS_TEST_TMPDIR/g.mp" >&7
	for _ in $(seq 100); do
		[ -s "$BATS_TEST_TMPDIR/seen" ] && break
		sleep 0.05
	done
	[ "$(cat "$BATS_TEST_TMPDIR/seen")" = "graph nodes=6 kernels=0 copies=0" ]
	exec 7>&-
	wait
}

@test "text errors give file, line and column, and on a terminal the line with a caret" {
	printf 'sluice 1 graph\n%%0 = CONST f32 1.0\n%%1 = NEG f32 %%7\n' > "$BATS_TEST_TMPDIR/g.txt"
	capture "$BIN/show" -p "$BATS_TEST_TMPDIR/g.txt"
	[ "$status" = 4 ]
	local message="show: $BATS_TEST_TMPDIR/g.txt:3:14: there is no such node before this one"
	[ "$errors" = "$message" ]
	script -qec "'$BIN/show' -p '$BATS_TEST_TMPDIR/g.txt' > /dev/null" /dev/null < /dev/null |
		tr -d '\r' > "$BATS_TEST_TMPDIR/seen" || true
	[ "$(cat "$BATS_TEST_TMPDIR/seen")" = "$message
%1 = NEG f32 %7
             ^" ]
}

@test "malformed texts are refused with a position" {
	local n=0 text
	while IFS= read -r text; do
		printf "sluice 1 graph\n$text\n" > "$BATS_TEST_TMPDIR/g.txt"
		capture "$BIN/show" -p "$BATS_TEST_TMPDIR/g.txt"
		[ "$status" = 4 ] && [ ! -s "$BATS_TEST_TMPDIR/stdout" ] && [[ $errors == "show: "*"g.txt:"*": "* ]] ||
			{ echo "$status: $text: $errors"; return 1; }
		n=$((n + 1))
	done <<-'E'
		x
		%%0
		%%0 =
		%%0 = CONST
		%%0 = CONST f32
		%%0 = CONST f32 1.0
		%%0 = CONST f32 1.0\n%%0 = SINK %%0
		%%0 = CONST f32 1.0 2.0\n%%1 = SINK %%0
		%%0 = CONST f32 "a\n%%1 = SINK %%0
		%%0 = CONST f32 [1\n%%1 = SINK %%0
		%%0 = CONST f32 {a: 1, a: 2}\n%%1 = SINK %%0
		%%0 = CONST f32 {a 1}\n%%1 = SINK %%0
		%%0 = CONST f32 {: 1}\n%%1 = SINK %%0
		%%0 = CONST f32 1.0.0\n%%1 = SINK %%0
		%%0 = CONST f32 0x10\n%%1 = SINK %%0
		%%0 = CONST f32 --1\n%%1 = SINK %%0
		%%0 = CONST f32 99999999999999999999\n%%1 = SINK %%0
		%%0 = CONST f32 one\n%%1 = SINK %%0
		%%0 = CONST f32 b"0"\n%%1 = SINK %%0
		%%0 = CONST f32 b"0g"\n%%1 = SINK %%0
		%%0 = CONST f32 nan:00\n%%1 = SINK %%0
		%%0 = CONST f32 1.0 @3\n%%1 = SINK %%0
		%%0 = CONST f32 1.0 @{a: "\\q"}\n%%1 = SINK %%0
		%%0 = CONST f32 1.0 @{a: "\\xff"}\n%%1 = SINK %%0
		%%99999999999999999999999 = CONST f32 1.0\n%%1 = SINK %%0
		%%0 = NOSUCH f32 1.0\n%%1 = SINK %%0
		%%0 = CONST f32 1.0\nx%%1 = SINK %%0
		vars []\n%%0 = CONST f32 1.0\n%%1 = SINK %%0
		vars {n: [2, 1]}\n%%0 = CONST f32 1.0\n%%1 = SINK %%0
		%%0 = CONST f32 @N\n%%1 = SINK %%0
	E
	[ "$n" -ge 29 ]
}
