# Wrong command lines: each gives one line on standard error that says what is wrong, the right
# status, and nothing on standard output. To add one: a line in mistakes.txt.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
	printf 'input x f32[2, 3]\noutput y = relu(x) * 2\n' > f.t
	tool trace f.t > f.mp
	tool fuse f.mp > s.mp
	tool lower -t clang s.mp > l.mp
	tool render -t clang l.mp > p.mp
	tool show s.mp > s.txt
	head -c 40 f.mp > cut.mp
	: > empty.mp
	mkdir folder
	npy x.npy '<f4' '2, 3' 24
	npy x64.npy '<f8' '2, 3' 48
	npy i.npy '<i4' '2, 3' 24
	npy wide.npy '<f4' '3, 2' 24
}

# npy FILE DTYPE SHAPE BYTES: an array of zeros
npy() {
	local head="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
	{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$head"; head -c "$4" /dev/zero; } > "$1"
}

@test "wrong command lines: one line that says what to do, the right status, nothing on standard output" {
	local want text command got wrong=0 count=0
	export PATH="$BIN:$PATH"
	tool run --devices | grep -q '^cuda' && skip "a CUDA device is here"
	while IFS= read -r -u 3 line; do
		[[ $line != '' && $line != '#'* ]] || continue
		want=${line%% | *} line=${line#* | }
		text=${line%% | *} command=${line#* | }
		got=0
		timeout 20 bash -c "$command" < /dev/null > out 2> err || got=$?
		count=$((count + 1))
		if [ "$got" != "$want" ] || [ "$(wc -l < err)" != 1 ] || [ -s out ] || ! grep -qF -- "$text" err || [ "$(wc -c < err)" -gt 1000 ]; then
			echo "$command: status $got, not $want; $(wc -c < out) bytes on standard output; it says:"
			cat err
			wrong=1
		fi
	done 3< "$TESTS/mistakes.txt"
	[ "$count" -ge 60 ]
	[ "$wrong" = 0 ]
}
