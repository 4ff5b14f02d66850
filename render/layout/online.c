/* Softmax and the product behind it with a running maximum and sum, so that scores are never whole
 * in memory, however many keys there are (Milakov and Gimelshein, "Online normalizer calculation
 * for softmax", 2018; Dao et al., "FlashAttention", 2022):
 *
 *     s[q,k] = …                                  for blocks of rows q, one after another for blocks
 *     p[q,k] = exp2(c*(s - max s)) / Σ of it      of keys b:
 *     y[q,d] = Σk p[q,k]*v[k,d]              →      s[b,q,k]; m[b,q] = max of s; p[b,q,k] =
 *                                                   exp2(c*(s - m)); l[b,q] = Σ p; o[b,q,d] = Σ p*v
 *                                                   the fold over b of the tuples (m, l, o)
 *                                                 y = o / l of that
 *
 *     (m, l, o) and (m', l', o') combine to M = max(m, m'), l*f + l'*f', o*f + o'*f', where of f and
 *     f' that of the maximum is 1, and the other exp2(c*(min(m, m') - M))
 *
 * The six calls share slices (slices.c): the rows of a block; and `turn`, the range of blocks of
 * keys, in whose loop all of them run (lower/slices.c). Rows of which every score is -inf give NaN,
 * as they do without this: m is then 0, so that blocks of such scores have p = 0. */
#include "document/document.h"
#include "lower/lower.h"
#include "layout/layout.h"
#include <math.h>
#include <stdlib.h>

enum {
	KEYS = 512,                     /* of a block, where their number is known */
	/* slices of fewer whole rows read the keys too often: blocks of keys are faster */
	WHOLE_ROWS = 64,
	OPEN = 4                        /* so much smaller are blocks where it is not: they
	                                 * may be far from full */
};

/* The three calls that become six, and what was found in them. */
typedef struct {
	UOp *scores, *soft, *product;
	int lead;                       /* the axes of scores before rows and keys */
	UOp *loop[3][MAX_RANK];         /* by call: its range of each axis of scores */
	UOp *load[2];                   /* of the scores, of the weights */
	UOp *x, *scale;                 /* what the softmax is of; c, NULL: 1 */
	bool by_recip;                  /* e * RECIP(Σ) instead of e / Σ */
	UOp *fold, *weighed;            /* the product's sum, its other factor */
	int64_t rows, keys;             /* of a block */
	UOp *blocks, *parts;            /* of keys, of rows */
	bool rows_left, keys_left;      /* is the last block of either not whole? */
	UOp *rest[MAX_RANK];            /* the other ranges of the product's sum */
	int nrest;
} Attention;
typedef struct { Map readers; VEC(UOp *) out; int count, padded; } Online;

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

