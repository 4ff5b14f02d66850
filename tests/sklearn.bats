#!/usr/bin/env bats
# Models of scikit-learn, fitted here and written by skl2onnx, as ONNX Runtime has them: scikit.py. Skipped where these
# packages, which `make deps` installs, are not there.

load helpers

agrees() {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c 'import sklearn, skl2onnx, onnxruntime' 2> /dev/null || skip "no scikit-learn, skl2onnx or ONNX Runtime"
	ok "$python" -W ignore "$TESTS/scikit.py" "$BIN" "$@"
}

@test "scalers, imputers, encoders, clusters" { agrees columns; }

@test "linear models, support vectors, neighbours, pipelines; labels that are texts" { agrees models; }

@test "trees, forests, boosting" { agrees trees; }
