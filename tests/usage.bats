#!/usr/bin/env bats
# What every tool must do: help, wrong usage, broken and short input, full disk, closed reader.
load helpers

tools() { (cd "$BIN" && printf '%s\n' *); }

@test "each tool has help, on standard output, and names its options" {
	for t in $(tools); do
		ok "$BIN/$t" --help
		[[ $output == "usage: $t"* ]] || { echo "$t: $output"; return 1; }
		[ -z "$errors" ]
	done
}

@test "each tool refuses an option it does not have, with 2" {
	for t in $(tools); do
		fails 2 "$BIN/$t" --no-such-option
	done
}

@test "each option in the help is accepted" {
	for t in $(tools); do
		[ "$t" != sluice ] || continue
		ok "$BIN/$t" --help
		for word in $(grep -oE '^ +(-., )?--[a-z-]+' "$BATS_TEST_TMPDIR/stdout" | grep -oE -- '--[a-z-]+'); do
			capture "$BIN/$t" "$word=" --help
			[[ $errors != *"there is no option"* ]] || { echo "$t $word: $errors"; return 1; }
		done
	done
}

@test "a stage: empty input is 4 and silent, garbage is 4 and one line" {
	for t in simplify schedule fuse show; do
		capture "$BIN/$t" < /dev/null
		[ "$status" = 4 ]
		[ -z "$output" ]
		[ -z "$errors" ]
		fails 4 bash -c 'echo hello | "$BIN/$1"' - "$t"
		fails 4 bash -c 'head -c 3000 /dev/zero | "$BIN/$1"' - "$t"
	done
}

@test "the first message of a pipeline is the only one" {
	capture bash -c 'set -o pipefail; "$BIN/trace" no-such.mp | "$BIN/schedule" | "$BIN/fuse" | "$BIN/show"'
	[ "$status" != 0 ]
	[ -z "$output" ]
	[[ $errors == "trace: no-such.mp: "* ]]
	one_line "$BATS_TEST_TMPDIR/stderr"
}

@test "a missing file, a folder, an empty file, two files" {
	fails 1 "$BIN/trace" "$BATS_TEST_TMPDIR/none.mp"
	fails 1 "$BIN/show" "$BATS_TEST_TMPDIR"
	: > "$BATS_TEST_TMPDIR/empty.mp"
	fails 4 "$BIN/trace" "$BATS_TEST_TMPDIR/empty.mp"
	fails 4 "$BIN/show" "$BATS_TEST_TMPDIR/empty.mp"
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	fails 2 "$BIN/simplify" "$BATS_TEST_TMPDIR/g.mp" "$BATS_TEST_TMPDIR/g.mp"
	fails 2 "$BIN/show" "$BATS_TEST_TMPDIR/g.mp" "$BATS_TEST_TMPDIR/g.mp"
}

@test "what takes over a second says on a terminal what it does, and erases that; elsewhere nothing" {
	command -v script > /dev/null || skip "script is not installed"
	! sanitized || skip "not with a sanitizer"
	cd "$BATS_TEST_TMPDIR"
	echo 'input x f32[8]
output y = relu(x + 1)' > a.t
	# a stage that another one waits for
	mkdir own
	printf '#!/bin/sh\nsleep 2\nexec "%s/fuse" "$@"\n' "$BIN" > own/fuse
	chmod +x own/fuse
	SLUICE_PATH=$PWD/own XDG_CACHE_HOME=$PWD/empty script -qec "$BIN/run a.t x=1 -o y.npz" log > /dev/null
	tr '\r' '\n' < log | grep -q '^.\[Krun: fuse, [12] s'
	tail -c 200 log | tr -d '\n' | grep -q $'s\r\033\[K'
	# one that works itself, on many kernels
	awk 'BEGIN { print "input x f32[64, 64]"; p = "x"
		for (i = 0; i < 20000; i++) { printf "v%d = sin(%s + %d.5)\n", i, p, i; p = "v" i }
		print "output y = " p }' > big.t
	tool trace big.t | tool schedule > big.mp
	local begin=$EPOCHREALTIME
	script -qec "$BIN/lower -t clang big.mp -o l.mp" log > /dev/null
	if awk "BEGIN { exit !($EPOCHREALTIME - $begin > 1.7) }"; then
		tr '\r' '\n' < log | grep -qE '^.\[Klower: (kernels|kernels proved|[a-z]+) [0-9]+/[0-9]+ \['
		tail -c 300 log | tr -d '\n' | grep -q $'\r\033\[K'
	fi
	tool lower -t clang big.mp -o l2.mp 2> e
	[ ! -s e ]
	cmp l.mp l2.mp
}

