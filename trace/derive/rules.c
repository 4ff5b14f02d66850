/* The derivative of one op, by its row of grad.rules: a formula for each source, or a pair of
 * functions.
 *
 *     EXP2(x): g -> g * self * ln2
 *
 * A formula serves both modes: what it is for a cotangent, the transposed derivative, is the
 * derivative itself where each element depends on one place of a source. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include "rules/rule.h"

/* ---- what formulas call */

static UOp *call_cos(UOp *const *x) { return t_cos(x[0]); }
static UOp *call_log(UOp *const *x) { return t_log(x[0]); }

static const RuleCallRow calls[] = {{"cos", call_cos}, {"log", call_log}, {0}};

/* ---- pairs for elementwise ops that are no formula */

static void cast_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	to[0] = t_cast(g, u->src[0]->dtype);
}
static UOp *cast_along(UOp *u, UOp *const *t) { return t_cast(t[0], u->dtype); }

/* Selected, never multiplied: what is not taken gets 0, whatever came in. */
static void where_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	UOp *zero = t_num(u->dtype, 0);

	if (want[1])
		to[1] = t_where(u->src[0], g, zero);
	if (want[2])
		to[2] = t_where(u->src[0], zero, g);
}

static UOp *where_along(UOp *u, UOp *const *t)
{
	UOp *zero = t_num(u->dtype, 0);

	return t_where(u->src[0], t[1] ? t[1] : zero, t[2] ? t[2] : zero);
}

static _Noreturn void no_derivative(const UOp *u)
{
	die(UNSUPPORTED, "CUSTOM (%s) has no derivative: leave it out by detach, or write it in "
		"ops",
		custom_name(u->arg));
}

static void custom_back(UOp *u, UOp *g, const bool *want, UOp **to) { no_derivative(u); }
static UOp *custom_along(UOp *u, UOp *const *t) { no_derivative(u); }

static const OpPair elements[] = {
	{"cast", cast_back, cast_along}, {"where", where_back, where_along},
	{"custom", custom_back, custom_along}, {0},
};

/* ---- rows by op */

typedef struct { const Rule *rule; const OpPair *pair; } Row;
static Row rows[OP_COUNT];

static const OpPair *pair_named(const char *name)
{
	const OpPair *const tables[] = {elements, derive_views, derive_folds, derive_places};

	for (int i = 0; i < 4; i++)
		for (const OpPair *p = tables[i]; p->name; p++)
			if (!strcmp(p->name, name))
				return p;
	die(FAILED, "grad.rules: no functions named '%s'", name);
}

static const Row *row_of(Op op)
{
	static Rules *all;

	if (!all) {
		all = rules_derivatives("grad", calls);
		for (size_t i = 0; i < all->n; i++) {
			const Rule *r = &all->at[i];
			rows[r->from->op] = (Row){r, r->pair ? pair_named(r->pair) : NULL};
		}
	}
	CHECK(rows[op].rule);
	return &rows[op];
}

bool op_follows(const UOp *u, uint32_t i)
{
	if (op_info[u->op].grad != GRAD_RULE || !dtype_float(u->src[i]->dtype) ||
		!dtype_float(u->dtype))
		return false;
	const Row *r = row_of(u->op);
	return r->pair || r->rule->part[i];
}

bool op_by_element(Op op)
{
	return op_elementwise(op) || op == OP_CONTIGUOUS || op == OP_COPY || op == OP_ASSIGN;
}

/* The formula for source i with g put in. */
static UOp *part(const Rule *r, UOp *u, int i, UOp *g)
{
	UOp *env[MAX_VARS];

	for (uint32_t k = 0; k < u->nsrc; k++)
		env[k] = u->src[k];
	env[r->g] = g;
	return rule_build(r->part[i], u, env);
}

void op_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	const Row *r = row_of(u->op);

	if (r->pair) {
		r->pair->back(u, g, want, to);
		return;
	}
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (want[i])
			to[i] = part(r->rule, u, i, g);
}

UOp *op_along(UOp *u, UOp *const *t)
{
	const Row *r = row_of(u->op);
	UOp *sum = NULL, *p;

	if (r->pair)
		return r->pair->along(u, t);
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (t[i] && r->rule->part[i]) {
			p = part(r->rule, u, i, t[i]);
			sum = sum ? t_add(sum, p) : p;
		}
	return sum;
}
