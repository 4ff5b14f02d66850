/* for, while and if: traced, where they are known while tracing; else steps of the graph.
 *
 *     for i in 1..3 { y = f(y, i) }    f(f(f(y, 1), 2), 3)
 *     while c { y = f(y) }             LOOP: y is carried, CARRY in the body, PICK behind it
 *     if c { y = f(y) }                IF: f(y) or y
 *
 * A variable that is assigned in a body and has a value before it is carried. The body is traced
 * again when a number before it has to take the dtype or the shape of what a turn gives. */
#include "text/text.h"

enum { MOST_UNROLLED = 1000, MOST_TRIES = 3, MOST_AGAIN = 10000 };
static ARENA size_t again;              /* bodies within bodies that were traced again */

/* ---- the names that a block assigns */

typedef struct { const char *name; Pos pos; Variable before; } Assigned;
typedef struct { VEC(Assigned) all; Map seen; } AssignedNames;

static void add_name(AssignedNames *names, const char *name, Pos pos)
{
	size_t k = (uintptr_t)map_get(&names->seen, PKEY(name));
	if (k) {
		names->all.at[k - 1].pos = pos;
		return;
	}
	vec_push(&names->all, ((Assigned){name, pos, scope_keep(name)}));
	map_put(&names->seen, PKEY(name), (void *)(uintptr_t)names->all.n);
}

static void add_block(AssignedNames *names, StmtBlock b)
{
	for (size_t i = 0; i < b.n; i++) {
		const Stmt *s = b.at[i];
		bool assigns = s->kind == S_ASSIGN || s->kind == S_CONST || s->kind == S_FOR;
		for (size_t k = 0; assigns && k < s->n; k++)
			add_name(names, s->names[k], s->name_pos[k]);
		add_block(names, s->body);
		add_block(names, s->orelse);
	}
}

static void restore_names(const AssignedNames *names)
{
	for (size_t i = 0; i < names->all.n; i++)
		scope_restore(names->all.at[i].name, names->all.at[i].before);
}

static void free_names(AssignedNames *names)
{
	vec_free(&names->all);
	map_free(&names->seen);
}

/* Whether the block has list += … or list = list + … */
static bool block_extends(StmtBlock b, const char *name)
{
	bool extends = false;
	for (size_t i = 0; !extends && i < b.n; i++) {
		const Stmt *s = b.at[i];
		const Expr *e = s->value;
		bool own = s->kind == S_ASSIGN && s->n == 1 && s->names[0] == name;
		while (own && !s->op && e->kind == X_BINARY && e->op == OPERATOR(ADD))
			e = e->arg[0];
		extends = (own && s->op == OPERATOR(ADD)) ||
			(own && e != s->value && e->kind == X_NAME && e->s == name) ||
			block_extends(s->body, name) || block_extends(s->orelse, name);
	}
	return extends;
}

static Value unset(const char *why) { return (Value){.kind = V_UNSET, .s = why}; }

/* ---- loops of the graph */

/* What a variable is to a loop: CARRIED from turn to turn; a list that it EXTENDS; a value that no
 * turn changes, KEPT; or LEFT in the body, without a value before and behind it. */
typedef enum { CARRIED, EXTENDS, KEPT, LEFT } Part;
typedef struct {
	Assigned *of;
	Part role;
	Value init, like, turn, next;
	int tries;              /* of these, like is what the last one gave */
	size_t row;             /* EXTENDS: which of the loop's lists */
	bool read;
	const char *why;        /* LEFT: why it has no value behind the loop */
} LoopVariable;

typedef struct {
	Stmt *s;
	UOp *limit, *start;     /* as in LoopEnd */
	Value first;            /* of a range */
	UOp *over;              /* whose rows the loop goes through; or NULL */
	AssignedNames names;
	VEC(LoopVariable) vars;
	Turns *turns;
	size_t lists;
} Loop;

static void add_variable(Loop *l, Assigned *a)
{
	Value *before = scope_find(a->name);
	LoopVariable v = {.of = a, .role = LEFT};
	v.why = arena_printf("%.100s is assigned only in the loop at %s, which may have no turn",
		a->name, pos_line(&l->s->pos));
	if (before && before->kind != V_UNSET) {
		v.init = *before;
		v.role = turns_carries(before) ? CARRIED : KEPT;
		bool list = before->kind == V_LIST || before->kind == V_ROWS ||
			before->kind == V_EXTENDED;
		if (list && block_extends(l->s->body, a->name))
			v.role = EXTENDS;
	}
	vec_push(&l->vars, v);
}

