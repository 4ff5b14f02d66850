# layout: convolutional nets of random shapes (layout.py) and long reductions (reductions.py), laid
# out and compiled, against the interpreter.
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# nets OPTION… -- SEED…: random nets, laid out by lower
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
	not grep -q "by Winograd's" told
}

# weights NAME SIZE…: a constant of eighths
weights() {
	python3 - "$@" <<-'PY'
		import random, sys
		random.seed(5)
		def text(s): return "[%s]" % ", ".join(text(s[1:]) for _ in range(s[0])) if s else str(random.randint(-8, 8) / 8)
		size = list(map(int, sys.argv[2:]))
		print(f"const {sys.argv[1]} f32{size} = {text(size)}")
	PY
}

@test "layout: slices of an output have all channels; a few vectors of channels are one block" {
	[ "$(uname -m)" = x86_64 ] || skip "not an x86"
	{
		echo 'input x f32[1, 2, 96, 96]'
		echo 'input a f32[1, 32, 20, 20]'
		weights w 64 2 5 5
		weights v 20 32 1 1
		weights u 40 20 1 1
		echo 'output y = relu(conv2d(x, w, padding=2))'
		echo 'output z = conv2d(relu(conv2d(a, v)), u)'
	} > n.t
	tool trace n.t > n.mp
	tool run --interpret n.mp x=rand a=rand -o i.npz
	tool fuse n.mp | tool lower -t clang --march x86-64-v3 --explain > l.mp 2> told
	tool run l.mp x=rand a=rand -o c.npz
	tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
	grep -q 'in blocks of 20 along' told
	grep -q 'y.laid1 is never whole: [0-9]* at a time along r1$' told
	tool prove l.mp
}

@test "layout: an image that tiles of Winograd do not divide has channels in blocks" {
	{
		echo 'input x f32[1, 32, 30, 29]'
		weights w 32 32 3 3
		echo 'output y = conv2d(relu(conv2d(x, w, padding=1)), w, padding=1)'
	} > n.t
	tool trace n.t > n.mp
	tool run --interpret n.mp x=rand -o i.npz
	tool fuse n.mp | tool lower -t clang --explain > l.mp 2> told
	tool run l.mp x=rand -o c.npz
	tool diff --rtol 1e-5 --atol 1e-2 i.npz c.npz
	grep -q "by Winograd's" told
	grep -q '^lower: r_.*: t1 in blocks of' told
	tool prove l.mp
}

# open_nets KIND SEED…: nets with open sizes; each program runs with two sizes
open_nets() {
	local seed first sizes
	for seed in "${@:2}"; do
		python3 "$TESTS/layout.py" "$seed" "$1" > n.t
		tool trace n.t > n.mp
		tool fuse n.mp | tool lower -t clang --explain 2>> told | tool render -t clang | tool compile > c.mp
		first=$(sed -n '1s/[^,]*//; 1s/.*where //; 1s/ in \([0-9]*\)[.0-9]*,*/=\1/gp' n.t)
		for sizes in "$first" "$(sed 's/n=1/n=3/; s/h=\([0-9]*\)/h=$((\1+3))/; s/w=\([0-9]*\)/w=$((\1+2))/' <<< "$first")"; do
			eval "sizes=\"$sizes\""
			# shellcheck disable=SC2086
			ok tool run --interpret n.mp x=rand $sizes -o i.npz
			# shellcheck disable=SC2086
			ok tool run c.mp x=rand $sizes -o c.npz
			tool diff --rtol 1e-5 --atol 1e-3 i.npz c.npz || { echo "^ layout.py $seed $1, $sizes"; return 1; }
		done
	done
}

@test "layout: constants of f64 where a vector is one f32" {
	printf 'input x f64[8, 40]\noutput y = x @ reshape(f64([%s]), [40, 30])\n' "$(seq -s , 1200)" > w.t
	tool trace w.t | tool run --interpret x=rand -o a.npz
	local t
	for t in embedded llvm; do
		tool trace w.t | tool fuse | tool lower -t $t > w.mp || return 1
		tool run --interpret w.mp x=rand -o b.npz
		tool diff a.npz b.npz
	done
}

