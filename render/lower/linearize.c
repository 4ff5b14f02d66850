/* Scopes and instances to a list of statements.
 *
 *     DEFINE_REG acc; STORE acc[0] = 0; RANGE k; STORE acc[0] = acc[0] + x[k]; ENDRANGE;
 *     STORE y[0] = acc[0]
 *
 * A value gets a LET when it is used twice, is hoisted out of a loop, or its expression grows too
 * long to read; a LOAD from a buffer that the kernel also writes gets one so that it sees the old
 * content. Index arithmetic is written where it is used: compilers hoist it better than a name
 * would. In a scope, values and nests run by phase, then the inner loop, then the STOREs. */
#include "shape/shape.h"
#include "target/target.h"
#include "lower/lower.h"
#include <limits.h>
#include <stdlib.h>

enum { INLINE_SIZE = 24, INLINE_INDEX = 10, INLINE_DEPTH = 12 };

/* ---- pieces */

UOp *make_reg(Lowering *l, DType dt, int64_t n)
{
	return LEAF(OP_DEFINE_REG, dt, VARR(val_int(l->ids++), val_int(n)));
}

UOp *load_at(UOp *storage, UOp *at)
{
	return NODE(
		OP_LOAD, storage->dtype, VNIL, NODE(OP_INDEX, storage->dtype, VNIL, storage, at));
}

UOp *store_at(UOp *storage, UOp *at, UOp *v)
{
	return NODE(OP_STORE, DT_NONE, VNIL, NODE(OP_INDEX, storage->dtype, VNIL, storage, at), v);
}

UOp *let(Lowering *l, UOp *v)
{
	UOp *u = NODE(OP_LET, v->dtype, val_int(l->ids++), v);
	emit(l, u);
	return u;
}

static UOp *fold(const UOp *u, UOp *a, UOp *b)
{
	return NODE(op_find(u->arg->s), u->dtype, VNIL, a, b);
}

static UOp *counter(const Scope *s, int r)
{
	while (!(s->binds >> r & 1))
		s = s->parent;
	return s->at[r];
}

/* The element of the surrounding tiles that s is at, counted over the ranges of lanes in the order
 * of the lane loops. */
static UOp *lane_index(const Lowering *l, const Scope *s, uint64_t lanes)
{
	UOp *at = ix_const(0);
	for (int i = 0; i < l->plan.nlanes; i++) {
		int r = l->plan.lanes[i];
		if (!(lanes >> r & 1))
			continue;
		const Start *start = scope_start(s, r);
		at = ix_mul(at, ix_const(start->tile.unroll * start->tile.vector));
		at = ix_add(at, scope_lane(s, r));
	}
	return at;
}

static int lane_count(const Scope *at, uint64_t lanes)
{
	int n = 1;
	for (; lanes; lanes &= lanes - 1) {
		const Start *start = scope_start(at, __builtin_ctzll(lanes));
		n *= start->tile.unroll * start->tile.vector;
	}
	return n;
}

/* Those of the lanes that are vectors: in a row buffer they are contiguous. */
static uint64_t vector_set(const Lowering *l, uint64_t set)
{
	for (int r = 0; r < l->facts.nrange; r++)
		if (l->plan.tile[r].vector <= 1)
			set &= ~(1ull << r);
	return set;
}

/* The ranges of a nest's row buffer in the order given, or in that of their numbers. */
static int buffer_dims(const Nest *n, int *dims)
{
	if (!n->stage || !n->stage->ndims)
		return ranges_in(n->over, dims);
	memcpy(dims, n->stage->dims, n->stage->ndims * sizeof *dims);
	return n->stage->ndims;
}

/* The place in a nest's row buffer for scope s, outermost first: lanes that are not vectors, the
 * buffer's ranges (those in vectors last), then the lanes that are vectors. */
static UOp *buffer_index(const Lowering *l, const Scope *s, const Nest *n)
{
	uint64_t vector = n->along ? n->along : vector_set(l, n->lanes),
		 own = vector_set(l, n->over);
	UOp *at = lane_index(l, s, n->lanes & ~vector);
	int dims[MAX_RANGES], ndims = buffer_dims(n, dims);
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < ndims; i++)
			if ((last ? own : n->over & ~own) >> dims[i] & 1)
				at = ix_add(ix_mul(at, l->facts.range[dims[i]]->src[0]),
					counter(s, dims[i]));
	if (n->stage && n->stage->pad)
		at = ix_add(at, ix_mul(counter(s, dims[0]), ix_const(n->stage->pad)));
	at = ix_mul(at, ix_const(lane_count(n->at, vector)));
	return ix_add(at, lane_index(l, s, vector));
}

