/* Reverse mode through a loop: a second loop, whose turns go backwards over those of the first.
 *
 *     LOOP n: next h = f(h, w, x[t])      the states at each turn's start are values of the loop
 *     LOOP T: a' = a·df/dh, W' = W + a·df/dw, value a·df/dx[t]        at h = saved[T-1-turn]
 *
 * Its states are the cotangents of the first loop's states, and for what the body reads from
 * outside their sums over turns; but what it gathers is gathered per turn, so cotangents of what is
 * gathered are values, and scattered at once after the last turn. The body's other values are
 * computed again from the saved states. */
#include "primitives/primitives.h"
#include "derive/sweep.h"
#include <stdlib.h>

typedef struct {
	Sweep *s;
	UOp *loop;
	LoopParts p;
	Body body;
	UOp **cot;              /* of the states after the last turn, and of the stacked values */
	UOp *turns;             /* a size */
	TurnLoop back;
	UOp *at;                /* the turn of the first loop that a turn goes over */
	Map to, given;          /* the body's copy */
	NodeList read, sum;     /* what the body reads from outside; its sum, when it has a part */
	NodeList gather;        /* the body's GATHERs from outside */
} Back;

static bool find_cotangents(Back *b)
{
	bool any = false;

	b->cot = arena_alloc((size_t)(b->p.states + b->p.values + 1) * sizeof *b->cot);
	for (size_t i = 0; i < b->s->all.n; i++) {
		UOp *u = b->s->all.at[i], *g;
		if (u->op != OP_PICK || u->src[0] != b->loop || !(g = sweep_cotangent(b->s, u)))
			continue;
		UOp **at = &b->cot[pick_place(u)];
		*at = *at ? t_add(*at, t_reshape(g, (*at)->shape)) : g;
		any = true;
	}
	return any;
}

/* ---- the first loop's turns */

/* A size that a stacked value of the loop says, or NULL. */
static UOp *turns_said(const Back *b)
{
	for (size_t i = 0; i < b->s->all.n; i++) {
		const UOp *u = b->s->all.at[i];
		if (u->op == OP_PICK && u->src[0] == b->loop && pick_place(u) >= b->p.states &&
			pick_place(u) < b->p.states + b->p.values)
			return u->shape->dim[0];
	}
	return NULL;
}

/* The size that is bound to the turns of this loop, or of another version of it, or NULL. */
static UOp *turns_bound(const Back *b)
{
	const NodeList *binds = &steps_made()->binds;

	for (size_t i = 0; i < binds->n; i++) {
		const UOp *pick = binds->at[i]->src[0], *of = pick->nsrc ? pick->src[0] : pick;
		if (pick->op != OP_PICK || of->op != OP_LOOP)
			continue;
		LoopParts p = loop_parts(of);
		const Val *name = binds->at[i]->arg->a[0];
		if (p.id == b->p.id && pick_place(pick) == p.states + p.values)
			return vars_find(name->s, name->n);
	}
	return NULL;
}

/* One size, so that shapes with it are equal. */
static void count_turns(Back *b)
{
	int64_t lo = 0, hi;

	if (!(b->turns = turns_said(b)) && (b->turns = loop_turns_known(&b->p)))
		ix_bounds(b->turns, &lo, &hi);
	if (!b->turns || lo < 0)
		b->turns = turns_bound(b);
	if (!b->turns)
		b->turns = t_bind_open("turns", loop_turns(b->loop), 1);
}

static UOp *turns_value(const Back *b)
{
	int64_t n;
	return ix_is_const(b->turns, &n) ? const_int(DT_I64, n) :
		LEAF(OP_SIZE, DT_I64, size_to_val(b->turns));
}

/* ---- what the copy of the body reads */

/* Whether the shape mentions a size that the body binds. */
static bool grows(const Back *b, const UOp *u)
{
	Map binds = {0};
	NodeList named = {0};
	bool any = false;

	binds_of(steps_made()->binds.n, steps_made()->binds.at, &binds);
	mentions_of(LEAF(OP_BUFFER, u->dtype, VMAP(val_str("name"), val_str("shape of a state"),
		val_str("shape"), shape_to_val(u->shape), val_str("role"), val_str("temp"))),
		&binds, &named);
	for (size_t i = 0; i < named.n; i++)
		any |= map_get(&b->body.in, PKEY(named.at[i])) != NULL;
	vec_free(&named);
	map_free(&binds);
	return any;
}

static const Shape *stacked_shape(const Back *b, const UOp *u)
{
	UOp *dim[MAX_RANK + 1];

	if (u->shape->rank >= MAX_RANK)
		die(UNSUPPORTED, "a state of rank %d cannot be saved by turn", u->shape->rank);
	dim[0] = b->turns;
	memcpy(dim + 1, u->shape->dim, (size_t)u->shape->rank * sizeof *dim);
	return shape_new(u->shape->rank + 1, dim);
}

