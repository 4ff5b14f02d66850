/* Accumulators as a compiler keeps them in registers, where it often does not keep arrays: for a
 * target with vectors a DEFINE_REG whose places are all known becomes one for each vector, as wide
 * as its widest access, or for each element where no access has lanes:
 *
 *     DEFINE_REG f32 [0, 16]           DEFINE_REG f32 [2, 8, "vector"], f32 [3, 8, "vector"]
 *     STORE acc0[RAMP 8 1] …      →    STORE acc3[RAMP 0 1] …
 *     f32x4 LOAD acc0[RAMP 12 1]       SHUFFLE [4, 5, 6, 7] (f32x8 LOAD acc3[RAMP 0 1])
 *     STORE acc0[9] …                  STORE acc3[1] … */
#include "index/index.h"
#include "lower/lower.h"
#include "target/target.h"

enum { MOST_REGISTERS = 256 };

/* A DEFINE_REG; by_lane: some store is of one lane of several */
typedef struct { bool array, by_lane; int lanes; UOp **part; } Split;
typedef struct {
	Map split;              /* DEFINE_REG → Split */
	Map let;                /* LETs → those of the new list */
	int64_t ids;
	VEC(UOp *) out;
} Registers;

static ARENA Stands made;       /* in the statement at hand */

static Split *split_of(const Registers *w, const UOp *storage)
{
	return map_get(&w->split, PKEY(storage));
}

static int64_t elements(const UOp *reg)
{
	return reg->arg->a[1]->kind == VAL_INT ? reg->arg->a[1]->i : 0;
}

/* The first element of a place in a register; false when it is no number, or the lanes are not
 * side by side from a multiple of theirs on. */
static bool known_place(const UOp *index, int64_t *k)
{
	int n = dtype_lanes(index->dtype);
	const UOp *place = index->nsrc == 2 ? index->src[1] : NULL;

	if (!place || (n > 1 && (place->op != OP_RAMP || place->arg->i != 1)))
		return false;
	return ix_is_const(n > 1 ? place->src[0] : place, k) && *k >= 0 && *k % n == 0 &&
		*k + n <= elements(index->src[0]);
}

/* ---- which registers */

/* The register into which u reaches; NULL: it is none that may be split. */
static Split *reached(const Registers *w, const UOp *u)
{
	const UOp *index = u->nsrc ? u->src[0] : u;
	return index->op == OP_INDEX && index->nsrc ? split_of(w, index->src[0]) : NULL;
}

static void note_access(Split *s, const UOp *u)
{
	const UOp *index = u->src[0];
	int n = dtype_lanes(index->dtype);
	int64_t k;

	s->array |= (u->op != OP_LOAD && u->op != OP_STORE) || !known_place(index, &k);
	s->lanes = n > s->lanes ? n : s->lanes;
}

/* The same once its lanes are known: part of them is loaded without a gate, or is one lane. */
static void note_part(Split *s, const UOp *u)
{
	int n = dtype_lanes(u->src[0]->dtype);
	bool store = u->op == OP_STORE;

	s->array |= n > 1 && n < s->lanes && (store || u->nsrc > 1);
	s->by_lane |= store && n == 1 && s->lanes > 1;
}

/* Finds those that are split; returns whether there are any. */
static bool find_splits(Registers *w, const Nodes *all)
{
	bool any = false;

	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		Split *s;
		if (u->op == OP_DEFINE_REG && elements(u) > 1 && u->arg->n == 2) {
			s = arena_alloc(sizeof *s);
			*s = (Split){.lanes = 1};
			map_put(&w->split, PKEY(u), s);
		} else if ((s = reached(w, u))) {
			note_access(s, u);
		}
		if (statement_id(u) > w->ids)
			w->ids = statement_id(u);
	}
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		Split *s = u->op == OP_DEFINE_REG ? split_of(w, u) : reached(w, u);
		if (!s)
			continue;
		if (u->op == OP_DEFINE_REG)
			s->array |= elements(u) > MOST_REGISTERS * (int64_t)s->lanes;
		else
			note_part(s, u);
		any |= !s->array;
	}
	return any;
}

/* ---- what becomes of their places */

