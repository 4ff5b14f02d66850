/* The open form and back.
 *
 *     CALL(KERNEL(STORE(INDEX(PARAM 0, r0), LOAD(INDEX(PARAM 1, r0)))), y, x)
 *     ↔  KERNEL(STORE(INDEX(y, r0), LOAD(INDEX(x, r0))))
 *
 * Bound ranges are numbered from the inside, which makes equal folds one node wherever they stand. Axis numbers have
 * three regions: BOUND… for that form, MOVED… for a value on its way into another kernel, and FRESH… while numbering,
 * so that a name that is still free is never mistaken for one just given. */
#include "fuse.h"
#include <stdlib.h>

enum { DEPTH = 16, MOVED = BOUND + DEPTH, FRESH = MOVED + DEPTH };

typedef VEC(UOp *) List;

static UOp *range_new(int axis, UOp *like, const char *kind)
{
	return ix_range(axis, kind, like->src[0]);
}

/* ---- numbering */

/* Highest bound axis in use under each node, while numbering one kernel. */
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

/* Most kernels number at once: each bound range has one axis to get, wherever it stands. False when some range is bound
 * at two depths. level[] is a side table by id: bound axes in use under a node, and for a range that is bound its own
 * axis, counted from 1. */
static bool number_at_once(UOp *kernel, UOp **out)
{
	static uint8_t *level;
	static size_t cap;
	Nodes all = walk(kernel);
	if (node_limit() > cap) {
		cap = node_limit() + node_limit() / 2;
		level = xrealloc(level, cap);
	}
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		uint8_t *own = &level[u->id];
		*own = 0;
		for (uint32_t s = 0; u->op != OP_RANGE && s < u->nsrc; s++)
			if (u->src[s]->op != OP_RANGE && level[u->src[s]->id] > *own)
				*own = level[u->src[s]->id];
		if (u->op != OP_RREDUCE)
			continue;
		for (uint32_t s = 1; s < u->nsrc; s++) {
			uint8_t *axis = &level[u->src[s]->id];
			++*own;
			if (*own > DEPTH || (*axis && *axis != *own))
				return false;
			*axis = *own;
		}
	}
	List from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && level[all.at[i]->id]) {
			vec_push(&from, all.at[i]);
			vec_push(&to, range_new(BOUND + level[all.at[i]->id] - 1, all.at[i], "reduce"));
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
	List src = {0};
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
	List from = {0}, to = {0};
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

/* ---- open */

/* Loops to 0, 1, … and bound ranges to BOUND + their order, all at once. */
static UOp *renumber(UOp *kernel, int bound)
{
	Nodes all = walk(kernel);
	uint64_t loops = range_mask(kernel);
	int loop_axis[64], bound_axis[64], nl = 0, nb = bound;
	uint64_t in_use = 0;
	List from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE)
			in_use |= 1ull << range_axis(all.at[i]);
	for (int a = 0; a < 64; a++)
		if (loops >> a & 1)
			loop_axis[a] = nl++;
	nb = bound < 0 ? nl : bound;
	for (int a = 0; a < 64; a++)
		if (in_use >> a & 1 && !(loops >> a & 1))
			bound_axis[a] = nb++;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_RANGE)
			continue;
		int a = range_axis(u);
		vec_push(&from, u);
		vec_push(&to, range_new(loops >> a & 1 ? loop_axis[a] : bound_axis[a], u, range_kind(u)));
	}
	UOp *r = substitute(kernel, from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return r;
}

/* A kernel in open form but for its PARAMs, and these: made once for all calls of it. */
typedef struct { UOp *kernel; List params; } Opened;

static Opened *open_kernel(Map *opened, UOp *kernel)
{
	Opened *o = map_get(opened, PKEY(kernel));
	if (o)
		return o;
	o = arena_alloc(sizeof *o);
	map_put(opened, PKEY(kernel), o);
	o->kernel = renumber(kernel, BOUND);
	UOp *numbered = has_op(o->kernel, OP_RREDUCE) ? number_bound(o->kernel) : NULL;
	if (numbered)
		o->kernel = numbered;
	Nodes all = walk_brief(o->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			vec_push(&o->params, all.at[i]);
	return o;
}

static UOp *open_call(Map *opened, UOp *call)
{
	Opened *o = open_kernel(opened, call->src[0]);
	List to = {0};
	for (size_t i = 0; i < o->params.n; i++) {
		int64_t slot = val_get(o->params.at[i]->arg, "slot")->i;
		if (slot + 1 >= (int64_t)call->nsrc)
			die(MALFORMED, "kernel %s: slot %lld has no buffer", val_get(o->kernel->arg, "name")->s,
				(long long)slot);
		vec_push(&to, call->src[slot + 1]);
	}
	UOp *k = substitute(o->kernel, to.n, o->params.at, to.at);
	vec_free(&to);
	return k;
}

/* open: meta says that the SINK has kernels where calls should be */
static Graph *with_sink(Graph *g, List *src, bool open)
{
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->sink = node_new(OP_SINK, DT_NONE, src->n, src->at, g->sink->arg);
	r->all = (Nodes){0};
	r->meta = val_set(g->meta, "open", open ? val_bool(true) : NULL);
	return r;
}

Graph *open_kernels(Graph *g)
{
	List src = {0};
	Map opened = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *u = g->sink->src[i];
		UOp *k = u->op == OP_CALL && u->src[0]->op == OP_KERNEL ? open_call(&opened, u) : u;
		if (k->op == OP_KERNEL)
			node_note(k, u->src[0]->note);
		vec_push(&src, k);
	}
	g = with_sink(g, &src, true);
	vec_free(&src);
	for (size_t i = 0; i < opened.cap; i++)
		if (opened.val[i])
			vec_free(&((Opened *)opened.val[i])->params);
	map_free(&opened);
	return g;
}

