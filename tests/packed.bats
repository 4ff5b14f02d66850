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

@test "sizes without bounds get some, the caller's and those that data gives, and are held to them" {
	cat > open.t <<-'END'
		input x f32[batch, seq] where batch in 1..2147483648, seq in 1..2147483648
		output y = softmax(x.T @ x) @ (x.T)
	END
	cat > pairs.t <<-'END'
		input x f32[n] where n in 0..2147483648
		t = x[x > 0.5]
		output y = outer(t, t).sum(1)
	END
	for f in open pairs; do trace $f.t | fuse > $f.mp; done
	fails 3 pack --name m -o lib open.mp
	[[ "$errors" == *" [seq,"*"its size has no bound"*"--max"* ]]
	fails 2 pack --max seq=5 --name m -o lib pairs.mp
	fails 2 pack --max sqe=5 --max batch=4 --max seq=5 --name m -o lib open.mp
	[[ "$errors" == *"'sqe'; did you mean 'seq'?"* ]]
	for wrong in seq seq= =5 seq=x seq=-1 seq=5x seq=99999999999999999999 seq=0; do
		fails 2 pack --max "$wrong" --max batch=4 --name m -o lib open.mp
	done
	[ ! -e lib ]
	ok pack --max batch=4 --max seq=5 --max n=100 --max count=3 --name m -o lib open.mp pairs.mp
	cat > main.c <<-'END'
		#include "m.h"
		#include <stdio.h>
		static _Alignas(64) unsigned char ws[1 << 14];
		static float x[100], y[m_open_y_BYTES_MAX / 4];
		_Static_assert(m_open_y_BYTES_MAX == 5 * 4 * 4 && m_open_batch_MAX == 4, "");
		_Static_assert(m_pairs_y_BYTES == 3 * 4 && m_pairs_count_MAX == 3, "");
		static int open_(int64_t batch, int64_t seq)
		{
			m_open_args a = {.batch = batch, .seq = seq, .x = x, .y = y};
			if (batch <= 4 && seq <= 5 && m_open_ws_bytes(&a) > (int64_t)sizeof ws)
				return 99;
			return m_open_call(&a, ws);
		}
		static int pairs(int64_t n)
		{
			m_pairs_args a = {.n = n, .x = x, .y = y};
			if (n <= 100 && m_pairs_ws_bytes(&a) > (int64_t)sizeof ws)
				return 99;
			int is = m_pairs_call(&a, ws);
			return is ? is : (int)a.count;
		}
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				x[i] = (float)(i % 25 == 7) + 0.25f;
			printf("%d %d %d\n", open_(5, 5) == m_SIZE, open_(4, 6) == m_SIZE, open_(4, 5));
			for (int i = 0; i < 20; i++)
				printf("%.4f ", y[i]);
			printf("\n%d %d %d\n", pairs(101) == m_SIZE, pairs(100) == m_SIZE, pairs(80));
			printf("%.4f %.4f %.4f\n", y[0], y[1], y[2]);
		}
	END
	ok $CC -O1 -fsanitize=address,undefined -Ilib -o main main.c lib/m.c -lm
	ok ./main
	[ "$(sed -n 1p <<< "$output")" = "1 1 0" ]
	[ "$(sed -n 3p <<< "$output")" = "1 1 3" ]
	[ "$(sed -n 4p <<< "$output")" = "4.6875 4.6875 4.6875" ]
	sed -n 2p <<< "$output" > by_c
	cat > same.py <<-'END'
		import numpy as np
		x = (np.arange(20) % 25 == 7).reshape(4, 5).astype("f4") + np.float32(0.25)
		s = x.T @ x
		e = np.exp(s - s.max(1, keepdims=True))
		want = e / e.sum(1, keepdims=True) @ x.T
		assert np.allclose(np.loadtxt("by_c"), want.reshape(-1), 0, 2e-4)
	END
	with_numpy same.py
}

