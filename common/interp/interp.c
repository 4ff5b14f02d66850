/* The meaning of each elementwise op and of reductions, scans and sorts, used by constant folding,
 * the interpreter and the tests. The ops themselves are in int.c, float.c and graph/cast.c.
 */
#include <stdarg.h>
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/elements.h"

const Arithmetic *arithmetic;
int64_t (*steps_follow)(Op step, int64_t v);

/* Whether elements of either dtype are words of another arithmetic. */
static bool in_words(DType a, DType b)
{
	return arithmetic && (dtype_float(a) || dtype_float(b));
}

void element_cast(DType to, void *out, DType from, const void *in, size_t n)
{
	if (in_words(to, from))
		arithmetic->cast(to, out, from, in, n);
	else
		interp_cast(to, out, from, in, n);
}

void element_const(const UOp *u, void *bytes8)
{
	const_get(u, bytes8);
	if (in_words(u->dtype, u->dtype))
		arithmetic->constant(u->dtype, bytes8);
}

static void convert(Op op, DType dt, DType sdt, size_t n, void *out, const void *in, int step)
{
	size_t size = element_size(dt);

	if (n == 0)
		return;
	if (!step) {
		convert(op, dt, sdt, 1, out, in, 1);
		for (size_t i = 1; i < n; i++)
			memcpy((char *)out + i * size, out, size);
	} else if (op == OP_BITCAST && in_words(dt, sdt)) {
		arithmetic->bitcast(dt, out, sdt, in, n);
	} else if (op == OP_BITCAST) {
		memmove(out, in, n * size);
	} else {
		element_cast(dt, out, sdt, in, n);
	}
}

InterpFn interp_function(Op op, DType sdt)
{
	const InterpFn *by_dtype = op_info[op].interp[dtype_float(sdt)];

	if (in_words(sdt, sdt))
		return arithmetic->fn[op];
	return by_dtype ? by_dtype[sdt] : NULL;
}

void interp_bound(double elements, const char *fmt, ...)
{
	enum { BITS = 46 };
	char whose[128];
	va_list ap;

	if (elements <= (double)(INT64_C(1) << BITS))
		return;
	va_start(ap, fmt);
	vsnprintf(whose, sizeof whose, fmt, ap);
	va_end(ap);
	die(FAILED, "%s: %.0f elements would take days to interpret", whose, elements);
}

void interp_op(
	Op op, DType dt, DType sdt, size_t n, void *out, const void *const *in, const int *step)
{
	InterpFn fn;

	if (op_info[op].cls == CLASS_CASTING) {
		convert(op, dt, sdt, n, out, in[0], step[0]);
		return;
	}
	fn = interp_function(op, sdt);
	CHECK(fn);
	fn(n, out, in, step);
}

UOp *fold_const(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg)
{
	uint64_t bits[3], out = 0;
	const void *in[3];
	int step[3] = {0, 0, 0};

	if (!op_elementwise(op) || nsrc == 0 || nsrc > 3)
		return NULL;
	for (size_t i = 0; i < nsrc; i++) {
		if (!is_const(src[i]))
			return NULL;
		const_get(src[i], &bits[i]);
		in[i] = &bits[i];
	}
	interp_op(op, dt, src[nsrc > 1]->dtype, 1, &out, in, step);
	return const_bits(dt, &out);
}

/* ---- reductions and scans ---- */

/* A sum or product in the wider type W with four partial results, which start at the identity E:
 * less error than a single chain, and a fixed order. */
#define CHAIN(W, GET, OP, E) \
	W p[4] = {E, E, E, E}; \
	size_t i = 0; \
	for (; i + 4 <= n; i += 4) \
		for (int k = 0; k < 4; k++) \
			p[k] = p[k] OP (W)GET(a[(ptrdiff_t)(i + k) * xs]); \
	for (; i < n; i++) \
		p[0] = p[0] OP (W)GET(a[(ptrdiff_t)i * xs]);
#define PICK(A, GET, LESS) \
	for (size_t i = 0; i < n; i++) { \
		A x = GET(a[(ptrdiff_t)i * xs]); \
		if (x LESS r || x != x) \
			r = x; \
	}
/* Reductions over elements of stored type C, which GET converts to A, the accumulator's type;
 * within a call they are summed in W. */
#define FOLD(D, C, A, W, GET) \
	static void fold_##D(Op op, size_t n, void *acc, const C *a, ptrdiff_t xs) \
	{ \
		A r = *(A *)acc; \
		if (op == OP_ADD) { \
			CHAIN(W, GET, +, 0) \
			r = (A)((W)r + ((p[0] + p[1]) + (p[2] + p[3]))); \
		} else if (op == OP_MUL) { \
			CHAIN(W, GET, *, 1) \
			r = (A)((W)r * ((p[0] * p[1]) * (p[2] * p[3]))); \
		} else if (op == OP_MAX) { \
			PICK(A, GET, >) \
		} else { \
			PICK(A, GET, <) \
		} \
		*(A *)acc = r; \
	}
