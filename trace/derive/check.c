/* grad --check: derivatives beside finite differences, all in one graph, in f64.
 *
 *     f = sum(y * u)            y the outputs; u, and a direction t for each buffer w, are random
 *     reverse_w, forward_w      <grad f, t>, jvp of f along t
 *     by_1e-3_w                 (8 (f(w + ht) - f(w - ht)) - (f(w + 2ht) - f(w - 2ht))) / 12h,
 *                               h 1e-3 times w's own size
 *
 * Several steps h are tried, since a long one loses less to rounding and a short one crosses fewer
 * kinks. Values behind DETACH are computed without the step, but in loops. */
#include "library/library.h"
#include "derive/derive.h"
#include <stdlib.h>

/* ---- the graph in f64 */

static DType wide_dtype(DType dt) { return dtype_float(dt) ? DT_F64 : dt; }
static UOp *widened(UOp *u) { return t_cast(u, wide_dtype(u->dtype)); }

/* Ops on bits, and custom kernels, keep their dtypes. */
static UOp *narrow_node(UOp *u, UOp *const *src, const Val *arg)
{
	UOp **s = arena_alloc((u->nsrc + 1) * sizeof *s);

	for (uint32_t i = 0; i < u->nsrc; i++)
		s[i] = t_cast(src[i], u->src[i]->dtype);
	return widened(node_new(u->op, u->dtype, u->nsrc, s, arg));
}

/* u with its sources in f64 */
static UOp *wide_node(UOp *u, UOp *const *src, const Val *arg)
{
	double v;

	switch (u->op) {
	case OP_BUFFER: return widened(u);
	case OP_CONST: return const_is_float(u, &v) ? const_num(DT_F64, v) : u;
	case OP_CAST: return t_cast(src[0], wide_dtype(u->dtype));
	case OP_ASSIGN: return src[1];
	case OP_BITCAST:
	case OP_CUSTOM: return narrow_node(u, src, arg);
	default: return node_new(u->op, wide_dtype(u->dtype), u->nsrc, src, arg);
	}
}

/* ---- random numbers */

static UOp *normal(const Shape *s, int64_t key)
{
	Value pos[2] = {v_shape(s), v_int(key)}, dt = v_str("f64");

	return function_call(function_find("randn"), 2, pos, 1, (const char *[]){"dtype"}, &dt).u;
}

/* ---- one buffer */

typedef struct { Map wide; UOp *f; } Check;     /* node → its f64 copy; the function */

/* a weighted sum of all outputs */
static UOp *weighed(const Check *c, const Picked *out)
{
	UOp *sum = t_num(DT_F64, 0);

	for (size_t i = 0; i < out->node.n; i++) {
		UOp *y = map_get(&c->wide, PKEY(out->node.at[i]));
		sum = t_add(sum, fold_all(OP_ADD, t_mul(y, normal(y->shape, 1000 + i))));
	}
	return sum;
}

static UOp *stepped(const Check *c, UOp *x, UOp *step)
{
	return node_moved(c->f, x, t_add(x, step));
}

static UOp *slope(const Check *c, UOp *x, UOp *h, UOp *t)
{
	UOp *ht = t_mul(h, t), *near, *far;

	near = t_sub(stepped(c, x, ht), stepped(c, x, t_neg(ht)));
	far = t_sub(stepped(c, x, t_mulc(ht, 2)), stepped(c, x, t_mulc(ht, -2)));
	return t_div(t_sub(t_mulc(near, 8), far), t_mulc(h, 12));
}

/* the root mean square of w's elements, or 1 if that is 0 */
static UOp *own_size(UOp *w)
{
	int axes[MAX_RANK], n = t_rank(w);
	UOp *s;

	for (int i = 0; i < n; i++)
		axes[i] = i;
	s = t_sqrt(t_mean(t_mul(w, w), n, axes, false));
	return t_where(t_lt(t_num(DT_F64, 0), s), s, t_num(DT_F64, 1));
}

enum { WAYS = 5 };
static const char *const way[WAYS] = {"reverse", "forward", "by_1e-3", "by_1e-5", "by_1e-7"};

static void check_one(const Check *c, UOp *w, int64_t key, UOp **r)
{
	static const double steps[] = {1e-3, 1e-5, 1e-7};
	UOp *f = c->f, *x = map_get(&c->wide, PKEY(w)), *t = normal(x->shape, key),
	    *one = t_num(DT_F64, 1), *grad;

	derive_reverse(1, &f, &one, 1, &x, &grad);
	r[0] = fold_all(OP_ADD, t_mul(grad, t));
	derive_forward(1, &x, &t, 1, &f, &r[1]);
	for (int i = 0; i < 3; i++)
		r[2 + i] = slope(c, x, t_mulc(own_size(x), steps[i]), t);
}

Graph *derive_check(Graph *g, const Picked *out, const Picked *wrt)
{
	Check c = {0};
	size_t n = wrt->node.n;
	UOp **check = arena_alloc((n + 1) * WAYS * sizeof *check);
	const char **name = arena_alloc((n + 1) * WAYS * sizeof *name);

	nodes_copy(nodes_with_binds(out->node.n, out->node.at), out->node.n, out->node.at, &c.wide,
		wide_node);
	c.f = weighed(&c, out);
	for (size_t i = 0; i < n; i++) {
		if (!map_get(&c.wide, PKEY(wrt->node.at[i])))
			die(USAGE, "no output that is checked reads '%s'", wrt->name.at[i]);
		check_one(&c, wrt->node.at[i], (int64_t)i, check + i * WAYS);
		for (int k = 0; k < WAYS; k++)
			name[i * WAYS + k] = arena_printf("%s_%s", way[k], wrt->name.at[i]);
	}
	map_free(&c.wide);
	g->sink = sink_with(g->sink, 0, NULL, VNIL);
	return outputs_add(g, n * WAYS, name, check);
}
