#!/usr/bin/env bats
# What pack writes compiles without warnings, needs nothing else, and computes what run does.

load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "a module with a state, a symbolic size and a constant" {
	cat > scores.t <<-'END'
		input x f32[n, 8] where n in 1..64
		const w f32 = [[1, 0, -1, 2, 1, 1, 1, 1], [0.5, 0.5, 0, 0, 1, 1, 1, 1]]
		state calls i64 = 0
		calls <- calls + 1
		output y = softmax(relu(x @ w.T)), c = calls
	END
	cat > main.c <<-'END'
		#include "lib/scores.h"
		#include <stdio.h>
		#include <stdlib.h>
		int main(void)
		{
			static float x[3 * 8], y[6];
			int64_t c;
			scores_args a = {3, x, y, &c};
			scores_state s;
			void *ws = aligned_alloc(scores_WS_ALIGN, (size_t)scores_ws_bytes(&a));

			for (int i = 0; i < 24; i++)
				x[i] = 0.5f;
			scores_init_state(&s);
			if (scores_init_ws(&a, ws) || scores_call(&a, &s, ws) || scores_call(&a, &s, ws))
				return 1;
			for (int i = 0; i < 6; i++)
				printf("%.6g ", (double)y[i]);
			printf("%d", (int)c);
			a.n = 65;
			printf(" %d", scores_call(&a, &s, ws) == scores_SIZE);
			a.n = 3;
			printf(" %d\n", scores_call(&a, &s, (char *)ws + 4) == scores_ALIGN);
			free(ws);
			return 0;
		}
	END
	trace scores.t | fuse | render -t clang | pack --name scores -o lib
	[ "$(echo lib/*)" = "lib/scores.c lib/scores.h" ]
	$CC -O1 -Wall -Wextra -fsanitize=address,undefined -o main main.c lib/scores.c -lm 2> /dev/null
	ok ./main
	[ "$output" = "0.622459 0.377541 0.622459 0.377541 0.622459 0.377541 2 1 1" ]
}

@test "names that C cannot have, and wrong ones of the module" {
	printf 'input int f32[2]\noutput double = int * 2\n' > odd.t
	trace odd.t | fuse | render -t clang > odd.mp
	ok pack --name odd -o lib odd.mp
	ok $CC -c -o /dev/null lib/odd.c
	fails 2 pack --name for -o lib2 odd.mp
	fails 2 pack --name 'a b' -o lib2 odd.mp
	[ ! -e lib2 ]
}

# net [OPTION…]: packs a net with 300 kB of constants and runs it with main.c's options
net() {
	[ -e net.mp ] || {
		cat > net.t <<-'END'
			input x f32[64, 256]
			w = rand([256, 256], 1)
			h = relu(x @ w)
			output y = softmax(h @ w.T, axis=-1)
		END
		trace net.t | fuse | render -t clang > net.mp
		cat > main.c <<-'END'
			#include "net.h"
			#include <stdio.h>
			#include <stdlib.h>
			static float x[64 * 256], y[64 * 256];
			int main(void)
			{
				net_args a = {.x = x, .y = y};
			#ifdef POOL
				void *ws = aligned_alloc(net_WS_ALIGN, net_WS_BYTES + 2 * net_THREAD_BYTES);
				net_pool *pool = net_pool_start(3);
				net_threads threads = net_pool_threads(pool);
			#else
				void *ws = aligned_alloc(net_WS_ALIGN, net_WS_BYTES);
			#endif
			#ifdef net_WEIGHTS_BYTES
			#ifdef FROM_FILE
				a.weights = net_open_weights("lib/net_weights.bin");
				if (!a.weights)
					return 3;
			#endif
			#endif
				for (int i = 0; i < 64 * 256; i++)
					x[i] = (float)(i * 37 % 101) / 50 - 1;
			#ifdef FROM_FILE_NARROW
				if (net_init_ws(&a, ws))
			#else
				if (net_init_ws(ws))
			#endif
					return 1;
			#ifdef POOL
				for (int i = 0; i < 200; i++)
					if (net_call(&a, ws, i % 7 ? &threads : NULL))
						return 2;
				net_pool_stop(pool);
			#else
				if (net_call(&a, ws))
					return 2;
			#endif
				fwrite(y, 1, sizeof y, stdout);
				free(ws);
				return 0;
			}
		END
	}
	rm -rf lib
	pack --name net -o lib "$@" net.mp
}
RULES="-O2 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -fno-strict-aliasing -w"

