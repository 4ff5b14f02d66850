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

static const RuleFunction functions[] = {{"cos", t_cos}, {"log", t_log}, {0}};
static const RuleNames names = {.functions = functions, .rows = true};

/* ---- pairs for elementwise ops that are no formula */

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
	{"where", where_back, where_along},
	{"custom", custom_back, custom_along},
	{"none"}, {0},
};

/* ---- rows by op */

/* The rules of grad.rules by op; NULL: not read yet. */
typedef struct { const Rule *rule; const OpPair *pair; } RuleRow;
static RuleRow *rows;

static const OpPair *pair_named(const Rule *r)
{
	const OpPair *const tables[] = {elements, derive_views, derive_folds, derive_places};

	for (int i = 0; i < 4; i++)
		for (const OpPair *p = tables[i]; p->name; p++)
			if (!strcmp(p->name, r->word))
				return p;
	die(FAILED, "%s: no functions named '%s'", r->where, r->word);
}

static RuleRow row_read(const Rule *r)
{
	if (!r->word && r->nto != r->from->nsrc)
		die(FAILED, "%s: not a part for each source", r->where);
	return (RuleRow){r, r->word ? pair_named(r) : NULL};
}

static const RuleRow *row_of(Op op)
{
	const Rule *r;

	if (!rows) {
		const Rules *all = rules_rows("grad", &names);
		rows = xcalloc(OP_COUNT, sizeof *rows);
		for (int i = 0; i < OP_COUNT; i++)
			if ((r = rules_row(all, i)))
				rows[i] = row_read(r);
	}
	CHECK(rows[op].rule);
	return &rows[op];
}

bool op_follows(const UOp *u, uint32_t i)
{
	const RuleRow *r = row_of(u->op);

	if (!dtype_float(u->src[i]->dtype) || !dtype_float(u->dtype))
		return false;
	return r->pair ? r->pair->back != NULL : r->rule->to[i] != NULL;
}

bool op_by_element(Op op)
{
	return op_elementwise(op) || op == OP_CONTIGUOUS || op == OP_COPY || op == OP_ASSIGN;
}

/* The formula for source i with g put in, in the dtype of what it is a part of. */
static UOp *part(const Rule *r, UOp *u, int i, UOp *g, DType dt)
{
	Bound env[MAX_VARS];

	CHECK(rule_match(r, u, env));
	env[r->g].node = g;
	return t_cast(rule_build(NULL, r->to[i], u, env), dt);
}

void op_back(UOp *u, UOp *g, const bool *want, UOp **to)
{
	const RuleRow *r = row_of(u->op);

	if (r->pair) {
		r->pair->back(u, g, want, to);
		return;
	}
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (want[i])
			to[i] = part(r->rule, u, i, g, u->src[i]->dtype);
}

UOp *op_along(UOp *u, UOp *const *t)
{
	const RuleRow *r = row_of(u->op);
	UOp *sum = NULL, *p;

	if (r->pair)
		return r->pair->along(u, t);
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (t[i] && r->rule->to[i]) {
			p = part(r->rule, u, i, t[i], u->dtype);
			sum = sum ? t_add(sum, p) : p;
		}
	return sum;
}
