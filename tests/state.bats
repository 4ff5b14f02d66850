#!/usr/bin/env bats
# Hidden state: every variable at file scope that may change is in state.txt, with its reason, or declared ARENA.
load helpers

# "FILE.c VARIABLE" of each, from the libraries' objects and those of the tools' own files; a variable within a function
# has the compiler's number behind it, or the function's name before it.
mutable() {
	local build tool
	build=$(dirname "$BIN")
	{
		nm -A -f sysv "$build"/lib*.a
		for tool in "$BIN"/*; do
			find "$build" -path "$build/san" -prune -o -name "${tool##*/}.o" -exec nm -A -f sysv {} +
		done
	} 2>/dev/null | awk -F'|' '
		$4 ~ /OBJECT|TLS/ && $NF ~ /^(\.t?(bss|data)|COM|\*COM)/ && $NF !~ /rel\.ro/ {
			n = split($1, part, ":")
			name = part[n]
			file = part[n - 1]
			gsub(/ /, "", name)
			sub(/\.[0-9]+$/, "", name)
			sub(/.*\./, "", name)
			sub(/.*\//, "", file)
			sub(/\.o$/, ".c", file)
			if (name !~ /^__/ && file !~ /\.pb-c\.c$/)
				print file, name
		}' | sort -u
}

@test "a variable at file scope has its reason, or lives as long as the document" {
	mutable >"$BATS_TEST_TMPDIR/found"
	sed '/^#/d; /^$/d' "$BATS_TEST_DIRNAME/state.txt" | awk '{print $1, $2}' | sort >"$BATS_TEST_TMPDIR/known"
	grep -q '^die.c process$' "$BATS_TEST_TMPDIR/found"
	comm -23 "$BATS_TEST_TMPDIR/found" "$BATS_TEST_TMPDIR/known" | while read -r file name; do
		echo "$file: $name may change and is at file scope: pass it along in a struct, declare it ARENA if it lives" \
			"as long as the document (common/arena.c), or add it to tests/state.txt with its reason"
	done >"$BATS_TEST_TMPDIR/new"
	comm -13 "$BATS_TEST_TMPDIR/found" "$BATS_TEST_TMPDIR/known" |
		sed 's/$/: tests\/state.txt has it, the program no more/' >>"$BATS_TEST_TMPDIR/new"
	cat "$BATS_TEST_TMPDIR/new"
	[ ! -s "$BATS_TEST_TMPDIR/new" ]
}
