/* Infers shape and dtype of a node from its sources and makes every check of a single node: one
 * function per kind of op, in a table. Each returns NULL when the node is right, else an error. */
#include "shape/shape.h"
#include "shape/infer.h"
#include <stdlib.h>

static const char *source_dtypes(In *n, size_t from)
{
	for (size_t i = from + 1; i < n->nsrc; i++)
		if (n->src[i]->dtype != n->src[from]->dtype)
			SAY("dtypes %s and %s do not match", dtype_name(n->src[from]->dtype),
				dtype_name(n->src[i]->dtype));
	return NULL;
}

const char *node_dtype(In *n, DType want)
{
	if (n->dt != want)
		SAY("dtype %s is not the sources' %s", dtype_name(n->dt), dtype_name(want));
	return NULL;
}

/* All sources have one dtype, which the op accepts; the node has the dtype that the op gives. */
static const char *same_dtype(In *n)
{
	const char *e = source_dtypes(n, 0);
	if (e)
		return e;
	if (!op_takes(n->op, n->src[0]->dtype))
		SAY("no such op on %s", dtype_name(n->src[0]->dtype));
	return node_dtype(n, op_gives(n->op, n->src[0]->dtype, n->dt));
}

/* All sources have one shape; scalars match any shape. */
static const char *one_shape(In *n)
{
	n->out = n->src[0]->shape;
	for (size_t i = 1; i < n->nsrc; i++) {
		const Shape *s = n->src[i]->shape;
		if (n->out->rank == 0)
			n->out = s;
		else if (s->rank && !shape_equal(n->out, s))
			SAY("shapes %s and %s do not match", shape_text(n->out), shape_text(s));
	}
	return NULL;
}

static const char *infer_elements(In *n)
{
	const char *e = same_dtype(n);
	return e ? e : one_shape(n);
}

/* One condition for all lanes, or one for each. */
static const char *infer_where(In *n)
{
	const char *e = source_dtypes(n, 1);
	DType c = n->src[0]->dtype;
	if (c != DT_BOOL && c != dtype_in_lanes(DT_BOOL, dtype_lanes(n->src[1]->dtype)))
		SAY("the condition is %s, not bool", dtype_name(c));
	if (!e)
		e = node_dtype(n, n->src[1]->dtype);
	return e ? e : one_shape(n);
}

static const char *infer_cast(In *n)
{
	DType from = n->src[0]->dtype;
	if (n->dt == DT_NONE)
		SAY("no dtype to cast to");
	if (dtype_lanes(n->dt) != dtype_lanes(from))
		SAY("%s and %s differ in lanes", dtype_name(from), dtype_name(n->dt));
	if (n->op == OP_BITCAST &&
		(dtype_element(n->dt) == DT_BOOL || dtype_element(from) == DT_BOOL))
		SAY("no such op on bool");
	if (n->op == OP_BITCAST && dtype_size(from) != dtype_size(n->dt))
		SAY("%s and %s differ in size", dtype_name(from), dtype_name(n->dt));
	n->out = n->src[0]->shape;
	return NULL;
}

/* ---- leaves */

static const char *infer_const(In *n)
{
	if (n->dt == DT_NONE)
		SAY("a constant needs a dtype");
	n->out = shape_scalar();
	return NULL;
}

static const char *infer_arange(In *n)
{
	const char *e = NULL;
	if (!op_takes(n->op, n->dt))
		SAY("no such op on %s", dtype_name(n->dt));
	UOp *size = size_from_val(n->arg, &e);
	if (!size)
		return e;
	n->out = shape_checked(1, &size, &e, &n->status);
	return e;
}

bool name_ok(const Val *v)
{
	if (!v || v->kind != VAL_STR || v->n < 1 || v->n > 255 || v->s[0] == '.' || v->s[0] == '-')
		return false;
	for (size_t i = 0; i < v->n; i++) {
		unsigned char c = v->s[i];
		if (c < 32 || c == 127 || c == '/' || c == '=')
			return false;
		/* C1 controls are U+0080 … U+009F */
		if (c == 0xc2 && i + 1 < v->n && (unsigned char)v->s[i + 1] < 0xa0)
			return false;
	}
	return true;
}

static const char *check_file(const Val *f, int64_t bytes)
{
	if (f->a[0]->n == 0 || memchr(f->a[0]->s, 0, f->a[0]->n))
		SAY("the file's path is empty or has a NUL in it");
	if (f->a[2]->i != bytes)
		SAY("file gives %lld bytes, the shape needs %lld", (long long)f->a[2]->i,
			(long long)bytes);
	int64_t end;
	if (!add_ok(f->a[1]->i, bytes, &end))
		SAY("the file's offset is out of range");
	return NULL;
}

