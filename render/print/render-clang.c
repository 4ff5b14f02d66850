/* C for the CPU, for gcc and clang: plain functions that a person can read. */
#include "target/target.h"
#include "print/print.h"

/* without the instruction fma is a slow library function */
#define MULACC(fn) "#if defined __FMA__ || defined __aarch64__\n\treturn " fn "(a, b, c);\n" \
	"#else\n\treturn a * b + c;\n#endif\n"

static const Dialect clang = {
	.target = "clang",
	.type = {"unsigned char", "signed char", "short", "int", "long", "unsigned char",
		"unsigned short", "unsigned", "unsigned long", "unsigned short",
		"unsigned short", "float", "double"},
	.aligned = "__attribute__((aligned(64))) ",
	.prefetch = "__builtin_prefetch",
	.kernel = "void",
	.pointer = "",
	.restricted = "__restrict",
	.inline_fn = "static inline",
	.inf = {"__builtin_inff()", "__builtin_inf()"},
	.nan = {"__builtin_nanf(\"\")", "__builtin_nan(\"\")"},
	.function = {"__builtin_%sf", "__builtin_%s"},
	.mulacc = {MULACC("__builtin_fmaf"), MULACC("__builtin_fma")},
	.i64_suffix = "L",
	.wraps = true,
	.on_cpu = true,
	.lanes = true,
};

int main(int argc, char **argv) { return render_main(&clang, argc, argv); }
