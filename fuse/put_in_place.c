/* Replaces a load by the value of the STORE that produced it, at the places that the load reads.
 *
 *     STORE(PARAM 0[r0, r1], EXP2(LOAD(PARAM 1[r0, r1])))          PARAM 0 is t, PARAM 1 is x
 *     in   STORE(PARAM 0[r0, r1], NEG(LOAD(PARAM 1[r1, r0])))      PARAM 0 is y, PARAM 1 is t
 *     →    STORE(PARAM 0[r0, r1], NEG(EXP2(LOAD(PARAM 1[r1, r0]))))         PARAM 1 is x
 *
 * The slot of the buffer that is no longer loaded goes to the first buffer that only the value
 * reads, and further ones follow, so that in the common case nothing else of the kernel changes. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

enum { ROUNDS = 4 };

typedef struct { VEC(UOp *) from, to; } Change;

static void change(Change *c, UOp *from, UOp *to)
{
	vec_push(&c->from, from);
	vec_push(&c->to, to);
}

/* What a kernel had in slot `was` is now in slot `now`. */
static void move_slot(Change *c, uint32_t was, uint32_t now, const UOp *buffer)
{
	change(c, param_new(was, buffer), param_new(now, buffer));
}

Nodes sites_of(UOp *kernel, UOp *param)
{
	Nodes loads = kernel_loads(kernel), sites = {loads.at, 0};
	for (size_t i = 0; i < loads.n; i++)
		if (loads.at[i]->src[0]->src[0] == param)
			sites.at[sites.n++] = loads.at[i];
	return sites;
}

/* The value that a store writes, at the places that a load reads; `slots` changes its slots. */
static UOp *value_for(UOp *store, UOp *site, Change *slots)
{
	UOp *place = store->src[0];
	size_t n = slots->from.n;
	for (uint32_t i = 1; i < place->nsrc; i++)
		if (place->src[i]->op == OP_RANGE)
			change(slots, place->src[i], site->src[0]->src[i]);
	UOp *value = substitute(store->src[1], slots->from.n, slots->from.at, slots->to.at);
	slots->from.n = slots->to.n = n;
	if (site->nsrc < 2)
		return value;
	UOp *gate = site->src[1], *zero = const_num(value->dtype, 0);
	return NODE(
		OP_WHERE, value->dtype, VNIL, gate, gate_loads(value, gate, site->src[0]), zero);
}

/* A site whose index is itself loaded may contain another site. */
static bool may_nest(const Nodes *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		if (has_op(sites->at[i]->src[0], OP_LOAD) || sites->at[i]->nsrc > 1)
			return true;
	return false;
}

static bool any_in_fold(const Nodes *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		if (range_mask(sites->at[i]) >> BOUND)
			return true;
	return false;
}

/* In rounds, over the pair's slots; NULL when that does not end. */
static UOp *put_nested(const Pair *p, UOp *kernel, uint32_t at, Change *in_first, Change *in_second)
{
	UOp *param = param_new(at, p->buffer[at]), *store = p->second->src[0];
	for (uint32_t i = 1; i < p->slots; i++)
		move_slot(in_second, i, p->slot[i], p->buffer[p->slot[i]]);
	for (int round = 0; round < ROUNDS; round++) {
		Nodes sites = sites_of(kernel, param);
		if (!sites.n)
			return kernel;
		in_first->from.n = in_first->to.n = 0;
		for (size_t i = 0; i < sites.n; i++)
			change(in_first, sites.at[i], value_for(store, sites.at[i], in_second));
		kernel = substitute(kernel, sites.n, in_first->from.at, in_first->to.at);
	}
	return sites_of(kernel, param).n ? NULL : kernel;
}

/* The slots of both kernels once the first has lost slot `at`; returns which of the pair's slots
 * each one was. */
static Seated slots_after(const Pair *p, uint32_t at, Change *in_first, Change *in_second)
{
	uint32_t own = p->buffers, added;
	for (uint32_t i = 1; i < p->slots; i++)
		own = p->slot[i] >= p->first_slots && p->slot[i] < own ? p->slot[i] : own;
	added = p->buffers - own;
	Seated s = {.n = p->buffers - 1, .from = arena_alloc(p->buffers * sizeof *s.from)};
	uint32_t *now = arena_alloc(p->buffers * sizeof *now);
	for (uint32_t k = 0; k < p->buffers; k++)
		now[k] = k < at ? k : k < own ? k - 1 + added : at + k - own;
	for (uint32_t k = 0; k < p->buffers; k++)
		if (k != at)
			s.from[now[k]] = k;
	for (uint32_t k = 0; k < own; k++)
		if (k != at && now[k] != k)
			move_slot(in_first, k, now[k], p->buffer[k]);
	for (uint32_t i = 1; i < p->slots; i++)
		move_slot(in_second, i, now[p->slot[i]], p->buffer[p->slot[i]]);
	return s;
}

Seated put_in_place(const Pair *p, UOp *kernel, uint32_t at, bool folds)
{
	UOp *param = param_new(at, p->buffer[at]);
	Nodes sites = sites_of(kernel, param);
	Change in_first = {0}, in_second = {0};
	Seated s;
	if (any_in_fold(&sites)) {
		/* the kernel's bound ranges are moved out of the way: those of the value have to be
		 * the same inside its reductions and outside */
		kernel = shift_bound(kernel, MAX_RANK);
		sites = sites_of(kernel, param);
	}
	if (may_nest(&sites)) {
		kernel = put_nested(p, kernel, at, &in_first, &in_second);
		s = kernel ? seat_buffers(kernel, p->buffer) : (Seated){0};
	} else {
		s = slots_after(p, at, &in_first, &in_second);
		for (size_t i = 0; i < sites.n; i++) {
			UOp *value = value_for(p->second->src[0], sites.at[i], &in_second);
			change(&in_first, sites.at[i], value);
		}
		s.kernel = substitute(kernel, in_first.from.n, in_first.from.at, in_first.to.at);
	}
	if (s.kernel && folds)
		s.kernel = number_bound(s.kernel);
	vec_free(&in_first.from);
	vec_free(&in_first.to);
	vec_free(&in_second.from);
	vec_free(&in_second.to);
	return s;
}

UOp *loops_of_store(UOp *kernel, UOp *store, UOp *param)
{
	Loops k = kernel_loops(kernel), s = kernel_loops(store);
	Nodes sites = sites_of(kernel, param);
	if (k.n != s.n || sites.n != 1 || sites.at[0]->nsrc > 1)
		return NULL;
	for (int i = 0; i < k.n; i++)
		if (k.at[i]->src[0] != s.at[i]->src[0])
			return NULL;
	kernel = substitute(kernel, k.n, k.at, s.at);
	sites = sites_of(kernel, param);
	for (uint32_t i = 1; i < store->src[0]->nsrc; i++)
		if (sites.at[0]->src[0]->src[i] != store->src[0]->src[i])
			return NULL;
	return kernel;
}
