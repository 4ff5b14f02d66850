/* The fixed-point driver: every node, sources first, is rewritten by the first rule that matches
 * until none does. New nodes of a replacement are rewritten as they are built, so one sweep is
 * enough; linear in nodes. */
#include "rules/rule.h"
#include <stdlib.h>

enum { STEPS = 1000, NEST = 64 };

/* A node that is being brought to its normal form: its current form, and the node that needs it. */
typedef struct Open { const UOp *u; const struct Open *outer; } Open;

typedef struct {
	Rules *rules;
	const Open *open;
	VEC(UOp *) stack, src;  /* used by settle */
	size_t applied;
	int nest;
	const UOp *endless;     /* a node whose rewriting does not end */
	const char *where;      /* the rule applied last */
} Rewriter;

/* A node's normal form, valid in its round. */
typedef struct { uint32_t round; UOp *to; } Done;
static ARENA TABLE(Done) done;

static UOp *done_get(const UOp *u)
{
	return u->id < done.cap && done.at[u->id].round == done.round ? done.at[u->id].to : NULL;
}

static void done_put(const UOp *u, UOp *to)
{
	if (u->id >= done.cap)
		table_fit(&done);
	done.at[u->id] = (Done){done.round, to};
}

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
	return r->shape == like->shape ? r :
					 NODE(OP_EXPAND, v->dtype, shape_to_val(like->shape), r);
}

/* The replacement of u by the first rule that applies; NULL: none does. */
static UOp *step(Rewriter *w, const Builder *b, UOp *u)
{
	Bound env[MAX_VARS];
	rules_reach(w->rules, u);
	for (size_t k = 0; k < w->rules->by_op[u->op].n; k++) {
		const Rule *r = &w->rules->at[w->rules->by_op[u->op].at[k]];
		if (!rule_match(r, u, env))
			continue;
		const char *where = process.where;
		process.where = r->where;
		UOp *v = reshaped(rule_build(b, r->to[0], u, env), u);
		process.where = where;
		if (v == u)     /* it has the rule's result already */
			continue;
		w->applied++;
		w->where = r->where;
		return v;
	}
	return NULL;
}

static UOp *settle(UOp *u, void *ctx);

/* The normal form of u, whose sources are in normal form. */
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
		done_put(r, r);
	}
	done_put(u, r);
	return r;
}

/* The replacement of u as a source, NULL where it is still to be found. A node that is being
 * rewritten, a rule's `self`, stays. */
static UOp *as_source(const Rewriter *w, UOp *u)
{
	UOp *r = done_get(u);
	for (const Open *o = w->open; !r && o; o = o->outer)
		r = o->u == u ? u : NULL;
	return r;
}

/* A source of u that still has to be rewritten; NULL: none, and w->src has all of them in normal
 * form. */
static UOp *find_new(Rewriter *w, const UOp *u)
{
	w->src.n = 0;
	for (uint32_t i = 0; i < u->nsrc; i++) {
		UOp *s = as_source(w, u->src[i]);
		if (!s)
			return u->src[i];
		vec_push(&w->src, s);
	}
	return NULL;
}

/* Brings u to normal form, including new nodes that a function of C has made below it. */
static UOp *settle(UOp *u, void *ctx)
{
	Rewriter *w = ctx;
	size_t base = w->stack.n;
	UOp *r = done_get(u), *source;
	if (r || w->endless)
		return r ? r : u;
	vec_push(&w->stack, u);
	while (w->stack.n > base) {
		UOp *top = w->stack.at[w->stack.n - 1];
		if ((source = find_new(w, top))) {
			vec_push(&w->stack, source);
			continue;
		}
		UOp *same = node_with(top, w->src.at);
		r = done_get(same);
		r = r ? r : normal(w, same);
		done_put(top, r);
		w->stack.n--;
	}
	return r;
}

static UOp *visit(UOp *u, void *ctx)
{
	Rewriter *w = ctx;
	if (u->op == OP_SINK || w->endless)
		return u;
	UOp *r = done_get(u);
	return r ? r : normal(w, u);
}

static UOp *sweep(Rewriter *w, UOp *root)
{
	table_round(&done);
	UOp *r = walk_replace(root, visit, w);
	vec_free(&w->stack);
	vec_free(&w->src);
	return r;
}

UOp *rewrite(UOp *root, Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules};
	UOp *r = sweep(&w, root);
	if (w.endless)
		die(FAILED, "%s: rules do not come to an end at %s", w.where,
			op_name(w.endless->op));
	if (count)
		*count = w.applied;
	return r;
}

UOp *rewrite_try(UOp *root, Rules *rules, const UOp **endless)
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

UOp *rewrite_once(UOp *root, Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules};
	UOp *r = walk_replace(root, visit_once, &w);
	if (count)
		*count = w.applied;
	return r;
}
