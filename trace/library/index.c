/* Functions that find elements by index, and sorting.
 *
 *     take(x, i, axis=1)   →   GATHER at WHERE(i < 0, i + n, i) in x with axis 1 first, put back
 *
 * A negative index counts from the end, as in NumPy; an index that is still outside reads 0, or is
 * dropped by a scatter. GATHER costs one load per element. */
#include "library/library.h"

static UOp *index_of(Args *a, UOp *i)
{
	if (!dtype_int(i->dtype) && i->dtype != DT_BOOL)
		die(MALFORMED, "%s: an index is %s, not an integer", a->fn->name,
			dtype_name(i->dtype));
	return i->dtype == DT_BOOL ? t_cast(i, DT_I64) : i;
}

/* i, or i + n where it is negative; in i32 if that can hold n */
UOp *t_wrap_index(UOp *i, UOp *n)
{
	int64_t v, lo, hi;

	if (!dtype_signed(i->dtype) || (const_is_int(i, &v) && v >= 0))
		return i;
	ix_bounds(n, &lo, &hi);
	if (i->dtype != DT_I64)
		i = t_cast(i, hi <= INT32_MAX ? DT_I32 : DT_I64);
	return t_where(t_lt(i, t_num(i->dtype, 0)), t_add(i, t_size(i->dtype, n)), i);
}

/* The indices in argument k: one tensor, or a list of them; negative ones wrap around the leading
 * sizes of x. */
static int indices(Args *a, int k, UOp *x, UOp **at)
{
	const Value *v = &a->at[k];
	bool many = v->kind == V_LIST && v->n && v->at[0].kind != V_NUMBER;
	int n = many ? (int)v->n : 1;
	Args one = { a->fn, k + 1, arena_alloc((k + 1) * sizeof(Value)) };

	if (n > t_rank(x))
		die(MALFORMED, "%s: %d indices for rank %d", a->fn->name, n, t_rank(x));
	for (int i = 0; i < n; i++) {
		one.at[k] = many ? v->at[i] : *v;
		at[i] = t_wrap_index(index_of(a, arg_tensor(&one, k)), t_dim(x, i));
	}
	return n;
}

static const char *combine(Args *a, int k)
{
	static const char *const names[][2] = {
		{ "set", "SET" }, { "none", "SET" }, { "add", "ADD" }, { "mul", "MUL" },
			{ "max", "MAX" }, { "min", "MIN" },
	};
	const char *how = arg_str(a, k);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(how, names[i][0]) || !strcmp(how, names[i][1]))
			return names[i][1];
	die(MALFORMED, "%s: how is set, add, mul, max or min, not \"%s\"", a->fn->name, how);
}

/* ---- gather ---------------------------------------------------------------------------------- */

Value fn_gather(Args *a)
{
	UOp *x = arg_tensor(a, 0), *at[MAX_RANK];

	return v_tensor(t_gather(x, indices(a, 1, x, at), at));
}

/* x at one known place of axis is a slice of it; NULL when the place is not known to be inside. */
static UOp *part_at(UOp *x, UOp *i, int axis)
{
	UOp *at, *n = t_dim(x, axis);
	int64_t v;

	if (!const_is_int(i, &v))
		return NULL;
	at = v < 0 ? ix_add(n, ix_const(v)) : ix_const(v);
	if (!ix_prove_le(ix_const(0), at) || !ix_prove_lt(at, n))
		return NULL;
	return t_squeeze(t_shrink_axis(x, axis, at, ix_add(at, ix_const(1))), axis);
}

UOp *t_take_inside(UOp *x, UOp *i, int axis)
{
	int order[MAX_RANK], k = t_rank(i), rank = t_rank(x) - 1 + k;

	x = t_gather(t_move_axis(x, axis, 0), 1, &i);
	for (int d = 0; d < rank; d++)
		order[d] = d < axis ? k + d : d < axis + k ? d - axis : d;
	return t_permute(x, order);
}

UOp *t_take(UOp *x, UOp *i, int axis)
{
	UOp *y = part_at(x, i, axis);

	return y ? y : t_take_inside(x, t_wrap_index(i, t_dim(x, axis)), axis);
}