/* All lanes of a register, or one of them. */
static UOp *place_in(UOp *part, int lanes, int64_t lane)
{
	UOp *place = lanes == 1 ? ix_const(lane) :
		NODE(OP_RAMP, dtype_in_lanes(DT_I64, lanes), val_int(1), ix_const(0));
	return NODE(OP_INDEX, dtype_in_lanes(part->dtype, lanes), VNIL, part, place);
}

static UOp *place_of(const Registers *w, UOp *index)
{
	Split *s = split_of(w, index->src[0]);
	int64_t k = 0;

	known_place(index, &k);
	return place_in(s->part[k / s->lanes], dtype_lanes(index->dtype) == 1 ? 1 : s->lanes,
		k % s->lanes);
}

/* a LOAD of part of a register, from the LOAD of all of it */
static UOp *part_of(UOp *whole, const UOp *index)
{
	int lanes = dtype_lanes(whole->dtype), n = dtype_lanes(index->dtype);
	int64_t k = 0, at[MOST_LANES];

	known_place(index, &k);
	for (int i = 0; i < n; i++)
		at[i] = k % lanes + i;
	return NODE(OP_SHUFFLE, index->dtype, val_ints(n, at), whole);
}

static bool is_split(const Registers *w, const UOp *index)
{
	const Split *s = index->op == OP_INDEX ? split_of(w, index->src[0]) : NULL;
	return s && !s->array;
}

static UOp *known(void *ctx, UOp *u)
{
	Registers *w = ctx;
	UOp *let = u->op == OP_LET ? map_get(&w->let, PKEY(u)) : NULL;
	return let ? let : u->op == OP_LET || u->op == OP_RANGE || !u->nsrc ? u :
									 stands_for(&made, u);
}

static void make(void *ctx, UOp *u, UOp *const *src)
{
	Registers *w = ctx;
	UOp *r = is_split(w, u) ? place_of(w, u) : NULL;

	if (u->op == OP_LOAD && is_split(w, u->src[0]) && src[0]->dtype != u->dtype)
		r = part_of(NODE(OP_LOAD, src[0]->dtype, u->arg, src[0]), u->src[0]);
	stands_put(&made, u, r ? r : node_with(u, src));
}

/* ---- statements */

/* Lanes that are stored one by one begin as zeros: what is read is a whole register. */
static void define(Registers *w, UOp *reg, Split *s)
{
	int64_t n = (elements(reg) + s->lanes - 1) / s->lanes;
	DType d = dtype_in_lanes(reg->dtype, s->lanes);

	s->part = arena_alloc(n * sizeof *s->part);
	for (int64_t i = 0; i < n; i++) {
		const Val *arg[] = {val_int(++w->ids), val_int(s->lanes), val_str("vector")};
		UOp *part = LEAF(OP_DEFINE_REG, reg->dtype, val_array(s->lanes > 1 ? 3 : 2, arg));
		s->part[i] = part;
		node_note(part, reg->note);
		vec_push(&w->out, part);
		if (s->by_lane)
			vec_push(&w->out, NODE(OP_STORE, DT_NONE, VNIL, place_in(part, s->lanes, 0),
				NODE(OP_BROADCAST, d, VNIL, const_num(reg->dtype, 0))));
	}
}

static void put_statement(Registers *w, UOp *u)
{
	static const Remaking remaking = {known, make};
	UOp *src[3], *r;
	Split *s = u->op == OP_DEFINE_REG ? split_of(w, u) : NULL;

	if (s && !s->array) {
		define(w, u, s);
		return;
	}
	table_round(&made);
	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = walk_remake(u->src[i], &remaking, w);
	r = u->op == OP_RANGE || !u->nsrc ? u : node_with(u, src);
	if (u->op == OP_LET)
		map_put(&w->let, PKEY(u), r);
	vec_push(&w->out, r);
}

static UOp *kernel_registers(const KernelUse *use)
{
	Registers w = {0};
	UOp *r = use->kernel;
	Nodes all = walk(r);

	if (find_splits(&w, &all)) {
		for (uint32_t i = 0; i < r->nsrc; i++)
			put_statement(&w, r->src[i]);
		r = node_like(r, w.out.n, w.out.at, r->arg);
	}
	map_free(&w.split);
	map_free(&w.let);
	vec_free(&w.out);
	return r;
}

Graph *lower_registers(Graph *g) { return target->vectors ? kernels_map(g, kernel_registers) : g; }
