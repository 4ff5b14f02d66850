/* Loops, branches and sizes that data gives become steps of the list.
 *
 *     %2 BIND n ["k", 0, 8]   %3 SHRINK x [[0, "k"]]   %4 NEG %3   SINK(%4)
 *     →   SINK(BIND(n) ["k", 0, 8], CALL(KERNEL E, y, x))
 *
 * The nodes of a region are put between its steps as early as what they depend on allows. What lies
 * between two steps, a segment, is scheduled as a graph of its own; a value that something else
 * needs has a temporary. Views, constants and sizes are made anew wherever they are read; a loop's
 * turn is a size there.
 *
 *     LOOP:  TAKE s, init
 *            LOOP(limit, turns, REGION(… next from s …, APPEND stack, value, SWAP s, next))
 *     IF:    IF(condition, REGION(… r, value if true), REGION(… r, value if false))
 */
#include "schedule.h"
#include "document/document.h"
#include "shape/regions.h"
#include <stdlib.h>

/* A node whose content a segment leaves in a buffer. */
typedef struct { UOp *node, *to; } Result;
typedef VEC(Result) Results;

typedef struct {
	Graph *g;
	Regions *regions;
	UOp **home;             /* by id: the BUFFER with the node's content */
	uint32_t *place;        /* by id: its segment in its region + 1 */
	uint8_t *constant;      /* by id: list_constants() */
	Map temps;              /* name → BUFFER of the temporaries here */
	Map taken;              /* names of other buffers */
	Turns turns;
	unsigned number;        /* of temporaries so far */
	const Region *region;   /* what is being listed, and its segment: */
	uint32_t segment;
	Results *results;       /* by segment */
	Map to;                 /* node → its copy in the segment */
} Lister;

/* ---- buffers */

static UOp *temp_of(Lister *l, const char *stem, DType dt, const Shape *shape)
{
	const char *name;
	do
		name = arena_printf("%s%u", stem, l->number++);
	while (map_get(&l->taken, PKEY(val_str(name))));
	UOp *u = buffer_of(name, "temp", dt, shape);
	map_put(&l->temps, PKEY(val_str(name)), u);
	return u;
}

/* Made anew wherever it is read. */
static bool is_cheap(const Lister *l, const UOp *u)
{
	return l->constant[u->id] || op_movement(u->op) || u->op == OP_CONST ||
		u->op == OP_ARANGE || u->op == OP_SIZE || u->op == OP_TURN || u->op == OP_BIND ||
		u->op == OP_DETACH;
}

/* ---- the copy of a segment's nodes */

static UOp *copy_leaf(Lister *l, UOp *u)
{
	if (u->op == OP_BUFFER || u->op == OP_CONST || u->op == OP_ARANGE || u->op == OP_SIZE)
		return u;
	if (u->op == OP_TURN)
		return LEAF(OP_SIZE, DT_I64, turn_name(&l->turns, u->arg->i));
	if (u->op == OP_BIND)
		return LEAF(OP_SIZE, DT_I64, u->arg->a[0]);
	bool mine = l->regions->of[u->id] == l->region && l->place[u->id] == l->segment + 1;
	if (is_cheap(l, u) || (mine && op_info[u->op].cls != CLASS_FLOW))
		return NULL;
	UOp *home = l->home[u->id];
	CHECK(home);
	/* as an input the segment's graph may have it */
	return buffer_is(home, "temp") ?
		LEAF(OP_BUFFER, home->dtype, val_set(home->arg, "role", val_str("input"))) : home;
}

