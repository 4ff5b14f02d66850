/* Derivatives of a graph: one sweep over its nodes, backwards from the outputs (reverse) or
 * forwards from the variables (forward).
 *
 * Reverse mode sums, for each node, the parts of its cotangent from its users. Behind a WHERE a
 * part is kept unselected, as if its side were taken everywhere, together with the mask: the
 * selection is made once, at the end of a chain of elementwise ops. So the infinite derivative of
 * sqrt at 0, on a side that is not taken, is never multiplied by 0. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

/* value where mask equals `when`, and 0 elsewhere; value everywhere if mask is NULL. clean: value
 * itself is 0 elsewhere. */
typedef struct { UOp *value, *mask; bool when, clean; } Part;
enum { PARTS = 4 };
typedef struct { Part part[PARTS]; int n; VEC(Slice) slices; } Cotangent;

typedef struct {
	Nodes all;
	uint32_t lo, span;
	uint32_t *place;        /* of each node in all, from 1, by id; 0: not in the sweep */
	bool *follows;          /* it depends on a variable */
	Cotangent *cot;         /* reverse mode */
	Again *again;
	UOp **tan;              /* forward mode */
} Sweep;

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

static void sweep_over(Sweep *s, size_t nout, UOp *const *out, size_t nwrt, UOp *const *wrt)
{
	s->all = walk_many(nout, out);
	index_nodes(s);
	s->follows = xcalloc(s->all.n + 1, sizeof *s->follows);
	for (size_t i = 0; i < nwrt; i++)
		if (dtype_float(wrt[i]->dtype) && place_of(s, wrt[i]) >= 0)
			s->follows[place_of(s, wrt[i])] = true;
	for (size_t i = 0; i < s->all.n; i++) {
		UOp *u = s->all.at[i];
		for (uint32_t k = 0; k < u->nsrc && !s->follows[i]; k++)
			s->follows[i] = s->follows[place_of(s, u->src[k])] && op_follows(u, k);
	}
}

static void sweep_end(Sweep *s)
{
	free(s->place);
	free(s->follows);
	free(s->cot);
	free(s->tan);
}

static UOp *zero_of(UOp *u) { return t_expand_to(t_num(u->dtype, 0), u->shape); }

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

static void reverse(Sweep *sw, size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt,
	UOp *const *wrt, UOp **grad)
{
	Sweep s = *sw;

	s.cot = xcalloc(s.all.n + 1, sizeof *s.cot);
	for (size_t i = 0; i < nout; i++) {
		check_direction(out[i], cot[i]);
		if (s.follows[place_of(&s, out[i])])
			add_part(&s.cot[place_of(&s, out[i])], fitted(whole(cot[i]), out[i]));
	}
	for (size_t i = s.all.n; i-- > 0;) {
		Cotangent *c = &s.cot[i];
		if (c->slices.n)
			add_part(c, whole(slices_joined(c->slices.at, c->slices.n,
				s.all.at[i]->shape)));
		vec_free(&c->slices);
		if (!c->n)
			continue;
		c->part[0] = settled(c);
		c->n = 1;
		give(&s, i, c->part[0]);
	}
	for (size_t i = 0; i < nwrt; i++) {
		ptrdiff_t at = place_of(&s, wrt[i]);
		bool reached = at >= 0 && s.cot[at].n;
		grad[i] = reached ? t_expand_to(selected(s.cot[at].part[0]), wrt[i]->shape)
			: zero_of(wrt[i]);
	}
	again_end(s.again);
	sweep_end(&s);
}

void derive_reverse(size_t nout, UOp *const *out, UOp *const *cot, size_t nwrt, UOp *const *wrt,
	UOp **grad)
{
	Sweep s = {0};

	sweep_over(&s, nout, out, nwrt, wrt);
	reverse(&s, nout, out, cot, nwrt, wrt, grad);
}

void derive_reverse_again(int segments, size_t nout, UOp *const *out, UOp *const *cot,
	size_t nwrt, UOp *const *wrt,
	UOp **grad)
{
	Sweep s = {0};

	sweep_over(&s, nout, out, nwrt, wrt);
	s.again = again_plan(s.all, s.follows, segments);
	reverse(&s, nout, out, cot, nwrt, wrt, grad);
}

/* ---- forward */

/* The tangent of u, or NULL when no source has one. */
static UOp *tangent(Sweep *s, UOp *u)
{
	UOp *t[2 + MAX_RANK] = {0}, *r;
	bool any = false;

	if (u->op == OP_CUSTOM)
		op_along(u, t);
	for (uint32_t i = 0; i < u->nsrc; i++) {
		t[i] = op_follows(u, i) ? s->tan[place_of(s, u->src[i])] : NULL;
		any |= t[i] != NULL;
	}
	r = any ? op_along(u, t) : NULL;
	return r ? t_expand_to(r, u->shape) : NULL;
}

void derive_forward(size_t nwrt, UOp *const *wrt, UOp *const *tan, size_t nout, UOp *const *out,
	UOp **dout)
{
	Sweep s = {0};

	sweep_over(&s, nout, out, nwrt, wrt);
	s.tan = xcalloc(s.all.n + 1, sizeof *s.tan);
	for (size_t i = 0; i < nwrt; i++) {
		ptrdiff_t at = place_of(&s, wrt[i]);
		check_direction(wrt[i], tan[i]);
		if (at >= 0 && dtype_float(wrt[i]->dtype))
			s.tan[at] = s.tan[at] ? t_add(s.tan[at], tan[i])
				: t_expand_to(tan[i], wrt[i]->shape);
	}
	for (size_t i = 0; i < s.all.n; i++) {
		UOp *t = s.follows[i] ? tangent(&s, s.all.at[i]) : NULL;
		s.tan[i] = t && s.tan[i] ? t_add(s.tan[i], t) : t ? t : s.tan[i];
	}
	for (size_t i = 0; i < nout; i++) {
		UOp *t = s.tan[place_of(&s, out[i])];
		dout[i] = t ? t : zero_of(out[i]);
	}
	sweep_end(&s);
}
