/* Conversions of vectors. __builtin_convertvector does what C's casts do; the contract's additions
 * (floats clamped to an integer's limits, NaN as 0, halves rounded to nearest even) are written
 * around it:
 *
 *     f32_to_i32_x16(x)       x where it is inside the limits, else 0; converted; the limits put in
 */
#include "print/vector.h"

#define INLINE VECTOR_INLINE
#define HEAD INLINE "$V $N($S x)\n{\n"

static const char plain[] = HEAD "\treturn __builtin_convertvector(x, $V);\n}\n";
/* With the bits of 2^23 put above it, an integer below 2^23 is a float's mantissa; signed ones take
 * 1.5 * 2^23. */
static const char small_unsigned[] = HEAD "\treturn ($V)(%s | 0x4b000000) - 8388608.0f;\n}\n";
static const char small_signed[] = HEAD "\treturn ($V)(%s + 0x4b400000) - 12582912.0f;\n}\n";
/* beyond the limits nothing is converted: C leaves that result undefined */
static const char to_signed[] = HEAD
	"\tconst $Q low = ($Q)(x <= $L), high = ($Q)(x >= $H), out = low | high | ($Q)(x != x);\n"
	"\tconst $V r = __builtin_convertvector(\n"
	"\t\t__builtin_convertvector(($S)(($Q)x & ~out), $R), $V);\n"
	"\tconst $V least = {$l}, most = {$h};\n"
	"\treturn r | (__builtin_convertvector(low, $V) & least) |\n"
	"\t\t(__builtin_convertvector(high, $V) & most);\n}\n";
static const char to_unsigned[] = HEAD
	"\tconst $Q in = ($Q)(x > $L), high = ($Q)(x >= $H);\n"
	"\tconst $V r = __builtin_convertvector(\n"
	"\t\t__builtin_convertvector(($S)(($Q)x & in & ~high), $R), $V);\n"
	"\treturn r | ($V)__builtin_convertvector(high, $M);\n}\n";

static const char bf16_to_f32[] = HEAD "\treturn ($V)(__builtin_convertvector(x, $R) << 16);\n}\n";
static const char f32_to_bf16[] = HEAD
	"\tconst $R u = ($R)x, nan = ($R)((u & 0x7fffffff) > 0x7f800000);\n"
	"\tconst $R near = (u + 0x7fff + (u >> 16 & 1)) >> 16, kept = u >> 16 | 0x40;\n"
	"\treturn __builtin_convertvector((kept & nan) | (near & ~nan), $V);\n}\n";
#define F16_TO_F32(all) "\tconst $V r = {0};\n\treturn __builtin_ia32_vcvtph2ps512_mask(\n" \
	"\t\t(short __attribute__((vector_size(32))))x, r, " all ", 4);\n"
static const char f16_to_f32[] = HEAD
	"#if defined __AVX512F__ && defined __clang__ && $n == 16\n" F16_TO_F32("0xffff")
	"#elif defined __AVX512F__ && $n == 16\n" F16_TO_F32("-1")
	"#elif defined __F16C__ && $n == 8\n"
	"\treturn __builtin_ia32_vcvtph2ps256((short __attribute__((vector_size(16))))x);\n"
	"#else\n"
	"\tconst $R h = __builtin_convertvector(x, $R), m = h & 0x3ff, e = h & 0x7c00;\n"
	"\tconst $R none = ($R)(e == 0), all = ($R)(e == 0x7c00);\n"
	"\tconst $R small = ($R)(__builtin_convertvector(($M)m, $V) * 5.9604644775390625e-8f);\n"
	"\tconst $R quiet = ($R)(m != 0) & 0x400000;\n"
	"\tconst $R large = 0x7f800000 | m << 13 | quiet, middle = ((h & 0x7fff) << 13) + "
	"0x38000000;\n"
	"\treturn ($V)((h & 0x8000) << 16 | (small & none) | (large & all) |\n"
	"\t\t(middle & ~(none | all)));\n"
	"#endif\n}\n";
/* below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24, which is f16's smallest step */
static const char f32_to_f16[] = HEAD
	"#if defined __AVX512F__ && $n == 16\n"
	"\tconst short r __attribute__((vector_size(32))) = {0};\n"
	"\treturn ($V)__builtin_ia32_vcvtps2ph512_mask(x, 0, r, 0xffff);\n"
	"#elif defined __F16C__ && $n == 8\n"
	"\treturn ($V)__builtin_ia32_vcvtps2ph256(x, 0);\n"
	"#else\n"
	"\tconst $R u = ($R)x, m = u & 0x7fffffff;\n"
	"\tconst $R nan = ($R)(m > 0x7f800000), large = ($R)(m >= 0x477ff000) & ~nan;\n"
	"\tconst $R tiny = ($R)(m < 0x38800000), middle = ~(nan | large | tiny);\n"
	"\tconst $R small = ($R)(($S)(m & tiny) + 0.5f) - 0x3f000000;\n"
	"\tconst $R near = (m - 0x38000000 + 0xfff + (m >> 13 & 1)) >> 13;\n"
	"\treturn __builtin_convertvector((u >> 16 & 0x8000) |\n"
	"\t\t((0x7e00 | (m >> 13 & 0x3ff)) & nan) | (0x7c00 & large) |\n"
	"\t\t(small & tiny) | (near & middle),\n"
	"\t\t$V);\n"
	"#endif\n}\n";

