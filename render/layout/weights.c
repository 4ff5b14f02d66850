/* Constants of contractions in the order in which a kernel reads them, copied once:
 *
 *     y[m,n] = Σk x[m,k]*w[k,n]    w [512,1000]  →  w' [21,512,48]: panels of 48 columns, each read
 *                                   sequentially; the last one begins early
 *     y[b,h,c] = Σ x[…]*w[c,k,…]    c contiguous in y  →  w' [blocks,k,…,c]
 *
 * The copy is a kernel that reads only constants, so it runs once. A large table that is looked up
 * by index as well (an embedding whose words are also scored) is looked up in the copy, or both
 * would stay in memory. */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"
#include <stdlib.h>

enum { WORTH = 64 };

/* One constant operand being copied: the ranges that move it, in their new order. */
typedef struct {
	Roles *r;
	UOp *call;
	UOp *order[MAX_RANGES];
	int n;
	UOp *vector;            /* the output range along which stores are contiguous */
	int64_t width;          /* of a panel; 0: the whole range */
} Repack;

/* A table and its copy: the copy's axes by number in the table, the last one in panels. */
typedef struct { UOp *from, *packed; int axis[MAX_RANGES], n; int64_t width, columns; } PackedTable;

typedef struct {
	Map made;
	VEC(UOp *) packs, out;
	VEC(PackedTable) tables;
	int count;
} PackedWeights;

/* ---- whether, and in what order */

/* Rows that share a panel call for three vectors, a single row for one long stream. */
static int vectors_wanted(const Repack *p)
{
	return count_of(&p->r->facts, ranges_with(p->r, ROLE_ROW)) >= 4 ? 3 : 4;
}

/* The width that wastes least: the last panel repeats columns of the one before it. */
static int64_t panel_width(int64_t n, int lanes, int vectors)
{
	int64_t best = 0;
	double least = 0;
	for (int v = vectors; v > 0; v--) {
		int64_t w = (int64_t)v * lanes;
		double cost = (double)((n + w - 1) / w * w) * (1 + 0.04 * (vectors - v));
		if (w <= n && (!best || cost < least)) {
			best = w;
			least = cost;
		}
	}
	return best;
}

/* Is the constant read in this order already? */
static bool in_order(const Repack *p)
{
	int64_t want = 1, step;
	UOp *flat = flat_place(p->r->c.w->src[0]);
	if (p->width)
		return false;
	for (int i = p->n; i-- > 0;) {
		if (!place_step(flat, p->order[i], &step) || step != want)
			return false;
		want *= range_size(p->order[i]);
	}
	return true;
}

static bool plain(const Repack *p)
{
	uint64_t set = 0;
	int64_t n = 1;
	for (int i = 0; i < p->n; i++) {
		set |= bit_of(p->order[i]);
		if (range_size(p->order[i]) < 1 || !mul_ok(n, range_size(p->order[i]), &n) ||
			n > 1 << 30)
			return false;
	}
	return n >= WORTH && p->r->c.w->nsrc == 1 && set == free_of(p->r->c.w->src[0]);
}

static bool repack_find(Repack *p, Roles *r, UOp *call)
{
	*p = (Repack){.r = r, .call = call, .vector = stored_along(&r->facts)};
	UOp *w = r->c.w->src[0], *buffer = place_buffer(call, w);
	uint64_t free = free_of(w), v = p->vector ? bit_of(p->vector) : 0;
	if (!is_constant(buffer) || !(free & v) || r->facts.serial)
		return false;
	p->n = ranges_of(&r->facts, free & r->facts.out & ~v, p->order);
	p->n += ranges_of(&r->facts, free & bound_of(r->c.fold), p->order + p->n);
	p->order[p->n++] = p->vector;
	int element = (int)dtype_size(r->c.fold->dtype);
	int lanes = target->vector / (element < 4 ? 4 : element);
	lanes = lanes < 1 ? 1 : lanes;
	int64_t size = range_size(p->vector);
	if (size > 2 * lanes)
		p->width = panel_width(size, lanes, vectors_wanted(p));
	/* a range that is reduced elsewhere in the kernel cannot become an expression of two */
	if (p->width == size || (p->width && size % p->width && r->facts.in_place) ||
			(v & r->facts.reduced))
		p->width = 0;
	return plain(p) && !in_order(p);
}

/* ---- the copy */

