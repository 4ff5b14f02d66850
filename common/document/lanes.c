/* A kernel with lanes as the loops that it means, of which its proofs are.
 *
 *     LET v f32x8 = LOAD x[RAMP a 1]          RANGE r 8 vector
 *     STORE y[RAMP b 1] v * BROADCAST c  →      LET v = LOAD x[a + r]
 *                                                STORE y[b + r] v * c
 *                                              ENDRANGE
 *
 * Statements that follow each other share a loop, unless one touches what another lane has
 * stored before. A value that is used in another loop than its own, or shuffled, goes through a
 * register, but for places side by side, which are computed again; one that is shuffled several
 * times only before the first and after the last. */
#include "document/document.h"
#include "index/ix.h"
#include <stdlib.h>

enum { BEFORE = UINT32_MAX };
/* Where a RAMP begins: at base + k. */
typedef struct { UOp *base; int64_t k; } Begin;
typedef struct { uint32_t at; UOp *index; Begin begin; bool store; } Touch;
/* region: the loop it goes into; 0: none; BEFORE: a scalar that stands before it. all: what it
 * evaluates */
typedef struct { uint32_t region; bool shuffles; Nodes all; } Statement;
typedef struct {
	UOp *kernel;
	Statement *statement;
	Map stands;             /* LET with lanes → 1 + its statement */
	Map kept;               /* value with lanes → the DEFINE_REG that it goes through */
	Map whole;              /* LETs of shuffled LETs that not only other shuffles name */
	VEC(UOp *) regs, out;
	VEC(Touch) touched;     /* in the loop at hand */
	UOp *range;             /* of the open loop; NULL: none is open */
	uint32_t open;
	size_t begin;           /* where it stands in out */
	int axis;
	int64_t ids;            /* of what is made here: more than any there is */
} Loops;

/* What stands for nodes of the kernel at hand; lane: within the open loop. */
static ARENA Stands scalar, lane;

static bool has_lanes(const UOp *u) { return dtype_lanes(u->dtype) > 1; }

static int statement_lanes(const UOp *s)
{
	return s->op == OP_STORE ? dtype_lanes(s->src[0]->dtype) : dtype_lanes(s->dtype);
}

/* What a statement evaluates, sources first, up to LETs, which are among it. */
static Nodes evaluated(UOp *statement)
{
	typedef struct { UOp *u; uint32_t next; } Frame;
	static ARENA VEC(Frame) stack;
	static ARENA VEC(UOp *) found;
	static ARENA TABLE(uint32_t) seen;

	table_round(&seen);
	found.n = 0;
	vec_push(&stack, ((Frame){statement, 0}));
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		UOp *u = f->u, *src;
		if (f->next == u->nsrc || (u->op == OP_LET && stack.n > 1)) {
			stack.n--;
			if (stack.n)
				vec_push(&found, u);
			continue;
		}
		src = u->src[f->next++];
		if (seen.at[src->id] != seen.round) {
			seen.at[src->id] = seen.round;
			vec_push(&stack, ((Frame){src, 0}));
		}
	}
	Nodes r = {arena_alloc((found.n + 1) * sizeof *r.at), found.n};
	if (found.n)
		memcpy(r.at, found.at, found.n * sizeof *r.at);
	return r;
}

/* ---- which statements share a loop */

/* The place of an INDEX, without a name. */
static const UOp *place_of(const UOp *index)
{
	const UOp *at = index->nsrc > 1 ? index->src[1] : NULL;
	return at && at->op == OP_LET ? at->src[0] : at;
}

/* The place of an INDEX with lanes; no base: it is no RAMP. */
static Begin ramp_begin(const UOp *index)
{
	static ARENA Map known;
	const UOp *ramp = place_of(index);
	Begin *b;
	Sum s;

	if (!ramp || ramp->op != OP_RAMP)
		return (Begin){NULL, 0};
	if ((b = map_get(&known, PKEY(ramp))))
		return *b;
	sum_of(&s, ramp->src[0]);
	b = arena_alloc(sizeof *b);
	b->k = s.k;
	s.k = 0;
	b->base = sum_node(&s);
	map_put(&known, PKEY(ramp), b);
	return *b;
}

/* Whether no lane of one place is another lane of the other: successive elements at a known
 * distance. */