/* ---- expressions */

static bool leaf(const UOp *u)
{
	return !u->nsrc || u->op == OP_RANGE || u->op == OP_INDEX || u->op == OP_SPECIAL ||
		u->op == OP_LET;
}

static bool is_index_sum(const UOp *u)
{
	return u->dtype == DT_I64 && (u->op == OP_ADD || u->op == OP_MUL);
}

static void measure(Inst *i)
{
	i->size = 1;
	for (uint32_t k = 0; k < i->nsrc; k++) {
		Inst *s = i->src[k];
		if (!s->ref || s->let || leaf(s->ref))
			continue;
		i->size += s->size;
		i->depth = s->depth + 1 > i->depth ? s->depth + 1 : i->depth;
	}
	for (uint32_t k = 0; k < i->nsrc && i->of->op == OP_INDEX; k++)
		i->size += i->src[k]->size;
}

static bool wants_let(const Lowering *l, const Inst *i)
{
	if (leaf(i->ref))
		return false;
	if (is_index_sum(i->ref) && i->size <= INLINE_INDEX)
		return false;
	if (l->facts.nwritten > 1 && reads_written(&l->facts, i->of))
		return true;
	return i->uses > 1 || i->hoisted || i->size > INLINE_SIZE || i->depth > INLINE_DEPTH;
}

static UOp *value_node(Lowering *l, Inst *i)
{
	if (i->of->op == OP_RANGE)
		return counter(i->place, __builtin_ctzll(bit_of(i->of)));
	if (i->nsrc && i->src[0]->kind == INST_STAGE)
		return load_at(i->src[0]->reg, buffer_index(l, i->place, i->src[0]->nest));
	if (i->of->op == OP_RREDUCE)
		return load_at(i->src[0]->reg, lane_index(l, i->place, i->src[0]->nest->lanes));
	UOp **src = arena_alloc((i->nsrc + 1) * sizeof *src);
	for (uint32_t k = 0; k < i->nsrc; k++)
		src[k] = i->src[k]->ref;
	return i->nsrc ? ix_remake(i->of, src) : i->of;
}

static UOp *buffer_size(const Lowering *l, const Nest *nest)
{
	UOp *n = ix_const(1);
	int dims[MAX_RANGES], ndims = buffer_dims(nest, dims);
	for (int i = ndims; i-- > 0;) {
		if (!i && nest->stage)
			n = ix_add(n, ix_const(nest->stage->pad));
		n = ix_mul(n, l->facts.range[dims[i]]->src[0]);
	}
	return ix_mul(n, ix_const(lane_count(nest->at, nest->lanes)));
}

static UOp *row_buffer(Lowering *l, const Inst *i)
{
	if (i->nest->stage->along || !i->nest->over)
		return make_reg(l, i->of->dtype, lane_count(i->nest->at, i->nest->lanes));
	const char *space = i->nest->group ? "local" : "stack";
	return LEAF(OP_DEFINE_LOCAL, i->of->dtype,
		VARR(val_int(l->ids++), size_to_val(buffer_size(l, i->nest)), val_str(space)));
}

static int level_of(int parts) { return __builtin_ctz(parts); }

/* One accumulator for each lane; a split reduction also has the partial ones of each lane, and
 * others for the remaining iterations. */
static void make_accumulators(Lowering *l, Inst *i)
{
	Nest *n = i->kind == INST_SCAN ? NULL : i->nest;
	int lanes = n ? lane_count(n->at, n->lanes) : lane_count(i->place, i->lanes);
	i->reg = make_reg(l, i->of->dtype, lanes);
	for (int k = 0; n && n->partial && k < n->ninner; k++) {
		int parts = n->inner[k]->parts;
		i->part[level_of(parts)] = make_reg(l, i->of->dtype, lanes * parts);
	}
}

