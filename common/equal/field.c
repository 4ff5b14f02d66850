/* Floats as elements of the field of integers modulo P = 2^63 - 25, a prime.
 *
 * Sums, products and quotients are exact, so whatever is equal over the reals is equal here:
 * another order of a sum, a product distributed, a tile, a scale folded into weights, Winograd's
 * convolution. A word below P is an element; three words above stand for ±inf and NaN, which follow
 * IEEE 754. The order is that of the residues of least magnitude of s·x, for an s of the key: a
 * total one, opposite for -x; s = 1 gives the true one of small integers.
 *
 *     EXP2 LOG2 SIN SQRT     of x: a number drawn for x, the same wherever it is asked
 *     TRUNC, CAST to an int  of a small integer: itself; else one drawn for x
 *     POW                    by multiplication for exponents from 0 to 64, else drawn
 *     BITCAST to an int      bits whose order is the elements', as it is of IEEE floats; of two
 *                            bytes: drawn for x
 *
 * A function of which nothing is known but its arguments is said to be uninterpreted; that it is
 * drawn at random from the key stands for all there may be. Constants are the
 * rationals that round to them. */
#include <math.h>
#include "interp/elements.h"
#include "equal/parts.h"

#define P ((UINT64_C(1) << 63) - 25)
enum { SMALL_BITS = 31, MOST_POWER = 64 };

static struct {
	uint64_t key;
	uint64_t scale;         /* of the order: x < y is residue(scale·x) < residue(scale·y) */
	uint64_t drawn;         /* values drawn, and decisions made, since the key was set */
	Map sign;               /* constants: 1 + element → 2 + sign */
	Map of_bits;            /* 1 + bits of four bytes → 1 + the element that has them */
	bool collided;          /* two elements have the same bits */
} at;

/* ---- the field */

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t r = a + b;

	return r >= P ? r - P : r;
}

static uint64_t negate(uint64_t a) { return a ? P - a : 0; }

/* 2^63 = 25 modulo P. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
	const uint64_t low = (UINT64_C(1) << 63) - 1;
	unsigned __int128 t = (unsigned __int128)a * b;
	unsigned __int128 once = (t >> 63) * 25 + (uint64_t)(t & low);
	uint64_t r = (uint64_t)(once >> 63) * 25 + ((uint64_t)once & low);

	return r >= P ? r - P : r;
}

static uint64_t power(uint64_t a, uint64_t n)
{
	uint64_t r = 1;

	for (; n; n >>= 1, a = multiply(a, a))
		if (n & 1)
			r = multiply(r, a);
	return r;
}

/* 1/a for a that is not 0: a^(P-2), by Fermat. */
static uint64_t inverse(uint64_t a) { return power(a, P - 2); }

/* The residue of least magnitude. */
static int64_t residue(uint64_t a) { return a > P / 2 ? (int64_t)(a - P) : (int64_t)a; }

static bool is_small(uint64_t a)
{
	int64_t r = residue(a);

	return r >= -(INT64_C(1) << SMALL_BITS) && r <= INT64_C(1) << SMALL_BITS;
}

static uint64_t from_signed(int64_t i)
{
	uint64_t m = (i < 0 ? 0 - (uint64_t)i : (uint64_t)i) % P;

	return i < 0 ? negate(m) : m;
}

/* 64 bits drawn for a function and its arguments. */
static uint64_t draw(int function, uint64_t a, uint64_t b)
{
	at.drawn++;
	return equal_mix(equal_mix(equal_mix(at.key, (uint64_t)function), a), b);
}

static uint64_t drawn(int function, uint64_t a, uint64_t b) { return draw(function, a, b) % P; }

/* ---- with infinities and NaN */

static bool special(uint64_t a) { return a >= P; }

/* An element's place in the order. */
static int64_t rank(uint64_t a) { return residue(multiply(a, at.scale)); }

/* A constant has its own sign. */
static int sign(uint64_t a)
{
	intptr_t known = (intptr_t)map_get(&at.sign, a + 1);

	if (special(a) || a == 0)
		return a == WORD_INF ? 1 : a == WORD_NEGATIVE_INF ? -1 : 0;
	return known ? (int)known - 2 : rank(a) < 0 ? -1 : 1;
}

