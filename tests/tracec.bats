#!/usr/bin/env bats
# Programs in C and C++. A program is a file in c/ in three languages: NAME.t gives the expected
# results of NAME.c and NAME.cpp; it is tried once for each line of ways. A fault is a row of
# faults: the program, the status, and text in the first line of the message.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }
with_cxx() { command -v c++ > /dev/null || skip "no C++ compiler"; }

# program BODY > FILE: a function f of x f64[3] with this body
program() { printf '#include <sluice/tensor.h>\n%s\nSLUICE_FUNCTION(f, ARG(x, F64, 3))\n{\n%s\n}\n' "${2-}" "$1"; }

# faulty STATUS TEXT COMMAND…: exits with the status, nothing on standard output, and TEXT in the
# first line, which is our message
faulty() {
	capture "${@:3}"
	[ "$status" = "$1" ] && [ ! -s stdout ] && [[ ${errors%%$'\n'*} == "trace: "*"$2"* ]] && return
	echo "status $status: $errors"
	return 1
}

ways() {
	cat <<-'E'
		forms q=rand w=rand n=5
		forms q=rand w=rand n=1
		dtypes a=rand b=rand c=rand d=rand e=rand f=rand g=rand h=rand i=rand j=rand k=rand l=rand m=rand
		state x=rand -n 3
		loops x=rand a=rand n=5
		loops x=rand a=zeros n=0
	E
}

same_as_text() {
	local name inputs
	while read -r name inputs; do
		tool trace "$TESTS/c/$name.t" > t.mp
		tool trace "$TESTS/c/$name.$1" > c.mp 2> err || { cat err; return 1; }
		[ ! -s err ] || { echo "$name.$1:"; cat err; return 1; }
		tool run --interpret t.mp $inputs -o t.npz
		tool run --interpret c.mp $inputs -o c.npz
		tool diff t.npz c.npz || { echo "$name.$1 $inputs"; return 1; }
	done < <(ways)
}

@test "C: programs give the bits of the same programs in the text language" { same_as_text c; }
@test "C++: programs give the bits of the same programs in the text language" { with_cxx; same_as_text cpp; }

@test "C: the graph is that of the text language" {
	for f in "$TESTS"/c/state.c "$TESTS"/c/state.cpp; do
		[ "${f##*.}" = c ] || command -v c++ > /dev/null || continue
		tool trace "$TESTS/c/state.t" > t.mp
		tool trace "$f" > c.mp
		ok tool diff t.mp c.mp
	done
	tool show c.mp | grep -q 'loc: ".*state.c.*:1[0-9]"'
}

@test "C: compiled, at every level, with a size that is symbolic" {
	tool trace "$TESTS/c/forms.c" > c.mp
	tool run c.mp q=rand w=rand n=7 -o a.npz
	tool schedule c.mp | tool fuse | tool run --interpret q=rand w=rand n=7 -o b.npz
	tool diff a.npz b.npz --rtol 1e-12
}

@test "C: every function of the library is in the header" {
	{
		echo '#include <sluice/tensor.h>'
		sed -n 's/^FN(\([a-z0-9_]*\),.*/#ifndef \1\n#error \1\n#endif/p' "$ROOT/trace/library/functions.def"
		echo 'SLUICE_FUNCTION(f) { output("y", zeros(LIST(2))); }'
	} > p.c
	[ "$(grep -c error p.c)" -gt 150 ]
	ok tool trace p.c
	with_cxx
	{
		echo '#include <sluice/tensor.h>'
		echo 'SLUICE_FUNCTION(f) { sluice::output("y", sluice::zeros({2}));'
		sed -n 's/^FN(\([a-z0-9_]*\),.*/\t(void)sluice::\1;/p' "$ROOT/trace/library/functions.def"
		echo '}'
	} > p.cpp
	ok tool trace p.cpp
}

