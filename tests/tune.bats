#!/usr/bin/env bats
# tune: a search for lists of actions, its database, what it does with candidates that are wrong or
# crash, an interrupt, other machines.  To add a kind of kernel: an output of `programs`.
load helpers

setup() {
	command -v ldconfig > /dev/null || PATH=$PATH:/sbin:/usr/sbin
	ldconfig -p | grep -q libsqlite3.so.0 || skip "libsqlite3 is not installed"
	cd "$BATS_TEST_TMPDIR"
}

# brief ARGUMENT…: a search of a few seconds
brief() { tool tune --lap 0.01 --seconds 4 "$@"; }

small() {
	printf 'input a f32[48, 40]\ninput b f32[40, 56]\noutput y = relu(a @ b)\n' | tool trace | tool fuse > small.mp
}

# sql DATABASE TEXT: by Python's library
sql() { python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()' "$@"; }

# own NAME TEXT: a tool of that name, in front of the project's
own() {
	mkdir -p own
	printf '#!/bin/bash\n%s\n' "$2" > "own/$1"
	chmod +x "own/$1"
	export SLUICE_PATH=$PWD/own
}

@test "tune: kernels of all kinds keep their values" {
	local lines=("input a f32[33, 70]" "input b f32[70, 47]" "output y = softmax(a @ b)"
		"output z = cumsum(a, axis=0)" "output s = sort(a, axis=1)" "output t = transpose(b, [1, 0]) * 2"
		"output r = max(a, axis=0)" "input i i8[20, 64]" "input j i8[64, 32]" "output p = i32(i) @ i32(j)"
		"input k i32[9]" "output g = embedding(k, a)" "input n f16[64, 64]" "output h = sum(n, axis=1)"
		"input x f32[1, 16, 20, 20]" "input w f32[16, 16, 3, 3]" "output c = conv2d(x, w, padding=1)")
	printf '%s\n' "${lines[@]}" | tool trace | tool fuse > all.mp
	brief --seconds 12 --explain all.mp -o tuned.mp 2> told
	[[ $(tool show --count tuned.mp) == schedule* ]]
	local inputs=(a=rand b=rand i=rand j=rand k=rand n=rand x=rand w=rand)
	tool run all.mp "${inputs[@]}" -o before.npz
	tool run tuned.mp "${inputs[@]}" -o after.npz
	tool run --interpret tuned.mp "${inputs[@]}" -o meant.npz
	tool diff --rtol 1e-4 --atol 1e-5 before.npz after.npz
	tool diff --rtol 1e-4 --atol 1e-5 before.npz meant.npz
	grep -Eq 'ms (instead of|in [0-9]+ lists)' told
}

@test "tune: sizes that are open" {
	printf 'input a f32[n, 64] where n in 1..300\noutput y = softmax(a)\n' | tool trace | tool fuse > open.mp
	brief --size n=200 open.mp > tuned.mp
	local n
	for n in 1 17 300; do
		tool run open.mp a=rand n=$n -o before.npz
		tool run tuned.mp a=rand n=$n -o after.npz
		tool diff --rtol 1e-4 --atol 1e-6 before.npz after.npz
	done
	fails 2 tool tune --size n open.mp
}

@test "tune: what is in the database is not searched again, and lower gives it without a search" {
	small
	brief --db t.db small.mp > one.mp
	[ "$(tool tune --db t.db --export | wc -l)" = 2 ]
	ok tool tune -v --db t.db small.mp
	[[ $errors != *--bench* ]]
	cp stdout two.mp
	tool diff one.mp two.mp
	tool lower one.mp > one.loops
	tool lower --tuned t.db small.mp > two.loops
	tool lower --tuned t.db small.mp | cmp - two.loops
	tool diff one.loops two.loops
	tool lower --tuned t.db --explain small.mp 2>&1 > /dev/null | grep -q 'what tune has found'
	# another processor's lists are another's
	tool lower --tuned t.db --machine other --explain small.mp 2>&1 > /dev/null | not grep -q 'what tune has found'
	# a kernel that is otherwise has no list there
	printf 'input a f32[48, 41]\ninput b f32[41, 56]\noutput y = relu(a @ b)\n' | tool trace | tool fuse |
		tool lower --tuned t.db --explain 2>&1 > /dev/null | not grep -q 'what tune has found'
}

@test "tune: a database as text, there and back; a text that is none" {
	local k n=$'sluice tuned 1\n' t=$'\t'
	k=$(printf '0%.0s' {1..64})
	printf '%s' "$n$k${t}clang${t}some processor${t}10.5${t}9.0${t}order 0 1; tile 1 2 16" > good
	ok tool tune --db t.db --import good
	tool tune --db t.db --export > again
	tool tune --db u.db --import again
	tool tune --db u.db --export | cmp - again
	[ "$(wc -l < again)" = 2 ]
	for line in "$k" "$k${t}clang${t}p${t}1${t}1" "x$k${t}clang${t}p${t}1${t}1${t}order 0" "$k${t}clang${t}p${t}-1${t}1${t}order 0" \
		"$k${t}clang${t}p${t}nan${t}1${t}order 0" "$k${t}clang${t}p${t}1${t}1${t}order \$(date)" "$k${t}clang${t}p${t}1${t}1${t}a${t}b" \
		"$k${t}${t}p${t}1${t}1${t}order 0" $'\1'; do
		printf '%s\n' "$n$line" > bad
		fails 4 tool tune --db t.db --import bad
	done
	printf 'sluice tuned 2\n' > bad
	fails 4 tool tune --db t.db --import bad
	tool tune --db t.db --export | cmp - again
	fails 2 tool tune --export
}

@test "tune: a database that anybody may have written" {
	local row kernel
	small
	brief --seconds 0 --db t.db small.mp > /dev/null
	brief --seconds 2 --db k.db small.mp > /dev/null
	row=$(tool tune --db k.db --export | tail -n 1)
	kernel=${row%%$'\t'*}
	sql k.db "update tuned set list = 'tile 0 3 5'"
	fails 4 tool lower --tuned k.db small.mp
	sql k.db "update tuned set list = 'order 7'"
	fails 4 tool lower --tuned k.db small.mp
	sql k.db "update tuned set list = '; drop table x ''; \$(date)'"
	fails 4 tool lower --tuned k.db small.mp
	fails 4 tool tune --db k.db small.mp
	sql k.db "update tuned set list = null"
	fails 4 tool lower --tuned k.db small.mp
	sql k.db "update tuned set list = hex(zeroblob(100000))"
	fails 4 tool lower --tuned k.db small.mp
	sql v.db "create table x (list); create view tuned as select '$kernel' kernel, 'clang' target, 'p' device, 'order 0' list, 1 before, 1 after"
	fails 4 tool lower --tuned v.db small.mp
	sql w.db "create table tuned (kernel)"
	fails 4 tool lower --tuned w.db small.mp
	head -c 3000 /dev/urandom > junk
	fails 4 tool lower --tuned junk small.mp
	head -c 5000 t.db > short
	fails 4 tool lower --tuned short small.mp
	fails 1 tool lower --tuned none.db small.mp
}

@test "tune: a wrong result is an error that names the action" {
	small
	# the results of one candidate are otherwise
	own run 'real=$BIN/run; "$real" "$@" || exit
for a in "$@"; do case $a in *out.npz) python3 - "$a" << "END"
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1]); all = {n: z.read(n) for n in z.namelist()}; z.close()
with zipfile.ZipFile(sys.argv[1], "w") as z:
    for n, b in all.items():
        z.writestr(n, b[:-2] + b"\x7d\x42" if n.startswith("o2_") else b)
