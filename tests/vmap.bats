#!/usr/bin/env bats
# vmap against a loop: a program over a new axis gives the same as the program run for each index of
# the axis. Every op with every dtype (the documents of ops/) is tested with all inputs batched, and
# with some; further cases are programs: `batched`.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

lanes() { python3 "$TESTS/lanes.py" "$@"; }

inputs() { tool show "$1" | sed -n 's/.*BUFFER.*{name: "\([^"]*\)".*role: "input".*/\1/p'; }

operands() { inputs "$1" | sed "s/.*/&=$2/"; }

# looped DOC OPTIONS -- NAMES…: runs DOC with the inputs in 0.npz and in 1.npz, and once over both,
# with the inputs NAMES batched
looped() {
	local g=$1 names k run=()
	shift
	while [ "$1" != -- ]; do run+=("$1"); shift; done
	shift
	names=$(IFS=,; echo "$*")
	lanes stack both.npz "$names" 0.npz 1.npz
	# what is not batched is the first's for both
	lanes stack one.npz "" 0.npz 1.npz
	for k in 0 1; do
		python3 - "$k" "$names" <<-'END'
			import sys, zipfile
			k, names = sys.argv[1], sys.argv[2].split(",")
			with zipfile.ZipFile(f"feed{k}.npz", "w") as out, zipfile.ZipFile("0.npz") as a, zipfile.ZipFile(f"{k}.npz") as b:
			    for n in a.namelist():
			        out.writestr(n, (b if n[:-4] in names else a).read(n))
		END
		ok tool run "${run[@]}" "$g" -o out$k.npz $(operands "$g" feed$k.npz)
	done
	local axes=()
	for k in "$@"; do axes+=(-a "$k=0"); done
	tool vmap "${axes[@]}" -n 2 "$g" > batched.mp
	ok tool run "${run[@]}" batched.mp -o batched.npz $(operands batched.mp both.npz)
	for k in 0 1; do
		lanes lane $k batched.npz out$k.npz got.npz
		tool diff ${CLOSE:---ulp 4} --zeros out$k.npz got.npz || { echo "^ place $k of $names: the loop's value first"; return 1; }
	done
}

# ops DTYPE: every op with all inputs batched, with the even ones, and with the odd ones
ops() {
	local g=$TESTS/ops/$1.mp all even=() odd=() k=0 name
	gzip -dc "$TESTS/ops/$1.in.npz.gz" > in.npz
	lanes turned in.npz 1.npz
	cp in.npz 0.npz
	all=($(inputs "$g"))
	for name in "${all[@]}"; do
		if [ $((k++ % 2)) = 0 ]; then even+=("$name"); else odd+=("$name"); fi
	done
	for_each "$g" "${all[@]}"
	for_each "$g" "${even[@]}"
	for_each "$g" "${odd[@]}"
}

for_each() {
	local g=$1
	shift
	looped "$g" --interpret -- "$@"
}

@test "vmap: every op of floats" { for d in f64 f32 f16 bf16; do CLOSE="--ulp 4 $([ $d != bf16 ] || echo --bf16)" ops $d; done; }
@test "vmap: every op of integers and bools" { for d in bool i8 i16 i32 i64 u8 u16 u32 u64; do ops $d; done; }

# batched T NAMES…: program T, with random inputs, against the loop
batched() {
	local t=$1 k
	shift
	tool trace "$t" > g.mp
	for k in 0 1; do feed $k; done
	looped g.mp --interpret -- "$@"
	looped g.mp -- "$@"
}

# K.npz: an array for each input of g.mp, with different numbers for each K
feed() {
	tool show g.mp | sed -n 's/.*BUFFER \([a-z0-9]*\) {name: "\([^"]*\)", shape: \(\[[^]]*\]\), role: "input".*/\2 \1 \3/p' |
		while read -r name dtype shape; do
			case $dtype in
			bool) echo "output $name = rand($shape, key=$1 + 3) < 0.5" ;;
			f*) echo "output $name = $dtype(rand($shape, key=$1 + 7)) * 4 - 2" ;;
			*) echo "output $name = $dtype(rand($shape, key=$1 + 5) * 6) - 1" ;;
			esac
		done > feed.t
	tool trace feed.t | tool run --interpret -o "$1.npz" -
}

@test "vmap: indices, scatters, scans and sorts, batched on either side" {
	cat > p.t <<-'T'
		input x f64[4, 5]
		input i i64[3]
		input j i64[3]
		input v f64[3, 5]
		output g = x[i], h = x[i, j], s = scatter(x, i, v, how="add"), t = scatter(x, i, v)
		output c = cumsum(x, axis=1), o = argsort(x, axis=0), m = x.max(axis=0), k = topk(x, 2, axis=1)[1], f = x[::-1, 1:3]
	T
	tool trace p.t > g.mp || { cat p.t; return 1; }
	batched p.t x
	batched p.t i
	batched p.t i j
	batched p.t v
	batched p.t x i
	batched p.t x v j
	batched p.t x i j v
}

