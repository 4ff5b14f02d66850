/* The names of a kernel's values, by which actions mean them: the op, and the number among values
 * of that op, in the order of the buffers that they are first made of. What places and gates are
 * made of comes last, so a name mostly stays what it was when a range is split.
 *
 *     y[r0] = Σ r1 of a[r0,r1] * exp2(b[r1])      LOAD.0 (a), LOAD.1 (b), EXP2.0, MUL.0, RREDUCE.0
 */
#include "actions/actions.h"
#include <stdlib.h>

enum { TRIED = 1000 };   /* names that are compared with one that there is not */

/* What is known of the nodes of f->all: whether each is a value, and the least slot of the buffers
 * that it is made of. */
typedef struct { bool is; int slot; } Value;

/* How many sources of u are values, from the first on, but for a STORE's place. */
static uint32_t value_sources(const UOp *u)
{
	bool binds = u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT;
	return u->op == OP_STORE ? 2 : u->op == OP_LOAD || u->op == OP_INDEX ? 0 :
		binds ? 1 : u->nsrc;
}

static void look_at(const UOp *u, Map *place)
{
	Value *v = map_get(place, PKEY(u));
	v->is = u->op == OP_LOAD || u->op == OP_RREDUCE;
	v->slot = u->op == OP_PARAM ? (int)val_get(u->arg, "slot")->i : INT32_MAX;
	for (uint32_t k = 0; k < u->nsrc; k++) {
		const Value *s = map_get(place, PKEY(u->src[k]));
		v->is |= op_elementwise(u->op) && s->is;
		v->slot = s->slot < v->slot ? s->slot : v->slot;
	}
}

/* What STOREs store, and what that is made of, are values; so is what places and gates are made of
 * that depends on data. */
static Value *values_of(const Facts *f)
{
	Value *v = xcalloc(f->all.n + 1, sizeof *v);
	Map place = {0};
	for (size_t i = 0; i < f->all.n; i++) {
		map_put(&place, PKEY(f->all.at[i]), v + i);
		look_at(f->all.at[i], &place);
	}
	for (size_t i = f->all.n; i-- > 0;) {
		const UOp *u = f->all.at[i];
		bool store = u->op == OP_STORE;
		for (uint32_t k = store; k < value_sources(u) && (store || v[i].is); k++)
			((Value *)map_get(&place, PKEY(u->src[k])))->is = true;
	}
	map_free(&place);
	return v;
}

static bool comes_before(const Value *v, size_t k, size_t i)
{
	if (v[k].is != v[i].is)
		return v[k].is;
	return v[k].slot != v[i].slot ? v[k].slot < v[i].slot : k < i;
}

/* The number of node i of f->all among those of its op: values first, then what places and gates
 * are made of. */
static size_t number_of(const Facts *f, const Value *v, size_t i)
{
	size_t n = 0;
	for (size_t k = 0; k < f->all.n; k++)
		n += f->all.at[k]->op == f->all.at[i]->op && comes_before(v, k, i);
	return n;
}

static const char *name_of(const Facts *f, const Value *v, size_t i)
{
	return arena_printf("%s.%zu", op_name(f->all.at[i]->op), number_of(f, v, i));
}

const char *value_name(const Facts *f, const UOp *u)
{
	Value *v = values_of(f);
	size_t i = 0;
	while (f->all.at[i] != u)
		i++;
	const char *name = name_of(f, v, i);
	free(v);
	return name;
}

static _Noreturn void refuse(const Facts *f, const Value *v, const Val *name)
{
	Nearest near = {.word = name->kind == VAL_STR ? name->s : ""};
	for (size_t i = 0; i < f->all.n && i < TRIED; i++)
		nearest_try(&near, name_of(f, v, i));
	die(MALFORMED, "node %u KERNEL: no value is called '%.60s'%s", f->kernel->id, near.word,
		nearest_hint(&near));
}

UOp *value_named(const Facts *f, const Val *name)
{
	Value *v = values_of(f);
	const char *dot = name->kind == VAL_STR ? strchr(name->s, '.') : NULL;
	size_t n = dot ? dot - name->s : 0;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		const char *op = op_name(u->op);
		if (!n || strlen(op) != n || strncmp(op, name->s, n) ||
			strcmp(name_of(f, v, i), name->s))
			continue;
		free(v);
		return u;
	}
	refuse(f, v, name);
}
