/* Tiles that overlap, run: whether two items store the same to the places that both of them write,
 * in a few cases. What same.c takes at its word where it cannot compare values, because they were
 * shuffled in registers or added up, is held against it here.
 *
 *     t = min(g*4, 45): y[t + r] = x[t + r]         g = 11, 12: t = 44, 45      the same
 *                       y[t + r] = x[2*t + r]       y[45] is x[89], and x[90]
 *
 * Indices are numbers. What is loaded is a hash of where it lies, and what is computed of it is one
 * of the op and its operands: two of them are equal if and only if they are computed alike, but for
 * a chance of 2^-62. The last item is run, and those before it along each part of its number, since
 * the last tile is the one that is moved. Of a loop that folds the first iterations are enough, of
 * a long one these and the last: what depends on others is nothing, which is not compared. A kernel
 * of many statements is looked at in part.
 *
 * A small kernel of known sizes is run as a whole where nothing else shows that its items agree:
 * that is a proof. */
#include <stdlib.h>
#include "prove/apart.h"
#include "prove/places.h"

enum { LONG = 16, ENDS = 2, MOST_DEPTH = 1000, MOST_STRIDES = 12 };
/* of all cases; of those with all lanes of some tiles */
enum { MOST_STEPS = 1500, MOST_STEPS_LANES = 1 << 15 };
/* of a kernel that is run as a whole; and what a statement counts of the effort for cases */
enum { STEPS_WHOLE = 1 << 18, CASES_A_STEP = 16 };

/* A number or a hash, of 62 bits, with its kind. */
enum { NOTHING, NUMBER, HASH };
typedef uint64_t Code;
typedef struct { uint32_t round; Code code; } Now;
typedef struct { const UOp *buffer; bool written, prepared; } Slot;
typedef struct {
	const ProvedCall *call;
	const VarEnv *sizes;
	const uint32_t *end;    /* of the loop or IF that begins at a statement */
	Map cell;               /* registers' */
	Map stored;             /* in buffers, by place */
	const Slot *slot;       /* the buffers, by PARAM */
	bool whole;             /* all items are run, with all iterations, and compared at once */
	int64_t item;           /* the number of the one at hand, from 1 */
	Map owner;              /* the item that wrote a place, -1: several did */
	int steps, most, depth; /* steps: statements so far, of all items */
	bool failed;            /* this cannot be run, or items differ */
} Run;

/* Of the Run at hand. now: in the statement at hand; leaf: counters, numbers of the item, LETs, of
 * the item at hand. */
static ARENA TABLE(Now) now, leaf;

static Code hash(uint64_t h) { return h << 2 | HASH; }

/* One of more than 62 bits is a hash too. */
static Code number(int64_t v)
{
	bool fits = v < (int64_t)1 << 61 && v >= -((int64_t)1 << 61);
	return fits ? (uint64_t)v << 2 | NUMBER : hash(hash_mix(7, (uint64_t)v));
}

static bool is_number(Code c) { return (c & 3) == NUMBER; }
static int64_t number_in(Code c) { return (int64_t)c >> 2; }

static Code get(const Map *m, uint64_t key) { return (Code)(uintptr_t)map_get(m, key); }
static void put(Map *m, uint64_t key, Code c) { map_put(m, key, (void *)(uintptr_t)c); }

static void set_leaf(const UOp *u, Code c)
{
	if (u->id >= leaf.cap)
		table_fit(&leaf);
	leaf.at[u->id] = (Now){leaf.round, c};
}

static Code leaf_of(const UOp *u)
{
	bool is = u->id < leaf.cap && leaf.at[u->id].round == leaf.round;
	return is ? leaf.at[u->id].code : NOTHING;
}

static Code evaluate_new(Run *r, UOp *u);

static inline Code evaluate(Run *r, UOp *u)
{
	int64_t v;
	if (ix_is_const(u, &v))
		return number(v);
	bool known = u->id < now.cap && now.at[u->id].round == now.round;
	return known ? now.at[u->id].code : evaluate_new(r, u);
}

