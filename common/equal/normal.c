/* A document as it is interpreted for a comparison: expansions of ops are taken back, kernels with
 * lanes become the loops that they mean, then laws.rules is applied. */
#include "document/document.h"
#include "rules/rule.h"
#include "equal/parts.h"

/* Whether u has one value wherever it stands in a kernel: it reads no register. */
static bool stands_anywhere(const UOp *u, int depth)
{
	enum { DEEP = 12 };

	if (u->op == OP_LET || u->op == OP_CONST || u->op == OP_VAR || u->op == OP_RANGE)
		return true;
	if (u->op == OP_LOAD)
		return u->nsrc == 1 && u->src[0]->src[0]->op == OP_PARAM;
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (!stands_anywhere(u->src[k], depth + 1))
			return false;
	return op_elementwise(u->op) && depth < DEEP;
}

/* AND(LET(BITCAST(x)), c) → AND(BITCAST(x), c), so that the laws see what is masked. */
static UOp *unmask(UOp *u)
{
	UOp *bits = u->op == OP_AND && u->src[0]->op == OP_LET ? u->src[0]->src[0] : NULL;

	if (!bits || bits->op != OP_BITCAST || !stands_anywhere(bits, 0))
		return u;
	return NODE(OP_AND, u->dtype, VNIL, bits, u->src[1]);
}

/* Sources before users: what is in lanes is named before they become loops, where the laws hold. */
static UOp *take_back(UOp *u, void *ctx)
{
	return u->op == OP_KERNEL ? lanes_as_loops(u) : equal_named(u);
}

/* The BITCAST that u is, or names. */
static UOp *known_bits(UOp *u)
{
	if (u->op == OP_LET)
		return u->src[0]->op == OP_BITCAST && stands_anywhere(u->src[0], 0) ? u->src[0] :
										     NULL;
	return u->op == OP_BITCAST ? u : NULL;
}

/* A float of which an integer's bits leave all or nothing, for a field has no bits:
 *
 *     BITCAST(AND(BITCAST(x), c))   →   WHERE(c == -1, x, WHERE(c == 0, 0, itself)) */
static UOp *unmask_whole(UOp *u)
{
	UOp *and = u->op == OP_BITCAST && dtype_float(u->dtype) ? u->src[0] : NULL, *bits = NULL;
	int k = 0;

	while (and && and->op == OP_LET)
		and = and->src[0];
	for (; and && and->op == OP_AND && k < 2 && !bits; k++)
		bits = known_bits(and->src[k]);
	UOp *c = bits ? and->src[2 - k] : NULL, *x = bits ? bits->src[0] : NULL;
	uint64_t all = ~0ull, none = 0;
	if (!c || x->dtype != u->dtype || c->op == OP_CONST)
		return u;
	UOp *rest = NODE(OP_WHERE, u->dtype, VNIL,
		NODE(OP_CMPEQ, DT_BOOL, VNIL, c, const_bits(c->dtype, &none)),
		const_num(u->dtype, 0), u);
	return NODE(OP_WHERE, u->dtype, VNIL,
		NODE(OP_CMPEQ, DT_BOOL, VNIL, c, const_bits(c->dtype, &all)), x, rest);
}

static UOp *bare(UOp *u, void *ctx) { return unmask_whole(unmask(u)); }

Graph *equal_normal(const Graph *g)
{
	Graph *n = arena_alloc(sizeof *n);

	*n = *g;
	n->sink = walk_replace(walk_replace(g->sink, take_back, NULL), bare, NULL);
	n->sink = rewrite(n->sink, rules_open("laws", NULL), NULL);
	n->all = (Nodes){0};
	return n;
}
