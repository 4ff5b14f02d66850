/* Division of integer vectors, for which there is no instruction, random numbers, and sums of
 * products of narrow integers, for which some processors have one.
 *
 * A quotient of integers of up to 32 bits is exact when computed in doubles (up to 16 bits:
 * floats): unless it is an integer it is at least one part in 2^32 below the next one, and the
 * rounding error of a double is smaller. The contract's results for the divisors 0 and -1 are put
 * in afterwards. */
#include "print/vector.h"

#define INLINE VECTOR_INLINE
#define TWO INLINE "$V $N($V a, $V b)\n{\n"
#define PUT(m, a, b) "(((" a ") & " m ") | ((" b ") & ~" m "))"

/* a divisor of 1 where it is 0 or the quotient would overflow */
static const char by_signed[] = TWO "\tconst $M none = ($M)(b == 0), minus = ($M)(b == -1);\n"
	"\tconst $V by = (b & ~(none | minus)) | ((none | minus) & 1);\n";
static const char by_unsigned[] = TWO "\tconst $V by = b | (($V)(b == 0) & 1);\n";
static const char direct[] = "\treturn __builtin_convertvector(%s / %s, $V);\n}\n";
static const char stepwise[] =
	"\treturn __builtin_convertvector(__builtin_convertvector(%s / %s, $4), $V);\n}\n";

#define SIGNED TWO "\tconst $V q = $F(a, b);\n" \
	"\tconst $M none = ($M)(b == 0), minus = ($M)(b == -1);\n"
#define UNSIGNED TWO "\tconst $V q = $F(a, b), some = ($V)(b != 0);\n"
typedef struct { const char *name, *sint, *uint; } IntegerRow;
static const IntegerRow table[] = {
	{"idiv", SIGNED "\treturn (" PUT("minus", "-a", "q") ") & ~none;\n}\n",
		UNSIGNED "\treturn q & some;\n}\n"},
	{"mod", SIGNED "\treturn (a - q * b) & ~(none | minus);\n}\n",
		UNSIGNED "\treturn (a - q * b) & some;\n}\n"},
	{"floordiv", SIGNED "\tconst $V down = q + (($V)(q * b != a) & ($V)((a ^ b) < 0));\n"
		"\treturn (" PUT("minus", "-a", "down") ") & ~none;\n}\n",
		UNSIGNED "\treturn q & some;\n}\n"},
	{"floormod", SIGNED "\tconst $V r = a - q * b;\n"
		"\treturn (r + (b & ($V)(r != 0) & ($V)((r ^ b) < 0))) & ~(none | minus);\n}\n",
		UNSIGNED "\treturn (a - q * b) & some;\n}\n"},
};

const char *divide_fn(Printer *p, const char *what, DType d)
{
	int lanes = p->vectors->lanes;
	const char *type = arena_printf("%sx%d", dtype_name(d), lanes);
	VWords w = {.name = arena_printf("quotient_%s", type),
		.to = d,
		.from = d,
		.via = dtype_size(d) == 4 ? DT_F64 : DT_F32,
		.lanes = lanes};
	const char *a = vector_cast(p, w.via, d, "a"), *by = vector_cast(p, w.via, d, "by");
	const char *ratio = arena_printf(dtype_size(d) < 4 ? stepwise : direct, a, by);
	w.fn = vector_helper(
		p, &w, arena_printf("%s%s", dtype_signed(d) ? by_signed : by_unsigned, ratio));
	w.name = arena_printf("%s_%s", what, type);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, what))
			return vector_helper(
				p, &w, dtype_signed(d) ? table[i].sint : table[i].uint);
	die_bug(__FILE__, __LINE__, what);
}

/* Threefry-2x32 of 20 rounds, like the scalar function, on the words of all lanes */
const char *threefry_fn(Printer *p)
{
	static const int by[] = {13, 15, 26, 6, 17, 29, 16, 24};
	Buf b = {0};
	VWords w = {.name = arena_printf("threefry_u64x%d", p->vectors->lanes),
		.to = DT_U64,
		.from = DT_U64,
		.via = DT_U32,
		.lanes = p->vectors->lanes};
	buf_printf(&b, TWO "\tconst $R k0 = __builtin_convertvector(b, $R);\n"
		"\tconst $R k1 = __builtin_convertvector(b >> 32, $R), k2 = k0 ^ k1 ^ 0x1bd11bda;\n"
		"\t$R x = __builtin_convertvector(a, $R) + k0;\n"
		"\t$R y = __builtin_convertvector(a >> 32, $R) + k1;\n");
	for (int i = 0; i < 20; i++) {
		buf_printf(&b, "\tx += y;\n\ty = ((y << %d) | (y >> %d)) ^ x;\n", by[i % 8],
			32 - by[i % 8]);
		if (i % 4 == 3)
			buf_printf(&b, "\tx += k%d;\n\ty += k%d + %d;\n", (i / 4 + 1) % 3,
				(i / 4 + 2) % 3, i / 4 + 1);
	}
	buf_printf(&b, "\treturn (__builtin_convertvector(y, $V) << 32) | "
		"__builtin_convertvector(x, $V);\n}\n");
	const char *name = vector_helper(p, &w, buf_str(&b));
	buf_free(&b);
	return name;
}

