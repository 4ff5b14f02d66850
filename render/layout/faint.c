/* Weights of an attention that are faint beside the greatest of their row are 0:
 *
 *     p[k] = exp2(c*(s - max s))   →   where(c*(s - max s) < -100, 0, exp2(c*(s - max s)))
 *
 * where all that reads p is summed along k: Σ p[k]*v[k], Σ p[k]. What is left out is less than
 * 2^-100 of the greatest weight, which is 1. Weights below 2^-126 would be subnormal: on many
 * processors each operation that makes or reads one takes a hundred cycles, for a vector of which
 * any lane is. An attention of [8,512,64] whose scores fall by 1 a key takes 10.3 ms instead of 1.9
 * on two Intel cores. Weights that are themselves a result are exact. */
#include "layout/online.h"
#include <math.h>
#include <stdlib.h>

/* The least weight that counts, as a power of two: what is divided by the sum of a long row, or
 * multiplied by a small value, is no subnormal yet. */
static double faintest(DType d) { return d == DT_F64 ? -900 : -100; }

UOp *without_faint(UOp *e)
{
	UOp *x = e->src[0], *least = const_num(e->dtype, faintest(e->dtype));
	UOp *held = NODE(OP_EXP2, e->dtype, VNIL, NODE(OP_MAX, e->dtype, VNIL, x, least));
	return NODE(OP_WHERE, e->dtype, VNIL, NODE(OP_CMPLT, DT_BOOL, VNIL, x, least),
		const_num(e->dtype, 0), held);
}

static bool is_positive(const UOp *u)
{
	double c;
	return const_is_float(u, &c) && c > 0 && isfinite(c);
}

const UOp *softmax_power(const UOp *e, UOp **x, UOp **scale)
{
	UOp *from = e->op == OP_EXP2 ? e->src[0] : NULL;
	*scale = NULL;
	for (int k = 0; from && from->op == OP_MUL && k < 2 && !*scale; k++)
		*scale = is_positive(from->src[1 - k]) ? from->src[1 - k] : NULL;
	if (*scale)
		from = from->src[from->src[0] == *scale];
	const UOp *most = from && from->op == OP_SUB ? from->src[1] : NULL;
	bool is = most && most->op == OP_RREDUCE && val_is_str(most->arg, "MAX") &&
		most->nsrc == 2 && most->src[0] == from->src[0] &&
		(e->dtype == DT_F32 || e->dtype == DT_F64);
	*x = is ? from->src[0] : NULL;
	return is ? most->src[1] : NULL;
}

/* ---- who reads the weights */

/* Does u load the buffer, plainly, along that range in its axis `axis`? */
static bool loads_along(
	const UOp *u, const UOp *call, const UOp *buffer, uint32_t axis, const UOp *range)
{
	return u->op == OP_LOAD && u->nsrc == 1 && place_buffer(call, u->src[0]) == buffer &&
		u->src[0]->nsrc > axis && u->src[0]->src[axis] == range;
}

/* Is the value of every load of the buffer summed along the range that is its place's axis `axis`,
 * as it is or in a product? */
static bool sums_all(const UOp *call, const UOp *buffer, uint32_t axis)
{
	Nodes all = walk(call->src[0]);
	Map summed = {0};               /* products that are, and sums */
	bool ok = true;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], *body = u->nsrc ? u->src[0] : NULL;
		if (u->op != OP_RREDUCE || u->nsrc != 2 || !val_is_str(u->arg, "ADD"))
			continue;
		if (loads_along(body, call, buffer, axis, u->src[1]))
			map_put(&summed, PKEY(u), u);
		for (uint32_t k = 0; body->op == OP_MUL && k < 2; k++)
			if (loads_along(body->src[k], call, buffer, axis, u->src[1]))
				map_put(&summed, PKEY(body), body);
	}
	for (size_t i = 0; i < all.n && ok; i++)
		for (uint32_t k = 0; k < all.at[i]->nsrc && ok; k++) {
			const UOp *u = all.at[i]->src[k];
			ok = u->op != OP_LOAD || place_buffer(call, u->src[0]) != buffer ||
				map_get(&summed, PKEY(all.at[i]));
		}
	/* a product is read by its sum alone */
	for (size_t i = 0; i < all.n && ok; i++)
		for (uint32_t k = 0; k < all.at[i]->nsrc && ok; k++)
			ok = all.at[i]->src[k]->op != OP_MUL ||
				!map_get(&summed, PKEY(all.at[i]->src[k])) ||
				all.at[i]->op == OP_RREDUCE;
	map_free(&summed);
	return ok;
}

/* Is the axis of the place along that range? Its number among the place's sources; 0: none is. */
static uint32_t axis_along(const UOp *place, const UOp *range)
{
	for (uint32_t k = 1; k < place->nsrc; k++)
		if (place->src[k] == range)
			return k;
	return 0;
}

static bool only_summed(const UOp *sink, const UOp *writer, uint32_t axis)
{
	const UOp *buffer = writer->src[1];
	int readers = 0;
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		const UOp *call = sink->src[i];
		if (call == writer || !call_touches(call, buffer))
			continue;
		int slot = call_has_kernel(call) ? call_slot(call, buffer) : -1;
		if (slot < 0 || slot >= 64 || call_writes(call) >> slot & 1 ||
			!sums_all(call, buffer, axis))
			return false;
		readers++;
	}
	return readers > 0;
}

/* ---- the pass */

/* The weights are what is stored, or that over their sum. */
static UOp *weights_stored(const UOp *store)
{
	UOp *v = store->src[1];
	UOp *e = v->op == OP_MUL || v->op == OP_FDIV ? v->src[0] : v;
	return v->op == OP_MUL && e->op != OP_EXP2 ? v->src[1] : e;
}

static UOp *without(const UOp *sink, UOp *call)
{
	bool plain = call_has_kernel(call) && !call_prepares(call) &&
		!val_get(call->src[0]->arg, "actions");
	const UOp *store = plain ? call_store(call) : NULL;
	if (!store || !buffer_is(call->src[1], "temp"))
		return call;
	UOp *e = weights_stored(store), *x, *scale;
	const UOp *key = softmax_power(e, &x, &scale);
	uint32_t axis = key ? axis_along(store->src[0], key) : 0;
	if (!axis || !only_summed(sink, call, axis))
		return call;
	UOp *to = without_faint(e);
	explain(call->src[0], "weights below 2^%.0f of the greatest in a row of %s are 0",
		faintest(e->dtype), buffer_name(call->src[1]));
	UOp *k = substitute(call->src[0], 1, &e, &to);
	return call_with_kernel(call,
		node_like(k, k->nsrc, k->src, val_set(k->arg, "faint", val_bool(true))));
}

Graph *layout_faint(Graph *g)
{
	const UOp *sink = g->sink;
	UOp **call = xcalloc(sink->nsrc + 1, sizeof *call);
	bool changed = false;
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		call[i] = without(sink, sink->src[i]);
		changed |= call[i] != sink->src[i];
	}
	Graph *r = changed ? graph_with_calls(g, sink->nsrc, call) : g;
	free(call);
	return r;
}
