/* Smaller kernels of level loops, for reduce: fewer registers and less local memory, and values
 * without lanes. */
#include "hunt/hunt.h"

static bool is_memory(const UOp *u) { return u->op == OP_DEFINE_REG || u->op == OP_DEFINE_LOCAL; }

/* The memory of a LOAD or STORE; NULL: it is a buffer. */
static UOp *memory_of(const UOp *u)
{
	UOp *at = (u->op == OP_LOAD || u->op == OP_STORE) && u->src[0]->op == OP_INDEX ?
		u->src[0]->src[0] : NULL;
	return at && is_memory(at) ? at : NULL;
}

/* ---- one for two, of a chain that hands a value on */

typedef struct { UOp *from, *to; } Merge;

size_t count_memories(const Graph *g)
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		n += is_memory(all.at[i]);
	return n;
}

/* The one that stays is declared once. */
static UOp *with_one_memory(UOp *old, UOp *const *src, void *ctx)
{
	const Merge *m = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	size_t n = 0;

	if (old == m->from)
		return m->to;
	if (old->op != OP_KERNEL)
		return NULL;
	for (uint32_t i = 0; i < old->nsrc; i++)
		if (old->src[i] != m->from)
			left[n++] = src[i];
	return node_like(old, n, left, old->arg);
}

/* variant: for which of the others it goes. */
Graph *apply_one_memory(Graph *g, size_t from, size_t to, int variant)
{
	Nodes all = walk(g->sink);
	Merge m = {0};
	size_t k = 0;

	for (size_t i = 0; i < all.n; i++)
		if (is_memory(all.at[i]) && k++ == from)
			m.from = all.at[i];
	for (size_t i = 0; i < all.n && variant >= 0; i++)
		if (m.from && all.at[i] != m.from && all.at[i]->op == m.from->op &&
			all.at[i]->dtype == m.from->dtype && !variant--)
			m.to = all.at[i];
	return m.to && to == from + 1 ? graph_edit(g, with_one_memory, &m) : NULL;
}

/* ---- what was stored stands for what is loaded; what nobody loads is not stored */

typedef struct { UOp *load, *value; Map loaded; } Forward;

size_t count_memory_loads(const Graph *g)
{
	Nodes all = walk(g->sink);
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		n += all.at[i]->op == OP_LOAD && memory_of(all.at[i]);
	return n;
}

static UOp *with_stored(UOp *old, UOp *const *src, void *ctx)
{
	Forward *f = ctx;

	if (old == f->load)
		return f->value;
	if (old->op == OP_LOAD && memory_of(old))
		map_put(&f->loaded, PKEY(memory_of(old)), old);
	return NULL;
}

static UOp *without_unread(UOp *old, UOp *const *src, void *ctx)
{
	Forward *f = ctx;
	UOp **left = arena_alloc((old->nsrc + 1) * sizeof *left);
	size_t n = 0;

	if (old->op != OP_KERNEL)
		return NULL;
	for (uint32_t i = 0; i < old->nsrc; i++) {
		UOp *u = old->src[i], *memory = is_memory(u) ? u : memory_of(u);
		if (!memory || map_get(&f->loaded, PKEY(memory)))
			left[n++] = src[i];
	}
	return node_like(old, n, left, old->arg);
}

static bool is_within(const UOp *u, UOp *whole)
{
	Nodes all = walk(whole);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == u)
			return true;
	return false;
}

/* The value of a STORE in the dtype of a LOAD, which may be of its first lane; NULL: of another. */
static UOp *stored_as(UOp *value, const UOp *load)
{
	const Val *first = val_int(0);

	if (value->dtype == load->dtype)
		return value;
	return value->dtype != DT_NONE && dtype_element(value->dtype) == load->dtype ?
		NODE(OP_SHUFFLE, load->dtype, val_array(1, &first), value) : NULL;
}

/* variant: the value of which STORE. */
Graph *apply_stored(Graph *g, size_t from, size_t to, int variant)
{
	Nodes all = walk(g->sink);
	Forward f = {0};
	size_t k = 0;

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && memory_of(all.at[i]) && k++ == from)
			f.load = all.at[i];
	for (size_t i = 0; f.load && i < all.n; i++)
		if (all.at[i]->op == OP_STORE && memory_of(all.at[i]) == memory_of(f.load) &&
			!variant--)
			f.value = stored_as(all.at[i]->src[1], f.load);
	if (!f.value || to > from + 1 || is_within(f.load, f.value))
		return NULL;
	return graph_edit(graph_edit(g, with_stored, &f), without_unread, &f);
}

/* ---- values without lanes */

size_t count_lanes(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->dtype != DT_NONE && dtype_lanes(all.at[i]->dtype) > 1)
			return 1;
	return 0;
}

static UOp *first_lane(UOp *old, UOp *const *src, void *ctx)
{
	int64_t k;

	switch (old->op) {
	case OP_RAMP: case OP_BROADCAST: return src[0];
	case OP_SHUFFLE:
		k = old->arg->a[0]->i;
		return src[k < dtype_lanes(old->src[0]->dtype) ? 0 : 1];
	case OP_DEFINE_REG:
		return node_like(old, 0, NULL, val_array(2, old->arg->a));
	default: break;
	}
	return old->dtype == DT_NONE || dtype_lanes(old->dtype) == 1 ? NULL :
		node_new(old->op, dtype_element(old->dtype), old->nsrc, src, old->arg);
}

Graph *apply_one_lane(Graph *g, size_t from, size_t to, int variant)
{
	return graph_edit(g, first_lane, NULL);
}
