/* Which values deserve a row buffer, or a register: costly ones that would be computed more than
 * once for the same ranges.
 *
 *     softmax  e[j] = exp(x[i,j] - m[i])  is used by the sum over j and by the output over j
 *              → for j: buf[j] = e[j];  the sum and the output read buf
 *     attention  p[i,j] is used in a sum over j for each output column d, without d
 *
 * The choice is made on a first lowering without stages. A value's loops are compared by their
 * signatures, so that the main part and the tail of a split loop count as one. A source gets no row
 * buffer when a user of it is computed in exactly the same loops.
 *
 *     log_softmax  for 4 rows i, for j: x[i,j] - m[i] - log(s[i])
 *                  → log(s[i]) for the 4 rows in registers, before the loop over j
 *
 * That choice is made on a lowering with the tiles, in which a loop inside of those over tiles of i
 * repeats the value. */
#include "target/target.h"
#include "choose/choose.h"
#include <stdlib.h>

/* Costs are in fractions of an operation, so that shares of one can be added. */
enum {
	PARTS = 64,
	COSTLY = 12 * PARTS,            /* of a row buffer, or of registers, what they save */
	DEAR = COST_DIVIDE * PARTS,     /* of registers, what each holds */
	COST_MAX = 1 << 30
};

/* What is known about one node of the kernel. */
typedef struct {
	VEC(Inst *) at;         /* an instance for each loop */
	uint64_t loops;         /* hash of their signatures */
	Scope *around; /* the scope that could hold its row buffer; NULL: no recomputation */
	uint64_t over;          /* ranges of that buffer */
	int64_t cost, times;
	bool gives_way, staged;
} Node;

static uint64_t signature(const Scope *s)
{
	uint64_t h = 1;
	for (; s; s = s->parent)
		if (s->binds)
			h = hash_mix(hash_mix(h, s->binds), s->phase);
	return h;
}

static Node *node_of(Map *nodes, const UOp *u)
{
	Node *n = map_get(nodes, PKEY(u));
	if (!n) {
		n = arena_alloc(sizeof *n);
		map_put(nodes, PKEY(u), n);
	}
	return n;
}

static bool countable(const Inst *i)
{
	if (i->kind == INST_REDUCE)
		return !i->nest->lanes;
	return i->kind == INST_VALUE && i->nsrc && i->of->op != OP_INDEX &&
		i->of->op != OP_RREDUCE && i->of->op != OP_TUPLE;
}

static void note_instance(Map *nodes, Inst *i)
{
	Node *n = node_of(nodes, i->of);
	uint64_t sig = signature(i->place);
	for (size_t k = 0; k < n->at.n; k++)
		if (signature(n->at.at[k]->place) == sig)
			return;
	vec_push(&n->at, i);
	n->loops += hash_mix(sig, 7);
}

static Scope *common(Scope *a, Scope *b)
{
	while (a != b) {
		if (a->depth >= b->depth)
			a = a->parent;
		else
			b = b->parent;
	}
	return a;
}

/* The scope outside the outermost loop that repeats the value without changing it. */
static Scope *outside_repeats(const Lowering *l, const Inst *i)
{
	Scope *r = i->place;
	for (Scope *s = i->place; s->parent; s = s->parent)
		if (s->binds && !(s->binds & free_of(i->of)) && count_of(&l->facts, s->binds) > 1)
			r = s->parent;
	return r;
}

/* The ranges of u that get their values between scope around and place. */
static uint64_t ranges_between(const UOp *u, const Scope *around, const Scope *place)
{
	uint64_t set = 0, seen = 0;
	for (; place != around; place = place->parent) {
		set |= place->binds & free_of(u) & ~seen;
		seen |= place->binds;
	}
	return set;
}

static void find_around(const Lowering *l, const UOp *u, Node *n)
{
	Scope *s = outside_repeats(l, n->at.at[0]);
	for (size_t i = 1; i < n->at.n; i++)
		s = common(s, outside_repeats(l, n->at.at[i]));
	if (n->at.n == 1 && s == n->at.at[0]->place)
		return;
	n->over = ranges_between(u, s, n->at.at[0]->place);
	for (size_t i = 1; i < n->at.n; i++)
		if (ranges_between(u, s, n->at.at[i]->place) != n->over)
			return;
	n->around = n->over ? s : NULL;
}

/* A value read again, and index arithmetic, count as one operation: a row buffer is read too. */
static int64_t operations(const Lowering *l, const UOp *u)
{
	enum { LONG = 1 << 20 };
	if (u->op == OP_RREDUCE) {
		int64_t n = count_of(&l->facts, bound_of(u));
		return 4 * (n < LONG ? n : LONG);
	}
	return u->op == OP_LOAD || u->dtype == DT_I64 ? COST_ADD : op_cost(u->op);
}

/* Arithmetic of one instance in its own scope; the cost of a shared source is divided among its
 * users. */
static int64_t cost_of(const Lowering *l, Map *nodes, const Inst *i)
{
	int64_t cost = PARTS * operations(l, i->of);
	for (uint32_t k = 0; k < i->nsrc && i->kind == INST_VALUE; k++) {
		Node *src = map_get(nodes, PKEY(i->src[k]->of));
		if (src && !src->staged && i->src[k]->place == i->place)
			cost += src->cost / (i->src[k]->uses ? i->src[k]->uses : 1);
	}
	return cost > COST_MAX ? COST_MAX : cost;
}