static uint64_t inf_of(int s) { return s > 0 ? WORD_INF : s < 0 ? WORD_NEGATIVE_INF : WORD_NAN; }

static uint64_t f_neg(uint64_t a)
{
	return a == WORD_NAN ? a : special(a) ? inf_of(-sign(a)) : negate(a);
}

static uint64_t f_add(uint64_t a, uint64_t b)
{
	if (!special(a) && !special(b))
		return add(a, b);
	if (a == WORD_NAN || b == WORD_NAN || (special(a) && special(b) && a != b))
		return WORD_NAN;
	return special(a) ? a : b;
}

static uint64_t f_mul(uint64_t a, uint64_t b)
{
	if (!special(a) && !special(b))
		return multiply(a, b);
	if (a == WORD_NAN || b == WORD_NAN)
		return WORD_NAN;
	return inf_of(sign(a) * sign(b));
}

static uint64_t f_recip(uint64_t a)
{
	if (a == WORD_NAN || a == 0)
		return a ? a : WORD_INF;
	at.drawn++;
	return special(a) ? 0 : inverse(a);
}

static bool f_less(uint64_t a, uint64_t b)
{
	at.drawn++;
	if (a == WORD_NAN || b == WORD_NAN)
		return false;
	if (special(a) || special(b))
		return a != b && (a == WORD_NEGATIVE_INF || b == WORD_INF);
	return rank(a) < rank(b);
}

static bool f_equal(uint64_t a, uint64_t b) { return a == b && a != WORD_NAN; }
static uint64_t f_max(uint64_t a, uint64_t b) { return f_less(b, a) || a == WORD_NAN ? a : b; }
static uint64_t f_min(uint64_t a, uint64_t b) { return f_less(a, b) || a == WORD_NAN ? a : b; }

/* What truncating gives, for a finite a. */
static int64_t truncated(uint64_t a)
{
	enum { MOST = 15 };
	uint64_t bits = draw(OP_TRUNC, a, 0);

	if (is_small(a))
		return residue(a);
	int64_t magnitude = (int64_t)(bits >> 8 & ((1 << (bits % (MOST + 1))) - 1));
	return rank(a) < 0 ? -magnitude : magnitude;
}

static uint64_t f_trunc(uint64_t a) { return special(a) ? a : from_signed(truncated(a)); }

static uint64_t f_exp2(uint64_t a)
{
	if (special(a))
		return a == WORD_NEGATIVE_INF ? 0 : a;
	return a ? drawn(OP_EXP2, a, 0) : 1;
}

static uint64_t f_log2(uint64_t a)
{
	if (special(a))
		return a == WORD_NEGATIVE_INF ? WORD_NAN : a;
	return a ? drawn(OP_LOG2, a, 0) : WORD_NEGATIVE_INF;
}

static uint64_t f_sqrt(uint64_t a)
{
	if (special(a))
		return a == WORD_NEGATIVE_INF ? WORD_NAN : a;
	return a < 2 ? a : drawn(OP_SQRT, a, 0);
}

static uint64_t f_sin(uint64_t a)
{
	return special(a) ? WORD_NAN : a ? drawn(OP_SIN, a, 0) : 0;
}

static uint64_t f_pow(uint64_t a, uint64_t b)
{
	if (b == 0)
		return 1;
	if (!special(a) && b <= MOST_POWER)
		return power(a, b);
	return drawn(OP_POW, a, b);
}

/* ---- the loops */

#define LOOP(OP, R, EXPR) \
	static void word_##OP(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		const int nsrc = op_info[OP_##OP].max_src; \
		const uint64_t *a = in[0], *b = in[nsrc > 1], *c = in[nsrc > 2 ? 2 : 0]; \
		const size_t sa = step[0], sb = step[nsrc > 1], sc = step[nsrc > 2 ? 2 : 0]; \
		R *o = out; \
		for (size_t i = 0; i < n; i++) { \
			uint64_t x = a[i * sa], y = b[i * sb], z = c[i * sc]; \
			(void)y, (void)z; \
			o[i] = EXPR; \
		} \
	}
