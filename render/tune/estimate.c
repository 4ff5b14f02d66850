/* An estimate of a kernel's time by a plan, from the target's row: what the arithmetic units need,
 * and what each cache has to bring, the longest of which counts.
 *
 * The loops are those of the plan, outermost first: chunks, the output's, reductions'. A value is
 * computed in the innermost loop on which it depends, so it is computed as often as that loop and
 * all around it run, for each element of the tiles that it moves with: what tiles use again is
 * loaded once. What a row buffer holds is computed for all of it where the buffer is filled. Of a
 * cache is read anew whatever the loops inside of one touch, if that is more than the cache holds,
 * each time that loop runs. (The model of Goto and van de Geijn's "Anatomy of High-Performance
 * Matrix Multiplication", 2008, for any nest.) */
#include "target/target.h"
#include "tune/parts.h"
#include <math.h>

enum { LOOPS = 2 * MAX_RANGES };
typedef struct { int r; double trips; bool reduce; } Loop;
typedef struct {
	const Plan *p;
	const Facts *f;
	Loop loop[LOOPS];
	int n, items;           /* loops, and how many of them are the grid */
	int vector;             /* the range in vectors, -1: none */
	double lanes;
	double *fills;          /* by place in f->all: how many times as often row buffers have a
	                         * node computed */
} Model;

/* ---- the nest */

static double size_of(const Facts *f, int r)
{
	return (double)usual_size(least_size(f, r), most_size(f, r));
}

static double tile_of(const Model *k, int r)
{
	double t = k->p->tile[r].unroll ? tile_size(k->p, r) : 1, n = size_of(k->f, r);
	return t < n || n < 1 ? t : n;
}

static void add_loop(Model *k, int r, double trips, bool reduce)
{
	if (k->n < LOOPS)
		k->loop[k->n++] = (Loop){r, trips, reduce};
}

static void add_reductions(Model *k, uint64_t set)
{
	for (int i = 0; i < k->p->nfolds; i++)
		if (set >> k->p->folds[i] & 1)
			add_loop(k, k->p->folds[i], size_of(k->f, k->p->folds[i]), true);
	for (int r = 0; r < k->f->nrange; r++) {
		bool listed = false;
		for (int i = 0; i < k->p->nfolds; i++)
			listed |= k->p->folds[i] == r;
		if (set >> r & 1 && !listed)
			add_loop(k, r, size_of(k->f, r), true);
	}
}

static void nest_begin(Model *k, const Plan *p, const Facts *f)
{
	uint64_t outside = 0, folds = f->reduced & ~f->out;
	*k = (Model){.p = p, .f = f, .vector = -1, .lanes = 1};
	for (int i = 0; i < p->nlanes; i++)
		if (p->tile[p->lanes[i]].vector > 1) {
			k->vector = p->lanes[i];
			k->lanes = p->tile[k->vector].vector;
		}
	for (int i = 0; i < p->norder; i++)
		if (p->chunk[p->order[i]])
			add_loop(k, p->order[i], ceil(size_of(f, p->order[i]) /
				(tile_of(k, p->order[i]) * p->chunk[p->order[i]])), false);
	for (int i = 0; i < p->nstage; i++)
		outside |= p->stage[i].outside;
	add_reductions(k, folds & outside);
	for (int i = 0; i < p->norder; i++) {
		int r = p->order[i];
		double trips = ceil(size_of(f, r) / tile_of(k, r));
		add_loop(k, r, p->chunk[r] && p->chunk[r] < trips ? p->chunk[r] : trips, false);
	}
	k->items = p->grid;
	add_reductions(k, folds & ~outside);
}

/* ---- arithmetic */

/* How often a value is computed for a set of ranges, each for all elements of its tiles. */
static double times_of(const Model *k, uint64_t set)
{
	double all = 1, n = 1;
	for (int i = 0; i < k->n; i++) {
		all *= k->loop[i].trips;
		if (set >> k->loop[i].r & 1)
			n = all;
	}
	for (int r = 0; r < k->f->nrange; r++)
		if (set >> r & 1)
			n *= tile_of(k, r);
	return n;
}

