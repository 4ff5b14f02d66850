/* The k largest elements along an axis, in falling order, equal ones by place.
 *
 *     of [50257], k = 40   →   the maximum of each of 1417 blocks of 36; the 40 blocks with the
 *                              largest maxima, in the order of their places; the first 40 of those
 *                              40 * 36 elements, sorted
 *
 * An element among the k has fewer than k elements before it, and so fewer than k blocks whose
 * maximum comes before its block's. Two short sorts replace a long one. */
#include "library/library.h"

/* The block size, about the square root of n/k, and the number of blocks; false when blocks save
 * little. */
static bool blocks_of(UOp *n, UOp *k, int64_t *size, int64_t *count)
{
	int64_t all, some;

	if (!ix_is_const(n, &all) || !ix_is_const(k, &some) || some < 1 || all > INT32_MAX)
		return false;
	for (*size = 1; *size * *size < all / some; ++*size)
		;
	*count = (all + *size - 1) / *size;
	return *count >= some && *count + some * *size < all / 4;
}

/* The places in x of the first k elements of the sort along the last axis. */
static UOp *first_sorted(UOp *x, UOp *k, bool descending)
{
	return t_shrink_axis(t_sort(x, t_rank(x) - 1, descending), t_rank(x) - 1, ix_const(0), k);
}

/* Along the last axis. Places beyond x's end have the smallest value and come after all equal
 * elements. */
static UOp *by_blocks(UOp *x, UOp *k, int64_t size, int64_t count)
{
	int last = t_rank(x) - 1, inner = last + 1;
	UOp *pairs[MAX_RANK][2], *one[MAX_RANK], *b = ix_const(size), *blocks, *at, *y;

	for (int i = 0; i <= last; i++) {
		pairs[i][0] = pairs[i][1] = ix_const(0);
		one[i] = ix_const(1);
	}
	one[inner] = b;
	pairs[last][1] = ix_sub(ix_const(size * count), t_dim(x, last));
	x = t_pad_value(x, pairs, const_identity(OP_MAX, x->dtype));
	y = t_reduce(OP_MAX, t_split_axis(x, last, ix_const(count), b), 1, &inner, false);
	blocks = first_sorted(y, k, true);
	blocks = t_take_along(blocks, t_sort(blocks, last, false), last);
	at = t_unsqueeze(t_mul(blocks, t_size(DT_I64, b)), inner);
	at = t_add(at, t_reshapev(t_arange(DT_I64, b), inner + 1, one));
	at = t_merge_axes(at, last, 2);
	return t_take_along(at, first_sorted(t_take_along(x, at, last), k, true), last);
}

UOp *t_top_places(UOp *x, int axis, UOp *k, bool largest)
{
	int64_t size, count;

	if (!largest || t_rank(x) == MAX_RANK || !blocks_of(t_dim(x, axis), k, &size, &count))
		return t_shrink_axis(t_sort(x, axis, largest), axis, ix_const(0), k);
	x = by_blocks(t_move_axis(x, axis, t_rank(x) - 1), k, size, count);
	return t_move_axis(x, t_rank(x) - 1, axis);
}

Value fn_topk(Args *a)
{
	UOp *x = arg_tensor(a, 0), *k = arg_size(a, 1), *i;
	int axis = arg_axis(a, 2, t_rank(x));
	Value *out = arena_alloc(2 * sizeof *out);

	if (ix_prove_lt(t_dim(x, axis), k) || ix_prove_lt(k, ix_const(0)))
		die(MALFORMED, "topk: k is not within axis %d of %s", axis, shape_text(x->shape));
	i = t_top_places(x, axis, k, arg_bool(a, 3));
	out[0] = v_tensor(t_take_along(x, i, axis));
	out[1] = v_tensor(i);
	return v_list(2, out);
}
