/* A pattern against a node. Depth is that of the pattern, which the parser bounds. */
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

static bool ex_match(const Ex *e, UOp *u, UOp **env);

static bool sources_match(const Ex *e, UOp *u, UOp **env)
{
	if (e->nsrc != (int)u->nsrc)
		return false;
	for (int i = 0; i < e->nsrc; i++)
		if (!ex_match(e->src[i], u->src[i], env))
			return false;
	return true;
}

static bool ex_match(const Ex *e, UOp *u, UOp **env)
{
	switch (e->kind) {
	case EX_ANY:
		return true;
	case EX_VAR:
		if (!env[e->var])
			env[e->var] = u;
		return env[e->var] == u;
	case EX_LITERAL:
		return literal_matches(e->literal, u);
	case EX_OP: {
		UOp *saved[MAX_VARS];
		if (e->op != u->op)
			return false;
		memcpy(saved, env, sizeof saved);
		if (sources_match(e, u, env))
			return true;
		memcpy(env, saved, sizeof saved);
		if (!op_info[u->op].commutes || e->nsrc != 2)
			return false;
		if (ex_match(e->src[0], u->src[1], env) && ex_match(e->src[1], u->src[0], env))
			return true;
		memcpy(env, saved, sizeof saved);
		return false;
	}
	default:
		return false;
	}
}

bool rule_match(const Rule *r, UOp *u, UOp **env)
{
	memset(env, 0, MAX_VARS * sizeof *env);
	if (!ex_match(r->from, u, env))
		return false;
	for (int i = 0; i < r->nconds; i++)
		if (r->cond[i].fn(env[r->cond[i].var]) == r->cond[i].negate)
			return false;
	return true;
}
