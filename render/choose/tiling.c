/* How the values of a kernel move, and pieces of its plan. */
#include "target/target.h"
#include "choose/tiling.h"
#include <stdlib.h>

Loads loads_in(UOp *u)
{
	Loads l = {0};
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			vec_push(&l, all.at[i]);
	return l;
}

bool walks(const Tiling *t, UOp *body, int r)
{
	Loads l = loads_in(body);
	bool ok = true;
	for (size_t i = 0; i < l.n; i++)
		ok &= movement_of(t->f, l.at[i], r) != FAR;
	vec_free(&l);
	return ok;
}

int64_t length_of(const Tiling *t, const UOp *u)
{
	return count_of(t->f, bound_of(u));
}

int last_of(const Tiling *t) { return 63 - __builtin_clzll(bound_of(t->heavy)); }

int kernel_lanes(const Facts *f)
{
	int size = 4, stored = dtype_size(f->kernel->src[0]->src[1]->dtype);
	bool floats = false;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		bool counts = u->op == OP_LOAD || u->op == OP_RREDUCE || op_elementwise(u->op);
		if (!counts || !dtype_float(u->dtype))
			continue;
		floats = true;
		if (dtype_size(u->dtype) > size)
			size = dtype_size(u->dtype);
	}
	if (!floats && stored > size)
		size = stored;
	return target->vector > size ? target->vector / size : 1;
}

int64_t loops_of(const Tiling *t, int r)
{
	int64_t n = count_of(t->f, 1ull << r);
	int size = tile_size(t->p, r);
	return size ? (n + size - 1) / size : n;
}

double fill_of(int64_t n, int64_t tile) { return (double)n / ((n + tile - 1) / tile * tile); }

void order_within(Plan *p, int r, int n)
{
	for (int i = 0; i + 1 < n; i++)
		if (p->order[i] == r) {
			p->order[i] = p->order[i + 1];
			p->order[i + 1] = r;
		}
}

void tile(Plan *p, int r, int unroll, int vector)
{
	p->tile[r] = (Tile){unroll, vector};
	p->lanes[p->nlanes++] = r;
}

void order_last(Plan *p, int r)
{
	p->order[order_without(p->order, p->norder, &r, 1)] = r;
}

void order_vector(Tiling *t)
{
	int order[MAX_RANGES], n = t->p->norder;
	order_last(t->p, t->v);
	memcpy(order, t->p->order, n * sizeof *order);
	for (int i = 0; i < n; i++)
		if (!(free_of(t->heavy) >> order[i] & 1))
			order_last(t->p, order[i]);
}

/* The loops in which a reduction is run over again. */
static uint64_t run_again(const Facts *f)
{
	uint64_t set = 0;
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RREDUCE)
			set |= bound_of(f->all.at[i]) & f->out;
	return set;
}

/* The iterations of all reductions that depend on range r, with those of the output; or of all that
 * do not. */
static double work_with(const Facts *f, int r, bool depends)
{
	double all = depends ? (double)count_of(f, f->out) : 0;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op == OP_RREDUCE && (free_of(u) >> r & 1) == depends)
			all += (double)count_of(f, bound_of(u) | free_of(u));
	}
	return all;
}

/* Would items along r compute again, each for itself, more than threads gain? They gain half of the
 * rest at the least, and little where there are `enough` items already. */
static bool repeats(const Tiling *t, int r, bool enough)
{
	double more = work_with(t->f, r, false) * ((double)loops_of(t, r) - 1);
	double rest = work_with(t->f, r, true);
	return more > (enough ? rest / 8 : rest);
}

void choose_items(Tiling *t, int most)
{
	Plan *p = t->p;
	uint64_t again = run_again(t->f);
	double items = 1;
	p->grid = 0;
	for (int r = 0; r < t->f->nrange; r++)
		p->grid += p->chunk[r] > 0;
	most += p->grid;
	for (int i = 0; i < p->norder && p->grid < most; i++) {
		int r = p->order[i];
		bool tail = p->tile[r].unroll && !tile_fixed(p, t->f, r) && !tile_open(p, t->f, r);
		if (tail || (i && again >> r & 1) || repeats(t, r, items >= ITEMS))
			break;
		items *= loops_of(t, r);
		p->grid++;
	}
}
