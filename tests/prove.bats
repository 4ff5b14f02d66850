#!/usr/bin/env bats
# Documents stay within their memory, or are refused. To add a kind of fault, add a function to
# faults.py; to add a case in which a place is inside by what memory holds, add a program here.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# program NAME TEXT: NAME.s and NAME.f (schedule, fused), NAME.clang and NAME.opencl (loops)
program() {
	printf '%s\n' "$2" > "$1.t"
	tool trace "$1.t" | tool schedule > "$1.s"
	tool fuse "$1.s" > "$1.f"
	for t in clang opencl; do tool lower -t "$t" "$1.f" > "$1.$t"; done
}

# proved NAME: at every level
proved() {
	for x in s f clang opencl; do ok tool prove -q "$1.$x"; done
}

# edited FROM TO SED: a document with its text changed
edited() { tool show "$1" | sed -E "$3" | tool show -p > "$2"; }

@test "prove: planted faults are refused, with a case in which the index is outside" {
	python3 "$TESTS/faults.py" "$BIN" --seed "${SEED:-1}" -n 120
}

@test "prove: what it prints, and passes on" {
	program sums 'input x f32[n, 4] where n in 1..9
output y = sum(x * 2, axis=1)'
	tool prove sums.f > shown
	grep -qE '^K0 r_n_4: [0-9]+ places, [0-9]+ by bounds, 0 under gates, [0-9]+ with symbols, ' shown
	tail -n 1 shown | grep -qE '^[0-9]+ places of 1 kernels proved in [0-9.]+ ms$'
	tool prove --pass < sums.f 2> shown > same.f
	cmp sums.f same.f
	grep -q places shown
	[ ! -s <(tool prove -q sums.f) ]
	fails 2 tool prove sums.f sums.f sums.f
}

@test "prove: every stage that reads a document, and run, refuse it" {
	program sums 'input x f32[6, 4]
output y = sum(x * 2, axis=1)'
	edited sums.f bad.s 's/^(%[0-9]+ = RANGE i64) %[0-9]+ \[1,/%900 = CONST i64 5\n\1 %900 [1,/'
	for command in 'fuse' 'layout -t clang' 'lower -t clang' 'render -t clang' 'run x=rand' 'run --interpret x=rand'; do
		fails 4 tool $command bad.s
		[[ $errors == *"r1 is 4 at "*"r1=4"*", and the size is 4"* ]]
	done
}

@test "prove: places that memory holds" {
	program sorted 'input x f32[5, 7]
output y = sort(x), z = sort(x, axis=0), t = topk(x, 3)[0]'
	proved sorted
	# as many rows as work items, so without an IF around
	program rows 'input x i8[9, 128]
output y = argsort(x + x, axis=0)'
	proved rows
	program open 'input x f32[n, 4] where n in 1..50
r = x[x[:, 0] > 0.5]
output y = sort(x.flatten()), s = sum(r, axis=0), u = unique(i32(x * 4))[3]'
	proved open
	program gathered 'input x f32[6, 4]
input i i32[5]
output y = x[i], z = x[argmax(x, axis=0)]'
	proved gathered
	# without the gate of what data tells, it is refused
	edited gathered.s bad.s 's/^(%[0-9]+ = LOAD f32 %[0-9]+) %[0-9]+/\1/'
	fails 4 tool prove bad.s
	[[ $errors == *"INDEX"*"LOAD="*", and the size is 6"* ]]
}