static const char *check_data(In *n)
{
	const Val *data = val_get(n->arg, "data"), *file = val_get(n->arg, "file");
	int64_t bytes;
	data = data == VNIL ? NULL : data;
	file = file == VNIL ? NULL : file;
	if (!data == !file)
		SAY("needs one of data and file");
	if (!shape_bytes(n->out, n->dt, &bytes))
		SAY("a buffer with data needs known sizes, not %s", shape_text(n->out));
	if (file)
		return check_file(file, bytes);
	if ((int64_t)data->n != bytes)
		SAY("data is not %lld bytes", (long long)bytes);
	return NULL;
}

static const char *infer_buffer(In *n)
{
	const char *e = NULL;
	const Val *role = val_get(n->arg, "role");
	if (n->dt == DT_NONE)
		SAY("a buffer needs a dtype");
	if (!name_ok(val_get(n->arg, "name")))
		SAY("the name is not allowed");
	n->out = shape_from_val(val_get(n->arg, "shape"), &e, &n->status);
	if (!n->out)
		return e;
	return val_is_str(role, "const") || val_is_str(role, "state") ? check_data(n) : NULL;
}

/* ---- axes */

/* Reads distinct axes below rank from an array of counts and returns their number; -1 on failure,
 * and *e is set. */
static int read_axes(const Val *v, int rank, int *axes, const char **e)
{
	unsigned seen = 0;
	for (size_t i = 0; i < v->n; i++) {
		const Val *a = v->a[i];
		if (a->i >= rank || seen >> a->i & 1) {
			*e = arena_printf("the axes are not distinct ints below the rank %d", rank);
			return -1;
		}
		seen |= 1u << a->i;
		axes[i] = (int)a->i;
	}
	return (int)v->n;
}

static const char *infer_reduce(In *n)
{
	int axes[MAX_RANK];
	const char *e = same_dtype(n);
	const Shape *s = n->src[0]->shape;
	if (e)
		return e;
	int k = read_axes(n->arg->a[1], s->rank, axes, &e);
	if (k < 0)
		return e;
	UOp *dim[MAX_RANK];
	memcpy(dim, s->dim, s->rank * sizeof *dim);
	while (k--)
		dim[axes[k]] = ix_const(1);
	n->out = shape_new(s->rank, dim);
	return NULL;
}

static const char *infer_along(In *n)
{
	const char *e = same_dtype(n);
	int rank = n->src[0]->shape->rank;
	if (e)
		return e;
	if (n->arg->a[n->op != OP_SORT]->i >= rank)
		SAY("the axis does not fit rank %d", rank);
	n->out = n->src[0]->shape;
	return NULL;
}

/* ---- movement */

static const char *infer_reshape(In *n)
{
	const char *e = same_dtype(n);
	if (e)
		return e;
	n->out = shape_from_val(n->arg, &e, &n->status);
	if (!n->out)
		return e;
	if (!size_equal(shape_count(n->out), shape_count(n->src[0]->shape)))
		SAY("%s does not reshape to %s", shape_text(n->src[0]->shape), shape_text(n->out));
	return NULL;
}

static const char *infer_expand(In *n)
{
	const char *e = same_dtype(n);
	const Shape *s = n->src[0]->shape;
	int64_t one;
	if (e)
		return e;
	n->out = shape_from_val(n->arg, &e, &n->status);
	if (!n->out)
		return e;
	bool fits = s->rank == n->out->rank;
	for (int i = 0; fits && i < s->rank; i++)
		fits = (ix_is_const(s->dim[i], &one) && one == 1) ||
			size_equal(s->dim[i], n->out->dim[i]);
	if (!fits)
		SAY("%s does not expand to %s", shape_text(s), shape_text(n->out));
	return NULL;
}

static const char *infer_permute(In *n)
{
	int axes[MAX_RANK];
	UOp *dim[MAX_RANK];
	const char *e = same_dtype(n);
	const Shape *s = n->src[0]->shape;
	if (e)
		return e;
	int k = read_axes(n->arg, s->rank, axes, &e);
	if (k < 0)
		return e;
	if (n->op == OP_FLIP) {
		n->out = s;
		return NULL;
	}
	if (k != s->rank)
		SAY("the axes are not a permutation of %d", s->rank);
	for (int i = 0; i < k; i++)
		dim[i] = s->dim[axes[i]];
	n->out = shape_new(k, dim);
	return NULL;
}

/* Whether 0 <= a <= b, as far as can be decided now. */
static bool ordered(UOp *a, UOp *b)
{
	if (ix_prove_lt(b, a))
		return false;
	if (!ix_prove_le(a, b))
		size_check("le", a, b);
	return true;
}