/* The accumulator of the element that a scan is at; of a reduction the first. */
static UOp *scan_index(const Lowering *l, const Inst *i)
{
	return i->kind == INST_SCAN ? lane_index(l, i->place, i->lanes) : ix_const(0);
}

/* A group's memory is declared where its kernel begins: no language takes it within a loop. */
static bool is_declared_first(const Lowering *l, const Nest *n)
{
	return n->group && n->at != l->top;
}

/* The node that users name. A reduction's accumulator does not change again before its scope
 * ends. */
static void name_value(Lowering *l, Inst *i)
{
	if (i->kind == INST_STAGE) {
		i->reg = row_buffer(l, i);
		if (is_declared_first(l, i->nest))
			vec_push(&l->top->pre, i->reg);
	} else if (i->kind == INST_REDUCE || i->kind == INST_SCAN) {
		make_accumulators(l, i);
		i->ref = load_at(i->reg, scan_index(l, i));
		i->size = 1;
	} else if (i->of->op == OP_TUPLE) {
		i->ref = i->of;         /* nobody names it: its nest takes its values */
	} else {
		i->ref = value_node(l, i);
		measure(i);
		i->let = wants_let(l, i);
		if (i->let)
			i->ref = NODE(OP_LET, i->ref->dtype, val_int(l->ids++), i->ref);
	}
}

/* ---- statements */

static void emit_scope(Lowering *l, Scope *s);

/* visits count elements in order, in vectors of `lanes`: for (u) for (v) body at u*lanes+v */
typedef struct { UOp *loop[2], *at; int n; } Each;

static Each each_open(Lowering *l, const Scope *s, int count, int lanes)
{
	Each e = {.at = ix_const(0)};
	int sizes[2] = {count / lanes, lanes};
	for (int i = 0; i < 2; i++) {
		if (sizes[i] == 1)
			continue;
		const char *kind = i ? "vector" : sizes[0] > 64 ? "loop" : "unroll";
		UOp *r = ix_range(l->axis + (int)s->depth + 1 + i, kind, ix_const(sizes[i]));
		e.at = ix_add(e.at, ix_mul(r, ix_const(i ? 1 : lanes)));
		emit(l, e.loop[e.n++] = r);
	}
	return e;
}

static void each_close(Lowering *l, const Each *e)
{
	for (int i = e->n; i-- > 0;)
		emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, e->loop[i]));
}

/* lanes of the tile in vectors around s, among those of set; 1: there is none */
static int vector_of(const Lowering *l, const Scope *s, uint64_t set)
{
	for (int r = 0; r < l->facts.nrange; r++)
		if (set >> r & 1 && scope_start(s, r)->tile.vector > 1)
			return scope_start(s, r)->tile.vector;
	return 1;
}

static void start_scan(Lowering *l, const Scope *s, const Inst *scan)
{
	emit(l, scan->reg);
	Each e = each_open(l, s, (int)scan->reg->arg->a[1]->i, vector_of(l, s, scan->lanes));
	emit(l,
		store_at(scan->reg, e.at,
			const_identity(op_find(scan->of->arg->s), scan->of->dtype)));
	each_close(l, &e);
}

static void emit_close(Lowering *l, const Scope *s)
{
	if (s->open)
		emit(l,
			NODE(s->open->op == OP_IF ? OP_ENDIF : OP_ENDRANGE, DT_NONE, VNIL,
				s->open));
}

static void emit_inner(Lowering *l, Scope *s)
{
	for (size_t i = 0; i < s->scans.n; i++)
		start_scan(l, s, s->scans.at[i]);
	if (s->open)
		emit(l, s->open);
	emit_scope(l, s);
	emit_close(l, s);
}

static void emit_item(Lowering *l, Inst *i)
{
	if (i->kind == INST_SCAN) {
		UOp *at = scan_index(l, i);
		emit(l, store_at(i->reg, at, fold(i->of, load_at(i->reg, at), i->src[0]->ref)));
	} else if (i->let) {
		emit(l, i->ref);
	}
}

/* ---- folds of tuples */

static UOp *named(Lowering *l, UOp *v) { return leaf(v) ? v : let(l, v); }

/* The rule of a tuple: out[i] is component i of a and b combined. What is used twice has a LET, and
 * so has each result, since the components are stored one after another. */
