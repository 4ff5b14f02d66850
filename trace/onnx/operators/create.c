/* ONNX operators that generate numbers: ranges, and random ones.
 *
 *     Range            →   ARANGE and arithmetic
 *     RandomNormal, …   →   THREEFRY of a key (the seed, or the node's name) and the place */
#include "onnx/onnx.h"
#include <math.h>

static int type_given(OnnxCall *c, const char *attr, int otherwise)
{
	int64_t type = onnx_attr_int(c, attr, otherwise);

	if (type < 0 || type >= ONNX_TYPES || onnx_dtype(type) == DT_NONE || onnx_narrow(type))
		onnx_fail(c, UNSUPPORTED, "the type %s", onnx_type_name((int)type));
	return (int)type;
}

/* the number of elements of a range of floats that are known */
static UOp *float_count(OnnxCall *c)
{
	double f[3], n;

	for (int i = 0; i < 3; i++)
		if (onnx_known_floats(c, i, &f[i], 1) != 1)
			onnx_fail(c, MALFORMED, "input %d is not one number", i);
	n = f[2] == 0 ? 0 : ceil((f[1] - f[0]) / f[2]);
	if (n != n || n >= 0x1p62 || f[2] == 0)
		onnx_fail(c, MALFORMED, "the range has no end");
	return ix_const(n > 0 ? (int64_t)n : 0);
}

static UOp *scalar(OnnxCall *c, int k) { return t_reshape(onnx_in(c, k), shape_scalar()); }

/* the number of elements from start on that are below limit; start and limit may be fractions of
 * sizes */
static UOp *range_count(OnnxCall *c)
{
	UOp *s[3], *n, *below;
	int64_t per[3], by;
	Array a;

	for (int i = 0; i < 3; i++) {
		if (shape_count(onnx_in(c, i)->shape) != ix_const(1))
			onnx_fail(c, MALFORMED, "input %d is not one number", i);
		s[i] = onnx_try_fraction(onnx_in(c, i), &per[i]);
	}
	if (dtype_float(onnx_in(c, 0)->dtype) && onnx_try_known(c, 0, &a) &&
		onnx_try_known(c, 1, &a) && onnx_try_known(c, 2, &a))
		return float_count(c);
	if (!s[0] || !s[1] || !s[2] || !ix_is_const(s[2], &by))
		return t_range_count(scalar(c, 0), scalar(c, 1), scalar(c, 2));
	if (by == 0 || by == INT64_MIN)
		onnx_fail(c, MALFORMED, "the delta is %lld", (long long)by);
	/* (s1/per1 - s0/per0) / (by/per2), rounded up */
	n = ix_sub(ix_mul(s[1], ix_const(per[0])), ix_mul(s[0], ix_const(per[1])));
	n = ix_mul(n, ix_const(by > 0 ? per[2] : -per[2]));
	below = ix_mul(ix_mul(ix_const(per[0]), ix_const(per[1])), ix_const(by > 0 ? by : -by));
	n = ix_div(ix_add(n, ix_sub(below, ix_const(1))), below);
	s[0] = ix_positive(n);
	return s[0] ? s[0] : n;
}

void onnx_Range(OnnxCall *c)
{
	UOp *start = onnx_in(c, 0), *by = onnx_in(c, 2), *i;
	DType dt = start->dtype, acc = onnx_attr_int(c, "stash_type", 1) == ONNX_FLOAT
		? dtype_acc(dt) : dt;

	start = t_cast(t_reshape(start, shape_scalar()), acc);
	by = t_cast(t_reshape(by, shape_scalar()), acc);
	i = t_arange(acc, range_count(c));
	onnx_set(c, 0, t_cast(t_add(start, t_mul(i, by)), dt));
}

/* ---- random ---------------------------------------------------------------------------------- */

/* A seed is given as a float's bits; without one, the node's name makes nodes draw different
 * numbers. */
static Value key(OnnxCall *c)
{
	float seed = onnx_attr_float(c, "seed", 0);
	uint32_t bits;

	memcpy(&bits, &seed, sizeof bits);
	if (!onnx_attr_has(c, "seed"))
		bits = hash_bytes(onnx_node_name(c), strlen(onnx_node_name(c)), 0) & 0x7fffffff;
	return v_int(bits);
}

static UOp *uniform(OnnxCall *c, const char *fn, const Shape *s)
{
	Value k = key(c), dims = v_shape(s);

	return onnx_lib(fn, 1, &dims, 1, (const char *[]){ "key" }, &k);
}

static const Shape *shape_given(OnnxCall *c)
{
	int64_t v[MAX_RANK];
	int n = onnx_attr_ints(c, "shape", v, MAX_RANK);

	if (n < 0)
		onnx_fail(c, MALFORMED, "no attribute shape");
	return shape_ints(n, v);
}

static void normal(OnnxCall *c, const Shape *s, int type)
{
	UOp *x = uniform(c, "randn", s);

	x = t_addc(t_mulc(x, onnx_attr_float(c, "scale", 1)), onnx_attr_float(c, "mean", 0));
	onnx_set(c, 0, t_cast(x, onnx_dtype(type_given(c, "dtype", type))));
}

static void flat(OnnxCall *c, const Shape *s, int type)
{
	double low = onnx_attr_float(c, "low", 0), high = onnx_attr_float(c, "high", 1);
	UOp *x = t_addc(t_mulc(uniform(c, "rand", s), high - low), low);

	onnx_set(c, 0, t_cast(x, onnx_dtype(type_given(c, "dtype", type))));
}

void onnx_RandomNormal(OnnxCall *c) { normal(c, shape_given(c), ONNX_FLOAT); }
void onnx_RandomUniform(OnnxCall *c) { flat(c, shape_given(c), ONNX_FLOAT); }

void onnx_RandomNormalLike(OnnxCall *c) { normal(c, onnx_in(c, 0)->shape, onnx_type(c, 0)); }
void onnx_RandomUniformLike(OnnxCall *c) { flat(c, onnx_in(c, 0)->shape, onnx_type(c, 0)); }

void onnx_Bernoulli(OnnxCall *c)
{
	UOp *p = onnx_in(c, 0), *x = uniform(c, "rand", p->shape);

	onnx_set(c, 0, t_cast(t_lt(x, t_cast(p, DT_F32)),
		onnx_dtype(type_given(c, "dtype", onnx_type(c, 0)))));
}

/* Samples the class where the running sum of exp(x - max) passes u times the total. x[batch,
 * classes] to [batch, sample_size]. */
void onnx_Multinomial(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *p, *u, *dim[2];
	int64_t n = onnx_attr_int(c, "sample_size", 1);
	int type = type_given(c, "dtype", ONNX_INT32);

	if (t_rank(x) != 2 || n < 1)
		onnx_fail(c, MALFORMED, "shape %s is not [batch,classes]", shape_text(x->shape));
	p = t_scan(OP_ADD, t_softmax(t_cast(x, DT_F32), 1), 1);
	dim[0] = t_dim(x, 0);
	dim[1] = ix_const(n);
	u = uniform(c, "rand", shape_new(2, dim));
	/* the number of classes whose running sum is below u, but at most the last class */
	p = t_not(t_lt(t_unsqueeze(u, 2), t_unsqueeze(p, 1)));
	u = t_sum(t_cast(p, DT_I64), 2, false);
	u = t_min(u, t_addc(t_size(DT_I64, t_dim(x, 1)), -1));
	onnx_set(c, 0, t_cast(u, onnx_dtype(type)));
}
