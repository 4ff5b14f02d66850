/* Ways to make a document smaller, for reduce. None of them has to keep the meaning, nor to be
 * right at every place: what comes out is verified, measured and judged. */
#include "hunt/hunt.h"
#include <stdlib.h>

static bool is_graph(const Graph *g) { return g->level <= LV_GRAPH; }

Graph *graph_edit(const Graph *g, NodeEdit edit, void *ctx)
{
	Nodes all = walk(g->sink);
	UOp **now = xcalloc(node_limit(), sizeof *now);
	Graph *r = arena_alloc(sizeof *r);

	*r = *g;
	r->all = (Nodes){0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], **src = arena_alloc((u->nsrc + 1) * sizeof *src), *made;
		for (uint32_t k = 0; k < u->nsrc; k++)
			src[k] = now[u->src[k]->id];
		made = edit(u, src, ctx);
		now[u->id] = made ? made : is_graph(g) ? node_with(u, src) : ix_remake(u, src);
	}
	r->sink = now[g->sink->id];
	free(now);
	return r;
}

/* ---- measure */

static size_t actions_in(const UOp *u)
{
	const Val *list = u->op == OP_KERNEL ? val_get(u->arg, "actions") : NULL;

	return list && list->kind == VAL_ARRAY ? list->n : 0;
}

static bool is_simple(const UOp *u)
{
	uint64_t bits;

	const_get(u, &bits);
	return u == const_num(u->dtype, 0) || u == const_num(u->dtype, 1);
}

double shrink_measure(const Graph *g)
{
	Nodes all = walk(g->sink);
	double n = all.n, small = g->meta != VNIL, sizes = sizes_sum(g);

	for (size_t i = 0; i < all.n; i++) {
		n += actions_in(all.at[i]);
		small += all.at[i]->op == OP_CONST && !is_simple(all.at[i]);
		small += all.at[i]->note != VNIL;
	}
	n += g->vars != VNIL ? g->vars->n : 0;
	return n * 1e9 + (sizes < 1e5 ? sizes : 1e5) * 1e4 + (small < 9999 ? small : 9999);
}

/* ---- outputs, calls, meta */

static size_t one_place(const Graph *g) { return 1; }

static Graph *without_meta(Graph *g, size_t from, size_t to, int variant)
{
	Nodes all = walk(g->sink);

	g->meta = VNIL;
	for (size_t i = 0; i < all.n; i++)
		all.at[i]->note = VNIL;
	return g;
}

static Graph *with_sink(Graph *g, size_t n, UOp *const *src, size_t nnames,
	const Val *const *names)
{
	const Val *arg = nnames ? VMAP(val_str("names"), val_array(nnames, names)) : VNIL;

	g->sink = sink_with(g->sink, n, src, arg);
	g->all = (Nodes){0};
	return g;
}

static Graph *keep_outputs(Graph *g, size_t n, UOp *const *src, const bool *kept)
{
	const Val *names = val_get(g->sink->arg, "names");
	const Val **left = arena_alloc((names ? names->n + 1 : 1) * sizeof *left);
	size_t m = 0;

	for (size_t i = 0; names && names->kind == VAL_ARRAY && i < names->n; i++)
		if (i < sink_outputs(g->sink) && kept[i])
			left[m++] = names->a[i];
	return with_sink(g, n, src, m, left);
}

/* Those that were outputs before come first, in their order. */
Graph *graph_keep_calls(Graph *g, size_t n, UOp *const *src)
{
	const Val *names = val_get(g->sink->arg, "names");
	Nodes all = walk_many(n, src);
	VEC(const Val *) left = {0};
	size_t before = names && names->kind == VAL_ARRAY ? names->n : 0;

	for (size_t i = 0; i <= before; i++)
		for (size_t k = 0; k < all.n; k++) {
			const UOp *u = all.at[k];
			const Val *name = u->op == OP_BUFFER ? val_get(u->arg, "name") : NULL;
			bool was = false;
			for (size_t j = 0; j < before; j++)
				was |= names->a[j] == name;
			if (name && buffer_is(u, "output") &&
				(i < before ? names->a[i] == name : !was))
				vec_push(&left, name);
		}
	g = with_sink(g, n, src, left.n, left.at);
	vec_free(&left);
	return g;
}

