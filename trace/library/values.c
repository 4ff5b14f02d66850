/* The values of a program's expressions, and how a library function receives them as arguments.
 *
 *     sum(x, axis=-1)       Args: x TENSOR, axis NUMBER -1, keepdims BOOL false (the default)
 *     arg_tensor(a, 0)      the node of x
 *     arg_axis(a, 1, 2)     1
 *
 * A getter that is given another kind dies with "sum: axis: expected an integer, got the text
 * "a"". */
#include "library/library.h"
#include <stdlib.h>

Value v_none(void) { return (Value){.kind = V_NONE}; }
Value v_tensor(UOp *u) { return (Value){.kind = V_TENSOR, .u = u}; }
Value v_weak(UOp *u) { return (Value){.kind = V_TENSOR, .u = u, .weak = true}; }
Value v_rows(UOp *u) { return (Value){.kind = V_ROWS, .u = u}; }
Value v_int(int64_t i) { return (Value){.kind = V_NUMBER, .i = i, .f = i, .is_int = true}; }
Value v_float(double f) { return (Value){.kind = V_NUMBER, .f = f}; }
Value v_bool(bool b) { return (Value){.kind = V_BOOL, .i = b}; }
Value v_str(const char *s) { return (Value){.kind = V_STR, .s = s}; }
Value v_list(size_t n, Value *at) { return (Value){.kind = V_LIST, .n = n, .at = at}; }

Value v_size(UOp *u)
{
	int64_t i;
	return ix_is_const(u, &i) ? v_int(i) : (Value){.kind = V_SIZE, .u = u};
}

Value v_shape(const Shape *s)
{
	Value *at = arena_alloc((s->rank + 1) * sizeof *at);
	for (int i = 0; i < s->rank; i++)
		at[i] = v_size(s->dim[i]);
	return v_list(s->rank, at);
}

const char *value_text(const Value *v)
{
	switch (v->kind) {
	case V_NONE: return "none";
	case V_TENSOR: return arena_printf("a tensor %s%s", dtype_name(v->u->dtype),
			v->u->shape ? shape_text(v->u->shape) : "");
	case V_NUMBER: return v->is_int ? arena_printf("the number %lld", (long long)v->i)
			: arena_printf("the number %.9g", v->f);
	case V_SIZE: return "a symbolic size";
	case V_BOOL: return v->i ? "true" : "false";
	case V_STR: return arena_printf("the text \"%.40s\"", v->s);
	case V_LIST: return arena_printf("a list of %zu", v->n);
	case V_MODEL: return "a model";
	case V_ROWS: return arena_printf("a list of the rows of %s%s", dtype_name(v->u->dtype),
			shape_text(v->u->shape));
	case V_EXTENDED: return arena_printf("a list extended by %zu", v->n);
	case V_UNSET: return "nothing";
	}
	return "nothing";
}

/* ---- weak values as tensors */

/* A size that may be negative is computed as an offset from its smallest value. */

bool value_weak(const Value *v)
{
	return v->kind == V_NUMBER || v->kind == V_SIZE || (v->kind == V_TENSOR && v->weak);
}

DType weak_dtype(const Value *v, DType other)
{
	if (v->kind == V_TENSOR && v->weak && dtype_float(v->u->dtype))
		return dtype_float(other) ? other : v->u->dtype;
	if (v->kind == V_TENSOR && v->weak)
		return other != DT_NONE && other != DT_BOOL ? other : v->u->dtype;
	if (v->kind == V_TENSOR || v->kind == V_ROWS)
		return v->u->dtype;
	if (v->kind == V_LIST)
		return literal_dtype(v, other);
	if (v->kind == V_SIZE)
		return dtype_int(other) || dtype_float(other) ? other : DT_I64;
	if (v->kind == V_BOOL)
		return other == DT_NONE ? DT_BOOL : other;
	if (!v->is_int)
		return dtype_float(other) ? other : float_dtype();
	if (other != DT_NONE && other != DT_BOOL)
		return other;
	return v->i < INT32_MIN || v->i > INT32_MAX || v->f > INT32_MAX ?
		v->f > INT64_MAX ? DT_U64 : DT_I64 :
		DT_I32;
}

