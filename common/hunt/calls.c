/* Smaller calls and kernels, for reduce: buffers that a kernel does not use, calls that could hand
 * on what they read, ranges and axes of size 1. */
#include "hunt/hunt.h"

static bool has_calls(const Graph *g) { return g->level >= LV_SCHEDULE; }

size_t count_calls(const Graph *g) { return has_calls(g) ? g->sink->nsrc : 0; }

/* ---- slots that are not used, or have a buffer that another one has */

enum { SLOTS = 64 };
typedef struct { bool used[SLOTS]; int64_t to[SLOTS]; } Slots;

static UOp *move_param(UOp *u, void *ctx)
{
	const Slots *s = ctx;

	return u->op == OP_PARAM ? param_moved(u, s->to[param_slot(u)]) : u;
}

static UOp *without_slots(UOp *call)
{
	UOp *src[SLOTS + 1];
	Slots s = {.used = {false}};
	size_t n = 1;

	if (!call_has_kernel(call) || call->nsrc > SLOTS)
		return call;
	Nodes all = walk(call->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			s.used[param_slot(all.at[i])] = true;
	for (uint32_t k = 0; k + 1 < call->nsrc; k++) {
		size_t same = 1;
		while (same < n && src[same] != call->src[k + 1])
			same++;
		s.to[k] = (int64_t)same - 1;
		if (s.used[k] && same == n)
			src[n++] = call->src[k + 1];
	}
	if (n == call->nsrc)
		return call;
	src[0] = walk_replace(call->src[0], move_param, &s);
	return node_like(call, n, src, call->arg);
}

Graph *apply_slots(Graph *g, size_t from, size_t to, int variant)
{
	UOp **src = arena_alloc((g->sink->nsrc + 1) * sizeof *src);

	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		src[i] = i >= from && i < to ? without_slots(g->sink->src[i]) : g->sink->src[i];
	return graph_keep_calls(g, g->sink->nsrc, src);
}

/* ---- inputs that may be one */

typedef struct { UOp *from, *to; } Renamed;

static UOp *rename_buffer(UOp *old, UOp *const *src, void *ctx)
{
	const Renamed *r = ctx;

	return old == r->from ? r->to : NULL;
}

static size_t inputs_of(const Graph *g, UOp *input[SLOTS])
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; i < all.n && n < SLOTS; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input"))
			input[n++] = all.at[i];
	return n;
}

size_t count_inputs(const Graph *g)
{
	UOp *input[SLOTS];

	return inputs_of(g, input);
}

Graph *apply_inputs(Graph *g, size_t from, size_t to, int variant)
{
	UOp *input[SLOTS];

	inputs_of(g, input);
	for (size_t i = 0; i < from && to == from + 1; i++)
		if (input[i]->dtype == input[from]->dtype &&
			input[i]->shape == input[from]->shape) {
			Renamed r = {input[from], input[i]};
			g = graph_edit(g, rename_buffer, &r);
			return has_calls(g) ? apply_slots(g, 0, g->sink->nsrc, 0) : g;
		}
	return NULL;
}

/* ---- calls that are left out, and what they read stands for what they wrote */

/* The other way round when it wrote an output: that is then written by who wrote what it read. */
Graph *apply_forward(Graph *g, size_t from, size_t to, int variant)
{
	UOp *call = g->sink->src[from], **src = arena_alloc((g->sink->nsrc + 1) * sizeof *src);
	bool copy = call->op == OP_MEMCPY;
	uint32_t at = copy ? 1 : 2 + (uint32_t)variant, n = 0;

	if (to != from + 1 || g->sink->nsrc < 2 || at >= call->nsrc)
		return NULL;
	Renamed r = {call->src[!copy], call->src[at]};
	if (buffer_is(r.from, "output"))
		r = (Renamed){r.to, r.from};
	if (!buffer_is(r.from, "temp"))
		return NULL;
	g = graph_edit(g, rename_buffer, &r);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		if (i != from)
			src[n++] = g->sink->src[i];
	return graph_keep_calls(g, n, src);
}

/* ---- calls that are left out, and the temporaries that they wrote are given */

typedef struct { UOp *call; const char *role; } Given;

