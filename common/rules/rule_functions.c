/* The parts of rules that are written in C: the predicates of conditions, and functions that make
 * the replacement of the matched node. A function decides nothing: it is called where the
 * conditions of its rule hold, and returns the node itself where nothing is left to do, NULL for a
 * node that it is not for. tests/check_rules.c drops each condition in turn, and `rewrite -e` takes
 * any, so a function that is called where its conditions do not hold may return another value, but
 * not crash. */
#include "interp/interp.h"
#include "rules/rule.h"
#include <stdlib.h>

/* ---- constants */

static UOp *fn_fold(UOp *u) { return fold_const(u->op, u->dtype, u->nsrc, u->src, u->arg); }

/* The node below u's views. When a node is visited its sources are in normal form, so at most three
 * views are above a constant: the node's own, EXPAND, RESHAPE. */
static UOp *fn_under_views(UOp *u)
{
	for (int depth = 0; depth < 3 && op_movement(u->op) && u->nsrc; depth++)
		u = u->src[0];
	return u;
}

/* A constant, or views of one (no PAD, which adds zeros): all its elements are equal. */
static bool one_value(UOp *u)
{
	UOp *under = fn_under_views(u);
	for (; u != under; u = u->src[0])
		if (u->op == OP_PAD)
			return false;
	return is_const(under);
}

/* ADD(x, EXPAND(RESHAPE(CONST))) → ADD(x, CONST): a scalar combines with any shape. */
static UOp *fn_scalar_sources(UOp *u)
{
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = one_value(u->src[i]) ? fn_under_views(u->src[i]) : u->src[i];
	return node_new(u->op, u->dtype, u->nsrc, src, u->arg);
}

/* ---- views */

static const Val *axes_val(int n, const int *axes)
{
	int64_t v[MAX_RANK];
	for (int i = 0; i < n; i++)
		v[i] = axes[i];
	return val_ints(n, v);
}

/* of a value: nodes of level tensor have args that are not checked */
static bool twice(const UOp *u, Op op)
{
	return u->op == op && u->shape && u->src[0]->op == op && u->src[0]->shape;
}

static UOp *fn_permute_twice(UOp *u)
{
	int outer[MAX_RANK], inner[MAX_RANK], both[MAX_RANK];
	if (!twice(u, OP_PERMUTE))
		return NULL;
	int n = arg_axes(u->arg, outer);
	arg_axes(u->src[0]->arg, inner);
	for (int i = 0; i < n; i++)
		both[i] = inner[outer[i]];
	return NODE(OP_PERMUTE, u->dtype, axes_val(n, both), u->src[0]->src[0]);
}

static UOp *fn_flip_twice(UOp *u)
{
	int a[MAX_RANK], b[MAX_RANK], left[MAX_RANK], n = 0;
	unsigned set = 0;
	if (!twice(u, OP_FLIP))
		return NULL;
	for (int i = 0, k = arg_axes(u->arg, a); i < k; i++)
		set ^= 1u << a[i];
	for (int i = 0, k = arg_axes(u->src[0]->arg, b); i < k; i++)
		set ^= 1u << b[i];
	for (int i = 0; i < MAX_RANK; i++)
		if (set >> i & 1)
			left[n++] = i;
	return NODE(OP_FLIP, u->dtype, axes_val(n, left), u->src[0]->src[0]);
}

static const Val *pairs_val(int n, UOp *(*p)[2])
{
	const Val *v[MAX_RANK];
	for (int i = 0; i < n; i++)
		v[i] = VARR(size_to_val(p[i][0]), size_to_val(p[i][1]));
	return val_array(n, v);
}

/* The pairs of u and of its source in one: begin + begin; end + begin (SHRINK), end + end (PAD). */
static UOp *pairs_twice(UOp *u, Op op, bool ends)
{
	UOp *a[MAX_RANK][2], *b[MAX_RANK][2];
	if (!twice(u, op))
		return NULL;
	int n = u->shape->rank;
	arg_pairs(u->arg, a);
	arg_pairs(u->src[0]->arg, b);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 2; k++)
			a[i][k] = ix_add(a[i][k], b[i][k && ends]);
	return NODE(u->op, u->dtype, pairs_val(n, a), u->src[0]->src[0]);
}

static UOp *fn_shrink_twice(UOp *u) { return pairs_twice(u, OP_SHRINK, false); }
static UOp *fn_pad_twice(UOp *u) { return pairs_twice(u, OP_PAD, true); }