/* The node in the segment's graph; what is computed elsewhere is a BUFFER. */
static UOp *copy(Lister *l, UOp *root)
{
	NodeList todo = {0}, src = {0};
	vec_push(&todo, root);
	while (todo.n) {
		UOp *u = todo.at[todo.n - 1], *made = map_get(&l->to, PKEY(u));
		bool ready = true;
		if (!made && (made = copy_leaf(l, u)))
			map_put(&l->to, PKEY(u), made);
		if (made) {
			todo.n--;
			continue;
		}
		src.n = 0;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			UOp *s = map_get(&l->to, PKEY(u->src[k]));
			if (!s)
				vec_push(&todo, u->src[k]);
			ready &= s != NULL;
			vec_push(&src, s);
		}
		UOp *slice = ready && u->nsrc ? slice_of(&l->turns, u, src.at[0]) : NULL;
		if (ready)
			map_put(&l->to, PKEY(u), slice ? slice :
				node_like(u, src.n, src.at, u->arg));
	}
	vec_free(&todo);
	vec_free(&src);
	return map_get(&l->to, PKEY(root));
}

/* ---- a segment's calls */

static UOp *buffer_back(Lister *l, Map *fresh, UOp *u)
{
	bool own = buffer_is(u, "temp");
	UOp *known = own ? map_get(fresh, PKEY(u)) :
		map_get(&l->temps, PKEY(val_get(u->arg, "name")));
	if (!own)
		return known ? known : u;
	if (!known) {
		known = temp_of(l, "t", u->dtype, u->shape);
		map_put(fresh, PKEY(u), known);
	}
	return known;
}

/* Adds the calls that leave these results to a list. */
static void list_segment(Lister *l, const Results *results, NodeList *list)
{
	NodeList out = {0}, src = {0};
	VEC(const Val *) names = {0};
	Map fresh = {0};
	map_free(&l->to);
	for (size_t i = 0; i < results->n; i++) {
		vec_push(&out, copy(l, results->at[i].node));
		vec_push(&names, val_get(results->at[i].to->arg, "name"));
	}
	if (out.n) {
		Graph g = *l->g;
		g.all = (Nodes){0};
		g.sink = node_new(OP_SINK, DT_NONE, out.n, out.at,
			VMAP(val_str("names"), val_array(names.n, names.at)));
		Graph *r = make_kernels(bind_buffers(&g));
		l->g->meta = r->meta;
		for (uint32_t i = 0; i < r->sink->nsrc; i++) {
			UOp *call = r->sink->src[i];
			src.n = 0;
			for (uint32_t k = 0; k < call->nsrc; k++)
				vec_push(&src, call->src[k]->op != OP_BUFFER ? call->src[k] :
					buffer_back(l, &fresh, call->src[k]));
			vec_push(list, node_with(call, src.at));
		}
	}
	vec_free(&out);
	vec_free(&src);
	vec_free(&names);
	map_free(&fresh);
}

/* ---- what a region leaves behind */

/* A buffer with the node's content after segment `at` of the region at hand. */
static UOp *need(Lister *l, UOp *u, uint32_t at)
{
	if (u->op == OP_BUFFER)
		return u;
	if (!is_cheap(l, u) && l->home[u->id])
		return l->home[u->id];
	UOp *to = temp_of(l, "v", u->dtype, u->shape);
	if (!is_cheap(l, u)) {
		CHECK(l->regions->of[u->id] == l->region);
		l->home[u->id] = to;
		at = l->place[u->id] - 1;
	}
	vec_push(&l->results[at], ((Result){u, to}));
	return to;
}

static void leave(Lister *l, UOp *u, UOp *to, uint32_t at)
{
	vec_push(&l->results[at], ((Result){u, to}));
}

/* ---- where nodes are */

static bool is_step(const UOp *u)
{
	return u->op == OP_BIND || u->op == OP_LOOP || u->op == OP_IF;
}

/* The segment of each node of the region: after the steps that it depends on; that of a step is
 * the one before it. */
