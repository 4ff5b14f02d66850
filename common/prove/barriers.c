/* Memory of a work group: what one item writes, another one touches after a BARRIER alone, and all
 * items of a group come to each BARRIER, and to each EXCHANGE: of these, whole warps.
 *
 *     STORE s[l]; BARRIER; LOAD s[l + 64]         apart: a phase ends at the BARRIER
 *
 * The statements of a phase are those that run between two BARRIERs. A loop with a BARRIER in it
 * joins the phase at its end with that at its beginning.
 *
 * The lanes of a vector are like the items of a group without a BARRIER: what one of them writes,
 * none of the others touches. */
#include <stdlib.h>
#include "index/ix.h"
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

/* Items exchange values in step, so the group is made of warps; on no device are these longer. */
static void check_exchange(const ProvedCall *c, bool divergent)
{
	enum { WARP = 32 };
	const Val *local = val_get(c->kernel->arg, "local_size");
	int64_t items = local ? 1 : 0;
	for (uint32_t d = 0; local && d < local->n; d++)
		items *= local->a[d]->kind == VAL_INT ? local->a[d]->i : 0;
	if (items < WARP || items % WARP)
		prove_fault(c, "an EXCHANGE in a group that is not made of warps of 32 items");
	if (divergent)
		prove_fault(c, "an EXCHANGE stands where not all items of a group come: its "
			"condition or loop differs between them");
}

static bool is_exchange(const UOp *s)
{
	return s->op == OP_STORE && s->src[1]->op == OP_EXCHANGE;
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
		if (is_exchange(s))
			check_exchange(p->call, divergent);
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

/* ---- lanes of vectors */

/* s = *c * lane + *rest, where the rest is the same in all lanes. */
static bool lane_in(const Digits *d, const Sum *s, int64_t *c, Sum *rest)
{
	*rest = *s;
	*c = 0;
	for (int i = 0; i < s->n; i++) {
		if (s->t[i].m == d->lane)
			*c = s->t[i].c;
		else if (moves_with(d, s->t[i].m))
			return false;
	}
	return !*c || sum_term(rest, -*c, d->lane);
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Whether all places are c*lane + k, of which two have one k or no place in common: the usual
 * way. */
static bool side_by_side(const Digits *d, const Access *const *a, size_t n)
{
	int64_t lanes, step = 0, c, far, *k = arena_alloc(n * sizeof *k);
	Sum s, rest, first;
	if (!ix_is_const(d->lane->src[0], &lanes) || a[0]->index->nsrc != 2)
		return false;
	for (size_t i = 0; i < n; i++) {
		sum_of(&s, a[i]->index->src[1]);
		if (!lane_in(d, &s, &c, &rest) || c <= 0 || (i && c != step))
			return false;
		step = c;
		first = i ? first : rest;
		if (!sum_plus(&rest, -1, &first) || rest.n)
			return false;
		k[i] = rest.k;
	}
	if (__builtin_mul_overflow(step, lanes, &far))
		return false;
	qsort(k, n, sizeof *k, by_number);
	for (size_t i = 1; i < n; i++)
		if (k[i] != k[i - 1] &&
			(uint64_t)k[i] - (uint64_t)k[i - 1] <= (uint64_t)(far - step))
			return false;
	return true;
}

static void check_lanes(const ProvedCall *c, UOp *lane, const Access *const *a, size_t n)
{
	Digits d = {.lane = lane, .n = n};
	Place *p = NULL;
	bool store = false;
	for (size_t i = 0; i < n; i++)
		store |= a[i]->store;
	if (!store || n < 2 || side_by_side(&d, a, n))
		return;
	for (uint32_t axis = 0; axis + 1 < a[0]->index->nsrc; axis++)
		digits_of(&d, p = places_of(c, a, n, axis));
	if (!p || !determined(&d, p, lane))
		prove_fault(c, "two lanes of vector %s may touch the same place [%.200s], which "
			"one of them writes", index_text(lane), index_text(a[0]->index->src[1]));
	digits_free(&d);
}

/* The memory of two accesses is the same: that of the kernel's own, or a buffer of the call. */
static bool same_memory(const UOp *call, const Access *a, const Access *b)
{
	const UOp *x = access_buffer(call, a);
	return memory_of(a) == memory_of(b) || (x && x == access_buffer(call, b));
}

/* n accesses in the loop of a vector, one memory after another. */
static void check_vector(const ProvedCall *c, UOp *lane, const Access *a, size_t n)
{
	VEC(const Access *) some = {0};
	for (size_t i = 0; i < n; i++) {
		bool seen = !a[i].store;
		for (size_t k = 0; k < i && !seen; k++)
			seen = a[k].store && same_memory(c->call, &a[i], &a[k]);
		some.n = 0;
		for (size_t k = 0; k < n && !seen; k++)
			if (same_memory(c->call, &a[i], &a[k]))
				vec_push(&some, &a[k]);
		if (some.n)
			check_lanes(c, lane, some.at, some.n);
	}
	vec_free(&some);
}

void prove_lanes(const ProvedCall *c)
{
	if (!c->kernel || c->graph->level < LV_LOOPS || proved_before(c, "lanes"))
		return;
	Accesses all = kernel_accesses(c->kernel);
	size_t from = 0, to;
	for (uint32_t i = 0; i < c->kernel->nsrc; i++) {
		UOp *s = c->kernel->src[i];
		if (s->op != OP_RANGE || strcmp(range_kind(s), "vector"))
			continue;
		while (from < all.n && all.at[from].at < i)
			from++;
		while (c->kernel->src[i]->op != OP_ENDRANGE)
			i++;
		for (to = from; to < all.n && all.at[to].at < i; to++)
			continue;
		check_vector(c, s, all.at + from, to - from);
		from = to;
	}
}
