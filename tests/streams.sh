#!/usr/bin/env bash
# Streams over endpoints: streams.sh [N] [SEED]. N streams (60) over ipc and tcp, reader or writer first, small and large
# documents, drawn from SEED. None may be lost, end early or hang. Ends with a line of figures, status 1 if any did.
# LOOPS=6: so many busy loops beside them.
cd "$(dirname "$0")" || exit 1
BIN=${BIN:-../build/bin}
n=${1:-60} RANDOM=${2:-1}
dir=$(mktemp -d)
loops=()
for _ in $(seq "${LOOPS:-0}"); do
	while :; do :; done &
	loops+=($!)
done
finish() {
	[ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"
	rm -rf "$dir"
}
trap finish EXIT

# many documents, each of many nodes, or one small one
printf 'input x f32[4]\noutput y = x + 1\n' > "$dir/p.t"
"$BIN/trace" "$dir/p.t" > "$dir/small.mp"
{ printf 'input x f32[4]\nv0 = x + 1\n'; for i in $(seq 3000); do echo "v$i = v$((i - 1)) * 1.5 + x"; done; echo 'output y = v3000'; } > "$dir/p.t"
"$BIN/trace" "$dir/p.t" > "$dir/large.mp"
cat "$dir/large.mp" "$dir/small.mp" "$dir/large.mp" "$dir/large.mp" > "$dir/many.mp"
for what in small large many; do
	"$BIN/simplify" "$dir/$what.mp" > "$dir/$what.want"
done

lost=0 early=0 hung=0
for i in $(seq "$n"); do
	what=small
	case $((RANDOM % 4)) in 0) what=large ;; 1) what=many ;; esac
	at=ipc://$dir/s$i
	[ $((RANDOM % 2)) = 0 ] || at=tcp://127.0.0.1:$((20000 + (RANDOM * 7 + i) % 12000))    # below those that clients get
	pause=0.0$((RANDOM % 5))
	: > "$dir/reader" > "$dir/writer"
	if [ $((RANDOM % 2)) = 0 ]; then
		timeout 120 "$BIN/simplify" -i "$at" > "$dir/got" 2> "$dir/reader" &
		second=w
	else
		timeout 120 "$BIN/trace" -o "$at" "$dir/$what.mp" 2> "$dir/writer" &
		second=r
	fi
	first=$!
	sleep $pause
	a=0 b=0
	if [ $second = w ]; then
		timeout 120 "$BIN/trace" -o "$at" "$dir/$what.mp" 2> "$dir/writer" || a=$?
	else
		timeout 120 "$BIN/simplify" -i "$at" > "$dir/got" 2> "$dir/reader" || a=$?
	fi
	wait $first || b=$?
	# somebody else's port is no fault; its writer waits for a reader
	if grep -q 'Address already in use' "$dir/reader"; then
		n=$((n - 1))
	elif [ $a = 124 ] || [ $b = 124 ]; then
		hung=$((hung + 1))
		echo "hung: $what at ${at%%:*}, ${at##*:}, $second second: $a $b" >&2
		cat "$dir/reader" "$dir/writer" >&2
	elif [ $a != 0 ] || [ $b != 0 ]; then
		early=$((early + 1))
		cat "$dir/reader" "$dir/writer" >&2
	elif ! cmp -s "$dir/got" "$dir/$what.want"; then
		lost=$((lost + 1))
	fi
done
echo "$n streams: $lost lost, $early ended early, $hung hung"
[ "$lost$early$hung" = 000 ]
