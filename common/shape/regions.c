/* Regions of a graph: the bodies of its loops and the branches of its conditions.
 *
 *     %3 TURN 0   %4 ADD %3 %1   %5 LOOP limit, value %4   %6 PICK %5 0      %1 outside, %3 %4 body
 *
 * Bodies are bound by scope: a node belongs to those loops whose TURN or CARRY it depends on, by
 * its sources or by a BIND whose name it mentions. It runs in the innermost of them. A branch has
 * what only its values need. Both follow from one pass down the nodes (the loops of each) and one
 * up (where each is used: the region that is around all of its uses). */
#include "shape/regions.h"
#include <stdlib.h>

/* ---- the loops that a node depends on: interned sets, sorted by id */

typedef struct LoopSet LoopSet;
struct LoopSet { uint32_t n; int64_t id[]; };

static const LoopSet *set_make(Map *sets, size_t n, const int64_t *id)
{
	uint64_t key = hash_bytes(id, n * sizeof *id, n);
	LoopSet *s;
	for (; (s = map_get(sets, key)); key++)
		if (s->n == n && !memcmp(s->id, id, n * sizeof *id))
			return s;
	s = arena_alloc(sizeof *s + n * sizeof *id);
	s->n = (uint32_t)n;
	if (n)
		memcpy(s->id, id, n * sizeof *id);
	map_put(sets, key, s);
	return s;
}

static bool set_has(const LoopSet *s, int64_t id)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->id[i] == id)
			return true;
	return false;
}

static const LoopSet *set_join(Map *sets, const LoopSet *a, const LoopSet *b)
{
	if (a == b || !b->n)
		return a;
	if (!a->n)
		return b;
	int64_t *id = arena_alloc((a->n + b->n) * sizeof *id);
	size_t n = 0;
	for (uint32_t i = 0, k = 0; i < a->n || k < b->n; n++) {
		bool first = k == b->n || (i < a->n && a->id[i] <= b->id[k]);
		id[n] = first ? a->id[i] : b->id[k];
		if (i < a->n && a->id[i] == id[n])
			i++;
		if (k < b->n && b->id[k] == id[n])
			k++;
	}
	return set_make(sets, n, id);
}

static const LoopSet *set_without(Map *sets, const LoopSet *s, int64_t id)
{
	int64_t *left = arena_alloc((s->n + 1) * sizeof *left);
	size_t n = 0;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->id[i] != id)
			left[n++] = s->id[i];
	return n == s->n ? s : set_make(sets, n, left);
}

typedef struct {
	Map sets;
	const LoopSet **of;             /* by node id */
	NodeList named;                 /* scratch */
} Depends;

static int64_t loop_id(const UOp *u)
{
	return u->op == OP_TURN ? u->arg->i : u->op == OP_CARRY ? u->arg->a[0]->i :
		val_get(u->arg, "id")->i;
}

/* The loops of u, whose sources and BINDs have theirs. */
static const LoopSet *depends(Depends *d, const UOp *u, const Map *binds)
{
	const LoopSet *s = set_make(&d->sets, 0, (int64_t[]){0});
	for (uint32_t i = 0; i < u->nsrc; i++)
		s = set_join(&d->sets, s, d->of[u->src[i]->id]);
	mentions_of(u, binds, &d->named);
	for (size_t i = 0; i < d->named.n; i++)
		s = set_join(&d->sets, s, d->of[d->named.at[i]->id]);
	if (u->op == OP_TURN || u->op == OP_CARRY)
		s = set_join(&d->sets, s, set_make(&d->sets, 1, (int64_t[]){loop_id(u)}));
	return u->op == OP_LOOP ? set_without(&d->sets, s, loop_id(u)) : s;
}

static void depends_free(Depends *d)
{
	map_free(&d->sets);
	vec_free(&d->named);
	free(d->of);
}

/* ---- the rules */

typedef struct {
	Depends d;
	Map binds;              /* name's Val → BIND, of those before the node */
	Map loops;              /* id + 1 → LOOP */
	Steps carries;
	int status;
} RegionCheck;

/* Whether a size mentions a name that is bound in the loop's body. */
static bool bound_within(RegionCheck *c, UOp *size, int64_t id)
{
	Nodes all = walk_brief(size);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *bind = all.at[i]->op != OP_VAR ? NULL :
			map_get(&c->binds, PKEY(all.at[i]->arg->a[0]));
		if (bind && set_has(c->d.of[bind->id], id))
			return true;
	}
	return false;
}

