/* ["split", r, n]: r becomes two ranges, the outer with ceil(N/n) iterations, the inner with n.
 *
 *     y[r0] = Σ r1<N x[r0,r1]      →   Σ r1<N/n, r2<n of x[r0, r1*n + r2]
 *
 * Where n does not divide N, the iterations beyond N are
 *   guard     not executed: a STORE, and each LOAD whose place moves with r, get the gate
 *             r1*n + r2 < N; a reduction folds its identity there, since a gated LOAD's 0 would be
 *             wrong for MAX, for MUL and for most of what is computed from it; a sum of
 *             products of such LOADs needs none
 *   pad       executed as the last one is, since the index is MIN(r1*n + r2, N-1), and dropped: a
 *             STORE gets the gate, a reduction folds its identity, LOADs have none
 *   peel      a nest of loops of their own (pieces.c): nothing is rewritten here
 *   overlap   none: the last n begin at N - n. For output ranges whose stores may be repeated, and
 *             whose outer piece stands outside: it says which items write the same
 * A scan along r is then one of each part, behind a fold of the parts before (scans.c). */
#include "actions/scans.h"
#include <math.h>

enum { MOST_FACTORS = 8 };
typedef enum { GUARD, PAD, OVERLAP } Tail;
typedef struct {
	Facts f;
	const char *path;
	UOp *range, *outer, *inner, *gate, *place, *index;
	int64_t n;
	Tail tail;
	ScanParts scan;
} Split;

static void refuse(const Split *s, const char *why)
{
	die(MALFORMED, "node %u KERNEL: split %s: %s", s->f.kernel->id, s->path, why);
}

/* ---- what is to be split */

/* Two reductions may each have a range of the same axis number; a range of one iteration is 0
 * wherever it stood. */
static UOp *range_at(const Split *s, int axis)
{
	UOp *range = NULL;
	for (int r = 0; r < s->f.nrange; r++) {
		if (axis_of(&s->f, r) != axis)
			continue;
		if (range)
			refuse(s, "two ranges have that number: RREDUCE.0.1 names one of them");
		range = s->f.range[r];
	}
	if (!range)
		refuse(s, "it has one iteration");
	return range;
}

static bool divides(const Split *s)
{
	int64_t rest;
	return ix_is_const(ix_mod(s->range->src[0], ix_const(s->n)), &rest) && !rest;
}

static void check(const Split *s)
{
	uint64_t bit = bit_of(s->range);
	bool scanned = s->f.scanned & bit;
	const char *why = scanned ? scan_parts_misfit(&s->f) : NULL;
	if (why)
		refuse(s, why);
	if (last_axis(&s->f) + (scanned ? 3 : 1) >= MAX_RANGES)
		refuse(s, "its kernel has no number left for another range");
	if (val_get(s->f.kernel->arg, "slice"))
		refuse(s, "its kernel is part of slices");
	if (count_of(&s->f, bit) < s->n)
		refuse(s, "it has fewer iterations than one piece");
	if (s->f.sort)
		refuse(s, "its kernel sorts");
	if (s->tail == OVERLAP && s->f.out & s->f.reduced & bit)
		refuse(s, "a reduction runs over it too, which one named as RREDUCE.0.1 does not");
	if (s->tail == OVERLAP &&
		(!(s->f.out & bit) || s->f.reduced & bit || s->f.serial & bit || s->f.in_place))
		refuse(s, "what it writes may not be written twice");
	if ((s->tail == OVERLAP || scanned) && least_of(&s->f, bit) < s->n)
		refuse(s, "it may have fewer iterations than one piece");
}

static Tail tail_of(const Split *s, const Val *a)
{
	if (a->n < 4 || val_is_str(a->a[3], "guard"))
		return GUARD;
	if (val_is_str(a->a[3], "pad"))
		return PAD;
	if (!val_is_str(a->a[3], "overlap"))
		refuse(s, "its rest is 'guard', 'pad', 'overlap' or 'peel'");
	return OVERLAP;
}

/* ---- the rewrite */