static VWords words(const Printer *p, DType to, DType from)
{
	int lanes = p->vectors->lanes;
	return (VWords){
		.name = arena_printf("%s_to_%s_x%d", dtype_name(from), dtype_name(to), lanes),
		.to = lane_dtype(to),
		.from = lane_dtype(from),
		.via = DT_NONE,
		.lanes = lanes};
}

/* powers of two as the first values beyond an integer's limits */
static const char *power(int bits, bool single)
{
	return arena_printf("%.1f%s", (double)(1ull << (bits - 1)) * 2, single ? "f" : "");
}

static const char *float_to_int(Printer *p, DType to, DType from)
{
	VWords w = words(p, to, from);
	bool sign = dtype_signed(to);
	int bits = 8 * dtype_size(to);
	w.high = power(bits - sign, from == DT_F32);
	w.low = sign ? arena_printf("-%s", w.high) : from == DT_F32 ? "0.0f" : "0.0";
	w.via = dtype_size(to) < 4 ? DT_I32 : to;
	long long most = (long long)dtype_max(to);
	if (sign) {
		const char *suffix = bits == 64 ? "L" : "";
		w.least = text_list(w.lanes, arena_printf("-%lld%s - 1", most, suffix));
		w.greatest = text_list(w.lanes, arena_printf("%lld%s", most, suffix));
	}
	return vector_helper(p, &w, sign ? to_signed : to_unsigned);
}

static const char *half_cast(Printer *p, DType to, DType from)
{
	VWords w = words(p, to, from);
	w.via = DT_U32;
	return vector_helper(p, &w,
		from == DT_F16		? f16_to_f32 :
			from == DT_BF16 ? bf16_to_f32 :
			to == DT_F16	? f32_to_f16 :
					  f32_to_bf16);
}

/* the language's own conversion, lane by lane */
static const char *each_lane(Printer *p, DType to, DType from)
{
	return lanewise_fn(
		p, helper_cast(&p->helpers, to, from), lane_dtype(to), lane_dtype(from), 1);
}

/* x as integers of another size, in steps for which gcc 12 has instructions: others it does lane by
 * lane */
static const char *resized(Printer *p, const char *x, DType to, DType from)
{
	static const DType same[2][9] = {{[1] = DT_U8, [2] = DT_U16, [4] = DT_U32, [8] = DT_U64},
		{[1] = DT_I8, [2] = DT_I16, [4] = DT_I32, [8] = DT_I64}};
	int size = dtype_size(from), end = dtype_size(to);
	while (size != end) {
		size = size < end ? 2 * size : size / end > 4 ? size / 2 : end;
		x = arena_printf("__builtin_convertvector(%s, %s)", x,
			vector_type(p, same[dtype_signed(from)][size], p->vectors->lanes));
	}
	bool cast = dtype_signed(to) != dtype_signed(from);
	return cast ? arena_printf("(%s)%s", vector_type(p, to, p->vectors->lanes), x) : x;
}

static const char *resize_fn(Printer *p, DType to, DType from)
{
	VWords w = words(p, to, from);
	return vector_helper(
		p, &w, arena_printf(HEAD "\treturn %s;\n}\n", resized(p, "x", to, from)));
}

static const char *small_to_float(Printer *p, DType from)
{
	VWords w = words(p, DT_F32, from);
	return vector_helper(p, &w, arena_printf(dtype_signed(from) ? small_signed : small_unsigned,
		resized(p, "x", DT_I32, from)));
}

static const char *cast_fn(Printer *p, DType to, DType from)
{
	if (dtype_half(to) && (from != DT_F32))
		return each_lane(p, to, from);
	if (dtype_half(to) || dtype_half(from))
		return half_cast(p, to, from);
	if (dtype_float(from) && dtype_int(to))
		return float_to_int(p, to, from);
	if (dtype_int(from) && dtype_int(to))
		return resize_fn(p, to, from);
	if (to == DT_F32 && dtype_size(from) < 4)
		return small_to_float(p, from);
	VWords w = words(p, to, from);
	return vector_helper(p, &w, plain);
}

const char *vector_cast(Printer *p, DType to, DType from, const char *x)
{
	if (dtype_half(from)) {
		x = arena_printf("%s(%s)", cast_fn(p, DT_F32, from), x);
		from = DT_F32;
	}
	/* an integer becomes a half through f32 where that rounds only once */
	if (dtype_half(to) && dtype_int(from) && !(to == DT_BF16 && dtype_size(from) >= 4)) {
		x = arena_printf("%s(%s)", cast_fn(p, DT_F32, from), x);
		from = DT_F32;
	}
	if (to == DT_F64 && dtype_size(from) < 4) {
		x = arena_printf("%s(%s)", cast_fn(p, DT_F32, from), x);
		from = DT_F32;
	}
	return to == from ? x : arena_printf("%s(%s)", cast_fn(p, to, from), x);
}
