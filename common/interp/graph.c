/* Evaluates level graph node by node, sources first, and drops each value after its last use.
 * Movement ops make views. An elementwise node whose only user is an elementwise node or a REDUCE
 * waits and is computed with that user, block by block (cluster.c).
 */
#include <stdlib.h>
#include "interp/graph_run.h"
#include "io/io.h"

/* How many nodes may wait for one user: more would keep too many sources alive at once. */
enum { CLUSTER = 32 };
/* How many products are kept to be shown; those of a large contraction take too much memory. */
enum { SHOWN = 1 << 20 };

_Noreturn void graph_fault(const UOp *u, const char *what)
{
	const char *name = u->op == OP_BUFFER ? buffer_name(u) : "";

	die(MALFORMED, "node %u %s%s%s%s: %s", u->id, op_name(u->op), *name ? " (" : "", name,
		*name ? ")" : "", what);
}

NodePlace *place_of(GraphRun *r, const UOp *u)
{
	return &r->place[r->index[u->id]];
}

int64_t graph_size(GraphRun *r, UOp *u, UOp *size)
{
	int64_t v;

	if (!ix_eval(size, &r->env, &v))
		graph_fault(u,
			"a size cannot be computed: a variable has no value, or a division by 0");
	return v;
}

/* The node's shape as numbers, checked once for each shape. */
const Dims *graph_dims(GraphRun *r, UOp *u)
{
	Dims *d = map_get(&r->dims, PKEY(u->shape));
	Array a = {.rank = u->shape->rank};

	if (d)
		return d;
	d = xmalloc(sizeof *d + a.rank * sizeof *d->dim);
	d->rank = a.rank;
	for (int i = 0; i < a.rank; i++) {
		a.dim[i] = d->dim[i] = graph_size(r, u, u->shape->dim[i]);
		if (d->dim[i] < 0)
			graph_fault(u, "a size is negative");
	}
	array_count(&a);
	map_put(&r->dims, PKEY(u->shape), d);
	return d;
}

static void pairs_of(GraphRun *r, UOp *u, int64_t (*pair)[2])
{
	UOp *size[MAX_RANK][2];

	arg_pairs(u->arg, size);
	for (int i = 0; i < u->shape->rank; i++)
		for (int k = 0; k < 2; k++)
			pair[i][k] = graph_size(r, u, size[i][k]);
}

/* ---- one node ---- */

static void own_copy(ArrayView *v)
{
	Array a = array_raw(v->s.dtype, v->s.rank, v->s.dim);

	memcpy(a.data, v->s.at, a.bytes);
	v->store = xmalloc(sizeof *v->store);
	*v->store = (Storage){a.data, 1};
	v->s.at = a.data;
}

static ArrayView *from_buffer(GraphRun *r, UOp *u)
{
	const Dims *d = graph_dims(r, u);
	Array a = r->get(u, r->ctx);
	ArrayView *v = xcalloc(1, sizeof *v);

	if (a.dtype != u->dtype || a.rank != d->rank)
		graph_fault(u, "its content has another dtype or rank");
	v->s = (Strided){.dtype = a.dtype, .rank = a.rank, .at = a.data};
	for (int64_t i = a.rank - 1, step = 1; i >= 0; i--) {
		if (a.dim[i] != d->dim[i])
			graph_fault(u, "its content has another shape");
		v->s.dim[i] = a.dim[i];
		v->s.stride[i] = step;
		step = (int64_t)((uint64_t)step * (uint64_t)a.dim[i]);
	}
	if ((uintptr_t)a.data % element_size(a.dtype))    /* data in a document may be unaligned */
		own_copy(v);
	return v;
}

static ArrayView *from_const(UOp *u)
{
	ArrayView *v = value_new(u->dtype, 0, NULL);
	uint64_t bits = 0;

	element_const(u, &bits);
	memcpy(value_data(v), &bits, element_size(u->dtype));
	return v;
}

