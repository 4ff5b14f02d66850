/* Steps of a graph whose sizes and branches are data: what a BIND binds is in the sizes from then
 * on; a LOOP runs the region that is its body once a turn, an IF one of two. */
#include <stdlib.h>
#include "interp/graph_run.h"

static ArrayView *scalar_new(DType dt, const void *element)
{
	ArrayView *v = value_new(dt, 0, NULL);

	memcpy(value_data(v), element, element_size(dt));
	return v;
}

static int64_t scalar_i64(GraphRun *r, Op step, UOp *u)
{
	int64_t v;

	memcpy(&v, place_of(r, u)->value->s.at, sizeof v);
	return step_goes_by(step, v);
}

static bool scalar_bool(GraphRun *r, Op step, UOp *u)
{
	return step_goes_by(step, *(const uint8_t *)place_of(r, u)->value->s.at != 0);
}

/* ---- sizes */

static void set_size(GraphRun *r, const UOp *u, int64_t v)
{
	VarEnv *env = &r->env;
	const Val *name = u->arg->a[0];
	int i = 0;

	while (i < env->n && !val_is_str(name, env->name[i]))
		i++;
	if (i == SIZES_MOST)
		die(UNSUPPORTED, "more than %d sizes", SIZES_MOST);
	env->name[i] = name->s;
	env->value[i] = v;
	env->n += i == env->n;
	graph_dims_forget(r);
}

static ArrayView *bind(GraphRun *r, UOp *u)
{
	const char *err;
	int64_t n = scalar_i64(r, OP_BIND, u->src[0]);
	int64_t min = graph_size(r, u, size_from_val(u->arg->a[1], &err));
	int64_t max = graph_size(r, u, size_from_val(u->arg->a[2], &err));

	if (n < min || n > max)
		graph_fault(u, arena_printf("size %s = %lld is not in [%lld, %lld]",
			u->arg->a[0]->s, (long long)n, (long long)min, (long long)max));
	set_size(r, u, n);
	return scalar_new(DT_I64, &n);
}

static ArrayView *size_value(GraphRun *r, UOp *u)
{
	const char *err;
	int64_t n = graph_size(r, u, size_from_val(u->arg, &err));

	if (n < 0)
		graph_fault(u, "the size is negative");
	return scalar_new(DT_I64, &n);
}

/* ---- shapes that were not known to agree */

static void check_size(GraphRun *r, UOp *u, const Shape *have, const Shape *want, int axis)
{
	if (graph_size(r, u, have->dim[axis]) != graph_size(r, u, want->dim[axis]))
		graph_fault(u, arena_printf("shapes %s and %s do not match", shape_text(have),
			shape_text(want)));
}

static void check_shape(GraphRun *r, UOp *u, const UOp *source, int axes, const Shape *want)
{
	for (int i = 0; i < axes; i++)
		check_size(r, u, source->shape, want, i);
}

void step_check_shapes(GraphRun *r, UOp *u)
{
	bool indexing = u->op == OP_GATHER || u->op == OP_SCATTER;

	for (uint32_t k = 0; k < u->nsrc; k++) {
		const UOp *s = u->src[k];
		if ((op_elementwise(u->op) || u->op == OP_ASSIGN) && s->shape->rank)
			check_shape(r, u, s, s->shape->rank, u->shape);
		for (int i = 0; u->op == OP_EXPAND && i < u->shape->rank; i++)
			if (s->shape->dim[i] != ix_const(1))
				check_size(r, u, s->shape, u->shape, i);
		if (indexing && k > 1 && (u->op == OP_GATHER || k + 1 < u->nsrc))
			check_shape(r, u, s, s->shape->rank, u->src[1]->shape);
	}
	if (u->op != OP_SCATTER)
		return;
	const Shape *x = u->shape, *at = u->src[1]->shape, *v = u->src[u->nsrc - 1]->shape;
	int first = x->rank - (v->rank - at->rank);

	check_shape(r, u, u->src[u->nsrc - 1], at->rank, at);
	for (int i = at->rank; i < v->rank; i++)
		if (graph_size(r, u, v->dim[i]) != graph_size(r, u, x->dim[first + i - at->rank]))
			graph_fault(u, "the values' shape does not match");
}

