#!/usr/bin/env bats
# The cache of objects, programs and prepared constants: whatever stands in an entry's place, and
# wherever nothing can be stored, a run gives its result. A case is a thing that `spoil` puts there.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	mkdir cache
	printf '%s\n' 'input x f32[4]' 'const w f32 = 1.5' 'output y = x * 2 + w' > g.t
	tool trace g.t > g.mp
}

entries() { find cache -name '*.so' -o -name '*.mp' -o -name '*.data' -o -name '*.ptx'; }

# it gives the right result, for a graph and for a compiled program
runs() {
	local doc
	for doc in "${@:-g.mp}"; do
		ok timeout 60 "$BIN/run" "$doc" x=1
		[[ $output == *"[3.5 3.5 3.5 3.5]"* ]] || { echo "$doc: $output"; return 1; }
		[ -z "$errors" ] || { echo "$errors"; return 1; }
	done
}

# spoil COMMAND…: each entry is replaced by what COMMAND ENTRY makes
spoil() {
	local e
	for e in $(entries); do
		rm -rf "$e"
		"$@" "$e"
	done
}

@test "cache: links, FIFOs, folders, sockets, cut and foreign files are replaced, or passed by" {
	null() { ln -s /dev/null "$1"; }
	dangling() { ln -s /nowhere/at/all "$1"; }
	itself() { ln -s "$(basename "$1")" "$1"; }
	good() { cp "$saved/$(basename "$1")" "$PWD/elsewhere" && ln -s "$PWD/elsewhere" "$1"; }
	full() { mkdir "$1" && touch "$1/file"; }
	empty() { : > "$1"; }
	cut() { head -c 1000 "$saved/$(basename "$1")" > "$1"; }
	long() { { cat "$saved/$(basename "$1")"; echo more; } > "$1"; }
	zeros() { head -c "$(stat -c %s "$saved/$(basename "$1")")" /dev/zero > "$1"; }
	other() { cp "$(find "$saved" -type f ! -name "$(basename "$1")" | head -n 1)" "$1"; }
	closed() { cp "$saved/$(basename "$1")" "$1" && chmod 000 "$1"; }
	open() { cp "$saved/$(basename "$1")" "$1" && chmod 666 "$1"; }
	local how e
	tool render -t clang g.mp | tool compile > o.mp
	runs g.mp o.mp
	saved=$PWD/saved
	mkdir saved
	for e in $(entries); do cp "$e" saved; done
	[ "$(ls saved | wc -l)" -ge 2 ]
	for how in null dangling itself good mkfifo mkdir full empty cut long zeros other closed open; do
		spoil $how
		runs g.mp o.mp g.mp o.mp || { echo "$how"; return 1; }
		[[ $how == full ]] || [ -z "$(find cache -name '*.so' ! -type f)" ] || { echo "$how is left"; return 1; }
		find cache -mindepth 2 -type d -name '*.*' -exec rm -r {} +
	done
	# what is executed is read again where it was good
	chmod -R u+rw cache
	[ "$(find cache -name '*.so' -perm 600 | wc -l)" -ge 1 ]
}

@test "cache: an entry that this user did not write is not loaded" {
	runs
	echo 'int creat(const char *, unsigned); __attribute__((constructor)) static void seen(void) { creat("seen", 0600); }' > evil.c
	"${CC:-cc}" -shared -fPIC -o evil.so evil.c
	for e in $(find cache -name '*.so'); do
		# with the trailer of the right one, too
		{ cat evil.so; tail -c 64 "$e"; } > new
		chmod 600 new
		mv new "$e"
	done
	find cache -name '*.mp' -delete
	runs
	[ ! -e seen ]
	# with another secret nothing of it is an entry
	n=$(find cache -name '*.so' | wc -l)
	XDG_CONFIG_HOME=$PWD/config runs
	[ "$(find cache -name '*.so' | wc -l)" = $((2 * n)) ]
	# entries of another user
	[ "$(id -u)" = 0 ] || return 0
	chown 1234 $(entries)
	runs
	[ -z "$(find cache -type f -uid 1234 -name '*.so' -newer evil.so)" ] || runs
}

@test "cache: what compile writes does not depend on what is in the cache" {
	printf '%s\n' 'input x f32[64, 64]' 'output y = softmax(x @ x), s = cumsum(x), i = argmax(x, axis=1)' > k.t
	tool trace k.t | tool render -t clang > k.p
	tool compile k.p > whole.mp
	[ "$(find cache -name '*.so' | wc -l)" -ge 3 ]
	for e in $(find cache -name '*.so' | sort); do
		rm "$e"
		tool compile k.p | cmp - whole.mp
	done
	rm -rf cache
	tool compile -j 1 k.p | cmp - whole.mp
	ok tool run whole.mp x=rand
	# nor is what was exchanged for another entry loaded
	for e in $(find cache -name '*.so'); do rm "$e"; mkdir -p "${e%/*}"; cp "$BIN/../libcommon.a" "$e"; chmod 600 "$e"; done
	ok tool run whole.mp x=rand
}

