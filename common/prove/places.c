/* Each index that a kernel loads from or stores to lies inside its buffer, for all values of
 * ranges, sizes and work items, under the conditions around it. Statements are gone through in
 * order; an expression is evaluated where the statement that holds it stands.
 *
 *     IF(gidx0*128 + lidx0 < n)  LET(LOAD(INDEX(x, gidx0*128 + lidx0)))      x [n] */
#include "prove/digits.h"
#include "prove/places.h"
#include <stdlib.h>

/* Where a node was visited, or stands: in a frame that may be closed by now. */
typedef struct { uint32_t serial, depth, round; } Mark;
/* What is around a place: a loop or a condition, and what is around that. Loops of one RANGE that
 * follow one another are the same, and so are IFs, but where something loaded has a part in them:
 * then it is the statement that counts. */
typedef struct { uint32_t outer; uint64_t what; } Scope;
/* Indices that are one sum of what moves, and sizes and a number, in the same scope and under the
 * same gate. */
typedef struct {
	UOp *size, *gate;
	const Sum *moves;
	uint32_t scope;
	int members;
	Sum first, last;                /* the least sizes, and the greatest */
	UOp *ends[2];                   /* the indices with these, where there are some */
	uint32_t tried;                 /* the scope in which the two ends were looked at, from 1 */
	bool held;                      /* and shown to be inside */
} Row;
typedef struct { UOp *index, *size, *gate; uint32_t scope; size_t row; } Member;
typedef struct {
	Known *k;
	const ProvedCall *call;
	VEC(uint32_t) open;             /* the serial numbers of the frames that are open */
	VEC(uint32_t) scope;            /* those of what is around, a frame each */
	VEC(uint32_t) path;             /* and of the loops and IFs alone */
	uint32_t serial;
	VEC(UOp *) todo;                /* of evaluate() */
	VEC(UOp *) conds;               /* of the IFs around; that the loops around are run */
	VEC(size_t) held;               /* how many there were as each frame was opened */
	const UOp *store;               /* the STORE whose value is evaluated, at level schedule */
	bool again;                     /* to be done again, with the kernel distrusted */
	Unproved *unproved;             /* gets what is not proved; NULL: that is a fault */
	PlacesShown shown;
} Walk;

static ARENA Known known;
static ARENA VEC(PlacesShown) shown;
static ARENA TABLE(Mark) visited, stands;
/* of the kernel at hand; the maps lead to places in them, from 1 */
static ARENA struct { VEC(Scope) at; Map known; } scopes;
static ARENA struct { VEC(Row) at; Map known; VEC(Member) member; Map members; } rows;
static ARENA Map proved;                /* kernels */
static ARENA struct { bool any; } doubtful;     /* places that need a gate, and got none yet */

static bool is_marked(const Walk *w, const UOp *u, const Mark *m, uint32_t round)
{
	return m[u->id].round == round && m[u->id].depth < w->open.n &&
		w->open.at[m[u->id].depth] == m[u->id].serial;
}

static Mark mark_here(const Walk *w, uint32_t round)
{
	return (Mark){w->open.at[w->open.n - 1], w->open.n - 1, round};
}

/* The scope of a RANGE or a condition, at a statement. */
static uint32_t scope_within(uint32_t outer, UOp *u, uint32_t at)
{
	uint64_t what = moves_plainly(u) ? PKEY(u) : at + 1, key = hash_mix(what, outer);
	uintptr_t before = (uintptr_t)map_get(&scopes.known, key);
	const Scope *s = before ? &scopes.at.at[before - 1] : NULL;
	if (s && s->outer == outer && s->what == what)
		return (uint32_t)before;
	vec_push(&scopes.at, ((Scope){outer, what}));
	map_put(&scopes.known, key, (void *)(uintptr_t)scopes.at.n);
	return (uint32_t)scopes.at.n;
}

static uint32_t scope_at(const Walk *w) { return w->scope.n ? w->scope.at[w->scope.n - 1] : 0; }

static uint32_t path_at(const Walk *w) { return w->path.at[w->path.n - 1]; }

/* u: the RANGE or the condition that is entered, NULL at the beginning. */
static void enter(Walk *w, UOp *u)
{
	frame_open(w->k);
	vec_push(&w->open, ++w->serial);
	vec_push(&w->held, w->conds.n);
	vec_push(&w->scope, u ? scope_within(scope_at(w), u, w->k->at) : 0);
}

