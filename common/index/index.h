/* The integer algebra of sizes and indices. Sections follow the files. */
#ifndef COMMON_INDEX_INDEX_H
#define COMMON_INDEX_INDEX_H
#include "graph/graph.h"

/* ---- expr.c, conditions.c, bounds.c, divmod.c, extremes.c, ixtext.c: the integer algebra
 * (internals: ix.h) */

UOp *ix_const(int64_t v);
UOp *ix_var(const char *name, int64_t min, int64_t max);
UOp *ix_range(int axis, const char *kind, UOp *size);        /* RANGE; kinds in common/README.md */
UOp *ix_add(UOp *a, UOp *b);
UOp *ix_sub(UOp *a, UOp *b);
UOp *ix_mul(UOp *a, UOp *b);
UOp *ix_div(UOp *a, UOp *b);                                 /* floor */
UOp *ix_mod(UOp *a, UOp *b);                                 /* floor */
/* The greater of two, the lesser; 1 where a < b, else 0; max(0, x). NULL when the bounds of what
 * is not decided are not known. */
UOp *ix_max(UOp *a, UOp *b);
UOp *ix_min(UOp *a, UOp *b);
UOp *ix_less(UOp *a, UOp *b);
UOp *ix_positive(UOp *x);
/* Of truth values, 0 or 1: 1 where p and q are; and a where c is, else 0 (NULL as above). */
UOp *ix_both(UOp *p, UOp *q);
UOp *ix_when(UOp *c, UOp *a);
UOp *ix_positive_part(UOp *u);                               /* x, when u is max(0, x); else NULL */
/* mod is x % n for a number n. If lo <= mod < hi implies mod = *y and x // n = *q, with fewer
 * divisions, and that can be proved for all x, returns true. Outside those bounds y and q have no
 * meaning. */
bool ix_unwrap(UOp *mod, int64_t lo, int64_t hi, UOp **q, UOp **y);
/* A bool node for a comparison, folded if the bounds decide it: a < b; 0 <= a < n; a and b. */
UOp *ix_lt(UOp *a, UOp *b);
UOp *ix_inside(UOp *a, UOp *n);
UOp *ix_and(UOp *a, UOp *b);
/* Bounds of an index node, inclusive; INT64_MIN / INT64_MAX when unknown. */
void ix_bounds(UOp *u, int64_t *lo, int64_t *hi);
static inline bool ix_is_const(const UOp *u, int64_t *v)
{
	bool is = u->op == OP_CONST && u->dtype == DT_I64 && u->arg->kind == VAL_INT;
	if (is)
		*v = u->arg->i;
	return is;
}
/* True when a < b (a <= b) can be proved, also symbolically. */
bool ix_prove_lt(UOp *a, UOp *b);
bool ix_prove_le(UOp *a, UOp *b);
/* Evaluates with VARs from env (parallel arrays); false when a variable is missing or for a
 * division by 0. */
enum { SIZES_MOST = 256 };
typedef struct { int n; const char *name[SIZES_MOST]; int64_t value[SIZES_MOST]; } VarEnv;
bool ix_eval(UOp *u, const VarEnv *env, int64_t *v);
/* a op b for an op that indices are made of (its row has index), else NULL. */
UOp *ix_op(Op op, UOp *a, UOp *b);
/* u with other sources: index arithmetic and conditions are made by the ix_ functions, other nodes
 * by node_with; a WHERE or a LOAD whose condition is decided is what it then is. */
UOp *ix_remake(UOp *u, UOp *const *src);
/* Prints text like "((idx1*10)+idx0)"; name(u, ctx) names the leaves (NULL: r0, n, …). */
void ix_print(Buf *out, UOp *u, const char *(*name)(UOp *, void *), void *ctx);
/* Parses the contract's size grammar; names must have been declared by vars_declare. */
UOp *ix_parse(const char *text, size_t n, const char **err);
/* int or expression text; on failure NULL and *err */
UOp *size_from_val(const Val *v, const char **err);
/* int, or text in the contract's grammar */
const Val *size_to_val(UOp *size);
/* Declares the document's variables for ix_parse (a map name → [min,max]); returns NULL or an
 * error. */
const char *vars_declare(const Val *vars);
UOp *vars_find(const char *name, size_t n);
/* Whether v is a text that may name a size. */
bool size_name(const Val *v);
/* Declares one more variable, until vars_unbind or arena_reset: a size that depends on data, which
 * a BIND names. */
