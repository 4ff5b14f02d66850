/* Bound ranges numbered from the inside.
 *
 *     RREDUCE(RREDUCE(x[r0, r7, r9], r9), r7)   →   RREDUCE(RREDUCE(x[r0, r17, r16], r16), r17)
 *
 * Equal reductions are then one node wherever they occur. Axis numbers have three regions: BOUND…
 * for that form, MOVED… for a value on its way into another kernel, and FRESH… while numbering, so
 * that a range that is still free is never mistaken for one just numbered. */
#include "index/index.h"
#include "fuse.h"
#include <stdlib.h>

enum { DEPTH = 16, MOVED = BOUND + DEPTH, FRESH = MOVED + DEPTH };


static UOp *range_new(int axis, UOp *like, const char *kind)
{
	return ix_range(axis, kind, like->src[0]);
}

/* Highest bound axis in use under each node, while one kernel is numbered. */
typedef struct { Map to; Map top; bool failed; } Numbering;

static intptr_t top_of(Numbering *n, UOp *u) { return (intptr_t)map_get(&n->top, PKEY(u)); }

static UOp *number_fold(Numbering *n, UOp *fold, UOp *const *src)
{
	intptr_t level = top_of(n, fold->src[0]);
	UOp *now[64];
	for (uint32_t i = 1; i < fold->nsrc; i++) {
		if (level + i > DEPTH) {
			n->failed = true;
			return fold;
		}
		now[i] = range_new(FRESH + (int)level + i - 1, fold->src[i], "reduce");
	}
	now[0] = substitute(src[0], fold->nsrc - 1, fold->src + 1, now + 1);
	return node_with(fold, now);
}

/* Numbers most kernels in one pass: each bound range gets one axis, wherever it occurs. False when
 * some range is bound at two depths. level[] is a side table by id: for a node the bound axes in
 * use under it, for a bound range its own axis, counted from 1. */
static bool number_at_once(UOp *kernel, UOp **out)
{
	static ARENA TABLE(uint8_t) level;
	Nodes all = walk(kernel);
	table_fit(&level);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		uint8_t *own = &level.at[u->id];
		*own = 0;
		for (uint32_t s = 0; u->op != OP_RANGE && s < u->nsrc; s++)
			if (u->src[s]->op != OP_RANGE && level.at[u->src[s]->id] > *own)
				*own = level.at[u->src[s]->id];
		if (u->op != OP_RREDUCE)
			continue;
		for (uint32_t s = 1; s < u->nsrc; s++) {
			uint8_t *axis = &level.at[u->src[s]->id];
			++*own;
			if (*own > DEPTH || (*axis && *axis != *own))
				return false;
			*axis = *own;
		}
	}
	NodeList from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && level.at[all.at[i]->id]) {
			vec_push(&from, all.at[i]);
			int axis = BOUND + level.at[all.at[i]->id] - 1;
			vec_push(&to, range_new(axis, all.at[i], "reduce"));
		}
	*out = substitute(kernel, from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return true;
}

UOp *number_bound(UOp *kernel)
{
	UOp *done;
	if (number_at_once(kernel, &done))
		return done;
	Numbering n = {0};
	Nodes all = walk(kernel);
	NodeList src = {0};
	for (size_t i = 0; i < all.n && !n.failed; i++) {
		UOp *u = all.at[i];
		intptr_t top = 0;
		bool changed = false;
		src.n = 0;
		for (uint32_t s = 0; s < u->nsrc; s++) {
			UOp *r = map_get(&n.to, PKEY(u->src[s]));
			intptr_t t = top_of(&n, u->src[s]);
			top = t > top ? t : top;
			changed |= r != NULL;
			vec_push(&src, r ? r : u->src[s]);
		}
		UOp *v = u;
		if (u->op == OP_RREDUCE) {
			v = number_fold(&n, u, src.at);
			top += u->nsrc - 1;
		} else if (changed) {
			v = node_with(u, src.at);
		}
		if (v != u)
			map_put(&n.to, PKEY(u), v);
		if (top)
			map_put(&n.top, PKEY(u), (void *)top);
	}
	UOp *r = map_get(&n.to, PKEY(kernel));
	r = n.failed ? NULL : r ? shift_bound(r, BOUND - FRESH) : kernel;
	map_free(&n.to);
	map_free(&n.top);
	vec_free(&src);
	return r;
}

/* Every range of an axis from BOUND on is bound, so moving them all at once captures nothing. */
UOp *shift_bound(UOp *value, int shift)
{
	Nodes all = walk(value);
	NodeList from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_RANGE || range_axis(u) < BOUND)
			continue;
		vec_push(&from, u);
		vec_push(&to, range_new(range_axis(u) + shift, u, range_kind(u)));
	}
	UOp *r = from.n ? substitute(value, from.n, from.at, to.at) : value;
	vec_free(&from);
	vec_free(&to);
	return r;
}
