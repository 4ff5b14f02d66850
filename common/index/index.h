/* The integer algebra of sizes and places.  Sections follow the files. */
#ifndef COMMON_INDEX_INDEX_H
#define COMMON_INDEX_INDEX_H
#include "graph/graph.h"

/* ---- expr.c, conditions.c, bounds.c, divmod.c, ixtext.c: the integer algebra (inside: ix.h) -------- */

UOp *ix_const(int64_t v);
UOp *ix_var(const char *name, int64_t min, int64_t max);
UOp *ix_range(int axis, const char *kind, UOp *size);        /* RANGE; kinds in common/README.md */
UOp *ix_add(UOp *a, UOp *b);
UOp *ix_sub(UOp *a, UOp *b);
UOp *ix_mul(UOp *a, UOp *b);
UOp *ix_div(UOp *a, UOp *b);                                 /* floor */
UOp *ix_mod(UOp *a, UOp *b);                                 /* floor */
/* mod is x % n, n a number. Under lo <= mod < hi it is *y, and x // n is *q, both of fewer divisions: true when that can be
 * proved of all x. Elsewhere y and q mean nothing. */
bool ix_unwrap(UOp *mod, int64_t lo, int64_t hi, UOp **q, UOp **y);
/* a bool node for the comparison, folded when the bounds decide: a < b; 0 <= a < n; both */
UOp *ix_lt(UOp *a, UOp *b);
UOp *ix_inside(UOp *a, UOp *n);
UOp *ix_and(UOp *a, UOp *b);
/* bounds of an index node, inclusive; INT64_MIN / INT64_MAX when unknown */
void ix_bounds(UOp *u, int64_t *lo, int64_t *hi);
bool ix_is_const(const UOp *u, int64_t *v);
/* true when a < b (a <= b) can be proved, symbolically as well */
bool ix_prove_lt(UOp *a, UOp *b);
bool ix_prove_le(UOp *a, UOp *b);
/* value with VARs taken from env (parallel arrays); false when a variable is missing or a division by 0 */
typedef struct { int n; const char *name[64]; int64_t value[64]; } VarEnv;
bool ix_eval(UOp *u, const VarEnv *env, int64_t *v);
/* u with other sources, index arithmetic and conditions through the ix_ functions, anything else by node_with */
/* a op b for an op of which indices are made (its row says index), else NULL */
UOp *ix_op(Op op, UOp *a, UOp *b);
UOp *ix_remake(UOp *u, UOp *const *src);
/* "((idx1*10)+idx0)" style text; name(u, ctx) names leaves (NULL: r0, n, …) */
void ix_print(Buf *out, UOp *u, const char *(*name)(UOp *, void *), void *ctx);
/* parses the contract's size grammar; names must be declared by vars_declare */
UOp *ix_parse(const char *text, size_t n, const char **err);
UOp *size_from_val(const Val *v, const char **err);          /* int or expression text; NULL and *err */
const Val *size_to_val(UOp *size);                           /* int, or text in the contract's grammar */
/* declares the document's variables for ix_parse (map name → [min,max] as Val); NULL or reason */
const char *vars_declare(const Val *vars);
UOp *vars_find(const char *name, size_t n);
/* One more, 0 to max, until arena_reset: a size that is data (trace/primitives/data_sizes.c), which no document declares. */
UOp *vars_add(const char *name, int64_t max);

/* ---- ranges.c: what a kernel's values depend on --------------------------------------------------------- */

/* The axis numbers of the ranges that are free in u, as a bit mask. Amortised: each node is looked at once. */
uint64_t range_mask(UOp *u);
int range_axis(const UOp *range);
const char *range_kind(const UOp *range);
/* How many turns it has, 0 when that is not known. */
int64_t range_size(const UOp *range);

/* ---- contraction.c: folds whose operands are used again ------------------------------------------------- */

/* What a range does in a contraction of x and w (below), told by where these move.
 *
 *     y[b,i,j] = Σk x[b,i,k]*w[b,k,j]     y[o,h] = Σc,t x[c,h+t]*w[o,c,t]     d[i,j] = min k (x[i,k] + w[k,j])
 *
 *     batch       in both and in the result            b
 *     row         in x and in the result               i, h
 *     column      in w and in the result               j, o
 *     reduction   folded                               k, c
 *     window      folded, over places that a range of the result goes over too        t */
typedef enum { ROLE_NONE, ROLE_BATCH, ROLE_ROW, ROLE_COLUMN, ROLE_REDUCTION, ROLE_WINDOW } Role;

/* A LOAD, or a fold within another, and the axis numbers of the ranges in which it moves. */
typedef struct { UOp *value; uint64_t moves; } Operand;
typedef VEC(Operand) Operands;
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

/* ---- substitute.c */

/* Substitution: every occurrence of from[i] becomes to[i]. Index arithmetic is rebuilt through ix_. */
UOp *substitute(UOp *root, size_t n, UOp *const *from, UOp *const *to);
#endif
