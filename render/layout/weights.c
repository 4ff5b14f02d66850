/* Constants of contractions in the order in which a kernel reads them, copied once:
 *
 *     y[m,n] = Σk x[m,k]*w[k,n]    w [512,1000]  →  w' [21,512,48]: panels of 48 columns, each read
 *                                   sequentially; the last one begins early
 *     y[b,h,c] = Σ x[…]*w[c,k,…]    c contiguous in y  →  w' [blocks,k,…,c]
 *
 *     y[o,h,w] = Σ x[…]*w[o,c,t]    on a GPU, t a few taps  →  w' [t,c,o]: items side by side read
 *                                   what lies side by side
 *
 * These are actions of the schedule: split y 1 48 overlap; stage y LOAD.1 1.0 2 1.1 prepared. */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"

enum { WORTH = 64 };

/* One constant operand being copied: the ranges that move it, in their new order. */
typedef struct {
	Roles *r;
	UOp *call;
	UOp *order[MAX_RANGES];
	int n;
	UOp *vector;            /* the output range along which stores are contiguous */
	int64_t width;          /* of a panel; 0: the whole range */
} Repack;
typedef VEC(const Val *) ActionList;

/* ---- whether, and in what order */

/* A single row calls for one long stream, rows that share a panel for as many vectors as let
 * registers hold sums of twice as many rows: three, or two where there are only 16. */
static int vectors_wanted(const Repack *p)
{
	int v = 3;
	if (count_of(&p->r->facts, ranges_with(p->r, ROLE_ROW)) < 4)
		return 4;
	while (v > 1 && 2 * v * v + v + 1 >= target->registers)
		v--;
	return v;
}

/* The width that wastes least: the last panel repeats columns of the one before it. */
static int64_t panel_width(int64_t n, int lanes, int vectors)
{
	int64_t best = 0;
	double least = 0;
	for (int v = vectors; v > 0; v--) {
		int64_t w = (int64_t)v * lanes;
		double cost = (double)((n + w - 1) / w * w) * (1 + 0.04 * (vectors - v));
		if (w <= n && (!best || cost < least)) {
			best = w;
			least = cost;
		}
	}
	return best;
}

/* Is the constant read in this order already? */
static bool in_order(const Repack *p)
{
	int64_t want = 1, step;
	UOp *flat = flat_place(p->r->c.w->src[0]);
	if (p->width)
		return false;
	for (int i = p->n; i-- > 0;) {
		if (!place_step(flat, p->order[i], &step) || step != want)
			return false;
		want *= range_size(p->order[i]);
	}
	return true;
}

static bool plain(const Repack *p)
{
	uint64_t set = 0;
	int64_t n = 1;
	for (int i = 0; i < p->n; i++) {
		set |= bit_of(p->order[i]);
		if (range_size(p->order[i]) < 1 || !mul_ok(n, range_size(p->order[i]), &n) ||
			n > 1 << 30)
			return false;
	}
	return n >= WORTH && p->r->c.w->nsrc == 1 && set == free_of(p->r->c.w->src[0]);
}

/* May the kernel read a copy of the constant? */
static bool may_copy(const Roles *r, UOp *call)
{
	return is_constant(place_buffer(call, r->c.w->src[0])) && !r->facts.serial &&
		!r->facts.sort && !call_aliases(call) && last_axis(&r->facts) < MAX_RANGES - 2;
}

/* The longest range of a set along which the constant moves, but not to its neighbour. */
static UOp *far_range(const Roles *r, uint64_t set)
{
	int far = -1;
	int64_t step;
	for (int i = 0; i < r->facts.nrange; i++)
		if (set >> i & 1 &&
			(far < 0 || most_size(&r->facts, i) > most_size(&r->facts, far)))
			far = i;
	return far < 0 || (place_step(flat_place(r->c.w->src[0]), r->facts.range[far], &step) &&
		step == 1) ? NULL : r->facts.range[far];
}