@test "called by arrays, from C: sizes that data gives, what is not read, arrays that do not fit; an archive" {
	cat > some.t <<-'END'
		input x f32[n, 2] where n in 0..20
		input extra i32[n + 1]
		input unused u8[3]
		flat = x.reshape(-1)
		output large = flat[flat > 1], twice = x * 2
	END
	cat > main.c <<-'END'
		#include "some_module.h"
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		static const packed_function *f;
		static int64_t size[2];
		static void *ws;
		/* the error, and the number of the array, if not what is wanted */
		static void expect(const char *what, int error, int array, int is)
		{
			if ((is & 255) != error || is >> 8 != array)
				printf("%s: %d of %d\n", what, is & 255, is >> 8);
		}
		int main(void)
		{
			float x[8] = {0, 2, 1, 3, 0, 5, 1, 1}, large[40], twice[8];
			int64_t xs[2] = {4, 2}, es[1] = {5}, ls[1] = {40}, ts[2] = {4, 2}, steps[2] = {2, 1}, wide[2] = {1, 4};
			packed_tensor a = {.data = (char *)x - 4, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1},
				.shape = xs, .strides = steps, .byte_offset = 4};
			packed_tensor e = {.device = {1, 0}, .ndim = 1, .dtype = {0, 32, 1}, .shape = es};
			packed_tensor l = {.data = large, .device = {1, 0}, .ndim = 1, .dtype = {2, 32, 1}, .shape = ls};
			packed_tensor t = {.data = twice, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = ts};
			const packed_tensor *in[3] = {&a, &e, NULL};
			packed_tensor *out[2] = {&l, &t};

			for (int i = 0; i < some_module.functions; i++)
				if (!strcmp(some_module.function[i].name, "some"))
					f = &some_module.function[i];
			if (!f || f->sizes != 2 || f->inputs != 3 || f->outputs != 2 || strcmp(f->input[2].name, "unused"))
				return 1;
			for (int i = 0; i < f->inputs; i++)
				printf("%s %d%s ", f->input[i].name, f->input[i].ndim, f->input[i].read ? "" : " unread");
			printf("%s[%s] of %d bytes\n", f->output[0].name, f->output[0].dim[0].text,
				(int)f->room((int64_t[]){4, 0}, 0));
			size[0] = size[1] = -1;
			expect("check", 0, 0, f->check(in, size));
			ws = aligned_alloc(64, (size_t)f->ws_bytes(size) / 64 * 64 + 64);
			expect("init", 0, 0, f->init_ws(size, ws, NULL));
			expect("call", 0, 0, f->call(in, out, size, NULL, ws, NULL));
			printf("%d %d: %g %g %g\n", (int)ls[0], (int)size[0], (double)large[0], (double)large[1],
				(double)large[2]);
			expect("room", PACKED_ROOM, 4, f->call(in, out, size, NULL, ws, NULL));
			ls[0] = 40;
			in[1] = NULL;
			expect("unread", 0, 0, f->call(in, out, size, NULL, ws, NULL));
			ls[0] = 40;
			a.dtype.bits = 64;
			expect("dtype", PACKED_DTYPE, 1, f->call(in, out, size, NULL, ws, NULL));
			a.dtype.bits = 32;
			a.strides = wide;
			expect("strides", PACKED_STRIDES, 1, f->call(in, out, size, NULL, ws, NULL));
			a.strides = NULL;
			a.device.type = 2;
			expect("device", PACKED_DEVICE, 1, f->call(in, out, size, NULL, ws, NULL));
			a.device.type = 1;
			in[1] = &e;
			es[0] = 4;
			expect("shape", PACKED_SHAPE, 2, f->call(in, out, size, NULL, ws, NULL));
			es[0] = 5;
			ts[0] = 3;
			expect("output", PACKED_SHAPE, 5, f->call(in, out, size, NULL, ws, NULL));
			ts[0] = 4;
			in[0] = NULL;
			expect("missing", PACKED_MISSING, 1, f->call(in, out, size, NULL, ws, NULL));
			in[0] = &a;
			a.data = NULL;
			expect("data", PACKED_MISSING, 1, f->call(in, out, size, NULL, ws, NULL));
			a.data = x;
			a.byte_offset = 0;
			expect("align", PACKED_ALIGN, 0, f->call(in, out, size, NULL, (char *)ws + 4, NULL));
			size[0] = 21;
			expect("size", PACKED_SIZE, 0, f->call(in, out, size, NULL, ws, NULL));
			size[0] = 3;
			expect("other size", PACKED_SHAPE, 1, f->call(in, out, size, NULL, ws, NULL));
			free(ws);
			return 0;
		}
	END
	trace some.t | fuse | render -t clang > some.mp
	ok pack --name some --static -o lib some.mp
	[ "$(cd lib; echo *)" = "libsome.a some.h some.pc some_module.h" ]
	$CC -std=c11 -o main main.c -Ilib -Llib -lsome -lm
	ok ./main
	[ "$output" = "x 2 extra 1 unread unused -1 unread large[count] of 32 bytes
3 4: 2 3 5" ] || { echo "$output"; return 1; }
	if command -v pkg-config > /dev/null; then
		$CC -std=c11 -o main main.c $(PKG_CONFIG_PATH=lib pkg-config --cflags --libs --static some)
		ok ./main
	fi
	# the same from the sources, without a warning, with sanitizers
	ok pack --name some --module -o src some.mp
	[ "$(cd src; echo *)" = "some.c some.h some_module.c some_module.h" ]
	$CC -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -c -o module.o src/some_module.c
	$CC -std=gnu11 -w -g -fsanitize=address,undefined -o main main.c -Isrc src/*.c -lm
	ok ./main
	if command -v g++ > /dev/null; then
		g++ -x c++ -Wall -Wextra -Werror -c -o module.o src/some_module.c
	fi
}

@test "compilers that are not there, processors that are none" {
	printf 'input x f32[2]\noutput y = x * 2\n' > twice.t
	trace twice.t | fuse | render -t c > twice.mp
	fails 1 pack --name twice --so --cc nothing -o lib twice.mp
	fails 1 pack --name twice --so --cc false -o lib twice.mp
	fails 2 pack --name twice --so --march 'x -o /tmp/y' -o lib twice.mp
	[ ! -e lib ]
	case $(uname -m) in
	x86_64) ok pack --name twice --so --march x86-64 -o lib twice.mp ;;
	*) ok pack --name twice --so -o lib twice.mp ;;
	esac
	# another machine's compiler has a processor of its own
	if command -v aarch64-linux-gnu-gcc > /dev/null; then
		ok pack --name twice --static --threads none --cc aarch64-linux-gnu-gcc -o cross twice.mp
	fi
	cp -r lib other
	pack --name twice --so -v -o other twice.mp 2>&1 | grep -q -- '-ffp-contract=off'
}

@test "documents packed as libraries, from Python and by run, have the bits of run" {
	with_numpy "$TESTS/pack.py" "$BIN" "$TESTS"/golden/{softmax,state,symbolic,sort,scatter,rand,view,permuted,conv2d}.t
	TARGET=c with_numpy "$TESTS/pack.py" "$BIN" "$TESTS"/golden/{state,symbolic}.t
	with_numpy "$TESTS/pack.py" "$BIN" "$TESTS"/ops/{f32,i64,bf16}.mp
}

@test "sources as one file, which build themselves and say whether they compute what was recorded" {
	sources
	printf 'w = rand([300, 300], 1)\ninput x f32[n, 300] where n in 1..8\noutput y = x @ w, some = x[x > 0.5]\n' > wide.t
	trace wide.t | fuse | render -t clang > wide.program
	ok pack --name seed --tar --weights object --hpp -o lib $packed wide=wide.program
	[ "$(echo lib/*)" = lib/seed.tar ]
	tar xf lib/seed.tar
	[ "$(cd seed; echo *)" = "Makefile seed.c seed.h seed.hpp seed.pc seed.py seed_module.c seed_module.h seed_test.bin seed_test.c seed_weights.S seed_weights.bin" ]
	# as somebody who has nothing of this project
	made() { env -i PATH=/usr/bin:/bin HOME=/ make -s -C seed CC="$CC" "$@"; }
	ok made test
	[ "$output" = "half: as recorded
turn: as recorded
count: as recorded
jacobian: as recorded
gradient: as recorded
wide: as recorded" ]
	ok made install PREFIX="$PWD/to"
	[ "$(cd to; echo */*)" = "include/seed.h include/seed.hpp include/seed_module.h lib/libseed.a lib/libseed.so lib/pkgconfig" ]
	# the first output of the file is that of half, of its first input
	printf '\1' | dd of=seed/seed_test.bin bs=1 seek=14 conv=notrunc 2> /dev/null
	capture made test
	[ "$status" != 0 ]
	[[ "$errors" == *"y: it is not what was recorded"* ]]
	# the same bytes again
	ok pack --name seed --tar --weights object --hpp -o again $packed wide=wide.program
	cmp lib/seed.tar again/seed.tar
}

