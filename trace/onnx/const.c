/* Values known while tracing. A tensor whose leaves are all constants is evaluated by the
 * interpreter; integers computed from sizes are followed element by element (sizes.c).
 *
 *     Concat(Gather(Shape(x), 0), [-1])   →   [n, -1]
 *
 * A value that the command line gives an input (--shapes-from) counts as a constant here, and only
 * here: the graph still reads the input, and run compares it with that value (meta.assumed). */
#include "arrays/arrays.h"
#include "io/io.h"
#include "onnx/proto.h"
#include <stdlib.h>
#include <sys/types.h>

enum { MOST = 1 << 16 };        /* elements of any tensor on the way */

typedef struct { const char *path; Array a; bool used; } Assumed;

static ARENA Map assumed;             /* input BUFFER → Assumed * */
static ARENA Map folded;              /* node → Array *, kept for the whole model */
static ARENA VEC(UOp *) assumed_order;
static ARENA VEC(char) foldable;      /* by id: 0 not looked at, 1 no, 2 yes */

/* ---- inputs with an assumed value */

void onnx_assume(UOp *input, const char *path)
{
	Assumed *a = arena_alloc(sizeof *a);
	*a = (Assumed){.path = path};
	map_put(&assumed, PKEY(input), a);
	vec_push(&assumed_order, input);
}

bool onnx_is_assumed(const UOp *input) { return map_get(&assumed, PKEY(input)) != NULL; }

static const Array *assumed_value(UOp *u)
{
	Assumed *s = map_get(&assumed, PKEY(u));
	if (!s)
		return NULL;
	if (!s->used) {
		s->a = npy_read(s->path, u->dtype);
		if (s->a.dtype != u->dtype || s->a.rank != t_rank(u))
			die(MALFORMED, "'%.200s' holds %s of rank %d, the input is %s of rank %d",
				s->path, dtype_name(s->a.dtype), s->a.rank, dtype_name(u->dtype),
				t_rank(u));
		for (int i = 0; i < t_rank(u); i++)
			if (!size_equal(t_dim(u, i), ix_const(s->a.dim[i])))
				die(MALFORMED, "'%.200s' has another shape than the input, %s",
					s->path, shape_text(u->shape));
		s->used = true;
	}
	return &s->a;
}

const Val *onnx_assumed(void)
{
	const Val *all = VNIL;
	for (size_t i = 0; i < assumed_order.n; i++) {
		UOp *u = assumed_order.at[i];
		Assumed *s = map_get(&assumed, PKEY(u));
		if (s->used)
			all = val_set(all, buffer_name(u), val_bin(s->a.data, s->a.bytes));
	}
	return all;
}

/* ---- which nodes can be evaluated */

static bool leaf_known(UOp *u)
{
	if (u->op == OP_BUFFER)
		return buffer_is(u, "const") ||
			(buffer_is(u, "input") && map_get(&assumed, PKEY(u)));
	return true;
}

static bool small(const UOp *u)
{
	int64_t n;
	return u->shape && shape_static(u->shape, &n) && n <= MOST;
}

static void mark(UOp *u, char how) { foldable.at[u->id] = how; }

static void grow_marks(void)
{
	size_t n = node_limit() + 1;
	while (foldable.n < n)
		vec_push(&foldable, 0);
}

static bool own_kind(const UOp *u)
{
	return op_info[u->op].cls != CLASS_FLOW && u->op != OP_VAR && u->op != OP_RANGE &&
		u->op != OP_CUSTOM && u->op != OP_ASSIGN && u->op != OP_SINK;
}

/* Visits sources first, with a stack of its own; each node is visited once per model. */
static bool can_fold(UOp *root)
{
	VEC(UOp *) stack = {0};
	grow_marks();
	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1];
		char how = 2;
		size_t n = stack.n;
		if (!small(u) || !own_kind(u) || (!u->nsrc && !leaf_known(u)))
			how = 1;
		for (uint32_t i = 0; how == 2 && i < u->nsrc; i++) {
			char s = foldable.at[u->src[i]->id];
			if (s == 1)
				how = 1;
			else if (!s)
				vec_push(&stack, u->src[i]);
		}
		if (how == 2 && stack.n > n)
			continue;
		mark(u, how);
		stack.n = how == 1 ? n - 1 : stack.n - 1;
	}
	vec_free(&stack);
	return foldable.at[root->id] == 2;
}

/* ---- evaluating */

static const void *file_bytes(const Val *file, size_t need)
{
	size_t n, at = file->a[1]->i;
	const char *p = data_map(file->a[0]->s, &n);
	if (at > n || n - at < need)
		die(MALFORMED, "%s: ends early", file->a[0]->s);
	return memcpy(arena_alloc(need + 1), p + at, need);
}

static Array content(UOp *u, void *ctx)
{
	const Val *data = val_get(u->arg, "data"), *file = val_get(u->arg, "file");
	Array a = {.dtype = u->dtype, .rank = t_rank(u)};
	for (int i = 0; i < a.rank; i++)
		a.dim[i] = shape_dim(u->shape, i);
	a.bytes = array_count(&a) * dtype_size(a.dtype);
	const Array *given = assumed_value(u);
	if (given) {
		a.data = given->data;
	} else if (data) {
		/* an arena block is aligned; bytes inside the model may not be */
		a.data = arena_alloc(a.bytes + 1);
		memcpy(a.data, data->s, a.bytes);
	} else {
		a.data = (void *)file_bytes(file, a.bytes);
	}
	return a;
}