/* The first of the n columns in panel `number`. */
static UOp *panel_first(UOp *number, int64_t n, int64_t width)
{
	UOp *first = ix_mul(number, ix_const(width));
	return n % width ? NODE(OP_MIN, DT_I64, VNIL, first, ix_const(n - width)) : first;
}

/* The element `at` of panel `number`, as one of n. */
static UOp *panel_place(const Repack *p, UOp *number, UOp *at)
{
	return ix_add(panel_first(number, range_size(p->vector), p->width), at);
}

static int64_t panels(const Repack *p)
{
	return (range_size(p->vector) + p->width - 1) / p->width;
}

/* A kernel that copies the constant to the buffer: its loops are the new axes. */
static UOp *copy_kernel(const Repack *p, const UOp *to_buffer)
{
	const Shape *shape = to_buffer->shape;
	UOp *from[MAX_RANGES], *to[MAX_RANGES], *at[MAX_RANGES + 1], *loop[MAX_RANGES + 1];
	int first = p->width ? 1 : 0;
	for (int i = 0; i < shape->rank; i++)
		loop[i] = ix_range(i, "loop", shape->dim[i]);
	for (int i = 0; i < p->n; i++) {
		from[i] = p->order[i];
		to[i] = i + 1 == p->n && p->width ? panel_place(p, loop[0], loop[i + first]) :
						    loop[i + first];
	}
	at[0] = param_new(0, to_buffer);
	for (int i = 0; i < shape->rank; i++)
		at[1 + i] = loop[i];
	UOp *w = p->r->c.w->src[0];
	UOp *param = param_moved(w->src[0], 1);
	UOp *load = substitute(p->r->c.w, p->n, from, to);
	load = substitute(load, 1, &w->src[0], &param);
	UOp *place = node_new(OP_INDEX, w->dtype, 1 + shape->rank, at, VNIL);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place, load);
	return NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str("pack")), store);
}

static const Shape *packed_shape(const Repack *p)
{
	UOp *dim[MAX_RANGES + 1];
	int n = 0;
	if (p->width)
		dim[n++] = ix_const(panels(p));
	for (int i = 0; i < p->n; i++)
		dim[n++] = i + 1 == p->n && p->width ? ix_const(p->width) : p->order[i]->src[0];
	return n <= 16 ? shape_new(n, dim) : NULL;
}

static UOp *packed_buffer(PackedWeights *w, const Repack *p, const Shape *shape)
{
	UOp *from = place_buffer(p->call, p->r->c.w->src[0]);
	const char *name = arena_printf("%.200s.packed%d", buffer_name(from), w->count);
	UOp *b = buffer_of(name, "prepared", from->dtype, shape), *kernel = copy_kernel(p, b);
	uint64_t key = hash_mix(kernel->id, from->id);
	UOp *made = map_get(&w->made, key);
	if (made)
		return made;
	vec_push(&w->packs, NODE(OP_CALL, DT_NONE, VNIL, kernel, b, from));
	map_put(&w->made, key, b);
	w->count++;
	return b;
}

/* ---- the kernel that reads it */

/* The call with the packed buffer after its others, and the vector's range in panels. */
static UOp *read_packed(const Repack *p, UOp *buffer)
{
	const Facts *f = &p->r->facts;
	int slot = (int)p->call->nsrc - 1, n = 1;
	UOp *at[MAX_RANGES + 2], *number = NULL, *lane = p->vector;
	if (p->width) {
		number = ix_range(range_axis(p->vector), "loop", ix_const(panels(p)));
		lane = ix_range(last_axis(f) + 1, "loop", ix_const(p->width));
		at[n++] = number;
	}
	at[0] = param_new(slot, buffer);
	for (int i = 0; i < p->n; i++)
		at[n++] = p->order[i] == p->vector ? lane : p->order[i];
	UOp *w = p->r->c.w;
	UOp *load = NODE(OP_LOAD, w->dtype, VNIL, node_new(OP_INDEX, w->dtype, n, at, VNIL));
	UOp *kernel = substitute(f->kernel, 1, &w, &load);
	if (p->width) {
		UOp *whole = panel_place(p, number, lane);
		kernel = substitute(kernel, 1, (UOp *[]){p->vector}, &whole);
	}
	return call_compact(call_with_buffer(p->call, kernel, buffer));
}

/* ---- tables that are also looked up */

/* Remembers the copy of a constant each of whose axes is a range, if it is large and a lookup in
 * the copy costs little more. */
