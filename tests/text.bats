# The text language: programs in text/ print the outputs in NAME.out beside them; errors point to their
# position.
load helpers

# prints PROGRAM [INPUT…]: its output under the interpreter is in the file NAME.out beside it
prints() {
	local program=$TESTS/text/$1.t
	tool trace "$program" > p.mp
	ok tool run --interpret p.mp "${@:2}"
	command -p diff "$TESTS/text/$1.out" <(printf '%s\n' "$output")
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# x.npy from an expression
input() {
	printf 'output x = %s\n' "$1" > x.t
	tool trace x.t | tool run --interpret -o .
}

@test "text: operators, precedence, weak numbers" { prints operators; }
@test "text: indexing and slices" { prints indexing; }
@test "text: functions, blocks, several values" { prints functions; }
@test "text: state" { prints state; }

@test "text: loops and branches that are data" {
	input 'f32(reshape(arange(12), 3, 4)) / 16'
	prints loops x=x.npy k=4
}

@test "text: loops and branches that are data, at every level, compiled, and without a turn" {
	local n k level
	tool trace "$TESTS/text/loops.t" > graph.mp
	tool schedule graph.mp | tee schedule.mp | tool fuse | tee fuse.mp | tool lower -t clang | tee loops.mp |
		tool render -t clang > program.mp
	for n in 3 0; do
		k=$((n + 1))
		tool run --interpret graph.mp x=rand n=$n k=$k -o want.npz
		for level in schedule fuse loops program; do
			tool run --interpret $level.mp x=rand n=$n k=$k -o got.npz
			ok tool diff --atol 1e-5 want.npz got.npz
		done
		tool run graph.mp x=rand n=$n k=$k -o got.npz
		ok tool diff --atol 1e-5 want.npz got.npz
	done
}

@test "text: random programs with loops and branches give what NumPy gives" {
	local seed n python=python3
	[ ! -x "$ROOT/build/venv/bin/python" ] || python=$ROOT/build/venv/bin/python
	"$python" -c 'import numpy' || skip "no NumPy"
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$python" "$TESTS/text_loops.py" $seed .
		tool trace p.t > p.mp
		for n in 0 1 3; do
			tool run --interpret p.mp x=$n-x.npy a=$n-a.npy n=$n -o got.npz
			ok tool diff --rtol 1e-9 --atol 1e-9 got.npz $n-want.npz
		done
		[ $seed -gt 3 ] || tool run p.mp x=3-x.npy a=3-a.npy n=3 -o got.npz
		ok tool diff --rtol 1e-9 --atol 1e-9 got.npz 3-want.npz
	done
}

@test "text: what is known while tracing is unrolled, but for long loops" {
	printf 'input x f32\nfor i in 0..9 { x = x + i }\noutput x\n' > p.t
	[ "$(tool trace p.t | tool show | grep -c 'ADD\|LOOP')" = 10 ]
	printf 'input x f32\nfor i in 0..1999 { x = x + i }\noutput x\n' > p.t
	[ "$(tool trace p.t | tool show | grep -c 'LOOP')" = 1 ]
	[ "$(tool trace p.t | tool show | grep -c 'ADD')" = 1 ]
	printf 'k = 0\nfor i in 1..5000 { k += i }\noutput k\n' > p.t
	[ "$(tool trace p.t | tool run)" = $'k i32[]\n12502500' ]
}

@test "text: loops nested deep end, or are an error" {
	local d i
	for d in 3 40; do
		{
			echo 'input x f32[n] where n in 0..9'
			for ((i = 0; i < d; i++)); do printf 'b%d = 0\nfor i%d in 1..n {\n' $i $i; done
			for ((i = d - 1; i >= 0; i--)); do printf 'b%d = b%d + x[0]\n}\n' $i $i; done
			echo 'output b0'
		} > p.t
		[ $d = 40 ] || [ "$(tool trace p.t | tool run x=rand n=2)" = $'b0 f32[]\n0.3698672' ]
	done
	fails 4 "$BIN/trace" p.t
	[[ "$errors" == "trace: p.t:"*"loops nested so deep"* ]]
}

@test "text: a loop that does not end is ended by its limit" {
	printf 'input x f32\nwhile true { x = x + 1 }\noutput x\n' > p.t
	tool trace p.t > p.mp
	fails 4 "$BIN/run" --interpret --limit time=1 p.mp x=rand
	fails 4 "$BIN/run" --limit time=2 p.mp x=rand
}

@test "text: symbolic sizes" {
	input 'f32(reshape(arange(12), 3, 4))'
	prints sizes x=x.npy
}

@test "text: the example in its README" {
	input 'f32(reshape(arange(20), 5, 4)) / 8'
	prints scores x=x.npy
	sed -n '/^# scores.t/,/^```/p' "$ROOT/trace/README.md" | sed '1d; /^```/d' > page.t
	command -p diff page.t <(tail -n +2 "$TESTS/text/scores.t")
}

@test "text: data is read in place from .npy, .npz and .safetensors" {
	mkdir data
	input 'f32(reshape(arange(6), 2, 3))'
	mv x.npy data/
	printf 'output x = i16([1, 2]), y = [true, false]\n' > data/two.t
	tool trace data/two.t | tool run --interpret -o data/two.npz
	cat > data/p.t <<-'E'
	const w = load("x.npy")
	const v f64[3] = load('x.npy')[1]
	output w, v, x = load("two.npz", "x"), y = load("two.npz", "y")
	state m f32[2, 3] = load("x.npy")
	m <- m + 1
	E
	ok tool trace data/p.t
	tool trace data/p.t > p.mp
	tool show p.mp | grep -q "name: \"w\".*file: \[\"$PWD/data/x.npy\", "
	tool show p.mp | grep -q "name: \"m\".*file: \[\"$PWD/data/x.npy\", "
	ok tool run --interpret p.mp
	command -p diff - <(printf '%s\n' "$output") <<-'E'
	w f32[2,3]
	[[0. 1. 2.]
	 [3. 4. 5.]]

	v f64[3]
	[3. 4. 5.]

	x i16[2]
	[1 2]

	y bool[2]
	[ True False]

	m f32[2,3]
	[[1. 2. 3.]
	 [4. 5. 6.]]
	E
}

@test "text: nodes have source locations" {
	printf 'input x f32[3]\nh = relu(x)\noutput y = h + 1\n' > n.t
	tool trace n.t > p.mp
	tool show p.mp | grep -q 'loc: "n.t:2".*name: "h"'
	tool show p.mp | grep -q 'loc: "n.t:3".*name: "y"'
}

# one block of errors.txt: writes the program to p.t, and sets its status and message
check_error() {
	local name=$1 want=$2 status=4 got=0 row column message line
	[[ $want == \[* ]] && { status=${want:1:1}; want=${want:4}; }
	[[ $want == p.t* ]] || want=p.t:$want
	tool trace p.t > stdout 2> stderr || got=$?
	message=$(head -1 stderr)
	if [ "$got" != "$status" ] || [ -s stdout ] || [[ $message != "trace: $want"* ]]; then
		echo "$name: status $got"
		cat stderr
		return 1
	fi
	[[ $want == "p.t:"[0-9]* ]] || return 0
	IFS=: read -r _ row column _ <<< "$want"
	line=$(sed -n "${row}p" p.t)
	[ "$column" -le $((${#line} + 1)) ] && one_line stderr || { echo "$name: the place"; cat stderr; return 1; }
}

@test "text: an error on a terminal has the line and a caret below" {
	export LC_ALL=C.UTF-8
	printf 'input x f32[2]\noutput y = "é" + nosuch(x)\n' > p.t
	script -qec "'$BIN/trace' p.t > stdout" /dev/null < /dev/null | tr -d '\r' > seen || true
	cmp seen - <<-'E'
	trace: p.t:2:18: there is no function nosuch
	output y = "é" + nosuch(x)
	                 ^
	E
}

@test "text: errors give file, line and column in one line" {
	export LC_ALL=C.UTF-8
	local bad=0 name= part=none line
	while IFS= read -r line || [ -n "$line" ]; do
		case $part$line in
		*"=== "*) name=${line#=== }; : > p.t; part=program ;;
		program---) part=message ;;
		program*) printf '%s\n' "$line" >> p.t ;;
		message*) check_error "$name" "$line" || bad=1; part=none ;;
		esac
	done < "$TESTS/text/errors.txt"
	[ "$bad" = 0 ]
}

@test "text: hostile programs end quickly with status 4" {
	local deep
	deep=$(printf '%100000s' | tr ' ' '(')
	for program in "y = $deep" "y = ${deep//(/-}1" "y = ${deep//(/[}" "y = 1${deep//(/.T}" "y = 1${deep//(/[0]}" \
		"${deep//(/if true \{ }" "y = $(printf '1%.0s' {1..100000})" "$(printf 'x%.0s' {1..100000}) = 1" \
		$'y = "\001"' $'\xff\xfe' "a = [1]; for i in 1..100 { a = a + a }"; do
		printf '%s\n' "$program" > p.t
		status=0
		tool trace p.t > stdout 2> stderr || status=$?
		[ "$status" = 4 ] && [ ! -s stdout ] && [ "$(wc -c < stderr)" -lt 2000 ] ||
			{ echo "status $status: ${program:0:60}"; head -c 600 stderr; return 1; }
	done
	{ printf 'x = arange(3)\noutput y = x'; printf ' + x%.0s' {1..20000}; echo; } > p.t
	ok tool trace p.t
}

@test "documents of level tensor: broadcasting, dtypes, functions, several values" {
	doc '{uop: 1, level: "tensor", nodes: [
		["CONST",nil,[],2.0], ["BUFFER","f16",[],{name:"x",shape:[2,4],role:"const",data:b"003c004000420044003c004000420044"}],
		["MUL",nil,[1,0],nil,{name:"twice"}], ["cumsum",nil,[2],{axis:1}], ["split",nil,[3],{parts:2,axis:1}],
		["item",nil,[4],{index:1}], ["max",nil,[5],{axis:0}], ["ADD",nil,[5,6],nil], ["zeros","i8",[],{shape:[2]}],
		["SINK",nil,[7,8],{names:["a","b"]}]]}' > t.mp
	tool trace t.mp > g.mp
	tool show g.mp | grep -q 'name: "twice"'
	ok tool run --interpret g.mp
	command -p diff - <(printf '%s\n' "$output") <<-'E'
	a f16[2,2]
	[[24. 40.]
	 [24. 40.]]

	b i8[2]
	[0 0]
	E
}

@test "documents of level tensor: errors name node and function" {
	doc '{uop: 1, level: "tensor", nodes: [["CONST",nil,[],2.0], ["relu","i32",[0],nil], ["SINK",nil,[1],nil]]}' > t.mp
	fails 4 tool trace t.mp
	[[ $errors == "trace: "*"node 1 relu"* ]]
	doc '{uop: 1, level: "tensor", nodes: [["CONST","f32",[],2.0], ["nope",nil,[0],nil], ["SINK",nil,[0],nil]]}' > t.mp
	fails 4 tool trace t.mp
	[[ $errors == *"node 1 nope: there is no such function"* ]]
	doc '{uop: 1, level: "tensor", nodes: [["zeros",nil,[],{shape:[4]}], ["split",nil,[0],{parts:2}], ["relu",nil,[1],nil],
		["SINK",nil,[2],nil]]}' > t.mp
	fails 4 tool trace t.mp
}
