/* Places in 32 bits. Indices are i64, which a GPU or a processor of 32 bits computes in several
 * instructions or by a function. Nearly all fit into 32 bits, and so do the numbers on the way:
 *
 *     r0 * 1000 + n, where r0 < 64 and n <= 1000   →   int_fast32_t
 *
 * A node is narrow if its bounds fit and its sources are narrow; loaded numbers are not. The type
 * is the dialect's: int_fast32_t has 64 bits where those are as fast. */
#include "index/index.h"
#include "print/print.h"

/* Is u arithmetic on places, and from which source on are they? */
static bool on_places(const UOp *u, uint32_t *first)
{
	*first = 0;
	switch (u->op) {
	case OP_WHERE: *first = 1; /* fall through */
	case OP_CONST: case OP_RANGE: case OP_SPECIAL: case OP_VAR: case OP_LET: case OP_ADD:
	case OP_SUB: case OP_MUL: case OP_MIN: case OP_MAX: case OP_IDIV: case OP_MOD:
	case OP_FLOORDIV: case OP_FLOORMOD: return u->dtype == DT_I64;
	default: return false;
	}
}

static bool fits(const Printer *p, UOp *u)
{
	uint32_t first;
	int64_t lo, hi;
	if (!on_places(u, &first))
		return false;
	for (uint32_t i = first; i < u->nsrc; i++)
		if (!is_narrow(p, u->src[i]))
			return false;
	ix_bounds(u, &lo, &hi);
	return lo >= -INT32_MAX && hi <= INT32_MAX;
}

void narrow_find(Printer *p, const Nodes *all)
{
	for (size_t i = 0; p->d->narrow && i < all->n; i++)
		if (fits(p, all->at[i]))
			map_put(&p->narrow, PKEY(all->at[i]), all->at[i]);
}

bool is_narrow(const Printer *p, const UOp *u) { return map_get(&p->narrow, PKEY(u)) != NULL; }

const char *value_type(const Printer *p, const UOp *u)
{
	return is_narrow(p, u) ? p->d->narrow : p->d->type[u->dtype];
}