static void emit_rule(Lowering *l, UOp *tuple, UOp *const *a, UOp *const *b, UOp **out)
{
	const uint32_t n = tuple_size(tuple);
	Nodes all = walk_many(n, tuple->src + 2 * n);
	Map ref = {0}, uses = {0};
	for (size_t i = 0; i < all.n; i++)
		for (uint32_t k = 0; k < all.at[i]->nsrc; k++) {
			uint64_t key = PKEY(all.at[i]->src[k]);
			map_put(&uses, key, (void *)(PKEY(map_get(&uses, key)) + 1));
		}
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i], *src[3], *r = u;
		for (uint32_t k = 0; k < u->nsrc; k++)
			src[k] = map_get(&ref, PKEY(u->src[k]));
		if (u->op == OP_SIDE)
			r = (tuple_side(u) ? b : a)[tuple_component(u)];
		else if (u->nsrc)
			r = ix_remake(u, src);
		if (u->nsrc && PKEY(map_get(&uses, PKEY(u))) > 1)
			r = let(l, r);
		map_put(&ref, PKEY(u), r);
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = named(l, map_get(&ref, PKEY(tuple_rule(tuple, i))));
	map_free(&ref);
	map_free(&uses);
}

/* The member of the nest that has component i of the tuple of m, whose value is src[k]. */
static Inst *component(const Nest *n, const Inst *m, int k, uint32_t i)
{
	for (size_t j = 0; j < n->members.n; j++) {
		Inst *is = n->members.at[j];
		if (is->src[k] == m->src[k] && is->of->arg->i == (int64_t)i)
			return is;
	}
	CHECK(false);
}

static void update_tuple(Lowering *l, const Nest *n, const Inst *m, int k, UOp *at)
{
	const Inst *next = m->src[k];
	UOp *a[MAX_TUPLE], *b[MAX_TUPLE], *out[MAX_TUPLE];
	const uint32_t size = tuple_size(next->of);
	for (uint32_t i = 0; i < size; i++) {
		a[i] = let(l, load_at(component(n, m, k, i)->reg, at));
		b[i] = named(l, next->src[i]->ref);
	}
	emit_rule(l, next->of, a, b, out);
	for (uint32_t i = 0; i < size; i++)
		emit(l, store_at(component(n, m, k, i)->reg, at, out[i]));
}

/* acc + where(c, x, 0) is where(c, acc + x, acc), an addition of the lanes that a mask names: a sum
 * begins with 0 and is never -0. */
static UOp *updated(const UOp *of, UOp *acc, UOp *term)
{
	bool some = term->op == OP_WHERE && val_is_str(of->arg, "ADD") && target->vectors &&
		target_masks(target) && (of->dtype == DT_F32 || of->dtype == DT_F64);
	UOp *sum[2] = {acc, acc};
	if (!some || (!const_is_zero(term->src[1]) && !const_is_zero(term->src[2])))
		return fold(of, acc, term);
	int k = const_is_zero(term->src[1]);
	sum[k] = fold(of, acc, term->src[1 + k]);
	return NODE(OP_WHERE, of->dtype, VNIL, term->src[0], sum[0], sum[1]);
}

/* the part of a nest's inner scope that runs once in each iteration */
static void emit_updates(Lowering *l, Scope *s)
{
	Nest *n = s->nest;
	int k = 0;
	while (n->inner[k] != s)
		k++;
	for (size_t i = 0; i < n->members.n; i++) {
		Inst *m = n->members.at[i];
		if (n->kind == NEST_STAGE) {
			UOp *place = n->flat ? n->flat : buffer_index(l, s, n);
			emit(l, store_at(m->reg, place, m->src[k]->ref));
			continue;
		}
		UOp *reg = n->partial ? m->part[level_of(s->parts)] : m->reg;
		UOp *at = lane_index(l, s, n->lanes);
		if (n->partial)
			at = ix_add(ix_mul(at, ix_const(s->parts)), s->part);
		if (!folds_tuple(m->of))
			emit(l, store_at(reg, at,
					updated(m->of, load_at(reg, at), m->src[k]->ref)));
		else if (!m->of->arg->i)
			update_tuple(l, n, m, k, at);
	}
}