/* Whether the shapes may be equal, whatever names bound in the loop's body stand for. */
static bool fits(RegionCheck *c, const Shape *have, const Shape *want, int64_t id)
{
	bool may = have->rank == want->rank;
	for (int i = 0; may && i < have->rank; i++)
		may = bound_within(c, have->dim[i], id) || bound_within(c, want->dim[i], id) ||
			size_may_equal(have->dim[i], want->dim[i]);
	return may;
}

static const char *misfit(const char *what, int64_t k, const Shape *have, const Shape *want)
{
	return arena_printf("%s %lld has shape %s, needs %s", what, (long long)k,
		shape_text(have), shape_text(want));
}

static const char *check_opens(RegionCheck *c, UOp *u)
{
	int64_t id = loop_id(u);
	if (map_get(&c->loops, (uint64_t)id + 1))
		return arena_printf("loop %lld stands before it", (long long)id);
	const char *e = u->op == OP_CARRY ? steps_add(&c->carries, u) : NULL;
	if (e || u->op == OP_TURN)
		return e;
	if (set_has(c->d.of[u->src[0]->id], id))
		return "its init is in the loop's body";
	if (!fits(c, u->src[0]->shape, u->shape, id))
		return misfit("init of state", u->arg->a[1]->i, u->src[0]->shape, u->shape);
	return NULL;
}

static const char *check_states(RegionCheck *c, const LoopParts *p)
{
	for (int64_t k = 0; k < p->states; k++) {
		const UOp *carry = steps_carry(&c->carries, p->id, k);
		if (!carry)
			return arena_printf("state %lld has no CARRY", (long long)k);
		if (carry->dtype != p->state[k]->dtype)
			return arena_printf("next state %lld is %s, not %s", (long long)k,
				dtype_name(p->state[k]->dtype), dtype_name(carry->dtype));
		if (!fits(c, p->state[k]->shape, carry->shape, p->id))
			return misfit("next state", k, p->state[k]->shape, carry->shape);
	}
	return NULL;
}

static const char *check_loop(RegionCheck *c, UOp *u)
{
	LoopParts p = loop_parts(u);
	if (map_get(&c->loops, (uint64_t)p.id + 1))
		return arena_printf("a second loop %lld", (long long)p.id);
	if (p.limit && set_has(c->d.of[p.limit->id], p.id))
		return "the limit is in the loop's body";
	if (p.start && set_has(c->d.of[p.start->id], p.id))
		return "the start condition is in the loop's body";
	map_put(&c->loops, (uint64_t)p.id + 1, u);
	return check_states(c, &p);
}

/* The shape that a PICK takes from a branch, or a state or value of a loop. */
static const char *check_pick(RegionCheck *c, const UOp *u)
{
	const UOp *s = u->src[0];
	bool said = u->arg->kind == VAL_ARRAY;
	int64_t k = said ? u->arg->a[0]->i : u->arg->i, id = -1;
	const Shape *have[2] = {u->shape, u->shape};
	if (s->op == OP_IF) {
		have[0] = s->src[1 + k]->shape;
		have[1] = s->src[1 + k + s->arg->i]->shape;
	} else {
		LoopParts p = loop_parts(s);
		id = p.id;
		if (k < p.states)
			have[0] = have[1] = p.state[k]->shape;
		for (int i = 0; !said && k < p.states + p.values && i < u->shape->rank; i++)
			if (bound_within(c, u->shape->dim[i], id))
				return "the shape is bound in the body: the arg has to be "
				       "[k, shape]";
	}
	for (int i = 0; i < 2; i++)
		if (!fits(c, have[i], u->shape, id))
			return misfit("value", k, have[i], u->shape);
	return NULL;
}

