# Contractions of narrow integers as instructions of the target: of random kinds (swaps.py), for
# processors with and without each instruction, bit for bit what the interpreter gives.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# swaps FROM TO MARCH…: seeds FROM to TO
swaps() {
	local seed march inputs
	for seed in $(seq "$1" "$2"); do
		rm -rf in
		mkdir in
		python3 "$TESTS/swaps.py" "$seed" in > t.t
		inputs=()
		for name in in/*.npy; do [ ! -e "$name" ] || inputs+=("$(basename "$name" .npy)=$name"); done
		tool trace t.t > t.mp
		ok tool run --interpret t.mp "${inputs[@]}" -o i.npz
		for march in "${@:3}"; do
			tool fuse t.mp | tool lower -t clang --march "$march" --explain > l.mp 2>> told
			ok tool run l.mp "${inputs[@]}" -o c.npz
			tool diff --ulp 0 i.npz c.npz || { echo "^ swaps.py $seed, $march"; return 1; }
		done
	done
}

@test "swaps: random contractions, for this machine" { swaps 1 40 native; }

@test "swaps: random contractions, pairs of 16 bits" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	swaps 41 60 x86-64 x86-64-v3
	grep -q "2 products at a time by DOTI16" told
	not grep -q DOTU8I8 told
}

# patterns MARCH PROGRAM…: the patterns that lower finds
patterns() {
	printf '%s\n' "${@:2}" > p.t
	tool trace p.t | tool fuse | tool lower -t clang --march "$1" --explain 2>&1 > l.mp |
		sed -n 's/.* at a time by //p'
}

@test "swaps: each processor has its own" {
	local mm=('input a i8[64, 64]' 'input b i8[64, 64]' 'output y = i32(a) @ i32(b)')
	[ "$(patterns x86-64-v3 "${mm[@]}")" = DOTI16 ]
	[ "$(patterns x86-64-v4 "${mm[@]}")" = DOTI16 ]
	[ "$(patterns icelake-server "${mm[@]}")" = DOTU8I8 ]
	[ "$(patterns armv8.2-a+dotprod "${mm[@]}")" = DOTI8 ]
	[ "$(patterns armv8-a "${mm[@]}")" = "" ]
	tool render-clang --describe | grep -q '^swaps:'
}

@test "swaps: by roles, in any form, and only where the numbers fit" {
	local m=icelake-server a='input a i8[8, 64, 64]' u='input u u8[64, 64]' i='input i i16[64, 64]'
	[ "$(patterns $m "$a" "$u" 'output y = einsum("bik,kj->ijb", i32(a), i32(u))')" = DOTU8I8 ]
	[ "$(patterns $m "$a" 'output y = einsum("bik,bjk->jbi", i32(a), i32(a))')" = DOTU8I8 ]
	[ "$(patterns $m "$u" "$i" 'output y = (i32(u) - 200) @ i32(i)')" = DOTI16 ]
	[ "$(patterns $m 'input x u8[1, 16, 9, 9]' 'input w i8[32, 16, 3, 3]' 'output y = conv2d(i32(x) - 9, i32(w), padding=1)')" = DOTU8I8 ]
	# a zero point that is a constant of the document
	[ "$(patterns $m 'const z = u8(7)' "$u" 'input w i8[64, 64]' 'output y = (i32(u) - i32(z)) @ i32(w)')" = DOTU8I8 ]
	# beyond 16 bits; sums that are not i32; another fold; nothing used again
	[ "$(patterns $m "$i" 'output y = (i32(i) * 2) @ i32(i)')" = "" ]
	[ "$(patterns $m "$u" 'output y = i64(u) @ i64(u)')" = "" ]
	[ "$(patterns $m "$u" 'output y = max(i32(u)[:,:,none] * i32(u)[none,:,:], axis=1)')" = "" ]
	[ "$(patterns $m "$u" 'input x u8[64]' 'output y = i32(u) @ i32(x)')" = "" ]
}

@test "swaps: constants are packed once, and so are their sums" {
	local row=$(seq -s ', ' -31 32)
	patterns icelake-server 'input a i8[8, 64]' "const w i8[8, 64] = [[$row$(for i in 1 2 3 4 5 6 7; do echo -n "], [$row"; done)]]" 'output y = i32(a) @ swapaxes(i32(w), 0, 1)' | grep -x DOTU8I8
	tool show l.mp > l.txt
	grep -q '"r_.*\.words.*role: "prepared"' l.txt
	grep -q '"r_.*\.sums.*role: "prepared"' l.txt
}

# A schedule whose kernel has the op itself: words[40,16] · words[16,24]
dot_of() {
	cat <<-END
	sluice 1 schedule
	%0 = CONST i64 40
	%1 = CONST i64 24
	%2 = CONST i64 16
	%3 = BUFFER i32 {name: "a", shape: [40, 16], role: "input"}
	%4 = BUFFER i32 {name: "b", shape: [16, 24], role: "input"}
	%5 = BUFFER i32 {name: "y", shape: [40, 24], role: "output"}
	%6 = RANGE i64 %0 [0, "loop"]
	%7 = RANGE i64 %1 [1, "loop"]
	%8 = RANGE i64 %2 [2, "reduce"]
	%9 = PARAM i32 {slot: 0, shape: [40, 24]}
	%10 = PARAM i32 {slot: 1, shape: [40, 16]}
	%11 = PARAM i32 {slot: 2, shape: [16, 24]}
	%12 = INDEX i32 %9 %6 %7
	%13 = INDEX i32 %10 %6 %8
	%14 = LOAD i32 %13
	%15 = INDEX i32 %11 %8 %7
	%16 = LOAD i32 %15
	%17 = $1 i32 %14 %16
	%18 = RREDUCE i32 %17 %8 "ADD"
	%19 = STORE %12 %18
	%20 = KERNEL %19 {name: "k"}
	%21 = CALL %20 %5 %3 %4
	%22 = SINK %21 {names: ["y"]}
	END
}

@test "swaps: the ops by themselves, in vectors of each width and in plain C" {
	local op march
	PYTHONPATH=$TESTS python3 - <<-'END'
	import random, struct
	from npy import save
	r = random.Random(3)
	for name, shape in ("a", (40, 16)), ("b", (16, 24)):
	    v = [r.choice([0x80808080, 0x80008000, 0x7f7f7f7f, 0xffffffff, r.getrandbits(32)]) for _ in range(shape[0] * shape[1])]
	    save(f"{name}.npy", "<i4", shape, struct.pack(f"<{len(v)}I", *v))
	END
	for op in DOTU8I8 DOTI8 DOTI16; do
		dot_of $op | tool show -p > d.mp
		ok tool run --interpret d.mp a=a.npy b=b.npy -o i.npz
		for march in native x86-64 x86-64-v3; do
			[ "$march" = native ] || [ "$(uname -m)" = x86_64 ] || continue
			tool lower -t clang --march $march d.mp > l.mp
			ok tool run l.mp a=a.npy b=b.npy -o c.npz
			tool diff --ulp 0 i.npz c.npz || { echo "^ $op $march"; return 1; }
		done
		tool render -t c d.mp > c.mp
		ok tool run c.mp a=a.npy b=b.npy -o c.npz
		tool diff --ulp 0 i.npz c.npz || { echo "^ $op -t c"; return 1; }
	done
}
