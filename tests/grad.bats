#!/usr/bin/env bats
# Derivatives: grad.txt has calls and the inputs to derive each by; grad.awk makes a program of them
# that compares reverse mode, forward mode and finite differences, of first and second order. To add
# a check, add a line to grad.txt. The test fails if a function of functions.def, or an op with a
# derivative in grad.rules, is missing.
load helpers

D() { echo "$BATS_FILE_TMPDIR"; }

inputs() { for f in "$(D)"/in/*.npy; do echo "$(basename "$f" .npy)=$f"; done; }

setup_file() {
	local out
	cat > "$(D)/in.t" <<-'END'
		# values that are no nearer to each other, or to 0, than 4e-3
		def s(n) = reshape(f64(arange(n) * 37 % 289) / 145 - 0.997, 3, -1)
		def far(x) = where(x < 0, x - 0.2, x + 0.2)
		output x = far(s(12)) * 1.5, y = far(reshape(s(24)[:, ::-2], 3, 4)) * 1.3
		output p = s(12) * 1.3 + 1.6, q = s(12) * 0.9, r = s(12) * 1.3 + 2.6, z = reshape(s(24) * 1.4, 2, 3, 4)
		output v = s(15)[1] * 2, w = reshape(s(24), 4, 6), b = s(12)[2] + 0.3
		output m = reshape(s(288) * 1.5, 2, 4, 6, 6), k = reshape(s(108), 6, 2, 3, 3)
		output t = [[0.0, 1.5, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0], [0.5, 0.5, 2.0, 0.5]] * f64(1)
	END
	"$BIN/trace" "$(D)/in.t" | "$BIN/run" --interpret -o "$(D)/in"
	for out in errors values; do
		awk -v OUT=$out -f "$TESTS/grad.awk" "$TESTS/grad.txt" > "$(D)/$out.t"
		"$BIN/trace" "$(D)/$out.t" > "$(D)/$out.mp"
	done
}

# true TEXT: a program whose outputs must all be true, interpreted and compiled
holds() {
	local how
	cat > "$BATS_TEST_TMPDIR/p.t"
	for how in "--interpret" ""; do
		ok bash -c '"$BIN/trace" "$0/p.t" | "$BIN/run" $1' "$BATS_TEST_TMPDIR" "$how"
		[ -n "$output" ] && ! grep -q False <<< "$output" || { echo "$how"; echo "$output"; return 1; }
	done
}

@test "every call's derivatives agree with differences: forward, reverse, second order" {
	ok "$BIN/run" --interpret "$(D)/errors.mp" $(inputs)
	awk '
		FNR == NR { if (!/^#/ && !/^none / && NF) call[++n] = $0; next }
		/^e_/ { sub(/e_/, "", $1); k = $1; seen++; next }
		NF { gsub(/[][]/, ""); for (i = 1; i <= NF; i++) if (!($i < 1e-6)) { print call[k] ": " $0; bad = 1; next } }
		END { exit bad || n != seen || n < 200 }
	' "$TESTS/grad.txt" "$BATS_TEST_TMPDIR/stdout"
}

@test "compiled derivatives agree with interpreted ones" {
	local in
	in=$(inputs)
	ok "$BIN/run" --interpret -o "$(D)/interpreted.npz" "$(D)/values.mp" $in
	ok "$BIN/run" --fast-compile -o "$(D)/compiled.npz" "$(D)/values.mp" $in
	ok "$BIN/diff" --rtol 1e-8 --atol 1e-11 "$(D)/interpreted.npz" "$(D)/compiled.npz"
}

@test "every function of the library is checked, or has a reason not to be" {
	local name missing=0
	for name in $(sed -n 's/^FN(\([a-z0-9_]*\),.*/\1/p' "$ROOT/trace/library/functions.def"); do
		grep -q "^none $name: .\|^[^#]*\b$name(" <(sed 's/|.*//' "$TESTS/grad.txt") || { echo "$name is not in grad.txt"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "every op that has a derivative is checked" {
	local op missing=0
	"$BIN/show" "$(D)/errors.mp" > "$(D)/errors.txt"
	for op in $(op_rows | sed -n 's/^OP(\([A-Z0-9]*\),.*GRAD_RULE.*/\1/p'); do
		[ $op != CUSTOM ] && [ $op != ASSIGN ] || continue
		grep -q "^%[0-9]* = $op " "$(D)/errors.txt" || grep -q "^$op .*|.*|.*|" "$TESTS/ops/points.txt" || { echo "$op is not checked"; missing=1; }
	done
	for op in 'REDUCE .*"'{ADD,MUL,MAX,MIN} 'SCAN .*"'{ADD,MUL,MAX,MIN} 'SCATTER .*"'{ADD,MUL,MAX,MIN,SET}; do
		grep -q "= $op\"" "$(D)/errors.txt" || { echo "$op is not checked"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "equal maxima share the gradient, zeros in products count, in every mode" {
	holds <<-'END'
		const x = [-1.0, 0.0, 2.0]
		output a = grad(sum(maximum(x, 0)), x) == [0.0, 0.5, 1.0], b = grad(sum(minimum(x, 0)), x) == [1.0, 0.5, 0.0]
		const e = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]]
		output c = abs(grad(sum(max(e, axis=1)), e) - [[0.5, 0.0, 0.5], [1/3, 1/3, 1/3]]) < 1e-6
		output d = grad(min(e), e) == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
		output f = jvp(max(e, axis=1), e, [[1.0, 5.0, 2.0], [1.0, 2.0, 6.0]]) == [1.5, 3.0]
		const s = [1.0, 1.0, 0.0, 1.0, 2.0]
		third = 1 / 3
		g = grad(sum(cummax(s)), s)
		output h = abs(g - [2 + third, 1 + third, 0.0, third, 1.0]) < 1e-6
		output i = abs(jvp(cummax(s), s, [3.0, 5.0, 9.0, 1.0, 8.0]) - [3.0, 4.0, 4.0, 3.0, 8.0]) < 1e-6
		const z = [0.0, 2.0, 3.0]
		output j = grad(prod(z), z) == [6.0, 0.0, 0.0]
		output k = grad(prod([0.0, 0.0, 3.0]) + prod(z * [1.0, 0.0, 1.0]), z) == [0.0, 0.0, 0.0]
		output l = grad(grad(prod(z), z)[0], z) == [0.0, 3.0, 2.0]
		output m = grad(sum(cumprod(z)), z) == [9.0, 0.0, 0.0]
		const base = [5.0, 1.0]
		const v = [5.0, 2.0, 5.0]
		output n = abs(grad(sum(scatter(base, [0, 0, 0], v, how="max")), v) - [third, 0.0, third]) < 1e-6
		output o = abs(grad(sum(scatter(base, [0, 0, 0], v, how="max")), base) - [third, 1.0]) < 1e-6
		output p = grad(sum(scatter(base, [1, 1, 0], z, how="mul")), z) == [2.0, 0.0, 5.0]
		output q = grad(sum(scatter(base, [1, 1, 5], z)), z) == [0.0, 1.0, 0.0]
		output r = grad(sum(abs(x)), x) == [-1.0, 0.0, 1.0], t = grad(norm(x * 0), x) == [0.0, 0.0, 0.0]
		output u = grad(sum(x ** [0.0, 0.0, 1.0]), x) == [0.0, 0.0, 1.0]
		const y = [3.0, 2.0, 0.0]
		output w = grad(sum(x[1] ** y), y) == [0.0, 0.0, 0.0]
	END
}

@test "the branch of a where that is not taken gives 0, whatever its value" {
	holds <<-'END'
		const x = [0.0, -1.0, 4.0]
		const o = [0.0, 0.0, 0.0]
		output a = grad(sum(where(x > 0, sqrt(x), 0)), x) == [0.0, 0.0, 0.25]
		output b = grad(sum(where(x > 0, log(x), x * 3)), x) == [3.0, 3.0, 0.25]
		output c = grad(sum(where(x != 0, 1 / x, 0)), x) == [0.0, -1.0, -1/16]
		output d = grad(sum(where(x > 0, reshape(sqrt(reshape(x, 3, 1)), 3) * 2, 0)), x) == [0.0, 0.0, 0.5]
		output e = grad(sum(where(x > 0, where(x < 3, x / o, sqrt(x) * 8), 0.0)), x) == [0.0, 0.0, 2.0]
		output f = jvp(where(x > 0, sqrt(x), 0), x, [1.0, 1.0, 1.0]) == [0.0, 0.0, 0.25]
		output g = grad(sum(grad(sum(where(x > 0, sqrt(x), x ** 2)), x)), x) == [2.0, 2.0, -1/32]
		output h = grad(sum(where(x > 0, exp(x * 25), 1)), x) == [0.0, 0.0, inf]
	END
}

@test "powers of 0 and to the power 0, ties of zeros and of infinities: the choices of the formulas" {
	local dtype
	for dtype in f64 f32 f16 bf16; do
		sed "s/DT/$dtype/g" <<-'END' > "$BATS_TEST_TMPDIR/edges.t"
			const x = DT([0.0, -0.0, 0.0, 0.0, 0.0, 2.0, -2.0, inf, inf, 0.0])
			const y = DT([0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0, -1.0])
			const one = DT([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
			def of_x(d) = d == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, inf, 0.0, -inf]
			output a = of_x(grad(sum(x ** y), x)), b = of_x(jvp(x ** y, x, one)), c = vjp(x ** y, x, one * inf)[5:7] == 0
			d, e = grad(sum(x ** y), y), jvp(x ** y, y, one)
			output d0 = d[:5] == 0, d5 = abs(d[5] - log(2.0)) < 2e-3, d7 = d[7:9] == inf, d9 = d[9] == 0
			output e0 = e[:5] == 0, e5 = e[5] == d[5], e7 = e[7:9] == inf, e9 = e[9] == 0
			output f = vjp(x ** y, y, one * inf)[:5] == 0
			const p = DT([0.0, -0.0, 1.0, inf, -inf, inf, 2.0, -1.0])
			const q = DT([-0.0, 0.0, 1.0, inf, -inf, 1.0, 3.0, -inf])
			const first = [0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 0.0, 1.0]
			top = sum(maximum(p, q))
			low = sum(minimum(p, q))
			output g = grad(top, p) == first, h = grad(top, q) == 1 - first, i = grad(low, p) == 1 - first, j = grad(low, q) == first
			output k = jvp(maximum(p, q), p, one[:8]) == first, l = jvp(minimum(p, q), q, one[:8]) == first
			output m = vjp(maximum(p, q), q, one[:8] * inf)[5] == 0, n = vjp(minimum(p, q), q, one[:8] * inf)[6] == 0
		END
		holds < "$BATS_TEST_TMPDIR/edges.t"
	done
}

@test "saturated values have slope 0, not NaN" {
	holds <<-'END'
		const x = [-1e4, -1000.0, -100.0, 100.0, 1000.0, 1e4]
		const d f64[6] = [-1e4, -1000.0, -100.0, 100.0, 1000.0, 1e4]
		def one(x) = where(x > 0, 1, 0)
		def is(y, x, want) = abs(grad(sum(y), x) - want) < 1e-6
		output a = is(sigmoid(x), x, 0), b = is(tanh(x), x, 0), c = is(softplus(x), x, one(x)), e = is(erf(x), x, 0)
		output f = is(gelu(x), x, one(x)), g = is(silu(x), x, one(x)), h = is(mish(x), x, one(x)), i = is(elu(x), x, one(x))
		output j = is(sigmoid(d), d, 0), k = is(tanh(d), d, 0), l = is(softplus(d), d, one(d)), m = is(erf(d), d, 0)
		output n = is(gelu(d), d, one(d)), o = is(silu(d), d, one(d)), p = is(mish(d), d, one(d)), q = is(logsigmoid(d), d, one(-d))
		output r = abs(vjp(softmax(x), x, x)) < 1e-6, s = vjp(log_softmax(x), x, [1.0, 1, 1, 1, 1, 0]) == [1.0, 1, 1, 1, 1, -5]
		const inf_ = [[0.0, -inf, 0.0]]
		output t = vjp(softmax(inf_), inf_, [[1.0, 2.0, 0.0]]) == [[0.25, 0.0, -0.25]]
	END
}

@test "closed forms: squares, cross entropy, products of matrices, a norm's projection" {
	holds <<-'END'
		def s(n, k) = reshape(sin(f64(arange(n)) * k), 4, -1)
		x = contiguous(s(12, 1.3))
		w = contiguous(transpose(s(12, 2.1)))
		y = s(16, 0.7)
		def near(a, b) = max(abs(a - b)) < 1e-12
		e = x @ w - y
		gx, gw = grad(mse(x @ w, y), [x, w])
		output a = near(gx, e @ transpose(w) / 8), b = near(gw, transpose(x) @ e / 8)
		output c = near(grad(cross_entropy(x, [0, 2, 1, 1]), x), (softmax(x) - one_hot([0, 2, 1, 1], 3, dtype="f64")) / 4)
		g = s(12, 0.4)
		d = x - mean(x, axis=1, keepdims=true)
		r = 1 / sqrt(mean(d * d, axis=1, keepdims=true) + 1e-5)
		n = d * r
		output f = near(vjp(layernorm(x), x, g), r * (g - mean(g, axis=1, keepdims=true) - n * mean(g * n, axis=1, keepdims=true)))
		output h = near(grad(sum(exp(x) * sin(x)), x), exp(x) * (sin(x) + cos(x)))
		q = x[0]
		output i = near(grad(grad(sum(q ** 4), q)[1], q), [0.0, 12.0, 0.0] * q ** 2)
		output j = near(jvp(grad(sum(exp(x @ w)), x), x, g), (exp(x @ w) * (g @ w)) @ transpose(w))
		output k = near(grad(logsumexp(x), x), exp(x) / sum(exp(x)))
	END
}

@test "axes of size 0 and 1, variables as sizes, scalars beside tensors" {
	cat > "$BATS_TEST_TMPDIR/n.t" <<-'END'
		input x f64[n, 3] where n in 1..9
		state w f64[3, 2] = [[1, 2], [0, -1], [3, 0.5]]
		y = x @ w
		output loss = sum(softmax(y) * y) + sum(prod(x, axis=0)) + sum(max(pad(x, 1), axis=0)) + sum(cumprod(x, axis=0)) + sum(y[:, 0] * sum(w))
	END
	for n in 0 1 4; do
		sed "1s/.*/input x f64[$n, 3]/" "$BATS_TEST_TMPDIR/n.t" > "$BATS_TEST_TMPDIR/k.t"
		printf 'output x = reshape(f64(arange(%d)) * 0.3 - 0.5, %d, 3)\n' $((3 * n)) $n > "$BATS_TEST_TMPDIR/x.t"
		ok bash -c '"$BIN/trace" "$0/x.t" | "$BIN/run" --interpret -o "$0"' "$BATS_TEST_TMPDIR"
		for p in n k; do
			[ $n$p = 0n ] && continue
			ok bash -c '"$BIN/trace" "$0/'$p'.t" | "$BIN/grad" -w x,w | "$BIN/run" --interpret -o "$0/'$p'" x="$0/x.npy"' "$BATS_TEST_TMPDIR"
		done
		[ $n = 0 ] && cp -r "$BATS_TEST_TMPDIR/k" "$BATS_TEST_TMPDIR/n"
		ok bash -c '"$BIN/trace" "$0/'$([ $n = 0 ] && echo k || echo n)'.t" | "$BIN/grad" -w x,w | "$BIN/run" -o "$0/c" x="$0/x.npy"' "$BATS_TEST_TMPDIR"
		ok "$BIN/diff" --rtol 1e-12 "$BATS_TEST_TMPDIR/n" "$BATS_TEST_TMPDIR/k"
		ok "$BIN/diff" --rtol 1e-10 "$BATS_TEST_TMPDIR/n" "$BATS_TEST_TMPDIR/c"
	done
	# at level graph a scalar stands with any shape: its gradient is a sum
	doc '{uop: 1, level: "graph", nodes: [["BUFFER","f64",[],{name:"a",shape:[],role:"input"}],
		["BUFFER","f64",[],{name:"x",shape:[2,3],role:"input"}], ["MUL","f64",[0,1],nil], ["CMPLT","bool",[0,1],nil],
		["WHERE","f64",[3,0,2],nil], ["REDUCE","f64",[4],["ADD",[0,1]]], ["SINK",nil,[5],{names:["y"]}]]}' > "$BATS_TEST_TMPDIR/a.mp"
	printf 'output x = reshape(f64(arange(6)), 2, 3)\noutput a = f64(2)\n' > "$BATS_TEST_TMPDIR/x.t"
	ok bash -c '"$BIN/trace" "$0/x.t" | "$BIN/run" --interpret -o "$0"' "$BATS_TEST_TMPDIR"
	ok bash -c '"$BIN/grad" -w a,x "$0/a.mp" | "$BIN/run" x="$0/x.npy" a="$0/a.npy"' "$BATS_TEST_TMPDIR"
	[[ $output == *$'grad_a f64[]\n6.0'* ]]
	[[ $output == *$'grad_x f64[2,3]\n[[2. 2. 2.]\n [0. 0. 0.]]'* ]]
}

@test "a gradient has its value's dtype; integers and what is detached give 0" {
	holds <<-'END'
		const h = f16([1.0, 2.0])
		const b = bf16([1.0, 2.0])
		const n = [1, 2]
		const x = [1.5, 2.5]
		gh, gb, gx = grad(sum(f32(h) * f32(b) * x + h * b), [h, b, x])
		output a = [gh.dtype == "f16", gb.dtype == "bf16", gx.dtype == "f32"]
		output c = grad(sum(f32(i32(x)) * x), x) == [1.0, 2.0], d = grad(sum(detach(x) * x + trunc(x) + sign(x)), x) == x
		output e = grad(sum(n), x) == [0.0, 0.0] if false else grad(sum(f32(n)), x) == [0.0, 0.0]
		output f = grad(sum(dropout(x, p=0.5, key=3) * 0 + rand([2], key=1)), x) == [0.0, 0.0]
		output g = grad(sum(bitcast(bitcast(x, "u32"), "f32")), x) == [0.0, 0.0]
	END
}

@test "a program trains by its own gradient: states, and outputs that are updates" {
	cat > "$BATS_TEST_TMPDIR/s.t" <<-'END'
		const x = [[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]]
		state w f32[2] = 0
		loss = mse(x @ w, [5.0, 1.0, 2.5])
		w <- w - 0.1 * grad(loss, w)
		output loss, w
	END
	ok bash -c '"$BIN/trace" "$0/s.t" | "$BIN/run" -n 200' "$BATS_TEST_TMPDIR"
	[[ $output == *"w f32[2]"*"[1."* ]] && awk 'f { exit !($0 < 1e-6) } /^loss/ { f = 1 }' <<< "$output" || { echo "$output"; return 1; }
	# through an update: by the content at the call's start
	printf 'state s f32[2] = [1, 2]\ns <- s * s\noutput y = sum(s * 3)\n' > "$BATS_TEST_TMPDIR/u.t"
	ok bash -c '"$BIN/trace" "$0/u.t" | "$BIN/grad" -o y -w s | "$BIN/run"' "$BATS_TEST_TMPDIR"
	[[ $output == *$'grad_s f32[2]\n[ 6. 12.]'* ]] || { echo "$output"; return 1; }
}

@test "grad twice, vjp of several outputs, jvp, names" {
	cat > "$BATS_TEST_TMPDIR/q.t" <<-'END'
		input x f64[1]
		input v f64[2]
		output y = sum(x ** 3), z = v * x, n = i32(x)
	END
	printf 'output one = f64(1)\n' > "$BATS_TEST_TMPDIR/one.t"
	ok bash -c '"$BIN/trace" "$0/one.t" | "$BIN/run" --interpret -o "$0"' "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	run_() { ok bash -c '"$BIN/trace" "$0/q.t" | '"$1" "$BATS_TEST_TMPDIR"; }
	run_ '"$BIN/grad" -o y -w x | "$BIN/grad" -o grad_x -w x | "$BIN/grad" -o grad_grad_x_x -p third_ -w x | "$BIN/run" x=2, v=rand'
	[[ $output == *$'grad_x f64[1]\n[12.]'*$'grad_grad_x_x f64[1]\n[12.]'*$'third_x f64[1]\n[6.]'* ]] || { echo "$output"; return 1; }
	run_ '"$BIN/grad" --vjp -o y,z -w x,v | "$BIN/run" --interpret x=2, v=1,2 cot_y=one.npy cot_z=10,100'
	[[ $output == *$'grad_x f64[1]\n[222.]'*$'grad_v f64[2]\n[ 20. 200.]'* ]] || { echo "$output"; return 1; }
	run_ '"$BIN/jvp" -w x -w v | "$BIN/run" x=2, v=1,2 tan_x=1, tan_v=3,4'
	[[ $output == *$'tan_y f64[]\n12.0'*$'tan_z f64[2]\n[ 7. 10.]'* ]] && [[ $output != *tan_n* ]] || { echo "$output"; return 1; }
	# by position they come last
	run_ '"$BIN/jvp" -o y -w x | "$BIN/run" @0=2, @1=1,2 @2=1,'
	[[ $output == *$'tan_y f64[]\n12.0'* ]]
}

@test "sizes that depend on data: elements beyond them do not count" {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[6]\ny = x[x > 2.5]\noutput y, s = sum(y ** 2)\n' > d.t
	tool trace d.t > d.mp
	ok bash -c '"$BIN/grad" -o s d.mp | "$BIN/run" x=1,2,3,4,5,0'
	[[ $output == *$'grad_x f32[6]\n[ 0.  0.  6.  8. 10.  0.]'* ]] || { echo "$output"; return 1; }
	ok bash -c '"$BIN/jvp" d.mp | "$BIN/run" --interpret x=1,2,3,4,5,0 tan_x=1,2,3,4,5,6'
	[[ $output == *$'tan_y f32[3]\n[3. 4. 5.]'*$'tan_s f32[]\n100.0'* ]] || { echo "$output"; return 1; }
	fails 3 "$BIN/grad" --vjp -o y d.mp
	[[ $errors == *"input 'cot_y' would have a size that is data"* ]]
}

@test "programs without a derivative are refused with a message" {
	printf 'input x f32[3]\ninput n i32\nstate s f32 = 0\noutput y = x * 2, l = sum(x), k = n + 1\n' > "$BATS_TEST_TMPDIR/e.t"
	"$BIN/trace" "$BATS_TEST_TMPDIR/e.t" > "$BATS_TEST_TMPDIR/e.mp"
	says() { fails "$1" "${@:3}" "$BATS_TEST_TMPDIR/e.mp"; [[ $errors == *"$2"* ]] || { echo "$errors"; return 1; }; }
	says 2 "'y' is f32[3], and a gradient is of a scalar: fold it in the program" "$BIN/grad" -o y
	says 2 "say of which with -o" "$BIN/grad"
	says 2 "there is no output 'q'; there are y f32[3], l f32, k i32" "$BIN/grad" -o q
	says 2 "the output 'k' is i32: only floats have a derivative" "$BIN/grad" -o k
	says 2 "there is no buffer 'w'; of floats there are x" "$BIN/grad" -o l -w w
	says 2 "the buffer 'n' is i32: only floats have a derivative" "$BIN/jvp" -o l -w n
	says 2 "'x' is named twice" "$BIN/grad" -o l -w x,x
	says 2 "'../x' cannot be an output's name" "$BIN/grad" -o l -w x -p ../
	refused() { printf 'const x = [1.0, 2.0]\noutput y = %s\n' "$1" > "$BATS_TEST_TMPDIR/b.t"; fails_text 4 "$BATS_TEST_TMPDIR/b.t" "$2"; }
	fails_text() { capture "$BIN/trace" "$2"; [ "$status" = "$1" ] && [[ $errors == *"$3"* ]] || { echo "$status $errors"; return 1; }; }
	refused 'grad(x, x)' 'grad: y is a tensor f32[2], and a gradient is of a scalar'
	refused 'grad(sum(x), 1.5)' 'grad: x is the number 1.5, not a tensor'
	refused 'grad(sum(x), i32(x))' 'only floats have a derivative'
	refused 'vjp(x, x, [1.0, 2.0, 3.0])' 'does not expand to [2]'
	refused 'jvp([x, x], [x, x], [x])' 'has 1 values, needs 2'
	# two inputs, or an input and a size, of one name
	printf 'input x f32[cot_y] where cot_y in 1..4\ninput tan_x f32\noutput y = x * 2\n' > "$BATS_TEST_TMPDIR/e.t"
	"$BIN/trace" "$BATS_TEST_TMPDIR/e.t" > "$BATS_TEST_TMPDIR/e.mp"
	says 2 "there is a size 'cot_y' already" "$BIN/grad" --vjp -w x
	says 2 "there is a buffer 'tan_x' already" "$BIN/jvp" -w x
	# a kernel of the user's own
	doc '{uop: 1, level: "graph", nodes: [["BUFFER","f32",[],{name:"x",shape:[3],role:"input"}],
		["CUSTOM","f32",[0],{shape:[],name:"f",code:{clang:"void f(float *y, const float *x) { *y = *x; }"}}], ["SINK",nil,[1],{names:["y"]}]]}' > "$BATS_TEST_TMPDIR/c.mp"
	fails 3 "$BIN/grad" --allow-custom "$BATS_TEST_TMPDIR/c.mp"
	[[ $errors == *"CUSTOM (f) has no derivative"* ]]
}

