#!/usr/bin/env bats
# ONNX models: data in each possible location, sizes, control flow, functions, and models that must
# be refused. onnx_models.py makes them.

load helpers

setup_file() {
	mkdir -p "$BATS_FILE_TMPDIR/m"
	cd "$BATS_FILE_TMPDIR/m"
	python3 "$TESTS/onnx_models.py"
}

setup() {
	cd "$BATS_FILE_TMPDIR/m"
	if "$BIN/trace" names.onnx 2>&1 > /dev/null | grep -q 'built without ONNX'; then
		skip "built without ONNX"
	fi
}

limited() {
	if sanitized; then
		timeout 60 "$@"
	else
		(ulimit -v 256000 && exec timeout 20 "$@")
	fi
}

# traced MODEL OPERAND…: prints the output's lines after the first, on one line
traced() {
	"$BIN/trace" "$1.onnx" > "$BATS_TEST_TMPDIR/g.mp" &&
		"$BIN/run" --interpret "$BATS_TEST_TMPDIR/g.mp" "${@:2}" | tail -n +2 | tr -s ' \n' ' '
}

@test "the rows of operators.def hold together" {
	local flags=-O1 lib=$(dirname "$BIN")
	sanitized && flags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
	${CC:-cc} -std=c11 -D_GNU_SOURCE $flags -w -I"$ROOT/common" -I"$ROOT/trace" -o "$BATS_TEST_TMPDIR/check" \
		"$TESTS/check_operators.c" "$lib/libtrace.a" "$lib/libcommon.a" -lmsgpackc -lxxhash -lsodium -lz -ldl -lpthread -lm
	ok "$BATS_TEST_TMPDIR/check"
}

@test "weights in raw_data, in typed fields, in another file" {
	for m in raw typed external; do
		[ "$(traced $m @0=x.npy)" = "[0. 3. 1. 6.] " ] || { traced $m @0=x.npy; return 1; }
	done
}

@test "large raw_data stays in the model's file" {
	"$BIN/trace" in_place.onnx | "$BIN/show" | grep -q "file: \[\"$PWD/in_place.onnx\", [0-9]*, 4000, \"[0-9a-f]*\"\]"
	[[ $(traced in_place x=x1000.npy) == *"1994. 1996. 1998."* ]]
}

@test "3 GB of weights are not touched" {
	limited "$BIN/trace" large.onnx | "$BIN/show" | grep -q 'sparse.bin", 0, 3221225472'
}

@test "names that the contract does not allow" {
	ok "$BIN/run" --interpret <("$BIN/trace" names.onnx) _a_x_1=x.npy
	[[ $output == "_a_y.out f32[4]"* ]]
	"$BIN/trace" names.onnx | "$BIN/show" | grep -q '"/a/Neg"'
}

@test "a weight listed among the inputs is not an input" {
	"$BIN/trace" old.onnx | "$BIN/show" | grep -q 'inputs: \["x"\]'
}

@test "sizes become variables, arithmetic on them folds, --set fixes them" {
	"$BIN/trace" sizes.onnx | "$BIN/show" > sizes.t
	grep -q 'vars {batch: \[1, 2147483647\], seq_len: \[1, 2147483647\]}' sizes.t
	grep -q 'RESHAPE f32 %0 \["batch", "seq_len\*3"\]' sizes.t
	[ "$(grep -c '^%' sizes.t)" = 3 ]
	"$BIN/trace" sizes.onnx | "$BIN/run" x=x235.npy | grep -q 'f32\[2,15\]'
	"$BIN/trace" sizes.onnx --set batch=2 --set 'seq len=5' | "$BIN/show" | grep -q 'RESHAPE f32 %0 \[2, 15\]'
}