bool onnx_known_tensor(UOp *u, Array *out)
{
	static const VarEnv none;
	Array *a = map_get(&folded, PKEY(u));
	if (!a && can_fold(u)) {
		Array r;
		interp_graph(1, &u, NULL, &none, content, NULL, &r);
		a = arena_alloc(sizeof *a);
		*a = r;
		a->data = arena_alloc(r.bytes + 1);
		memcpy(a->data, r.data, r.bytes);
		a->owned = false;
		array_free(&r);
		map_put(&folded, PKEY(u), a);
	}
	if (a)
		*out = *a;
	return a != NULL;
}

#ifdef HAVE_ONNX
/* ---- for operators */

static const char *input_text(OnnxCall *c, int k)
{
	return k < onnx_nin(c) ? arena_printf("%d ('%.100s')", k, c->node->input[k])
		: arena_printf("%d", k);
}

_Noreturn static void not_known(OnnxCall *c, int k)
{
	onnx_fail(c, UNSUPPORTED, "its input %s must be known to fix a shape%s", input_text(c, k),
		onnx_value_advice(onnx_in(c, k)));
}

bool onnx_try_known(OnnxCall *c, int k, Array *a)
{
	if (!onnx_has(c, k))
		return false;
	if (onnx_known_tensor(onnx_in(c, k), a))
		return true;
	/* the sizes are numbers, but were computed from values that are not sizes */
	UOp *u = onnx_in(c, k), **at = arena_alloc(1024 * sizeof *at);
	size_t n;
	if (!dtype_int(u->dtype) || !onnx_try_sizes(u, 1024, at, &n))
		return false;
	int64_t dim[MAX_RANK], v;
	for (int i = 0; i < t_rank(u); i++)
		dim[i] = shape_dim(u->shape, i);
	*a = array_new(u->dtype, t_rank(u), dim);
	for (size_t i = 0; i < n; i++) {
		if (!ix_is_const(at[i], &v))
			return false;
		memcpy((char *)a->data + i * dtype_size(u->dtype), &v, dtype_size(u->dtype));
	}
	return true;
}

Array onnx_known(OnnxCall *c, int k)
{
	Array a;
	onnx_in(c, k);
	if (!onnx_try_known(c, k, &a))
		not_known(c, k);
	return a;
}

static int64_t known_count(OnnxCall *c, int k, const Array *a, int max)
{
	int64_t n = array_count(a);
	if (n > max)
		onnx_fail(c, MALFORMED, "its input %s has %lld elements, at most %d make sense",
			input_text(c, k), (long long)n, max);
	return n;
}

int onnx_known_ints(OnnxCall *c, int k, int64_t *out, int max)
{
	Array a = onnx_known(c, k);
	int64_t n = known_count(c, k, &a, max);
	if (!dtype_int(a.dtype) && a.dtype != DT_BOOL)
		onnx_fail(c, MALFORMED, "its input %s is %s, not integers", input_text(c, k),
			dtype_name(a.dtype));
	interp_cast(DT_I64, out, a.dtype, a.data, n);
	return n;
}

int64_t onnx_known_int(OnnxCall *c, int k)
{
	int64_t v;
	if (onnx_known_ints(c, k, &v, 1) != 1)
		onnx_fail(c, MALFORMED, "its input %s has no element", input_text(c, k));
	return v;
}

int onnx_known_floats(OnnxCall *c, int k, double *out, int max)
{
	Array a = onnx_known(c, k);
	int64_t n = known_count(c, k, &a, max);
	interp_cast(DT_F64, out, a.dtype, a.data, n);
	return n;
}

/* Input k, which has to be integers, at most max of them. */
static UOp *integers(OnnxCall *c, int k, int max)
{
	UOp *u = onnx_in(c, k);
	int64_t count;
	if (!dtype_int(u->dtype))
		onnx_fail(c, MALFORMED, "its input %s is %s, not integers", input_text(c, k),
			dtype_name(u->dtype));
	if (shape_static(u->shape, &count) && count > max)
		onnx_fail(c, UNSUPPORTED, "its input %s has %lld elements; at most %d make sense",
			input_text(c, k), (long long)count, max);
	return u;
}

int onnx_known_sizes(OnnxCall *c, int k, UOp **dim)
{
	size_t n = 0;
	if (!onnx_try_sizes(integers(c, k, MAX_RANK), MAX_RANK, dim, &n))
		not_known(c, k);
	return n;
}

UOp *onnx_element(UOp *u, int64_t i)
{
	u = t_reshapev(u, 1, (UOp *[]){shape_count(u->shape)});
	return t_reshape(t_shrink_axis(u, 0, ix_const(i), ix_const(i + 1)), shape_scalar());
}

int onnx_bound_sizes(OnnxCall *c, int k, int max, UOp **dim)
{
	UOp *u = integers(c, k, max);
	size_t n = 0;
	int64_t count;
	int open = 0;
	if (onnx_try_sizes(u, max, dim, &n))
		return n;
	if (!shape_static(u->shape, &count))
		not_known(c, k);
	for (int64_t i = 0; i < count; i++)
		if (!onnx_try_sizes(onnx_element(u, i), 1, &dim[i], &n)) {
			dim[i] = NULL;
			open++;
		}
	for (int64_t i = 0; i < count; i++)
		if (!dim[i])
			dim[i] = t_bind_open("size", onnx_element(u, i), open);
	return (int)count;
}
#endif
