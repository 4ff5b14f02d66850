/* Loops of kind unroll are written out, iteration after iteration:
 *
 *     RANGE m<2 unroll; LET a = x[m]; STORE acc[m] += a*b; ENDRANGE
 *     →  LET a = x[0]; STORE acc[0] += a*b; LET a' = x[1]; STORE acc[1] += a'*b
 *
 * What an iteration decides is decided: conditions of the first and the last row of a window are no
 * longer there, and a LET that is then a constant or another LET stands for that.
 * Nodes are hash-consed, so a value that two iterations share is one node, and a LET is not written
 * twice; unless it reads a register to which the iterations store: then each has one of its own.
 * The body of a vector loop has to be straight-line code: one that holds a loop becomes a plain
 * loop. */
#include "lower/lower.h"
#include <stdlib.h>

enum { DEEPEST = 64 };

/* The substitution of the iteration being written: pairs of ranges and values, and the nodes made
 * with them so far. */
typedef struct { UOp *from[DEEPEST], *to[DEEPEST]; int n; Stands *made; } Iteration;
static ARENA Stands made[DEEPEST + 1];  /* by the number of ranges that the iteration replaces */
static ARENA Stands moves;              /* nodes that depend on a range that is written out */
static ARENA Stands written;            /* LETs written in an open block */
typedef struct {
	UOp *kernel;
	VEC(UOp *) lets;        /* the same, innermost block last */
	VEC(UOp *) stored;      /* registers to which the loops being written out store */
	int64_t ids;            /* LET numbers in use */
	VEC(UOp *) out;
} Unroll;

static bool is_kind(const UOp *range, const char *kind)
{
	return range->op == OP_RANGE && val_is_str(range->arg->a[1], kind);
}

/* ---- nodes */

static UOp *known(const Iteration *t, UOp *u)
{
	if (!stands_for(&moves, u))
		return u;
	for (int i = t->n; i-- > 0;)
		if (t->from[i] == u)
			return t->to[i];
	if (u->op == OP_RANGE && !u->src[0]->nsrc)
		return u;
	UOp *is = stands_for(t->made, u);
	/* a LET may stand outside the loop, where it became something else */
	for (const Stands *m = t->made; !is && u->op == OP_LET && m > made;)
		is = stands_for(--m, u);
	return is;
}

static UOp *remade(const Iteration *t, UOp *u)
{
	static ARENA VEC(UOp *) stack;
	stack.n = 0;
	vec_push(&stack, u);
	while (stack.n) {
		UOp *at = stack.at[stack.n - 1];
		size_t was = stack.n;
		if (known(t, at)) {
			stack.n--;
			continue;
		}
		UOp **src = arena_alloc((at->nsrc + 1) * sizeof *src);
		for (uint32_t i = 0; i < at->nsrc; i++)
			if (!(src[i] = known(t, at->src[i])))
				vec_push(&stack, at->src[i]);
		if (stack.n > was)
			continue;
		stands_put(t->made, at, ix_remake(at, src));
		stack.n--;
	}
	return known(t, u);
}

/* ---- statements */

/* The statement that closes the loop at i. */
static uint32_t end_of(const Unroll *w, uint32_t i)
{
	const UOp *range = w->kernel->src[i];
	for (uint32_t j = i + 1; j < w->kernel->nsrc; j++)
		if (w->kernel->src[j]->op == OP_ENDRANGE && w->kernel->src[j]->src[0] == range)
			return j;
	die(MALFORMED, "node %u RANGE: is not closed", range->id);
}

/* Is there nothing but values, stores and unrolled loops between i and end? */
static bool straight(const Unroll *w, uint32_t i, uint32_t end)
{
	for (; i < end; i++) {
		const UOp *u = w->kernel->src[i];
		const UOp *range = u->op == OP_ENDRANGE ? u->src[0] : u;
		if (u->op != OP_LET && u->op != OP_STORE && !is_kind(range, "unroll"))
			return false;
	}
	return true;
}

static bool defines(const Unroll *w, uint32_t i, uint32_t end)
{
	for (; i < end; i++)
		if (w->kernel->src[i]->op == OP_DEFINE_REG ||
			w->kernel->src[i]->op == OP_DEFINE_LOCAL)
			return true;
	return false;
}

/* Does the value change from one iteration to the next, though it is the same node? */
static bool reads_stored(const Unroll *w, UOp *value)
{
	Nodes all = walk_brief(value);
	for (size_t i = 0; w->stored.n && i < all.n; i++)
		for (size_t k = 0; k < w->stored.n && all.at[i]->op == OP_LOAD; k++)
			if (all.at[i]->src[0]->src[0] == w->stored.at[k])
				return true;
	return false;
}

