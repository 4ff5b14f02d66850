/* Softmax and the product behind it with a running maximum and sum, so that scores are never whole
 * in memory, however many keys there are (Milakov and Gimelshein, "Online normalizer calculation
 * for softmax", 2018; Dao et al., "FlashAttention", 2022):
 *
 *     s[q,k] = …                                for blocks of rows q, in turn for blocks of keys b:
 *     p[q,k] = exp2(c*(s - max s)) / Σ of it      s[b,q,k]; m[b,q] = max of s
 *     y[q,d] = Σk p[q,k]*v[k,d]             →     p[b,q,k] = exp2(c*(s - m)); l[b,q] = Σ p
 *                                                 o[b,q,d] = Σ p*v
 *                                                 the fold over b of the tuples (m, l, o)
 *                                               y = o / l of that
 *
 *     (m, l, o) and (m', l', o') combine to M = max(m, m'), l*f + l'*f', o*f + o'*f', where of f
 *     and f' that of the maximum is 1, and the other exp2(c*(min(m, m') - M))
 *
 * The six calls (online_calls.c) share slices (slices.c): the rows of a block; and `turn`, the
 * range of blocks of keys, in whose loop all of them run (lower/slices.c). Rows of which every
 * score is -inf give NaN, as they do without this: for p, m is then 0, so that blocks of such
 * scores have p = 0. */
#include "layout/online.h"
#include <stdlib.h>

enum {
	KEYS = 512,                     /* of a block, where their number is known */
	/* slices of fewer whole rows read the keys too often: blocks of keys are faster */
	WHOLE_ROWS = 64,
	OPEN = 4                        /* so much smaller are blocks where it is not: they
	                                 * may be far from full */
};

/* ---- whether three calls are one */

static int calls_touching(const Online *o, const UOp *buffer)
{
	return (int)PKEY(map_get(&o->readers, PKEY(buffer)));
}

/* The ranges of the axes of a place, each over its whole axis; axes of one element do not count.
 * Returns how many; 0 where one is anything else, or two are the same. */
static int plain_place(const UOp *index, UOp **loop)
{
	const Shape *s = index->src[0]->shape;
	int n = 0;
	int64_t one;
	for (int k = 0; k < s->rank; k++) {
		UOp *r = index->src[1 + k];
		if (ix_is_const(s->dim[k], &one) && one == 1)
			continue;
		if (r->op != OP_RANGE || r->src[0] != s->dim[k])
			return 0;
		for (int i = 0; i < n; i++)
			if (loop[i] == r)
				return 0;
		loop[n++] = r;
	}
	return n;
}

static UOp *only_load(const UOp *call, const UOp *buffer)
{
	Nodes all = walk(call->src[0]);
	UOp *found = NULL;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && place_buffer(call, all.at[i]->src[0]) == buffer) {
			if (found)
				return NULL;
			found = all.at[i];
		}
	return found && found->nsrc == 1 ? found : NULL;
}

static bool is_fold(const UOp *u, const char *op, const UOp *over)
{
	return u->op == OP_RREDUCE && val_is_str(u->arg, op) && u->nsrc == 2 && u->src[1] == over;
}

static bool is_elementwise(UOp *x)
{
	Nodes all = walk(x);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RREDUCE || all.at[i]->op == OP_RSCAN)
			return false;
	return true;
}

/* exp2((x - max x) * c) of the row along `key` */
static bool match_power(Attention *a, const UOp *e, const UOp *key)
{
	return softmax_power(e, &a->x, &a->scale) == key && is_elementwise(a->x);
}

static bool match_softmax(Attention *a)
{
	UOp *store = call_store(a->soft), *v = store->src[1], *key = a->loop[1][a->lead + 1];
	a->by_recip = v->op == OP_MUL;
	if (v->op != OP_MUL && v->op != OP_FDIV)
		return false;
	for (int k = 0; k < 1 + a->by_recip; k++) {
		UOp *e = v->src[k], *by = v->src[!k];
		if (a->by_recip && by->op != OP_RECIP)
			continue;
		by = a->by_recip ? by->src[0] : by;
		if (is_fold(by, "ADD", key) && by->src[0] == e && match_power(a, e, key))
			return true;
	}
	return false;
}

