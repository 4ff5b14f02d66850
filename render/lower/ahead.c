/* What the items of a GPU's group put into their memory in each turn of a loop is loaded a turn
 * ahead, so that nobody waits for it at the barrier:
 *
 *     RANGE k                             t = LOAD x[0]
 *       BARRIER                           RANGE k
 *       STORE buf LOAD x[k]                 BARRIER; STORE buf t; BARRIER
 *       BARRIER                     →       if k+1 < n: t = LOAD x[k+1]
 *       … LOAD buf …                        … LOAD buf …
 *     ENDRANGE                            ENDRANGE
 *
 * t has a register for each element that an item loads. */
#include "index/ix.h"
#include "lower/lower.h"
#include "target/target.h"

enum { DEEPEST = 64, MOST_BYTES = 128 };

/* A store of a turn into the group's memory, without LETs and loops. */
typedef struct { UOp *to, *value, *gate; } Fill;
typedef struct {
	const KernelUse *use;
	UOp *kernel;
	UOp *from[DEEPEST], *to[DEEPEST];       /* loops and LETs, and what stands for them */
	int depth;
	VEC(Fill) fills;
	int64_t ids;            /* in use */
	VEC(UOp *) out;
} Ahead;

static UOp *statement(const Ahead *w, uint32_t i) { return w->kernel->src[i]; }

static uint32_t end_of(const Ahead *w, uint32_t i)
{
	uint32_t end = i + 1;
	while (end < w->kernel->nsrc && !(statement(w, end)->op == OP_ENDRANGE &&
		statement(w, end)->src[0] == statement(w, i)))
		end++;
	return end;
}

static bool is_written(const Ahead *w, const UOp *storage)
{
	for (uint32_t i = 0; i < w->kernel->nsrc; i++)
		if (statement(w, i)->op == OP_STORE && statement(w, i)->src[0]->src[0] == storage)
			return true;
	return false;
}

/* Is all that u loads in buffers that the kernel leaves as they are? */
static bool loads_inputs(const Ahead *w, UOp *u)
{
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD &&
			(all.at[i]->src[0]->src[0]->op != OP_PARAM ||
				is_written(w, all.at[i]->src[0]->src[0])))
			return false;
	return true;
}

static UOp *plain(const Ahead *w, UOp *u)
{
	return u ? substitute(u, w->depth, w->from, w->to) : NULL;
}

static bool stands(Ahead *w, UOp *from, UOp *to)
{
	if (w->depth == DEEPEST)
		return false;
	w->from[w->depth] = from;
	w->to[w->depth++] = to;
	return true;
}

static bool find_fills(Ahead *w, uint32_t i, uint32_t end);

/* Those of a loop, written out. */
static bool find_in_loop(Ahead *w, uint32_t i, uint32_t close)
{
	int64_t n;
	int depth = w->depth;
	if (!ix_is_const(statement(w, i)->src[0], &n))
		return false;
	for (int64_t k = 0; k < n; k++) {
		if (!stands(w, statement(w, i), ix_const(k)) || !find_fills(w, i + 1, close))
			return false;
		w->depth = depth;
	}
	return true;
}

static bool find_fill(Ahead *w, UOp *u)
{
	Fill f = {plain(w, u->src[0]), plain(w, u->src[1]),
		plain(w, u->nsrc > 2 ? u->src[2] : NULL)};
	if (f.to->src[0]->op != OP_DEFINE_LOCAL || f.to->dtype == DT_BOOL ||
		w->fills.n == MOST_BYTES || !loads_inputs(w, f.value))
		return false;
	vec_push(&w->fills, f);
	return true;
}

/* The stores of statements i to end; false where there is something else. */
static bool find_fills(Ahead *w, uint32_t i, uint32_t end)
{
	bool fits = true;
	for (; i < end && fits; i++) {
		UOp *u = statement(w, i);
		uint32_t close = u->op == OP_RANGE ? end_of(w, i) : i;
		fits = u->op == OP_RANGE ? find_in_loop(w, i, close) :
			u->op == OP_LET  ? stands(w, u, plain(w, u->src[0])) :
					   u->op == OP_STORE && find_fill(w, u);
		i = close;
	}
	return fits;
}

/* The barrier behind what the items put into memory at the start of loop i; 0: there is none, or
 * nothing to be gained. */
