/* Functions that give an op its exact meaning where a language's operator has another meaning or
 * leaves it undefined: division by zero, shifts by too much, NaN in a maximum, rounding to f16. A
 * template's words: $I inline prefix, $N name, $T type, $U unsigned type, $V a type that arithmetic
 * does not widen, $S source type, $W width, $L and $H limits.
 *
 *     static inline int idiv_i32(int a, int b) { return b == 0 ? 0 : b == -1 ? … : a / b; }
 *
 * A helper is printed once, at its first use, in an include guard, so that sources can share a
 * file. */
#include "print/print.h"
#include <ctype.h>
#include <stdlib.h>

static const DType wide_unsigned[] = {[1] = DT_U32, [2] = DT_U32, [4] = DT_U32, [8] = DT_U64};
static const DType same_unsigned[] = {[1] = DT_U8, [2] = DT_U16, [4] = DT_U32, [8] = DT_U64};

typedef struct {
	const char *name;
	DType to, from;
	const char *type;       /* instead of that of `to`; or NULL */
	const char *low, *high;
} CastWords;

static const char *word(const Dialect *d, const CastWords *w, char c)
{
	switch (c) {
	case 'I': return d->inline_fn;
	case 'N': return w->name;
	case 'T': return w->type ? w->type : d->type[w->to];
	case 'U': return d->type[same_unsigned[dtype_size(w->to)]];
	case 'V': return d->type[wide_unsigned[dtype_size(w->to)]];
	case 'S': return d->type[w->from];
	case 'W': return arena_printf("%d", 8 * dtype_size(w->to));
	case 'L': return w->low;
	case 'H': return w->high;
	case 'i': return d->type[DT_I32];
	case 'u': return d->type[DT_U32];
	case 'l': return d->type[DT_U64];
	case 'h': return d->type[DT_U16];
	default: return "$";
	}
}

bool helper_have(Helpers *h, const char *name)
{
	for (size_t i = 0; i < h->names.n; i++)
		if (!strcmp(h->names.at[i], name))
			return true;
	vec_push(&h->names, name);
	return false;
}

static void put(Helpers *h, const CastWords *w, const char *text)
{
	buf_printf(&h->text, "#ifndef HELPER_%s\n#define HELPER_%s\n", w->name, w->name);
	for (; *text; text++) {
		if (*text == '$')
			buf_printf(&h->text, "%s", word(h->d, w, *++text));
		else
			buf_add(&h->text, text, 1);
	}
	buf_printf(&h->text, "#endif\n\n");
}

void helper_put(Helpers *h, const char *name, const char *text)
{
	buf_printf(
		&h->text, "#ifndef HELPER_%s\n#define HELPER_%s\n%s#endif\n\n", name, name, text);
}

/* ---- two sources of one dtype */

#define FN(body) "$I $T $N($T a, $T b)\n{\n" body "}\n"
/* the sum of the products of the narrow integers in a and b, so many bits apart */
#define PART(x, mask) "($i)((($V)" x " >> i) & " mask ")"
#define SIGNED(x, mask, top) "(($i)(((($V)" x " >> i) & " mask ") ^ " top ") - " top ")"
#define DOT(bits, x, y) FN("\t$V sum = 0;\n\tfor ($u i = 0; i < 32; i += " bits ")\n" \
	"\t\tsum += ($V)(" x " * " y ");\n\treturn ($T)sum;\n")
