/* Joins the cotangents of slices: those of many slices of one value are joined end to end, instead
 * of each being padded to the whole and added.
 *
 *     x[0:2], x[2:3], x[5:6] of x[6]   →   g0, g1, 0 0, g2
 *
 * So an unrolled loop over the rows of x costs time linear in x, not quadratic. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

enum { LAYERS = 64, FEW = 2 };

typedef struct { int64_t from, to; UOp *value; } SlicePiece;

UOp *slice_padded(UOp *g, const Val *bounds, const Shape *whole)
{
	UOp *p[MAX_RANK][2];

	arg_pairs(bounds, p);
	for (int i = 0; i < whole->rank; i++)
		p[i][1] = ix_sub(whole->dim[i], p[i][1]);
	return t_pad(g, p);
}

/* The only axis along which these bounds cut, if they are numbers; otherwise -1. */
static int cut_axis(const Val *bounds, const Shape *whole, int64_t *from, int64_t *to)
{
	UOp *p[MAX_RANK][2], *zero = ix_const(0);
	int axis = -1;

	arg_pairs(bounds, p);
	for (int i = 0; i < whole->rank; i++) {
		if (p[i][0] == zero && p[i][1] == whole->dim[i])
			continue;
		if (axis >= 0 || !ix_is_const(p[i][0], from) || !ix_is_const(p[i][1], to))
			return -1;
		axis = i;
	}
	return axis;
}

static int by_place(const void *a, const void *b)
{
	const SlicePiece *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1) :
		x->to < y->to	  ? -1 :
				    x->to > y->to;
}

static UOp *gap(const Shape *whole, DType dt, int axis, UOp *size)
{
	UOp *d[MAX_RANK];

	memcpy(d, whole->dim, whole->rank * sizeof *d);
	d[axis] = size;
	return t_expand_to(t_num(dt, 0), shape_new(whole->rank, d));
}

/* Takes pieces that do not overlap from p, each behind the one before; the remaining pieces move
 * up. */
static UOp *one_layer(SlicePiece *p, size_t *n, int axis, const Shape *whole)
{
	VEC(UOp *) part = {0};
	DType dt = p->value->dtype;
	size_t left = 0;
	int64_t end = 0;

	for (size_t i = 0; i < *n; i++) {
		if (p[i].from < end) {
			p[left++] = p[i];
			continue;
		}
		if (p[i].from > end)
			vec_push(&part, gap(whole, dt, axis, ix_const(p[i].from - end)));
		vec_push(&part, p[i].value);
		end = p[i].to;
	}
	*n = left;
	vec_push(&part, gap(whole, dt, axis, ix_sub(whole->dim[axis], ix_const(end))));
	UOp *r = t_expand_to(t_concat(part.n, part.at, axis), whole);
	vec_free(&part);
	return r;
}

UOp *slices_joined(const Slice *s, size_t n, const Shape *whole)
{
	SlicePiece *p = arena_alloc((n + 1) * sizeof *p);
	UOp *sum = NULL, *layer;
	size_t pieces = 0;
	int axis = -1, a;

	for (size_t i = 0; i < n; i++) {
		a = n > FEW ? cut_axis(s[i].bounds, whole, &p[pieces].from, &p[pieces].to) : -1;
		if (a >= 0 && (axis < 0 || a == axis)) {
			axis = a;
			p[pieces++].value = s[i].value;
			continue;
		}
		layer = slice_padded(s[i].value, s[i].bounds, whole);
		sum = sum ? t_add(sum, layer) : layer;
	}
	qsort(p, pieces, sizeof *p, by_place);
	for (int k = 0; pieces && k < LAYERS; k++) {
		layer = one_layer(p, &pieces, axis, whole);
		sum = sum ? t_add(sum, layer) : layer;
	}
	for (size_t i = 0; i < pieces; i++)
		sum = t_add(sum, t_pad_axis(p[i].value, axis, ix_const(p[i].from),
			ix_sub(whole->dim[axis], ix_const(p[i].to))));
	return sum;
}