static uint32_t fill_end(Ahead *w, uint32_t i, uint32_t close)
{
	uint32_t end = i + 2;
	int64_t bytes = 0, n;
	bool loads = false;
	w->fills.n = 0;
	w->depth = 0;
	if (statement(w, i + 1)->op != OP_BARRIER ||
		(ix_is_const(statement(w, i)->src[0], &n) && n < 2))
		return 0;
	while (end < close && statement(w, end)->op != OP_BARRIER)
		end++;
	if (end == close || !find_fills(w, i + 2, end))
		return 0;
	for (size_t k = 0; k < w->fills.n; k++) {
		const Fill *f = &w->fills.at[k];
		bytes += dtype_size(f->to->dtype) > 4 ? dtype_size(f->to->dtype) : 4;
		loads |= (range_mask(f->value) & range_mask(statement(w, i))) != 0;
	}
	return loads && bytes <= MOST_BYTES ? end : 0;
}

/* ---- the loop written anew */

/* Every load of u under one more condition. */
static UOp *under(UOp *u, void *gate)
{
	UOp *g = gate;
	if (u->op != OP_LOAD)
		return u;
	UOp *src[] = {u->src[0], u->nsrc > 1 ? ix_and(u->src[1], g) : g};
	return node_new(OP_LOAD, u->dtype, 2, src, u->arg);
}

static UOp *store_of(UOp *to, UOp *value, UOp *gate)
{
	UOp *src[] = {to, value, gate};
	return node_new(OP_STORE, DT_NONE, gate ? 3 : 2, src, VNIL);
}

static UOp *element(UOp *reg, size_t k)
{
	return NODE(OP_INDEX, reg->dtype, VNIL, reg, ix_const((int64_t)k));
}

/* What turn `at` of the loop puts into memory, loaded into registers. */
static void load_turn(Ahead *w, UOp *range, UOp *at, UOp *const *reg)
{
	bool always = ix_prove_lt(at, range->src[0]);
	UOp *there = always ? NULL : ix_lt(at, range->src[0]);
	for (size_t k = 0; k < w->fills.n; k++) {
		const Fill *f = &w->fills.at[k];
		UOp *gate = f->gate ? substitute(f->gate, 1, &range, &at) : there;
		UOp *value = substitute(f->value, 1, &range, &at);
		gate = f->gate && there ? ix_and(gate, there) : gate;
		value = gate ? walk_replace(value, under, gate) : value;
		vec_push(&w->out, store_of(element(reg[k], k), value, NULL));
	}
}

static void put_loop(Ahead *w, uint32_t i, uint32_t fill)
{
	UOp *range = statement(w, i), **reg = arena_alloc(w->fills.n * sizeof *reg);
	for (size_t k = 0; k < w->fills.n; k++) {
		DType dt = w->fills.at[k].to->dtype;
		reg[k] = k && reg[k - 1]->dtype == dt ? reg[k - 1] :
			NODE(OP_DEFINE_REG, dt,
				VARR(val_int(w->ids++), val_int((int64_t)w->fills.n)));
		if (!k || reg[k] != reg[k - 1])
			vec_push(&w->out, reg[k]);
	}
	load_turn(w, range, ix_const(0), reg);
	vec_push(&w->out, range);
	vec_push(&w->out, statement(w, i + 1));
	for (size_t k = 0; k < w->fills.n; k++) {
		const Fill *f = &w->fills.at[k];
		UOp *value = NODE(OP_LOAD, reg[k]->dtype, VNIL, element(reg[k], k));
		vec_push(&w->out, store_of(f->to, value, f->gate));
	}
	vec_push(&w->out, statement(w, fill));
	load_turn(w, range, ix_add(range, ix_const(1)), reg);
}

static UOp *kernel_ahead(const KernelUse *use)
{
	Ahead w = {.use = use, .kernel = use->kernel};
	UOp *r = use->kernel;
	Nodes all = walk(r);
	for (size_t i = 0; i < all.n; i++)
		if (statement_id(all.at[i]) >= w.ids)
			w.ids = statement_id(all.at[i]) + 1;
	for (uint32_t i = 0; i < r->nsrc; i++) {
		uint32_t fill = use->alias || r->src[i]->op != OP_RANGE ? 0 :
			fill_end(&w, i, end_of(&w, i));
		if (fill)
			put_loop(&w, i, fill);
		else
			vec_push(&w.out, r->src[i]);
		i = fill ? fill : i;
	}
	r = node_like(r, w.out.n, w.out.at, r->arg);
	vec_free(&w.fills);
	vec_free(&w.out);
	return r;
}

Graph *lower_ahead(Graph *g) { return target->gpu ? kernels_map(g, kernel_ahead) : g; }