static void enter(Loop *l, LoopVariable *v)
{
	const char *name = v->of->name;
	if (v->role == CARRIED)
		v->turn = turns_state(l->turns, &v->init, v->tries ? &v->like : NULL);
	else if (v->role == EXTENDS)
		v->turn = turns_extends(l->turns);
	else if (v->role == KEPT)
		v->turn = v->init;
	else
		v->turn = unset(arena_printf("%.100s has no value before its first assignment in "
			"the loop", name));
	v->read = false;
	scope_restore(name, (Variable){v->turn, &v->read});
}

static const char *changes(const Loop *l, const LoopVariable *v)
{
	return arena_printf("%.100s is %s before the loop at %s, and %s behind a turn",
		v->of->name, value_text(&v->init), pos_line(&l->s->pos), value_text(&v->next));
}

/* What the variable is behind a turn; false when the loop is to be tried with another role. */
static bool leave(Loop *l, LoopVariable *v)
{
	v->next = *scope_find(v->of->name);
	at_pos(&v->of->pos);
	if (v->role == LEFT || (v->role == KEPT && value_same(&v->next, &v->init)))
		return true;
	if (v->role == EXTENDS && turns_extended(l->turns, &v->next))
		return v->row = l->lists++, true;
	if (v->role == EXTENDS && v->next.kind == V_UNSET)
		die(MALFORMED, "%s", v->next.s);
	if (v->role == EXTENDS) {
		v->role = turns_carries(&v->init) ? CARRIED : KEPT;
		return false;
	}
	if (v->role == CARRIED && turns_next(l->turns, &v->turn, &v->next))
		return true;
	if (v->role == CARRIED && turns_adapts(l->turns, &v->init, &v->next) &&
		v->tries++ < MOST_TRIES)
		return v->like = v->next, false;
	if (v->read)
		die(MALFORMED, "%s", v->next.kind == V_UNSET ? v->next.s : changes(l, v));
	v->role = LEFT;
	v->why = changes(l, v);
	return false;
}

/* The variable behind the loop. */
static void settle(const Loop *l, const LoopVariable *v)
{
	Value r = v->init;
	uint32_t start = node_limit();
	if (v->role == CARRIED)
		r = turns_last(l->turns, &v->turn);
	if (v->role == EXTENDS)
		r = turns_list(l->turns, v->row, &v->init, &v->next);
	note_new(&r, start, &l->s->pos);
	if (v->role != LEFT && v->of->before.read)
		*v->of->before.read = true;
	if (v->role == LEFT)
		scope_set(v->of->name, unset(v->why));
	else if (v->role == KEPT)
		scope_restore(v->of->name, v->of->before);
	else
		scope_set(v->of->name, r);
}

static Value turn_value(const Loop *l)
{
	Value turn = turns_turn(l->turns);
	if (l->over)
		return v_tensor(t_take_inside(l->over, turn.u, 0));
	bool zero = l->first.kind == V_NUMBER && !l->first.i;
	return zero ? turn : operate(OPERATOR(ADD), &l->first, &turn);
}

static UOp *next_condition(const Loop *l)
{
	if (!l->start)
		return NULL;
	Value c = eval(l->s->value);
	expr_place(l->s->value);
	UOp *data = value_condition(&c, "the condition");
	return data ? data : const_int(DT_BOOL, value_truth(&c, "the condition"));
}

/* Traces the body once; false: again, with the roles that it has changed. */
static bool trace_turn(Loop *l)
{
	Stmt *s = l->s;
	bool fits = true;
	l->lists = 0;
	l->turns = turns_new(l->limit, l->start);
	at_pos(&s->pos);
	for (size_t i = 0; i < l->vars.n; i++)
		enter(l, &l->vars.at[i]);
	if (s->kind == S_FOR)
		scope_set(s->names[0], turn_value(l));
	eval_block(s->body);
	if (returning)
		fail_at(&s->pos, "a return in a loop that is data");
	UOp *next = next_condition(l);
	for (size_t i = 0; i < l->vars.n; i++)
		fits &= leave(l, &l->vars.at[i]);
	at_pos(&s->pos);
	if (fits)
		turns_end(l->turns, next);
	else
		turns_drop(l->turns);
	return fits;
}

