#!/usr/bin/env bats
# Every command in the pages and the man pages does what they say, and their tables are complete.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir path
	ln -s "$BIN/sluice" path/sluice
	ln -s "$ROOT/pipelines" pipelines
	export SLUICE_BIN=$BIN
	PATH=$BATS_TEST_TMPDIR/path:$PATH
}

# Extracts the blocks of a Markdown file: in ```console, text after "$ " is a command and the lines
# after it are its output; ```text NAME is a file, and ```LANGUAGE NAME HOW is a file that is `new`,
# gets the text `at the end` or `before` the first line with a word, or must already have each of its
# lines (`there`).
readme_blocks() {
	awk '
		function insert(file, word, text,    line, all) {
			while ((getline line < file) > 0) {
				if (word && index(line, word)) { all = all text; word = "" }
				all = all line "\n"
			}
			close(file)
			printf "%s", all > file
			close(file)
			if (word) { print file " has no " word; bad = 1 }
		}
		/^```[a-z]+ .* before [^ ]+$/ { file = $2; before = $4; text = ""; next }
		before && /^```/ { insert(file, before, text); file = before = ""; next }
		before { text = text $0 "\n"; next }
		/^```[a-z]+ .* there$/ { want = $2; next }
		want && !/^```/ {
			found = 0
			while ((getline line < want) > 0) if (line == $0) found = 1
			close(want)
			if (!found) { print want " has no line " $0; bad = 1 }
			next
		}
		/^```[a-z]+ .* at the end$/ { file = $2; add = 1; next }
		/^```(text [^ ]+|[a-z]+ .* new)$/ { file = $2; add = 0; next }
		/^```console/ { console = 1; next }
		/^```/ { file = ""; want = ""; console = 0; next }
		file && add { print >> file; next }
		file { print > file; next }
		console && /^\$ / { n++; sub(/^\$ /, ""); print > (n ".cmd"); printf "" > (n ".want"); next }
		console { print > (n ".want") }
		END { exit bad }
	' "$1"
}

# same_text WANT GOT: compares word by word; f32 numbers may differ by two units in the last place,
# as between processors with and without fused multiply-add
same_text() {
	awk '
		function words(line) { gsub(/[][,]/, " & ", line); return line }
		FNR == NR { want[++n] = words($0); next }
		{
			k = split(words($0), a); if (k != split(want[++m], b)) exit bad = 1
			for (i = 1; i <= k; i++) {
				number = a[i] ~ /^-?[0-9.]+([eE][-+]?[0-9]+)?$/ && a[i] ~ /[.]/
				near = number && (a[i] - b[i]) ^ 2 <= (a[i] / 2 ^ 22) ^ 2
				if (a[i] != b[i] && !near) exit bad = 1
			}
		}
		END { exit bad || n != m }' "$1" "$2"
}

# prints_what_it_shows PAGE COMMANDS FILE: it has at least that many commands, and that file
prints_what_it_shows() {
	local cmd
	readme_blocks "$ROOT/$1" || return 1
	[ -f "$2.cmd" ]
	[ -f "$3" ]
	for cmd in $(ls *.cmd | sort -n); do
		bash -o pipefail -c "$(cat "$cmd")" > got 2> err < /dev/null || { cat "$cmd" err; return 1; }
		same_text "${cmd%.cmd}.want" got || { echo "differs: $(cat "$cmd")"; cat got; return 1; }
	done
}

@test "README: every command prints what it shows" { prints_what_it_shows README.md 6 mlp.t; }
@test "trace/README.md: every command prints what it shows" { prints_what_it_shows trace/README.md 3 line.t; }
@test "render/README.md: every command prints what it shows" { prints_what_it_shows render/README.md 4 hypot.t; }

@test "RECIPES.md: every example does what it shows, in a copy of the tree" {
	sanitized && skip "it builds without"
	mkdir tree
	tar -C "$ROOT" -c --format=posix --exclude=./.git --exclude=./build/{venv,models,san} . | tar -x -C tree
	cd tree
	unset MAKEFLAGS MAKELEVEL
	CFLAGS=-O0 BIN=$PWD/build/bin prints_what_it_shows RECIPES.md 12 schedule/reciprocal.c
}

