/* ["swap", r]: the products of narrow integers that a sum has along r, which has 2 or 4 iterations,
 * become one op, an instruction of some targets (patterns.def):
 *
 *     split 2 4; swap 2.1
 *     Σ k<K a[i,k]*b[k,j]   →   Σ q<K/4 DOTU8I8(a[i,4q…4q+3] + 128, b[4q…4q+3,j]) + Σk -128*b[k,j]
 *
 * Each factor's values of n iterations stand side by side in an i32. Sums of i32 wrap, so all of
 * this is exact. Where a factor is within the dtype but for a number that is added to it, that
 * number times the sum of the other factor is taken off again. */
#include "target/target.h"
#include "actions/actions.h"
#include "index/ix.h"

static const Pattern patterns[] = {
#define PATTERN(OP, A, B, N) {OP_##OP, {DT_##A, DT_##B}, N},
#include "actions/patterns.def"
#undef PATTERN
};

/* ---- between which numbers a value lies */

static Extent extent_of_dtype(DType d)
{
	if (d == DT_BOOL)
		return (Extent){0, 1};
	if (!dtype_int(d) || dtype_max(d) > INT32_MAX)
		return (Extent){INT64_MIN, INT64_MAX};
	return (Extent){dtype_min(d), (int64_t)dtype_max(d)};
}

bool extent_within(Extent e, Extent of) { return e.lo >= of.lo && e.hi <= of.hi; }

static Extent hull(Extent a, Extent b)
{
	return (Extent){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Extent product(Extent a, Extent b)
{
	Extent l = {a.lo * b.lo, a.lo * b.hi}, h = {a.hi * b.lo, a.hi * b.hi};
	l = l.lo < l.hi ? l : (Extent){l.hi, l.lo};
	h = h.lo < h.hi ? h : (Extent){h.hi, h.lo};
	return hull(l, h);
}

static Extent of_op(const UOp *u, const Extent *s)
{
	int64_t v;
	switch (u->op) {
	case OP_CONST: return const_is_int(u, &v) ? (Extent){v, v} : extent_of_dtype(u->dtype);
	case OP_CAST: return s[0];
	case OP_NEG: return (Extent){-s[0].hi, -s[0].lo};
	case OP_ADD: return (Extent){s[0].lo + s[1].lo, s[0].hi + s[1].hi};
	case OP_SUB: return (Extent){s[0].lo - s[1].hi, s[0].hi - s[1].lo};
	case OP_MUL: return product(s[0], s[1]);
	case OP_MIN:
		return (Extent){s[0].lo < s[1].lo ? s[0].lo : s[1].lo,
			s[0].hi < s[1].hi ? s[0].hi : s[1].hi};
	case OP_MAX:
		return (Extent){s[0].lo > s[1].lo ? s[0].lo : s[1].lo,
			s[0].hi > s[1].hi ? s[0].hi : s[1].hi};
	case OP_WHERE: return hull(s[1], s[2]);
	default: return extent_of_dtype(u->dtype);
	}
}

/* of a node whose sources are known; the whole dtype where it may wrap, or is no narrow integer */
static Extent of_node(const UOp *u, const Extent *s)
{
	Extent all = extent_of_dtype(u->dtype);
	if (all.lo == INT64_MIN)
		return all;
	for (uint32_t i = u->op == OP_WHERE; i < u->nsrc; i++)
		if (s[i].lo == INT64_MIN)
			return all;
	Extent e = of_op(u, s);
	return extent_within(e, all) ? e : all;
}

Extent extent_of(UOp *value, Extent (*of_load)(const UOp *load, void *ctx), void *ctx)
{
	static ARENA TABLE(Extent) known;
	Nodes all = walk(value);
	table_fit(&known);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		Extent s[3] = {{0, 0}, {0, 0}, {0, 0}};
		bool plain = u->op == OP_CONST || op_elementwise(u->op);
		for (uint32_t k = 0; plain && k < u->nsrc; k++)
			s[k] = known.at[u->src[k]->id];
		known.at[u->id] = plain ? of_node(u, s) : extent_of_dtype(u->dtype);
		if (u->op == OP_LOAD) {
			Extent e = of_load(u, ctx);
			if (u->nsrc > 1)
				e = hull(e, (Extent){0, 0});
			if (extent_within(e, known.at[u->id]))
				known.at[u->id] = e;
		}
	}
	return known.at[value->id];
}

/* ---- the pattern */

/* What to add to values of that extent for them to be of the dtype; false: nothing will do. */
static bool fit(Extent e, DType d, int64_t *add)
{
	Extent of = extent_of_dtype(d);
	*add = extent_within(e, of) ? 0 : of.lo - e.lo;
	return e.hi - e.lo <= of.hi - of.lo;
}

/* Takes the factors in either order: nothing to add is best, then something to add to the factor
 * beside a constant, whose sum is known before. */
static bool assign(Swap *s, UOp *const *value, const Extent *e, const bool *constant)
{
	int best = 3;
	for (int turned = 0; turned < 2; turned++) {
		int64_t add[2];
		int x = turned, y = !turned;
		if (!fit(e[x], s->pattern->part[0], &add[0]) ||
			!fit(e[y], s->pattern->part[1], &add[1]) || (add[0] && add[1]))
			continue;
		int cost = !add[0] && !add[1] ? 0 : constant[add[0] ? y : x] ? 1 : 2;
		if (cost >= best)
			continue;
		best = cost;
		s->factor[0] = (Factor){value[x], add[0]};
		s->factor[1] = (Factor){value[y], add[1]};
	}
	return best < 3;
}

bool swap_find(Swap *s, UOp *const *factor, int n, const Extent *e, const bool *constant)
{
	*s = (Swap){0};
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		Op op = patterns[i].op;
		s->pattern = &patterns[i];
		if (target_lacks(target, op) ||
			(n ? n != patterns[i].n : !target_swaps(target, op)))
			continue;
		if (assign(s, factor, e, constant))
			return true;
	}
	return false;
}

