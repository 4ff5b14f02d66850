/* Internals of the algebra, shared by its files: an index decomposed into a sum. */
#ifndef IX_H
#define IX_H
#include "index/index.h"

/* c0*m0 + c1*m1 + … + k. A monomial m is an atom (VAR, RANGE, FLOORDIV, FLOORMOD, any other i64
 * value) or a left-leaning MUL of atoms in order of id, so equal monomials are one node. The
 * monomials are distinct. Functions that return bool return false when int64 or IX_TERMS does not
 * suffice; the sum is then invalid. */
enum { IX_TERMS = 48, IX_ATOMS = 16 };
typedef struct { int64_t c; UOp *m; } Term;
typedef struct { int n; int64_t k; Term t[IX_TERMS]; } Sum;

static inline int64_t floordiv(int64_t a, int64_t b)
{
	return a / b - (a % b && (a < 0) != (b < 0));
}

static inline int64_t floormod(int64_t a, int64_t b)
{
	int64_t r = a % b;
	return r && (a < 0) != (b < 0) ? r + b : r;
}

/* never negative */
static inline int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* u as a sum; an expression that cannot be decomposed is one atom. */
void sum_of(Sum *s, UOp *u);
void sum_const(Sum *s, int64_t k);
/* s += c*m; with the constant 1 as m, adds to k. */
bool sum_term(Sum *s, int64_t c, UOp *m);
/* s += c*o */
bool sum_plus(Sum *s, int64_t c, const Sum *o);
/* out = a*b (out is neither) */
bool sum_mul(Sum *out, const Sum *a, const Sum *b);
/* s = atom*c + rest, the atom taken once out of every product that has it. */
bool sum_split(const Sum *s, UOp *atom, Sum *c, Sum *rest);
/* The node of s in normal form; recombines quotients and remainders first. */
UOp *sum_node(Sum *s);
/* The coefficient of m, 0 if it does not occur. */
int64_t sum_coef(const Sum *s, const UOp *m);

/* The atoms of a monomial (returns their number); a*b, NULL when it is too long; a/b, NULL when b
 * is not a factor. */
int mono_atoms(UOp *m, UOp **atom);
UOp *mono_mul(UOp *a, UOp *b);
UOp *mono_div(UOp *a, UOp *b);
/* The same for an atom: most monomials are one. */
static inline UOp *mono_without(UOp *m, UOp *atom)
{
	return m == atom ? ix_const(1) : m->op == OP_MUL ? mono_div(m, atom) : NULL;
}

/* True when u contains only CONST, VAR, RANGE and SPECIAL: by contract its arithmetic then never
 * overflows. */
bool ix_pure(UOp *u);
/* Whether u may wrap (because it comes from memory or from a program's own arithmetic): then no
 * rule applies to it. */
bool ix_wild(UOp *u);
/* True when u is made of CONST and VAR. It is a size, and by contract a division by it is never by
 * 0. */
bool ix_fixed(UOp *u);
/* Bounds of a sum; INT64_MIN, INT64_MAX when unknown. */
void sum_bounds(const Sum *s, int64_t *lo, int64_t *hi);
/* True when s >= 0 can be proved. */
bool sum_nonneg(const Sum *s);
#endif