static void leave(Walk *w)
{
	frame_close(w->k);
	w->open.n--;
	w->scope.n--;
	w->conds.n = w->held.at[--w->held.n];
}

/* ---- one place */

static UOp *elements_of(const UOp *storage)
{
	static ARENA Map known;
	const Val *v = storage->arg->a[1];
	UOp *size = map_get(&known, PKEY(v));
	const char *err;
	if (!size && (size = size_from_val(v, &err)))
		map_put(&known, PKEY(v), size);
	return size;
}

static UOp *elements_in(const Shape *shape)
{
	static ARENA Map known;
	UOp *size = map_get(&known, PKEY(shape));
	if (!size)
		map_put(&known, PKEY(shape), size = shape_count(shape));
	return size;
}

/* Whether 0 <= e < size, by numbers, by symbols, or by cases. */
static bool within_numbers(Known *k, UOp *e, UOp *size)
{
	Span s = span_of(k, e), n = span_of(k, size);
	return span_empty(s) || (s.lo >= 0 && s.hi < n.lo);
}

static bool within(Known *k, UOp *e, UOp *size)
{
	return within_numbers(k, e, size) ||
		(follows(k, ix_const(0), e, 0) && follows(k, e, size, 1)) ||
		cases_hold(k, e, size);
}

/* Conditions that hold where an index is used; what is chosen by them, or loaded under them. */
enum { MOST_HELD = 16 };
typedef struct { UOp *cond[MOST_HELD]; int n; } Held;

static bool holds_here(const Held *h, const UOp *u)
{
	for (int i = 0; i < h->n; i++)
		if (h->cond[i] == u)
			return true;
	return false;
}

static UOp *chosen(UOp *u, void *ctx)
{
	if (u->op == OP_WHERE && holds_here(ctx, u->src[0]))
		return u->src[1];
	if (u->op == OP_LOAD && u->nsrc > 1 && holds_here(ctx, u->src[1]))
		return NODE(OP_LOAD, u->dtype, u->arg, u->src[0]);
	return u;
}

static UOp *name_of(UOp *u, void *known)
{
	return u->op == OP_LET && !value_loads(known, u->src[0]) ? u->src[0] : u;
}

/* Adds a condition, and those that it consists of. */
static void hold(Held *h, UOp *cond)
{
	int i = h->n;
	for (h->cond[h->n++] = cond; i < h->n; i++)
		for (uint32_t j = 0; h->cond[i]->op == OP_AND && j < 2 && h->n < MOST_HELD; j++)
			h->cond[h->n++] = h->cond[i]->src[j];
}

/* The LOAD that e is under these conditions, if that has a gate of its own; else NULL. */
static UOp *gated_load(const Held *h, UOp *e)
{
	while (e->op == OP_WHERE && holds_here(h, e->src[0]))
		e = e->src[1];
	return e->op == OP_LOAD && e->nsrc > 1 && !holds_here(h, e->src[1]) ? e : NULL;
}

/* Whether e is inside under the gate, where WHERE(gate, LOAD(i, gate), 0) is LOAD(i). One that has
 * another gate is 0, or that gate holds too. */
static bool within_chosen(Known *k, UOp *e, UOp *size, UOp *gate)
{
	Held h = {.n = 0};
	UOp *load;

	hold(&h, walk_replace(gate, name_of, k));
	e = walk_replace(e, name_of, k);
	if ((load = gated_load(&h, e)) && h.n < MOST_HELD && follows(k, ix_const(1), size, 0)) {
		assume(k, load->src[1], true);
		hold(&h, load->src[1]);
	}
	for (int i = 0; i < h.n; i++)
		assume(k, walk_replace(h.cond[i], chosen, &h), true);
	facts_settle(k);
	if (load && within(k, load, size))
		return true;
	e = walk_replace(e, chosen, &h);
	assume_loads(k, e);
	assume_quotients(k, e);
	return within(k, e, size);
}

static size_t node_number(const Graph *g, const UOp *u)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == u)
			return i;
	return u->id;
}

/* Whether a place comes out of an array of the kernel's own, where data has been put to be used
 * again: what is in it is known less well than the data. */