static UOp *only_store(const UOp *call)
{
	const UOp *k = call->src[0];
	return k->nsrc == 1 && k->src[0]->nsrc == 2 ? k->src[0] : NULL;
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

static bool is_positive(const UOp *c)
{
	return c->op == OP_CONST && dtype_float(c->dtype) && c->arg->kind == VAL_FLOAT &&
		c->arg->f > 0 && isfinite(c->arg->f);
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
static bool match_power(Attention *a, UOp *e, UOp *key)
{
	if (e->op != OP_EXP2)
		return false;
	UOp *from = e->src[0];
	a->scale = NULL;
	if (from->op == OP_MUL) {
		a->scale = from->src[is_positive(from->src[1])];
		from = from->src[!is_positive(from->src[1])];
		if (!is_positive(a->scale))
			return false;
	}
	a->x = from->op == OP_SUB ? from->src[0] : NULL;
	return a->x && is_fold(from->src[1], "MAX", key) && from->src[1]->src[0] == a->x &&
		is_elementwise(a->x);
}

static bool match_softmax(Attention *a)
{
	UOp *store = only_store(a->soft), *v = store->src[1], *key = a->loop[1][a->lead + 1];
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
	return call_has_kernel(call) && !call_prepares(call) && only_store(call) &&
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
	int n = plain_place(only_store(a->scores)->src[0], a->loop[0]);
	bool same = n >= 2 && n < MAX_SLICE_AXES &&
		plain_place(a->load[0]->src[0], scored) == n &&
		plain_place(only_store(a->soft)->src[0], a->loop[1]) == n &&
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
	int64_t most = SLICE_BYTES / (2 * a->keys * bytes), items = least(rows);
	for (int k = 0; k < a->lead; k++)
		items *= least(a->loop[0][k]->src[0]) > 1 ? least(a->loop[0][k]->src[0]) : 1;
	while (most > WHOLE_ROWS / 4 && items / most < SLICES_LEAST)
		most /= 2;
	return most;
}

static bool choose_blocks(Attention *a)
{
	UOp *rows = a->loop[0][a->lead]->src[0], *keys = a->loop[0][a->lead + 1]->src[0];
	int64_t bytes = dtype_size(a->scores->src[1]->dtype), lo, hi;
	ix_bounds(keys, &lo, &hi);
	bool open = !is_known(keys) || !is_known(rows);
	if (lo < 1 || hi <= SLICE_BYTES / (2 * WHOLE_ROWS * bytes) ||
		(is_known(rows) ? least(rows) < WHOLE_ROWS : least(rows) < 1))
		return false;
	a->keys = even_part(keys, open ? KEYS / OPEN : KEYS);
	a->rows = even_part(rows, open ? WHOLE_ROWS / 2 : rows_at_most(a, rows, bytes));
	a->blocks = blocks_of(keys, a->keys, &a->keys_left);
	a->parts = blocks_of(rows, a->rows, &a->rows_left);
	return find_rest(a);
}

/* ---- the calls */

/* The ranges of one of them: those of blocks and within, made of those of the call it comes from. */
typedef struct {
	const Attention *a;
	UOp *from;                      /* the call whose kernel it is made of */
	UOp *const *loop;
	UOp *part, *row, *turn, *key;
	UOp *gate[2];                   /* a row that there is, a key */
	VEC(UOp *) padded;              /* copies of what it loads, with whole blocks */
} BlockRanges;

static UOp *axis_beyond(const UOp *kernel, int n, const char *kind, UOp *size)
{
	Nodes all = walk((UOp *)kernel);
	int axis = 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && range_axis(all.at[i]) > axis)
			axis = range_axis(all.at[i]);
	if (axis + n > 60)
		die(UNSUPPORTED, "a kernel with more than 60 axes");
	return ix_range(axis + n, kind, size);
}

static BlockRanges ranges_in_blocks(const Attention *a, int of, UOp *from, const char *turn,
	const char *key)
{
	BlockRanges b = {.a = a, .from = from, .loop = a->loop[of]};
	UOp *q = b.loop[a->lead], *k = b.loop[a->lead + 1], *kernel = from->src[0];
	b.part = ix_range(range_axis(q), "loop", a->parts);
	b.turn = axis_beyond(kernel, 1, turn, a->blocks);
	b.row = axis_beyond(kernel, 2, "loop", ix_const(a->rows));
	b.key = axis_beyond(kernel, 3, key, ix_const(a->keys));
	if (a->rows_left)
		b.gate[0] = NODE(OP_CMPLT, DT_BOOL, VNIL, q, q->src[0]);
	if (a->keys_left)
		b.gate[1] = NODE(OP_CMPLT, DT_BOOL, VNIL, k, k->src[0]);
	return b;
}

static UOp *both(UOp *p, UOp *q)
{
	return !p ? q : !q ? p : NODE(OP_AND, DT_BOOL, VNIL, p, q);
}

/* Temporaries of the six calls, in the order in which they are written. */
enum { SCORES, GREATEST, POWERS, SUMS, PRODUCTS, TEMPS };

/* Whether a place moves with the rows, or with the keys, of which the last block is not whole. */
static bool leaves(const BlockRanges *b, UOp *place, int which)
{
	return b->gate[which] &&
		range_mask(place) >> range_axis(b->loop[b->a->lead + which]) & 1;
}

static bool is_padded(const BlockRanges *b, const UOp *load)
{
	return param_slot(load->src[0]->src[0]) >= (int64_t)b->from->nsrc + TEMPS;
}

/* A load beyond the last row or key reads nothing. */
static UOp *gated_load(UOp *u, void *ctx)
{
	const BlockRanges *b = ctx;
	UOp *gate = u->op == OP_LOAD && u->nsrc > 1 ? u->src[1] : NULL, *was = gate;
	if (u->op != OP_LOAD || is_padded(b, u))
		return u;
	for (int i = 0; i < 2; i++)
		if (leaves(b, u->src[0], i))
			gate = both(gate, b->gate[i]);
	return gate == was ? u : NODE(OP_LOAD, u->dtype, VNIL, u->src[0], gate);
}

/* A value of the call, in terms of blocks. */
static UOp *in_blocks(const BlockRanges *b, UOp *value)
{
	const Attention *a = b->a;
	UOp *from[] = {b->loop[a->lead], b->loop[a->lead + 1]};
	UOp *to[] = {ix_add(ix_mul(b->part, ix_const(a->rows)), b->row),
		ix_add(ix_mul(b->turn, ix_const(a->keys)), b->key)};
	if (a->rows_left || a->keys_left)
		value = walk_replace(value, gated_load, (void *)b);
	return substitute(value, 2, from, to);
}

/* The gate of a row or a key in terms of blocks; NULL: all of them are there. */
static UOp *gate_in_blocks(const BlockRanges *b, int which)
{
	return b->gate[which] ? in_blocks(b, b->gate[which]) : NULL;
}

/* A place in one of them: the leading axes, the block of keys, the row, and what else it has. */
static UOp *block_place(const BlockRanges *b, UOp *buffer, int which, int64_t slot)
{
	const Attention *a = b->a;
	UOp *at[MAX_RANK + 1];
	int n = 0;
	at[n++] = param_new(slot, buffer);
	for (int k = 0; k < a->lead; k++)
		at[n++] = b->loop[k];
	at[n++] = b->turn;
	at[n++] = ix_add(ix_mul(b->part, ix_const(a->rows)), b->row);
	if (which == SCORES || which == POWERS)
		at[n++] = b->key;
	for (int k = 0; which == PRODUCTS && k < a->nrest; k++)
		at[n++] = a->rest[k];
	return node_new(OP_INDEX, buffer->dtype, n, at, VNIL);
}

static UOp *block_buffer(Online *o, const Attention *a, int which)
{
	static const char *const name[] = {"scores", "greatest", "powers", "sums", "products"};
	UOp *dim[MAX_RANK];
	int n = 0;
	for (int k = 0; k < a->lead; k++)
		dim[n++] = a->loop[0][k]->src[0];
	dim[n++] = a->blocks;
	dim[n++] = ix_mul(a->parts, ix_const(a->rows));
	if (which == SCORES || which == POWERS)
		dim[n++] = ix_const(a->keys);
	for (int k = 0; which == PRODUCTS && k < a->nrest; k++)
		dim[n++] = a->rest[k]->src[0];
	return buffer_of(arena_printf("%s%d", name[which], o->count), "temp",
		a->scores->src[1]->dtype, shape_new(n, dim));
}

/* The buffers of a call that is being made: what it writes, those of the call whose kernel it is
 * made of, from slot 1, and the new temporaries. */
static UOp *load_block(const BlockRanges *b, UOp *const *temp, int which)
{
	UOp *place = block_place(b, temp[which], which, (int64_t)b->from->nsrc + which);
	return NODE(OP_LOAD, place->dtype, VNIL, place);
}

static UOp *slots_on(UOp *u, void *ctx)
{
	(void)ctx;
	return u->op == OP_PARAM ? param_moved(u, param_slot(u) + 1) : u;
}

static const Val *slice_arg(const BlockRanges *b, const UOp *call, UOp *const *temp, bool first)
{
	const Val *axes[MAX_RANK], *local[TEMPS];
	int n = 0, nlocal = 0;
	for (int k = 0; k < b->a->lead; k++)
		axes[n++] = val_int(range_axis(b->loop[k]));
	axes[n++] = val_int(range_axis(b->part));
	for (uint32_t k = 1; k < call->nsrc; k++)
		for (int t = 0; t < TEMPS; t++)
			if (call->src[k] == temp[t])
				local[nlocal++] = val_int(k - 1);
	return VMAP(val_str("first"), val_bool(first), val_str("axes"), val_array(n, axes),
		val_str("turn"), val_int(range_axis(b->turn)), val_str("local"),
		val_array(nlocal, local));
}

/* The call that stores there; its kernel's slots are those that load_block and slots_on give. */
static UOp *block_call(const BlockRanges *b, UOp *const *temp, const char *what, UOp *store,
	UOp *out)
{
	UOp **src = arena_alloc((b->from->nsrc + 1 + TEMPS + b->padded.n) * sizeof *src);
	uint32_t n = 0;
	const Val *arg = b->from->src[0]->arg;
	if (what)
		arg = val_set(arg, "name", val_str(arena_printf("%s_%.200s", what,
			call_name(b->from))));
	src[n++] = node_like(b->from->src[0], 1, &store, arg);
	src[n++] = out;
	for (uint32_t k = 1; k < b->from->nsrc; k++)
		src[n++] = b->from->src[k];
	for (int t = 0; t < TEMPS; t++)
		src[n++] = temp[t];
	for (size_t i = 0; i < b->padded.n; i++)
		src[n++] = b->padded.at[i];
	UOp *call = call_compact(node_new(OP_CALL, DT_NONE, n, src, b->from->arg));
	UOp *k = call->src[0];
	arg = val_set(k->arg, "slice", slice_arg(b, call, temp, what && !strcmp(what, "scores")));
	return call_with_kernel(call, node_like(k, k->nsrc, k->src, arg));
}

static UOp *store_block(const BlockRanges *b, UOp *const *temp, int which, UOp *value)
{
	return NODE(OP_STORE, DT_NONE, VNIL, block_place(b, temp[which], which, 0), value);
}

/* ---- operands of the products, padded to whole blocks */

/* The ranges of a load in the order of its copy's axes: those before rows and keys, rows, keys, and
 * the others; where scores are computed, keys last, since their places are neighbours. */
static int padded_ranges(const BlockRanges *b, UOp *place, bool keys_last, UOp **range)
{
	const int lead = b->a->lead;
	Nodes all = walk(place);
	VEC(UOp *) others = {0};
	int n = 0;
	for (int k = 0; k < lead + 2; k++)
		if (range_mask(place) >> range_axis(b->loop[k]) & 1 && (k <= lead || !keys_last))
			range[n++] = b->loop[k];
	for (size_t i = 0; i < all.n; i++) {
		bool is = all.at[i]->op == OP_RANGE;
		for (int k = 0; k < lead + 2; k++)
			is &= all.at[i] != b->loop[k];
		if (is)
			vec_push(&others, all.at[i]);
	}
	for (size_t i = 0; i < others.n && n < MAX_RANK - 1; i++)
		range[n++] = others.at[i];
	if (keys_last && range_mask(place) >> range_axis(b->loop[lead + 1]) & 1)
		range[n++] = b->loop[lead + 1];
	vec_free(&others);
	return n;
}

/* The load from its copy instead; the call that makes the copy goes before. */
static UOp *padded_load(Online *o, BlockRanges *b, UOp *load, bool keys_last)
{
	const Attention *a = b->a;
	UOp *range[MAX_RANK], *whole[MAX_RANK], *dim[MAX_RANK], *at[MAX_RANK + 1], *gate = NULL;
	int n = padded_ranges(b, load->src[0], keys_last, range);
	for (int k = 0; k < n; k++) {
		dim[k] = range[k] == b->loop[a->lead] ? ix_mul(a->parts, ix_const(a->rows)) :
			range[k] == b->loop[a->lead + 1] ? ix_mul(a->blocks, ix_const(a->keys)) :
			range[k]->src[0];
		whole[k] = ix_range(range_axis(range[k]), "loop", dim[k]);
		at[1 + k] = whole[k];
		if (dim[k] != range[k]->src[0])
			gate = both(gate, ix_lt(whole[k], range[k]->src[0]));
	}
	UOp *to = buffer_of(arena_printf("padded%d", o->padded++), "temp", load->dtype,
		shape_new(n, dim));
	at[0] = param_new(0, to);
	UOp *place = substitute(load->src[0], n, range, whole);
	UOp *value = NODE(OP_LOAD, load->dtype, VNIL, place, gate);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL,
		node_new(OP_INDEX, to->dtype, n + 1, at, VNIL), value);
	UOp **src = arena_alloc((b->from->nsrc + 1) * sizeof *src);
	src[0] = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str("padded")), store);
	src[1] = to;
	memcpy(src + 2, b->from->src + 1, (b->from->nsrc - 1) * sizeof *src);
	vec_push(&o->out, call_compact(node_new(OP_CALL, DT_NONE, b->from->nsrc + 1, src,
		b->from->arg)));
	at[0] = param_new((int64_t)b->from->nsrc + TEMPS + (int64_t)b->padded.n, to);
	memcpy(at + 1, range, n * sizeof *at);
	vec_push(&b->padded, to);
	return NODE(OP_LOAD, load->dtype, VNIL, node_new(OP_INDEX, to->dtype, n + 1, at, VNIL));
}

