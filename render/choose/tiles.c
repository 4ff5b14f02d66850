/* Tiles, vectors, chunks and threads of a CPU kernel, chosen by the roles of its ranges: the
 * buffers in which each one moves the place, and how.
 *
 *     y[m,n] = Σk a[m,k]*b[k,n]     n is next to its neighbour in y and b: vectors of n
 *                                   b does not move in m: tiles of m use a vector of b again
 *     y[n] = Σk x[k]*b[n,k]         contiguous in k: the sum in vectors, 4 rows n at a time
 *     y[n] = Σk x[k,n]              nothing is used again: rows of n, accumulators in the cache
 *     y[k,n] = x[k,n] / Σk x[k,n]   the same, with k within the loop over rows of n
 *     y[i,j] = exp(x[i,j] - m[i])   no sum moves in j: vectors of j, sums in parts; where rows of j
 *                                   are shorter than half a vector: vectors of i
 *
 * Nothing here depends on where a kernel came from. */
#include "shape/shape.h"
#include "target/target.h"
#include "choose/choose.h"
#include "choose/tiling.h"
#include "index/ix.h"
#include <stdlib.h>

enum {
	DOT_LEAST = 192,        /* iterations from which a sum in vectors outweighs its fold */
	ROWS_SCANNED = 4,       /* chains of additions side by side */
	ROWS_FOLDED = 4,        /* folds of rows side by side */
	PLAIN_MOST = 1 << 21    /* ops that are computed once without vectors */
};

/* ---- what the kernel is like */

/* The reduction with most iterations over all the ranges that it depends on. */
static UOp *find_heavy(const Facts *f)
{
	UOp *best = NULL;
	int64_t most = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op != OP_RREDUCE)
			continue;
		int64_t n = count_of(f, free_of(u->src[0]));
		if (n > most) {
			most = n;
			best = u;
		}
	}
	return best;
}

/* The output range along which stores are contiguous, or -1. */
static int find_vector(const Tiling *t)
{
	const UOp *store = t->f->kernel->src[0];
	for (int i = t->p->norder; i-- > 0;) {
		int r = t->p->order[i];
		if (movement_of(t->f, store, r) == NEXT && most_size(t->f, r) > 1)
			return r;
	}
	return -1;
}

static int power_below(int64_t n)
{
	int v = 1;
	while (v * 2 <= n)
		v *= 2;
	return v;
}

/* ---- pieces of a plan */

/* The iterations of the longest loop of the heavy reduction. */
static int64_t longest_loop(const Tiling *t)
{
	int64_t best = 1;
	for (int r = 0; r < t->f->nrange; r++)
		if (bound_of(t->heavy) >> r & 1 && most_size(t->f, r) > best)
			best = most_size(t->f, r);
	return best;
}

/* The operations of an iteration of all reductions, and how many reductions there are. */
static int64_t work_in_sums(const Tiling *t, int *folds)
{
	int64_t work = 0;
	*folds = 0;
	for (size_t i = 0; i < t->f->all.n; i++) {
		UOp *u = t->f->all.at[i];
		if (u->op != OP_RREDUCE)
			continue;
		Nodes body = walk(u->src[0]);
		++*folds;
		for (size_t k = 0; k < body.n && stage_of(t->p, u->src[0]) < 0; k++)
			if (free_of(body.at[k]) & bound_of(u) && op_elementwise(body.at[k]->op))
				work += op_cost(body.at[k]->op);
	}
	return work;
}

/* Accumulators for a short sum: more of them are fewer iterations, and more halves to combine. */
static int parts_of_short(const Tiling *t, int64_t size)
{
	int folds, best = 2;
	int64_t work = work_in_sums(t, &folds), least = INT64_MAX;
	for (int parts = 2; parts <= size; parts *= 2) {
		int rest = __builtin_popcountll(size % parts);
		int64_t cost = (size / parts + rest) * (work + folds) +
			folds * (3 * __builtin_ctz(parts) + rest);
		if (cost < least) {
			least = cost;
			best = parts;
		}
	}
	return best;
}

