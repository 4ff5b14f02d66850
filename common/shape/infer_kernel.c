/* Infers and checks the nodes of the levels after graph: indices, loads and stores, reductions over
 * ranges, statements, calls. */
#include "shape/shape.h"
#include "shape/infer.h"

static bool index_scalar(const UOp *u)
{
	return u->dtype == DT_I64 && u->shape && u->shape->rank == 0;
}
/* an index for each lane */
static bool index_lanes(const UOp *u)
{
	return dtype_element(u->dtype) == DT_I64 && u->shape && u->shape->rank == 0;
}
static bool scalar_value(const UOp *u) { return u->shape && u->shape->rank == 0; }

const char *infer_var(In *n)
{
	if (n->dt != DT_I64)
		SAY("a variable is i64");
	n->out = shape_scalar();
	return NULL;
}

const char *infer_param(In *n)
{
	const char *e = NULL;
	n->out = shape_from_val(val_get(n->arg, "shape"), &e, &n->status);
	return e;
}

const char *infer_range(In *n)
{
	enum { MOST_AXES = 64 };
	int64_t lo, hi;
	if (n->dt != DT_I64 || !index_scalar(n->src[0]))
		SAY("a range and its size are i64");
	if (n->arg->a[0]->i >= MOST_AXES)
		SAY("the axis is not below %d", MOST_AXES);
	ix_bounds(n->src[0], &lo, &hi);
	if (hi < 0)
		SAY("a size is negative");
	n->out = shape_scalar();
	return NULL;
}

static bool is_storage(const UOp *u)
{
	return u->op == OP_PARAM || u->op == OP_BUFFER || u->op == OP_DEFINE_REG ||
		u->op == OP_DEFINE_LOCAL;
}

/* Whether a place in a vector is one lane or all of it. */
static bool in_vector(const UOp *reg, const UOp *place)
{
	int64_t first;
	if (dtype_lanes(place->dtype) == 1)
		return true;
	return place->op == OP_RAMP && place->arg->i == 1 && ix_is_const(place->src[0], &first) &&
		first == 0 && dtype_lanes(place->dtype) == reg->arg->a[1]->i;
}

const char *infer_index(In *n)
{
	if (!is_storage(n->src[0]))
		SAY("%s is not storage", op_name(n->src[0]->op));
	if (reg_is_vector(n->src[0]) && n->nsrc == 2 && !in_vector(n->src[0], n->src[1]))
		SAY("a place in a vector is one lane, or RAMP 0 1 of all");
	for (size_t i = 1; i < n->nsrc; i++)
		if (!index_scalar(n->src[i]) && (n->nsrc > 2 || !index_lanes(n->src[i])))
			SAY("an index is not an i64 scalar");
	/* an index an axis, or one for all */
	if (n->src[0]->op == OP_PARAM && n->nsrc != 2 && n->nsrc != n->src[0]->shape->rank + 1)
		SAY("%zu indices for rank %d", (size_t)n->nsrc - 1, n->src[0]->shape->rank);
	n->out = shape_scalar();
	return node_dtype(n, dtype_in_lanes(n->src[0]->dtype,
		n->nsrc == 2 ? dtype_lanes(n->src[1]->dtype) : 1));
}

static const char *check_place(In *n, size_t gate)
{
	if (n->src[0]->op != OP_INDEX)
		SAY("the place is not an INDEX");
	DType each = dtype_in_lanes(DT_BOOL, dtype_lanes(n->src[0]->dtype));
	if (n->nsrc > gate && ((n->src[gate]->dtype != DT_BOOL && n->src[gate]->dtype != each) ||
		!scalar_value(n->src[gate])))
		SAY("the gate is not a bool");
	return NULL;
}

const char *infer_load(In *n)
{
	n->out = shape_scalar();
	const char *e = check_place(n, 1);
	return e ? e : node_dtype(n, n->src[0]->dtype);
}

const char *infer_store(In *n)
{
	const char *e = check_place(n, 2);
	if (!e && (!scalar_value(n->src[1]) || n->src[1]->dtype != n->src[0]->dtype))
		SAY("the value is %s, the place %s", dtype_name(n->src[1]->dtype),
			dtype_name(n->src[0]->dtype));
	return e;
}