static size_t count_sources(const Graph *g)
{
	return sink_outputs(g->sink) > 1 ? sink_outputs(g->sink) : 0;
}

static Graph *drop_sources(Graph *g, size_t from, size_t to, int variant)
{
	UOp **src = arena_alloc((g->sink->nsrc + 1) * sizeof *src);
	bool *kept = arena_alloc(g->sink->nsrc + 1);
	size_t n = 0;

	for (size_t i = 0; i < sink_outputs(g->sink); i++)
		if ((kept[i] = i < from || i >= to))
			src[n++] = g->sink->src[i];
	if (!n)
		return NULL;
	return is_graph(g) ? keep_outputs(g, n, src, kept) : graph_keep_calls(g, n, src);
}

static size_t count_nodes(const Graph *g) { return walk(g->sink).n; }

static size_t count_graph_nodes(const Graph *g) { return is_graph(g) ? count_nodes(g) : 0; }

/* One node is the only output. */
static Graph *only_node(Graph *g, size_t from, size_t to, int variant)
{
	UOp *u = walk(g->sink).at[from];

	return u->dtype == DT_NONE || u->op == OP_ASSIGN ? NULL : with_sink(g, 1, &u, 0, NULL);
}

/* ---- nodes */

typedef struct { const uint32_t *place; size_t from, to; int variant; bool graph; } Chunk;

static bool within(const Chunk *c, const UOp *u)
{
	return c->place[u->id] >= c->from && c->place[u->id] < c->to;
}

/* A value that others could stand for; below level graph, not a place or a declaration. */
static bool is_value(const Chunk *c, const UOp *u)
{
	if (u->op == OP_CONST || u->dtype == DT_NONE)
		return false;
	return c->graph || op_elementwise(u->op) || u->op == OP_LOAD || u->op == OP_RREDUCE ||
		u->op == OP_RSCAN;
}

static UOp *number_of_shape(const UOp *u, double v)
{
	UOp *x = const_num(u->dtype, v), *one = const_int(DT_I64, 1), *ones[MAX_RANK];

	if (!u->shape->rank)
		return x;
	for (int i = 0; i < u->shape->rank; i++)
		ones[i] = one;
	x = NODE(OP_RESHAPE, u->dtype, shape_to_val(shape_new(u->shape->rank, ones)), x);
	return NODE(OP_EXPAND, u->dtype, shape_to_val(u->shape), x);
}

static UOp *number_or_input(UOp *old, UOp *const *src, void *ctx)
{
	const Chunk *c = ctx;

	if (!within(c, old) || !is_value(c, old))
		return NULL;
	if (c->variant < 2)
		return number_of_shape(old, c->variant);
	return c->graph ? buffer_of(arena_printf("in%u", c->place[old->id]), "input", old->dtype,
				  old->shape) : NULL;
}

static UOp *one_of_sources(UOp *old, UOp *const *src, void *ctx)
{
	const Chunk *c = ctx;
	uint32_t k = c->variant;

	if (!within(c, old) || !is_value(c, old) || k >= old->nsrc)
		return NULL;
	return src[k]->dtype == old->dtype && src[k]->shape == old->shape ? src[k] : NULL;
}

/* A loop that runs never is another case. */
static UOp *simple_number(UOp *old, UOp *const *src, void *ctx)
{
	const Chunk *c = ctx;

	if (old->op == OP_RANGE && !c->variant)
		return old;
	return within(c, old) && old->op == OP_CONST && !is_simple(old) ?
		const_num(old->dtype, c->variant) : NULL;
}