/* The loop as a LOOP; l has the statement and what ends it. */
static void loop_of_graph(Loop *l)
{
	const char *own = l->s->kind == S_FOR ? l->s->names[0] : NULL;
	add_block(&l->names, l->s->body);
	for (size_t i = 0; i < l->names.all.n; i++)
		if (l->names.all.at[i].name != own)
			add_variable(l, &l->names.all.at[i]);
	/* in loops in loops each body is traced again for each time that one around it is */
	while (!trace_turn(l))
		if (steps_within() && ++again > MOST_AGAIN)
			fail_at(&l->s->pos, "loops nested so deep that numbers before them take dtypes "
				"from too many turns; give them one, as in f32(0)");
	for (size_t i = 0; i < l->vars.n; i++)
		settle(l, &l->vars.at[i]);
	if (own)
		scope_set(own, unset(arena_printf("%.100s has a value only in its loop at %s", own,
			pos_line(&l->s->pos))));
	free_names(&l->names);
	vec_free(&l->vars);
}

/* ---- for */

/* Goes through n known values; after the first, a long loop whose turns make nodes is a LOOP. */
static void for_known(Stmt *s, Loop *long_one, int64_t n, Value (*value)(const Loop *l, int64_t k))
{
	AssignedNames names = {0};
	StepsMark begun = steps_mark();
	uint32_t start = node_limit();
	if (n > MOST_UNROLLED) {
		add_name(&names, s->names[0], s->name_pos[0]);
		add_block(&names, s->body);
	}
	for (int64_t k = 0; k < n && !returning; k++) {
		eval_step(&s->pos);
		if (k == 1 && n > MOST_UNROLLED && node_limit() > start) {
			restore_names(&names);
			steps_drop(begun);
			loop_of_graph(long_one);
			break;
		}
		scope_set(s->names[0], value(long_one, k));
		eval_block(s->body);
	}
	free_names(&names);
}

static Value known_number(const Loop *l, int64_t k) { return v_int(l->first.i + k); }

static void for_range(Stmt *s)
{
	Value first = eval(s->value), last = eval(s->e[0]), one = v_int(1);
	expr_place(s->value);
	if (!turns_limit(&first) || !turns_limit(&last))
		die(MALFORMED, "a loop goes from an integer to another, here from %s to %s",
			value_text(&first), value_text(&last));
	Loop l = {.s = s, .first = first};
	if (first.kind == V_NUMBER && last.kind == V_NUMBER) {
		uint64_t n = (uint64_t)last.i - (uint64_t)first.i;
		int64_t most = n < INT64_MAX ? (int64_t)n + 1 : INT64_MAX;
		most = last.i < first.i ? 0 : most;
		l.limit = const_int(DT_I64, most);
		for_known(s, &l, most, known_number);
		return;
	}
	Value n = operate(OPERATOR(SUB), &last, &first);
	n = operate(OPERATOR(ADD), &n, &one);
	l.limit = turns_limit(&n);
	loop_of_graph(&l);
}

static Value known_row(const Loop *l, int64_t k)
{
	IndexItem at = {.kind = I_AT, .at = v_int(k)};
	Value x = v_tensor(l->over);
	return index_value(&x, 1, &at);
}

static void for_rows(Stmt *s, UOp *over)
{
	Value size = v_size(t_dim(over, 0));
	Loop l = {.s = s, .over = over, .limit = turns_limit(&size)};
	int64_t n;
	if (ix_is_const(t_dim(over, 0), &n))
		for_known(s, &l, n, known_row);
	else
		loop_of_graph(&l);
}

void eval_for(Stmt *s)
{
	if (vars_find(s->names[0], strlen(s->names[0])))
		fail_at(&s->name_pos[0], "%s is a size", s->names[0]);
	if (s->e[0]) {
		for_range(s);
		return;
	}
	Value v = eval(s->value);
	bool rows = v.kind == V_ROWS || (v.kind == V_TENSOR && v.u->shape && t_rank(v.u));
	if (v.kind != V_LIST && !rows)
		fail_at(&s->value->pos,
			"a loop goes over a range A..B, a list or the rows of a tensor, not over "
			"%s",
			value_text(&v));
	expr_place(s->value);
	if (rows)
		for_rows(s, v.u);
	for (size_t i = 0; v.kind == V_LIST && i < v.n && !returning; i++) {
		eval_step(&s->pos);
		scope_set(s->names[0], v.at[i]);
		eval_block(s->body);
	}
}

/* ---- while */

/* The condition that is data; NULL and *holds when it is known while tracing. */
static UOp *condition(const Stmt *s, bool *holds)
{
	Value c = eval(s->value);
	expr_place(s->value);
	UOp *data = value_condition(&c, "the condition");
	*holds = data || value_truth(&c, "the condition");
	return data;
}

/* Turns are traced one by one as long as the condition is known. If that ends with the first, or
 * does not end, it is a LOOP from the start. */
