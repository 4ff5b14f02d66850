/* CUDA C++, for NVRTC and nvcc; it includes nothing. */
#include "target/target.h"
#include "print/print.h"

static const Dialect cuda = {
	.target = "cuda",
	.type = {"bool", "signed char", "short", "int", "long long", "unsigned char",
		"unsigned short", "unsigned int", "unsigned long long", "unsigned short",
		"unsigned short", "float", "double"},
	.aligned = "__align__(16) ",
	.move = "__align__(%d) ",
	.kernel = "extern \"C\" __global__ void",
	.pointer = "",
	.restricted = "__restrict__",
	.inline_fn = "static __device__ inline",
	.local = "__shared__ ",
	.barrier = "__syncthreads();",
	.exchange = "__shfl_xor_sync(0xffffffffu, %s, %d)",
	.group_id = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
	.item_id = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
	.inf = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000LL)"},
	.nan = {"__int_as_float(0x7fc00000)", "__longlong_as_double(0x7ff8000000000000LL)"},
	.function = {"%sf", "%s"},
	.mulacc = {"\treturn fmaf(a, b, c);\n", "\treturn fma(a, b, c);\n"},
	.i64_suffix = "LL",
	.narrow = "int",
};

int main(int argc, char **argv) { return render_main(&cuda, argc, argv); }