/* the accumulators of a part, from the row buffer */
static void emit_loads(Lowering *l, Scope *s)
{
	Nest *n = s->loads;
	for (size_t i = 0; i < n->members.n; i++) {
		const Inst *m = n->members.at[i];
		UOp *from = load_at(m->into->reg, buffer_index(l, s, m->into->nest));
		emit(l, store_at(m->reg, lane_index(l, s, n->lanes), from));
	}
}

/* These accumulators hold the identity, in the vectors in which the nest keeps them. */
static void start_reg(Lowering *l, const Nest *n, const Inst *m, UOp *reg, int parts)
{
	int vector = vector_of(l, n->at, n->lanes);
	emit(l, reg);
	Each e = each_open(l, n->at, (int)reg->arg->a[1]->i,
		vector > 1 ? vector : vector_lanes(parts, n->element));
	emit(l, store_at(reg, e.at, fold_identity(m->of)));
	each_close(l, &e);
}

/* Before the first part of a reduction its row buffer holds the identity. */
static void start_buffer(Lowering *l, const Nest *n, const Inst *m)
{
	UOp *each = scope_range(l, n->at, buffer_size(l, n), "loop");
	emit(l, each);
	emit(l, store_at(m->reg, each, fold_identity(m->of)));
	emit(l, NODE(OP_ENDRANGE, DT_NONE, VNIL, each));
}

static void emit_start(Lowering *l, const Nest *n, const Inst *m)
{
	if (n->kind == NEST_STAGE || n->kind == NEST_PART) {
		if (!is_declared_first(l, n))
			emit(l, m->reg);
		if (n->outside)
			start_buffer(l, n, m);
		return;
	}
	if (!n->partial)
		start_reg(l, n, m, m->reg, 1);
	for (int k = MAX_LEVEL; k-- > 0;)
		if (m->part[k])
			start_reg(l, n, m, m->part[k], 1 << k);
}

/* to[i] = fold(from[2i·half…], its other half), for each of these lanes */
static void join_halves(Lowering *l, const Inst *m, UOp *to, UOp *from, int lanes, int half)
{
	for (int i = 0; i < lanes; i++) {
		UOp *first = ix_const(2 * half * i);
		Each e = each_open(l, m->place, half, vector_lanes(half, m->of->dtype));
		UOp *a = load_at(from, ix_add(first, e.at));
		UOp *b = load_at(from, ix_add(ix_add(first, e.at), ix_const(half)));
		emit(l, store_at(to, ix_add(ix_const(half * i), e.at), fold(m->of, a, b)));
		each_close(l, &e);
	}
}

/* to[i] = fold(to[i], with[i]), for these lanes' parts */
static void join_rest(Lowering *l, const Inst *m, UOp *to, UOp *with, int lanes, int parts)
{
	Each e = each_open(l, m->place, lanes * parts, vector_lanes(parts, m->of->dtype));
	emit(l, store_at(to, e.at, fold(m->of, load_at(to, e.at), load_at(with, e.at))));
	each_close(l, &e);
}

/* Combines the partial accumulators of each lane by halves: 0+8, 1+9, …, then 0+4, …; with those of
 * the remaining iterations when there are as many. */
static void emit_join(Lowering *l, const Inst *m, int partial)
{
	int lanes = (int)m->reg->arg->a[1]->i;
	UOp *from = m->part[level_of(partial)];
	for (int half = partial / 2; half; half /= 2) {
		UOp *to = half == 1 ? m->reg : make_reg(l, m->of->dtype, lanes * half);
		UOp *rest = m->part[level_of(half)];
		emit(l, to);
		join_halves(l, m, to, from, lanes, half);
		if (rest)
			join_rest(l, m, to, rest, lanes, half);
		from = to;
	}
}

/* to[at] = what is at places a and b of these arrays combined; one of each for each component */
static void join_tuple(Lowering *l, const Inst *m, UOp *const *to, UOp *const *from, UOp *at,
	UOp *other)
{
	UOp *tuple = m->of->src[0], *a[MAX_TUPLE], *b[MAX_TUPLE], *out[MAX_TUPLE];
	for (uint32_t i = 0; i < tuple_size(tuple); i++) {
		a[i] = let(l, load_at(from[i], at));
		b[i] = let(l, load_at(from[i], other));
	}
	emit_rule(l, tuple, a, b, out);
	for (uint32_t i = 0; i < tuple_size(tuple); i++)
		emit(l, store_at(to[i], at, out[i]));
}

