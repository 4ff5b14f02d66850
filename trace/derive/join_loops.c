/* One loop for each id. Derivatives leave versions of a loop with more states or values behind,
 * beside the one that the program's outputs read.
 *
 *     %5 LOOP {id: 0} h'    %6 LOOP {id: 0} h', value h    →   %7 LOOP {id: 0} h', value h
 *
 * The one that is left has the values that are read, and the states that these need; a branch has
 * the values that are read. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

/* What is needed of a loop, or of a branch (value: PICKs, one of each value). */
typedef struct { NodeList carry, state, value; UOp *left; } Needed;

typedef struct {
	Map next;               /* CARRY → the state that a turn gives it */
	Map loop;               /* CARRY → one of its LOOPs */
	Map of;                 /* a loop's id + 1, or an IF → Needed */
	Map binds;
	TABLE(uint8_t) seen;
	NodeList todo;
} Join;

static uint64_t key_of(const UOp *step)
{
	return step->op == OP_LOOP ? (uint64_t)val_get(step->arg, "id")->i + 1 : PKEY(step);
}

static ptrdiff_t place_in(const NodeList *l, const UOp *u)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i] == u)
			return (ptrdiff_t)i;
	return -1;
}

/* ---- what is needed */

static Needed *needed_of(Join *j, const UOp *step)
{
	Needed *n = map_get(&j->of, key_of(step));

	if (!n) {
		n = arena_alloc(sizeof *n);
		map_put(&j->of, key_of(step), n);
	}
	return n;
}

static void need(Join *j, UOp *u)
{
	if (!j->seen.at[u->id]++)
		vec_push(&j->todo, u);
}

static void need_ends(Join *j, const UOp *loop)
{
	LoopParts p = loop_parts(loop);
	UOp *end[] = {p.limit, p.start, p.next};

	for (int i = 0; i < 3; i++)
		if (end[i])
			need(j, end[i]);
}

static void need_value_of_loop(Join *j, const UOp *pick)
{
	LoopParts p = loop_parts(pick->src[0]);
	Needed *n = needed_of(j, pick->src[0]);
	int64_t k = pick_place(pick);

	need_ends(j, pick->src[0]);
	if (k < p.states)
		need(j, p.carry[k]);
	else if (k < p.states + p.values && place_in(&n->value, p.state[k]) < 0) {
		vec_push(&n->value, p.state[k]);
		need(j, p.state[k]);
	}
}

static void need_value_of_branch(Join *j, UOp *pick)
{
	UOp *of = pick->src[0];
	Needed *n = needed_of(j, of);
	int64_t k = pick_place(pick);

	for (size_t i = 0; i < n->value.n; i++)
		if (pick_place(n->value.at[i]) == k)
			return;
	vec_push(&n->value, pick);
	need(j, of->src[0]);
	need(j, of->src[1 + k]);
	need(j, of->src[1 + k + of->arg->i]);
}

static void need_state(Join *j, UOp *carry)
{
	UOp *loop = map_get(&j->loop, PKEY(carry)), *next = map_get(&j->next, PKEY(carry));
	Needed *n = needed_of(j, loop);

	vec_push(&n->carry, carry);
	vec_push(&n->state, next);
	need(j, next);
	need_ends(j, loop);
}

static void need_sources(Join *j, UOp *u)
{
	NodeList named = {0};

	if (u->op == OP_PICK) {
		if (u->src[0]->op == OP_LOOP)
			need_value_of_loop(j, u);
		else
			need_value_of_branch(j, u);
	} else {
		for (uint32_t k = 0; k < u->nsrc; k++)
			need(j, u->src[k]);
	}
	if (u->op == OP_CARRY)
		need_state(j, u);
	mentions_of(u, &j->binds, &named);
	for (size_t i = 0; i < named.n; i++)
		need(j, named.at[i]);
	vec_free(&named);
}

static void find_needed(Join *j, size_t n, UOp *const *out)
{
	for (size_t i = 0; i < n; i++)
		need(j, out[i]);
	while (j->todo.n)
		need_sources(j, j->todo.at[--j->todo.n]);
}

