/* Loops that together walk contiguous memory become one:
 *
 *     y[a*70+b] = x[a*70+b] + 1      a<100, b<70   →   y[c] = x[c] + 1      c<7000
 *
 * Two ranges of one kind are merged when in every place that holds them the outer one's factor is
 * the inner one's times its size, and no value, gate or quotient needs them separately. */
#include "lower/lower.h"
#include "index/ix.h"
#include <stdlib.h>

typedef struct {
	const Facts *f;
	uint64_t apart;         /* ranges used elsewhere than as a term of a place */
	VEC(Sum *) places;
	uint64_t *role;         /* by range: the reductions that bind it; 0: none */
} Merging;

/* ---- what the ranges are used for */

static void merge_at_place(Merging *k, UOp *at)
{
	Sum *s = arena_alloc(sizeof *s);
	sum_of(s, at);
	for (int i = 0; i < s->n; i++)
		if (s->t[i].m->op != OP_RANGE)
			k->apart |= free_of_made(s->t[i].m);
	vec_push(&k->places, s);
}

/* Visits every node except the ranges an RREDUCE binds and the nodes inside a place. */
static void merge_at_values(Merging *k)
{
	Map seen = {0};
	VEC(UOp *) todo = {0};
	vec_push(&todo, k->f->kernel);
	while (todo.n) {
		UOp *u = todo.at[--todo.n];
		if (map_get(&seen, PKEY(u)))
			continue;
		map_put(&seen, PKEY(u), u);
		if (u->op == OP_RANGE)
			k->apart |= bit_of(u);
		if (u->op == OP_INDEX) {
			merge_at_place(k, u->src[1]);
			continue;
		}
		bool binds = u->op == OP_RREDUCE;
		for (uint32_t i = 0; i < (binds ? 1 : u->nsrc); i++)
			vec_push(&todo, u->src[i]);
	}
	vec_free(&todo);
	map_free(&seen);
}

static void find_roles(Merging *k)
{
	k->role = arena_alloc(MAX_RANGES * sizeof *k->role);
	for (size_t i = 0; i < k->f->all.n; i++) {
		UOp *u = k->f->all.at[i];
		if (u->op == OP_RREDUCE)
			for (uint32_t s = 1; s < u->nsrc; s++) {
				uint64_t *role = &k->role[__builtin_ctzll(bit_of(u->src[s]))];
				*role = hash_mix(*role + 1, u->id);
			}
		if (u->op == OP_RSCAN || u->op == OP_RSORT)
			k->apart = ~0ull;
	}
	k->apart |= k->f->serial;
}

/* ---- pairs */

static bool follows(const Merging *k, UOp *outer, UOp *inner)
{
	int64_t n, step;
	if (!ix_is_const(inner->src[0], &n))
		return false;
	for (size_t i = 0; i < k->places.n; i++) {
		const Sum *s = k->places.at[i];
		if (!mul_ok(sum_coef(s, inner), n, &step) || sum_coef(s, outer) != step)
			return false;
	}
	return true;
}

static bool mergeable(const Merging *k, int a, int b)
{
	const Facts *f = k->f;
	if (a == b || k->apart >> a & 1 || k->apart >> b & 1 || k->role[a] != k->role[b] ||
		(f->out >> a & 1) != (f->out >> b & 1))
		return false;
	return follows(k, f->range[a], f->range[b]);
}

/* Removes one range from those a reduction binds. */
static UOp *drop_bound(UOp *u, void *range)
{
	UOp *src[MAX_RANGES + 1];
	uint32_t n = 0;
	if (u->op != OP_RREDUCE)
		return u;
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (!i || u->src[i] != range)
			src[n++] = u->src[i];
	return n == u->nsrc ? u : node_new(OP_RREDUCE, u->dtype, n, src, u->arg);
}

/* a*size + b as one range in b's place: a is 0, b the new one. */
static UOp *merge(UOp *kernel, UOp *a, UOp *b)
{
	UOp *c = ix_range(range_axis(b), range_kind(b), ix_mul(a->src[0], b->src[0]));
	UOp *from[] = {a, b}, *to[] = {ix_const(0), c};
	return substitute(walk_replace(kernel, drop_bound, a), 2, from, to);
}

static UOp *merge_one(UOp *kernel, bool alias)
{
	Facts f;
	facts_find(&f, kernel, alias);
	Merging k = {.f = &f};
	merge_at_values(&k);
	find_roles(&k);
	UOp *r = kernel;
	int slices[MAX_SLICE_AXES], n = slice_ranges(&f, slices);
	for (int i = 0; i < n; i++)
		k.apart |= 1ull << slices[i];
	if (slice_turn(&f) >= 0)
		k.apart |= 1ull << slice_turn(&f);
	for (int a = 0; a < f.nrange && r == kernel; a++)
		for (int b = 0; b < f.nrange && r == kernel; b++)
			if (mergeable(&k, a, b))
				r = merge(kernel, f.range[a], f.range[b]);
	vec_free(&k.places);
	return r;
}

static UOp *kernel_collapse(const KernelUse *use)
{
	UOp *k = use->kernel, *was;
	if (val_get(k->arg, "actions"))
		return k;
	do {
		was = k;
		k = merge_one(k, use->alias);
	} while (k != was);
	return k;
}

Graph *lower_collapse(Graph *g) { return kernels_map(g, kernel_collapse); }
