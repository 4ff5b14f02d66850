/* Derivatives of a graph: one sweep over its nodes, backwards from the outputs (reverse) or
 * forwards from the variables (forward).
 *
 * Reverse mode sums, for each node, the parts of its cotangent from its users. Behind a WHERE a
 * part is kept unselected, as if its side were taken everywhere, together with the mask: the
 * selection is made once, at the end of a chain of elementwise ops. So the infinite derivative of
 * sqrt at 0, on a side that is not taken, is never multiplied by 0. */
#include "primitives/primitives.h"
#include "derive/sweep.h"
#include <stdlib.h>

/* ---- the nodes, and which of them depend on a variable */

static void index_nodes(Sweep *s)
{
	uint32_t hi = 0;

	s->lo = UINT32_MAX;
	for (size_t i = 0; i < s->all.n; i++) {
		uint32_t id = s->all.at[i]->id;
		s->lo = id < s->lo ? id : s->lo;
		hi = id > hi ? id : hi;
	}
	s->span = s->all.n ? hi - s->lo + 1 : 0;
	s->place = xcalloc(s->span + 1, sizeof *s->place);
	for (size_t i = 0; i < s->all.n; i++)
		s->place[s->all.at[i]->id - s->lo] = (uint32_t)i + 1;
}

/* -1 for a node outside the sweep */
static ptrdiff_t place_of(const Sweep *s, const UOp *u)
{
	return u->id < s->lo || u->id - s->lo >= s->span ? -1
		: (ptrdiff_t)s->place[u->id - s->lo] - 1;
}

bool sweep_follows(const Sweep *s, const UOp *u)
{
	return place_of(s, u) >= 0 && s->follows[place_of(s, u)];
}

void sweep_mark(Sweep *s, const UOp *u) { s->follows[place_of(s, u)] = true; }

bool sweep_given(const Sweep *s, const UOp *u)
{
	return s->given && map_get(s->given, PKEY(u));
}

static bool node_follows(const Sweep *s, const UOp *u)
{
	if (op_info[u->op].cls == CLASS_FLOW)
		return step_follows(s, u);
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (sweep_follows(s, u->src[k]) && op_follows(u, k))
			return true;
	return false;
}

/* What the outputs need, with the sizes that it mentions. */
static Nodes nodes_of(const Sweep *s, size_t nout, UOp *const *out)
{
	const NodeList *binds = &steps_made()->binds;
	UOp **root = arena_alloc((nout + binds->n + 1) * sizeof *root);

	memcpy(root, out, nout * sizeof *root);
	if (binds->n)
		memcpy(root + nout, binds->at, binds->n * sizeof *root);
	Nodes all = walk_many(nout + binds->n, root);
	return binds->n || s->given ? nodes_within(all, nout, out, s->given) : all;
}

static void sweep_over(Sweep *s, size_t nout, UOp *const *out, size_t nwrt, UOp *const *wrt)
{
	s->all = nodes_of(s, nout, out);
	s->nout = nout;
	s->out = out;
	index_nodes(s);
	s->follows = xcalloc(s->all.n + 1, sizeof *s->follows);
	for (size_t i = 0; i < nwrt; i++)
		if (dtype_float(wrt[i]->dtype) && place_of(s, wrt[i]) >= 0)
			s->follows[place_of(s, wrt[i])] = true;
	do
		for (size_t i = 0; i < s->all.n; i++)
			s->follows[i] = s->follows[i] || (!sweep_given(s, s->all.at[i]) &&
				node_follows(s, s->all.at[i]));
	while (states_follow(s));
}

static void sweep_end(Sweep *s)
{
	free(s->place);
	free(s->follows);
	free(s->cot);
	free(s->tan);
	map_free(&s->inside);
	map_free(&s->step);
}

UOp *zero_of(UOp *u) { return t_expand_to(t_num(u->dtype, 0), u->shape); }

/* ---- reverse: parts of a cotangent */

static UOp *selected(Part p)
{
	UOp *zero;

	if (!p.mask || p.clean)
		return p.value;
	zero = t_num(p.value->dtype, 0);
	return p.when ? t_where(p.mask, p.value, zero) : t_where(p.mask, zero, p.value);
}

static Part whole(UOp *value) { return (Part){value, NULL, true, true}; }

static void add_part(Cotangent *c, Part p)
{
	for (int i = 0; i < c->n; i++) {
		Part *q = &c->part[i];
		if (q->mask == p.mask && q->when == p.when) {
			q->value = t_add(q->value, p.value);
			q->clean &= p.clean;
			return;
		}
		if (p.mask && q->mask == p.mask) {
			p = whole(p.when ? t_where(p.mask, p.value, q->value)
				: t_where(p.mask, q->value, p.value));
			*q = c->part[--c->n];
			i = -1;
		}
	}
	if (c->n == PARTS) {
		for (int i = 1; i < PARTS; i++)
			c->part[0] = whole(t_add(selected(c->part[0]), selected(c->part[i])));
		c->part[0] = whole(t_add(c->part[0].value, selected(p)));
		c->n = 1;
		return;
	}
	c->part[c->n++] = p;
}

