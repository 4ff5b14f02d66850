/* Expressions to values.
 *
 *     relu(x @ w + b)     t_matmul, t_add, the library's relu; nodes noted with {loc: "g.t:3"}
 *
 * A call names a function of the program, one of the language itself (load, text, len, custom, a
 * dtype's name), or one in the table functions.def. Errors point at the expression being
 * evaluated. */
#include "onnx/onnx.h"
#include "text/text.h"
#include <math.h>
#include <stdlib.h>

ARENA NameScope globals, *scope;
static ARENA int depth;
static ARENA size_t steps;

/* ---- names */

static Variable *variable(const char *name)
{
	for (NameScope *s = scope; s; s = s->outer) {
		Variable *v = map_get(&s->vars, PKEY(name));
		if (v)
			return v;
	}
	return NULL;
}

Value *scope_find(const char *name)
{
	Variable *v = variable(name);
	return v ? &v->v : NULL;
}

Value *scope_read(const char *name)
{
	Variable *v = variable(name);
	if (v && v->read)
		*v->read = true;
	return v ? &v->v : NULL;
}

Variable scope_keep(const char *name)
{
	Variable *v = map_get(&scope->vars, PKEY(name));
	return v ? *v : (Variable){.v.kind = V_UNSET};
}

void scope_restore(const char *name, Variable v)
{
	Variable *at = map_get(&scope->vars, PKEY(name));
	if (v.v.kind == V_UNSET && !v.v.s) {
		map_put(&scope->vars, PKEY(name), NULL);
		return;
	}
	if (!at) {
		at = arena_alloc(sizeof *at);
		map_put(&scope->vars, PKEY(name), at);
	}
	*at = v;
}

void scope_set(const char *name, Value v) { scope_restore(name, (Variable){.v = v}); }

static Value name_value(const char *name)
{
	Value *v = scope_read(name);
	if (v && v->kind == V_UNSET)
		die(MALFORMED, "%s", v->s);
	if (v)
		return *v;
	UOp *size = vars_find(name, strlen(name));
	if (size)
		return v_size(size);
	if (!strcmp(name, "pi"))
		return v_float(M_PI);
	if (!strcmp(name, "inf"))
		return v_float(INFINITY);
	if (!strcmp(name, "nan"))
		return v_float(NAN);
	if (dtype_find(name) != DT_NONE)
		return v_str(name);
	if (program_function(name) || function_find(name))
		die(MALFORMED, "%.100s is a function: call it with (…)", name);
	die(MALFORMED, "%.100s is not defined", name);
}

/* ---- places and notes */

void expr_place(Expr *e)
{
	if (!e->where) {
		at_pos(&e->pos);
		e->where = process.where;
		e->context = process.context;
	}
	process.where = e->where;
	process.context = e->context;
}

void eval_step(const Pos *p)
{
	if (++steps > MAX_STEPS)
		fail_at(p, "the program takes more than %d steps", MAX_STEPS);
}

void note_new(const Value *v, uint32_t start, const Pos *p)
{
	if (node_limit() > start)
		note_nodes(v, start, VMAP(val_str("loc"), val_str(pos_line(p))));
}

void note_name(const Value *v, const char *name)
{
	if (v->kind == V_TENSOR && v->u->op != OP_CONST && v->u->op != OP_BUFFER)
		node_note(v->u, VMAP(val_str("name"), val_str(name)));
}

/* ---- operators */

/* The tree of a + b + c + … is as deep as the sum is long, so a loop walks its left side. */
static Value eval_binary(Expr *e)
{
	VEC(Expr *) spine = {0};
	for (; e->kind == X_BINARY; e = e->arg[0])
		vec_push(&spine, e);
	Value left = eval(e);
	while (spine.n) {
		Expr *op = spine.at[--spine.n];
		eval_step(&op->pos);
		Value right = eval(op->arg[1]);
		uint32_t start = node_limit();
		expr_place(op);
		left = operate(op->op, &left, &right);
		note_new(&left, start, &op->pos);
	}
	vec_free(&spine);
	return left;
}

static Value eval_unary(Expr *e)
{
	Value v = eval(e->arg[0]);
	uint32_t start = node_limit();
	expr_place(e);
	v = operate_prefix(e->op, &v);
	note_new(&v, start, &e->pos);
	return v;
}