@test "vmap: random networks and layout changes" {
	for seed in 1 2 3; do
		python3 "$TESTS/layout.py" $seed > n.t
		CLOSE="--rtol 1e-4 --atol 1e-5" batched n.t x
		python3 "$TESTS/moves.py" $seed 4 > m.t
		batched m.t a0 a1 a2 a3
	done
}

@test "vmap: the axis goes where it is told, its size is a variable or a number" {
	echo 'input x f32[2, 3]; input w f32[3]; output y = x * w, z = w + 1, s = x.sum()' > p.t
	tool trace p.t > g.mp
	shapes() { tool vmap "$@" g.mp > v.mp && tool show v.mp | sed -n 's/.*SINK \(.*\) {.*/\1/p' | tr ' ' '\n' | while read -r n; do
		tool show v.mp | sed -n "s/^$n = .*# \(\[.*\]\)$/\1/p"; done | tr '\n' ' '; }
	[ "$(shapes -a x=0)" = "[vmap,2,3] [3] [vmap] " ]
	[ "$(shapes -a x=1 -n 5)" = "[5,2,3] [3] [5] " ]
	[ "$(shapes -a x=-1,w=none -n b=2..9 -o y=-1,z=0)" = "[2,3,b] [b,3] [b] " ]
	[ "$(shapes -a w=1 -n 0)" = "[0,2,3] [0,3] " ]
	tool vmap -a x=2 -n 4 g.mp > last.mp
	tool vmap -a x=0 -n 4 g.mp > first.mp
	echo 'output x = f32(arange(24)).reshape(4, 2, 3), w = f32([1, 2, 3])' > f.t
	tool trace f.t | tool run --interpret -o . - > /dev/null
	echo 'output x = transpose(f32(arange(24)).reshape(4, 2, 3), [1, 2, 0])' > l.t
	mkdir l && tool trace l.t | tool run --interpret -o l - > /dev/null
	ok tool run --interpret first.mp x=x.npy w=w.npy -o first.npz
	ok tool run --interpret last.mp x=l/x.npy w=w.npy -o last.npz
	ok tool diff first.npz last.npz
}

@test "vmap: a second axis, and of a variable size" {
	echo 'input x f64[n, 2] where n in 1..9; output y = cumsum(x, axis=0) @ [1.0, 2.0]' > p.t
	tool trace p.t | tool vmap -a x=0 | tool vmap -a x=1 > vv.mp
	tool show vv.mp | grep -q 'vars {n: \[1, 9\], vmap: \[1, 2147483647\], vmap_1: \[1, 2147483647\]}'
	echo 'output x = f64(arange(48)).reshape(2, 3, 4, 2)' > x.t
	tool trace x.t | tool run --interpret -o . - > /dev/null
	ok tool run --interpret vv.mp x=x.npy -o a.npz
	echo 'input x f64[2, 3, 4, 2]; output y = transpose(cumsum(x, axis=2) @ [1.0, 2.0], [1, 0, 2])' > q.t
	tool trace q.t > q.mp
	ok tool run --interpret q.mp x=x.npy -o b.npz
	ok tool diff a.npz b.npz
}

@test "vmap: with a variable size, tensors without elements are not written" {
	cat > p.t <<-'T'
		input x f64[4]
		y = x[0:0]
		output a = exp(y), b = concat(y, x) * 2, c = cumsum(y), d = sort(y), e = scatter(y, [0], [3.0]), f = sum(y)
		output g = scatter(x, i64(arange(0)), y), h = pad(y, 1), loss = sum(x ** 2) + sum(y ** 3)
	T
	for axis in 0 -1; do
		ok bash -c '"$BIN/trace" p.t | "$BIN/grad" -o loss | "$BIN/vmap" -a x='$axis' > v.mp'
		ok tool run --interpret v.mp x=rand vmap=3 -o i.npz
		ok tool run --fast-compile v.mp x=rand vmap=3 -o c.npz
		ok tool diff i.npz c.npz
	done
}