static ArrayView *from_arange(GraphRun *r, UOp *u)
{
	const Dims *d = graph_dims(r, u);
	ArrayView *v = value_new(u->dtype, d->rank, d->dim);
	const int size = element_size(u->dtype);
	int64_t block[256];

	for (int64_t i = 0; i < d->dim[0]; i += 256) {
		int64_t n = d->dim[0] - i < 256 ? d->dim[0] - i : 256;
		for (int64_t k = 0; k < n; k++)
			block[k] = i + k;
		element_cast(u->dtype, value_data(v) + i * size, DT_I64, block, n);
	}
	return v;
}

static ArrayView *reshaped(ArrayView *x, const Dims *d, UOp *u)
{
	Strided s = x->s, want = {.rank = d->rank};
	ArrayView *packed, *v;

	if (d->rank)
		memcpy(want.dim, d->dim, d->rank * sizeof *d->dim);
	if (strided_count(&want) != strided_count(&s))
		graph_fault(u, "the new shape has another number of elements");
	if (strided_reshape(&s, d->rank, d->dim))
		return value_view(x, &s);
	packed = value_packed(x);
	s = packed->s;
	CHECK(strided_reshape(&s, d->rank, d->dim));
	v = value_view(packed, &s);
	value_drop(packed);
	return v;
}

static ArrayView *padded(GraphRun *r, UOp *u, ArrayView *x)
{
	int64_t pair[MAX_RANK][2];
	ArrayView *packed, *v;

	pairs_of(r, u, pair);
	for (int i = 0; i < u->shape->rank; i++)
		if (pair[i][0] < 0 || pair[i][1] < 0)
			graph_fault(u, "negative padding");
	packed = value_packed(x);
	v = pad_zeros(packed, graph_dims(r, u)->dim, (const int64_t (*)[2])pair);
	value_drop(packed);
	return v;
}

static ArrayView *moved(GraphRun *r, UOp *u, ArrayView *x)
{
	const Dims *d = graph_dims(r, u);
	int axes[MAX_RANK], n;
	int64_t pair[MAX_RANK][2];
	const char *err = NULL;
	Strided s = x->s;

	switch (u->op) {
	case OP_RESHAPE:
		return reshaped(x, d, u);
	case OP_PAD:
		return padded(r, u, x);
	case OP_EXPAND:
		err = strided_expand(&s, d->dim);
		break;
	case OP_PERMUTE:
		arg_axes(u->arg, axes);
		strided_permute(&s, axes);
		break;
	case OP_SHRINK:
		pairs_of(r, u, pair);
		err = strided_shrink(&s, pair);
		break;
	default:
		n = arg_axes(u->arg, axes);
		strided_flip(&s, n, axes);
	}
	if (err)
		graph_fault(u, err);
	return value_view(x, &s);
}

/* Makes the sources row-major, for ops along an axis or by index. */
static ArrayView *with_packed(GraphRun *r, UOp *u)
{
	const Dims *d = graph_dims(r, u);
	ArrayView **src = xmalloc(u->nsrc * sizeof *src), *v;

	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = value_packed(place_of(r, u->src[i])->value);
	switch (u->op) {
	case OP_SCAN: v = axis_scan(u, src[0]); break;
	case OP_SORT: v = axis_sort(u, src[0]); break;
	case OP_GATHER: v = index_gather(u, src, d->rank, d->dim); break;
	case OP_SCATTER: v = index_scatter(u, src); break;
	default: v = value_view(src[u->nsrc - 1], &src[u->nsrc - 1]->s);
	}
	for (uint32_t i = 0; i < u->nsrc; i++)
		value_drop(src[i]);
	free(src);
	return v;
}

static ArrayView *get_value(UOp *u, void *ctx)
{
	return place_of(ctx, u)->value;
}

static bool folds_nothing(const UOp *u)
{
	return u->op == OP_REDUCE && u->arg->a[1]->n == 0;
}