@test "cache: a folder that cannot be written, is a file, or belongs to somebody else" {
	rm -rf cache
	echo > cache
	runs
	rm cache
	mkdir cache
	echo > cache/sluice
	runs
	rm cache/sluice
	mkdir -m 500 cache/sluice
	runs
	rm -rf cache/sluice
	runs
	for d in cache/sluice/??; do rm -r "$d"; echo > "$d"; done
	runs
	rm -rf cache
	XDG_CACHE_HOME=/proc/none runs
	HOME=/proc XDG_CACHE_HOME= runs
	rm -rf cache
	mkdir -p cache/sluice
	mkfifo cache/sluice/grown
	runs
	mkfifo cache/sluice/grown 2> /dev/null || true
	runs
}

@test "cache: a cache that vanishes, between compile and run and between two documents" {
	tool render -t clang g.mp | tool compile > o.mp
	rm -rf cache
	runs o.mp
	rm -rf cache
	sed 's/\* 2/* 3/' g.t > h.t
	tool trace h.t > h.mp
	{ cat g.mp; sleep 3; cat h.mp; } | tool run x=1 > out &
	sleep 1.5
	rm -rf cache
	wait $!
	[ "$(grep -c '\[' out)" = 4 ]
	runs
}

@test "cache: full disks, and files that may not grow" {
	if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=64k none full 2> /dev/null; then
		head -c 60k /dev/zero > full/much || true
		status=0
		XDG_CACHE_HOME=$PWD/full runs || status=1
		XDG_CACHE_HOME=$PWD/full tool render -t clang g.mp | XDG_CACHE_HOME=$PWD/full tool compile > o.mp || status=1
		umount full
		[ $status = 0 ]
		runs o.mp
	fi
	# 4 KiB: the compiler's output and entries do not fit; what is cached already is read
	runs
	(ulimit -f 1; runs)
	rm -rf cache
	mkdir cache
	(ulimit -f 1; fails 1 tool run g.mp x=1)
	runs
}

@test "cache: a write that fails ends a compilation in time, with one line or the right program" {
	sanitized && skip "sanitizers have an allocator of their own"
	"${CC:-cc}" -shared -fPIC -O1 -o failing.so "$TESTS/fuzz/failing.c" -ldl
	printf '%s\n' 'input x f32[64, 64]' 'output y = softmax(x @ x), s = cumsum(x), i = argsort(x[:, 1])' > k.t
	tool trace k.t | tool render -t clang > k.p
	tool run k.p x=rand > right
	for k in {1..10}; do
		rm -rf cache
		mkdir cache
		capture env FULL_WRITE="$k" LD_PRELOAD="$PWD/failing.so" timeout 20 "$BIN/compile" k.p
		case $status in
		0) tool run stdout x=rand | cmp - right ;;
		1) [ "$(wc -l < stderr)" = 1 ] ;;
		*) echo "write $k: status $status"; return 1 ;;
		esac
	done
	rm -rf cache
	mkdir cache
	# nor do compilers that run beside each other each have their say
	for k in 1 2 3; do (ulimit -f 1; fails 1 tool run k.p x=rand); done
}

@test "cache: what the last attempt compiled, which may round otherwise, is not kept" {
	[ "$(uname -m)" = x86_64 ] || skip "the last attempt is another elsewhere"
	cat > cc <<-'S'
	#!/bin/sh
	case "$*" in *-march=x86-64*) exec "${CC:-cc}" "$@" ;; esac
	echo "error: no memory" >&2
	exit 1
	S
	chmod +x cc
	ok tool run --cc ./cc g.mp x=1
	[[ $output == *"[3.5 3.5 3.5 3.5]"* ]]
	[ -z "$(find cache -name '*.so')" ]
}

@test "cache: a file system on which nothing can be executed" {
	[ "$(id -u)" = 0 ] && mkdir noexec && mount -t tmpfs -o size=64m,noexec none noexec 2> /dev/null || skip "nothing can be mounted"
	status=0
	for i in 1 2; do XDG_CACHE_HOME=$PWD/noexec runs || status=1; done
	[ -n "$(find noexec -name '*.so')" ] || status=1
	umount noexec
	[ $status = 0 ]
}