static bool from_array(UOp *place)
{
	Nodes all = walk_brief(place);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD &&
			all.at[i]->src[0]->src[0]->op == OP_DEFINE_LOCAL)
			return true;
	return false;
}

static void outside(Walk *w, UOp *index, int axis, UOp *e, UOp *size, UOp *gate)
{
	bool found, array = from_array(e) || (gate && from_array(gate));
	if (w->unproved) {
		vec_push(w->unproved, index);
		return;
	}
	if (!w->k->sizes && array) {
		doubtful.any = true;
		return;
	}
	if (gate)
		vec_push(&w->conds, gate);
	const char *why = witness(w->k, e, size, w->conds.n, w->conds.at, &found);
	if (found || w->k->sizes)
		prove_fault(w->call, "INDEX %%%zu axis %d: %s",
			node_number(w->call->graph, index), axis, why);
	w->conds.n -= gate != NULL;
	doubtful.any = true;
}

/* ---- places of unrolled tiles */

/* Whether an INDEX has one row-major index: at level loops, and between passes of lower. */
static bool is_flat(const Graph *g, const UOp *index)
{
	const UOp *storage = index->src[0];
	return storage->op != OP_PARAM || g->level >= LV_LOOPS ||
		(index->nsrc == 2 && storage->shape->rank != 1);
}

/* How many indices there have to be. */
static int place_axes(const Graph *g, const UOp *index)
{
	return is_flat(g, index) ? 1 : index->src[0]->shape->rank;
}

UOp *place_size(const Graph *g, const UOp *index, int axis)
{
	const UOp *storage = index->src[0];
	if (storage->op == OP_DEFINE_REG || storage->op == OP_DEFINE_LOCAL)
		return elements_of(storage);
	return is_flat(g, index) ? elements_in(storage->shape) : storage->shape->dim[axis];
}

/* index = what moves + sizes; false for one that depends on what memory holds. */
static bool moves_and_sizes(Known *k, UOp *index, Sum *moves, Sum *sizes)
{
	Sum all;
	sum_parts(k, index, &all);
	sum_const(moves, 0);
	sum_const(sizes, all.k);
	for (int i = 0; i < all.n; i++) {
		if (!moves_plainly(all.t[i].m))
			return false;
		Sum *to = ix_fixed(all.t[i].m) ? sizes : moves;
		to->t[to->n++] = all.t[i];
	}
	return true;
}

static bool same_sum(const Sum *a, const Sum *b)
{
	bool same = a->n == b->n;
	for (int i = 0; i < a->n && same; i++)
		same = sum_coef(b, a->t[i].m) == a->t[i].c;
	return same;
}

/* How much more b is than a, by numbers; false when that is beyond them. */
static bool distance(Known *k, const Sum *a, const Sum *b, Span *out)
{
	Wide least, most;
	Sum d = *b;
	if (!sum_plus(&d, -1, a))
		return false;
	*out = (Span){d.k, d.k};
	for (int i = 0; i < d.n; i++) {
		if (!term_end(k, &d.t[i], false, &least) || !term_end(k, &d.t[i], true, &most))
			return false;
		*out = (Span){out->lo + least, out->hi + most};
	}
	return true;
}

/* The row of what moves, from 1. */
static size_t row_for(const Sum *moves, UOp *size, UOp *gate, uint32_t scope)
{
	uint64_t terms = 0, key = hash_mix(hash_mix(PKEY(size), PKEY(gate)), scope);
	for (int i = 0; i < moves->n; i++)
		terms += hash_mix(moves->t[i].m->id, (uint64_t)moves->t[i].c);
	key = hash_mix(key, terms);
	size_t at = (uintptr_t)map_get(&rows.known, key);
	const Row *r = at ? &rows.at.at[at - 1] : NULL;
	if (r && r->size == size && r->gate == gate && r->scope == scope &&
		same_sum(r->moves, moves))
		return at;
	vec_push(&rows.at, ((Row){.size = size, .gate = gate, .scope = scope,
		.moves = sum_copy(moves)}));
	map_put(&rows.known, key, (void *)(uintptr_t)rows.at.n);
	return rows.at.n;
}

static uint64_t member_key(UOp *index, UOp *size, UOp *gate, uint32_t scope)
{
	return hash_mix(hash_mix(PKEY(index), PKEY(size)), hash_mix(PKEY(gate), scope));
}