static const char *infer_pairs(In *n)
{
	UOp *dim[MAX_RANK];
	const char *e = same_dtype(n);
	const Shape *s = n->src[0]->shape;
	if (e)
		return e;
	if ((int)n->arg->n != s->rank)
		SAY("the arg is not one pair for each axis");
	for (int i = 0; i < s->rank; i++) {
		const Val *p = n->arg->a[i];
		UOp *a = size_from_val(p->a[0], &e), *b = a ? size_from_val(p->a[1], &e) : NULL;
		if (!b)
			return e;
		if (!ordered(ix_const(0), a) || !ordered(ix_const(0), b))
			SAY("a bound of axis %d is negative", i);
		if (n->op == OP_PAD) {
			dim[i] = ix_add(ix_add(s->dim[i], a), b);
			/* a sum that overflows int64 is kept as an expression */
			int64_t v;
			if (ix_is_const(s->dim[i], &v) && ix_is_const(a, &v) &&
				ix_is_const(b, &v) && !ix_is_const(dim[i], &v))
				SAY("axis %d has 2^62 elements or more", i);
			continue;
		}
		if (!ordered(a, b) || !ordered(b, s->dim[i]))
			SAY("bounds of axis %d do not fit %s", i, shape_text(s));
		dim[i] = ix_sub(b, a);
	}
	n->out = shape_checked(s->rank, dim, &e, &n->status);
	return e;
}

/* ---- by index */

static const char *infer_indexing(In *n)
{
	bool scatter = n->op == OP_SCATTER;
	const Shape *x = n->src[0]->shape, *at = n->src[1]->shape;
	size_t k = n->nsrc - 1 - scatter;
	UOp *dim[2 * MAX_RANK];
	const char *e = NULL;
	if (k > (size_t)x->rank)
		SAY("%zu indices for rank %d", k, x->rank);
	for (size_t i = 1; i <= k; i++) {
		if (!dtype_int(n->src[i]->dtype))
			SAY("an index is %s, not an integer", dtype_name(n->src[i]->dtype));
		if (!shape_equal(n->src[i]->shape, at))
			SAY("indices have shapes %s and %s", shape_text(at),
				shape_text(n->src[i]->shape));
	}
	memcpy(dim, at->dim, at->rank * sizeof *dim);
	memcpy(dim + at->rank, x->dim + k, (x->rank - k) * sizeof *dim);
	const Shape *want = shape_checked(at->rank + x->rank - (int)k, dim, &e, &n->status);
	if (!want)
		return e;
	if (!scatter) {
		n->out = want;
		return node_dtype(n, n->src[0]->dtype);
	}
	UOp *v = n->src[n->nsrc - 1];
	if (v->dtype != n->src[0]->dtype)
		SAY("dtypes %s and %s do not match", dtype_name(n->src[0]->dtype),
			dtype_name(v->dtype));
	if (!shape_equal(v->shape, want))
		SAY("the values have shape %s, need %s", shape_text(v->shape), shape_text(want));
	n->out = x;
	return node_dtype(n, n->src[0]->dtype);
}

/* ---- identities and effects */

static const char *infer_identity(In *n)
{
	n->out = n->src[0]->shape;
	return same_dtype(n);
}

static const char *infer_assign(In *n)
{
	if (n->src[0]->op != OP_BUFFER || !buffer_is(n->src[0], "state"))
		SAY("the target is not a state BUFFER");
	if (!shape_equal(n->src[0]->shape, n->src[1]->shape))
		SAY("shapes %s and %s do not match", shape_text(n->src[0]->shape),
			shape_text(n->src[1]->shape));
	n->out = n->src[0]->shape;
	return same_dtype(n);
}

static const char *infer_custom(In *n)
{
	const char *e = custom_check(n->arg, &n->status);
	if (!e && n->dt == DT_NONE)
		SAY("the dtype is missing");
	if (!e)
		n->out = shape_from_val(val_get(n->arg, "shape"), &e, &n->status);
	return e;
}

static const char *infer_root(In *n) { return NULL; }

