/* The transposition of a square of vectors: for each power of two d, the off-diagonal d × d blocks
 * of each 2d × 2d block are exchanged, with two shuffles for each pair of rows.
 *
 *     a0 a1 a2 a3      a0 a1 c0 c1      a0 b0 c0 d0
 *     b0 b1 b2 b3      b0 b1 d0 d1      a1 b1 c1 d1
 *     c0 c1 c2 c3  →   a2 a3 c2 c3  →   a2 b2 c2 d2
 *     d0 d1 d2 d3      b2 b3 d2 d3      a3 b3 c3 d3 */
#include "print/vector.h"

/* the lanes of a row after the exchange, as places in the row and its partner; upper: the
 * partner's */
static const char *exchanged(int n, int d, bool upper)
{
	Buf b = {0};
	for (int l = 0; l < n; l++)
		buf_printf(&b, ", %d", upper ? l & d ? n + l : l + d : l & d ? n + l - d : l);
	const char *s = arena_strdup(buf_str(&b));
	buf_free(&b);
	return s;
}

static const char *exchange_fn(Printer *p, DType d, int lanes, int by)
{
	VWords w = {.name = arena_printf("swap%d_%sx%d", by, dtype_name(d), lanes),
		.to = d,
		.from = d,
		.lanes = lanes};
	return vector_helper(p, &w, arena_printf(VECTOR_INLINE "void $N($V *a, $V *b)\n{\n"
		"\tconst $V x = *a, y = *b;\n\t*a = __builtin_shufflevector(x, y%s);\n"
		"\t*b = __builtin_shufflevector(x, y%s);\n}\n",
		exchanged(lanes, by, false), exchanged(lanes, by, true)));
}

const char *transpose_fn(Printer *p, DType d, int lanes)
{
	Buf b = {0};
	VWords w = {.name = arena_printf("transpose_%sx%d", dtype_name(d), lanes),
		.to = d,
		.from = d,
		.lanes = lanes};
	buf_printf(&b, VECTOR_INLINE "void $N($V *r)\n{\n");
	for (int by = lanes / 2; by; by /= 2) {
		const char *fn = exchange_fn(p, d, lanes, by);
		for (int i = 0; i < lanes; i++)
			if (!(i & by))
				buf_printf(&b, "\t%s(&r[%d], &r[%d]);\n", fn, i, i + by);
	}
	buf_printf(&b, "}\n");
	const char *name = vector_helper(p, &w, buf_str(&b));
	buf_free(&b);
	return name;
}
