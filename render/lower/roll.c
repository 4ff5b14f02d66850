/* Tiles whose elements take many ops each stay loops, where writing them out would cost a compiler
 * more time than it saves the kernel:
 *
 *     RANGE m<14 unroll; RANGE l<16 vector; STORE y[16*m + l] = silu(acc[16*m + l]); …
 *     →  RANGE b<14 unroll; RANGE l<16 vector; STORE buf[16*b + l] = acc[16*b + l]; …
 *        RANGE m<14 loop; RANGE l<16 vector; STORE y[16*m + l] = silu(buf[16*m + l]); …
 *
 * Accumulators that such a loop reads are copied to the stack first: only places that are numbers
 * are registers. The same ops are computed in the same order. */
#include "index/index.h"
#include "target/target.h"
#include "lower/lower.h"

/* A loop's turn and the copy of a vector take about as long as four ops. */
enum { OPS_LEAST = 16, OPS_KEPT = 128, OPS_MOST = 400, COPIES = 8 };

typedef struct {
	UOp *kernel;
	int next;               /* a number that no DEFINE has */
	VEC(UOp *) out;
} Roll;
/* A nest of loops that is to stay one: its statements, the ranges and registers that change. */
typedef struct {
	uint32_t first, end;    /* RANGE and ENDRANGE */
	UOp *lanes;             /* its vector loop */
	UOp *from[2 * COPIES], *to[2 * COPIES];
	int n;
} Rolled;

static bool is_kind(const UOp *range, const char *kind)
{
	return range->op == OP_RANGE && val_is_str(range->arg->a[1], kind);
}

static int64_t turns(const UOp *range)
{
	int64_t n;
	return ix_is_const(range->src[0], &n) ? n : 0;
}

static uint32_t end_of(const UOp *kernel, uint32_t i)
{
	uint32_t j = i;
	while (++j < kernel->nsrc &&
		!(kernel->src[j]->op == OP_ENDRANGE && kernel->src[j]->src[0] == kernel->src[i]))
		;
	return j;
}

/* Is the nest nothing but loops over elements, one of them in vectors, values and stores to
 * buffers? Enters its loops. */
static bool find_ranges(Rolled *r, const UOp *kernel)
{
	for (uint32_t i = r->first; i < r->end; i++) {
		UOp *u = kernel->src[i];
		if (is_kind(u, "unroll") && turns(u) > 1 && r->n < COPIES)
			r->from[r->n++] = u;
		else if (is_kind(u, "vector") && (!r->lanes || r->lanes == u))
			r->lanes = u;
		else if (u->op != OP_LET && u->op != OP_ENDRANGE &&
			!(u->op == OP_STORE && u->src[0]->src[0]->op == OP_PARAM))
			return false;
	}
	return r->lanes != NULL;
}

/* Are the ops of all turns too many to be written out? The innermost loops still are, where that
 * gives a few values to compute side by side. */
static bool is_long(Rolled *r, const UOp *kernel)
{
	int64_t ops = 0, all = 0, times[COPIES + 1] = {1};
	int depth = 0;
	for (uint32_t i = r->first; i < r->end; i++) {
		const UOp *u = kernel->src[i];
		if (is_kind(u, "unroll") && turns(u) > 1) {
			times[depth + 1] = times[depth] * turns(u);
			depth++;
		} else if (u->op == OP_ENDRANGE && is_kind(u->src[0], "unroll")) {
			depth -= turns(u->src[0]) > 1;
		} else if (u->op == OP_LET || u->op == OP_STORE) {
			int n = statement_ops(u);
			ops += n;
			all += n * times[depth];
		}
	}
	while (r->n > 1 && ops * turns(r->from[r->n - 1]) <= OPS_KEPT)
		ops *= turns(r->from[--r->n]);
	return ops >= OPS_LEAST && all > OPS_MOST;
}

static bool depends(UOp *u, UOp *const *on, int n)
{
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		for (int k = 0; k < n; k++)
			if (all.at[i] == on[k])
				return true;
	return false;
}

