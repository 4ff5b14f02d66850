/* Memory of a work group: what one item writes, another one touches after a BARRIER alone, and all
 * items of a group come to each BARRIER.
 *
 *     STORE s[l]; BARRIER; LOAD s[l + 64]         apart: a phase ends at the BARRIER
 *
 * The statements of a phase are those that run between two BARRIERs. A loop with a BARRIER in it
 * joins the phase at its end with that at its beginning. */
#include <stdlib.h>
#include "prove/apart.h"

typedef struct { const ProvedCall *call; uint32_t *phase, *join; uint32_t phases; } Phases;

static uint32_t joined(const Phases *p, uint32_t phase)
{
	while (p->join[phase] != phase)
		phase = p->join[phase];
	return phase;
}

/* Whether all items of a group have the same value for u. */
static bool uniform(UOp *u)
{
	const Digits group = {.group = true};
	return !(moves_with(&group, u) & (OF_ITEM | OF_DATA));
}

static void find_phases(Phases *p)
{
	const UOp *k = p->call->kernel;
	VEC(uint32_t) open = {0};
	size_t divergent = 0;
	uint32_t now = 0;
	p->phase = arena_alloc((k->nsrc + 1) * sizeof *p->phase);
	p->join = arena_alloc((k->nsrc + 1) * sizeof *p->join);
	for (uint32_t i = 0; i < k->nsrc; i++) {
		UOp *s = k->src[i];
		if (s->op == OP_RANGE || s->op == OP_IF) {
			vec_push(&open, now);
			if (!divergent && !uniform(s->src[0]))
				divergent = open.n;
		} else if (s->op == OP_ENDRANGE || s->op == OP_ENDIF) {
			p->join[joined(p, now)] = joined(p, open.at[--open.n]);
			divergent = divergent > open.n ? 0 : divergent;
		} else if (s->op == OP_BARRIER) {
			if (divergent)
				prove_fault(p->call, "a BARRIER stands where not all items of a "
					"group come: its condition or loop differs between them");
			now = ++p->phases;
			p->join[now] = now;
		}
		p->phase[i] = now;
	}
	vec_free(&open);
}

static bool is_shared(const UOp *m)
{
	return m->op == OP_DEFINE_LOCAL && val_is_str(m->arg->a[2], "local");
}

static void check_phase(const ProvedCall *c, const Items *x, const Access *const *a, size_t n)
{
	bool stores = false;
	for (size_t i = 0; i < n; i++)
		stores |= a[i]->store;
	if (stores)
		check_apart(c, x, true, a, n);
}

static void check_memory(const Phases *p, const Items *x, const UOp *memory)
{
	Accesses all = kernel_accesses(p->call->kernel);
	VEC(const Access *) some = {0};
	for (uint32_t phase = 0; phase <= p->phases; phase++) {
		some.n = 0;
		for (size_t i = 0; i < all.n; i++)
			if (memory_of(&all.at[i]) == memory &&
				joined(p, p->phase[all.at[i].at]) == phase)
				vec_push(&some, &all.at[i]);
		if (some.n)
			check_phase(p->call, x, some.at, some.n);
	}
	vec_free(&some);
}

void prove_barriers(const ProvedCall *c)
{
	Phases p = {.call = c};
	Items all, x = {0};
	if (!c->kernel || c->graph->level < LV_LOOPS ||
		proved_before(c, "barriers"))
		return;
	all = items_of(c);
	for (int i = 0; i < all.n; i++) {
		bool group = all.number[i] && all.number[i]->arg->s[0] == 'g';
		x.number[x.n] = all.number[i];
		x.size[x.n] = all.size[i];
		x.n += !group;
	}
	find_phases(&p);
	for (uint32_t i = 0; i < c->kernel->nsrc && x.n; i++)
		if (is_shared(c->kernel->src[i]))
			check_memory(&p, &x, c->kernel->src[i]);
}
