/* Statements, executed in order; functions are expanded where they are called.
 *
 *     def f(a, b=1) = a * b
 *     y = f(x)               y is MUL(x, CONST 1): the graph has no calls
 */
#include "text/text.h"

static ARENA Map functions;
ARENA bool returning;
ARENA Value returned;

/* ---- functions */

Stmt *program_function(const char *name) { return map_get(&functions, PKEY(val_str(name)->s)); }

static void define_function(Stmt *s)
{
	const char *name = s->names[s->n];
	if (map_get(&functions, PKEY(name)))
		fail_at(&s->pos, "the function %.100s is defined already", name);
	map_put(&functions, PKEY(name), s);
}

static size_t parameter_index(Stmt *f, const char *name)
{
	for (size_t k = 0; k < f->n; k++)
		if (!strcmp(f->names[k], name))
			return k;
	die(MALFORMED, "%.100s has no parameter %.100s", f->names[f->n], name);
}

static void bind_parameters(
	Stmt *f, size_t n, const Value *pos, size_t nkw, const char *const *kw, const Value *kwval)
{
	const char *name = f->names[f->n];
	if (n > f->n)
		die(MALFORMED, "%.100s takes at most %zu arguments, got %zu", name, f->n, n);
	for (size_t k = 0; k < n; k++)
		scope_set(f->names[k], pos[k]);
	for (size_t i = 0; i < nkw; i++) {
		size_t k = parameter_index(f, kw[i]);
		if (map_get(&scope->vars, PKEY(f->names[k])))
			die(MALFORMED, "%.100s: %.100s is given twice", name, kw[i]);
		scope_set(f->names[k], kwval[i]);
	}
	for (size_t k = 0; k < f->n; k++) {
		if (map_get(&scope->vars, PKEY(f->names[k])))
			continue;
		if (!f->e[k])
			die(MALFORMED, "%.100s: %.100s is missing", name, f->names[k]);
		scope_set(f->names[k], eval(f->e[k]));
	}
}

Value call_program_function(Stmt *f, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval, const Pos *p)
{
	NameScope own = {.outer = &globals}, *before = scope;
	eval_deeper(p);
	scope = &own;
	bind_parameters(f, n, pos, nkw, kw, kwval);
	returned = v_none();
	eval_block(f->body);
	returning = false;
	scope = before;
	map_free(&own.vars);
	eval_back();
	Value v = returned;
	returned = v_none();
	return v;
}

/* ---- assignments */

static void assign(const char *name, const Pos *p, const Value *v)
{
	if (scope == &globals && program_state_named(name))
		fail_at(p, "%s is a state: write %s <- …", name, name);
	if (vars_find(name, strlen(name)))
		fail_at(p, "%s is a size", name);
	if (dtype_find(name) != DT_NONE)
		fail_at(p, "%s is a dtype", name);
	note_name(v, name);
	scope_set(name, *v);
}

static void run_assign(Stmt *s)
{
	Value v = eval(s->value);
	if (s->op) {
		Value *old = scope_read(s->names[0]);
		if (!old)
			fail_at(&s->name_pos[0], "%.100s is not defined", s->names[0]);
		if (old->kind == V_UNSET)
			fail_at(&s->name_pos[0], "%s", old->s);
		uint32_t start = node_limit();
		at_pos(&s->pos);
		v = operate(s->op, old, &v);
		note_new(&v, start, &s->pos);
	}
	if (s->n == 1) {
		assign(s->names[0], &s->name_pos[0], &v);
		return;
	}
	if (v.kind != V_LIST || v.n != s->n)
		fail_at(&s->pos, "%zu names for %s", s->n, value_text(&v));
	for (size_t i = 0; i < s->n; i++)
		assign(s->names[i], &s->name_pos[i], &v.at[i]);
}

/* ---- outputs */

static void run_output(Stmt *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (program_has_output(s->names[i]))
			fail_at(&s->name_pos[i], "%s is an output already", s->names[i]);
		Expr named = {.kind = X_NAME, .pos = s->name_pos[i], .s = s->names[i]};
		Value v = eval(s->e[i] ? s->e[i] : &named);
		uint32_t start = node_limit();
		expr_place(s->e[i] ? s->e[i] : &named);
		UOp *u = value_tensor(&v, DT_NONE);
		if (!u)
			fail_at(&s->name_pos[i], "the output %s is %s, expected a tensor",
				s->names[i], value_text(&v));
		v = v_tensor(u);
		note_new(&v, start, &s->name_pos[i]);
		note_name(&v, s->names[i]);
		program_output(s->names[i], u);
	}
}

/* ---- any statement */

static void run_return(Stmt *s)
{
	if (scope == &globals)
		fail_at(&s->pos, "a return outside of a function");
	Value v = s->value ? eval(s->value) : v_none();
	returned = v;
	returning = true;
}

static void top_level(const Stmt *s, const char *what)
{
	if (scope != &globals)
		fail_at(&s->pos, "%s within a function", what);
	if (steps_within())
		fail_at(&s->pos, "%s in a loop or a branch that is data; put it behind", what);
}

static void run_statement(Stmt *s)
{
	switch (s->kind) {
	case S_INPUT: top_level(s, "an input"); declare_input(s); break;
	case S_SIZES: top_level(s, "a size"); declare_sizes(s); break;
	case S_CONST: declare_const(s); break;
	case S_STATE: top_level(s, "a state"); declare_state(s); break;
	case S_UPDATE: top_level(s, "the update of a state"); update_state(s); break;
	case S_OUTPUT: top_level(s, "an output"); run_output(s); break;
	case S_ASSIGN: run_assign(s); break;
	case S_DEF: break;
	case S_RETURN: run_return(s); break;
	case S_FOR: eval_for(s); break;
	case S_WHILE: eval_while(s); break;
	case S_IF: eval_if(s); break;
	case S_EXPR: eval(s->value); break;
	}
}

void eval_block(StmtBlock b)
{
	for (size_t i = 0; i < b.n && !returning; i++) {
		eval_deeper(&b.at[i]->pos);
		run_statement(b.at[i]);
		eval_back();
	}
}

/* ---- the program */

Graph *eval_program(StmtBlock program, const char *file)
{
	program_start();
	declare_start(file);
	scope = &globals;
	/* functions may be called above their definition */
	for (size_t i = 0; i < program.n; i++)
		if (program.at[i]->kind == S_DEF)
			define_function(program.at[i]);
	eval_block(program);
	process.where = file;
	process.context = NULL;
	Graph *g = program_graph();
	process.where = NULL;
	return g;
}
