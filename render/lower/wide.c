/* Neighbours that a work item of a GPU reads, or writes, one by one are moved together, through a
 * register of its own:
 *
 *     LET v0 = LOAD x[e]            DEFINE_REG t 4
 *     LET v1 = LOAD x[e+1]     →    RANGE r 4 vector; STORE t[r] LOAD x[e+r]; ENDRANGE
 *     …                             LET v0 = LOAD t[0]; LET v1 = LOAD t[1]; …
 *
 * e is a multiple of the number of elements that the target's row has in `access`: buffers begin at
 * such places, so that a language prints the loop as one access. All are in one list of LETs and
 * STOREs, under one gate or none; where that cannot be shown, they stay as they are. */
#include "index/ix.h"
#include "lower/lower.h"
#include "target/target.h"

enum { MOST = 16, MOST_IN_BLOCK = 256 };

/* An element that is read or written in statement `at`; its place is without LETs. */
typedef struct { UOp *node, *place; uint32_t at; bool taken; } Neighbour;
/* Accesses side by side; moved before statement `at`, or after it when they are stores. The first
 * one's place is in the LETs of that statement, by which its gate tells where it lies. */
typedef struct { UOp *node[MOST], *reg, *place; int n; uint32_t at; } Move;
typedef struct {
	const KernelUse *use;
	UOp *kernel;
	VEC(Neighbour) loads, stores;      /* of the block at hand */
	VEC(Move) moves;
	Map made, let;                  /* nodes of the block; LETs → what stands for them */
	int64_t ids;                    /* in use */
	int axis;                       /* the greatest of its ranges */
	VEC(UOp *) out;
} Wide;

static UOp *storage_of(const UOp *access) { return access->src[0]->src[0]; }
static UOp *gate_of(const UOp *u)
{
	uint32_t at = u->op == OP_STORE ? 2 : 1;
	return u->nsrc > at ? u->src[at] : NULL;
}

/* An element of a buffer that can be moved with others. */
static bool movable(const UOp *u)
{
	const UOp *storage = storage_of(u);
	return storage->op == OP_PARAM && storage->dtype != DT_BOOL && u->src[0]->nsrc == 2 &&
		dtype_lanes(u->src[0]->dtype) == 1 && u->arg->kind == VAL_NIL;
}

/* ---- what stands side by side */

static bool distance(const Neighbour *a, const Neighbour *b, int64_t *d)
{
	return ix_is_const(ix_sub(b->place, a->place), d);
}

static bool begins(const Neighbour *a, int64_t n)
{
	int64_t rest;
	return !ix_wild(a->place) && ix_is_const(ix_mod(a->place, ix_const(n)), &rest) && !rest;
}

/* The accesses of `all` that go on from number `first`; false unless there are n. */
static bool neighbours(Move *m, Neighbour *all, size_t count, size_t first, int n)
{
	UOp *u = all[first].node;
	int64_t d;
	*m = (Move){.n = n, .at = all[first].at, .place = u->src[0]->src[1]};
	for (size_t i = 0; i < count; i++) {
		Neighbour *a = &all[i];
		if (a->taken || storage_of(a->node) != storage_of(u) ||
			gate_of(a->node) != gate_of(u) || !distance(&all[first], a, &d) || d < 0 ||
			d >= n)
			continue;
		if (m->node[d])
			return false;
		m->node[d] = a->node;
		if (u->op == OP_STORE ? a->at > m->at : a->at < m->at) {
			m->at = a->at;
			m->place = ix_sub(a->node->src[0]->src[1], ix_const(d));
		}
	}
	for (int i = 0; i < n; i++)
		if (!m->node[i])
			return false;
	return true;
}

/* Nothing else in the block reads or writes the buffer other than at known other places. */
static bool undisturbed(const Wide *w, const Neighbour *a)
{
	const UOp *u = a->node;
	int64_t d;
	if (w->use->alias)
		return false;
	for (size_t i = 0; i < w->stores.n; i++) {
		const Neighbour *s = &w->stores.at[i];
		if (storage_of(s->node) == storage_of(u) &&
			(u->op == OP_LOAD || !distance(a, s, &d)))
			return false;
	}
	for (size_t i = 0; u->op == OP_STORE && i < w->loads.n; i++)
		if (storage_of(w->loads.at[i].node) == storage_of(u))
			return false;
	return true;
}