UOp *const *swap_factors(const UOp *fold)
{
	const UOp *body = fold->src[0];
	bool sum = fold->dtype == DT_I32 && val_is_str(fold->arg, "ADD");
	return sum && body->op == OP_MUL ? body->src : NULL;
}

/* ---- what takes its place */

static UOp *i32(int64_t v) { return const_int(DT_I32, v); }

UOp *swap_packed(const Swap *s, UOp *const *part)
{
	int n = s->pattern->n, bits = 32 / n;
	UOp *word = NULL;
	for (int i = 0; i < n; i++) {
		UOp *v = part[i];
		if (i + 1 < n)
			v = NODE(OP_AND, DT_I32, VNIL, v, i32((1ll << bits) - 1));
		if (i)
			v = NODE(OP_SHL, DT_I32, VNIL, v, i32(bits * i));
		word = word ? NODE(OP_OR, DT_I32, VNIL, word, v) : v;
	}
	return word;
}

/* ---- the action */

typedef struct { const UOp *kernel; const char *path; UOp *range; int n; } Swapping;

static void refuse(const Swapping *s, const char *why)
{
	die(MALFORMED, "node %u KERNEL: swap %s: %s", s->kernel->id, s->path, why);
}

static Extent unknown(const UOp *load, void *ctx) { return extent_of_dtype(load->dtype); }

/* A sum with a gate, as a split with a rest leaves it, as one of gated factors. */
static UOp *without_gate(UOp *fold)
{
	UOp *w = fold->src[0], *factor[2], **src = arena_alloc(fold->nsrc * sizeof *src);
	int64_t zero;
	if (w->op != OP_WHERE || w->src[1]->op != OP_MUL || w->dtype != DT_I32 ||
		!const_is_int(w->src[2], &zero) || zero)
		return fold;
	for (int k = 0; k < 2; k++)
		factor[k] = NODE(OP_WHERE, DT_I32, VNIL, w->src[0], w->src[1]->src[k], w->src[2]);
	memcpy(src, fold->src, fold->nsrc * sizeof *src);
	src[0] = NODE(OP_MUL, DT_I32, VNIL, factor[0], factor[1]);
	return node_with(fold, src);
}

/* The factor's values in all iterations, side by side. */
static UOp *word_of(const Swap *s, const Swapping *by, int k)
{
	UOp *part[32];
	for (int i = 0; i < s->pattern->n; i++) {
		UOp *range = by->range, *at = ix_const(i);
		part[i] = substitute(s->factor[k].value, 1, &range, &at);
		if (s->factor[k].add)
			part[i] = NODE(OP_ADD, DT_I32, VNIL, part[i], i32(s->factor[k].add));
	}
	return swap_packed(s, part);
}

static UOp *swapped(UOp *u, void *ctx)
{
	const Swapping *by = ctx;
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	uint32_t n = 1;
	bool constant[2] = {false, false};
	Swap s;
	Extent e[2];
	if (u->op != OP_RREDUCE)
		return u;
	for (uint32_t i = 1; i < u->nsrc; i++)
		if (u->src[i] != by->range)
			src[n++] = u->src[i];
	if (n == u->nsrc)
		return u;
	UOp *fold = without_gate(u), *const *factor = swap_factors(fold);
	for (int k = 0; factor && k < 2; k++)
		e[k] = extent_of(factor[k], unknown, NULL);
	if (!factor || !swap_find(&s, factor, by->n, e, constant))
		refuse(by, "a reduction is no i32 sum of so many products of narrow integers");
	src[0] = NODE(s.pattern->op, DT_I32, VNIL, word_of(&s, by, 0), word_of(&s, by, 1));
	UOp *sum = n > 1 ? node_new(OP_RREDUCE, DT_I32, n, src, u->arg) : src[0];
	for (int k = 0; k < 2; k++)
		if (s.factor[k].add) {
			memcpy(src, u->src, u->nsrc * sizeof *src);
			UOp *by_add = i32(-s.factor[k].add);
			src[0] = NODE(OP_MUL, DT_I32, VNIL, s.factor[!k].value, by_add);
			sum = NODE(OP_ADD, DT_I32, VNIL, sum,
				node_new(OP_RREDUCE, DT_I32, u->nsrc, src, u->arg));
		}
	return sum;
}

void swap_range(Rewriting *w, const Val *a)
{
	Swapping s = {.kernel = w->kernel, .path = range_path(a->a[1])};
	int axis = rewriting_axis(w, a->a[1]);
	Facts f;
	int64_t n;
	facts_find(&f, w->kernel, w->alias);
	for (int r = 0; r < f.nrange; r++)
		if (axis_of(&f, r) == axis) {
			if (s.range || f.out >> r & 1)
				refuse(&s, "it is not of a reduction alone");
			s.range = f.range[r];
		}
	if (!s.range || !ix_is_const(s.range->src[0], &n) || n > 4)
		refuse(&s, "it does not have 2 or 4 iterations");
	s.n = (int)n;
	w->kernel = walk_replace(w->kernel, swapped, &s);
}
