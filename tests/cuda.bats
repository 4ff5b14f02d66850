#!/usr/bin/env bats
# run and compile for CUDA devices, by a driver in C that stands in for NVIDIA's.
bats_require_minimum_version 1.5.0
load helpers
load cuda_driver

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	stand_in
	export LD_LIBRARY_PATH=$PWD/drivers XDG_CACHE_HOME=$PWD/cache
	printf 'input x f32[n] where n in 1..900\noutput y = x * 2\n' > twice.t
	tool trace twice.t | tool fuse > twice.mp
	tool run --interpret twice.mp n=700 x=rand -o a.npz
}

twice() {       # OPTION…: of run; gives what the interpreter gives
	rm -f b.npz
	ok tool run "$@" n=700 x=rand -o b.npz
	tool diff a.npz b.npz
}

@test "CUDA: devices alike get code of their own, others PTX that all of them take" {
	[[ $(tool run --devices) == *$'cuda\tstand-in 0\ncuda:1\tstand-in 1'* ]]
	twice -t cuda twice.mp
	find cache -name '*.ptx' -exec grep -q 'gpu-architecture=compute_90' {} +
	twice -t cuda --device cuda:1 twice.mp
	ONE=1 twice -t cuda twice.mp
	find cache -name '*.cubin' -exec grep -q 'gpu-architecture=sm_90' {} +
	# a compiler that does not know the device
	ONE=1 CAPABILITY=87 twice -t cuda twice.mp
	find cache -name '*.ptx' -exec grep -l 'gpu-architecture=compute_80' {} + | grep -q .
	NONE=1 tool render -t cuda twice.mp | NONE=1 tool compile > none.mp
	find cache -name '*.ptx' -exec grep -l 'gpu-architecture=compute_75' {} + | grep -q .
	twice none.mp
	NONE=1 fails 3 tool run none.mp x=1,2
	[[ $errors == *"no CUDA device"* ]]
	fails 3 tool run -t cuda --device cuda:2 twice.mp x=1,2
}

@test "CUDA: an object for another device is built again" {
	tool render -t cuda twice.mp | ONE=1 CAPABILITY=80 tool compile --no-walls > other.mp
	tool show other.mp | grep -q '\.cubin"'
	ONE=1 twice other.mp
	find cache -name '*.cubin' -exec grep -l 'gpu-architecture=sm_90' {} + | grep -q .
}

@test "CUDA: kernels are timed by the device's clock" {
	ONE=1 tool run -t cuda -n 3 --laps laps twice.mp n=700 x=rand > /dev/null
	grep -q ' 12500000 12500000 12500000$' laps
}
