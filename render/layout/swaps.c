/* Contractions of narrow integers as instructions of the target (actions/swap.c). The values of
 * several iterations stand side by side in an i32, in buffers that kernels of their own write:
 *
 *     y[i,j] = Σk a[i,k]*b[k,j]    →    p[i,q] = a[i,4q…4q+3];  r[q,j] = b[4q…4q+3,j]
 *                                       y[i,j] = Σq DOTU8I8(p[i,q], r[q,j])
 *
 * What remains is a contraction of i32 like any other, so tiles, panels, blocks and padding are
 * those of its roles. A buffer keeps its axes: a convolution reads its windows in the packed one.
 * Constants are packed once, and so are sums of them. */
#include "actions/actions.h"
#include "document/document.h"
#include "layout/layout.h"
#include "index/ix.h"

enum { USES_LEAST = 8, BOTH = 2 };

/* A factor that is a function of one load: the axis of its place along which iterations are taken
 * together; the gate, or NULL, without which the factor is 0. */
typedef struct { UOp *value, *load, *gate; int axis; bool constant; } PackedFactor;

typedef struct {
	Roles r;
	Swap s;
	UOp *call, *fold;
	UOp *along;             /* the range of the iterations that are taken together, */
	UOp *few;               /* and that of those taken at a time */
	PackedFactor of[BOTH];
} Swapped;

typedef struct {
	Map made;               /* kernel and buffers of a call → what it writes */
	Map extents;            /* a temporary of i32 → Extent */
	VEC(UOp *) before, out;
	int count;
} Swaps;

/* ---- what buffers hold */

typedef struct { const Swaps *w; const UOp *call; } Loaded;

/* Of a constant that is in the document, such as a zero point. */
static Extent extent_of_data(const UOp *buffer)
{
	const Val *data = val_get(buffer->arg, "data");
	int64_t v, element, size = dtype_size(buffer->dtype);
	Extent e = {INT64_MAX, INT64_MIN};
	if (!buffer_is(buffer, "const") || !dtype_int(buffer->dtype) || !data ||
		data->kind != VAL_BIN || (int64_t)data->n < size)
		return (Extent){INT64_MIN, INT64_MAX};
	for (int64_t at = 0; at + size <= (int64_t)data->n; at += size) {
		memcpy(&element, data->s + at, (size_t)size);
		interp_cast(DT_I64, &v, buffer->dtype, &element, 1);
		e.lo = v < e.lo ? v : e.lo;
		e.hi = v > e.hi ? v : e.hi;
	}
	return e;
}

static Extent extent_of_load(const UOp *load, void *ctx)
{
	const Loaded *l = ctx;
	if (load->src[0]->src[0]->op != OP_PARAM)
		return (Extent){INT64_MIN, INT64_MAX};
	const UOp *buffer = place_buffer(l->call, load->src[0]);
	const Extent *e = map_get(&l->w->extents, PKEY(buffer));
	return e ? *e : extent_of_data(buffer);
}

/* Notes what a call stores to temporaries of i32: all that was stored to one. */
static void note_extents(Swaps *w, UOp *call)
{
	if (!call_has_kernel(call))
		return;
	for (uint32_t i = 0; i < call->src[0]->nsrc; i++) {
		UOp *store = call->src[0]->src[i], *to = place_buffer(call, store->src[0]);
		if (to->dtype != DT_I32 || (!buffer_is(to, "temp") && !buffer_is(to, "prepared")))
			continue;
		Extent *e = arena_alloc(sizeof *e), *had = map_get(&w->extents, PKEY(to));
		*e = extent_of(store->src[1], extent_of_load, &(Loaded){w, call});
		if (had)
			*e = (Extent){e->lo < had->lo ? e->lo : had->lo,
				e->hi > had->hi ? e->hi : had->hi};
		map_put(&w->extents, PKEY(to), e);
	}
}

/* ---- whether it is done */

/* A factor, as a function of the only load that moves in it:
 *
 *     f(LOAD place)    CAST(LOAD place, gate)    WHERE(gate, f(LOAD place, gate), 0)
 *
 * Where there is a gate, the factor is 0 when it is false. */