static uint32_t place_nodes(Lister *l, const Region *region)
{
	uint32_t steps = 0;
	NodeList named = {0};
	for (size_t i = 0; i < region->nodes.n; i++) {
		UOp *u = region->nodes.at[i];
		uint32_t at = 1;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			const UOp *s = u->src[k];
			uint32_t after = l->place[s->id] + (is_step(s) ? 1 : 0);
			if (l->regions->of[s->id] == region && after > at)
				at = after;
		}
		mentions_of(u, &l->regions->binds, &named);
		for (size_t k = 0; k < named.n; k++)
			if (l->regions->of[named.at[k]->id] == region &&
				l->place[named.at[k]->id] + 1 > at)
				at = l->place[named.at[k]->id] + 1;
		l->place[u->id] = is_step(u) ? ++steps : at;
	}
	/* what reads a state's old content comes before */
	for (size_t i = 0; i < region->nodes.n; i++)
		if (region->nodes.at[i]->op == OP_ASSIGN)
			l->place[region->nodes.at[i]->id] = steps + 1;
	vec_free(&named);
	return steps;
}

/* Values that something outside of their segment reads get a buffer there. */
static void need_read(Lister *l, UOp *u, const Region *reader, uint32_t segment)
{
	NodeList todo = {0};
	Map seen = {0};
	vec_push(&todo, u);
	while (todo.n) {
		UOp *x = todo.at[--todo.n];
		if (map_get(&seen, PKEY(x)))
			continue;
		map_put(&seen, PKEY(x), x);
		if (is_cheap(l, x)) {
			for (uint32_t k = 0; k < x->nsrc && x->op != OP_BIND; k++)
				vec_push(&todo, x->src[k]);
			continue;
		}
		const Region *of = l->regions->of[x->id];
		if (of == l->region && op_info[x->op].cls != CLASS_FLOW &&
			(of != reader || l->place[x->id] != segment))
			need(l, x, l->place[x->id] - 1);
	}
	vec_free(&todo);
	map_free(&seen);
}

static void need_shared(Lister *l, uint32_t last)
{
	for (size_t i = 0; i < l->regions->all.n; i++) {
		UOp *u = l->regions->all.at[i];
		Region *of = l->regions->of[u->id];
		if (!of || (is_cheap(l, u) && u->op != OP_BIND) || u->op == OP_SINK)
			continue;
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (op_info[u->op].cls != CLASS_FLOW)
				need_read(l, u->src[k], of, l->place[u->id]);
			else if (u->op != OP_PICK)
				/* what a region leaves, it leaves in its last segment */
				need_read(l, u->src[k], region_of_use(l->regions, u, k), last);
	}
}

/* ---- steps */

static UOp *list_region(Lister *l, const Region *region, const Results *ends,
	const NodeList *after);

static void push_step(NodeList *list, Op op, UOp *a, UOp *b)
{
	vec_push(list, node_new(op, DT_NONE, 2, (UOp *[]){a, b}, VNIL));
}

/* All PICKs of a LOOP or IF. */
static void picks_of(const Lister *l, const UOp *u, NodeList *picks)
{
	for (size_t i = 0; i < l->regions->all.n; i++) {
		UOp *p = l->regions->all.at[i];
		if (p->op == OP_PICK && p->src[0] == u && l->regions->of[p->id])
			vec_push(picks, p);
	}
}

static int64_t pick_index(const UOp *p)
{
	return p->arg->kind == VAL_ARRAY ? p->arg->a[0]->i : p->arg->i;
}

/* A value that a region's end leaves in a buffer: at once, or in one of its own shape first. */
static void end_with(Lister *l, UOp *u, UOp *to, Results *ends, NodeList *after)
{
	UOp *own = u->shape == to->shape ? to : temp_of(l, "e", u->dtype, u->shape);
	vec_push(ends, ((Result){u, own}));
	if (own != to)
		push_step(after, OP_TAKE, to, own);
}

static UOp *list_branch(Lister *l, UOp *u, const NodeList *picks, bool other)
{
	Results ends = {0};
	NodeList after = {0};
	for (size_t i = 0; i < picks->n; i++) {
		int64_t k = pick_index(picks->at[i]);
		end_with(l, u->src[1 + k + (other ? u->arg->i : 0)], l->home[picks->at[i]->id],
			&ends, &after);
	}
	UOp *r = list_region(l, other ? region_other(l->regions, u) : region_body(l->regions, u),
		&ends, &after);
	vec_free(&ends);
	vec_free(&after);
	return r;
}