@test "an input that a shape needs: --shapes-from, --const, or status 3" {
	fails 3 "$BIN/trace" axes.onnx
	[[ $errors == *"node sum (ReduceSum-17): its input 1 ('a') must be known to fix a shape; try --shapes-from a=FILE.npy" ]]
	ok "$BIN/trace" axes.onnx --shapes-from @0=x235.npy @1=axis1.npy
	cp "$BATS_TEST_TMPDIR/stdout" g.mp
	ok "$BIN/run" g.mp x=x235.npy a=axis1.npy
	[[ $output == "y f32[2,5]"* ]]
	fails 4 "$BIN/run" g.mp x=x235.npy a=axis2.npy
	[[ $errors == *"'a'"* ]]
	"$BIN/trace" axes.onnx --const a=axis2.npy | "$BIN/run" @0=x235.npy | grep -q 'f32\[2,3\]'
}

@test "a refusal names the options that help, or none" {
	fails 3 "$BIN/trace" square.onnx
	[[ $errors == *"node det (Det-17): axis 1 of [x_1,x_1] must be a known size here; try --set x_1=N" ]]
	ok "$BIN/trace" square.onnx --set x_1=3
	ok "$BIN/trace" square.onnx --set n=3
	fails 3 "$BIN/trace" of_data.onnx
	[[ $errors == *"its input 1 ('k') must be known to fix a shape" ]]
	fails 3 "$BIN/trace" sequence.onnx
	[[ $errors == *"try --shapes-from s=FOLDER" ]]
	printf 'input x f32[n, n] where n in 1..4\nm = load("square.onnx")\noutput y = m(x)\n' > square.t
	fails 3 "$BIN/trace" square.t
	[[ $errors == *"must be a known size here"* ]]
	[[ $errors != *"--set"* ]]
}

@test "sizes that data gives; two of them that have to agree are compared when run, and never cut" {
	local how
	for how in "cat" "$BIN/fuse"; do
		run_() { "$BIN/trace" tiled.onnx | "$how" | "$BIN/run" x="$1" v=1,2; }
		[ "$(run_ 1,2,0,0,1,1 | tr '\n' ' ')" = "y f32[4] [1. 2. 1. 2.]  z f32[4] [2. 4. 2. 3.] " ]
		for x in 1,2,0,0,0,1 1,0,0,0,0,0 2,2,2,2,2,0; do
			fails 4 run_ $x
			[[ $errors == *"do not match"* ]] || { echo "$x: $errors"; return 1; }
		done
	done
}

@test "sums of sizes as names; sizes that broadcasting requires to be equal are checked" {
	[[ $(traced sums m=x7.npy p=x.npy q=x3.npy) == "[-1. 1. -2. 2. 5. 6. 7.] " ]]
	[ "$(traced agree x=x.npy m=x.npy)" = "[-2. 2. -4. 4.] " ]
	fails 4 "$BIN/run" <("$BIN/trace" agree.onnx) x=x.npy m=x3.npy
	[[ $errors == *"'other' is 3, outside 4 to"* ]]
	fails 4 "$BIN/run" <("$BIN/trace" agree.onnx) x=x.npy m=x7.npy
	[[ $errors == *"the sizes do not match"* ]]
}

@test "sequences as folders, in and out" {
	fails 3 "$BIN/trace" sequence.onnx
	ok "$BIN/run" <("$BIN/trace" sequence.onnx --shapes-from @0=s.seq) -o out --numbered @0=s.seq
	[ "$(ls out/output_0.seq)" = $'0.npy\n1.npy' ]
	[ "$(od -An -tf4 -j128 out/output_0.seq/1.npy | tr -s ' ')" = " -5 -6 -7" ]
}

@test "local functions, If, Loop" {
	[ "$(traced function x=x.npy)" = "[-0.5 1. -1. 2. ] " ]
	[ "$(traced if x=x.npy c=true.npy)" = "[ 1. -1. 2. -2.] " ]
	[ "$(traced loop x=x.npy)" = "[ -8. 8. -16. 16.] " ]
}

