/* What a rule cannot say: functions of C that a rule calls on the node it matched. Each returns the replacement, or
 * NULL to decline. */
#include "interp/interp.h"
#include "rules/rule.h"
#include <stdlib.h>

/* ---- constants */

static UOp *fn_fold(UOp *u)
{
	if (!op_elementwise(u->op) || !u->nsrc)
		return NULL;
	return fold_const(u->op, u->dtype, u->nsrc, u->src, u->arg);
}

/* The constant under views of one value (no PAD, which adds zeros).  Sources are in normal form when a node is looked
 * at, so there are three views at the most: the node's own, EXPAND, RESHAPE. */
static UOp *constant_under(UOp *u)
{
	for (int depth = 0; depth < 3 && op_movement(u->op) && u->op != OP_PAD; depth++)
		u = u->src[0];
	return is_const(u) ? u : NULL;
}

/* ADD(x, EXPAND(RESHAPE(CONST))) → ADD(x, CONST): a scalar stands with any shape. */
static UOp *fn_scalar_sources(UOp *u)
{
	UOp *src[3];
	bool changed = false;
	if (!op_elementwise(u->op) || u->nsrc > 3)
		return NULL;
	for (uint32_t i = 0; i < u->nsrc; i++) {
		UOp *c = u->src[i]->shape->rank ? constant_under(u->src[i]) : NULL;
		src[i] = c ? c : u->src[i];
		changed |= c != NULL;
	}
	return changed ? node_new(u->op, u->dtype, u->nsrc, src, u->arg) : NULL;
}

/* Any view of one value is an EXPAND of it; rewrite.c makes that of a scalar. */
static UOp *fn_constant_view(UOp *u)
{
	if (!op_movement(u->op) || u->op == OP_PAD)
		return NULL;
	UOp *c = constant_under(u);
	if (!c || u->src[0] == c || (u->op == OP_EXPAND && u->src[0]->op == OP_RESHAPE && u->src[0]->src[0] == c))
		return NULL;
	return u->shape->rank ? c : NULL;
}

/* ---- dtypes */

static UOp *fn_same_dtype(UOp *u)
{
	return u->dtype == u->src[0]->dtype ? u->src[0] : NULL;
}

/* Every value of a is one of b. */
static bool holds(DType b, DType a)
{
	static const int bits[DT_COUNT] = {[DT_F16] = 11, [DT_BF16] = 8, [DT_F32] = 24, [DT_F64] = 53};
	if (a == DT_BOOL || a == b)
		return true;
	if (b == DT_BOOL || (dtype_float(a) && !dtype_float(b)))
		return false;
	if (dtype_float(a))
		return b == DT_F64 || (b == DT_F32 && a != DT_F64);
	int value_bits = 8 * dtype_size(a) - dtype_signed(a);
	if (dtype_float(b))
		return value_bits <= bits[b] && b != DT_F16;
	if (dtype_signed(a) && !dtype_signed(b))
		return false;
	return value_bits <= 8 * dtype_size(b) - dtype_signed(b);
}

static UOp *fn_cast_twice(UOp *u)
{
	UOp *x = u->src[0]->src[0];
	/* from a float it saturates, from an integer it wraps: i8 -> f64 -> u16 is not i8 -> u16 */
	if (dtype_float(u->src[0]->dtype) && dtype_int(x->dtype) && dtype_int(u->dtype) && !holds(u->dtype, x->dtype))
		return NULL;
	return holds(u->src[0]->dtype, x->dtype) ? NODE(OP_CAST, u->dtype, VNIL, x) : NULL;
}

/* ---- views */

static UOp *fn_same_shape(UOp *u)
{
	return u->shape == u->src[0]->shape ? u->src[0] : NULL;
}

static const Val *axes_val(int n, const int *axes)
{
	int64_t v[MAX_RANK];
	for (int i = 0; i < n; i++)
		v[i] = axes[i];
	return val_ints(n, v);
}