/* Sides that are known while tracing decide, or fall away. */
static Value eval_logic(Expr *e)
{
	bool either = e->kind == X_OR;
	const char *what = either ? "a side of 'or'" : "a side of 'and'";
	UOp *data = NULL;
	Value v = v_none();
	for (size_t i = 0; i < e->n; i++) {
		v = eval(e->arg[i]);
		expr_place(e->arg[i]);
		uint32_t start = node_limit();
		UOp *side = value_condition(&v, what);
		if (!side && value_truth(&v, what) == either)
			return v;
		if (side)
			data = !data ? side : either ? t_or(data, side) : t_and(data, side);
		if (data)
			v = v_tensor(data);
		note_new(&v, start, &e->pos);
	}
	return v;
}

static Value eval_not(Expr *e)
{
	Value v = eval(e->arg[0]);
	expr_place(e);
	uint32_t start = node_limit();
	UOp *data = value_condition(&v, "what 'not' takes");
	Value r = data ? v_tensor(t_not(data)) : v_bool(!value_truth(&v, "what 'not' takes"));
	note_new(&r, start, &e->pos);
	return r;
}

static Value eval_choice(Expr *e)
{
	Value c = eval(e->arg[1]), v;
	expr_place(e->arg[1]);
	Branches b = {.cond = value_condition(&c, "the condition")};
	if (!b.cond)
		return eval(e->arg[value_truth(&c, "the condition") ? 0 : 2]);
	StepsMark begun = steps_enter();
	Value then = eval(e->arg[0]), other = eval(e->arg[2]);
	steps_leave(begun);
	uint32_t start = node_limit();
	expr_place(e);
	if (!branch_merge(&b, &then, &other, &v))
		die(MALFORMED, "the branches are %s and %s", value_text(&then),
			value_text(&other));
	branch_end(&b);
	v = branch_value(&b, &v);
	branch_free(&b);
	note_new(&v, start, &e->pos);
	return v;
}

static Value eval_list(Expr *e)
{
	Value *at = arena_alloc((e->n + 1) * sizeof *at);
	for (size_t i = 0; i < e->n; i++)
		at[i] = eval(e->arg[i]);
	return v_list(e->n, at);
}

/* ---- indexing and attributes */

static IndexItem eval_item(Expr *e)
{
	IndexItem it = {.kind = I_AT};
	if (e->kind == X_ELLIPSIS) {
		it.kind = I_ELLIPSIS;
	} else if (e->kind == X_SLICE) {
		it.kind = I_SLICE;
		it.start = e->arg[0] ? eval(e->arg[0]) : v_none();
		it.stop = e->arg[1] ? eval(e->arg[1]) : v_none();
		it.step = e->arg[2] ? eval(e->arg[2]) : v_none();
	} else if (e->kind == X_NAME && !strcmp(e->s, "newaxis") && !scope_find(e->s)) {
		it.kind = I_NEW;
	} else {
		it.at = eval(e);
		if (it.at.kind == V_NONE)
			it.kind = I_NEW;
	}
	return it;
}

static Value eval_index(Expr *e)
{
	Value x = eval(e->arg[0]);
	if (e->n - 1 > 2 * MAX_RANK)
		fail_at(&e->pos, "%u indices, at most %d are supported", e->n - 1, 2 * MAX_RANK);
	/* not on the stack, since calls nest */
	IndexItem *items = arena_alloc(e->n * sizeof *items);
	for (size_t i = 1; i < e->n; i++)
		items[i - 1] = eval_item(e->arg[i]);
	uint32_t start = node_limit();
	expr_place(e);
	Value v = index_value(&x, e->n - 1, items);
	note_new(&v, start, &e->pos);
	return v;
}

static Value tensor_attribute(UOp *x, const char *name)
{
	if (!strcmp(name, "shape"))
		return v_shape(x->shape);
	if (!strcmp(name, "ndim") || !strcmp(name, "rank"))
		return v_int(t_rank(x));
	if (!strcmp(name, "dtype"))
		return v_str(dtype_name(x->dtype));
	if (!strcmp(name, "size"))
		return v_size(shape_count(x->shape));
	if (strcmp(name, "T"))
		die(MALFORMED, "a tensor has no %.60s; it has shape, ndim, dtype, size, T", name);
	int axes[MAX_RANK];
	for (int i = 0; i < t_rank(x); i++)
		axes[i] = t_rank(x) - 1 - i;
	return v_tensor(t_permute(x, axes));
}

