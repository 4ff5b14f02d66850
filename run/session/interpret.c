/* --interpret: evaluates a graph op by op, and a kernel by its loops, with the interpreter of
 * common/. No compiler is needed.
 *
 * A state BUFFER has its content from the start of the call. The value of an ASSIGN replaces it
 * after the whole call, in new memory, so that an output with the old content is not overwritten.
 */
#include "session/session.h"
#include <stdlib.h>

const char **output_names(const Graph *g, size_t *n)
{
	const Val *names = val_get(g->sink->arg, "names");
	const char **out;

	*n = names && names->kind == VAL_ARRAY ? names->n :
		g->level <= LV_GRAPH           ? sink_outputs(g->sink) :
						 0;
	out = arena_alloc((*n + 1) * sizeof *out);
	for (size_t i = 0; i < *n; i++)
		out[i] = sink_output_name(g->sink, i);
	return out;
}

typedef struct { const Inputs *in; States *states; Map content; } Context;

static Array *state_of(States *s, UOp *u, const VarEnv *env)
{
	Array first;
	State new = { u, { 0 } };

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].buffer == u)
			return &s->at[i].at;
	first = buffer_content(u, env);
	new.at = array_new(first.dtype, first.rank, first.dim);
	if (first.bytes)
		memcpy(new.at.data, first.data, first.bytes);
	vec_push(s, new);
	return &s->at[s->n - 1].at;
}

void states_open(const Graph *g, const Inputs *in, States *states)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "state"))
			state_of(states, all.at[i], &in->env);
}

static Array content_of(UOp *u, void *ctx)
{
	Context *c = ctx;
	const char *role = buffer_role(u);
	const Array *a;

	if (!strcmp(role, "state"))
		return *state_of(c->states, u, &c->in->env);
	if (!strcmp(role, "input")) {
		a = input_of(c->in, u);
		if (!a)
			die(MALFORMED, "input '%s' is missing", buffer_name(u));
		return *a;
	}
	if (!(a = map_get(&c->content, u->id + 1))) {
		Array *made = arena_alloc(sizeof *made);
		*made = buffer_content(u, &c->in->env);
		map_put(&c->content, u->id + 1, made);
		a = made;
	}
	return *a;
}

/* The value of each ASSIGN becomes the state's content. */
static void states_keep(States *s, size_t n, UOp *const *assign, Array *at, const VarEnv *env)
{
	for (size_t i = 0; i < n; i++) {
		Array *state = state_of(s, assign[i]->src[0], env);
		array_free(state);
		*state = at[i];
	}
}

void interpret_graph(
	const Graph *g, const Inputs *in, States *states, Array *out, Watch *watch)
{
	Context c = { in, states, { 0 } };
	Nodes all = walk(g->sink);
	size_t n = sink_outputs(g->sink), m = 0;
	UOp **roots;
	Array *at;

	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op == OP_CUSTOM)
			die(UNSUPPORTED,
				"node %u CUSTOM (%s): a user-written kernel cannot be interpreted",
				all.at[i]->id, custom_name(all.at[i]->arg));
		m += all.at[i]->op == OP_ASSIGN;
	}
	roots = arena_alloc((n + m + 1) * sizeof *roots);
	at = arena_alloc((n + m + 1) * sizeof *at);
	memcpy(roots, g->sink->src, n * sizeof *roots);
	for (size_t i = 0, k = n; i < all.n; i++)
		if (all.at[i]->op == OP_ASSIGN)
			roots[k++] = all.at[i];
	interp_graph_watched(n + m, roots, g->sink, &in->env, content_of, &c, at, watch);
	states_keep(states, m, roots + n, at + n, &in->env);
	for (size_t i = 0; i < n; i++) {
		array_free(&out[i]);            /* from the previous call */
		out[i] = at[i];
	}
	map_free(&c.content);
}

void interpret_call(UOp *callee, Level level, const VarEnv *env, size_t nbuf, void *const *buf,
	Watch *watch)
{
	if (callee->op == OP_PROGRAM)
		interp_loops(callee->src[0], env, nbuf, buf, watch);
	else if (level == LV_SCHEDULE)
		interp_kernel(callee, env, nbuf, buf, watch);
	else
		interp_loops(callee, env, nbuf, buf, watch);
}
