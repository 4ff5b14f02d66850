#!/usr/bin/env bats
# ONNX operators with many attributes, against ONNX Runtime (onnx_operators.py), models as its
# optimizer and quantizers write them (onnx_optimized.py), recurrences (onnx_recurrences.py),
# control flow (onnx_control.py) and shapes (onnx_detection.py) whose lengths, branches and sizes
# are data, if that is installed.

load helpers

# compare SCRIPT MODULE: the script in a Python that has the module
compare() {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c "import onnx, $2" 2> /dev/null || skip "no $2"
	ok "$python" -W ignore "$TESTS/$1" "$BIN"
}

@test "windows, norms, recurrence, attention, resizing, signals, losses, com.microsoft, ai.onnx.ml as ONNX Runtime has them" {
	compare onnx_operators.py onnxruntime
}

@test "models that ONNX Runtime has optimized and quantized, compiled" {
	compare onnx_optimized.py onnxruntime.quantization
}

@test "If, Loop, Scan and sequences by data, greedy decoding: one program for all lengths, at every level" {
	compare onnx_control.py onnxruntime
}

@test "the end of a detection model, whose sizes are data, for any number of boxes" {
	compare onnx_detection.py onnxruntime
}

@test "recurrences over an open length and batch, both ways, lengths by row: one program, at every level" {
	compare onnx_recurrences.py onnxruntime
}