/* Sums all parts into one. */
static Part settled(Cotangent *c)
{
	UOp *sum;

	if (c->n == 1)
		return c->part[0];
	sum = selected(c->part[0]);
	for (int i = 1; i < c->n; i++)
		sum = t_add(sum, selected(c->part[i]));
	return whole(sum);
}

/* ---- reverse: from a node to its sources */

/* A part in the shape of the source it is for: a scalar that was broadcast gets the sum. */
static Part fitted(Part p, UOp *src)
{
	if (src->shape->rank || !p.value->shape->rank) {
		if (p.value->shape != src->shape && !p.value->shape->rank)
			p.value = t_expand_to(p.value, src->shape);
		return !src->shape->rank && p.mask && p.mask->shape->rank
			? fitted(whole(selected(p)), src) : p;
	}
	return whole(fold_all(OP_ADD, selected(p)));
}

static UOp *condition(Part p) { return p.when ? p.mask : t_not(p.mask); }

/* The part for a side of WHERE, not selected yet. */
static Part side(UOp *u, Part g, bool first)
{
	Part p = {g.value, u->src[0], first, false};

	return g.mask ? (Part){g.value, t_and(condition(g), condition(p)), true, false} : p;
}

/* The mask in the shape of a view's source; NULL when the view does not map places one to one. */
static UOp *moved_mask(UOp *u, UOp *mask)
{
	UOp *to[1];

	if (!t_rank(mask))
		return mask;
	if (u->op != OP_RESHAPE && u->op != OP_PERMUTE && u->op != OP_FLIP)
		return NULL;
	op_back(u, mask, (bool[]){true}, to);
	return to[0];
}

/* the op maps 0 to 0 */
static bool keeps_zero(Op op)
{
	return op == OP_NEG || op == OP_ADD || op == OP_SUB || op == OP_CAST || !op_by_element(op);
}

/* Passes the cotangent g of node number `at` on to those sources that depend on a variable. */
static void give(Sweep *s, size_t at, Part g)
{
	UOp *u = s->all.at[at], *v;
	UOp *to[2 + MAX_RANK] = {0};
	bool want[2 + MAX_RANK] = {0}, any = false;

	if (sweep_given(s, u) || op_info[u->op].cls == CLASS_FLOW)
		return;
	if (u->op == OP_CUSTOM)
		op_back(u, g.value, NULL, NULL);
	for (uint32_t i = 0; i < u->nsrc; i++)
		any |= want[i] = s->follows[place_of(s, u->src[i])] && op_follows(u, i);
	if (!any)
		return;
	v = again_node(s->again, at, g.value);
	v = v && u->op != OP_ASSIGN ? v : u;
	if (u->op == OP_WHERE) {
		for (uint32_t i = 1; i < 3; i++)
			if (want[i])
				add_part(&s->cot[place_of(s, u->src[i])],
					fitted(side(v, g, i == 1), u->src[i]));
		return;
	}
	if (u->op == OP_SHRINK) {
		vec_push(&s->cot[place_of(s, u->src[0])].slices, ((Slice){selected(g), u->arg}));
		return;
	}
	if (g.mask && !op_by_element(u->op)) {
		UOp *mask = moved_mask(v, g.mask);
		g = mask ? (Part){selected(g), mask, g.when, true} : whole(selected(g));
	}
	op_back(v, g.value, want, to);
	g.clean &= keeps_zero(u->op);
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (want[i])
			add_part(&s->cot[place_of(s, u->src[i])],
				fitted((Part){to[i], g.mask, g.when, g.clean}, u->src[i]));
}

static void check_direction(UOp *out, UOp *cot)
{
	if (out->dtype != cot->dtype || !shape_equal(out->shape, cot->shape))
		die(MALFORMED, "a direction %s%s does not fit %s%s", dtype_name(cot->dtype),
			shape_text(cot->shape),
			dtype_name(out->dtype), shape_text(out->shape));
}

UOp *sweep_cotangent(Sweep *s, UOp *u)
{
	ptrdiff_t at = place_of(s, u);

	if (at < 0 || !s->cot[at].n)
		return NULL;
	return t_expand_to(selected(settled(&s->cot[at])), u->shape);
}

void sweep_give(Sweep *s, UOp *u, UOp *g)
{
	add_part(&s->cot[place_of(s, u)], whole(g));
}