static const struct { const char *sint, *uint, *flt;
} binary[OP_COUNT] = {
	[OP_MAX] = {FN("\treturn a > b ? a : b;\n"), FN("\treturn a > b ? a : b;\n"),
		FN("\treturn ((a > b) | (a != a)) ? a : b;\n")},
	[OP_MIN] = {FN("\treturn a < b ? a : b;\n"), FN("\treturn a < b ? a : b;\n"),
		FN("\treturn ((a < b) | (a != a)) ? a : b;\n")},
	[OP_IDIV] = {FN("\treturn b == 0 ? 0 : b == -1 ? ($T)(0 - ($V)a) : ($T)(a / b);\n"),
		FN("\treturn b == 0 ? 0 : ($T)(a / b);\n"), NULL},
	[OP_MOD] = {FN("\treturn b == 0 || b == -1 ? 0 : ($T)(a % b);\n"),
		FN("\treturn b == 0 ? 0 : ($T)(a % b);\n"), NULL},
	[OP_FLOORDIV] =
		{FN("\tif (b == 0)\n\t\treturn 0;\n\tif (b == -1)\n\t\treturn ($T)(0 - ($V)a);\n"
		    "\treturn ($T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));\n"),
			FN("\treturn b == 0 ? 0 : ($T)(a / b);\n"), NULL},
	[OP_FLOORMOD] = {FN("\tif (b == 0 || b == -1)\n\t\treturn 0;\n\tconst $T r = ($T)(a % b);\n"
			    "\treturn r != 0 && (r < 0) != (b < 0) ? ($T)(r + b) : r;\n"),
		FN("\treturn b == 0 ? 0 : ($T)(a % b);\n"), NULL},
	[OP_SHL] = {FN("\treturn b < 0 || b >= $W ? 0 : ($T)(($V)a << b);\n"),
		FN("\treturn b >= $W ? 0 : ($T)(($V)a << b);\n"), NULL},
	[OP_SHR] = {FN("\treturn b < 0 || b >= $W ? ($T)(a < 0 ? -1 : 0) : ($T)(a >> b);\n"),
		FN("\treturn b >= $W ? 0 : ($T)(a >> b);\n"), NULL},
	[OP_POW] =
		{FN("\tif (b < 0)\n\t\treturn ($T)(a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0);\n"
		    "\t$V r = 1, p = ($V)a;\n\tfor (; b; b = ($T)(b >> 1)) {\n"
		    "\t\tr = b & 1 ? r * p : r;\n\t\tp = p * p;\n\t}\n"
		    "\treturn ($T)r;\n"),
			FN("\t$V r = 1, p = a;\n\tfor (; b; b = ($T)(b >> 1)) {\n\t\tr = b & 1 ? r "
			   "* p : r;\n"
			   "\t\tp = p * p;\n\t}\n"
			   "\treturn ($T)r;\n"),
			NULL},
	[OP_THREEFRY] = {NULL,
		FN("\tconst $u k[3] = {($u)b, ($u)(b >> 32), ($u)b ^ ($u)(b >> 32) ^ "
		   "0x1bd11bdau};\n"
		   "\tconst $u by[8] = {13, 15, 26, 6, 17, 29, 16, 24};\n"
		   "\t$u x = ($u)a + k[0], y = ($u)(a >> 32) + k[1];\n"
		   "\tfor ($u i = 0; i < 20; i++) {\n\t\tx += y;\n"
		   "\t\ty = (y << by[i % 8]) | (y >> (32 - by[i % 8]));\n\t\ty ^= x;\n"
		   "\t\tif (i % 4 == 3) {\n\t\t\tx += k[(i / 4 + 1) % 3];\n"
		   "\t\t\ty += k[(i / 4 + 2) % 3] + i / 4 + 1;\n\t\t}\n\t}\n"
		   "\treturn (($T)y << 32) | x;\n"),
		NULL},
	[OP_DOTU8I8] = {DOT("8", PART("a", "0xff"), SIGNED("b", "0xff", "0x80")), NULL, NULL},
	[OP_DOTI8] = {DOT("8", SIGNED("a", "0xff", "0x80"), SIGNED("b", "0xff", "0x80")), NULL,
		NULL},
	[OP_DOTI16] = {DOT("16", SIGNED("a", "0xffff", "0x8000"), SIGNED("b", "0xffff", "0x8000")),
		NULL, NULL},
};

const char *op_word(Op op)
{
	char *w = arena_strdup(op_name(op));
	for (char *c = w; *c; c++)
		*c = tolower((unsigned char)*c);
	return w;
}

const char *helper_binary(Helpers *h, Op op, DType t)
{
	const char *text = dtype_float(t) ? binary[op].flt :
		dtype_signed(t)               ? binary[op].sint :
										binary[op].uint;
	CastWords w = {
		.name = arena_printf("%s_%s", op_word(op), dtype_name(t)), .to = t, .from = t};
	if (!text)
		die_bug(__FILE__, __LINE__, op_name(op));
	if (!helper_have(h, w.name))
		put(h, &w, text);
	return w.name;
}

const char *helper_places(Helpers *h, Op op)
{
	CastWords w = {.name = arena_printf("%s_fast_i32", op_word(op)), .to = DT_I64,
		.from = DT_I64, .type = h->d->narrow};
	if (!helper_have(h, w.name))
		put(h, &w, binary[op].sint);
	return w.name;
}