/* The row of an index, when it has others in it; else NULL. */
static Row *row_of(UOp *index, UOp *size, UOp *gate, uint32_t scope)
{
	uintptr_t at = (uintptr_t)map_get(&rows.members, member_key(index, size, gate, scope));
	const Member *m = at ? &rows.member.at[at - 1] : NULL;
	bool same = m && m->index == index && m->size == size && m->gate == gate &&
		m->scope == scope;
	return same ? &rows.at.at[m->row - 1] : NULL;
}

/* Makes an end of a row reach to these sizes: the least (or the greatest) coefficient of each,
 * which is an end, as no size is negative. */
static bool reach_end(Sum *end, const Sum *sizes, bool greatest)
{
	Sum all = *end;
	for (int i = 0; i < sizes->n; i++) {
		int64_t c = sizes->t[i].c, was = sum_coef(end, sizes->t[i].m);
		if (greatest == (c > was) && c != was && !sum_term(&all, c - was, sizes->t[i].m))
			return false;
	}
	for (int i = 0; i < end->n; i++) {
		int64_t c = sum_coef(sizes, end->t[i].m), was = end->t[i].c;
		if (!c && greatest == (was < 0) && !sum_term(&all, -was, end->t[i].m))
			return false;
	}
	if (greatest == (sizes->k > all.k))
		all.k = sizes->k;
	*end = all;
	return true;
}

static bool none_negative(Known *k, const Sum *sizes)
{
	for (int i = 0; i < sizes->n; i++)
		if (span_of(k, sizes->t[i].m).lo < 0 || !span_exact(k, sizes->t[i].m) ||
			sizes->t[i].c > INT32_MAX || sizes->t[i].c < -INT32_MAX)
			return false;
	return sizes->k < INT64_MAX / 4 && sizes->k > -INT64_MAX / 4;
}

/* Makes a row reach to an index; false for sizes of which that is not known. */
static bool reach(Known *k, Row *r, UOp *index, const Sum *sizes)
{
	Sum first = r->members ? r->first : *sizes, last = r->members ? r->last : *sizes;
	if (!none_negative(k, sizes) || !reach_end(&first, sizes, false) ||
		!reach_end(&last, sizes, true))
		return false;
	bool before = r->members && same_sum(&first, &r->first) && first.k == r->first.k;
	bool after = r->members && same_sum(&last, &r->last) && last.k == r->last.k;
	if (!before)
		r->ends[0] = same_sum(&first, sizes) && first.k == sizes->k ? index : NULL;
	if (!after)
		r->ends[1] = same_sum(&last, sizes) && last.k == sizes->k ? index : NULL;
	r->first = first;
	r->last = last;
	r->tried = before && after ? r->tried : 0;
	r->members++;
	return true;
}

static void add_to_row(Known *k, UOp *index, UOp *size, UOp *gate, uint32_t scope)
{
	Sum moves, sizes;
	Row *r = row_of(index, size, gate, scope);
	if (r)
		r->members++;
	if (r || !moves_plainly(index) || (gate && !moves_plainly(gate)) ||
		within_numbers(k, index, size) || !moves_and_sizes(k, index, &moves, &sizes))
		return;
	size_t at = row_for(&moves, size, gate, scope);
	if (!reach(k, &rows.at.at[at - 1], index, &sizes))
		return;
	vec_push(&rows.member, ((Member){index, size, gate, scope, at}));
	map_put(&rows.members, member_key(index, size, gate, scope),
		(void *)(uintptr_t)rows.member.n);
}

/* Finds the rows of a kernel. */
static void find_rows(const Walk *w)
{
	const ProvedCall *c = w->call;
	Accesses all = kernel_accesses(c->kernel);
	VEC(uint32_t) open = {0};
	size_t next = 0;
	vec_push(&open, 0);
	for (uint32_t i = 0; i < c->kernel->nsrc; i++) {
		UOp *s = c->kernel->src[i];
		open.n -= s->op == OP_ENDRANGE || s->op == OP_ENDIF;
		uint32_t scope = open.at[open.n - 1];
		for (; next < all.n && all.at[next].at == i; next++)
			for (int axis = 0; axis < place_axes(c->graph, all.at[next].index); axis++)
				if (axis + 1 < (int)all.at[next].index->nsrc)
					add_to_row(w->k, all.at[next].index->src[1 + axis],
						place_size(c->graph, all.at[next].index, axis),
						all.at[next].gate, scope);
		if (s->op == OP_RANGE || s->op == OP_IF)
			vec_push(&open, scope_within(scope, s->op == OP_IF ? s->src[0] : s, i));
	}
	vec_free(&open);
}