/* How many times as often a value is computed for its row buffer: for all of the buffer's ranges in
 * the innermost loop of its others, whichever loops are around that. */
static double filled(const Model *k, const Staged *s)
{
	uint64_t rest = free_of(s->value) & ~s->over;
	double all = 1, around = 1, n = 1;
	for (int i = 0; i < k->n; i++) {
		all *= k->loop[i].trips;
		if (rest >> k->loop[i].r & 1 || i < k->items)
			around = all;
	}
	for (int r = 0; r < k->f->nrange; r++)
		n *= rest >> r & 1 ? tile_of(k, r) : s->over >> r & 1 ? size_of(k->f, r) : 1;
	return around * n / times_of(k, free_of(s->value));
}

static void find_fills(Model *k)
{
	size_t n = k->f->all.n;
	k->fills = arena_alloc((n + 1) * sizeof *k->fills);
	for (size_t i = 0; i < n; i++)
		k->fills[i] = 1;
	for (int j = 0; j < k->p->nstage; j++) {
		const Staged *s = &k->p->stage[j];
		if (!s->over || s->outside)
			continue;
		double by = filled(k, s);
		Nodes all = walk_brief(s->value);
		Map inside = {0};
		for (size_t i = 0; i < all.n; i++)
			map_put(&inside, PKEY(all.at[i]), all.at[i]);
		for (size_t i = 0; i < n; i++)
			k->fills[i] *= map_get(&inside, PKEY(k->f->all.at[i])) ? by : 1;
		map_free(&inside);
	}
}

/* Elements of a value that one instruction takes. Sums in parts are in vectors of these. */
static double width_of(const Model *k, const UOp *u, uint64_t set)
{
	double natural = target->vector > 4 ? target->vector / 4 : 1;
	if (k->vector >= 0 && set >> k->vector & 1)
		return k->lanes < natural ? k->lanes : natural;
	if (k->p->partial > 1 && set & k->f->reduced)
		return k->p->partial < natural ? k->p->partial : natural;
	return 1;
}

static bool gathers(const Model *k, const UOp *load)
{
	for (int i = 0; i < k->p->nstage; i++)
		if (k->p->stage[i].value == load)
			return false;
	return k->vector >= 0 && free_of(load) >> k->vector & 1 &&
		movement_of(k->f, load, k->vector) == FAR;
}

/* Sums of which as many run side by side as there are accumulators. */
static double chains(const Model *k, const UOp *fold)
{
	uint64_t set = free_of(fold->src[0]);
	double side = 1;
	for (int r = 0; r < k->f->nrange; r++)
		if (free_of(fold) >> r & 1)
			side *= tile_of(k, r);
	side = side * (k->p->partial > 1 ? k->p->partial : 1) / width_of(k, fold, set);
	return times_of(k, set) / width_of(k, fold, set) / (side < 1 ? 1 : side) *
		target->machine.latency;
}

static double registers_of(const Model *k, const UOp *fold)
{
	double n = 1, most = 0;
	for (int r = 0; r < k->f->nrange; r++)
		if (free_of(fold) >> r & 1) {
			double t = tile_of(k, r) / (r == k->vector ? k->lanes : 1);
			n *= t;
			most = r == k->vector ? t : most;
		}
	return n + most + 1;
}

