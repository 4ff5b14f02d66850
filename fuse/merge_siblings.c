/* Kernels over the same ranges with shared inputs become one with several outputs.
 *
 *     s[i] = Σj x[i,j]          →    one kernel that reads x once and stores s and m
 *     m[i] = max_j x[i,j]
 *
 * The later one also joins the one whose output it reads, when it reads it at the very place where that is written
 * (a value that must be stored anyway, an output, is then not loaded again). It moves up to the earlier one's place,
 * so nothing that it reads may be written in between, nor what it writes be touched. Contractions stay alone: their
 * loops are made for one result. */
#include "fuse.h"
#include <stdlib.h>

enum { STORES = 8 };

typedef struct Turn Turn;
struct Turn { int step; Turn *next; };
typedef struct { Turn *writers, *readers; } Use;        /* of a buffer, in no order */
typedef struct { UOp **kernel; bool *plain; uint64_t *loops; size_t *nodes; int n; Map use, latest; } Sib;

static Use *use_of(Sib *s, UOp *buffer)
{
	Use *u = map_get(&s->use, PKEY(buffer));
	if (!u) {
		u = arena_alloc(sizeof *u);
		map_put(&s->use, PKEY(buffer), u);
	}
	return u;
}

static void turn_add(Turn **list, int step)
{
	Turn *t = arena_alloc(sizeof *t);
	*t = (Turn){step, *list};
	*list = t;
}

static bool may_join(UOp *k, const Look *l)
{
	if (k->nsrc > STORES || l->sort || l->scan)
		return false;
	for (uint32_t i = 0; i < k->nsrc; i++)
		if (!store_is_plain(k->src[i]))
			return false;
	return !l->folds || !has_contraction(k);
}

static uint64_t loops_hash(UOp *k)
{
	Loops l = kernel_loops(k);
	uint64_t h = l.n;
	for (int i = 0; i < l.n; i++)
		h = hash_mix(h, l.at[i]->id);
	return h;
}

static void read_kernel(Sib *s, int k)
{
	UOp *u = s->kernel[k];
	if (u->op != OP_KERNEL) {
		uint32_t n;
		UOp *const *reads = step_reads(u, &n);
		turn_add(&use_of(s, step_written(u))->writers, k);
		for (uint32_t i = 0; i < n; i++)
			turn_add(&use_of(s, reads[i])->readers, k);
		return;
	}
	Look l = kernel_look(u);
	s->nodes[k] = l.nodes;
	for (uint32_t i = 0; i < u->nsrc; i++)
		turn_add(&use_of(s, store_buffer(u->src[i]))->writers, k);
	for (size_t i = 0; i < l.loads.n; i++)
		turn_add(&use_of(s, l.loads.at[i]->src[0]->src[0])->readers, k);
	s->plain[k] = may_join(u, &l);
	s->loops[k] = loops_hash(u);
}

static bool any_between(const Turn *t, int a, int b)
{
	for (; t; t = t->next)
		if (t->step > a && t->step < b)
			return true;
	return false;
}

static bool writes(UOp *k, UOp *buffer)
{
	for (uint32_t i = 0; i < k->nsrc; i++)
		if (store_buffer(k->src[i]) == buffer)
			return true;
	return false;
}

/* Kernel b may run where a does. */
static bool may_move(Sib *s, int a, int b)
{
	Nodes loads = kernel_loads(s->kernel[b]), others = kernel_loads(s->kernel[a]);
	for (size_t i = 0; i < loads.n; i++)
		if (any_between(use_of(s, loads.at[i]->src[0]->src[0])->writers, a, b))
			return false;
	for (uint32_t i = 0; i < s->kernel[b]->nsrc; i++) {
		UOp *to = store_buffer(s->kernel[b]->src[i]);
		if (writes(s->kernel[a], to) || any_between(use_of(s, to)->readers, a, b) ||
		    any_between(use_of(s, to)->writers, a, b))
			return false;
		for (size_t l = 0; l < others.n; l++)
			if (others.at[l]->src[0]->src[0] == to)
				return false;
	}
	return true;
}