static bool is_narrow(DType d) { return d == DT_F16 || d == DT_BF16; }

const char *infer_side(In *n)
{
	if (n->arg->a[0]->i > 1 || n->arg->a[1]->i >= MAX_TUPLE)
		SAY("a side is 0 or 1, a component below %d", MAX_TUPLE);
	n->out = shape_scalar();
	return NULL;
}

/* The rule is made of elementwise ops, constants and the sides of its own tuple. */
static const char *check_rule(UOp *rule, UOp *const *value, uint32_t count)
{
	enum { RULE_NODES = 256 };
	Nodes all = walk(rule);
	if (all.n > RULE_NODES)
		SAY("a rule of more than %d nodes", RULE_NODES);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op != OP_SIDE && u->op != OP_CONST && !op_elementwise(u->op))
			SAY("%s in the rule of a tuple", op_name(u->op));
		if (u->op == OP_SIDE && (tuple_component(u) >= (int)count ||
				u->dtype != value[tuple_component(u)]->dtype))
			SAY("a SIDE is not of the tuple's components");
	}
	return NULL;
}

const char *infer_tuple(In *n)
{
	const uint32_t count = n->nsrc / 3;
	if (n->nsrc % 3)
		SAY("%zu sources are not values, identities and rules", n->nsrc);
	for (uint32_t i = 0; i < count; i++) {
		const UOp *v = n->src[i], *none = n->src[count + i], *rule = n->src[2 * count + i];
		if (!scalar_value(v) || is_narrow(v->dtype) || v->op == OP_TUPLE)
			SAY("value %u of a tuple is not a scalar of 32 bits or more, or an integer",
				i);
		if (none->op != OP_CONST || none->dtype != v->dtype || rule->dtype != v->dtype)
			SAY("identity or rule of component %u is not of its dtype", i);
		const char *e = check_rule(n->src[2 * count + i], n->src, count);
		if (e)
			return e;
	}
	n->out = shape_scalar();
	return NULL;
}

static const char *infer_tuple_fold(In *n)
{
	bool is_tuple = n->src[0]->op == OP_TUPLE, picks = n->arg->kind == VAL_INT;
	if (is_tuple != picks)
		SAY("a component's number and a TUPLE go together");
	if (picks && n->arg->i >= tuple_size(n->src[0]))
		SAY("the tuple has no component %lld", (long long)n->arg->i);
	n->out = shape_scalar();
	return node_dtype(n, picks ? n->src[0]->src[n->arg->i]->dtype : n->src[0]->dtype);
}

const char *infer_over_ranges(In *n)
{
	bool sort = n->op == OP_RSORT;
	if (!scalar_value(n->src[0]))
		SAY("the value is not a scalar");
	if (sort && n->src[0]->op != OP_LOAD)
		SAY("the value is not a LOAD");
	for (size_t i = 1; i < n->nsrc - sort; i++)
		if (n->src[i]->op != OP_RANGE)
			SAY("%s is not a RANGE", op_name(n->src[i]->op));
	if (n->op == OP_RREDUCE)
		return infer_tuple_fold(n);
	if (sort && (n->src[2]->op != OP_INDEX || n->src[2]->dtype != DT_I64))
		SAY("the third source is not an INDEX into an i64 buffer");
	n->out = shape_scalar();
	return node_dtype(n, op_gives(n->op, n->src[0]->dtype, n->dt));
}

const char *infer_let(In *n)
{
	if (!scalar_value(n->src[0]))
		SAY("the value of a LET is not a scalar");
	n->out = shape_scalar();
	return node_dtype(n, n->src[0]->dtype);
}

static const char *check_shuffle(In *n)
{
	int lanes = dtype_lanes(n->src[0]->dtype) * (int)n->nsrc;
	if (n->nsrc > 1 && n->src[1]->dtype != n->src[0]->dtype)
		SAY("dtypes %s and %s do not match", dtype_name(n->src[0]->dtype),
			dtype_name(n->src[1]->dtype));
	if ((int)n->arg->n != dtype_lanes(n->dt))
		SAY("%zu numbers of lanes for %s", (size_t)n->arg->n, dtype_name(n->dt));
	for (size_t i = 0; i < n->arg->n; i++)
		if (n->arg->a[i]->i >= lanes)
			SAY("lane %lld of %d", (long long)n->arg->a[i]->i, lanes);
	return NULL;
}