static ArrayView *evaluate(GraphRun *r, UOp *u)
{
	const Dims *d = graph_dims(r, u);
	ArrayView *x = u->nsrc ? place_of(r, u->src[0])->value : NULL;

	if (folds_nothing(u))
		return value_view(x, &x->s);
	if (op_elementwise(u->op) || u->op == OP_REDUCE)
		return cluster_run(u, d->rank, d->dim, graph_dims(r, u->src[0])->dim,
			&(ClusterEnv){get_value, r});
	if (op_movement(u->op))
		return moved(r, u, x);
	switch (u->op) {
	case OP_BUFFER: return from_buffer(r, u);
	case OP_CONST: return from_const(u);
	case OP_ARANGE: return from_arange(r, u);
	case OP_DETACH:
	case OP_COPY: return value_view(x, &x->s);
	case OP_SCAN:
	case OP_SORT:
	case OP_GATHER:
	case OP_SCATTER:
	case OP_ASSIGN:
	case OP_CONTIGUOUS: return with_packed(r, u);
	case OP_BIND:
	case OP_SIZE:
	case OP_TURN:
	case OP_CARRY:
	case OP_PICK: return step_value(r, u);
	default:
		die(UNSUPPORTED, "node %u %s: cannot be interpreted", u->id, op_name(u->op));
	}
}

/* ---- all nodes ---- */

/* Whether a value must be there for the watch to see it. */
static bool is_shown(GraphRun *r, UOp *u, const UOp *user)
{
	const Dims *d = r->watch ? graph_dims(r, u) : NULL;
	double n = 1;

	for (int i = 0; d && i < d->rank; i++)
		n *= (double)d->dim[i];
	return d && (u->op != OP_MUL || user->op != OP_REDUCE || n <= SHOWN);
}

/* The size of the cluster if this node waits for its user; 0 if it must be computed now. */
static uint8_t cluster_size(GraphRun *r, const NodePlace *p)
{
	UOp *u = p->u, *user = p->user;
	int n = 1;

	if (!op_elementwise(u->op) || p->uses != 1 || !user || !u->shape->rank)
		return 0;
	if (is_shown(r, u, user))
		return 0;
	if (user->op == OP_REDUCE ? folds_nothing(user) :
				    !op_elementwise(user->op) || user->shape != u->shape)
		return 0;
	for (uint32_t i = 0; i < u->nsrc; i++)
		n += place_of(r, u->src[i])->waiting;
	return n <= CLUSTER ? n : 0;
}

/* Whether u is the user that was counted for its source k, which is of the same region. */
static bool uses_here(const GraphRun *r, const UOp *u, uint32_t k)
{
	const Region *of = r->regions->of[u->src[k]->id];

	return of == r->regions->of[u->id] && of == region_of_use(r->regions, u, k);
}

/* Counts one use of root's sources and drops those that were used for the last time; the sources of
 * nodes that waited for root are used with it. */
static void release(GraphRun *r, UOp *root)
{
	VEC(UOp *) stack = {0};

	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[--stack.n];
		for (uint32_t i = 0; i < u->nsrc; i++) {
			if (place_of(r, u->src[i])->waiting)
				vec_push(&stack, u->src[i]);
			else if (uses_here(r, u, i))
				use_done(r, u->src[i]);
		}
	}
	vec_free(&stack);
	Held *held = map_get(&r->held, PKEY(root));
	for (size_t i = 0; held && i < held->n; i++)
		use_done(r, held->at[i]);
}

void use_done(GraphRun *r, UOp *u)
{
	NodePlace *p = place_of(r, u);

	if (--p->left)
		return;
	if (p->value)
		value_drop(p->value);
	if (p->outcome)
		outcome_free(p->outcome);
	p->value = NULL;
	p->outcome = NULL;
}

/* The root's value as an array that owns its memory: the value's memory if nothing else uses it,
 * else a copy. */
