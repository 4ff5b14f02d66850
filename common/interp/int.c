/* Elementwise ops on integers and bool. One function per op computes it on the widest type; its
 * line below makes the loop for each dtype, which narrows the result and so wraps it.
 *
 *     IDIV  i8  -128, -1   s_idiv gives 128, kept as -128
 */
#include "interp/elements.h"

static int64_t s_wrap(uint64_t x)
{
	return (int64_t)x;
}

static int64_t s_idiv(int64_t a, int64_t b)
{
	return b == 0 ? 0 : b == -1 ? s_wrap(0 - (uint64_t)a) : a / b;
}

static uint64_t u_idiv(uint64_t a, uint64_t b)
{
	return b == 0 ? 0 : a / b;
}

static int64_t s_mod(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

static uint64_t u_mod(uint64_t a, uint64_t b)
{
	return b == 0 ? 0 : a % b;
}

static int64_t s_floordiv(int64_t a, int64_t b)
{
	if (b == 0 || b == -1)
		return s_idiv(a, b);
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t s_floormod(int64_t a, int64_t b)
{
	int64_t r = s_mod(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static uint64_t u_pow(uint64_t a, uint64_t b)
{
	uint64_t r = 1;

	for (; b; b >>= 1, a *= a)
		if (b & 1)
			r *= a;
	return r;
}

/* A negative power is the exact value truncated; 0 for base 0. */
static uint64_t s_pow(int64_t a, int64_t b)
{
	if (b >= 0)
		return u_pow((uint64_t)a, (uint64_t)b);
	return a == 1 ? 1 : a == -1 ? (b & 1 ? UINT64_MAX : 1) : 0;
}

static uint64_t s_shl(int64_t a, int64_t count, int width)
{
	return count < 0 || count >= width ? 0 : (uint64_t)a << count;
}

static uint64_t u_shl(uint64_t a, uint64_t count, int width)
{
	return count >= width ? 0 : a << count;
}

static int64_t s_shr(int64_t a, int64_t count, int width)
{
	return count < 0 || count >= width ? -(a < 0) : a >> count;
}

static uint64_t u_shr(uint64_t a, uint64_t count, int width)
{
	return count >= width ? 0 : a >> count;
}

/* Threefry-2x32 with 20 rounds, as in Random123. Word 0 is the low half of counter, key and result.
 */
static uint64_t threefry(uint64_t counter, uint64_t key)
{
	static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
	uint32_t k[3] = {(uint32_t)key, (uint32_t)(key >> 32)};
	uint32_t a = (uint32_t)counter + k[0], b = (uint32_t)(counter >> 32) + k[1];

	k[2] = k[0] ^ k[1] ^ 0x1BD11BDA;
	for (int r = 0; r < 20; r++) {
		a += b;
		b = b << rotation[r % 8] | b >> (32 - rotation[r % 8]);
		b ^= a;
		if (r % 4 == 3) {
			int j = r / 4 + 1;
			a += k[j % 3];
			b += k[(j + 1) % 3] + (uint32_t)j;
		}
	}
	return a | (uint64_t)b << 32;
}

/* The sum of the products of the narrow integers in two words, which wraps. */
static uint32_t dot_u8_i8(int32_t a, int32_t b)
{
	uint32_t sum = 0;

	for (int i = 0; i < 32; i += 8)
		sum += (uint32_t)((uint8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i));
	return sum;
}

static uint32_t dot_i8(int32_t a, int32_t b)
{
	uint32_t sum = 0;

	for (int i = 0; i < 32; i += 8)
		sum += (uint32_t)((int8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i));
	return sum;
}

static uint32_t dot_i16(int32_t a, int32_t b)
{
	uint32_t sum = 0;

	for (int i = 0; i < 32; i += 16)
		sum += (uint32_t)((int16_t)((uint32_t)a >> i) * (int16_t)((uint32_t)b >> i));
	return sum;
}

/* The loop of one op at one dtype: x, y, z are its operands, WIDTH the number of bits of one. */
#define LOOP(OP, D, C, R, EXPR) \
	static void OP##_##D(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		enum { WIDTH = 8 * sizeof(C) }; \
		const int nsrc = op_info[OP_##OP].max_src; \
		const C *a = in[0], *b = in[nsrc > 1], *c = in[nsrc > 2 ? 2 : 0]; \
		const size_t sa = step[0], sb = step[nsrc > 1], sc = step[nsrc > 2 ? 2 : 0]; \
		R *o = out; \
		(void)WIDTH; \
		for (size_t i = 0; i < n; i++) { \
			C x = a[i * sa], y = b[i * sb], z = c[i * sc]; \
			(void)y, (void)z; \
			o[i] = (R)(EXPR); \
		} \
	}

#define ROW(OP) \
	[DT_I8] = OP##_I8, [DT_I16] = OP##_I16, [DT_I32] = OP##_I32, [DT_I64] = OP##_I64, \
	[DT_U8] = OP##_U8, [DT_U16] = OP##_U16, [DT_U32] = OP##_U32, [DT_U64] = OP##_U64
#define LOOPS(OP, S, U) \
	LOOP(OP, I8, int8_t, int8_t, S) LOOP(OP, I16, int16_t, int16_t, S) \
	LOOP(OP, I32, int32_t, int32_t, S) LOOP(OP, I64, int64_t, int64_t, S) \
	LOOP(OP, U8, uint8_t, uint8_t, U) LOOP(OP, U16, uint16_t, uint16_t, U) \
	LOOP(OP, U32, uint32_t, uint32_t, U) LOOP(OP, U64, uint64_t, uint64_t, U)
/* an op on each integer dtype: the expression for signed ones, for unsigned ones */
#define INTS(OP, S, U) \
	LOOPS(OP, S, U) \
	const InterpFn ints_##OP[DT_COUNT] = {ROW(OP)};
/* and on bool, where any byte but 0 is true: bytes from a file cannot make a third value */
#define ANY(OP, S, U, B) \
	LOOPS(OP, S, U) LOOP(OP, BOOL, uint8_t, uint8_t, B) \
	const InterpFn ints_##OP[DT_COUNT] = {[DT_BOOL] = OP##_BOOL, ROW(OP)};
#define COMPARE(OP, EXPR, B) \
	LOOP(OP, I8, int8_t, uint8_t, EXPR) LOOP(OP, I16, int16_t, uint8_t, EXPR) \
	LOOP(OP, I32, int32_t, uint8_t, EXPR) LOOP(OP, I64, int64_t, uint8_t, EXPR) \
	LOOP(OP, U8, uint8_t, uint8_t, EXPR) LOOP(OP, U16, uint16_t, uint8_t, EXPR) \
	LOOP(OP, U32, uint32_t, uint8_t, EXPR) LOOP(OP, U64, uint64_t, uint8_t, EXPR) \
	LOOP(OP, BOOL, uint8_t, uint8_t, B) \
	const InterpFn ints_##OP[DT_COUNT] = {[DT_BOOL] = OP##_BOOL, ROW(OP)};
#define W(v) ((uint64_t)(v))

INTS(NEG, 0 - W(x), 0 - W(x))
ANY(ADD, W(x) + W(y), W(x) + W(y), x || y)
INTS(SUB, W(x) - W(y), W(x) - W(y))
ANY(MUL, W(x) * W(y), W(x) * W(y), x && y)
ANY(MULACC, W(x) * W(y) + W(z), W(x) * W(y) + W(z), (x && y) || z)
INTS(POW, s_pow(x, y), u_pow(x, y))
ANY(MAX, x > y ? x : y, x > y ? x : y, x || y)
ANY(MIN, x < y ? x : y, x < y ? x : y, x && y)
INTS(IDIV, s_idiv(x, y), u_idiv(x, y))
INTS(MOD, s_mod(x, y), u_mod(x, y))
INTS(FLOORDIV, s_floordiv(x, y), u_idiv(x, y))
INTS(FLOORMOD, s_floormod(x, y), u_mod(x, y))
ANY(AND, x & y, x & y, x && y)
ANY(OR, x | y, x | y, x || y)
ANY(XOR, x ^ y, x ^ y, !x != !y)
INTS(SHL, s_shl(x, y, WIDTH), u_shl(x, y, WIDTH))
INTS(SHR, s_shr(x, y, WIDTH), u_shr(x, y, WIDTH))
COMPARE(CMPLT, x < y, !x && y)
COMPARE(CMPEQ, x == y, !x == !y)
COMPARE(CMPNE, x != y, !x != !y)
LOOP(THREEFRY, U64, uint64_t, uint64_t, threefry(x, y))
const InterpFn ints_THREEFRY[DT_COUNT] = {[DT_U64] = THREEFRY_U64};
LOOP(DOTU8I8, I32, int32_t, int32_t, dot_u8_i8(x, y))
LOOP(DOTI8, I32, int32_t, int32_t, dot_i8(x, y))
LOOP(DOTI16, I32, int32_t, int32_t, dot_i16(x, y))
const InterpFn ints_DOTU8I8[DT_COUNT] = {[DT_I32] = DOTU8I8_I32};
const InterpFn ints_DOTI8[DT_COUNT] = {[DT_I32] = DOTI8_I32};
const InterpFn ints_DOTI16[DT_COUNT] = {[DT_I32] = DOTI16_I32};

/* c ? a : b on elements of one size, moved as bits so that a NaN keeps its own */
#define SELECT(NAME, T) \
	static void NAME(size_t n, void *out, const void *const *in, const int *step) \
	{ \
		const uint8_t *c = in[0]; \
		const T *a = in[1], *b = in[2]; \
		const size_t sc = step[0], sa = step[1], sb = step[2]; \
		T *o = out; \
		for (size_t i = 0; i < n; i++) \
			o[i] = c[i * sc] ? a[i * sa] : b[i * sb]; \
	}
SELECT(select_1, uint8_t)
SELECT(select_2, uint16_t)
SELECT(select_4, uint32_t)
SELECT(select_8, uint64_t)
const InterpFn ints_WHERE[DT_COUNT] = {
	[DT_BOOL] = select_1,
	[DT_I8] = select_1, [DT_I16] = select_2, [DT_I32] = select_4, [DT_I64] = select_8,
	[DT_U8] = select_1, [DT_U16] = select_2, [DT_U32] = select_4, [DT_U64] = select_8,
};
const InterpFn floats_WHERE[DT_COUNT] = {
	[DT_F16] = select_2, [DT_BF16] = select_2, [DT_F32] = select_4, [DT_F64] = select_8,
};