static UOp *fn_permute_twice(UOp *u)
{
	int outer[MAX_RANK], inner[MAX_RANK], both[MAX_RANK];
	int n = arg_axes(u->arg, outer);
	arg_axes(u->src[0]->arg, inner);
	for (int i = 0; i < n; i++)
		both[i] = inner[outer[i]];
	return NODE(OP_PERMUTE, u->dtype, axes_val(n, both), u->src[0]->src[0]);
}

static UOp *fn_no_permute(UOp *u)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	for (int i = 0; i < n; i++)
		if (axes[i] != i)
			return NULL;
	return u->src[0];
}

static UOp *fn_flip_twice(UOp *u)
{
	int a[MAX_RANK], b[MAX_RANK], left[MAX_RANK], n = 0;
	unsigned set = 0;
	for (int i = 0, k = arg_axes(u->arg, a); i < k; i++)
		set ^= 1u << a[i];
	for (int i = 0, k = arg_axes(u->src[0]->arg, b); i < k; i++)
		set ^= 1u << b[i];
	for (int i = 0; i < MAX_RANK; i++)
		if (set >> i & 1)
			left[n++] = i;
	return NODE(OP_FLIP, u->dtype, axes_val(n, left), u->src[0]->src[0]);
}

static UOp *fn_no_flip(UOp *u)
{
	return u->arg->n == 0 ? u->src[0] : NULL;
}

static const Val *pairs_val(int n, UOp *(*p)[2])
{
	const Val *v[MAX_RANK];
	for (int i = 0; i < n; i++)
		v[i] = VARR(size_to_val(p[i][0]), size_to_val(p[i][1]));
	return val_array(n, v);
}

/* Pairs of u and of its source in one: begin + begin, and end + begin (SHRINK) or end + end (PAD). */
static UOp *pairs_twice(UOp *u, bool ends)
{
	UOp *a[MAX_RANK][2], *b[MAX_RANK][2];
	int n = u->shape->rank;
	arg_pairs(u->arg, a);
	arg_pairs(u->src[0]->arg, b);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 2; k++)
			a[i][k] = ix_add(a[i][k], b[i][k && ends]);
	return NODE(u->op, u->dtype, pairs_val(n, a), u->src[0]->src[0]);
}

static UOp *fn_shrink_twice(UOp *u) { return pairs_twice(u, false); }
static UOp *fn_pad_twice(UOp *u) { return pairs_twice(u, true); }

/* A PAD by nothing, a SHRINK to everything. */
static UOp *fn_no_pairs(UOp *u)
{
	return u->shape == u->src[0]->shape ? u->src[0] : NULL;
}

static UOp *fn_no_axes(UOp *u)
{
	return u->arg->a[1]->n == 0 ? u->src[0] : NULL;
}

/* ---- tables */

static const struct { const char *name; RuleFn *fn; } functions[] = {
	{"fold", fn_fold}, {"scalar_sources", fn_scalar_sources}, {"constant_view", fn_constant_view},
	{"same_dtype", fn_same_dtype}, {"cast_twice", fn_cast_twice}, {"same_shape", fn_same_shape},
	{"permute_twice", fn_permute_twice}, {"no_permute", fn_no_permute}, {"flip_twice", fn_flip_twice},
	{"no_flip", fn_no_flip}, {"shrink_twice", fn_shrink_twice}, {"pad_twice", fn_pad_twice},
	{"no_pairs", fn_no_pairs}, {"no_axes", fn_no_axes},
};

RuleFn *rule_function(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].fn;
	return NULL;
}

static bool cond_int(const UOp *u) { return dtype_int(u->dtype); }
static bool cond_float(const UOp *u) { return dtype_float(u->dtype); }
static bool cond_bool(const UOp *u) { return u->dtype == DT_BOOL; }
static bool cond_exact(const UOp *u) { return !dtype_float(u->dtype); }
static bool cond_const(const UOp *u) { return is_const(u); }

static const struct { const char *name; CondFn *fn; } conditions[] = {
	{"int", cond_int}, {"float", cond_float}, {"bool", cond_bool}, {"exact", cond_exact}, {"const", cond_const},
};

CondFn *rule_condition(const char *name)
{
	for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
		if (!strcmp(conditions[i].name, name))
			return conditions[i].fn;
	return NULL;
}
