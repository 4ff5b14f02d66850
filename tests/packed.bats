#!/usr/bin/env bats
# Libraries of packed modules: from C, C++ and Python with equal results, and by `run` (pack.py).

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# numpy COMMAND…: by a Python that has NumPy
with_numpy() {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c "import numpy" 2> /dev/null || skip "no numpy"
	"$python" "$@"
}

# The functions that a library is made of here: a scalar one; permuted and viewed outputs over a
# captured constant; a state; a gradient and a sparse Jacobian.
sources() {
	cat > half.t <<-'END'
		input x f64[]
		output y = exp(-x) / 2
	END
	cat > turn.t <<-'END'
		input a f32[2, 3]
		const c f32 = [10, 20, 30]
		output b = (a + c).T, top = a[:1]
	END
	cat > count.t <<-'END'
		input x f32[n, 8] where n in 1..64
		state calls i64 = 0
		state sum f32[8] = [0, 0, 0, 0, 0, 0, 0, 0.5]
		calls <- calls + 1
		sum <- sum + x.sum(0)
		output y = sum + 1, number = calls, mean = x.mean(1)
	END
	cat > chain.t <<-'END'
		input x f64[n] where n in 2..100000
		r = x[1:] - x[:-1] ** 2
		output r, loss = sum(r * r + (1 - x[:-1]) ** 2)
	END
	trace chain.t > chain.mp
	jac -o r -w x --only --sparse --set n=4 chain.mp > jacobian.mp
	grad -o loss -w x chain.mp > gradient.mp
	for f in half turn count; do trace $f.t > $f.mp; done
	for f in half turn count jacobian gradient; do
		fuse $f.mp | render -t clang > $f.program
	done
}
packed="half=half.program turn=turn.program count=count.program jacobian=jacobian.program gradient=gradient.program"

@test "a scalar, permuted and viewed outputs, states, a gradient, a sparse Jacobian: C, C++, Python and run" {
	sources
	ok pack --name seed --so --hpp -o lib $packed
	[ "$(cd lib; echo *)" = "libseed.so seed.h seed.hpp seed.pc seed.py seed_module.h" ]
	cat > main.c <<-'END'
		#include "seed.h"
		#include <stdio.h>
		static void print(const char *name, int n, const double *at)
		{
			printf("%s", name);
			for (int i = 0; i < n; i++)
				printf(" %.17g", at[i]);
			printf("\n");
		}
		static void printf_(const char *name, int n, const float *at)
		{
			double wide[64];
			for (int i = 0; i < n; i++)
				wide[i] = at[i];
			print(name, n, wide);
		}
		int main(void)
		{
			static _Alignas(64) unsigned char ws[1 << 16];
			double x[4] = {1, 2, 3, 4}, y, r[3], loss, g[4], values[6];
			float a[6] = {1, 2, 3, 4, 5, 6}, b[6], top[3], rows[16], sum[8], mean[2];
			int64_t calls;
			int bad = 0;
			for (int i = 0; i < 16; i++)
				rows[i] = (float)i / 3;
			seed_half_args h = {.x = x, .y = &y};
			bad |= seed_half_init_ws(ws) || seed_half_call(&h, ws, NULL);
			print("half", 1, &y);
			seed_turn_args t = {.a = a, .b = b, .top = top};
			bad |= seed_turn_init_ws(ws) || seed_turn_call(&t, ws, NULL);
			printf_("b", 6, b);
			printf_("top", 3, top);
			seed_count_args c = {.n = 2, .x = rows, .y = sum, .number = &calls, .mean = mean};
			seed_count_state s;
			seed_count_init_state(&s);
			for (int i = 0; i < 3; i++)
				bad |= seed_count_init_ws(ws) || seed_count_call(&c, &s, ws, NULL);
			printf_("sum", 8, sum);
			printf("calls %d\n", (int)calls);
			printf_("mean", 2, mean);
			seed_jacobian_args j = {.x = x, .jac_r_x = values};
			bad |= seed_jacobian_init_ws(ws) || seed_jacobian_call(&j, ws, NULL);
			print("jacobian", 6, values);
			seed_gradient_args d = {.n = 4, .x = x, .r = r, .loss = &loss, .grad_x = g};
			bad |= seed_gradient_init_ws(ws) || seed_gradient_call(&d, ws, NULL);
			print("loss", 1, &loss);
			print("gradient", 4, g);
			return bad;
		}
	END
	$CC -std=c11 -o main -Ilib main.c -Llib -lseed -Wl,-rpath,"$PWD/lib"
	ok ./main
	printf '%s\n' "$output" > by_c
	cat > main.py <<-'END'
		import sys
		sys.path.insert(0, "lib")
		import numpy as np
		from seed import seed
		def show(name, a): print(name, *("%.17g" % v for v in np.ravel(a)))
		show("half", seed.half(x=1.0))
		b, top = seed.turn(np.array([[1, 2, 3], [4, 5, 6]], "f4"))
		assert b.shape == (3, 2) and top.shape == (1, 3)
		show("b", b)
		show("top", top)
		rows = (np.arange(16, dtype="f4") / np.float32(3)).reshape(2, 8)
		for _ in range(3):
		    out = seed.count(x=rows)
		show("sum", out.y)
		print("calls", out.number)
		show("mean", out.mean)
		x = np.array([1, 2, 3, 4], "f8")
		show("jacobian", seed.jacobian(x=x))
		g = seed.gradient(x)
		show("loss", g.loss)
		show("gradient", g.grad_x)
		# states are the object's
		assert seed.count.states["calls"] == 3
		other = seed.count.copy()
		assert other(rows).number == 4 and seed.count(rows).number == 4
		seed.count.reset()
		assert seed.count(rows).number == 1
		def refused(text, f, *a, **k):
		    try:
		        f(*a, **k)
		    except ValueError as e:
		        assert text in str(e), e
		    else:
		        raise AssertionError(text)
		refused("dtype is float64", seed.turn, np.zeros((2, 3)))
		refused("x float32[n, 8]: its shape is another", seed.count, np.zeros((2, 7), "f4"))
		refused("outside its bounds", seed.count, np.zeros((65, 8), "f4"))
		refused("contiguous", seed.count, np.zeros((8, 8), "f4").T)
		refused("missing", seed.count)
		refused("no input or size 'z'", seed.half, 1.0, z=2)
	END
	ok with_numpy main.py
	printf '%s\n' "$output" > by_python
	cmp by_c by_python
	cat > main.cpp <<-'END'
		#include "seed.hpp"
		#include <cstdio>
		int main()
		{
			static seed::half::IN0_t x = {{1}};
			static seed::half::OUT0_t y;
			static seed::half::WS_t ws;
			if (seed::half::init_ws(ws) || seed::half::call(x, y, ws, nullptr))
				return 1;
			std::printf("half %.17g\n", y[0]);
			return 0;
		}
	END
	if command -v g++ > /dev/null; then
		g++ -std=c++17 -o by_cpp -Ilib main.cpp -Llib -lseed -Wl,-rpath,"$PWD/lib"
		ok ./by_cpp
		[ "$output" = "$(head -n 1 by_c)" ]
	fi
	ok tool run --allow-code lib/libseed.so --function half x=1
	[ "$output" = "$(tool run half.program x=1)" ]
	tool run count.program n=2 x=rand -n 5 > by_document
	tool run --allow-code lib/libseed.so --function count n=2 x=rand -n 5 | cmp - by_document
}