/* ---- the order: what a loop or branch that is left has, before its PICKs */

typedef struct { UOp *u; NodeList before; size_t next; } Step;
typedef VEC(Step) Path;

static void add_all(NodeList *l, size_t n, UOp *const *u)
{
	for (size_t i = 0; i < n; i++)
		if (u[i])
			vec_push(l, u[i]);
}

static void before_pick(Join *j, const UOp *u, NodeList *l)
{
	const UOp *of = u->src[0];
	const Needed *n = needed_of(j, of);

	if (of->op == OP_LOOP) {
		LoopParts p = loop_parts(of);
		add_all(l, 3, (UOp *[]){p.limit, p.start, p.next});
		add_all(l, n->carry.n, n->carry.at);
		add_all(l, n->state.n, n->state.at);
		add_all(l, n->value.n, n->value.at);
		return;
	}
	vec_push(l, of->src[0]);
	for (size_t i = 0; i < n->value.n; i++) {
		int64_t k = pick_place(n->value.at[i]);
		vec_push(l, of->src[1 + k]);
		vec_push(l, of->src[1 + k + of->arg->i]);
	}
}

static void enter(Join *j, Path *path, UOp *u)
{
	NodeList before = {0}, named = {0};

	if (j->seen.at[u->id])
		return;
	j->seen.at[u->id] = 1;
	if (u->op == OP_PICK)
		before_pick(j, u, &before);
	else
		add_all(&before, u->nsrc, u->src);
	mentions_of(u, &j->binds, &named);
	add_all(&before, named.n, named.at);
	vec_free(&named);
	vec_push(path, ((Step){u, before, 0}));
}

static NodeList order(Join *j, size_t n, UOp *const *out)
{
	NodeList all = {0};
	Path path = {0};

	memset(j->seen.at, 0, j->seen.cap);
	for (size_t i = 0; i < n; i++) {
		enter(j, &path, out[i]);
		while (path.n) {
			Step *s = &path.at[path.n - 1];
			if (s->next < s->before.n) {
				enter(j, &path, s->before.at[s->next++]);
				continue;
			}
			vec_push(&all, s->u);
			free(s->before.at);
			path.n--;
		}
	}
	vec_free(&path);
	return all;
}

/* ---- the loops and branches that are left */

static void map_all(const Map *to, NodeList *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->at[i] = map_get(to, PKEY(l->at[i]));
}

static UOp *loop_left(const UOp *loop, const Needed *n, const Map *to)
{
	LoopParts p = loop_parts(loop);
	NodeList src = {0};

	add_all(&src, (size_t)(p.state - loop->src), loop->src);
	add_all(&src, n->state.n, n->state.at);
	add_all(&src, n->value.n, n->value.at);
	add_all(&src, n->carry.n, n->carry.at);
	map_all(to, &src);
	UOp *u = node_like(loop, src.n, src.at, val_set(val_set(loop->arg, "states",
		val_int((int64_t)n->state.n)), "values", val_int((int64_t)n->value.n)));
	vec_free(&src);
	return u;
}

static UOp *branch_left(const UOp *branch, const Needed *n, const Map *to)
{
	NodeList then = {0}, other = {0};

	for (size_t i = 0; i < n->value.n; i++) {
		int64_t k = pick_place(n->value.at[i]);
		vec_push(&then, branch->src[1 + k]);
		vec_push(&other, branch->src[1 + k + branch->arg->i]);
	}
	map_all(to, &then);
	map_all(to, &other);
	UOp *u = if_new(map_get(to, PKEY(branch->src[0])), then.n, then.at, other.at);
	node_note(u, branch->note);
	vec_free(&then);
	vec_free(&other);
	return u;
}