END
esac; done'
	fails 1 brief small.mp
	[[ $errors == *"a wrong result by '"*"order"*"' in '"*"order"*"instead of"* ]]
}

@test "tune: a candidate that crashes is left out" {
	small
	own run 'real=$BIN/run; for a in "$@"; do case $a in *program.mp) [ -e crash ] || ! "$BIN/show" "$a" | grep -q "\"jam\"" || kill -SEGV $$; esac; done
exec "$real" "$@"'
	ok brief --seconds 6 small.mp
	tool show --count stdout
	[[ $errors == "" || $errors == *"left out '"*jam* ]]
}

@test "tune: an interrupt writes what was found" {
	small
	env --default-signal=INT "$BIN/tune" --lap 0.3 --seconds 100 --db t.db small.mp -o tuned.mp &
	local tune=$!
	sleep 3
	kill -INT "$tune"
	wait "$tune"
	tool run tuned.mp a=rand b=rand > /dev/null
	[ -z "$(find /tmp -maxdepth 1 -name 'sluice.*' -newer small.mp -user "$(id -un)" -exec test -e '{}/trial.mp' ';' -print)" ] ||
		sleep 1
}

@test "tune: another machine measures" {
	ldconfig -p | grep -q libzmq || skip "libzmq is not installed"
	local dir at
	dir=$(mktemp -d "${TMPDIR:-/tmp}/sluice.XXXXXX")
	at="ipc://$dir/to"
	small
	timeout 60 "$BIN/tune" --measure -i "$at" -o "ipc://$dir/from" 2> far &
	brief --clocks "$at,ipc://$dir/from" --explain small.mp -o tuned.mp 2> told
	wait $!
	rm -rf "$dir"
	grep -Eq 'ms (instead of|in [0-9]+ lists)' told
	tool run tuned.mp a=rand b=rand > /dev/null
	# what is no trial is refused
	fails 4 tool tune --measure small.mp
	fails 2 tool tune --clocks "$at" small.mp
}