@test "a full disk is 1 and one line" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	for t in "trace" "simplify" "schedule" "show" "show --count" "show -g" "show --html"; do
		fails 1 bash -c '"$BIN"/$1 "$2" > /dev/full' - "$t" "$BATS_TEST_TMPDIR/g.mp"
	done
	fails 1 bash -c '"$BIN"/simplify --help > /dev/full'
}

@test "a closed reader is 1 and one line, and for what people look at nothing" {
	{
		echo 'sluice 1 graph'
		echo '%0 = BUFFER f32 {name: "x", shape: [4], role: "input"}'
		awk 'BEGIN { for (i = 1; i <= 100000; i++) printf "%%%d = SIN f32 %%%d\n", i, i - 1 }'
		echo '%100001 = SINK %100000'
	} | "$BIN/show" -p > "$BATS_TEST_TMPDIR/g.mp"
	closed() {
		ok bash -c '{ "$BIN/$1" "$2" 2> "$3"; echo $? > "$3.status"; } | head -c 1 > /dev/null' - \
			"$1" "$BATS_TEST_TMPDIR/g.mp" "$BATS_TEST_TMPDIR/errors"
	}
	closed trace
	[ "$(cat "$BATS_TEST_TMPDIR/errors.status")" = 1 ]
	one_line "$BATS_TEST_TMPDIR/errors"
	closed show
	[ "$(cat "$BATS_TEST_TMPDIR/errors.status")" = 141 ]
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
}

@test "a level after the one a stage takes is 3" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	"$BIN/schedule" "$BATS_TEST_TMPDIR/g.mp" > "$BATS_TEST_TMPDIR/s.mp"
	fails 3 "$BIN/simplify" "$BATS_TEST_TMPDIR/s.mp"
	fails 3 "$BIN/trace" "$BATS_TEST_TMPDIR/s.mp"
}

@test "missing stages are run, and -v prints their commands" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	ok "$BIN/lower" -v -t clang "$BATS_TEST_TMPDIR/g.mp"
	[[ $errors == *"/schedule"*"/fuse"* ]]
	[ "$("$BIN/show" --count "$BATS_TEST_TMPDIR/stdout" | cut -d' ' -f1)" = loops ]
}

@test "-d prints the graph after a pass, --stop-after writes it" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	local pass
	pass=$("$BIN/simplify" --help | sed -n '/^passes/,$p' | awk '$1 == "*" { print $2; exit } NR > 1 && $1 { print $1; exit }')
	ok "$BIN/simplify" -d "$pass" "$BATS_TEST_TMPDIR/g.mp"
	[[ $errors == "# simplify: after $pass"*"sluice 1 graph"*"SINK"* ]]
	ok "$BIN/simplify" --stop-after "$pass" "$BATS_TEST_TMPDIR/g.mp"
	"$BIN/show" --count "$BATS_TEST_TMPDIR/stdout"
	fails 2 "$BIN/simplify" -d no-such-pass "$BATS_TEST_TMPDIR/g.mp"
	fails 2 "$BIN/simplify" --stop-after no-such-pass "$BATS_TEST_TMPDIR/g.mp"
	fails 2 "$BIN/simplify" --skip no-such-pass "$BATS_TEST_TMPDIR/g.mp"
}

@test "a stage's body can be a program of the user's own, in any language, on the stage path" {
	mkdir "$BATS_TEST_TMPDIR/own"
	printf '#!/bin/sh\necho "own schedule ran" >&2\nexec "%s/schedule"\n' "$BIN" > "$BATS_TEST_TMPDIR/own/schedule"
	chmod +x "$BATS_TEST_TMPDIR/own/schedule"
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	SLUICE_PATH=$BATS_TEST_TMPDIR/own ok "$BIN/fuse" "$BATS_TEST_TMPDIR/g.mp"
	[ "$errors" = "own schedule ran" ]
	printf '#!/bin/sh\nexit 77\n' > "$BATS_TEST_TMPDIR/own/schedule"
	SLUICE_PATH=$BATS_TEST_TMPDIR/own fails 1 "$BIN/fuse" "$BATS_TEST_TMPDIR/g.mp"
	[[ $errors == *"/own/schedule failed with status 77"* ]]
}

