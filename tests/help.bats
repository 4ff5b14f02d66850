#!/usr/bin/env bats
# Finding out: help, versions, names that are nearly right, the functions and operators, the schema of
# documents, completion, and what `make install` leaves.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	export SLUICE_BIN=$BIN
}
tools() { (cd "$BIN" && printf '%s\n' *); }

@test "sluice help TOOL is its --help; every tool has --version" {
	for t in $(tools); do
		ok tool sluice help "$t"
		"$BIN/$t" --help | command -p diff - stdout
		ok "$BIN/$t" --version
		grep -qxE "$t \(Sluice\) [0-9.]+, documents of version 1" stdout
	done
	fails 2 tool sluice help fuse lower
}

# suggests NAME COMMAND…: status 2 or 4, and one line that asks for NAME
suggests() {
	capture "${@:2}"
	[[ $status == [24] ]] || { echo "$status: $errors"; return 1; }
	[[ $errors == *"did you mean '$1'?"* ]] || { echo "$errors"; return 1; }
	one_line stderr
}

@test "a name that is nearly right is asked for: tools, options, passes, functions, operators, levels" {
	suggests fuse tool sluice fsue
	suggests schedule tool sluice help shedule
	suggests --stop-after tool fuse --stop-affter close
	suggests --explain tool fuse --explian
	suggests produce tool fuse --skip prodcue
	suggests softmax tool functions sofmax
	suggests schedule tool schema schedul
	printf '%s\n' 'input x f32[3]' 'output y = sofmax(x)' > a.t
	suggests softmax tool trace a.t
	capture tool sluice zzzzzzzz
	not grep -q 'did you mean' stderr
}

@test "functions: a row for each of functions.def, one by name, parts of names, the ONNX operators" {
	ok tool functions
	[ "$(wc -l < stdout)" = "$(grep -c '^FN(' "$ROOT/trace/library/functions.def")" ]
	ok tool functions hypot
	[ "$output" = "hypot(x, y)                               sqrt(x*x + y*y) without overflow" ]
	ok tool functions conv
	[ "$(wc -l < stdout)" -ge 5 ]
	ok tool functions --onnx
	[ "$(wc -l < stdout)" -ge 200 ]
	ok tool functions Celu
	grep -q '^celu(' stdout
	grep -q '^Celu-12' stdout
}

@test "schema: JSON of every level, with the ops and args that verify takes" {
	ok tool schema
	python3 - <<-'END'
		import json
		d = json.load(open("stdout"))
		assert list(d["levels"]) == ["tensor", "graph", "schedule", "loops", "program"]
		assert d["dtypes"]["bf16"] == {"bytes": 2, "kind": "float"}
		ops = d["levels"]["graph"]["ops"]
		assert ops["ADD"]["commutes"] and ops["ADD"]["sources"] == [2, 2] and ops["ADD"]["infix"] == "+"
		assert ops["SINK"]["sources"][1] is None
		assert "LOAD" not in ops and "LOAD" in d["levels"]["loops"]["ops"]
		reduce = ops["REDUCE"]["arg"]["prefixItems"]
		assert reduce[0] == {"enum": ["ADD", "MUL", "MAX", "MIN"]}
		assert d["levels"]["schedule"]["ops"]["REGION"]["arg"]["anyOf"][1] == {"type": "null"}
		assert ops["BUFFER"]["arg"]["required"] == ["name", "shape", "role"]
	END
	for level in tensor graph schedule loops program; do
		ok tool schema $level
		python3 -c 'import json, sys; assert list(json.load(open("stdout"))["levels"]) == [sys.argv[1]]' $level
	done
	[ "$(grep -c '^"[A-Z_]*": {"class"' stdout)" -gt 5 ]
	fails 2 tool schema graph loops
}

@test "a stage in 15 lines of Python, made with the schema" {
	for python in "$ROOT/build/venv/bin/python" python3 /usr/bin/python3 ''; do
		"${python:-false}" -c 'import msgpack' 2> /dev/null && break
	done
	[ -n "$python" ] || skip "Python has no msgpack (Debian: python3-msgpack)"
	[ "$(sed -n '/^import/,$p' "$ROOT/pipelines/operands.py" | wc -l)" -le 15 ]
	printf '%s\n' 'input x f32[4]' 'input y f32[4]' 'output z = (x * y) + (y * x) * 3 - x / y' > a.t
	tool trace a.t > a.mp
	"$python" "$ROOT/pipelines/operands.py" < a.mp > b.mp
	[ "$(tool match 'MUL(x, y)' a.mp | wc -l)" = "$(tool match 'MUL(x, y)' b.mp | wc -l)" ]
	[ "$(tool simplify a.mp | tool match 'MUL(x, y)' | wc -l)" = 3 ]
	[ "$(tool simplify b.mp | tool match 'MUL(x, y)' | wc -l)" = 2 ]
	tool run --interpret a.mp x=rand y=1,2,3,4 > a.out
	tool run --interpret b.mp x=rand y=1,2,3,4 | cmp a.out
	tool schedule a.mp | "$python" "$ROOT/pipelines/operands.py" | tool run --interpret x=rand y=1,2,3,4 | cmp a.out
}