static bool factor_find(PackedFactor *p, UOp *value)
{
	int64_t other;
	*p = (PackedFactor){.value = value};
	if (value->op == OP_WHERE && const_is_int(value->src[2], &other) && !other) {
		p->gate = value->src[0];
		p->value = value->src[1];
	}
	Nodes all = walk(p->value);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && range_mask(all.at[i])) {
			if (p->load)
				return false;
			p->load = all.at[i];
		}
	if (!p->load || p->load->src[0]->src[0]->op != OP_PARAM)
		return false;
	UOp *u = p->value, *gate = p->load->nsrc > 1 ? p->load->src[1] : NULL;
	while (u->op == OP_CAST)
		u = u->src[0];
	if (!p->gate && u == p->load)
		p->gate = gate;
	UOp *zero = const_int(p->load->dtype, 0);
	return (!gate || gate == p->gate) &&
		!range_mask(substitute(p->value, 1, &p->load, &zero));
}

static bool divides(UOp *u, int n)
{
	int64_t rest;
	return ix_is_const(ix_mod(u, ix_const(n)), &rest) && !rest;
}

/* The axis of the place that runs with the range, n iterations of which are neighbours there and
 * begin at a multiple of n; -1: none does. */
static int axis_along(const UOp *load, UOp *along, int n)
{
	const UOp *place = load->src[0];
	int axis = -1;
	for (uint32_t i = 1; i < place->nsrc; i++)
		if (range_mask(place->src[i]) >> range_axis(along) & 1) {
			if (axis >= 0)
				return -1;
			axis = (int)i - 1;
		}
	if (axis < 0)
		return -1;
	UOp *e = place->src[axis + 1], *whole = place->src[0]->shape->dim[axis];
	if (e == along && whole == along->src[0])
		return axis;
	UOp *by_n = ix_mul(along, ix_const(n));
	int64_t step;
	return divides(along->src[0], n) && place_step(e, along, &step) && step == 1 &&
		divides(substitute(e, 1, &along, &by_n), n) ? axis : -1;
}

/* Takes the range with most iterations of which both places allow it. */
static bool find_along(Swapped *w, const Contraction *c)
{
	int64_t most = w->s.pattern->n / 2;
	for (uint32_t i = 1; i < c->fold->nsrc; i++) {
		UOp *r = c->fold->src[i];
		int axis[BOTH];
		int64_t n = count_of(&w->r.facts, bit_of(r));
		for (int k = 0; k < BOTH; k++)
			axis[k] = axis_along(w->of[k].load, r, w->s.pattern->n);
		if (axis[0] < 0 || axis[1] < 0 || n <= most)
			continue;
		most = n;
		w->along = r;
		w->of[0].axis = axis[0];
		w->of[1].axis = axis[1];
	}
	return w->along;
}

/* Is each element of the operand used often enough to be packed in each call? */
static bool used_often(const Swapped *w, const PackedFactor *o)
{
	const Facts *f = &w->r.facts;
	return o->constant || count_of(f, free_of(w->fold->src[0])) / USES_LEAST >=
		count_of(f, free_of(o->load->src[0]));
}

/* A sum that is taken off again moves in all ranges of the reduction, and has a buffer. */
static bool sum_moves(const Swapped *w)
{
	const Facts *f = &w->r.facts;
	for (int k = 0; k < BOTH; k++) {
		uint64_t moves = free_of(w->of[!k].load->src[0]);
		if (w->s.factor[k].add && (bound_of(w->fold) & ~moves ||
			__builtin_popcountll(moves & f->out) > MAX_RANK))
			return false;
	}
	return true;
}

static bool swap_of(const Swaps *all, Swapped *w, UOp *call)
{
	Extent e[BOTH];
	bool constant[BOTH];
	*w = (Swapped){.call = call};
	if (!call_has_kernel(call) || call_prepares(call) || !roles_find(&w->r, call) ||
		w->r.facts.serial || w->r.facts.in_place)
		return false;
	w->fold = w->r.c.fold;
	UOp *const *factor = swap_factors(w->fold);
	for (int k = 0; factor && k < BOTH; k++) {
		PackedFactor p;
		if (!factor_find(&p, factor[k]) || reads_written(&w->r.facts, p.load))
			return false;
		constant[k] = is_constant(place_buffer(call, p.load->src[0]));
		e[k] = extent_of(factor[k], extent_of_load, &(Loaded){all, call});
	}
	if (!factor || !swap_find(&w->s, factor, 0, e, constant))
		return false;
	for (int k = 0; k < BOTH; k++) {
		factor_find(&w->of[k], w->s.factor[k].value);
		w->of[k].constant = is_constant(place_buffer(call, w->of[k].load->src[0]));
	}
	return find_along(w, &w->r.c) && used_often(w, &w->of[0]) && used_often(w, &w->of[1]) &&
		sum_moves(w);
}

/* ---- packed operands */

/* The kernel's buffers move up by one slot: the first is the one that is written. */
static UOp *slots_on(UOp *u, void *ctx)
{
	(void)ctx;
	return u->op == OP_PARAM ? param_moved(u, param_slot(u) + 1) : u;
}

