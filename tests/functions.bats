#!/usr/bin/env bats
# The tensor library: functions.cases and nn.cases have calls and the results of NumPy and ONNX
# Runtime for them (written by functions.py and nn.py). To add a case, add a line to functions.py
# and run `python3 functions.py > functions.cases`.
load helpers

D() { echo "$BATS_FILE_TMPDIR"; }

# The cases of a file as one program with the outputs c1, c2, …
program() {
	awk '/^const /{print; next} /^\t/{next} {printf "output c%d = %s\n", ++n, $0}' "$1"
}

setup_file() {
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -o "$BATS_FILE_TMPDIR/near" "$TESTS/near.c" -lm
	for cases in "$TESTS"/*.cases; do
		name=$(basename "$cases" .cases)
		program "$cases" > "$BATS_FILE_TMPDIR/$name.t"
		"$BIN/trace" "$BATS_FILE_TMPDIR/$name.t" > "$BATS_FILE_TMPDIR/$name.mp"
	done
}

# near COMMAND: with COMMAND g.mp DIR, each file of cases gives the expected values
near() {
	for cases in "$TESTS"/*.cases; do
		name=$(basename "$cases" .cases)
		ok bash -o pipefail -c "$1" "$(D)/$name.mp" "$BATS_TEST_TMPDIR/$name"
		"$BATS_FILE_TMPDIR/near" "$cases" "$BATS_TEST_TMPDIR/$name"
	done
}

# interprets one program from standard input and prints its outputs
prints() {
	cat > "$BATS_TEST_TMPDIR/p.t"
	ok bash -c '"$BIN/trace" "$0" | "$BIN/run" --interpret' "$BATS_TEST_TMPDIR/p.t"
	[[ $output == *"$1"* ]] || { echo "$output"; return 1; }
}

# a one-line program that must be refused with status $1
refused() {
	printf 'const x = [[1.0, 2.0], [3.0, 4.0]]\ninput s f32[n, 3] where n in 1..9\noutput y = %s\n' "$2" > "$BATS_TEST_TMPDIR/b.t"
	capture "$BIN/trace" "$BATS_TEST_TMPDIR/b.t"
	[ "$status" = "$1" ] && [ -z "$output" ] && [[ $errors == trace:*b.t:3:1* ]] || { echo "$2: status $status: $errors"; return 1; }
}

@test "every function gives NumPy's values, interpreted at level graph" {
	near '"$BIN/run" --interpret -o "$1" "$0"'
}

@test "every function gives NumPy's values, interpreted at level schedule" {
	near '"$BIN/schedule" < "$0" | "$BIN/run" --interpret -o "$1"'
}

@test "every function gives NumPy's values, fused and compiled" {
	near '"$BIN/fuse" < "$0" | "$BIN/render" -t clang | "$BIN/run" -o "$1"'
}

@test "every function gives NumPy's values on GPUs" {
	needs_gpu
	local target
	for target in $(gpus); do
		near '"$BIN/fuse" < "$0" | "$BIN/render" -t '"$target"' | "$BIN/run" -o "$1"'
	done
}

@test "every function has a test" {
	local name missing=0
	for name in $(sed -n 's/^FN(\([a-z0-9_]*\),.*/\1/p' "$ROOT/trace/library/functions.def" | head -n 200); do
		grep -q "\b$name(" "$TESTS"/*.cases "$TESTS"/*.bats "$TESTS"/optim.py || { echo "$name has no test"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "marks and sizes: contiguous, detach, shape, size, zeros_like, ones_like" {
	prints 6 <<-'END'
		const x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
		output y = contiguous(detach(x)) * 0 + size(x) + zeros_like(x) * size(x, 1) + ones_like(x) - ones_like(x)
	END
	prints 3 <<-'END'
		const x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
		output y = full([2], shape(x)[1])
	END
}

@test "the arithmetic by name" {
	prints True <<-'END'
		const x = [5.0, -7.0]
		const y = [2.0, 3.0]
		const i = [7, -7]
		a = (add(x, y) == x + y) & (sub(x, y) == x - y) & (mul(x, y) == x * y) & (div(x, y) == x / y)
		output t = all(a & (neg(x) == -x) & (recip(y) == reciprocal(y)) & (idiv(i, 2) == [3, -3]))
	END
}

@test "a symbolic size gives the same values as a number" {
	cat > "$BATS_TEST_TMPDIR/s.t" <<-'END'
		input x f32[n, 4] where n in 3..100
		output a = mean(x, axis=0)
		output b = std(x, correction=1)
		output c = pad(x, [[3, 1], [0, 0]], mode="wrap")
		output d = concat(x[1:], x[::-2], roll(x, 1, axis=0), zeros([n, 4]))
		output e = reshape(x, 2, -1)
		output f = einsum("ij,kj->ik", x, x[1:-1])
		output g = diag(x @ transpose(x))
		output h = take(x, [1, -1], axis=0) * n
		output i = argmax(x, axis=0) + arange(4) + cumsum(one_hot([0, 2, 1, 1], n, dtype="i64"), axis=0)[:, 0]
		output j = rand([n, 2], key=4)
		output k = topk(x, 2, axis=0)[0]
		output l = pad(x, [[n // 2, 1], [0, 0]], mode="reflect")
	END
	sed '1s/.*/input x f32[6, 4]/; s/\[n/[6/; s/ n,/ 6,/; s/ n$/ 6/; s/\* n/* 6/' "$BATS_TEST_TMPDIR/s.t" > "$BATS_TEST_TMPDIR/k.t"
	printf 'output x = sin(reshape(arange(24, dtype="f32"), 6, 4) * 7)\n' > "$BATS_TEST_TMPDIR/x.t"
	ok bash -c '"$BIN/trace" "$0/x.t" | "$BIN/run" --interpret -o "$0"' "$BATS_TEST_TMPDIR"
	for p in s k; do
		ok bash -c '"$BIN/trace" "$0/'$p'.t" | "$BIN/run" --interpret -o "$0/'$p'" x="$0/x.npy"' "$BATS_TEST_TMPDIR"
	done
	for f in "$BATS_TEST_TMPDIR"/s/*.npy; do
		cmp "$f" "$BATS_TEST_TMPDIR/k/${f##*/}"
	done
	[ "$(ls "$BATS_TEST_TMPDIR/s" | wc -l)" = 12 ]
}

@test "joining many parts takes less than quadratic work" {
	local n
	for n in 64 512; do
		{
			printf 'const x = [1.5]\noutput y = concat('
			for ((k = 1; k < n; k++)); do printf 'x + %d, ' "$k"; done
			printf 'x)\n'
		} > "$BATS_TEST_TMPDIR/$n.t"
		ok "$BIN/trace" "$BATS_TEST_TMPDIR/$n.t"
		"$BIN/show" --count "$BATS_TEST_TMPDIR/stdout" | sed 's/.*nodes=\([0-9]*\).*/\1/' > "$BATS_TEST_TMPDIR/$n.count"
	done
	[ "$(cat "$BATS_TEST_TMPDIR/512.count")" -lt $((10 * $(cat "$BATS_TEST_TMPDIR/64.count"))) ]
}

@test "wrong calls are refused, with their position" {
	local bad=0 status text
	while read -r status text; do
		refused "$status" "$text" || bad=1
	done <<-'END'
		4 nosuch(x)
		4 exp()
		4 exp(x, x)
		4 exp(x, y=1)
		4 sum(x, axis=2)
		4 sum(x, axis=[0, 0])
		4 sum(x, axis="a")
		4 reshape(x, 3)
		4 reshape(x, -1, -1)
		4 reshape(x, -1, 3)
		4 reshape(x, -1, 0)
		4 pad(x, [])
		4 roll(x, [])
		4 topk(x, 9223372036854775807)
		4 arange(0, 9223372036854775807)
		4 split(x, [])
		4 expand(x, 3, 2)
		4 expand(x, -1, 2, 2)
		4 squeeze(x, axis=0)
		4 unsqueeze(x, [0, 0])
		3 unsqueeze(x, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
		4 permute(x, 0)
		4 permute(x, 0, 0)
		4 transpose(x, 0, 5)
		4 flatten(x, start=1, end=0)
		4 slice(x, [0, 0, 0], [1, 1, 1])
		4 slice(x, 0, 1, step=0)
		4 concat()
		4 concat(x, s)
		4 concat(1.0, 2.0)
		4 stack(x, s)
		4 split(x, 3)
		4 split(x, 0)
		4 split(x, [1, 2])
		4 split(x, -1)
		4 pad(x, [[1, 1], [1, 1], [1, 1]])
		4 pad(x, 1, mode="other")
		4 pad(x, -2)
		4 pad(zeros([0, 2]), 1, mode="edge")
		4 roll(x, [1, 2], axis=[0])
		4 tile(x, -1)
		4 repeat(x, -1)
		4 zeros([-1])
		4 zeros([4000000000, 4000000000])
		4 full([2], 1, dtype="f99")
		4 arange(0, 1, 0)
		4 arange(0.0, inf)
		4 linspace(0, 1, -1)
		4 tril(x[0])
		4 diag(x[0, 0])
		3 diag(s)
		4 x @ s
		4 matmul(x, 1.0)
		4 linear(x, x[0])
		4 einsum("ij,jk", x)
		4 einsum("ij", x, x)
		4 einsum("ijk", x)
		4 einsum("i.j", x)
		4 einsum("ij->ii", x)
		4 einsum("ij->k", x)
		4 einsum("ij->i$", x)
		4 einsum("ij-", x)
		4 einsum("......", x)
		4 gather(x, 0.5)
		4 gather(x, [[0], [0], [0]], 1, 2)
		4 take(x, 1.5)
		4 take_along(x, [0], axis=0)
		4 scatter(x, [0], x[0], how="other")
		4 scatter(x, [0, 1], s)
		4 topk(x, 3)
		4 argmax(zeros([0]))
		4 one_hot([0], -1)
		4 rand([2])
		4 rand([2], key=x)
		4 rand([2], key=1, dtype="i32")
		4 randint([2], 5, 5, key=1)
		4 dropout(x, 1.5, key=1)
		4 dropout(x)
		4 gelu(x, approximate="no")
		4 bitcast(x, "f64")
		4 bitwise_and(x, x)
		4 x + s
		4 where(x, x, s)
		4 cast(x)
		4 copy(x)
	END
	[ "$bad" = 0 ]
}