static void forget_rows(void)
{
	map_free(&scopes.known);
	map_free(&rows.known);
	map_free(&rows.members);
	scopes.at.n = rows.at.n = rows.member.n = 0;
}

/* Whether a row is inside as a sum: it begins at 0 or later, and ends before the size. */
static bool sum_within(Known *k, const Row *r)
{
	Sum least = r->first, most;

	sum_parts(k, r->size, &most);
	return sum_plus(&least, 1, r->moves) && sum_plus(&most, -1, r->moves) &&
		sum_plus(&most, -1, &r->last) && add_ok(most.k, -1, &most.k) &&
		sum_holds(k, &least) && sum_holds(k, &most);
}

/* The same, by its ends as values: modulo 2^64 the others are as far from them as their sizes. */
static bool ends_inside(Known *k, const Row *r)
{
	Span far;
	return r->ends[0] && r->ends[1] && distance(k, &r->first, &r->last, &far) &&
		far.hi < (Wide)1 << 62 &&
		within(k, r->ends[1], r->size) && within(k, r->ends[0], r->size);
}

/* Whether the ends of a row are inside, and so all that is between them. What was seen in the scope
 * itself holds under more conditions too. */
static bool ends_within(Walk *w, Row *r)
{
	if (r->tried != r->scope + 1 && r->tried != scope_at(w) + 1) {
		r->tried = scope_at(w) + 1;
		r->held = sum_within(w->k, r) || ends_inside(w->k, r);
	}
	return r->held;
}

static bool was_held(const Walk *w, const Row *r)
{
	return r->held && (r->tried == r->scope + 1 || r->tried == scope_at(w) + 1);
}

/* Adds to a row of loaded indices those that follow, as they are now, so that its ends are known
 * before the first one is looked at. */
static void look_ahead(Walk *w, size_t at, UOp *size, UOp *gate)
{
	enum { AHEAD = 64 };
	Accesses all = kernel_accesses(w->call->kernel);
	Sum moves, sizes;
	int seen = 0;
	for (size_t i = 0; i < all.n && seen < AHEAD; i++) {
		const Access *a = &all.at[i];
		if (a->at < w->k->at || a->gate != gate || a->index->nsrc != 2 ||
			moves_plainly(a->index->src[1]) ||
			place_size(w->call->graph, a->index, 0) != size)
			continue;
		seen++;
		if (moves_and_sizes(w->k, a->index->src[1], &moves, &sizes) &&
			row_for(&moves, size, gate, path_at(w)) == at)
			reach(w->k, &rows.at.at[at - 1], a->index->src[1], &sizes);
	}
}

/* The row of an index that is loaded from where one sum was stored; else NULL. */
static Row *loaded_row(Walk *w, UOp *index, UOp *size, UOp *gate)
{
	Sum moves, sizes;
	if (moves_plainly(index) || (gate && !moves_plainly(gate)) ||
		!moves_and_sizes(w->k, index, &moves, &sizes))
		return NULL;
	size_t at = row_for(&moves, size, gate, path_at(w));
	Row *r = &rows.at.at[at - 1];
	if (!r->members)
		look_ahead(w, at, size, gate);
	return reach(w->k, r = &rows.at.at[at - 1], index, &sizes) ? r : NULL;
}

static void check_axis(Walk *w, UOp *index, int axis, UOp *e, UOp *size, UOp *gate)
{
	Known *k = w->k;

	if (k->dead || within_numbers(k, e, size)) {
		w->shown.bounds++;
		return;
	}
	Row *row = row_of(e, size, gate, path_at(w));
	if (row && was_held(w, row)) {
		w->shown.symbols++;
		return;
	}
	frame_open(k);
	k->now = true;
	if (gate) {
		assume(k, gate, true);
		facts_settle(k);
	}
	if (k->dead || within_numbers(k, e, size)) {
		w->shown.gates++;
	} else {
		assume_loads(k, e);
		assume_quotients(k, e);
		row = row ? row : loaded_row(w, e, size, gate);
		bool several = row && row->members > 1;
		if (!(several && ends_within(w, row)) && !within(k, e, size) &&
			(!gate || !within_chosen(k, e, size, gate)))
			outside(w, index, axis, e, size, gate);
		w->shown.symbols++;
	}
	k->now = false;
	frame_close(k);
}