@test "vmap: states that depend on the axis are batched; others stay single" {
	cat > p.t <<-'T'
		input x f64[2]
		state s f64[2] = [1, 2]
		state t f64 = 0
		state n i64 = 0
		s <- s + x
		t <- t + sum(s)
		n <- n + 1
		output y = s * 10 + t
	T
	tool trace p.t > g.mp
	tool vmap -a x=0 -n 3 g.mp > v.mp
	tool show v.mp | grep -q 'BUFFER f64 {name: "s", shape: \[3, 2\], role: "state"'
	tool show v.mp | grep -q 'BUFFER f64 {name: "t", shape: \[3\], role: "state"'
	tool show v.mp | grep -q 'BUFFER i64 {name: "n", shape: \[\], role: "state"'
	echo 'output x = f64([[1.0, 2], [0, 0], [5, -1]])' > x.t
	tool trace x.t | tool run --interpret -o all.npz -
	for how in --interpret ""; do
		ok tool run $how -n 3 v.mp x=all.npz -o v.npz
		for k in 0 1 2; do
			echo "output x = f64([[1.0, 2], [0, 0], [5, -1]])[$k]" > x.t
			tool trace x.t | tool run --interpret -o x.npz -
			ok tool run $how -n 3 g.mp x=x.npz -o g.npz
			lanes lane $k v.npz g.npz got.npz
			ok tool diff g.npz got.npz
		done
	done
	tool vmap -a x=0,s=1 -n 3 g.mp | tool show | grep -q 'BUFFER f64 {name: "s", shape: \[2, 3\], role: "state"'
	fails 3 tool vmap -a x=0 g.mp
	[[ $errors == *"-n needs a number"* ]]
	fails 2 tool vmap -a x=0,s=none -n 3 g.mp
}

@test "vmap: a user-written kernel is called for each index" {
	cat > c.mp.txt <<-'T'
		sluice 1 graph
		%0 = BUFFER f32 {name: "x", shape: [3], role: "input"}
		%1 = BUFFER f32 {name: "w", shape: [3], role: "input"}
		%2 = CUSTOM f32 %0 %1 {shape: [3], code: {clang: "void custom(float *y, const float *x, const float *w) { for (int i = 0; i < 3; i++) y[i] = 2 * x[i] + w[i]; }"}}
		%3 = ADD f32 %2 %0
		%4 = SINK %3 {names: ["y"]}
	T
	tool show --allow-custom -p c.mp.txt > g.mp
	fails 3 tool vmap --allow-custom -a x=0 g.mp
	[[ $errors == *"batched by a known size"* ]]
	tool vmap --allow-custom -a x=0 -n 2 g.mp > v.mp
	echo 'output x = f32([[1, 2, 3], [4, 5, 6]]), w = f32([10, 20, 30])' > x.t
	tool trace x.t | tool run --interpret -o . -
	ok tool run --allow-custom v.mp x=x.npy w=w.npy -o v.npz
	echo 'output y = f32([[1, 2, 3], [4, 5, 6]]) * 3 + f32([10, 20, 30])' > y.t
	tool trace y.t | tool run --interpret -o want.npz -
	ok tool diff want.npz v.npz
}

@test "vmap: unsupported programs are refused with a message" {
	echo 'input x f32[2, 3]; const w = [1.0, 2, 3]; output y = x * w' > p.t
	tool trace p.t > g.mp
	fails 2 tool vmap g.mp
	fails 2 tool vmap -a nobody=0 g.mp
	fails 2 tool vmap -a x=4 g.mp
	fails 2 tool vmap -a x=-4 g.mp
	fails 2 tool vmap -a x g.mp
	fails 2 tool vmap -a x=none g.mp
	fails 2 tool vmap -a x=0,x=1 g.mp
	fails 2 tool vmap -a literal=0 g.mp
	fails 2 tool vmap -a x=0 -o z=1 g.mp
	fails 2 tool vmap -a x=0 -n 5x g.mp
	fails 2 tool vmap -a x=0 -n b=3..2 g.mp
	fails 2 tool vmap -a x=0 -n 'a b' g.mp
	# a size is given by its name, as an input is
	echo 'input x f64[2]; input vmap f64[2]; input idle f64; output y = x + vmap' > p.t
	tool trace p.t > g.mp
	for name in x vmap idle; do
		fails 2 tool vmap -a x=0 -n $name g.mp
		[[ $errors == *"'$name' is the name of a buffer"* ]]
	done
	ok bash -c '"$BIN/vmap" -a x=0 g.mp | "$BIN/run" x=rand vmap=1,2 vmap_1=3'
	[[ $output == "y f64[3,2]"* ]]
	echo 'input x f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]; output y = x + 1' > p.t
	tool trace p.t > g.mp
	fails 3 tool vmap -a x=0 g.mp
	echo 'input x f32[9]; output y = x[x > 0]' > p.t
	tool trace p.t > g.mp
	fails 3 tool vmap -a x=0 g.mp
	[[ $errors == *"a size that is data"* ]]
}

@test "vmap: a long chain" {
	{ echo 'input x f32[4]'; echo 'y = x'; awk 'BEGIN { for (i = 0; i < 20000; i++) print "y = y + 1 - x" }'; echo 'output y'; } > p.t
	tool trace p.t | tool vmap -a x=0 > v.mp
	tool show --count v.mp | grep -q '^graph nodes=4000'
}