/* ---- DOT */

/* The instruction where there is one: x86's as clang and gcc call it, Arm's as its text, since the
 * builtins' names differ between compilers. Then the sum in plain C, part by part. */
#define X86(when, clang, gcc) "#if (" when ") && defined __clang__\n\treturn " clang ";\n" \
	"#elif " when "\n\treturn " gcc ";\n"
#define ARM(word, when, name) word " defined " when "\n\t__asm__(\"" name \
	" %0.4s, %1.16b, %2.16b\" : \"+w\"(c) : \"w\"(a), \"w\"(b));\n\treturn c;\n"
#define WIDE "defined __AVX512VNNI__"
#define HALF "(defined __AVX512VNNI__ && defined __AVX512VL__) || defined __AVXVNNI__"
#define VNNI(when, name, clang, gcc) X86(when, "__builtin_ia32_" name clang "(c, a, b)", \
	"__builtin_ia32_" name "_" gcc "(c, a, b)")
#define SHORTS(bytes) "(short __attribute__((vector_size(" bytes "))))"
#define PAIRS(macro, bytes, fn) "#elif defined " macro "\n\treturn c + __builtin_ia32_pmaddwd" fn \
	"(" SHORTS(bytes) "a, " SHORTS(bytes) "b);\n"
typedef struct { Op op; int bytes; const char *text; } DotRow;
static const DotRow dots[] = {
	{OP_DOTU8I8, 64, VNNI(WIDE, "vpdpbusd", "512", "v16si")},
	{OP_DOTU8I8, 32, VNNI(HALF, "vpdpbusd", "256", "v8si")},
	{OP_DOTU8I8, 16, VNNI(HALF, "vpdpbusd", "128", "v4si")
		ARM("#elif", "__ARM_FEATURE_MATMUL_INT8", "usdot")},
	{OP_DOTI8, 16, ARM("#if", "__ARM_FEATURE_DOTPROD", "sdot")},
	{OP_DOTI16, 64, VNNI(WIDE, "vpdpwssd", "512", "v16si")
		"#elif defined __AVX512BW__ && defined __clang__\n\treturn c + "
		"__builtin_ia32_pmaddwd512(" SHORTS("64") "a, " SHORTS("64") "b);\n"
		"#elif defined __AVX512BW__\n\treturn c + __builtin_ia32_pmaddwd512_mask("
		SHORTS("64") "a, " SHORTS("64") "b, c, 0xffff);\n"},
	{OP_DOTI16, 32, VNNI(HALF, "vpdpwssd", "256", "v8si") PAIRS("__AVX2__", "32", "256")},
	{OP_DOTI16, 16, VNNI(HALF, "vpdpwssd", "128", "v4si") PAIRS("__SSE2__", "16", "128")},
};

/* c + x0 * y0 + … of n parts of `bits` bits; those of x are unsigned where that is said */
static const char *dot_plain(int bits, bool unsigned_x)
{
	Buf b = {0};
	buf_printf(&b, "\treturn c");
	for (int i = 0; i < 32; i += bits) {
		const char *x = unsigned_x ? arena_printf("(a >> %d & 0xff)", i) :
			arena_printf("(a << %d >> %d)", 32 - bits - i, 32 - bits);
		buf_printf(&b, "%s + %s * (b << %d >> %d)", i ? "\n\t\t" : "", x, 32 - bits - i,
			32 - bits);
	}
	buf_printf(&b, ";\n");
	return buf_keep(&b);
}

const char *dot_fn(Printer *p, Op op)
{
	int lanes = p->vectors->lanes;
	const char *plain = dot_plain(op == OP_DOTI16 ? 16 : 8, op == OP_DOTU8I8), *first = NULL;
	VWords w = {.name = arena_printf("%s_i32x%d", op_word(op), lanes), .to = DT_I32,
		.from = DT_I32, .lanes = lanes};
	for (size_t i = 0; i < sizeof dots / sizeof *dots; i++)
		if (dots[i].op == op && dots[i].bytes == 4 * lanes)
			first = dots[i].text;
	return vector_helper(p, &w, arena_printf(VECTOR_INLINE
		"$V $N($V a, $V b, $V c)\n{\n%s%s%s%s}\n", first ? first : "",
		first ? "#else\n" : "", plain, first ? "#endif\n" : ""));
}
