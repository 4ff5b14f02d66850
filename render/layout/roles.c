/* The contraction that a call's kernel is laid out for, and how its places move. */
#include "shape/shape.h"
#include "layout/layout.h"

UOp *place_buffer(const UOp *call, const UOp *index)
{
	return call->src[1 + param_slot(index->src[0])];
}

bool place_step(UOp *flat, UOp *range, int64_t *step)
{
	Sum s;
	sum_of(&s, flat);
	*step = sum_coef(&s, range);
	for (int i = 0; i < s.n; i++)
		if (s.t[i].m != range && free_of_made(s.t[i].m) & bit_of(range))
			return false;
	return true;
}

UOp *stored_along(const Facts *f)
{
	UOp *flat = flat_place(f->kernel->src[0]->src[0]);
	int64_t step;
	for (int i = 0; i < f->nrange; i++)
		if (f->out >> i & 1 && range_size(f->range[i]) > 1 &&
			place_step(flat, f->range[i], &step) && step == 1)
			return f->range[i];
	return NULL;
}

int ranges_of(const Facts *f, uint64_t set, UOp **range)
{
	int n = 0;
	for (int i = 0; i < f->nrange; i++)
		if (set >> i & 1)
			range[n++] = f->range[i];
	return n;
}

bool is_constant(const UOp *b)
{
	return !strcmp(buffer_role(b), "const") || !strcmp(buffer_role(b), "prepared");
}

bool has_weights(const Roles *r, const UOp *call)
{
	return is_constant(place_buffer(call, r->c.w->src[0])) || ranges_with(r, ROLE_WINDOW);
}

static bool from_param(const UOp *u)
{
	return u->op == OP_LOAD && u->src[0]->src[0]->op == OP_PARAM;
}

/* Takes c if it has more iterations than the contraction in r; the operand with a constant buffer
 * becomes the last. */
static void take_larger(Roles *r, const UOp *call, const Contraction *c, int64_t *most)
{
	int64_t iterations = count_of(&r->facts, free_of(c->fold->src[0]));
	if (!from_param(c->x) || !from_param(c->w) || iterations <= *most)
		return;
	*most = iterations;
	r->c = *c;
	if (is_constant(place_buffer(call, c->x->src[0]))) {
		r->c.x = c->w;
		r->c.w = c->x;
	}
}

bool roles_find(Roles *r, UOp *call)
{
	int64_t most = 0;
	*r = (Roles){0};
	if (!call_has_kernel(call))
		return false;
	facts_find(&r->facts, call->src[0], false);
	for (size_t i = 0; i < r->facts.all.n; i++) {
		Contraction c;
		if (r->facts.all.at[i]->op == OP_RREDUCE && contraction_of(&c, r->facts.all.at[i]))
			take_larger(r, call, &c, &most);
	}
	return r->c.fold;
}

uint64_t ranges_with(const Roles *r, Role role)
{
	uint64_t set = 0;
	for (int i = 0; i < r->facts.nrange; i++)
		if (contraction_role(&r->c, r->facts.range[i]) == role)
			set |= 1ull << i;
	return set;
}
