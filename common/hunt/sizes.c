/* Smaller sizes: a number that stands in shapes becomes a smaller one wherever it stands, and with
 * it, in some variants, its multiples. Constants keep their first elements. */
#include "hunt/hunt.h"
#include <stdlib.h>

/* ---- which sizes there are */

static bool has_shape(const UOp *u)
{
	return u->op == OP_BUFFER || u->op == OP_RESHAPE || u->op == OP_EXPAND ||
		u->op == OP_PARAM || u->op == OP_RANGE || u->op == OP_ARANGE;
}

/* Calls fn for each number among the sizes of the nodes that have some. */
static void each_size(const Graph *g, void (*fn)(int64_t n, void *ctx), void *ctx)
{
	Nodes all = walk(g->sink);
	int64_t n;

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_RANGE && const_is_int(u->src[0], &n))
			fn(n, ctx);
		for (int k = 0; has_shape(u) && u->shape && k < u->shape->rank; k++)
			if (const_is_int(u->shape->dim[k], &n))
				fn(n, ctx);
	}
}

typedef struct { int64_t at[256]; size_t n; double sum; } SizeList;

static void note_size(int64_t n, void *ctx)
{
	SizeList *s = ctx;
	size_t i = 0;

	s->sum += (double)n;
	while (i < s->n && s->at[i] > n)
		i++;
	if (n < 2 || s->n == 256 || (i < s->n && s->at[i] == n))
		return;
	memmove(&s->at[i + 1], &s->at[i], (s->n - i) * sizeof *s->at);
	s->at[i] = n;
	s->n++;
}

/* The sizes over 1, the largest first. */
static SizeList sizes_of(const Graph *g)
{
	SizeList s = {.n = 0};

	each_size(g, note_size, &s);
	return s;
}

size_t count_sizes(const Graph *g) { return sizes_of(g).n; }

double sizes_sum(const Graph *g) { return sizes_of(g).sum; }

/* ---- one of them smaller */

typedef struct { int64_t from, to; int mode; const VarEnv *env; } Resize;

/* mode 0: the size itself; 1: its multiples too; 2: as often as it divides them */
static int64_t resized(const Resize *r, int64_t n)
{
	int64_t by = 1;

	if (!r->from)
		return n;
	if (r->mode == 0)
		return n == r->from ? r->to : n;
	if (n <= 0 || n % r->from)
		return n;
	for (; n % r->from == 0; by *= r->to) {
		n /= r->from;
		if (r->mode == 1)
			return n * r->to;
	}
	return n * by;
}

/* Every number in an arg: sizes in arrays of any depth; expressions, if their variables have
 * values. */
static const Val *resized_arg(const Resize *r, const Val *v)
{
	const char *err;
	int64_t n;

	if (v->kind == VAL_INT)
		return val_int(resized(r, v->i));
	if (v->kind == VAL_STR && r->env) {
		UOp *size = size_from_val(v, &err);
		return size && ix_eval(size, r->env, &n) ? val_int(n) : v;
	}
	if (v->kind != VAL_ARRAY)
		return v;
	const Val **a = arena_alloc((v->n + 1) * sizeof *a);
	for (size_t i = 0; i < v->n; i++)
		a[i] = resized_arg(r, v->a[i]);
	return val_array(v->n, a);
}

/* The first elements along each axis. */
static const Val *first_elements(const Array *a, const int64_t *dim)
{
	const int size = dtype_size(a->dtype);
	int64_t n = 1;
	char *out;

	for (int k = 0; k < a->rank; k++)
		n *= dim[k];
	out = arena_alloc(n * size + 1);
	for (int64_t i = 0; i < n; i++) {
		int64_t rest = i, at = 0, step = 1;
		for (int k = a->rank - 1; k >= 0; k--) {
			at += rest % dim[k] * step;
			rest /= dim[k];
			step *= a->dim[k];
		}
		memcpy(out + i * size, (const char *)a->data + at * size, size);
	}
	return val_bin(out, n * size);
}

static const Val *resized_buffer(const Resize *r, const UOp *u)
{
	const Val *shape = resized_arg(r, val_get(u->arg, "shape")),
		  *data = val_get(u->arg, "data"), *file = val_get(u->arg, "file"),
		  *arg = val_set(u->arg, "shape", shape);
	int64_t dim[MAX_RANK], n;
	bool has = (data && data != VNIL) || (file && file != VNIL);

	if (!has || shape == val_get(u->arg, "shape") || !shape_static(u->shape, &n))
		return arg;
	Array a = constant_content((UOp *)u, NULL);
	for (int k = 0; k < a.rank; k++) {
		dim[k] = shape->a[k]->i;
		if (dim[k] > a.dim[k])
			die(MALFORMED, "a constant cannot grow");
	}
	return val_set(val_set(arg, "file", NULL), "data", first_elements(&a, dim));
}

static UOp *resize(UOp *old, UOp *const *src, void *ctx)
{
	const Resize *r = ctx;
	const Val *arg = old->arg;
	int64_t n;

	switch (old->op) {
	case OP_BUFFER: arg = resized_buffer(r, old); break;
	case OP_PARAM:
		arg = val_set(old->arg, "shape", resized_arg(r, val_get(old->arg, "shape")));
		break;
	case OP_RESHAPE: case OP_EXPAND: case OP_ARANGE: case OP_SHRINK: case OP_PAD:
		arg = resized_arg(r, old->arg);
		break;
	case OP_RANGE:
		if (!const_is_int(old->src[0], &n))
			break;
		return NODE(OP_RANGE, DT_I64, old->arg, const_int(DT_I64, resized(r, n)));
	case OP_VAR:
		return r->env && ix_eval(old, r->env, &n) ? const_int(DT_I64, n) : NULL;
	default: return NULL;
	}
	return node_like(old, old->nsrc, src, arg);
}

Graph *apply_size(Graph *g, size_t from, size_t to, int variant)
{
	SizeList sizes = sizes_of(g);
	int64_t n = sizes.at[from], smaller[] = {1, 2, n / 2, n - 1};
	Resize r = {n, smaller[variant % 4], variant / 4, NULL};

	return r.to > 0 && r.to < n ? graph_edit(g, resize, &r) : NULL;
}

/* ---- size variables: each the smallest that it can be, one more than that, or the largest */

size_t count_vars(const Graph *g) { return g->vars->kind == VAL_MAP ? g->vars->n : 0; }

Graph *apply_vars(Graph *g, size_t from, size_t to, int variant)
{
	const Val *left = VNIL;
	VarEnv env = {0};
	Resize r = {0, 0, 0, &env};

	for (size_t i = 0; i < g->vars->n && env.n < 64; i++) {
		const Val *name = g->vars->a[2 * i], *bounds = g->vars->a[2 * i + 1];
		if (i < from || i >= to) {
			left = val_set(left, name->s, bounds);
			continue;
		}
		int64_t least = bounds->a[0]->i, most = bounds->a[1]->i;
		env.name[env.n] = name->s;
		env.value[env.n++] = variant == 2 ? most : least + (variant && least < most);
	}
	g = graph_edit(g, resize, &r);
	g->vars = left;
	return g;
}
