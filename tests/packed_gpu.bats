#!/usr/bin/env bats
# Libraries of programs for several targets, of which one is chosen when a device is opened: OpenCL, and CUDA
# by a driver in C that stands in for NVIDIA's.

load helpers
load cuda_driver

setup() { cd "$BATS_TEST_TMPDIR"; }

with_numpy() {
	local python=${PYTHON:-python3}
	[ -x "$ROOT/build/venv/bin/python" ] && python=$ROOT/build/venv/bin/python
	"$python" -c "import numpy" 2> /dev/null || skip "no numpy"
	"$python" "$@"
}

# States; sizes that data gives and a constant; a loop whose turns data gives.
sources() {
	cat > count.t <<-'END'
		input x f32[n, 8] where n in 1..64
		state calls i64 = 0
		state sum f32[8] = [0, 0, 0, 0, 0, 0, 0, 0.5]
		calls <- calls + 1
		sum <- sum + x.sum(0)
		output y = sum + 1, number = calls, mean = x.mean(1)
	END
	cat > some.t <<-'END'
		input x f32[n, 2] where n in 0..20
		const w f32 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
		flat = x.reshape(-1)
		output large = flat[flat > 0.5] * 3, twice = x * 2, z = w * 2
	END
	cat > loop.t <<-'END'
		input x f32[n, 4] where n in 1..12
		rest = 1.0
		other = 2.0
		while rest > 0.01 {
			rest, other = other * x[0, 0] / 4, rest
		}
		output y = x + rest, last = other
	END
}