@test "cache: prepared constants whose entries are spoiled are computed again" {
	printf '%s\n' 'i = reshape(arange(32768), 64, 512)' 'output w = f32(i % 7 - 3)' > w.t
	tool trace w.t | tool run -o .
	printf '%s\n' 'input x f32[2, 64]' 'const w = load("w.npy")' 'output y = x @ (sin(w) * 2 + w)' > c.t
	tool trace c.t > c.mp
	ok tool run c.mp x=1
	[ "$(find cache -name '*.data' | wc -l)" = 1 ]
	want=$output
	for how in "ln -s /dev/null" mkfifo mkdir "cp c.t"; do
		for e in $(find cache -name '*.data'); do rm -rf "$e"; $how "$e"; done
		ok timeout 60 "$BIN/run" c.mp x=1
		[ "$output" = "$want" ]
	done
	for e in $(find cache -name '*.data'); do
		cp "$e" was
		printf harm | dd of="$e" bs=1 seek=5000 conv=notrunc status=none
		ok tool run c.mp x=1
		[ "$output" = "$want" ]
		cp was "$e"
		chmod 666 "$e"
		ok tool run c.mp x=1
		[ "$output" = "$want" ]
	done
}

@test "cache: documents of one XXH3 hash have results of their own" {
	# they differ in a constant; the XXH3-128 of the two documents is the same
	base64 -d <<-'E' | gzip -d > ca.mp
	H4sIAAAAAAACA+2Yv0sCYRjH71xsCZqK/oEIaiqCiqCfiiEFnQjSduSRgXqmpxFUYElEDelx0JjhnTT0BwhCuEhFBUWNFU1CLa3VUPkVnr33lZ
	ruXT4gfvg6PM/3ATOFpBoTrbCSUsLWYlyOhcyIosnp4lI0ltQSWSuqBpWEYRQn/G63Syos9fdlM2ZUjihHK1YiJMcU/dohOMy4GlasBTWa0Myg
	rMnVNuF37+k+8uKsMz5mmuDlam0W3Jy/WQdLLW4NfB7I1sCRbqkM7twoe+Tlt8WGB8ID4YHwQHggPHA56DkgjyUPHjjY+eYmjyUPHnj8mRoljy
	UPHvjxUD4jjyUPHrg79+wljyUPHnh+uHFBHksePPC1erJFHksePLCazn+Tx5IHD+xofZwjjyUPHnjX7u8ijyUPHtjTfhogjyUPHrj/XroljyUP
	Hui6HN4Hm31rYrrX2cQew8Pv4N1j3t6guePtDZo73t6guePtDZo73t6guePtDZo73t6gOeftDZpz3t6gveLtDdor3t6gPebtDdrjZl/pKzzkbG
	KP4eF38O6xff/t+2/ff/v+2/ffvv/2/f//+/93zyj6PNL0rBd/GeQEXQ9eZXTBYRQl15R/0tX4VNQLM+OBnGCYvvoXKzlH5QcZlcqijxAAAA==
	E
	base64 -d <<-'E' | gzip -d > cb.mp
	H4sIAAAAAAACA+2YPUtCYRiGj7a0BE1GfyCCmoqgIuhTMSRBRZC2Qx5S8Cs9GkEFmkPUoB4ONFZ4jjT0AwQhXKTCAqPGCiehFtdq6OMWnr33lZ
	rOu1wQXtxneJ77gbLFZDRm0kNSSgrp63ExFtDCkiymS8FILCkn8nok6pcSqlpa8NpsVncxOD6Wz2oRMSydbuqJgBiTlFuzYNbi0ZCkr0UjCVnz
	i7JY6xd+954fwi/tHkGIz2kaWN9qOcHMamMHLPfaZLA5kW+BM8PuCrjfkA7JK2dMHQ+EB8ID4YHwQHjght9+RB5LHjxwcrBtI48lDx549pGaJY
	8lDx74/li5JI8lDx544Go6yGPJgwdeHe9ek8eSBw98rZ3vkceSBw+spU++yGPJgwcO9D25yGPJgwfeW7xD5LHkwQNHLBc+8ljy4IG5t/IdeSx5
	8EBrfToHdvu2TelRfAfvHsPDd/DuMW9v0Nzx9gbNHW9v0Nzx9gbNHW9v0Nzx9gbNHW9v0Jzz9gbNOW9v0F7x9gbtFW9v0B7z9gbtcbev/Bmawn
	fw7jE8fAfvHhv337j/xv037r9x/437b9z//7//f/fUksfuXnY68C+DgqAo/pusIpjVktu65F20dv5qUoor876CoGqenx9WC+bqN0dO72OPEAAA
	E
	for c in ca cb; do
		ok tool run $c.mp
		echo "$output" > $c.out
	done
	not cmp -s ca.out cb.out
	for c in ca cb; do
		ok tool run --interpret $c.mp
		echo "$output" | cmp - $c.out
		ok tool run $c.mp
		echo "$output" | cmp - $c.out
	done
}

@test "cache: what is compiled into an empty one is the same bytes" {
	for k in 1 2; do
		rm -rf cache
		mkdir cache
		tool render -t clang g.mp | tool compile > "compiled$k"
	done
	cmp compiled1 compiled2
}