static UOp *list_if(Lister *l, UOp *u, UOp *cond)
{
	NodeList picks = {0};
	picks_of(l, u, &picks);
	UOp *yes = list_branch(l, u, &picks, false), *no = list_branch(l, u, &picks, true);
	vec_free(&picks);
	return node_new(OP_IF, DT_NONE, 3, (UOp *[]){cond, yes, no}, VNIL);
}

/* A buffer for an end: that of an element of a stack with the same value, unless a state has it
 * already, or a new one. */
static UOp *end_of(Lister *l, const char *stem, UOp *u, Results *ends, const NodeList *swaps)
{
	for (size_t i = 0; i < ends->n; i++) {
		bool taken = ends->at[i].node != u;
		for (size_t k = 0; k < swaps->n; k++)
			taken |= swaps->at[k]->src[1] == ends->at[i].to;
		if (!taken)
			return ends->at[i].to;
	}
	UOp *to = temp_of(l, stem, u->dtype, u->shape);
	vec_push(ends, ((Result){u, to}));
	return to;
}

/* What the turns of a LOOP leave: elements of stacks, next states, the condition. */
static UOp *list_body(Lister *l, UOp *u, const LoopParts *p, const NodeList *picks, UOp *next)
{
	Results ends = {0};
	NodeList after = {0}, swaps = {0};
	for (size_t i = 0; i < picks->n; i++) {
		int64_t k = pick_index(picks->at[i]) - p->states;
		if (k >= 0 && k < p->values)
			push_step(&after, OP_APPEND, l->home[picks->at[i]->id],
				end_of(l, "e", p->value[k], &ends, &swaps));
	}
	for (int64_t k = 0; k < p->states; k++)
		push_step(&swaps, OP_SWAP, l->home[p->carry[k]->id],
			end_of(l, "n", p->state[k], &ends, &swaps));
	if (p->next)
		vec_push(&ends, ((Result){p->next, next}));
	for (size_t i = 0; i < swaps.n; i++)
		vec_push(&after, swaps.at[i]);
	UOp *r = list_region(l, region_body(l->regions, u), &ends, &after);
	vec_free(&ends);
	vec_free(&after);
	vec_free(&swaps);
	return r;
}

/* The buffers around a LOOP, which its PICKs and CARRYs read. */
typedef struct { UOp *limit, *start, *turns; NodeList init; } LoopBuffers;

static UOp *list_loop(Lister *l, UOp *u, const LoopBuffers *b, NodeList *list)
{
	LoopParts p = loop_parts(u);
	NodeList src = {0}, picks = {0};
	const Val *turn = turn_name(&l->turns, p.id);
	picks_of(l, u, &picks);
	for (int64_t k = 0; k < p.states; k++)
		push_step(list, OP_TAKE, l->home[p.carry[k]->id], b->init.at[k]);
	if (b->limit)
		vec_push(&src, b->limit);
	UOp *next = b->start ? temp_of(l, "c", DT_BOOL, shape_scalar()) : NULL;
	if (b->start) {
		vec_push(&src, b->start);
		vec_push(&src, next);
	}
	vec_push(&src, b->turns);
	if (p.limit)
		map_put(&l->turns.limit, (uint64_t)p.id + 1, scalar_size(&l->turns, p.limit));
	vec_push(&src, with_turn_check(&l->turns, p.id, list_body(l, u, &p, &picks, next)));
	vec_push(list, node_new(OP_LOOP, DT_NONE, src.n, src.at,
		VMAP(val_str("turn"), turn,
			val_str("limit"), val_bool(p.limit != NULL),
			val_str("while"), val_bool(p.next != NULL))));
	for (size_t i = 0; i < picks.n; i++) {
		int64_t k = pick_index(picks.at[i]);
		if (k < p.states && l->home[picks.at[i]->id] != l->home[p.carry[k]->id])
			push_step(list, OP_TAKE, l->home[picks.at[i]->id],
				l->home[p.carry[k]->id]);
	}
	vec_free(&src);
	vec_free(&picks);
	return list->at[list->n - 1];
}