static void keep_table(PackedWeights *w, const Repack *p, UOp *packed)
{
	/* more than the second cache holds, in rows of more than a page */
	int64_t elements = target->machine.cache[1] / 4, columns_least = target->machine.page / 4;
	const UOp *place = p->r->c.w->src[0];
	int64_t columns = range_size(p->vector);
	PackedTable t = {place_buffer(p->call, place), packed, {0}, p->n, p->width, columns};
	int64_t count;
	if (!p->width || t.columns < columns_least || (int)place->nsrc != 1 + p->n ||
		!shape_static(packed->shape, &count) || count < elements)
		return;
	for (int i = 0; i < p->n; i++) {
		while (t.axis[i] < p->n && place->src[1 + t.axis[i]] != p->order[i])
			t.axis[i]++;
		if (t.axis[i] == p->n)
			return;
	}
	vec_push(&w->tables, t);
}

static bool is_lookup(const UOp *load, const UOp *call, const UOp *table)
{
	if (load->op != OP_LOAD || load->src[0]->op != OP_INDEX ||
		load->src[0]->src[0]->op != OP_PARAM || place_buffer(call, load->src[0]) != table)
		return false;
	Nodes all = walk(load->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			return true;
	return false;
}

/* The same element of the copy. */
static UOp *looked_up(UOp *load, const PackedTable *t, int slot)
{
	UOp *const *of = load->src[0]->src + 1, *at[MAX_RANGES + 2];
	UOp *column = of[t->axis[t->n - 1]], *number = ix_div(column, ix_const(t->width));
	at[0] = param_new(slot, t->packed);
	at[1] = number;
	for (int i = 0; i + 1 < t->n; i++)
		at[2 + i] = of[t->axis[i]];
	at[1 + t->n] = ix_sub(column, panel_first(number, t->columns, t->width));
	UOp *place = node_new(OP_INDEX, load->dtype, 2 + t->n, at, VNIL);
	return load->nsrc > 1 ? NODE(OP_LOAD, load->dtype, VNIL, place, load->src[1]) :
		NODE(OP_LOAD, load->dtype, VNIL, place);
}

static UOp *look_up_in_copy(UOp *call, const PackedTable *t)
{
	Nodes all = walk(call->src[0]);
	VEC(UOp *) from = {0};
	VEC(UOp *) to = {0};
	for (size_t i = 0; call->op == OP_CALL && i < all.n; i++)
		if (is_lookup(all.at[i], call, t->from)) {
			vec_push(&from, all.at[i]);
			vec_push(&to, looked_up(all.at[i], t, (int)call->nsrc - 1));
		}
	if (from.n) {
		explain(call->src[0], "%s is looked up in its panels", buffer_name(t->from));
		UOp *kernel = substitute(call->src[0], from.n, from.at, to.at);
		call = call_compact(call_with_buffer(call, kernel, t->packed));
	}
	vec_free(&from);
	vec_free(&to);
	return call;
}

/* ---- the pass */

static UOp *repack(PackedWeights *w, UOp *call)
{
	Roles r;
	Repack p;
	if (!roles_find(&r, call) || !repack_find(&p, &r, call))
		return call;
	const Shape *shape = packed_shape(&p);
	if (!shape || last_axis(&r.facts) >= 62)
		return call;
	explain(call->src[0], "%s is packed in panels of %lld",
		buffer_name(place_buffer(call, r.c.w->src[0])),
		(long long)(p.width ? p.width : range_size(p.vector)));
	UOp *packed = packed_buffer(w, &p, shape);
	keep_table(w, &p, packed);
	return read_packed(&p, packed);
}

Graph *layout_weights(Graph *g)
{
	PackedWeights w = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (call_prepares(call))
			vec_push(&w.packs, call);
		else
			vec_push(&w.out, (call = repack(&w, call)));
	}
	largest_first(w.packs.n, w.packs.at);
	for (size_t i = 0; i < w.out.n; i++) {
		UOp *call = w.out.at[i];
		for (size_t t = 0; t < w.tables.n; t++)
			call = look_up_in_copy(call, &w.tables.at[t]);
		vec_push(&w.packs, call);
	}
	Graph *r = graph_with_calls(g, w.packs.n, w.packs.at);
	map_free(&w.made);
	vec_free(&w.packs);
	vec_free(&w.out);
	vec_free(&w.tables);
	return r;
}