/* NUMBER or BOOL; dies when dt cannot hold an integer */
static UOp *weak_const(const Value *v, DType dt)
{
	if (v->kind == V_BOOL)
		return const_int(dt, v->i);
	if (!v->is_int)
		return dtype_float(dt) ? const_num(dt, v->f) : const_num(float_dtype(), v->f);
	if (dtype_float(dt))
		return const_num(dt, v->f);
	bool huge = v->f > (double)INT64_MAX;
	bool fits = huge ? dt == DT_U64 :
			   v->i >= dtype_min(dt) && (v->i < 0 || (uint64_t)v->i <= dtype_max(dt));
	if (!fits)
		die(MALFORMED, "%s does not fit %s", value_text(v) + strlen("the number "),
			dtype_name(dt));
	return const_bits(dt, &v->i);
}

UOp *value_tensor(const Value *v, DType like)
{
	switch (v->kind) {
	case V_TENSOR:
		return !v->u->shape ? NULL : v->weak ? t_cast(v->u, weak_dtype(v, like)) : v->u;
	case V_ROWS: return v->u;
	case V_NUMBER:
	case V_BOOL: return weak_const(v, weak_dtype(v, like));
	case V_SIZE: return t_cast(size_tensor(v->u), weak_dtype(v, like));
	case V_LIST: return literal_tensor(v, like);
	default: return NULL;
	}
}

/* ---- notes */

typedef VEC(UOp *) Stack;

static void push_new(Stack *stack, UOp *u, uint32_t start)
{
	if (u->id >= start && u->op != OP_CONST && !val_get(u->note, "loc"))
		vec_push(stack, u);
}

/* Sources are older than their users, so the walk stops at nodes that existed before. A node that
 * has a loc has been visited, so that in a whole program every node is visited once. */
void note_nodes(const Value *v, uint32_t start, const Val *note)
{
	Stack stack = {0};
	if (v->kind == V_LIST)
		for (size_t i = 0; i < v->n; i++)
			note_nodes(&v->at[i], start, note);
	if (v->kind != V_TENSOR && v->kind != V_ROWS)
		return;
	push_new(&stack, v->u, start);
	/* no edge leads to what its sizes are bound to */
	for (size_t i = steps_made()->binds.n; i-- && steps_made()->binds.at[i]->id >= start;)
		push_new(&stack, steps_made()->binds.at[i], start);
	while (stack.n) {
		UOp *u = stack.at[--stack.n];
		if (val_get(u->note, "loc"))
			continue;
		node_note(u, note);
		for (size_t i = 0; i < u->nsrc; i++)
			push_new(&stack, u->src[i], start);
	}
	vec_free(&stack);
}

/* ---- getters */

static _Noreturn void expected(Args *a, int k, const char *what)
{
	die(MALFORMED, "%s: %s: expected %s, got %s", a->fn->name, param_name(a->fn, k), what,
		value_text(&a->at[k]));
}

bool arg_given(Args *a, int k) { return a->at[k].kind != V_NONE; }

UOp *arg_tensor_like(Args *a, int k, DType dt)
{
	const Value *v = &a->at[k];
	/* 0 and 1 are accepted as false and true where a bool is wanted */
	if (dt == DT_BOOL && v->kind == V_NUMBER && v->is_int && (v->i == 0 || v->i == 1))
		return const_int(DT_BOOL, v->i);
	UOp *u = value_tensor(v, dt);
	if (!u)
		expected(a, k, "a tensor");
	return u;
}

UOp *arg_tensor(Args *a, int k) { return arg_tensor_like(a, k, DT_NONE); }

int64_t arg_int(Args *a, int k)
{
	const Value *v = &a->at[k];
	int64_t i;
	if (v->kind == V_NUMBER && v->is_int && !(v->f > (double)INT64_MAX))
		return v->i;
	if (v->kind == V_TENSOR && !t_rank(v->u) && dtype_int(v->u->dtype) &&
		const_is_int(v->u, &i))
		return i;
	if (v->kind == V_SIZE)
		die(UNSUPPORTED, "%s: %s: the number must be known, not depend on a size variable",
			a->fn->name, param_name(a->fn, k));
	expected(a, k, "an integer");
}

