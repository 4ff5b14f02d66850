/* Keeps the conditions on sizes that could not be decided when a graph was read in meta until the
 * sizes are known. (Documents made by trace have them already.)
 *
 *     y of [height//2*2] + x of [height]   →   meta {checks: [["eq", "height//2*2", "height"]]}
 *
 * Where a loop or branch is, conditions belong to it: whoever computes a node compares its sources.
 *
 * At later levels shapes have become indices, from which the conditions could not be derived again.
 */
#include "shape/regions.h"

void checks_remember(Graph *g)
{
	const Val *checks = size_checks();

	if (g->level == LV_GRAPH && !steps_in(g) && checks != VNIL && !val_get(g->meta, "checks"))
		g->meta = val_set(g->meta, "checks", checks);
}

typedef struct { bool equal; UOp *size[2]; } Check;
typedef VEC(Check) Checks;

/* Those of a document, kept until another one's are asked for. */
static const Checks *checks_of(const Graph *g)
{
	static ARENA Checks last;
	static ARENA const Val *meta, *vars;
	const Val *rows = val_get(g->meta, "checks");
	const char *err;

	if (meta == g->meta && vars == g->vars)
		return &last;
	meta = g->meta;
	vars = g->vars;
	last.n = 0;
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++) {
		const Val *row = rows->a[i];
		if (row->kind != VAL_ARRAY || row->n != 3)
			continue;
		Check c = {val_is_str(row->a[0], "eq"), {size_from_val(row->a[1], &err),
			size_from_val(row->a[2], &err)}};
		if (c.size[0] && c.size[1])
			vec_push(&last, c);
	}
	return &last;
}

static bool all_hold(const Checks *checks, const VarEnv *env)
{
	int64_t a, b;

	for (size_t i = 0; i < checks->n; i++) {
		const Check *c = &checks->at[i];
		if (ix_eval(c->size[0], env, &a) && ix_eval(c->size[1], env, &b) &&
			(c->equal ? a != b : a > b))
			return false;
	}
	return true;
}

bool checks_hold(const Graph *g, const VarEnv *env)
{
	return all_hold(checks_of(g), env);
}

/* Whether a check that speaks of one variable alone fails where that is v. */
static bool fails_at(const Checks *checks, const char *name, int64_t v)
{
	const VarEnv one = {1, {name}, {v}};
	return !all_hold(checks, &one);
}

bool checks_raise(Graph *g)
{
	enum { TRIES = 1 << 12 };
	const Checks *checks = checks_of(g);
	const Val *vars = g->vars;
	for (size_t k = 0; vars != VNIL && k < vars->n; k++) {
		const Val *name = vars->a[2 * k], *bounds = vars->a[2 * k + 1];
		int64_t lo = bounds->a[0]->i, hi = bounds->a[1]->i, v = lo;
		while (v <= hi && v - lo < TRIES && fails_at(checks, name->s, v))
			v++;
		if (v > lo && v <= hi && v - lo < TRIES)
			g->vars = val_set(g->vars, name->s, VARR(val_int(v), bounds->a[1]));
	}
	return g->vars != vars;
}

bool check_holds(const Val *row)
{
	const char *err;
	UOp *a = size_from_val(row->a[1], &err), *b = size_from_val(row->a[2], &err);
	bool equal = val_is_str(row->a[0], "eq");
	return a && b && (equal ? a == b : ix_prove_le(a, b));
}

/* The value of variable number k in a choice: the least, the next, then small numbers of every
 * remainder, at which loops over tiles take their ways; others where checks do not hold, in every
 * other attempt one for all variables. */
static int64_t size_choice(const Val *bounds, int round, uint64_t k, int attempt)
{
	static const int64_t some[] = {3, 7, 5, 4, 6, 13, 9, 8, 2, 11, 12, 17, 16, 20, 24, 32};
	enum { COUNT = sizeof some / sizeof *some, FIRST = 8 };
	int64_t lo = bounds->a[0]->i, hi = bounds->a[1]->i, v;

	if (round < 2 && attempt == 0)
		return lo + round > hi ? hi : lo + round;
	v = attempt ? some[hash_mix((uint64_t)(64 * round + attempt), attempt % 2 ? 0 : k) % COUNT]
		    : some[((uint64_t)round - 2 + 3 * k) % FIRST];
	return v < lo || v > hi ? lo + v % (hi - lo + 1) : v;
}

bool sizes_draw(const Graph *g, int round, VarEnv *env)
{
	enum { ATTEMPTS = 256 };
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		env->n = 0;
		for (size_t k = 0; g->vars != VNIL && k < g->vars->n && env->n < 64; k++) {
			env->name[env->n] = g->vars->a[2 * k]->s;
			env->value[env->n++] =
				size_choice(g->vars->a[2 * k + 1], round, k, attempt);
		}
		if (checks_hold(g, env))
			return true;
	}
	return false;
}