@test "tune: a GPU's lists" {
	tool run --devices | grep -q '^opencl' || skip "no OpenCL device"
	small
	brief -t opencl small.mp > tuned.mp
	tool run small.mp a=rand b=rand -o before.npz
	tool run -t opencl tuned.mp a=rand b=rand -o after.npz
	tool diff --rtol 1e-4 before.npz after.npz
}

@test "tune: the figures of this machine, measured and used" {
	small
	XDG_CACHE_HOME=$PWD/cache ok tool lower --measure
	cp stdout figures
	grep -Eq '^cache: [0-9]+ [0-9]+ [0-9]+$' figures
	cmp figures cache/sluice/machine
	tool lower small.mp > usual
	# without being asked for they change nothing
	XDG_CACHE_HOME=$PWD/cache tool lower small.mp | cmp - usual
	XDG_CACHE_HOME=$PWD/cache ok tool lower --measured small.mp
	fails 1 env XDG_CACHE_HOME="$PWD/none" "$BIN/lower" --measured small.mp
	chmod 666 cache/sluice/machine
	fails 1 env XDG_CACHE_HOME="$PWD/cache" "$BIN/lower" --measured small.mp
	chmod 600 cache/sluice/machine
	for line in 'cache: 1 2' 'ops: 0' 'clock: fast' 'read: 1 2 3 -4' 'cache'; do
		echo "$line" > cache/sluice/machine
		fails 4 env XDG_CACHE_HOME="$PWD/cache" "$BIN/lower" --measured small.mp
	done
	# figures that are wrong make a kernel slow, not wrong
	printf 'cache: 64 128 256\nread: 1 1 1 1\nops: 60\nlatency: 1\nline: 4\npage: 1\n' > cache/sluice/machine
	XDG_CACHE_HOME=$PWD/cache tool lower --measured small.mp > wrong
	tool run usual a=rand b=rand -o a.npz
	tool run wrong a=rand b=rand -o b.npz
	tool diff --rtol 1e-4 a.npz b.npz
}

@test "tune: whatever the figures of a machine, what is chosen by them is right" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	PATH=$BIN:$PATH python3 "$TESTS/machines.py" 7 30 > told || { cat told; return 1; }
	[ "$(cat told)" = "30 machines, 0 wrong" ]
}
