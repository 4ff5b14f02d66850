/* Builds the nodes that a rule's right side stands for.
 *
 *     x * y + 1, self of f32        ADD f32 (MUL f32 x y) (CONST f32 1.0)
 *
 * An op has the dtype of its sources, and a literal that of its sibling operands; alone it has
 * self's. OP:dtype gives the dtype explicitly; for CAST it is the dtype to which it casts. */
#include "rules/rule.h"
#include <stdlib.h>

typedef struct { const Builder *b; UOp *self; const Bound *env; DType alone; } RuleScope;

static UOp *build(const RuleScope *s, const Ex *e);

static UOp *literal(const Val *v, DType dt)
{
	if (v->kind == VAL_BOOL)
		return LEAF(OP_CONST, DT_BOOL, val_bool(v->b));
	if (v->kind == VAL_INT)
		return const_int(dt, v->i);
	return const_num(dt, v->f);
}

static UOp *settled(const RuleScope *s, UOp *u)
{
	return s->b ? s->b->settle(u, s->b->ctx) : u;
}

/* ---- operands: the list between ( and ), each a node or a literal that has no dtype yet */

static int operands(const RuleScope *s, int n, Ex *const *src, Bound *in);

/* The values of a definition, with its parameters bound to the operands. */
static int defined(const RuleScope *s, const Ex *e, Bound *in)
{
	Bound env[MAX_VARS];
	RuleScope inner = {s->b, s->self, env, s->alone};
	memset(env, 0, sizeof env);
	operands(s, e->nsrc, e->src, env);
	return operands(&inner, e->defined->nvalues, e->defined->value, in);
}

/* Returns the number of operands. */
static int operands(const RuleScope *s, int n, Ex *const *src, Bound *in)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		const Ex *e = src[i];
		if (e->kind == EX_DEFINED)
			count += defined(s, e, &in[count]);
		else if (e->kind == EX_LITERAL)
			in[count++] = (Bound){.value = &e->literal};
		else if (e->kind == EX_VAR)
			in[count++] = s->env[e->var];
		else
			in[count++] = (Bound){build(s, e)};
	}
	return count;
}

/* ---- ops */

static DType said_dtype(const RuleScope *s, const Ex *e)
{
	if (e->dtype_of < 0)
		return e->dtype;
	const UOp *like = s->env[e->dtype_of].node;
	return like ? like->dtype : s->alone;
}

/* of: the dtype of its sources */
static DType result_dtype(const RuleScope *s, const Ex *e, DType said, DType of)
{
	if (said != DT_NONE)
		return said;
	if (op_info[e->op].cls == CLASS_COMPARE)
		return DT_BOOL;
	if (op_info[e->op].cls == CLASS_CASTING)
		return s->self->dtype;
	return e->op == s->self->op && !op_elementwise(e->op) ? s->self->dtype : of;
}

static UOp *make_op(const RuleScope *s, const Ex *e)
{
	Bound in[MAX_VARS];
	UOp *src[MAX_VARS];
	DType said = said_dtype(s, e);
	RuleScope inner = *s;
	if (said != DT_NONE && op_info[e->op].cls != CLASS_CASTING)
		inner.alone = said;
	DType of = inner.alone;
	int n = operands(&inner, e->nsrc, e->src, in);
	bool choice = e->op == OP_WHERE;
	for (int i = choice; i < n; i++)
		of = in[i].node ? in[i].node->dtype : of;
	for (int i = 0; i < n; i++) {
		DType dt = choice && !i ? DT_BOOL : of;
		src[i] = in[i].node ? in[i].node : literal(in[i].value, dt);
	}
	const Val *arg = e->op == s->self->op ? s->self->arg : VNIL;
	if (e->arg)
		arg = arg_build(e->arg, s->env);
	return node_new(e->op, result_dtype(s, e, said, of), n, src, arg);
}

static UOp *called(const RuleScope *s, const Ex *e)
{
	UOp *u = build(s, e->src[0]), *r = e->fn(u);
	if (!r)
		die(MALFORMED, "the rule calls a function that is not for %s", op_name(u->op));
	return r == s->self ? r : settled(s, r);
}

/* An expression of one value; a literal alone has self's dtype. */
static UOp *build(const RuleScope *s, const Ex *e)
{
	Bound in[MAX_PARTS];
	switch (e->kind) {
	case EX_SELF: return s->self;
	case EX_OP: return settled(s, make_op(s, e));
	case EX_FUNCTION: return called(s, e);
	default:
		operands(s, 1, (Ex *[]){(Ex *)e}, in);
		return in->node ? in->node : literal(in->value, s->alone);
	}
}

UOp *rule_build(const Builder *b, const Ex *e, UOp *self, const Bound *env)
{
	RuleScope s = {b, self, env, self->dtype};
	return e->kind == EX_OP ? make_op(&s, e) : build(&s, e);
}