@test "layout: open batch size, open image sizes" {
	open_nets n 33 37 43 67 110 285
	for what in "with room around it" "in blocks of" "is packed in panels of"; do
		grep -q "$what" told || { echo "nothing $what"; return 1; }
	done
	rm told
	open_nets nhw 21 29 33 110 210 240 3003
	for what in "with room around it" "in blocks of"; do
		grep -q "$what" told || { echo "nothing $what"; return 1; }
	done
}

# weighted LINES: writes n.t, lines in which W[2, 3] stands for random values of that shape, traced
# to n.mp
weighted() {
	printf '%s\n' "$@" | python3 -c '
import random, re, sys
r = random.Random(3)
def values(*shape):
    return "[" + ", ".join(values(*shape[1:]) for _ in range(shape[0])) + "]" if shape else str(r.randint(-8, 8) / 8)
print(re.sub(r"\bW\[(.*?)\]", lambda m: values(*map(int, m[1].split(","))), sys.stdin.read()), end="")' > n.t
	tool trace n.t > n.mp
}

# same OPERAND…: n.mp gives the same interpreted, lowered (l.mp) and interpreted, and compiled
same() {
	ok tool run --interpret n.mp "$@" -o i.npz
	ok tool run --interpret l.mp "$@" -o c.npz
	tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
	tool fuse n.mp | tool run "$@" -o c.npz
	tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
}

# mean and variance loop over the same blocks as the stores: once per row, in vectors
@test "layout: a norm over channels in blocks" {
	weighted 'input x f32[n, 16, 9, 7] where n in 1..5' 'const k f32 = W[48, 16, 1, 1]' 'const q f32 = W[48, 32]' \
		'c = permute(conv2d(x, k), 0, 2, 3, 1)' 'd = c - mean(c, axis=3, keepdims=true)' \
		'output z = (d / sqrt(mean(d * d, axis=3, keepdims=true) + 1e-5)) @ q'
	tool fuse n.mp | tool lower -t clang --explain --march x86-64-v3 > l.mp 2> told
	grep -q "in blocks of 8" told
	grep "r_n_9_7_48: loops" told | grep -q "2 loops shared by threads, sums in 8 parts" || { cat told; return 1; }
	same x=rand n=3
}

# The upsampling convolution is four plain ones side by side; the consumers of its output have their
# own blocks.
@test "layout: down, up and side by side" {
	weighted 'input x f32[n, 16, h*2, w*2] where n in 1..5, h in 1..9, w in 1..9' 'const k f32 = W[16, 16, 3, 3]' \
		'const u f32 = W[16, 32, 2, 2]' 'const q f32 = W[16, 48, 3, 3]' 'a = relu(conv2d(x, k, padding=1))' \
		'b = relu(conv_transpose2d(max_pool(a, [2, 2]), u, stride=2) + 0.5)' 'output z = conv2d(concat(b, a, axis=1), q, padding=1)'
	tool fuse n.mp | tool lower -t clang --explain --march x86-64-v3 > l.mp 2> told
	[ "$(grep -c "is taken apart by 2" told)" = 2 ]
	[ "$(grep -c "in blocks of 8" told)" -ge 4 ] || { cat told; return 1; }
	same x=rand n=1 h=1 w=3
	same x=rand n=3 h=8 w=5
}

# Windows overlap: the phases of the output's rows and columns are an axis of what is written first, whose channels have blocks.
@test "layout: the phases of an upsampling convolution" {
	local sizes
	for sizes in "1 32 9 7|32 32 4 4|stride=2, padding=1" "2 16 5 9|16 48 3 3|stride=2, padding=1, output_padding=1"; do
		printf '%s\n' "input x f32[$(cut -d'|' -f1 <<< "$sizes" | tr ' ' ,)]" "input w f32[$(cut -d'|' -f2 <<< "$sizes" | tr ' ' ,)]" \
			"output y = relu(conv_transpose2d(x, w, ${sizes##*|}))" > u.t
		tool trace u.t > n.mp
		tool fuse n.mp | tool lower -t clang --explain > l.mp 2> told
		grep -q "^lower: r_.*is taken apart by" told || { cat told; return 1; }
		grep -q "t[0-9]* in blocks of" told || { cat told; return 1; }
		tool prove l.mp > /dev/null
		same x=rand w=rand
	done
}