static Value eval_attribute(Expr *e)
{
	Value x = eval(e->arg[0]);
	uint32_t start = node_limit();
	expr_place(e);
	bool has = x.kind == V_LIST || x.kind == V_TENSOR || x.kind == V_ROWS;
	UOp *u = has ? value_tensor(&x, DT_NONE) : NULL;
	if (!u)
		die(MALFORMED, "%s has no %.60s", value_text(&x), e->s);
	Value v = tensor_attribute(u, e->s);
	note_new(&v, start, &e->pos);
	return v;
}

/* ---- calls */

static Value call_len(size_t n, const Value *pos)
{
	bool rows = n == 1 && (pos->kind == V_TENSOR || pos->kind == V_ROWS) && t_rank(pos->u);
	if (n != 1 || (pos->kind != V_LIST && !rows))
		die(MALFORMED, "len takes one list or tensor");
	return pos->kind == V_LIST ? v_int(pos->n) : v_size(t_dim(pos->u, 0));
}

/* f32(x) */
static Value call_dtype(DType dt, size_t n, const Value *pos)
{
	UOp *u = n == 1 ? value_tensor(pos, dt) : NULL;
	if (!u)
		die(MALFORMED, "%s takes one tensor or number", dtype_name(dt));
	return v_tensor(t_cast(u, dt));
}

static Value call(Expr *e, size_t n, const Value *pos, size_t nkw, const Value *kwval)
{
	Value v;
	Stmt *own = program_function(e->s);
	if (own)
		return call_program_function(own, n, pos, nkw, e->kw, kwval, &e->pos);
	Value *named = scope_find(e->s);
	if (named && named->kind == V_MODEL)
		return onnx_apply(named->model, n, pos, nkw, e->kw, kwval);
	const Function *f = function_find(e->s);
	if (n == 1 && !nkw && number_function(e->s, pos, &v))
		return v;
	if (f)
		return function_call(f, n, pos, nkw, e->kw, kwval);
	DType dt = dtype_find(e->s);
	bool load = !strcmp(e->s, "load"), len = !strcmp(e->s, "len"), text = !strcmp(e->s, "text");
	if (!strcmp(e->s, "custom"))
		return custom_value(n, pos, nkw, e->kw, kwval);
	if (!load && !len && !text && dt == DT_NONE)
		die(MALFORMED, "there is no function %.100s%s", e->s, function_hint(e->s));
	if (nkw)
		die(MALFORMED, "%s takes no named arguments", e->s);
	return load ? load_value(n, pos) : text ? load_text(n, pos) : len ? call_len(n, pos)
		: call_dtype(dt, n, pos);
}

static Value eval_call(Expr *e)
{
	Value *v = arena_alloc((e->n + 1) * sizeof *v);
	for (size_t i = 0; i < e->n; i++)
		v[i] = eval(e->arg[i]);
	uint32_t start = node_limit();
	expr_place(e);
	Value r = call(e, e->n - e->nkw, v, e->nkw, v + e->n - e->nkw);
	note_new(&r, start, &e->pos);
	return r;
}

static Value eval_kind(Expr *e)
{
	switch (e->kind) {
	case X_VALUE: return *e->value;
	case X_NAME:
		expr_place(e);
		return name_value(e->s);
	case X_LIST: return eval_list(e);
	case X_UNARY: return eval_unary(e);
	case X_BINARY: return eval_binary(e);
	case X_AND:
	case X_OR: return eval_logic(e);
	case X_NOT: return eval_not(e);
	case X_IF: return eval_choice(e);
	case X_CALL:
	case X_METHOD: return eval_call(e);
	case X_INDEX: return eval_index(e);
	case X_ATTR: return eval_attribute(e);
	default: fail_at(&e->pos, "this stands only within an index");
	}
}

void eval_deeper(const Pos *p)
{
	eval_step(p);
	if (++depth > MAX_DEPTH)
		fail_at(p, "calls and expressions nested more than %d deep", MAX_DEPTH);
}

void eval_back(void) { depth--; }

Value eval(Expr *e)
{
	eval_deeper(&e->pos);
	Value v = eval_kind(e);
	eval_back();
	return v;
}