/* emit_tree, below, for tuples */
static void emit_tuple_tree(Lowering *l, const Nest *n, const Inst *m)
{
	UOp *buf[MAX_TUPLE], *zero = ix_const(0), *barrier = LEAF(OP_BARRIER, DT_NONE, VNIL);
	const uint32_t size = tuple_size(m->of->src[0]);
	for (uint32_t i = 0; i < size; i++) {
		UOp *reg = component(n, m, 0, i)->reg;
		buf[i] = LEAF(OP_DEFINE_LOCAL, reg->dtype,
			VARR(val_int(l->ids++), val_int(l->plan.items), val_str("local")));
		emit(l, buf[i]);
		emit(l, store_at(buf[i], l->lidx, load_at(reg, zero)));
	}
	emit(l, barrier);
	for (int half = l->plan.items / 2; half; half /= 2) {
		UOp *first = NODE(OP_IF, DT_NONE, VNIL, ix_lt(l->lidx, ix_const(half)));
		emit(l, first);
		join_tuple(l, m, buf, buf, l->lidx, ix_add(l->lidx, ix_const(half)));
		emit(l, NODE(OP_ENDIF, DT_NONE, VNIL, first));
		emit(l, barrier);
	}
	for (uint32_t i = 0; i < size; i++)
		emit(l, store_at(component(n, m, 0, i)->reg, zero, load_at(buf[i], zero)));
}

/* A place for each item's accumulator, in memory of the group. */
static UOp *shared_by_all(Lowering *l, const Inst *m)
{
	UOp *buf = LEAF(OP_DEFINE_LOCAL, m->of->dtype,
		VARR(val_int(l->ids++), val_int(l->plan.items), val_str("local")));
	emit(l, buf);
	return buf;
}

/* one accumulator for each item: a tree over local memory, whose root all items read */
static void emit_tree(Lowering *l, Inst *m)
{
	int items = l->plan.items;
	UOp *zero = ix_const(0), *barrier = LEAF(OP_BARRIER, DT_NONE, VNIL);
	UOp *buf = shared_by_all(l, m);
	emit(l, store_at(buf, l->lidx, load_at(m->reg, zero)));
	emit(l, barrier);
	for (int half = items / 2; half; half /= 2) {
		UOp *first = NODE(OP_IF, DT_NONE, VNIL, ix_lt(l->lidx, ix_const(half)));
		UOp *a = load_at(buf, l->lidx), *b = load_at(buf, ix_add(l->lidx, ix_const(half)));
		emit(l, first);
		emit(l, store_at(buf, l->lidx, fold(m->of, a, b)));
		emit(l, NODE(OP_ENDIF, DT_NONE, VNIL, first));
		emit(l, barrier);
	}
	emit(l, store_at(m->reg, zero, load_at(buf, zero)));
}

/* The same by warps: items exchange their accumulators, then each combines one of every warp. */
static void emit_warps(Lowering *l, Inst *m)
{
	UOp *zero = ix_const(0), *mine = load_at(m->reg, zero);
	UOp *other = make_reg(l, m->of->dtype, 1);
	emit(l, other);
	for (int far = WARP / 2; far; far /= 2) {
		emit(l, store_at(other, zero,
			NODE(OP_EXCHANGE, m->of->dtype, val_int(far), mine)));
		emit(l, store_at(m->reg, zero, fold(m->of, mine, load_at(other, zero))));
	}
	UOp *buf = shared_by_all(l, m);
	emit(l, store_at(buf, l->lidx, mine));
	emit(l, LEAF(OP_BARRIER, DT_NONE, VNIL));
	emit(l, store_at(m->reg, zero, load_at(buf, zero)));
	for (int i = WARP; i < l->plan.items; i += WARP)
		emit(l, store_at(m->reg, zero, fold(m->of, mine, load_at(buf, ix_const(i)))));
}

static void emit_shared(Lowering *l, Inst *m)
{
	bool warps = target->warp && l->plan.items >= WARP && l->plan.items % WARP == 0;
	warps ? emit_warps(l, m) : emit_tree(l, m);
}

