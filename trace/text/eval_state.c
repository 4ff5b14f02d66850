/* States: buffers that keep their contents from one call to the next (program.c).
 *
 *     state count i64 = 0
 *     count <- count + 1       from here on, count is the new content */
#include "text/text.h"

void declare_state(const Stmt *s)
{
	const char *name = s->names[0];
	if (!name_take(name) || scope_find(name) || vars_find(name, strlen(name)))
		fail_at(&s->name_pos[0], "%s is in use", name);
	UOp *u = declared_value(s, arena_printf("%.200s_first", name));
	UOp *b = program_state(name, u);
	node_note(b, VMAP(val_str("loc"), val_str(pos_line(&s->pos))));
	scope_set(name, v_tensor(b));
}

/* Makes v the new content of a state: the statement's k-th name, or an element of that list. */
static Value update_one(const Stmt *s, size_t k, const char *state, const Value *v)
{
	if (program_assigned(state))
		fail_at(&s->name_pos[k], "%s is updated already; a call gives it one new content",
			state);
	uint32_t start = node_limit();
	expr_place(s->value);
	Value r = v_tensor(program_assign(state, v));
	note_new(&r, start, &s->pos);
	note_name(&r, state);
	scope_set(state, r);
	return r;
}

/* the name of the state that v is; NULL if v is not a state */
static const char *state_name(const Value *v)
{
	UOp *u = v->kind != V_TENSOR ? NULL : v->u->op == OP_ASSIGN ? v->u->src[0] : v->u;
	bool is = u && u->op == OP_BUFFER && program_state_named(buffer_name(u)) == u;
	return is ? buffer_name(u) : NULL;
}

/* Updates a list of states element by element. */
static void update_list(const Stmt *s, size_t k, const Value *list, const Value *v)
{
	const char *name = s->names[k], *state;
	Value *at = arena_alloc((list->n + 1) * sizeof *at);
	if (v->kind != V_LIST || v->n != list->n)
		fail_at(&s->name_pos[k], "%.100s is a list of %zu states, its new content %s", name,
			list->n, value_text(v));
	for (size_t i = 0; i < list->n; i++) {
		if (!(state = state_name(&list->at[i])))
			fail_at(&s->name_pos[k], "element %zu of %.100s is %s, no state", i, name,
				value_text(&list->at[i]));
		at[i] = update_one(s, k, state, &v->at[i]);
	}
	scope_set(name, v_list(list->n, at));
}

/* Checks, before the value is evaluated, that the k-th name can be updated. */
static void check_target(const Stmt *s, size_t k)
{
	const char *name = s->names[k];
	const Value *v = scope_find(name);
	if (!program_state_named(name) && !(v && v->kind == V_LIST))
		fail_at(&s->name_pos[k], "%.100s is no state", name);
	if (program_assigned(name))
		fail_at(&s->name_pos[k], "%s is updated already; a call gives it one new content",
			name);
}

void update_state(const Stmt *s)
{
	for (size_t k = 0; k < s->n; k++)
		check_target(s, k);
	Value v = eval(s->value);
	if (s->n > 1 && (v.kind != V_LIST || v.n != s->n))
		fail_at(&s->pos, "%zu states for %s", s->n, value_text(&v));
	for (size_t k = 0; k < s->n; k++) {
		const Value *new = s->n > 1 ? &v.at[k] : &v;
		if (program_state_named(s->names[k]))
			update_one(s, k, s->names[k], new);
		else
			update_list(s, k, scope_find(s->names[k]), new);
	}
}
