/* One loop for each id. Derivatives leave versions of a loop with more states or values behind,
 * beside the one that the program's outputs read.
 *
 *     %5 LOOP {id: 0} h'    %6 LOOP {id: 0} h', value h    →   %7 LOOP {id: 0} h', value h
 *
 * The one that is left has the values that are read, and the states that these need. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

typedef struct {
	UOp *first;             /* gives the limit and the condition */
	NodeList all;           /* the versions */
	NodeList carry, state, value;
	UOp *joined;
} Versions;

typedef struct { Nodes all; Map of; } Join;        /* of: a loop's id + 1 → Versions */

static uint64_t loop_key(const UOp *u) { return (uint64_t)val_get(u->arg, "id")->i + 1; }

static ptrdiff_t place_in(const NodeList *l, const UOp *u)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == u)
			return (ptrdiff_t)i;
	return -1;
}

static bool ends_alike(const UOp *a, const UOp *b)
{
	LoopParts p = loop_parts(a), q = loop_parts(b);
	return p.limit == q.limit && p.start == q.start && p.next == q.next;
}

/* ---- what is read of each loop */

static void add_state(Versions *v, UOp *carry, UOp *state)
{
	if (place_in(&v->carry, carry) < 0) {
		vec_push(&v->carry, carry);
		vec_push(&v->state, state);
	}
}

static void add_pick(Versions *v, const UOp *pick)
{
	LoopParts p = loop_parts(pick->src[0]);
	int64_t k = pick_place(pick);

	if (k < p.states)
		add_state(v, p.carry[k], p.state[k]);
	else if (k < p.states + p.values && place_in(&v->value, p.state[k]) < 0)
		vec_push(&v->value, p.state[k]);
}

static UOp *next_of(const Versions *v, const UOp *carry)
{
	for (size_t i = 0; i < v->all.n; i++) {
		LoopParts p = loop_parts(v->all.at[i]);
		for (int64_t k = 0; k < p.states; k++)
			if (p.carry[k] == carry)
				return p.state[k];
	}
	return NULL;
}

/* Adds the states that the next ones, the values and the condition need. */
static void add_needed(Versions *v)
{
	size_t before;

	do {
		NodeList root = {0};
		before = v->carry.n;
		for (size_t i = 0; i < v->state.n; i++)
			vec_push(&root, v->state.at[i]);
		for (size_t i = 0; i < v->value.n; i++)
			vec_push(&root, v->value.at[i]);
		if (loop_parts(v->first).next)
			vec_push(&root, loop_parts(v->first).next);
		for (size_t i = 0; i < steps_made()->binds.n; i++)
			vec_push(&root, steps_made()->binds.at[i]);
		size_t own = root.n - steps_made()->binds.n;
		Nodes all = nodes_within(walk_many(root.n, root.at), own, root.at, NULL);
		for (size_t i = 0; i < all.n; i++) {
			UOp *u = all.at[i], *next;
			if (u->op == OP_CARRY && (next = next_of(v, u)))
				add_state(v, u, next);
		}
		vec_free(&root);
	} while (v->carry.n > before);
}

/* The states and values in the order of the versions. */
static void put_in_order(Versions *v)
{
	NodeList carry = {0}, state = {0}, value = {0};

	for (size_t i = 0; i < v->all.n; i++) {
		LoopParts p = loop_parts(v->all.at[i]);
		for (int64_t k = 0; k < p.states; k++)
			if (place_in(&v->carry, p.carry[k]) >= 0 && place_in(&carry, p.carry[k]) < 0) {
				vec_push(&carry, p.carry[k]);
				vec_push(&state, p.state[k]);
			}
		for (int64_t k = 0; k < p.values; k++)
			if (place_in(&v->value, p.value[k]) >= 0 && place_in(&value, p.value[k]) < 0)
				vec_push(&value, p.value[k]);
	}
	vec_free(&v->carry);
	vec_free(&v->state);
	vec_free(&v->value);
	v->carry = carry;
	v->state = state;
	v->value = value;
}

/* Versions that do not end alike are loops of their own. */
static void add_version(Join *j, UOp *u)
{
	Versions *v = map_get(&j->of, loop_key(u));

	if (!v) {
		v = arena_alloc(sizeof *v);
		*v = (Versions){.first = u};
		map_put(&j->of, loop_key(u), v);
	}
	if (ends_alike(u, v->first))
		vec_push(&v->all, u);
}