/* Makes room for the inner range's number. */
static UOp *numbers_moved(const Split *s, int axis)
{
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	int n = 0;
	for (int r = 0; r < s->f.nrange; r++) {
		UOp *u = s->f.range[r];
		if (axis_of(&s->f, r) <= axis)
			continue;
		from[n] = u;
		to[n++] = ix_range(axis_of(&s->f, r) + 1, range_kind(u), u->src[0]);
	}
	return substitute(s->f.kernel, n, from, to);
}

static bool moves(const Split *s, UOp *u)
{
	return range_mask(u) >> range_axis(s->range) & 1;
}

static UOp *both(UOp *gate, UOp *with)
{
	return gate ? NODE(OP_AND, DT_BOOL, VNIL, gate, with) : with;
}

static bool is_finite(const UOp *u)
{
	double v = u->op != OP_CONST ? NAN : u->arg->kind == VAL_FLOAT ? u->arg->f : 0;
	return isfinite(v);
}

/* Is u 0 where the gate does not hold, since the loads that move with the range are? A factor that
 * does not move may be infinite. */
static bool vanishes(const Split *s, UOp *u, int depth)
{
	UOp *const *a = u->src;
	if (u->op == OP_LOAD)
		return moves(s, a[0]);
	if (depth > MOST_FACTORS || (u->op != OP_MUL && u->op != OP_CAST && u->op != OP_ADD))
		return false;
	bool first = vanishes(s, a[0], depth + 1);
	if (u->op == OP_CAST)
		return first;
	bool second = vanishes(s, a[1], depth + 1);
	bool any = u->op == OP_MUL && (!dtype_float(u->dtype) ? first || second :
		(first && is_finite(a[1])) || (second && is_finite(a[0])));
	return (first && second) || any;
}

/* What a reduction folds, or the identity of its fold beyond the gate; of each component. */
static UOp *gated_value(const Split *s, const UOp *fold)
{
	UOp *x = fold->src[0];
	if (!folds_tuple(fold))
		return NODE(OP_WHERE, x->dtype, VNIL, s->gate, x, fold_identity(fold));
	UOp **src = arena_alloc(x->nsrc * sizeof *src);
	memcpy(src, x->src, x->nsrc * sizeof *src);
	for (uint32_t i = 0; i < tuple_size(x); i++)
		src[i] = NODE(OP_WHERE, x->src[i]->dtype, VNIL, s->gate, x->src[i],
			tuple_identity(x, i));
	return node_with(x, src);
}

/* Is the iteration beyond the gate one of which a LOAD has no place, or one that is written to? */
static bool needs_gate(const Split *s, const UOp *u)
{
	bool load = u->op == OP_LOAD && (s->tail == GUARD || reads_written(&s->f, u));
	return (u->op == OP_STORE || load) && moves(s, u->src[0]);
}

/* Is a place read from memory, from one that moves with the range? */
static bool has_load(const Split *s, UOp *place)
{
	Nodes all = walk_brief(place);
	bool any = false;
	for (size_t i = 0; i < all.n && !any; i++)
		any = all.at[i]->op == OP_LOAD && moves(s, all.at[i]);
	return any;
}

/* The gate where it is needed. What has it needs no MIN in its place, unless that is read from
 * memory: items are then seen to write apart. */
static UOp *gated(UOp *u, void *ctx)
{
	const Split *s = ctx;
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	memcpy(src, u->src, u->nsrc * sizeof *src);
	uint32_t at = u->op == OP_LOAD ? 1 : 2;
	if (needs_gate(s, u)) {
		if (!has_load(s, src[0]))
			src[0] = substitute(src[0], 1, (UOp **)&s->range, (UOp **)&s->place);
		src[at] = both(u->nsrc > at ? u->src[at] : NULL, s->gate);
		return node_new(u->op, u->dtype, at + 1, src, u->arg);
	}
	for (uint32_t i = 1; u->op == OP_RREDUCE && i < u->nsrc; i++)
		if (u->src[i] == s->range &&
			!(s->tail == GUARD && val_is_str(u->arg, "ADD") &&
				vanishes(s, u->src[0], 0))) {
			src[0] = gated_value(s, u);
			return node_with(u, src);
		}
	return u;
}

