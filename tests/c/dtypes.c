/* dtypes.t in C */
#include <sluice/tensor.h>

static const bool bits[3] = {1, 0, 1};
static const signed char i8s[3] = {-128, 0, 127};
static const short i16s[3] = {-32768, 0, 32767};
static int i32s[3] = {INT32_MIN, 0, 1};
static const int64_t i64s[3] = {-INT64_MAX, 0, 1};
static const unsigned char u8s[3] = {255, 0, 1};
static unsigned short u16s[3] = {65535, 0, 1};
static const uint32_t u32s[3] = {UINT32_MAX, 0, 1};
static const uint64_t u64s[3] = {UINT64_MAX, 0, 1};
static const float f32s[3] = {0.1f, INFINITY, 2.5f};
static const double f64s[3] = {0.1, -INFINITY, 2.5};

SLUICE_FUNCTION(dtypes, ARG(a, BOOL, 3), ARG(b, I8, 3), ARG(c, I16, 3), ARG(d, I32, 3),
	ARG(e, I64, 3), ARG(f, U8, 3), ARG(g, U16, 3), ARG(h, U32, 3), ARG(i, U64, 3),
	ARG(j, F16, 3), ARG(k, BF16, 3), ARG(l, F32, 3), ARG(m, F64, 3))
{
	output("a1", bitwise_and(a, constant(bits)));
	output("b1", add(b, constant(i8s)));
	output("c1", mul(c, constant(i16s)));
	output("d1", add(d, constant(i32s)));
	output("e1", add(e, constant(i64s)));
	output("f1", add(f, constant(u8s)));
	output("g1", add(g, constant(u16s)));
	output("h1", add(h, constant(u32s)));
	output("i1", add(i, constant(u64s)));
	output("j1", add(j, 1.5));
	output("k1", mul(k, 2));
	output("l1", add(l, constant(f32s)));
	output("m1", add(m, constant(f64s)));
	output("n1", cast(m, F16));
	output("o1", cast(m, KW(dtype, BF16)));
	output("p1", add(cast(e, U64), UINT64_MAX));
}
