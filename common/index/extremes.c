/* The least and the greatest of two sizes, in the grammar that sizes have. max(0, x) is a remainder
 * whose divisor is 1 where x is negative, and more than x elsewhere:
 *
 *     max(0, x)  =  x % (m*(x//m) + m + 1)        -m <= x < m, so x//m is -1 or 0
 *     max(a, b)  =  a + max(0, b-a)               min(a, b)  =  a - max(0, a-b)
 *     a < b      =  -((a-b) // m)                 p and q    =  p % (1 + q)
 *
 * Where bounds decide the sign of x, // and % fold it away. bounds.c proves with its two cases, 0
 * and x; sum_node makes x - max(0, x) one term. */
#include "index/index.h"
#include "index/ix.h"

enum { LARGEST = 61 };                /* bits of the greatest m */

static ARENA Map parts;               /* remainder → x; itself: it is no max(0, x) */

static UOp *divisor(UOp *x, int64_t m)
{
	UOp *q = ix_div(x, ix_const(m));

	return ix_add(ix_mul(q, ix_const(m)), ix_const(m + 1));
}

/* The least power of two m with -m <= x < m; 0 when there is none. */
static int64_t power_around(UOp *x)
{
	int64_t lo, hi, m = 1;

	ix_bounds(x, &lo, &hi);
	if (ix_wild(x) || lo < -(1LL << LARGEST) || hi >= 1LL << LARGEST)
		return 0;
	while (m <= hi || m < -lo)
		m *= 2;
	return m;
}

UOp *ix_positive(UOp *x)
{
	int64_t m;

	if (ix_prove_le(ix_const(0), x))
		return x;
	if (ix_prove_le(x, ix_const(0)))
		return ix_const(0);
	m = power_around(x);
	return m ? ix_mod(x, divisor(x, m)) : NULL;
}

static UOp *part(UOp *u)
{
	int64_t lo, hi;

	ix_bounds(u->src[1], &lo, &hi);
	if (lo != 1 || hi < 2 || hi > (1LL << LARGEST) + 1 || ((hi - 1) & (hi - 2)))
		return u;
	return u->src[1] == divisor(u->src[0], hi - 1) ? u->src[0] : u;
}

UOp *ix_positive_part(UOp *u)
{
	UOp *x;

	if (u->op != OP_FLOORMOD || u->src[1]->op != OP_ADD)
		return NULL;
	x = map_get(&parts, PKEY(u));
	if (!x) {
		map_put(&parts, PKEY(u), u);      /* while it is looked at, it is none */
		x = part(u);
		map_put(&parts, PKEY(u), x);
	}
	return x == u ? NULL : x;
}

/* Sets a to the operand from which the other is counted: a number keeps the bounds narrow. */
static void order(UOp **a, UOp **b)
{
	int64_t v;
	bool number = ix_is_const(*b, &v);

	if (number || (!ix_is_const(*a, &v) && (*b)->id < (*a)->id)) {
		UOp *t = *a;
		*a = *b;
		*b = t;
	}
}

UOp *ix_max(UOp *a, UOp *b)
{
	order(&a, &b);
	UOp *more = ix_positive(ix_sub(b, a));
	return more ? ix_add(a, more) : NULL;
}

UOp *ix_min(UOp *a, UOp *b)
{
	order(&a, &b);
	UOp *less = ix_positive(ix_sub(a, b));
	return less ? ix_sub(a, less) : NULL;
}

UOp *ix_less(UOp *a, UOp *b)
{
	UOp *d = ix_sub(a, b);
	int64_t m;

	if (ix_prove_lt(a, b))
		return ix_const(1);
	if (ix_prove_le(b, a))
		return ix_const(0);
	m = power_around(d);
	return m ? ix_sub(ix_const(0), ix_div(d, ix_const(m))) : NULL;
}

UOp *ix_both(UOp *p, UOp *q)
{
	UOp *one = ix_const(1);

	return p == one ? q : ix_mod(p, ix_add(q, one));
}

UOp *ix_when(UOp *c, UOp *a)
{
	int64_t v, m = power_around(a);

	if (ix_is_const(a, &v) || !m || !ix_prove_le(ix_const(0), a))
		return m ? ix_mul(c, a) : NULL;
	return ix_mod(a, ix_add(ix_mul(c, ix_const(m)), ix_const(1)));
}