/* The value with copies for all that it loads beyond the last row or key, so that its loops have no
 * gates. */
static UOp *with_padded(Online *o, BlockRanges *b, UOp *value, bool keys_last)
{
	Nodes all = walk(value);
	VEC(UOp *) from = {0};
	VEC(UOp *) to = {0};
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_LOAD && u->nsrc == 1 &&
			(leaves(b, u->src[0], 0) || leaves(b, u->src[0], 1)))
			vec_push(&from, u);
	}
	for (size_t i = 0; i < from.n; i++)
		vec_push(&to, padded_load(o, b, from.at[i], keys_last));
	value = substitute(value, from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return value;
}

static UOp *scores_call(Online *o, const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 0, a->scores, "loop", "loop");
	UOp *value = walk_replace(only_store(a->scores)->src[1], slots_on, NULL);
	value = with_padded(o, &b, value, true);
	UOp *store = store_block(&b, temp, SCORES, in_blocks(&b, value));
	return block_call(&b, temp, "scores", store, temp[SCORES]);
}

/* What the softmax is of; -inf beyond the last key. */
static UOp *softmax_of(const BlockRanges *b, UOp *const *temp)
{
	const Attention *a = b->a;
	UOp *load = a->load[0], *block = load_block(b, temp, SCORES);
	UOp *mark = NODE(OP_LOAD, load->dtype, VNIL, block->src[0]);
	UOp *x = walk_replace(a->x, slots_on, NULL), *was = walk_replace(load, slots_on, NULL);
	x = in_blocks(b, substitute(x, 1, &was, &mark));
	UOp *gate = gate_in_blocks(b, 1);
	return gate ? NODE(OP_WHERE, x->dtype, VNIL, gate, x, const_identity(OP_MAX, x->dtype)) : x;
}

