/* Does a load read each element at most once? It does if its place, as a function of the loops
 * around it, takes no value twice. Loops may be joined or split, as by a reshape between two
 * kernels:
 *
 *     t[b, h*8 + d]           loops b, h, d of sizes n, 2, 8: h and d are the digits of one axis
 *     t[r//8, r%8]            a loop r of size 16, split into its digits
 *
 * An index is a sum of digits times strides; a digit is a loop r, r//c, r%m, or r//c%m. The digits
 * determine the index uniquely when each stride is at least the reach of the smaller ones; they
 * determine a loop when together they make up the whole of it. */
#include "index/index.h"
#include "fuse.h"

enum { DIGITS = 32 };

typedef struct {
	UOp *loop;
	int64_t unit, size;
} Digit; /* loop // unit % size; size 0: not taken modulo */
typedef struct { Digit d[DIGITS]; int n; } Digits;

static bool is_loop(const UOp *u) { return u->op == OP_RANGE && range_axis(u) < BOUND; }

static bool read_digit(UOp *u, Digit *d)
{
	*d = (Digit){u, 1, 0};
	if (u->op == OP_FLOORMOD) {
		if (!ix_is_const(u->src[1], &d->size) || d->size < 1)
			return false;
		d->loop = u = u->src[0];
	}
	if (u->op == OP_FLOORDIV) {
		if (!ix_is_const(u->src[1], &d->unit) || d->unit < 1)
			return false;
		d->loop = u->src[0];
	}
	return is_loop(d->loop);
}

/* the number of values it takes */
static UOp *reach(const Digit *d)
{
	UOp *n = d->unit == 1 ? d->loop->src[0] :
		ix_div(ix_add(d->loop->src[0], ix_const(d->unit - 1)), ix_const(d->unit));
	return d->size ? ix_const(d->size) : n;
}

/* A term of a sum: a digit and its stride. */
static bool read_term(UOp *u, Digit *d, UOp **stride)
{
	*stride = ix_const(1);
	if (read_digit(u, d))
		return true;
	if (u->op != OP_MUL)
		return false;
	for (int k = 0; k < 2; k++)
		if (read_digit(u->src[k], d) && !range_mask(u->src[1 - k])) {
			*stride = u->src[1 - k];
			return true;
		}
	return false;
}

/* The term whose stride is at most that of any other; -1 when that cannot be decided. */
static int least(UOp *const *stride, int n)
{
	for (int i = 0; i < n; i++) {
		bool ok = true;
		for (int k = 0; ok && k < n; k++)
			ok = k == i || ix_prove_le(stride[i], stride[k]);
		if (ok)
			return i;
	}
	return -1;
}

/* Does each value of the sum come from only one choice of its digits? */
static bool distinct(const Digit *d, UOp **stride, int n)
{
	Digit left[DIGITS];
	UOp *span = ix_const(1);
	memcpy(left, d, n * sizeof *d);
	for (; n; n--) {
		int i = least(stride, n);
		if (i < 0 || !ix_prove_le(span, stride[i]))
			return false;
		span = ix_mul(stride[i], reach(&left[i]));
		left[i] = left[n - 1];
		stride[i] = stride[n - 1];
	}
	return true;
}

/* Adds the index's digits to all; false when it is not such a sum. */
static bool read_index(UOp *e, Digits *all)
{
	UOp *stride[DIGITS];
	int first = all->n, n = 0;
	for (UOp *rest = e; rest; e = rest) {
		UOp *term = e->op == OP_ADD ? e->src[1] : e;
		rest = e->op == OP_ADD ? e->src[0] : NULL;
		if (!range_mask(term))
			continue;
		if (all->n == DIGITS || !read_term(term, &all->d[all->n], &stride[n]))
			return false;
		all->n++;
		n++;
	}
	return distinct(all->d + first, stride, n);
}

/* Do the digits of a loop, from the lowest, make up the whole of it? */
static bool makes_up(const Digits *all, UOp *loop)
{
	int64_t unit = 1;
	for (int found = 1; found;) {
		found = 0;
		for (int i = 0; !found && i < all->n; i++) {
			if (all->d[i].loop != loop || all->d[i].unit != unit)
				continue;
			if (all->d[i].size == 0)
				return true;
			found = all->d[i].size > 1 && mul_ok(unit, all->d[i].size, &unit);
		}
		if (found && ix_prove_le(loop->src[0], ix_const(unit)))
			return true;
	}
	return false;
}

bool wants_once(UOp *place, UOp *kernel)
{
	Digits all = {.n = 0};
	for (uint32_t i = 1; i < place->nsrc; i++)
		if (range_mask(place->src[i]) && !read_index(place->src[i], &all))
			return false;
	Loops loops = kernel_loops(kernel);
	for (int k = 0; k < loops.n; k++)
		if (!makes_up(&all, loops.at[k]))
			return false;
	return true;
}
