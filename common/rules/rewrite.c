/* The fixed-point driver: every node, sources first, is rewritten by the first rule that matches until none does.
 * What a replacement builds anew is rewritten as it is built, so one sweep is enough; linear in nodes. */
#include "rules/rule.h"
#include <stdlib.h>

enum { STEPS = 1000, NEST = 64 };

/* A node that is being brought to its normal form: as it is now, and the one for whose sake. */
typedef struct Open { const UOp *u; const struct Open *outer; } Open;

typedef struct {
	const Rules *rules;
	Map done;               /* a node → its normal form, which is its own */
	const Open *open;
	size_t applied;
	int nest;
	const UOp *endless;     /* a node whose rules do not come to an end */
	const char *where;      /* the rule applied last */
} Rewriter;

/* v with the shape of like: a scalar that stands for a whole tensor is expanded. */
static UOp *reshaped(UOp *v, const UOp *like)
{
	UOp *one[MAX_RANK];
	if (!like->shape || !v->shape || v->shape == like->shape || v->shape->rank)
		return v;
	for (int i = 0; i < like->shape->rank; i++)
		one[i] = ix_const(1);
	const Val *ones = shape_to_val(shape_new(like->shape->rank, one));
	UOp *r = NODE(OP_RESHAPE, v->dtype, ones, v);
	return r->shape == like->shape ? r : NODE(OP_EXPAND, v->dtype, shape_to_val(like->shape), r);
}

/* What the first rule that holds makes of u; NULL: none does. */
static UOp *step(Rewriter *w, const Builder *b, UOp *u)
{
	Bound env[MAX_VARS];
	for (size_t k = 0; k < w->rules->by_op[u->op].n; k++) {
		const Rule *r = &w->rules->at[w->rules->by_op[u->op].at[k]];
		if (!rule_match(r, u, env))
			continue;
		const char *where = process.where;
		process.where = r->where;
		UOp *v = reshaped(rule_build(b, r->to[0], u, env), u);
		process.where = where;
		if (v == u)     /* it is what the rule makes already */
			continue;
		w->applied++;
		w->where = r->where;
		return v;
	}
	return NULL;
}

static UOp *settle(UOp *u, void *ctx);

/* u, whose sources are in normal form, in its own. */
static UOp *normal(Rewriter *w, UOp *u)
{
	const Builder b = {settle, w};
	Open open = {u, w->open};
	UOp *r = u;
	int steps = 0;
	w->open = &open;
	if (++w->nest > NEST)
		w->endless = u;
	for (UOp *next; !w->endless && (next = step(w, &b, r)); r = next) {
		open.u = next;
		if (++steps > STEPS)
			w->endless = r;
	}
	w->nest--;
	w->open = open.outer;
	if (r != u) {
		node_note(r, u->note);
		map_put(&w->done, PKEY(r), r);
	}
	map_put(&w->done, PKEY(u), r);
	return r;
}

/* What stands for u as a source, NULL where that is still to be found: a node that is being
 * rewritten, `self` of a rule, stays. */
static UOp *as_source(const Rewriter *w, UOp *u)
{
	UOp *r = map_get(&w->done, PKEY(u));
	for (const Open *o = w->open; !r && o; o = o->outer)
		r = o->u == u ? u : NULL;
	return r;
}

/* u in normal form, and what a function of C has made anew beneath it. */
static UOp *settle(UOp *u, void *ctx)
{
	Rewriter *w = ctx;
	VEC(UOp *) stack = {0};
	UOp *r = map_get(&w->done, PKEY(u)), **src;
	if (r || w->endless)
		return r ? r : u;
	vec_push(&stack, u);
	while (stack.n) {
		UOp *top = stack.at[stack.n - 1];
		uint32_t i = 0;
		src = arena_alloc((top->nsrc + 1) * sizeof *src);
		while (i < top->nsrc && (src[i] = as_source(w, top->src[i])))
			i++;
		if (i < top->nsrc) {
			vec_push(&stack, top->src[i]);
			continue;
		}
		UOp *same = node_with(top, src);
		r = map_get(&w->done, PKEY(same));
		r = r ? r : normal(w, same);
		map_put(&w->done, PKEY(top), r);
		stack.n--;
	}
	vec_free(&stack);
	return r;
}

static UOp *visit(UOp *u, void *ctx)
{
	Rewriter *w = ctx;
	if (u->op == OP_SINK || w->endless)
		return u;
	UOp *r = map_get(&w->done, PKEY(u));
	return r ? r : normal(w, u);
}

static UOp *sweep(Rewriter *w, UOp *root)
{
	UOp *r = walk_replace(root, visit, w);
	map_free(&w->done);
	return r;
}

UOp *rewrite(UOp *root, const Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules};
	UOp *r = sweep(&w, root);
	if (w.endless)
		die(FAILED, "%s: rules do not come to an end at %s", w.where, op_name(w.endless->op));
	if (count)
		*count = w.applied;
	return r;
}

UOp *rewrite_try(UOp *root, const Rules *rules, const UOp **endless)
{
	Rewriter w = {.rules = rules};
	UOp *r = sweep(&w, root);
	*endless = w.endless;
	return w.endless ? NULL : r;
}

static UOp *visit_once(UOp *u, void *ctx)
{
	UOp *r = u->op == OP_SINK ? NULL : step(ctx, NULL, u);
	if (r)
		node_note(r, u->note);
	return r ? r : u;
}

UOp *rewrite_once(UOp *root, const Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules};
	UOp *r = walk_replace(root, visit_once, &w);
	if (count)
		*count = w.applied;
	return r;
}