@test "prove: one place that is loaded under two gates" {
	cat > a.txt <<-'END'
		sluice 1 schedule
		%0 = CONST i64 5
		%1 = CONST i64 -1
		%2 = BUFFER f32 {name: "x", shape: [5], role: "input"}
		%3 = BUFFER i64 {name: "i", shape: [5], role: "input"}
		%4 = BUFFER f32 {name: "y", shape: [5], role: "output"}
		%5 = RANGE i64 %0 [0, "loop"]
		%6 = PARAM f32 {slot: 0, shape: [5]}
		%7 = PARAM f32 {slot: 1, shape: [5]}
		%8 = PARAM i64 {slot: 2, shape: [5]}
		%9 = INDEX i64 %8 %5
		%22 = CONST i64 3
		%23 = CMPLT bool %5 %22
		%10 = LOAD i64 %9 %23
		%11 = CMPLT bool %1 %10
		%12 = CMPLT bool %10 %0
		%24 = AND bool %11 %12
		%13 = AND bool %23 %24
		%14 = LOAD i64 %9 %13
		%15 = INDEX f32 %7 %14
		%16 = LOAD f32 %15 %13
		%17 = INDEX f32 %6 %5
		%18 = STORE %17 %16
		%19 = KERNEL %18 {name: "k"}
		%20 = CALL %19 %4 %2 %3
		%21 = SINK %20 {names: ["y"]}
	END
	tool show -p a.txt > a.s
	tool prove -v a.s 2> told
	not grep -q "gates for" told
	# another place of the same buffer says nothing
	edited a.s b.s 's/^(%17 = LOAD i64) %9/%90 = CONST i64 3\n%91 = INDEX i64 %8 %90\n\1 %91/'
	fails 4 tool prove b.s
	[[ $errors == *"INDEX"*", and the size is 5"* ]]
}

@test "prove: rows of a size that is a product, gathered by integers that are not i64" {
	local dtype
	for dtype in i32 u8 i16 i64; do
		cat > g.txt <<-E
		sluice 1 graph
		vars {n: [1, 9]}
		%0 = BUFFER $dtype {name: "i", shape: [2, "n"], role: "input"}
		%1 = BUFFER f32 {name: "x", shape: ["n", "n", 16], role: "input"}
		%2 = MUL f32 %1 %1
		%3 = GATHER f32 %2 %0
		%4 = SINK %3 {names: ["y"]}
		E
		tool show -p g.txt | tool schedule > g.s
		tool fuse g.s > g.f
		for t in clang opencl; do tool lower -t "$t" g.f > "g.$t"; done
		proved g
	done
}

@test "prove: places that are inside case by case" {
	tool schedule "$TESTS/ops/bool.mp" > ops.s
	ok tool prove -q ops.s
	tool fuse ops.s | tool lower -t clang | tool prove -q
	# its gate says r0*2 + (r0*4 + r1)//8 < 4, and less is not enough
	edited ops.s bad.s 's/^(%726 = CMPLT bool %724) %18$/%900000 = CONST i64 5\n\1 %900000/'
	fails 4 tool prove -q bad.s
	[[ $errors == *"E_2_20: INDEX"*" is 3 at "*", and the size is 3"* ]]
}

@test "prove: a case that the document's checks rule out is none" {
	cat > a.txt <<-'END'
		sluice 1 schedule
		vars {m: [1, 100], n: [1, 100]}
		meta {inputs: ["x"], checks: [["le", "n*n", "m*m"]]}
		%0 = VAR i64 ["m", 1, 100]
		%1 = VAR i64 ["n", 1, 100]
		%2 = BUFFER f32 {name: "x", shape: ["m"], role: "input"}
		%3 = BUFFER f32 {name: "y", shape: ["n"], role: "output"}
		%4 = RANGE i64 %1 [0, "loop"]
		%5 = PARAM f32 {slot: 0, shape: ["n"]}
		%6 = PARAM f32 {slot: 1, shape: ["m"]}
		%7 = INDEX f32 %6 %4
		%8 = LOAD f32 %7
		%9 = INDEX f32 %5 %4
		%10 = STORE %9 %8
		%11 = KERNEL %10 {name: "k"}
		%12 = CALL %11 %3 %2
		%13 = SINK %12 {names: ["y"]}
	END
	# that n is at most m is beyond the algebra, and there is no case against it: a gate
	tool show -p a.txt > a.s
	tool prove -v a.s 2> told
	grep -q "K0 k: gates for 1 places" told
	ok tool run a.s x=1,2,3 n=2
	fails 4 tool run a.s x=1,2,3 n=4
	[[ $errors == *"the sizes do not match"* ]]
	# with a check that lets n be m + 1 there is one, of which m is the lesser
	edited a.s bad.s 's/"n\*n", "m\*m"/"n", "m+1"/'
	fails 4 tool prove bad.s
	[[ $errors =~ \ m=([0-9]+)\ n=([0-9]+)\  ]]
	[ "${BASH_REMATCH[2]}" = $((BASH_REMATCH[1] + 1)) ]
}

