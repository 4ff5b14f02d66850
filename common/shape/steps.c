/* Steps of a graph as they are read: names that BINDs declare, CARRYs that LOOPs are about to
 * get. */
#include "shape/regions.h"
#include <stdlib.h>

typedef struct { Map carry; } StepStates;       /* state + 1 → CARRY */

UOp *steps_carry(const Steps *s, int64_t loop, int64_t k)
{
	const StepStates *states = map_get(&s->loops, (uint64_t)loop + 1);
	return states ? map_get(&states->carry, (uint64_t)k + 1) : NULL;
}

static const char *add_carry(Steps *s, UOp *u)
{
	uint64_t loop = (uint64_t)u->arg->a[0]->i + 1, k = (uint64_t)u->arg->a[1]->i + 1;
	StepStates *states = map_get(&s->loops, loop);
	if (!states) {
		states = xcalloc(1, sizeof *states);
		map_put(&s->loops, loop, states);
	}
	if (map_get(&states->carry, k))
		return "a second CARRY of this state";
	map_put(&states->carry, k, u);
	return NULL;
}

static const char *add_bind(Steps *s, UOp *u)
{
	const Val *name = u->arg->a[0];
	const char *err = NULL;
	int64_t least, most, other;
	if (!size_name(name))
		return "a size's name is not made of letters, digits and _";
	if (vars_find(name->s, name->n))
		return arena_printf("size %.100s is bound twice", name->s);
	ix_bounds(size_from_val(u->arg->a[1], &err), &least, &other);
	ix_bounds(size_from_val(u->arg->a[2], &err), &other, &most);
	vars_bind(name->s, least < 0 ? 0 : least, most);
	vec_push(&s->binds, u);
	return NULL;
}

/* The size variable that a LOOP of a list declares: its turn. */
static const char *add_turn(const UOp *loop)
{
	const Val *name = val_get(loop->arg, "turn");
	if (!size_name(name))
		return "a turn's name is not made of letters, digits and _";
	if (vars_find(name->s, name->n))
		return arena_printf("size %.100s is bound twice", name->s);
	vars_bind(name->s, 0, INT32_MAX);
	return NULL;
}

static const char *add_carries(const Steps *s, NodeList *src, const Val *arg)
{
	const char *e = arg_check(OP_LOOP, 1 << LV_GRAPH, arg);
	size_t states = e ? 0 : (size_t)val_get(arg, "states")->i;
	if (e)
		return e;
	if (src->n != loop_sources(arg))
		return arena_printf("%zu sources, needs %zu", src->n, loop_sources(arg));
	for (size_t k = 0; k < states; k++) {
		UOp *u = steps_carry(s, val_get(arg, "id")->i, (int64_t)k);
		if (!u)
			return arena_printf("state %zu has no CARRY before it", k);
		vec_push(src, u);
	}
	return NULL;
}

const char *steps_complete(const Steps *s, Op op, NodeList *src, const Val **arg)
{
	if (op == OP_LOOP)
		return add_carries(s, src, *arg);
	if (op != OP_SINK || !s->binds.n)
		return NULL;
	for (size_t i = 0; i < s->binds.n; i++)
		vec_push(src, s->binds.at[i]);
	*arg = val_set(*arg, "binds", val_int((int64_t)s->binds.n));
	return NULL;
}

const char *steps_add(Steps *s, UOp *u)
{
	if (u->op == OP_LOOP && val_get(u->arg, "turn"))
		return add_turn(u);
	return u->op == OP_BIND ? add_bind(s, u) : u->op == OP_CARRY ? add_carry(s, u) : NULL;
}

void steps_free(Steps *s)
{
	for (size_t i = 0; i < s->loops.cap; i++)
		if (s->loops.val[i]) {
			StepStates *states = s->loops.val[i];
			map_free(&states->carry);
			free(states);
		}
	map_free(&s->loops);
	vec_free(&s->binds);
}