static bool lanes_apart(const Touch *a, const Touch *b)
{
	int64_t by, step, n = dtype_lanes(a->index->dtype);
	const UOp *x, *y;

	if (a->index == b->index)
		return true;
	if (!a->begin.base || a->begin.base != b->begin.base)
		return false;
	x = place_of(a->index);
	y = place_of(b->index);
	if (x->arg != y->arg || x->dtype != y->dtype)
		return false;
	step = llabs(x->arg->i);
	return !__builtin_sub_overflow(a->begin.k, b->begin.k, &by) && step < INT32_MAX &&
		(by == 0 || by >= n * step || by <= -n * step);
}

static Touch touch_of(uint32_t at, UOp *index, bool store)
{
	return (Touch){at, index, ramp_begin(index), store};
}

static bool clashes(const Loops *w, UOp *index, bool store)
{
	Touch is = touch_of(0, index, store);
	for (size_t i = 0; i < w->touched.n; i++) {
		const Touch *t = &w->touched.at[i];
		if (t->index->src[0] == index->src[0] && (t->store || store) &&
			(t->index->dtype != index->dtype || !lanes_apart(t, &is)))
			return true;
	}
	return false;
}

static bool has_shuffles(const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_SHUFFLE)
			return true;
	return false;
}

static bool any_clash(const Loops *w, const UOp *s, const Nodes *all)
{
	enum { MOST = 256 };
	bool any = w->touched.n > MOST;

	for (size_t i = 0; i < all->n && !any; i++)
		any = all->at[i]->op == OP_LOAD && clashes(w, all->at[i]->src[0], false);
	return any || (s->op == OP_STORE && clashes(w, s->src[0], true));
}

static void touch(Loops *w, uint32_t at, const UOp *s, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_LOAD)
			vec_push(&w->touched, touch_of(at, all->at[i]->src[0], false));
	if (s->op == OP_STORE)
		vec_push(&w->touched, touch_of(at, s->src[0], true));
}

static UOp *new_register(Loops *w, UOp *value)
{
	const Val *arg[] = {val_int(++w->ids), val_int(dtype_lanes(value->dtype))};
	UOp *reg = LEAF(OP_DEFINE_REG, dtype_element(value->dtype), val_array(2, arg));

	vec_push(&w->regs, reg);
	map_put(&w->kept, PKEY(value), reg);
	return reg;
}

static UOp *register_of(Loops *w, UOp *value)
{
	UOp *reg = map_get(&w->kept, PKEY(value));
	return reg ? reg : new_register(w, value);
}

/* Whether u is a LET of shuffled LETs, each lane of which is a lane of those. */
static bool is_shuffled(const UOp *u)
{
	bool is = u->op == OP_LET && has_lanes(u) && u->src[0]->op == OP_SHUFFLE;
	for (uint32_t k = 0; is && k < u->src[0]->nsrc; k++)
		is = u->src[0]->src[k]->op == OP_LET && has_lanes(u->src[0]->src[k]);
	return is;
}

/* One that shuffles alone name, which name what it is of instead. */
static bool passed_over(const Loops *w, const UOp *u)
{
	return is_shuffled(u) && !map_get(&w->whole, PKEY(u));
}

