#!/usr/bin/env bash
# The ONNX backend test cases through the tools: interpreted, compiled with fuse, compiled without.
#
#   make conformance                     all of them; FORM=interpret, fused or unfused for one
#   make conformance MATCH=Conv          cases whose name has this
#
# Prints the passes of each class and the mean over operators. Needs Python with NumPy and ml_dtypes (PYTHON=…).
cd "$(dirname "$0")/conformance" || exit 1
BIN=${BIN:-../../build/bin}
PYTHON=${PYTHON:-python3}
work=${CASES:-$BIN/../conformance}
if [ ! -e "$work/manifest.json" ]; then
	sha256sum --quiet -c SHA256SUMS && mkdir -p "$work" && tar -C "$work" -xf open-cases.tar.xz || exit 1
fi
"$PYTHON" -c 'import numpy, ml_dtypes' || exit 1

trace="$BIN/trace {model} --shapes-from {inputs}"
run="$BIN/run -o {out} --numbered"
declare -A forms=(
	[interpret]="$trace | $run --interpret {inputs}"
	[fused]="$trace | $BIN/fuse | $run {inputs}"
	[unfused]="$trace | $BIN/schedule | $run {inputs}"
)
status=0
for form in ${FORM:-interpret fused unfused}; do
	echo "== $form"
	"$PYTHON" run_conformance.py --suite "$work" -j "$(nproc)" --timeout 20 --quiet --match "${MATCH:-}" \
		--min-pass "${MIN:--1}" --json "$work/$form.json" --cmd "${forms[$form]}" || status=1
	"$PYTHON" - "$work/$form.json" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		ops = [c.get("pass", 0) / sum(c.values()) for c in r["per_op"].values()]
		print(f"mean over {len(ops)} operators: {100 * sum(ops) / max(1, len(ops)):.1f}%")
		for x in r["results"]:
		    if x["status"] == "fail":
		        print(f"  {x['id']}: {x['reason']} {x['detail'].splitlines()[-1] if x['detail'] else ''}"[:200])
	END
done
exit $status
