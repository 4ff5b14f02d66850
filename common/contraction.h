/* Contractions in kernels: folds whose operands are used again, told from the places that these
 * move in and from nothing else.
 *
 *     y[b,i,j] = Σk p[b,i,k]*q[b,k,j]         d[i,j] = min k (p[i,k] + q[k,j])
 *     y[n,o,h] = Σc,t x[n,c,h+t]*w[o,c,t]     v[i] = Σk where(m[k], p[i,k], 0)
 *
 * An operand is a value that moves with what the fold binds: a LOAD, whose place does, or a fold
 * within. It is used again where it stands still and another operand moves. A fold with such an
 * operand is a contraction, whatever it folds with, whatever is done to the operands, constant or
 * not, in whatever order its axes are. A fold of one operand, or of several that all move
 * together, is none, and neither is an outer product, which folds nothing.
 *
 * Sets of ranges are masks of axis numbers, as range_mask (ranges.c) gives them. */
#ifndef CONTRACTION_H
#define CONTRACTION_H
#include "uop.h"

/* What a range does in a contraction of x and w (below).
 *
 *     batch       moves in both and in the result           b above
 *     row         in x and in the result                    i, h, n
 *     column      in w and in the result                    j, o
 *     reduction   is folded                                 k, c
 *     window      is folded, and its index adds to that of a range of the result
 *                 so that both reach the same places        t */
typedef enum { ROLE_NONE, ROLE_BATCH, ROLE_ROW, ROLE_COLUMN, ROLE_REDUCTION, ROLE_WINDOW } Role;

typedef struct { UOp *value; uint64_t moves; } Operand;

typedef struct {
	UOp *fold;              /* the RREDUCE */
	uint64_t bound;         /* the ranges that it folds and its value moves with */
	uint64_t all;           /* those in which its operands move */
	size_t n, still;
	/* n of them, in the order in which one reads the value, then the loads and folds in it that
	 * stand still while it folds; in the arena */
	Operand *operand;
	UOp *x, *w;             /* those two of them that move most, in that order, or NULL */
} Contraction;

/* Whether fold, an RREDUCE of level schedule, is a contraction. Its operands are found in any
 * case. */
bool contraction_of(Contraction *c, UOp *fold);
/* Whether some of these operands, each of which moves with the fold, is used again. */
bool operands_contract(size_t n, const Operand *operand);
/* Whether some operand of a contraction is never used again: it moves wherever another does, as the
 * matrix does in its product with a vector. */
bool contraction_is_lopsided(const Contraction *c);
/* Whether along a range something is used again by vectors of another range: some operand, or what
 * stands still, moves in these, but not along, where another does. */
bool contraction_reuses(const Contraction *c, const UOp *along, const UOp *vectors);
/* The role of a range. */
Role contraction_role(const Contraction *c, UOp *range);

#endif
