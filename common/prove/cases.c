/* A place proved case by case: what moves over a few values is each of them in turn, until bounds
 * are enough, or what is known excludes the case. It shows what bounds lose where a value is in
 * several parts of an index, or in the index and in its gate.
 *
 *     r0 in 0..1      r0*3//2 + (1 - r0)*2 < 3      by bounds 0..3; 2 at r0=0, 1 at r0=1 */
#include "prove/places.h"
#include <stdlib.h>

enum { CASES = 256, NODES = 1 << 10 };

typedef struct {
	Known *k;
	UOp *index, *size;
	VEC(UOp *) cond;        /* what was narrowed by what is known */
	Nodes all;              /* what all those are computed from */
	int left;               /* how many cases may still be looked at */
} Cases;

static ARENA TABLE(uint8_t) plain;      /* 1: no, 2: yes */

/* Whether u is one number wherever something is computed from it. */
static bool is_one(const UOp *u)
{
	return u->op == OP_RANGE || u->op == OP_SPECIAL || u->op == OP_VAR;
}

/* Whether what u is follows from those alone: a fold goes over all values of its ranges, and what
 * is loaded can have been stored in another turn of a loop. */
static bool is_plain(UOp *u)
{
	if (u->id < plain.cap && plain.at[u->id])
		return plain.at[u->id] == 2;
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++) {
		UOp *v = all.at[i];
		bool is = is_one(v) || op_elementwise(v->op) || v->op == OP_CONST ||
			v->op == OP_LET;
		if (v->id >= plain.cap)
			table_fit(&plain);
		for (uint32_t j = 0; j < v->nsrc; j++)
			is &= plain.at[v->src[j]->id] == 2;
		plain.at[v->id] = 1 + is;
	}
	return plain.at[u->id] == 2;
}

static bool is_within(Cases *c)
{
	Span e = span_of(c->k, c->index), n = span_of(c->k, c->size);

	if (span_empty(e) || (e.lo >= 0 && e.hi < n.lo))
		return true;
	for (size_t i = 0; i < c->cond.n; i++)
		if (span_empty(span_of(c->k, c->cond.at[i])))
			return true;
	return false;
}

/* The first value from all.at[i] on that has several values, but few. */
static size_t next_few(Cases *c, size_t i)
{
	for (; i < c->all.n; i++) {
		Span s = is_one(c->all.at[i]) ? span_of(c->k, c->all.at[i]) : (Span){0, 0};
		if (s.hi > s.lo && s.hi - s.lo < CASES)
			break;
	}
	return i;
}

static bool each_holds(Cases *c, size_t from)
{
	if (--c->left < 0)
		return false;
	if (is_within(c))
		return true;
	size_t i = next_few(c, from);
	if (i == c->all.n)
		return false;
	UOp *u = c->all.at[i];
	Span s = span_of(c->k, u);
	bool is = true;
	for (Wide v = s.lo; is && v <= s.hi; v++) {
		frame_open(c->k);
		span_narrow(c->k, u, (Span){v, v});
		known_changed(c->k);
		is = each_holds(c, i + 1);
		frame_close(c->k);
	}
	return is;
}

bool cases_hold(Known *k, UOp *index, UOp *size)
{
	Cases c = {.k = k, .index = index, .size = size, .left = CASES};
	bool is = is_plain(index) && is_plain(size);

	vec_push(&c.cond, index);
	vec_push(&c.cond, size);
	for (size_t i = 0; is && i < k->undo.n; i++)
		if (is_plain(k->undo.at[i].u))
			vec_push(&c.cond, k->undo.at[i].u);
	if (is) {
		c.all = walk_many(c.cond.n, c.cond.at);
		is = c.all.n <= NODES && each_holds(&c, 0);
	}
	vec_free(&c.cond);
	return is;
}
