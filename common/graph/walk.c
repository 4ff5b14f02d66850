/* The one walker: sources before users, by an explicit stack. No recursion, linear in nodes. */
#include "graph/graph.h"
#include <stdlib.h>

/* Marks by node id: the walk that a node was last seen in. */
static uint32_t *mark, walk_number;
static size_t capmark;

void *table_fit(void *table, size_t size, size_t *cap)
{
	size_t n = node_limit();
	if (n <= *cap)
		return table;
	n += n / 2 + 1024;
	table = xrealloc(table, n * size);
	memset((char *)table + *cap * size, 0, (n - *cap) * size);
	*cap = n;
	return table;
}

void *table_round(void *table, size_t size, size_t *cap, uint32_t *round)
{
	table = table_fit(table, size, cap);
	if (++*round == 0) {
		memset(table, 0, *cap * size);
		*round = 1;
	}
	return table;
}

/* Back to order of ids where they are dense: a document keeps the order in which it came. */
static void order_by_id(UOp **at, size_t n)
{
	static UOp **slot;
	static size_t cap;
	uint32_t lo = UINT32_MAX, hi = 0;
	bool sorted = true;
	for (size_t i = 0; i < n; i++) {
		sorted &= !i || at[i]->id > at[i - 1]->id;
		lo = at[i]->id < lo ? at[i]->id : lo;
		hi = at[i]->id > hi ? at[i]->id : hi;
	}
	size_t span = (size_t)hi - lo + 1;
	if (sorted || span > 8 * n)
		return;
	if (span > cap) {
		free(slot);
		slot = xcalloc(span, sizeof *slot);
		cap = span;
	}
	for (size_t i = 0; i < n; i++)
		slot[at[i]->id - lo] = at[i];
	for (size_t i = 0, k = 0; i < span; i++)
		if (slot[i]) {
			at[k++] = slot[i];
			slot[i] = NULL;
		}
}

typedef struct { UOp *u; uint32_t next; } Frame;
static VEC(Frame) stack;
static VEC(UOp *) found;

/* Depth first, a node after its sources. */
static void visit(UOp *root)
{
	if (mark[root->id] == walk_number)
		return;
	mark[root->id] = walk_number;
	vec_push(&stack, ((Frame){root, 0}));
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		if (f->next == f->u->nsrc) {
			vec_push(&found, f->u);
			stack.n--;
			continue;
		}
		UOp *s = f->u->src[f->next++];
		if (mark[s->id] != walk_number) {
			mark[s->id] = walk_number;
			vec_push(&stack, ((Frame){s, 0}));
		}
	}
}

static void find(size_t nroots, UOp *const *roots)
{
	TABLE_ROUND(mark, capmark, walk_number);
	found.n = 0;
	for (size_t i = 0; i < nroots; i++)
		visit(roots[i]);
	order_by_id(found.at, found.n);
}

Nodes walk_many(size_t nroots, UOp *const *roots)
{
	find(nroots, roots);
	Nodes r = {arena_alloc(found.n * sizeof *r.at), found.n};
	if (found.n)
		memcpy(r.at, found.at, found.n * sizeof *r.at);
	return r;
}

Nodes walk(UOp *root) { return walk_many(1, &root); }

Nodes walk_brief(UOp *root)
{
	find(1, &root);
	return (Nodes){found.at, found.n};
}

UOp *walk_replace(UOp *root, UOp *(*fn)(UOp *u, void *ctx), void *ctx)
{
	Map to = {0};
	Nodes all = walk(root);
	VEC(UOp *) src = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool changed = false;
		src.n = 0;
		for (uint32_t s = 0; to.n && s < u->nsrc; s++) {
			UOp *v = map_get(&to, PKEY(u->src[s]));
			changed |= v != NULL;
			vec_push(&src, v ? v : u->src[s]);
		}
		UOp *v = fn(changed ? node_with(u, src.at) : u, ctx);
		if (v != u)
			map_put(&to, PKEY(u), v);
	}
	UOp *r = map_get(&to, PKEY(root));
	vec_free(&src);
	map_free(&to);
	return r ? r : root;
}
