#!/usr/bin/env bats
# Narrow models as PyTorch's exporter writes them: the same graphs as at full width, which `make
# models` checks. One compiled program serves both batches. models/make.py makes them; to add one,
# write its function there, then
#     make.py models/small --small NAME && check.py BIN models/small NAME      (with onnx, onnxruntime and numpy)

load helpers

setup() {
	if ! "$BIN/trace" "$TESTS/models/small/resnet50.onnx" > /dev/null 2> "$BATS_TEST_TMPDIR/e"; then
		! grep -q 'built without ONNX' "$BATS_TEST_TMPDIR/e" || skip "built without ONNX"
	fi
}

agrees() { python3 "$TESTS/models/check.py" "$BIN" "$TESTS/models/small" "$@"; }

# fused MODEL: the number of its kernels that run in each call
fused() {
	"$BIN/trace" "$TESTS/models/small/$1.onnx" | "$BIN/schedule" | "$BIN/fuse" | "$BIN/show" |
		awk '/ BUFFER .* role: "prepared"/ { once[$1] = 1 } / = CALL / && !once[$5] { n++ } END { print n }'
}

@test "every model in models/small is tested" {
	for m in "$TESTS"/models/small/*.onnx; do
		m=${m##*/}
		grep -q "agrees.* ${m%.onnx}\b" "$BATS_TEST_FILENAME" || { echo "$m"; return 1; }
	done
}

@test "residual networks, norms folded or not" { agrees resnet50 resnet50_bn; }

@test "depthwise convolutions, squeeze and excitation" { agrees mobilenetv2 efficientnet_b0; }

@test "convolutions with layer norms" { agrees convnext_tiny; }

@test "downsampling and upsampling, symbolic height and width" { agrees unet; }

@test "transformers: pictures, masks, a cache" { agrees vit_b16 bert_base gpt2; }

@test "sound: convolutions in time, cross attention" { agrees whisper_encoder whisper_decoder; }

@test "quantized: int8 between floats" { agrees resnet50_u8 resnet50_i8; }

@test "sizes that upsampling does not restore" {
	echo 'output odd = zeros([1, 3, 18, 20])' > "$BATS_TEST_TMPDIR/odd.t"
	"$BIN/trace" "$BATS_TEST_TMPDIR/odd.t" | "$BIN/run" --interpret -o "$BATS_TEST_TMPDIR"
	"$BIN/trace" "$TESTS/models/small/unet.onnx" > "$BATS_TEST_TMPDIR/g.mp"
	fails 4 "$BIN/run" "$BATS_TEST_TMPDIR/g.mp" "@0=$BATS_TEST_TMPDIR/odd.npy"
	"$BIN/fuse" "$BATS_TEST_TMPDIR/g.mp" > "$BATS_TEST_TMPDIR/f.mp"
	fails 4 "$BIN/run" "$BATS_TEST_TMPDIR/f.mp" "@0=$BATS_TEST_TMPDIR/odd.npy"
}

# --explain has one line for each norm; a convolution is followed by an addition, and there is no
# sqrt.
@test "norms after convolutions are folded into their weights" {
	cd "$BATS_TEST_TMPDIR"
	for model in resnet50_bn:15 unet:10; do
		"$BIN/trace" "$TESTS/models/small/${model%:*}.onnx" | "$BIN/fuse" --explain 2> e > f.mp
		[ "$(grep -c 'the constant scale behind it is folded into' e)" = "${model#*:}" ]
		[ "$(grep -c ' 3 reads, 1 write: .*_scaled .*_shift -> ' e)" -gt 0 ]
		not grep -q '^fuse: r_.*onnx::w_[0-9]* onnx::w_[0-9]* onnx::w_[0-9]* ' e
	done
	"$BIN/trace" "$TESTS/models/small/resnet50_bn.onnx" | "$BIN/fuse" --strict --explain 2> e > f.mp
	not grep -q 'constant scale' e
}

# Each bound is the number that the general rules reach now: one more kernel means a lost fusion.
@test "few kernels are left" {
	while read -r model most; do
		n=$(fused "$model")
		[ "$n" -le "$most" ] || { echo "$model: $n kernels, not $most"; return 1; }
	done <<-END
	resnet50 18
	resnet50_bn 18
	mobilenetv2 15
	efficientnet_b0 21
	convnext_tiny 18
	unet 22
	vit_b16 25
	bert_base 26
	gpt2 24
	whisper_encoder 25
	whisper_decoder 48
	resnet50_u8 19
	resnet50_i8 19
	END
}