/* A reduction over the range is one over both. */
static UOp *bound_twice(UOp *u, void *ctx)
{
	const Split *s = ctx;
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	uint32_t n = 0;
	if (u->op != OP_RREDUCE)
		return u;
	for (uint32_t i = 0; i < u->nsrc; i++) {
		bool is_range = i && u->src[i] == s->range;
		src[n++] = is_range ? s->outer : u->src[i];
		if (is_range)
			src[n++] = s->inner;
	}
	return n == u->nsrc ? u : node_new(OP_RREDUCE, u->dtype, n, src, u->arg);
}

/* What the range becomes: its index in terms of its pieces. */
static UOp *index_of(const Split *s)
{
	UOp *first = ix_mul(s->outer, ix_const(s->n)), *size = s->range->src[0];
	if (s->tail == OVERLAP && !divides(s))
		first = NODE(OP_MIN, DT_I64, VNIL, first, ix_sub(size, ix_const(s->n)));
	UOp *at = ix_add(first, s->inner);
	if (s->tail == PAD && !divides(s))
		at = NODE(OP_MIN, DT_I64, VNIL, at, ix_sub(size, ix_const(1)));
	return at;
}

static UOp *scan_twice(UOp *u, void *ctx)
{
	const Split *s = ctx;
	bool along = u->op == OP_RSCAN && u->src[1] == s->range;
	return along ? scan_in_parts(&s->scan, u, s->outer, s->inner) : u;
}

static UOp *in_two(Split *s, int inner)
{
	UOp *kernel = s->f.kernel, *size = s->range->src[0];
	const char *kind = range_kind(s->range);
	int axis = range_axis(s->range);
	UOp *count = ix_div(ix_add(size, ix_const(s->n - 1)), ix_const(s->n));
	s->outer = ix_range(axis, s->scan.n ? "loop" : kind, count);
	s->inner = ix_range(inner, kind, ix_const(s->n));
	if (s->scan.n)
		kernel = walk_replace(kernel, scan_twice, s);
	s->place = ix_add(ix_mul(s->outer, ix_const(s->n)), s->inner);
	if (s->tail != OVERLAP && !divides(s)) {
		s->gate = NODE(OP_CMPLT, DT_BOOL, VNIL, s->place, size);
		kernel = walk_replace(kernel, gated, s);
	}
	kernel = walk_replace(kernel, bound_twice, s);
	s->index = index_of(s);
	return substitute(kernel, 1, &s->range, &s->index);
}

void split_range(Rewriting *w, const Val *a)
{
	Split s = {0};
	int axis = rewriting_axis(w, a->a[1]);
	s.path = range_path(a->a[1]);
	facts_find(&s.f, w->kernel, w->alias);
	s.range = range_at(&s, axis);
	s.tail = tail_of(&s, a);
	if (a->a[2]->kind != VAL_INT || a->a[2]->i < 1 || a->a[2]->i > INT32_MAX)
		refuse(&s, "its pieces have 1 to 2147483647 iterations");
	s.n = a->a[2]->i;
	check(&s);
	int inner = w->behind ? last_axis(&s.f) + 1 : axis + 1;
	if (!w->behind) {
		facts_find(&s.f, numbers_moved(&s, axis), w->alias);
		s.range = range_at(&s, axis);
	}
	if (s.f.scanned & bit_of(s.range))
		scan_parts_find(&s.scan, &s.f, s.range, s.n);
	w->kernel = in_two(&s, inner);
	w->was = s.range;
	w->piece[0] = s.outer;
	w->piece[1] = s.inner;
	w->index = s.index;
	if (s.tail == OVERLAP && !divides(&s))
		rewriting_overlap(w, axis);
	rewriting_split(w, axis, inner);
	if (s.scan.n) {
		rewriting_new(w, range_axis(s.scan.part));
		rewriting_new(w, range_axis(s.scan.within));
	}
}