/* How long the last of several loops of a sum is, where it walks through memory; else 0. */
static int64_t block_of(const Tiling *t)
{
	int64_t size = most_size(t->f, last_of(t));
	return size < length_of(t, t->heavy) && walks(t, t->heavy->src[0], last_of(t)) ? size : 0;
}

/* As many accumulators as have two iterations each, up to four vectors of them (hide_latency() has
 * more), or without vectors as leave a short tail. Of several loops of which the last one is a
 * block in memory, no more than it has elements: along the others they would be gathered. */
static void choose_partial(Tiling *t)
{
	int best = t->lanes;
	int64_t size = longest_loop(t), block = block_of(t);
	if (block == best || (block > best && t->lanes > 1)) {
		while (best < 4 * t->lanes && 2 * best <= block)
			best *= 2;
		t->p->partial = best;
		return;
	}
	while (best < 4 * t->lanes && size >= 4 * best &&
		(t->lanes > 1 || size % (2 * best) <= size % best + 1))
		best *= 2;
	t->p->partial = size >= 2 * t->lanes ? best : parts_of_short(t, size);
}

/* ---- reductions */

static bool next_in_sum(const Tiling *t)
{
	int last = last_of(t);
	return walks(t, t->heavy->src[0], last) && count_of(t->f, 1ull << last) >= DOT_LEAST;
}

/* The gated loads of the heavy reduction's body that move with r. */
static int gated_loads(const Tiling *t, int r)
{
	Loads l = loads_in(t->heavy->src[0]);
	int n = 0;
	for (size_t i = 0; i < l.n; i++)
		n += l.at[i]->nsrc > 1 && movement_of(t->f, l.at[i], r) != STILL;
	vec_free(&l);
	return n;
}

/* Stores may be contiguous for less than half a vector, as in the gradient of a convolution's
 * weights [o,c,3,3]. A sum of many iterations is then in vectors of another range, o: whole
 * products, for a few stores that lie apart. */
static int find_wider(const Tiling *t)
{
	enum { MANY = 64 };
	int best = t->v;
	if (!t->heavy || 2 * least_size(t->f, t->v) >= t->lanes || length_of(t, t->heavy) < MANY)
		return best;
	for (int i = 0; i < t->p->norder; i++) {
		int r = t->p->order[i];
		bool used = false;
		if (!(free_of(t->heavy) >> r & 1) || least_size(t->f, r) < t->lanes)
			continue;
		for (int k = 0; k < t->p->norder && !used; k++) {
			int m = t->p->order[k];
			used = m != r && free_of(t->heavy) >> m & 1 && reuses(t, m, r);
		}
		int worse = best == t->v ? -1 : gated_loads(t, r) - gated_loads(t, best);
		if (used && (worse < 0 || (!worse && least_size(t->f, r) > least_size(t->f, best))))
			best = r;
	}
	return best;
}

/* Returns the rule; NULL when the kernel is not tiled by its reduction. */
static const char *tile_heavy(Tiling *t)
{
	if (!t->heavy || !(free_of(t->heavy) >> t->v & 1))
		return NULL;
	long long length = length_of(t, t->heavy);
	Nodes body = walk(t->heavy->src[0]);
	for (size_t i = 0; i < body.n; i++)
		if (body.at[i]->op == OP_RREDUCE && free_of(body.at[i]) & bound_of(t->heavy))
			return NULL;
	/* a vector of one element is contiguous */
	bool far = t->lanes > 1 && !walks(t, t->heavy->src[0], t->v);
	if (far && next_in_sum(t)) {
		tile_dot(t);
		return arena_printf("a sum of %lld neighbours, %d of which outweigh the fold of "
			"their vectors", length, DOT_LEAST);
	}
	TileBlock b = find_rows(t, count_of(t->f, 1ull << t->v));
	/* neighbours share what slides, where vectors share nothing but the window's weights */
	bool slides = !far && b.m >= 0 && !reuses(t, t->v, b.m) && has_small_window(t);
	if (b.m >= 0 && b.rows > 1 && !slides) {
		tile_contraction(t, b, far);
		return arena_printf("a sum of %lld in which rows of r%d use vectors of r%d again: "
			"%d rows by %d vectors keep the units %.0f%% busy in %d registers", length,
			axis_of(t->f, b.m), axis_of(t->f, t->v), b.rows, b.vectors, 100 * b.score,
			target->registers);
	}
	if (!far) {
		tile_rows(t);
		return arena_printf("a sum of %lld that reads nothing twice: rows of accumulators",
			length);
	}
	if (length < 2 * t->lanes || !walks(t, t->heavy->src[0], last_of(t)))
		return NULL;
	tile_dot(t);
	return arena_printf("a sum of %lld neighbours, which places of the output are not", length);
}

