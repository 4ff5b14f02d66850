/* Internals of the proofs that items write apart: what follows for two of them when they touch one
 * place. */
#ifndef DIGITS_H
#define DIGITS_H
#include "index/ix.h"
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
	bool sums;              /* sums are not torn either: that takes longer */
	bool brief;             /* a split with a torn part is given up at once */
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
/* Whether it depends on nothing that is loaded or folded. */
bool moves_plainly(UOp *u);
bool has_quotient(UOp *u);
/* Whether it is i64 arithmetic, names and choices of sizes, counters and items alone. */
bool is_plain_index(UOp *u);
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

/* ---- spots.c: the places of unrolled tiles, which are a few sums with many numbers added */

/* A sum without a number, as a node too. */
typedef struct { Sum sum; UOp *node; } Base;
/* Place i is base[of[i]] + k[i], under the conditions of p[i]. */
typedef struct {
	const Place *p;
	size_t n, bases;
	Base *base;
	uint32_t *of;
	int64_t *k;
} Spots;

void spots_of(Spots *s, const Place *p, size_t n);
void spots_free(Spots *s);
/* Whether u is above 0 wherever one of the places is touched. */
bool places_positive(const Place *p, size_t n, UOp *u);
/* Place i as a node. */
UOp *spot_node(const Spots *s, size_t i);
/* m = *size * *mover: sizes, and what moves. */
void size_and_mover(const Digits *d, UOp *m, UOp **size, UOp **mover);
/* The sizes by which s multiplies a mover (1: none), as a sum. */
bool coefficient(const Digits *d, const Sum *s, UOp *mover, Sum *out);
/* The weights at which places may be split: few, most of the time. */
enum { MOST_WEIGHTS = 64 };
typedef VEC(Sum) Weights;
/* Adds those of the first and the last place, the greatest first. */
void find_weights(Weights *w, const Digits *d, const Spots *s);
/* Adds the distances between places. */
void add_distances(Weights *w, const Digits *d, const Spots *s);
/* By how much all places are more than they have to be, as by the sizes of a border. */
void find_from(Sum *from, const Digits *d, const Spots *s);
/* The places as w*high + low, when what is left is within w for all of them and has something to
 * say; less a distance that they share, if it can be so. */
bool split_at(const Spots *s, const Sum *from, const Sum *w, Spots *high, Spots *low);
/* The same, less that distance. */
bool split_from(const Spots *s, const Sum *from, const Sum *w, Spots *high, Spots *low);
/* Splits at a quotient x//n of x, which stands beside it. */
bool split_quotients(const Spots *s, const Digits *d, Spots *high, Spots *low);
#endif
