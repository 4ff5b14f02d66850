/* Cases of a kernel: what one of them refutes is not worth the search for a proof.
 *
 *     low = r3 + gidx0%16, below 16      15 + 7 is 22 at r3=15, gidx0=7: there is no proof
 *
 * A case is a value of each size, which meet the document's checks, of each counter and of each
 * item's number. A node has its values in all cases at once, computed when they are first asked
 * for; there is none where data is loaded, or a loop is not run. */
#include "prove/digits.h"
#include "prove/places.h"

enum { SMALL = 8, CASES = 4 * SMALL, MOST_DEPTH = 200 };

/* Bit i of `has`: there is a value in case i. */
typedef struct { int64_t v[CASES]; uint32_t has; } Values;

static ARENA struct {
	const Val *vars, *meta;         /* of the document that the cases are of */
	VarEnv size[CASES];
	uint32_t some;                  /* the cases that have sizes */
	Map at;                         /* by node; in the arena */
	/* the last conditions that were asked about, and the cases in which they hold */
	struct { UOp *const *cond; size_t n; uint32_t in; } last;
} samples;

/* How much more than a small size v each is: nothing to very much, of the same remainders by small
 * numbers. */
static int64_t more_of(int64_t v, int much)
{
	static const int64_t more[] = {0, 12, 24, 48, 240};
	enum { COUNT = sizeof more / sizeof *more };
	return much < COUNT ? more[much] : 240 * v;
}

/* Sizes of a magnitude, or `only` one of them (of n: all), as the document's checks allow. */
static bool raise_sizes(const Graph *g, int much, int only, VarEnv *e)
{
	for (int k = 0; k < e->n; k++) {
		int64_t most = g->vars->a[2 * k + 1]->a[1]->i;
		int64_t v = e->value[k] + more_of(e->value[k], much);
		if ((only == e->n || only == k) && v <= most && v <= USUAL_SIZE)
			e->value[k] = v;
	}
	return checks_hold(g, e);
}

/* Sizes of case i of a magnitude, from small ones. */
static void draw_sizes(const Graph *g, int i, const VarEnv *small)
{
	static const int magnitude[CASES / SMALL] = {0, 2, 4, 5};
	VarEnv *e = &samples.size[i];
	for (int much = magnitude[i / SMALL]; much; much--)
		for (int k = 0; k <= small->n; k++) {
			*e = *small;
			if (raise_sizes(g, much, k ? (i + k) % small->n : small->n, e))
				return;
		}
	*e = *small;
}

static void samples_of(const Graph *g)
{
	if (samples.vars == g->vars && samples.meta == g->meta)
		return;
	samples.vars = g->vars;
	samples.meta = g->meta;
	samples.some = 0;
	map_free(&samples.at);
	samples.last.cond = NULL;
	for (int i = 0; i < SMALL; i++) {
		VarEnv small;
		if (!sizes_draw(g, i, &small))
			continue;
		for (int k = i; k < CASES; k += SMALL) {
			draw_sizes(g, k, &small);
			samples.some |= 1u << k;
		}
	}
}

const VarEnv *sample_sizes(const Graph *g, int i)
{
	samples_of(g);
	i %= CASES;
	return samples.some >> i & 1 ? &samples.size[i] : NULL;
}

static bool var_value(const VarEnv *e, const UOp *u, int64_t *v)
{
	for (int i = 0; i < e->n; i++)
		if (val_is_str(u->arg->a[0], e->name[i])) {
			*v = e->value[i];
			return true;
		}
	return false;
}

/* A counter or number below n: in some cases all are the last or the first, else any. */
static bool drawn(const UOp *u, int i, int64_t n, int64_t *v)
{
	uint64_t r = hash_mix(hash_mix(17, u->id), (uint64_t)i);
	int mode = i % 3 ? (int)(r % 4) : i / 3 % 4;
	if (n <= 0)
		return false;
	*v = mode < 2 ? n - 1 : mode == 2 ? 0 : (int64_t)(r / 4 % (uint64_t)n);
	return true;
}

