/* Neighbouring elements, computed side by side. Loops that were written out leave the values of one
 * element after those of another, and a processor sees only so far ahead: a long chain of
 * operations is hidden by others only if these come before it is done. So what the LETs of several
 * elements hold is computed first, by how many LETs it waits for, and stored after that:
 *
 *     LET a …; LET b of a; STORE y[0] of b; LET c …; LET d of c; STORE y[1] of d
 *     →  LET a …; LET c …; LET b of a; LET d of c; STORE y[0] of b; STORE y[1] of d
 *
 * as many of them as three quarters of the registers hold. What reads memory stays behind the
 * stores to it; LETs that only move elements, as in a sum of products, stay where they are. */
#include "lower/lower.h"
#include "target/target.h"
#include <stdlib.h>

enum { STORES = -1, PREFETCHES = -2 };  /* levels */

/* A statement of a group; level: of a LET or PREFETCH, how many LETs of the group it waits for */
typedef struct { UOp *u; int level; } Entry;
typedef struct {
	VEC(Entry) group;
	VEC(Entry) prefetches;  /* those of the group */
	size_t ops, put, next;  /* of the group: ops, those that were put, the next prefetch */
	Map level;              /* LET of the group → its level + 1 */
	Stored stored;          /* what the group stores to */
	VEC(UOp *) out;
	int values, computed, stores;   /* of the group: LETs with lanes; those with arithmetic */
	int deepest;
} Abreast;

void stored_add(Stored *s, const UOp *store)
{
	UOp *buffer = store->src[0]->src[0];
	map_put(&s->buffers, PKEY(buffer), buffer);
	s->param |= buffer->op == OP_PARAM;
}

bool stored_holds(const Stored *s, const UOp *buffer)
{
	return map_get(&s->buffers, PKEY(buffer)) ||
		(s->alias && s->param && buffer->op == OP_PARAM);
}

void stored_clear(Stored *s)
{
	map_free(&s->buffers);
	s->param = false;
}

/* What the value of a LET is computed from, up to other LETs. */
typedef struct { int level; bool computes, waits; } Reach;

static void reach_node(const Abreast *w, const UOp *u, Reach *r)
{
	int level = u->op == OP_LET ? (int)(intptr_t)map_get(&w->level, PKEY(u)) : 0;
	if (level > r->level)
		r->level = level;
	r->computes |= op_elementwise(u->op) && dtype_lanes(u->dtype) > 1;
	r->waits |= u->op == OP_LOAD && stored_holds(&w->stored, u->src[0]->src[0]);
}

static Reach reach_of(const Abreast *w, const UOp *let)
{
	static ARENA VEC(const UOp *) todo;
	static ARENA TABLE(uint32_t) seen;
	Reach r = {0};
	table_round(&seen);
	vec_push(&todo, let->src[0]);
	while (todo.n) {
		const UOp *u = todo.at[--todo.n];
		if (seen.at[u->id] == seen.round)
			continue;
		seen.at[u->id] = seen.round;
		reach_node(w, u, &r);
		for (uint32_t i = 0; i < u->nsrc && u->op != OP_LET; i++)
			vec_push(&todo, u->src[i]);
	}
	return r;
}

/* ---- groups */

/* Is the next prefetch due, and does it wait for no LET of this level or a later one? */
static bool prefetch_due(const Abreast *w, int level)
{
	return w->next < w->prefetches.n && w->next * w->ops < w->put * w->prefetches.n &&
		(level == STORES || w->prefetches.at[w->next].level <= level);
}

/* Puts the statements of a level, each followed by its share of the prefetches: a core has few
 * requests to memory in flight, and waits where many are made at once. */
static void put_level(Abreast *w, int level)
{
	for (size_t i = 0; i < w->group.n; i++) {
		if (w->group.at[i].level != level)
			continue;
		vec_push(&w->out, w->group.at[i].u);
		w->put += w->prefetches.n ? (size_t)statement_ops(w->group.at[i].u) : 0;
		while (prefetch_due(w, level))
			vec_push(&w->out, w->prefetches.at[w->next++].u);
	}
}

static void close_group(Abreast *w)
{
	bool side_by_side = w->stores > 1 && w->computed >= w->stores;
	for (size_t i = 0; side_by_side && w->prefetches.n && i < w->group.n; i++)
		w->ops += w->group.at[i].level == PREFETCHES ? 0 :
			(size_t)statement_ops(w->group.at[i].u);
	for (int level = 0; side_by_side && level <= w->deepest; level++)
		put_level(w, level);
	if (side_by_side)
		put_level(w, STORES);
	for (size_t i = 0; !side_by_side && i < w->group.n; i++)
		vec_push(&w->out, w->group.at[i].u);
	map_free(&w->level);
	stored_clear(&w->stored);
	w->group.n = w->prefetches.n = w->ops = w->put = w->next = 0;
	w->values = w->computed = w->stores = w->deepest = 0;
}

static void add(Abreast *w, UOp *u, int level) { vec_push(&w->group, ((Entry){u, level})); }

static void add_store(Abreast *w, UOp *store)
{
	add(w, store, STORES);
	stored_add(&w->stored, store);
	w->stores++;
}

static void add_let(Abreast *w, UOp *let)
{
	bool value = dtype_lanes(let->dtype) > 1;
	Reach r = reach_of(w, let);
	if (r.waits || (w->stores && w->values + value > target->registers * 3 / 4)) {
		close_group(w);
		r = reach_of(w, let);
	}
	add(w, let, r.level);
	map_put(&w->level, PKEY(let), (void *)(intptr_t)(r.level + 1));
	w->values += value;
	w->computed += value && r.computes;
	w->deepest = r.level > w->deepest ? r.level : w->deepest;
}

static bool has_values(const UOp *kernel)
{
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		if (kernel->src[i]->op == OP_LET && dtype_lanes(kernel->src[i]->dtype) > 1)
			return true;
	return false;
}

static UOp *kernel_abreast(const KernelUse *use)
{
	UOp *r = use->kernel;
	Abreast w = {.stored.alias = use->alias};
	if (!has_values(r))
		return r;
	for (uint32_t i = 0; i < r->nsrc; i++) {
		UOp *u = r->src[i];
		if (u->op == OP_LET) {
			add_let(&w, u);
		} else if (u->op == OP_STORE) {
			add_store(&w, u);
		} else if (u->op == OP_PREFETCH) {
			add(&w, u, PREFETCHES);
			vec_push(&w.prefetches, ((Entry){u, reach_of(&w, u).level}));
		} else {
			close_group(&w);
			vec_push(&w.out, u);
		}
	}
	close_group(&w);
	r = node_like(r, w.out.n, w.out.at, r->arg);
	vec_free(&w.group);
	vec_free(&w.prefetches);
	vec_free(&w.out);
	return r;
}

Graph *lower_abreast(Graph *g) { return target->vectors ? kernels_map(g, kernel_abreast) : g; }