@test "a library is code: by leave, of pack's, with a function that it has" {
	printf 'input x f32[n] where n in 1..9\noutput y = x * 2\n' > twice.t
	trace twice.t | pack --name twice --so -o lib
	fails 3 tool run lib/libtwice.so x=1,2
	[[ "$errors" == *--allow-code* ]]
	ok tool run --allow-code lib/libtwice.so x=1,2
	[ "$output" = "y f32[2]
[2. 4.]" ]
	fails 2 tool run --allow-code lib/libtwice.so --function none x=1,2
	[[ "$errors" == *"there is twice"* ]]
	fails 2 tool run --allow-code lib/libtwice.so --profile x=1,2
	fails 4 tool run --allow-code lib/libtwice.so
	fails 4 tool run --allow-code lib/libtwice.so x=1,2,3,4,5,6,7,8,9,10
	fails 2 tool run --allow-code lib/libtwice.so x=1,2 y=3
	fails 4 tool run --allow-code "$(command -v cat)" x=1
	cp lib/libtwice.so another
	tool run --allow-code ./another x=1,2 -o out --bench=b.json --seconds 0.01
	[ -e out/y.npy ]
	[ -e b.json ]
}

@test "sizes that data gives, arrays that do not fit, from C by arrays; an archive, by pkg-config" {
	cat > some.t <<-'END'
		input x f32[n] where n in 0..20, extra i32[n], unused u8[3]
		output large = x[x > 1], count = len(x) * 10
	END
	trace some.t > some.mp || skip "no masks in the text language"
	pack --name some --static -o lib some.mp
	[ "$(cd lib; echo *)" = "libsome.a some.h some.pc some_module.h" ]
}

@test "compilers that are not there, processors that are none" {
	printf 'input x f32[2]\noutput y = x * 2\n' > twice.t
	trace twice.t | fuse | render -t c > twice.mp
	fails 1 pack --name twice --so --cc nothing -o lib twice.mp
	fails 1 pack --name twice --so --cc false -o lib twice.mp
	fails 2 pack --name twice --so --march 'x -o /tmp/y' -o lib twice.mp
	fails 2 pack --name twice --so --weights file -o lib twice.mp
	[ ! -e lib ]
	case $(uname -m) in
	x86_64) ok pack --name twice --so --march x86-64 -o lib twice.mp ;;
	*) ok pack --name twice --so -o lib twice.mp ;;
	esac
	cp -r lib other
	pack --name twice --so -v -o other twice.mp 2>&1 | grep -q -- '-ffp-contract=off'
}

@test "documents packed as libraries, from Python and by run, have the bits of run" {
	with_numpy "$TESTS/pack.py" "$BIN" "$TESTS"/golden/{softmax,state,symbolic,sort,scatter,rand,view,permuted,conv2d}.t
	TARGET=c with_numpy "$TESTS/pack.py" "$BIN" "$TESTS"/golden/{state,symbolic}.t
}
