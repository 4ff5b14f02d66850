#!/usr/bin/env bats
# bisect: which stage, pass, action, kernel and op changed a result. To add a fault: a stage on the
# stage path that has it (a script, or a case in bisect_stage.c), and the lines that bisect prints.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir stages
	printf 'input x f32[8, 16]\ninput w f32[16, 4]\ny = softmax(x @ w)\noutput y, top = max(y, axis=1)\n' > p.t
}

# stage NAME COMMAND: a stage of that name, a script; the true tool is $BIN/NAME
stage() {
	printf '#!/bin/bash\n%s\n' "$2" > "stages/$1"
	chmod +x "stages/$1"
	export SLUICE_PATH=$PWD/stages
}

# finds LINE… -- ARGUMENT…: bisect ends with 1 and prints each line (a pattern for grep)
finds() {
	local lines=()
	while [ "$1" != -- ]; do lines+=("$1"); shift; done
	capture tool bisect "${@:2}"
	[ "$status" = 1 ] || { echo "status $status"; echo "$output$errors"; return 1; }
	for line in "${lines[@]}"; do
		grep -qx -- "$line" <<< "$output" || { echo "no line: $line"; echo "$output"; return 1; }
	done
}

@test "a right program: every stage the same, status 0" {
	ok tool bisect p.t x=rand w=rand
	[ "$(grep -c ': the same$' <<< "$output")" = 7 ]
	ok tool bisect "$ROOT/pipelines/digits.t"
	printf 'input x f32[n, 64] where n in 1..9\ninput m f32[64]\noutput y = softmax(x * 40 + where(m < 0.5, -1e9, 0)), h = sum(cast(x, f16))\n' > q.t
	ok tool bisect q.t x=rand m=rand n=5
	ok tool bisect -t cuda p.t x=rand w=rand
	grep -Eqx 'run: (the same|not tried: .*)' <<< "$output"
}

@test "a document of any level" {
	tool trace p.t | tee graph.mp | tool fuse | tee fuse.mp | tool lower | tee lower.mp | tool render > render.mp
	for level in graph fuse lower render; do
		ok tool bisect $level.mp x=rand w=rand
		[ "$(tail -n 1 <<< "$output")" = 'run: the same' ]
	done
}

@test "a kernel and op of fuse" {
	stage fuse '"$BIN/fuse" "$@" | "$BIN/rewrite" --once -e "EXP2(x) -> EXP2(x) + x * x"'
	finds 'schedule: the same' 'fuse: changed the result: y: .*' '  kernel: K1 r_8_4' '  op: MUL f32 (p.t:3, y)' \
		-- p.t x=rand w=rand
}

@test "layout" {
	stage layout '"$BIN/layout" "$@" | "$BIN/rewrite" --once -e "EXP2(x) -> EXP2(x) + x * x"'
	finds 'fuse: the same' 'layout: changed the result: .*' '  kernel: K[0-9]* r_.*' -- p.t x=rand w=rand
}

@test "an op of a graph" {
	stage simplify '"$BIN/simplify" "$@" | "$BIN/rewrite" --once -e "EXP2(x) -> EXP2(x * 3)"'
	finds 'simplify: changed the result: .*' '  op: MUL f32.*' -- p.t x=rand w=rand
}

@test "right values in wrong places" {
	printf 'input x f32[8]\noutput y = where(x < 0.5, exp(x), x + 3), z = exp(x), u = x + 3\n' > s.t
	stage fuse '"$BIN/fuse" "$@" | "$BIN/rewrite" --once -e "WHERE(c, x, y) -> WHERE(c, y, x)"'
	finds 'fuse: changed the result: y: .*' '  op: an INDEX or a WHERE: .*' -- s.t x=rand
}

@test "a call that read wrong values is not to blame" {
	printf 'input x f32[9]\noutput y = (minimum(x, 0.5) * 2) / (x * x + 1)\n' > s.t
	stage schedule '"$BIN/schedule" "$@" | "$BIN/rewrite" -e "MIN(x, y) -> WHERE(y < x, x, y)"'
	finds 'schedule: changed the result: y: .*' '  kernel: K0 E_9' '  op: an INDEX or a WHERE: .*' -- s.t x=rand
	stage schedule '"$BIN/schedule" "$@" | "$BIN/rewrite" -e "ADD:f32(x, 1.0) -> x"'
	finds 'schedule: changed the result: y: .*' '  kernel: K3 E_9n3' -- s.t x=rand
}

@test "a wrong constant below the tolerance of nothing else" {
	printf 'input x f32[64]\noutput y = sin(x) * 3\n' > s.t
	stage fuse '"$BIN/fuse" "$@" | "$BIN/rewrite" --once -e "SIN(x) -> SIN(x) + 0.00001"'
	finds 'fuse: changed the result: .*' '  op: ADD f32.*' -- s.t x=rand
	ok tool bisect s.t x=rand --rtol 0.01 --atol 0.001
}

@test "a pass, of a stage of the user's own" {
	build bisect_stage
	mv bisect_stage stages/wrong
	export SLUICE_PATH=$PWD/stages
	ok tool bisect p.t x=rand w=rand --stages 'schedule | fuse | wrong | lower | render | run'
	finds 'wrong: changed the result: .*' '  pass: second' '  kernel: K1 r_8_4' '  op: ADD f32 (p.t:3, y)' \
		-- p.t x=rand w=rand --stages 'fuse | wrong --fault add | lower | run'
}

