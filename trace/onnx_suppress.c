/* NonMaxSuppression of boxes that are not known while tracing: as many rounds as boxes may be chosen.
 *
 *     round: of the scores still alive the first of the greatest → a box, and those that overlap it die
 *     then:  NONZERO of the rounds that chose one → [n, (batch, class, box)], n being data */
#include "onnx_boxes.h"

enum { MOST_ROUNDS = 256 };

typedef struct { UOp *y1, *x1, *y2, *x2; } Corners;    /* [batch, boxes], or [batch, class, 1] of one */

static UOp *i64(int64_t v) { return const_int(DT_I64, v); }
static UOp *f32(double v) { return const_num(DT_F32, v); }

static Corners corners(UOp *boxes, bool center)
{
	UOp *v[4];

	for (int i = 0; i < 4; i++)
		v[i] = t_squeeze(t_shrink_axis(boxes, 2, ix_const(i), ix_const(i + 1)), 2);
	if (!center)
		return (Corners){t_min(v[0], v[2]), t_min(v[1], v[3]), t_max(v[0], v[2]), t_max(v[1], v[3])};
	UOp *w = t_mulc(v[2], 0.5), *h = t_mulc(v[3], 0.5);
	return (Corners){t_sub(v[1], h), t_sub(v[0], w), t_add(v[1], h), t_add(v[0], w)};
}

static UOp *area(Corners b) { return t_mul(t_sub(b.y2, b.y1), t_sub(b.x2, b.x1)); }

/* The same part of each corner for every class: [batch, 1, boxes] */
static Corners each_class(Corners b)
{
	return (Corners){t_unsqueeze(b.y1, 1), t_unsqueeze(b.x1, 1), t_unsqueeze(b.y2, 1), t_unsqueeze(b.x2, 1)};
}

static Corners box_at(Corners b, UOp *at)
{
	UOp *idx[2] = {t_iota(DT_I64, shape_new(3, (UOp *[]){t_dim(b.y1, 0), ix_const(1), ix_const(1)}), 0), at};

	return (Corners){t_gather(b.y1, 2, idx), t_gather(b.x1, 2, idx), t_gather(b.y2, 2, idx), t_gather(b.x2, 2, idx)};
}

static UOp *overlap(Corners a, Corners b, UOp *iou)
{
	Corners c = {t_max(a.y1, b.y1), t_max(a.x1, b.x1), t_min(a.y2, b.y2), t_min(a.x2, b.x2)};
	UOp *zero = f32(0), *meet = t_and(t_lt(c.y1, c.y2), t_lt(c.x1, c.x2));
	UOp *shared = t_where(meet, area(c), zero), *all = t_sub(t_add(area(a), area(b)), shared);
	UOp *sound = t_and(t_and(t_lt(zero, area(a)), t_lt(zero, area(b))), t_lt(zero, all));

	return t_and(sound, t_lt(iou, t_div(shared, all)));
}

/* i64 [batch, class, 1]: the first of the greatest alive scores; the number of boxes when none is */
static UOp *choose(UOp *scores, UOp *alive)
{
	UOp *s = t_where(alive, scores, f32(-__builtin_inf())), *n = t_size(DT_I64, t_dim(scores, 2)), *best;
	int axis = 2;

	best = t_and(alive, t_eq(s, t_reduce(OP_MAX, s, 1, &axis, true)));
	return t_reduce(OP_MIN, t_where(best, t_iota(DT_I64, scores->shape, 2), n), 1, &axis, true);
}

/* rows (batch, class, box) of the first rounds [batch, class, rounds] that chose one of n boxes */
static UOp *chosen_rows(UOp *chosen, UOp *n, UOp *rounds)
{
	UOp *first = t_lt(t_iota(DT_I64, chosen->shape, 2), rounds), *row[3], *idx[3];
	UOp *at = t_nonzero_places(t_and(t_lt(chosen, n), first));

	for (int i = 0; i < 3; i++) {
		row[i] = t_shrink_axis(at, 0, ix_const(i), ix_const(i + 1));
		idx[i] = t_squeeze(row[i], 0);
	}
	row[2] = t_unsqueeze(t_gather(chosen, 3, idx), 0);
	return t_transpose(t_concat(3, row, 0), 0, 1);
}

UOp *onnx_suppress(UOp *boxes, UOp *scores, bool center, UOp *limit, UOp *iou, UOp *least)
{
	Corners b = corners(boxes, center);
	UOp *alive = least ? t_lt(least, scores) : t_eq(scores, scores), *n = t_dim(scores, 2), **chosen;
	int64_t most, rounds = INT64_MAX;

	const_is_int(limit, &rounds);
	if (ix_is_const(n, &most) && most < rounds)
		rounds = most;
	if (rounds > MOST_ROUNDS)
		die(UNSUPPORTED, "more than %d boxes to choose of a class, of boxes that are not known", MOST_ROUNDS);
	if (rounds <= 0)
		return t_full(shape_ints(2, (int64_t[]){0, 3}), i64(0));
	chosen = arena_alloc(rounds * sizeof *chosen);
	for (int64_t i = 0; i < rounds; i++) {
		UOp *at = chosen[i] = choose(scores, alive);
		UOp *dead = t_or(t_eq(t_iota(DT_I64, scores->shape, 2), at), overlap(box_at(b, at), each_class(b), iou));
		alive = NODE(OP_CONTIGUOUS, DT_BOOL, VNIL, t_and(alive, t_not(dead)));
	}
	return chosen_rows(t_concat(rounds, chosen, 2), t_size(DT_I64, n), limit);
}
