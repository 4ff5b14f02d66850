/* Values with lanes that several operations use have names. Where the rows of a tile were written
 * out, each of them loads the tile's vectors, and each vector spreads the rows' elements:
 *
 *     STORE acc0 LOAD b[RAMP j 1] * BROADCAST a0; STORE acc1 LOAD b[RAMP j 1] * BROADCAST a1
 *     →  LET v = LOAD b[RAMP j 1]; STORE acc0 v * BROADCAST a0; STORE acc1 v * BROADCAST a1
 *
 * A compiler finds them as well: its code is the same, for less text (gcc 12, the contractions of
 * ResNet-50: 0.92 of the time). */
#include "lower/lower.h"
#include "target/target.h"
#include <stdlib.h>

typedef struct {
	int64_t lets;           /* the number of the last LET */
	Stored stored;          /* what the group at hand stores to */
	VEC(UOp *) out;
} Shared;

/* How often a node of the group at hand is a source; what it becomes, and what LETs become. */
static ARENA TABLE(struct { int n; uint32_t round; }) uses;
static ARENA Stands made, lets;

/* ---- a group: statements between the ends of loops and conditions */

static bool is_plain(const UOp *u)
{
	return u->op == OP_LET || u->op == OP_STORE || u->op == OP_PREFETCH;
}

static void count(UOp *root)
{
	static ARENA VEC(UOp *) todo;
	vec_push(&todo, root);
	while (todo.n) {
		UOp *u = todo.at[--todo.n];
		for (uint32_t i = 0; i < u->nsrc; i++) {
			UOp *s = u->src[i];
			if (uses.at[s->id].round != uses.round) {
				uses.at[s->id].round = uses.round;
				uses.at[s->id].n = 0;
				if (s->op != OP_LET && s->op != OP_RANGE)
					vec_push(&todo, s);
			}
			uses.at[s->id].n++;
		}
	}
}

/* A load from memory that stays as it is, or an element in all lanes, with two uses or more. */
static bool is_shared(const Shared *w, const UOp *u)
{
	if (dtype_lanes(u->dtype) < 2 || uses.at[u->id].round != uses.round || uses.at[u->id].n < 2)
		return false;
	if (u->op == OP_BROADCAST)
		return u->src[0]->op != OP_CONST;
	return u->op == OP_LOAD && u->src[0]->op == OP_INDEX &&
		u->src[0]->src[0]->op != OP_DEFINE_REG &&
		!stored_holds(&w->stored, u->src[0]->src[0]);
}

/* ---- statements */

static UOp *known(void *ctx, UOp *u)
{
	UOp *is = stands_for(u->op == OP_LET ? &lets : &made, u);
	(void)ctx;
	return is || (u->op != OP_LET && u->op != OP_RANGE && u->nsrc) ? is : u;
}

static void make(void *ctx, UOp *u, UOp *const *src)
{
	Shared *w = ctx;
	UOp *r = node_with(u, src);
	if (is_shared(w, u)) {
		r = NODE(OP_LET, r->dtype, val_int(++w->lets), r);
		vec_push(&w->out, r);
	}
	stands_put(&made, u, r);
}

static void put_statement(Shared *w, UOp *s)
{
	static const Remaking remaking = {known, make};
	UOp **src = arena_alloc((s->nsrc + 1) * sizeof *src), *r;
	bool names = s->op == OP_LET && is_shared(w, s->src[0]);
	if (names)
		uses.at[s->src[0]->id].n = 0;
	for (uint32_t i = 0; i < s->nsrc; i++)
		src[i] = walk_remake(s->src[i], &remaking, w);
	r = node_with(s, src);
	if (s->op == OP_LET)
		stands_put(&lets, s, r);
	if (names)
		stands_put(&made, s->src[0], r);
	vec_push(&w->out, r);
}

static void put_group(Shared *w, UOp *const *at, size_t n)
{
	table_round(&uses);
	table_round(&made);
	stored_clear(&w->stored);
	for (size_t i = 0; i < n; i++) {
		count(at[i]);
		if (at[i]->op == OP_STORE)
			stored_add(&w->stored, at[i]);
	}
	for (size_t i = 0; i < n; i++)
		put_statement(w, at[i]);
}

static UOp *kernel_shared(const KernelUse *use)
{
	UOp *r = use->kernel;
	Nodes all = walk(r);
	Shared w = {.lets = last_let(&all), .stored.alias = use->alias};
	table_round(&lets);
	for (uint32_t i = 0, n; i < r->nsrc; i += n ? n : 1) {
		for (n = 0; i + n < r->nsrc && is_plain(r->src[i + n]); n++)
			;
		if (n)
			put_group(&w, r->src + i, n);
		else
			vec_push(&w.out, r->src[i]);
	}
	r = node_like(r, w.out.n, w.out.at, r->arg);
	stored_clear(&w.stored);
	vec_free(&w.out);
	return r;
}

/* Proofs about places of symbolic sizes are searched for in the order of a document's nodes, and
 * may be missed in another: such documents stay as they are. */
Graph *lower_shared(Graph *g)
{
	Nodes all = target->vectors ? walk(g->sink) : (Nodes){0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			return g;
	return target->vectors ? kernels_map(g, kernel_shared) : g;
}