static UOp *pick_left(Join *j, const UOp *u, const Map *to)
{
	const UOp *of = u->src[0];
	Needed *n = needed_of(j, of);
	int64_t k = pick_place(u), at = 0;

	if (!n->left)
		n->left = (of->op == OP_LOOP ? loop_left : branch_left)(of, n, to);
	if (of->op == OP_IF) {
		while (pick_place(n->value.at[at]) != k)
			at++;
		return pick_like(u, n->left, at);
	}
	LoopParts p = loop_parts(of);
	at = k < p.states ? place_in(&n->carry, p.carry[k]) : (int64_t)n->carry.n +
		(k < p.states + p.values ? place_in(&n->value, p.state[k]) : (ptrdiff_t)n->value.n);
	return pick_like(u, n->left, at);
}

static UOp *node_left(Join *j, UOp *u, const Map *to)
{
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);

	if (u->op == OP_PICK)
		return pick_left(j, u, to);
	for (uint32_t k = 0; k < u->nsrc; k++)
		src[k] = map_get(to, PKEY(u->src[k]));
	if (u->op != OP_CARRY)
		return node_with(u, src);
	const Val *id = u->arg->a[0], *k = val_int(place_in(
		&needed_of(j, map_get(&j->loop, PKEY(u)))->carry, u));
	return node_like(u, 1, src, u->arg->n == 3 ? VARR(id, k, u->arg->a[2]) : VARR(id, k));
}

/* ---- the whole graph */

static int by_number(const void *a, const void *b)
{
	const UOp *u = *(UOp *const *)a, *v = *(UOp *const *)b;
	return u->arg->a[1]->i < v->arg->a[1]->i ? -1 : u->arg->a[1]->i > v->arg->a[1]->i;
}

/* States in the order of their numbers, so that a loop that needs no change gets none. */
static void sort_states(Join *j)
{
	for (size_t i = 0; i < j->of.cap; i++) {
		Needed *n = j->of.val[i];
		if (!n || !n->carry.n)
			continue;
		qsort(n->carry.at, n->carry.n, sizeof *n->carry.at, by_number);
		for (size_t k = 0; k < n->carry.n; k++)
			n->state.at[k] = map_get(&j->next, PKEY(n->carry.at[k]));
	}
}

static void join_begin(Join *j, const Graph *g)
{
	Nodes all = walk(g->sink);

	binds_of(1, &g->sink, &j->binds);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_LOOP)
			continue;
		LoopParts p = loop_parts(all.at[i]);
		for (int64_t k = 0; k < p.states; k++) {
			map_put(&j->next, PKEY(p.carry[k]), p.state[k]);
			map_put(&j->loop, PKEY(p.carry[k]), all.at[i]);
		}
	}
	table_fit(&j->seen);
}

static void join_end(Join *j)
{
	for (size_t i = 0; i < j->of.cap; i++) {
		Needed *n = j->of.val[i];
		if (!n)
			continue;
		vec_free(&n->carry);
		vec_free(&n->state);
		vec_free(&n->value);
	}
	map_free(&j->next);
	map_free(&j->loop);
	map_free(&j->of);
	map_free(&j->binds);
	vec_free(&j->todo);
	table_free(&j->seen);
}

Graph *join_loops(Graph *g)
{
	size_t n = sink_outputs(g->sink);
	UOp **out = arena_alloc((n + 1) * sizeof *out);
	Join j = {0};
	Map to = {0};

	if (!steps_made()->versions)
		return g;
	join_begin(&j, g);
	find_needed(&j, n, g->sink->src);
	sort_states(&j);
	NodeList all = order(&j, n, g->sink->src);
	steps_made()->binds.n = 0;
	for (size_t i = 0; i < all.n; i++) {
		UOp *v = node_left(&j, all.at[i], &to);
		map_put(&to, PKEY(all.at[i]), v);
		if (v->op == OP_BIND)
			vec_push(&steps_made()->binds, v);
	}
	for (size_t i = 0; i < n; i++)
		out[i] = map_get(&to, PKEY(g->sink->src[i]));
	g->sink = steps_sink(n, out, sink_plain_arg(g->sink->arg));
	vec_free(&all);
	map_free(&to);
	join_end(&j);
	return g;
}