/* The sum of products of the weights with anything, over the keys alone. */
static bool match_product(Attention *a)
{
	UOp *key = a->loop[2][a->lead + 1];
	Nodes all = walk(a->product->src[0]);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_RREDUCE && a->fold)
			return false;
		if (u->op == OP_RREDUCE)
			a->fold = u;
		if (u->op == OP_RSCAN || u->op == OP_RSORT)
			return false;
	}
	if (!a->fold || !is_fold(a->fold, "ADD", key) || a->fold->src[0]->op != OP_MUL)
		return false;
	for (int k = 0; k < 2 && !a->weighed; k++)
		if (a->fold->src[0]->src[k] == a->load[1])
			a->weighed = a->fold->src[0]->src[!k];
	return a->weighed && a->weighed != a->load[1] &&
		!strcmp(range_kind(key), "reduce");
}

static bool is_plain(const UOp *call)
{
	return call_has_kernel(call) && !call_prepares(call) && call_store(call) &&
		!val_get(call->src[0]->arg, "actions");
}

/* A temporary of f32 or f64 that one call writes and the next reads, once. */
static bool passes_on(const Online *o, Attention *a, int which, UOp *from, UOp *to)
{
	UOp *b = from->src[1];
	return buffer_is(b, "temp") && calls_touching(o, b) == 2 &&
		(b->dtype == DT_F32 || b->dtype == DT_F64) &&
		(a->load[which] = only_load(to, b));
}

/* Do the calls write and read the scores and the weights by plain ranges of the same sizes? */
static bool match_places(Attention *a)
{
	UOp *scored[MAX_RANK];
	int n = plain_place(call_store(a->scores)->src[0], a->loop[0]);
	bool same = n >= 2 && n < MAX_SLICE_AXES &&
		plain_place(a->load[0]->src[0], scored) == n &&
		plain_place(call_store(a->soft)->src[0], a->loop[1]) == n &&
		plain_place(a->load[1]->src[0], a->loop[2]) == n;
	a->lead = n - 2;
	for (int k = 0; same && k < n; k++)
		same = scored[k] == a->loop[1][k] &&
			a->loop[0][k]->src[0] == a->loop[1][k]->src[0] &&
			a->loop[2][k]->src[0] == a->loop[1][k]->src[0];
	return same;
}

static bool match(const Online *o, Attention *a, UOp *const *call)
{
	*a = (Attention){.scores = call[0], .soft = call[1], .product = call[2]};
	for (int i = 0; i < 3; i++)
		if (!is_plain(call[i]))
			return false;
	return passes_on(o, a, 0, a->scores, a->soft) &&
		passes_on(o, a, 1, a->soft, a->product) &&
		a->scores->src[1]->dtype == a->soft->src[1]->dtype && match_places(a) &&
		match_softmax(a) && match_product(a);
}

/* ---- blocks */

static int64_t least(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	return lo;
}

/* The greatest part of at most `most` of n that divides it, if it is no less than half of that. */
static int64_t even_part(UOp *size, int64_t most)
{
	int64_t n;
	if (ix_is_const(size, &n))
		for (int64_t k = most; k >= most / 2; k--)
			if (n % k == 0)
				return k;
	return most;
}

static UOp *blocks_of(UOp *size, int64_t n, bool *left)
{
	int64_t rest;
	*left = !ix_is_const(ix_mod(size, ix_const(n)), &rest) || rest;
	return ix_div(ix_add(size, ix_const(n - 1)), ix_const(n));
}

/* The product's other ranges, along which an item has all elements: their sizes are known. */
static bool find_rest(Attention *a)
{
	Nodes all = walk(a->fold);
	uint64_t free = range_mask(a->fold);
	for (int k = 0; k <= a->lead; k++)
		free &= ~(1ull << range_axis(a->loop[2][k]));
	for (size_t i = 0; i < all.n; i++) {
		UOp *r = all.at[i];
		int64_t size;
		if (r->op != OP_RANGE || !(free >> range_axis(r) & 1))
			continue;
		if (a->nrest == 4 || !ix_is_const(r->src[0], &size) || size < 1)
			return false;
		free &= ~(1ull << range_axis(r));
		a->rest[a->nrest++] = r;
	}
	for (int i = 1; i < a->nrest; i++)
		for (int k = i; k && range_axis(a->rest[k - 1]) > range_axis(a->rest[k]); k--) {
			UOp *r = a->rest[k];
			a->rest[k] = a->rest[k - 1];
			a->rest[k - 1] = r;
		}
	return true;
}

static bool is_known(UOp *size)
{
	int64_t n;
	return ix_is_const(size, &n);
}

/* The most rows of a block, whose scores and weights are a slice; fewer where threads would not
 * have their share. */