FOLD(I8, int8_t, int8_t, uint64_t, (int8_t))
FOLD(I16, int16_t, int16_t, uint64_t, (int16_t))
FOLD(I32, int32_t, int32_t, uint64_t, (int32_t))
FOLD(I64, int64_t, int64_t, uint64_t, (int64_t))
FOLD(U8, uint8_t, uint8_t, uint64_t, (uint8_t))
FOLD(U16, uint16_t, uint16_t, uint64_t, (uint16_t))
FOLD(U32, uint32_t, uint32_t, uint64_t, (uint32_t))
FOLD(U64, uint64_t, uint64_t, uint64_t, (uint64_t))
FOLD(F16, uint16_t, float, double, f16_value)
FOLD(BF16, uint16_t, float, double, bf16_value)
FOLD(F32, float, float, double, (float))
FOLD(F64, double, double, double, (double))

static void fold_BOOL(Op op, size_t n, void *acc, const uint8_t *a, ptrdiff_t xs)
{
	bool any = op == OP_ADD || op == OP_MAX;
	uint8_t *r = acc;

	for (size_t i = 0; i < n; i++)
		*r = any ? *r || a[(ptrdiff_t)i * xs] : *r && a[(ptrdiff_t)i * xs];
}

static void fold_words(Op op, size_t n, uint64_t *acc, const uint64_t *x, ptrdiff_t xs)
{
	for (size_t i = 0; i < n; i++)
		arithmetic->fn[op](1, acc, (const void *[]){acc, x + (ptrdiff_t)i * xs},
			(int[]){1, 1});
}

void interp_fold(Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs)
{
	if (in_words(dt, dt)) {
		fold_words(op, n, acc, x, xs);
		return;
	}
	switch (dt) {
#define DTYPE(NAME, ...) case DT_##NAME: fold_##NAME(op, n, acc, x, xs); return;
#include "graph/dtypes.def"
#undef DTYPE
	default: CHECK(!"a dtype");
	}
}

void interp_scan(
	Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs, void *out, ptrdiff_t os)
{
	const DType at = dtype_acc(dt);
	const ptrdiff_t size = element_size(dt);

	for (size_t i = 0; i < n; i++) {
		interp_fold(op, dt, 1, acc, (const char *)x + (ptrdiff_t)i * xs * size, 1);
		element_cast(dt, (char *)out + (ptrdiff_t)i * os * size, at, acc, 1);
	}
}

void interp_identity(Op op, DType dt, void *acc)
{
	uint64_t bits = 0;

	element_const(const_identity(op, dtype_acc(dt)), &bits);
	memcpy(acc, &bits, element_size(dtype_acc(dt)));
}

/* ---- sort ---- */

typedef struct { uint64_t key; int64_t at; } SortItem;

/* A key that orders as an unsigned number: NaN is greatest, and -0 equals 0. */
static uint64_t sort_key(DType dt, const void *x)
{
	uint64_t wide = 0;
	int64_t i;
	double d;

	if (in_words(dt, dt))
		return arithmetic->key(*(const uint64_t *)x);
	if (dtype_float(dt)) {
		interp_cast(DT_F64, &d, dt, x, 1);
		if (d != d)
			return UINT64_MAX;
		d += 0.0;                       /* -0 becomes 0 */
		memcpy(&wide, &d, sizeof d);
		return wide >> 63 ? ~wide : wide | 1ULL << 63;
	}
	if (dtype_signed(dt)) {
		interp_cast(DT_I64, &i, dt, x, 1);
		return (uint64_t)i ^ 1ULL << 63;
	}
	interp_cast(DT_U64, &wide, dt, x, 1);
	return wide;
}

/* Merges runs [0, m) and [m, n) of a into b; among equal keys the left one comes first. */
static void merge(const SortItem *a, size_t m, size_t n, SortItem *b)
{
	size_t i = 0, j = m;

	for (size_t k = 0; k < n; k++)
		b[k] = i < m && (j >= n || a[i].key <= a[j].key) ? a[i++] : a[j++];
}

void interp_sort(DType dt, size_t n, const void *x, ptrdiff_t xs, int64_t *out, ptrdiff_t os,
	bool descending)
{
	SortItem *a = xmalloc((2 * n + 1) * sizeof *a), *base = a, *b = a + n;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = sort_key(dt, (const char *)x + (ptrdiff_t)i * xs * element_size(dt));
		a[i] = (SortItem){descending ? ~key : key, (int64_t)i};
	}
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t i = 0; i < n; i += 2 * run) {
			size_t len = n - i < 2 * run ? n - i : 2 * run;
			merge(a + i, run < len ? run : len, len, b + i);
		}
		SortItem *t = a;
		a = b;
		b = t;
	}
	for (size_t i = 0; i < n; i++)
		out[(ptrdiff_t)i * os] = a[i].at;
	free(base);
}