# a library for the CPU and the GPU of that target
on_gpu() {
	local f target=$1
	ok pack --name gpu -t "clang,$target" --so -o lib count.mp some.mp loop.mp
	for f in count some loop; do
		tool render -t $target $f.mp | tool run -n 4 n=5 x=rand > want
		tool run --allow-code lib/libgpu.so --device $target --function $f -n 4 n=5 x=rand | cmp - want
		tool render -t clang $f.mp | tool run -n 4 n=5 x=rand > want
		tool run --allow-code lib/libgpu.so --function $f -n 4 n=5 x=rand | cmp - want
		tool run --allow-code lib/libgpu.so --device cpu --function $f -n 4 n=5 x=rand | cmp - want
	done
	fails 3 tool run --allow-code lib/libgpu.so --device $target:99 --function some n=5 x=rand
	[[ "$errors" == *"no device '$target:99': there "* ]]
	for f in $target: $target:x $target:-1 metal ""; do
		fails 3 tool run --allow-code lib/libgpu.so --device "$f" --function some n=5 x=rand
		[[ "$errors" == *"is no device that gpu was packed for"* ]]
	done
	sed "s/TARGET/$target/" > main.c <<-'END'
		#include "gpu.h"
		#include <stdio.h>
		int main(void)
		{
			char why[256];
			gpu_device *d = gpu_open(NULL, why);
			float x[16], sum[8], mean[2], large[40], twice[16], z[20];
			int64_t calls = 0;
			gpu_count_state s;
			gpu_count_args c = {.n = 2, .x = x, .y = sum, .number = &calls, .mean = mean};
			gpu_some_args a = {.n = 8, .x = x, .large = large, .twice = twice, .z = z};

			if (!d) {
				puts(why);
				return 1;
			}
			for (int i = 0; i < 16; i++)
				x[i] = (float)i / 16;
			gpu_count_init_state(&s);
			for (int i = 0; i < 3; i++)
				if (gpu_count_call_on(d, &c, &s) || gpu_some_call_on(d, &a))
					printf("%s\n", gpu_error(d));
			printf("%d %g %g %g %d %g %g %g\n", (int)calls, (double)sum[0], (double)s.sum[7], (double)mean[1],
				(int)a.count, (double)large[0], (double)twice[15], (double)z[19]);
			c.n = 65;
			printf("%d %s\n", gpu_count_call_on(d, &c, &s) == gpu_SIZE, gpu_error(d));
			gpu_close(d);
			d = gpu_open("TARGET:99", why);
			printf("%s\n", d ? "it is there" : why);
			return gpu_open("none", NULL) != NULL;
		}
	END
	$CC -std=c11 -o main -Ilib main.c -Llib -lgpu -Wl,-rpath,"$PWD/lib"
	ok ./main
	[[ "$output" = "3 2.5 4.625 0.71875 7 1.6875 1.875 40
1 
no device '$target:99': there "* ]] || { echo "$output"; return 1; }
	sed "s/TARGET/$target/" > main.py <<-'END'
		import sys
		sys.path.insert(0, "lib")
		import numpy as np
		from gpu import gpu
		x = (np.arange(16, dtype="f4") / 16).reshape(2, 8)
		here = [gpu.count.copy()(x) for _ in range(2)][-1]
		gpu.count.device("TARGET")
		gpu.some.device()
		there = gpu.count(x)
		assert all(np.allclose(a, b) for a, b in zip(here, there)) and gpu.count.states["calls"] == 1
		assert gpu.count(x).number == 2
		gpu.count.device("cpu")
		assert gpu.count(x).number == 3
		assert gpu.some(x.reshape(8, 2)).large.shape == (7,)
		for name in ("TARGET:99", "none"):
		    try:
		        gpu.some.device(name)
		    except OSError as e:
		        assert name in str(e)
		    else:
		        raise AssertionError(name)
	END
	ok with_numpy main.py
}

@test "on GPUs: states, sizes that data gives, constants, loops, with the bits of run; from C and Python" {
	needs_gpu
	sources
	local f target
	for f in count some loop; do trace $f.t | fuse > $f.mp; done
	ok pack --name gpu -t clang,opencl,cuda -o all count.mp some.mp loop.mp
	for target in $(gpus); do
		on_gpu "$target"
	done
}

@test "documents for several targets: a function each, of the same form, one for the CPU among them" {
	printf 'input x f32[n] where n in 1..9\noutput y = x * 2\n' > twice.t
	printf 'input x f64[n] where n in 1..9\noutput y = x * 2\n' > double.t
	for f in twice double; do
		for t in clang opencl cuda; do
			trace $f.t | fuse | render -t $t > $f.$t
		done
	done
	trace twice.t | fuse | render -t metal > twice.metal
	ok pack --name m --module -o lib m=twice.cuda m=twice.clang m=twice.opencl
	[ "$(cd lib; echo *)" = "m.c m.h m_device.c m_device.h m_module.c m_module.h" ]
	grep -q '^int m_call_on(m_device \*device, m_args \*args);' lib/m.h
	ok pack --name m -o two f=twice.cuda f=twice.clang g=double.clang
	grep -q '^int m_f_call_on' two/m.h
	local cc f
	for f in lib/*.c two/*.c; do
		for cc in "gcc -std=c99" "clang -std=c99" "g++ -x c++" "clang++ -x c++"; do
			command -v ${cc%% *} > /dev/null || continue
			ok $cc -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror -c -o /dev/null $f
		done
	done
	# what functions of NAME.c include is what it was
	[ "$(grep -h '#include <' lib/m.c lib/m.h lib/m_device.h | sort -u | tr -d '\n')" = \
		"#include <math.h>#include <stdint.h>#include <string.h>" ]
	fails 2 pack --name m -o none twice.opencl
	[[ "$errors" == *"m: it is only for opencl: give the same for the CPU too"* ]]
	fails 2 pack --name m -o none twice.clang m=twice.opencl
	fails 2 pack --name m -o none m=twice.clang m=twice.opencl m=twice.opencl
	[[ "$errors" == *"m: two documents for opencl"* ]]
	fails 2 pack --name m -o none m=twice.clang m=double.clang
	[[ "$errors" == *"m: two documents for the CPU"* ]]
	fails 4 pack --name m -o none m=twice.clang m=double.opencl
	[[ "$errors" == *"m: 'x' is another for opencl than for the CPU"* ]]
	fails 3 pack --name m -o none m=twice.clang m=twice.metal
	fails 3 pack --name m --weights f16 --with n=3 --with x=rand -o none m=twice.clang m=twice.opencl
	[ ! -e none ]
	ok pack --name m --so -o cpu twice.clang
	fails 3 tool run --allow-code cpu/libm.so --device opencl x=1,2
	[[ "$errors" == *"m is packed for the CPU alone"* ]]
}

@test "CUDA: what the driver is asked for, and what is said where there is none" {
	printf 'input x f32[n] where n in 1..900\noutput y = x * 2\n' > twice.t
	trace twice.t | fuse | pack --name twice -t clang,opencl,cuda --so -o lib
	[ -e /dev/nvidiactl ] || fails 3 tool run --allow-code lib/libtwice.so --device cuda x=1,2
	[ -e /dev/nvidiactl ] || [[ "$errors" == "run: no CUDA device: libcuda.so.1 is not there" ]]
	mkdir drivers
	stand_in
	export LD_LIBRARY_PATH=$PWD/drivers
	tool run twice.t n=700 x=rand > want
	tool run --allow-code lib/libtwice.so --device cuda n=700 x=rand | cmp - want
	tool run --allow-code lib/libtwice.so --device cuda:1 n=700 x=rand | cmp - want
	fails 3 tool run --allow-code lib/libtwice.so --device cuda:2 x=1,2
	[[ "$errors" == *"no device 'cuda:2': there are 2"* ]]
	NONE=1 fails 3 tool run --allow-code lib/libtwice.so --device cuda x=1,2
	[[ "$errors" == *"libcuda.so.1 lists none"* ]]
	BROKEN=1 fails 3 tool run --allow-code lib/libtwice.so --device cuda x=1,2
	[[ "$errors" == *"the CUDA compiler failed: line 1: error: this one" ]]
	FULL=1 fails 1 tool run --allow-code lib/libtwice.so --device cuda x=1,2
	[[ "$errors" == *"cuda: a buffer: out of memory"* ]]
	rm drivers/libnvrtc.so
	command -v nvcc > /dev/null || fails 3 tool run --allow-code lib/libtwice.so --device cuda x=1,2
	command -v nvcc > /dev/null || [[ "$errors" == *"no compiler for CUDA: libnvrtc.so is not there" ]]
}