/* The place that a LOAD, a STORE or a sort uses. */
static void check_place(Walk *w, UOp *index, UOp *gate)
{
	int axes = place_axes(w->call->graph, index);

	if ((int)index->nsrc - 1 != axes)
		prove_fault(w->call, "INDEX %%%zu has %u indices, and there are %d axes",
			node_number(w->call->graph, index), index->nsrc - 1, axes);
	for (int i = 0; i < axes; i++)
		check_axis(w, index, i, index->src[1 + i],
			place_size(w->call->graph, index, i), gate);
}

static void check_range(Walk *w, UOp *range)
{
	bool found;
	UOp *size = range->src[0];
	if (w->k->dead || span_of(w->k, size).lo >= 0 || follows(w->k, ix_const(0), size, 0))
		return;
	prove_fault(w->call, "RANGE %%%zu: %s", node_number(w->call->graph, range),
		witness(w->k, size, NULL, w->conds.n, w->conds.at, &found));
}

/* ---- expressions */

/* Level schedule: what a gated STORE loads from its own place, to update it, it loads where it
 * stores. */
static void check_load(Walk *w, UOp *u)
{
	UOp *gate = u->nsrc > 1 ? u->src[1] : NULL;
	if (!gate && w->store && w->store->src[0] == u->src[0] && w->store->nsrc > 2)
		gate = w->store->src[2];
	check_place(w, u->src[0], gate);
	if (!memory_counts_on(w->k, u))
		return;
	frame_open(w->k);
	if (gate) {
		assume(w->k, gate, true);
		facts_settle(w->k);
	}
	if (!memory_filled(w->k, u)) {
		memory_distrust(w->k->kernel);
		w->again = true;
	}
	frame_close(w->k);
}

/* What may be used only where it stands as a statement. */
static bool must_stand(const UOp *u)
{
	return u->op == OP_LET || u->op == OP_RANGE || u->op == OP_DEFINE_REG ||
		u->op == OP_DEFINE_LOCAL;
}

static void visit(Walk *w, UOp *u, bool statements)
{
	if (u->op == OP_LOAD)
		check_load(w, u);
	else if (u->op == OP_RSORT)
		check_place(w, u->src[2], NULL);
	else if (u->op == OP_RANGE && !statements)
		check_range(w, u);
	else if (statements && must_stand(u) && !is_marked(w, u, stands.at, stands.round))
		prove_fault(w->call, "%s %%%zu is used where it does not stand", op_name(u->op),
			node_number(w->call->graph, u));
}

/* Goes through what is evaluated for u that was not evaluated in a frame which is open. */
static void evaluate(Walk *w, UOp *root, bool statements)
{
	for (vec_push(&w->todo, root); w->todo.n; ) {
		UOp *u = w->todo.at[--w->todo.n];
		if (is_marked(w, u, visited.at, visited.round))
			continue;
		visited.at[u->id] = mark_here(w, visited.round);
		visit(w, u, statements);
		for (uint32_t i = 0; !(statements && must_stand(u)) && i < u->nsrc; i++)
			vec_push(&w->todo, u->src[i]);
	}
}

/* ---- kernels */

/* Within a loop its range is not empty. */
static void enter_loop(Walk *w, UOp *range)
{
	evaluate(w, range->src[0], true);
	check_range(w, range);
	enter(w, range);
	w->k->dead |= span_empty(span_of(w->k, range));
	if (range->src[0]->op == OP_CONST)
		return;
	assume_below(w->k, ix_const(0), range->src[0], 1);
	facts_settle(w->k);
	vec_push(&w->conds, NODE(OP_CMPLT, DT_BOOL, VNIL, ix_const(0), range->src[0]));
}

static void enter_if(Walk *w, UOp *cond)
{
	evaluate(w, cond, true);
	enter(w, cond);
	if (!value_loads(w->k, cond)) {
		assume(w->k, cond, true);
		facts_settle(w->k);
	}
	vec_push(&w->conds, cond);
}

