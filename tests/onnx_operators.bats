#!/usr/bin/env bats
# ONNX operators with many attributes, against ONNX Runtime (onnx_operators.py), if that is
# installed.

load helpers

@test "windows, norms, recurrence, attention, resizing, signals, losses as ONNX Runtime has them" {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c 'import onnx, onnxruntime' 2> /dev/null || skip "no ONNX Runtime"
	ok "$python" -W ignore "$TESTS/onnx_operators.py" "$BIN"
}