static void write_let(Unroll *w, Iteration *t, UOp *of)
{
	UOp *let = remade(t, of), *is = let->src[0];
	if (stands_for(&moves, of) && (is->op == OP_CONST || is->op == OP_LET)) {
		stands_put(t->made, of, is);
		return;
	}
	if (stands_for(&written, let)) {
		if (!w->stored.n || !reads_stored(w, let))
			return;
		let = NODE(OP_LET, let->dtype, val_int(w->ids++), let->src[0]);
		stands_put(t->made, of, let);
	}
	stands_put(&written, let, let);
	vec_push(&w->lets, let);
	vec_push(&w->out, let);
}

static void close_block(Unroll *w, size_t lets)
{
	while (w->lets.n > lets)
		stands_put(&written, w->lets.at[--w->lets.n], NULL);
}

static void write_body(Unroll *w, Iteration *t, uint32_t i, uint32_t end);

/* Writes iteration t with one more range replaced by a value. */
static void write_with(Unroll *w, const Iteration *t, UOp *range, UOp *value, uint32_t i,
	uint32_t end)
{
	Iteration in = *t;
	if (in.n == DEEPEST)
		die(UNSUPPORTED, "loops that are written out nest deeper than %d", DEEPEST);
	in.from[in.n] = range;
	in.to[in.n++] = value;
	in.made = &made[in.n];
	table_round(in.made);
	write_body(w, &in, i, end);
}

static void find_stored(Unroll *w, uint32_t i, uint32_t end)
{
	for (; i < end; i++) {
		const UOp *u = w->kernel->src[i];
		if (u->op == OP_STORE && u->src[0]->src[0]->op == OP_DEFINE_REG)
			vec_push(&w->stored, u->src[0]->src[0]);
	}
}

static void write_loop(Unroll *w, Iteration *t, uint32_t i, uint32_t end)
{
	UOp *range = w->kernel->src[i], *is = remade(t, range);
	int64_t n;
	size_t lets = w->lets.n;
	bool constant = ix_is_const(range->src[0], &n);
	if (is_kind(range, "unroll") && constant && !defines(w, i, end)) {
		size_t stored = w->stored.n;
		find_stored(w, i, end);
		for (int64_t k = 0; k < n; k++)
			write_with(w, t, range, ix_const(k), i + 1, end);
		w->stored.n = stored;
		return;
	}
	if (is_kind(range, "unroll") || (is_kind(range, "vector") && !straight(w, i + 1, end)))
		is = ix_range(range_axis(range), "loop", is->src[0]);
	vec_push(&w->out, is);
	write_with(w, t, range, is, i + 1, end);
	vec_push(&w->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, is));
	close_block(w, lets);
}

/* Does a register get what it holds? So does one whose choice was decided for it. */
static bool is_idle(const UOp *u)
{
	return u->op == OP_STORE && u->nsrc == 2 && u->src[1]->op == OP_LOAD &&
		u->src[1]->nsrc == 1 && u->src[1]->src[0] == u->src[0] &&
		u->src[0]->src[0]->op == OP_DEFINE_REG;
}

static void write_body(Unroll *w, Iteration *t, uint32_t i, uint32_t end)
{
	for (; i < end; i++) {
		UOp *u = w->kernel->src[i];
		if (u->op == OP_RANGE) {
			uint32_t close = end_of(w, i);
			write_loop(w, t, i, close);
			i = close;
		} else if (u->op == OP_LET) {
			write_let(w, t, u);
		} else if (!is_idle(u = remade(t, u))) {
			vec_push(&w->out, u);
		}
	}
}

/* Finds the nodes that depend on a range of either kind. */
static bool find_moves(Unroll *w)
{
	Nodes all = walk(w->kernel);
	bool any = false;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool dep = is_kind(u, "unroll") || is_kind(u, "vector");
		any |= dep;
		dep |= u->op == OP_LOAD && u->src[0]->src[0]->op == OP_DEFINE_REG;
		if (u->op == OP_LET && u->arg->i >= w->ids)
			w->ids = u->arg->i + 1;
		for (uint32_t s = 0; s < u->nsrc && !dep; s++)
			dep = stands_for(&moves, u->src[s]);
		if (dep)
			stands_put(&moves, u, u);
	}
	return any;
}

static UOp *kernel_unroll(const KernelUse *use)
{
	UOp *r = roll_tiles(use->kernel);
	Unroll w = {.kernel = r};
	Iteration t = {.made = &made[0]};
	table_round(&made[0]);
	table_round(&moves);
	table_round(&written);
	if (find_moves(&w)) {
		write_body(&w, &t, 0, r->nsrc);
		r = node_like(r, w.out.n, w.out.at, r->arg);
	}
	vec_free(&w.lets);
	vec_free(&w.stored);
	vec_free(&w.out);
	return r;
}

Graph *lower_unroll(Graph *g) { return kernels_map(g, kernel_unroll); }