samples() {
	sed -n '/^# scores.t/,/^```/p' "$ROOT/trace/README.md" | sed '/^```/d' > scores.t
	sed -n '/^# a line through/,/^```/p' "$ROOT/trace/README.md" | sed '/^```/d' > line.t
	sed -n '/^# a chain of springs/,/^```/p' "$ROOT/trace/README.md" | sed '/^```/d' > chain.t
	sed -n '/^\/\* Where a satellite/,/^```/p' "$ROOT/trace/README.md" | sed '/^```/d' > orbit.c
	sluice trace scores.t > scores.mp
	echo 'output x = f32(arange(28)).reshape(7, 4) / 10' > x.t
	sluice trace x.t | sluice run -o .
	[ -s scores.mp ]
	[ -s x.npy ]
}

@test "man pages: every example runs, every page is whole" {
	samples
	count=0
	for page in "$ROOT"/*/*.man "$ROOT"/*/*/*.man; do
		tool=$(basename "$page" .man)
		sh "$ROOT/common/process/man.sh" "$BIN" "$tool" > "$tool.1"
		grep -q '^.SH OPTIONS' "$tool.1"
		sed '1,/^EXAMPLES$/d' "$page" | sed -n 's/^    //p' > examples
		[ -s examples ] || { echo "$page has no example"; return 1; }
		while read -r line; do
			count=$((count + 1))
			bash -o pipefail -c "$line" > out 2> err < /dev/null || { echo "$page: $line"; cat err; return 1; }
		done < examples
	done
	[ "$count" -ge 30 ]
}

@test "every tool has a man page" {
	for t in "$BIN"/*; do
		[ -n "$(ls "$ROOT"/*/"${t##*/}.man" "$ROOT"/*/*/"${t##*/}.man" 2> /dev/null)" ] || { echo "$t"; return 1; }
	done
}

@test "the README names every folder, tool and pipeline" {
	local name missing=0
	for name in $(cd "$ROOT" && ls -d */ | grep -v build); do grep -q "^| \`$name\`" "$ROOT/README.md" || { echo "no $name"; missing=1; }; done
	for name in $(cd "$BIN" && ls); do
		case $name in render-*) continue ;; esac
		grep -qE "^\| .*\`$name[ \`].* \|" "$ROOT/README.md" || { echo "no tool $name"; missing=1; }
	done
	for name in $(cd "$ROOT/pipelines" && ls ./*.sh); do
		[ "$name" = ./tools.sh ] || grep -qF "\`${name#./}\`" "$ROOT/README.md" || { echo "no pipeline $name"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "no condition of a test is where it cannot fail: after a ! or before an &&" {
	cd "$TESTS"
	grep -E '^\s*(! |(\[|\[\[|grep|cmp|ok|not) .* && (\[|\[\[|grep|cmp|ok|not) )' ./*.bats helpers.bash |
		not grep -vE ' \|\|( |$)|&& return$|&&$'
}

# rows README HEADING: the first column of the first table of passes after the heading
rows() { awk -v under="$2" '$0 ~ under { on = 1 } on && /^\| pass / { table = 1; next } table && !/^\|/ { exit } table' "$ROOT/$1"; }

@test "tables of passes are complete and in order" {
	local tool readme heading count=0
	while read -r tool readme heading; do
		"$BIN/$tool" --help | sed -n '/^passes/,/^$/ s/^  [* ] \([a-z]*\) .*/\1/p' > passes
		rows "$readme" "$heading" | sed -n 's/^| `\([a-z]*\)` .*/\1/p' > table
		command -p diff passes table || { echo "^ $tool"; return 1; }
		count=$((count + $(wc -l < passes)))
	done <<-'END'
		schedule schedule/README.md .
		fuse fuse/README.md ^##.Passes
		layout render/README.md ^##.layout
		lower render/README.md ^##.lower
	END
	[ "$count" -gt 30 ]
}

