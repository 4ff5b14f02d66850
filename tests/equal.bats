#!/usr/bin/env bats
# `prove A B`. To add a rewriting that must be refuted, or one that must not, add a line to a table.
# What a fault in a stage would do is planted at random by planted.py.

load helpers

# same PROGRAM A B, differs PROGRAM PATTERN B…: the commands make documents of a program's graph
setup() { cd "$BATS_TEST_TMPDIR"; }

graph() { printf '%b' "$1" > p.t; tool trace p.t > g.mp; }

# refuted RULE PATTERN: the program's graph, changed by the rule, is refuted, and that is said
refuted() {
	tool rewrite -e "$1" g.mp > changed.mp
	capture tool prove g.mp changed.mp
	[ "$status" = 1 ] && [[ $output == $2 ]] || { echo "$1: status $status: $output$errors"; return 1; }
}

kept() {
	tool rewrite -e "$1" g.mp > changed.mp
	not cmp -s g.mp changed.mp
	ok tool prove g.mp changed.mp
}

@test "every level of a program is the same" {
	graph 'input x f32[n, 4] where n in 1..64\nconst w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]\noutput y = softmax(relu(x @ w))\n'
	tool schedule g.mp > s.mp
	tool fuse s.mp > f.mp
	tool lower -t clang f.mp > l.mp
	tool lower -t opencl f.mp > o.mp
	tool render -t clang l.mp > p.mp
	for pair in 'g s' 's f' 'g f' 'f l' 'f o' 'g l' 'l o' 'l p'; do
		ok tool prove ${pair% *}.mp ${pair#* }.mp
		[[ $output == 'the same: '* ]]
	done
}

@test "expansions in lanes are taken back, and masked bits are |x|" {
	graph 'input x f32[4, 64]\noutput y = abs(x), s = sum(exp(x), axis=1), t = sin(x), u = log(abs(x) + 1), e = (abs(x) + 1) ** x\n'
	tool fuse g.mp | tool layout -t llvm > f.mp
	tool lower -t llvm f.mp > l.mp
	tool show l.mp | grep -q f32x
	for seed in 1 2 3; do
		ok tool prove --seed $seed f.mp l.mp
		[[ $output == 'the same: '* ]]
	done
}

@test "the field refutes what is wrong for any numbers" {
	graph 'input x f32[3, 3]\ninput z f32[3, 3]\noutput y = exp(x) - z / 3\noutput t = transpose(x) * 2\n'
	refuted 'x - y -> y + -x' 'y?0,0? differs over *: another value, computed by ADD (p.t:3)*'
	refuted 'EXP2(x) -> x' 'y*'
	refuted 'PERMUTE(x) -> x' 't*'
	refuted 'x * 2.0 -> x * 2.001' 't*'
	kept 'x - y -> x + -y'
	kept 'x / 3.0 -> x * 0.3333333432674408'
}

@test "edge values refute what is wrong for some" {
	graph 'input x f32[64]\noutput a = x * 0\noutput b = x + 0\noutput c = cast(cast(x, f16), f32)\noutput d = x - x\n'
	refuted 'x * 0 -> 0' 'a* over edge values: *'
	refuted 'x + 0 -> x' 'b* over edge values: the sign of 0*'
	refuted 'CAST(CAST(x)) -> CAST(x)' 'c* over edge values*'
	refuted 'x - x -> 0' 'd* over edge values: a number for NaN*'
	graph 'input a i32[32]\ninput b i32[32]\noutput q = a // b\noutput s = where(a < b, a, b)\n'
	refuted 'x // y -> IDIV(x, y)' 'q*'
	refuted 'WHERE(c, x, y) -> x' 's*'
	kept 'WHERE(c, x, y) -> MIN(x, y)'
}

@test "a constant folded in the wrong dtype is refuted" {
	graph 'input x f32[4]\nconst k i32 = 300\noutput y = x * 0.1 * 3 + cast(k, f32)\n'
	tool simplify g.mp > simple.mp
	ok tool prove g.mp simple.mp
	graph 'input x i32[4]\noutput y = cast(cast(cast(300, i8), i32), f32) * cast(x, f32)\n'
	refuted 'CAST(CAST(x)) -> CAST(x)' 'y*'
}

@test "an expansion is compared by the op that it is named by" {
	graph 'input x f32[9]\ninput z f32[9]\noutput e = exp(x)\noutput l = log(abs(x))\noutput s = sin(x)\noutput p = abs(x) ** z\n'
	tool fuse g.mp > f.mp
	tool lower -t clang f.mp > l.mp
	[ "$(tool show l.mp | grep -c '@{of: "')" -ge 4 ]
	ok tool prove f.mp l.mp
	tool show l.mp | sed '0,/of: "EXP2"/s//of: "SIN"/' > wrong
	tool show -p wrong > wrong.mp
	capture tool prove f.mp wrong.mp
	[ "$status" = 1 ]
}

@test "the first call that differs is named, at sizes where it does" {
	graph 'input x f32[n, 8] where n in 1..40\noutput y = exp(sum(x * 2, axis=1))\n'
	tool schedule g.mp > s.mp
	tool show s.mp | sed 's/RREDUCE f32 \(.*\) "ADD"/RREDUCE f32 \1 "MAX"/' > wrong
	tool show -p wrong > wrong.mp
	capture tool prove s.mp wrong.mp
	[ "$status" = 1 ]
	[[ $output =~ ^y.*'; first in t'[0-9]+', computed by K'[0-9]+' r_n_8 (p.t:2), with n='[0-9]+$ ]]
}

@test "states are compared from one call to the next" {
	printf 'state s f32[2] = [1, 2]\ninput x f32[2]\noutput y = s * x\ns <- s + x\n' > p.t
	tool trace p.t > g.mp
	tool fuse g.mp > f.mp
	ok tool prove g.mp f.mp
	refuted 'x + y -> x - y' '*'
}

@test "statuses: what cannot be told, what is no document" {
	graph 'input x f32[3]\noutput y = x * 2\n'
	ok tool prove g.mp p.t
	head -c 40 g.mp > short.mp
	fails 4 tool prove g.mp short.mp
	fails 2 tool prove --after PASS g.mp
	fails 2 tool prove g.mp g.mp g.mp
	graph 'input x f32[1]\noutput y = x + 1\n'
	cp g.mp a.mp
	graph 'input x f32[2]\noutput y = x + 1\n'
	capture tool prove a.mp g.mp
	[ "$status" = 1 ]
	[[ $output == 'y has another dtype or shape' ]]
}

@test "--prove: each pass of a stage, and a stage that is wrong" {
	graph 'input x f32[n, 4] where n in 1..9\noutput y = softmax(x)\n'
	ok tool fuse --prove g.mp
	[ "$(grep -c '^fuse .*: the same: ' <<< "$errors")" -ge 8 ]
	graph 'input x f32[8]\noutput y = sort(x[x > 0.5])\n'
	ok tool schedule --prove g.mp
	not grep -v ': the same: ' <<< "$errors"
	"$BIN/sluice" --prove lower -t clang g.mp 2> said > /dev/null
	grep -q '^lower unroll: the same: ' said
}

@test "a rewrite that changes the arithmetic is named by its pass, and left out by --strict" {
	graph 'input x f32[4, 3]\nconst w f32 = [[1, 0.3, -1], [0.7, 2, 0], [0.1, 1, 1]]\nconst s f32 = [0.1, 0.2, 0.3]\noutput y = (x @ w) * s\n'
	tool schedule g.mp > s.mp
	ok tool fuse --prove s.mp
	[[ $(grep 'rounded otherwise' <<< "$errors") =~ ^"fuse scales: the same: ".*", 'y' rounded otherwise: sums of products regrouped"$ ]]
	tool fuse s.mp > f.mp
	tool prove s.mp f.mp | grep -q "'y' rounded otherwise: sums of products regrouped$"
	tool fuse --strict s.mp > f.mp
	not grep -q rounded <(tool prove s.mp f.mp)
	ok tool prove f.mp f.mp
	[ "$output" = 'the same: every node is' ]
}

# rounds A B WHAT: two programs over x, z and w differ by the rewrites that WHAT names, "" for none
rounds() {
	for i in 1 2; do
		printf 'input %s\n' 'x f32[9]' 'z f32[9]' 'w f32[9]' 'h f16[9]' > p.t
		printf 'output y = %s\n' "${!i}" >> p.t
		tool trace p.t > p$i.mp
	done
	ok tool prove p1.mp p2.mp
	[[ $output == *"draws of edge values${3:+", 'y' rounded otherwise: $3"}" ]] || { echo "$1: $output"; return 1; }
}

@test "what is rounded otherwise is named by the rewrite" {
	rounds '(x + z) + w' 'x + (z + w)' 'sums in another order'
	rounds '(x * z) * w' 'x * (z * w)' 'products in another order'
	rounds 'x / 3 / 7' 'x / 7 / 3' 'quotients in another order'
	rounds 'x / 3 + w' 'x * (1 / 3) + w' 'quotients as products'
	rounds 'sum(x * 0.3)' 'sum(x) * 0.3' 'sums of products regrouped'
	rounds 'h * 0.3' 'cast(cast(h, bf16), f16) * 0.3' 'casts to a narrower float'
	rounds 'x * z + w' 'w + z * x' ''
	rounds '(x + z) * 4' 'x * 4 + z * 4' ''
	rounds 'x * 2 + w' 'x + x + w' ''
	graph 'input x f32[9]\ninput z f32[9]\noutput y = x * z + 0.3\noutput e = exp(x)\n'
	tool rewrite -e 'x * y + z -> MULACC(x, y, z)' g.mp > fused.mp
	ok tool prove g.mp fused.mp
	[[ $output == *"'y' rounded otherwise: products fused with sums" ]]
	graph 'input x f32[9]\noutput e = exp(x)\n'
	tool fuse g.mp > f.mp
	tool lower -t clang f.mp > l.mp
	ok tool prove f.mp l.mp
	[[ $output == *"'e' rounded otherwise: functions by other ops" ]]
}

@test "sorts by the digits of the bits are the sorts that they stand for" {
	for dtype in f32 f64 f16 i32; do
		for order in false true; do
			graph "input x $dtype[3, 17]\noutput y = sort(x, axis=1), k = argsort(x, axis=1, descending=$order)\n"
			tool schedule g.mp > $order.mp
			tool lower -t clang $order.mp > $order.l.mp
			for seed in 1 2 3; do
				ok tool prove --seed $seed $order.mp $order.l.mp
			done
		done
		capture tool prove false.mp true.l.mp
		[ "$status" = 1 ]
	done
}

@test "infinities that a regrouped sum makes NaN are told" {
	graph 'input x f32[99]\ninput z f32[99]\ninput w f32[99]\noutput y = x * z + x * w + 1\n'
	tool rewrite -e 'x * z + x * w -> x * (z + w)' g.mp > changed.mp
	ok tool prove g.mp changed.mp
	[[ $output == *", 'y' rounded otherwise: sums of products regrouped, 'y' NaN where infinities are among the sums regrouped" ]]
	refuted 'x * z + x * w -> WHERE(x != x, 5.0, x * (z + w))' 'y* over edge values: *'
	refuted 'x * z + x * w -> x * (z + w + w)' 'y*'
}

@test "prove.sh: programs and cases" {
	printf 'const x f32[3] = [1, 2, 3]\nexp(x)\n\tulp=4 f32[3] 1 2 3\nsum(x)\n\tulp=4 f32[] 6\n' > some.cases
	ok bash "$ROOT/pipelines/prove.sh" -t clang some.cases "$TESTS/golden/rowsum.t"
	[[ $output == *'0 refuted, 0 unknown' ]]
	grep -q '^lower decompose  *3  *0  *0$' <<< "$output"
	[ "$(ls)" = "$(printf '%s\n' some.cases stderr stdout)" ]
	ok bash "$ROOT/pipelines/prove.sh" -t clang "$TESTS/golden/colsum.t"
	[[ $output == *'0 refuted, 0 unknown' ]]
}

@test "miscompilations planted at random are refuted" {
	ok python3 "$TESTS/planted.py" "$BIN" --seed "${SEED:-1}" --count 60 --seconds 25
	[[ $output == *' 0 missed' ]]
}

@test "prove A B: functions that are expanded to some hundred ops of lanes keep their names" {
	printf 'input x f64[38]\noutput y = cos(x)\noutput z = tan(x)\n' | tool trace | tool fuse > f.mp
	tool lower -t llvm --stop-after unroll f.mp > u.mp
	tool lower -t llvm --stop-after lanes f.mp > l.mp
	tool prove u.mp l.mp | grep '^the same'
}
@test "prove A B: a sum of exponentials in parts cannot be told over the field, and is not refuted" {
	tool show -p "$ROOT/tests/golden/fold_tuples.mp.txt" > a.mp
	for list in 'split 1 8; rfactor 1.1' 'split 1 8; rfactor 1.0'; do
		tool lower -t clang --opt "r_5_37: $list" a.mp > b.mp
		run tool prove a.mp b.mp
		[ "$status" = 3 ]
		[[ $output == *"cannot be told of a running maximum"* ]]
		# what has no such parts is told, as before
		tool lower -t clang --opt "r_5_37: $list" --stop-after binders a.mp > c.mp
		tool prove a.mp c.mp | grep -q 'the same'
	done
	tool show b.mp | sed 's/ADD f32 \(%[0-9]*\) \(%[0-9]*\)/SUB f32 \1 \2/' | tool show -p > bad.mp
	run tool prove a.mp bad.mp
	[ "$status" = 1 ]
}
