/* Forward mode through loops and branches.
 *
 *     LOOP: next state h        LOOP: next states h, th      th CARRY of the tangent of h's init
 *     IF c x² 0                 IF c 2·x'·tx 0               x' = WHERE c x 0
 *
 * A loop gets a state for the tangent of each state that has one, and values for those of its
 * values; it stays the same loop (join_loops). Tangents of a branch are in a branch of their own.
 */
#include "primitives/primitives.h"
#include "derive/sweep.h"
#include <stdlib.h>

/* ---- which steps follow */

static bool carry_follows(const Sweep *s, const UOp *u)
{
	if (!dtype_float(u->dtype) || !sweep_follows(s, u->src[0]))
		return false;
	for (size_t i = 0; i < s->all.n; i++)
		if (s->all.at[i]->op == OP_LOOP &&
			val_get(s->all.at[i]->arg, "id")->i == u->arg->a[0]->i)
			return true;
	die(UNSUPPORTED, "a derivative inside a loop goes through its state, whose turns before "
		"are not known there: derive outside, or by the state itself");
}

static bool pick_follows(const Sweep *s, const UOp *u)
{
	const UOp *of = u->src[0];
	int64_t k = pick_place(u);

	if (!dtype_float(u->dtype))
		return false;
	if (of->op == OP_IF)
		return sweep_follows(s, of->src[1 + k]) ||
			sweep_follows(s, of->src[1 + k + of->arg->i]);
	LoopParts p = loop_parts(of);
	return k < p.states ? sweep_follows(s, p.carry[k]) :
		k < p.states + p.values && sweep_follows(s, p.state[k]);
}

bool step_follows(const Sweep *s, const UOp *u)
{
	return u->op == OP_CARRY ? carry_follows(s, u) : u->op == OP_PICK && pick_follows(s, u);
}

bool states_follow(Sweep *s)
{
	bool more = false;

	for (size_t i = 0; i < s->all.n; i++) {
		UOp *u = s->all.at[i];
		if (u->op != OP_LOOP || sweep_given(s, u))
			continue;
		LoopParts p = loop_parts(u);
		for (int64_t k = 0; k < p.states; k++)
			if (dtype_float(p.carry[k]->dtype) && sweep_follows(s, p.state[k]) &&
				!sweep_follows(s, p.carry[k])) {
				sweep_mark(s, p.carry[k]);
				more = true;
			}
	}
	return more;
}

/* ---- loops */

static UOp *carry_along(Sweep *s, UOp *u)
{
	UOp *t = sweep_tangent(s, u->src[0]);

	return state_add(u, t ? t : zero_of(u->src[0]), u->arg->n == 3 ? u->shape : NULL);
}

static UOp *tangent_or_zero(Sweep *s, UOp *u)
{
	UOp *t = sweep_tangent(s, u);
	return t ? t : zero_of(u);
}

static bool has_other(UOp *loop)
{
	Nodes all = walk(loop);

	for (size_t i = 0; i + 1 < all.n; i++)
		if (all.at[i]->op == OP_LOOP &&
			val_get(all.at[i]->arg, "id") == val_get(loop->arg, "id"))
			return true;
	return false;
}

static UOp *loop_along(Sweep *s, UOp *u)
{
	LoopParts p = loop_parts(u);
	LoopMore more = {0};

	for (int64_t k = 0; k < p.states; k++)
		if (sweep_follows(s, p.carry[k])) {
			vec_push(&more.carry, sweep_tangent(s, p.carry[k]));
			vec_push(&more.state, tangent_or_zero(s, p.state[k]));
		}
	for (int64_t k = 0; k < p.values; k++)
		if (sweep_follows(s, p.value[k]))
			vec_push(&more.value, tangent_or_zero(s, p.value[k]));
	UOp *loop = more.state.n + more.value.n ? loop_with(u, &more) : NULL;
	vec_free(&more.carry);
	vec_free(&more.state);
	vec_free(&more.value);
	/* what the direction is computed from the loop's values cannot run in its turns */
	return loop && has_other(loop) ? loop_copy(loop) : loop;
}

/* Where the tangent of a loop's state or value stands behind the states and values. */
static int64_t tangent_place(const Sweep *s, const UOp *loop, int64_t k)
{
	LoopParts p = loop_parts(loop);
	int64_t at = p.states;

	for (int64_t i = 0; i < (k < p.states ? k : p.states); i++)
		at += sweep_follows(s, p.carry[i]);
	if (k < p.states)
		return at;
	at += p.values;
	for (int64_t i = p.states; i < k; i++)
		at += sweep_follows(s, p.state[i]);
	return at;
}

/* ---- branches */

/* Whether the body only gathers from u: what it gathers is its own by the places, and selecting all
 * of u would cost more. */