static uint64_t cell_key(const UOp *memory, Code place)
{
	return hash_mix(hash_mix(3, memory->id), place);
}

/* What op makes of operands that are not all numbers. Factors and terms in either order are the
 * same: each tile has them in an order of its own. */
static Code hashed(Run *r, const UOp *u)
{
	uint64_t h = hash_mix(u->arg->hash, u->op * 64 + u->dtype);
	uint32_t i = 0;
	if (u->nsrc >= 2 && (op_info[u->op].commutes || u->op == OP_MULACC)) {
		Code a = evaluate(r, u->src[0]), b = evaluate(r, u->src[1]);
		if (!a || !b)
			return NOTHING;
		h = hash_mix(hash_mix(h, a < b ? a : b), a < b ? b : a);
		i = 2;
	}
	for (; i < u->nsrc; i++) {
		Code c = evaluate(r, u->src[i]);
		if (!c)
			return NOTHING;
		h = hash_mix(h, c);
	}
	return hash(h);
}

static Code loaded(Run *r, const UOp *u)
{
	const UOp *index = u->src[0], *m = index->src[0];
	Code gate = u->nsrc > 1 ? evaluate(r, u->src[1]) : number(1);
	if (gate == number(0))
		return u->dtype == DT_I64 ? number(0) : hash(0);
	Code place = index->nsrc == 2 ? evaluate(r, index->src[1]) : NOTHING;
	if (!gate || !place)
		return NOTHING;
	if (m->op != OP_PARAM)
		return get(&r->cell, cell_key(m, place));
	const Slot *slot = &r->slot[param_slot(m)];
	if (slot->written)
		return NOTHING;
	/* the same may lie in several places of what was prepared tile by tile */
	uint64_t at = slot->prepared && !r->whole ? 0 : place;
	return hash(hash_mix(hash_mix(hash_mix(5, slot->buffer->id), at), gate));
}

/* A place that depends on data, in a ring of 62 bits in which hashes are unknowns: its terms may
 * be added up in any order. */
static bool linear(Op op, Code a, Code b, Code *c)
{
	uint64_t x = a >> 2, y = b >> 2;
	if (op != OP_ADD && op != OP_SUB && op != OP_MUL)
		return false;
	*c = hash(op == OP_ADD ? x + y : op == OP_SUB ? x - y : x * y);
	return true;
}

/* Integers as indices are, or narrower, as what lanes are compared in. */
static bool is_index(DType d)
{
	return d == DT_I64 || d == DT_BOOL || (dtype_int(d) && dtype_size(d) < 8);
}

/* A number of dtype d: one that d does not hold has wrapped. */
static Code number_of(DType d, int64_t v)
{
	bool fits = dtype_size(d) == 8 ||
		(v >= dtype_min(d) && (v < 0 || (uint64_t)v <= dtype_max(d)));
	return fits ? number(v) : NOTHING;
}

static Code computed(Run *r, UOp *u)
{
	int64_t v;
	Code a;
	switch (u->op) {
	case OP_CONST:
		return is_index(u->dtype) && const_is_int(u, &v) ? number(v) : hashed(r, u);
	case OP_CAST:
		a = is_index(u->dtype) && is_index(u->src[0]->dtype) ? evaluate(r, u->src[0]) :
								       NOTHING;
		a = is_number(a) ? number_of(u->dtype, number_in(a)) : NOTHING;
		return a ? a : hashed(r, u);
	case OP_VAR: return ix_eval(u, r->sizes, &v) ? number(v) : NOTHING;
	case OP_RANGE: case OP_SPECIAL: return leaf_of(u);
	case OP_LET: return (a = leaf_of(u)) ? a : evaluate(r, u->src[0]);
	case OP_LOAD: return loaded(r, u);
	case OP_EXCHANGE: case OP_RREDUCE: case OP_RSCAN: case OP_RSORT: return NOTHING;
	default: break;
	}
	if (u->op == OP_WHERE && is_number(a = evaluate(r, u->src[0])))
		return evaluate(r, u->src[number_in(a) ? 1 : 2]);
	bool index = u->nsrc == 2 && is_index(u->dtype) && is_index(u->src[0]->dtype);
	Code b = index ? evaluate(r, u->src[1]) : NOTHING;
	a = index ? evaluate(r, u->src[0]) : NOTHING;
	if (is_number(a) && is_number(b) &&
		index_operation(u->op, number_in(a), number_in(b), &v) && number_of(u->dtype, v))
		return number(v);
	return a && b && u->dtype == DT_I64 && linear(u->op, a, b, &a) ? a : hashed(r, u);
}

