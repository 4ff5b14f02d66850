#!/usr/bin/env bash
# Rewrites the expected texts in golden/ from the output of the tools. Look at the difference before
# committing it.
BATS_RUN_TMPDIR=${TMPDIR:-/tmp}
. "$(dirname "$0")/helpers.bash"
. "$TESTS/golden.sh"
for name in $(golden_names); do
	for suffix in $SUFFIXES; do
		[ -f "$GOLDEN/$name.$suffix" ] || continue
		golden_make "$name" "$suffix" > "$GOLDEN/.new" ||
			{ echo "rebase: $name.$suffix: a tool failed" >&2; exit 1; }
		cmp -s "$GOLDEN/.new" "$GOLDEN/$name.$suffix" && continue
		cat "$GOLDEN/.new" > "$GOLDEN/$name.$suffix"
		echo "$name.$suffix"
	done
done
rm -f "$GOLDEN/.new"
