#!/usr/bin/env bats
# The scripts in pipelines/ do what they say.

load helpers

setup() { export SLUICE_BIN=$BIN; }
with_onnx() { ! tool trace "$TESTS/models/small/gpt2.onnx" 2>&1 > /dev/null | grep -q 'built without ONNX' || skip "built without ONNX"; }
pipeline() { "$ROOT/pipelines/$1" "${@:2}"; }
accuracy() { sed -n 's/^accuracy: \([0-9.]*\).*/\1/p' <<< "$1"; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 >= b) }'; }

@test "digits: accuracy, time of each stage, kernels before and after fuse" {
	ok pipeline digits.sh
	at_least "$(accuracy "$output")" 0.85
	for stage in trace simplify schedule fuse layout lower render compile run; do
		grep -Eq "^$stage +[0-9.]+ ms" <<< "$output"
	done
	read -r before after < <(sed -n 's/^kernels: \([0-9]*\) before fuse, \([0-9]*\) after/\1 \2/p' <<< "$output")
	[ "$before" -gt "$after" ]
}

@test "digits: the same with fuse left out, and through ipc endpoints" {
	cd "$BATS_TEST_TMPDIR"
	tool trace "$ROOT/pipelines/digits.t" > g.mp
	tool schedule g.mp | tool run -o unfused.npz
	tool fuse g.mp | tool run -o fused.npz
	tool diff unfused.npz fused.npz
	e=ipc://$BATS_TEST_TMPDIR/e
	tool schedule g.mp -o "$e" & 
	tool fuse -i "$e" -o "${e}2" &
	tool run -i "${e}2" -o ipc.npz
	wait
	tool diff fused.npz ipc.npz
}

@test "digits on OpenCL" {
	tool run --devices | grep -q opencl || skip "no OpenCL device"
	ok pipeline digits.sh opencl
	at_least "$(accuracy "$output")" 0.85
}

@test "tee: every level agrees, interpreted and compiled" {
	ok pipeline tee.sh
	[ "$(grep -c ' agrees ' <<< "$output")" = 14 ]
}

# a convolution: layout changes the layout of its weights and neighbours
convolution() {
	printf 'input x f32[1, 16, 32, 32]\noutput y = relu(conv2d(x, rand([16, 16, 3, 3], key=1), padding=1))\n'
}

@test "tee: the output of layout is saved before lower" {
	cd "$BATS_TEST_TMPDIR"
	convolution > c.t
	SAVE=saved ok pipeline tee.sh c.t x=rand
	[ "$(grep -c ' agrees ' <<< "$output")" = 14 ]
	tool show --count saved/4-fuse.mp > before
	tool show --count saved/5-layout.mp > after
	not cmp -s before after
	grep -q '^schedule ' after
}

@test "tee: a level that disagrees is named" {
	mkdir "$BATS_TEST_TMPDIR/p"
	cat > "$BATS_TEST_TMPDIR/p/diff" <<-END
		#!/bin/sh
		echo 'y: f32[2]: 1 of 2 differ, most at [0]: 0 and 1'
		exit 1
	END
	chmod +x "$BATS_TEST_TMPDIR/p/diff"
	for t in "$BIN"/*; do [ "${t##*/}" = diff ] || ln -s "$t" "$BATS_TEST_TMPDIR/p/"; done
	SLUICE_BIN=$BATS_TEST_TMPDIR/p capture pipeline tee.sh
	[ "$status" = 1 ]
	grep -q '1 of 2 differ' <<< "$output"
}

@test "ablate: a row for each optional pass" {
	SECONDS_EACH=0.01 ok pipeline ablate.sh
	for row in nothing fuse 'schedule: simplify' 'fuse: produce' 'fuse: siblings' 'fuse: plan' layout 'layout: winograd' \
		'lower: actions'; do
		grep -Eq "^$row +[0-9.]+ ms +[0-9.]+ x +[0-9]+ kernels" <<< "$output" || { echo "$row"; echo "$output"; return 1; }
	done
}

@test "ablate: a program that takes nanoseconds, called many times" {
	cd "$BATS_TEST_TMPDIR"
	printf 'input x f32[4]\noutput y = x * 2\n' > p.t
	SECONDS_EACH=0.02 ok pipeline ablate.sh p.t x=rand
	not grep -Eq ' 0[.]?0* ms ' <<< "$output"
	[ "$(grep -c ' ms ' <<< "$output")" -gt 15 ]
}