@test "a crash and a hang, of a stage and of its pass" {
	build bisect_stage
	mv bisect_stage stages/wrong
	export SLUICE_PATH=$PWD/stages XDG_STATE_HOME=$PWD/state ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0
	finds 'wrong: killed by SIGSEGV' '  pass: second' "  again: $PWD/state/sluice/crash/wrong-.*.sh" \
		-- p.t x=rand w=rand --stages 'fuse | wrong --fault crash | lower'
	status=0
	sh "$PWD"/state/sluice/crash/wrong-*.sh > /dev/null 2>&1 || status=$?
	[ "$status" = 139 ]
	finds 'wrong: did not end within 1 s' '  pass: second' -- p.t x=rand w=rand --time 1 --stages 'fuse | wrong --fault hang'
	stage fuse 'kill -ABRT $$'
	finds 'fuse: killed by SIGABRT' -- p.t x=rand w=rand
	stage fuse 'exit 99'
	finds 'fuse: ended with status 99' -- p.t x=rand w=rand
}

@test "a stage that crashes below another tool: the script that runs it again" {
	export XDG_STATE_HOME=$PWD/state
	tool trace p.t > p.mp
	stage fuse 'cat > /dev/null; kill -SEGV $$'
	fails 1 tool lower p.mp
	[[ $errors =~ ^"lower: $PWD/stages/fuse was killed by SIGSEGV: $PWD/state/sluice/crash/schedule-"[0-9a-f]*".sh runs it again"$ ]]
	status=0
	sh state/sluice/crash/schedule-*.sh || status=$?
	[ "$status" = 139 ]
	for i in {1..20}; do
		printf 'input x f32[%d]\noutput y = x + 1\n' $i > q.t
		tool trace q.t > q.mp
		fails 1 tool lower q.mp
	done
	[ "$(ls state/sluice/crash | wc -l)" -le 32 ]
	# what a stage wrote and the next refuses
	stage fuse '"$BIN/fuse" "$@" | head -c 100'
	fails 4 tool run p.mp x=rand w=rand
	grep -q '^lower: .* (written by .*/fuse; .*/schedule-.*.sh runs it again)$' <<< "$errors"
}

@test "a stage that writes what no other takes" {
	stage fuse '"$BIN/fuse" "$@" | head -c 100'
	finds 'fuse: wrote what cannot be run: run ended with status 4: .*' -- p.t x=rand w=rand
}

@test "an action" {
	printf 'input x f32[64, 64]\nt = relu(x * 2)\noutput y = max(x, axis=1) * sum(t)\n' > a.t
	stage lower '"$BIN/lower" "$@" > lowered.mp || exit
		if "$BIN/show" lowered.mp | grep -q "\"partial\""; then
			"$BIN/rewrite" --once -e "MAX(x, y) -> MIN(x, y)" lowered.mp
		else
			cat lowered.mp
		fi'
	finds 'lower: changed the result: .*' '  action: partial [0-9]*' '  kernel: K0 r_.*' -- a.t x=rand
}

@test "the C compiler: the kernel for which it is wrong" {
	printf '#!/bin/bash\nsed "s/fmaxf(/fminf(/g; s/0\\.5f/0.25f/g; s/0\\.69/0.79/g" | exec %s "$@"\n' "${CC:-cc}" > badcc
	chmod +x badcc
	printf 'input x f32[6, 64]\noutput y = cumsum(x, axis=1), z = sum(x) * 0.5\n' > c.t
	finds 'render: the same' 'run: compiled, the result is another: .*' '  kernel: K[0-9]* .*' \
		-- c.t x=rand --stages "fuse | lower | render | run --cc $PWD/badcc"
	kernel=$(sed -n 's/^  kernel: K[0-9]* //p' <<< "$output")
	tool trace c.t | tool fuse | tool show | grep "KERNEL.*\"$kernel\".*\"z\""
}

@test "prove is the judge" {
	stage fuse '"$BIN/fuse" "$@" | "$BIN/rewrite" --once -e "EXP2(x) -> EXP2(x) + x * x"'
	stage prove 'case $("$BIN/show" "$2" | grep -c "= MUL") in "$("$BIN/show" "$1" | grep -c "= MUL")") exit 0 ;; esac
		[ "$("$BIN/show" --count "$1" | cut -c1-5)" = graph ] && exit 3
		echo "y differs over the field"
		exit 1'
	finds 'simplify: the same' 'fuse: y differs over the field' -- p.t --prove
}

@test "what cannot be told is 125, and no file is left" {
	mkdir tmp
	export TMPDIR=$PWD/tmp
	capture tool bisect none.t
	[ "$status" = 125 ]
	capture tool bisect p.t
	[ "$status" = 125 ]
	echo garbage > g.mp
	capture tool bisect g.mp
	[ "$status" = 125 ]
	[ "$(wc -l <<< "$errors")" = 1 ]
	capture tool bisect p.t x=rand w=rand --stages 'fuse | nothere'
	[ "$status" = 125 ]
	fails 2 tool bisect
	fails 2 tool bisect p.t q.t
	fails 2 tool bisect p.t --time soon
	[ -z "$(ls tmp)" ]
}

@test "stages that go wrong, planted at random: refuted, named, and made small" {
	ok python3 "$TESTS/culprit.py" "$BIN" --seed "${SEED:-1}" --count 8 --seconds 25
	[[ $output == *' 0 missed; '* ]]
}