/* A call of a kernel that stores the value, made in terms of w's call, into a new buffer; the one
 * that has it already, if there is one. */
static UOp *stored(Swaps *all, const Swapped *w, const char *what, bool constant, UOp *value,
	const Shape *shape, UOp *const *at)
{
	UOp *to = buffer_of(arena_printf("%.200s.%s%d", call_name(w->call), what, all->count),
		constant ? "prepared" : "temp", DT_I32, shape), *place[MAX_RANK + 1];
	place[0] = param_new(0, to);
	memcpy(place + 1, at, shape->rank * sizeof *place);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL,
		node_new(OP_INDEX, DT_I32, 1 + shape->rank, place, VNIL),
		walk_replace(value, slots_on, NULL));
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str(what)), store);
	node_note(kernel, w->call->src[0]->note);
	UOp **src = arena_alloc((w->call->nsrc + 1) * sizeof *src);
	src[0] = kernel;
	src[1] = to;
	memcpy(src + 2, w->call->src + 1, (w->call->nsrc - 1) * sizeof *src);
	UOp *call = call_compact(node_new(OP_CALL, DT_NONE, w->call->nsrc + 1, src, w->call->arg));
	uint64_t key = call->src[0]->id;
	for (uint32_t i = 2; i < call->nsrc; i++)
		key = hash_mix(key, call->src[i]->id);
	UOp *made = map_get(&all->made, key);
	if (made)
		return made;
	map_put(&all->made, key, to);
	if (constant)
		vec_push(&all->before, call);
	else
		vec_push(&all->out, call);
	all->count++;
	return to;
}

/* Elements n*q … n*q+n-1 along the operand's axis, those beyond its end 0. */
static UOp *pack(Swaps *all, const Swapped *w, int k)
{
	const PackedFactor *o = &w->of[k];
	const UOp *place = o->load->src[0];
	const Shape *from = place->src[0]->shape;
	int n = w->s.pattern->n, rank = from->rank;
	UOp *dim[MAX_RANK], *loop[MAX_RANK], *at[MAX_RANK + 1], *part[8];
	for (int i = 0; i < rank; i++) {
		dim[i] = i == o->axis ? ix_div(ix_add(from->dim[i], ix_const(n - 1)), ix_const(n)) :
			from->dim[i];
		at[1 + i] = loop[i] = ix_range(i, "loop", dim[i]);
	}
	at[0] = place->src[0];
	for (int i = 0; i < n; i++) {
		UOp *was = o->load;
		UOp *e = ix_add(ix_mul(loop[o->axis], ix_const(n)), ix_const(i));
		at[1 + o->axis] = e;
		UOp *index = node_new(OP_INDEX, place->dtype, 1 + rank, at, VNIL);
		UOp *in = divides(from->dim[o->axis], n) ? NULL : ix_lt(e, from->dim[o->axis]);
		UOp *load = in ? NODE(OP_LOAD, place->dtype, VNIL, index, in) :
			NODE(OP_LOAD, place->dtype, VNIL, index);
		part[i] = substitute(o->value, 1, &was, &load);
		if (w->s.factor[k].add)
			part[i] = NODE(OP_ADD, DT_I32, VNIL, part[i],
				const_int(DT_I32, w->s.factor[k].add));
		if (in)
			part[i] = NODE(OP_WHERE, DT_I32, VNIL, in, part[i], const_int(DT_I32, 0));
	}
	return stored(all, w, "words", o->constant, swap_packed(&w->s, part), shape_new(rank, dim),
		loop);
}

/* The place in a packed operand at which the kernel reads. */
static UOp *read_packed(const Swapped *w, int k, UOp *buffer, int slot)
{
	const PackedFactor *o = &w->of[k];
	const UOp *place = o->load->src[0];
	UOp *at[MAX_RANK + 1], *along = w->along;
	UOp *first = ix_mul(w->few, ix_const(w->s.pattern->n));
	for (uint32_t i = 1; i < place->nsrc; i++)
		at[i] = place->src[i];
	at[0] = param_new(slot, buffer);
	at[1 + o->axis] = ix_div(substitute(at[1 + o->axis], 1, &along, &first),
		ix_const(w->s.pattern->n));
	UOp *index = node_new(OP_INDEX, DT_I32, place->nsrc, at, VNIL);
	return o->gate ? NODE(OP_LOAD, DT_I32, VNIL, index, o->gate) :
			 NODE(OP_LOAD, DT_I32, VNIL, index);
}

