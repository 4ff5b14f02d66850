/* Steps of a graph as they are read: names that BINDs declare, CARRYs that LOOPs are about to
 * get. */
#include "shape/regions.h"

static uint64_t state_key(const Val *loop, const Val *k) { return PKEY(VARR(loop, k)); }

UOp *steps_carry(const Steps *s, int64_t loop, int64_t k)
{
	return map_get(&s->carries, state_key(val_int(loop), val_int(k)));
}

static const char *add_carry(Steps *s, UOp *u)
{
	uint64_t state = state_key(u->arg->a[0], u->arg->a[1]);
	if (map_get(&s->carries, state))
		return "a second CARRY of this state";
	map_put(&s->carries, state, u);
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
	UOp *from = size_from_val(u->arg->a[1], &err);
	UOp *to = from ? size_from_val(u->arg->a[2], &err) : NULL;
	if (!to)
		return err ? err : "its bounds are no sizes";
	ix_bounds(from, &least, &other);
	ix_bounds(to, &other, &most);
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

const char *steps_written(Op op, size_t nsrc, const Val *arg)
{
	const char *e = op == OP_LOOP || op == OP_BIND ? arg_check(op, 1 << LV_GRAPH, arg) : NULL;
	if (!e && op == OP_LOOP && nsrc != loop_sources(arg))
		e = arena_printf("%zu sources, needs %zu", nsrc, loop_sources(arg));
	return e;
}

static const char *add_carries(const Steps *s, NodeList *src, const Val *arg)
{
	const char *e = steps_written(OP_LOOP, src->n, arg);
	size_t states = e ? 0 : (size_t)val_get(arg, "states")->i;
	if (e)
		return e;
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

static void count_loop(Steps *s, const UOp *u)
{
	int64_t id = u->op == OP_TURN ? u->arg->i :
		u->op == OP_CARRY ? u->arg->a[0]->i :
		u->op == OP_LOOP ? val_get(u->arg, "id")->i : -1;
	if (id >= s->next_loop && id < INT64_MAX)
		s->next_loop = id + 1;
}

const char *steps_add(Steps *s, UOp *u)
{
	if (u->op == OP_LOOP && val_get(u->arg, "turn"))
		return add_turn(u);
	count_loop(s, u);
	return u->op == OP_BIND ? add_bind(s, u) : u->op == OP_CARRY ? add_carry(s, u) : NULL;
}

void steps_free(Steps *s)
{
	map_free(&s->carries);
	vec_free(&s->binds);
}