/* ---- scans */

/* A scan runs along its range for a tile of the elements beside it at once, each with an
 * accumulator in registers or in the cache; threads share the tiles, of which there are enough.
 * Where contiguous elements depend on one another it takes several rows, so that no addition waits
 * for the one before. A range within the scan's loop, on which it does not depend, leaves no room
 * for lanes. */
static void tile_scan(Tiling *t)
{
	Plan *p = t->p;
	int outside = 0;
	while (outside < p->norder && !(t->f->serial >> p->order[outside] & 1))
		outside++;
	for (int i = outside; i < p->norder; i++)
		if (!(t->f->serial >> p->order[i] & 1)) {
			choose_items(t, outside);
			return;
		}
	t->v = find_vector(t);
	bool apart = t->v < 0 || t->f->serial >> t->v & 1 || least_size(t->f, t->v) < t->lanes;
	for (uint32_t i = 0; i < t->f->kernel->nsrc && !apart; i++)
		apart = !walks(t, t->f->kernel->src[i]->src[1], t->v);
	if (!apart) {
		int64_t rows = count_of(t->f, t->f->out & ~t->f->serial) / most_size(t->f, t->v);
		int64_t share = most_size(t->f, t->v) * (rows < ITEMS ? rows : ITEMS) / ITEMS;
		int64_t wide = share < row_tile() ? share : row_tile();
		order_within(p, t->v, outside);
		tile(p, t->v, even_vectors(t, wide < 2 * t->lanes ? 2 : (int)(wide / t->lanes)),
			t->lanes);
	}
	for (int i = outside; apart && i-- > 0;)
		if (least_size(t->f, p->order[i]) >= ROWS_SCANNED) {
			tile(p, p->order[i], ROWS_SCANNED, 1);
			break;
		}
	choose_items(t, outside);
}

/* ---- short rows */

/* The range of rows: the innermost one beside that in vectors, if every reduction is over a row, of
 * at most `most` iterations; else -1. */
static int rows_folded(const Tiling *t, int64_t most)
{
	int rows = -1;
	for (int i = 0; i < t->p->norder; i++)
		if (t->p->order[i] != t->v)
			rows = t->p->order[i];
	for (size_t i = 0; i < t->f->all.n && rows >= 0; i++) {
		UOp *u = t->f->all.at[i];
		if (u->op == OP_RREDUCE && (free_of(u) >> t->v & 1 || !(free_of(u) >> rows & 1) ||
			length_of(t, u) > most))
			rows = -1;
	}
	return t->f->in_place || t->f->gated ? -1 : rows;
}

/* Rows of at most half a vector, of which every reduction is over a row: several rows at once, each
 * in a lane, with the places of a row written out. (Above that, loads that lie apart cost more than
 * lanes that are not used.) Returns whether the kernel is of that form. */
static bool tile_short_rows(Tiling *t)
{
	Plan *p = t->p;
	int64_t size = most_size(t->f, t->v);
	int rows = rows_folded(t, t->lanes / 2);
	if (rows < 0 || 2 * size > t->lanes || least_size(t->f, t->v) != size ||
		most_size(t->f, rows) < t->lanes)
		return false;
	order_last(p, t->v);
	p->unrolled |= 1ull << t->v;
	p->partial = 0;
	tile(p, rows, 1, t->lanes);
	choose_items(t, p->norder - 1);
	return true;
}

/* ---- all others */

/* The range of rows whose folds stand side by side, so that none waits for the one before, or -1.
 * Rows of several vectors only where each has several folds and all are in the cache: memory is
 * read one row after another. */