static UOp *greatest_call(const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 1, a->soft, "loop", "reduce");
	UOp *x = softmax_of(&b, temp);
	UOp *value = NODE(OP_RREDUCE, x->dtype, val_str("MAX"), x, b.key);
	return block_call(&b, temp, "max", store_block(&b, temp, GREATEST, value), temp[GREATEST]);
}

static UOp *scaled(const Attention *a, UOp *x)
{
	return NODE(OP_EXP2, x->dtype, VNIL,
		a->scale ? NODE(OP_MUL, x->dtype, VNIL, x, a->scale) : x);
}

static UOp *powers_call(const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 1, a->soft, "loop", "loop");
	UOp *x = softmax_of(&b, temp), *m = load_block(&b, temp, GREATEST);
	UOp *least = const_identity(OP_MAX, m->dtype);
	m = NODE(OP_WHERE, m->dtype, VNIL, NODE(OP_CMPEQ, DT_BOOL, VNIL, m, least),
		const_num(m->dtype, 0), m);
	UOp *value = scaled(a, NODE(OP_SUB, x->dtype, VNIL, x, m));
	return block_call(&b, temp, "exp", store_block(&b, temp, POWERS, value), temp[POWERS]);
}

static UOp *sums_call(const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 1, a->soft, "loop", "reduce");
	UOp *p = load_block(&b, temp, POWERS);
	UOp *value = NODE(OP_RREDUCE, p->dtype, val_str("ADD"), p, b.key);
	return block_call(&b, temp, "sum", store_block(&b, temp, SUMS, value), temp[SUMS]);
}

