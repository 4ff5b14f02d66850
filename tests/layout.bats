# layout: nets of convolutions of random shapes (layout.py) and long reductions (reductions.py), laid out and compiled,
# against the interpreter.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# nets OPTION… -- SEED…: as lower lays them out
nets() {
	local seed options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	for seed in "${@:2}"; do
		python3 "$TESTS/layout.py" "$seed" > n.t
		ok tool trace n.t
		cp stdout n.mp
		ok tool run --interpret n.mp x=rand -o i.npz
		tool fuse n.mp | tool lower -t clang --explain "${options[@]}" > l.mp 2>> told
		ok tool run l.mp x=rand -o c.npz
		tool diff --rtol 1e-5 --atol "${atol:-1e-4}" i.npz c.npz || { echo "^ layout.py $seed ${options[*]}"; return 1; }
	done
}

@test "layout: random nets" {
	nets -- 21 22 23 26 29 33 37 43 67
	atol=1e-3 nets -- 285 291 421 442       # by Winograd, results of some hundreds
	for what in "read from a copy" "written through a copy" "with room around it" "in blocks of" "by Winograd's" "not by Winograd"; do
		grep -q "$what" told || { echo "nothing $what"; return 1; }
	done
}

@test "layout: without Winograd, for shorter vectors" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	nets --strict --march x86-64-v3 -- 33 28 31 35 291
	! grep -q "by Winograd's" told
}

@test "layout: any pass may be left out" {
	python3 "$TESTS/layout.py" 291 > n.t
	tool trace n.t > n.mp
	ok tool run --interpret n.mp x=rand -o i.npz
	for pass in ends winograd blocks weights; do
		tool fuse n.mp | tool layout --skip "$pass" | tool lower -t clang > l.mp
		ok tool run l.mp x=rand -o c.npz
		tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
	done
}

@test "layout: long reductions in parts, the same bits from any number of threads" {
	local seed inputs="x0=rand x1=rand x2=rand x3=rand"
	for seed in 1 2 3 4 5 6; do
		python3 "$TESTS/reductions.py" "$seed" > n.t
		tool trace n.t > n.mp
		# shellcheck disable=SC2086
		ok tool run --interpret n.mp $inputs -o i.npz
		tool fuse n.mp | tool lower -t clang --explain > l.mp 2>> told
		# shellcheck disable=SC2086
		ok tool run -j 1 l.mp $inputs -o c.npz
		# shellcheck disable=SC2086
		ok tool run -j 3 l.mp $inputs -o d.npz
		tool diff --rtol 1e-4 i.npz c.npz || { echo "^ reductions.py $seed"; return 1; }
		tool diff --ulp 0 --zeros c.npz d.npz
	done
	grep -q "a reduction in .* parts" told
}

# a word's row, its scores against every row; the last panel of 1090 rows begins early, and indices may lie outside
@test "layout: a table that is looked up and multiplied by is in memory once" {
	python3 - > n.t <<-'END'
	rows = ("[" + ", ".join(str((i * 241 + k * 37) % 129 / 64 - 1) for k in range(241)) + "]" for i in range(1090))
	print("input id i64[9]")
	print("const w f32[1090, 241] = [" + ", ".join(rows) + "]")
	print("x = gather(w, id)")
	print("output y = matmul(x, transpose(w))")
	print("output z = x + 1")
	END
	tool trace n.t > n.mp
	ok tool run --interpret n.mp id=0,1087,-1,1089,47,48,1040,1090,1056 -o i.npz
	tool fuse n.mp | tool lower -t clang --explain > l.mp 2> told
	grep -q "is looked up in its panels" told
	ok tool run l.mp id=0,1087,-1,1089,47,48,1040,1090,1056 -o c.npz
	tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
	[ "$(tool show l.mp | awk '/ = CALL /' | grep -c "$(tool show l.mp | awk '/ BUFFER .*"w"/ { print $1; exit }')\>")" = 1 ]
}
