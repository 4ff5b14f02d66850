/* Loops of kind vector become statements on values with lanes:
 *
 *     RANGE r 16 vector
 *       LET v = LOAD b[k*64 + r]          LET v f32x16 = LOAD b[RAMP k*64 1]
 *       STORE acc[r] acc[r] + a * v   →   STORE acc[RAMP 0 1] acc[RAMP 0 1] + BROADCAST a * v
 *     ENDRANGE
 *
 * What is the same in all lanes stays a scalar, and is broadcast where a value with lanes is made
 * of it. A loop whose body is no list of such statements stays one: a store to one place from all
 * lanes. */
#include "index/ix.h"
#include "lower/lower.h"
#include "target/target.h"
#include <stdlib.h>

typedef struct {
	UOp *kernel, *range;    /* range: of the loop at hand */
	int lanes;
	UOp *gate;              /* of the store at hand, when it has lanes; else NULL */
	bool failed;
	int64_t lets;           /* the number of the last LET */
	VEC(UOp *) out;
} Lanes;

/* What nodes of the loop at hand become, its LETs what they are outside of it; under a gate with
 * lanes. */
static ARENA Stands made, gated;

static bool has_lanes(const UOp *u) { return dtype_lanes(u->dtype) > 1; }
static DType in_lanes(const Lanes *w, DType d) { return dtype_in_lanes(d, w->lanes); }

static UOp *broadcast(const Lanes *w, UOp *u)
{
	return has_lanes(u) ? u : NODE(OP_BROADCAST, in_lanes(w, u->dtype), VNIL, u);
}

static UOp *ramp(const Lanes *w, UOp *base, int64_t step)
{
	return NODE(OP_RAMP, in_lanes(w, base->dtype), val_int(step), base);
}

/* ---- places: base + lane * step */

/* A value as a ramp; what is the same in all lanes has the step 0. */
static bool as_ramp(UOp *u, UOp **base, int64_t *step)
{
	bool is = u->op == OP_RAMP;
	*base = is ? u->src[0] : u;
	*step = is ? u->arg->i : 0;
	return is || !has_lanes(u);
}

static UOp *ramp_or_same(const Lanes *w, UOp *base, int64_t step)
{
	return step ? ramp(w, base, step) : base;
}

/* u, of sources of which one is a ramp or both are, as a ramp; NULL: it is none */
static UOp *ramp_of(const Lanes *w, const UOp *u, UOp *const *src)
{
	UOp *a, *b;
	int64_t s, t, k;

	if (u->dtype != DT_I64 || u->nsrc != 2 || !as_ramp(src[0], &a, &s) ||
		!as_ramp(src[1], &b, &t))
		return NULL;
	if (u->op == OP_ADD && add_ok(s, t, &k))
		return ramp_or_same(w, ix_add(a, b), k);
	if (u->op == OP_SUB && t != INT64_MIN && add_ok(s, -t, &k))
		return ramp_or_same(w, ix_sub(a, b), k);
	if (u->op == OP_MUL && ix_is_const(s ? b : a, &k) && mul_ok(s ? s : t, k, &k) && !(s && t))
		return ramp_or_same(w, ix_mul(a, b), k);
	return NULL;
}

/* ---- comparisons of places */

enum { SMALL = 1 << 30, LONGEST_STEP = 1 << 20 };

/* A number that a step of a lane is compared with: none is further away than SMALL. */
static UOp *limit(UOp *x)
{
	int64_t lo, hi;

	ix_bounds(x, &lo, &hi);
	if (lo < -SMALL)
		x = NODE(OP_MAX, DT_I64, VNIL, x, ix_const(-SMALL));
	if (hi > SMALL)
		x = NODE(OP_MIN, DT_I64, VNIL, x, ix_const(SMALL));
	return is_const(x) ? const_int(DT_I32, (ix_is_const(x, &lo), lo)) :
		NODE(OP_CAST, DT_I32, VNIL, x);
}

/* Only the steps of the lanes vary, and those fit an i32:
 *
 *     r0*16 + lane < 61   →   RAMP 0 1 < BROADCAST 61 - r0*16 */
static UOp *place_compare(const Lanes *w, const UOp *u, UOp *const *src)
{
	UOp *a, *b, *x, *y;
	int64_t s, t, step;

	if (u->src[0]->dtype != DT_I64 || ix_wild(u->src[0]) || ix_wild(u->src[1]) ||
		!as_ramp(src[0], &a, &s) || !as_ramp(src[1], &b, &t) || (s && t))
		return NULL;
	step = s ? s : t;
	if (step > LONGEST_STEP || step < -LONGEST_STEP)
		return NULL;
	x = ramp(w, const_int(DT_I32, 0), step);
	y = broadcast(w, limit(s ? ix_sub(b, a) : ix_sub(a, b)));
	return NODE(u->op, in_lanes(w, DT_BOOL), VNIL, s ? x : y, s ? y : x);
}

/* ---- values */

/* Whether a place may be loaded whatever the gate says. */
static bool is_register(const UOp *index) { return index->src[0]->op == OP_DEFINE_REG; }

/* A gate that differs between lanes makes it a load of each: of one place, again and again. A store
 * with such a gate computes its value in all lanes, so its loads get the gate too. */