@test "C: dtypes, ranks and sizes of captured arrays" {
	cat > p.c <<-'E'
		#include <sluice/tensor.h>
		static const float a4[2][1][3][1] = {{{{1}, {2}, {3}}}, {{{4}, {5}, {6}}}};
		static double a3[1][2][2] = {{{1, 2}, {3, 4}}};
		SLUICE_FUNCTION(f)
		{
			long local[] = {7, 8, 9};
			double one[1] = {5}, *p = &a3[0][0][0];
			output("a4", constant(a4));
			output("a3", constant(a3));
			output("local", constant(local));
			output("one", constant(one));
			output("p", constant_at(p, 2, 2));
			p[0] = 100;
			output("later", constant_at(p, 4));
		}
	E
	ok tool run --interpret <(tool trace p.c)
	for line in 'a4 f32[2,1,3,1]' 'a3 f64[1,2,2]' 'local i64[3]' '[7 8 9]' 'one f64[1]' 'p f64[2,2]' '[100.   2.   3.   4.]'; do
		grep -qF "$line" <<< "$output" || { echo "no $line"; echo "$output"; return 1; }
	done
	[ "$(tool trace p.c | tool show | grep -c 'role: "const"')" = 6 ]
}

@test "C: ifs and loops of C on known values; C numbers stay numbers" {
	cat > p.c <<-'E'
		#include <sluice/tensor.h>
		static Tensor power(Tensor x, int n) { return n == 1 ? x : n % 2 ? mul(x, power(x, n - 1)) : square(power(x, n / 2)); }
		SLUICE_FUNCTION(f, ARG(x, F64, 3), ARG(i, I32))
		{
			double table[4], s = 0;
			for (int k = 0; k < 4; k++)
				s += table[k] = pow(2.0, k) + fabs(-1.0) + abs(-3) + exp(0.0) + round(0.4);
			Tensor y = power(x, 5);
			if (rank(x) == 1 && dim(x, -1) == 3 && !strcmp(dtype(x), "f64") && s == 35)
				y = add(y, s);
			while (rank(y) < 3)
				y = unsqueeze(y, 0);
			output("y", y);
			output("power", pow(i, 2));
			output("known", full(LIST((int)number(add(mul(2, 3), 1))), pow(2, 0.5)));
		}
	E
	ok tool run --interpret <(tool trace p.c) x=rand i=zeros
	grep -q '^y f64\[1,1,3\]' <<< "$output"
	grep -q '^power i32\[\]' <<< "$output"
	grep -q '^known f64\[7\]' <<< "$output"
	grep -q '1.41421356' <<< "$output"
}

@test "C: faults name the line, and the call in it" {
	faults() {
		cat <<-'E'
			4|p.c:5: shapes [3] and [4] do not match|	output("y", add(x, zeros(LIST(4))));
			4|p.c:6: shapes [3] and [4,2] do not match for a product|	Tensor w = zeros(LIST(4, 2));\n	output("y", matmul(x, w));
			4|p.c:5: sum: axis: axis 1 is outside a tensor of rank 1|	output("y", sum(x, 1));
			4|p.c:5: sum has no parameter axes|	output("y", sum(x, KW(axes, 0)));
			4|p.c:6: z is an output already|	output("z", x);\n	output("z", x);
			4|p.c:5: '../y' is no name|	output("../y", x);
			4|p.c:5: '' is no name|	output("", x);
			4|p.c:5: index 3 is outside|	output("y", at(x, 3));
			4|p.c:5: a Tensor that was never given a value|	Tensor t = {0}; output("y", add(x, t));
			4|p.c:5: a Tensor that is none|	Tensor t = {77777}; output("y", t);
			4|p.c:5: a part of an index|	output("y", add(x, ALL));
			4|p.c:5: x is in use|	output("y", state("x", 0));
			4|p.c:5: assign: a tensor f64[3] is no state|	assign(x, 0);
			4|p.c:5: a tensor f64[3] is no number|	output("y", full(LIST((int)number(x)), 1));
			4|p.c:5: q: 'f65' is no dtype|	sluice_api->call(SLUICE_HERE, ".input", 2, (Tensor[]){SLUICE_VALUE("q"), SLUICE_VALUE("f65")});
			4|p.c:5: there is no function gibberish|	CALL(gibberish, x);
			4|p.c:5: there is no word .gibberish|	SLUICE_CALL(".gibberish", x);
			4|p.c:5: a text is no UTF-8|	output("\xff", x);
			1|p.c:5: cannot open nowhere.npy|	output("y", load("nowhere.npy"));
			4|p.c:3: f: the program has no output|	sin(x);
			1|p.c:5: the program ended here or behind it: it reached for memory|	x = sin(x); *(volatile int *)8 = 1;
			1|p.c:5: the program ended here or behind it: it called abort|	x = sin(x); abort();
			1|p.c:5: the program called exit|	x = sin(x); exit(0);
			1|p.c: the program ended with status 0 before|	extern void _exit(int); _exit(0);
			4|p.c: it does not compile: p.c:5:|	output("y", ad(x, 1));
			4|p.c: it does not compile: p.c:5:|	if (less(x, 1)) output("y", x);
			4|p.c: it does not compile: p.c:5:|	double *p = 0; output("y", constant(p));
			4|p.c: it does not compile: p.c:5:|	output("y", x)
		E
	}
	while IFS='|' read -r status_ text body; do
		printf '#include <sluice/tensor.h>\n\nSLUICE_FUNCTION(f, ARG(x, F64, 3))\n{\n%b\n}\n' "$body" > p.c
		faulty "$status_" "$text" tool trace p.c || { echo "$body"; return 1; }
	done < <(faults)
}