/* Whether u is a LET of places side by side, base + k*lane: the same wherever it is computed. */
static bool is_places(const UOp *u)
{
	if (u->op != OP_LET || u->src[0]->op != OP_RAMP || dtype_element(u->dtype) != DT_I64)
		return false;
	Nodes all = walk_brief(u->src[0]->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			return false;
	return true;
}

static void keep_source(Loops *w, uint32_t at, const UOp *user, UOp *u)
{
	uintptr_t from = (uintptr_t)map_get(&w->stands, PKEY(u));

	if (u->op != OP_LET || !has_lanes(u))
		return;
	bool elsewhere = from && w->statement[from - 1].region != w->statement[at].region;
	if (user->op == OP_SHUFFLE ? !is_shuffled(u) : elsewhere && !is_places(u))
		register_of(w, u);
}

/* The LETs that a statement uses outside of their loop, or shuffles, get registers. */
static void keep_used(Loops *w, uint32_t at, const Nodes *all)
{
	for (size_t i = 0; i <= all->n; i++) {
		UOp *u = i < all->n ? all->at[i] : w->kernel->src[at];
		for (uint32_t k = 0; k < u->nsrc && (i == all->n || u->op != OP_LET); k++)
			keep_source(w, at, u, u->src[k]);
	}
}

/* What each statement evaluates, and the shuffled LETs that not only shuffles name. */
static void find_whole(Loops *w)
{
	for (uint32_t i = 0; i < w->kernel->nsrc; i++) {
		UOp *s = w->kernel->src[i];
		Statement *is = &w->statement[i];
		is->all = evaluated(s);
		is->shuffles = has_shuffles(&is->all);
		for (size_t n = 0; n <= is->all.n; n++) {
			UOp *u = n < is->all.n ? is->all.at[n] : s;
			bool names = u->op != OP_SHUFFLE && (u == s || u->op != OP_LET);
			for (uint32_t k = 0; names && k < u->nsrc; k++)
				if (is_shuffled(u->src[k]))
					map_put(&w->whole, PKEY(u->src[k]), u->src[k]);
		}
	}
}

static void find_regions(Loops *w)
{
	enum { LONGEST = 512 };
	uint32_t region = 0, length = 0;
	int lanes = 1;

	for (uint32_t i = 0; i < w->kernel->nsrc; i++) {
		UOp *s = w->kernel->src[i];
		Statement *is = &w->statement[i];
		Nodes all = is->all;
		int n = statement_lanes(s);
		if (passed_over(w, s)) {
			keep_used(w, i, &all);
			continue;
		}
		bool clash = is->shuffles || any_clash(w, s, &all) || length++ > LONGEST;
		if (n == 1 && lanes > 1 && s->op == OP_LET && !clash) {
			is->region = BEFORE;
			continue;
		}
		if (n != lanes || clash) {
			region++;
			length = 0;
			w->touched.n = 0;
		}
		lanes = n;
		is->region = n > 1 ? region : 0;
		if (n > 1)
			touch(w, i, s, &all);
		if (s->op == OP_LET && n > 1)
			map_put(&w->stands, PKEY(s), (void *)(uintptr_t)(i + 1));
		keep_used(w, i, &all);
	}
}

/* ---- values in one lane */

static UOp *remade(Loops *w, UOp *root);

static UOp *element(UOp *reg, UOp *place)
{
	return NODE(OP_LOAD, reg->dtype, VNIL,
		NODE(OP_INDEX, reg->dtype, VNIL, reg, place));
}

static Stands *table_for(const UOp *u) { return has_lanes(u) ? &lane : &scalar; }
static UOp *standing_for(const UOp *u) { return stands_for(table_for(u), u); }
static void let_stand(const UOp *u, UOp *to) { stands_put(table_for(u), u, to); }

/* Whether u's sources are looked at for what stands for it. */
static bool is_whole(const UOp *u)
{
	return u->op == OP_SHUFFLE || (u->op == OP_LET && has_lanes(u));
}

/* Lane k of a SHUFFLE: of what is shuffled, by this one and those before it. */
static UOp *shuffled_lane(Loops *w, const UOp *u, int64_t k)
{
	UOp *from;

	do {
		int lanes = dtype_lanes(u->src[0]->dtype);
		int64_t at = u->arg->a[k]->i;
		from = u->src[at / lanes];
		k = at % lanes;
		u = from->src[0];
	} while (is_shuffled(from));
	return element(register_of(w, from), ix_const(k));
}

static UOp *shuffled(Loops *w, UOp *u)
{
	return has_lanes(u) ? element(register_of(w, u), w->range) : shuffled_lane(w, u, 0);
}

static UOp *ramp(Loops *w, const UOp *u, UOp *base)
{
	DType d = base->dtype;
	UOp *at = w->range;

	if (d == DT_I64)
		return ix_add(base, ix_mul(at, ix_const(u->arg->i)));
	at = NODE(OP_CAST, d, VNIL, NODE(OP_MUL, DT_I64, VNIL, at, ix_const(u->arg->i)));
	return NODE(OP_ADD, d, VNIL, base, at);
}

static UOp *kept_let(Loops *w, UOp *u)
{
	UOp *reg = map_get(&w->kept, PKEY(u));

	if (!reg && is_places(u))
		return ramp(w, u->src[0], remade(w, u->src[0]->src[0]));
	if (!reg)
		die(MALFORMED, "node %u LET: used where it has no value", u->id);
	return element(reg, w->range);
}

/* An i64 that is cast to i32, or such a number; NULL: something else, or it does not fit. */
static UOp *uncast(UOp *u)
{
	int64_t lo, hi;

	if (is_const(u))
		return ix_const((const_is_int(u, &lo), lo));
	if (u->op != OP_CAST || u->src[0]->dtype != DT_I64)
		return NULL;
	ix_bounds(u->src[0], &lo, &hi);
	return lo < INT32_MIN || hi > INT32_MAX ? NULL : u->src[0];
}

/* A comparison of lanes as i32, which are narrower, is one of places: lane < CAST r0*4 - 61. Bounds
 * of the number that are beyond all lanes count for nothing. */
static UOp *lane_compare(Loops *w, const UOp *u)
{
	enum { NEAR = 1 << 28 };
	int side = u->src[0]->op == OP_RAMP ? 0 : 1;
	UOp *lanes = u->src[side], *other = u->src[1 - side], *x[2];
	int64_t base, bound;

	if (lanes->op != OP_RAMP || dtype_element(lanes->dtype) != DT_I32 ||
		other->op != OP_BROADCAST || !const_is_int(lanes->src[0], &base) ||
		llabs(base) > NEAR || llabs(lanes->arg->i) > NEAR / MOST_LANES)
		return NULL;
	if (!(other = uncast(other->src[0])))
		return NULL;
	while ((other->op == OP_MIN && ix_is_const(other->src[1], &bound) && bound > 2 * NEAR) ||
		(other->op == OP_MAX && ix_is_const(other->src[1], &bound) && bound < -2 * NEAR))
		other = other->src[0];
	x[side] = ix_add(ix_const(base), ix_mul(w->range, ix_const(lanes->arg->i)));
	x[1 - side] = remade(w, other);
	return NODE(u->op, DT_BOOL, VNIL, x[0], x[1]);
}

static UOp *in_lane(Loops *w, UOp *u, UOp *const *src)
{
	UOp *compared = has_lanes(u) && op_info[u->op].cls == CLASS_COMPARE ? lane_compare(w, u) :
									      NULL;
	if (compared)
		return compared;
	if (u->op == OP_SHUFFLE)
		return shuffled(w, u);
	if (u->op == OP_LET && has_lanes(u))
		return kept_let(w, u);
	if (u->op == OP_BROADCAST)
		return src[0];
	if (u->op == OP_RAMP)
		return ramp(w, u, src[0]);
	if (!has_lanes(u))
		return node_with(u, src);
	if (u->dtype == dtype_in_lanes(DT_I64, dtype_lanes(u->dtype)) && op_info[u->op].index &&
		u->nsrc == 2)
		return ix_op(u->op, src[0], src[1]);
	UOp *r = node_new(u->op, dtype_element(u->dtype), u->nsrc, src, u->arg);
	node_note(r, u->note);
	return r;
}

static void made(void *ctx, UOp *u, UOp *const *src)
{
	Loops *w = ctx;
	let_stand(u, in_lane(w, u, src));
}

/* What is whole is made without its sources. */
static UOp *known(void *ctx, UOp *u)
{
	Loops *w = ctx;
	UOp *to = standing_for(u);
	if (to || !is_whole(u))
		return to;
	made(w, u, NULL);
	return standing_for(u);
}

static UOp *remade(Loops *w, UOp *root)
{
	static const Remaking remaking = {known, made};
	return walk_remake(root, &remaking, w);
}

/* ---- statements */

static void close_loop(Loops *w)
{
	if (!w->range)
		return;
	vec_push(&w->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, w->range));
	w->range = NULL;
	table_round(&lane);
}

