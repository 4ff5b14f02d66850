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
/* Indices that are a base and a number, in the same loops and IFs and under the same gate. */
typedef struct {
	UOp *base, *size, *gate;
	uint32_t scope;
	int64_t least, most;
	Mark tried;                     /* where the two ends were looked at */
	bool held;                      /* and shown to be inside */
} Row;
typedef struct {
	Known *k;
	const ProvedCall *call;
	VEC(uint32_t) open;             /* the serial numbers of the frames that are open */
	uint32_t serial;
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
static ARENA Map rows;                  /* of the kernel at hand: places in row, from 1 */
static ARENA VEC(Row) row;
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

static void enter(Walk *w)
{
	frame_open(w->k);
	vec_push(&w->open, ++w->serial);
	vec_push(&w->held, w->conds.n);
}

static void leave(Walk *w)
{
	frame_close(w->k);
	w->open.n--;
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
	return is_flat(g, index) ? shape_count(storage->shape) : storage->shape->dim[axis];
}


/* index = base + number; false for one to which the algebra does not apply, or that depends on what
 * memory holds. */
static bool base_and_number(UOp *index, UOp **base, int64_t *number)
{
	const int64_t far = (int64_t)1 << 61;
	if (index->op != OP_ADD || index->dtype != DT_I64 || !ix_is_const(index->src[1], number)) {
		*base = index;
		*number = 0;
	} else {
		*base = index->src[0];
	}
	return (*base)->dtype == DT_I64 && *number < far && *number > -far && moves_plainly(*base);
}

/* Where a row is, or NULL for a place that has none. */
static Row *find_row(UOp *base, UOp *size, UOp *gate, uint32_t scope, uint64_t *key)
{
	*key = hash_mix(hash_mix(PKEY(base), PKEY(size)), hash_mix(PKEY(gate), scope));
	uintptr_t at = (uintptr_t)map_get(&rows, *key);
	Row *r = at ? &row.at[at - 1] : NULL;
	return r && r->base == base && r->size == size && r->gate == gate && r->scope == scope ?
		r : NULL;
}

static void add_to_row(const Graph *g, const Access *a, int axis, uint32_t scope)
{
	UOp *base, *size = place_size(g, a->index, axis);
	uint64_t key;
	int64_t k;
	if (!base_and_number(a->index->src[1 + axis], &base, &k) ||
		(a->gate && !moves_plainly(a->gate)))
		return;
	Row *r = find_row(base, size, a->gate, scope, &key);
	if (!r) {
		vec_push(&row, ((Row){base, size, a->gate, scope, k, k, {0}, false}));
		r = &row.at[row.n - 1];
		map_put(&rows, key, (void *)(uintptr_t)row.n);
	}
	r->least = k < r->least ? k : r->least;
	r->most = k > r->most ? k : r->most;
}

/* The statement, from 1, that begins what is around. */
static uint32_t scope_at(const Known *k)
{
	return k->path.n ? k->path.at[k->path.n - 1] + 1 : 0;
}

/* Finds the rows of a kernel. */
static void find_rows(const ProvedCall *c)
{
	Accesses all = kernel_accesses(c->kernel);
	VEC(uint32_t) open = {0};
	size_t next = 0;
	map_free(&rows);
	row.n = 0;
	for (uint32_t i = 0; i < c->kernel->nsrc; i++) {
		Op op = c->kernel->src[i]->op;
		open.n -= open.n && (op == OP_ENDRANGE || op == OP_ENDIF);
		for (; next < all.n && all.at[next].at == i; next++)
			for (uint32_t axis = 0; axis + 1 < all.at[next].index->nsrc; axis++)
				if (place_axes(c->graph, all.at[next].index) > (int)axis)
					add_to_row(c->graph, &all.at[next], axis,
						open.n ? open.at[open.n - 1] : 0);
		if (op == OP_RANGE || op == OP_IF)
			vec_push(&open, i + 1);
	}
	vec_free(&open);
}

/* The row of an index, when it has others in it. */
static Row *row_of(const Walk *w, UOp *e, UOp *size, UOp *gate)
{
	UOp *base;
	uint64_t key;
	int64_t k;
	if (!base_and_number(e, &base, &k))
		return NULL;
	Row *r = find_row(base, size, gate, scope_at(w->k), &key);
	return r && r->least < r->most && r->least <= k && k <= r->most ? r : NULL;
}

static bool was_tried(const Walk *w, const Row *r)
{
	return r->tried.round && r->tried.depth < w->open.n &&
		w->open.at[r->tried.depth] == r->tried.serial;
}

static UOp *in_row(const Row *r, int64_t k)
{
	return k ? NODE(OP_ADD, DT_I64, VNIL, r->base, ix_const(k)) : r->base;
}

/* Whether the ends of a row are inside, and so all that is between them: modulo 2^64 the last one
 * is as far from the first one as their numbers are. */
static bool ends_within(Walk *w, Row *r)
{
	if (!r)
		return false;
	if (!was_tried(w, r)) {
		r->tried = mark_here(w, 1);
		r->held = within(w->k, in_row(r, r->most), r->size) &&
			within(w->k, in_row(r, r->least), r->size);
	}
	return r->held;
}

static void check_axis(Walk *w, UOp *index, int axis, UOp *e, UOp *size, UOp *gate)
{
	Known *k = w->k;

	if (k->dead || within_numbers(k, e, size)) {
		w->shown.bounds++;
		return;
	}
	Row *row = row_of(w, e, size, gate);
	if (row && was_tried(w, row) && row->held) {
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
		if (!ends_within(w, row) && !within(k, e, size) &&
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
	VEC(UOp *) todo = {0};

	for (vec_push(&todo, root); todo.n; ) {
		UOp *u = todo.at[--todo.n];
		if (is_marked(w, u, visited.at, visited.round))
			continue;
		visited.at[u->id] = mark_here(w, visited.round);
		visit(w, u, statements);
		for (uint32_t i = 0; !(statements && must_stand(u)) && i < u->nsrc; i++)
			vec_push(&todo, u->src[i]);
	}
	vec_free(&todo);
}


/* ---- kernels */

/* Within a loop its range is not empty. */
static void enter_loop(Walk *w, UOp *range)
{
	evaluate(w, range->src[0], true);
	check_range(w, range);
	enter(w);
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
	enter(w);
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
		if (s->op == OP_ENDRANGE || s->op == OP_ENDIF)
			w->k->path.n--;
		if (s->op == OP_LET && is_marked(w, s, stands.at, stands.round))
			prove_fault(w->call, "LET %%%zu stands twice",
				node_number(w->call->graph, s));
		check_statement(w, s);
		if (s->op == OP_RANGE || s->op == OP_IF)
			vec_push(&w->k->path, i);
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
	vec_free(&w->held);
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
	find_rows(c);
	enter(w);
	assume_checks(w->k);
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