static Array take_array(ArrayView *v, bool last)
{
	Strided c = strided_collapse(&v->s);
	Array a = {.dtype = v->s.dtype, .rank = v->s.rank, .owned = true};

	if (last && v->store && v->store->refs == 1 && v->store->data == v->s.at &&
		strided_contiguous(&v->s)) {
		memcpy(a.dim, v->s.dim, sizeof a.dim);
		a.bytes = strided_count(&v->s) * element_size(a.dtype);
		a.data = v->store->data;
		v->store->data = NULL;
		return a;
	}
	a = array_raw(v->s.dtype, v->s.rank, v->s.dim);
	strided_copy(&c, 0, strided_count(&v->s), a.data);
	return a;
}

/* The LOOP or IF of u's region whose regions, or regions within them, `in` is. */
static UOp *owner_in(const Region *of, const Region *in)
{
	while (in->up != of)
		in = in->up;
	return in->owner;
}

/* Counts one use of v in region `in`: by its user, or by the LOOP or IF that it is deep within,
 * which holds it from its start to its end. */
static void count_use(GraphRun *r, UOp *v, UOp *user, const Region *in)
{
	Region *of = r->regions->of[v->id];
	NodePlace *p = place_of(r, v);

	if (in == of) {
		p->uses++;
		p->user = user;
		return;
	}
	UOp *owner = owner_in(of, in);
	Held *held = map_get(&r->held, PKEY(owner));
	if (!held)
		map_put(&r->held, PKEY(owner), held = xcalloc(1, sizeof *held));
	for (size_t i = 0; i < held->n; i++)
		if (held->at[i] == v)
			return;
	vec_push(held, v);
	p->uses++;
	p->user = NULL;
}

static void prepare(GraphRun *r, size_t n, UOp *const *roots)
{
	Nodes all = r->regions->all;

	r->place = xcalloc(all.n + 1, sizeof *r->place);
	r->index = xcalloc(node_limit(), sizeof *r->index);
	for (size_t i = 0; i < all.n; i++) {
		r->index[all.at[i]->id] = (uint32_t)i;
		r->place[i].u = all.at[i];
	}
	for (size_t i = 0; i < all.n; i++)
		for (uint32_t k = 0; r->regions->of[all.at[i]->id] && k < all.at[i]->nsrc; k++)
			count_use(r, all.at[i]->src[k], all.at[i],
				/* each turn of a loop may need a state's init */
				all.at[i]->op == OP_CARRY ? r->regions->of[all.at[i]->id] :
				region_of_use(r->regions, all.at[i], k));
	for (size_t i = 0; i < n; i++)          /* a root's value must exist at the end */
		count_use(r, roots[i], NULL, &r->regions->top);
}

void graph_dims_forget(GraphRun *r)
{
	for (size_t i = 0; i < r->dims.cap; i++)
		if (r->dims.val && r->dims.val[i])
			free(r->dims.val[i]);
	map_free(&r->dims);
}

static void finish(GraphRun *r)
{
	for (size_t i = 0; i < r->held.cap; i++)
		if (r->held.val && r->held.val[i]) {
			vec_free((Held *)r->held.val[i]);
			free(r->held.val[i]);
		}
	map_free(&r->held);
	graph_dims_forget(r);
	regions_free(r->regions);
	free(r->place);
	free(r->index);
}

Array constant_content(UOp *u, void *ctx)
{
	const Val *data = val_get(u->arg, "data"), *file = val_get(u->arg, "file");
	Array a = {.dtype = u->dtype, .rank = u->shape->rank};
	const char *p;
	size_t n;

	for (int i = 0; i < a.rank; i++)
		a.dim[i] = shape_dim(u->shape, i);
	a.bytes = array_count(&a) * dtype_size(a.dtype);
	if (data && data != VNIL) {
		p = data->s;
	} else {
		p = data_map(file->a[0]->s, &n);
		if ((size_t)file->a[1]->i > n || n - file->a[1]->i < a.bytes)
			die(MALFORMED, "%s: too short for %s", file->a[0]->s, buffer_name(u));
		p += file->a[1]->i;
		data_check(file, p, a.bytes);
	}
	/* data in a document or a file may be unaligned */
	if ((uintptr_t)p % dtype_size(a.dtype))
		p = memcpy(arena_alloc(a.bytes + 1), p, a.bytes);
	a.data = (void *)p;
	return a;
}