@test "ablate: without layout, layouts stay as they are" {
	cd "$BATS_TEST_TMPDIR"
	convolution > c.t
	SECONDS_EACH=0.01 ok pipeline ablate.sh c.t x=rand
	kernels() { sed -n "s/^$1  .* \([0-9]*\) kernels$/\1/p" <<< "$output"; }
	[ "$(kernels layout)" -lt "$(kernels nothing)" ]
	[ "$(kernels 'layout: winograd')" != "$(kernels nothing)" ]
}

@test "custom-stage: stages on the stage path take part" {
	ok pipeline custom-stage.sh
	grep -q '^rewrite: 1 rules applied' <<< "$errors"
	[ "$(grep -c '^y f32\[4\]' <<< "$output")" = 3 ]
}

# expected: a loop in ONNX Runtime over the same model that feeds its outputs back and takes the
# most likely token
GREEDY=' 3 49 14 4 7 16 3 48 18 6 44 18 32 6 6 2 2 7 6 2'

@test "generate: the most likely tokens, as found with ONNX Runtime" {
	with_onnx
	export N=18 TEMPERATURE=0 TOP_K=4 CONTEXT=24
	ok pipeline generate.sh "$TESTS/models/small/gpt2.onnx" 3 49
	[ "$(head -n 1 <<< "$output")" = "$GREEDY" ]
	grep -Eq '^[0-9.]+ tokens/s$' <<< "$output"
	# the cache has room to spare, or none
	CONTEXT=20 ok pipeline generate.sh "$TESTS/models/small/gpt2.onnx" 3 49
	[ "$(head -n 1 <<< "$output")" = "$GREEDY" ]
	CONTEXT=19 capture pipeline generate.sh "$TESTS/models/small/gpt2.onnx" 3 49
	[ "$status" = 1 ]
}

@test "generate: sampled tokens depend only on the seed, at every level" {
	with_onnx
	cd "$BATS_TEST_TMPDIR"
	export N=9 TOP_K=6 CONTEXT=16 KEEP=g.t
	local tokens
	SEED=5 ok pipeline generate.sh "$TESTS/models/small/gpt2.onnx" 3 49
	tokens=$(head -n 1 <<< "$output")
	SEED=6 ok pipeline generate.sh "$TESTS/models/small/gpt2.onnx" 3 49
	[ "$tokens" != "$(head -n 1 <<< "$output")" ]
	tool trace g.t > 1.mp
	tool schedule 1.mp > 2.mp
	tool fuse 2.mp | tool lower -t clang > 3.mp
	for level in 1 2 3; do
		tool run $level.mp --interpret prompt=3,49 temperature=1 seed=5 -n 10 | sed -n 2p | tr -s '[] ' ' ' > said
		[ "$(cat said)" = "$tokens " ] || { echo "$level: $(cat said), not $tokens"; return 1; }
	done
}

@test "grad-check: right derivatives, and a wrong one" {
	cd "$BATS_TEST_TMPDIR"
	cat > p.t <<-'END'
		input x f32[n, 6] where n in 1..9
		state w f16[6, 4] = 0.3
		state mean f32 = 0
		h = relu(x @ f32(w) - 0.5)
		mean <- mean * 0.9 + h.mean() * 0.1
		output y = softmax(h * x[:, :4]), z = cumprod(h + 1, axis=1), n = argmax(h, axis=1), mean
	END
	ok pipeline grad-check.sh p.t x=rand n=5
	[ "$(grep -c ' ok$' <<< "$output")" = 3 ] || { echo "$output"; return 1; }
	ok pipeline grad-check.sh p.t -o y -w w x=rand n=2
	[ "$(grep -c ' ok$' <<< "$output")" = 1 ]
	printf 'input x f32[4]\noutput y = sum(sqrt(x - x)), z = sum(x)\n' > q.t
	ok pipeline grad-check.sh q.t -o z x=rand
	capture pipeline grad-check.sh q.t x=rand
	[ "$status" = 1 ]
	grep -q '^x .*WRONG$' <<< "$output"
}

@test "packed: a classifier as a library, used from C and Python with nothing of Sluice on the path" {
	[ -x "$ROOT/build/venv/bin/python" ] && export PYTHON=$ROOT/build/venv/bin/python
	ok pipeline packed.sh
	at_least "$(sed -n 's/^C: \([0-9]*\) of 797$/\1/p' <<< "$output")" 700
	! "${PYTHON:-python3}" -c 'import numpy' 2> /dev/null || [ "$(grep '^Python' <<< "$output" | cut -d' ' -f2-)" = "$(grep '^C:' <<< "$output" | cut -d' ' -f2-)" ]
}
