/* The six calls that compute a softmax and the product behind it with a running maximum and sum
 * (online.c), and the copies of their operands, padded to whole blocks. */
#include "layout/online.h"
#include <stdlib.h>

/* ---- the calls */

/* The ranges of one of them: those of blocks and within, made of those of the call it comes
 * from. */
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
	UOp *value = walk_replace(call_store(a->scores)->src[1], slots_on, NULL);
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
	UOp *value = without_faint(scaled(a, NODE(OP_SUB, x->dtype, VNIL, x, m)));
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
	UOp *side[2][3], *f[2], *power, *zero = const_num(dt, 0);
	UOp *src[9] = {m, l, o, const_identity(OP_MAX, dt), zero, zero};
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
	UOp *store = call_store(a->product), *was = walk_replace(a->fold, slots_on, NULL);
	UOp *value = walk_replace(store->src[1], slots_on, NULL), *gate = gate_in_blocks(&b, 0);
	value = in_blocks(&b, substitute(value, 1, &was, &y));
	UOp *index = in_blocks(&b, store->src[0]);
	store = gate ? NODE(OP_STORE, DT_NONE, VNIL, index, value, gate) :
		NODE(OP_STORE, DT_NONE, VNIL, index, value);
	UOp *call = block_call(&b, temp, NULL, store, a->product->src[1]), *k = call->src[0];
	return call_with_kernel(call,
		node_like(k, k->nsrc, k->src, val_set(k->arg, "online", val_bool(true))));
}

/* ---- all of them */

void online_calls(Online *o, const Attention *a)
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