/* Node number i, whose users have given their parts. */
static void back_through(Sweep *s, size_t i)
{
	Cotangent *c = &s->cot[i];
	UOp *u = s->all.at[i];

	if (c->slices.n)
		add_part(c, whole(slices_joined(c->slices.at, c->slices.n, u->shape)));
	vec_free(&c->slices);
	if ((u->op == OP_LOOP || u->op == OP_IF) && !sweep_given(s, u))
		(u->op == OP_LOOP ? loop_back : branch_back)(s, u);
	if (!c->n)
		return;
	c->part[0] = settled(c);
	c->n = 1;
	give(s, i, c->part[0]);
}

/* grad[i]: NULL where out does not depend on wrt[i] */
static void reverse(Sweep *s, size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt,
	UOp *const *wrt, UOp **grad)
{
	s->cot = xcalloc(s->all.n + 1, sizeof *s->cot);
	for (size_t i = 0; i < nout; i++) {
		check_direction(out[i], cot[i]);
		if (sweep_follows(s, out[i]))
			add_part(&s->cot[place_of(s, out[i])], fitted(whole(cot[i]), out[i]));
	}
	for (size_t i = s->all.n; i-- > 0;)
		back_through(s, i);
	for (size_t i = 0; i < nwrt; i++)
		grad[i] = sweep_cotangent(s, wrt[i]);
	again_end(s->again);
	sweep_end(s);
}

static void zeros_for_none(size_t n, UOp *const *like, UOp **u)
{
	for (size_t i = 0; i < n; i++)
		u[i] = u[i] ? u[i] : zero_of(like[i]);
}

void reverse_within(const Map *given, size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt,
	UOp *const *wrt, UOp **grad)
{
	Sweep s = {.given = given};

	sweep_over(&s, nout, out, nwrt, wrt);
	reverse(&s, nout, out, cot, nwrt, wrt, grad);
}

void derive_reverse(size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt, UOp *const *wrt,
	UOp **grad)
{
	reverse_within(NULL, nout, out, cot, nwrt, wrt, grad);
	zeros_for_none(nwrt, wrt, grad);
}

void derive_reverse_again(int segments, size_t nout, UOp *const *out, UOp *const *cot,
	size_t nwrt, UOp *const *wrt,
	UOp **grad)
{
	Sweep s = {0};

	sweep_over(&s, nout, out, nwrt, wrt);
	s.again = again_plan(s.all, s.follows, segments);
	reverse(&s, nout, out, cot, nwrt, wrt, grad);
	zeros_for_none(nwrt, wrt, grad);
}

/* ---- forward */

UOp *sweep_tangent(const Sweep *s, const UOp *u)
{
	return place_of(s, u) >= 0 ? s->tan[place_of(s, u)] : NULL;
}

/* The tangent of u, or NULL when no source has one. */
static UOp *tangent(Sweep *s, UOp *u)
{
	UOp *t[2 + MAX_RANK] = {0}, *r;
	bool any = false;

	if (op_info[u->op].cls == CLASS_FLOW)
		return step_along(s, u);
	if (u->op == OP_CUSTOM)
		op_along(u, t);
	for (uint32_t i = 0; i < u->nsrc; i++) {
		t[i] = op_follows(u, i) ? sweep_tangent(s, u->src[i]) : NULL;
		any |= t[i] != NULL;
	}
	r = any ? op_along(u, t) : NULL;
	return r ? t_expand_to(r, u->shape) : NULL;
}

/* dout[k]: NULL where it has no tangent */
void forward_within(const Map *given, size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout,
	UOp *const *out, UOp **dout)
{
	Sweep s = {.given = given};

	sweep_over(&s, nout, out, nwrt, wrt);
	s.tan = xcalloc(s.all.n + 1, sizeof *s.tan);
	for (size_t i = 0; i < nwrt; i++) {
		ptrdiff_t at = place_of(&s, wrt[i]);
		check_direction(wrt[i], tan[i]);
		if (at >= 0 && dtype_float(wrt[i]->dtype))
			s.tan[at] = s.tan[at] ? t_add(s.tan[at], tan[i])
				: t_expand_to(tan[i], wrt[i]->shape);
	}
	steps_along(&s);
	for (size_t i = 0; i < s.all.n; i++) {
		UOp *u = s.all.at[i], *t = NULL;
		if (!sweep_given(&s, u) && !map_get(&s.inside, PKEY(u)) &&
			(s.follows[i] || u->op == OP_LOOP || u->op == OP_IF))
			t = tangent(&s, u);
		s.tan[i] = t && s.tan[i] ? t_add(s.tan[i], t) : t ? t : s.tan[i];
	}
	for (size_t i = 0; i < nout; i++)
		dout[i] = sweep_tangent(&s, out[i]);
	sweep_end(&s);
}

void derive_forward(size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout, UOp *const *out,
	UOp **dout)
{
	forward_within(NULL, nwrt, wrt, tan, nout, out, dout);
	zeros_for_none(nout, out, dout);
}