static Code evaluate_new(Run *r, UOp *u)
{
	if (u->id >= now.cap)
		table_fit(&now);
	r->failed |= ++r->depth > MOST_DEPTH;
	Code c = r->failed ? NOTHING : computed(r, u);
	r->depth--;
	now.at[u->id] = (Now){now.round, c};
	return c;
}

/* Of what several items write to a place, all is one value. */
static bool may_store(Run *r, uint64_t key, Code value)
{
	Code was = get(&r->stored, key);
	intptr_t owner = (intptr_t)map_get(&r->owner, key);
	if (was && was != value && owner != r->item)
		return false;
	map_put(&r->owner, key, (void *)(was && owner != r->item ? (intptr_t)-1 : r->item));
	return true;
}

static void store(Run *r, const UOp *s)
{
	const UOp *index = s->src[0], *m = index->src[0];
	Code gate = s->nsrc > 2 ? evaluate(r, s->src[2]) : number(1);
	if (gate == number(0))
		return;
	Code place = index->nsrc == 2 ? evaluate(r, index->src[1]) : NOTHING;
	Code value = evaluate(r, s->src[1]);
	bool is = gate == number(1) && is_number(place);
	if (m->op == OP_PARAM)
		m = r->slot[param_slot(m)].buffer;
	if (r->whole && m->op == OP_BUFFER)
		r->failed |= !is || !value || !may_store(r, cell_key(m, place), value);
	if (is)
		put(m->op == OP_BUFFER ? &r->stored : &r->cell, cell_key(m, place), value);
	else if (m->op != OP_BUFFER)
		r->failed = true;       /* which of them it writes is not known */
}

static void statements(Run *r, uint32_t from, uint32_t to);

static void loop(Run *r, uint32_t at)
{
	UOp *range = r->call->kernel->src[at];
	Code size = evaluate(r, range->src[0]);
	int64_t n = number_in(size);
	bool fold = !strcmp(range_kind(range), "reduce");
	r->failed |= !is_number(size);
	for (int64_t v = 0; v < n && !r->failed; v++) {
		if (v == ENDS && fold && !r->whole)
			break;
		if (v == ENDS && n > LONG && !r->whole)
			v = n - ENDS;
		set_leaf(range, number(v));
		statements(r, at + 1, r->end[at]);
	}
}

static void statements(Run *r, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && !r->failed; i++) {
		UOp *s = r->call->kernel->src[i];
		r->failed |= ++r->steps > r->most;
		table_round(&now);
		if (s->op == OP_LET)
			set_leaf(s, evaluate(r, s->src[0]));
		if (s->op == OP_STORE)
			store(r, s);
		if (s->op == OP_RANGE)
			loop(r, i);
		if (s->op == OP_IF) {
			Code c = evaluate(r, s->src[0]);
			r->failed |= !is_number(c);
			if (number_in(c))
				statements(r, i + 1, r->end[i]);
		}
		if (s->op == OP_RANGE || s->op == OP_IF)
			i = r->end[i];
	}
}

/* Sets the numbers of the last item, of which `which` is less by some; false when there is no such
 * item. */
