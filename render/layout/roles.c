/* What a contraction's ranges do, told from the places alone. */
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
		if (s.t[i].m != range && free_of(s.t[i].m) & bit_of(range))
			return false;
	return true;
}

UOp *stored_along(const Facts *f)
{
	UOp *flat = flat_place(f->kernel->src[0]->src[0]);
	int64_t step;
	for (int i = 0; i < f->nrange; i++)
		if (f->out >> i & 1 && range_size(f->range[i]) > 1 && place_step(flat, f->range[i], &step) &&
			step == 1)
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

static UOp *load_of(UOp *u)
{
	while (u->op == OP_CAST)
		u = u->src[0];
	return u->op == OP_LOAD && u->src[0]->src[0]->op == OP_PARAM ? u : NULL;
}

bool roles_find(Roles *r, UOp *call)
{
	int64_t most = 0;
	*r = (Roles){0};
	if (!call_has_kernel(call))
		return false;
	facts_find(&r->facts, call->src[0], false);
	for (size_t i = 0; i < r->facts.all.n; i++) {
		UOp *u = r->facts.all.at[i];
		if (u->op != OP_RREDUCE || !val_is_str(u->arg, "ADD") || u->src[0]->op != OP_MUL)
			continue;
		UOp *a = load_of(u->src[0]->src[0]), *b = load_of(u->src[0]->src[1]);
		int64_t turns = count_of(&r->facts, free_of(u->src[0]));
		if (!a || !b || turns <= most)
			continue;
		if (is_constant(place_buffer(call, a->src[0]))) {
			UOp *swap = a;
			a = b;
			b = swap;
		}
		most = turns;
		r->reduce = u;
		r->x = a;
		r->w = b;
	}
	return r->reduce;
}