static void find_moves(Wide *w, Neighbour *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		UOp *u = all[i].node;
		if (all[i].taken || !movable(u) || !undisturbed(w, &all[i]))
			continue;
		Move m;
		for (int n = target->access / dtype_size(u->src[0]->dtype); n > 1; n /= 2) {
			if (n > MOST || !begins(&all[i], n) || !neighbours(&m, all, count, i, n))
				continue;
			for (size_t k = 0; k < count; k++)
				for (int j = 0; j < n; j++)
					all[k].taken |= all[k].node == m.node[j];
			m.reg = NODE(OP_DEFINE_REG, u->src[0]->dtype,
				VARR(val_int(w->ids++), val_int(n)));
			vec_push(&w->moves, m);
			break;
		}
	}
}

/* ---- the block written anew */

static UOp *element(UOp *reg, UOp *at) { return NODE(OP_INDEX, reg->dtype, VNIL, reg, at); }

static UOp *known(void *ctx, UOp *u)
{
	Wide *w = ctx;
	UOp *let = u->op == OP_LET ? map_get(&w->let, PKEY(u)) : NULL;
	if (let || u->op == OP_LET || !u->nsrc)
		return let ? let : u;
	return map_get(&w->made, PKEY(u));
}

static void made(void *ctx, UOp *u, UOp *const *src)
{
	Wide *w = ctx;
	map_put(&w->made, PKEY(u), node_with(u, src));
}

static UOp *remade(Wide *w, UOp *u)
{
	static const Remaking remaking = {known, made};
	return walk_remake(u, &remaking, w);
}

static UOp *store_of(UOp *to, UOp *value, UOp *gate)
{
	UOp *src[] = {to, value, gate};
	return node_new(OP_STORE, DT_NONE, gate ? 3 : 2, src, VNIL);
}

static void put_move(Wide *w, const Move *m)
{
	UOp *u = m->node[0], *r = ix_range(++w->axis, "vector", ix_const(m->n));
	UOp *gate = gate_of(u) ? remade(w, gate_of(u)) : NULL;
	UOp *there = NODE(OP_INDEX, m->reg->dtype, VNIL, storage_of(u),
		ix_add(remade(w, m->place), r));
	UOp *load[] = {u->op == OP_STORE ? element(m->reg, r) : there, gate};
	bool gated = gate && u->op == OP_LOAD;
	UOp *value = node_new(OP_LOAD, m->reg->dtype, 1 + gated, load, VNIL);
	for (int i = 0; gated && i < m->n; i++)
		vec_push(&w->out, store_of(element(m->reg, ix_const(i)),
			const_num(m->reg->dtype, 0), NULL));
	vec_push(&w->out, r);
	vec_push(&w->out, store_of(u->op == OP_STORE ? there : element(m->reg, r), value, gate));
	vec_push(&w->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, r));
}

/* The loads that are moved before statement `at`, and what stands for each. */
static void put_loads(Wide *w, uint32_t at)
{
	for (size_t i = 0; i < w->moves.n; i++) {
		const Move *m = &w->moves.at[i];
		if (m->at != at || m->node[0]->op != OP_LOAD)
			continue;
		vec_push(&w->out, m->reg);
		put_move(w, m);
		for (int k = 0; k < m->n; k++)
			map_put(&w->made, PKEY(m->node[k]), NODE(OP_LOAD, m->reg->dtype, VNIL,
				element(m->reg, ix_const(k))));
	}
}

