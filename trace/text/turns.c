/* Loops and branches whose turns and conditions are data, on the values of a program in any
 * language.
 *
 *     h before a loop  →  CARRY, its value in a turn  →  f(h), behind the turn  →  PICK of the LOOP
 *     y in two branches  →  PICK of the IF
 *     ys + [y] in a loop  →  the rows that its turns stack
 *
 * A list of values is carried element by element. A number is carried as an i64 or a float that is
 * weak, as the number is. */
#include "text/text.h"

/* ---- values that are numbers or tensors */

static bool is_leaf(const Value *v)
{
	return v->kind == V_TENSOR || v->kind == V_NUMBER || v->kind == V_SIZE ||
		v->kind == V_BOOL;
}

/* The dtype that a value has as data. */
static DType leaf_dtype(const Value *v)
{
	if (v->kind == V_TENSOR)
		return v->u->dtype;
	if (v->kind == V_BOOL)
		return DT_BOOL;
	return v->kind == V_SIZE || v->is_int ? DT_I64 : float_dtype();
}

/* v with the shape of u, which a number alone takes. */
static UOp *filled(UOp *v, const Value *of, const UOp *u)
{
	return value_weak(of) && t_rank((UOp *)u) && !t_rank(v) ? t_full(u->shape, v) : v;
}

bool value_same(const Value *a, const Value *b)
{
	bool same = a->kind == b->kind && a->n == b->n && a->u == b->u && a->weak == b->weak &&
		a->i == b->i && a->s == b->s && a->model == b->model &&
		!memcmp(&a->f, &b->f, sizeof a->f);
	for (size_t i = 0; same && i < a->n; i++)
		same = value_same(&a->at[i], &b->at[i]);
	return same;
}

UOp *value_condition(const Value *v, const char *what)
{
	UOp *u = v->kind == V_SIZE || v->kind == V_TENSOR ? value_tensor(v, DT_NONE) : NULL;
	if (!u || u->op == OP_CONST)
		return NULL;
	if (t_rank(u))
		die(MALFORMED, "%s is %s, expected a scalar; use all, any or where", what,
			value_text(v));
	return u->dtype == DT_BOOL ? u : t_ne(u, const_num(u->dtype, 0));
}

UOp *turns_limit(const Value *n)
{
	bool scalar = n->kind == V_TENSOR && n->u->shape && !t_rank(n->u) &&
		dtype_int(n->u->dtype);
	if (scalar)
		return t_cast(n->u, DT_I64);
	UOp *size = n->kind == V_SIZE || n->kind == V_NUMBER ? value_size(n) : NULL;
	return size ? size_tensor(size) : NULL;
}

/* ---- lists as long as loops have turns */

/* The elements of a list as the rows of a tensor; NULL when there are none. */
static UOp *list_rows(const Value *v)
{
	VEC(UOp *) x = {0};
	if (v->kind == V_ROWS)
		return v->u;
	for (size_t i = 0; i < v->n; i++) {
		bool rows = v->at[i].kind == V_ROWS;
		UOp *u = value_tensor(&v->at[i], DT_NONE);
		if (!u)
			die(MALFORMED, "a list that grows with a loop has %s in it",
				value_text(&v->at[i]));
		vec_push(&x, rows ? u : t_unsqueeze(u, 0));
	}
	UOp *all = x.n ? t_concat(x.n, x.at, 0) : NULL;
	vec_free(&x);
	return all;
}

bool lists_join(const Value *a, const Value *b, Value *out)
{
	bool lists = (a->kind == V_LIST || a->kind == V_ROWS || a->kind == V_EXTENDED) &&
		(b->kind == V_LIST || b->kind == V_ROWS || b->kind == V_EXTENDED);
	if (!lists || (a->kind == V_LIST && b->kind == V_LIST))
		return false;
	if (b->kind == V_EXTENDED)
		die(MALFORMED, "a list that a loop extends grows at its end: list + [x]");
	if (a->kind == V_EXTENDED) {
		size_t n = b->kind == V_ROWS ? 1 : b->n;
		const Value *more = b->kind == V_ROWS ? b : b->at;
		*out = *a;
		out->at = arena_alloc((a->n + n + 1) * sizeof *out->at);
		if (a->n)
			memcpy(out->at, a->at, a->n * sizeof *a->at);
		if (n)
			memcpy(out->at + a->n, more, n * sizeof *more);
		out->n += n;
		return true;
	}
	UOp *both[2] = {list_rows(a), list_rows(b)};
	*out = v_rows(!both[0] ? both[1] : !both[1] ? both[0] : t_concat(2, both, 0));
	return true;
}

/* ---- loops */

struct Turns {
	TurnLoop loop;
	UOp *limit, *start, *made;
	VEC(UOp *) next, row;
};

Turns *turns_new(UOp *limit, UOp *start)
{
	Turns *t = arena_alloc(sizeof *t);
	t->loop = loop_new();
	t->limit = limit;
	t->start = start;
	return t;
}

void turns_drop(Turns *t)
{
	steps_drop(t->loop.begun);
	vec_free(&t->next);
	vec_free(&t->row);
}