bool index_operation(Op op, int64_t a, int64_t b, int64_t *v)
{
	switch (op) {
	case OP_ADD: return add_ok(a, b, v);
	case OP_MUL: return mul_ok(a, b, v);
	case OP_SUB: return !__builtin_sub_overflow(a, b, v);
	case OP_MIN: *v = a < b ? a : b; return true;
	case OP_MAX: *v = a > b ? a : b; return true;
	case OP_AND: *v = a & b; return true;
	case OP_OR: *v = a | b; return true;
	case OP_CMPLT: *v = a < b; return true;
	case OP_CMPEQ: *v = a == b; return true;
	case OP_CMPNE: *v = a != b; return true;
	case OP_FLOORDIV: case OP_FLOORMOD:
		if (b <= 0)
			return false;
		*v = a / b - (a % b < 0);
		*v = op == OP_FLOORDIV ? *v : a - *v * b;
		return true;
	default: return false;
	}
}

static bool is_index(const UOp *u) { return u->dtype == DT_I64 || u->dtype == DT_BOOL; }

static bool value_in(UOp *u, int i, const Values *const *s, int64_t *v)
{
	switch (u->op) {
	case OP_CONST:
		*v = u->dtype == DT_BOOL ? u->arg->b : u->arg->i;
		return u->dtype == DT_BOOL || u->arg->kind == VAL_INT;
	case OP_VAR: return var_value(&samples.size[i], u, v);
	case OP_RANGE: case OP_SPECIAL: return drawn(u, i, s[0]->v[i], v);
	case OP_LET: *v = s[0]->v[i]; return true;
	default: return index_operation(u->op, s[0]->v[i], s[1]->v[i], v);
	}
}

static const Values *values_of(UOp *u, int depth)
{
	const Values *s[2];
	Values *r = map_get(&samples.at, PKEY(u));
	bool leaf = u->op == OP_CONST || u->op == OP_VAR;
	bool one = u->op == OP_RANGE || u->op == OP_SPECIAL || u->op == OP_LET;
	if (r)
		return r;
	r = arena_alloc(sizeof *r);
	r->has = samples.some;
	if (!is_index(u) || !depth || (!leaf && u->nsrc != 1 + !one))
		r->has = 0;
	for (uint32_t i = 0; r->has && i < u->nsrc; i++) {
		s[i] = values_of(u->src[i], depth - 1);
		r->has &= s[i]->has;
	}
	for (int i = 0; i < CASES; i++)
		if (r->has >> i & 1 && !value_in(u, i, s, &r->v[i]))
			r->has &= ~(1u << i);
	map_put(&samples.at, PKEY(u), r);
	return r;
}

/* The cases in which all conditions of a place hold. */
static uint32_t cases_of(const Place *p)
{
	uint32_t in = samples.some;
	if (p->n && samples.last.cond == p->cond && samples.last.n == p->n)
		return samples.last.in;
	for (size_t i = 0; in && i < p->n; i++) {
		const Values *c = values_of(p->cond[i], MOST_DEPTH);
		in &= c->has;
		for (int k = 0; k < CASES; k++)
			if (in >> k & 1 && !c->v[k])
				in &= ~(1u << k);
	}
	samples.last.cond = p->cond;
	samples.last.n = p->n;
	samples.last.in = in;
	return in;
}

bool sample_refutes(const Place *p, UOp *u, UOp *below)
{
	if (!p->call)
		return false;
	samples_of(p->call->graph);
	const Values *a = values_of(u, MOST_DEPTH), *b = values_of(below, MOST_DEPTH);
	uint32_t left = a->has & b->has;
	left = left ? left & cases_of(p) : 0;
	for (int k = 0; k < CASES; k++)
		if (left >> k & 1 && (a->v[k] < 0 || a->v[k] >= b->v[k]))
			return true;
	return false;
}
