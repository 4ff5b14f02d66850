#!/usr/bin/env bats
# The grammar of rules in rewrite and match: args, dtypes, definitions, sections; the built-in
# files.
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	tool show -p > g.mp <<-'T'
	sluice 1 graph
	%0 = BUFFER f32 {name: "x", shape: [3, 4], role: "input"}
	%1 = REDUCE f32 %0 ["ADD", [1]]
	%2 = REDUCE f32 %0 ["MAX", [0]]
	%3 = PERMUTE f32 %0 [1, 0]
	%4 = BUFFER u64 {name: "k", shape: [3], role: "input"}
	%5 = SUB u64 %4 %4
	%6 = SINK %1 %2 %3 %5 {names: ["a", "b", "c", "d"]}
	T
}

# rewritten RULE…: prints the nodes of g.mp after the rules, without buffers, numbers and shapes
rewritten() {
	local rule args=()
	for rule; do args+=(-e "$rule"); done
	capture tool rewrite "${args[@]}" g.mp
	tool rewrite "${args[@]}" g.mp | tool show | sed -n '/BUFFER\|SINK\|^sluice\|^meta/d; s/ *#.*//; s/%[0-9]* = //p'
}

refused() {
	fails 4 tool rewrite -e "$1" g.mp
	[[ $errors == "rewrite: -e:"*"$2"* ]] || { echo "$errors"; return 1; }
}

@test "rules: args are matched and built" {
	[[ $(rewritten 'REDUCE["ADD", [1]](x) -> REDUCE["MUL", [0]](x)') == *'["MUL", [0]]'* ]]
	[[ $(rewritten 'REDUCE[f, [0]](x) -> REDUCE[f, [1]](x)') == *'["MAX", [1]]'* ]]
	[[ $(rewritten 'REDUCE[f, [a, *rest]](x) -> REDUCE[f, [*rest, 0]](x)') == *'["ADD", [0]]'* ]]
	[[ $(rewritten 'PERMUTE[1, 0](x) -> FLIP[0, 1](RESHAPE[4, 3](x))') == *'RESHAPE f32 %0 [4, 3]'*'FLIP f32 %'*'[0, 1]'* ]]
	[ "$(rewritten 'REDUCE["MAX", axes](x) -> REDUCE["ADD", axes + 1](x)' | grep -c '"ADD", \[1\]')" = 1 ]
	[[ $(rewritten 'PERMUTE[0, 1](x) -> x') == *PERMUTE* ]]
	[[ $(tool match 'REDUCE[f, axes](x)' g.mp) == *'f="ADD" axes=[1] x=BUFFER [3,4]'* ]]
	fails 4 tool rewrite -e 'REDUCE[f, axes](x) -> REDUCE[*f, axes](x)' g.mp
	[[ $errors == "rewrite: -e:1: "* ]]
	fails 4 tool rewrite -e 'REDUCE[f, axes](x) -> REDUCE[f + 1, axes](x)' g.mp
	fails 4 tool rewrite -e 'REDUCE[f, axes](x) -> REDUCE[f, axes + 7](x)' g.mp
	[[ $errors == "rewrite: -e:1: "*"REDUCE"* ]]
}

@test "rules: ops and casts with a dtype; a literal has the dtype of the other operand" {
	local out
	out=$(rewritten 'SUB:u64(x, y) -> CAST(CAST:u32(x >> 32) ^ 0x1bd11bda)')
	[[ $out == *'CONST u64 32'*'SHR u64'*'CAST u32'*'CONST u32 466688986'*'XOR u32'*'CAST u64'* ]]
	[[ $(rewritten 'SUB:f32(x, y) -> x') == *SUB* ]]
	[[ $(rewritten 'x - y -> CAST:x(WHERE(CAST:f32(x) < 2, 1, 0))') == *'CONST f32 2.0'*'CMPLT bool'*'CONST u64 1'* ]]
}

@test "rules: definitions, also of several values, which later rules can use" {
	local out
	out=$(rewritten 'mix(x, y) := x + y, y * 3' 'last(x, y) := x | y' 'x - y -> last(mix(mix(x, 1)))')
	[[ $out == *'CONST u64 1'*'ADD u64'*'CONST u64 3'*'MUL u64'*'ADD u64'*'MUL u64'*'OR u64'* ]]
	refused 'f(x, x) := x' 'two parameters'
	refused 'f(x) := y' 'a variable that the pattern has not'
	refused 'x - y -> f(x)' 'no such op, definition or function'
	refused $'f(x) := x, x\nx - y -> f(x)' ''
	refused $'f(x) := x\nx - y -> f(x, y)' ''
	# one that grows beyond any bound
	for i in $(seq 40); do echo "f$i(x) := $([ "$i" = 1 ] && echo 'x + x' || echo "f$((i - 1))(f$((i - 1))(x))")"; done > grows.rules
	fails 4 tool rewrite -f grows.rules g.mp
	[[ $errors == *"too large"* ]]
}