/* On a GPU: what is side by side along neither the output's range nor the longest of the sum's. */
static bool gpu_repack_find(Repack *p, Roles *r, UOp *call)
{
	*p = (Repack){.r = r, .call = call};
	uint64_t free = free_of(r->c.w->src[0]), out = free & r->facts.out;
	uint64_t sum = free & bound_of(r->c.fold);
	UOp *side = far_range(r, out), *k = far_range(r, sum);
	if (!side || !k || !may_copy(r, call) || val_get(call->src[0]->arg, "actions"))
		return false;
	p->vector = side;
	p->n = ranges_of(&r->facts, out & ~bit_of(side), p->order);
	p->n += ranges_of(&r->facts, sum & ~bit_of(k), p->order + p->n);
	p->order[p->n++] = k;
	p->order[p->n++] = side;
	return plain(p);
}

static bool repack_find(Repack *p, Roles *r, UOp *call)
{
	*p = (Repack){.r = r, .call = call, .vector = stored_along(&r->facts)};
	UOp *w = r->c.w->src[0];
	uint64_t free = free_of(w), v = p->vector ? bit_of(p->vector) : 0;
	if (!(free & v) || !may_copy(r, call))
		return false;
	p->n = ranges_of(&r->facts, free & r->facts.out & ~v, p->order);
	p->n += ranges_of(&r->facts, free & bound_of(r->c.fold), p->order + p->n);
	p->order[p->n++] = p->vector;
	int element = (int)dtype_size(r->c.fold->dtype);
	int lanes = target->vector / (element < 4 ? 4 : element);
	lanes = lanes < 1 ? 1 : lanes;
	int64_t size = range_size(p->vector);
	if (size > 2 * lanes)
		p->width = panel_width(size, lanes, vectors_wanted(p));
	/* a range that is reduced elsewhere in the kernel cannot become an expression of two */
	if (p->width == size || (p->width && size % p->width && r->facts.in_place) ||
			(v & r->facts.reduced))
		p->width = 0;
	return plain(p) && !in_order(p);
}

/* ---- the actions */

/* The vector's range by panels: the last begins early enough to be whole. */
static const Val *split_action(const Repack *p, const Val *path)
{
	const Val *word[] = {val_str("split"), path, val_int(range_axis(p->vector)),
		val_int(p->width), val_str("overlap")};
	return val_array(range_size(p->vector) % p->width ? 5 : 4, word);
}

/* Constants are staged in order; false: they cannot be. */
static bool put_actions(ActionList *list, const Repack *p, const char *path)
{
	Rewriting w;
	Staging st = {.call = p->call, .value = p->r->c.w, .prepared = true};
	const Val *split = p->width ? split_action(p, val_str(path)) : NULL;
	call_ranges(&w, p->call);
	if (split) {
		st.call = schedule_split(&(Schedule){.action = split}, p->call, &w);
		st.value = substitute(st.value, 1, &w.was, &w.index);
		st.order[st.n++] = w.piece[0];
	}
	for (int i = 0; i < p->n; i++)
		st.order[st.n++] = split && p->order[i] == p->vector ? w.piece[1] : p->order[i];
	facts_find(&st.f, st.call->src[0], call_aliases(st.call));
	if (staging_misfit(&st))
		return false;
	if (split)
		vec_push(list, split);
	vec_push(list, staging_action(&st, path, &w));
	return true;
}

static void repack(ActionList *list, const Graph *g, uint32_t i)
{
	Roles r;
	Repack p;
	UOp *call = g->sink->src[i];
	if (!roles_find(&r, call) || !(target->gpu ? gpu_repack_find : repack_find)(&p, &r, call))
		return;
	const char *path = call_path(g->sink->nsrc, g->sink->src, i);
	const char *of = buffer_name(place_buffer(call, r.c.w->src[0]));
	long long panel = p.width ? p.width : range_size(p.vector);
	if (path && put_actions(list, &p, path))
		explain(call->src[0], "%s is packed in panels of %lld", of, panel);
}

Graph *layout_weights(Graph *g)
{
	ActionList list = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		if (!call_prepares(g->sink->src[i]))
			repack(&list, g, i);
	g = layout_actions(g, list.n, list.at);
	vec_free(&list);
	return g;
}