static Graph *edit_chunk(Graph *g, size_t from, size_t to, int variant, NodeEdit edit)
{
	Nodes all = walk(g->sink);
	uint32_t *place = arena_alloc(node_limit() * sizeof *place);
	Chunk c = {place, from, to, variant, is_graph(g)};

	for (size_t i = 0; i < all.n; i++)
		place[all.at[i]->id] = (uint32_t)i;
	return graph_edit(g, edit, &c);
}

static Graph *to_numbers(Graph *g, size_t from, size_t to, int variant)
{
	return edit_chunk(g, from, to, variant, number_or_input);
}

static Graph *to_sources(Graph *g, size_t from, size_t to, int variant)
{
	return edit_chunk(g, from, to, variant, one_of_sources);
}

static Graph *to_simple(Graph *g, size_t from, size_t to, int variant)
{
	return edit_chunk(g, from, to, variant, simple_number);
}

static UOp *without_gate(UOp *old, UOp *const *src, void *ctx)
{
	uint32_t least = old->op == OP_LOAD ? 1 : 2;

	if ((old->op != OP_LOAD && old->op != OP_STORE) || old->nsrc <= least)
		return NULL;
	return within(ctx, old) ? node_like(old, least, src, old->arg) : NULL;
}

static Graph *drop_gates(Graph *g, size_t from, size_t to, int variant)
{
	return edit_chunk(g, from, to, variant, without_gate);
}

/* Kernels that differ by their names are one then. */
static UOp *with_one_name(UOp *old, UOp *const *src, void *ctx)
{
	return old->op == OP_KERNEL ? node_like(old, old->nsrc, src,
		val_set(old->arg, "name", val_str("k"))) : NULL;
}

static Graph *one_name(Graph *g, size_t from, size_t to, int variant)
{
	return graph_edit(g, with_one_name, NULL);
}

/* ---- registers and local memory: one for two, of a chain that hands a value on */

typedef struct { UOp *from, *to; } Merge;

static bool is_memory(const UOp *u) { return u->op == OP_DEFINE_REG || u->op == OP_DEFINE_LOCAL; }

static size_t count_memories(const Graph *g)
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		n += is_memory(all.at[i]);
	return n;
}

/* The one that stays is declared once. */
static UOp *with_one_memory(UOp *old, UOp *const *src, void *ctx)
{
	const Merge *m = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	size_t n = 0;

	if (old == m->from)
		return m->to;
	if (old->op != OP_KERNEL)
		return NULL;
	for (uint32_t i = 0; i < old->nsrc; i++)
		if (old->src[i] != m->from)
			left[n++] = src[i];
	return node_like(old, n, left, old->arg);
}

/* variant: for which of the others it goes. */
static Graph *one_memory(Graph *g, size_t from, size_t to, int variant)
{
	Nodes all = walk(g->sink);
	Merge m = {0};
	size_t k = 0;

	for (size_t i = 0; i < all.n; i++)
		if (is_memory(all.at[i]) && k++ == from)
			m.from = all.at[i];
	for (size_t i = 0; i < all.n && variant >= 0; i++)
		if (m.from && all.at[i] != m.from && all.at[i]->op == m.from->op &&
			all.at[i]->dtype == m.from->dtype && !variant--)
			m.to = all.at[i];
	return m.to && to == from + 1 ? graph_edit(g, with_one_memory, &m) : NULL;
}

/* ---- statements and actions of kernels, entries of regions */

static bool has_statements(const UOp *u) { return u->op == OP_KERNEL || u->op == OP_REGION; }

static size_t statements_in(const UOp *u) { return has_statements(u) ? u->nsrc : 0; }

static size_t count_in_kernels(const Graph *g, size_t (*in)(const UOp *u))
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		n += in(all.at[i]);
	return n;
}

