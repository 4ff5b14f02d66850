/* The derivative of one op, by its row of grad.rules: a formula for each source, or a pair of
 * functions.
 *
 *     EXP2(x): g -> g * self * ln2
 *
 * A formula serves both modes: the transposed derivative, which maps cotangents, is the derivative
 * itself when each element depends on a single place of a source. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include "rules/rule.h"

/* ---- functions for formulas */

static const RuleFunction functions[] = {{"cos", t_cos}, {"log", t_log}, {0}};

/* ---- pairs for elementwise ops without a formula */

/* Selected, never multiplied: the side that is not taken gets 0, whatever g is. */
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
	{"where", where_back, where_along},
	{"custom", custom_back, custom_along},
	{0},
};

/* ---- rows by op */

static const void *pair_named(const char *name)
{
	const OpPair *const tables[] = {elements, derive_views, derive_folds, derive_places};

	for (int i = 0; i < 4; i++)
		for (const OpPair *p = tables[i]; p->name; p++)
			if (!strcmp(p->name, name))
				return p;
	return NULL;
}

static const RuleNames names = {.lines = PARTS, .functions = functions, .named = pair_named};

static const Rule *row_of(Op op) { return rules_row("grad", &names, op); }

bool op_follows(const UOp *u, uint32_t i)
{
	if (op_info[u->op].grad != GRAD_RULE || !dtype_float(u->src[i]->dtype) ||
		!dtype_float(u->dtype))
		return false;
	const Rule *r = row_of(u->op);
	return r->what || r->to[i];
}

bool op_by_element(Op op)
{
	return op_elementwise(op) || op == OP_CONTIGUOUS || op == OP_COPY || op == OP_ASSIGN;
}

/* The formula for source i with g substituted, in the dtype of the value it is a part of. */
static UOp *part(const Rule *r, UOp *u, int i, UOp *g, DType dt)
{
	Bound env[MAX_VARS];

	CHECK(rule_match(r, u, env));
	env[r->g].node = g;
	return t_cast(rule_build(NULL, r->to[i], u, env), dt);
}

void op_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	const Rule *r = row_of(u->op);
	const OpPair *pair = r->what;

	if (pair) {
		pair->back(u, g, want, to);
		return;
	}
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (want[i])
			to[i] = part(r, u, i, g, u->src[i]->dtype);
}

UOp *op_along(UOp *u, UOp *const *t)
{
	const Rule *r = row_of(u->op);
	const OpPair *pair = r->what;
	UOp *sum = NULL, *p;

	if (pair)
		return pair->along(u, t);
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (t[i] && r->to[i]) {
			p = part(r, u, i, t[i], u->dtype);
			sum = sum ? t_add(sum, p) : p;
		}
	return sum;
}