Value turns_turn(const Turns *t) { return v_weak(t->loop.turn); }

bool turns_carries(const Value *v)
{
	bool carries = is_leaf(v) || v->kind == V_LIST;
	for (size_t i = 0; carries && v->kind == V_LIST && i < v->n; i++)
		carries = turns_carries(&v->at[i]);
	return carries && (v->kind != V_TENSOR || v->u->shape);
}

/* Whether a size in the shape was bound since the body was begun. */
static bool bound_in_body(const Turns *t, const Shape *s)
{
	bool bound = false;
	for (int i = 0; !bound && i < s->rank; i++)
		bound = size_bound_since(s->dim[i], t->loop.turn->id);
	return bound;
}

bool turns_adapts(const Turns *t, const Value *init, const Value *next)
{
	bool adapts = value_weak(init) &&
		!(next->kind == V_TENSOR && next->u->shape && bound_in_body(t, next->u->shape));
	bool each = init->kind == V_LIST && next->kind == V_LIST && init->n == next->n;
	for (size_t i = 0; !adapts && each && i < init->n; i++)
		adapts = turns_adapts(t, &init->at[i], &next->at[i]);
	return adapts;
}

Value turns_state(Turns *t, const Value *init, const Value *like)
{
	if (init->kind == V_LIST) {
		bool each = like && like->kind == V_LIST && like->n == init->n;
		Value *at = arena_alloc((init->n + 1) * sizeof *at);
		for (size_t i = 0; i < init->n; i++)
			at[i] = turns_state(t, &init->at[i], each ? &like->at[i] : NULL);
		return v_list(init->n, at);
	}
	like = like && is_leaf(like) ? like : init;
	UOp *u = value_tensor(init, leaf_dtype(like));
	if (!value_weak(like) && like->kind == V_TENSOR)
		u = filled(u, init, like->u);
	u = loop_state(&t->loop, u, NULL);
	return value_weak(init) && value_weak(like) ? v_weak(u) : v_tensor(u);
}

/* What the state is behind a turn, as a tensor; NULL when it does not fit. */
static UOp *next_leaf(const Value *turn, const Value *next)
{
	DType dt = turn->u->dtype;
	if (!is_leaf(next) || (next->kind == V_TENSOR && !next->u->shape))
		return NULL;
	bool wider = !dtype_float(dt) && dtype_float(leaf_dtype(next));
	if (turn->weak && (!value_weak(next) || wider))
		return NULL;
	UOp *u = filled(value_tensor(next, dt), next, turn->u);
	return u->dtype == dt && shape_equal(u->shape, turn->u->shape) ? u : NULL;
}

bool turns_next(Turns *t, const Value *turn, const Value *next)
{
	if (turn->kind == V_LIST) {
		bool fits = next->kind == V_LIST && next->n == turn->n;
		for (size_t i = 0; fits && i < turn->n; i++)
			fits = turns_next(t, &turn->at[i], &next->at[i]);
		return fits;
	}
	UOp *u = next_leaf(turn, next);
	if (u)
		vec_push(&t->next, u);
	return u;
}

Value turns_extends(const Turns *t)
{
	return (Value){.kind = V_EXTENDED, .u = t->loop.turn};
}

bool turns_extended(Turns *t, const Value *next)
{
	if (next->kind != V_EXTENDED || next->u != t->loop.turn || !next->n)
		return false;
	bool one = next->n == 1 && next->at[0].kind != V_ROWS;
	UOp *row = one ? value_tensor(&next->at[0], DT_NONE) : list_rows(next);
	if (!row)
		die(MALFORMED, "a list that grows with a loop has %s in it",
			value_text(&next->at[0]));
	if (bound_in_body(t, row->shape))
		die(UNSUPPORTED, "a list that grows by another size in each turn: %s",
			shape_text(row->shape));
	vec_push(&t->row, row);
	return true;
}

void turns_end(Turns *t, UOp *next)
{
	if (t->loop.states || t->row.n)
		t->made = loop_end(&t->loop, &(LoopEnd){t->limit, t->start, next, t->next.at,
			t->row.at, t->row.n});
	else
		steps_leave(t->loop.begun);
	vec_free(&t->next);
}

Value turns_last(const Turns *t, const Value *turn)
{
	if (turn->kind == V_LIST) {
		Value *at = arena_alloc((turn->n + 1) * sizeof *at);
		for (size_t i = 0; i < turn->n; i++)
			at[i] = turns_last(t, &turn->at[i]);
		return v_list(turn->n, at);
	}
	UOp *u = loop_last(t->made, turn->u->arg->a[1]->i, NULL);
	return turn->weak ? v_weak(u) : v_tensor(u);
}