/* Is the place the lane, beside what is the same for all lanes? */
static bool is_lane(UOp *place, UOp *lanes)
{
	UOp *next = ix_add(lanes, ix_const(1));
	int64_t step;
	return ix_is_const(ix_sub(substitute(place, 1, &lanes, &next), place), &step) && step == 1;
}

/* Enters a place in registers that moves with the loops; false when its registers cannot be
 * copied. */
static bool add_copy(Rolled *r, UOp *index, int ranges, Roll *w)
{
	UOp *reg = index->src[0];
	const Val *n = reg->arg->a[1];
	if (!depends(index, r->from, ranges))
		return true;
	if (!is_lane(index->src[1], r->lanes) || n->kind != VAL_INT || n->i % turns(r->lanes))
		return false;
	for (int i = ranges; i < r->n; i++)
		if (r->from[i] == reg)
			return true;
	if (r->n == 2 * COPIES)
		return false;
	r->from[r->n] = reg;
	r->to[r->n++] = LEAF(OP_DEFINE_LOCAL, reg->dtype,
		VARR(val_int(w->next++), n, val_str("stack")));
	return true;
}

static bool find_copies(Rolled *r, Roll *w)
{
	int ranges = r->n;
	for (uint32_t i = r->first; i < r->end; i++) {
		Nodes all = walk(w->kernel->src[i]);
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k]->op == OP_INDEX && all.at[k]->src[0]->op == OP_DEFINE_REG &&
				!add_copy(r, all.at[k], ranges, w))
				return false;
	}
	for (int i = 0; i < ranges; i++)
		r->to[i] = ix_range(range_axis(r->from[i]), "loop", r->from[i]->src[0]);
	return true;
}

/* The copy of registers to the stack, a vector at a time. */
static void emit_copy(Roll *w, const Rolled *r, UOp *reg, UOp *buf)
{
	int64_t lanes = turns(r->lanes), n = reg->arg->a[1]->i / lanes;
	UOp *block = ix_range(range_axis(w->kernel->src[r->first]), "unroll", ix_const(n));
	UOp *place = ix_add(ix_mul(block, ix_const(lanes)), r->lanes);
	vec_push(&w->out, buf);
	vec_push(&w->out, block);
	vec_push(&w->out, r->lanes);
	vec_push(&w->out, store_at(buf, place, load_at(reg, place)));
	vec_push(&w->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, r->lanes));
	vec_push(&w->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, block));
}

static void write_rolled(Roll *w, const Rolled *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->from[i]->op == OP_DEFINE_REG)
			emit_copy(w, r, r->from[i], r->to[i]);
	for (uint32_t i = r->first; i <= r->end; i++)
		vec_push(&w->out, substitute(w->kernel->src[i], r->n, r->from, r->to));
}

static bool rolls(Roll *w, uint32_t i, Rolled *r)
{
	*r = (Rolled){.first = i, .end = end_of(w->kernel, i)};
	return is_kind(w->kernel->src[i], "unroll") && r->end < w->kernel->nsrc &&
		find_ranges(r, w->kernel) && is_long(r, w->kernel) && find_copies(r, w);
}

UOp *roll_tiles(UOp *kernel)
{
	Roll w = {.kernel = kernel};
	Rolled r;
	UOp *to = kernel;
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op == OP_DEFINE_REG || u->op == OP_DEFINE_LOCAL)
			w.next = u->arg->a[0]->i >= w.next ? (int)u->arg->a[0]->i + 1 : w.next;
		if (u->op == OP_LET)
			w.next = u->arg->i >= w.next ? (int)u->arg->i + 1 : w.next;
	}
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		if (!target->gpu && rolls(&w, i, &r)) {
			write_rolled(&w, &r);
			i = r.end;
		} else {
			vec_push(&w.out, kernel->src[i]);
		}
	}
	if (w.out.n != kernel->nsrc || w.next)
		to = node_like(kernel, w.out.n, w.out.at, kernel->arg);
	vec_free(&w.out);
	return to;
}