/* ---- a*b + c with one rounding: only where a sum calls for it, since a compiler free to choose
 * would round one value in two ways */

const char *helper_mulacc(Helpers *h, DType t)
{
	const char *body = t == DT_F32 ? h->d->mulacc[0] : t == DT_F64 ? h->d->mulacc[1] : NULL;
	CastWords w = {.name = arena_printf("mulacc_%s", dtype_name(t)), .to = t, .from = t};
	if (!body)
		return NULL;
	if (!helper_have(h, w.name))
		put(h, &w, arena_printf("$I $T $N($T a, $T b, $T c)\n{\n%s}\n", body));
	return w.name;
}

/* ---- the same bits as another dtype */

const char *helper_bits(Helpers *h, DType to, DType from)
{
	CastWords w = {.name = arena_printf("bits_%s_%s", dtype_name(from), dtype_name(to)),
		.to = to,
		.from = from};
	if (!helper_have(h, w.name))
		put(h, &w,
			h->d->bitcast ?
				arena_printf("$I $T $N($S x)\n{\n\t%s\n}\n", h->d->bitcast) :
				"$I $T $N($S x)\n{\n\tunion { $S from; $T to; } u;\n\tu.from = x;\n"
				"\treturn u.to;\n}\n");
	return w.name;
}

/* ---- conversions */

static const char f16_to_f32[] =
	"$I $T $N($S h)\n{\n"
	"\tconst $u sign = ($u)(h & 0x8000) << 16, e = h & 0x7c00, m = h & 0x3ff;\n"
	"\tif (e == 0)\n"
	"\t\treturn sign ? -(($T)m * 5.9604644775390625e-8f) : ($T)m * 5.9604644775390625e-8f;\n"
	"\tif (e == 0x7c00)\n\t\treturn bits_u32_f32(sign | 0x7f800000u | m << 13 | ($u)(m != 0) "
	"<< 22);\n"
	"\treturn bits_u32_f32(sign | ((($u)(h & 0x7fff) << 13) + 0x38000000u));\n}\n";
static const char bf16_to_f32[] = "$I $T $N($S h)\n{\n\treturn bits_u32_f32(($u)h << 16);\n}\n";
/* below 2^-14 the addition of 0.5 rounds to a multiple of 2^-24, which is f16's smallest step */
static const char f32_to_f16[] =
	"$I $T $N($S x)\n{\n"
	"\tconst $u u = bits_f32_u32(x), sign = u >> 16 & 0x8000, m = u & 0x7fffffff;\n"
	"\tif (m > 0x7f800000)\n\t\treturn ($T)(sign | 0x7e00 | (m >> 13 & 0x3ff));\n"
	"\tif (m >= 0x477ff000)\n\t\treturn ($T)(sign | 0x7c00);\n"
	"\tif (m < 0x38800000)\n"
	"\t\treturn ($T)(sign | (bits_f32_u32(bits_u32_f32(m) + 0.5f) - 0x3f000000));\n"
	"\treturn ($T)(sign | ((m - 0x38000000 + 0xfff + (m >> 13 & 1)) >> 13));\n}\n";
static const char f32_to_bf16[] =
	"$I $T $N($S x)\n{\n"
	"\tconst $u u = bits_f32_u32(x);\n"
	"\tif ((u & 0x7fffffff) > 0x7f800000)\n\t\treturn ($T)(u >> 16 | 0x40);\n"
	"\treturn ($T)((u + 0x7fff + (u >> 16 & 1)) >> 16);\n}\n";
/* to odd: an inexact result has its last bit set, so that rounding it again rounds as if once */
static const char f64_to_odd[] =
	"$I float $N(double x)\n{\n"
	"\tconst float f = (float)x;\n"
	"\tif (x != x || (double)f == x)\n\t\treturn f;\n"
	"\tconst double g = f;\n"
	"\tconst $u u = bits_f32_u32(f) - ((g < 0 ? -g : g) > (x < 0 ? -x : x));\n"
	"\treturn bits_u32_f32(u | 1);\n}\n";
