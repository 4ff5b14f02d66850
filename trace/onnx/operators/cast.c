/* Conversions between types: Cast, CastLike, BitCast.
 *
 *     Cast to=FLOAT16       →   CAST f16
 *     Cast to=FLOAT8E5M2    →   arithmetic on the bits (onnx/narrow.c), a u8 */
#include "onnx/onnx.h"
#include <strings.h>

static bool narrow_int(int type)
{
	return type == ONNX_INT4 || type == ONNX_UINT4 || type == ONNX_INT2 || type == ONNX_UINT2;
}

/* from any type to any type */
static UOp *cast_to(UOp *x, int from, int to, bool saturate, const char *round_mode)
{
	if (from == to)
		return x;
	if (onnx_narrow(from) && !narrow_int(from))
		x = onnx_widen(x, from);
	return onnx_narrow(to) ? onnx_narrowed(x, to, saturate, round_mode)
		: t_cast(x, onnx_dtype(to));
}

/* A single integer that is computed from sizes and known becomes a constant: a model's scale is
 * often the root of a width. */
static UOp *settled(UOp *x)
{
	UOp *size, *one[MAX_RANK];
	size_t n;
	int64_t v;

	if (!dtype_int(x->dtype) || !onnx_try_sizes(x, 1, &size, &n) || n != 1 ||
		!ix_is_const(size, &v))
		return x;
	for (int i = 0; i < x->shape->rank; i++)
		one[i] = ix_const(1);
	return t_reshapev(const_int(x->dtype, v), x->shape->rank, one);
}

static void cast(OnnxCall *c, int to)
{
	UOp *x = settled(onnx_in(c, 0));
	bool saturate = onnx_attr_int(c, "saturate", 1) != 0;
	const char *mode = onnx_attr_str(c, "round_mode", "up");

	if (onnx_dtype(to) == DT_NONE)
		onnx_fail(c, UNSUPPORTED, "a cast to %s", onnx_type_name(to));
	if (strcmp(mode, "up") && strcmp(mode, "down") && strcmp(mode, "nearest"))
		onnx_fail(c, MALFORMED, "round_mode is up, down or nearest, not \"%s\"", mode);
	onnx_set_typed(c, 0, cast_to(x, onnx_type(c, 0), to, saturate, mode), to);
}

/* Before version 6 the type is given by its name. */
static int type_named(const char *name)
{
	for (int t = 1; t < ONNX_TYPES; t++)
		if (!strcasecmp(name, onnx_type_name(t)))
			return t;
	return ONNX_UNDEFINED;
}

void onnx_Cast(OnnxCall *c)
{
	if (onnx_version(c) < 6)
		cast(c, type_named(onnx_attr_str(c, "to", "")));
	else
		cast(c, (int)onnx_attr_int(c, "to", ONNX_UNDEFINED));
}

void onnx_CastLike(OnnxCall *c)
{
	onnx_in(c, 1);
	cast(c, onnx_type(c, 1));
}

/* A bool is a byte 0 or 1, so a CAST converts from it; converted to bool, every byte but 0 is
 * true. */
void onnx_BitCast(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int64_t to = onnx_attr_int(c, "to", ONNX_UNDEFINED);
	DType dt = to > 0 && to < ONNX_TYPES ? onnx_dtype(to) : DT_NONE;

	if (dt == DT_NONE || narrow_int(to) || narrow_int(onnx_type(c, 0)))
		onnx_fail(c, UNSUPPORTED, "a bit cast from %s to %s",
			onnx_type_name(onnx_type(c, 0)), onnx_type_name(to));
	if (dtype_size(dt) != dtype_size(x->dtype))
		onnx_fail(c, MALFORMED, "%s and %s differ in size", dtype_name(x->dtype),
			dtype_name(dt));
	if (x->dtype == DT_BOOL || dt == DT_BOOL)
		x = dt == DT_BOOL ? t_cast(x, dt) : t_cast(x, DT_U8);
	if (x->dtype != dt)
		x = NODE(OP_BITCAST, dt, VNIL, x);
	onnx_set_typed(c, 0, x, (int)to);
}