/* A statement's value is evaluated only where its gate is true. */
static void check_store(Walk *w, UOp *s, bool statements)
{
	UOp *gate = s->nsrc > 2 ? s->src[2] : NULL;
	bool within = gate && statements;

	w->store = statements ? NULL : s;
	evaluate(w, s->src[0], statements);
	if (gate)
		evaluate(w, gate, statements);
	if (within)
		enter_if(w, gate);
	evaluate(w, s->src[1], statements);
	if (within)
		leave(w);
	memory_pass(w->k, s);
	check_place(w, s->src[0], gate);
}

static void check_statement(Walk *w, UOp *s)
{
	switch (s->op) {
	case OP_RANGE: enter_loop(w, s); break;
	case OP_IF: enter_if(w, s->src[0]); break;
	case OP_ENDRANGE:
	case OP_ENDIF: leave(w); break;
	case OP_LET: evaluate(w, s->src[0], true); break;
	case OP_STORE: check_store(w, s, true); break;
	default: break;
	}
	if (must_stand(s))
		stands.at[s->id] = mark_here(w, stands.round);
}

static void check_statements(Walk *w)
{
	for (uint32_t i = 0; i < w->call->kernel->nsrc; i++) {
		UOp *s = w->call->kernel->src[i];
		w->k->at = i;
		if (s->op == OP_LET)
			map_put(&w->k->lets, s->id + 1, (void *)(uintptr_t)(i + 1));
		if (s->op == OP_ENDRANGE || s->op == OP_ENDIF) {
			w->k->path.n--;
			w->path.n--;
		}
		if (s->op == OP_LET && is_marked(w, s, stands.at, stands.round))
			prove_fault(w->call, "LET %%%zu stands twice",
				node_number(w->call->graph, s));
		check_statement(w, s);
		if (s->op == OP_RANGE || s->op == OP_IF) {
			vec_push(&w->k->path, i);
			vec_push(&w->path, scope_at(w));
		}
	}
}

void places_again(const VarEnv *sizes)
{
	map_free(&proved);
	memory_forget();
	known.sizes = sizes;
}

static void forget_walk(Walk *w)
{
	vec_free(&w->open);
	vec_free(&w->scope);
	vec_free(&w->path);
	vec_free(&w->held);
	vec_free(&w->todo);
	vec_free(&w->conds);
}

static void check_kernel(Walk *w)
{
	const ProvedCall *c = w->call;

	w->again = false;
	w->shown = (PlacesShown){.call = c->number, .kernel = c->kernel};
	table_round(&visited);
	table_round(&stands);
	known_begin(w->k, c->graph, c->number);
	w->path.n = 0;
	vec_push(&w->path, 0);
	enter(w, NULL);
	assume_checks(w->k);
	forget_rows();
	find_rows(w);
	if (c->graph->level >= LV_LOOPS)
		check_statements(w);
	else
		for (uint32_t i = 0; i < c->kernel->nsrc; i++)
			check_store(w, c->kernel->src[i], false);
	leave(w);
}

void prove_places(const ProvedCall *c)
{
	if (!c->kernel || map_get(&proved, PKEY(c->kernel)))
		return;
	double begin = now_ms();
	Walk w = {.k = &known, .call = c};
	check_kernel(&w);
	if (w.again)
		check_kernel(&w);
	w.shown.ms = now_ms() - begin;
	vec_push(&shown, w.shown);
	if (!w.k->looked)
		map_put(&proved, PKEY(c->kernel), c->kernel);
	forget_walk(&w);
}

Known *places_known(const ProvedCall *c)
{
	Known *k = &known;
	if (k->asked && k->graph == c->graph && k->call == c->call)
		return k;
	if (k->graph != c->graph || k->call != c->call || k->number != c->number)
		known_begin(k, c->graph, c->number);
	/* what was passed on the way through the kernel is no longer known */
	k->fill.n = k->equal.n = 0;
	map_free(&k->lets);
	known_changed(k);
	frame_open(k);
	assume_checks(k);
	k->asked = true;
	return k;
}

bool places_doubtful(void) { return doubtful.any; }

void places_unproved(const ProvedCall *c, Unproved *out)
{
	Walk w = {.k = &known, .call = c, .unproved = out};
	check_kernel(&w);
	if (w.again) {
		out->n = 0;
		check_kernel(&w);
	}
	forget_walk(&w);
}

size_t places_shown(const PlacesShown **at)
{
	*at = shown.at;
	return shown.n;
}
