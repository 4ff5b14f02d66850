/* Rules to a fixed point (common/rules/simplify.rules); what no output needs is gone, as equal nodes are
 * one. */
#include "rules/rules.h"
#include "schedule.h"

Graph *simplify(Graph *g)
{
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = rewrite(g->sink, rules_builtin("simplify"), NULL);
	return r;
}
