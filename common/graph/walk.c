/* The one walker: sources before users, with an explicit stack. No recursion, linear in nodes. */
#include "graph/graph.h"
#include <stdlib.h>

/* By node id: the number of the last walk that saw the node. */
static ARENA TABLE(uint32_t) mark;

void table_grow(void **at, size_t *cap, size_t size)
{
	size_t n = node_limit();
	if (n <= *cap)
		return;
	n += n + 1024;
	/* fresh memory is zero without being touched */
	void *was = *at;
	*at = owned_zeros(at, n * size);
	if (was)
		memcpy(*at, was, *cap * size);
	owned_free(at, was);
	*cap = n;
}

uint32_t table_next(void *at, size_t bytes, uint32_t round)
{
	if (round != UINT32_MAX)
		return round + 1;
	memset(at, 0, bytes);
	return 1;
}

/* Sorts nodes by id if ids are dense, so that a document keeps the order in which it was read. */
static void order_by_id(UOp **at, size_t n)
{
	static ARENA struct { UOp **at; size_t cap; } slot;
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
	if (span > slot.cap) {
		arena_release(slot.at);
		slot.at = arena_block(span * sizeof *slot.at);
		slot.cap = span;
	}
	for (size_t i = 0; i < n; i++)
		slot.at[at[i]->id - lo] = at[i];
	for (size_t i = 0, k = 0; i < span; i++)
		if (slot.at[i]) {
			at[k++] = slot.at[i];
			slot.at[i] = NULL;
		}
}

typedef struct { UOp *u; uint32_t next; } Frame;
static ARENA VEC(Frame) stack;
static ARENA VEC(UOp *) found;

/* The BINDs of the root, by the name's Val; a node also comes after those whose names it mentions.
 * late: some BIND was made after a node that mentions it, so ids do not tell the order. */
static ARENA struct { Map binds; NodeList of; bool late; } sizes;

static void push(UOp *u)
{
	if (mark.at[u->id] != mark.round) {
		mark.at[u->id] = mark.round;
		vec_push(&stack, ((Frame){u, 0}));
	}
}

/* The k-th BIND that u mentions; false if there are not so many. */
static bool push_mentioned(const UOp *u, uint32_t k)
{
	mentions_of(u, &sizes.binds, &sizes.of);
	if (k >= sizes.of.n)
		return false;
	sizes.late |= sizes.of.at[k]->id > u->id;
	push(sizes.of.at[k]);
	return true;
}

/* Depth first; a node comes after its sources. */
static void visit(UOp *root)
{
	push(root);
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		UOp *u = f->u;
		uint32_t next = f->next++;
		if (next < u->nsrc) {
			push(u->src[next]);
		} else if (!sizes.binds.n || !push_mentioned(u, next - u->nsrc)) {
			vec_push(&found, u);
			stack.n--;
		}
	}
}

static void find(size_t nroots, UOp *const *roots, bool by_id)
{
	table_round(&mark);
	found.n = 0;
	sizes.late = false;
	binds_of(nroots, roots, &sizes.binds);
	for (size_t i = 0; i < nroots; i++)
		visit(roots[i]);
	if (by_id && !sizes.late)
		order_by_id(found.at, found.n);
	if (sizes.binds.n)
		map_free(&sizes.binds);
}

static Nodes nodes_found(void)
{
	Nodes r = {arena_alloc(found.n * sizeof *r.at), found.n};
	if (found.n)
		memcpy(r.at, found.at, found.n * sizeof *r.at);
	return r;
}

Nodes walk_many(size_t nroots, UOp *const *roots)
{
	find(nroots, roots, true);
	return nodes_found();
}

Nodes walk(UOp *root) { return walk_many(1, &root); }

Nodes walk_kept(UOp *root)
{
	static ARENA Map known;
	Nodes *all = map_get(&known, PKEY(root));
	if (!all) {
		all = arena_alloc(sizeof *all);
		*all = walk(root);
		map_put(&known, PKEY(root), all);
	}
	return *all;
}

Nodes walk_deep(UOp *root)
{
	find(1, &root, false);
	return nodes_found();
}

Nodes walk_brief(UOp *root)
{
	find(1, &root, true);
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

UOp *walk_remake(UOp *root, const Remaking *r, void *ctx)
{
	VEC(UOp *) stack = {0};
	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1], **src;
		size_t was = stack.n;
		if (r->known(ctx, u)) {
			stack.n--;
			continue;
		}
		src = arena_alloc((u->nsrc + 1) * sizeof *src);
		for (uint32_t i = 0; i < u->nsrc; i++)
			if (!(src[i] = r->known(ctx, u->src[i])))
				vec_push(&stack, u->src[i]);
		if (stack.n > was)
			continue;
		r->made(ctx, u, src);
		stack.n--;
	}
	vec_free(&stack);
	return r->known(ctx, root);
}