static void open_loop(Loops *w, uint32_t region, int lanes)
{
	if (w->range && w->open == region)
		return;
	close_loop(w);
	w->open = region;
	w->range = ix_range(w->axis, "vector", ix_const(lanes));
	w->begin = w->out.n;
	vec_push(&w->out, w->range);
}

static void put_before(Loops *w, UOp *u)
{
	vec_push(&w->out, u);
	for (size_t i = w->out.n - 1; i > w->begin; i--)
		w->out.at[i] = w->out.at[i - 1];
	w->out.at[w->begin++] = u;
}

static void put_store(Loops *w, UOp *reg, UOp *place, UOp *value)
{
	UOp *index = NODE(OP_INDEX, reg->dtype, VNIL, reg, place);
	vec_push(&w->out, NODE(OP_STORE, DT_NONE, VNIL, index, value));
}

/* Puts a value that is shuffled into its register, unless its LET or SHUFFLE has. */
static void put_source(Loops *w, UOp *v)
{
	if (v->op == OP_LET || v->op == OP_SHUFFLE)
		return;
	open_loop(w, BEFORE, dtype_lanes(v->dtype));
	put_store(w, register_of(w, v), w->range, remade(w, v));
	close_loop(w);
}

static void put_shuffle(Loops *w, UOp *u)
{
	for (uint32_t k = 0; k < u->nsrc; k++)
		put_source(w, u->src[k]);
	for (uint32_t i = 0; has_lanes(u) && i < u->arg->n; i++)
		put_store(w, register_of(w, u), ix_const(i), shuffled_lane(w, u, i));
}