static Join find_versions(Nodes all)
{
	Join j = {.all = all};

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOOP)
			add_version(&j, all.at[i]);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], *of = u->nsrc ? u->src[0] : NULL;
		Versions *v = u->op == OP_PICK && of->op == OP_LOOP ? map_get(&j.of, loop_key(of)) :
			NULL;
		if (v && place_in(&v->all, of) >= 0)
			add_pick(v, u);
	}
	for (size_t i = 0; i < j.of.cap; i++)
		if (j.of.val[i]) {
			add_needed(j.of.val[i]);
			put_in_order(j.of.val[i]);
		}
	return j;
}

static void join_end(Join *j)
{
	for (size_t i = 0; i < j->of.cap; i++) {
		Versions *v = j->of.val[i];
		if (!v)
			continue;
		vec_free(&v->all);
		vec_free(&v->carry);
		vec_free(&v->state);
		vec_free(&v->value);
	}
	map_free(&j->of);
}

/* ---- the loop that is left */

static void join(Versions *v)
{
	LoopParts p = loop_parts(v->first);
	LoopMore more = {v->carry, v->state, v->value};
	UOp *bare = node_new(OP_LOOP, DT_NONE, (size_t)(p.state - v->first->src), v->first->src,
		val_set(val_set(v->first->arg, "states", val_int(0)), "values", val_int(0)));

	node_note(bare, v->first->note);
	v->joined = loop_with(bare, &more);
}

static bool is_done(const Versions *v, const UOp *loop)
{
	LoopParts p = loop_parts(v->first);
	return place_in(&v->all, loop) >= 0 && v->all.n == 1 && v->value.n == (size_t)p.values &&
		v->carry.n == (size_t)p.states;
}

/* What takes the place of a PICK of a loop, or NULL. */
static UOp *repicked(Join *j, const UOp *u)
{
	UOp *of = u->src[0];
	Versions *v = map_get(&j->of, loop_key(of));
	LoopParts p = loop_parts(of);
	int64_t k = pick_place(u);

	if (is_done(v, of))
		return NULL;
	if (place_in(&v->all, of) < 0)
		return pick_like(u, loop_copy(of), k);
	if (!v->joined)
		join(v);
	k = k < p.states ? place_in(&v->carry, p.carry[k]) : (int64_t)v->carry.n +
		(k < p.states + p.values ? place_in(&v->value, p.state[k]) : (ptrdiff_t)v->value.n);
	return pick_like(u, v->joined, k);
}

/* ---- the whole graph */

static UOp *state_numbered(const Join *j, UOp *u, UOp *const *src)
{
	const Versions *v = map_get(&j->of, (uint64_t)u->arg->a[0]->i + 1);
	const Val *k = val_int(place_in(&v->carry, u)), *id = u->arg->a[0];

	return node_like(u, 1, src, u->arg->n == 3 ? VARR(id, k, u->arg->a[2]) : VARR(id, k));
}

/* The graph with PICKs of what is left; or, once only that is there, its states numbered. Returns
 * whether there was something else. */
static bool rebuild(Graph *g, bool number)
{
	size_t n = sink_outputs(g->sink);
	Join j = find_versions(nodes_within(walk(g->sink), n, g->sink->src, NULL));
	UOp **out = arena_alloc((n + 1) * sizeof *out);
	NodeList src = {0}, binds = {0};
	Map to = {0};
	bool changed = false;

	for (size_t i = 0; i < j.all.n; i++) {
		UOp *u = j.all.at[i], *v = NULL;
		src.n = 0;
		for (uint32_t k = 0; k < u->nsrc; k++)
			vec_push(&src, map_get(&to, PKEY(u->src[k])));
		if (!number && u->op == OP_PICK && u->src[0]->op == OP_LOOP)
			v = repicked(&j, u);
		changed |= v != NULL;
		v = v ? v : number && u->op == OP_CARRY ? state_numbered(&j, u, src.at) :
			node_with(u, src.at);
		if (u->op == OP_BIND)
			vec_push(&binds, v);
		map_put(&to, PKEY(u), v);
	}
	for (size_t i = 0; i < n; i++)
		out[i] = map_get(&to, PKEY(g->sink->src[i]));
	vec_free(&steps_made()->binds);
	steps_made()->binds = binds;
	g->sink = steps_sink(n, out, sink_plain_arg(g->sink->arg));
	join_end(&j);
	vec_free(&src);
	map_free(&to);
	return changed;
}

Graph *join_loops(Graph *g)
{
	if (!steps_made()->versions)
		return g;
	/* a loop that is left reads other loops as they were: those within come next */
	while (rebuild(g, false))
		;
	rebuild(g, true);
	return g;
}