static bool set_item(Run *r, Nodes all, const UOp *which, int64_t less)
{
	table_round(&now);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_SPECIAL)
			continue;
		Code size = evaluate(r, u->src[0]);
		int64_t v = number_in(size) - 1 - (u == which ? less : 0);
		if (!is_number(size) || v < 0)
			return false;
		set_leaf(u, number(v));
	}
	return true;
}

static bool run_item(Run *r, Nodes all, const UOp *which, int64_t less)
{
	map_free(&r->cell);
	map_free(&r->stored);
	table_round(&leaf);
	r->failed = !set_item(r, all, which, less);
	statements(r, 0, r->failed ? 0 : r->call->kernel->nsrc);
	return !r->failed;
}

static bool same_stored(const Map *a, const Map *b)
{
	for (size_t i = 0; i < a->cap; i++)
		if (a->val[i]) {
			void *other = map_get(b, a->key[i]);
			if (other && other != a->val[i])
				return false;
		}
	return true;
}

/* What numbers of items are divided by: how far apart tiles of one digit lie. */
static int find_strides(Run *r, Nodes all, int64_t *stride)
{
	int n = 0;
	stride[n++] = 1;
	table_round(&now);
	for (size_t i = 0; i < all.n && n < MOST_STRIDES; i++) {
		Code by = all.at[i]->op == OP_FLOORDIV ? evaluate(r, all.at[i]->src[1]) : NOTHING;
		bool seen = !is_number(by);
		for (int k = 0; k < n && !seen; k++)
			seen = stride[k] == number_in(by);
		if (!seen)
			stride[n++] = number_in(by);
	}
	return n;
}

/* With sizes of one case. */
static bool agree(Run *r, Nodes all)
{
	int64_t stride[MOST_STRIDES];
	int n = find_strides(r, all, stride);
	bool same = true;
	if (!run_item(r, all, NULL, 0))
		return true;
	Map last = r->stored;
	r->stored = (Map){0};
	for (size_t i = 0; i < all.n && same; i++)
		for (int k = 0; all.at[i]->op == OP_SPECIAL && k < n && same; k++)
			same = !run_item(r, all, all.at[i], stride[k]) ||
				same_stored(&last, &r->stored);
	map_free(&last);
	return same;
}

/* Where loops and IFs end. NULL for a kernel whose items share memory, so that none can be run by
 * itself. */
static uint32_t *find_ends(const UOp *kernel)
{
	uint32_t *end = arena_alloc((kernel->nsrc + 1) * sizeof *end);
	VEC(uint32_t) open = {0};
	bool alone = true;
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *s = kernel->src[i];
		alone &= s->op != OP_DEFINE_LOCAL || !val_is_str(s->arg->a[2], "local");
		if (s->op == OP_RANGE || s->op == OP_IF)
			vec_push(&open, i);
		else if (s->op == OP_ENDRANGE || s->op == OP_ENDIF)
			end[open.at[--open.n]] = i;
	}
	vec_free(&open);
	return alone ? end : NULL;
}

/* One buffer may be in several slots. */
static const Slot *find_slots(const ProvedCall *c)
{
	uint32_t n = c->call->nsrc - 1;
	UOp *const *buffer = c->call->src + 1;
	Accesses all = kernel_accesses(c->kernel);
	Slot *slot = arena_alloc((n + 1) * sizeof *slot);
	for (uint32_t i = 0; i < n; i++)
		slot[i] = (Slot){buffer[i], false, buffer_is(buffer[i], "prepared")};
	for (size_t i = 0; i < all.n; i++) {
		const UOp *to = all.at[i].store ? access_buffer(c->call, &all.at[i]) : NULL;
		for (uint32_t k = 0; to && k < n; k++)
			slot[k].written |= buffer[k] == to;
	}
	return slot;
}

/* False when the kernel cannot be run. */
static bool begin(Run *r, const ProvedCall *c)
{
	*r = (Run){.call = c};
	if (c->graph->level < LV_LOOPS || !(r->end = find_ends(c->kernel)))
		return false;
	r->slot = find_slots(c);
	return true;
}