@test "rules: self stays, rules that never end are reported with their line" {
	[ "$(rewritten 'x - y -> self + 1' | grep -c ^ADD)" = 1 ]
	fails 1 tool rewrite -e 'PERMUTE(x) -> x' -e 'x - y -> (x - y) * x' g.mp
	[ "$errors" = "rewrite: -e:1: rules do not come to an end at SUB" ]
	ok tool rewrite --once -e 'x - y -> (x - y) * x' g.mp
}

@test "rules: wrong lines are refused with their position" {
	refused 'SUB:q7(x, y) -> x' 'no such dtype'
	refused 'ANY -> fold(self)' 'a function that is not for'
	refused 'ANY -> permute_twice(self)' 'a function that is not for'
	refused 'SUB:(x, y) -> x' ''
	refused 'SUB:u8' ''
	refused 'REDUCE[f(x) -> x' ''
	refused 'REDUCE[*a, b](x) -> x' 'behind the rest'
	refused 'REDUCE["ADD](x) -> x' ''
	refused 'REDUCE[f](f) -> f' 'a part of an arg'
	refused 'SIN(x) -> RESHAPE[x](x)' 'a node is no part of an arg'
	refused 'SIN(x) -> RESHAPE[y](x)' 'the pattern has not'
	refused 'REDUCE: reduce' 'row'
	refused 'when nothing' 'no such condition'
	refused 'when fits' 'of one node'
	refused "SIN(x) -> $(printf '(%.0s' {1..100})x" 'nested'
	refused "REDUCE$(printf '[%.0s' {1..100})(x) -> x" 'nested'
	fails 2 tool match '# nothing' g.mp
}

@test "rules: a section applies to nodes for which its condition holds" {
	printf '%s\n' 'when float' 'PERMUTE(x) -> x * 2' 'when int' 'x - y -> y' > sections.rules
	ok tool rewrite --count -f sections.rules g.mp
	printf '%s\n' 'when int' 'PERMUTE(x) -> x * 2' > sections.rules
	tool rewrite --count -f sections.rules g.mp 2>&1 > /dev/null | grep -q '^rewrite: 0 rules'
}

@test "the built-in rules: listed, and applied by name" {
	ok tool rewrite --list
	[ "$(sort <<< "$output" | tr '\n' ' ')" = "decompose grad laws simplify vmap " ]
	tool rewrite --list=decompose > listed
	command -p diff listed "$ROOT/render/lower/decompose.rules"
	ok tool rewrite --list=grad
	fails 2 tool rewrite --list=nothing
	tool rewrite --rules simplify g.mp > simple.mp
	not tool match -c SUB'(x, y)' simple.mp
	fails 4 tool rewrite --rules grad g.mp
	fails 2 tool rewrite --rules nothing g.mp
	fails 2 tool rewrite --rules decompose --lacks 'SUB NOTHING' g.mp
}

# every op that can be decomposed, on values of all kinds
everything() {
	cat > e.t <<-'T'
	input a i32[40]
	input b i32[40]
	input x f32[40]
	input y f32[40]
	output s = a - b, n = -a, q = a // b, r = a % b, m = maximum(a, b), l = minimum(a, b)
	output fs = x - y, fn = -x, fm = maximum(x, y), fl = minimum(x, y), ne = x != y
	T
	tool trace e.t > e.mp
}

@test "decompose: the replacement of an op has the op's values" {
	everything
	tool rewrite --rules decompose --lacks 'SUB CMPNE MAX MIN MOD FLOORDIV FLOORMOD' e.mp > d.mp
	tool match -c 'SUB(x, y)' d.mp && return 1
	tool match -c 'MAX(x, y)' d.mp && return 1
	tool run --interpret e.mp a=rand b=rand x=rand y=rand -o want.npz
	tool run --interpret d.mp a=rand b=rand x=rand y=rand -o have.npz
	ok tool diff want.npz have.npz
}

# a user's own target that lacks these ops
lacking() {
	mkdir -p stages
	printf '#!/bin/sh\nprintf "gpu: 0\\nlanes: 0\\nlacks: %s\\n"\n' "$1" > stages/render-mine
	chmod +x stages/render-mine
}

@test "decompose: an op that cannot be decomposed is named in the message" {
	everything
	tool fuse e.mp > s.mp
	export SLUICE_PATH=$PWD/stages
	lacking 'SUB NEG'
	fails 3 tool lower -t mine s.mp
	[[ $errors == "lower: "*": target mine has no such op, and none to write it with" ]]
	lacking 'MAX CMPLT'
	fails 3 tool lower -t mine s.mp
	[ "$errors" = "lower: CMPLT: target mine has no such op, and none to write it with" ]
	lacking 'SUB CMPNE MAX MIN MOD FLOORDIV FLOORMOD'
	tool lower -t mine s.mp > l.mp
	not grep -q 'SUB\|MAX\|MIN\|CMPNE\|FLOOR' <(tool show l.mp | grep -v '^meta\|names:\|name:')
}
