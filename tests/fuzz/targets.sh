#!/usr/bin/env bash
# targets.sh BIN FUZZERS WORK SECONDS [TARGET…]: runs libFuzzer on each target for so long, from WORK/corpus/TARGET, which
# grows, or the generator of that name.  A line a target: executions, edges covered; what breaks is in WORK/found, and the
# status is 1.  SEED=1 makes it the same each time (with RUNS=n, so many executions at most).
set -u
bin=$1 fuzzers=$(cd "$2" && pwd) work=$3 seconds=$4
shift 4
mkdir -p "$work/found"
work=$(cd "$work" && pwd)
[ -d "$work/corpus" ] || bash "$(dirname "$0")/seeds.sh" "$bin" "$work/corpus"
export SLUICE_PATH=$bin ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
failed=0

# what a reader that dies leaves is lost: fewer executions a process for a target that leaves much
most() {
	case $1 in
	stream) echo "${RUNS:-60000}" ;;
	rules) echo "${RUNS:-200000}" ;;
	*) echo "${RUNS:--1}" ;;
	esac
}

fuzz() {
	local target=$1 log=$work/found/$1.log status=0
	(cd "$work/found" && "$fuzzers/$target" -max_total_time="$seconds" -runs="$(most "$target")" -seed="${SEED:-0}" \
		-max_len=4096 -timeout=60 -rss_limit_mb=4000 -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$target-" \
		"$work/corpus/$target" > "$log" 2>&1) || status=$?
	printf '%-14s %9d executions %6d edges%s\n' "$2" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
		"$(grep -a '^#.* cov: ' "$log" | tail -n 1 | sed 's/.* cov: \([0-9]*\).*/\1/')" \
		"$([ $status = 0 ] || echo "; stopped: $(grep -aE 'runtime error|does not hold|^SUMMARY' "$log" | head -n 1)")"
	[ $status = 0 ] || failed=1
}

# a generator, with what it needs besides; ONNX models need the tests' Python
generate() {
	local here python=python3 venv more=(--found "$work/found")
	here=$(cd "$(dirname "$0")" && pwd)
	venv=$here/../../build/venv/bin/python
	[ ! -x "$venv" ] || python=$venv
	case $1 in
	documents) more+=(--mutate "$fuzzers/mutate" --seeds "$work/corpus/document") ;;
	faults) more=(--cc cc) ;;
	onnx_models)
		"$python" -c 'import onnx, onnxruntime' 2> /dev/null || { echo "onnx_models    skipped: no ONNX Runtime"; return 0; } ;;
	esac
	"$python" -W ignore "$here/$1.py" --bin "$bin" --seconds "$seconds" ${SEED:+--seed "$SEED"} "${more[@]}" || failed=1
}

for target; do
	case $target in
	documents | graphs | faults | onnx_models) generate "$target" ;;
	lower)
		seconds=$((seconds / 2))
		FUZZ_TARGET=clang fuzz lower "lower clang"
		FUZZ_TARGET=opencl fuzz lower "lower opencl"
		seconds=$((seconds * 2)) ;;
	*) fuzz "$target" "$target" ;;
	esac
done
exit $failed