static void put_shuffles(Loops *w, const Statement *s)
{
	for (size_t i = 0; s->shuffles && i < s->all.n; i++)
		if (s->all.at[i]->op == OP_SHUFFLE) {
			close_loop(w);
			put_shuffle(w, s->all.at[i]);
		}
}

static void put_let(Loops *w, UOp *let)
{
	UOp *value = remade(w, let->src[0]), *reg = map_get(&w->kept, PKEY(let)), *u;

	if (reg) {
		put_store(w, reg, w->range, value);
		let_stand(let, element(reg, w->range));
		return;
	}
	u = NODE(OP_LET, value->dtype, let->arg, value);
	let_stand(let, u);
	vec_push(&w->out, u);
}

/* What a gate with lanes does not say is computed in all of them. */
static void put_lanes_store(Loops *w, UOp *s)
{
	UOp *src[3] = {NULL};

	for (uint32_t i = 0; i < s->nsrc; i++)
		src[i] = remade(w, s->src[i]);
	if (s->nsrc > 2 && has_lanes(s->src[2]) && src[1]->op != OP_LET && !is_const(src[1])) {
		src[1] = NODE(OP_LET, src[1]->dtype, val_int(++w->ids), src[1]);
		vec_push(&w->out, src[1]);
	}
	vec_push(&w->out, node_like(s, s->nsrc, src, s->arg));
}

static void put_statement(Loops *w, uint32_t i)
{
	UOp *s = w->kernel->src[i];
	int lanes = statement_lanes(s);

	if (passed_over(w, s))
		return;
	put_shuffles(w, &w->statement[i]);
	if (lanes == 1) {
		UOp *r = remade(w, s);
		if (w->statement[i].region == BEFORE && w->range) {
			put_before(w, r);
			return;
		}
		close_loop(w);
		vec_push(&w->out, r);
		return;
	}
	open_loop(w, w->statement[i].region, lanes);
	if (s->op == OP_LET)
		put_let(w, s);
	else
		put_lanes_store(w, s);
}

/* An axis that no range has, and a number that nothing else has; whether there are lanes at all. */
static bool look_around(Loops *w)
{
	Nodes all = walk_kept(w->kernel);
	uint64_t used = 0;
	bool any = false;

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		int64_t id = statement_id(u);
		any |= has_lanes(u);
		if (u->op == OP_RANGE)
			used |= 1ull << range_axis(u);
		if (id > w->ids && id < INT64_MAX / 2)
			w->ids = id;
	}
	while (any && w->axis < 64 && used >> w->axis & 1)
		w->axis++;
	if (w->axis == 64)
		die(MALFORMED, "node %u KERNEL: with lanes it may have 63 axes", w->kernel->id);
	return any;
}

/* What has no lanes in it stands for itself. */
static void begin_standing(UOp *kernel)
{
	Nodes all = walk_kept(kernel);

	table_round(&scalar);
	table_round(&lane);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool plain = !has_lanes(u);
		for (uint32_t k = 0; plain && k < u->nsrc; k++)
			plain = standing_for(u->src[k]);
		if (plain)
			let_stand(u, u);
	}
}

UOp *lanes_as_loops(UOp *kernel)
{
	static ARENA Map known;
	UOp *r = map_get(&known, PKEY(kernel));

	if (r)
		return r;
	Loops w = {.kernel = lane_parts(kernel)};
	r = w.kernel;
	if (look_around(&w)) {
		w.statement = arena_alloc(r->nsrc * sizeof *w.statement);
		begin_standing(w.kernel);
		find_whole(&w);
		find_regions(&w);
		for (uint32_t i = 0; i < w.kernel->nsrc; i++)
			put_statement(&w, i);
		close_loop(&w);
		for (size_t i = 0; i < w.out.n; i++)
			vec_push(&w.regs, w.out.at[i]);
		r = node_like(kernel, w.regs.n, w.regs.at, kernel->arg);
	}
	map_put(&known, PKEY(kernel), r);
	map_free(&w.stands);
	map_free(&w.kept);
	map_free(&w.whole);
	vec_free(&w.regs);
	vec_free(&w.out);
	vec_free(&w.touched);
	return r;
}
