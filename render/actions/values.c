/* The names of a kernel's values, by which actions mean them: the op, and the number among values of
 * that op. Places and gates do not count, so a name stays what it was when a range is split.
 *
 *     y[r0] = Σ r1 of a[r0,r1] * exp2(b[r1])      LOAD.0 (a), LOAD.1 (b), EXP2.0, MUL.0, RREDUCE.0
 */
#include "actions/actions.h"
#include <stdlib.h>

/* How many sources of u are values, from the first on, but for a STORE's place. */
static uint32_t value_sources(const UOp *u)
{
	bool binds = u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT;
	return u->op == OP_STORE ? 2 : u->op == OP_LOAD || u->op == OP_INDEX ? 0 :
		binds ? 1 : u->nsrc;
}

/* The values in f->all: what STOREs store, and what these are made of. */
static bool *values_of(const Facts *f)
{
	bool *is = xcalloc(f->all.n + 1, sizeof *is);
	Map place = {0};
	for (size_t i = 0; i < f->all.n; i++)
		map_put(&place, PKEY(f->all.at[i]), is + i);
	for (size_t i = f->all.n; i-- > 0;) {
		const UOp *u = f->all.at[i];
		bool store = u->op == OP_STORE;
		for (uint32_t k = store; k < value_sources(u) && (store || is[i]); k++)
			*(bool *)map_get(&place, PKEY(u->src[k])) = true;
	}
	map_free(&place);
	return is;
}

const char *value_name(const Facts *f, const UOp *u)
{
	bool *is = values_of(f);
	size_t n = 0;
	for (size_t i = 0; i < f->all.n && f->all.at[i] != u; i++)
		n += is[i] && f->all.at[i]->op == u->op;
	free(is);
	return arena_printf("%s.%zu", op_name(u->op), n);
}

static _Noreturn void refuse(const Facts *f, const bool *is, const Val *name)
{
	Nearest near = {.word = name->kind == VAL_STR ? name->s : ""};
	for (size_t i = 0; i < f->all.n; i++)
		if (is[i])
			nearest_try(&near, value_name(f, f->all.at[i]));
	die(MALFORMED, "node %u KERNEL: no value is called '%.60s'%s", f->kernel->id, near.word,
		nearest_hint(&near));
}

UOp *value_named(const Facts *f, const Val *name)
{
	const char *dot = name->kind == VAL_STR ? strchr(name->s, '.') : NULL;
	bool *is = values_of(f);
	UOp *value = NULL;
	char *end = NULL;
	size_t number = dot ? strtoul(dot + 1, &end, 10) : 0, length = dot ? dot - name->s : 0;
	bool right = dot && end > dot + 1 && !*end;
	for (size_t i = 0; right && i < f->all.n && !value; i++) {
		const char *op = op_name(f->all.at[i]->op);
		if (is[i] && strlen(op) == length && !strncmp(op, name->s, length) && !number--)
			value = f->all.at[i];
	}
	if (!value)
		refuse(f, is, name);
	free(is);
	return value;
}