static void emit_nest(Lowering *l, Nest *n)
{
	for (size_t i = 0; i < n->members.n; i++)
		emit_start(l, n, n->members.at[i]);
	if (n->load)
		emit_inner(l, n->load_first);
	if (n->along && n->stage->along && l->plan.prefetch_stores)
		prefetch_stores_emit(l, n);
	for (int i = 0; i < n->nfirst; i++)
		emit_inner(l, n->first[i]);
	for (size_t i = 0; i < n->members.n; i++) {
		Inst *m = n->members.at[i];
		if (n->partial)
			emit_join(l, m, n->partial);
		if (n->kind == NEST_GROUP && !folds_tuple(m->of))
			emit_shared(l, m);
		else if (n->kind == NEST_GROUP && !m->of->arg->i)
			emit_tuple_tree(l, n, m);
	}
}

static bool is_shared_stage(const Nest *n) { return n->kind == NEST_STAGE && n->group; }

static bool in_loop(const Scope *s)
{
	for (; s; s = s->parent)
		if (s->open && s->open->op == OP_RANGE)
			return true;
	return false;
}

/* Elements that a nest leaves in registers; 0 of a row buffer. */
static int elements_left(const Nest *n)
{
	return n->kind == NEST_FOLD ? lane_count(n->at, n->lanes) : 0;
}

/* The nests of one phase, which need nothing of each other: those that leave less in registers come
 * first, so that the loops of the others have more of them. What the items of a group fill together
 * they read when all are there, and fill again, in a loop, when all have read it. */
static void emit_nests(Lowering *l, const Scope *s, uint32_t phase)
{
	bool shared = false;
	for (size_t i = 0; i < s->nests.n; i++)
		shared |= s->nests.at[i]->phase == phase && is_shared_stage(s->nests.at[i]);
	if (shared && in_loop(s))
		emit(l, LEAF(OP_BARRIER, DT_NONE, VNIL));
	for (int kept = 0, next; kept < INT_MAX; kept = next) {
		next = INT_MAX;
		for (size_t i = 0; i < s->nests.n; i++) {
			Nest *n = s->nests.at[i];
			int leaves = n->phase == phase ? elements_left(n) : -1;
			if (leaves == kept)
				emit_nest(l, n);
			else if (leaves > kept && leaves < next)
				next = leaves;
		}
	}
	if (shared)
		emit(l, LEAF(OP_BARRIER, DT_NONE, VNIL));
}

static uint32_t last_phase(const Scope *s)
{
	uint32_t p = 0;
	for (size_t i = 0; i < s->items.n; i++)
		p = s->items.at[i]->phase > p ? s->items.at[i]->phase : p;
	for (size_t i = 0; i < s->nests.n; i++)
		p = s->nests.at[i]->phase > p ? s->nests.at[i]->phase : p;
	return p;
}

/* The items sorted by phase, by counting, so that no phase needs a scan of all. */
static Inst **by_phase(const Scope *s, uint32_t phases, uint32_t *start)
{
	Inst **at = arena_alloc((s->items.n + 1) * sizeof *at);
	for (size_t i = 0; i < s->items.n; i++)
		start[s->items.at[i]->phase + 1]++;
	for (uint32_t p = 1; p < phases + 1; p++)
		start[p] += start[p - 1];
	uint32_t *next = arena_alloc((phases + 1) * sizeof *next);
	memcpy(next, start, phases * sizeof *next);
	for (size_t i = 0; i < s->items.n; i++)
		at[next[s->items.at[i]->phase]++] = s->items.at[i];
	return at;
}

static void emit_stores(Lowering *l, Scope *s)
{
	UOp *k = l->facts.kernel;
	for (uint32_t i = 0; i < k->nsrc; i++) {
		UOp *src[3];
		for (uint32_t j = 0; j < k->src[i]->nsrc; j++)
			src[j] = inst_get(l, k->src[i]->src[j], s)->ref;
		emit(l, node_new(OP_STORE, DT_NONE, k->src[i]->nsrc, src,
			l->plan.nontemporal ? val_str("nt") : VNIL));
	}
}