static int rows_beside(const Tiling *t)
{
	int64_t size = most_size(t->f, t->v), all;
	bool cached = mul_ok(count_of(t->f, t->f->out), target->vector / t->lanes, &all) &&
		all <= target->machine.cache[1];
	int few = cached && t->k->reduce.n > 1 ? 8 : 4;
	if (t->once || !t->heavy || size >= few * t->lanes)
		return -1;
	int rows = rows_folded(t, INT64_MAX);
	return rows >= 0 && least_size(t->f, rows) >= ROWS_FOLDED ? rows : -1;
}

/* Rows side by side have additions enough without several vectors of accumulators each. */
static void shorter_tail(Tiling *t)
{
	int64_t size = longest_loop(t);
	while (t->p->partial > t->lanes && size % t->p->partial > size % (t->p->partial / 2))
		t->p->partial /= 2;
}

void hide_latency(Tiling *t, int lanes)
{
	int most = target->machine.latency * target->machine.ops;
	int64_t size = longest_loop(t), block = block_of(t);
	if (most > target->registers / 2)
		most = target->registers / 2;
	if (block >= lanes && block < most * lanes)
		most = (int)(block / lanes);
	while (t->p->partial >= lanes && 2 * t->p->partial <= most * lanes &&
		4 * t->p->partial <= size)
		t->p->partial *= 2;
}

/* Does an element wait for more operations in a row than a core begins of others until one is done?
 * Its neighbours' are needed beside them then (lower/abreast.c). */
static bool has_long_chain(const Tiling *t)
{
	static ARENA TABLE(struct { int ops; }) chain;
	uint64_t along = 1ull << t->v;
	int longest = 0;
	table_fit(&chain);
	for (size_t i = 0; i < t->f->all.n; i++)
		along |= t->f->all.at[i]->op == OP_RREDUCE ? bound_of(t->f->all.at[i]) : 0;
	for (size_t i = 0; i < t->f->all.n; i++) {
		UOp *u = t->f->all.at[i];
		int ops = 0;
		bool counts = op_elementwise(u->op) && dtype_float(u->dtype) && free_of(u) & along;
		for (uint32_t k = 0; counts && k < u->nsrc; k++)
			ops = chain.at[u->src[k]->id].ops > ops ? chain.at[u->src[k]->id].ops : ops;
		chain.at[u->id].ops = counts ? ops + op_cost(u->op) : 0;
		longest = chain.at[u->id].ops > longest ? chain.at[u->id].ops : longest;
	}
	return longest > target->machine.latency * target->machine.ops;
}

static void add_place(const Tiling *t, const UOp *index, DType d, int64_t *all)
{
	int64_t bytes;
	if (!mul_ok(count_of(t->f, free_of(index)), dtype_size(d), &bytes) ||
		!add_ok(*all, bytes, all))
		*all = INT64_MAX;
}

/* Is more loaded and stored than one and a half times what the last cache holds? Of each buffer the
 * first load counts. */
static bool moves_memory(const Tiling *t)
{
	int64_t all = 0;
	uint64_t seen = 0;
	for (uint32_t i = 0; i < t->f->kernel->nsrc; i++)
		add_place(t, t->f->kernel->src[i]->src[0], t->f->kernel->src[i]->src[0]->dtype,
			&all);
	for (size_t i = 0; i < t->f->all.n; i++) {
		const UOp *u = t->f->all.at[i];
		bool load = u->op == OP_LOAD && u->src[0]->src[0]->op == OP_PARAM;
		int64_t slot = load ? param_slot(u->src[0]->src[0]) : 64;
		if (load && !(slot < 64 && seen >> slot & 1))
			add_place(t, u->src[0], u->dtype, &all);
		seen |= slot < 64 ? 1ull << slot : 0;
	}
	return all / 3 * 2 > target->machine.cache[2];
}

/* Several vectors of a row, or one each of several rows; more where an element waits for a long
 * chain, and for memory too (gelu of 16 million elements 0.93): then what a tile reads is
 * prefetched, since a processor does not see so far beyond what it computes (0.89). */
