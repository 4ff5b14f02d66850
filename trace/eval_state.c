/* State: buffers that keep their content from one call to the next.
 *
 *     state count i64 = 0      BUFFER i64 {name: count, shape: [], role: state, data: 8 bytes}
 *     count <- count + 1       ASSIGN(count, …); from here on count is the new content
 *
 * The first value is computed here, by the interpreter, when it is more than a literal or a file. */
#include "text.h"

typedef struct { const char *name; UOp *buffer, *assign; } State;
static VEC(State) states;

static State *find_state(const char *name)
{
	for (size_t i = 0; i < states.n; i++)
		if (states.at[i].name == name)
			return &states.at[i];
	return NULL;
}

bool is_state(const char *name) { return find_state(name); }

/* content of a const BUFFER */
static Array get_const(UOp *u, void *ctx)
{
	Array a = {.dtype = u->dtype, .rank = t_rank(u)};
	const Val *data = val_get(u->arg, "data"), *file = val_get(u->arg, "file");
	size_t have;
	for (int i = 0; i < a.rank; i++)
		a.dim[i] = shape_dim(u->shape, i);
	a.bytes = array_count(&a) * dtype_size(a.dtype);
	if (data) {
		a.data = (void *)data->s;
		return a;
	}
	const char *bytes = file_map(file->a[0]->s, &have);
	if (have < (size_t)file->a[1]->i + a.bytes)
		die(MALFORMED, "%s is too short", file->a[0]->s);
	a.data = (void *)(bytes + file->a[1]->i);
	return a;
}

static UOp *computed_state(const char *name, UOp *u)
{
	VarEnv env = {0};
	Array a = {0};
	interp_graph(1, &u, &env, get_const, NULL, &a);
	const Val *data = val_bin(a.data, array_count(&a) * dtype_size(u->dtype));
	return buffer_new(name, "state", u->dtype, u->shape, data, NULL);
}

void declare_state(const Stmt *s)
{
	enum { MOST = 1 << 30 };
	const char *name = s->names[0];
	if (!name_take(name) || scope_find(name) || vars_find(name, strlen(name)))
		fail_at(&s->name_pos[0], "%s is in use", name);
	UOp *u = declared_value(s, arena_printf("%.200s_first", name));
	int64_t n;
	check_constant(u, "the first value of a state");
	if (!shape_static(u->shape, &n))
		die(UNSUPPORTED, "the size of a state must be known, not %s", shape_text(u->shape));
	bool leaf = u->op == OP_BUFFER;
	if (!leaf && n > MOST / dtype_size(u->dtype))
		die(UNSUPPORTED, "a state of more than %d bytes; load it from a file", MOST);
	UOp *b = leaf ? buffer_new(name, "state", u->dtype, u->shape, val_get(u->arg, "data"), val_get(u->arg, "file"))
		: computed_state(name, u);
	node_note(b, VMAP(val_str("loc"), val_str(pos_line(&s->pos))));
	vec_push(&states, ((State){name, b, NULL}));
	scope_set(name, v_tensor(b));
}

void update_state(const Stmt *s)
{
	const char *name = s->names[0];
	State *state = find_state(name);
	if (!state)
		fail_at(&s->name_pos[0], "%.100s is no state", name);
	if (state->assign)
		fail_at(&s->name_pos[0], "%s is updated already; a call gives it one new content", name);
	Value v = eval(s->value);
	uint32_t start = node_limit();
	expr_place(s->value);
	UOp *u = value_as(&v, state->buffer->dtype, state->buffer->shape, name);
	if (u->dtype != state->buffer->dtype)
		die(MALFORMED, "%s is %s, its new content %s; cast it", name, dtype_name(state->buffer->dtype),
			dtype_name(u->dtype));
	state->assign = NODE(OP_ASSIGN, u->dtype, VNIL, state->buffer, u);
	v = v_tensor(state->assign);
	note_new(&v, start, &s->pos);
	note_name(&v, name);
	scope_set(name, v);
}

bool state_update(size_t k, const char **name, UOp **assign)
{
	for (size_t i = 0; i < states.n; i++) {
		if (!states.at[i].assign || k--)
			continue;
		*name = states.at[i].name;
		*assign = states.at[i].assign;
		return true;
	}
	return false;
}
