/* NonMaxSuppression of boxes that are not known while tracing: turns, whose state is which boxes
 * are alive, in a loop unless they are few.
 *
 *     turn:  the box with the first maximum of the live scores; boxes that overlap it are removed
 *     until: the limit, or none is alive
 *     then:  NONZERO of the turns that chose one → [n, (batch, class, box)], n being data */
#include "library/library.h"
#include "onnx/operators/boxes.h"
#include <math.h>

enum { FEW = 32 };

/* [batch, boxes] each, or [batch, class, 1] for one box */
typedef struct { UOp *at[4]; } Corners;
enum { Y1, X1, Y2, X2 };

static UOp *f32(double v) { return const_num(DT_F32, v); }

static Corners corners(UOp *boxes, bool center)
{
	UOp *v[4];

	for (int i = 0; i < 4; i++)
		v[i] = t_squeeze(t_shrink_axis(boxes, 2, ix_const(i), ix_const(i + 1)), 2);
	if (!center)
		return (Corners){{t_min(v[0], v[2]), t_min(v[1], v[3]), t_max(v[0], v[2]),
			t_max(v[1], v[3])}};
	UOp *w = t_mulc(v[2], 0.5), *h = t_mulc(v[3], 0.5);
	return (Corners){{t_sub(v[1], h), t_sub(v[0], w), t_add(v[1], h), t_add(v[0], w)}};
}

static UOp *area(Corners b)
{
	return t_mul(t_sub(b.at[Y2], b.at[Y1]), t_sub(b.at[X2], b.at[X1]));
}

/* The corners shaped for all classes: [batch, 1, boxes] */
static Corners each_class(Corners b)
{
	for (int i = 0; i < 4; i++)
		b.at[i] = t_unsqueeze(b.at[i], 1);
	return b;
}

static Corners box_at(Corners b, UOp *at)
{
	UOp *one = ix_const(1), *dim[3] = {t_dim(b.at[Y1], 0), one, one};
	UOp *idx[2] = {t_iota(DT_I64, shape_new(3, dim), 0), at};

	for (int i = 0; i < 4; i++)
		b.at[i] = t_gather(b.at[i], 2, idx);
	return b;
}

static UOp *overlap(Corners a, Corners b, UOp *iou)
{
	UOp *zero = f32(0), *meet, *shared, *all, *sound;
	Corners c;

	for (int i = 0; i < 4; i++)
		c.at[i] = i < Y2 ? t_max(a.at[i], b.at[i]) : t_min(a.at[i], b.at[i]);
	meet = t_and(t_lt(c.at[Y1], c.at[Y2]), t_lt(c.at[X1], c.at[X2]));
	shared = t_where(meet, area(c), zero);
	all = t_sub(t_add(area(a), area(b)), shared);
	sound = t_and(t_and(t_lt(zero, area(a)), t_lt(zero, area(b))), t_lt(zero, all));
	return t_and(sound, t_lt(iou, t_div(shared, all)));
}

/* i64 [batch, class, 1]: the first place of the maximum of the live scores; the number of boxes
 * when no box is alive */
static UOp *choose(UOp *scores, UOp *alive)
{
	UOp *s = t_where(alive, scores, f32(-INFINITY)), *n = t_size(DT_I64, t_dim(scores, 2)),
	    *best;
	int axis = 2;

	best = t_and(alive, t_eq(s, t_reduce(OP_MAX, s, 1, &axis, true)));
	return t_reduce(OP_MIN, t_where(best, t_iota(DT_I64, scores->shape, 2), n), 1, &axis, true);
}

/* ---- turns */

typedef struct { Corners b; UOp *scores, *iou; } Candidates;

/* The boxes that a turn chooses, [batch, class, 1], and those that are alive after it. */
static UOp *turn(const Candidates *c, UOp **alive)
{
	UOp *at = choose(c->scores, *alive);
	UOp *itself = t_eq(t_iota(DT_I64, c->scores->shape, 2), at);
	UOp *dead = t_or(itself, overlap(box_at(c->b, at), each_class(c->b), c->iou));

	*alive = t_and(*alive, t_not(dead));
	return at;
}

/* What each turn chooses, [batch, class, turns], for a few turns: faster than a loop's overhead. */
static UOp *few_turns(const Candidates *c, UOp *alive, int64_t turns)
{
	UOp *chosen[FEW];

	for (int64_t i = 0; i < turns; i++) {
		alive = NODE(OP_CONTIGUOUS, DT_BOOL, VNIL, alive);
		chosen[i] = turn(c, &alive);
	}
	return t_concat(turns, chosen, 2);
}

static UOp *any(UOp *x)
{
	int axes[] = {0, 1, 2};

	return t_reduce(OP_MAX, x, 3, axes, false);
}

/* The same until none is alive. */
static UOp *all_turns(const Candidates *c, UOp *first, UOp *limit)
{
	TurnLoop loop = loop_new();
	UOp *alive = loop_state(&loop, first, NULL), *at = turn(c, &alive), *dim[4];
	UOp *end = loop_end(&loop, &(LoopEnd){.limit = limit, .start = any(first),
		.next = any(alive), .state = &alive, .value = &at, .values = 1});

	dim[0] = t_bind("turns", loop_turns(end), ix_const(0), t_dim(first, 2));
	for (int i = 0; i < 3; i++)
		dim[1 + i] = t_dim(at, i);
	return t_move_axis(t_squeeze(loop_stacked(end, 0, shape_new(4, dim)), 3), 0, 2);
}

/* rows (batch, class, box) of the turns that chose one of n boxes */
static UOp *chosen_rows(UOp *chosen, UOp *n)
{
	UOp *row[3], *idx[3], *at = t_nonzero_places(t_lt(chosen, n));

	for (int i = 0; i < 3; i++) {
		row[i] = t_shrink_axis(at, 0, ix_const(i), ix_const(i + 1));
		idx[i] = t_squeeze(row[i], 0);
	}
	row[2] = t_unsqueeze(t_gather(chosen, 3, idx), 0);
	return t_transpose(t_concat(3, row, 0), 0, 1);
}

UOp *onnx_suppress(UOp *boxes, UOp *scores, bool center, UOp *limit, UOp *iou, UOp *least)
{
	Candidates c = {corners(boxes, center), scores, iou};
	UOp *alive = least ? t_lt(least, scores) : t_eq(scores, scores), *n = t_dim(scores, 2);
	int64_t most, turns;
	bool known = const_is_int(limit, &turns);

	if (known && ix_is_const(n, &most) && most < turns)
		turns = most;
	if (known && turns <= 0)
		return t_full(shape_ints(2, (int64_t[]){0, 3}), const_int(DT_I64, 0));
	return chosen_rows(known && turns <= FEW ? few_turns(&c, alive, turns) :
		all_turns(&c, alive, limit), t_size(DT_I64, n));
}