/* Recursion over scopes only: their depth is bounded by the number of axes. */
static void emit_scope(Lowering *l, Scope *s)
{
	uint32_t phases = last_phase(s) + 1, *start = arena_alloc((phases + 2) * sizeof *start);
	Inst **item = by_phase(s, phases, start);
	for (size_t i = 0; i < s->pre.n; i++)
		emit(l, s->pre.at[i]);
	if (s->prefetch_loads)
		prefetch_loads_emit(l, s);
	if (s->prefetch_rows)
		prefetch_rows_emit(l, s);
	for (uint32_t p = 0; p < phases; p++) {
		emit_nests(l, s, p);
		for (uint32_t i = start[p]; i < start[p + 1]; i++)
			emit_item(l, item[i]);
	}
	for (int i = 0; i < s->ninner; i++)
		emit_inner(l, s->inner[i]);
	if (s->loads)
		emit_loads(l, s);
	if (s->nest)
		emit_updates(l, s);
	if (s->sort)
		sort_emit(l, s, s->sort);
	if (s->last)
		emit_stores(l, s);
}

/* ---- a kernel */

void lowering_begin(Lowering *l, UOp *kernel, bool alias)
{
	*l = (Lowering){0};
	facts_find(&l->facts, kernel, alias);
	l->axis = last_axis(&l->facts);
}

void lowering_fill(Lowering *l)
{
	Scope *last[MAX_LAST];
	int n = loops_open(l, last);
	UOp *k = l->facts.kernel;
	for (int i = 0; i < n; i++)
		for (uint32_t j = 0; j < k->nsrc; j++)
			for (uint32_t s = 0; s < k->src[j]->nsrc; s++) {
				Inst *v = inst_get(l, k->src[j]->src[s], last[i]);
				v->uses++;
				v->hoisted |= v->place != last[i];
			}
}

void lowering_end(Lowering *l)
{
	for (size_t i = 0; i < l->scopes.n; i++) {
		vec_free(&l->scopes.at[i]->pre);
		vec_free(&l->scopes.at[i]->items);
		vec_free(&l->scopes.at[i]->nests);
		vec_free(&l->scopes.at[i]->scans);
	}
	map_free(&l->insts);
	vec_free(&l->all);
	vec_free(&l->scopes);
	vec_free(&l->out);
}

/* Bytes of all that the kernel reads and writes; 0 where sizes are not known. */
static int64_t bytes_of_all(const Lowering *l)
{
	int64_t sum = 0, n;
	for (size_t i = 0; i < l->facts.all.n; i++) {
		const UOp *u = l->facts.all.at[i];
		if (u->op == OP_PARAM &&
			(!shape_bytes(u->shape, u->dtype, &n) || !add_ok(sum, n, &sum)))
			return 0;
	}
	return sum;
}

/* Does it pay that items run from the last one on, now and then? Where the second caches do not
 * hold all that is touched, and the order of items does not matter otherwise. */
static bool alternates(const Lowering *l)
{
	const Machine *m = &target->machine;
	return bytes_of_all(l) > m->cores * m->cache[1] && !items_follow(l);
}

static UOp *finish(Lowering *l)
{
	UOp *k = l->facts.kernel;
	const Val *arg = val_set(k->arg, "target", val_str(target->name));
	if (*target->march)
		arg = val_set(arg, "march", val_str(target->march));
	if (l->global)
		arg = val_set(arg, "global_size", l->global);
	if (l->local)
		arg = val_set(arg, "local_size", l->local);
	else if (l->global)
		arg = val_set(arg, "work", item_work(l));
	if (l->global && !l->local && alternates(l))
		arg = val_set(arg, "alternate", val_bool(true));
	return node_like(k, l->out.n, l->out.at, arg);
}

static UOp *kernel_linearize(const KernelUse *use)
{
	Lowering l;
	lowering_begin(&l, use->kernel, use->alias);
	plan_read(&l.plan, &l.facts);
	if (l.facts.sort) {
		Scope *last[MAX_LAST];
		loops_open(&l, last);
		last[0]->sort = use->kernel->src[0];
		last[0]->last = false;
	} else {
		lowering_fill(&l);
		for (size_t i = 0; i < l.all.n; i++)
			name_value(&l, l.all.at[i]);
	}
	emit_scope(&l, l.top);
	UOp *r = finish(&l);
	lowering_end(&l);
	return r;
}

Graph *lower_linearize(Graph *g)
{
	Graph *r = kernels_map(g, kernel_linearize);
	r->level = LV_LOOPS;
	return r;
}
