/* Movement ops as index arithmetic: where an element of the result lies in the source.
 *
 *     PERMUTE [1,0]         at = [i1, i0]
 *     PAD [[1,1]]           at = [i0 - 1]                gate 0 < i0 < n+1
 *     SHRINK [[2,5]]        at = [i0 + 2]
 *     FLIP [0]              at = [n-1 - i0]
 *     RESHAPE [4,6] → [24]  at = [i0//6, i0%6]           among the axes that are regrouped
 */
#include "shape/shape.h"
#include "index/ix.h"

/* Products of the last sizes: p[i] = dim[i] · … · dim[rank-1]. */
static void suffix_products(const Shape *s, UOp **p)
{
	p[s->rank] = ix_const(1);
	for (int i = s->rank - 1; i >= 0; i--)
		p[i] = ix_mul(s->dim[i], p[i + 1]);
}

/* Decomposes the row-major position in out's axes [j, j1) over in's axes [i, i1). */
static void regroup(const Shape *in, int i, int i1, const Shape *out, int j, int j1,
	UOp *const *idx, UOp **at)
{
	UOp *flat = ix_const(0);

	if (i1 - i == 1 && j1 - j == 1) {
		at[i] = idx[j];
		return;
	}
	for (int k = j; k < j1; k++)
		flat = ix_add(ix_mul(flat, out->dim[k]), idx[k]);
	for (int k = i1 - 1; k > i; k--) {
		at[k] = ix_mod(flat, in->dim[k]);
		flat = ix_div(flat, in->dim[k]);
	}
	if (i < i1)
		at[i] = flat;
}

/* From the last axis on, groups the fewest axes that have the same product on both sides. */
static void reshape(const Shape *in, const Shape *out, UOp *const *idx, UOp **at)
{
	UOp *p[MAX_RANK + 1], *q[MAX_RANK + 1];
	int i1 = in->rank, j1 = out->rank;

	suffix_products(in, p);
	suffix_products(out, q);
	while (i1 > 0 || j1 > 0) {
		int i = 0, j = 0;
		for (int sum = 1; sum <= i1 + j1; sum++) {
			int di = sum < i1 ? sum : i1;
			while (di >= 0 && (sum - di > j1 || p[i1 - di] != q[j1 - (sum - di)]))
				di--;
			if (di >= 0) {
				i = i1 - di;
				j = j1 - (sum - di);
				break;
			}
		}
		regroup(in, i, i1, out, j, j1, idx, at);
		i1 = i;
		j1 = j;
	}
}

static void also(UOp **gate, UOp *more)
{
	*gate = *gate ? ix_and(*gate, more) : more;
	if (is_const(*gate) && (*gate)->arg == val_bool(true))
		*gate = NULL;
}

/* Under a gate that at[i] is in bounds, a remainder that does not wrap within those bounds is a
 * plain sum. So sliding windows, which are a repeated axis cut into rows of another length, become
 * affine again where they are summed. */
static void unwrap(const Shape *in, int i, UOp **at, UOp **gate)
{
	Sum s;
	int64_t n;
	UOp *from[2], *to[2];

	sum_of(&s, at[i]);
	if (s.n != 1 || s.t[0].c != 1 || s.t[0].m->op != OP_FLOORMOD ||
		!ix_is_const(in->dim[i], &n))
		return;
	from[0] = s.t[0].m;
	from[1] = NODE(OP_FLOORDIV, DT_I64, VNIL, from[0]->src[0], from[0]->src[1]);
	if (!add_ok(n, -s.k, &n) || !ix_unwrap(from[0], -s.k, n, &to[1], &to[0]))
		return;
	for (int k = 0; k < in->rank; k++)
		at[k] = substitute(at[k], 2, from, to);
	*gate = substitute(*gate, 2, from, to);
	also(gate, ix_inside(to[0], from[0]->src[1]));
}

static void shift(UOp *u, UOp *const *idx, UOp **at, UOp **gate)
{
	UOp *pair[MAX_RANK][2];
	const Shape *in = u->src[0]->shape;

	arg_pairs(u->arg, pair);
	for (int i = 0; i < in->rank; i++) {
		at[i] = u->op == OP_SHRINK ? ix_add(idx[i], pair[i][0]) :
					     ix_sub(idx[i], pair[i][0]);
		if (u->op == OP_PAD && in->dim[i] != u->shape->dim[i])
			also(gate, ix_inside(at[i], in->dim[i]));
	}
	for (int i = 0; i < in->rank && u->op == OP_PAD && *gate; i++)
		if (in->dim[i] != u->shape->dim[i])
			unwrap(in, i, at, gate);
}

void views_step(UOp *u, UOp *const *idx, UOp **at, UOp **gate)
{
	const Shape *in = u->src[0]->shape;
	int axis[MAX_RANK], n;
	int64_t one;

	switch (u->op) {
	case OP_RESHAPE:
		reshape(in, u->shape, idx, at);
		break;
	/* a size other than 1 equals the new one, as an expression or by a check that run makes */
	case OP_EXPAND:
		for (int i = 0; i < in->rank; i++)
			at[i] = ix_is_const(in->dim[i], &one) && one == 1 ? ix_const(0) : idx[i];
		break;
	case OP_PERMUTE:
		n = arg_axes(u->arg, axis);
		for (int i = 0; i < n; i++)
			at[axis[i]] = idx[i];
		break;
	case OP_FLIP:
		n = arg_axes(u->arg, axis);
		memcpy(at, idx, in->rank * sizeof *at);
		for (int i = 0; i < n; i++)
			at[axis[i]] = ix_sub(ix_sub(in->dim[axis[i]], ix_const(1)), idx[axis[i]]);
		break;
	default:
		shift(u, idx, at, gate);
	}
}

static bool empty(const Shape *s)
{
	int64_t n;

	for (int i = 0; i < s->rank; i++)
		if (ix_is_const(s->dim[i], &n) && !n)
			return true;
	return false;
}

UOp *views_index(UOp *u, UOp *const *idx, UOp **at, UOp **gate)
{
	UOp *to[2][MAX_RANK];
	int now = 0;

	*gate = NULL;
	memcpy(to[0], idx, u->shape->rank * sizeof *idx);
	for (; op_movement(u->op); u = u->src[0], now ^= 1) {
		/* no elements: any position will do, and nothing is divided by 0 */
		if (empty(u->src[0]->shape)) {
			for (int i = 0; i < u->src[0]->shape->rank; i++)
				to[!now][i] = ix_const(0);
			*gate = LEAF(OP_CONST, DT_BOOL, val_bool(false));
		} else {
			views_step(u, to[now], to[!now], gate);
		}
	}
	memcpy(at, to[now], u->shape->rank * sizeof *at);
	return u;
}