/* ---- close */

/* A loop of r's size that neither the fold's value nor its ranges use already. */
static UOp *loop_for(UOp *r, UOp *value, uint64_t taken, const Loops *loops)
{
	for (int i = loops->n; i--;) {
		UOp *l = loops->at[i];
		uint64_t bit = 1ull << range_axis(l);
		if (l->src[0] != r->src[0] || taken & bit || strcmp(range_kind(l), "loop"))
			continue;
		/* a fold inside that binds the loop must not see r */
		Nodes all = walk_brief(value);
		bool captures = false;
		for (size_t k = 0; k < all.n; k++)
			for (uint32_t s = 1; all.at[k]->op == OP_RREDUCE && s < all.at[k]->nsrc; s++)
				captures |= all.at[k]->src[s] == l && range_mask(all.at[k]) >> range_axis(r) & 1;
		if (!captures)
			return l;
	}
	return NULL;
}

static UOp *share_one(UOp *fold, void *ctx)
{
	if (fold->op != OP_RREDUCE)
		return fold;
	UOp *now[64];
	uint64_t taken = range_mask(fold->src[0]);
	now[0] = fold->src[0];
	for (uint32_t i = 1; i < fold->nsrc; i++) {
		UOp *l = loop_for(fold->src[i], now[0], taken, ctx);
		now[i] = l ? l : fold->src[i];
		if (!l)
			continue;
		taken |= 1ull << range_axis(l);
		now[0] = substitute(now[0], 1, &fold->src[i], &l);
	}
	return node_with(fold, now);
}

UOp *share_loops(UOp *kernel)
{
	if (!has_op(kernel, OP_RREDUCE))
		return kernel;
	Loops loops = kernel_loops(kernel);
	return loops.n ? walk_replace(kernel, share_one, &loops) : kernel;
}

/* A kernel's nodes as one reads it, from its STOREs to the right: an order that the kernel alone decides. */
static List reading_order(UOp *kernel)
{
	List all = {0}, left = {0};
	Map seen = {0};
	vec_push(&left, kernel);
	while (left.n) {
		UOp *u = left.at[--left.n];
		if (map_get(&seen, PKEY(u)))
			continue;
		map_put(&seen, PKEY(u), u);
		vec_push(&all, u);
		for (uint32_t s = u->nsrc; s--;)
			vec_push(&left, u->src[s]);
	}
	vec_free(&left);
	map_free(&seen);
	return all;
}

/* Buffers of a kernel: what it writes, then what it reads, in reading order. */
static void slots_of(UOp *kernel, List *out)
{
	List all = reading_order(kernel);
	Map seen = {0};
	for (int reads = 0; reads < 2; reads++) {
		for (size_t i = 0; i < all.n; i++) {
			UOp *u = all.at[i], *place = NULL;
			if (reads ? u->op == OP_LOAD : u->op == OP_STORE)
				place = u->src[0];
			else if (!reads && u->op == OP_RSORT)
				place = u->src[2];
			if (place && !map_get(&seen, PKEY(place->src[0]))) {
				map_put(&seen, PKEY(place->src[0]), place);
				vec_push(out, place->src[0]);
			}
		}
	}
	/* a sort's STORE comes first: its slot is 0, the merge buffer's 1 */
	UOp *first = store_buffer(kernel->src[0]);
	for (size_t i = 1; i < out->n; i++)
		if (out->at[i] == first) {
			memmove(out->at + 1, out->at, i * sizeof *out->at);
			out->at[0] = first;
		}
	vec_free(&all);
	map_free(&seen);
}

static UOp *close_call(UOp *kernel)
{
	List slots = {0}, params = {0}, src = {0};
	const Val *note = kernel->note;
	kernel = renumber(share_loops(kernel), -1);
	slots_of(kernel, &slots);
	for (size_t i = 0; i < slots.n; i++)
		vec_push(&params, LEAF(OP_PARAM, slots.at[i]->dtype, VMAP(val_str("slot"), val_int(i),
			val_str("shape"), shape_to_val(slots.at[i]->shape))));
	kernel = substitute(kernel, slots.n, slots.at, params.at);
	/* one name for all until name_kernels: equal kernels are one node */
	kernel = node_new(OP_KERNEL, DT_NONE, kernel->nsrc, kernel->src, val_set(kernel->arg, "name", val_str("kernel")));
	node_note(kernel, note);
	vec_push(&src, kernel);
	for (size_t i = 0; i < slots.n; i++)
		vec_push(&src, slots.at[i]);
	UOp *call = node_new(OP_CALL, DT_NONE, src.n, src.at, VNIL);
	vec_free(&slots);
	vec_free(&params);
	vec_free(&src);
	return call;
}

Graph *close_kernels(Graph *g)
{
	List src = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *u = g->sink->src[i];
		vec_push(&src, u->op == OP_KERNEL ? close_call(u) : u);
	}
	g = with_sink(g, &src, false);
	vec_free(&src);
	return g;
}