# model NAME [OPTION…]: a small model of models/small (weights at random, the structure of the real one)
model() {
	tool trace "$TESTS/models/small/$1.onnx" "${@:2}" > $1.graph 2> why || { grep -q 'without ONNX' why && skip "built without ONNX"; cat why; return 1; }
	ok pack --name $1 --so -o lib $1.graph
}

@test "ResNet-50 and BERT from Python: their reference, and the bits of run" {
	model resnet50
	model bert_base --set batch=1 --set seq=32
	cat > main.py <<-'END'
		import sys
		import numpy as np
		sys.path.insert(0, "lib")
		from resnet50 import resnet50
		from bert_base import bert_base
		for f, name in (resnet50, "resnet50"), (bert_base, "bert_base"):
		    given = np.load("%s/%s.1.npz" % (sys.argv[1], name))
		    out = f(**given)
		    out = out if isinstance(out, tuple) else (out,)
		    want = np.load("%s/%s.1.out.npz" % (sys.argv[1], name))
		    by_run = np.load(name + ".npz")
		    for s, a in zip(f.outputs, out):
		        assert np.allclose(a, want[s.name], 1e-4, 1e-5), (name, s)
		        assert a.tobytes() == by_run[s.name].tobytes(), (name, s)
	END
	for name in resnet50 bert_base; do
		inputs=$(unzip -Z1 "$TESTS/models/small/$name.1.npz" 2> /dev/null || python3 -c 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist())' "$TESTS/models/small/$name.1.npz")
		tool run $name.graph $(for i in $inputs; do echo "${i%.npy}=$TESTS/models/small/$name.1.npz"; done) -o $name.npz
	done
	with_numpy main.py "$TESTS/models/small"
}

