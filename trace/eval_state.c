/* State: buffers that keep their content from one call to the next (program.c).
 *
 *     state count i64 = 0
 *     count <- count + 1       from here on count is the new content */
#include "text.h"

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

void update_state(const Stmt *s)
{
	const char *name = s->names[0];
	if (!program_state_named(name))
		fail_at(&s->name_pos[0], "%.100s is no state", name);
	if (program_assigned(name))
		fail_at(&s->name_pos[0], "%s is updated already; a call gives it one new content", name);
	Value v = eval(s->value);
	uint32_t start = node_limit();
	expr_place(s->value);
	v = v_tensor(program_assign(name, &v));
	note_new(&v, start, &s->pos);
	note_name(&v, name);
	scope_set(name, v);
}
