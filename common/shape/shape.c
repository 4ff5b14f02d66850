/* Shapes: interned vectors of sizes.  A size is an index node, so a symbolic one costs nothing
 * extra. */
#include "shape/shape.h"
#include <stdlib.h>

const Shape *shape_ints(int rank, const int64_t *dim)
{
	UOp *d[MAX_RANK];
	CHECK(rank <= MAX_RANK);
	for (int i = 0; i < rank; i++)
		d[i] = ix_const(dim[i]);
	return shape_new(rank, d);
}

UOp *shape_count(const Shape *s)
{
	UOp *n = ix_const(1);
	for (int i = 0; i < s->rank; i++)
		n = ix_mul(n, s->dim[i]);
	return n;
}

bool shape_static(const Shape *s, int64_t *n)
{
	int64_t count = 1, d;
	for (int i = 0; i < s->rank; i++)
		if (!ix_is_const(s->dim[i], &d) || !mul_ok(count, d, &count))
			return false;
	*n = count;
	return true;
}

bool shape_empty(const Shape *s)
{
	int64_t d;
	for (int i = 0; i < s->rank; i++)
		if (ix_is_const(s->dim[i], &d) && d == 0)
			return true;
	return false;
}

bool shape_bytes(const Shape *s, DType d, int64_t *bytes)
{
	return shape_static(s, bytes) && mul_ok(*bytes, dtype_size(d), bytes);
}

static ARENA const char *(*advice)(UOp *size);

void shape_advise(const char *(*fn)(UOp *size)) { advice = fn; }

/* size with 0 for each max(0, x) in it: for a cut such as n - max(0, n-5), its greatest value */
static UOp *uncut(UOp *size)
{
	Nodes all = walk(size);
	UOp **from = arena_alloc((all.n + 1) * sizeof *from),
	    **to = arena_alloc((all.n + 1) * sizeof *to);
	size_t n = 0;
	for (size_t i = 0; i < all.n; i++)
		if (ix_positive_part(all.at[i])) {
			from[n] = all.at[i];
			to[n++] = ix_const(0);
		}
	return n ? substitute(size, n, from, to) : size;
}

int64_t shape_dim(const Shape *s, int i)
{
	int64_t d;
	if (ix_is_const(s->dim[i], &d))
		return d;
	UOp *most = uncut(s->dim[i]);
	if (!ix_is_const(most, &d) || !ix_prove_le(s->dim[i], most))
		die(UNSUPPORTED, "axis %d of %s must be a known size here%s", i, shape_text(s),
			advice ? advice(s->dim[i]) : "");
	size_check("eq", s->dim[i], ix_const(d));
	return d;
}

enum { COUNT_BITS = 62 };
#define COUNT_MAX ((int64_t)1 << COUNT_BITS)

int64_t shape_max_count(const Shape *s)
{
	int64_t n = 1, lo, hi;
	for (int i = 0; i < s->rank; i++) {
		ix_bounds(s->dim[i], &lo, &hi);
		if (hi <= 0)
			return 0;
		if (!mul_ok(n, hi, &n) || n > COUNT_MAX)
			n = COUNT_MAX;
	}
	return n;
}

/* Checks for negative sizes and too many elements (a size of 0 counts as 1, because an intermediate
 * may lack that axis). */
static const char *shape_check(const Shape *s, int *status)
{
	int64_t n = 1, lo, hi;
	if (s->rank > MAX_RANK) {
		*status = UNSUPPORTED;
		return arena_printf("rank %d is above %d", s->rank, MAX_RANK);
	}
	for (int i = 0; i < s->rank; i++) {
		ix_bounds(s->dim[i], &lo, &hi);
		if (ix_is_const(s->dim[i], &lo))
			hi = lo;
		if (hi < 0)
			return arena_printf(
				"size %s is negative", shape_text(shape_new(1, &s->dim[i])));
		if (lo < 0)
			size_check("le", ix_const(0), s->dim[i]);
		if (!mul_ok(n, lo < 1 ? 1 : lo, &n) || n >= COUNT_MAX)
			return arena_printf("shape %s has 2^62 elements or more", shape_text(s));
	}
	return NULL;
}

const Shape *shape_checked(int rank, UOp *const *dim, const char **err, int *status)
{
	if (rank > MAX_RANK) {
		*status = UNSUPPORTED;
		*err = arena_printf("rank %d is above %d", rank, MAX_RANK);
		return NULL;
	}
	const Shape *s = shape_new(rank, dim);
	*err = shape_check(s, status);
	return *err ? NULL : s;
}