static void end(Run *r)
{
	map_free(&r->cell);
	map_free(&r->stored);
	map_free(&r->owner);
}

static bool is_open(const Graph *g) { return g->vars != VNIL && g->vars->n; }

/* ---- lanes that are items */

/* lane = which / by % size; false for others. */
static bool parts_of_lane(Run *r, UOp *lane, UOp **which, int64_t *by, int64_t *size)
{
	UOp *m = lane->op == OP_LET ? lane->src[0] : lane;
	table_round(&now);
	Code n = evaluate(r, m->src[1]), d = number(1);
	*which = ix_plain(m->src[0]);
	if ((*which)->op == OP_FLOORDIV) {
		d = evaluate(r, (*which)->src[1]);
		*which = ix_plain((*which)->src[0]);
	}
	*by = number_in(d);
	*size = number_in(n);
	return (*which)->op == OP_SPECIAL && is_number(n) && is_number(d);
}

/* All lanes of the last tile against all of those before it along each part of the number. */
static bool lanes_alike(Run *r, Nodes all, UOp *lane)
{
	enum { MOST_LANES = 64 };
	int64_t stride[MOST_STRIDES], by, size;
	int n = find_strides(r, all, stride);
	Map last = {0};
	UOp *which;
	bool same = parts_of_lane(r, lane, &which, &by, &size) && size <= MOST_LANES;
	for (int k = -1; k < n && same && by > 0; k++)
		for (int64_t i = 0; i < size && same; i++) {
			int64_t before = k < 0 ? 0 : stride[k];
			if (before == by || !run_item(r, all, which, before + i * by))
				continue;
			same = same_stored(&last, &r->stored);
			for (size_t j = 0; k < 0 && j < r->stored.cap; j++)
				if (r->stored.val[j])
					map_put(&last, r->stored.key[j], r->stored.val[j]);
		}
	map_free(&last);
	return same;
}

bool tiles_agree(const ProvedCall *c, UOp *lane)
{
	enum { CASES = 32, STEP = 9 };
	Run r;
	bool same = true;
	if (!begin(&r, c))
		return !lane;
	r.most = lane ? MOST_STEPS_LANES : MOST_STEPS;
	for (int i = 0; i < CASES && same && (is_open(c->graph) || !i); i += STEP) {
		Nodes all = walk_kept(c->kernel);
		r.failed = false;       /* of the case before */
		if ((r.sizes = sample_sizes(c->graph, i)))
			same = lane ? lanes_alike(&r, all, lane) : agree(&r, all);
	}
	end(&r);
	return same;
}

/* ---- small kernels */

/* Runs all items, those of one number after another; from: the next node that may be one. */
static void run_items(Run *r, Nodes all, size_t from)
{
	while (from < all.n && all.at[from]->op != OP_SPECIAL)
		from++;
	if (from == all.n) {
		map_free(&r->cell);
		r->item++;
		statements(r, 0, r->call->kernel->nsrc);
		return;
	}
	table_round(&now);
	Code size = evaluate(r, all.at[from]->src[0]);
	r->failed |= !is_number(size);
	for (int64_t v = 0; v < number_in(size) && !r->failed; v++) {
		set_leaf(all.at[from], number(v));
		run_items(r, all, from + 1);
	}
}

static bool has_sizes(const ProvedCall *c)
{
	Nodes all = walk_kept(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_VAR)
			return true;
	return false;
}

bool items_agree(const ProvedCall *c)
{
	Effort *e = effort();
	Run r;
	if (has_sizes(c) || !begin(&r, c))
		return false;
	size_t steps = e->cases / CASES_A_STEP;
	r.sizes = &(VarEnv){0};
	r.whole = true;
	r.most = steps < STEPS_WHOLE ? (int)steps : STEPS_WHOLE;
	table_round(&leaf);
	run_items(&r, walk_kept(c->kernel), 0);
	size_t used = (size_t)r.steps * CASES_A_STEP;
	e->cases -= used < e->cases ? used : e->cases;
	end(&r);
	return !r.failed;
}