@test "the graph of a gradient grows with the graph, at any depth" {
	local n
	for n in 500 4000; do
		printf 'input x f32[4]\ny = x\nfor i in 1..%d { y = sin(y) * x + maximum(y, 0.1) }\noutput l = sum(y)\n' $n > "$BATS_TEST_TMPDIR/d.t"
		ok bash -c '"$BIN/trace" "$0/d.t" | "$BIN/grad" > "$0/d.mp"' "$BATS_TEST_TMPDIR"
		"$BIN/show" --count "$BATS_TEST_TMPDIR/d.mp" | sed 's/.*nodes=\([0-9]*\).*/\1/' > "$BATS_TEST_TMPDIR/$n.count"
	done
	[ "$(cat "$BATS_TEST_TMPDIR/4000.count")" -lt $((9 * $(cat "$BATS_TEST_TMPDIR/500.count"))) ]
}

# workspace DOCUMENT: the size of its workspace for temporaries
workspace() { "$BIN/show" "$1" | sed -n 's/.*workspace: \[\([0-9]*\),.*/\1/p' | head -n 1; }

@test "checkpoints: less memory, the same numbers" {
	cd "$BATS_TEST_TMPDIR"
	{
		printf 'input x f32[n, 64] where n in 1..100\ninput t i64[n]\nstate mean f32 = 0\nh0 = x\n'
		for i in 1 2 3 4 5 6 7 8 9; do
			printf 'state w%d f32[64, 64] = %s\nstate b%d f32[64] = 0.1\n' $i 0.0$i $i
			printf 'h%d = h%d + dropout(gelu(layernorm(h%d) @ w%d + b%d), p=0.1, key=%d)\n' $i $((i - 1)) $((i - 1)) $i $i $i
		done
		printf 'mean <- mean * 0.9 + h5.mean() * 0.1\noutput loss = cross_entropy(h9, t) + mean, mean\n'
	} > p.t
	tool trace p.t > p.mp
	sed 's/f32\[n, 64\] where n in 1..100/f32[80, 64]/; s/i64\[n\]/i64[80]/' p.t > q.t
	tool trace q.t > q.mp
	for c in "" --checkpoint --checkpoint=2; do
		tool grad -o loss $c q.mp | tool fuse > f.mp
		workspace f.mp
	done > sizes
	# all kept, 4 segments or so, 2 segments
	awk '{ w[NR] = $1 } END { exit !(w[2] < 0.5 * w[1] && w[3] < 0.8 * w[1] && w[2] < w[3]) }' sizes || { cat sizes; return 1; }
	for c in "" --checkpoint --checkpoint=3 --checkpoint=1; do
		ok bash -c '"$BIN/grad" -o loss '$c' p.mp | "$BIN/run" --interpret x=rand t=zeros n=7 -o "i$1.npz"' - "$c"
		ok tool diff --ulp 0 i.npz "i$c.npz"
	done
	ok bash -c '"$BIN/grad" -o loss --checkpoint p.mp | "$BIN/run" --fast-compile x=rand t=zeros n=7 -o c.npz'
	ok tool diff i.npz c.npz
	fails 2 "$BIN/grad" --checkpoint=x -o loss p.mp
	[[ $errors == *"'x' is no number of segments"* ]]
}