@test "threads and places of constants change no bit" {
	net
	$CC $RULES -o main -Ilib main.c lib/net.c -lm
	./main > plain
	[ "$(wc -c < plain)" = 65536 ]
	net --threads pool
	[ "$(cd lib; echo *)" = "net.c net.h net_pool.c" ]
	$CC $RULES -DPOOL -o main -Ilib main.c lib/*.c -lm -lpthread
	./main | cmp - plain
	net --weights object
	[ "$(cd lib; echo *)" = "net.c net.h net_weights.S net_weights.bin" ]
	$CC $RULES -o main -Ilib -Wa,-Ilib main.c lib/net.c lib/net_weights.S -lm
	./main | cmp - plain
	net --weights file
	$CC $RULES -DFROM_FILE -o main -Ilib main.c lib/*.c -lm
	./main | cmp - plain
	printf x | dd of=lib/net_weights.bin bs=1 seek=100 conv=notrunc 2> /dev/null
	capture ./main
	[ "$status" = 3 ]
	net --prepare
	$CC $RULES -o main -Ilib main.c lib/net.c -lm
	./main | cmp - plain
}

@test "memory that has several types in turn, by compilers that go by types" {
	cat > turns.t <<-'END'
		input x f32[64]
		i = argsort(x)
		a = sort(exp(x))
		b = cumsum(i)
		c = cumsum(a)
		d = sort(b * 3 % 17)
		e = sort(c * 0.5)
		output y = cumsum(d), z = cumsum(e) + sort(x * 3)
	END
	cat > main.c <<-'END'
		#include "lib/turns.h"
		#include <stdio.h>
		int main(void)
		{
			static _Alignas(64) unsigned char ws[turns_WS_BYTES];
			float x[64], z[64];
			int64_t y[64];
			turns_args a = {.x = x, .y = y, .z = z};
			for (int i = 0; i < 64; i++)
				x[i] = (float)(i * 37 % 64) / 32;
			for (int k = 0; k < 3; k++)
				if (turns_init_ws(ws) || turns_call(&a, ws))
					return 1;
			fwrite(y, sizeof y, 1, stdout);
			fwrite(z, sizeof z, 1, stdout);
		}
	END
	trace turns.t | fuse > turns.mp
	local t cc
	for t in clang c; do
		rm -rf lib
		ok pack --name turns -t $t -o lib turns.mp
		grep -q '(int64_t \*)(void \*)(base + 0)' lib/turns.c
		grep -q '(float \*)(void \*)(base + 0)' lib/turns.c
		[ "$(grep -c 'turns_BARRIER;' lib/turns.c)" -gt 8 ]
		$CC $RULES -O0 -o main main.c lib/turns.c -lm
		./main > plain
		for cc in gcc clang; do
			command -v $cc > /dev/null || continue
			$cc $RULES -O3 -fstrict-aliasing -o main main.c lib/turns.c -lm
			./main | cmp - plain
		done
	done
}

@test "options of pack that are wrong" {
	net
	fails 2 pack --name net --threads 3 net.mp
	fails 2 pack --name net --weights here net.mp
	fails 2 pack net.mp
	fails 4 pack --name net /dev/null
	head -c 100 net.mp > short.mp
	fails 4 pack --name net -o none short.mp
	[ ! -e none ]
}

@test "the stack that kernels need is what is said" {
	cat > deep.t <<-'END'
		input a f32[256, 300]
		input b f32[300, 280]
		input c f32[280, 64]
		output y = softmax(a @ b) @ c
	END
	trace deep.t | fuse > deep.mp
	ok pack --name deep -o lib deep.mp
	said=$(sed -n 's/^#define deep_STACK_BYTES //p' lib/deep.h)
	[ "$said" -ge 512 ]
	most() { ok $CC "$1" -w -fstack-usage -c -o deep.o lib/deep.c; cut -f 2 deep.su | sort -n | tail -n 1; }
	[ "$(most -O0)" -ge "$said" ]
	[ "$(most -O2)" -le $((said + 16384)) ]
}

@test "of arrays and accumulators, those count that are there at once" {
	cat > halves.txt <<-'END'
		sluice 1 loops
		%0 = CONST i64 2
		%1 = CONST i64 32
		%2 = CONST f32 1.0
		%3 = BUFFER f32 {name: "y", shape: [64], role: "output"}
		%4 = BUFFER f32 {name: "z", shape: [64], role: "output"}
		%5 = PARAM f32 {slot: 0, shape: [64]}
		%6 = PARAM f32 {slot: 1, shape: [64]}
		%7 = RANGE i64 %0 [0, "loop"]
		%8 = DEFINE_REG f32 [0, 32]
		%9 = RANGE i64 %1 [1, "loop"]
		%10 = INDEX f32 %8 %9
		%11 = STORE %10 %2
		%12 = ENDRANGE %9
		%13 = RANGE i64 %1 [2, "loop"]
		%14 = INDEX f32 %8 %13
		%15 = LOAD f32 %14
		%16 = MUL i64 %7 %1
		%17 = ADD i64 %16 %13
		%18 = INDEX f32 %5 %17
		%19 = STORE %18 %15
		%20 = ENDRANGE %13
		%21 = ENDRANGE %7
		%22 = RANGE i64 %0 [3, "loop"]
		%23 = DEFINE_REG f32 [1, 32]
		%24 = RANGE i64 %1 [4, "loop"]
		%25 = INDEX f32 %23 %24
		%26 = STORE %25 %2
		%27 = ENDRANGE %24
		%28 = RANGE i64 %1 [5, "loop"]
		%29 = INDEX f32 %23 %28
		%30 = LOAD f32 %29
		%31 = MUL i64 %22 %1
		%32 = ADD i64 %31 %28
		%33 = INDEX f32 %6 %32
		%34 = STORE %33 %30
		%35 = ENDRANGE %28
		%36 = ENDRANGE %22
		%37 = KERNEL %7 %8 %9 %11 %12 %13 %19 %20 %21 %22 %23 %24 %26 %27 %28 %34 %35 %36 {name: "k", target: "c"}
		%38 = CALL %37 %3 %4
		%39 = SINK %38 {names: ["y", "z"]}
	END
	cat > values.txt <<-'END'
		sluice 1 loops
		%0 = CONST i64 0
		%1 = CONST f32 1.0
		%2 = BUFFER f32 {name: "y", shape: [], role: "output"}
		%3 = PARAM f32 {slot: 0, shape: []}
		%4 = DEFINE_REG f32 [0, 1]
		%5 = DEFINE_REG f32 [1, 1]
		%6 = DEFINE_REG f32 [2, 1]
		%7 = INDEX f32 %4 %0
		%8 = STORE %7 %1
		%9 = LOAD f32 %7
		%10 = INDEX f32 %5 %0
		%11 = STORE %10 %9
		%12 = LOAD f32 %10
		%13 = INDEX f32 %6 %0
		%14 = STORE %13 %12
		%15 = LOAD f32 %13
		%16 = INDEX f32 %3 %0
		%17 = STORE %16 %15
		%18 = CONST i64 4
		%19 = RANGE i64 %18 [0, "loop"]
		%20 = ENDRANGE %19
		%21 = KERNEL %4 %8 %5 %11 %6 %14 %17 {name: "k", target: "c"}
		%22 = CALL %21 %2
		%23 = SINK %22 {names: ["y"]}
	END
	# in two loops beside each other; in one, where all stay; handed on; in a loop that takes each again
	said() { tool show -p "$1" > said.mp; ok pack --name said -t c -o said said.mp; sed -n 's/^#define said_STACK_BYTES //p' said/said.h; }
	[ "$(said halves.txt)" = 128 ]
	sed 's/ %21 %22 %23 %24 / %23 %24 /; s/ %35 %36 {/ %35 %21 {/; s/MUL i64 %22 %1/MUL i64 %7 %1/' halves.txt > both.txt
	[ "$(said both.txt)" = 256 ]
	[ "$(said values.txt)" = 128 ]
	sed 's/KERNEL %4 %8 %5 %11 %6 %14 %17/KERNEL %4 %5 %6 %19 %8 %11 %14 %20 %17/' values.txt > again.txt
	[ "$(said again.txt)" = 192 ]
}

@test "large arrays of kernels are in the workspace, a part for each thread, and no byte more is needed" {
	cat > rows.t <<-'END'
		input x f32[256, 700]
		output y = softmax(x), z = layernorm(x, [-1]) * 2
	END
	trace rows.t | fuse > rows.mp
	cat > main.c <<-'END'
		#include "lib/rows.h"
		#include <stdio.h>
		#include <stdlib.h>
		static float x[256 * 700], y[256 * 700], z[256 * 700];
		int main(int argc, char **argv)
		{
			int n = atoi(argv[1]);
			unsigned char *room = malloc(rows_WS_BYTES + (size_t)(n - 1) * rows_THREAD_BYTES + rows_WS_ALIGN);
			unsigned char *end = room + rows_WS_BYTES + (size_t)(n - 1) * rows_THREAD_BYTES + rows_WS_ALIGN;
			unsigned char *ws = room + rows_WS_ALIGN - (uintptr_t)room % rows_WS_ALIGN;
			rows_args a = {.x = x, .y = y, .z = z};
			rows_pool *pool = rows_pool_start(n);
			rows_threads threads = rows_pool_threads(pool);

			ws += (end - ws - (rows_WS_BYTES + (size_t)(n - 1) * rows_THREAD_BYTES)) / rows_WS_ALIGN * rows_WS_ALIGN;
			for (int i = 0; i < 256 * 700; i++)
				x[i] = (float)(i * 37 % 101) / 50 - 1;
			for (int i = 0; i < 20; i++)
				if (rows_init_ws(ws) || rows_call(&a, ws, n > 1 ? &threads : NULL))
					return 1;
			rows_pool_stop(pool);
			fwrite(y, sizeof y, 1, stdout);
			fwrite(z, sizeof z, 1, stdout);
			free(room);
		}
	END
	local t n said
	for t in clang c; do
		rm -rf lib
		ok pack --name rows -t $t --threads pool -o lib rows.mp
		said=$(sed -n 's/^#define rows_THREAD_BYTES //p' lib/rows.h)
		[ "$said" -ge 2800 ]
		[ "$(sed -n 's/^#define rows_STACK_BYTES //p' lib/rows.h)" -lt 2800 ]
		not grep -q 'buf[0-9]*\[[0-9]\{3,\}\];' lib/rows.c
		$CC $RULES -o main main.c lib/*.c -lm -lpthread
		./main 1 > plain
		$CC $RULES -g -fsanitize=address,undefined -o main main.c lib/*.c -lm -lpthread
		for n in 1 3 4; do
			ok ./main $n
			./main $n | cmp - plain
		done
	done
}

@test "several functions in a module, and C++: a gradient, a sparse Jacobian, a permuted output, a view" {
	cat > chain.t <<-'END'
		input x f64[n] where n in 2..100000
		r = x[1:] - x[:-1] ** 2
		output r, loss = sum(r * r + (1 - x[:-1]) ** 2)
	END
	cat > turn.t <<-'END'
		input a f32[2, 3]
		const c f32 = [10, 20, 30]
		output b = (a + c).T, top = a[:1], s = a[1, 2]
	END
	trace chain.t > chain.mp
	jac -o r -w x --only --sparse --set n=4 chain.mp | fuse | render -t clang > jacobian.mp
	grad -o loss -w x chain.mp | fuse | render -t clang > gradient.mp
	trace turn.t | fuse | render -t clang > turn.mp
	ok pack --name robot --hpp -o lib jacobian.mp grad=gradient.mp turn=turn.mp
	cat > main.cpp <<-'END'
		#include "lib/robot.hpp"
		#include <cstdio>
		#include <vector>
		int main()
		{
			using namespace robot;
			static jacobian::IN0_t x = {{1, 2, 3, 4}};
			static jacobian::OUT0_t values;
			static jacobian::WS_t ws;
			using P = jacobian::OUT0_pattern;
			static_assert(P::rows == 3 && P::columns == 4 && P::nonzeros == 6, "");
			static_assert(jacobian::IN0_t::shape[0] == 4 && jacobian::IN0_t::nbytes == 32, "");
			if (jacobian::init_ws(ws) || jacobian::call(x, values, ws))
				return 1;
			for (int j = 0; j < P::columns; j++)
				for (int k = P::indptr[j]; k < P::indptr[j + 1]; k++)
					std::printf("%d,%d %g\n", P::indices[k], j, values[k]);

			double r[3], loss, g[4];
			grad::IN0_t gx = {x.data, {4}};
			grad::OUT0_t gr = {r, {}};
			grad::OUT1_t gl = {&loss, {}};
			grad::OUT2_t gg = {g, {}};
			robot_grad_args args{};
			args.n = 4;
			std::vector<double> space(std::size_t(grad::ws_bytes(args)) / 8 + 16);
			void *at = space.data() + (64 - reinterpret_cast<std::uintptr_t>(space.data()) % 64) / 8;
			if (grad::init_ws(args, at) || grad::call(gx, gr, gl, gg, at))
				return 2;
			std::printf("%g | %g %g %g %g | %d\n", loss, g[0], g[1], g[2], g[3], int(gg.shape[0]));

			static turn::IN0_t a = {{1, 2, 3, 4, 5, 6}};
			static turn::OUT0_t b;
			static turn::OUT1_t top;
			static turn::OUT2_t s;
			static turn::WS_t tws;
			if (turn::init_ws(tws) || turn::call(a, b, top, s, tws))
				return 3;
			for (float v : b)
				std::printf("%g ", double(v));
			std::printf("%g %g %g | %g\n", double(top[0]), double(top[1]), double(top[2]), double(s[0]));
			return 0;
		}
	END
	command -v g++ > /dev/null || skip "no g++"
	$CC $RULES -c -o robot.o lib/robot.c
	g++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Werror -fsanitize=address,undefined -o main main.cpp robot.o -lm
	ok ./main
	[ "$output" = "0,0 -2
0,1 1
1,1 -4
1,2 1
2,2 -6
2,3 1
32 | -4 12 62 -10 | 4
11 14 22 25 33 36 1 2 3 | 6" ] || { echo "$output"; return 1; }
}

@test "constants in half the bytes: what is said of it is what it is" {
	local how
	net
	$CC $RULES -o main -Ilib main.c lib/net.c -lm
	./main > plain
	for how in f16 bf16 file,f16; do
		net --weights $how 2> said
		grep -q '^y: at most [0-9.e-]* apart, the largest is [0-9.]*; [1-9][0-9]* of 16384 differ$' said
		$CC $RULES ${how:+$([ $how != file,f16 ] || echo -DFROM_FILE -DFROM_FILE_NARROW)} -o main -Ilib main.c lib/*.c -lm
		./main > narrow
		python3 - plain narrow <<-'END'
			import array, sys
			a, b = (array.array("f", open(f, "rb").read()) for f in sys.argv[1:])
			d = max(abs(x - y) for x, y in zip(a, b))
			assert 0 < d < 0.1, d
		END
	done
	how=$(stat -c %s lib/net_weights.bin)
	net --weights file
	[ "$(stat -c %s lib/net_weights.bin)" = $((2 * how)) ]
}
