/* A pattern against a node. The depth is that of the pattern, which the parser bounds. */
#include "rules/rule.h"
#include <math.h>

/* A literal matches a constant of its value and sign; true and false match bools only. */
static bool literal_matches(const Val *lit, const UOp *u)
{
	double d;
	int64_t i;
	if (!is_const(u))
		return false;
	if (lit->kind == VAL_BOOL)
		return u->dtype == DT_BOOL && const_is_int(u, &i) && i == lit->b;
	if (const_is_float(u, &d)) {
		double want = lit->kind == VAL_INT ? (double)lit->i : lit->f;
		return d == want && signbit(d) == signbit(want);
	}
	return lit->kind == VAL_INT && const_is_int(u, &i) && i == lit->i;
}

static bool ex_match(const Ex *e, UOp *u, Bound *env);

static bool sources_match(const Ex *e, UOp *u, Bound *env)
{
	if (e->nsrc != (int)u->nsrc)
		return false;
	for (int i = 0; i < e->nsrc; i++)
		if (!ex_match(e->src[i], u->src[i], env))
			return false;
	return true;
}

/* Either order of the sources where the op commutes. */
static bool op_match(const Ex *e, UOp *u, Bound *env)
{
	Bound saved[MAX_VARS];
	if (e->op != u->op || (e->dtype != DT_NONE && e->dtype != u->dtype))
		return false;
	if (e->arg && !arg_match(e->arg, u->arg, env))
		return false;
	if (e->nsrc != 2 || !op_info[u->op].commutes)
		return sources_match(e, u, env);
	memcpy(saved, env, sizeof saved);
	if (sources_match(e, u, env))
		return true;
	memcpy(env, saved, sizeof saved);
	return u->nsrc == 2 && ex_match(e->src[0], u->src[1], env) &&
		ex_match(e->src[1], u->src[0], env);
}

static bool form_matches(const Ex *e, UOp *u, Bound *env)
{
	switch (e->kind) {
	case EX_ANY: case EX_VAR: return true;
	case EX_LITERAL: return literal_matches(&e->literal, u);
	case EX_OP: return op_match(e, u, env);
	default: return false;
	}
}

static bool ex_match(const Ex *e, UOp *u, Bound *env)
{
	if (!form_matches(e, u, env))
		return false;
	if (e->var == NONE)
		return true;
	if (!env[e->var].node)
		env[e->var].node = u;
	return env[e->var].node == u;
}

static bool cond_holds(const Cond *c, UOp *self, const Bound *env)
{
	UOp *arg[MAX_COND_ARGS];
	for (int i = 0; i < c->row->nargs; i++)
		arg[i] = c->arg[i] == SELF ? self : env[c->arg[i]].node;
	return c->row->fn(arg) != c->negate;
}

bool rule_match(const Rule *r, UOp *u, Bound *env)
{
	if (r->when && !r->when->fn(&u))
		return false;
	memset(env, 0, r->nvars * sizeof *env);
	if (!ex_match(r->from, u, env))
		return false;
	for (int i = 0; i < r->nconds; i++)
		if (!cond_holds(&r->cond[i], u, env))
			return false;
	return true;
}
