/* f16 and bf16 by their bits: the value of each, and the bits nearest to a value.
 *
 *     bf16  1.00390625   halfway between 0x3f80 and 0x3f81   →   0x3f80, which is even
 */
#include "graph/graph.h"

static float value_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

float bf16_value(uint16_t bits)
{
	return value_of((uint32_t)bits << 16);
}

float f16_value(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
	float f;

	if (rest >= 0x7c00)
		return value_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest >= 0x400)
		return value_of(sign | ((rest << 13) + ((127 - 15) << 23)));
	f = (float)rest * 0x1p-24f;
	return sign ? -f : f;
}

/* x to a 16-bit float with mbits bits of mantissa: nearest, ties to even */
static uint16_t narrow(double x, int mbits, int bias)
{
	const uint16_t inf = (uint16_t)(0x7fff >> mbits << mbits);
	uint64_t u, m, q, rest, half;
	uint16_t sign;
	int e, shift;

	memcpy(&u, &x, sizeof u);
	sign = (uint16_t)(u >> 63 << 15);
	u &= INT64_MAX;
	m = u & 0xfffffffffffff;
	e = (int)(u >> 52) - 1023 + bias;
	if (u > 0x7ff0000000000000)
		return sign | inf | (uint16_t)(1 << (mbits - 1)) | (uint16_t)(m >> (52 - mbits));
	if (e >= inf >> mbits)
		return sign | inf;
	shift = 52 - mbits + (e < 1 ? 1 - e : 0);
	if (shift >= 54)
		return sign;
	m |= 1ULL << 52;
	q = m >> shift;
	rest = m & ((1ULL << shift) - 1);
	half = 1ULL << (shift - 1);
	q += rest > half || (rest == half && (q & 1));
	/* the leading bit of q adds 1 to the exponent; so does a carry */
	return sign | (uint16_t)((e < 1 ? 0 : (uint64_t)(e - 1) << mbits) + q);
}

uint16_t f16_bits(double x)
{
	return narrow(x, 10, 15);
}

uint16_t bf16_bits(double x)
{
	return narrow(x, 7, 127);
}