static UOp *load(Lanes *w, UOp *u, UOp *const *src)
{
	UOp *index = src[0], *gate = u->nsrc > 1 ? src[1] : NULL, *all[2];

	if (w->gate && !is_register(index))
		gate = !gate || gate == w->gate ? w->gate :
			NODE(OP_AND, w->gate->dtype, VNIL, broadcast(w, gate), w->gate);
	if (gate && has_lanes(gate) && !has_lanes(index))
		index = NODE(OP_INDEX, in_lanes(w, index->dtype), VNIL, index->src[0],
			broadcast(w, index->src[1]));
	all[0] = index;
	all[1] = gate;
	return node_new(OP_LOAD, index->dtype, gate ? 2 : 1, all, u->arg);
}

static UOp *elementwise(const Lanes *w, UOp *u, UOp *const *src)
{
	UOp *all[3], *r;

	for (uint32_t i = 0; i < u->nsrc; i++)
		all[i] = u->op == OP_WHERE && i == 0 ? src[i] : broadcast(w, src[i]);
	r = node_new(u->op, in_lanes(w, u->dtype), u->nsrc, all, u->arg);
	node_note(r, u->note);
	return r;
}

static UOp *with_lanes(Lanes *w, UOp *u, UOp *const *src)
{
	UOp *r = NULL;

	if (u->op == OP_LOAD)
		return load(w, u, src);
	if (u->op == OP_INDEX)
		return node_new(OP_INDEX, in_lanes(w, u->dtype), u->nsrc, src, u->arg);
	if (!op_elementwise(u->op)) {
		w->failed = true;
		return u;
	}
	if (op_info[u->op].cls == CLASS_COMPARE)
		r = place_compare(w, u, src);
	if (!r)
		r = ramp_of(w, u, src);
	return r ? r : elementwise(w, u, src);
}

static UOp *made_of(Lanes *w, UOp *u, UOp *const *src)
{
	bool any = false;

	if (u == w->range)
		return ramp(w, ix_const(0), 1);
	for (uint32_t i = 0; i < u->nsrc; i++)
		any |= has_lanes(src[i]);
	any |= u->op == OP_LOAD && w->gate && !is_register(src[0]);
	return any ? with_lanes(w, u, src) : node_with(u, src);
}

/* What stands for a node, or NULL while it is not known. */
static UOp *known(void *ctx, UOp *u)
{
	Lanes *w = ctx;
	UOp *is = stands_for(w->gate && u->op != OP_LET ? &gated : &made, u);
	bool own = u->op == OP_LET || (u->op == OP_RANGE && u != w->range) || !u->nsrc;
	return is || !own ? is : u;
}

static void make(void *ctx, UOp *u, UOp *const *src)
{
	Lanes *w = ctx;
	stands_put(w->gate ? &gated : &made, u, made_of(w, u, src));
}

static UOp *remade(Lanes *w, UOp *root)
{
	static const Remaking remaking = {known, make};
	return walk_remake(root, &remaking, w);
}

/* ---- statements */

/* It stands where other loops' LETs do, so its number is its own. */
static void put_let(Lanes *w, UOp *u)
{
	UOp *value = remade(w, u->src[0]);
	UOp *let = NODE(OP_LET, value->dtype, val_int(++w->lets), value);

	stands_put(&made, u, let);
	vec_push(&w->out, let);
}

static void put_store(Lanes *w, UOp *u)
{
	UOp *src[3] = {NULL};

	src[0] = remade(w, u->src[0]);
	if (u->nsrc > 2) {
		src[2] = remade(w, u->src[2]);
		if (has_lanes(src[2])) {
			table_round(&gated);
			w->gate = src[2];
		}
	}
	src[1] = broadcast(w, remade(w, u->src[1]));
	w->gate = NULL;
	w->failed |= !has_lanes(src[0]);
	if (!w->failed)
		vec_push(&w->out, node_like(u, u->nsrc, src, u->arg));
}

/* Puts the body of the loop that statement i opens; returns the number of its end, 0 when it has to
 * be a loop. */
static uint32_t put_body(Lanes *w, uint32_t i)
{
	for (i++; !w->failed && w->kernel->src[i]->op != OP_ENDRANGE; i++) {
		UOp *u = w->kernel->src[i];
		if (u->op == OP_LET)
			put_let(w, u);
		else if (u->op == OP_STORE)
			put_store(w, u);
		else
			return 0;
	}
	return w->failed ? 0 : i;
}

static uint32_t put_loop(Lanes *w, uint32_t i)
{
	size_t was = w->out.n;
	uint32_t end;

	w->range = w->kernel->src[i];
	w->lanes = (int)range_size(w->range);
	w->failed = w->lanes < 2;
	table_round(&made);
	end = put_body(w, i);
	if (!end)
		w->out.n = was;
	return end;
}

int64_t last_let(const Nodes *all)
{
	int64_t last = 0;
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_LET && all->at[i]->arg->i > last)
			last = all->at[i]->arg->i;
	return last;
}

static UOp *kernel_lanes(const KernelUse *use)
{
	Nodes all = walk(use->kernel);
	Lanes w = {.kernel = use->kernel, .lets = last_let(&all)};
	UOp *r = use->kernel;

	for (uint32_t i = 0; i < r->nsrc; i++) {
		UOp *u = r->src[i];
		bool vector = u->op == OP_RANGE && val_is_str(u->arg->a[1], "vector");
		uint32_t end = vector ? put_loop(&w, i) : 0;
		if (end)
			i = end;
		else
			vec_push(&w.out, u);
	}
	r = node_like(r, w.out.n, w.out.at, r->arg);
	vec_free(&w.out);
	return r;
}

Graph *lower_lanes(Graph *g) { return target->vectors ? kernels_map(g, kernel_lanes) : g; }