static const char *check_one(RegionCheck *c, const Nodes *all, size_t at)
{
	UOp *u = all->at[at];
	const LoopSet *in = c->d.of[u->id] = depends(&c->d, u, &c->binds);
	switch (u->op) {
	case OP_BIND:
		if (map_get(&c->binds, PKEY(u->arg->a[0])))
			return "the size is bound twice";
		map_put(&c->binds, PKEY(u->arg->a[0]), u);
		return NULL;
	case OP_BUFFER:
		mentions_of(u, &c->binds, &c->d.named);
		return c->d.named.n ? "its shape mentions a size that is bound" : NULL;
	case OP_TURN:
	case OP_CARRY: return check_opens(c, u);
	case OP_LOOP: return check_loop(c, u);
	case OP_PICK: return check_pick(c, u);
	case OP_ASSIGN:
		if (!in->n)
			return NULL;
		c->status = UNSUPPORTED;
		return "a state is assigned in a loop's body";
	case OP_SINK:
		for (size_t i = 0, n = sink_outputs(u); i < n; i++)
			if (c->d.of[u->src[i]->id]->n)
				return arena_printf("output %zu is in the body of loop %lld", i,
					(long long)c->d.of[u->src[i]->id]->id[0]);
		return NULL;
	default: return NULL;
	}
}

/* A TURN or CARRY whose LOOP, or state of it, is not there. */
static const char *check_closed(RegionCheck *c, const Nodes *all, size_t *at)
{
	for (size_t i = 0; i < all->n; i++) {
		const UOp *u = all->at[i];
		if (u->op != OP_TURN && u->op != OP_CARRY)
			continue;
		const UOp *loop = map_get(&c->loops, (uint64_t)loop_id(u) + 1);
		*at = i;
		if (!loop)
			return arena_printf("there is no loop %lld", (long long)loop_id(u));
		if (u->op == OP_CARRY && u->arg->a[1]->i >= val_get(loop->arg, "states")->i)
			return arena_printf("loop %lld has no such state", (long long)loop_id(u));
	}
	return NULL;
}

/* An ASSIGN that the SINK reaches through branches alone. */
static const char *check_assigned(const Nodes *all, size_t *at)
{
	UOp *sink = all->at[all->n - 1];
	Regions *r = regions_new(1, 1, &sink);
	const char *e = NULL;
	for (size_t i = 0; !e && i < all->n; i++)
		if (all->at[i]->op == OP_ASSIGN && r->of[all->at[i]->id] &&
			r->of[all->at[i]->id] != &r->top) {
			*at = i;
			e = "a state is assigned in a branch";
		}
	regions_free(r);
	return e;
}

static const UOp *first_step(const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (op_info[all->at[i]->op].cls == CLASS_FLOW && all->at[i]->op != OP_SIZE)
			return all->at[i];
	return NULL;
}

const UOp *steps_in(const Graph *g)
{
	Nodes all = g->level == LV_GRAPH ? walk_brief(g->sink) : (Nodes){0};
	return first_step(&all);
}

const char *regions_check(const Nodes *all, size_t *at, int *status)
{
	RegionCheck c = {.status = MALFORMED};
	const char *e = NULL;
	if (!first_step(all))
		return NULL;
	c.d.of = xcalloc(node_limit(), sizeof *c.d.of);
	for (size_t i = 0; !e && i < all->n; i++) {
		*at = i;
		e = check_one(&c, all, i);
	}
	e = e ? e : check_closed(&c, all, at);
	*status = c.status;
	if (!e && all->at[all->n - 1]->op == OP_SINK && (e = check_assigned(all, at)))
		*status = UNSUPPORTED;
	depends_free(&c.d);
	map_free(&c.binds);
	map_free(&c.loops);
	steps_free(&c.carries);
	return e;
}

Graph *steps_prune(Graph *g)
{
	UOp *sink = g->sink;
	size_t n = sink_outputs(sink), kept = 0;
	if (n == sink->nsrc)
		return g;
	Regions *r = regions_new(1, 1, &sink);
	UOp **bind = arena_alloc((sink->nsrc - n + 1) * sizeof *bind);
	for (size_t i = n; i < sink->nsrc; i++)
		if (r->of[sink->src[i]->id])
			bind[kept++] = sink->src[i];
	regions_free(r);
	g->sink = sink_new(n, sink->src, kept, bind, sink->arg);
	return g;
}

/* ---- where each node runs */

static Region *region_child(UOp *owner, bool other, Region *up, Map *in)
{
	Region *c = xcalloc(1, sizeof *c);
	c->owner = owner;
	c->other = other;
	c->up = up;
	c->depth = up->depth + 1;
	map_put(in, PKEY(owner), c);
	return c;
}

Region *region_body(const Regions *r, const UOp *u) { return map_get(&r->body, PKEY(u)); }
Region *region_other(const Regions *r, const UOp *u) { return map_get(&r->other, PKEY(u)); }