@test "C: faults of loops and branches that are data name the line" {
	faults() {
		cat <<-'E'
			p.c:5: the body of LOOP was left by break|	LOOP(i, 3, &x) { x = mul(x, i); if (rank(x)) break; }
			p.c:5: the body of WHILE was left by return|	WHILE(greater(sum(x), 1), &x) { x = div(x, 2); return; }
			p.c:6: a Tensor of the body at p.c:5, used behind it|	Tensor y = x; LOOP(i, 3, &x) { x = neg(x); y = x; }\n	output("y", y);
			p.c:5: variable 1 of LOOP is a tensor f64[3] before it, and a tensor f64[6]|	LOOP(i, 3, &x) x = concat(x, x);
			p.c:5: variable 1 of LOOP has no value before it|	Tensor y = {0}; LOOP(i, 3, &y) y = x;
			p.c:5: variable 1 of IF is a tensor f64[3] in one branch, and nothing in the other|	Tensor y = {0}; IF(less(sum(x), 1), &y) y = x;
			p.c:5: the condition is a tensor bool[3], expected a scalar|	IF(less(x, 1), &x) x = neg(x);
			p.c:5: APPEND stands in the body of a loop itself|	Tensor l = {0}; LOOP(i, 3, &x) IF(less(sum(x), 1), &x) APPEND(l, x);
			p.c:5: an output in a LOOP, WHILE or IF|	LOOP(i, 3, &x) output("y", x);
			p.c:5: the turns of LOOP are the number 1.5|	LOOP(i, 1.5, &x) x = neg(x);
		E
	}
	local text body
	while IFS='|' read -r text body; do
		program "$(printf '%b' "$body")" > p.c
		faulty 4 "$text" tool trace p.c
	done < <(faults)
}

@test "C: a fault in a header or in a function that is called names that line" {
	printf 'static Tensor bad(Tensor x)\n{\n\treturn add(x,\n\t\tones(LIST(2)));\n}\n' > bad.h
	program 'output("y", bad(x));' '#include "bad.h"' > p.c
	faulty 4 'bad.h:3: shapes' tool trace p.c
	[[ $errors != *$'\n'* ]]
}

@test "C: programs that never end, or escape, are stopped" {
	program 'for (;;) x = sin(x);' > p.c
	faulty 4 'p.c:5: the program makes more than' tool trace p.c
	program 'for (;;) ;' > p.c
	faulty 4 'limit of time' tool trace --limit time=1 p.c
	program 'output("y", add(x, g(0)));' 'static int g(int k) { volatile char a[1000] = {0}; return k < 0 ? 0 : a[0] + g(k + 1); }' > p.c
	faulty 1 'reached for memory' tool trace p.c
	program 'raise(SIGKILL);' '#include <signal.h>' > p.c
	faulty 1 'ended by signal 9' tool trace p.c
	faulty 2 '--limit takes' tool trace --limit soon p.c
}

children() { tr -d ' ' < /proc/$1/task/$1/children; }