void eval_while(Stmt *s)
{
	bool holds;
	Loop l = {.s = s, .start = condition(s, &holds)};
	AssignedNames names = {0};
	StepsMark begun = steps_mark();
	uint32_t start = node_limit();
	if (!l.start && holds)
		add_block(&names, s->body);
	for (int64_t k = 1; !l.start && holds && !returning; k++) {
		eval_step(&s->pos);
		eval_block(s->body);
		if (returning)
			break;
		l.start = condition(s, &holds);
		bool endless = k == MOST_UNROLLED && holds && node_limit() > start;
		if (endless || (l.start && k == 1)) {
			restore_names(&names);
			steps_drop(begun);
			l.start = const_int(DT_BOOL, 1);
		}
	}
	free_names(&names);
	if (l.start)
		loop_of_graph(&l);
}

/* ---- if */

static Value outcome(const char *name)
{
	Value *v = scope_find(name);
	return v ? *v : unset(NULL);
}

static const char *differs(const Stmt *s, const char *name, const Value *then, const Value *other)
{
	const Value *none = then->kind == V_UNSET ? then : other->kind == V_UNSET ? other : NULL;
	if (none && none->s)
		return none->s;
	if (none)
		return arena_printf("%.100s is assigned in only one branch of the if at %s", name,
			pos_line(&s->pos));
	return arena_printf("%.100s is %s in one branch of the if at %s, and %s in the other", name,
		value_text(then), pos_line(&s->pos), value_text(other));
}

/* Merges what both branches left in the names; *out has what each is. */
static void merge_names(
	const Stmt *s, const AssignedNames *names, Branches *b, const Value *then, Value *out)
{
	for (size_t i = 0; i < names->all.n; i++) {
		const Assigned *a = &names->all.at[i];
		Value other = outcome(a->name);
		size_t pairs = b->then.n;
		at_pos(&a->pos);
		if (then[i].kind == V_UNSET && other.kind == V_UNSET && !then[i].s && !other.s)
			out[i] = other;
		else if (!branch_merge(b, &then[i], &other, &out[i])) {
			out[i] = unset(differs(s, a->name, &then[i], &other));
			b->then.n = b->other.n = pairs;
		}
	}
}

static void set_merged(
	const Stmt *s, const AssignedNames *names, const Branches *b, const Value *merged)
{
	uint32_t start = node_limit();
	for (size_t i = 0; i < names->all.n; i++) {
		const Assigned *a = &names->all.at[i];
		Value v = merged[i].kind == V_UNSET ? merged[i] : branch_value(b, &merged[i]);
		scope_restore(a->name, a->before);
		Value now = outcome(a->name);
		if (value_same(&now, &v))
			continue;
		note_new(&v, start, &s->pos);
		/* one branch may have left it as it was */
		if (a->before.read)
			*a->before.read = true;
		scope_set(a->name, v);
	}
}

/* Both branches return, or neither. */
static void merge_returned(
	const Stmt *s, Branches *b, const Value *then, bool then_returns, Value *v)
{
	if (then_returns != returning)
		fail_at(&s->pos, "a return in only one branch of an if that is data; assign a "
			"variable, and return behind it");
	if (returning && !branch_merge(b, then, &returned, v))
		fail_at(&s->pos, "one branch returns %s, and the other %s", value_text(then),
			value_text(&returned));
}

static void branches_of_graph(Stmt *s, UOp *cond)
{
	Branches b = {.cond = cond};
	AssignedNames names = {0};
	Value result = v_none();
	add_block(&names, s->body);
	add_block(&names, s->orelse);
	size_t n = names.all.n;
	Value *then = arena_alloc((n + 1) * sizeof *then);
	Value *merged = arena_alloc((n + 1) * sizeof *merged);
	StepsMark begun = steps_enter();
	eval_block(s->body);
	Value then_result = returned;
	bool then_returns = returning;
	returning = false;
	for (size_t i = 0; i < n; i++)
		then[i] = outcome(names.all.at[i].name);
	restore_names(&names);
	eval_block(s->orelse);
	steps_leave(begun);
	merge_returned(s, &b, &then_result, then_returns, &result);
	merge_names(s, &names, &b, then, merged);
	at_pos(&s->pos);
	branch_end(&b);
	set_merged(s, &names, &b, merged);
	if (returning)
		returned = branch_value(&b, &result);
	branch_free(&b);
	free_names(&names);
}

void eval_if(Stmt *s)
{
	bool holds;
	UOp *data = condition(s, &holds);
	if (data)
		branches_of_graph(s, data);
	else
		eval_block(holds ? s->body : s->orelse);
}
