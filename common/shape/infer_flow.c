/* Infers and checks the steps whose sizes and branches are data: BIND SIZE TURN CARRY LOOP IF PICK.
 * What follows from bodies and scopes is checked for the whole document (regions.c). */
#include "shape/shape.h"
#include "shape/infer.h"

static bool is_scalar(const UOp *u, DType dt)
{
	return u->dtype == dt && u->shape && u->shape->rank == 0;
}

bool size_may_equal(UOp *a, UOp *b)
{
	int64_t lo, hi;
	ix_bounds(ix_sub(a, b), &lo, &hi);
	return lo <= 0 && hi >= 0;
}

bool shape_may_equal(const Shape *a, const Shape *b)
{
	bool may = a->rank == b->rank;
	for (int i = 0; may && i < a->rank; i++)
		may = size_may_equal(a->dim[i], b->dim[i]);
	return may;
}

const char *infer_bind(In *n)
{
	const char *e = NULL;
	int64_t lo, hi, least, most;
	if (!is_scalar(n->src[0], DT_I64))
		SAY("the source is not an i64 scalar");
	UOp *min = size_from_val(n->arg->a[1], &e), *max = min ? size_from_val(n->arg->a[2], &e) :
								 NULL;
	if (!max)
		return e;
	ix_bounds(min, &least, &hi);
	ix_bounds(max, &lo, &most);
	if (least > most)
		SAY("the bounds are reversed");
	n->out = shape_scalar();
	return node_dtype(n, DT_I64);
}

const char *infer_size(In *n)
{
	const char *e = NULL;
	if (!size_from_val(n->arg, &e))
		return e;
	n->out = shape_scalar();
	return node_dtype(n, DT_I64);
}

const char *infer_turn(In *n)
{
	n->out = shape_scalar();
	return node_dtype(n, DT_I64);
}

/* The shape in an arg [.., shape], which the value of u has to fit. */
static const char *said_shape(In *n, const Val *shape)
{
	const char *e = NULL;
	n->out = shape_from_val(shape, &e, &n->status);
	return e;
}

const char *infer_carry(In *n)
{
	n->out = n->src[0]->shape;
	const char *e = n->arg->n == 3 ? said_shape(n, n->arg->a[2]) : NULL;
	return e ? e : node_dtype(n, n->src[0]->dtype);
}

LoopParts loop_parts(const UOp *loop)
{
	const Val *arg = loop->arg;
	LoopParts p = {.id = val_get(arg, "id")->i, .states = val_get(arg, "states")->i,
		.values = val_get(arg, "values")->i};
	UOp *const *at = loop->src;
	p.limit = val_get(arg, "limit")->b ? *at++ : NULL;
	if (val_get(arg, "while")->b) {
		p.start = *at++;
		p.next = *at++;
	}
	p.state = at;
	p.value = at + p.states;
	p.carry = p.value + p.values;
	if (p.carry == loop->src + loop->nsrc)
		p.carry = NULL;
	return p;
}

/* An entry of a list: the scalars that end it, the BUFFER that gets the number of turns, and the
 * REGION. */
static const char *listed_loop(In *n)
{
	size_t k = 0;
	bool limit = val_get(n->arg, "limit")->b, on = val_get(n->arg, "while")->b;
	if (!limit && !on)
		SAY("neither a limit nor a condition ends it");
	if (n->nsrc != (size_t)limit + 2 * on + 2)
		SAY("%zu sources, needs %d", n->nsrc, limit + 2 * on + 2);
	if (limit && !is_scalar(n->src[k++], DT_I64))
		SAY("the limit is not an i64 scalar");
	for (; on && k < (size_t)limit + 2; k++)
		if (!is_scalar(n->src[k], DT_BOOL))
			SAY("the condition is not a bool scalar");
	if (!is_scalar(n->src[k], DT_I64))
		SAY("the number of turns is not an i64 scalar");
	for (size_t i = 0; i + 1 < n->nsrc; i++)
		if (n->src[i]->op != OP_BUFFER)
			SAY("%s is not a buffer", op_name(n->src[i]->op));
	return NULL;
}

static const char *all_values(In *n)
{
	for (size_t i = 0; i < n->nsrc; i++)
		if (!n->src[i]->shape)
			SAY("source %s has no value", op_name(n->src[i]->op));
	return NULL;
}