@test "prove: places of tiles with two open sizes" {
	printf 'input x f64[n] where n in 2..100000\nr = x[1:] - x[:-1] ** 2\noutput r, loss = sum(r * r)\n' > chain.t
	tool trace chain.t | tool vmap -a x=0 -o r=1 > chain.mp
	tool fuse chain.mp | tool lower -t clang > chain.l
	ok tool prove -q chain.l
	tool run chain.mp x=rand vmap=3 n=4 -o chain.npz
}

@test "prove: places of convolutions in work groups" {
	program conv 'input x f32[n, 32, 16, 5] where n in 1..40
const k = reshape(f32(arange(192)), [1, 32, 2, 3])
output z = conv2d(x, k, padding=1)'
	proved conv
}

@test "prove: what a call leaves in part of a buffer is not counted on" {
	program sorted 'input x f32[5]
output y = sort(x)'
	# the sort writes only 4 of its 5 places; the gather has no gate of its own
	edited sorted.s whole.s 's/^(%[0-9]+ = LOAD f32 %[0-9]+) %[0-9]+/\1/'
	ok tool prove -q whole.s
	edited whole.s part.s '/RANGE i64 .*"serial"/{s/^(%[0-9]+) = RANGE i64 %[0-9]+/%900 = CONST i64 4\n\1 = RANGE i64 %900/}'
	fails 4 tool prove -q part.s
}

@test "prove: an index that wraps is outside" {
	program twice 'input x f32[8]
output y = x * 2'
	for by in 4611686018427387904 -2305843009213693952 4294967297; do
		edited twice.s bad.s "s/^(%[0-9]+ = INDEX f32 %[0-9]+) (%[0-9]+)/%900 = CONST i64 $by\n%901 = MUL i64 \2 %900\n\1 %901/;t done;b;:done;n;:rest;n;b rest"
		fails 4 tool prove -q bad.s
	done
}

@test "prove: sizes above 65536 are proved when they are known" {
	program large 'input x f32[n, m] where n in 1..2000000000, m in 1..2000000000
output y = x + 1'
	proved large
	ok tool run --interpret large.f x=zeros n=70000 m=1 -o large.npz
	# wrong for n above 100000 alone
	edited large.s bad.s 's/^(%[0-9]+ = RANGE i64) (%[0-9]+) \[0, "loop"\]/%900 = CONST i64 100000\n%901 = FLOORDIV i64 \2 %900\n%902 = ADD i64 \2 %901\n\1 %902 [0, "loop"]/'
	ok tool prove -q bad.s
	ok tool run --interpret bad.s x=zeros n=90000 m=1 -o large.npz
	fails 4 tool run --interpret bad.s x=zeros n=200000 m=1 -o large.npz
	[[ $errors == *"and the size is"* ]]
}

@test "prove --guard: what cannot be proved gets a gate" {
	program gathered 'input x f32[6]
input i i32[5]
output y = x[i] * 2'
	local x=$(seq -s, 1 6) i=0,99,5,5,1
	for level in s f clang; do
		edited gathered.$level bad.$level 's/^(%[0-9]+ = LOAD f32(x[0-9]+)? %[0-9]+) %[0-9]+/\1/'
		fails 4 tool run --interpret bad.$level "x=$x" "i=$i"
		tool run --interpret gathered.$level "x=$x" "i=$i" -o want.npz
		tool run --guard --interpret bad.$level "x=$x" "i=$i" -o have.npz
		tool diff want.npz have.npz
		tool run --guard bad.$level "x=$x" "i=$i" -o have.npz
		tool diff want.npz have.npz
		tool prove --guard --pass bad.$level 2> /dev/null | tool prove -q
	done
}

