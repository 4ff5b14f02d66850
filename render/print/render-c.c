/* C99 without extensions, for any compiler and processor; also C++. What a compiler's flags may
 * change is spelled out: integers wrap through the unsigned type, bits are reinterpreted by memcpy,
 * and a*b + c is rounded once only where that is said. */
#include "target/target.h"
#include "print/print.h"

/* The pragma is the standard's; gcc has one of its own. */
static const char prelude[] =
	"#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
	"#ifdef __FAST_MATH__\n#error \"-ffast-math changes what this computes\"\n#endif\n"
	"#if defined __GNUC__ && !defined __clang__\n#pragma GCC optimize(\"fp-contract=off\")\n"
	"#else\n#pragma STDC FP_CONTRACT OFF\n#endif\n"
	"#if defined __cplusplus && (defined __GNUC__ || defined _MSC_VER)\n"
	"#define restrict __restrict\n#elif defined __cplusplus\n#define restrict\n#endif\n";

/* without the instruction fma is a slow library function; not every math.h says which it is */
#define MULACC(fast, fn) "#if " fast "\n\treturn " fn "(a, b, c);\n" \
	"#else\n\treturn a * b + c;\n#endif\n"
#define FAST_F32 "defined FP_FAST_FMAF || defined __FP_FAST_FMAF || defined __FMA__ || " \
	"defined __ARM_FEATURE_FMA"
#define FAST_F64 "defined FP_FAST_FMA || defined __FP_FAST_FMA || defined __FMA__ || " \
	"defined __aarch64__"

static const Dialect c = {
	.target = "c",
	.type = {"uint8_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
		"uint32_t", "uint64_t", "uint16_t", "uint16_t", "float", "double"},
	.prelude = prelude,
	.kernel = "void",
	.pointer = "",
	.restricted = "restrict",
	.inline_fn = "static inline",
	.aligned = "",
	.inf = {"INFINITY", "(double)INFINITY"},
	.nan = {"NAN", "(double)NAN"},
	.function = {"%sf", "%s"},
	.bitcast = "$T y;\n\tmemcpy(&y, &x, sizeof y);\n\treturn y;",
	.mulacc = {MULACC(FAST_F32, "fmaf"), MULACC(FAST_F64, "fma")},
	.i64_suffix = "LL",
	.u64 = "UINT64_C(%llu)",
	.narrow = "int_fast32_t",
	.on_cpu = true,
};

int main(int argc, char **argv) { return render_main(&c, argc, argv); }