const char *infer_loop(In *n)
{
	if (n->src[n->nsrc - 1]->op == OP_REGION)
		return arg_check(OP_LOOP, 1 << LV_SCHEDULE, n->arg) ?
			"the arg is not that of a LOOP in a list" : listed_loop(n);
	if (arg_check(OP_LOOP, 1 << LV_GRAPH, n->arg))
		return arg_check(OP_LOOP, 1 << LV_GRAPH, n->arg);
	bool limit = val_get(n->arg, "limit")->b, on = val_get(n->arg, "while")->b;
	size_t want = loop_sources(n->arg), states = (size_t)val_get(n->arg, "states")->i;
	const char *e = all_values(n);
	if (e)
		return e;
	if (!limit && !on)
		SAY("neither a limit nor a condition ends it");
	if (n->nsrc != want && n->nsrc != want + states)
		SAY("%zu sources, needs %zu", n->nsrc, want);
	if (limit && !is_scalar(n->src[0], DT_I64))
		SAY("the limit is not an i64 scalar");
	for (int k = limit; on && k < limit + 2; k++)
		if (!is_scalar(n->src[k], DT_BOOL))
			SAY("the condition is not a bool scalar");
	return NULL;
}

const char *infer_if(In *n)
{
	bool listed = n->nsrc == 3 && n->src[1]->op == OP_REGION && n->src[2]->op == OP_REGION;
	if (n->arg == VNIL && !listed)
		return infer_statement(n);
	if (n->arg == VNIL)
		return is_scalar(n->src[0], DT_BOOL) && n->src[0]->op == OP_BUFFER ? NULL :
			"the condition is not a buffer of a bool scalar";
	const char *e = all_values(n);
	if (e)
		return e;
	if (n->arg->i > (int64_t)n->nsrc || n->nsrc != 1 + 2 * (size_t)n->arg->i)
		SAY("%zu sources, not a condition and two times %lld", n->nsrc,
			(long long)n->arg->i);
	if (!is_scalar(n->src[0], DT_BOOL))
		SAY("the condition is not a bool scalar");
	for (size_t k = 1; k <= (size_t)n->arg->i; k++)
		if (n->src[k]->dtype != n->src[k + n->arg->i]->dtype)
			SAY("value %zu is %s in one branch and %s in the other", k - 1,
				dtype_name(n->src[k]->dtype),
				dtype_name(n->src[k + n->arg->i]->dtype));
	return NULL;
}

/* ---- PICK */

UOp *loop_turns_known(const LoopParts *p)
{
	const char *e = NULL;
	int64_t v;
	if (p->next || !p->limit)
		return NULL;
	if (p->limit->op == OP_CONST && const_is_int(p->limit, &v))
		return ix_const(v < 0 ? 0 : v);
	if (p->limit->op == OP_SIZE)
		return size_from_val(p->limit->arg, &e);
	return p->limit->op == OP_BIND ?
		vars_find(p->limit->arg->a[0]->s, p->limit->arg->a[0]->n) : NULL;
}

/* The dtype of value k of a LOOP, and its shape if that is known from its sources, else NULL. */
static const char *loop_value(In *n, const UOp *loop, int64_t k, DType *dt, const Shape **shape)
{
	LoopParts p = loop_parts(loop);
	UOp *dim[MAX_RANK + 1];
	*dt = DT_I64;
	*shape = shape_scalar();
	if (k > p.states + p.values)
		SAY("there is no value %lld", (long long)k);
	if (k == p.states + p.values)
		return NULL;
	const UOp *u = p.state[k];
	*dt = u->dtype;
	*shape = u->shape;
	if (k < p.states)
		return NULL;
	*shape = NULL;
	if (u->shape->rank == MAX_RANK) {
		n->status = UNSUPPORTED;
		SAY("rank %d is above %d", MAX_RANK + 1, MAX_RANK);
	}
	if (!(dim[0] = loop_turns_known(&p)))
		return NULL;
	memcpy(dim + 1, u->shape->dim, u->shape->rank * sizeof *dim);
	const char *e = NULL;
	*shape = shape_checked(u->shape->rank + 1, dim, &e, &n->status);
	return e;
}

static const char *if_value(const UOp *u, int64_t k, DType *dt, const Shape **shape)
{
	int64_t m = u->arg->i;
	if (k >= m)
		SAY("there is no value %lld", (long long)k);
	const UOp *a = u->src[1 + k], *b = u->src[1 + k + m];
	*dt = a->dtype;
	*shape = a->shape == b->shape ? a->shape : NULL;
	return NULL;
}

const char *infer_pick(In *n)
{
	const UOp *u = n->src[0];
	bool said = n->arg->kind == VAL_ARRAY;
	int64_t k = said ? n->arg->a[0]->i : n->arg->i;
	const Shape *shape = NULL;
	DType dt = DT_NONE;
	if ((u->op != OP_LOOP && u->op != OP_IF) || u->arg == VNIL || val_get(u->arg, "turn"))
		SAY("the source is neither a LOOP nor an IF");
	const char *e = u->op == OP_LOOP ? loop_value(n, u, k, &dt, &shape) :
					   if_value(u, k, &dt, &shape);
	if (e)
		return e;
	if (said && (e = said_shape(n, n->arg->a[1])))
		return e;
	if (!said && !shape)
		SAY("the shape is not known: the arg has to be [%lld, shape]", (long long)k);
	if (!said)
		n->out = shape;
	return node_dtype(n, dt);
}