static size_t count_statements(const Graph *g)
{
	return g->level == LV_SCHEDULE || g->level == LV_LOOPS ?
		count_in_kernels(g, statements_in) : 0;
}

static size_t count_actions(const Graph *g) { return count_in_kernels(g, actions_in); }

/* passed: how many statements, or actions, the kernels before have had */
typedef struct { size_t from, to, passed; Map gone; } Statements;

/* A loop goes with its end, and its counter is 0; what a LET named stands where the name did. */
static UOp *without_statements(UOp *old, UOp *const *src, void *ctx)
{
	Statements *s = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	size_t n = 0;

	if (old->op == OP_RANGE && map_get(&s->gone, old->id + 1))
		return const_int(DT_I64, 0);
	if (old->op == OP_LET && map_get(&s->gone, old->id + 1))
		return src[0];
	if ((old->op == OP_ENDRANGE || old->op == OP_ENDIF) &&
		map_get(&s->gone, old->src[0]->id + 1))
		return old;             /* nothing refers to it any more */
	if (!has_statements(old))
		return NULL;
	for (uint32_t i = 0; i < old->nsrc; i++) {
		const UOp *u = old->src[i];
		bool end = u->op == OP_ENDRANGE || u->op == OP_ENDIF;
		if (!map_get(&s->gone, (end ? u->src[0] : u)->id + 1))
			left[n++] = src[i];
	}
	return node_like(old, n, left, old->arg);
}

static Graph *drop_statements(Graph *g, size_t from, size_t to, int variant)
{
	Statements s = {from, to, 0, {0}};
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		for (uint32_t k = 0; k < statements_in(all.at[i]); k++, s.passed++) {
			UOp *u = all.at[i]->src[k];
			if (s.passed >= from && s.passed < to && u->op != OP_ENDRANGE &&
				u->op != OP_ENDIF)
				map_put(&s.gone, u->id + 1, u);
		}
	g = graph_edit(g, without_statements, &s);
	return apply_slots(g, 0, g->sink->nsrc, 0);
}

static UOp *without_actions(UOp *old, UOp *const *src, void *ctx)
{
	Statements *s = ctx;
	size_t all = actions_in(old), n = 0;
	const Val **left = arena_alloc((all + 1) * sizeof *left);

	for (size_t i = 0; i < all; i++, s->passed++)
		if (s->passed < s->from || s->passed >= s->to)
			left[n++] = val_get(old->arg, "actions")->a[i];
	return all ? node_like(old, old->nsrc, src, val_set(old->arg, "actions",
		val_array(n, left))) : NULL;
}

static Graph *drop_actions(Graph *g, size_t from, size_t to, int variant)
{
	Statements s = {from, to, 0, {0}};

	return graph_edit(g, without_actions, &s);
}

const Shrink shrinks[] = {
	{"meta", one_place, without_meta, 1},
	{"outputs and calls", count_sources, drop_sources, 1},
	{"one node", count_graph_nodes, only_node, 1},
	{"statements", count_statements, drop_statements, 1},
	{"calls cut off", count_calls, apply_cut, CUT_VARIANTS},
	{"calls forwarded", count_calls, apply_forward, FORWARD_VARIANTS},
	{"inputs", count_inputs, apply_inputs, 1},
	{"slots", count_calls, apply_slots, 1},
	{"actions", count_actions, drop_actions, 1},
	{"sizes", count_sizes, apply_size, SIZE_VARIANTS},
	{"size variables", count_vars, apply_vars, 1},
	{"ranges of size 1", count_ones, apply_ones, 1},
	{"axes of size 1", count_axes, apply_axes, 1},
	{"numbers", count_nodes, to_numbers, 3},
	{"sources", count_nodes, to_sources, 3},
	{"gates", count_nodes, drop_gates, 1},
	{"registers", count_memories, one_memory, 4},
	{"names of kernels", one_place, one_name, 1},
	{"constants", count_nodes, to_simple, 2},
	{0},
};