/* Value k of all turns; their number gets a name where the contract knows none. */
static UOp *stacked(const Turns *t, size_t k)
{
	const Shape *s = t->row.at[k]->shape;
	UOp *dim[MAX_RANK + 1];
	bool known = t->limit && !t->start && (t->limit->op == OP_CONST ||
		t->limit->op == OP_SIZE || t->limit->op == OP_BIND);
	if (known || s->rank == MAX_RANK)
		return loop_stacked(t->made, (int64_t)k, NULL);
	dim[0] = t_bind("turns", loop_turns(t->made), ix_const(0), ix_const(INT32_MAX));
	for (int i = 0; i < s->rank; i++)
		dim[i + 1] = s->dim[i];
	return loop_stacked(t->made, (int64_t)k, shape_new(s->rank + 1, dim));
}

Value turns_list(const Turns *t, size_t k, const Value *before, const Value *next)
{
	bool one = next->n == 1 && next->at[0].kind != V_ROWS;
	UOp *rows = stacked(t, k);
	Value more = v_rows(one ? rows : t_merge_axes(rows, 0, 2)), all = more;
	lists_join(before, &more, &all);
	return all;
}

/* ---- branches */

/* Not size_equal, which takes what may be equal for equal, and has run check it. */
static bool surely_equal(UOp *a, UOp *b)
{
	return a == b || (ix_prove_le(a, b) && ix_prove_le(b, a));
}

/* A value that differs: a TENSOR without a node; i is the number of its pair. */
static Value branch_pair(Branches *b, UOp *then, UOp *other)
{
	Value v = {.kind = V_TENSOR, .i = (int64_t)b->then.n, .is_int = true};
	vec_push(&b->then, then);
	vec_push(&b->other, other);
	for (int i = 0; i < then->shape->rank; i++) {
		if (surely_equal(then->shape->dim[i], other->shape->dim[i]))
			continue;
		vec_push(&b->then, size_tensor(then->shape->dim[i]));
		vec_push(&b->other, size_tensor(other->shape->dim[i]));
	}
	return v;
}

static bool merge_leaves(Branches *b, const Value *then, const Value *other, Value *out)
{
	bool weak = value_weak(then) && value_weak(other);
	DType x = leaf_dtype(then), y = leaf_dtype(other), dt;
	if (weak || (!value_weak(then) && !value_weak(other)))
		dt = weak ? dtype_float(x) ? x : y : dtype_promote(x, y);
	else
		dt = value_weak(then) ? weak_dtype(then, y) : weak_dtype(other, x);
	UOp *u = value_tensor(then, dt), *v = value_tensor(other, dt);
	if (!u || !v)
		return false;
	u = filled(t_cast(u, dt), then, v);
	v = filled(t_cast(v, dt), other, u);
	if (u->shape->rank != v->shape->rank)
		return false;
	*out = branch_pair(b, u, v);
	out->weak = weak;
	return true;
}

bool branch_merge(Branches *b, const Value *then, const Value *other, Value *out)
{
	*out = *then;
	if (value_same(then, other))
		return true;
	if (is_leaf(then) && is_leaf(other))
		return merge_leaves(b, then, other, out);
	bool lists = then->kind == other->kind && then->n == other->n && then->u == other->u &&
		(then->kind == V_LIST || then->kind == V_EXTENDED);
	if (lists)
		out->at = arena_alloc((then->n + 1) * sizeof *out->at);
	for (size_t i = 0; lists && i < then->n; i++)
		lists = branch_merge(b, &then->at[i], &other->at[i], &out->at[i]);
	return lists;
}

void branch_end(Branches *b)
{
	if (b->then.n)
		b->made = if_new(b->cond, b->then.n, b->then.at, b->other.at);
}

/* The larger of two sizes, or what neither is above. */
static UOp *size_above(UOp *a, UOp *b)
{
	int64_t least, most, other;
	if (ix_prove_le(a, b) || ix_prove_le(b, a))
		return ix_prove_le(a, b) ? b : a;
	ix_bounds(a, &least, &most);
	ix_bounds(b, &least, &other);
	return ix_const(other > most ? other : most);
}

static UOp *picked(const Branches *b, int64_t k)
{
	const Shape *s = b->then.at[k]->shape, *o = b->other.at[k]->shape;
	UOp *dim[MAX_RANK];
	int64_t more = k;
	if (s == o)
		return if_value(b->made, k, NULL);
	for (int i = 0; i < s->rank; i++)
		dim[i] = surely_equal(s->dim[i], o->dim[i]) ? s->dim[i] :
			t_bind("size", if_value(b->made, ++more, NULL), ix_const(0),
				size_above(s->dim[i], o->dim[i]));
	return if_value(b->made, k, shape_new(s->rank, dim));
}

Value branch_value(const Branches *b, const Value *v)
{
	Value r = *v;
	if (v->kind == V_TENSOR && !v->u)
		return v->weak ? v_weak(picked(b, v->i)) : v_tensor(picked(b, v->i));
	if (v->kind == V_LIST || v->kind == V_EXTENDED)
		r.at = arena_alloc((v->n + 1) * sizeof *r.at);
	for (size_t i = 0; i < r.n; i++)
		r.at[i] = branch_value(b, &v->at[i]);
	return r;
}

void branch_free(Branches *b)
{
	vec_free(&b->then);
	vec_free(&b->other);
}
