/* Poolings over the last axes of x[n,c,...]: reductions of windows.
 *
 *     max_pool(x, 2)   →   REDUCE MAX over the windows of x, padded with the smallest value */
#include "library/library.h"
#include <math.h>

/* Reads kernel, stride (none: the kernel's), padding and dilation from arguments 1 to 4, and ceil
 * from argument 5. */
static Window window(Args *a, UOp *x)
{
	Window w = { .nd = t_rank(x) - 2 };

	if (w.nd < 1 || w.nd > MAX_SPACE)
		die(MALFORMED, "%s: x has %d axes, needs 3 to 5", a->fn->name, t_rank(x));
	space_numbers(a, 1, w.nd, w.k, 1);
	memcpy(w.stride, w.k, sizeof w.k);
	if (arg_given(a, 2))
		space_numbers(a, 2, w.nd, w.stride, 1);
	space_padding(a, 3, w.nd, w.pad);
	space_numbers(a, 4, w.nd, w.dilation, 1);
	return w;
}

/* The places that ceil_mode adds behind axis i: the last window may overhang, if it starts inside
 * x or what is before it. With n places, p of them behind, and windows of reach r at a stride s,
 *
 *     ceil((n - r) / s) + 1 windows fit or overhang, ceil((n - p) / s) start inside */
static UOp *overhang(const Window *w, UOp *x, int i)
{
	int64_t s = w->stride[i], reach = w->dilation[i] * (w->k[i] - 1) + 1, p = w->pad[i][1];
	UOp *n = ix_add(t_dim(x, 2 + i), ix_const(w->pad[i][0] + p)), *last, *more;

	/* the lesser of both, less 1, times s */
	last = ix_add(n, ix_const(p < reach - s ? -reach + s - 1 : -p - 1));
	last = ix_mul(ix_div(last, ix_const(s)), ix_const(s));
	more = ix_sub(ix_add(last, ix_const(reach)), n);
	last = ix_positive(more);
	return last ? last : more;
}

UOp *space_windows(const Window *w, UOp *x, int64_t (*pad)[2], UOp *value)
{
	UOp *pairs[MAX_RANK][2], *zero = ix_const(0);
	int lead = t_rank(x) - w->nd;

	x = space_pad(x, w->nd, pad, value);
	for (int i = 0; i < t_rank(x); i++) {
		for (int k = 0; k < 2; k++) {
			UOp *more = i < lead ? NULL : w->more[i - lead][k];
			pairs[i][k] = more ? more : zero;
		}
	}
	x = value ? t_pad_value(x, pairs, value) : t_pad(x, pairs);
	return t_windows(x, w->nd, w->k, w->stride, w->dilation);
}

UOp *space_fold(const Window *w, Op op, UOp *x)
{
	int axes[MAX_SPACE];

	for (int i = 0; i < w->nd; i++)
		axes[i] = 2 + w->nd + i;
	return t_reduce(op, x, w->nd, axes, false);
}

void pool_ceil(Window *w, UOp *x)
{
	int64_t v;

	for (int i = 0; i < w->nd; i++) {
		UOp *more = overhang(w, x, i);
		if (ix_is_const(more, &v))
			w->pad[i][1] += v;
		else
			w->more[i][1] = more;
	}
}

Value fn_max_pool(Args *a)
{
	UOp *x = arg_tensor(a, 0);
	Window w = window(a, x);

	if (arg_bool(a, 5))
		pool_ceil(&w, x);
	return v_tensor(space_fold(
		&w, OP_MAX, space_windows(&w, x, w.pad, const_identity(OP_MAX, x->dtype))));
}

/* How many elements of each window count: those of x, and those of the padding (but not of the
 * overhang) if with_padding. */
static UOp *counted(const Window *w, UOp *x, const Window *over, bool with_padding)
{
	UOp *dim[MAX_RANK];
	int64_t inner[MAX_SPACE][2], outer[MAX_SPACE][2];

	for (int i = 0; i < t_rank(x); i++)
		dim[i] = i < 2 ? ix_const(1) : t_dim(x, i);
	for (int i = 0; i < w->nd; i++) {
		for (int s = 0; s < 2; s++) {
			inner[i][s] = with_padding ? w->pad[i][s] : 0;
			outer[i][s] = over->pad[i][s] - inner[i][s];
		}
	}
	UOp *one = t_full(shape_new(t_rank(x), dim), t_num(x->dtype, 1));
	one = space_pad(one, w->nd, inner, t_num(x->dtype, 1));
	return space_fold(w, OP_ADD, space_windows(over, one, outer, NULL));
}

UOp *pool_mean(const Window *w, UOp *x, bool ceil, bool with_padding)
{
	Window over = *w;
	int64_t n = 1;
	bool plain = true;
	UOp *sum;

	if (ceil)
		pool_ceil(&over, x);
	for (int i = 0; i < w->nd; i++) {
		plain &= over.pad[i][1] == w->pad[i][1] && !over.more[i][1] && !over.more[i][0] &&
			(with_padding || (!w->pad[i][0] && !w->pad[i][1]));
		n *= w->k[i];
	}
	sum = space_fold(w, OP_ADD, space_windows(&over, x, over.pad, NULL));
	return t_div(sum, plain ? t_num(x->dtype, n) : counted(w, x, &over, with_padding));
}

Value fn_avg_pool(Args *a)
{
	UOp *x = t_float(arg_tensor(a, 0));
	Window w = window(a, x);

	return v_tensor(pool_mean(&w, x, arg_bool(a, 5), arg_bool(a, 6)));
}

static Value global(Args *a, bool mean)
{
	UOp *x = arg_tensor(a, 0);
	int axes[MAX_RANK], n = 0;

	if (t_rank(x) < 2)
		die(MALFORMED, "%s: x%s has no channels", a->fn->name, shape_text(x->shape));
	for (int i = 2; i < t_rank(x); i++)
		axes[n++] = i;
	return v_tensor(
		mean ? t_mean(t_float(x), n, axes, true) : t_reduce(OP_MAX, x, n, axes, true));
}

Value fn_global_avg_pool(Args *a) { return global(a, true); }
Value fn_global_max_pool(Args *a) { return global(a, false); }