static double cycles_of(const Model *k)
{
	double ops = 0, loads = 0, wait = 0, spill = 1;
	for (size_t i = 0; i < k->f->all.n; i++) {
		const UOp *u = k->f->all.at[i];
		uint64_t set = free_of(u->op == OP_RREDUCE ? u->src[0] : u);
		bool places = u->dtype == DT_I64 && u->op != OP_LOAD && u->op != OP_RREDUCE;
		if (places || u->op == OP_INDEX || u->op == OP_RANGE || is_const(u))
			continue;
		double n = times_of(k, u->op == OP_STORE ? k->f->out : set) * k->fills[i];
		double width = width_of(k, u, u->op == OP_STORE ? k->f->out : set);
		if (u->op == OP_LOAD || u->op == OP_STORE)
			loads += gathers(k, u) ? 2 * n : n / width;
		else if (u->op == OP_RREDUCE || op_elementwise(u->op))
			ops += n / width * (u->op == OP_RREDUCE ? 1 : op_cost(u->op));
		if (u->op == OP_RREDUCE) {
			double registers = registers_of(k, u), over = registers - target->registers;
			wait = fmax(wait, chains(k, u));
			spill = fmax(spill, over > 0 ? 1 + over / registers : 1);
		}
	}
	ops /= target->machine.ops;
	loads /= target->machine.loads;
	return fmax(fmax(ops, loads), wait) * spill + 0.2 * fmin(ops, loads);
}

/* ---- memory */

/* Bytes that an access touches while the loops from `from` on run once. */
static double touched(const Model *k, const UOp *access, int from)
{
	uint64_t set = free_of(access->src[0]);
	double n = dtype_size(access->op == OP_STORE ? access->src[1]->dtype : access->dtype);
	bool next = false;
	for (int r = 0; r < k->f->nrange; r++) {
		double all = tile_of(k, r);
		if (!(set >> r & 1))
			continue;
		for (int i = from; i < k->n; i++)
			all *= k->loop[i].r == r ? k->loop[i].trips : 1;
		n *= all;
		next |= movement_of(k->f, access, r) == NEXT && all > 1;
	}
	return next || !set ? n : n * 8;        /* a line for an element, at most once again */
}

static double touched_all(const Model *k, int from)
{
	double sum = 0;
	for (size_t i = 0; i < k->f->all.n; i++)
		if (k->f->all.at[i]->op == OP_LOAD || k->f->all.at[i]->op == OP_STORE)
			sum += touched(k, k->f->all.at[i], from);
	return sum;
}

/* Bytes that come into a cache of so many bytes. */
static double traffic(const Model *k, double cache)
{
	double sum = 0;
	int from = 0;
	while (from < k->n && touched_all(k, from) > cache)
		from++;
	for (size_t i = 0; i < k->f->all.n; i++) {
		const UOp *u = k->f->all.at[i];
		double n = 1, all = 1;
		if (u->op != OP_LOAD && u->op != OP_STORE)
			continue;
		/* a loop around, in which it does not move, brings the same again */
		for (int j = 0; j < from; j++) {
			all *= k->loop[j].trips;
			n = free_of(u->src[0]) >> k->loop[j].r & 1 || j + 1 == from ? all : n;
		}
		n *= fmax(k->fills[i], 1) * touched(k, u, from);
		sum += n * (u->op == OP_STORE && !k->p->nontemporal ? 2 : 1);
	}
	return sum;
}

/* ---- both */

double plan_estimate(const Plan *p, const Facts *f)
{
	const Machine *m = &target->machine;
	Model k;
	double items = 1, threads = m->cores;
	if (target->gpu)
		return 1;
	nest_begin(&k, p, f);
	find_fills(&k);
	for (int i = 0; i < k.items && i < k.n; i++)
		items *= k.loop[i].trips;
	double share = items <= 1 ? 1 : ceil(items / threads) / items;
	double ns = cycles_of(&k) * 1000 / m->clock, most = 0, sum = 0;
	for (int level = 0; level < 3; level++) {
		double t = traffic(&k, (double)m->cache[level]) / m->read[level + 1];
		t *= level < 2 ? share : fmax(share, 0.7);
		most = fmax(most, t);
		sum += t;
	}
	return fmax(ns * share, most) + 0.1 * (ns * share + sum) +
		(items > 1 ? m->start : 0);
}