/* The innermost region around both; NULL is no region yet. */
static Region *around(Region *a, Region *b)
{
	if (!a || !b)
		return a ? a : b;
	while (a != b) {
		if (a->depth >= b->depth)
			a = a->up;
		else
			b = b->up;
	}
	return a;
}

Region *region_of_use(const Regions *r, const UOp *u, uint32_t k)
{
	Region *at = r->of[u->id];
	if (u->op == OP_CARRY)
		return r->of[((UOp *)map_get(&r->loops, (uint64_t)loop_id(u) + 1))->id];
	if (u->op == OP_IF && k)
		return k <= (uint64_t)u->arg->i ? region_body(r, u) : region_other(r, u);
	if (u->op != OP_LOOP)
		return at;
	LoopParts p = loop_parts(u);
	return u->src[k] == p.limit || u->src[k] == p.start ? at : region_body(r, u);
}

static void use(Regions *r, const UOp *u, Region *in)
{
	r->of[u->id] = around(r->of[u->id], in);
}

/* Marks where u, which runs in region `at`, uses its sources and the BINDs that it mentions. */
static void uses_of(Regions *r, UOp *u, Region *at, NodeList *named)
{
	if (u->op == OP_LOOP || u->op == OP_IF)
		region_child(u, false, at, &r->body);
	if (u->op == OP_IF)
		region_child(u, true, at, &r->other);
	for (uint32_t k = 0, n = u->op == OP_SINK ? (uint32_t)sink_outputs(u) : u->nsrc; k < n; k++)
		use(r, u->src[k], region_of_use(r, u, k));
	mentions_of(u, &r->binds, named);
	for (size_t i = 0; i < named->n; i++)
		use(r, named->at[i], at);
}

/* The region of u, given the one around all of its uses: out of the loops that it does not depend
 * on. A branch is not left: what it alone needs may fail. */
static Region *settle(const Regions *r, const Depends *d, const UOp *u)
{
	Region *at = r->of[u->id];
	if (u->op == OP_TURN || u->op == OP_CARRY)
		return region_body(r, map_get(&r->loops, (uint64_t)loop_id(u) + 1));
	while (at && at->owner && at->owner->op == OP_LOOP &&
		!set_has(d->of[u->id], loop_id(at->owner)))
		at = at->up;
	return at;
}

static void place_all(Regions *r, size_t wanted, UOp *const *roots)
{
	Depends d = {.of = xcalloc(node_limit(), sizeof *d.of)};
	for (size_t i = 0; i < r->all.n; i++) {
		UOp *u = r->all.at[i];
		d.of[u->id] = depends(&d, u, &r->binds);
		if (u->op == OP_LOOP)
			map_put(&r->loops, (uint64_t)loop_id(u) + 1, u);
	}
	for (size_t i = 0; i < wanted; i++)
		use(r, roots[i], &r->top);
	for (size_t i = r->all.n; i-- > 0;) {
		UOp *u = r->all.at[i];
		if (u->op == OP_TURN || u->op == OP_CARRY || r->of[u->id])
			r->of[u->id] = settle(r, &d, u);
		if (r->of[u->id])
			uses_of(r, u, r->of[u->id], &d.named);
	}
	for (size_t i = 0; i < r->all.n; i++)
		if (r->of[r->all.at[i]->id])
			vec_push(&r->of[r->all.at[i]->id]->nodes, r->all.at[i]);
	depends_free(&d);
}

Regions *regions_new(size_t wanted, size_t nroots, UOp *const *roots)
{
	Regions *r = xcalloc(1, sizeof *r);
	r->all = walk_many(nroots, roots);
	r->of = xcalloc(node_limit(), sizeof *r->of);
	binds_of(nroots, roots, &r->binds);
	place_all(r, wanted, roots);
	return r;
}

static void free_children(Map *m)
{
	for (size_t i = 0; i < m->cap; i++)
		if (m->val[i]) {
			Region *c = m->val[i];
			vec_free(&c->nodes);
			free(c);
		}
	map_free(m);
}

void regions_free(Regions *r)
{
	free_children(&r->body);
	free_children(&r->other);
	vec_free(&r->top.nodes);
	map_free(&r->binds);
	map_free(&r->loops);
	free(r->of);
	free(r);
}