UOp *vars_bind(const char *name, int64_t min, int64_t max);
void vars_unbind(void);
bool var_is_bound(const UOp *var);
bool size_is_bound(const UOp *size);         /* whether it contains such a variable */

/* ---- ranges.c: the ranges that a kernel's values depend on */

/* The axis numbers of the ranges that are free in u, as a bit mask. Cached: each node is visited
 * once. */
uint64_t range_mask(UOp *u);
int range_axis(const UOp *range);
const char *range_kind(const UOp *range);
/* The number of iterations, 0 when it is not known. */
int64_t range_size(const UOp *range);

/* ---- tuples.c: reductions of several values at once (common/README.md, RREDUCE and TUPLE) */

enum { MAX_TUPLE = 4 };
static inline uint32_t tuple_size(const UOp *tuple) { return tuple->nsrc / 3; }
static inline UOp *tuple_identity(const UOp *tuple, int64_t i)
{
	return tuple->src[tuple_size(tuple) + i];
}
static inline UOp *tuple_rule(const UOp *tuple, int64_t i)
{
	return tuple->src[2 * tuple_size(tuple) + i];
}
static inline bool folds_tuple(const UOp *u)
{
	return u->op == OP_RREDUCE && u->src[0]->op == OP_TUPLE;
}
/* Which of the two tuples a SIDE stands for, 0 or 1, and which component of it. */
int tuple_side(const UOp *side);
int tuple_component(const UOp *side);
/* out[i]: component i of a and b combined. */
void tuple_combine(UOp *tuple, UOp *const *a, UOp *const *b, UOp **out);
/* The same fold of tuples, of which it gives component i. */
UOp *fold_component(UOp *fold, int64_t i);
/* The identity of an RREDUCE's fold (a CONST); what it folds, of a tuple the component it gives. */
UOp *fold_identity(const UOp *fold);
UOp *fold_value(const UOp *fold);

/* ---- contraction.c: reductions whose operands are reused */

/* The role of a range in a contraction of x and w (below), by which of them move along it.
 *
 *     y[b,i,j] = Σk x[b,i,k]*w[b,k,j]         y[o,h] = Σc,t x[c,h+t]*w[o,c,t]
 *     d[i,j] = min k (x[i,k] + w[k,j])
 *
 *     batch       in both and in the result            b
 *     row         in x and in the result               i, h
 *     column      in w and in the result               j, o
 *     reduction   reduced                              k, c
 *     window      reduced, overlapping the steps of a range of the result         t
 */
typedef enum { ROLE_NONE, ROLE_BATCH, ROLE_ROW, ROLE_COLUMN, ROLE_REDUCTION, ROLE_WINDOW } Role;

/* A LOAD or an inner reduction, and the axis numbers of the ranges in which it moves. */
typedef struct { UOp *value; uint64_t moves; } Operand;
typedef VEC(Operand) Operands;
typedef struct {
	UOp *fold;              /* the RREDUCE */
	uint64_t bound;         /* the ranges that it reduces and its value moves with */
	uint64_t all;           /* the ranges in which its operands move */
	size_t n, still;
	/* its n operands, in reading order, then the `still` loads and reductions in its value that
	 * do not move with it (in the arena) */
	Operand *operand;
	UOp *x, *w;             /* the two operands that move in most ranges, or NULL */
} Contraction;

/* Whether fold, an RREDUCE of level schedule, is a contraction. Sets its operands in any case. */
bool contraction_of(Contraction *c, UOp *fold);
/* Whether some of these operands, which all move with the reduction, is reused. */
bool operands_contract(size_t n, const Operand *operand);
/* Whether some operand of a contraction is never reused: it moves in every range in which another
 * does, like the matrix in a matrix-vector product. */
bool contraction_is_lopsided(const Contraction *c);
/* Whether vectors over range `vectors` are reused along range `along`: some operand (or a value
 * that does not move with the reduction) moves in `vectors` but not in `along`, and another one
 * moves in `along`. */
bool contraction_reuses(const Contraction *c, const UOp *along, const UOp *vectors);
/* The role of a range. */
Role contraction_role(const Contraction *c, UOp *range);

/* ---- substitute.c */

/* Replaces every occurrence of from[i] by to[i]. Index arithmetic is rebuilt by the ix_ functions.
 */
UOp *substitute(UOp *root, size_t n, UOp *const *from, UOp *const *to);
/* An i64 expression with its LETs written out, in the normal form of the integer algebra. */
UOp *ix_plain(UOp *u);
#endif