static const struct { const char *name; RuleFn *fn; } functions[] = {
	{"fold", fn_fold}, {"under_views", fn_under_views}, {"scalar_sources", fn_scalar_sources},
	{"permute_twice", fn_permute_twice}, {"flip_twice", fn_flip_twice},
	{"shrink_twice", fn_shrink_twice}, {"pad_twice", fn_pad_twice},
};

RuleFn *rule_function(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].fn;
	return NULL;
}

/* ---- conditions */

static bool is_int(UOp *const *x) { return dtype_int(x[0]->dtype); }
static bool is_float(UOp *const *x) { return dtype_float(x[0]->dtype); }
static bool is_bool(UOp *const *x) { return x[0]->dtype == DT_BOOL; }
static bool is_exact(UOp *const *x) { return !dtype_float(x[0]->dtype); }
static bool is_constant(UOp *const *x) { return is_const(x[0]); }
static bool is_elementwise(UOp *const *x) { return op_elementwise(x[0]->op); }
static bool is_one_value(UOp *const *x) { return one_value(x[0]); }
static bool same_dtype(UOp *const *x) { return x[0]->dtype == x[1]->dtype; }
static bool same_shape(UOp *const *x) { return x[0]->shape == x[1]->shape; }

static bool const_sources(UOp *const *x)
{
	for (uint32_t i = 0; i < x[0]->nsrc; i++)
		if (!is_const(x[0]->src[i]))
			return false;
	return true;
}

/* Is every value of a also a value of b? */
static bool fits(DType a, DType b)
{
	static const int bits[DT_COUNT] = {
		[DT_F16] = 11, [DT_BF16] = 8, [DT_F32] = 24, [DT_F64] = 53};
	if (a == DT_BOOL || a == b)
		return true;
	if (b == DT_BOOL)
		return false;
	if (dtype_float(a))
		return b == DT_F64 || (b == DT_F32 && a != DT_F64);
	int value_bits = 8 * dtype_size(a) - dtype_signed(a);
	if (dtype_float(b))
		return value_bits <= bits[b];
	if (dtype_signed(a) && !dtype_signed(b))
		return false;
	return value_bits <= 8 * dtype_size(b) - dtype_signed(b);
}

static bool dtype_fits(UOp *const *x) { return fits(x[0]->dtype, x[1]->dtype); }

static bool same_kind(UOp *const *x)
{
	return dtype_float(x[0]->dtype) == dtype_float(x[1]->dtype);
}

/* `match` also visits nodes of level tensor, whose args are unchecked: they have no shape. */
static bool has_axes(const UOp *u, Op op) { return u->op == op && u->shape; }

static bool no_axes(UOp *const *x)
{
	int axes[MAX_RANK];
	return (has_axes(x[0], OP_REDUCE) || has_axes(x[0], OP_FLIP)) && !arg_axes(x[0]->arg, axes);
}

static bool in_order(UOp *const *x)
{
	int axes[MAX_RANK], n = has_axes(x[0], OP_PERMUTE) ? arg_axes(x[0]->arg, axes) : -1;
	for (int i = 0; i < n; i++)
		if (axes[i] != i)
			return false;
	return n >= 0;
}

static const CondRow conditions[] = {
	{"int", 1, is_int},                     /* x is of an integer dtype */
	{"float", 1, is_float},                 /* x is of a float dtype */
	{"bool", 1, is_bool},                   /* x is bool */
	{"exact", 1, is_exact},                 /* x is an integer or bool */
	{"const", 1, is_constant},              /* x is a CONST */
	{"elementwise", 1, is_elementwise},     /* x is an op that goes element by element */
	{"const_sources", 1, const_sources},    /* each source of x is a CONST */
	{"one_value", 1, is_one_value},         /* x is a CONST, or views of one without PAD */
	{"same_dtype", 2, same_dtype},          /* x and y are of one dtype */
	{"same_kind", 2, same_kind},           /* x and y are both of float dtypes, or neither */
	{"fits", 2, dtype_fits},                /* every value of x's dtype is one of y's */
	{"same_shape", 2, same_shape},          /* x and y have one shape */
	{"no_axes", 1, no_axes},                /* REDUCE or FLIP x is along no axis */
	{"in_order", 1, in_order},              /* PERMUTE x leaves the axes as they are */
};

const CondRow *rule_condition(const char *name)
{
	for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
		if (!strcmp(conditions[i].name, name))
			return &conditions[i];
	return NULL;
}