/* The states at the start of that turn, which the loop gets as values; the turn. */
static void read_saved(Back *b)
{
	LoopMore more = {0};

	for (int64_t k = 0; k < b->p.states; k++)
		vec_push(&more.value, b->p.carry[k]);
	UOp *saved = loop_with(b->loop, &more);
	vec_free(&more.value);
	for (int64_t k = 0; k < b->p.states; k++) {
		UOp *u = b->p.carry[k], *v;
		if (grows(b, u))
			die(UNSUPPORTED, "a derivative goes through a state whose shape %s changes "
				"from turn to turn", shape_text(u->shape));
		v = loop_stacked(saved, b->p.values + k, stacked_shape(b, u));
		v = t_gather(v, 1, &b->at);
		map_put(&b->to, PKEY(u), v);
		map_put(&b->given, PKEY(v), v);
	}
	for (size_t i = 0; i < b->s->all.n; i++) {
		UOp *u = b->s->all.at[i];
		if (u->op == OP_TURN && u->arg->i == b->p.id)
			map_put(&b->to, PKEY(u), b->at);
	}
	map_put(&b->given, PKEY(b->at), b->at);
}

/* A value from outside, and the views of it, of which the cotangent is that of the value. */
static UOp *viewed(const Sweep *s, UOp *u)
{
	while (op_movement(u->op) && sweep_follows(s, u->src[0]) && !sweep_given(s, u))
		u = u->src[0];
	return u;
}

static void find_reads(Back *b)
{
	NodeList all = body_reads(&b->body, (size_t)(b->p.states + b->p.values), b->p.state);
	Map seen = {0};

	/* a value may be read as it is and by its views */
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = viewed(b->s, all.at[i]);
		if (!map_get(&seen, PKEY(u)))
			vec_push(&b->read, u);
		map_put(&seen, PKEY(u), u);
		map_put(&b->given, PKEY(u), u);
	}
	map_free(&seen);
	vec_free(&all);
}

/* What runs in loops within the body: its turns are others. */
static Map run_deeper(const Back *b)
{
	Map in = {0};

	for (size_t i = 0; i < b->body.nodes.n; i++) {
		if (b->body.nodes.at[i]->op != OP_LOOP)
			continue;
		Body inner = loop_body(b->s->all, b->body.nodes.at[i]);
		for (size_t k = 0; k < inner.nodes.n; k++)
			map_put(&in, PKEY(inner.nodes.at[k]), inner.nodes.at[k]);
		body_free(&inner);
	}
	return in;
}

static void find_gathers(Back *b)
{
	Map deeper = run_deeper(b);

	for (size_t i = 0; i < b->body.nodes.n; i++) {
		UOp *u = b->body.nodes.at[i], *v = map_get(&b->to, PKEY(u));
		if (u->op != OP_GATHER || !v || map_get(&deeper, PKEY(u)) ||
			map_get(&b->body.in, PKEY(u->src[0])) || !sweep_follows(b->s, u->src[0]))
			continue;
		vec_push(&b->gather, u);
		map_put(&b->given, PKEY(v), v);
	}
	map_free(&deeper);
}

/* ---- the second loop */

/* The body's cotangents: of the states at the turn's start, of what it reads, of what it
 * gathers. */
static UOp **back_body(Back *b, UOp *const *carried)
{
	NodeList out = {0}, cot = {0}, wrt = {0};

	for (int64_t k = 0; k < b->p.states + b->p.values; k++) {
		UOp *u = b->p.state[k], *v = map_get(&b->to, PKEY(u));
		UOp *g = k < b->p.states ? carried[k] : b->cot[k] && sweep_follows(b->s, u) ?
			t_gather(b->cot[k], 1, &b->at) : NULL;
		if (!g)
			continue;
		v = v ? v : u;
		vec_push(&out, v);
		vec_push(&cot, t_reshape(g, v->shape));
	}
	for (int64_t k = 0; k < b->p.states; k++)
		vec_push(&wrt, map_get(&b->to, PKEY(b->p.carry[k])));
	for (size_t i = 0; i < b->read.n; i++)
		vec_push(&wrt, b->read.at[i]);
	for (size_t i = 0; i < b->gather.n; i++)
		vec_push(&wrt, map_get(&b->to, PKEY(b->gather.at[i])));
	UOp **grad = arena_alloc((wrt.n + 1) * sizeof *grad);
	reverse_within(&b->given, out.n, out.at, cot.n ? cot.at : NULL, wrt.n, wrt.at, grad);
	vec_free(&out);
	vec_free(&cot);
	vec_free(&wrt);
	return grad;
}