static const char int_to_odd[] =
	"$I float $N($l m)\n{\n"
	"\t$i s = 0;\n"
	"\twhile (m >> s >= 0x1000000)\n\t\ts++;\n"
	"\tconst $l low = m & ((($l)1 << s) - 1);\n"
	"\treturn (float)($u)(m >> s | (low != 0)) * (float)(($l)1 << s);\n}\n";

static void need(Helpers *h, const char *name, const char *text)
{
	if (helper_have(h, name))
		return;
	CastWords w = {.name = name, .to = DT_F32, .from = DT_F32};
	put(h, &w, text);
}

/* the reinterpretations that a conversion's template uses, and no others: unused functions cause
 * warnings */
static void need_bits(Helpers *h, DType to, DType from)
{
	if (to != DT_F32)
		helper_bits(h, DT_U32, DT_F32);
	if (to != DT_BF16 || from != DT_F32)
		helper_bits(h, DT_F32, DT_U32);
}

/* f32 or f64 to an integer: truncated, NaN to 0, clamped to the limits */
static const char *float_to_int(Helpers *h, DType to, DType from)
{
	static const char *const power[] = {[8] = "256",
		[7] = "128",
		[16] = "65536",
		[15] = "32768",
		[32] = "4294967296",
		[31] = "2147483648",
		[64] = "18446744073709551616",
		[63] = "9223372036854775808"};
	bool sign = dtype_signed(to);
	const char *bound = arena_printf(
		"%s.0%s", power[8 * dtype_size(to) - sign], from == DT_F32 ? "f" : "");
	CastWords w = {.name = arena_printf("%s_to_%s", dtype_name(from), dtype_name(to)),
		.to = to,
		.from = from};
	w.high = bound;
	w.low = sign ? arena_printf("-%s", bound) : from == DT_F32 ? "0.0f" : "0.0";
	if (!helper_have(h, w.name))
		put(h, &w,
			sign ?
				"$I $T $N($S x)\n{\n\tif (x != x)\n\t\treturn 0;\n\tif (x <= $L)\n"
				"\t\treturn ($T)(($U)1 << ($W - 1));\n"
				"\treturn x >= $H ? ($T)((($U)1 << ($W - 1)) - 1) : ($T)x;\n}\n" :
				"$I $T $N($S x)\n{\n\tif (!(x > $L))\n\t\treturn 0;\n"
				"\treturn x >= $H ? ($T)~($T)0 : ($T)x;\n}\n");
	return w.name;
}

/* bf16 holds fewer bits than an int32: rounding to f32 first would round twice */
static const char *int_to_bf16(Helpers *h, DType from)
{
	helper_cast(h, DT_BF16, DT_F32);
	need(h, "int_to_odd", int_to_odd);
	CastWords w = {.name = arena_printf("%s_to_bf16", dtype_name(from)), .to = DT_BF16,
		.from = from};
	if (!helper_have(h, w.name))
		put(h, &w,
			dtype_signed(from) ?
				"$I $T $N($S x)\n{\n\tconst float f = int_to_odd(x < 0 ? 0 - ($l)x "
				": ($l)x);\n"
				"\treturn f32_to_bf16(x < 0 ? -f : f);\n}\n" :
				"$I $T $N($S x)\n{\n\treturn f32_to_bf16(int_to_odd(x));\n}\n");
	return w.name;
}

static const char *narrow_cast(Helpers *h, DType to, DType from)
{
	CastWords w = {.name = arena_printf("%s_to_%s", dtype_name(from), dtype_name(to)),
		.to = to,
		.from = from};
	need_bits(h, to, from);
	if (from == DT_F64) {
		helper_cast(h, to, DT_F32);
		need(h, "f64_to_odd", f64_to_odd);
	}
	if (helper_have(h, w.name))
		return w.name;
	if (from == DT_F64)
		put(h, &w,
			arena_printf("$I $T $N($S x)\n{\n\treturn f32_to_%s(f64_to_odd(x));\n}\n",
				dtype_name(to)));
	else
		put(h, &w, from == DT_F16 ? f16_to_f32 : from == DT_BF16 ? bf16_to_f32 :
				to == DT_F16      ? f32_to_f16 : f32_to_bf16);
	return w.name;
}

const char *helper_cast(Helpers *h, DType to, DType from)
{
	if (dtype_int(to))
		return float_to_int(h, to, from);
	return dtype_int(from) ? int_to_bf16(h, from) : narrow_cast(h, to, from);
}
