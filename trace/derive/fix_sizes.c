/* Replaces size variables by numbers, in every node whose arg has sizes.
 *
 *     --set n=8     BUFFER x [n,4], RESHAPE [n*2,2]   →   BUFFER x [8,4], RESHAPE [16,2] */
#include "shape/shape.h"
#include "derive/derive.h"
#include <stdlib.h>

typedef struct { size_t n; UOp *const *from, *const *to; } Sizes;

static const Val *replaced(const Val *v, size_t from, const Sizes *sizes)
{
	const char *err = NULL;
	int64_t n;

	if (v->kind == VAL_ARRAY) {
		const Val **a = arena_alloc((v->n + 1) * sizeof *a);
		for (size_t i = 0; i < v->n; i++)
			a[i] = i < from ? v->a[i] : replaced(v->a[i], 0, sizes);
		return val_array(v->n, a);
	}
	UOp *size = v->kind == VAL_STR ? size_from_val(v, &err) : NULL;
	if (!size)
		return v;
	size = substitute(size, sizes->n, sizes->from, sizes->to);
	if (ix_is_const(size, &n) && n < 0)
		die(MALFORMED, "size %s is negative", v->s);
	return size_to_val(size);
}

const Val *sizes_replaced(const UOp *u, size_t n, UOp *const *from, UOp *const *to)
{
	const Sizes sizes = {n, from, to};
	const Val *shape = val_get(u->arg, "shape");

	switch (n ? op_info[u->op].sizes : SIZES_NONE) {
	case SIZES_NONE: return u->arg;
	case SIZES_ARG: return replaced(u->arg, 0, &sizes);
	case SIZES_AFTER_NAME: return replaced(u->arg, 1, &sizes);
	case SIZES_KEYS:
		return shape ? val_set(u->arg, "shape", replaced(shape, 0, &sizes)) : u->arg;
	}
	return u->arg;
}

enum { SET = 64 };

static Sizes sizes_of(const VarEnv *env, UOp *from[SET], UOp *to[SET])
{
	for (int i = 0; i < env->n; i++) {
		from[i] = vars_find(env->name[i], strlen(env->name[i]));
		to[i] = ix_const(env->value[i]);
	}
	return (Sizes){(size_t)env->n, from, to};
}

static const Val *fixed(const Val *v, const VarEnv *env)
{
	UOp *from[SET], *to[SET];
	Sizes sizes = sizes_of(env, from, to);

	return replaced(v, 0, &sizes);
}

static UOp *fix_node(UOp *u, UOp *const *src, const VarEnv *env)
{
	UOp *from[SET], *to[SET];
	Sizes sizes = sizes_of(env, from, to);

	const Val *arg = sizes_replaced(u, sizes.n, from, to);
	if (arg == u->arg && (!u->nsrc || !memcmp(src, u->src, u->nsrc * sizeof *src)))
		return u;
	UOp *v = node_new(u->op, u->dtype, u->nsrc, src, arg);
	node_note(v, u->note);
	return v;
}

/* Replaces sources and arg of a node together: with only one of them replaced, the node might not
 * verify. */
static UOp *fix_nodes(UOp *sink, const VarEnv *env)
{
	Nodes all = walk(sink);
	Map to = {0};
	UOp *v = NULL;

	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], **src = arena_alloc((u->nsrc + 1) * sizeof *src);
		for (size_t k = 0; k < u->nsrc; k++)
			src[k] = map_get(&to, PKEY(u->src[k]));
		v = fix_node(u, src, env);
		map_put(&to, PKEY(u), v);
	}
	map_free(&to);
	return v;
}

static void read_set(const Graph *g, const char *text, VarEnv *env)
{
	const char *eq = strchr(text, '=');
	char *end = NULL;

	if (!eq || env->n == SET)
		die(USAGE, "'%.80s' is not SIZE=N", text);
	const char *name = arena_printf("%.*s", (int)(eq - text), text);
	const Val *range = val_get(g->vars, name);
	long long v = strtoll(eq + 1, &end, 10);
	if (!range)
		die(USAGE, "there is no size variable '%.80s'", name);
	if (end == eq + 1 || *end)
		die(USAGE, "'%.80s' is not SIZE=N", text);
	if (v < range->a[0]->i || v > range->a[1]->i)
		die(USAGE, "%s=%lld is not within %lld..%lld", name, v, (long long)range->a[0]->i,
			(long long)range->a[1]->i);
	env->name[env->n] = name;
	env->value[env->n++] = v;
}

/* Sizes in meta are replaced too; an input whose sizes are all numbers no longer determines a
 * variable. */
static void fix_meta(Graph *g, const VarEnv *env)
{
	const Val *sized = val_get(g->meta, "sized"), *checks = val_get(g->meta, "checks");
	const Val **row;

	if (sized) {
		size_t n = 0;
		row = arena_alloc((sized->n + 1) * sizeof *row);
		for (size_t i = 0; i < sized->n; i++) {
			const Val *shape = fixed(sized->a[i]->a[2], env);
			bool open = false;
			for (size_t k = 0; k < shape->n; k++)
				open |= shape->a[k]->kind == VAL_STR;
			if (open)
				row[n++] = VARR(sized->a[i]->a[0], sized->a[i]->a[1], shape);
		}
		g->meta = val_set(g->meta, "sized", n ? val_array(n, row) : NULL);
	}
	if (checks) {
		row = arena_alloc((checks->n + 1) * sizeof *row);
		for (size_t i = 0; i < checks->n; i++)
			row[i] = VARR(checks->a[i]->a[0], fixed(checks->a[i]->a[1], env),
				fixed(checks->a[i]->a[2], env));
		g->meta = val_set(g->meta, "checks", val_array(checks->n, row));
	}
}

Graph *fix_sizes(Graph *g, size_t n, const char *const *set)
{
	VarEnv env = {0};
	Graph *r = arena_alloc(sizeof *r);

	for (size_t i = 0; i < n; i++)
		read_set(g, set[i], &env);
	if (!env.n)
		return g;
	*r = *g;
	r->all = (Nodes){0};
	r->sink = fix_nodes(g->sink, &env);
	fix_meta(r, &env);
	for (int i = 0; i < env.n; i++)
		r->vars = val_set(r->vars, env.name[i], NULL);
	if (r->vars->kind == VAL_MAP && !r->vars->n)
		r->vars = VNIL;
	return r;
}
