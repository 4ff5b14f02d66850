/* Checks the rules for lists with steps, which segments.c and run then rely on: what steps write
 * may be written, regions nest, and what they hold is not more than what a reader can go through.
 *
 * Equal regions are one node, so few nodes can stand for a list of any length. */
#include "document/document.h"

enum { DEEPEST = 64, LONGEST = 1 << 20 };

typedef struct { size_t entries; int depth; } Extent;

static _Noreturn void bad(int status, size_t at, const UOp *u, const char *why)
{
	die(status, "node %zu %s: %s", at, op_name(u->op), why);
}

static bool is_own(const UOp *u) { return buffer_is(u, "temp") || buffer_is(u, "output"); }

static void check_buffers(size_t at, const UOp *u)
{
	const UOp *a = u->src[0], *b = u->nsrc > 1 ? u->src[1] : NULL;
	if (a->op != OP_BUFFER)
		bad(MALFORMED, at, u, "the source is not a buffer");
	if (u->op == OP_BIND)
		return;
	if (u->op == OP_LOOP)
		a = u->src[u->nsrc - 2];
	else if (a->shape->rank != b->shape->rank + (u->op == OP_APPEND))
		bad(MALFORMED, at, u, "the ranks of its buffers do not match");
	if (!is_own(a) || (u->op == OP_SWAP && !is_own(b)))
		bad(MALFORMED, at, u, "what it writes is neither a temporary nor an output");
	if (u->op == OP_SWAP && buffer_is(a, "output") != buffer_is(b, "output"))
		bad(MALFORMED, at, u, "it exchanges an output and a temporary");
}

/* How many entries a list has, with those of the regions in it, and how deep they nest. */
static Extent extent_of(const Map *regions, size_t at, const UOp *list)
{
	Extent e = {0, 1};
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		e.entries++;
		for (uint32_t k = 0; list_step(u) && k < u->nsrc; k++) {
			const Extent *in = map_get(regions, PKEY(u->src[k]));
			e.entries += in ? in->entries : 0;
			if (in && in->depth >= e.depth)
				e.depth = in->depth + 1;
		}
		if (e.entries > LONGEST)
			bad(UNSUPPORTED, at, list, "more than 1048576 entries");
		if (e.depth > DEEPEST)
			bad(UNSUPPORTED, at, list, "regions nest more than 64 deep");
	}
	return e;
}

void check_list(const Nodes *all)
{
	Map regions = {0}, names = {0};
	bool steps = false;
	for (size_t i = 0; i < all->n; i++) {
		const UOp *u = all->at[i];
		bool step = list_step(u);
		steps |= step;
		if (step && u->op != OP_IF)
			check_buffers(i, u);
		if (u->op != OP_REGION && u->op != OP_SINK)
			continue;
		Extent *e = arena_alloc(sizeof *e);
		*e = extent_of(&regions, i, u);
		map_put(&regions, PKEY(u), e);
	}
	for (size_t i = 0; steps && i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op != OP_BUFFER || !is_own(u))
			continue;
		if (map_get(&names, PKEY(val_get(u->arg, "name"))))
			bad(MALFORMED, i, u, "a temporary and an output have one name");
		map_put(&names, PKEY(val_get(u->arg, "name")), u);
	}
	map_free(&regions);
	map_free(&names);
}
