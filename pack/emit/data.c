/* Constants as C: decimal numbers that read back to the same bits. */
#include "emit/emit.h"
#include <math.h>

enum { COLUMNS = 100 };

static void put_float(char *to, size_t n, double v, DType d)
{
	const char *suffix = d == DT_F32 ? "f" : "";

	if (isnan(v))
		snprintf(to, n, signbit(v) ? "-NAN" : "NAN");
	else if (isinf(v))
		snprintf(to, n, v < 0 ? "-INFINITY" : "INFINITY");
	else {
		int k = snprintf(to, n, d == DT_F32 ? "%.9g" : "%.17g", v);
		bool whole = !strpbrk(to, ".e");
		snprintf(to + k, n - k, "%s%s", whole ? ".0" : "", suffix);
	}
}

static void put_element(char *to, size_t n, DType d, const void *p)
{
	union {
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64; float f32; double f64;
	} v;

	memcpy(&v, p, dtype_size(d));
	switch (d) {
	case DT_BOOL: snprintf(to, n, "%d", v.u8 != 0); return;
	case DT_I8: snprintf(to, n, "%d", v.i8); return;
	case DT_I16: snprintf(to, n, "%d", v.i16); return;
	case DT_I32:
		snprintf(to, n, v.i32 == INT32_MIN ? "-2147483647 - 1" : "%d", (int)v.i32);
		return;
	case DT_I64:
		if (v.i64 == INT64_MIN)
			snprintf(to, n, "-INT64_C(9223372036854775807) - 1");
		else if (v.i64 > INT32_MAX || v.i64 <= INT32_MIN)
			snprintf(to, n, "INT64_C(%lld)", (long long)v.i64);
		else
			snprintf(to, n, "%lld", (long long)v.i64);
		return;
	case DT_U8: snprintf(to, n, "%u", v.u8); return;
	case DT_U32: snprintf(to, n, "%uu", (unsigned)v.u32); return;
	case DT_U64: snprintf(to, n, "UINT64_C(%llu)", (unsigned long long)v.u64); return;
	case DT_F32: put_float(to, n, v.f32, d); return;
	case DT_F64: put_float(to, n, v.f64, d); return;
	default: snprintf(to, n, "%u", v.u16); return;
	}
}

void emit_constant(Buf *out, const Constant *c)
{
	int64_t count = array_count(&c->at);
	size_t size = dtype_size(c->at.dtype), column = 0;
	char text[64];

	/* a comment ends at a star and a slash, which a document's name may have */
	buf_printf(out, "static const %s %s[%lld] = {", type_name(c->at.dtype), c->id,
		(long long)(count ? count : 1));
	for (int64_t i = 0; i < count; i++) {
		put_element(text, sizeof text, c->at.dtype, (char *)c->at.data + i * size);
		size_t n = strlen(text) + 2;
		if (!column || column + n > COLUMNS) {
			buf_printf(out, "\n\t");
			column = 8;
		}
		buf_printf(out, "%s,%s", text, column + n > COLUMNS - 10 ? "" : " ");
		column += n;
	}
	buf_printf(out, count ? "\n};\n" : "0};\n");
}