/* A store that is moved later; returns whether this one is. */
static bool put_stored(Wide *w, UOp *s, uint32_t at)
{
	for (size_t i = 0; i < w->moves.n; i++) {
		Move *m = &w->moves.at[i];
		for (int k = 0; k < m->n; k++) {
			if (m->node[k] != s)
				continue;
			UOp *value = remade(w, s->src[1]);
			vec_push(&w->out, store_of(element(m->reg, ix_const(k)), value, NULL));
			if (at == m->at)
				put_move(w, m);
			return true;
		}
	}
	return false;
}

static void put(Wide *w, uint32_t at)
{
	UOp *s = w->kernel->src[at];
	if (s->op == OP_STORE && put_stored(w, s, at))
		return;
	if (s->op != OP_LET) {
		vec_push(&w->out, remade(w, s));
		return;
	}
	UOp *value = remade(w, s->src[0]);
	UOp *let = value == s->src[0] ? s : NODE(OP_LET, s->dtype, s->arg, value);
	map_put(&w->let, PKEY(s), let);
	vec_push(&w->out, let);
}

/* ---- blocks */

static void find_accesses(Wide *w, uint32_t at)
{
	UOp *s = w->kernel->src[at];
	VEC(UOp *) todo = {0};
	for (vec_push(&todo, s); todo.n;) {
		UOp *u = todo.at[--todo.n];
		if (u->op == OP_LOAD && storage_of(u)->op == OP_PARAM)
			vec_push(&w->loads,
				((Neighbour){u, ix_plain(u->src[0]->src[1]), at, false}));
		for (uint32_t i = 0; i < u->nsrc && (u == s || u->op != OP_LET); i++)
			if (!map_get(&w->made, PKEY(u->src[i]))) {
				map_put(&w->made, PKEY(u->src[i]), u);
				vec_push(&todo, u->src[i]);
			}
	}
	vec_free(&todo);
	if (s->op == OP_STORE && storage_of(s)->op == OP_PARAM)
		vec_push(&w->stores, ((Neighbour){s, ix_plain(s->src[0]->src[1]), at, false}));
}

static uint32_t block_end(const UOp *kernel, uint32_t i)
{
	while (i < kernel->nsrc &&
		(kernel->src[i]->op == OP_LET || kernel->src[i]->op == OP_STORE))
		i++;
	return i;
}

static void put_block(Wide *w, uint32_t first, uint32_t end)
{
	w->loads.n = w->stores.n = w->moves.n = 0;
	map_free(&w->made);
	for (uint32_t i = first; i < end; i++)
		find_accesses(w, i);
	map_free(&w->made);
	if (w->loads.n <= MOST_IN_BLOCK && w->stores.n <= MOST_IN_BLOCK) {
		find_moves(w, w->loads.at, w->loads.n);
		find_moves(w, w->stores.at, w->stores.n);
	}
	for (size_t i = 0; i < w->moves.n; i++)
		if (w->moves.at[i].node[0]->op == OP_STORE)
			vec_push(&w->out, w->moves.at[i].reg);
	for (uint32_t i = first; i < end; i++) {
		put_loads(w, i);
		put(w, i);
	}
}

static void find_ids(Wide *w)
{
	Nodes all = walk(w->kernel);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		int64_t id = statement_id(u);
		w->ids = id >= w->ids ? id + 1 : w->ids;
		if (u->op == OP_RANGE && range_axis(u) > w->axis)
			w->axis = range_axis(u);
	}
}

static UOp *kernel_wide(const KernelUse *use)
{
	Wide w = {.use = use, .kernel = use->kernel};
	UOp *r = use->kernel;
	find_ids(&w);
	for (uint32_t i = 0; i < r->nsrc;) {
		uint32_t end = block_end(r, i);
		if (end > i)
			put_block(&w, i, end);
		else
			put(&w, end++);
		i = end;
	}
	r = node_like(r, w.out.n, w.out.at, r->arg);
	map_free(&w.made);
	map_free(&w.let);
	vec_free(&w.loads);
	vec_free(&w.stores);
	vec_free(&w.moves);
	vec_free(&w.out);
	return r;
}

Graph *lower_wide(Graph *g) { return target->access ? kernels_map(g, kernel_wide) : g; }