@test "C: when trace is stopped, no folder and no process stay behind" {
	mkdir t
	program 'for (;;) ;' > p.c
	for sig in INT TERM; do
		(trap - INT; exec env TMPDIR="$PWD/t" "$BIN/trace" p.c) > out 2> err &
		pid=$!
		for i in {1..200}; do
			ls t/*/program.so > /dev/null 2>&1 && grep -q 'trace' /proc/$(children $pid)/comm && break
			sleep 0.1
		done 2> /dev/null
		child=$(children $pid)
		[ -n "$child" ]
		# bash starts background jobs with SIGINT ignored; such a trace is to keep it so
		[ "$sig" = TERM ] || sig=HUP
		kill -$sig $pid
		wait $pid || true
		[ -z "$(ls t)" ]
		[ ! -s out ]
		for i in {1..100}; do kill -0 "$child" 2> /dev/null || break; sleep 0.1; done
		not kill -0 "$child" 2> /dev/null
	done
	program 'output("y", x);' > p.c
	TMPDIR=$PWD/t tool trace p.c > out
	program 'output("y", y);' > p.c
	TMPDIR=$PWD/t faulty 4 compile tool trace p.c
	[ -z "$(ls t)" ]
	TMPDIR=$PWD/nowhere faulty 1 'cannot make a folder' tool trace p.c
}

@test "C: the program's output goes to standard error" {
	program 'printf("hello\n"); output("y", x);' > p.c
	ok tool trace p.c
	[ "$errors" = hello ]
	tool show stdout | grep -q SINK
}

@test "C: several functions, one is chosen" {
	printf '#include <sluice/tensor.h>\n%s\n%s\n' 'SLUICE_FUNCTION(f, ARG(x, F64)) { output("y", sin(x)); }' \
		'SLUICE_FUNCTION(g, ARG(x, F32, 2), ARG(z, F32)) { output("y", mul(x, z)); }' > p.c
	faulty 2 'p.c: it has several functions: choose by --function one of f, g' tool trace p.c
	faulty 2 "p.c: it has no function 'h'" tool trace p.c --function h
	faulty 2 "it has no function '../f" tool trace p.c --function '../f
'
	ok tool trace --function g p.c
	tool show stdout | grep -q 'f32 {name: "z"'
	printf '#include <sluice/tensor.h>\n' > p.c
	faulty 4 'p.c: it declares no function' tool trace p.c
	printf 'int x;\n' > p.c
	faulty 4 'it includes no <sluice/tensor.h>' tool trace p.c
}

@test "C: unusual names of files, flags and compilers" {
	for name in '-a.c' 'two words.c' '$(touch no).c' $'line\nend.c' 'quo"te.c'; do
		program 'output("y", mul(x, N));' > "$name"
		ok tool trace --cflags -DN=3 -- "$name"
		program 'output("y", mul(x, zeros(LIST(2))));' > "$name"
		faulty 4 "c:5: shapes" tool trace -- "$name"
	done
	[ ! -e no ]
	program 'output("y", x);' > p.c
	faulty 1 "no compiler 'nope'" tool trace --cc nope p.c
	faulty 1 'no C compiler: neither cc nor gcc nor clang is in PATH' env PATH="$PWD" "$BIN/trace" p.c
	cp p.c p.cpp
	faulty 1 'no C++ compiler: neither c++ nor g++ nor clang++ is in PATH' env PATH="$PWD" "$BIN/trace" p.cpp
	printf '#!/bin/sh\nkill -9 $$\n' > cc
	chmod +x cc
	faulty 1 'failed with status 137' tool trace --cc ./cc p.c
	faulty 1 'cannot open' tool trace none.c
	: > empty.c
	faulty 4 'includes no <sluice/tensor.h>' tool trace empty.c
	head -c 1000 /dev/urandom > noise.c
	faulty 4 'does not compile' tool trace noise.c
}

@test "C: compiled by hand, and by another compiler" {
	program 'output("y", sum(sin(mul(x, 2)), KW(axis, 0)));' > p.c
	tool trace p.c > a.mp
	"${CC:-cc}" -std=gnu11 -shared -fPIC -I"$BIN/../include" -o p.so p.c
	tool trace p.so > b.mp
	tool diff a.mp b.mp
	tool trace p.so --function f > b.mp
	cp p.c q.so
	faulty 4 'cannot load it' tool trace q.so
	printf 'int sluice_api, sluice_api_version, sluice_functions, sluice_source;\n' > old.c
	"${CC:-cc}" -shared -fPIC -o old.so old.c
	faulty 3 'compiled against version 0' tool trace old.so
	command -v clang > /dev/null || skip "no clang"
	tool trace --cc clang p.c > c.mp
	tool diff a.mp c.mp
}

@test "C: files beside the program; info reads one" {
	mkdir -p sub
	printf 'output w = f32([1, 2, 4])\n' > w.t
	tool trace w.t | tool run -o sub
	program 'output("y", mul(x, load("w.npy")));' > sub/p.c
	ok tool run --interpret <(tool trace sub/p.c) x=rand
	grep -q '^y f64\[3\]' <<< "$output"
	tool trace sub/p.c | tool show | grep -q 'file: \["/.*/sub/w.npy", '
	ok tool info sub/p.c
	grep -q 'f64\[3\]' <<< "$output"
}