@test "sluice runs tools by name, prints the stage path, lists every tool" {
	small_graph > "$BATS_TEST_TMPDIR/g.mp"
	ok "$BIN/sluice" show --count "$BATS_TEST_TMPDIR/g.mp"
	[ "$output" = "graph nodes=6 kernels=0 copies=0" ]
	SLUICE_PATH=/a:/b ok "$BIN/sluice" path
	[ "$output" = "/a:/b:$(cd "$BIN" && pwd -P)" ]
	fails 2 "$BIN/sluice" no-such-tool
	fails 2 "$BIN/sluice"
	ok "$BIN/sluice" --help
	for t in $(tools); do
		# with what it does, but for the targets
		case $t in
		sluice | render-*) ;;
		*) grep -q "^  $t  *[a-z]" <<< "$output" || { echo "$t is not listed"; return 1; } ;;
		esac
		[[ $t == sluice || $output == *"$t"* ]] || { echo "$t is not listed"; return 1; }
	done
}

@test "diff: 0 for the same up to numbering, 1 with the nodes that differ" {
	doc '[$x,["CONST","f32",[],2.0],["MUL","f32",[0,1],nil],["NEG","f32",[2],nil],!3]' > "$BATS_TEST_TMPDIR/a.mp"
	doc '[["CONST","f32",[],2.0],$x,["MUL","f32",[1,0],nil,{name:"t"}],["NEG","f32",[2],nil],!3]' > "$BATS_TEST_TMPDIR/b.mp"
	doc '[["CONST","f32",[],3.0],$x,["MUL","f32",[1,0],nil],["NEG","f32",[2],nil],!3]' > "$BATS_TEST_TMPDIR/c.mp"
	ok "$BIN/diff" "$BATS_TEST_TMPDIR/a.mp" "$BATS_TEST_TMPDIR/b.mp"
	[ -z "$output" ]
	capture "$BIN/diff" "$BATS_TEST_TMPDIR/a.mp" "$BATS_TEST_TMPDIR/c.mp"
	[ "$status" = 1 ]
	[ "$output" = "- %1 = CONST f32 2.0
+ %0 = CONST f32 3.0" ]
	capture "$BIN/diff" --notes "$BATS_TEST_TMPDIR/a.mp" "$BATS_TEST_TMPDIR/b.mp"
	[ "$status" = 1 ]
	fails 2 "$BIN/diff" "$BATS_TEST_TMPDIR/a.mp"
	fails 5 "$BIN/diff" "$BATS_TEST_TMPDIR/a.mp" "$BATS_TEST_TMPDIR/none.mp"
}

@test "show -g and --html escape names" {
	doc '[["BUFFER","f32",[],{name:"a\"<b>&\\c",shape:[3],role:"input"}],["NEG","f32",[0],nil,{name:"</script>\"];\n x"}],!1]' \
		> "$BATS_TEST_TMPDIR/g.mp"
	ok "$BIN/show" -g "$BATS_TEST_TMPDIR/g.mp"
	if command -v dot > /dev/null; then
		dot -Tsvg "$BATS_TEST_TMPDIR/stdout" > /dev/null
	fi
	ok "$BIN/show" --html "$BATS_TEST_TMPDIR/g.mp"
	[[ $output == "<!DOCTYPE html>"*"</html>" ]]
	# the ends of its own two scripts
	[ "$(grep -c "</script>" "$BATS_TEST_TMPDIR/stdout")" = 2 ]
	[[ $output != *"<b>"* ]]
	not grep -E '(src|href)="(https?:)?//' "$BATS_TEST_TMPDIR/stdout"
}

@test "a stage starts and passes a small graph in under 5 ms" {
	! sanitized || skip "not with a sanitizer"
	small_graph | tee "$BATS_TEST_TMPDIR/trace.mp" "$BATS_TEST_TMPDIR/simplify.mp" > "$BATS_TEST_TMPDIR/schedule.mp"
	"$BIN/schedule" "$BATS_TEST_TMPDIR/schedule.mp" > "$BATS_TEST_TMPDIR/fuse.mp"
	# processor time: what else the machine does must not count
	local TIMEFORMAT='%3U %3S' spent
	for t in trace simplify schedule fuse; do
		spent=$({ time for _ in {1..20}; do "$BIN/$t" "$BATS_TEST_TMPDIR/$t.mp" > /dev/null; done; } 2>&1 |
			awk '{ print int(($1 + $2) * 1000000 / 20) }')
		echo "$t: $spent µs"
		[ "$spent" -lt 5000 ]
	done
}