@test "layout: any pass can be left out" {
	python3 "$TESTS/layout.py" 291 > n.t
	tool trace n.t > n.mp
	ok tool run --interpret n.mp x=rand -o i.npz
	for pass in $(optional layout); do
		tool fuse n.mp | tool layout --skip "$pass" | tool lower -t clang > l.mp
		ok tool run l.mp x=rand -o c.npz
		tool diff --rtol 1e-5 --atol 1e-4 i.npz c.npz
	done
}

# kernels PROGRAM: their names, as clang gets them
kernels() { printf "$1" > p.t; tool trace p.t | tool fuse | tool lower -t clang | tool show --loops | sed -n 's/^K[0-9]* \([a-z0-9_]*\)(.*/\1/p' | tr '\n' ' '; }

@test "layout: a fold that all parts of another need is not folded in each of them" {
	[ "$(kernels 'input x f32[6300, 20]\noutput k = argmax(x, axis=0)\n')" = 'r_20_6300_6300 ' ]
	[ "$(kernels 'input x f32[4, 200000]\noutput k = argmax(x, axis=1)\n')" = 'parts_r_4_200000_200000 parts_r_4_200000_200000 r_4_200000_200000 ' ]
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

# a word's row, and its scores against every row; the last panel of 1090 rows starts early, and
# indices may be out of range
# exact: of integers as floats, of which no order rounds a sum
@test "layout: long scans in parts, the same bits from any number of threads, and by items of a GPU" {
	local program target n
	for program in 'input x i16[66001]\noutput y = cumsum(f32(x %% 8))' 'input x i16[3, 70000]\noutput y = cumsum(f32(x %% 8), axis=1, reverse=true)' \
		'input x i16[70000, 2]\noutput y = cumsum(f32(x %% 8), axis=0, exclusive=true) * 2' 'input x i16[n] where n in 66000..70000\noutput y = cumsum(f64(x %% 8)) - 1' \
		'input x f16[65536]\noutput y = cumsum(trunc(x), axis=0)'; do
		printf "$program\n" | tool trace | tool fuse > s.mp
		n=; [[ $program != *where* ]] || n=n=67001
		tool run --interpret s.mp x=rand $n -o i.npz
		for target in clang opencl; do
			tool lower -t $target --explain s.mp > l.mp 2> told
			grep -q 'a scan in parts of' told || { echo "$program: not in parts, $target"; return 1; }
			tool run --interpret l.mp x=rand $n -o c.npz
			ok tool diff --ulp 0 i.npz c.npz || { echo "$program, $target: $output"; return 1; }
		done
		tool lower -t clang s.mp > l.mp
		for j in 1 2 3 8; do
			tool run -j $j l.mp x=rand $n -o c.npz
			ok tool diff --ulp 0 i.npz c.npz || { echo "$program, -j $j: $output"; return 1; }
		done
	done
	printf 'input x f32[66001]\noutput y = cumsum(x)\n' | tool trace | tool fuse > s.mp
	for target in clang opencl; do
		tool layout -t $target s.mp > l.mp
		ok tool prove s.mp l.mp
		tool lower -t $target --explain l.mp > a.mp 2> told
		not grep -q 'a scan in parts of' told
	done
	tool lower -t clang s.mp > l.mp
	for j in 1 2 3 8; do tool run -j $j l.mp x=rand -o j$j.npz; done
	for j in 2 3 8; do ok tool diff --ulp 0 j1.npz j$j.npz; done
}

@test "layout: scans that are short, beside others, or do not wait, stay whole" {
	local program
	for program in 'x f32[3000]\noutput y = cumsum(x)' 'x f32[64, 100000]\noutput y = cumsum(x, axis=1)' 'x f32[100000]\noutput y = cummax(x)' 'x i32[100000]\noutput y = cumsum(x)' \
		'x f32[100000, 64]\noutput y = cumsum(sum(x, axis=1))'; do
		printf "input $program\n" | tool trace | tool fuse | tool lower -t clang --explain > l.mp 2> told
		not grep -q 'a scan in parts' told || { echo "$program"; return 1; }
	done
}

@test "layout: a table used for lookup and as a factor is in memory only once" {
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

# by_slices [open] SEED…: slices.py, laid out and compiled, against the interpreter; the same bits
# for any -j
by_slices() {
	local seed inputs open=
	[ "$1" != open ] || { open=open; shift; }
	for seed in "$@"; do
		python3 "$TESTS/slices.py" "$seed" $open > s.t
		tool trace s.t > s.mp
		inputs=$(tool show s.mp | sed -n 's/.*name: "\([a-z]*\)".*role: "input".*/\1=rand/p')
		! grep -q "b in" s.t || inputs+=" b=$((1 + seed % 3))"
		tool fuse s.mp | tool lower -t clang --explain > l.mp 2>> told
		# shellcheck disable=SC2086
		ok tool run --interpret s.mp $inputs -o i.npz
		# shellcheck disable=SC2086
		ok tool run -j 1 l.mp $inputs -o c.npz
		# shellcheck disable=SC2086
		ok tool run -j 3 l.mp $inputs -o d.npz
		tool diff --rtol 1e-4 --atol 1e-4 i.npz c.npz && tool diff --ulp 0 --zeros c.npz d.npz ||
			{ echo "^ slices.py $seed"; return 1; }
	done
}

@test "layout: temporaries by slices, transposed operands" {
	by_slices 1 2 4 5 9 18 21
	grep -q "is never whole: [0-9]* at a time" told
	grep -q "is turned" told
}

# scores that fall by 1 a key, as of ALiBi: most weights are subnormal, or smaller
@test "layout: weights of an attention that are faint beside the greatest are 0" {
	local form t
	for form in 'softmax(s) @ v' 'e @ v / sum(e, 2)[:,:,none]'; do
		for t in f32 f64; do
			cat > p.t <<-END
			input q $t[2, 70, 16]
			input k $t[2, 90, 16]
			input v $t[2, 90, 16]
			d = $t(arange(90)[none,:] - arange(70)[:,none]) * 12
			s = q @ swapaxes(k, 1, 2) + where(d <= 0, d, -inf)[none,:,:]
			e = exp2((s - max(s, 2)[:,:,none]) * 1.5)
			output y = $form
			END
			tool trace p.t > p.mp
			tool fuse p.mp | tool lower -t clang --explain > l.mp 2> told
			grep -q 'weights below 2^-[0-9]*00 of the greatest in a row of' told
			tool run --interpret p.mp q=rand k=rand v=rand -o i.npz
			ok tool run l.mp q=rand k=rand v=rand -o c.npz
			tool diff --rtol 1e-5 --atol 1e-6 i.npz c.npz
			run tool prove p.mp l.mp
			[ "$status" = 3 ]
			[[ $output == *'or faint weights' ]]
			tool fuse p.mp | tool lower -t clang --strict --explain > s.mp 2> told
			run grep 'weights below' told
			[ "$status" = 1 ]
		done
	done
	# what is itself a result keeps its subnormals; so does what is read otherwise than by a sum
	sed 's/output y/output e\n&/' p.t > e.t
	sed 's/output y.*/output y = max(e * 1e30, axis=2), z = e @ v/' p.t > m.t
	for form in e m; do
		tool trace $form.t | tool fuse | tool lower -t clang --explain 2> told > /dev/null
		run grep 'weights below' told
		[ "$status" = 1 ]
	done
	# a mark of -inf leaves out what it is beside, however large
	printf 'input s f32[64,64]\ninput v f32[64,64]\noutput y = softmax(s) @ v' | tool trace | tool fuse | tool lower -t clang > l.mp
	python3 -c 'import struct, sys
def put(name, of):
    head = "{%r: %r, %r: False, %r: (64, 64)}" % ("descr", "<f4", "fortran_order", "shape")
    head = head.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"".join(struct.pack("<f", of(i // 64, i % 64)) for i in range(4096)))
put("s.npy", lambda i, k: float("-inf") if k % 2 else -k * 3.0)
put("v.npy", lambda i, k: 3e38 if i % 2 else 1.0)'
	tool run l.mp s=s.npy v=v.npy -o o.npz
	tool run --interpret l.mp s=s.npy v=v.npy -o i.npz
	tool diff --rtol 1e-6 o.npz i.npz
}

@test "layout: an open number of slices" {
	by_slices open 1 2 4 5 9 18 21
	grep -q "is never whole: [0-9]* at a time" told
}

# 36 MB of constants: the next panel is prefetched, also when the loop of slices is around the loop
# of panels
@test "layout: slices together with prefetched panels" {
	echo 'output big = f32(arange(9000000)) * 1e-6, w = sin(f32(arange(36864))), u = cos(f32(arange(36864)))' > g.t
	tool trace g.t | tool run -o .
	cat > a.t <<-'END'
	input x f32[48, 48, 96]
	input v f32[1, 3000]
	const big = load("big.npy")
	const w f32[36864] = load("w.npy")
	const u f32[36864] = load("u.npy")
	d = x - mean(x, axis=2, keepdims=true)
	n = d / sqrt(mean(d * d, axis=2, keepdims=true) + 1e-5)
	y = gelu(n @ reshape(w, [96, 384])) @ reshape(u, [384, 96])
	output y = transpose(y, [2, 0, 1]), z = v @ reshape(big, [3000, 3000])
	END
	tool trace a.t > a.mp
	tool fuse a.mp | tool lower -t clang --explain > l.mp 2> told
	grep -q "is never whole" told
	grep -q "the next r[0-9]* fetched meanwhile" told
	ok tool run --interpret a.mp x=rand v=rand -o i.npz
	ok tool run l.mp x=rand v=rand -o c.npz
	tool diff --rtol 1e-4 --atol 1e-2 i.npz c.npz
}

@test "layout: a range that is summed over again is no slice" {
	cat > r.t <<-END
	input x f32[1, 64, 96, 96]
	input b f32[64]
	k = expand(0.02, [64, 64, 3, 3])
	h = relu(conv2d(x, k, padding=1) + reshape(b, [1, 64, 1, 1]))
	output y = relu(conv2d(h, k, padding=1) + reshape(b, [1, 64, 1, 1]))
	END
	tool trace r.t | tool fuse > r.mp
	tool show r.mp | awk '/RREDUCE/ { for (i = 4; i < NF; i++) print $i }' | sort > bound
	tool show r.mp | awk '/RANGE.*"loop"/ { print $1 }' | sort > loops
	[ -n "$(comm -12 bound loops)" ]
	tool run --interpret r.mp x=rand b=rand -o i.npz
	tool layout r.mp > l.mp
	ok tool run l.mp x=rand b=rand -o c.npz
	tool diff --rtol 1e-4 --atol 1e-4 i.npz c.npz
}

@test "layout: columns of a constant that are reduced too are in no panels" {
	{
		echo 'input x f32[33, 64]'
		echo "const w f32 = [$(seq -s, -32 31)]"
		echo 'p = exp(x - max(x)) / sum(exp(x - max(x)))'
		echo 'output y = softmax(p - w, axis=1) * w'
	} > p.t
	trace p.t | fuse > p.mp
	ok tool render -t clang -o q.mp p.mp
	tool run q.mp x=rand -o a.npz
	tool run --interpret p.mp x=rand -o b.npz
	tool diff --rtol 1e-4 --atol 1e-6 a.npz b.npz
}

@test "layout: slices that do not fit their kernel are refused" {
	printf 'input q f32[8, 256, 16]\noutput y = softmax(q @ transpose(q, [0, 2, 1])) @ q\n' > a.t
	tool trace a.t | tool fuse | tool layout | tool show > a.txt
	grep -q 'axes: \[0\], local: \[0\]' a.txt
	for wrong in 'axes: [0], local: [60]' 'axes: [0, 0], local: [0]' 'axes: [50], local: [0]' 'axes: 0, local: [0]'; do
		sed "s/axes: \[0\], local: \[0\]/$wrong/" a.txt > b.txt
		tool show -p b.txt > b.mp
		fails 4 tool lower -t clang b.mp
	done
}

@test "layout: kernels without a free axis have no slices" {
	printf 'input q f32[1024, 16]\ninput k f32[1024, 16]\noutput y = softmax(q @ transpose(k)) @ k\n' > a.t
	tool trace a.t | tool fuse | tool show > a.txt
	tool show -p a.txt | tool layout | tool show | grep -q "slice: "
	for axis in $(sed -n 's/.*RANGE.*\[\([0-9]*\), "reduce"\].*/\1/p' a.txt | sort -u); do
		sed "s/\[$axis, \"reduce\"\]/[63, \"reduce\"]/" a.txt > b.txt
		tool show -p b.txt > b.mp
		ok tool layout b.mp
	done
}

@test "layout: attention is one kernel, and its scores are not in the workspace" {
	printf 'input q f32[8, 256, 16]\ninput k f32[8, 256, 16]\ninput v f32[8, 256, 16]\n' > a.t
	echo 'output y = softmax(q @ transpose(k, [0, 2, 1])) @ v' >> a.t
	tool trace a.t | tool fuse > a.mp
	tool lower -t clang a.mp | tool show > l.txt
	grep -q 'workspace: \[131072, 131072\]' l.txt || { grep workspace l.txt; return 1; }
	grep -q 'kernels=2 ' <(tool lower -t clang a.mp | tool show --count)
	tool run --interpret a.mp q=rand k=rand v=rand -o i.npz
	for skip in slices operands; do
		tool layout --skip "$skip" a.mp | tool lower -t clang > l.mp
		ok tool run l.mp q=rand k=rand v=rand -o c.npz
		tool diff --rtol 1e-4 --atol 1e-5 i.npz c.npz
	done
	tool lower --skip slices -t clang a.mp > l.mp
	grep -q 'kernels=4 ' <(tool show --count l.mp)
	ok tool run l.mp q=rand k=rand v=rand -o c.npz
	tool diff --rtol 1e-4 --atol 1e-5 i.npz c.npz
	# what a kernel says of slices may be nonsense
	tool layout a.mp | tool show > s.txt
	grep -q 'slice: {first: true, axes: \[0\], local: \[0\]}' s.txt || { grep slice s.txt; return 1; }
	for bad in 'axes: [9], local: [0]' 'axes: [0], local: [70]' 'axes: 3, local: [0]' 'axes: [0], local: ["x"]' 'axes: [0]'; do
		sed "s/axes: \[0\], local: \[0\]/$bad/" s.txt | tool show -p > s.mp
		fails 4 tool lower -t clang s.mp
	done
}

@test "layout: Winograd's transforms, rows of tiles at a time" {
	local shape
	for shape in "1 32 64 41 58 1" "3 48 32 59 40 2" "2 16 64 56 58 0"; do
		read -r n c o h w p <<< "$shape"
		cat > w.t <<-END
		input x f32[$n, $c, $h, $w]
		k = reshape(sin(f32(arange($((o * c * 9))))), [$o, $c, 3, 3]) * 0.1
		output y = relu(conv2d(x, k, padding=$p))
		END
		tool trace w.t | tool fuse > w.mp
		tool lower -t clang --explain w.mp > l.mp 2> told
		grep -q "wino[0-9]* is never whole" told || { cat told; return 1; }
		tool lower -t clang --strict w.mp > s.mp
		ok tool run l.mp x=rand -o c.npz
		ok tool run s.mp x=rand -o d.npz
		tool diff --rtol 1e-5 --atol 1e-4 c.npz d.npz || { echo "^ $shape"; return 1; }
	done
}

# the axes of the image and of the weights in every order that people store them in, constant or not
@test "layout: Winograd's convolutions by the roles of their ranges" {
	local image weights moved kernel out
	for image in "3, 20, 41, 38|x" "3, 41, 38, 20|permute(x, 0, 3, 1, 2)" "41, 3, 20, 38|permute(x, 1, 2, 0, 3)" "20, 41, 38|x[none]"; do
		for weights in "24, 20, 3, 3|w" "3, 3, 20, 24|permute(w, 3, 2, 0, 1)" "24, 3, 3, 20|permute(w, 0, 3, 1, 2)"; do
			for out in "0, 1, 2, 3" "0, 2, 3, 1"; do
				moved=${image#*|} kernel=${weights#*|}
				printf '%s\n' "input x f32[${image%|*}]" "input w f32[${weights%|*}]" "input b f32[24, 1, 1]" \
					"output y = permute(relu(conv2d($moved, $kernel, padding=1) + b), $out)" > w.t
				tool trace w.t | tool fuse > w.mp
				tool lower -t clang --explain w.mp > l.mp 2> told
				grep -q "by Winograd's" told || { cat w.t told; return 1; }
				tool lower -t clang --strict w.mp > s.mp
				ok tool run l.mp {x,w,b}=rand -o c.npz
				ok tool run s.mp {x,w,b}=rand -o d.npz
				tool diff --rtol 1e-5 --atol 1e-4 c.npz d.npz || { cat w.t; return 1; }
			done
		done
	done
}

@test "winograd: the panel behind the one at hand is prefetched, whatever else moves its place" {
	cd "$BATS_TEST_TMPDIR"
	python3 - > c.t <<-'END'
		numbers = iter(range(10**6))
		def of(d):
		    return "[" + ", ".join(of(d[1:]) for _ in range(d[0])) + "]" if d else str(next(numbers) * 7 % 13 - 6)
		print("input x f32[1, 16, 14, 14]", "const w f32 = " + of([64, 16, 3, 3]), "output y = conv2d(x, w, padding=1)", sep="\n")
	END
	tool trace c.t | tool fuse > s.mp
	tool lower -t clang --march x86-64-v4 s.mp | tool show --loops > l.txt
	grep -q '^K[0-9]* products_' l.txt
	# 36 pairs of places in the transform, two panels of 32 channels, 16 tiles of rows: panels are [36,16,32]
	tool lower -t clang --march x86-64-v4 --opt 'products_*: order 1 5 7 4; tile 4 8 1; tile 7 2 16; grid 4; prefetch_loads 1' s.mp > l.mp
	tool show --loops l.mp | grep -q '^    prefetch w.wino0.packed0\[v1 \* 18432 + v2 \* 512 + v0 \* 256 + r6 \* 16 + 512\]$'
	tool run --interpret l.mp x=rand -o l.npz
	tool run --interpret s.mp x=rand -o s.npz
	tool diff --rtol 1e-3 --atol 1e-2 l.npz s.npz
}

@test "layout: the room around an image is cleared by one kernel" {
	printf '%s\n' 'input x f32[1, 32, 18, 20]' 'input w f32[48, 32, 1, 1]' 'input d f32[48, 1, 3, 3]' \
		'output y = conv2d(relu(conv2d(x, w)), d, padding=1, groups=48)' | tool trace > n.mp
	tool fuse n.mp | tool layout -t clang --explain 2> told > laid.mp
	grep -q "with room around it" told
	[ "$(tool show laid.mp | grep -c 'KERNEL.*name: "room"')" = 4 ]
	tool lower -t clang laid.mp > l.mp
	[ "$(tool show --loops l.mp | grep -c '^K[0-9]* room')" = 1 ]
	tool run --interpret n.mp x=rand w=rand d=rand -o a.npz
	for f in laid l; do
		tool run --interpret $f.mp x=rand w=rand d=rand -o b.npz
		tool diff --rtol 1e-5 --atol 1e-5 a.npz b.npz
	done
	tool prove -q l.mp
}