@test "prove: what nobody writes is 0" {
	program longer 'input x f32[40, 50]
output y = x + 1'
	for level in s clang; do
		edited "longer.$level" short 's/^(%[0-9]+ = RANGE i64) %[0-9]+ \[0,/%900 = CONST i64 7\n\1 %900 [0,/
			s/global_size: \[[0-9]+/global_size: [1/; s/^(%[0-9]+ = SPECIAL i64) %[0-9]+ /%901 = CONST i64 1\n\1 %901 /'
		tool run short x=rand -o compiled.npz
		tool run --interpret short x=rand -o interpreted.npz
		tool diff compiled.npz interpreted.npz
		python3 - <<-'END'
			import zipfile
			last = zipfile.ZipFile("compiled.npz").read("y.npy")[-4 * 50:]
			assert last == bytes(4 * 50), last
		END
	done
}

@test "prove: tiles of an axis that is as long as a number allows" {
	printf '%s\n' 'sluice 1 graph' 'vars {m: [1, 64]}' \
		'%0 = BUFFER f32 {name: "x", shape: ["m", 3], role: "input"}' \
		'%1 = SHRINK f32 %0 [[0, "2-(2-m)%((2-m)//2147483648*2147483648+2147483649)"], [0, 3]]' \
		'%2 = NEG f32 %1' '%3 = SINK %2 {names: ["y"]}' > least.l
	tool show -p least.l | tool schedule > least.s
	tool fuse least.s > least.f
	for t in clang opencl; do tool lower -t "$t" least.f > "least.$t"; done
	proved least
	for m in 1 2 5; do
		tool run least.clang x=rand m=$m -o have.npz
		tool run --interpret least.s x=rand m=$m -o want.npz
		tool diff want.npz have.npz
	done
}

@test "prove: integers that other integers of data look up, each under the gates of those before" {
	printf '%s\n' 'sluice 1 graph' '%0 = BUFFER f32 {name: "x", shape: [20, 20], role: "input"}' \
		'%1 = BUFFER u32 {name: "i", shape: [], role: "input"}' '%2 = GATHER f32 %0 %1' \
		'%3 = BUFFER u32 {name: "j", shape: [33], role: "input"}' '%4 = GATHER f32 %2 %3' \
		'%5 = BUFFER u32 {name: "k", shape: [], role: "input"}' '%6 = GATHER f32 %4 %5' \
		'%7 = SINK %6 {names: ["y"]}' > looked.l
	tool show -p looked.l | tool schedule > looked.s
	tool fuse looked.s > looked.f
	for t in clang opencl; do tool lower -t "$t" looked.f > "looked.$t"; done
	proved looked
	edited looked.f wide 's/CONST i64 33/CONST i64 34/'
	fails 4 tool prove -q wide
}

@test "prove: two batches that a reshape alone makes one, and sizes that are quotients of sizes" {
	cat > joined.t <<'END'
input y f32[b, t, 16] where b in 1..100000, t in 1..100000
input x f32[s, n, 16] where s in 1..100000, n in 1..100000
k = permute(reshape(x, [b, s*n//b, 2, 8]), [0, 2, 1, 3])
q = permute(reshape(y, [b, t, 2, 8]), [0, 2, 1, 3])
output z = softmax(q @ permute(k, [0, 1, 3, 2])) @ k
END
	tool trace joined.t > joined.g
	tool schedule joined.g > joined.s
	tool fuse joined.g > joined.f
	for t in clang opencl; do tool lower -t "$t" joined.f > "joined.$t"; done
	proved joined
	for b in 1 4; do
		tool run joined.clang y=rand x=rand b=$b t=9 s=2 n=58 -o have.npz
		tool run --interpret joined.s y=rand x=rand b=$b t=9 s=2 n=58 -o want.npz
		tool diff want.npz have.npz
	done
}

@test "prove: an integer that is looked up under a gate of its own, by what is loaded twice" {
	cat > twice.l <<'END'
sluice 1 schedule
meta {inputs: ["x"]}
%0 = CONST i64 5
%1 = BUFFER i64 {name: "x", shape: [5], role: "input"}
%2 = BUFFER i64 {name: "y", shape: [5], role: "output"}
%3 = RANGE i64 %0 [0, "loop"]
%4 = PARAM i64 {slot: 1, shape: [5]}
%5 = INDEX i64 %4 %3
%6 = LOAD i64 %5
%7 = MUL i64 %6 %6
%8 = PARAM i64 {slot: 0, shape: [5]}
%9 = INDEX i64 %8 %3
%10 = CONST i64 -1
%11 = CONST i64 0
%12 = CMPLT bool %7 %0
%13 = CMPLT bool %10 %7
%14 = AND bool %13 %12
%15 = INDEX i64 %4 %7
%16 = LOAD i64 %15 %14
%17 = CMPLT bool %16 %0
%18 = CMPLT bool %10 %16
%19 = AND bool %18 %17
%20 = LOAD i64 %5 %19
%21 = MUL i64 %20 %20
%22 = CMPLT bool %21 %0
%23 = CMPLT bool %10 %21
%24 = INDEX i64 %4 %21
%25 = AND bool %19 %23
%26 = AND bool %25 %22
%27 = LOAD i64 %24 %26
%28 = WHERE i64 %19 %27 %11
%29 = INDEX i64 %4 %28
%30 = LOAD i64 %29 %19
%31 = STORE %9 %30
%32 = KERNEL %31 {name: "E_5"}
%33 = CALL %32 %2 %1
%34 = SINK %33 {names: ["y"]}
END
	tool show -p twice.l > twice.s
	tool fuse twice.s > twice.f
	for t in clang opencl; do tool lower -t "$t" twice.f > "twice.$t"; done
	proved twice
	# a product that is none of those which are looked up
	edited twice.s other 's/%21 = MUL/%21 = ADD/'
	fails 4 tool prove -q other
}

# searches N: N kernels, each with a place that is inside, which is neither shown nor refuted
searches() {
	printf '%s\n' 'sluice 1 schedule' 'meta {inputs: ["i", "x"]}' '%0 = CONST i64 5' \
		'%1 = BUFFER i64 {name: "i", shape: [5], role: "input"}' \
		'%2 = BUFFER f32 {name: "x", shape: [50], role: "input"}' \
		'%3 = RANGE i64 %0 [0, "loop"]' '%4 = PARAM i64 {slot: 1, shape: [5]}' \
		'%5 = INDEX i64 %4 %3' '%6 = LOAD i64 %5' '%7 = MUL i64 %6 %6' '%8 = ADD i64 %7 %6' \
		'%9 = CONST i64 1' '%10 = AND i64 %8 %9' '%11 = PARAM f32 {slot: 2, shape: [50]}' \
		'%12 = PARAM f32 {slot: 0, shape: [5]}' '%13 = INDEX f32 %12 %3'
	awk -v n="$1" 'BEGIN {
		for (k = 1; k <= n; k++) {
			at = 6 + 8 * k
			printf "%%%d = CONST i64 %d\n", at, 99 + k
			printf "%%%d = MUL i64 %%10 %%%d\n", at + 1, at
			printf "%%%d = INDEX f32 %%11 %%%d\n", at + 2, at + 1
			printf "%%%d = LOAD f32 %%%d\n", at + 3, at + 2
			printf "%%%d = STORE %%13 %%%d\n", at + 4, at + 3
			printf "%%%d = KERNEL %%%d {name: \"k%d\"}\n", at + 5, at + 4, k
			printf "%%%d = BUFFER f32 {name: \"y%d\", shape: [5], role: \"output\"}\n", at + 6, k
			printf "%%%d = CALL %%%d %%%d %%1 %%2\n", at + 7, at + 5, at + 6
			calls = calls " %" at + 7
			names = names (k > 1 ? ", " : "") "\"y" k "\""
		}
		printf "%%%d = SINK%s {names: [%s]}\n", at + 8, calls, names
	}'
}

@test "prove: a document has so many searches, and no more however many kernels need them" {
	searches 200 | tool show -p > many
	# each alone takes 80 ms
	(ulimit -t 4; tool prove --pass many > gated 2> shown)
	[ "$(grep -c ' 1 with symbols' shown)" -eq 200 ]
	# what was not shown has a gate
	[ "$(tool show gated | grep -cE 'LOAD f32 %[0-9]+ %[0-9]+')" -eq 200 ]
}

@test "prove: gates that lanes keep in a register" {
	printf 'input x f32[48, n] where n in 1..14\noutput y = pad(x, [[0, 1], [2, 0]]) * 2\n' > p.t
	tool trace p.t | tool fuse > p.f
	for t in clang llvm; do
		tool lower -t $t --opt 'E_49_s: tile 0 12 1; tile 1 2 8; chunk 0 3' p.f > p.l
		ok tool prove -q p.l
	done
}

# listed TARGET TEXT LIST…: the program is proved with each list
listed() {
	printf '%s\n' "$2" | tool trace | tool fuse > s.f
	for list in "${@:3}"; do
		tool lower -t "$1" --opt "$list" s.f > s.l
		ok tool prove -q s.l
	done
}

@test "prove: tiles in three axes, whose steps do not divide their sizes" {
	start='r_3_31_64_n: split 0 2; split 1 4; kind 0.0 group; kind 1.0 group; tile 0.1 2 1; tile 1.1 4 1'
	listed opencl 'input a f32[3, 31, n] where n in 16..17
input b f32[n, 64]
output y = sum(a @ b, axis=-1)' "$start; split 2 12; kind 2.0 group; tile 2.1 12 1" \
		"$start; split 2 4; split 2.0 3; kind 2.0.0 group; kind 2.1 item; tile 2.0.1 3 1"
}

@test "prove: tiles that overlap tiles that overlap, in a document with another size" {
	listed llvm 'input a f32[3, 13, 13]
input b f32[13, 15]
input c f32[n] where n in 1..9
output y = softmax(a @ b)
output z = c * 2' 'r_3_13_15: split 2 3; split 1 38 overlap; split 1.1 2 pad; order 1.0 1.1.1 2.0 2.1 1.1.0; grid 1'
}

@test "prove: places that lanes of two loops use" {
	listed llvm 'input a f32[3, 15, 16]
input b f32[n, 16] where n in 1..31
output y = softmax(a @ transpose(b, [1, 0]))' 'r_3_15_n: split 1 4 overlap; order 0 1.0 1.1 2; tile 1.1 2 1; tile 2 3 4' \
		'r_3_15_n: split 1 4 overlap; order 1.0 2 1.1 0; tile 1.1 2 1; tile 2 3 4; jam 3 1'
}

@test "prove: an item whose remainder is its number, as there is one tile at most" {
	listed llvm 'input a f32[2, n, 9] where n in 1..31
output m = transpose(a, [1, 0, 2])' 'E_n_2_9: tile 0 2 1; tile 2 1 2; transpose LOAD.0 0; grid 2' 'E_n_2_9: tile 0 4 1; tile 2 1 4; transpose LOAD.0 0; grid 2'
}

@test "prove: the size of a loop that is a product of what is not negative" {
	listed llvm 'input a i32[n] where n in 1..3
output m = cumsum(a, axis=0)' 'scan_n: split 0 1 pad; rfactor 1; stage RREDUCE.0 1; tile 1 1 1; tile 0.0 2 32'
}

@test "prove: unrolled tiles that overlap along two axes, one written out between them" {
	start='E_*: split 1 2 peel; kind 1.1 unroll; order 0 1.0 2 1.1; grid 1'
	listed llvm 'input a f32[32, 2, n] where n in 17..47
output y = relu(a) * 3' "$start; tile 0 12 1; tile 2 12 1" "$start; tile 0 9 1; tile 2 8 1" "$start; tile 0 5 1; tile 2 3 1"
	# one of the stores has another value
	tool show s.l > s.txt
	for one in 1 15 16 30; do
		awk -v one=$one '/= MUL f32 / && ++n == one { sub(/MUL/, "ADD") } 1' s.txt | tool show -p > w.l
		fails 4 tool prove -q w.l
		grep -q 'two items that differ in gidx0 may touch the same place y' stderr
	done
}

@test "prove: places of a group's memory, item by item where they are no digits" {
	printf 'input x f32[8, 8]\noutput y = transpose(x, [1, 0])\n' | tool trace | tool fuse |
		tool lower -t opencl --opt 'E_8_8: kind 0 item; kind 1 item; stage LOAD.0 0 1' > s.l
	# (l % 8) * STEP + ((l // 2) % 4) * 2 + l // 8
	places() {
		edited s.l "$1.l" 's/\[0, 64,/[0, 300,/; s/^(%17 = )MUL i64 %9 %0/%30 = CONST i64 '"$1"'\n%31 = CONST i64 2\n%32 = CONST i64 4\n%33 = MUL i64 %9 %30\n%34 = FLOORDIV i64 %7 %31\n%35 = FLOORMOD i64 %34 %32\n%36 = MUL i64 %35 %31\n\1ADD i64 %33 %36/'
	}
	for step in 8 13 32; do
		places $step
		ok tool prove -q $step.l
	done
	for step in 0 2 7; do
		places $step
		fails 4 tool prove -q $step.l
		grep -qE 'two items that differ in lidx0 may touch the same place .*: [0-9]+ at lidx0=[0-9]+, and at lidx0=[0-9]+$' stderr
	done
}