/* b with its loads of what a writes replaced by the values; NULL when it loads them elsewhere than at their place */
static UOp *use_values(UOp *a, UOp *b)
{
	for (uint32_t i = 0; i < a->nsrc; i++) {
		UOp *load = NODE(OP_LOAD, a->src[i]->src[0]->dtype, VNIL, a->src[i]->src[0]);
		b = substitute(b, 1, &load, &a->src[i]->src[1]);
	}
	Nodes loads = kernel_loads(b);
	for (size_t i = 0; i < loads.n; i++)
		if (writes(a, loads.at[i]->src[0]->src[0]))
			return NULL;
	return has_op(b, OP_RREDUCE) ? number_bound(b) : b;
}

static UOp *join(UOp *a, UOp *b)
{
	UOp *src[2 * STORES];
	b = use_values(a, b);
	if (!b)
		return NULL;
	memcpy(src, a->src, a->nsrc * sizeof *src);
	memcpy(src + a->nsrc, b->src, b->nsrc * sizeof *src);
	UOp *k = node_new(OP_KERNEL, DT_NONE, a->nsrc + b->nsrc, src, a->arg);
	node_note(k, a->note);
	return k;
}

static bool try_join(Sib *s, int a, int b)
{
	UOp *x = s->kernel[a], *y = s->kernel[b];
	if (!x || a == b || is_prepared(x) != is_prepared(y) || x->nsrc + y->nsrc > STORES ||
	    s->nodes[a] + s->nodes[b] > KERNEL_NODES || !may_move(s, a, b))
		return false;
	UOp *k = join(x, y);
	explain("%s beside %s: %s", kernel_label(y), kernel_label(x), k ? "one kernel" : "apart, it is read elsewhere");
	if (!k)
		return false;
	s->kernel[a] = k;
	s->nodes[a] += s->nodes[b];
	s->kernel[b] = NULL;
	for (uint32_t i = 0; i < y->nsrc; i++)
		turn_add(&use_of(s, store_buffer(y->src[i]))->writers, a);
	Nodes loads = kernel_loads(y);
	for (size_t i = 0; i < loads.n; i++)
		turn_add(&use_of(s, loads.at[i]->src[0]->src[0])->readers, a);
	return true;
}

/* Where a kernel over these loops that touches this buffer was last seen: index + 1 */
static uint64_t spot(Sib *s, int k, UOp *buffer) { return hash_mix(s->loops[k], PKEY(buffer)); }

static void remember(Sib *s, int k, UOp *kernel, int as)
{
	Nodes loads = kernel_loads(kernel);
	for (size_t i = 0; i < loads.n; i++)
		map_put(&s->latest, spot(s, k, loads.at[i]->src[0]->src[0]), (void *)(intptr_t)(as + 1));
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		map_put(&s->latest, spot(s, k, store_buffer(kernel->src[i])), (void *)(intptr_t)(as + 1));
}

static void visit(Sib *s, int k)
{
	UOp *kernel = s->kernel[k];
	Nodes loads = kernel_loads(kernel);
	for (size_t i = 0; i < loads.n; i++) {
		UOp *load = loads.at[i];
		/* a shared scalar is no reason to share loops */
		if (!range_mask(load))
			continue;
		int a = (int)(intptr_t)map_get(&s->latest, spot(s, k, load->src[0]->src[0])) - 1;
		if (a >= 0 && s->loops[a] == s->loops[k] && try_join(s, a, k)) {
			remember(s, k, kernel, a);
			return;
		}
	}
	remember(s, k, kernel, k);
}

Graph *merge_siblings(Graph *g)
{
	Sib s = {.n = g->sink->nsrc};
	VEC(UOp *) left = {0};
	s.kernel = xcalloc(s.n, sizeof *s.kernel);
	s.plain = xcalloc(s.n, sizeof *s.plain);
	s.loops = xcalloc(s.n, sizeof *s.loops);
	s.nodes = xcalloc(s.n, sizeof *s.nodes);
	for (int i = 0; i < s.n; i++) {
		s.kernel[i] = g->sink->src[i];
		read_kernel(&s, i);
	}
	for (int i = 0; i < s.n; i++)
		if (s.plain[i])
			visit(&s, i);
	for (int i = 0; i < s.n; i++)
		if (s.kernel[i])
			vec_push(&left, s.kernel[i]);
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->sink = node_new(OP_SINK, DT_NONE, left.n, left.at, g->sink->arg);
	map_free(&s.use);
	map_free(&s.latest);
	vec_free(&left);
	free(s.kernel);
	free(s.plain);
	free(s.loops);
	free(s.nodes);
	return r;
}