/* A view of v, which has to be of u's shape. */
static ArrayView *shaped(GraphRun *r, UOp *u, ArrayView *v)
{
	const Dims *d = graph_dims(r, u);
	bool fits = d->rank == v->s.rank;
	Buf have = {0};

	for (int i = 0; fits && i < d->rank; i++)
		fits = d->dim[i] == v->s.dim[i];
	if (fits)
		return value_view(v, &v->s);
	for (int i = 0; i < v->s.rank; i++)
		buf_printf(&have, "%s%lld", i ? "," : "", (long long)v->s.dim[i]);
	graph_fault(u, arena_printf("shape [%s], needs %s", buf_str(&have), shape_text(u->shape)));
}

/* ---- loops and branches */

static const LoopRun *loop_of(const GraphRun *r, int64_t id)
{
	const LoopRun *l = r->loop;

	while (l && l->id != id)
		l = l->outer;
	CHECK(l);
	return l;
}

void outcome_free(Outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->at[i])
			value_drop(o->at[i]);
	free(o);
}

static Outcome *outcome_new(size_t n, int64_t turns)
{
	Outcome *o = xcalloc(1, sizeof *o + n * sizeof *o->at);

	o->n = n;
	o->turns = turns;
	return o;
}

/* The value of a turn's or a branch's node, in memory that the region's next run leaves alone. */
static ArrayView *result_of(GraphRun *r, UOp *u)
{
	ArrayView *v = place_of(r, u)->value;

	return value_view(v, &v->s);
}

/* Those sources of a LOOP or IF that its region computed are used. */
static void results_used(GraphRun *r, const UOp *u, const Region *region)
{
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (r->regions->of[u->src[k]->id] == region &&
			region_of_use(r->regions, u, k) == region)
			use_done(r, u->src[k]);
}

static Outcome *run_branch(GraphRun *r, UOp *u)
{
	bool yes = scalar_bool(r, OP_IF, u->src[0]);
	int64_t n = u->arg->i;
	Region *region = yes ? region_body(r->regions, u) : region_other(r->regions, u);
	Outcome *o = outcome_new((size_t)n, -1);

	region_run(r, region);
	for (int64_t k = 0; k < n; k++)
		o->at[k] = result_of(r, u->src[1 + k + (yes ? 0 : n)]);
	results_used(r, u, region);
	return o;
}

/* The values of all turns so far, one after another. */
typedef struct { Buf bytes; Strided first; } Stack;

static void stack_push(Stack *s, UOp *loop, ArrayView *v, int64_t turn)
{
	ArrayView *packed = value_packed(v);
	size_t bytes = (size_t)strided_count(&packed->s) * element_size(packed->s.dtype);

	if (!turn)
		s->first = packed->s;
	if (memcmp(s->first.dim, packed->s.dim, (size_t)s->first.rank * sizeof *s->first.dim))
		graph_fault(loop, "the values of its turns differ in shape");
	buf_add(&s->bytes, packed->s.at, bytes);
	value_drop(packed);
}

/* All of them as one array; NULL when there was no turn: what its shape is then, a PICK knows. */
static ArrayView *stack_take(Stack *s, int64_t turns)
{
	int64_t dim[MAX_RANK] = {turns};
	ArrayView *v = NULL;

	if (turns) {
		memcpy(dim + 1, s->first.dim, (size_t)s->first.rank * sizeof *dim);
		v = value_new(s->first.dtype, s->first.rank + 1, dim);
		if (s->bytes.n)
			memcpy(value_data(v), s->bytes.s, s->bytes.n);
	}
	buf_free(&s->bytes);
	return v;
}

