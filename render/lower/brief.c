/* Marks the kernels that take little of a document's time, which a compiler need not optimise:
 *
 *     conv 1900 µs, conv 1700 µs, pool 9 µs, softmax 3 µs   →   brief: pool and softmax
 *
 * Those are the kernels that fill prepared buffers, once, before the first call, in a few
 * milliseconds, and of the others the shortest, as many as together take a 32nd of a call. Kernels
 * are compared by the instructions they execute: of each statement the ops between the values that
 * it names, as often as the loops around it and the grid say, a vector at a time. Sizes that are
 * not known count as in cost.c. Nothing else decides, so the same document is compiled in the same
 * way everywhere. */
#include "document/document.h"
#include "shape/shape.h"
#include "target/target.h"
#include "lower/lower.h"
#include <stdlib.h>

enum { BRIEF_SHARE = 32, ONCE_MOST = 1 << 22 };

typedef struct { const UOp *kernel; double time; bool once; } Cost;
typedef struct { VEC(Cost) at; Map place; } Costs;

/* ---- instructions of a kernel */

static double size_assumed(UOp *size)
{
	int64_t least, most;
	ix_bounds(size, &least, &most);
	return (double)usual_size(least, most);
}

static double items_of(const UOp *kernel)
{
	const Val *grid = val_get(kernel->arg, "global_size");
	const char *err;
	UOp *n = grid && grid->kind == VAL_ARRAY && grid->n ? size_from_val(grid->a[0], &err) :
							       NULL;
	return n ? size_assumed(n) : 1;
}

int statement_ops(const UOp *statement)
{
	static ARENA VEC(const UOp *) todo;
	static ARENA TABLE(uint32_t) seen;
	int n = 0;
	table_round(&seen);
	vec_push(&todo, statement);
	while (todo.n) {
		const UOp *u = todo.at[--todo.n];
		n += u->op == OP_LOAD || u->op == OP_STORE ||
			(u->dtype != DT_I64 && op_elementwise(u->op));
		for (uint32_t i = 0; i < u->nsrc; i++)
			if (u->src[i]->op != OP_LET && seen.at[u->src[i]->id] != seen.round) {
				seen.at[u->src[i]->id] = seen.round;
				vec_push(&todo, u->src[i]);
			}
	}
	return n;
}

static double instructions(const UOp *kernel)
{
	enum { DEEPEST = 64 };
	double around[DEEPEST + 1] = {items_of(kernel)}, sum = 0;
	int depth = 0;
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op == OP_RANGE && depth < DEEPEST) {
			bool lanes = val_is_str(u->arg->a[1], "vector");
			around[depth + 1] = around[depth] * (lanes ? 1 : size_assumed(u->src[0]));
			depth++;
		} else if (u->op == OP_ENDRANGE && depth > 0) {
			depth--;
		} else if (u->op == OP_STORE || u->op == OP_LET) {
			sum += statement_ops(u) * around[depth];
		}
	}
	return sum;
}

/* ---- the document */

static void costs_find(Costs *c, const Graph *g)
{
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		if (!call_has_kernel(call))
			continue;
		const UOp *k = call->src[0];
		uintptr_t at = (uintptr_t)map_get(&c->place, PKEY(k));
		if (!at) {
			vec_push(&c->at, ((Cost){k, 0, true}));
			map_put(&c->place, PKEY(k), (void *)(at = c->at.n));
		}
		c->at.at[at - 1].time += instructions(k);
		c->at.at[at - 1].once &= call_prepares(call);
	}
}

static int by_time(const void *a, const void *b)
{
	const Cost *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->kernel->id < y->kernel->id ? -1 : x->kernel->id > y->kernel->id;
}

static ARENA Map marked;        /* the kernels that are brief */

static UOp *kernel_mark(const KernelUse *use)
{
	UOp *k = use->kernel;
	if (!map_get(&marked, PKEY(k)))
		return k;
	return node_like(k, k->nsrc, k->src, val_set(k->arg, "brief", val_bool(true)));
}

Graph *lower_brief(Graph *g)
{
	Costs c = {0};
	double all = 0, sum = 0;
	if (target->gpu)
		return g;
	costs_find(&c, g);
	if (c.at.n)
		qsort(c.at.at, c.at.n, sizeof *c.at.at, by_time);
	for (size_t i = 0; i < c.at.n; i++)
		all += c.at.at[i].once ? 0 : c.at.at[i].time;
	for (size_t i = 0; i < c.at.n; i++) {
		const Cost *k = &c.at.at[i];
		sum += k->once ? 0 : k->time;
		if (k->once ? k->time < ONCE_MOST : sum * BRIEF_SHARE <= all)
			map_put(&marked, PKEY(k->kernel), (void *)k->kernel);
	}
	g = kernels_map(g, kernel_mark);
	map_free(&c.place);
	vec_free(&c.at);
	return g;
}
