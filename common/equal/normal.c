/* A document as it is interpreted for a comparison: expansions of ops taken back, then laws.rules. */
#include "rules/rule.h"
#include "equal/parts.h"

static UOp *take_back(UOp *u, void *ctx) { return equal_named(u); }

Graph *equal_normal(const Graph *g)
{
	Graph *n = arena_alloc(sizeof *n);

	*n = *g;
	n->sink = rewrite(walk_replace(g->sink, take_back, NULL), rules_open("laws", NULL), NULL);
	n->all = (Nodes){0};
	return n;
}