@test "a model as a function of the text language" {
	cat > call.t <<-'END'
		pair = load("pair.onnx")
		input x f32[4]
		a = reshape(x, [2, 2])
		y = pair(a, ones([2, 4]))
		z = pair(b=[[1.0, 2, 3, 4]], a=y[0][:, :1])
		output less = y["less"], sum = y["sum.1"] + 0 * z[1], again = z["sum.1"]
	END
	ok "$BIN/run" <("$BIN/trace" call.t) x=x.npy
	[ "$(tr -s ' \n' ' ' <<< "$output")" = "less f32[2,2] [[ 1. -1.] [ 2. -2.]] sum f32[2,4] [[1. 2. 3. 4.] [1. 2. 3. 4.]] \
again f32[2,4] [[ 2. 4. 6. 8.] [ 3. 6. 9. 12.]] " ] || { echo "$output"; return 1; }
	[ "$("$BIN/trace" call.t | "$BIN/show" | grep -c 'name: "w')" = 1 ]
	local what
	while read -r what call; do
		printf 'pair = load("pair.onnx")\ninput x f32[2, 2]\noutput y = pair(%s)[0]\n' "$call" > wrong.t
		capture "$BIN/trace" wrong.t
		[[ $status = 4 && $errors == *"wrong.t:3:"*"${what//_/ }"* ]] || { echo "$call: $errors"; return 1; }
	done <<-'END'
		b_is_missing x
		takes_2_tensors,_got_more x, x, x
		a_is_given_twice x, a=x
		no_input_c x, c=x
		axis_0_is_3,_not_2 x, ones([3, 4])
		axis_1_is_2,_not_4 x, x
		has_rank_2 x, x[0]
		is_f32,_got x, i32(x)
	END
}

@test "--state: inputs and outputs that are kept between calls give what calls by hand give" {
	local how
	"$BIN/trace" stream.onnx --set batch=1 > hand.mp
	ok "$BIN/run" hand.mp x=x.npy _h=zeros k=0 -o 1
	ok "$BIN/run" hand.mp x=x.npy _h=1/_h.next.npy k=1/k.next.npy -o 2
	ok "$BIN/run" hand.mp x=x.npy _h=2/_h.next.npy k=2/k.next.npy -o 3
	ok "$BIN/trace" stream.onnx --set batch=1 --state /h=/h.next --state k=k.next
	cp "$BATS_TEST_TMPDIR/stdout" kept.mp
	"$BIN/show" kept.mp | grep -q 'inputs: \["x"\].*updates: \["_h.next", "k.next"\]'
	for how in "" --interpret; do
		ok "$BIN/run" $how kept.mp x=x.npy -n 3 -o kept
		for f in y _h.next k.next; do cmp "3/$f.npy" "kept/$f.npy"; done
	done
	ok "$BIN/run" kept.mp x=x.npy -n 3 --save s.safetensors
	grep -q '"_h"' s.safetensors
	fails 3 "$BIN/trace" stream.onnx --state /h=/h.next
	[[ $errors == *"[batch,4]"*"--set batch=N"* ]]
	fails 4 "$BIN/trace" stream.onnx --set batch=1 --state k=y
	[[ $errors == *"k is i64, y is f32; they have to agree"* ]]
	fails 4 "$BIN/trace" stream.onnx --set batch=1 --state x=y
	[[ $errors == *"x has shape [4], y [1,4]; they have to agree"* ]]
	fails 4 "$BIN/trace" stream.onnx --set batch=1 --state none=y
	[[ $errors == *"no output depends on an input 'none'"* ]]
	fails 2 "$BIN/trace" stream.onnx --state k
	printf 'input x f32[2]\ninput h f32[2]\noutput hn = h * 2 + x\n' > kept.t
	[ "$("$BIN/trace" kept.t --state h=hn | "$BIN/run" x=1,2 -n 3 | tail -n 1)" = "[ 7. 14.]" ]
}

@test "--state beside a loop of as many turns as data says" {
	local how n
	ok "$BIN/trace" kept_loop.onnx --state h=hn
	cp "$BATS_TEST_TMPDIR/stdout" "$BATS_TEST_TMPDIR/kept.mp"
	"$BIN/show" "$BATS_TEST_TMPDIR/kept.mp" | grep -q 'LOOP.*limit: true'
	for how in "" --interpret; do
		for n in 1 3; do
			ok "$BIN/run" $how "$BATS_TEST_TMPDIR/kept.mp" x=x.npy n=$n -n 3 -o "$BATS_TEST_TMPDIR/kept"
			ok "$BIN/run" <("$BIN/trace" kept_loop.onnx) x=x.npy n=$((3 * n)) h=zeros -o "$BATS_TEST_TMPDIR/once"
			cmp "$BATS_TEST_TMPDIR/kept/hn.npy" "$BATS_TEST_TMPDIR/once/hn.npy"
		done
	done
}

@test "a size that depends on data passes through a model" {
	for how in '' --interpret; do
		ok "$BIN/run" <("$BIN/trace" found.onnx) x=0,3,0,-1,5 $how
		[ "$(tr -s ' \n' ' ' <<< "$output")" = "v f32[3] [ 3. -1. 5.] n i64[1] [3] total f32[] 7.0 " ] || { echo "$output"; return 1; }
	done
	ok "$BIN/run" <("$BIN/trace" found.onnx) x=0,0 -o empty --numbered
	[ "$(ls empty)" = $'output_0.npy\noutput_1.npy\noutput_2.npy' ]
	grep -q "'shape': (0,)" empty/output_0.npy
}

# each_size MODEL, lines OPERANDS = VALUES from standard input: one program, interpreted and compiled
each_size() {
	local operands values how got
	"$BIN/trace" "$1.onnx" > "$BATS_TEST_TMPDIR/g.mp"
	"$BIN/fuse" "$BATS_TEST_TMPDIR/g.mp" | "$BIN/render" -t clang > "$BATS_TEST_TMPDIR/p.mp"
	while IFS== read -r operands values; do
		for how in "--interpret $BATS_TEST_TMPDIR/g.mp" "$BATS_TEST_TMPDIR/p.mp"; do
			got=$(set -o pipefail; "$BIN/run" $how ${operands//:/=} | tail -n +2 | tr -d '[]' | tr -s ' \n' ' ') ||
				return 1
			[ "${got# }" = "${values# }" ] || { echo "$1 $operands:$got, not $values"; return 1; }
		done
	done
}

@test "a slice is clipped along a symbolic axis, one program for every size" {
	for m in cut_far cut_billion; do
		each_size $m <<-'END'
			x:n1.npy=
			x:n3.npy=2. 3. 4. 5. 
		END
	done
	each_size cut_first <<< $'x:n1.npy=0. 1. \nx:n3.npy=0. 1. 2. 3. 4. 5. \nx:n6.npy=0. 1. 2. 3. 4. 5. 6. 7. '
	each_size cut_last <<< $'x:n1.npy=0. 1. \nx:n4.npy=0. 1. 2. 3. 4. 5. 6. 7. \nx:n6.npy= 4. 5. 6. 7. 8. 9. 10. 11. '
	each_size cut_middle <<< $'x:n1.npy=\nx:n3.npy=4. 5. \nx:n6.npy=4. 5. 6. 7. '
	each_size cut_back <<< $'x:n1.npy=\nx:n3.npy=4. 5. \nx:n6.npy=10. 11. 6. 7. '
}

@test "shapes by arithmetic on sizes, one program for every size" {
	each_size size_div <<< $'x:n1.npy=\nx:n6.npy=\nx:n9.npy=1. '
	each_size size_max <<< $'x:n3.npy=\nx:n6.npy=1. \nx:n9.npy=1. 1. 1. 1. '
	each_size size_where <<< $'x:n1.npy=1. \nx:n3.npy=1. 1. 1. 1. 1. 1. 1. \nx:n4.npy=1. 1. 1. 1. '
	each_size size_pad <<< $'x:n1.npy=1. 1. 1. 1. \nx:n4.npy=1. 1. 1. 1. \nx:n6.npy=1. 1. 1. 1. 1. 1. 1. 1. '
	each_size size_floor <<< $'x:n1.npy=\nx:n3.npy=1. 1. \nx:n6.npy=1. 1. 1. 1. '
	each_size size_range <<< $'x:n1.npy=0 \nx:n3.npy=0 1 \nx:n9.npy=0 1 2 3 4 '
}

@test "windows that overhang and fractional scales along symbolic axes" {
	each_size pool_ceil <<< $'x:h5.npy=12. 14. 22. 24. \nx:h6.npy=20. 22. 24. 26. 38. 40. 42. 44. 47. 49. 51. 53. '
	each_size pool_same <<< $'x:h5.npy=6. 8. 9. 16. 18. 19. 21. 23. 24. \nx:h6.npy=19. 21. 23. 25. 26. 37. 39. 41. 43. 44. 46. 48. 50. 52. 53. '
	each_size resize_floor <<< $'x:h5.npy=0. 1. 3. 0. 1. 3. 5. 6. 8. 10. 11. 13. 10. 11. 13. 15. 16. 18. 20. 21. 23. '
	each_size mean_ceil <<< $'x:h5.npy= 0. 2.5 12.5 15. \nx:h6.npy= 0. 2.5 5.5 8. 22.5 25. 28. 30.5 45. 47.5 50.5 53. '
}

@test "axes whose names say nothing, and a cache that is empty at first" {
	for m in unknown alike; do
		each_size $m <<< 'x:n3.npy z:n3.npy= 0. 2. 4. 6. 8. 10. '
		capture "$BIN/run" <("$BIN/trace" $m.onnx) x=n3.npy z=n4.npy
		[[ $status = 4 && $errors == *"sizes do not match"* ]] || { echo "$errors"; return 1; }
	done
	each_size cache <<< $'x:n1.npy p:n0.npy=0. 1. \nx:n1.npy p:n3.npy=0. 1. 2. 3. 4. 5. 0. 1. '
}

@test "a branch that does not fit the shapes, chosen by sizes" {
	each_size branch <<< $'x:n3.npy=-0. -1. -2. -3. -4. -5. '
	capture "$BIN/run" <("$BIN/trace" branch.onnx) x=n1.npy
	[[ $status = 4 && $errors == *"'n' is 1, outside 2 to"* ]] || { echo "$errors"; return 1; }
}

@test "branches that differ in rank: the one that the nodes behind them can take" {
	each_size ranks <<< $'x:n1.npy=-0. -1. '
	capture "$BIN/run" <("$BIN/trace" ranks.onnx) x=n3.npy
	[[ $status = 4 && $errors == *"sizes do not match"* ]] || { echo "$errors"; return 1; }
}

@test "a loop that does not end is ended by the limit of time" {
	ok "$BIN/trace" endless.onnx
	cp "$BATS_TEST_TMPDIR/stdout" endless.mp
	for how in --interpret -j1; do
		fails 4 "$BIN/run" $how --limit time=1 endless.mp x=x.npy
		[[ $errors == *"longer than the limit of time"* ]] || { echo "$errors"; return 1; }
	done
}

@test "everything that is missing is reported at once" {
	fails 3 "$BIN/trace" w_3_missing.onnx
	[[ $errors == *"Foo-17 (node first), Bar-17 (node second)" ]]
}

@test "wrong and hostile models are refused, in little memory" {
	local bad=0 total=0 m want
	for m in w_*.onnx; do
		want=${m#w_}
		total=$((total + 1))
		fails "${want%%_*}" limited "$BIN/trace" "$m" || { echo "    $m"; bad=$((bad + 1)); }
	done
	[ "$bad" = 0 ]
	[ "$total" -gt 35 ]
}

@test "info: format, operators, inputs and outputs, work; what is missing" {
	ok "$BIN/info" sizes.onnx
	for line in 'format       IR 8, opset 17, own 1' 'operators    Constant 2, Concat 1, Gather 1, Reshape 1, Shape 1' \
		'inputs       x f32[batch,3,seq_len]' 'outputs      y f32[batch,seq_len*3]' 'parameters   0 in 0 B'; do
		[[ $output == *"$line"* ]] || { echo "$output"; return 1; }
	done
	ok "$BIN/info" in_place.onnx
	[[ $output == *"parameters   1 k in 4 kB"*"work         1 kFLOP"*"kernels      1"* ]]
	ok "$BIN/info" found.onnx
	[[ $output == *"outputs      v f32[count]"*"n i64[1]"*"total f32"*"sizes        len from"* ]] || { echo "$output"; return 1; }
	ok "$BIN/info" w_3_missing.onnx
	[[ $output == *"missing      Foo-17 (node first), Bar-17 (node second)" ]]
	[[ $output == *"inputs       x f32[4]"* ]]
	fails 4 "$BIN/info" w_4_doubling.onnx
}

@test "info of a model that cannot be traced: its inputs, what is open, the node, the command that helps" {
	ok "$BIN/info" square.onnx
	[ "$output" = 'format       IR 8, opset 17, own 1
operators    Det 1
inputs       x f32[x_0,x_1]
open sizes   x_0, x_1
outputs      y f32
not traced   node det (Det-17): axis 1 of [x_1,x_1] must be a known size here
try          sluice trace square.onnx --set x_1=N' ]
	ok "$BIN/info" square.onnx --set n=3
	[[ $output == *"inputs       x f32[3,3]"*"kernels"* ]]
	ok "$BIN/info" of_data.onnx
	[[ $output == *"outputs      y f32[?]"*"not traced   node sum (ReduceSum-17): its input 1 ('k') must be known to fix a shape" ]]
}

# body MODEL KERNELS: traced, it is one loop, of so many kernels for a turn and no copy; each is the
# cell's, and the constants of all are laid out
body() {
	local t
	cd "$BATS_TEST_TMPDIR"
	"$BIN/trace" "$BATS_FILE_TMPDIR/m/$1.onnx" > g.mp
	[ "$("$BIN/show" g.mp | grep -c '= LOOP ')" = 1 ]
	"$BIN/fuse" g.mp > f.mp
	"$BIN/show" f.mp > f.l
	for entry in $(grep '= REGION ' f.l | grep -o '%[0-9]*' | tail -n +2); do
		grep "^$entry = " f.l
	done > body.l
	[ "$(grep -c '= CALL ' body.l)" = "$2" ]
	not grep -q MEMCPY body.l
	for kernel in $(sed -n 's/.*= CALL \(%[0-9]*\) .*/\1/p' body.l); do
		grep -q "^$kernel = KERNEL .*@{name: \"cell\"" f.l
	done
	"$BIN/lower" -t clang --explain f.mp 2> said > l.mp
	for weight in w r; do
		grep -q ": $weight is packed" said
	done
	"$BIN/render" -t clang l.mp > p.mp
	for t in 1 2 7; do
		"$BIN/run" --interpret -o a.npz g.mp x=rand t=$t n=2
		"$BIN/run" --allow-code -o b.npz p.mp x=rand t=$t n=2
		"$BIN/diff" --rtol 1e-4 --atol 1e-5 a.npz b.npz
	done
}

@test "a recurrence over an open length is one loop, of as few kernels as its states allow" {
	body rnn 1
	body lstm 2
	body lstm_both 2
	body gru_linear 2
	body gru 3
}