static bool only_gathered(const Body *b, size_t n, UOp *const *value, const UOp *u)
{
	for (size_t i = 0; i < n; i++)
		if (value[i] == u)
			return false;
	for (size_t i = 0; i < b->nodes.n; i++)
		for (uint32_t k = 0; k < b->nodes.at[i]->nsrc; k++)
			if (b->nodes.at[i]->src[k] == u && (k || b->nodes.at[i]->op != OP_GATHER))
				return false;
	return true;
}

NodeList branch_reads(const Body *b, UOp *branch, bool other, Map *to, Map *given)
{
	size_t n = (size_t)branch->arg->i;
	UOp *const *value = branch->src + 1 + (other ? n : 0);
	NodeList reads = body_reads(b, n, value);

	for (size_t i = 0; i < reads.n; i++) {
		UOp *u = reads.at[i], *v = u;
		bool own = u->nsrc || u->op == OP_TURN ||
			(u->op == OP_BUFFER && buffer_is(u, "input"));
		if (own && !only_gathered(b, n, value, u)) {
			UOp *zero = t_num(u->dtype, 0), *c = branch->src[0];
			v = other ? t_where(c, zero, u) : t_where(c, u, zero);
		}
		map_put(to, PKEY(u), v);
		map_put(given, PKEY(v), v);
	}
	return reads;
}

static bool value_follows(const Sweep *s, const UOp *branch, int64_t k)
{
	const UOp *a = branch->src[1 + k], *b = branch->src[1 + k + branch->arg->i];
	return dtype_float(a->dtype) && (sweep_follows(s, a) || sweep_follows(s, b));
}

/* Appends the tangents of one branch's values to `out`. */
static void side_along(Sweep *s, UOp *u, bool other, NodeList *out)
{
	size_t n = (size_t)u->arg->i;
	UOp *const *value = u->src + 1 + (other ? n : 0);
	Body b = branch_body(s->all, s->given, s->nout, s->out, u, other);
	NodeList wrt = {0}, tan = {0}, of = {0};
	Map to = {0}, given = {0};
	NodeList reads = branch_reads(&b, u, other, &to, &given);

	body_copy(&b, n, value, &to);
	for (size_t i = 0; i < reads.n; i++)
		if (sweep_tangent(s, reads.at[i])) {
			vec_push(&wrt, map_get(&to, PKEY(reads.at[i])));
			vec_push(&tan, sweep_tangent(s, reads.at[i]));
		}
	for (size_t k = 0; k < n; k++)
		if (value_follows(s, u, (int64_t)k))
			vec_push(&of, map_get(&to, PKEY(value[k])));
	UOp **dout = arena_alloc((of.n + 1) * sizeof *dout);
	forward_within(&given, wrt.n, wrt.at, tan.at, of.n, of.at, dout);
	for (size_t k = 0; k < of.n; k++)
		vec_push(out, dout[k] ? dout[k] : zero_of(of.at[k]));
	vec_free(&reads);
	vec_free(&wrt);
	vec_free(&tan);
	vec_free(&of);
	map_free(&to);
	map_free(&given);
	body_free(&b);
}

static UOp *branch_along(Sweep *s, UOp *u)
{
	NodeList side[2] = {{0}};

	for (int other = 0; other < 2; other++)
		side_along(s, u, other, &side[other]);
	UOp *t = side[0].n ? if_new(u->src[0], side[0].n, side[0].at, side[1].at) : NULL;
	vec_free(&side[0]);
	vec_free(&side[1]);
	return t;
}

static int64_t value_place(const Sweep *s, const UOp *branch, int64_t k)
{
	int64_t at = 0;

	for (int64_t i = 0; i < k; i++)
		at += value_follows(s, branch, i);
	return at;
}

/* ---- steps */

void steps_along(Sweep *s)
{
	for (size_t i = 0; i < s->all.n; i++)
		for (int other = 0; s->all.at[i]->op == OP_IF && other < 2; other++) {
			Body b = branch_body(s->all, s->given, s->nout, s->out, s->all.at[i],
				other);
			for (size_t k = 0; k < b.nodes.n; k++)
				map_put(&s->inside, PKEY(b.nodes.at[k]), b.nodes.at[k]);
			body_free(&b);
		}
}

UOp *step_along(Sweep *s, UOp *u)
{
	UOp *of = u->nsrc ? u->src[0] : NULL;

	switch (u->op) {
	case OP_CARRY: return carry_along(s, u);
	case OP_LOOP: map_put(&s->step, PKEY(u), loop_along(s, u)); return NULL;
	case OP_IF: map_put(&s->step, PKEY(u), branch_along(s, u)); return NULL;
	case OP_PICK:
		return pick_like(u, map_get(&s->step, PKEY(of)), of->op == OP_IF ?
			value_place(s, of, pick_place(u)) : tangent_place(s, of, pick_place(u)));
	default: return NULL;
	}
}
