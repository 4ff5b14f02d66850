#!/usr/bin/env bats
# Stages over ZeroMQ: ipc and tcp, started in either order, one and many documents, ends and
# failures.
load helpers

setup() {
	command -v ldconfig > /dev/null || PATH=$PATH:/sbin:/usr/sbin
	ldconfig -p | grep -q libzmq || skip "libzmq is not installed"
	g=$BATS_TEST_TMPDIR/g.mp
	small_graph | "$BIN/simplify" > "$g"
	# a short path: an ipc address has at most 107 bytes
	sock=$(mktemp -u "${TMPDIR:-/tmp}/sluice.XXXXXX")
	at=ipc://$sock
}

teardown() { rm -f "$sock"; }

limit() { timeout 30 "$@"; }

@test "writer first, reader second" {
	limit "$BIN/simplify" -o "$at" "$g" &
	sleep 0.3
	limit "$BIN/simplify" -i "$at" > "$BATS_TEST_TMPDIR/got"
	wait $!
	cmp "$g" "$BATS_TEST_TMPDIR/got"
}

@test "reader first, writer second" {
	limit "$BIN/simplify" -i "$at" > "$BATS_TEST_TMPDIR/got" &
	sleep 0.3
	limit "$BIN/simplify" -o "$at" "$g"
	wait $!
	cmp "$g" "$BATS_TEST_TMPDIR/got"
}

@test "many documents, in order" {
	local i
	for i in $(seq 40); do
		doc "[[\"CONST\",\"i32\",[],$i],!0]"
	done > "$BATS_TEST_TMPDIR/many"
	limit "$BIN/show" -i "$at" > "$BATS_TEST_TMPDIR/got" &
	limit "$BIN/simplify" -o "$at" < "$BATS_TEST_TMPDIR/many"
	wait $!
	[ "$(grep -c '^sluice' "$BATS_TEST_TMPDIR/got")" = 40 ]
	[ "$(grep -o 'i32 [0-9]*' "$BATS_TEST_TMPDIR/got" | tr -d '\n')" = "$(seq -f 'i32 %g' 40 | tr -d '\n')" ]
}

@test "three stages over tcp and ipc" {
	local port=$((20000 + RANDOM % 20000))
	limit "$BIN/schedule" -i "tcp://127.0.0.1:$port" -o "$at" &
	local one=$!
	limit "$BIN/trace" -o "tcp://127.0.0.1:$port" "$g" &
	local two=$!
	limit "$BIN/show" -i "$at" --count > "$BATS_TEST_TMPDIR/got"
	wait "$one"
	wait "$two"
	[ "$(cat "$BATS_TEST_TMPDIR/got")" = "$("$BIN/schedule" "$g" | "$BIN/show" --count)" ]
}

@test "a writer that fails ends its reader, silently and with 4" {
	capture limit "$BIN/show" -i "$at" &
	local reader=$!
	(
		status=0
		head -c 50 "$g" | limit "$BIN/simplify" -o "$at" 2> "$BATS_TEST_TMPDIR/writer" || status=$?
		[ "$status" = 4 ]
	)
	wait "$reader"
	[[ $(cat "$BATS_TEST_TMPDIR/writer") == "simplify: standard input: ends early at byte 50" ]]
	[ ! -s "$BATS_TEST_TMPDIR/stderr" ]
	[ ! -s "$BATS_TEST_TMPDIR/stdout" ]
}

@test "a writer that is killed ends its reader with a message" {
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	exec 7<> "$BATS_TEST_TMPDIR/fifo"
	"$BIN/simplify" -o "$at" < "$BATS_TEST_TMPDIR/fifo" &
	local writer=$!
	(sleep 0.5; cat "$g" >&7; sleep 1; kill -9 "$writer") &
	capture limit "$BIN/show" -i "$at" --count
	exec 7>&-
	[ "$status" = 1 ]
	[ "$output" = "graph nodes=6 kernels=0 copies=0" ]
	# the shell may tell of the killed one besides
	[[ $errors == "show: $at: the writer left before its end"* ]]
}

@test "a reader that dies ends its writer with a message" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	limit "$BIN/show" -i "$at" > /dev/full 2> /dev/null &
	capture bash -c '{ cat "$2"; sleep 1; cat "$2"; } | timeout 30 "$BIN/simplify" -o "$1"' - "$at" "$g"
	[ "$status" = 1 ]
	[ "$errors" = "simplify: $at: the reader left before the end" ]
}

@test "a bad endpoint is wrong usage or a failure, in one line" {
	fails 2 "$BIN/simplify" -o nowhere "$g"
	fails 1 "$BIN/simplify" -i tcp://no-such-host-anywhere:1
	fails 1 "$BIN/simplify" -i nothing://x
}