LOOP(NEG, uint64_t, f_neg(x))
LOOP(RECIP, uint64_t, f_recip(x))
LOOP(SQRT, uint64_t, f_sqrt(x))
LOOP(EXP2, uint64_t, f_exp2(x))
LOOP(LOG2, uint64_t, f_log2(x))
LOOP(SIN, uint64_t, f_sin(x))
LOOP(TRUNC, uint64_t, f_trunc(x))
LOOP(ADD, uint64_t, f_add(x, y))
LOOP(SUB, uint64_t, f_add(x, f_neg(y)))
LOOP(MUL, uint64_t, f_mul(x, y))
LOOP(FDIV, uint64_t, f_mul(x, f_recip(y)))
LOOP(POW, uint64_t, f_pow(x, y))
LOOP(MAX, uint64_t, f_max(x, y))
LOOP(MIN, uint64_t, f_min(x, y))
LOOP(MULACC, uint64_t, f_add(f_mul(x, y), z))
LOOP(CMPLT, uint8_t, f_less(x, y))
LOOP(CMPEQ, uint8_t, f_equal(x, y))
LOOP(CMPNE, uint8_t, !f_equal(x, y))

static void word_WHERE(size_t n, void *out, const void *const *in, const int *step)
{
	const uint8_t *c = in[0];
	const uint64_t *a = in[1], *b = in[2];
	uint64_t *o = out;

	for (size_t i = 0; i < n; i++)
		o[i] = c[i * step[0]] ? a[i * step[1]] : b[i * step[2]];
}

/* ---- constants */

/* v as m·2^e with an integer m. */
static uint64_t dyadic(double v)
{
	int e;
	int64_t m = (int64_t)ldexp(frexp(v, &e), 53);

	e -= 53;
	return multiply(from_signed(m), power(e < 0 ? inverse(2) : 2, (uint64_t)(e < 0 ? -e : e)));
}

static double rounded(DType dt, double v)
{
	uint64_t bits = 0;
	double back;

	interp_cast(dt, &bits, DT_F64, &v, 1);
	interp_cast(DT_F64, &back, dt, &bits, 1);
	return back;
}

/* The first convergent a/b of v's continued fraction that rounds to v, for a small b. */
static bool as_fraction(DType dt, double v, int64_t *a, int64_t *b)
{
	const int64_t most = dt == DT_F64 ? 10000 : dt == DT_F32 ? 1000 : 1;
	int64_t a0 = 1, b0 = 0, a1 = (int64_t)floor(v), b1 = 1;
	double rest = v;

	for (int i = 0; i < 20 && b1 <= most; i++) {
		if (rounded(dt, (double)a1 / (double)b1) == v) {
			*a = a1;
			*b = b1;
			return true;
		}
		if (rest == floor(rest))
			return false;
		rest = 1 / (rest - floor(rest));
		if (rest > (double)most)
			return false;
		int64_t q = (int64_t)floor(rest), a2 = q * a1 + a0, b2 = q * b1 + b0;
		a0 = a1, b0 = b1, a1 = a2, b1 = b2;
	}
	return false;
}

static uint64_t number_word(DType dt, double v)
{
	int64_t a, b;

	if (isnan(v) || isinf(v))
		return isnan(v) ? WORD_NAN : inf_of(v < 0 ? -1 : 1);
	if (fabs(v) < (double)(1 << 20) && as_fraction(dt, fabs(v), &a, &b)) {
		uint64_t w = multiply(from_signed(a), inverse(from_signed(b)));
		return v < 0 ? negate(w) : w;
	}
	return dyadic(v);
}

static void constant(DType dt, void *bits)
{
	double v;
	uint64_t word;

	interp_cast(DT_F64, &v, dt, bits, 1);
	word = number_word(dt, v);
	if (!special(word) && word)
		map_put(&at.sign, word + 1, (void *)(intptr_t)(v < 0 ? 1 : 3));
	memcpy(bits, &word, sizeof word);
}

void field_words(DType dt, const void *from, size_t n, uint64_t *to)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = 0;
		memcpy(&to[i], (const char *)from + i * dtype_size(dt), dtype_size(dt));
		constant(dt, &to[i]);
	}
}

/* ---- casts */

static void word_to_int(DType to, char *out, const uint64_t *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v = in[i] == WORD_NAN ? 0 : in[i] == WORD_INF ? INFINITY :
			in[i] == WORD_NEGATIVE_INF ? -INFINITY : (double)truncated(in[i]);
		if (to == DT_BOOL)
			v = in[i] != 0;
		interp_cast(to, out + i * dtype_size(to), DT_F64, &v, 1);
	}
}

