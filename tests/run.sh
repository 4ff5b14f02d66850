#!/usr/bin/env bash
# Runs the test files (all of tests/*.bats, or those named) and ends with "N passed, N failed".
cd "$(dirname "$0")" || exit 1
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(*.bats)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
jobs=()
command -v parallel >/dev/null && jobs=(--jobs "$(nproc)")
bats "${jobs[@]}" --tap "${files[@]}" | tee "$log" | grep -v '^ok '
passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^not ok ' "$log")
skipped=$(grep -c '^ok .*# skip' "$log")
passed=$((passed - skipped))
# a file that does not load reports nothing of its own
planned=$(sed -n 's/^1\.\.//p' "$log" | head -n 1)
lost=$((${planned:-0} - passed - skipped - failed))
[ "$lost" -gt 0 ] && failed=$((failed + lost))
[ "${planned:-0}" -gt 0 ] || failed=$((failed + 1))
[ "$skipped" -gt 0 ] && echo "skipped: $skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