@test "every pipeline prints its first comment with --help" {
	for f in "$ROOT"/pipelines/*.sh; do
		[ "${f##*/}" != tools.sh ] || continue
		ok bash "$f" --help
		[ "$(wc -l < stdout)" -ge 2 ]
		not grep -q '^#' stdout
	done
	ok python3 "$ROOT/pipelines/operands.py" --help
}

@test "man pages name every variable of the environment that is read" {
	sh "$ROOT/common/process/man.sh" "$BIN" fuse > fuse.1
	sed -n '/^.SH ENVIRONMENT/,/^.SH "SEE/p' fuse.1 > environment
	for name in $(grep -rhoE 'getenv\("[A-Z_]+"\)' "$ROOT"/{common,trace,schedule,fuse,render,run,pack} --include=*.c |
		grep -oE '[A-Z_]{3,}' | sort -u); do
		grep -q "$name" environment || { echo "no $name"; return 1; }
	done
}

# completes WORD…: what bash offers for the last one
completes() {
	bash -c '. ./complete.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf "%s\n" "${COMPREPLY[@]}"' - "$@" > offered
}
offers() { grep -qxF -- "$1" offered || { cat offered; return 1; }; }

@test "completion in bash: tools, options, passes, targets, levels, functions, files" {
	sh "$ROOT/common/process/completion.sh" bash "$BIN" $(tools) > complete.bash
	completes sluice sched
	offers schedule
	for t in $(tools); do
		case $t in sluice | render-*) continue ;; esac
		completes sluice "$t" --
		"$BIN/$t" --help | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort > options
		grep -e -- offered | sort | command -p diff options -
	done
	completes sluice fuse --skip ""
	offers produce
	completes sluice lower -t cu
	offers cuda
	completes sluice schema gr
	offers graph
	completes sluice functions softm
	offers softmax
	completes sluice help fu
	offers fuse
	completes sluice run ""
	[ "$(cat offered)" = "" ]
}

@test "completion in zsh has the same words" {
	sh "$ROOT/common/process/completion.sh" zsh "$BIN" $(tools) > _sluice
	head -n 1 _sluice | grep -qx '#compdef sluice'
	command -v zsh > /dev/null || skip "no zsh"
	zsh -n _sluice
	# _sluice is called at its end: the words of the line, and what would offer them
	zsh -fc 'compadd() { shift; print -l -- $@ }; _files() { print files }
		words=(sluice fuse --skip ""); CURRENT=4; . ./_sluice' > offered
	offers produce
	zsh -fc 'compadd() { shift; print -l -- $@ }; _files() { print files }
		words=(sluice run ""); CURRENT=3; . ./_sluice' > offered
	offers files
}

@test "make install: under 6 MB, no debug symbols, every tool, pages, completion; make uninstall leaves nothing" {
	sanitized && skip "it builds without"
	make_it() { make -s -C "$ROOT" -o all B="${BIN%/bin}" PREFIX="$PWD/usr" "$@" > log 2>&1 || { cat log; return 1; }; }
	make_it install
	[ "$(du -sk usr | cut -f 1)" -lt 6144 ]
	not grep -q debug_info <(readelf -S usr/libexec/sluice/sluice)
	for t in $(tools); do
		ok usr/libexec/sluice/"$t" --version
		grep -q "^$t " stdout
		[ "$t" = sluice ] || [ -s "usr/share/man/man1/sluice-$t.1" ]
	done
	[ -s usr/share/bash-completion/completions/sluice ]
	[ -s usr/share/zsh/site-functions/_sluice ]
	# each stage is a process of its own, and one of the user's own takes its place
	printf '%s\n' 'input x f32[4]' 'output y = sin(x) * 2' > a.t
	env -u SLUICE_BIN usr/bin/sluice trace a.t | usr/bin/sluice fuse -v 2> said | usr/bin/sluice render -t clang |
		usr/bin/sluice run x=rand > out
	grep -q '/usr/libexec/sluice/schedule' said
	tool trace a.t | tool fuse | tool render -t clang | tool run x=rand | cmp out
	mkdir own
	printf '#!/bin/sh\nexit 77\n' > own/schedule
	chmod +x own/schedule
	usr/bin/sluice trace a.t > a.mp
	capture env SLUICE_PATH="$PWD/own" usr/bin/sluice fuse a.mp
	grep -q 'own/schedule failed' stderr
	touch usr/bin/other
	make_it uninstall
	[ "$(find usr -type f -o -type l)" = usr/bin/other ]
}