static UOp *products_call(Online *o, const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 2, a->product, "loop", "reduce");
	UOp *by = with_padded(o, &b, walk_replace(a->weighed, slots_on, NULL), false);
	by = in_blocks(&b, by);
	UOp *term = NODE(OP_MUL, by->dtype, VNIL, load_block(&b, temp, POWERS), by);
	UOp *value = NODE(OP_RREDUCE, by->dtype, val_str("ADD"), term, b.key);
	return block_call(&b, temp, "products", store_block(&b, temp, PRODUCTS, value),
		temp[PRODUCTS]);
}

/* ---- the fold of the blocks */

/* What takes the sums of one side to the maximum of both: 1 where it is its own. */
static UOp *factor(UOp *own, UOp *both, UOp *power)
{
	UOp *same = NODE(OP_CMPEQ, DT_BOOL, VNIL, own, both);
	return NODE(OP_WHERE, own->dtype, VNIL, same, const_num(own->dtype, 1), power);
}

static UOp *running(const Attention *a, UOp *m, UOp *l, UOp *o)
{
	DType dt = m->dtype;
	UOp *side[2][3], *f[2], *power, *src[9] = {m, l, o, const_identity(OP_MAX, dt), const_num(dt, 0),
		const_num(dt, 0)};
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 3; i++)
			side[s][i] = LEAF(OP_SIDE, dt, VARR(val_int(s), val_int(i)));
	src[6] = NODE(OP_MAX, dt, VNIL, side[0][0], side[1][0]);
	power = NODE(OP_SUB, dt, VNIL, NODE(OP_MIN, dt, VNIL, side[0][0], side[1][0]), src[6]);
	power = scaled(a, power);
	for (int s = 0; s < 2; s++)
		f[s] = factor(side[s][0], src[6], power);
	for (int i = 1; i < 3; i++)
		src[6 + i] = NODE(OP_ADD, dt, VNIL, NODE(OP_MUL, dt, VNIL, side[0][i], f[0]),
			NODE(OP_MUL, dt, VNIL, side[1][i], f[1]));
	return node_new(OP_TUPLE, DT_NONE, 9, src, VNIL);
}

