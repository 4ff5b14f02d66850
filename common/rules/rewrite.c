/* The fixed-point driver: every node, sources first, is rewritten by the first rule that matches until none does.
 * What a replacement builds anew is rewritten as it is built, so one sweep is enough; linear in nodes. */
#include "rules/rule.h"
#include <stdlib.h>

enum { STEPS = 1000, NEST = 64 };

typedef struct { const Rules *rules; Map done; size_t applied; int nest; bool once; } Rewriter;

static UOp *normal(Rewriter *w, UOp *u);

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

static UOp *literal(const Val *v, DType dt)
{
	if (v->kind == VAL_BOOL)
		return LEAF(OP_CONST, DT_BOOL, v);
	if (v->kind == VAL_INT)
		return const_int(dt, v->i);
	return const_num(dt, v->f);
}

static UOp *build(Rewriter *w, const Ex *e, UOp *self, UOp **env, DType dt);

static UOp *build_op(Rewriter *w, const Ex *e, UOp *self, UOp **env, DType dt)
{
	UOp *src[8] = {0};
	DType of = dt;
	bool literals_take_dt = op_info[e->op].cls != CLASS_COMPARE;
	for (int i = 0; i < e->nsrc; i++) {
		if (e->src[i]->kind == EX_LITERAL)
			continue;
		src[i] = build(w, e->src[i], self, env, dt);
		if (e->op != OP_WHERE || i)
			of = src[i]->dtype;
	}
	for (int i = 0; i < e->nsrc; i++)
		if (!src[i])
			src[i] = literal(e->src[i]->literal, e->op == OP_WHERE && !i ? DT_BOOL :
				literals_take_dt && e->nsrc == 1 ? dt : of);
	DType out = op_info[e->op].cls == CLASS_COMPARE ? DT_BOOL : op_info[e->op].cls == CLASS_CASTING ? dt : of;
	const Val *arg = e->op == self->op ? self->arg : VNIL;
	return normal(w, node_new(e->op, out, e->nsrc, src, arg));
}

static UOp *called(Rewriter *w, const Ex *e, UOp *self, UOp **env, DType dt)
{
	UOp *arg[8] = {0};
	for (int i = 0; i < e->nsrc; i++)
		arg[i] = build(w, e->src[i], self, env, dt);
	return e->call(arg);
}

static UOp *build(Rewriter *w, const Ex *e, UOp *self, UOp **env, DType dt)
{
	switch (e->kind) {
	case EX_VAR: return env[e->var];
	case EX_SELF: return self;
	case EX_LITERAL: return literal(e->literal, dt);
	case EX_FUNCTION: {
		UOp *r = e->call ? called(w, e, self, env, dt) : e->fn(self);
		return r && r != self ? normal(w, r) : r;
	}
	default: return build_op(w, e, self, env, dt);
	}
}

UOp *rule_build(const Ex *e, UOp *self, UOp **env)
{
	Rewriter w = {.once = true};
	return build(&w, e, self, env, self->dtype);
}

static UOp *step(Rewriter *w, UOp *u)
{
	UOp *env[MAX_VARS];
	for (size_t k = 0; k < w->rules->by_op[u->op].n; k++) {
		const Rule *r = &w->rules->at[w->rules->by_op[u->op].at[k]];
		if (!rule_match(r, u, env))
			continue;
		UOp *v = build(w, r->to, u, env, u->dtype);
		if (!v || v == u)
			continue;
		w->applied++;
		return reshaped(v, u);
	}
	return NULL;
}

static UOp *normal(Rewriter *w, UOp *u)
{
	UOp *r = map_get(&w->done, PKEY(u));
	if (r || w->once)
		return r ? r : u;
	r = u;
	if (++w->nest > NEST)
		die(FAILED, "%s: rules feed each other at %s", w->rules->file, op_name(u->op));
	int steps = 0;
	for (UOp *next; (next = step(w, r)); r = next)
		if (++steps > STEPS)
			die(FAILED, "%s: rules do not come to an end at %s", w->rules->file, op_name(u->op));
	w->nest--;
	if (r != u)
		node_note(r, u->note);
	map_put(&w->done, PKEY(u), r);
	map_put(&w->done, PKEY(r), r);
	return r;
}

static UOp *visit(UOp *u, void *ctx) { return u->op == OP_SINK ? u : normal(ctx, u); }

UOp *rewrite(UOp *root, const Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules};
	UOp *r = walk_replace(root, visit, &w);
	if (count)
		*count = w.applied;
	map_free(&w.done);
	return r;
}

static UOp *visit_once(UOp *u, void *ctx)
{
	UOp *r = u->op == OP_SINK ? NULL : step(ctx, u);
	if (r)
		node_note(r, u->note);
	return r ? r : u;
}

UOp *rewrite_once(UOp *root, const Rules *rules, size_t *count)
{
	Rewriter w = {.rules = rules, .once = true};
	UOp *r = walk_replace(root, visit_once, &w);
	if (count)
		*count = w.applied;
	return r;
}
