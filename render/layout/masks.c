/* Conditions of sums as words, where vectors use one again and are too short for masks of lanes:
 *
 *     y[i,j] = Σk where(c[i,k], x[k,j], 0)    →    w[i,k] = where(c[i,k], -1, 0)
 *                                                  y[i,j] = Σk float(bits(x[k,j]) & w[i,k])
 *
 * A word is read for all lanes at once, and one operation leaves the elements that it names; of a
 * bool a processor makes a mask first, for each row and iteration anew. A kernel of its own makes
 * the words. */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { SUM_LEAST = 8 };

/* A sum's condition that becomes words: Σ where(cond, x, 0), or with the two exchanged. */
typedef struct {
	Roles r;
	UOp *body, *cond, *x;
	bool exchanged;
	UOp *order[MAX_RANGES];         /* the ranges that move it */
	int n;
} MaskedSum;

/* Do enough vectors use the condition again, and are all sizes known? */
static bool is_worth(MaskedSum *m, const UOp *vector)
{
	const Facts *f = &m->r.facts;
	uint64_t moves = free_of(m->cond), v = bit_of(vector), sum = bound_of(m->r.c.fold);
	if (moves & v || !(free_of(m->x) & v) ||
		count_of(f, f->out & ~moves) < 8 * target->machine.copy ||
		count_of(f, sum & moves) < SUM_LEAST)
		return false;
	m->n = ranges_of(f, moves & f->out, m->order);
	m->n += ranges_of(f, moves & sum, m->order + m->n);
	for (int i = 0; i < m->n; i++)
		if (range_size(m->order[i]) < 1)
			return false;
	return m->n <= MAX_RANK;
}

static bool find_masked(MaskedSum *m, UOp *call)
{
	*m = (MaskedSum){0};
	if (!call_has_kernel(call) || call_prepares(call) ||
		val_get(call->src[0]->arg, "actions") || !roles_find(&m->r, call) ||
		m->r.facts.serial || m->r.facts.in_place || m->r.facts.gated)
		return false;
	UOp *fold = m->r.c.fold, *vector = stored_along(&m->r.facts);
	m->body = fold->src[0];
	if (!vector || m->body->op != OP_WHERE || !val_is_str(fold->arg, "ADD") ||
		(fold->dtype != DT_F32 && fold->dtype != DT_F64))
		return false;
	m->exchanged = const_is_zero(m->body->src[1]);
	m->cond = m->body->src[0];
	m->x = m->body->src[1 + m->exchanged];
	return const_is_zero(m->body->src[2 - m->exchanged]) && is_worth(m, vector);
}

/* The call with words for the condition; *made: the one before it, which makes them. */
static UOp *with_words(const MaskedSum *m, UOp *call, int number, UOp **made)
{
	DType word = m->x->dtype == DT_F64 ? DT_I64 : DT_I32;
	UOp *all = const_int(word, -1), *none = const_int(word, 0);
	UOp *value = NODE(OP_WHERE, word, VNIL, m->cond, m->exchanged ? none : all,
		m->exchanged ? all : none);
	UOp *buffer = buffer_over(arena_printf("masks%d", number), "temp", word, m->n, m->order);
	*made = stored_by(call, arena_printf("masks_%.200s", call_name(call)), buffer, value,
		m->order);
	UOp **src = arena_alloc((call->nsrc + 1) * sizeof *src);
	memcpy(src, call->src, call->nsrc * sizeof *src);
	src[call->nsrc] = buffer;
	UOp *with = node_new(OP_CALL, DT_NONE, call->nsrc + 1, src, call->arg);
	UOp *bits = NODE(OP_AND, word, VNIL, NODE(OP_BITCAST, word, VNIL, m->x),
		load_over(call, buffer, m->order));
	UOp *to = NODE(OP_BITCAST, m->x->dtype, VNIL, bits), *from = m->body;
	return call_compact(call_with_kernel(with, substitute(call->src[0], 1, &from, &to)));
}

Graph *layout_masks(Graph *g)
{
	VEC(UOp *) out = {0};
	int number = 0;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i], *made;
		MaskedSum m;
		if (find_masked(&m, call)) {
			explain(call->src[0], "a condition of its sum as words of bits");
			call = with_words(&m, call, number++, &made);
			vec_push(&out, made);
		}
		vec_push(&out, call);
	}
	Graph *r = number ? graph_with_calls(g, out.n, out.at) : g;
	vec_free(&out);
	return r;
}