/* The next state, which has its CARRY's shape unless that says another each turn. */
static ArrayView *next_state(GraphRun *r, UOp *loop, const LoopParts *p, int64_t k,
	const ArrayView *old)
{
	ArrayView *v = result_of(r, p->state[k]);
	bool fits = p->carry[k]->arg->n == 3 || (v->s.rank == old->s.rank &&
		!memcmp(v->s.dim, old->s.dim, (size_t)v->s.rank * sizeof *v->s.dim));

	if (!fits)
		graph_fault(loop, arena_printf("state %lld changes its shape", (long long)k));
	return v;
}

/* One turn; returns whether the condition lets another follow. */
static bool run_turn(GraphRun *r, UOp *u, const LoopParts *p, LoopRun *run, Stack *stack)
{
	ArrayView **next = xcalloc((size_t)p->states + 1, sizeof *next);

	step_goes_by(OP_TURN, run->turn);
	region_run(r, region_body(r->regions, u));
	for (int64_t k = 0; k < p->states; k++)
		next[k] = next_state(r, u, p, k, run->state[k]);
	for (int64_t k = 0; k < p->values; k++)
		stack_push(&stack[k], u, place_of(r, p->value[k])->value, run->turn);
	bool more = !p->next || scalar_bool(r, OP_LOOP, p->next);
	results_used(r, u, region_body(r->regions, u));
	for (int64_t k = 0; k < p->states; k++) {
		value_drop(run->state[k]);
		run->state[k] = next[k];
	}
	free(next);
	run->turn++;
	return more;
}

static Outcome *run_loop(GraphRun *r, UOp *u)
{
	LoopParts p = loop_parts(u);
	int64_t limit = p.limit ? scalar_i64(r, OP_LOOP, p.limit) : INT64_MAX;
	bool more = !p.start || scalar_bool(r, OP_LOOP, p.start);
	Stack *stack = xcalloc((size_t)p.values + 1, sizeof *stack);
	Outcome *o = outcome_new((size_t)(p.states + p.values), 0);
	LoopRun run = {.id = p.id, .state = o->at, .outer = r->loop};

	for (int64_t k = 0; k < p.states; k++)
		o->at[k] = result_of(r, p.carry[k]->src[0]);
	r->loop = &run;
	while (more && run.turn < limit)
		more = run_turn(r, u, &p, &run, stack);
	r->loop = run.outer;
	o->turns = run.turn;
	for (int64_t k = 0; k < p.values; k++)
		o->at[p.states + k] = stack_take(&stack[k], run.turn);
	free(stack);
	return o;
}

Outcome *step_outcome(GraphRun *r, UOp *u)
{
	return u->op == OP_IF ? run_branch(r, u) : run_loop(r, u);
}

static ArrayView *pick(GraphRun *r, UOp *u)
{
	const Outcome *o = place_of(r, u->src[0])->outcome;
	int64_t k = u->arg->kind == VAL_ARRAY ? u->arg->a[0]->i : u->arg->i;

	if ((size_t)k == o->n)
		return scalar_new(DT_I64, &o->turns);
	if (o->at[k])
		return shaped(r, u, o->at[k]);
	const Dims *d = graph_dims(r, u);
	if (d->dim[0])
		graph_fault(u, arena_printf("there was no turn, but shape %s",
			shape_text(u->shape)));
	return value_new(u->dtype, d->rank, d->dim);
}

ArrayView *step_value(GraphRun *r, UOp *u)
{
	switch (u->op) {
	case OP_BIND: return bind(r, u);
	case OP_SIZE: return size_value(r, u);
	case OP_TURN: return scalar_new(DT_I64, &loop_of(r, u->arg->i)->turn);
	case OP_CARRY: return shaped(r, u,
		loop_of(r, u->arg->a[0]->i)->state[u->arg->a[1]->i]);
	default: return pick(r, u);
	}
}