static UOp *folded_call(const Attention *a, UOp *const *temp)
{
	BlockRanges b = ranges_in_blocks(a, 2, a->product, "reduce", "reduce");
	UOp *tuple = running(a, load_block(&b, temp, GREATEST), load_block(&b, temp, SUMS),
		load_block(&b, temp, PRODUCTS));
	DType dt = a->fold->dtype;
	UOp *l = NODE(OP_RREDUCE, dt, val_int(1), tuple, b.turn);
	UOp *o = NODE(OP_RREDUCE, dt, val_int(2), tuple, b.turn);
	UOp *y = a->by_recip ? NODE(OP_MUL, dt, VNIL, o, NODE(OP_RECIP, dt, VNIL, l)) :
		NODE(OP_FDIV, dt, VNIL, o, l);
	UOp *store = only_store(a->product), *was = walk_replace(a->fold, slots_on, NULL);
	UOp *value = walk_replace(store->src[1], slots_on, NULL), *gate = gate_in_blocks(&b, 0);
	value = in_blocks(&b, substitute(value, 1, &was, &y));
	UOp *index = in_blocks(&b, store->src[0]);
	store = gate ? NODE(OP_STORE, DT_NONE, VNIL, index, value, gate) :
		NODE(OP_STORE, DT_NONE, VNIL, index, value);
	return block_call(&b, temp, NULL, store, a->product->src[1]);
}

/* ---- the pass */

static void put(Online *o, const Attention *a)
{
	UOp *temp[TEMPS];
	o->count++;
	for (int t = 0; t < TEMPS; t++)
		temp[t] = block_buffer(o, a, t);
	explain(a->soft->src[0], "%s and %s are never whole: a running maximum and sum over blocks "
		"of %lld keys, for %lld rows at a time", buffer_name(a->scores->src[1]),
		buffer_name(a->soft->src[1]), (long long)a->keys, (long long)a->rows);
	UOp *call[] = {scores_call(o, a, temp), greatest_call(a, temp), powers_call(a, temp),
		sums_call(a, temp), products_call(o, a, temp), folded_call(a, temp)};
	for (size_t i = 0; i < sizeof call / sizeof *call; i++)
		vec_push(&o->out, call[i]);
}

static void count_touches(Online *o, const UOp *sink)
{
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		const UOp *call = sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc; k++)
			map_put(&o->readers, PKEY(call->src[k]),
				(void *)(PKEY(map_get(&o->readers, PKEY(call->src[k]))) + 1));
	}
}

static bool touches(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = 0; k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return true;
	return false;
}

/* The next call that touches what call i writes first, of those that are near; 0: none. */
static uint32_t next_user(const UOp *sink, uint32_t i)
{
	enum { NEAR = 32 };
	for (uint32_t k = i + 1; k < sink->nsrc && k < i + NEAR; k++)
		if (touches(sink->src[k], sink->src[i]->src[1]))
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
				touches(sink->src[i], call->src[k]))
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
			put(&o, found[i]);
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
