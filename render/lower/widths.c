/* Statements with more lanes than a register of the target holds, of whatever it computes, become
 * several of as many as it does:
 *
 *     LET v f32x32 = LOAD x[RAMP e 1]  →  LET v0 f32x16 = LOAD x[RAMP e 1]
 *                                         LET v1 f32x16 = LOAD x[RAMP e+16 1]
 *
 * What is shuffled stays whole, and so does a statement in which one of the values fits: the
 * others are as many registers as they need. Statements that LETs connect, or lanes of a
 * DEFINE_REG, have equal parts, or stay whole together. */
#include "index/index.h"
#include "lower/lower.h"
#include "target/target.h"
#include <stdlib.h>

typedef struct {
	Map let;                /* LETs that were split → their parts */
	Map whole;              /* LETs → theirs that stand whole */
	int part, lanes;        /* which one, and its lanes; 0: the whole statement */
	int64_t lets;
	VEC(UOp *) out;
} Widths;

static ARENA Stands stands;     /* of the part of a statement at hand */

static bool has_lanes(const UOp *u) { return dtype_lanes(u->dtype) > 1; }

/* ---- what stands for a value */

static UOp *lanes_from(UOp *a, UOp *b, int first, int n)
{
	UOp *src[] = {a, b};
	int64_t at[MOST_LANES];

	for (int i = 0; i < n; i++)
		at[i] = first + i;
	return node_new(OP_SHUFFLE, dtype_in_lanes(a->dtype, n), b ? 2 : 1, src, val_ints(n, at));
}

/* The parts of a LET side by side. */
static UOp *joined(UOp *const *part, int n)
{
	UOp *all[MOST_LANES];

	memcpy(all, part, n * sizeof *all);
	for (; n > 1; n /= 2)
		for (int i = 0; i < n / 2; i++)
			all[i] = lanes_from(all[2 * i], all[2 * i + 1], 0,
				2 * dtype_lanes(all[2 * i]->dtype));
	return all[0];
}

static UOp *let_of(Widths *w, UOp *u)
{
	UOp *const *part = map_get(&w->let, PKEY(u)), *whole = map_get(&w->whole, PKEY(u));

	if (part)
		return w->lanes ? part[w->part] :
			joined(part, dtype_lanes(u->dtype) / dtype_lanes(part[0]->dtype));
	whole = whole ? whole : u;
	return w->lanes && has_lanes(u) ? lanes_from(whole, NULL, w->part * w->lanes, w->lanes) :
		whole;
}

static UOp *part_of(Widths *w, UOp *u, UOp *const *src)
{
	int64_t first = (int64_t)w->part * w->lanes;
	UOp *base = src[0];

	if (u->op == OP_RAMP && base->dtype == DT_I64)
		base = ix_add(base, ix_const(first * u->arg->i));
	else if (u->op == OP_RAMP)
		base = NODE(OP_ADD, base->dtype, VNIL, base,
			const_int(base->dtype, first * u->arg->i));
	if (u->op == OP_RAMP)
		return NODE(OP_RAMP, dtype_in_lanes(u->dtype, w->lanes), u->arg, base);
	UOp *r = node_new(u->op, dtype_in_lanes(u->dtype, w->lanes), u->nsrc, src, u->arg);
	node_note(r, u->note);
	return r;
}

static UOp *known(void *ctx, UOp *u)
{
	Widths *w = ctx;
	if (u->op == OP_RANGE || !u->nsrc)
		return u;
	if (u->op == OP_LET)
		return let_of(w, u);
	return stands_for(&stands, u);
}

static void made(void *ctx, UOp *u, UOp *const *src)
{
	Widths *w = ctx;
	stands_put(&stands, u,
		w->lanes && has_lanes(u) ? part_of(w, u, src) : node_with(u, src));
}

static UOp *remade(Widths *w, UOp *root)
{
	static const Remaking remaking = {known, made};
	return walk_remake(root, &remaking, w);
}

/* Of its lanes in a register; 0: of a scalar, of places that are neighbours, which are in none, and
 * of masks, which have one of their own. */
static int register_bytes(const UOp *u)
{
	DType e = dtype_element(u->dtype);
	return !has_lanes(u) || u->op == OP_RAMP || e == DT_BOOL ? 0 :
		dtype_lanes(u->dtype) * dtype_size(e);
}

/* The lanes of the parts of a statement; 0: it stays whole. */
static int lanes_of_parts(UOp *s)
{
	VEC(UOp *) todo = {0};
	Map seen = {0};
	int lanes = dtype_lanes(s->op == OP_STORE ? s->src[0]->dtype : s->dtype), least = 16;
	bool whole = lanes == 1;

	for (vec_push(&todo, s); todo.n && !whole;) {
		UOp *u = todo.at[--todo.n];
		int bytes = register_bytes(u);
		whole = u->op == OP_SHUFFLE || (has_lanes(u) && dtype_lanes(u->dtype) != lanes);
		if (bytes && bytes / dtype_lanes(u->dtype) < least)
			least = bytes / dtype_lanes(u->dtype);
		for (uint32_t i = 0; i < u->nsrc && (u == s || u->op != OP_LET); i++)
			if (!map_get(&seen, PKEY(u->src[i]))) {
				map_put(&seen, PKEY(u->src[i]), u);
				vec_push(&todo, u->src[i]);
			}
	}
	vec_free(&todo);
	map_free(&seen);
	if (whole || least * lanes <= target->vector || least > 8 || target->vector < 2 * least)
		return 0;
	return target->vector / least;
}