const Shape *shape_from_val(const Val *v, const char **err, int *status)
{
	UOp *dim[MAX_RANK];
	*status = MALFORMED;
	if (!v || v->kind != VAL_ARRAY) {
		*err = "the shape is not an array of sizes";
		return NULL;
	}
	if (v->n > MAX_RANK) {
		*status = UNSUPPORTED;
		*err = arena_printf("rank %zu is above %d", v->n, MAX_RANK);
		return NULL;
	}
	for (size_t i = 0; i < v->n; i++)
		if (!(dim[i] = size_from_val(v->a[i], err)))
			return NULL;
	return shape_checked((int)v->n, dim, err, status);
}

const Val *shape_to_val(const Shape *s)
{
	const Val *v[MAX_RANK];
	for (int i = 0; i < s->rank; i++)
		v[i] = size_to_val(s->dim[i]);
	return val_array(s->rank, v);
}

const char *shape_text(const Shape *s)
{
	Buf b = {0};
	buf_add(&b, "[", 1);
	for (int i = 0; i < s->rank; i++) {
		const Val *v = size_to_val(s->dim[i]);
		if (v->kind == VAL_INT)
			buf_printf(&b, "%s%lld", i ? "," : "", (long long)v->i);
		else
			buf_printf(&b, "%s%s", i ? "," : "", v->s);
	}
	buf_add(&b, "]", 1);
	char *r = arena_strdup(buf_str(&b));
	buf_free(&b);
	return r;
}

/* ---- equality of sizes: decided now if the algebra can, else recorded and checked when the sizes
 * are known */

static ARENA VEC(const Val *) checks;
static ARENA Map checked;

static const Val *check_row(const char *how, UOp *a, UOp *b)
{
	return VARR(val_str(how), size_to_val(a), size_to_val(b));
}

void size_check(const char *how, UOp *a, UOp *b)
{
	const Val *v = check_row(how, a, b);
	if (map_get(&checked, v->hash))
		return;
	map_put(&checked, v->hash, (void *)v);
	vec_push(&checks, v);
}

const Val *size_checks(void)
{
	return checks.n ? val_array(checks.n, checks.at) : VNIL;
}

size_t size_checks_made(void) { return checks.n; }

static void know_again(void)
{
	map_free(&checked);
	for (size_t i = 0; i < checks.n; i++)
		map_put(&checked, checks.at[i]->hash, (void *)checks.at[i]);
}

void size_checks_drop(size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(checks.at + from, checks.at + to, (checks.n - to) * sizeof *checks.at);
	checks.n -= to - from;
	know_again();
}

void size_checks_keep(bool (*wanted)(const Val *row, void *ctx), void *ctx)
{
	size_t n = 0;
	for (size_t i = 0; i < checks.n; i++)
		if (wanted(checks.at[i], ctx))
			checks.at[n++] = checks.at[i];
	checks.n = n;
	know_again();
}

void size_checks_reset(void)
{
	vec_free(&checks);
	map_free(&checked);
}

/* Whether sizes that differ, but may be equal, are left to a check. */
static ARENA bool deferred;

void sizes_defer(void) { deferred = true; }

/* A difference made of sums and products is zero only if it is the node 0; one with // or % may be
 * zero without being seen to be, and what data gives may be anything. */
static bool undecided(UOp *d)
{
	Nodes all = walk(d);
	if (deferred || size_is_bound(d))
		return true;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_FLOORDIV || all.at[i]->op == OP_FLOORMOD)
			return true;
	return false;
}

bool size_equal(UOp *a, UOp *b)
{
	int64_t lo, hi;
	if (a == b)
		return true;
	UOp *d = ix_sub(a, b);
	ix_bounds(d, &lo, &hi);
	if (lo == 0 && hi == 0)
		return true;
	if (lo > 0 || hi < 0 || !(undecided(d) || map_get(&checked, check_row("eq", a, b)->hash)))
		return false;
	size_check("eq", a, b);
	return true;
}

bool shape_equal(const Shape *a, const Shape *b)
{
	if (a == b)
		return true;
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (!size_equal(a->dim[i], b->dim[i]))
			return false;
	return true;
}

static bool is_one(UOp *u)
{
	int64_t v;
	return ix_is_const(u, &v) && v == 1;
}

const Shape *shape_broadcast(const Shape *a, const Shape *b)
{
	UOp *dim[MAX_RANK];
	int rank = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 0; i < rank; i++) {
		int ia = i - (rank - a->rank), ib = i - (rank - b->rank);
		UOp *x = ia < 0 ? NULL : a->dim[ia], *y = ib < 0 ? NULL : b->dim[ib];
		if (!x || !y)
			dim[i] = x ? x : y;
		else if (is_one(x))
			dim[i] = y;
		else if (is_one(y) || size_equal(x, y))
			dim[i] = x;
		else
			return NULL;
	}
	return shape_new(rank, dim);
}