static void int_to_word(DType from, uint64_t *out, const char *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v;
		interp_cast(DT_I64, &v, from, in + i * dtype_size(from), 1);
		out[i] = from == DT_U64 ? (uint64_t)v % P : from_signed(v);
	}
}

static void cast(DType to, void *out, DType from, const void *in, size_t n)
{
	if (!dtype_float(to))
		word_to_int(to, out, in, n);
	else if (!dtype_float(from))
		int_to_word(from, out, in, n);
	else
		memmove(out, in, n * sizeof(uint64_t));
}

/* An element's bits: a sign, and a magnitude that grows with the element's, as integers compare
 * what sorts by digits make of them. 0 has none; infinities and NaN, whose bits are those of
 * IEEE 754, are beyond all. Four bytes tell small elements apart, and others mostly. */
static uint64_t ordered_bits(int size, uint64_t a)
{
	enum { EXACT = 29, LOST = 33 };
	const uint64_t top = size == 8 ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
	const uint64_t inf = size == 8 ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23;
	const int64_t r = special(a) ? 0 : rank(a);
	uint64_t m = r < 0 ? -(uint64_t)r : (uint64_t)r;

	if (special(a))
		return a == WORD_NAN ? inf | inf >> 1 : a == WORD_INF ? inf : top | inf;
	if (size == 4 && m >> EXACT)
		m = (UINT64_C(1) << EXACT) + (m >> LOST);
	return r < 0 ? top | m : m;
}

/* Notes whose bits these are. */
static void note_bits(uint64_t bits, uint64_t a)
{
	const uint64_t known = (uint64_t)(uintptr_t)map_get(&at.of_bits, bits + 1);

	at.collided |= known && known != a + 1;
	map_put(&at.of_bits, bits + 1, (void *)(uintptr_t)(a + 1));
}

static uint64_t bits_of(DType to, DType from, uint64_t a)
{
	const int size = (int)dtype_size(to);

	if (size != (int)dtype_size(from) || size < 4)
		return draw(OP_BITCAST, a, (uint64_t)size);
	at.drawn++;
	uint64_t bits = ordered_bits(size, a);
	if (size == 4 && !special(a))
		note_bits(bits, a);
	return bits;
}

static void bitcast(DType to, void *out, DType from, const void *in, size_t n)
{
	const uint64_t *x = in;

	if (dtype_float(to) && dtype_float(from)) {
		memmove(out, in, n * sizeof *x);
	} else if (dtype_float(to)) {
		field_words(to, in, n, out);
	} else {
		for (size_t i = 0; i < n; i++) {
			uint64_t bits = bits_of(to, from, x[i]);
			memcpy((char *)out + i * dtype_size(to), &bits, dtype_size(to));
		}
	}
}

/* NaN is greatest. */
static uint64_t sort_key(uint64_t a)
{
	switch (a) {
	case WORD_NAN: return UINT64_MAX;
	case WORD_INF: return UINT64_MAX - 1;
	case WORD_NEGATIVE_INF: return 0;
	default: return (uint64_t)rank(a) ^ UINT64_C(1) << 63;
	}
}

void field_key(uint64_t key, bool true_order)
{
	at.key = key;
	at.scale = true_order ? 1 : 1 + equal_mix(key, 1) % (P - 1);
	at.drawn = 0;
	map_free(&at.sign);
	map_free(&at.of_bits);
	at.collided = false;
}

bool field_collided(void) { return at.collided; }
uint64_t field_drawn(void) { return at.drawn; }

uint64_t field_random(uint64_t bits) { return bits % P; }
uint64_t field_integer(int64_t i) { return from_signed(i); }

#define ROW(OP) [OP_##OP] = word_##OP
const Arithmetic field_arithmetic = {
	.fn = {ROW(NEG), ROW(RECIP), ROW(SQRT), ROW(EXP2), ROW(LOG2), ROW(SIN), ROW(TRUNC),
		ROW(ADD), ROW(SUB), ROW(MUL), ROW(FDIV), ROW(POW), ROW(MAX), ROW(MIN), ROW(CMPLT),
		ROW(CMPEQ), ROW(CMPNE), ROW(WHERE), ROW(MULACC)},
	.cast = cast, .bitcast = bitcast, .constant = constant, .key = sort_key,
};
