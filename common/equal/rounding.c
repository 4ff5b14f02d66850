/* Which rounding makes two documents differ that are equal over the field. What one class of ops
 * computes is rounded, all else stays exact: a rounded element is one drawn for the exact one, the
 * same wherever that comes up, and opposite for its opposite. So documents that round the same
 * values stay equal, and others do not.
 *
 *     (a + b) + c     a + (b + c)     differ where sums are rounded, and not where products are
 *     x / 3           x * (1/3)       differ where quotients are, and where products are
 *
 * What is exact in any binary format is not rounded: sums with 0 or of equals, products and
 * quotients by a power of two, what a cast has rounded before. A MULACC rounds its sum, and its
 * product if it is taken for two ops. */
#include "interp/elements.h"
#include "equal/parts.h"

enum { SHIFT = 40 };            /* 2^-40 … 2^62 are seen to be powers of two */

static unsigned classes;        /* that are rounded */
static ARENA Map narrow;        /* elements that a cast has rounded, by dtype */

void rounding_of(unsigned which)
{
	classes = which;
	map_free(&narrow);
}

bool over_field(void)
{
	return arithmetic == &field_arithmetic || arithmetic == &rounding_arithmetic;
}

static uint64_t negated(uint64_t x)
{
	uint64_t r;
	field_arithmetic.fn[OP_NEG](1, &r, (const void *[]){&x}, (const int[]){0});
	return r;
}

static uint64_t computed(Op op, uint64_t x, uint64_t y, uint64_t z)
{
	uint64_t r;
	field_arithmetic.fn[op](1, &r, (const void *[]){&x, &y, &z}, (const int[]){0, 0, 0});
	return r;
}

static bool is_finite(uint64_t x) { return x < WORD_NEGATIVE_INF; }

static bool is_power_of_two(uint64_t x)
{
	const uint64_t shifted = computed(OP_MUL, x, UINT64_C(1) << SHIFT, 0);
	const uint64_t is[] = {x, negated(x), shifted, negated(shifted)};

	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		if (is[i] && !(is[i] & (is[i] - 1)))
			return true;
	return false;
}

/* The element that one is rounded to, in a format of its own for each `kind`. */
static uint64_t rounded(uint64_t x, uint64_t kind)
{
	const uint64_t n = negated(x);
	if (!x || !is_finite(x))
		return x;
	uint64_t r = field_random(equal_mix(kind, x < n ? x : n));
	return x < n ? r : negated(r);
}

static uint64_t sum(uint64_t x, uint64_t y, uint64_t r)
{
	return classes & ROUND_SUMS && x && y && x != y ? rounded(r, OP_ADD) : r;
}

static uint64_t product(uint64_t x, uint64_t y, uint64_t r)
{
	return classes & ROUND_PRODUCTS && !is_power_of_two(x) && !is_power_of_two(y) ?
		rounded(r, OP_ADD) : r;
}

static uint64_t quotient(uint64_t x, uint64_t y, uint64_t r)
{
	return classes & ROUND_QUOTIENTS && !is_power_of_two(y) ? rounded(r, OP_ADD) : r;
}

static uint64_t fused(uint64_t x, uint64_t y, uint64_t z)
{
	uint64_t p = computed(OP_MUL, x, y, 0);
	if (!z || classes & ROUND_UNFUSED)
		p = product(x, y, p);
	return z ? sum(p, z, computed(OP_ADD, p, z, 0)) : p;
}

#define LOOP(OP, EXPR) \
	static void rounding_##OP(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		const int nsrc = op_info[OP_##OP].max_src; \
		const uint64_t *a = in[0], *b = in[nsrc > 1], *c = in[nsrc > 2 ? 2 : 0]; \
		const size_t sa = step[0], sb = step[nsrc > 1], sc = step[nsrc > 2 ? 2 : 0]; \
		uint64_t *o = out; \
		for (size_t i = 0; i < n; i++) { \
			uint64_t x = a[i * sa], y = b[i * sb], z = c[i * sc]; \
			uint64_t r = computed(OP_##OP, x, y, z); \
			(void)y, (void)z, (void)r; \
			o[i] = EXPR; \
		} \
	}
LOOP(ADD, sum(x, y, r))
LOOP(SUB, sum(x, negated(y), r))
LOOP(MUL, product(x, y, r))
LOOP(MULACC, fused(x, y, z))
LOOP(FDIV, quotient(x, y, r))
LOOP(RECIP, quotient(1, x, r))

#define AS_EXACT(OP) \
	static void rounding_##OP(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		field_arithmetic.fn[OP_##OP](n, out, in, step); \
	}
AS_EXACT(NEG) AS_EXACT(SQRT) AS_EXACT(EXP2) AS_EXACT(LOG2) AS_EXACT(SIN) AS_EXACT(TRUNC)
AS_EXACT(POW) AS_EXACT(MAX) AS_EXACT(MIN) AS_EXACT(CMPLT) AS_EXACT(CMPEQ) AS_EXACT(CMPNE)
AS_EXACT(WHERE)

static bool is_narrower(DType to, DType from)
{
	return dtype_float(to) && dtype_float(from) && to != from &&
		dtype_size(to) <= dtype_size(from);
}

static void cast(DType to, void *out, DType from, const void *in, size_t n)
{
	uint64_t *o = out;

	field_arithmetic.cast(to, out, from, in, n);
	for (size_t i = 0; classes & ROUND_CASTS && is_narrower(to, from) && i < n; i++) {
		uint64_t key = equal_mix(to, o[i]);
		if (map_get(&narrow, key))
			continue;
		o[i] = rounded(o[i], (uint64_t)OP_CAST << 8 | to);
		map_put(&narrow, equal_mix(to, o[i]), &narrow);
	}
}

static void bitcast(DType to, void *out, DType from, const void *in, size_t n)
{
	field_arithmetic.bitcast(to, out, from, in, n);
}

static void constant(DType dt, void *bits) { field_arithmetic.constant(dt, bits); }
static uint64_t key(uint64_t word) { return field_arithmetic.key(word); }

#define ROW(OP) [OP_##OP] = rounding_##OP
const Arithmetic rounding_arithmetic = {
	.fn = {ROW(NEG), ROW(RECIP), ROW(SQRT), ROW(EXP2), ROW(LOG2), ROW(SIN), ROW(TRUNC),
		ROW(ADD), ROW(SUB), ROW(MUL), ROW(FDIV), ROW(POW), ROW(MAX), ROW(MIN), ROW(CMPLT),
		ROW(CMPEQ), ROW(CMPNE), ROW(WHERE), ROW(MULACC)},
	.cast = cast, .bitcast = bitcast, .constant = constant, .key = key,
};
