#!/usr/bin/env bats
# Hidden state: every mutable variable at file scope is in state.txt, with its reason, or declared
# ARENA.
load helpers

# prints "FILE VARIABLE" for each; a variable within a function has the compiler's number after its
# name, or the function's name before it
mutable() {
	cd "$BATS_TEST_DIRNAME/.." || return
	find . \( -path ./common/tools/box.c -o -path ./build -o -path ./tests -o -path ./pipelines \) -prune -o -name '*.c' -print | sed 's/c$/o/' |
		(cd "$(dirname "$BIN")" && xargs nm -A -f sysv) | awk -F'|' '
			$4 ~ /OBJECT|TLS/ && $NF ~ /^(\.t?(bss|data)|COM|\*COM)/ && $NF !~ /rel\.ro/ {
				split($1, part, ":")
				file = substr(part[1], 3)
				name = part[2]
				gsub(/ /, "", name)
				sub(/\.[0-9]+$/, "", name)
				sub(/.*\./, "", name)
				sub(/o$/, "c", file)
				if (name !~ /^__/)
					print file, name
			}' | sort -u
}

@test "each variable at file scope has a reason, or the lifetime of the document" {
	mutable >"$BATS_TEST_TMPDIR/found"
	sed '/^#/d; /^$/d' "$BATS_TEST_DIRNAME/state.txt" | awk '{print $1, $2}' | sort >"$BATS_TEST_TMPDIR/known"
	grep -q 'die.c process$' "$BATS_TEST_TMPDIR/found"
	comm -23 "$BATS_TEST_TMPDIR/found" "$BATS_TEST_TMPDIR/known" | while read -r file name; do
		echo "$file: $name may change and is at file scope: pass it along in a struct, declare it ARENA if it lives" \
			"as long as the document (common/base/arena.c), or add it to tests/state.txt with its reason"
	done >"$BATS_TEST_TMPDIR/new"
	comm -13 "$BATS_TEST_TMPDIR/found" "$BATS_TEST_TMPDIR/known" |
		sed 's/$/: tests\/state.txt has it, the program no more/' >>"$BATS_TEST_TMPDIR/new"
	cat "$BATS_TEST_TMPDIR/new"
	[ ! -s "$BATS_TEST_TMPDIR/new" ]
}