# kernels PROGRAM FORWARD BOTH OPTIONS: checks the number of kernels of the program, and with its
# gradient
kernels() {
	tool trace "$1" > k.mp
	tool grad $4 k.mp > g.mp
	local n m
	n=$(tool fuse k.mp | tool show --count | sed 's/.*kernels=\([0-9]*\).*/\1/')
	m=$(tool fuse g.mp 2>&1 | tool show --count | sed 's/.*kernels=\([0-9]*\).*/\1/')
	[ "$n" -le "$2" ] && [ "$m" -le "$3" ] || { echo "$1: $n kernels, $m with its gradient"; return 1; }
}

@test "the gradient of many slices takes less than quadratic work" {
	cd "$BATS_TEST_TMPDIR"
	for n in 16 128; do
		printf 'input x f32[8, %d]\nh = x[:, 0]\nfor t in 1..%d { h = h * 0.9 + sin(x[:, t]) }\noutput y = sum(h)\n' $n $((n - 1)) > r.t
		tool trace r.t | tool grad > r.mp
		tool info r.mp | sed -n 's/^work *\([0-9.]*\) kFLOP/\1/p' >> work
	done
	awk '{ w[NR] = $1 } END { exit !(NR == 2 && w[2] < 12 * w[1]) }' work || { cat work; return 1; }
	ok tool run --interpret -o i.npz r.mp x=rand
	ok tool run --fast-compile -o c.npz r.mp x=rand
	ok tool diff i.npz c.npz
	# slices that overlap, twice the same, along two axes, and none
	holds <<-'END'
		const x = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
		y = sum(x[:, :2]) + sum(x[:, 1:3] * 10) + sum(x[:, 2:] * 100) + sum(x[1:] * 1000) + sum(x[:, :2] * 5) + sum(x[:1, 3:])
		output g = grad(y, x) == [[6.0, 16.0, 110.0, 101.0], [1006.0, 1016.0, 1110.0, 1100.0]]
		const v = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
		output h = grad(v[0] * 2 + v[2] * 3 + v[5] + sum(v[3:5] ** 2) + v[0] ** 3, v) == [5.0, 0.0, 3.0, 8.0, 10.0, 1.0]
	END
}

