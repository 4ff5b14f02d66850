/* Applies the rules to a fixed point (common/rules/simplify.rules). Nodes that no output needs are
 * dropped; equal nodes are one. */
#include "rules/rules.h"
#include "shape/regions.h"
#include "schedule.h"

Graph *simplify(Graph *g)
{
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = rewrite(g->sink, rules_builtin("simplify"), NULL);
	return steps_prune(r);
}