static void tile_elements(Tiling *t)
{
	int rows = rows_beside(t);
	int64_t size = most_size(t->f, t->v);
	bool narrow = t->once || rows >= 0 || size < 4 * t->lanes;
	int vectors = narrow ? 1 : t->k->reduce.n ? 4 : 2;
	bool deep = !narrow && has_long_chain(t);
	bool waits = deep && !t->k->reduce.n && moves_memory(t);
	if (deep && size >= 2 * vectors * t->lanes)
		vectors *= waits && 4 * vectors <= target->registers / 4 ? 4 : 2;
	if (!t->k->reduce.n && choose_transposes(t->p, t->f, t->v, t->lanes))
		return;
	order_last(t->p, t->v);
	if (rows >= 0) {
		tile(t->p, rows, ROWS_FOLDED, 1);
		shorter_tail(t);
	} else if (t->heavy && t->lanes > 1) {
		hide_latency(t, t->lanes);
	}
	tile(t->p, t->v, vectors, t->lanes);
	if (waits && t->lanes > 1)
		t->p->prefetch_loads = 1ull << t->v;
	choose_items(t, t->p->norder > 1 ? t->p->norder - 1 : 1);
}

static bool turns(const Plan *p)
{
	for (int i = 0; i < p->nstage; i++)
		if (p->stage[i].along)
			return true;
	return false;
}

/* Do stores go past the caches? Of what no cache holds beside what is loaded. Of tiles that are
 * turned, whose lines lie pages apart, also where these would be read slowly before they are
 * written: of what the second caches do not hold; but not parts of lines. */
static bool streams(const Tiling *t)
{
	const Machine *m = &target->machine;
	int64_t held = moves_memory(t) ? m->cache[2] / 2 : m->cache[2];
	bool turned = turns(t->p);
	if (turned && turned_held() < held)
		held = turned_held();
	for (uint32_t i = 0; i < t->f->kernel->nsrc; i++) {
		const UOp *store = t->f->kernel->src[i];
		int size = dtype_size(store->src[0]->dtype);
		int64_t bytes;
		if ((turned && tile_size(t->p, t->v) * size < m->line) ||
			!mul_ok(count_of(t->f, t->f->out), size, &bytes) ||
			bytes < held || least_size(t->f, t->v) % tile_size(t->p, t->v))
			return false;
	}
	return !t->f->in_place;
}

/* Tiles are no gain when they multiply row buffers beyond the size of a stack. */
static const char *tile_within(Tiling *t)
{
	Plan without = *t->p;
	const char *heavy = tile_heavy(t);
	if (heavy && plan_bytes(t->p, t->f) > 2 * target->local) {
		*t->p = without;
		heavy = NULL;
	}
	if (!heavy)
		tile_elements(t);
	if (!heavy && plan_bytes(t->p, t->f) > 2 * target->local) {
		*t->p = without;
		choose_items(t, t->p->norder);
	}
	t->p->nontemporal = !heavy && t->p->tile[t->v].vector > 1 && streams(t);
	t->p->prefetch_stores = wants_prefetch_stores(t->p, t->f);
	t->p->prefetch_stores &= prefetch_stores_fits(t->p, t->f);
	if (!t->p->prefetch_loads)
		t->p->prefetch_loads = heavy ? block_panels(t) :
					       wants_prefetch_loads(t->p, t->f, t->v);
	t->p->prefetch_stores |= !heavy && wants_prefetch_rows(t->p, t->f, t->v);
	return heavy ? heavy : arena_printf("%lld places that are neighbours along r%d, %d to a "
		"vector", (long long)count_of(t->f, t->f->out), axis_of(t->f, t->v), t->lanes);
}

/* The loops in front stay as they are, and all but that of turns form the grid's items. Stores to
 * an item's own buffers do not go past the caches. */
static void keep_slices(Plan *p, const Facts *f, const int *front, int n, int items)
{
	order_in_front(p, front, n);
	memset(p->chunk, 0, sizeof p->chunk);
	p->grid = items;
	p->nontemporal = false;
	if (!prefetch_loads_fits(p, f))
		p->prefetch_loads = 0;
}

/* Fewer vectors of parts where a body is too large for all of them. */
static void fit_parts(Plan *p, const Facts *f, int lanes)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		int before = p->partial;
		if (u->op != OP_RREDUCE)
			continue;
		while (p->partial > lanes && !parts_pay(p, u))
			p->partial /= 2;
		if (!parts_pay(p, u))
			p->partial = before;
	}
}