@test "files and functions that a page names exist" {
	python3 "$TESTS/pages.py" "$ROOT"
}

@test "a file or function that a page names and that is not there is found" {
	mkdir -p tree/common
	echo 'int one_two(void) { return 1; }' > tree/common/a.c
	printf '%s\n' '`a.c` `common/a.c` `X.c` `one_two` `one_two()` `one_two(void)`' > tree/right.md
	printf '%s\n' '`b.c` `fuse/a.c` `one()` `two_one(x)` `one_tow`' > tree/wrong.md
	not python3 "$TESTS/pages.py" tree > found
	command -p diff found - <<-'END'
		wrong.md: there is no file b.c
		wrong.md: there is no file fuse/a.c
		wrong.md: there is no function one()
		wrong.md: there is no name in the sources one_tow
		wrong.md: there is no function two_one(x)
	END
}

@test "ARCHITECTURE.md has every level and room, and its picture is drawn from its source" {
	local word missing=0
	cd "$ROOT"
	for word in $(sed -n 's/^LEVEL([A-Z]*, *"\([a-z]*\)".*/\1/p' common/graph/levels.def); do
		grep -q "^| \`$word\` |" ARCHITECTURE.md || { echo "no level $word"; missing=1; }
	done
	for word in */*/README.md; do
		case $word in tests/*) continue ;; esac
		grep -q "^| .*\`$(basename "${word%/README.md}")\`" ARCHITECTURE.md || { echo "no room ${word%/README.md}"; missing=1; }
	done
	texts() { grep -o '>[^<>]*</text>' | sort; }
	command -p diff <(texts < docs/architecture.svg) <(dot -Tsvg docs/architecture.dot | texts) || missing=1
	[ "$missing" = 0 ]
}

@test "GLOSSARY.md is in order and has each word once" {
	sed -n 's/^| \([^|]*\) |.*/\1/p' "$ROOT/GLOSSARY.md" | tail -n +2 > words
	[ "$(wc -l < words)" -gt 80 ]
	LC_ALL=C sort -uc words
}

@test "tests/README.md names every test" {
	local file missing=0
	cd "$TESTS"
	for file in *.bats; do grep -q "\`$file\`" README.md || { echo "no $file"; missing=1; }; done
	[ "$missing" = 0 ]
}

@test "common/README.md has every op, render/README.md every action and every field of a target" {
	local word missing=0
	for word in $(sed -n 's/^OP(\([A-Z0-9_]*\),.*/\1/p' "$ROOT/common/graph/ops.def"); do
		grep -qE "^[^\"]*[\` ]$word[\` ]" "$ROOT/common/README.md" || { echo "no op $word"; missing=1; }
	done
	for word in $(sed -nE 's/^(ACTION|REWRITE|WORD|SCHEDULE)\(([a-z_]+),.*/\2/p' "$ROOT/render/actions/actions.def"); do
		grep -q "^| \`\[\"$word\"" "$ROOT/render/README.md" || { echo "no action $word"; missing=1; }
	done
	for word in $(tool render-clang --describe | sed 's/:.*//'); do
		grep -qE "^\| .*\`$word\`.* \|" "$ROOT/render/README.md" || { echo "no field $word"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "options named in a page are options of a tool" {
	local page option missing=0
	for t in "$BIN"/*; do "$t" --help; done | grep -oE -- '--[a-z][a-z-]*' | sort -u > options
	for page in "$ROOT"/README.md "$ROOT"/[a-s]*/README.md "$ROOT"/trace/README.md "$ROOT"/*/*.man "$ROOT"/*/*/*.man; do
		for option in $(grep -oE -- '(^|[^-a-zA-Z=])--[a-z][a-z-]*' "$page" | grep -oE -- '--[a-z-]+' | sort -u); do
			grep -qxF -- "$option" options || { echo "$page: $option"; missing=1; }
		done
	done
	[ "$missing" = 0 ]
}
