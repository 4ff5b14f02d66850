/* What stands in a document beside its kernels: sizes as declared, or bound. */
#include "prove/places.h"

static bool declared(const Val *vars, const UOp *var)
{
	for (size_t i = 0; vars && vars->kind == VAL_MAP && i < vars->n; i++)
		if (vars->a[2 * i] == var->arg->a[0])
			return vars->a[2 * i + 1]->a[0] == var->arg->a[1] &&
				vars->a[2 * i + 1]->a[1] == var->arg->a[2];
	return var_is_bound(var);
}

void check_vars(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_VAR && !declared(g->vars, u))
			die(MALFORMED, "VAR %.60s from %lld to %lld is not what vars declares",
				u->arg->a[0]->s, (long long)u->arg->a[1]->i,
				(long long)u->arg->a[2]->i);
	}
}
