/* OpenCL C 1.2. */
#include "target/target.h"
#include "print/print.h"

/* a device without a fast fma does not define FP_FAST_FMA */
#define MULACC(fast) "#ifdef " fast "\n\treturn fma(a, b, c);\n#else\n\treturn a * b + c;\n#endif\n"

static const Dialect opencl = {
	.target = "opencl",
	.type = {"bool", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong",
		"ushort", "ushort", "float", "double"},
	.first_line = "#pragma OPENCL FP_CONTRACT OFF\n",
	.aligned = "__attribute__((aligned(16))) ",
	.move = "__attribute__((aligned(%d))) ",
	.f64_line = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
	.kernel = "__kernel void",
	.pointer = "__global ",
	.restricted = "restrict",
	.inline_fn = "static inline",
	.local = "__local ",
	.barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
	.group_id = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
	.item_id = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
	.inf = {"INFINITY", "(double)INFINITY"},
	.nan = {"NAN", "(double)NAN"},
	.function = {"%s", "%s"},
	.mulacc = {MULACC("FP_FAST_FMAF"), MULACC("FP_FAST_FMA")},
	.i64_suffix = "L",
	.narrow = "int",
	.bitcast = "return as_$T(x);",
};

int main(int argc, char **argv) { return render_main(&opencl, argc, argv); }