/* ---- a region */

/* The conditions on sizes that the region's nodes ask for, as rows of checks. */
static const Val *checks_of(const Region *region)
{
	size_checks_reset();
	for (size_t i = 0; i < region->nodes.n; i++) {
		const UOp *u = region->nodes.at[i];
		const Shape *shape;
		int status;
		if (op_info[u->op].cls != CLASS_FLOW && u->op != OP_SINK)
			node_infer(u->op, u->dtype, u->nsrc, u->src, u->arg, &shape, &status);
	}
	return size_checks();
}

typedef struct { UOp *u, *scalar; LoopBuffers loop; } ListedStep;

/* Gives the PICKs and CARRYs of a LOOP their buffers, and asks for what it starts from. */
static void begin_loop(Lister *l, ListedStep *s, uint32_t before)
{
	LoopParts p = loop_parts(s->u);
	NodeList picks = {0};
	for (int64_t k = 0; k < p.states; k++) {
		vec_push(&s->loop.init, need(l, p.carry[k]->src[0], before));
		l->home[p.carry[k]->id] = temp_of(l, "s", p.carry[k]->dtype, p.carry[k]->shape);
	}
	s->loop.limit = p.limit ? need(l, p.limit, before) : NULL;
	s->loop.start = p.start ? need(l, p.start, before) : NULL;
	s->loop.turns = temp_of(l, "c", DT_I64, shape_scalar());
	picks_of(l, s->u, &picks);
	for (size_t i = 0; i < picks.n; i++) {
		UOp *u = picks.at[i];
		int64_t k = pick_index(u);
		bool same = k < p.states && u->shape == p.carry[k]->shape;
		l->home[u->id] = k == p.states + p.values ? s->loop.turns :
			same ? l->home[p.carry[k]->id] : temp_of(l, "p", u->dtype, u->shape);
	}
	vec_free(&picks);
}

static void begin_if(Lister *l, ListedStep *s, uint32_t before)
{
	NodeList picks = {0};
	s->scalar = need(l, s->u->src[0], before);
	picks_of(l, s->u, &picks);
	for (size_t i = 0; i < picks.n; i++)
		l->home[picks.at[i]->id] =
			temp_of(l, "p", picks.at[i]->dtype, picks.at[i]->shape);
	vec_free(&picks);
}

static void list_one(Lister *l, ListedStep *s, NodeList *list)
{
	if (s->u->op == OP_BIND)
		vec_push(list, node_new(OP_BIND, DT_I64, 1, &s->scalar, s->u->arg));
	else if (s->u->op == OP_IF)
		vec_push(list, list_if(l, s->u, s->scalar));
	else
		list_loop(l, s->u, &s->loop, list);
}

/* Gives what the region's steps need and give their buffers. */
static void begin_steps(Lister *l, const Region *region, ListedStep *step)
{
	uint32_t k = 0;
	for (size_t i = 0; i < region->nodes.n; i++) {
		UOp *u = region->nodes.at[i];
		if (!is_step(u))
			continue;
		step[k].u = u;
		if (u->op == OP_BIND)
			step[k].scalar = need(l, u->src[0], k);
		else if (u->op == OP_IF)
			begin_if(l, &step[k], k);
		else
			begin_loop(l, &step[k], k);
		k++;
	}
}

/* What else than its own segment needs of the region: its ends, in the last one, and other regions.
 */
static void begin_ends(Lister *l, const Region *region, uint32_t last, const Results *ends)
{
	for (size_t i = 0; i < ends->n; i++)
		leave(l, ends->at[i].node, ends->at[i].to, last);
	for (size_t i = 0; i < ends->n; i++)
		need_read(l, ends->at[i].node, region, last + 1);
	need_shared(l, last + 1);
}