static bool allowed(const Lowering *l, const Node *n, int64_t bytes, int64_t used)
{
	if (l->plan.mode == PLAN_ITEMS || (l->plan.mode == PLAN_GROUP && n->around != l->shared))
		return false;
	return used <= target->local && bytes <= target->local - used;
}

static void give_way(Map *nodes, const Inst *user)
{
	Node *u = map_get(nodes, PKEY(user->of));
	for (uint32_t k = 0; k < user->nsrc && user->kind == INST_VALUE && u && u->around; k++) {
		Node *src = map_get(nodes, PKEY(user->src[k]->of));
		if (src && src->loops == u->loops && src->around == u->around &&
			src->over == u->over)
			src->gives_way = true;
	}
}

void stage_choose(const Lowering *l, Plan *plan)
{
	Map nodes = {0};
	int64_t used = 0;
	for (size_t i = 0; i < l->all.n; i++)
		if (countable(l->all.at[i]))
			note_instance(&nodes, l->all.at[i]);
	for (size_t i = 0; i < l->all.n; i++) {
		Node *n = map_get(&nodes, PKEY(l->all.at[i]->of));
		if (n && n->at.at[0] == l->all.at[i])
			find_around(l, l->all.at[i]->of, n);
	}
	for (size_t i = 0; i < l->all.n; i++)
		give_way(&nodes, l->all.at[i]);
	for (size_t i = 0; i < l->all.n && plan->nstage < MAX_STAGED; i++) {
		Inst *at = l->all.at[i];
		Node *n = map_get(&nodes, PKEY(at->of));
		if (!n || n->at.at[0] != at)
			continue;
		n->cost = cost_of(l, &nodes, at);
		int64_t bytes;
		if (!n->around || n->gives_way || n->cost < COSTLY ||
			!mul_ok(count_of(&l->facts, n->over), dtype_size(at->of->dtype), &bytes) ||
			!allowed(l, n, bytes, used))
			continue;
		Staged s = {.value = at->of, .over = n->over};
		if (!stage_fits(&l->facts, &s))
			continue;
		n->staged = true;
		used += bytes;
		plan->stage[plan->nstage++] = s;
	}
	map_free(&nodes);
}

/* ---- registers for the lanes of a tile */

/* How often a loop inside the scope in which the tiles begin of whose lanes the value is runs over
 * it; *at is that scope. 1: there is no such loop. */
static int64_t times_repeated(const Inst *i, Scope **at)
{
	enum { MANY = 1 << 20 };
	uint64_t free = free_of(i->of);
	int64_t times = 1, least, most;
	Scope *to = i->place->base;
	while (to && to->parent && (to->base || !((to->binds | to->starts) & free)))
		to = to->parent;
	for (const Scope *s = i->place; to && s != to && times < MANY; s = s->parent)
		if (!s->base && s->open && s->open->op == OP_RANGE) {
			ix_bounds(s->open->src[0], &least, &most);
			times *= usual_size(least, most);
		}
	*at = to;
	return times;
}

/* Could a value be of some lanes alone? (What places and gates are made of is no float: it is
 * proved to fit where it stands.) */
static bool may_repeat(const Plan *p, const Facts *f)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (op_elementwise(u->op) && dtype_float(u->dtype) &&
			free_of(u) & tiled_ranges(p) && f->out & ~free_of(u))
			return true;
	}
	return false;
}

/* What a repeated value is made of does not need registers too. */
static void pass_on(Map *nodes, const Inst *i)
{
	for (uint32_t k = 0; k < i->nsrc; k++) {
		Node *src = map_get(nodes, PKEY(i->src[k]->of));
		if (src)
			src->gives_way = true;
	}
}

void stage_lanes(const KernelUse *use, Plan *plan)
{
	Lowering l;
	Map nodes = {0};
	lowering_begin(&l, use->kernel, use->alias);
	l.plan = *plan;
	if (may_repeat(plan, &l.facts))
		lowering_fill(&l);
	for (size_t i = 0; i < l.all.n; i++) {
		const Inst *at = l.all.at[i];
		Scope *around;
		int64_t times;
		if (at->kind != INST_VALUE || !countable(at) || !dtype_float(at->of->dtype) ||
			(times = times_repeated(at, &around)) < 2)
			continue;
		Node *n = node_of(&nodes, at->of);
		n->around = around;
		n->times = times;
		n->cost = cost_of(&l, &nodes, at);
	}
	for (size_t i = l.all.n; i-- > 0 && plan->nstage < MAX_STAGED;) {
		Node *n = map_get(&nodes, PKEY(l.all.at[i]->of));
		Staged s = {.value = l.all.at[i]->of};
		if (!n || stage_of(plan, s.value) >= 0)
			continue;
		if (!n->gives_way && n->cost >= DEAR &&
			n->cost * (n->times - 1) >= COSTLY && stage_fits(&l.facts, &s)) {
			plan->stage[plan->nstage++] = s;
			n->staged = true;
		}
		if (n->gives_way || n->staged)
			pass_on(&nodes, l.all.at[i]);
	}
	map_free(&nodes);
	lowering_end(&l);
}