static int64_t rows_at_most(const Attention *a, UOp *rows, int64_t bytes)
{
	int64_t most = slice_bytes() / (2 * a->keys * bytes), items = least(rows);
	for (int k = 0; k < a->lead; k++)
		items *= least(a->loop[0][k]->src[0]) > 1 ? least(a->loop[0][k]->src[0]) : 1;
	while (most > WHOLE_ROWS / 4 && items / most < SLICES_LEAST)
		most /= 2;
	return most < 1 ? 1 : most;
}

static bool choose_blocks(Attention *a)
{
	UOp *rows = a->loop[0][a->lead]->src[0], *keys = a->loop[0][a->lead + 1]->src[0];
	int64_t bytes = dtype_size(a->scores->src[1]->dtype), lo, hi;
	ix_bounds(keys, &lo, &hi);
	bool open = !is_known(keys) || !is_known(rows);
	if (lo < 1 || hi <= slice_bytes() / (2 * WHOLE_ROWS * bytes) ||
		(is_known(rows) ? least(rows) < WHOLE_ROWS : least(rows) < 1))
		return false;
	int64_t most = open ? KEYS / OPEN : KEYS;
	a->keys = even_part(keys, hi > most ? most : (hi + 1) / 2);     /* two blocks or more */
	a->rows = even_part(rows, open ? WHOLE_ROWS / 2 : rows_at_most(a, rows, bytes));
	a->blocks = blocks_of(keys, a->keys, &a->keys_left);
	a->parts = blocks_of(rows, a->rows, &a->rows_left);
	return find_rest(a);
}

/* ---- the pass */

static void count_touches(Online *o, const UOp *sink)
{
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		const UOp *call = sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++)
			map_put(&o->readers, PKEY(call->src[k]),
				(void *)(PKEY(map_get(&o->readers, PKEY(call->src[k]))) + 1));
	}
}

/* The next call that touches what call i writes first, of those that are near; 0: none. */
static uint32_t next_user(const UOp *sink, uint32_t i)
{
	enum { NEAR = 32 };
	for (uint32_t k = i + 1; k < sink->nsrc && k < i + NEAR; k++)
		if (call_touches(sink->src[k], sink->src[i]->src[1]))
			return k;
	return 0;
}

/* May call i run as late as call `to`? Nothing in between writes what it touches. */
static bool may_wait(const UOp *sink, uint32_t i, uint32_t to)
{
	for (uint32_t c = i + 1; c < to; c++) {
		const UOp *call = sink->src[c];
		uint64_t writes = call_has_kernel(call) ? call_writes(call) : ~0ull;
		for (uint32_t k = 0; k < call->nsrc; k++)
			if ((k > 64 || !k || writes >> (k - 1) & 1) &&
				call_touches(sink->src[i], call->src[k]))
				return false;
	}
	return true;
}

/* The calls from i on that become six: their numbers. */
static bool find(const Online *o, const UOp *sink, uint32_t i, Attention *a, uint32_t *at)
{
	at[0] = i;
	for (int k = 0; k < 2; k++)
		if (!is_plain(sink->src[at[k]]) || !(at[k + 1] = next_user(sink, at[k])))
			return false;
	UOp *call[] = {sink->src[at[0]], sink->src[at[1]], sink->src[at[2]]};
	return match(o, a, call) && choose_blocks(a) && may_wait(sink, at[0], at[2]) &&
		may_wait(sink, at[1], at[2]);
}

Graph *layout_online(Graph *g)
{
	Online o = {0};
	const UOp *sink = g->sink;
	/* by the number of its product; what stands there already */
	Attention **found = xcalloc(sink->nsrc + 1, sizeof *found), a;
	bool *gone = xcalloc(sink->nsrc + 1, sizeof *gone);
	count_touches(&o, sink);
	for (uint32_t i = 0, at[3]; i < sink->nsrc; i++) {
		if (found[i])
			online_calls(&o, found[i]);
		else if (!gone[i] && find(&o, sink, i, &a, at)) {
			found[at[2]] = arena_alloc(sizeof a);
			*found[at[2]] = a;
			gone[at[1]] = true;
		} else if (!gone[i]) {
			vec_push(&o.out, sink->src[i]);
		}
	}
	Graph *r = o.count ? graph_with_calls(g, o.out.n, o.out.at) : g;
	free(found);
	free(gone);
	map_free(&o.readers);
	vec_free(&o.out);
	return r;
}