static UOp *region_node(const Region *region, const NodeList *list)
{
	const Val *checks = checks_of(region);
	return node_new(OP_REGION, DT_NONE, list->n, list->at,
		checks == VNIL ? VNIL : VMAP(val_str("checks"), checks));
}

static UOp *list_region(Lister *l, const Region *region, const Results *ends,
	const NodeList *after)
{
	const Lister outer = *l;
	uint32_t n = place_nodes(l, region);
	ListedStep *step = xcalloc(n + 1, sizeof *step);
	NodeList list = {0};
	l->region = region;
	l->results = xcalloc(n + 1, sizeof *l->results);
	begin_steps(l, region, step);
	begin_ends(l, region, n, ends);
	for (uint32_t k = 0; k <= n; k++) {
		l->segment = k;
		list_segment(l, &l->results[k], &list);
		if (k < n)
			list_one(l, &step[k], &list);
		vec_free(&l->results[k]);
		vec_free(&step[k].loop.init);
	}
	for (size_t i = 0; after && i < after->n; i++)
		vec_push(&list, after->at[i]);
	free(l->results);
	free(step);
	l->region = outer.region;
	l->segment = outer.segment;
	l->results = outer.results;
	UOp *r = region_node(region, &list);
	vec_free(&list);
	return r;
}

/* ---- the whole */

static const char *output_name(const UOp *sink, size_t k)
{
	const Val *names = val_get(sink->arg, "names");
	return names && names->kind == VAL_ARRAY ? names->a[k]->s : arena_printf("out%zu", k);
}

static void begin_names(Lister *l)
{
	for (size_t i = 0; i < l->regions->all.n; i++) {
		UOp *u = l->regions->all.at[i];
		if (u->op == OP_BUFFER)
			map_put(&l->taken, PKEY(val_get(u->arg, "name")), u);
	}
}

/* The graph's outputs as ends of its list, and their names; states' updates behind them too. */
static const Val *begin_outputs(Lister *l, size_t outputs, Results *ends)
{
	UOp *sink = l->g->sink;
	VEC(const Val *) names = {0};
	for (size_t k = 0; k < outputs; k++) {
		UOp *u = sink->src[k];
		vec_push(&names, val_str(output_name(sink, k)));
		map_put(&l->taken, PKEY(names.at[k]), u);
		vec_push(ends, ((Result){u, buffer_of(names.at[k]->s, "output", u->dtype,
			u->shape)}));
	}
	for (size_t k = outputs; k < sink_outputs(sink); k++) {
		UOp *u = sink->src[k];
		vec_push(ends, ((Result){u, temp_of(l, "u", u->dtype, u->shape)}));
	}
	const Val *v = val_array(names.n, names.at);
	vec_free(&names);
	return v;
}

Graph *list_steps(Graph *g)
{
	size_t outputs = sink_outputs(g->sink);
	list_updates(g);
	Lister l = {.g = g, .regions = regions_new(1, 1, &g->sink)};
	Results ends = {0};
	l.home = xcalloc(node_limit(), sizeof *l.home);
	l.place = xcalloc(node_limit(), sizeof *l.place);
	l.constant = list_constants(&l.regions->all);
	begin_names(&l);
	const Val *names = begin_outputs(&l, outputs, &ends);
	UOp *list = list_region(&l, &l.regions->top, &ends, NULL);
	if (val_get(list->arg, "checks"))
		g->meta = val_set(g->meta, "checks", rows_joined(val_get(g->meta, "checks"),
			val_get(list->arg, "checks")));
	g->sink = node_new(OP_SINK, DT_NONE, list->nsrc, list->src,
		VMAP(val_str("names"), names));
	g->level = LV_SCHEDULE;
	g->all = (Nodes){0};
	regions_free(l.regions);
	free(l.home);
	free(l.place);
	free(l.constant);
	map_free(&l.temps);
	map_free(&l.taken);
	map_free(&l.turns.name);
	map_free(&l.turns.limit);
	map_free(&l.to);
	vec_free(&ends);
	return g;
}