/* Where element i of a value is, whose shape run has. */
static void place_element(Buf *b, const void *run, size_t i)
{
	const ArrayView *v = run;
	int64_t at[MAX_RANK];

	for (int k = v->s.rank; k-- > 0; i /= v->s.dim[k])
		at[k] = i % v->s.dim[k];
	buf_printf(b, "[");
	for (int k = 0; k < v->s.rank; k++)
		buf_printf(b, "%s%lld", k ? "," : "", (long long)at[k]);
	buf_printf(b, "]");
}

/* Shows a node's value, and those of its sources, row-major. */
static void show_value(GraphRun *r, UOp *u, ArrayView *value)
{
	ArrayView *packed = value_packed(value), *src[3];
	SeenValues v = {.u = u, .n = strided_count(&packed->s), .out = packed->s.at,
		.rank = packed->s.rank, .dim = packed->s.dim, .run = packed,
		.place = place_element};

	for (uint32_t k = 0; op_elementwise(u->op) && k < u->nsrc; k++, v.nsrc++) {
		src[k] = value_packed(place_of(r, u->src[k])->value);
		v.in[k] = src[k]->s.at;
		v.step[k] = src[k]->s.rank > 0 || !packed->s.rank;
	}
	r->watch->see(r->watch, &v);
	for (uint32_t k = 0; k < v.nsrc; k++)
		value_drop(src[k]);
	value_drop(packed);
}

/* Computes a node, and lets go of what it was the last to use. */
static void run_node(GraphRun *r, NodePlace *p)
{
	UOp *u = p->u;

	if (op_info[u->op].cls == CLASS_FLOW || r->regions->binds.n)
		step_check_shapes(r, u);
	if (u->op == OP_LOOP || u->op == OP_IF)
		p->outcome = step_outcome(r, u);
	else
		p->value = evaluate(r, u);
	if (r->watch && p->value)
		show_value(r, u, p->value);
	release(r, u);
	if (!p->left) {
		p->left = 1;
		use_done(r, u);
	}
}

void region_run(GraphRun *r, Region *region)
{
	for (size_t i = 0; i < region->nodes.n; i++) {
		NodePlace *p = place_of(r, region->nodes.at[i]);
		p->left = p->uses;
	}
	for (size_t i = 0; i < region->nodes.n; i++) {
		NodePlace *p = place_of(r, region->nodes.at[i]);
		if (!(p->waiting = cluster_size(r, p)))
			run_node(r, p);
	}
}

void interp_graph(size_t n, UOp *const *roots, const UOp *sink, const VarEnv *env,
	Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out)
{
	interp_graph_watched(n, roots, sink, env, get, ctx, out, NULL);
}

void interp_graph_watched(size_t n, UOp *const *roots, const UOp *sink, const VarEnv *env,
	Array (*get)(UOp *buffer, void *ctx), void *ctx, Array *out, Watch *watch)
{
	GraphRun r = {.env = *env, .get = get, .ctx = ctx, .watch = watch};
	size_t binds = sink ? sink->nsrc - sink_outputs(sink) : 0;
	UOp **all = xmalloc((n + binds + 1) * sizeof *all);

	memcpy(all, roots, n * sizeof *all);
	if (binds)
		memcpy(all + n, sink->src + sink_outputs(sink), binds * sizeof *all);
	r.regions = regions_new(n, n + binds, all);
	free(all);
	prepare(&r, n, roots);
	region_run(&r, &r.regions->top);
	for (size_t i = 0; i < n; i++) {
		NodePlace *p = place_of(&r, roots[i]);
		out[i] = take_array(p->value, p->left == 1);
		use_done(&r, roots[i]);
	}
	finish(&r);
}