@test "ResNet-50 and BERT from C: a program of 20 lines, their reference" {
	[ "$(wc -l < "$ROOT/pipelines/networks.c")" -le 20 ]
	model resnet50 --set batch=1
	model bert_base --set batch=1 --set seq=32
	ok pack --name nets --static -o lib resnet50=resnet50.graph bert=bert_base.graph
	cat > bytes.py <<-'END'
		import sys
		import numpy as np
		def load(name):
		    return np.load("%s/%s" % (sys.argv[1], name))
		image, words = load("resnet50.1.npz"), load("bert_base.1.npz")
		if sys.argv[2:]:
		    a = np.frombuffer(open("out", "rb").read(), "f4")
		    image, words = load("resnet50.1.out.npz"), load("bert_base.1.out.npz")
		    want = [image["output"], words["last_hidden_state"], words["pooler_output"]]
		    want = np.concatenate([w.reshape(-1) for w in want])
		    assert a.shape == want.shape and np.allclose(a, want, 1e-4, 1e-5)
		else:
		    for a in image["input"], words["input_ids"], words["attention_mask"], words["token_type_ids"]:
		        sys.stdout.buffer.write(a.tobytes())
	END
	with_numpy bytes.py "$TESTS/models/small" > in
	ok $CC -O2 -Wall -Wextra -Ilib -o networks "$ROOT/pipelines/networks.c" lib/libnets.a -lm
	env -i ./networks < in > out
	with_numpy bytes.py "$TESTS/models/small" compare
}

