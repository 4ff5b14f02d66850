/* Steps whose sizes and branches are data, made while a graph is built: a size that is bound to a
 * value, a loop that carries states from turn to turn, two branches.
 *
 *     loop = loop_new()              TURN, and a CARRY for each state
 *     h = loop_state(&loop, h0, NULL)
 *     y = f(h, x[loop.turn])         any nodes: what depends on the turn or a state is the body
 *     l = loop_end(&loop, …)         LOOP
 *     loop_stacked(l, 0, NULL)       PICK */
#include "primitives/primitives.h"

static ARENA Steps made;
static ARENA unsigned within;         /* bodies and branches that are being made */

Steps *steps_made(void) { return &made; }

StepsMark steps_mark(void) { return (StepsMark){within, made.binds.n, size_checks_made()}; }

StepsMark steps_enter(void)
{
	within++;
	StepsMark m = steps_mark();
	m.within--;
	return m;
}

void steps_leave(StepsMark from) { within = from.within; }

void steps_drop(StepsMark from)
{
	within = from.within;
	made.binds.n = from.binds;
	size_checks_drop(from.checks, size_checks_made());
}

bool steps_within(void) { return within > 0; }

UOp *step_made(UOp *u)
{
	const char *err = steps_add(&made, u);
	if (err)
		die(MALFORMED, "%s", err);
	return u;
}

void steps_known(const UOp *sink)
{
	Nodes all = walk((UOp *)sink);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_BIND)
			vec_push(&made.binds, u);
		else if (op_info[u->op].cls == CLASS_FLOW)
			step_made(u);
	}
}

static UOp *completed(Op op, size_t n, UOp *const *src, const Val *arg)
{
	NodeList all = {0};
	for (size_t i = 0; i < n; i++)
		vec_push(&all, src[i]);
	const char *err = steps_complete(&made, op, &all, &arg);
	if (err)
		die(MALFORMED, "%s", err);
	UOp *u = node_new(op, DT_NONE, all.n, all.at, arg);
	vec_free(&all);
	return u;
}

/* Whether all bound sizes that a row of checks mentions are among these. */
static bool all_bound(const Val *row, void *binds)
{
	const char *err;
	bool all = true;
	for (int side = 1; side < 3; side++) {
		Nodes in = walk(size_from_val(row->a[side], &err));
		for (size_t i = 0; i < in.n; i++)
			all &= in.at[i]->op != OP_VAR || !var_is_bound(in.at[i]) ||
				map_get(binds, PKEY(in.at[i]->arg->a[0]));
	}
	return all;
}

UOp *steps_sink(size_t n, UOp *const *output, const Val *arg)
{
	Map binds = {0};
	Graph g = {.level = LV_GRAPH, .sink = completed(OP_SINK, n, output, arg)};
	g.sink = steps_prune(&g)->sink;
	binds_of(g.sink->nsrc, g.sink->src, &binds);
	if (size_checks_made())
		size_checks_keep(all_bound, &binds);
	map_free(&binds);
	return g.sink;
}

/* ---- sizes */

static UOp *size_bound_to(const UOp *value)
{
	for (size_t i = 0; i < made.binds.n; i++) {
		const Val *name = made.binds.at[i]->arg->a[0];
		if (made.binds.at[i]->src[0] == value)
			return vars_find(name->s, name->n);
	}
	return NULL;
}

UOp *t_bind(const char *stem, UOp *value, UOp *least, UOp *most)
{
	int64_t known;
	const char *err = NULL;
	if (const_is_int(value, &known) && known >= 0)
		return ix_const(known);
	UOp *size = value->op == OP_SIZE ? size_from_val(value->arg, &err) : size_bound_to(value);
	return size ? size : t_bind_anew(stem, value, size_to_val(least), size_to_val(most));
}

UOp *t_bind_anew(const char *stem, UOp *value, const Val *least, const Val *most)
{
	const char *name = stem;
	for (size_t k = 1; vars_find(name, strlen(name)); k++)
		name = arena_printf("%s_%zu", stem, k);
	step_made(NODE(OP_BIND, DT_I64, VARR(val_str(name), least, most), value));
	return vars_find(name, strlen(name));
}

