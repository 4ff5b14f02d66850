#!/usr/bin/env bats
# Sorts by digits, by pairs and by merges: the interpreter's order, whatever the target and the
# number of threads. A case is a dtype and a length of rows.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export XDG_CACHE_HOME=$PWD/cache
	mkdir cache
}

# drawn N CHOICES…: N values, half of them of the choices, as operand x
drawn() {
	awk -v n="$1" -v choices="${*:2}" 'BEGIN {
		srand(n); m = split(choices, c, " "); printf "x="
		for (i = 0; i < n; i++) printf "%s%s", i ? "," : "", rand() < 0.5 ? c[1 + int(rand() * m)] : int(rand() * 100)
	}'
}

# orders DTYPE LENGTH CHOICES…: rows and columns, both ways
orders() {
	local n=$(($2 * 5)) x how
	printf '%s\n' "input x $1[$n]" "r = reshape(x, 5, $2)" 'output a = argsort(r, axis=1)' \
		'output d = argsort(r, axis=1, descending=true)' 'output c = argsort(r, axis=0)' 'output s = sort(r, axis=1)' > p.t
	x=$(drawn "$n" "${@:3}")
	tool run --interpret p.t "$x" -o i.npz
	tool lower -t clang <(tool trace p.t | tool fuse) > l.mp
	tool prove l.mp > proved
	for how in "-t clang -j 1" "-t clang -j 3" "-t c" "-t llvm" "--interpret l.mp"; do
		if [ "$how" = "-t llvm" ] && ! tool run -t llvm p.t "$x" -o c.npz 2> e; then
			grep -q LLVM e && continue
		fi
		case $how in *l.mp) tool run $how "$x" -o c.npz ;; *) tool run $how p.t "$x" -o c.npz ;; esac
		cmp i.npz c.npz || { echo "^ $*: $how"; return 1; }
	done
}

@test "sorts: floats with NaN, infinities and zeros of both signs" {
	local n
	for n in 1 2 9 33 400; do
		orders f32 $n nan inf -inf 0 -0 1.5 -1.5 1e-40
		orders f64 $n nan inf -inf 0 -0 1.5 -1.5 1e-310
	done
	orders f16 70 nan inf -inf 0 -0 1.5 65504
	orders bf16 70 nan inf -inf 0 -0 1.5 3e38
}

@test "sorts: integers to their limits" {
	orders u16 300 65535 0
	orders u64 12 18446744073709551615 0
	orders i8 50 -128 127 0
	orders i16 300 -32768 32767 0
	orders i32 40 -2147483648 2147483647 0
	orders i64 40 -9223372036854775808 9223372036854775807 0
}

@test "sorts: rows of an open length, none and empty ones" {
	printf '%s\n' 'input x f32[m, n] where m in 0..9, n in 0..300' 'output a = argsort(x, axis=1)' > p.t
	local m n
	for m in 0 3; do
		for n in 0 1 5 299; do
			tool run --interpret p.t x=rand m=$m n=$n -o i.npz
			tool run p.t x=rand m=$m n=$n -o c.npz
			cmp i.npz c.npz
		done
	done
}