@test "states of a library are saved and loaded as those of its document" {
	sources
	ok pack --name count --so -o lib count.program
	tool run count.program n=2 x=rand -n 5 --save want.safetensors > want
	tool run --allow-code lib/libcount.so n=2 x=rand -n 3 --save three.safetensors > three
	tool run --allow-code lib/libcount.so n=2 x=rand -n 2 --load three.safetensors --save five.safetensors | cmp - want
	cmp five.safetensors want.safetensors
	tool run count.program n=2 x=rand -n 2 --load three.safetensors | cmp - want
	printf 'input x f32[4]\nstate sum f32[4] = [0, 0, 0, 0]\nsum <- sum + x\noutput y = sum\n' > other.t
	trace other.t | fuse | tool run x=1,2,3,4 --save other.safetensors > other
	fails 4 tool run --allow-code lib/libcount.so n=2 x=rand --load other.safetensors
	fails 2 tool run --allow-code lib/libcount.so n=2 x=rand --save a.safetensors --save-every 2
	fails 2 tool run --allow-code lib/libcount.so n=2 x=rand --feed x=x.npy,batch=2
}

@test "weights in a file beside a library: from C, Python, by run, in an archive, and not those of another" {
	printf 'w = rand([64, 64], 1)\nconst b f32 = [%s]\ninput x f32[n, 64] where n in 1..8\noutput y = x @ w + b\n' \
		"$(seq -s, 64)" > wide.t
	trace wide.t | fuse | render -t clang > wide.mp
	tool run wide.mp n=3 x=rand > want
	local how
	for how in "" --prepare; do
		rm -rf lib other
		ok pack --name wide --so --static --tar --weights file $how -o lib wide.mp
		[ "$(cd lib; echo *)" = "libwide.a libwide.so wide.h wide.pc wide.py wide.tar wide_module.h wide_weights.bin" ]
		tool run --allow-code lib/libwide.so n=3 x=rand | cmp - want
		cat > main.py <<-'END'
			import sys
			sys.path.insert(0, "lib")
			import numpy as np
			from wide import wide
			x = np.load("x.npy")
			print("same" if np.array_equal(wide(x=x), np.load("y.npy")) else "another")
		END
		with_numpy -c 'import numpy as np; np.save("x.npy", np.arange(192, dtype="f4").reshape(3, 64) / 7)'
		tool run wide.mp x=x.npy -o y.npy
		ok with_numpy main.py
		[ "$output" = same ]
		(cd lib && tar xf wide.tar)
		ok env -i PATH=/usr/bin:/bin HOME=/ make -s -C lib/wide CC="$CC" test
		[ "$output" = "wide: as recorded" ]
		mkdir other
		cp lib/libwide.so lib/wide.py other
		fails 4 tool run --allow-code other/libwide.so n=3 x=rand
		[[ "$errors" == *"other/wide_weights.bin: it cannot be mapped"* ]]
		cp lib/wide_weights.bin other
		printf x | dd of=other/wide_weights.bin bs=1 seek=100 conv=notrunc 2> /dev/null
		fails 4 tool run --allow-code other/libwide.so n=3 x=rand
		sed -i s/lib/other/ main.py
		capture with_numpy main.py
		[[ "$errors" == *"ImportError: "*"wide_weights.bin: it cannot be mapped"* ]]
	done
}

@test "programs with loops and branches that are data, packed: the bits of run" {
	local seed=${SEED:-1} i
	for i in 0 1 2; do
		mkdir $i
		with_numpy "$TESTS/text_loops.py" $((seed + i)) $i
		mv $i/p.t $i.t
	done
	cat > found.t <<-'END'
		input x f32[n, 4] where n in 0..12
		flat = x.reshape(-1)
		rest = 1.0
		while rest > 0.01 {
			rest = rest * sum(x[:0]) + rest / 4
		}
		output large = flat[flat > 0.5], pairs = nonzero(x > 0.7), twice = flat[flat > 0.5] * 2 + rest
	END
	with_numpy "$TESTS/pack.py" "$BIN" [0-2].t found.t
	TARGET=c with_numpy "$TESTS/pack.py" "$BIN" 0.t found.t > by_c
	grep -q '^2 passed, 0 failed' by_c
}
