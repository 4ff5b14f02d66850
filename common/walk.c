/* The one walker.  Ids grow from sources to users, so sources-first order is order of ids: a reachable set
 * found with an explicit stack, then sorted where it must be. No recursion, linear in nodes. */
#include "uop.h"
#include <stdlib.h>

/* Marks by node id; a walk has a number of its own, so nothing is cleared between walks. */
static uint32_t *mark, walk_number;
static size_t capmark;

static void marks_fit(void)
{
	size_t n = node_limit();
	if (n > capmark) {
		size_t cap = n + n / 2 + 1024;
		mark = xrealloc(mark, cap * sizeof *mark);
		memset(mark + capmark, 0, (cap - capmark) * sizeof *mark);
		capmark = cap;
	}
	if (++walk_number == 0) {
		memset(mark, 0, capmark * sizeof *mark);
		walk_number = 1;
	}
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = (*(UOp *const *)a)->id, y = (*(UOp *const *)b)->id;
	return x < y ? -1 : x > y;
}

/* Orders by id: counting over the span of ids when it is dense, else a sort. */
static void order(UOp **at, size_t n, uint32_t lo, uint32_t hi)
{
	size_t span = (size_t)hi - lo + 1;
	if (n < 2)
		return;
	if (span > 8 * n) {
		qsort(at, n, sizeof *at, by_id);
		return;
	}
	UOp **slot = xcalloc(span, sizeof *slot);
	for (size_t i = 0; i < n; i++)
		slot[at[i]->id - lo] = at[i];
	for (size_t i = 0, k = 0; i < span; i++)
		if (slot[i])
			at[k++] = slot[i];
	free(slot);
}

Nodes walk_many(size_t nroots, UOp *const *roots)
{
	VEC(UOp *) found = {0};
	uint32_t lo = UINT32_MAX, hi = 0;
	marks_fit();
	for (size_t i = 0; i < nroots; i++) {
		if (mark[roots[i]->id] != walk_number) {
			mark[roots[i]->id] = walk_number;
			vec_push(&found, roots[i]);
		}
	}
	/* found is both the result and the queue */
	for (size_t i = 0; i < found.n; i++) {
		UOp *u = found.at[i];
		lo = u->id < lo ? u->id : lo;
		hi = u->id > hi ? u->id : hi;
		for (uint32_t s = 0; s < u->nsrc; s++) {
			if (mark[u->src[s]->id] != walk_number) {
				mark[u->src[s]->id] = walk_number;
				vec_push(&found, u->src[s]);
			}
		}
	}
	order(found.at, found.n, lo, hi);
	Nodes r = {arena_alloc(found.n * sizeof *r.at), found.n};
	if (found.n)
		memcpy(r.at, found.at, found.n * sizeof *r.at);
	vec_free(&found);
	return r;
}

Nodes walk(UOp *root) { return walk_many(1, &root); }

/* The position of a node in an ordered list. */
static size_t place_of(const Nodes *all, const UOp *u)
{
	size_t lo = 0, hi = all->n;
	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;
		if (all->at[mid]->id <= u->id)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Side tables by id where ids are dense, by position where a small graph sits in a large arena. */
typedef struct { Nodes all; UOp **to; uint32_t lo; bool dense; } Table;

static UOp **table_at(const Table *t, const UOp *u)
{
	return &t->to[t->dense ? u->id - t->lo : place_of(&t->all, u)];
}

UOp *walk_replace(UOp *root, UOp *(*fn)(UOp *u, void *ctx), void *ctx)
{
	Table t = {.all = walk(root)};
	t.lo = t.all.at[0]->id;
	size_t span = (size_t)root->id - t.lo + 1;
	t.dense = span <= 16 * t.all.n;
	t.to = xcalloc(t.dense ? span : t.all.n, sizeof *t.to);
	VEC(UOp *) src = {0};
	for (size_t i = 0; i < t.all.n; i++) {
		UOp *u = t.all.at[i];
		src.n = 0;
		for (uint32_t s = 0; s < u->nsrc; s++)
			vec_push(&src, *table_at(&t, u->src[s]));
		*table_at(&t, u) = fn(u->nsrc ? node_with(u, src.at) : u, ctx);
	}
	UOp *r = *table_at(&t, root);
	vec_free(&src);
	free(t.to);
	return r;
}

/* ---- substitution */

typedef struct { size_t n; UOp *const *from, *const *to; } Subst;

static bool bounded(UOp *u)
{
	int64_t lo, hi;
	ix_bounds(u, &lo, &hi);
	return lo != INT64_MIN && hi != INT64_MAX;
}

/* Index arithmetic goes through ix_, which keeps it normal.  A user's own i64 values have no known bounds and may
 * wrap, which the algebra takes for impossible: they are left alone. */
static UOp *rebuild(UOp *u, UOp *const *src)
{
	if (u->dtype == DT_I64 && u->shape && u->shape->rank == 0 && u->nsrc == 2 &&
	    bounded(src[0]) && bounded(src[1])) {
		switch (u->op) {
		case OP_ADD: return ix_add(src[0], src[1]);
		case OP_SUB: return ix_sub(src[0], src[1]);
		case OP_MUL: return ix_mul(src[0], src[1]);
		case OP_FLOORDIV: return ix_div(src[0], src[1]);
		case OP_FLOORMOD: return ix_mod(src[0], src[1]);
		}
	}
	return node_with(u, src);
}

UOp *substitute(UOp *root, size_t n, UOp *const *from, UOp *const *to)
{
	Map map = {0};
	for (size_t i = 0; i < n; i++)
		map_put(&map, PKEY(from[i]), to[i]);
	Nodes all = walk(root);
	VEC(UOp *) src = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (map_get(&map, PKEY(u)))
			continue;
		bool changed = false;
		src.n = 0;
		for (uint32_t s = 0; s < u->nsrc; s++) {
			UOp *r = map_get(&map, PKEY(u->src[s]));
			changed |= r && r != u->src[s];
			vec_push(&src, r ? r : u->src[s]);
		}
		if (changed)
			map_put(&map, PKEY(u), rebuild(u, src.at));
	}
	UOp *r = map_get(&map, PKEY(root));
	vec_free(&src);
	map_free(&map);
	return r ? r : root;
}