@test "C: sizes are symbolic, checked, and fixed by the caller" {
	cat > p.c <<-'E'
		#include <sluice/tensor.h>
		SLUICE_FUNCTION(f, SIZE(n, 2, 9), SIZE(m, 1, 4), ARG(x, F32, n, mul(m, 2)), ARG(y, F32, add(n, 1)))
		{
			output("z", mul(sum(x, 1), at(y, RANGE(1, add(n, 1)))));
			output("count", size(x));
		}
	E
	tool trace p.c > p.mp
	tool show p.mp | grep -q 'vars {n: \[2, 9\], m: \[1, 4\]}'
	ok tool run p.mp x=rand y=rand n=4 m=2
	grep -q '^z f32\[4\]' <<< "$output"
	grep -q '^16' <<< "$output"
	sed 's/size(x)/dim(x, 0)/' p.c > q.c
	faulty 3 'q.c:5: dim: the size is not known while tracing' tool trace q.c
	sed 's/SIZE(m, 1, 4)/SIZE(m, 4, 1)/' p.c > q.c
	faulty 4 'q.c:2: m: the limits of a size' tool trace q.c
	sed 's/SIZE(m, 1, 4)/SIZE(n, 1, 4)/' p.c > q.c
	faulty 4 'does not compile' tool trace q.c
}

@test "C++: places of operators, missing values, plain numbers" {
	with_cxx
	cat > p.cpp <<-'E'
		#include <sluice/tensor.h>
		#include <cmath>
		using namespace sluice;
		SLUICE_FUNCTION(f, ARG(x, F64, 3))
		{
			double c = sin(0.5) + std::pow(2, 0.5) + std::max(1, 2);
			Tensor y = 1;
			y += x * c;
			y -= -x;
			y = ((y > 1) & !(y >= 2)) | (x == y);
			std::vector<Tensor> rows = {x, 2 * x};
			Tensor two[2] = {x, -x};
			std::vector<bool> bits = {true, false, true};
			output("t", where(bits, stack(two)[0], concat(two, KW(axis, 0))(RANGE(3, NONE))));
			output("y", y);
			output("r", stack(list(rows)) + at(x, 0) + x(RANGE(0, 3, 2))[1]);
			output("s", x << 1);
		}
	E
	faulty 4 'p.cpp:17: ' tool trace p.cpp
	sed -i '/<< 1/d' p.cpp
	ok tool run --interpret <(tool trace p.cpp) x=rand
	grep -q '^y bool\[3\]' <<< "$output"
	sed 's/y += x/y += zeros({2}) * x/' p.cpp > q.cpp
	faulty 4 'q.cpp:8: shapes [2] and [3] do not match' tool trace q.cpp
	sed 's/Tensor y = 1/Tensor y/' p.cpp > q.cpp
	faulty 4 'q.cpp:8: a Tensor that was never given a value' tool trace q.cpp
	sed 's/Tensor y = 1/throw 1; Tensor y/' p.cpp > q.cpp
	capture tool trace q.cpp
	[ "$status" = 1 ]
	[ ! -s stdout ]
	grep -q 'called abort' <<< "$errors"
}

@test "make install: the header is found by the installed tools" {
	make -s -C "$ROOT" -o all B="${BIN%/bin}" install PREFIX="$PWD/usr" > log 2>&1 || { cat log; return 1; }
	program 'output("y", x);' > p.c
	usr/bin/sluice trace p.c > p.mp
	"${CC:-cc}" -std=gnu11 -I usr/include -shared -fPIC -o p.so p.c
	[ -s p.mp ]
	[ -s p.so ]
}