/* ---- which statements are split alike */

typedef struct {
	uint32_t *parent;       /* by statement: another one of its group, or itself */
	int *lanes;             /* of its parts; in the end those of its group */
	Map stands;             /* LET → 1 + its statement */
	Map touches;            /* DEFINE_REG, lanes → 1 + the first statement that has those */
} Groups;

static uint32_t group_of(Groups *g, uint32_t i)
{
	while (g->parent[i] != i)
		i = g->parent[i] = g->parent[g->parent[i]];
	return i;
}

/* The group of a and b; one that stays whole keeps the other so. */
static void join(Groups *g, uint32_t a, uint32_t b)
{
	a = group_of(g, a);
	b = group_of(g, b);
	int x = g->lanes[a], y = g->lanes[b];
	g->parent[b] = a;
	g->lanes[a] = !x || !y ? 0 : x > y ? x : y;
}

static void join_register(Groups *g, const UOp *index, uint32_t at)
{
	uint64_t key = hash_mix(PKEY(index->src[0]), dtype_lanes(index->dtype));
	uintptr_t first = (uintptr_t)map_get(&g->touches, key);

	if (first)
		join(g, at, (uint32_t)first - 1);
	else
		map_put(&g->touches, key, (void *)(uintptr_t)(at + 1));
}

static void join_named(Groups *g, UOp *s, uint32_t at)
{
	VEC(UOp *) todo = {0};
	Map seen = {0};

	for (vec_push(&todo, s); todo.n;) {
		UOp *u = todo.at[--todo.n];
		uintptr_t let = u->op == OP_LET && u != s ?
			(uintptr_t)map_get(&g->stands, PKEY(u)) : 0;
		if (let && has_lanes(u))
			join(g, at, (uint32_t)let - 1);
		if (u->op == OP_INDEX && has_lanes(u) && u->src[0]->op == OP_DEFINE_REG)
			join_register(g, u, at);
		for (uint32_t i = 0; i < u->nsrc && (u == s || u->op != OP_LET); i++)
			if (!map_get(&seen, PKEY(u->src[i]))) {
				map_put(&seen, PKEY(u->src[i]), u);
				vec_push(&todo, u->src[i]);
			}
	}
	vec_free(&todo);
	map_free(&seen);
}

/* The lanes of each statement's parts. */
static int *find_parts(UOp *kernel)
{
	Groups g = {arena_alloc(kernel->nsrc * sizeof *g.parent),
		arena_alloc(kernel->nsrc * sizeof *g.lanes), {0}, {0}};
	int *lanes = arena_alloc(kernel->nsrc * sizeof *lanes);

	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *s = kernel->src[i];
		bool value = s->op == OP_LET || s->op == OP_STORE;
		g.parent[i] = i;
		g.lanes[i] = value ? lanes_of_parts(s) : 0;
		if (s->op == OP_LET)
			map_put(&g.stands, PKEY(s), (void *)(uintptr_t)(i + 1));
		if (s->op != OP_RANGE && s->op != OP_ENDRANGE && s->op != OP_ENDIF)
			join_named(&g, s, i);
	}
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		lanes[i] = g.lanes[group_of(&g, i)];
	map_free(&g.stands);
	map_free(&g.touches);
	return lanes;
}

/* ---- statements of the new list */

static UOp *statement(Widths *w, UOp *s, bool named)
{
	UOp *src[3] = {NULL};

	table_round(&stands);
	for (uint32_t i = 0; i < s->nsrc; i++)
		src[i] = remade(w, s->src[i]);
	if (s->op == OP_LET && named)
		return NODE(OP_LET, src[0]->dtype, val_int(++w->lets), src[0]);
	return node_with(s, src);
}

static void put_parts(Widths *w, UOp *s, int lanes)
{
	int n = dtype_lanes(s->op == OP_STORE ? s->src[0]->dtype : s->dtype) / lanes;
	UOp **part = arena_alloc(n * sizeof *part);

	w->lanes = lanes;
	for (w->part = 0; w->part < n; w->part++) {
		part[w->part] = statement(w, s, true);
		vec_push(&w->out, part[w->part]);
	}
	w->lanes = w->part = 0;
	if (s->op == OP_LET)
		map_put(&w->let, PKEY(s), part);
}

static void put_whole(Widths *w, UOp *s)
{
	UOp *r = s->op == OP_LET || s->op == OP_STORE ? statement(w, s, false) : s;

	if (s->op == OP_LET && r != s)
		map_put(&w->whole, PKEY(s), r);
	vec_push(&w->out, r);
}

/* Whether any value takes more than a register. */
static bool any_wide(const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (register_bytes(all->at[i]) > target->vector)
			return true;
	return false;
}

UOp *kernel_widths(UOp *kernel)
{
	Widths w = {0};
	Nodes all = walk(kernel);
	int *parts;
	UOp *r = kernel;

	if (!any_wide(&all))
		return kernel;
	parts = find_parts(kernel);
	w.lets = last_let(&all);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *s = kernel->src[i];
		if (parts[i])
			put_parts(&w, s, parts[i]);
		else
			put_whole(&w, s);
	}
	r = node_like(kernel, w.out.n, w.out.at, kernel->arg);
	map_free(&w.let);
	map_free(&w.whole);
	vec_free(&w.out);
	return r;
}
