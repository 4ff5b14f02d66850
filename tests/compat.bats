#!/usr/bin/env bats
# Compatibility.  Every document of compat/VERSION, made by that version at every level and for every target (compat/make.sh
# makes such a folder), is read for ever, and gives what it gave.  And the same input gives the same bytes from every stage,
# whatever else the machine does: load, locale, environment, address layout, threads, the processor behind --march.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "documents of every version are read, as bytes and as text" {
	local d n=0
	for d in "$TESTS"/compat/*/*.txt; do
		"$BIN/show" -p "$d" > read.mp
		"$BIN/show" read.mp | cmp - "$d"
		[ ! -e "${d%.txt}.mp" ] || cmp read.mp "${d%.txt}.mp"
		n=$((n + 1))
	done
	[ "$n" -ge 60 ]
}

# gives FILE OPTION…: what a program's document gives is what was recorded
gives() {
	local program=${1%%.*} args
	program=$(dirname "$1")/$(basename "$1" | cut -d. -f1)
	read -ra args < "$program.args"
	ok "$BIN/run" "${@:2}" "$1" "${args[@]}" -o got.npz
	ok "$BIN/diff" --rtol 1e-4 --atol 1e-5 "$program.npz" got.npz
}

@test "documents of every version give what they gave, interpreted" {
	local d
	for d in "$TESTS"/compat/*/*.{graph,schedule,fused,loops.*}.mp; do
		gives "$d" --interpret
	done
}

@test "documents of every version give what they gave, compiled" {
	local d
	for d in "$TESTS"/compat/*/*.{graph,loops.clang}.mp; do
		gives "$d"
	done
	if grep -q avx2 /proc/cpuinfo && grep -q fma /proc/cpuinfo; then
		for d in "$TESTS"/compat/*/*.program.clang.mp; do
			# code of another day has no mark of this user's
			gives "$d" --allow-code
		done
	fi
}

# everything that the stages write for one program, in one file
stages() {
	local p=$1 target
	"$BIN/trace" "$TESTS/compat/1/$p.t" > "$2.graph"
	"$BIN/simplify" "$2.graph" > "$2.simple"
	"$BIN/schedule" "$2.simple" > "$2.schedule"
	"$BIN/fuse" "$2.schedule" > "$2.fused"
	for target in clang opencl; do
		"$BIN/lower" -t $target $([ $target = clang ] && echo "--march x86-64-v3") "$2.fused" > "$2.loops.$target"
		# the mark of the user that made it is the one thing that differs
		"$BIN/render" -t $target "$2.loops.$target" | "$BIN/show" | grep -v '^meta' > "$2.program.$target"
	done
	cat "$2".{graph,simple,schedule,fused,loops.clang,loops.opencl,program.clang,program.opencl}
}
export -f stages
export TESTS

same() { cmp "$BATS_FILE_TMPDIR/$1.all" "$2"; }

setup_file() {
	local p
	for p in attention places symbolic; do
		stages $p "$BATS_FILE_TMPDIR/$p" > "$BATS_FILE_TMPDIR/$p.all"
	done
}

# tries COMMAND…: every program's stages, run by the command
tries() {
	local p
	for p in attention places symbolic; do
		"$@" bash -c 'stages "$1" "$2"' - $p "$BATS_TEST_TMPDIR/$p" > "$BATS_TEST_TMPDIR/$p.all"
		same $p "$BATS_TEST_TMPDIR/$p.all"
	done
}

@test "the same bytes in other locales" {
	tries env LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8
	tries env LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8
}

@test "the same bytes in another environment" {
	mkdir -p home tmp
	tries env HOME="$PWD/home" TMPDIR="$PWD/tmp" XDG_CACHE_HOME="$PWD/home/cache" COLUMNS=20 LINES=5 TERM=dumb TZ=Asia/Tokyo \
		POSIXLY_CORRECT=1 OMP_NUM_THREADS=1 MALLOC_PERTURB_=165
	tries bash -c 'umask 077; cd /; exec "$@"' -
}

@test "the same bytes with other address layouts and stacks" {
	if setarch -R true 2> /dev/null; then
		tries setarch -R
	fi
	tries bash -c 'ulimit -s 1024; exec "$@"' -
	tries bash -c 'ulimit -s 65536 2> /dev/null; exec "$@"' -
}

@test "the same bytes while others compute" {
	local busy=()
	for _ in 1 2 3; do
		timeout 60 sh -c 'while :; do :; done' &
		busy+=($!)
	done
	tries env
	kill "${busy[@]}"
}

@test "the same bytes on one processor" {
	command -v taskset > /dev/null || skip "there is no taskset"
	tries taskset -c 0
}

@test "the same results with any number of threads" {
	local j
	for j in 1 2 3 8; do
		ok "$BIN/run" -j $j "$BATS_FILE_TMPDIR/symbolic.graph" x=rand w=rand n=64 m=9 -o "$j.npz"
		ok "$BIN/diff" --ulp 0 1.npz "$j.npz"
	done
}

@test "given --march, the host's processor is not looked at" {
	local text
	"$BIN/lower" -t clang --march x86-64-v3 "$BATS_FILE_TMPDIR/attention.fused" > here.mp
	"$BIN/lower" -t clang --march armv8-a "$BATS_FILE_TMPDIR/attention.fused" > there.mp
	# neither names what this machine has
	for text in here there; do
		"$BIN/render" -t clang $text.mp | "$BIN/show" > $text.txt
		not grep -q -e '-march=native' $text.txt
	done
}
