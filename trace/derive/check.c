/* grad --check: derivatives beside finite differences, all in one graph, in f64.
 *
 *     f = sum(y * u)            y the outputs; u, and a direction t for each buffer w, are random
 *     reverse_w, forward_w      <grad f, t>, jvp of f along t
 *     by_1e-3_w                 (8 (f(w + ht) - f(w - ht)) - (f(w + 2ht) - f(w - 2ht))) / 12h,
 *                               h 1e-3 times w's own size
 *
 * Several steps h are tried, since a long one loses less to rounding and a short one crosses fewer
 * kinks. Values behind DETACH are computed without the step. */
#include "library/library.h"
#include "derive/derive.h"
#include <stdlib.h>

/* ---- the graph in f64 */

static DType wide_dtype(DType dt) { return dtype_float(dt) ? DT_F64 : dt; }
static UOp *widened(UOp *u) { return t_cast(u, wide_dtype(u->dtype)); }

/* Ops on bits, and custom kernels, keep their dtypes. */
static UOp *narrow_node(UOp *u, UOp *const *src)
{
	UOp **s = arena_alloc((u->nsrc + 1) * sizeof *s);

	for (uint32_t i = 0; i < u->nsrc; i++)
		s[i] = t_cast(src[i], u->src[i]->dtype);
	return widened(node_new(u->op, u->dtype, u->nsrc, s, u->arg));
}

/* u with its sources in f64 */
static UOp *wide_node(UOp *u, UOp *const *src)
{
	double v;

	switch (u->op) {
	case OP_BUFFER: return widened(u);
	case OP_CONST: return const_is_float(u, &v) ? const_num(DT_F64, v) : u;
	case OP_CAST: return t_cast(src[0], wide_dtype(u->dtype));
	case OP_ASSIGN: return src[1];
	case OP_BITCAST:
	case OP_CUSTOM: return narrow_node(u, src);
	default: return node_new(u->op, wide_dtype(u->dtype), u->nsrc, src, u->arg);
	}
}

/* Copies all nodes of all in f64 to wide. If from is one of them, it is replaced by to, and only
 * nodes that depend on it differ from those in base. */
static UOp **wide_copy(Nodes all, const Map *place, UOp *const *base, UOp *from, UOp *to)
{
	UOp **wide = arena_alloc((all.n + 1) * sizeof *wide);
	VEC(UOp *) src = {0};

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool same = base != NULL;
		src.n = 0;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			size_t at = (size_t)(uintptr_t)map_get(place, PKEY(u->src[k])) - 1;
			vec_push(&src, wide[at]);
			same &= base && wide[at] == base[at];
		}
		same |= base && u->op == OP_DETACH;
		wide[i] = u == from ? to : same ? base[i] : wide_node(u, src.at);
	}
	vec_free(&src);
	return wide;
}

/* ---- random numbers */

static UOp *normal(const Shape *s, int64_t key)
{
	Value pos[2] = {v_shape(s), v_int(key)}, dt = v_str("f64");

	return function_call(function_find("randn"), 2, pos, 1, (const char *[]){"dtype"}, &dt).u;
}

/* ---- one buffer */

typedef struct { Nodes all; Map place; UOp **base; const Picked *out; } Check;

static UOp *at_node(const Check *c, UOp *const *wide, UOp *u)
{
	return wide[(size_t)(uintptr_t)map_get(&c->place, PKEY(u)) - 1];
}

/* a weighted sum of all outputs */
static UOp *weighed(const Check *c, UOp *const *wide)
{
	UOp *sum = t_num(DT_F64, 0), *y;

	for (size_t i = 0; i < c->out->node.n; i++) {
		y = at_node(c, wide, c->out->node.at[i]);
		sum = t_add(sum, fold_all(OP_ADD, t_mul(y, normal(y->shape, 1000 + i))));
	}
	return sum;
}

static UOp *stepped(const Check *c, UOp *w, UOp *step)
{
	UOp *to = t_add(at_node(c, c->base, w), step);

	return weighed(c, wide_copy(c->all, &c->place, c->base, w, to));
}

static UOp *slope(const Check *c, UOp *w, UOp *h, UOp *t)
{
	UOp *ht = t_mul(h, t), *near, *far;

	near = t_sub(stepped(c, w, ht), stepped(c, w, t_neg(ht)));
	far = t_sub(stepped(c, w, t_mulc(ht, 2)), stepped(c, w, t_mulc(ht, -2)));
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
	UOp *f = weighed(c, c->base), *x = at_node(c, c->base, w), *t = normal(x->shape, key),
		*one = t_num(DT_F64, 1), *grad;

	derive_reverse(1, &f, &one, 1, &x, &grad);
	r[0] = fold_all(OP_ADD, t_mul(grad, t));
	derive_forward(1, &x, &t, 1, &f, &r[1]);
	for (int i = 0; i < 3; i++)
		r[2 + i] = slope(c, w, t_mulc(own_size(x), steps[i]), t);
}

Graph *derive_check(Graph *g, const Picked *out, const Picked *wrt)
{
	Check c = {.out = out};
	size_t n = wrt->node.n;
	UOp **check = arena_alloc((n + 1) * WAYS * sizeof *check);
	const char **name = arena_alloc((n + 1) * WAYS * sizeof *name);

	c.all = walk_many(out->node.n, out->node.at);
	for (size_t i = 0; i < c.all.n; i++)
		if (c.all.at[i]->op == OP_LOOP || c.all.at[i]->op == OP_IF)
			die(UNSUPPORTED, "node %u %s: --check compares no loops and branches",
				c.all.at[i]->id, op_name(c.all.at[i]->op));
	for (size_t i = 0; i < c.all.n; i++)
		map_put(&c.place, PKEY(c.all.at[i]), (void *)(uintptr_t)(i + 1));
	c.base = wide_copy(c.all, &c.place, NULL, NULL, NULL);
	for (size_t i = 0; i < n; i++) {
		if (!map_get(&c.place, PKEY(wrt->node.at[i])))
			die(USAGE, "no output that is checked reads '%s'", wrt->name.at[i]);
		check_one(&c, wrt->node.at[i], (int64_t)i, check + i * WAYS);
		for (int k = 0; k < WAYS; k++)
			name[i * WAYS + k] = arena_printf("%s_%s", way[k], wrt->name.at[i]);
	}
	map_free(&c.place);
	g->sink = sink_with(g->sink, 0, NULL, VNIL);
	return outputs_add(g, n * WAYS, name, check);
}
