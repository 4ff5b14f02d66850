/* The order of a kernel's output ranges: what its reductions call for, unless a list gives another.
 *
 *     y[r0, r1] = Σ x[r0, k]      r0 outside r1: the sum depends on r0 alone
 */
#include "actions/actions.h"
#include <stdlib.h>

void reductions_find(const Facts *f, Folds *k)
{
	*k = (Folds){0};
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op == OP_RSCAN)
			vec_push(&k->scan, u);
		if (u->op != OP_RREDUCE || free_of(u) & ~f->out)
			continue;
		vec_push(&k->reduce, u);
		for (int r = 0; r < f->nrange; r++)
			k->weight[r] += free_of(u) >> r & 1;
	}
}

/* Output ranges on which more reductions depend stand outside, so that each reduction runs as
 * seldom as possible; serial ranges keep their order among themselves; a scan's range stands inside
 * all others that it depends on. */
static int compare(const Facts *f, const Folds *k, int a, int b)
{
	bool both = f->serial >> a & f->serial >> b & 1;
	if (!both && k->weight[a] != k->weight[b])
		return k->weight[b] - k->weight[a];
	return axis_of(f, a) - axis_of(f, b);
}

static void move_inside(Plan *p, int r, uint64_t outside)
{
	int at = 0, last = -1;
	for (int i = 0; i < p->norder; i++) {
		if (p->order[i] == r)
			at = i;
		else if (outside >> p->order[i] & 1)
			last = i;
	}
	for (; at < last; at++) {
		p->order[at] = p->order[at + 1];
		p->order[at + 1] = r;
	}
}

void choose_order(Plan *p, const Facts *f, const Folds *k)
{
	uint64_t set = f->out;
	if (f->sort)
		set &= ~bit_of(f->sort->src[1]);
	p->norder = 0;
	for (int r = 0; r < f->nrange; r++) {
		if (!(set >> r & 1))
			continue;
		int i = p->norder++;
		for (; i > 0 && compare(f, k, r, p->order[i - 1]) < 0; i--)
			p->order[i] = p->order[i - 1];
		p->order[i] = r;
	}
	for (size_t i = 0; i < k->scan.n; i++) {
		UOp *range = k->scan.at[i]->src[1];
		int r = __builtin_ctzll(bit_of(range));
		move_inside(p, r, free_of(k->scan.at[i]) & f->out & ~bit_of(range));
	}
}

/* The loops of a reduction that stand outside of some of those on which it depends, and these.
 * False where one of its loops stands between these. A loop within a block stands in order[] as the
 * range's number and MAX_RANGES. */
static bool fold_outside(Staged *s, const int *order, int n)
{
	uint64_t bound = bound_of(s->value), free = free_of(s->value);
	int last = n - 1;
	while (last >= 0 && (order[last] >= MAX_RANGES || !(free >> order[last] & 1)))
		last--;
	for (int i = 0; i <= last; i++) {
		bool within = order[i] >= MAX_RANGES;
		uint64_t bit = 1ull << order[i] % MAX_RANGES;
		if (bound & bit && (s->over || within))
			return false;
		if (within)
			continue;
		if (bound & bit)
			s->outside |= bit;
		else if (s->outside)
			s->over |= free & bit;
	}
	return true;
}

bool order_folds(Plan *p, const Facts *f, const int *order, int n)
{
	for (size_t i = 0; i < f->all.n; i++) {
		Staged s = {.value = f->all.at[i]};
		if (s.value->op != OP_RREDUCE)
			continue;
		if (!fold_outside(&s, order, n) || (s.outside && p->nstage == MAX_STAGED))
			return false;
		if (s.outside)
			p->stage[p->nstage++] = s;
	}
	return true;
}

int order_without(int *order, int n, const int *range, int count)
{
	int left = 0;
	for (int i = 0; i < n; i++) {
		bool stays = true;
		for (int k = 0; k < count; k++)
			stays &= order[i] != range[k];
		if (stays)
			order[left++] = order[i];
	}
	return left;
}

void order_in_front(Plan *p, const int *range, int count)
{
	memmove(p->order + count, p->order, p->norder * sizeof *p->order);
	memcpy(p->order, range, count * sizeof *range);
	p->norder += count;
}

void plan_order(Plan *p, const Facts *f)
{
	Folds k;
	reductions_find(f, &k);
	choose_order(p, f, &k);
	vec_free(&k.reduce);
	vec_free(&k.scan);
}

/* ---- loops */

/* Loops with their places: that within a block where it was said, or just inside of the one over
 * blocks. */
typedef struct { PlanLoop level; int at; } Placed;

static void place(Placed *v, int *n, int r, int what, int at)
{
	int i = (*n)++;
	for (; i && v[i - 1].at > at; i--)
		v[i] = v[i - 1];
	v[i] = (Placed){{r, what}, at};
}

static int within_at(const Plan *p, int r, int outer)
{
	return p->within[r] ? 2 * p->within[r] - 1 : outer + 1;
}

static int levels_placed(const Placed *v, int n, PlanLoop *level)
{
	for (int i = 0; i < n; i++)
		level[i] = v[i].level;
	return n;
}

int plan_loops(const Plan *p, PlanLoop *level)
{
	Placed v[2 * MAX_RANGES];
	uint64_t blocks = block_ranges(p);
	int n = 0, chunks = 0;
	for (int i = 0; i < p->norder; i++)
		if (p->chunk[p->order[i]])
			level[chunks++] = (PlanLoop){p->order[i], CHUNKS};
	for (int i = 0; i < p->norder; i++) {
		int r = p->order[i];
		bool block = blocks >> r & 1;
		place(v, &n, r, block ? BLOCKS : p->tile[r].unroll ? TILES : SINGLES, 2 * i);
		if (block)
			place(v, &n, r, IN_BLOCK, within_at(p, r, 2 * i));
	}
	return chunks + levels_placed(v, n, level + chunks);
}

/* Ranges that the order does not list are outside of those that it does, by number. */
int fold_loops(const Plan *p, uint64_t set, uint64_t blocks, uint64_t within, PlanLoop *level)
{
	Placed v[2 * MAX_RANGES];
	int at[MAX_RANGES], n = 0;
	for (int r = 0; r < MAX_RANGES; r++)
		at[r] = 2 * (r - MAX_RANGES);
	for (int i = 0; i < p->nfolds; i++)
		at[p->folds[i]] = 2 * i;
	for (int r = 0; r < MAX_RANGES; r++) {
		if (!(set >> r & 1))
			continue;
		if (blocks >> r & 1)
			place(v, &n, r, BLOCKS, at[r]);
		else if (!(within >> r & 1))
			place(v, &n, r, SINGLES, at[r]);
		if (within >> r & 1)
			place(v, &n, r, IN_BLOCK, within_at(p, r, at[r]));
	}
	return levels_placed(v, n, level);
}
