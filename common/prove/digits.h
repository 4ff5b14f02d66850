/* Internals of the proofs that items write apart: what follows for two of them when they touch one
 * place. */
#ifndef DIGITS_H
#define DIGITS_H
#include "prove/accesses.h"

/* What moves with what. Counters of loops are an item's own; what is loaded may be anything. */
enum { OF_ITEM = 1, OF_LOOP = 2, OF_DATA = 4 };

/* A place as a sum, and the conditions under which it is touched: n of them, all true. call: whose
 * place it is, NULL when what its kernel loads does not matter. */
typedef struct { UOp *at; UOp *const *cond; size_t n; const ProvedCall *call; } Place;
typedef VEC(Place *) Rows;

/* The places of one buffer as digits: two of them are one place if and only if each digit of one is
 * that of the other. What is known is the same in two items that touch one place. */
typedef struct {
	bool group;             /* the items are those of one work group */
	bool schedule;          /* they are the iterations of `loop` ranges */
	UOp *lane;              /* or those of this RANGE, all else being the same */
	size_t n;               /* places */
	VEC(Place *) leaf;      /* digits that are no sums of digits: n places each */
	Map known;
	VEC(UOp *) fresh;       /* known, and not looked into yet */
	int tries;              /* other weights that were tried */
	int splits;             /* sums that were split */
	int depth;              /* splits that the one at hand is within */
} Digits;

/* Which of these an expression depends on. */
int moves_with(const Digits *d, UOp *u);
/* Adds the digits of n places. */
void digits_of(Digits *d, const Place *p);
/* Whether a node has the same value in two items that touch one place. */
bool digits_know(Digits *d, UOp *u);
void digits_free(Digits *d);
/* Whether u < below under the conditions of p, and 0 <= u. */
bool place_within(const Place *p, UOp *u, UOp *below);
/* Whether its conditions exclude each other, or the document's checks: it is never touched. */
bool place_dead(const Place *p);
/* samples.c: a op b for an op of indices and conditions; false where it has no value, or wraps. */
bool index_operation(Op op, int64_t a, int64_t b, int64_t *v);
/* Whether one of a few cases shows that place_within() is not so. */
bool sample_refutes(const Place *p, UOp *u, UOp *below);
/* The sizes in case i, from 0 on, which meet the document's checks; NULL when there are none. */
const VarEnv *sample_sizes(const Graph *g, int i);
#endif
