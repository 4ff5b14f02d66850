/* Folds tuples one after another: the rule of a TUPLE (common/README.md), evaluated for what was
 * folded so far and for the next one. */
#include <stdlib.h>
#include "index/index.h"
#include "interp/elements.h"
#include "interp/interp.h"
#include "interp/scope.h"

/* A node of the rule: its value, and those of its sources. */
typedef struct { const UOp *u; uint64_t value; const void *src[3]; } RuleNode;

struct TupleFold {
	uint32_t n;
	UOp *tuple;
	uint64_t so_far[MAX_TUPLE];
	size_t nodes;
	RuleNode *node;         /* sources before users */
	const RuleNode *rule[MAX_TUPLE];
};

TupleFold *tuple_fold_new(UOp *tuple)
{
	TupleFold *t = xcalloc(1, sizeof *t);
	Nodes all = walk_many(tuple_size(tuple), tuple->src + 2 * tuple_size(tuple));
	Map place = {0};
	*t = (TupleFold){.n = tuple_size(tuple), .tuple = tuple, .nodes = all.n};
	t->node = xcalloc(all.n, sizeof *t->node);
	for (size_t i = 0; i < all.n; i++) {
		RuleNode *r = &t->node[i];
		r->u = all.at[i];
		if (r->u->op == OP_CONST)
			element_const(r->u, &r->value);
		for (uint32_t k = 0; k < r->u->nsrc; k++)
			r->src[k] = &((RuleNode *)map_get(&place, PKEY(r->u->src[k])))->value;
		map_put(&place, PKEY(r->u), r);
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->rule[i] = map_get(&place, PKEY(tuple_rule(tuple, i)));
	map_free(&place);
	return t;
}

void tuple_fold_free(TupleFold *t)
{
	if (t)
		free(t->node);
	free(t);
}

void tuple_fold_start(TupleFold *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		t->so_far[i] = 0;
		element_const(tuple_identity(t->tuple, i), &t->so_far[i]);
	}
}

/* Evaluates the rule; x: the components of the next tuple. */
static void combine(TupleFold *t, const uint64_t *x)
{
	static const int still[3];
	for (size_t i = 0; i < t->nodes; i++) {
		RuleNode *r = &t->node[i];
		const UOp *u = r->u;
		if (u->op == OP_SIDE)
			r->value = (tuple_side(u) ? x : t->so_far)[tuple_component(u)];
		else if (u->op != OP_CONST)
			interp_op(u->op, u->dtype, u->src[u->nsrc > 1]->dtype, 1, &r->value,
				r->src, still);
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->so_far[i] = t->rule[i]->value;
}

void tuple_fold_add(TupleFold *t, size_t n, const char *const *x, const int *step)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t next[MAX_TUPLE] = {0};
		for (uint32_t k = 0; k < t->n; k++) {
			int size = element_size(t->tuple->src[k]->dtype);
			element_copy((char *)&next[k], x[k] + i * step[k] * size, size);
		}
		combine(t, next);
	}
}

const void *tuple_fold_value(const TupleFold *t, int64_t component)
{
	return &t->so_far[component];
}
