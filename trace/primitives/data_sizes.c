/* Data-dependent sizes: how many elements a NonZero finds, how much of a cache is filled.
 *
 *     count i64 [] = sum of a mask   →   size count_0, a variable from 0 to the mask's size
 *
 * While a graph is built, such a size may occur in shapes like any symbolic size, so every function
 * accepts it; at the end bound_sizes.c replaces it by its maximum. */
#include "primitives/primitives.h"

typedef struct { UOp *var, *count, *most; } DataSize;
static ARENA VEC(DataSize) sizes;

size_t data_sizes(UOp *const **var, UOp *const **count)
{
	UOp **v = arena_alloc((sizes.n + 1) * sizeof *v),
	    **c = arena_alloc((sizes.n + 1) * sizeof *c);
	for (size_t i = 0; i < sizes.n; i++) {
		v[i] = sizes.at[i].var;
		c[i] = sizes.at[i].count;
	}
	*var = v;
	*count = c;
	return sizes.n;
}

void data_size_moved(size_t k, UOp *count) { sizes.at[k].count = count; }

static const DataSize *find(const UOp *u)
{
	for (size_t i = 0; i < sizes.n; i++)
		if (sizes.at[i].var == u)
			return &sizes.at[i];
	return NULL;
}

UOp *size_of_data(UOp *count, UOp *most)
{
	int64_t lo, hi, known;
	const char *name;
	if (const_is_int(count, &known))
		return ix_const(known);
	for (size_t i = 0; i < sizes.n; i++)
		if (sizes.at[i].count == count)
			return sizes.at[i].var;
	most = size_most(most);
	ix_bounds(most, &lo, &hi);
	for (size_t k = sizes.n; name = arena_printf("count_%zu", k), vars_find(name, strlen(name));
		k++)
		;
	vec_push(&sizes, ((DataSize){vars_bind(name, 0, hi), count, most}));
	return sizes.at[sizes.n - 1].var;
}

bool size_is_data(UOp *size)
{
	if (!sizes.n)
		return false;
	if (find(size))
		return true;
	for (uint32_t i = 0; i < size->nsrc; i++)
		if (size_is_data(size->src[i]))
			return true;
	return false;
}

/* ---- bounds: of expressions of sizes, which are shallow */

static UOp *extreme(UOp *u, bool most);

_Noreturn static void no_bound(UOp *u)
{
	die(UNSUPPORTED, "the size %s depends on data and has no bound",
		shape_text(shape_new(1, &u)));
}

static bool negative(UOp *u)
{
	int64_t lo, hi;
	ix_bounds(u, &lo, &hi);
	return lo < 0;
}

static UOp *extreme_product(UOp *u, bool most)
{
	int64_t k;
	if (ix_is_const(u->src[1], &k))
		return ix_mul(extreme(u->src[0], most == (k >= 0)), u->src[1]);
	if (negative(u->src[0]) || negative(u->src[1]))
		no_bound(u);
	return ix_mul(extreme(u->src[0], most), extreme(u->src[1], most));
}

/* A data-dependent divisor counts as at least 1, since a quotient by 0 is meaningless. */
static UOp *extreme_quotient(UOp *u, bool most)
{
	int64_t k;
	if (ix_is_const(u->src[1], &k) && k > 0)
		return ix_div(extreme(u->src[0], most), u->src[1]);
	if (negative(u->src[0]) || negative(u->src[1]))
		no_bound(u);
	return most ? extreme(u->src[0], true) : ix_const(0);
}

static UOp *extreme(UOp *u, bool most)
{
	const DataSize *d = find(u);
	UOp *x;
	if (d)
		return most ? d->most : ix_const(0);
	if (!size_is_data(u))
		return u;
	if ((x = ix_positive_part(u)) && (x = ix_positive(extreme(x, most))))
		return x;
	switch (u->op) {
	case OP_ADD: return ix_add(extreme(u->src[0], most), extreme(u->src[1], most));
	case OP_MUL: return extreme_product(u, most);
	case OP_FLOORDIV: return extreme_quotient(u, most);
	case OP_FLOORMOD:
		if (negative(u->src[1]))
			no_bound(u);
		return most ? ix_sub(extreme(u->src[1], true), ix_const(1)) : ix_const(0);
	default: no_bound(u);
	}
}

UOp *size_most(UOp *size) { return extreme(size, true); }

UOp *size_value(UOp *size)
{
	const DataSize *d = find(size);
	if (d)
		return d->count;
	if (!size_is_data(size))
		return size_tensor(size);
	return t_op2(size->op, size_value(size->src[0]), size_value(size->src[1]));
}
