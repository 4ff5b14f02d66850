#!/usr/bin/env bats
# The rooms of the tree: what each may include, its size, and a complete README (rooms.py). To add a
# kind of fault, add a `finds` to the second test.

load helpers

@test "each room includes only what it may, and its README names its files" {
	python3 "$TESTS/rooms.py" "$ROOT"
}

# finds FAULT COMMAND: runs the command in a copy of the sources; rooms.py must report the fault
finds() {
	rm -rf tried
	cp -r "$BATS_TEST_TMPDIR/sources" tried
	(cd tried && eval "$2")
	not python3 "$TESTS/rooms.py" tried > found
	grep -qE "$1" found || { echo "not found: $1"; cat found; return 1; }
}

@test "each kind of fault is found" {
	mkdir "$BATS_TEST_TMPDIR/sources"
	(cd "$ROOT" && cp -r common trace schedule fuse render run pack "$BATS_TEST_TMPDIR/sources")
	cd "$BATS_TEST_TMPDIR"
	python3 "$TESTS/rooms.py" sources
	finds '^common/graph/walk.c:1: common/graph may not use common/io$' \
		'sed -i "1i #include \"io/io.h\"" common/graph/walk.c'
	finds '^run/run.c:1: run may not use trace/text$' \
		'sed -i "1i #include \"../trace/text/text.h\"" run/run.c'
	finds '^fuse/cost.c:1: common/shape/infer.h is no door of common/shape$' \
		'sed -i "1i #include \"shape/infer.h\"" fuse/cost.c'
	finds '^common/graph: may use itself' \
		'sed -i "s/^- May use: .*/- May use: \`common\/shape\`/" common/graph/README.md'
	finds '^run/exec/README.md: is used by fuse' \
		'sed -i "s/^- May use: /&\`run\/exec\`, /" fuse/README.md'
	finds '^common/io/README.md: there is no line `- May use' \
		'sed -i "/^- May use/d" common/io/README.md'
	finds '^common/io/README.md: the door oi.h is not there' \
		'sed -i "s/^- Doors: .*/- Doors: \`oi.h\`/" common/io/README.md'
	finds '^run/host/pool.c:1: over 100 columns$' \
		'sed -i "1i /* $(printf %096d 0) */" run/host/pool.c'
	finds '^run/host: 3[0-9] .c and .h files' \
		'for i in {1..30}; do touch run/host/file$i.c; done'
	finds '^fuse/fuse.h: [0-9]+ lines' \
		'yes "" | head -n 300 >> fuse/fuse.h'
	finds '^common/io: there is no README.md' \
		'rm common/io/README.md'
	finds '^common/io/README.md: does not name more.c' \
		'touch common/io/more.c'
	finds '^common/io/README.md: there is no file wire.c here' \
		'rm common/io/wire.c'
}