enum { PLACE_BITS = 56 };       /* of a place in a tensor that has several such sizes */

UOp *t_bind_open(const char *stem, UOp *value, int n)
{
	int64_t most = n > 1 ? 1LL << PLACE_BITS / n : INT32_MAX;
	value = t_reshape(t_cast(value, DT_I64), shape_scalar());
	return t_bind(stem, value, ix_const(0), ix_const(most));
}

bool size_bound_since(UOp *size, uint32_t node)
{
	for (size_t i = 0; size->op == OP_VAR && i < made.binds.n; i++)
		if (size->arg->a[0] == made.binds.at[i]->arg->a[0])
			return made.binds.at[i]->src[0]->id >= node;
	for (uint32_t i = 0; i < size->nsrc; i++)
		if (size_bound_since(size->src[i], node))
			return true;
	return false;
}

/* ---- loops */

TurnLoop loop_new(void)
{
	int64_t id = made.next_loop;
	return (TurnLoop){.id = id, .begun = steps_enter(),
		.turn = step_made(node_new(OP_TURN, DT_I64, 0, NULL, val_int(id)))};
}

UOp *loop_state(TurnLoop *l, UOp *init, const Shape *grows)
{
	const Val *id = val_int(l->id), *k = val_int(l->states++);
	return step_made(NODE(OP_CARRY, init->dtype,
		grows ? VARR(id, k, shape_to_val(grows)) : VARR(id, k), init));
}

UOp *loop_end(const TurnLoop *l, const LoopEnd *end)
{
	VEC(UOp *) src = {0};
	steps_leave(l->begun);
	if (end->limit)
		vec_push(&src, end->limit);
	if (end->next) {
		vec_push(&src, end->start);
		vec_push(&src, end->next);
	}
	for (int64_t i = 0; i < l->states; i++)
		vec_push(&src, end->state[i]);
	for (size_t i = 0; i < end->values; i++)
		vec_push(&src, end->value[i]);
	UOp *loop = completed(OP_LOOP, src.n, src.at,
		VMAP(val_str("id"), val_int(l->id), val_str("limit"), val_bool(end->limit),
			val_str("while"), val_bool(end->next), val_str("states"),
			val_int(l->states), val_str("values"), val_int((int64_t)end->values)));
	vec_free(&src);
	return loop;
}

/* Value k of a LOOP or IF; shape as PICK's arg has it, or NULL. */
static UOp *pick(UOp *of, DType dt, int64_t k, const Shape *shape)
{
	const Val *at = val_int(k);
	return NODE(OP_PICK, dt, shape ? VARR(at, shape_to_val(shape)) : at, of);
}

UOp *loop_last(UOp *loop, int64_t k, const Shape *shape)
{
	return pick(loop, loop_parts(loop).state[k]->dtype, k, shape);
}

UOp *loop_stacked(UOp *loop, int64_t k, const Shape *shape)
{
	LoopParts p = loop_parts(loop);
	return pick(loop, p.value[k]->dtype, p.states + k, shape);
}

UOp *loop_turns(UOp *loop)
{
	LoopParts p = loop_parts(loop);
	return pick(loop, DT_I64, p.states + p.values, NULL);
}

/* ---- branches */

UOp *if_new(UOp *cond, size_t n, UOp *const *then, UOp *const *other)
{
	VEC(UOp *) src = {0};
	vec_push(&src, cond);
	for (size_t i = 0; i < 2 * n; i++)
		vec_push(&src, i < n ? then[i] : other[i - n]);
	UOp *u = node_new(OP_IF, DT_NONE, src.n, src.at, val_int((int64_t)n));
	vec_free(&src);
	return u;
}

UOp *if_value(UOp *branch, int64_t k, const Shape *shape)
{
	return pick(branch, branch->src[1 + k]->dtype, k, shape);
}
