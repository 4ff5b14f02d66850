/* Contractions in kernels: reductions with operand reuse, recognised only by the ranges in which
 * their operands move.
 *
 *     y[b,i,j] = Σk p[b,i,k]*q[b,k,j]         d[i,j] = min k (p[i,k] + q[k,j])
 *     y[n,o,h] = Σc,t x[n,c,h+t]*w[o,c,t]     v[i] = Σk where(m[k], p[i,k], 0)
 *
 * An operand is a value that moves with the ranges that the reduction binds: a LOAD whose index
 * does, or an inner reduction. It is reused along a range in which it does not move but another
 * operand does. A reduction with such an operand is a contraction, with any combining op, any
 * arithmetic on the operands, constant or not, and any order of axes. A reduction of one operand,
 * or of several that all move together, is not a contraction; nor is an outer product, which
 * reduces nothing.
 *
 * Sets of ranges are masks of axis numbers, as range_mask (ranges.c) gives them. */
#include "index/ix.h"
#include <stdlib.h>

static bool moves_in(uint64_t moves, const UOp *range)
{
	return moves >> range_axis(range) & 1;
}

/* A load moves with its index; its gate does not count. */
static uint64_t moves_of(UOp *value)
{
	return range_mask(value->op == OP_LOAD ? value->src[0] : value);
}

/* The loads and reductions in the value of c's reduction, depth first: those that move with it and
 * those that do not. Their own sources are not searched. */
static void find_values(const Contraction *c, Operands *moving, Operands *still)
{
	static ARENA VEC(UOp *) stack;
	static ARENA TABLE(uint32_t) seen;
	table_round(&seen);
	vec_push(&stack, c->fold->src[0]);
	while (stack.n) {
		UOp *u = stack.at[--stack.n];
		if (!range_mask(u) || seen.at[u->id] == seen.round)
			continue;
		seen.at[u->id] = seen.round;
		if (u->op == OP_LOAD || u->op == OP_RREDUCE)
			vec_push(moves_of(u) & c->bound ? moving : still,
				((Operand){u, moves_of(u)}));
		else
			for (uint32_t i = u->nsrc; i-- > 0;)
				vec_push(&stack, u->src[i]);
	}
}

static void find_operands(Contraction *c)
{
	static ARENA Operands moving, still;
	moving.n = still.n = 0;
	find_values(c, &moving, &still);
	c->n = moving.n;
	c->still = still.n;
	c->operand = arena_alloc((c->n + c->still) * sizeof *c->operand);
	for (size_t i = 0; i < c->n + c->still; i++)
		c->operand[i] = i < c->n ? moving.at[i] : still.at[i - c->n];
	for (size_t i = 0; i < c->n; i++)
		c->all |= c->operand[i].moves;
}

/* The first operand except `other` that moves in the most ranges outside `but`; NULL when none
 * moves in any. */
static const Operand *most_moving(const Contraction *c, uint64_t but, const Operand *other)
{
	const Operand *best = NULL;
	int most = 0;
	for (size_t i = 0; i < c->n; i++) {
		int n = __builtin_popcountll(c->operand[i].moves & ~but);
		if (&c->operand[i] != other && n > most) {
			best = &c->operand[i];
			most = n;
		}
	}
	return best;
}

static void choose_pair(Contraction *c)
{
	const Operand *a = most_moving(c, 0, NULL), *b = a ? most_moving(c, a->moves, a) : NULL;
	if (!b)
		b = most_moving(c, 0, a);
	if (!b)
		return;
	c->x = a < b ? a->value : b->value;
	c->w = a < b ? b->value : a->value;
}

bool operands_contract(size_t n, const Operand *operand)
{
	for (size_t i = 1; i < n; i++)
		if (operand[i].moves != operand[0].moves)
			return true;
	return false;
}

bool contraction_of(Contraction *c, UOp *fold)
{
	*c = (Contraction){.fold = fold};
	if (folds_tuple(fold))
		return false;
	for (uint32_t i = 1; i < fold->nsrc; i++)
		c->bound |= 1ull << range_axis(fold->src[i]);
	c->bound &= range_mask(fold->src[0]);
	find_operands(c);
	choose_pair(c);
	return operands_contract(c->n, c->operand);
}

bool contraction_is_lopsided(const Contraction *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->operand[i].moves == c->all)
			return true;
	return false;
}

bool contraction_reuses(const Contraction *c, const UOp *along, const UOp *vectors)
{
	bool moves = false, again = false;
	for (size_t i = 0; i < c->n + c->still; i++) {
		bool stays = !moves_in(c->operand[i].moves, along);
		moves |= !stays;
		again |= stays && moves_in(c->operand[i].moves, vectors);
	}
	return moves && again;
}

static int64_t size_bound(const UOp *range)
{
	int64_t lo, hi;
	ix_bounds(range->src[0], &lo, &hi);
	return hi;
}

/* Whether the range's part of an index overlaps the steps of a range of the result, as in a sliding
 * window. If one range steps over the whole extent of the other, they share no element: the axes
 * are nested. */
static bool slides_in(const Contraction *c, UOp *index, UOp *range)
{
	Sum s;
	sum_of(&s, index);
	int64_t step = llabs(sum_coef(&s, range)), reach, other_reach;
	for (int i = 0; step && i < s.n; i++) {
		const UOp *other = s.t[i].m;
		int64_t other_step = llabs(s.t[i].c);
		if (other->op == OP_RANGE && !moves_in(c->bound, other) &&
			mul_ok(step, size_bound(range), &reach) && other_step < reach &&
			mul_ok(other_step, size_bound(other), &other_reach) && step < other_reach)
			return true;
	}
	return false;
}

static bool slides(const Contraction *c, const UOp *value, UOp *range)
{
	bool found = false;
	for (uint32_t i = 1; value->op == OP_LOAD && i < value->src[0]->nsrc; i++)
		found |= slides_in(c, value->src[0]->src[i], range);
	return found;
}

Role contraction_role(const Contraction *c, UOp *range)
{
	if (!c->x || !c->w)
		return ROLE_NONE;
	bool x = moves_in(moves_of(c->x), range), w = moves_in(moves_of(c->w), range);
	if (moves_in(c->bound, range))
		return slides(c, c->x, range) || slides(c, c->w, range) ? ROLE_WINDOW :
									  ROLE_REDUCTION;
	return x && w ? ROLE_BATCH : x ? ROLE_ROW : w ? ROLE_COLUMN : ROLE_NONE;
}