/* Without vectors each part of a sum is a register: they stay few where a tile has many sums. */
static void fewer_parts(Plan *p, const Facts *f)
{
	int sums = 1;
	for (int r = 0; r < f->nrange; r++)
		sums *= f->out >> r & 1 && p->tile[r].unroll ? p->tile[r].unroll : 1;
	while (p->partial > 1 && sums > 1 && sums * p->partial > 2 * target->registers)
		p->partial /= 2;
}

/* Vectors and tiles make a source that takes a compiler 20 ms more: a kernel that runs once, and
 * takes less than that without them, is better off without. */
static bool is_quick(const KernelUse *use, const Facts *f, const Folds *k)
{
	return use->once && !k->reduce.n && !k->scan.n &&
		count_of(f, f->out) <= PLAIN_MOST / use->calls / (int64_t)f->all.n;
}

static const char *choose(Plan *p, const KernelUse *use, const Facts *f, const Folds *k)
{
	Tiling t = {.p = p, .f = f, .k = k, .v = -1, .once = use->once};
	if (!target->vector)
		return "a target without vectors";
	if (f->sort && !f->in_place)
		choose_items(&t, p->norder);
	if (f->sort || f->serial & ~f->scanned || (f->serial && f->in_place))
		return f->sort ? "a sort" : "places that are written in order";
	if (is_quick(use, f, k)) {
		int64_t items = 1;
		int loops = 0;
		while (loops < p->norder && items < ITEMS)
			items *= most_size(f, p->order[loops++]);
		choose_items(&t, loops);
		return arena_printf("%lld places that are computed once",
			(long long)count_of(f, f->out));
	}
	t.lanes = kernel_lanes(f);
	if (f->serial) {
		tile_scan(&t);
		return arena_printf("a scan beside %lld others",
			(long long)count_of(f, f->out & ~f->serial));
	}
	t.heavy = find_heavy(f);
	if (t.heavy)
		contraction_of(&t.c, t.heavy);
	if (t.heavy)
		choose_partial(&t);
	t.v = find_vector(&t);
	if (t.v < 0) {
		choose_items(&t, p->norder);
		return "stores of which none are neighbours";
	}
	t.v = find_wider(&t);
	int64_t most = most_size(f, t.v);
	Plan before = *p;
	if (t.heavy && tile_short_rows(&t)) {
		if (plan_bytes(p, f) <= 2 * target->local)
			return arena_printf("rows of %lld, at most half a vector: %d rows at once",
				(long long)most, t.lanes);
		*p = before;
	}
	if (most < t.lanes)
		t.lanes = power_below(most);
	const char *rule = tile_within(&t);
	if (kernel_lanes(f) == 1)
		fewer_parts(p, f);
	return rule;
}

/* What the turns give is folded with the loop of turns outside: of each place of a slice in turn,
 * in vectors. */
static const char *fold_turns(Plan *p, const Facts *f, const int *slices, int n, int turn)
{
	Tiling t = {.p = p, .f = f, .lanes = kernel_lanes(f)};
	p->nstage = p->partial = 0;
	p->folds[0] = turn;
	p->nfolds = 1;
	t.v = find_vector(&t);
	if (t.v >= 0 && target->vector && most_size(f, t.v) >= t.lanes) {
		order_last(p, t.v);
		tile(p, t.v, 1, t.lanes);
	}
	keep_slices(p, f, slices, n, n);
	return "a fold of what the turns of slices give";
}

const char *choose_tiles(Plan *p, const KernelUse *use, const Facts *f, const Folds *k)
{
	int front[MAX_SLICE_AXES + 1], items = slice_ranges(f, front), n = items;
	int turn = slice_turn(f);
	if (turn >= 0 && f->out >> turn & 1)
		front[n++] = turn;
	p->norder = order_without(p->order, p->norder, front, n);
	if (turn >= 0 && n == items)
		return fold_turns(p, f, front, n, turn);
	const char *rule = choose(p, use, f, k);
	if (kernel_lanes(f) > 1)
		fit_parts(p, f, kernel_lanes(f));
	if (n)
		keep_slices(p, f, front, n, items);
	return rule;
}
