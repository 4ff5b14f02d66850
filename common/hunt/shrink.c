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
		bool same = true;       /* nothing is folded but what an edit changed */
		for (uint32_t k = 0; k < u->nsrc; k++)
			same &= (src[k] = now[u->src[k]->id]) == u->src[k];
		made = edit(u, src, ctx);
		now[u->id] = made ? made : same ? u :
			is_graph(g) ? node_with(u, src) : ix_remake(u, src);
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
		u->op == OP_RSCAN || u->op == OP_SHUFFLE || u->op == OP_BROADCAST;
}

static UOp *number_of_shape(const UOp *u, double v)
{
	UOp *x = const_num(dtype_element(u->dtype), v), *one = const_int(DT_I64, 1);
	UOp *ones[MAX_RANK];

	if (dtype_lanes(u->dtype) > 1)
		return NODE(OP_BROADCAST, u->dtype, VNIL, x);
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

/* An operand stands for another one, too: max(a, b) → max(b, b). */
static UOp *one_operand(UOp *old, UOp *const *src, void *ctx)
{
	const Chunk *c = ctx;
	uint32_t to = c->variant % 2, from = !to;
	UOp *both[3];

	if (!within(c, old) || !is_value(c, old) || old->nsrc < 2 || old->nsrc > 3 ||
		src[to]->dtype != src[from]->dtype || src[to]->shape != src[from]->shape)
		return NULL;
	memcpy(both, src, old->nsrc * sizeof *both);
	both[to] = both[from];
	return node_like(old, old->nsrc, both, old->arg);
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

static Graph *to_operands(Graph *g, size_t from, size_t to, int variant)
{
	return edit_chunk(g, from, to, variant, one_operand);
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

/* passed: how many statements, or actions, the kernels before have had; kept: statements that stay
 * in at least one place, by id + 1; counter: what a loop's counter is without it */
typedef struct { size_t from, to, passed; Map kept; int counter; } Statements;

/* Which statements of a list stay: a loop or branch goes with its end. */
static bool *staying(const UOp *u, const Statements *s, size_t passed)
{
	bool *stays = arena_alloc(u->nsrc + 1);
	VEC(uint32_t) open = {0};

	for (uint32_t i = 0; i < u->nsrc; i++) {
		Op op = u->src[i]->op;
		bool ends = op == OP_ENDRANGE || op == OP_ENDIF;
		stays[i] = passed + i < s->from || passed + i >= s->to;
		if (ends && open.n)
			stays[i] = stays[open.at[--open.n]];
		if (op == OP_RANGE || op == OP_IF)
			vec_push(&open, i);
	}
	vec_free(&open);
	return stays;
}

static bool is_gone(const Statements *s, const UOp *u)
{
	return !map_get(&s->kept, u->id + 1);
}

/* A counter is a number without its loop; what a LET named stands where the name did. */
static UOp *without_statements(UOp *old, UOp *const *src, void *ctx)
{
	Statements *s = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	size_t n = 0;

	if (old->op == OP_RANGE && is_gone(s, old))
		return const_int(DT_I64, s->counter);
	if (old->op == OP_LET && is_gone(s, old))
		return src[0];
	if ((old->op == OP_ENDRANGE || old->op == OP_ENDIF) && is_gone(s, old))
		return old;             /* nothing refers to it any more */
	if (!has_statements(old))
		return NULL;
	bool *stays = staying(old, s, s->passed);
	s->passed += old->nsrc;
	for (uint32_t i = 0; i < old->nsrc; i++)
		if (stays[i])
			left[n++] = src[i];
	return node_like(old, n, left, old->arg);
}

static Graph *drop_statements(Graph *g, size_t from, size_t to, int variant)
{
	Statements s = {.from = from, .to = to, .counter = variant};
	Nodes all = walk(g->sink);
	size_t passed = 0;

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool *stays = has_statements(u) ? staying(u, &s, passed) : NULL;
		for (uint32_t k = 0; k < statements_in(u); k++)
			if (stays[k])
				map_put(&s.kept, u->src[k]->id + 1, u->src[k]);
		passed += statements_in(u);
	}
	/* a RANGE of an expression alone is no statement */
	if (g->level == LV_SCHEDULE)
		for (size_t i = 0; i < all.n; i++)
			if (all.at[i]->op == OP_RANGE)
				map_put(&s.kept, all.at[i]->id + 1, all.at[i]);
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
	{"statements", count_statements, drop_statements, 2},
	{"calls cut off", count_calls, apply_cut, CUT_VARIANTS},
	{"calls forwarded", count_calls, apply_forward, FORWARD_VARIANTS},
	{"inputs", count_inputs, apply_inputs, 1},
	{"slots", count_calls, apply_slots, 1},
	{"actions", count_actions, drop_actions, 1},
	{"sizes", count_sizes, apply_size, SIZE_VARIANTS},
	{"size variables", count_vars, apply_vars, VARS_VARIANTS},
	{"ranges of size 1", count_ones, apply_ones, 1},
	{"axes of size 1", count_axes, apply_axes, 1},
	{"numbers", count_nodes, to_numbers, 3},
	{"sources", count_nodes, to_sources, 3},
	{"operands", count_nodes, to_operands, 2},
	{"gates", count_nodes, drop_gates, 1},
	{"registers", count_memories, apply_one_memory, ONE_MEMORY_VARIANTS},
	{"stores forwarded", count_memory_loads, apply_stored, STORED_VARIANTS},
	{"lanes", count_lanes, apply_one_lane, 1},
	{"names of kernels", one_place, one_name, 1},
	{"constants", count_nodes, to_simple, 2},
	{0},
};