typedef const char *Infer(In *);
static Infer *const by_class[] = {
	[CLASS_UNARY] = infer_elements, [CLASS_BINARY] = infer_elements,
	[CLASS_COMPARE] = infer_elements, [CLASS_TERNARY] = infer_elements,
	[CLASS_CASTING] = infer_cast, [CLASS_INDEXING] = infer_indexing,
	[CLASS_SAME] = infer_identity, [CLASS_CALLS] = infer_call, [CLASS_LOOPS] = infer_statement,
	[CLASS_AXES] = infer_along, [CLASS_LANES] = infer_lanes,
};
static Infer *const by_op[OP_COUNT] = {
	[OP_CONST] = infer_const,
	[OP_BUFFER] = infer_buffer,
	[OP_ARANGE] = infer_arange,
	[OP_WHERE] = infer_where,
	[OP_REDUCE] = infer_reduce,
	[OP_RESHAPE] = infer_reshape,
	[OP_EXPAND] = infer_expand,
	[OP_PERMUTE] = infer_permute,
	[OP_FLIP] = infer_permute,
	[OP_PAD] = infer_pairs,
	[OP_SHRINK] = infer_pairs,
	[OP_ASSIGN] = infer_assign,
	[OP_CUSTOM] = infer_custom,
	[OP_SINK] = infer_root,
	[OP_FUNC] = infer_root,
	[OP_VAR] = infer_var,
	[OP_PARAM] = infer_param,
	[OP_RANGE] = infer_range,
	[OP_INDEX] = infer_index,
	[OP_LOAD] = infer_load,
	[OP_STORE] = infer_store,
	[OP_RREDUCE] = infer_over_ranges,
	[OP_TUPLE] = infer_tuple,
	[OP_SIDE] = infer_side,
	[OP_RSCAN] = infer_over_ranges,
	[OP_RSORT] = infer_over_ranges,
	[OP_LET] = infer_let,
	[OP_EXCHANGE] = infer_exchange,
	[OP_DEFINE_REG] = infer_define,
	[OP_DEFINE_LOCAL] = infer_define,
	[OP_SPECIAL] = infer_special,
	[OP_BIND] = infer_bind,
	[OP_SIZE] = infer_size,
	[OP_TURN] = infer_turn,
	[OP_CARRY] = infer_carry,
	[OP_LOOP] = infer_loop,
	[OP_IF] = infer_if,
	[OP_PICK] = infer_pick,
};

/* Values have lanes, and places, and nothing else. */
static const char *check_lanes(In *n)
{
	bool may = op_elementwise(n->op) || op_info[n->op].cls == CLASS_LANES ||
		n->op == OP_KERNEL ||
		n->op == OP_INDEX || n->op == OP_LOAD || n->op == OP_STORE || n->op == OP_LET;
	if (may)
		return NULL;
	if (dtype_lanes(n->dt) > 1)
		SAY("%s has no lanes", op_info[n->op].name);
	for (size_t i = 0; i < n->nsrc; i++)
		if (dtype_lanes(n->src[i]->dtype) > 1)
			SAY("%s takes no lanes", op_info[n->op].name);
	return NULL;
}

/* Except for statements, calls and the sink, sources must have values. */
static const char *check_sources(In *n)
{
	const OpInfo *o = &op_info[n->op];
	if (n->op == OP_CUSTOM && !process.custom_allowed) {
		n->status = UNSUPPORTED;
		return custom_refusal;
	}
	if ((int64_t)n->nsrc < o->min_src || (o->max_src >= 0 && (int64_t)n->nsrc > o->max_src))
		SAY("%zu sources, needs %d%s", n->nsrc, o->min_src,
			o->max_src == o->min_src ? "" : " or more");
	bool values = o->cls != CLASS_CALLS && n->op != OP_SINK && n->op != OP_ENDIF &&
		n->op != OP_FUNC && n->op != OP_PICK && n->op != OP_LOOP && n->op != OP_IF;
	for (size_t i = 0; values && i < n->nsrc; i++)
		if (!n->src[i]->shape)
			SAY("source %s has no value", op_name(n->src[i]->op));
	if (n->op != OP_SINK && n->dt == DT_NONE && o->takes != TAKES_NONE && n->op != OP_STORE)
		SAY("the dtype is missing");
	if (n->dt != DT_NONE && o->takes == TAKES_NONE && n->op != OP_CUSTOM)
		SAY("%s has no dtype", o->name);
	return check_lanes(n);
}

const char *node_infer(Op op, DType dt, size_t nsrc, UOp *const *src, const Val *arg,
	const Shape **out, int *status)
{
	In n = {op, dt, nsrc, src, arg, NULL, MALFORMED};
	Infer *fn = by_op[op] ? by_op[op] : by_class[op_info[op].cls];
	const char *e = check_sources(&n);
	if (!e)
		e = arg_check(op, ~0, arg);
	if (!e)
		e = fn(&n);
	*status = n.status;
	*out = n.out;
	return e;
}

/* ---- readers for args that were checked here */

int arg_axes(const Val *v, int *axes)
{
	if (v->kind == VAL_ARRAY && v->n == 2 && v->a[0]->kind == VAL_STR)
		v = v->a[1];
	for (size_t i = 0; i < v->n; i++)
		axes[i] = (int)v->a[i]->i;
	return (int)v->n;
}

void arg_pairs(const Val *v, UOp *(*pair)[2])
{
	const char *e = NULL;
	for (size_t i = 0; i < v->n; i++)
		for (int k = 0; k < 2; k++)
			CHECK((pair[i][k] = size_from_val(v->a[i]->a[k], &e)));
}