Value fn_take(Args *a)
{
	UOp *x = arg_tensor(a, 0), *i = index_of(a, arg_tensor(a, 1));

	if (!arg_given(a, 2))
		return v_tensor(t_take(t_reshapev(x, 1, (UOp *[]){ shape_count(x->shape) }), i, 0));
	return v_tensor(t_take(x, i, arg_axis(a, 2, t_rank(x))));
}

Value fn_take_along(Args *a)
{
	UOp *x = arg_tensor(a, 0), *i = index_of(a, arg_tensor(a, 1));
	int axis = arg_axis(a, 2, t_rank(x));

	return v_tensor(t_take_along(x, t_wrap_index(i, t_dim(x, axis)), axis));
}

/* The last axis of i, of known size k, holds one index for each of k axes of x; the first `batch`
 * axes are common to both. */
static int nd_indices(Args *a, UOp *x, UOp *i, int batch, UOp **at)
{
	int last = t_rank(i) - 1, rank;
	int64_t k;

	i = index_of(a, i);
	if (last < batch || batch < 0 || !ix_is_const(t_dim(i, last), &k) || k < 0
		|| batch + k > t_rank(x))
		die(MALFORMED, "%s: indices %s do not fit %s", a->fn->name, shape_text(i->shape),
			shape_text(x->shape));
	rank = last;
	for (int b = 0; b < batch; b++) {
		UOp *d[MAX_RANK];
		for (int j = 0; j < rank; j++)
			d[j] = j == b ? t_dim(i, b) : ix_const(1);
		at[b] = t_reshapev(t_arange(DT_I64, t_dim(i, b)), rank, d);
	}
	for (int j = 0; j < k; j++) {
		UOp *p = t_squeeze(t_shrink_axis(i, last, ix_const(j), ix_const(j + 1)), last);
		at[batch + j] = t_wrap_index(p, t_dim(x, batch + j));
	}
	return batch + (int)k;
}

Value fn_gather_nd(Args *a)
{
	UOp *x = arg_tensor(a, 0), *at[MAX_RANK];
	int n = nd_indices(a, x, arg_tensor(a, 1), (int)arg_int(a, 2), at);

	return v_tensor(n ? t_gather(x, n, at) : x);
}

/* ---- scatter --------------------------------------------------------------------------------- */

Value fn_scatter(Args *a)
{
	UOp *x = arg_tensor(a, 0), *at[MAX_RANK];
	int n = indices(a, 1, x, at);

	return v_tensor(t_scatter(x, n, at, arg_tensor_like(a, 2, x->dtype), combine(a, 3)));
}

Value fn_scatter_nd(Args *a)
{
	UOp *x = arg_tensor(a, 0), *at[MAX_RANK];
	int n = nd_indices(a, x, arg_tensor(a, 1), 0, at);

	if (n == 0)
		die(UNSUPPORTED, "scatter_nd: indices of size 0");
	return v_tensor(t_scatter(x, n, at, arg_tensor_like(a, 2, x->dtype), combine(a, 3)));
}

Value fn_scatter_along(Args *a)
{
	UOp *x = arg_tensor(a, 0), *i = index_of(a, arg_tensor(a, 1)), *at[MAX_RANK];
	int axis = arg_axis(a, 3, t_rank(x));

	if (t_rank(i) != t_rank(x))
		die(MALFORMED, "scatter_along: %s and %s differ in rank", shape_text(i->shape),
			shape_text(x->shape));
	t_along_indices(x, t_wrap_index(i, t_dim(x, axis)), axis, at);
	return v_tensor(t_scatter(x, t_rank(x), at, arg_tensor_like(a, 2, x->dtype),
		combine(a, 4)));
}

/* ---- sorting --------------------------------------------------------------------------------- */

Value fn_argsort(Args *a)
{
	UOp *x = arg_tensor(a, 0);

	return v_tensor(t_sort(x, arg_axis(a, 1, t_rank(x)), arg_bool(a, 2)));
}

Value fn_sort(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	int axis = arg_axis(a, 1, t_rank(x));

	return v_tensor(t_take_along(x, t_sort(x, axis, arg_bool(a, 2)), axis));
}
