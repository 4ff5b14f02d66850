/* Substitution: replaces some nodes of an expression and rebuilds the nodes above them.
 *
 *     x[r0*4 + r1], r1 → 2      →      x[r0*4 + 2]
 */
#include "index/index.h"
#include <stdlib.h>

static bool bounded(UOp *u)
{
	int64_t lo, hi;
	ix_bounds(u, &lo, &hi);
	return lo != INT64_MIN && hi != INT64_MAX;
}

/* Index arithmetic is rebuilt by the ix_ functions, which keep it in normal form. A program's own
 * i64 values have no known bounds and may wrap, which the algebra assumes is impossible, so they
 * are rebuilt unchanged. */
static UOp *rebuild(UOp *u, UOp *const *src)
{
	if (u->dtype == DT_I64 && u->shape && u->shape->rank == 0 && u->nsrc == 2 &&
	    bounded(src[0]) && bounded(src[1]))
		return ix_remake(u, src);
	return node_with(u, src);
}

/* The replacement of each node in the current walk, by id; an entry is valid if it has the walk's
 * number. */
typedef struct { UOp *to; uint32_t number; } Image;
static ARENA TABLE(Image) image;

static UOp *image_of(UOp *u)
{
	Image *i = &image.at[u->id];
	return i->number == image.round ? i->to : u;
}

/* The nodes are copied to an own array, because making a node may start another walk (of sizes). */
UOp *substitute(UOp *root, size_t n, UOp *const *from, UOp *const *to)
{
	static ARENA VEC(UOp *) all;
	static ARENA VEC(UOp *) src;
	size_t changes = 0;
	table_round(&image);
	for (size_t i = 0; i < n; i++) {
		image.at[from[i]->id] = (Image){to[i], image.round};
		changes += from[i] != to[i];
	}
	if (!changes)
		return root;
	Nodes found = walk_brief(root);
	all.n = 0;
	for (size_t i = 0; i < found.n; i++)
		vec_push(&all, found.at[i]);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (image.at[u->id].number == image.round)
			continue;
		bool changed = false;
		src.n = 0;
		for (uint32_t s = 0; s < u->nsrc; s++) {
			UOp *r = image_of(u->src[s]);
			changed |= r != u->src[s];
			vec_push(&src, r);
		}
		if (changed)
			image.at[u->id] = (Image){rebuild(u, src.at), image.round};
	}
	return image_of(root);
}

static UOp *plain(UOp *u, void *ctx)
{
	(void)ctx;
	if (u->op == OP_LET)
		return u->src[0];
	return u->nsrc && u->dtype == DT_I64 && op_info[u->op].index ? ix_remake(u, u->src) : u;
}

UOp *ix_plain(UOp *u)
{
	static ARENA Map known;
	UOp *r = map_get(&known, PKEY(u));
	if (!r) {
		r = walk_replace(u, plain, NULL);
		map_put(&known, PKEY(u), r);
	}
	return r;
}