static UOp *give_role(UOp *old, UOp *const *src, void *ctx)
{
	const Given *given = ctx;

	if (old->op != OP_BUFFER || !buffer_is(old, "temp"))
		return NULL;
	for (uint32_t k = 1; k < given->call->nsrc && k <= SLOTS; k++)
		if (given->call->src[k] == old && call_writes(given->call) >> (k - 1) & 1)
			return node_like(old, 0, NULL, val_set(val_set(old->arg, "offset", NULL),
				"role", val_str(given->role)));
	return NULL;
}

/* The first way cuts off what is before a place, the second what is after it. */
Graph *apply_cut(Graph *g, size_t from, size_t to, int variant)
{
	UOp **src = arena_alloc((g->sink->nsrc + 1) * sizeof *src);
	size_t n = 0, last = variant ? from + 1 : g->sink->nsrc;

	for (size_t i = from; i < (variant ? from + 1 : to); i++) {
		Given given = {g->sink->src[i], variant ? "output" : "input"};
		if (!call_has_kernel(given.call))
			return NULL;
		g = graph_edit(g, give_role, &given);
	}
	for (size_t i = 0; i < last; i++)
		if (variant || i < from || i >= to)
			src[n++] = g->sink->src[i];
	return n ? graph_keep_calls(g, n, src) : NULL;
}

/* ---- ranges of size 1 */

typedef struct { size_t from, to, passed; Map gone; } Ranges;

static bool is_one(const UOp *size)
{
	int64_t n;

	return const_is_int(size, &n) && n == 1;
}

static bool counts_to_one(const UOp *u) { return u->op == OP_RANGE && is_one(u->src[0]); }

size_t count_ones(const Graph *g)
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; g->level == LV_SCHEDULE && i < all.n; i++)
		n += counts_to_one(all.at[i]);
	return n;
}

/* A fold over no range that is left is its value. */
static UOp *without_ranges(UOp *old, UOp *const *src, void *ctx)
{
	Ranges *r = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	uint32_t n = 0;

	if (counts_to_one(old) && r->passed++ - r->from < r->to - r->from) {
		map_put(&r->gone, PKEY(old), old);
		return const_int(DT_I64, 0);
	}
	if (old->op != OP_RREDUCE && old->op != OP_RSCAN)
		return NULL;
	for (uint32_t i = 0; i < old->nsrc; i++)
		if (!map_get(&r->gone, PKEY(old->src[i])))
			left[n++] = src[i];
	if (n == old->nsrc)
		return NULL;
	UOp *fold = node_like(old, n, left, old->arg);
	return n == 1 ? fold_value(fold) : fold;
}

Graph *apply_ones(Graph *g, size_t from, size_t to, int variant)
{
	Ranges r = {from, to, 0, {0}};

	return graph_edit(g, without_ranges, &r);
}

/* ---- axes of size 1 */

typedef struct { size_t from, to; bool flat; } Axes;

static UOp *without_axes(UOp *old, UOp *const *src, void *ctx)
{
	const Axes *a = ctx;
	const bool index = old->op == OP_INDEX && !a->flat;
	const Shape *shape = index ? old->src[0]->shape : old->shape;
	UOp *left[MAX_RANK + 1] = {index ? src[0] : NULL};
	const Val *dims[MAX_RANK];
	int n = 0;

	if (!index && old->op != OP_BUFFER && old->op != OP_PARAM)
		return NULL;
	for (int k = 0; k < shape->rank; k++) {
		if (is_one(shape->dim[k]) && (size_t)k >= a->from && (size_t)k < a->to)
			continue;
		if (index)
			left[n + 1] = src[k + 1];
		else
			dims[n] = val_get(old->arg, "shape")->a[k];
		n++;
	}
	return index ? node_like(old, (size_t)n + 1, left, old->arg) :
		       node_like(old, 0, NULL, val_set(old->arg, "shape", val_array(n, dims)));
}

size_t count_axes(const Graph *g)
{
	Nodes all = walk(g->sink);
	int most = 0;

	for (size_t i = 0; has_calls(g) && i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && all.at[i]->shape->rank > most)
			most = all.at[i]->shape->rank;
	return most;
}

Graph *apply_axes(Graph *g, size_t from, size_t to, int variant)
{
	Axes a = {from, to, g->level > LV_SCHEDULE};

	return graph_edit(g, without_axes, &a);
}