const char *infer_lanes(In *n)
{
	DType from = n->src[0]->dtype;
	if (!scalar_value(n->src[0]))
		SAY("the value is not a scalar");
	if (dtype_element(n->dt) != dtype_element(from) || n->dt == DT_NONE)
		SAY("dtypes %s and %s do not match", dtype_name(n->dt), dtype_name(from));
	if (!op_takes(n->op, from))
		SAY("no such op on %s", dtype_name(from));
	if (n->op != OP_SHUFFLE && (dtype_lanes(from) > 1 || dtype_lanes(n->dt) == 1))
		SAY("it makes lanes of a scalar");
	n->out = shape_scalar();
	return n->op == OP_SHUFFLE ? check_shuffle(n) : NULL;
}

/* Items that differ in one bit of their number, of those that run in step on every device. */
const char *infer_exchange(In *n)
{
	enum { FARTHEST = 16 };
	int64_t far = n->arg->i;
	if (n->src[0]->op != OP_LOAD)
		SAY("what is exchanged is not a LOAD");
	if (far < 1 || far > FARTHEST || far & (far - 1))
		SAY("the distance is 1, 2, 4, 8 or 16");
	n->out = shape_scalar();
	return node_dtype(n, n->src[0]->dtype);
}

const char *infer_define(In *n)
{
	const char *err = NULL;
	const Val *size = n->arg->a[1];
	/* a number makes no node here: the order of a document's nodes stays */
	if (size->kind == VAL_INT ? size->i < 0 : !size_from_val(size, &err))
		SAY("its size: %s", err ? err : "it is negative");
	if (n->op == OP_DEFINE_REG && n->arg->n > 2 &&
		(size->i < 2 || size->i > MOST_LANES || size->i & (size->i - 1)))
		SAY("a vector has a power of two of lanes, up to %d", MOST_LANES);
	n->out = shape_scalar();
	return NULL;
}

const char *infer_special(In *n)
{
	if (!index_scalar(n->src[0]) || n->dt != DT_I64)
		SAY("a grid index and its size are i64");
	n->out = shape_scalar();
	return NULL;
}

const char *infer_statement(In *n)
{
	static const int of[OP_COUNT] = {[OP_ENDRANGE] = OP_RANGE, [OP_ENDIF] = OP_IF};
	if (of[n->op] && n->src[0]->op != of[n->op])
		SAY("%s does not end a %s", op_name(n->op), op_name(of[n->op]));
	if (n->op == OP_PREFETCH && n->src[0]->op != OP_INDEX)
		SAY("the place of PREFETCH is not an INDEX");
	if (n->op == OP_IF && (n->nsrc != 1 || n->src[0]->dtype != DT_BOOL))
		SAY("the condition is not a bool");
	return NULL;
}

static const char *infer_list(In *n)
{
	for (size_t i = 0; i < n->nsrc; i++)
		if (!list_entry(n->src[i]))
			SAY("%s is no entry of a list", op_name(n->src[i]->op));
	return NULL;
}

const char *infer_call(In *n)
{
	if (n->op == OP_REGION)
		return infer_list(n);
	Op first = n->src[0]->op;
	if (n->op == OP_CALL && first != OP_KERNEL && first != OP_PROGRAM && first != OP_CUSTOM)
		SAY("a call needs a kernel, not %s", op_name(first));
	if (n->op == OP_PROGRAM && first != OP_KERNEL && first != OP_CUSTOM)
		SAY("a program needs its kernel, not %s", op_name(first));
	if (n->op == OP_KERNEL)
		return NULL;
	bool pair = n->op == OP_MEMCPY || n->op == OP_SWAP || n->op == OP_TAKE ||
		n->op == OP_APPEND;
	for (size_t i = !pair; i < n->nsrc && n->op != OP_PROGRAM; i++)
		if (n->src[i]->op != OP_BUFFER)
			SAY("%s is not a buffer", op_name(n->src[i]->op));
	if (pair && (n->src[0]->dtype != n->src[1]->dtype))
		SAY("dtypes %s and %s do not match", dtype_name(n->src[0]->dtype),
			dtype_name(n->src[1]->dtype));
	return NULL;
}

