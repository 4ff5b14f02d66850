/* The declarations of a program, in whatever language it is written: sizes, inputs, states,
 * outputs.
 *
 *     input x f32[n, 4]        BUFFER f32 {name: x, shape: [n, 4], role: input}, vars {n: [1, 64]}
 *     state count i64 = 0      BUFFER i64 {name: count, shape: [], role: state, data: 8 bytes}
 *     count <- count + 1       ASSIGN(count, …)
 *
 * A first value of a state that is not a literal or a file is computed here, by the interpreter. */
#include "interp/interp.h"
#include "library/library.h"
#include <stdlib.h>

enum { MAX_SIZES = 64, MOST_STATE = 1 << 30 };
typedef struct { const char *name; UOp *buffer, *assign; } StateInput;

static ARENA const Val *vars;
static ARENA VEC(UOp *) inputs;
static ARENA VEC(StateInput) states;
static ARENA struct { VEC(const Val *) name; VEC(UOp *) node; Map seen; } outputs;

void program_start(void)
{
	vars = VNIL;
	inputs.n = states.n = outputs.name.n = outputs.node.n = 0;
	map_free(&outputs.seen);
}

/* ---- sizes and inputs */

const char *program_size(const char *name, int64_t lo, int64_t hi)
{
	const Val *range = VARR(val_int(lo), val_int(hi)), *old = val_get(vars, name);
	if (old == range)
		return NULL;
	if (old)
		return arena_printf("%s is a size of other limits already", name);
	if (vars->n == MAX_SIZES)
		return arena_printf("more than %d sizes", MAX_SIZES);
	if (lo < 0 || lo > hi)
		return "the limits of a size are 0 or more, and in order";
	vars = val_set(vars, name, range);
	return vars_declare(vars);
}

UOp *program_input(const char *name, DType dt, const Shape *s)
{
	if (vars_find(name, strlen(name)))
		die(MALFORMED, "%s is a size", name);
	if (!name_take(name))
		die(MALFORMED, "%s is in use", name);
	UOp *u = buffer_new(name, "input", dt, s, NULL, NULL);
	vec_push(&inputs, u);
	return u;
}

/* ---- state */

static StateInput *find_state(const char *name)
{
	for (size_t i = 0; i < states.n; i++)
		if (!strcmp(states.at[i].name, name))
			return &states.at[i];
	return NULL;
}

UOp *program_state_named(const char *name)
{
	StateInput *s = find_state(name);
	return s ? s->buffer : NULL;
}

bool program_assigned(const char *name)
{
	StateInput *s = find_state(name);
	return s && s->assign;
}

void check_constant(UOp *u, const char *what)
{
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && !buffer_is(all.at[i], "const"))
			die(MALFORMED, "%s is no constant: it depends on the %s %s", what,
				buffer_role(all.at[i]), buffer_name(all.at[i]));
}

static UOp *computed_state(const char *name, UOp *u)
{
	VarEnv env = {0};
	Array a = {0};
	interp_graph(1, &u, NULL, &env, constant_content, NULL, &a);
	const Val *data = val_bin(a.data, array_count(&a) * dtype_size(u->dtype));
	return buffer_new(name, "state", u->dtype, u->shape, data, NULL);
}

UOp *program_state(const char *name, UOp *first)
{
	int64_t n;
	check_constant(first, "the first value of a state");
	if (!shape_static(first->shape, &n))
		die(UNSUPPORTED, "the size of a state must be known, not %s",
			shape_text(first->shape));
	bool leaf = first->op == OP_BUFFER;
	if (!leaf && n > MOST_STATE / dtype_size(first->dtype))
		die(UNSUPPORTED, "a state of more than %d bytes; load it from a file", MOST_STATE);
	UOp *b = leaf ? buffer_new(name, "state", first->dtype, first->shape,
				val_get(first->arg, "data"), val_get(first->arg, "file")) :
			computed_state(name, first);
	vec_push(&states, ((StateInput){name, b, NULL}));
	return b;
}

UOp *program_assign(const char *name, const Value *next)
{
	StateInput *s = find_state(name);
	CHECK(s);
	if (s->assign)
		die(MALFORMED, "%s is updated already; a call gives it one new content", name);
	UOp *u = value_as(next, s->buffer->dtype, s->buffer->shape, name);
	if (u->dtype != s->buffer->dtype)
		die(MALFORMED, "%s is %s, its new content %s; cast it", name,
			dtype_name(s->buffer->dtype), dtype_name(u->dtype));
	s->assign = NODE(OP_ASSIGN, u->dtype, VNIL, s->buffer, u);
	return s->assign;
}

/* ---- values of a required dtype and shape */

static bool same_shape(const Shape *a, const Shape *b)
{
	bool same = a->rank == b->rank;
	for (int i = 0; same && i < a->rank; i++)
		same = size_equal(a->dim[i], b->dim[i]);
	return same;
}

UOp *value_as(const Value *v, DType dt, const Shape *s, const char *what)
{
	UOp *u = value_tensor(v, dt);
	if (!u)
		die(MALFORMED, "%s is %s, expected a tensor", what, value_text(v));
	if (v->kind != V_TENSOR && v->kind != V_SIZE && dt != DT_NONE && u->dtype != dt)
		die(MALFORMED, "%s does not fit %s", value_text(v), dtype_name(dt));
	if (s && s->rank && !t_rank(u))
		u = t_full(s, u);
	if (s && !same_shape(u->shape, s))
		die(MALFORMED, "%s has shape %s, its value %s", what, shape_text(s),
			shape_text(u->shape));
	return u;
}

/* ---- outputs, and the whole graph */

bool program_has_output(const char *name) { return map_get(&outputs.seen, PKEY(val_str(name))); }

void program_output(const char *name, UOp *u)
{
	vec_push(&outputs.name, val_str(name));
	vec_push(&outputs.node, u);
	map_put(&outputs.seen, PKEY(val_str(name)), u);
}

/* An update that no output needs becomes an output, so that the graph contains it. Returns the
 * names. */
static const Val *add_updates(void)
{
	VEC(const Val *) added = {0};
	Nodes reached = walk_many(outputs.node.n, outputs.node.at);
	Map has = {0};
	for (size_t i = 0; i < reached.n; i++)
		if (reached.at[i]->op == OP_ASSIGN)
			map_put(&has, PKEY(reached.at[i]), reached.at[i]);
	for (size_t k = 0; k < states.n; k++) {
		const char *name = states.at[k].name;
		UOp *assign = states.at[k].assign;
		if (!assign || map_get(&has, PKEY(assign)))
			continue;
		while (program_has_output(name))
			name = arena_printf("%s_new", name);
		program_output(name, assign);
		vec_push(&added, val_str(name));
	}
	map_free(&has);
	const Val *names = val_array(added.n, added.at);
	vec_free(&added);
	return names;
}

Graph *program_graph(void)
{
	const Val *updates = add_updates();
	if (!outputs.node.n)
		die(MALFORMED, "the program has no output");
	Graph *g = arena_alloc(sizeof *g);
	g->level = LV_GRAPH;
	g->vars = vars;
	g->meta = updates->n ? VMAP(val_str("updates"), updates) : VNIL;
	const Val *names = val_array(outputs.name.n, outputs.name.at);
	g->sink = steps_sink(outputs.node.n, outputs.node.at, VMAP(val_str("names"), names));
	/* includes those that no output needs */
	g->all = (Nodes){inputs.at, inputs.n};
	if (g->all.n)
		inputs_remember(g);
	g->all = (Nodes){0};
	return g;
}
