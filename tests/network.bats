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
	fails 1 "$BIN/simplify" -o nowhere/at/all "$g"
	fails 1 "$BIN/simplify" -i tcp://127.0.0.1:no-such-port
	fails 1 "$BIN/simplify" -i nothing://x
}

@test "a peer that says nothing is given up after --wait" {
	fails 1 limit "$BIN/simplify" --wait 0.5 -i "$at"
	[ "$errors" = "simplify: $at: the writer has said nothing for 0.5 seconds (--wait)" ]
	fails 1 limit "$BIN/simplify" --wait 0.5 -o "$at" "$g"
	[ "$errors" = "simplify: $at: the reader has said nothing for 0.5 seconds (--wait)" ]
	fails 2 "$BIN/simplify" --wait soon -i "$at"
}

@test "a writer ends well only when its reader has said that it has everything" {
	# the reader is stopped, and killed, before it can read the end
	"$BIN/show" -i "$at" --wait 20 > "$BATS_TEST_TMPDIR/got" &
	local reader=$! status=0
	mkfifo "$BATS_TEST_TMPDIR/fifo"
	limit "$BIN/simplify" -o "$at" < "$BATS_TEST_TMPDIR/fifo" 2> "$BATS_TEST_TMPDIR/why" &
	local writer=$!
	exec 7> "$BATS_TEST_TMPDIR/fifo"
	cat "$g" >&7
	for _ in $(seq 100); do
		[ -s "$BATS_TEST_TMPDIR/got" ] && break
		sleep 0.05
	done
	kill -STOP "$reader"
	exec 7>&-
	sleep 0.5
	kill -KILL "$reader"
	wait "$writer" || status=$?
	[ "$status" = 1 ]
	[ "$(cat "$BATS_TEST_TMPDIR/why")" = "simplify: $at: the reader left before the end" ]
	wait "$reader" || true
}

@test "another program's PULL socket is a reader, its DEALER a writer" {
	cat > "$BATS_TEST_TMPDIR/other.c" <<-'E'
	#include <stdio.h>
	#include <string.h>
	#include <zmq.h>
	static char bytes[1 << 20];
	int main(int argc, char **argv)
	{
		int pulls = !strcmp(argv[1], "pull"), n;
		void *context = zmq_ctx_new(), *s = zmq_socket(context, pulls ? ZMQ_PULL : ZMQ_DEALER);
		if (pulls) {
			zmq_bind(s, argv[2]);
			while ((n = zmq_recv(s, bytes, sizeof bytes, 0)) > 0)
				fwrite(bytes, 1, n, stdout);
		} else {
			zmq_connect(s, argv[2]);
			n = fread(bytes, 1, sizeof bytes, stdin);
			zmq_send(s, bytes, n, 0);
			zmq_send(s, "", 0, 0);
			zmq_recv(s, bytes, sizeof bytes, 0);
		}
		zmq_close(s);
		return zmq_ctx_term(context);
	}
	E
	cc -o "$BATS_TEST_TMPDIR/other" "$BATS_TEST_TMPDIR/other.c" -lzmq || skip "libzmq has no headers"
	limit "$BATS_TEST_TMPDIR/other" pull "$at" > "$BATS_TEST_TMPDIR/got" &
	limit "$BIN/simplify" -o "$at" "$g"
	wait $!
	cmp "$g" "$BATS_TEST_TMPDIR/got"
	limit "$BIN/simplify" -o "$at" "$g" &
	sleep 0.3
	limit "$BATS_TEST_TMPDIR/other" pull "$at" > "$BATS_TEST_TMPDIR/got"
	wait $!
	cmp "$g" "$BATS_TEST_TMPDIR/got"
	limit "$BATS_TEST_TMPDIR/other" deal "$at" < "$g" &
	limit "$BIN/simplify" -i "$at" > "$BATS_TEST_TMPDIR/got"
	wait $!
	cmp "$g" "$BATS_TEST_TMPDIR/got"
}

@test "beyond this machine tcp needs keys, and lets in those alone that are known" {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CONFIG_HOME=$PWD/none
	local name
	for name in tcp://192.0.2.1:5555 'tcp://*:5555' tcp://0.0.0.0:5555 tcp://127.example.org:1 tcp://localhost.example.org:1; do
		fails 2 "$BIN/simplify" -o "$name" "$g"
		[[ $errors == *keygen* ]] || { echo "$errors"; return 1; }
		fails 2 "$BIN/simplify" -i "$name"
	done
	local who
	for who in reader writer stranger; do
		ok "$BIN/keygen" $who
		[ "$output" = "$(cat $who/public)" ]
		[ "$(stat -c %a $who/secret)" = 600 ]
		fails 1 "$BIN/keygen" $who
	done
	cp reader/public writer/peers/reader
	cp reader/public stranger/peers/reader
	cp writer/public reader/peers/writer
	local port=$((20000 + RANDOM % 20000))
	limit "$BIN/simplify" --keys reader -i "tcp://*:$port" > got &
	limit "$BIN/simplify" --keys writer -o "tcp://127.0.0.1:$port" "$g"
	wait $!
	cmp "$g" got
	# a stranger, one without keys and one who takes another for the reader
	limit "$BIN/simplify" --keys reader -i "tcp://*:$port" --wait 25 > got 2> why &
	fails 1 limit "$BIN/simplify" --keys stranger -o "tcp://127.0.0.1:$port" --wait 1 "$g"
	fails 1 limit "$BIN/simplify" -o "tcp://127.0.0.1:$port" --wait 1 "$g"
	fails 1 limit "$BIN/simplify" --keys writer --peer stranger/public -o "tcp://127.0.0.1:$port" --wait 1 "$g"
	limit "$BIN/simplify" --keys writer -o "tcp://127.0.0.1:$port" "$g"
	wait $!
	cmp "$g" got
	chmod 644 writer/secret
	fails 2 "$BIN/simplify" --keys writer -o "tcp://127.0.0.1:$port" "$g"
}

@test "sixty streams, reader or writer first, small and large: none lost, none early, none hanging" {
	BIN=$BIN bash "$TESTS/streams.sh" 60 7
}
