/* The k largest elements along an axis, in falling order, equal ones by place.
 *
 *     of [50257], k = 40   →   the maximum of each of 1417 blocks of 36; the 40 blocks with the
 *                              largest maxima, in the order of their places; the first 40 of those
 *                              40 * 36 elements, sorted
 *
 * An element among the k has fewer than k elements before it, and so fewer than k blocks whose
 * maximum comes before its block's. Two short lists replace a long one; each may be halved so
 * again. In a short list the place of each element is a number of elements that come before it:
 *
 *     rank[i] = Σj key[j] > key[i] - (j < i)        place[r] = Σi where(rank[i] == r, i, 0)
 *
 * which is work for vectors and threads, without the branches of a sort. */
#include "library/library.h"

enum {
	RANKED = 256,           /* up to so many elements nothing is faster than ranks */
	SORTED = 1024           /* from so many on a sort is, on a processor with few lanes */
};

/* The block size, about the square root of n/k, and the number of blocks; false when blocks save
 * little. */
static bool blocks_of(int64_t all, int64_t some, bool ranked, int64_t *size, int64_t *count)
{
	if (all > INT32_MAX)
		return false;
	for (*size = 1; *size * *size < all / some; ++*size)
		;
	*count = (all + *size - 1) / *size;
	return *count >= some && *count + some * *size < all / (ranked ? 2 : 4);
}

/* ---- by ranks */

static bool has_keys(DType d)
{
	return d == DT_F64 || dtype_size(d) <= 4;
}

/* Integers in the order of x's elements, all greater than the least of their dtype. -0 is 0, and
 * every NaN is greater than every number. */
static UOp *keys_of(UOp *x)
{
	DType wide = x->dtype == DT_F64 ? DT_I64 : DT_I32;
	UOp *most = const_int(wide, wide == DT_I64 ? INT64_MAX : INT32_MAX), *bits, *low;

	if (!dtype_float(x->dtype))
		return t_cast(x, dtype_size(x->dtype) < 4 ? DT_I32 : DT_I64);
	x = t_cast(x, dtype_acc(x->dtype));
	bits = NODE(OP_BITCAST, wide, VNIL, t_add(x, t_num(x->dtype, 0)));
	low = t_op2(OP_AND, bits, most);
	bits = t_where(t_lt(bits, const_int(wide, 0)), t_neg(low), low);
	return t_where(t_ne(x, x), most, bits);
}

/* Along the last axis. */
static UOp *by_ranks(UOp *x, UOp *k, bool largest)
{
	UOp *keys = largest ? keys_of(x) : t_neg(keys_of(x));
	int last = t_rank(keys) - 1, inner = last + 1;
	UOp *n = t_dim(keys, last), *i = t_arange(DT_I32, n), *r = t_arange(DT_I32, k);
	UOp *earlier = t_cast(t_lt(i, t_unsqueeze(i, 1)), keys->dtype);
	UOp *before = t_lt(t_sub(t_unsqueeze(keys, inner), earlier), t_unsqueeze(keys, last));
	UOp *rank = t_reduce(OP_ADD, t_cast(before, DT_I32), 1, &inner, false);
	UOp *found = t_eq(t_unsqueeze(rank, last), t_unsqueeze(r, 1));

	found = t_where(found, i, const_int(DT_I32, 0));
	return t_cast(t_reduce(OP_ADD, found, 1, &inner, false), DT_I64);
}

/* ---- by blocks, or by a sort */

static UOp *first_of(UOp *x, UOp *k, bool largest);

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
	blocks = first_of(y, k, true);
	blocks = t_take_along(blocks, first_of(t_cast(blocks, DT_I32), k, false), last);
	at = t_unsqueeze(t_mul(blocks, t_size(DT_I64, b)), inner);
	at = t_add(at, t_reshapev(t_arange(DT_I64, b), inner + 1, one));
	at = t_merge_axes(at, last, 2);
	return t_take_along(at, first_of(t_take_along(x, at, last), k, true), last);
}

/* The places in x of the first k elements of the sort along the last axis. */
static UOp *first_of(UOp *x, UOp *k, bool largest)
{
	int last = t_rank(x) - 1;
	int64_t size, count, all, some;
	bool ranked = has_keys(x->dtype) && t_rank(x) + 1 < MAX_RANK, known;

	known = ix_is_const(t_dim(x, last), &all) && ix_is_const(k, &some) && some > 0;
	if (known && ranked && all <= RANKED)
		return by_ranks(x, k, largest);
	if (known && largest && last + 1 < MAX_RANK && blocks_of(all, some, ranked, &size, &count))
		return by_blocks(x, k, size, count);
	if (known && ranked && all <= SORTED)
		return by_ranks(x, k, largest);
	return t_shrink_axis(t_sort(x, last, largest), last, ix_const(0), k);
}

UOp *t_top_places(UOp *x, int axis, UOp *k, bool largest)
{
	int last = t_rank(x) - 1;

	return t_move_axis(first_of(t_move_axis(x, axis, last), k, largest), last, axis);
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