/* The second loop's states: cotangents of the first's that follow, NULL for others. */
static UOp **carry_cotangents(Back *b)
{
	UOp **carried = arena_alloc((size_t)(b->p.states + 1) * sizeof *carried);

	for (int64_t k = 0; k < b->p.states; k++) {
		UOp *u = b->p.carry[k], *g = b->cot[k];
		if (sweep_follows(b->s, u))
			carried[k] = loop_state(&b->back,
				g ? t_reshape(g, u->shape) : zero_of(u), NULL);
	}
	return carried;
}

static UOp *end_loop(Back *b, UOp *const *carried, UOp *const *grad)
{
	NodeList state = {0}, value = {0};
	UOp *const *of_read = grad + b->p.states, *const *of_gather = of_read + b->read.n;

	for (int64_t k = 0; k < b->p.states; k++)
		if (carried[k])
			vec_push(&state, grad[k] ? grad[k] : zero_of(carried[k]));
	for (size_t i = 0; i < b->read.n; i++) {
		UOp *zero = zero_of(b->read.at[i]);
		vec_push(&b->sum, of_read[i] ? loop_state(&b->back, zero, NULL) : NULL);
		if (of_read[i])
			vec_push(&state, t_add(b->sum.at[i], of_read[i]));
	}
	for (size_t i = 0; i < b->gather.n; i++) {
		UOp *u = b->gather.at[i], *v = map_get(&b->to, PKEY(u));
		vec_push(&value, of_gather[i] ? of_gather[i] : zero_of(v));
		for (uint32_t k = 1; k < u->nsrc; k++)
			vec_push(&value, v->src[k]);
	}
	UOp *end = loop_end(&b->back, &(LoopEnd){.limit = turns_value(b), .state = state.at,
		.value = value.at, .values = value.n});
	vec_free(&state);
	vec_free(&value);
	return end;
}

/* ---- the cotangents that it gives */

/* What the turns gathered, put back; value number `first` is the cotangent, the others are the
 * indices. */
static UOp *scattered(Back *b, UOp *end, UOp *u, int64_t first)
{
	UOp *x = u->src[0], *g = loop_stacked(end, first, NULL), *index[MAX_RANK];

	if (u->nsrc == 2 && u->src[1]->op == OP_TURN && u->src[1]->arg->i == b->p.id &&
		t_dim(x, 0) == b->turns)
		return t_flip(g, 1, (int[]){0});
	for (uint32_t k = 1; k < u->nsrc; k++)
		index[k - 1] = loop_stacked(end, first + k, NULL);
	return t_scatter(zero_of(x), (int)u->nsrc - 1, index, g, "ADD");
}

static void give_all(Back *b, UOp *end, UOp *const *carried, UOp *const *of_gather)
{
	int64_t k = 0, value = 0;

	for (int64_t i = 0; i < b->p.states; i++)
		if (carried[i]) {
			UOp *init = b->p.carry[i]->src[0], *g = loop_last(end, k++, NULL);
			if (sweep_follows(b->s, init))
				sweep_give(b->s, init, t_reshape(g, init->shape));
		}
	for (size_t i = 0; i < b->read.n; i++)
		if (b->sum.at[i])
			sweep_give(b->s, b->read.at[i], loop_last(end, k++, NULL));
	for (size_t i = 0; i < b->gather.n; i++) {
		UOp *u = b->gather.at[i];
		if (of_gather[i])
			sweep_give(b->s, u->src[0], scattered(b, end, u, value));
		value += u->nsrc;
	}
}

void loop_back(Sweep *s, UOp *loop)
{
	Back b = {.s = s, .loop = loop, .p = loop_parts(loop)};
	size_t n = (size_t)(b.p.states + b.p.values);

	if (!find_cotangents(&b))
		return;
	b.body = loop_body(s->all, loop);
	count_turns(&b);
	b.back = loop_new();
	b.at = t_sub(t_sub(turns_value(&b), const_int(DT_I64, 1)), b.back.turn);
	read_saved(&b);
	find_reads(&b);
	body_copy(&b.body, n, b.p.state, &b.to);
	find_gathers(&b);
	UOp **carried = carry_cotangents(&b), **grad = back_body(&b, carried);
	UOp *end = end_loop(&b, carried, grad);
	give_all(&b, end, carried, grad + b.p.states + b.read.n);
	body_free(&b.body);
	map_free(&b.to);
	map_free(&b.given);
	vec_free(&b.read);
	vec_free(&b.sum);
	vec_free(&b.gather);
}