double arg_float(Args *a, int k)
{
	const Value *v = &a->at[k];
	double f;
	if (v->kind == V_NUMBER)
		return v->f;
	if (v->kind == V_BOOL)
		return v->i;
	if (v->kind == V_TENSOR && const_is_float(v->u, &f))
		return f;
	if (v->kind == V_TENSOR && v->u->op == OP_CONST)
		return arg_int(a, k);
	expected(a, k, "a number");
}

bool arg_bool(Args *a, int k)
{
	const Value *v = &a->at[k];
	if (v->kind == V_BOOL || (v->kind == V_NUMBER && v->is_int && (v->i == 0 || v->i == 1)))
		return v->i;
	expected(a, k, "true or false");
}

const char *arg_str(Args *a, int k)
{
	if (a->at[k].kind != V_STR)
		expected(a, k, "a text");
	return a->at[k].s;
}

UOp *value_size(const Value *v)
{
	const char *err = NULL;
	UOp *u;
	if (v->kind == V_SIZE)
		return v->u;
	if (v->kind == V_NUMBER && v->is_int)
		return ix_const(v->i);
	if (v->kind == V_STR && (u = ix_parse(v->s, strlen(v->s), &err)))
		return u;
	return NULL;
}

/* One of n sizes as an argument; an integer that data gives is one too. */
static UOp *size_given(const Value *v, int n)
{
	bool data = v->kind == V_TENSOR && dtype_int(v->u->dtype) && v->u->shape &&
		shape_count(v->u->shape) == ix_const(1);
	return data ? t_bind_open("size", v->u, n) : value_size(v);
}

UOp *arg_size(Args *a, int k)
{
	UOp *u = size_given(&a->at[k], 1);
	if (!u)
		expected(a, k, "a size");
	return u;
}

int arg_sizes(Args *a, int k, UOp **out)
{
	const Value *v = &a->at[k];
	const Value *at = v->kind == V_LIST ? v->at : v;
	size_t n = v->kind == V_LIST ? v->n : 1;
	if (n > MAX_RANK)
		die(UNSUPPORTED, "%s: %s: %zu sizes, at most %d are supported", a->fn->name,
			param_name(a->fn, k), n, MAX_RANK);
	for (size_t i = 0; i < n; i++)
		if (!(out[i] = size_given(&at[i], (int)n)))
			expected(a, k, "a list of sizes");
	return n;
}

int arg_int_list(Args *a, int k, int64_t *out, int max)
{
	const Value *v = &a->at[k];
	const Value *at = v->kind == V_LIST ? v->at : v;
	size_t n = v->kind == V_LIST ? v->n : 1;
	if (n > (size_t)max)
		die(MALFORMED, "%s: %s: %zu numbers, expected at most %d", a->fn->name,
			param_name(a->fn, k), n, max);
	for (size_t i = 0; i < n; i++) {
		if (at[i].kind != V_NUMBER || !at[i].is_int)
			expected(a, k,
				v->kind == V_LIST ? "a list of integers" :
						    "an integer or a list of integers");
		out[i] = at[i].i;
	}
	return n;
}

DType arg_dtype(Args *a, int k)
{
	if (!arg_given(a, k))
		return DT_NONE;
	const char *name = arg_str(a, k);
	DType dt = strcmp(name, "float") ? dtype_find(name) : float_dtype();
	if (dt == DT_NONE)
		expected(a, k, "the name of a dtype");
	return dt;
}

static int axis_in(Args *a, int k, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		die(MALFORMED, "%s: %s: axis %lld is outside a tensor of rank %d", a->fn->name,
			param_name(a->fn, k), (long long)axis, rank);
	return axis < 0 ? axis + rank : axis;
}

int arg_axis(Args *a, int k, int rank) { return axis_in(a, k, arg_int(a, k), rank); }

int arg_axes_of(Args *a, int k, int rank, int *axes)
{
	int64_t given[MAX_RANK];
	bool seen[MAX_RANK] = {false};
	if (!arg_given(a, k)) {
		for (int i = 0; i < rank; i++)
			axes[i] = i;
		return rank;
	}
	int n = arg_int_list(a, k, given, MAX_RANK);
	for (int i = 0; i < n; i++) {
		axes[i] = axis_in(a, k, given[i], rank);
		if (seen[axes[i]])
			die(MALFORMED, "%s: %s: axis %d is named twice", a->fn->name,
				param_name(a->fn, k), axes[i]);
		seen[axes[i]] = true;
	}
	return n;
}
