/* Division of integer vectors, for which there is no instruction, and random numbers.
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