@test "kernels of fused backward passes: at most 1.5 times the forward's" {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[128, 10]\ninput t i64[128]\noutput loss = cross_entropy(x, t)\n' > ce.t
	kernels ce.t 2 3
	printf 'input x f32[128, 256]\ninput w f32[256]\ninput b f32[256]\ninput g f32[128, 256]\noutput y = sum(layernorm(x, w, b) * g)\n' > ln.t
	kernels ln.t 2 4
	printf 'input x f32[128, 100]\noutput y = softmax(x)\n' > sm.t
	kernels sm.t 1 1 --vjp
	# the forward's two products and four of the backward's; one for softmax and its derivative
	for how in "" ", causal=true" ", scale=0.3"; do
		printf 'input q f32[8, 64, 32]\ninput k f32[8, 64, 32]\ninput v f32[8, 64, 32]\noutput y = attention(q, k, v%s)\n' "$how" > at.t
		kernels at.t 3 7 --vjp
	done
	# and the fused one gives what the unfused one gives
	ok tool run --interpret -o i.npz g.mp q=rand k=rand v=rand cot_y=rand
	ok tool run -o c.npz g.mp q=rand k=rand v=rand cot_y=rand
	ok tool diff i.npz c.npz
}

@test "values that the backward pass needs are stored or recomputed, by cost" {
	cd "$BATS_TEST_TMPDIR"
	cat > mlp.t <<-'END'
		input x f32[128, 784]
		input t i64[128]
		state w1 f32[784, 512] = 0.1
		state b1 f32[512] = 0
		state w2 f32[512, 10] = 0.1
		state b2 f32[10] = 0
		h = relu(x @ w1 + b1)
		output loss = cross_entropy(h @ w2 + b2, t)
	END
	kernels mlp.t 4 11
	cat > block.t <<-'END'
		input x f32[4, 64, 128]
		state wq f32[128, 384] = 0.1
		state wo f32[128, 128] = 0.1
		state g1 f32[128] = 1
		state c1 f32[128] = 0
		state g2 f32[128] = 1
		state c2 f32[128] = 0
		state w1 f32[128, 512] = 0.1
		state w2 f32[512, 128] = 0.1
		h = layernorm(x, g1, c1)
		q, k, v = split(h @ wq, 3, axis=-1)
		def heads(a) = permute(reshape(a, 4, 64, 4, 32), 0, 2, 1, 3)
		a = attention(heads(q), heads(k), heads(v), causal=true)
		x1 = x + reshape(permute(a, 0, 2, 1, 3), 4, 64, 128) @ wo
		x2 = x1 + gelu(layernorm(x1, g2, c2) @ w1) @ w2
		output loss = mean(x2 * x2)
	END
	kernels block.t 10 37
	# a row's mean and deviation are kept for the backward pass, not the row less its mean
	tool fuse --explain g.mp 2> said > f.mp
	grep -q 'computed in each' said
	grep -q 'stored, each that wants that computes it' said
	grep -q 'stored once' said
	ok tool run -o f.npz f.mp x=rand
	ok bash -c '"$BIN/schedule" g.mp | "$BIN/run" -o u.npz x=rand'
	ok tool diff --rtol 1e-3 --atol 1e-4 f.npz u.npz
	# with checkpoints it takes much less memory
	tool trace block.t | tool grad --checkpoint | tool fuse > c.mp
	[ $(($(workspace c.mp) * 10)) -lt $(($(workspace f.mp) * 7)) ]
}
