#!/usr/bin/env bats
# Every command in the README, the man pages, trace/README.md and render/README.md does what they say, and their tables have
# what there is.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir path
	ln -s "$BIN/sluice" path/sluice
	ln -s "$ROOT/pipelines" pipelines
	export SLUICE_BIN=$BIN
	PATH=$BATS_TEST_TMPDIR/path:$PATH
}

# The blocks of a Markdown file: ```text NAME is a file, in ```console a line after "$ " is a command and what follows its output.
readme_blocks() {
	awk '
		/^```text / { file = $2; next }
		/^```console/ { console = 1; next }
		/^```/ { file = ""; console = 0; next }
		file { print > file; next }
		console && /^\$ / { n++; sub(/^\$ /, ""); print > (n ".cmd"); printf "" > (n ".want"); next }
		console { print > (n ".want") }
	' "$1"
}

# same_text WANT GOT: word by word; f32 numbers may differ by two units in the last place, as processors with and
# without fused products do
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

# prints_what_it_shows README COMMANDS FILE: it has that many commands at least, and that file
prints_what_it_shows() {
	local cmd
	readme_blocks "$ROOT/$1"
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

@test "no condition of a test stands where it cannot fail: behind a ! or before an &&" {
	cd "$TESTS"
	grep -E '^\s*(! |(\[|\[\[|grep|cmp|ok|not) .* && (\[|\[\[|grep|cmp|ok|not) )' ./*.bats helpers.bash |
		not grep -vE ' \|\|( |$)|&& return$|&&$'
}

# rows README HEADING: the first column of the first table below it that has passes
rows() { awk -v under="$2" '$0 ~ under { on = 1 } on && /^\| pass / { table = 1; next } table && !/^\|/ { exit } table' "$ROOT/$1"; }

@test "tables of passes have each, in order" {
	local tool readme heading count=0
	while read -r tool readme heading; do
		"$BIN/$tool" --help | sed -n '/^passes/,$ s/^  [* ] \([a-z]*\) .*/\1/p' > passes
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

@test "files that a README names are there, and run's and trace's are all named" {
	local readme name file folder missing=0
	cd "$ROOT"
	find . -path ./build -prune -o -type f -printf '%f\n' > "$BATS_TEST_TMPDIR/there"
	for readme in README.md */README.md; do
		for name in $(grep -oE '`[a-z0-9_/.-]+\.(c|h|hpp|def|rules|sh|py|bats)`' "$readme" | tr -d '`' | sort -u); do
			case $name in _* | math.h) continue ;; esac
			grep -qxF -- "${name##*/}" "$BATS_TEST_TMPDIR/there" || { echo "$readme: there is no $name"; missing=1; }
		done
	done
	for folder in run trace; do
		grep -oE '`[a-z0-9_*]+\.c`' $folder/README.md | tr -d '`' | sort -u > "$BATS_TEST_TMPDIR/named"
		for file in $folder/*.c; do
			while read -r name; do [[ ${file##*/} != $name ]] || continue 2; done < "$BATS_TEST_TMPDIR/named"
			echo "$folder/README.md has no ${file##*/}"
			missing=1
		done
	done
	for file in tests/*.bats; do grep -q "\`${file##*/}\`" tests/README.md || { echo "tests/README.md has no $file"; missing=1; }; done
	[ "$missing" = 0 ]
}

@test "common/README.md has every op, render/README.md every action and every field of a target" {
	local word missing=0
	for word in $(sed -n 's/^OP(\([A-Z0-9_]*\),.*/\1/p' "$ROOT/common/graph/ops.def"); do
		grep -qE "^[^\"]*[\` ]$word[\` ]" "$ROOT/common/README.md" || { echo "no op $word"; missing=1; }
	done
	for word in $(sed -n '/} actions\[\]/,/^};/p' "$ROOT/render/actions/plan.c" | grep -oE '\{"[a-z]+"' | tr -d '{"'); do
		grep -q "^| \`\[\"$word\"" "$ROOT/render/README.md" || { echo "no action $word"; missing=1; }
	done
	for word in $(tool render-clang --describe | sed 's/:.*//'); do
		grep -qE "^\| .*\`$word\`.* \|" "$ROOT/render/README.md" || { echo "no field $word"; missing=1; }
	done
	[ "$missing" = 0 ]
}

@test "options that a page names are options of a tool" {
	local page option missing=0
	for t in "$BIN"/*; do "$t" --help; done | grep -oE -- '--[a-z][a-z-]*' | sort -u > options
	for page in "$ROOT"/README.md "$ROOT"/[a-s]*/README.md "$ROOT"/trace/README.md "$ROOT"/*/*.man "$ROOT"/*/*/*.man; do
		for option in $(grep -oE -- '(^|[^-a-zA-Z=])--[a-z][a-z-]*' "$page" | grep -oE -- '--[a-z-]+' | sort -u); do
			grep -qxF -- "$option" options || { echo "$page: $option"; missing=1; }
		done
	done
	[ "$missing" = 0 ]
}