/* What a factor is where its gate is false: 0, to which something was added. */
static UOp *with_gate(const Swapped *w, int k, UOp *load)
{
	UOp *part[8];
	if (!w->of[k].gate || !w->s.factor[k].add)
		return load;
	for (int i = 0; i < w->s.pattern->n; i++)
		part[i] = const_int(DT_I32, w->s.factor[k].add);
	return NODE(OP_WHERE, DT_I32, VNIL, w->of[k].gate, load, swap_packed(&w->s, part));
}

/* ---- the kernel that reads them */

/* The sum of products over the range of few iterations instead of the one of all. */
static UOp *sum_of_products(const Swapped *w, UOp *a, UOp *b)
{
	const UOp *fold = w->fold;
	UOp **src = arena_alloc((fold->nsrc + 1) * sizeof *src);
	uint32_t n = 0;
	src[n++] = NODE(w->s.pattern->op, DT_I32, VNIL, a, b);
	for (uint32_t i = 1; i < fold->nsrc; i++)
		if (fold->src[i] != w->along)
			src[n++] = fold->src[i];
		else if (w->few->op == OP_RANGE)
			src[n++] = w->few;
	return node_new(OP_RREDUCE, DT_I32, n, src, fold->arg);
}

/* The call's buffers and one more, whose slot is *slot. */
static void add_buffer(Swapped *w, UOp *buffer, int *slot)
{
	*slot = (int)w->call->nsrc - 1;
	w->call = call_with_buffer(w->call, w->call->src[0], buffer);
}

/* -add times the sum of the other factor, of what is added to factor k. */
static UOp *sum_beside(Swaps *all, Swapped *w, int k, UOp *beside)
{
	UOp *ones[8], *dim[MAX_RANGES], *place[MAX_RANGES + 1], *range[MAX_RANGES];
	const Facts *f = &w->r.facts;
	int slot, n = ranges_of(f, free_of(w->of[!k].load->src[0]) & f->out, range);
	for (int i = 0; i < w->s.pattern->n; i++)
		ones[i] = const_int(DT_I32, 1);
	for (int i = 0; i < n; i++)
		dim[i] = range[i]->src[0];
	UOp *one = swap_packed(&w->s, ones);
	UOp *sum = k ? sum_of_products(w, beside, one) : sum_of_products(w, one, beside);
	UOp *value = NODE(OP_MUL, DT_I32, VNIL, sum, const_int(DT_I32, -w->s.factor[k].add));
	UOp *to = stored(all, w, "sums", w->of[!k].constant, value, shape_new(n, dim), range);
	add_buffer(w, to, &slot);
	place[0] = param_new(slot, to);
	memcpy(place + 1, range, n * sizeof *place);
	return NODE(OP_LOAD, DT_I32, VNIL, node_new(OP_INDEX, DT_I32, 1 + n, place, VNIL));
}

static UOp *swapped(Swaps *all, Swapped *w)
{
	UOp *load[BOTH], *fold = w->fold, *sum;
	int n = w->s.pattern->n, slot;
	w->few = ix_range(range_axis(w->along), range_kind(w->along),
		ix_div(ix_add(w->along->src[0], ix_const(n - 1)), ix_const(n)));
	explain(w->call->src[0], "%d products at a time by %s", n, op_name(w->s.pattern->op));
	for (int k = 0; k < BOTH; k++) {
		UOp *packed = pack(all, w, k);
		add_buffer(w, packed, &slot);
		load[k] = with_gate(w, k, read_packed(w, k, packed, slot));
	}
	sum = sum_of_products(w, load[0], load[1]);
	for (int k = 0; k < BOTH; k++)
		if (w->s.factor[k].add) {
			UOp *beside = sum_beside(all, w, k, load[!k]);
			sum = NODE(OP_ADD, DT_I32, VNIL, sum, beside);
		}
	UOp *kernel = substitute(w->call->src[0], 1, &fold, &sum);
	return call_compact(call_with_kernel(w->call, kernel));
}

Graph *layout_swaps(Graph *g)
{
	Swaps all = {0};
	Swapped w;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		note_extents(&all, call);
		if (swap_of(&all, &w, call))
			call = swapped(&all, &w);
		if (call_prepares(call))
			vec_push(&all.before, call);
		else
			vec_push(&all.out, call);
	}
	for (size_t i = 0; i < all.out.n; i++)
		vec_push(&all.before, all.out.at[i]);
	Graph *r = graph_with_calls(g, all.before.n, all.before.at);
	map_free(&all.made);
	map_free(&all.extents);
	vec_free(&all.before);
	vec_free(&all.out);
	return r;
}
