/* Where each value of a kernel is computed. A value belongs in the outermost scope in which the
 * ranges it depends on have values; a value used in two loops over one range has an instance in
 * each.
 *
 *     y[r0,r1] = exp(x[r0,r1] - m[r0])      scopes: kernel ⊃ r0 ⊃ r1;  m in r0, the rest in r1
 *
 * Instances are made sources first by an explicit stack, so an expression may have any depth. A
 * reduction is placed like any value; its body is computed in the innermost scope of a Nest, the
 * loops that it shares with others of the same ranges and phase (nests.c). */
#include "lower/lower.h"
#include <stdlib.h>

Scope *scope_new(Lowering *l, Scope *parent, uint64_t binds, UOp *open)
{
	Scope *s = arena_alloc(sizeof *s);
	s->id = l->scopes.n;
	s->parent = parent;
	s->depth = parent ? parent->depth + 1 : 0;
	s->binds = binds;
	s->open = open;
	s->at = arena_alloc(MAX_RANGES * sizeof *s->at);
	vec_push(&l->scopes, s);
	return s;
}

/* The scope in which a value that depends on free is computed when it is used in ctx. */
static Scope *scope_place(Scope *ctx, uint64_t free)
{
	while (ctx->parent && !(ctx->binds & free))
		ctx = ctx->parent;
	return ctx;
}

/* The scope outside all lanes in which the ranges of free have values or start a tile. */
static Scope *scope_outside(Scope *ctx, uint64_t free)
{
	while (ctx->parent && (ctx->base || !((ctx->binds | ctx->starts) & free)))
		ctx = ctx->parent;
	return ctx;
}

const Start *scope_start(const Scope *s, int r)
{
	while (s && !(s->starts >> r & 1))
		s = s->parent;
	CHECK(s);
	return &s->start[r];
}

UOp *scope_lane(const Scope *s, int r)
{
	while (s && !(s->lane && s->binds >> r & 1))
		s = s->parent;
	CHECK(s);
	return s->lane[r];
}

/* The ranges of free of which a tile starts around s, and that have no single value there. */
static uint64_t lanes_around(const Scope *s, uint64_t free)
{
	uint64_t lanes = 0;
	for (; s && free; s = s->parent) {
		if (s->base)
			continue;
		lanes |= s->starts & free;
		free &= ~(s->starts | s->binds);
	}
	return lanes;
}

UOp *scope_range(Lowering *l, const Scope *s, UOp *size, const char *kind)
{
	int axis = l->axis + (int)s->depth + 1;
	if (axis > 63)
		die(UNSUPPORTED, "a kernel whose loops nest deeper than axis 63");
	return ix_range(axis, kind, size);
}

/* ---- the stack */

/* A value; a staged value, computed; the loops that fill its row buffer, or that reduce into the
 * accumulators of all lanes; those of a reduction that goes on from what its row buffer holds. */
enum { USE, RAW, FILL, PART };
typedef struct { UOp *u; int what; } Need;
typedef struct {
	UOp *u;
	Scope *ctx;
	int what, step;
	uint32_t next;
	Scope *place;
	uint64_t mask, lanes;
	Need *deps;
	size_t ndeps;
	uint32_t phase;
	Nest *nest;
	Inst *got[MAX_LAST];
} Frame;
typedef struct { VEC(Frame) stack; } Pending;

static uint64_t inst_key(const UOp *u, int what, const Scope *place)
{
	return (uint64_t)u->id << 32 | (uint64_t)place->id << 2 | what;
}

/* The ranges that must have values around u. The loops that fill a row buffer bind its own
 * ranges. */
static uint64_t needs(Lowering *l, const UOp *u, int what)
{
	int stage = stage_of(&l->plan, u);
	if (stage < 0 || what == USE || what == RAW)
		return free_of(u);
	const Staged *s = &l->plan.stage[stage];
	return what == FILL ? free_of(u) & ~s->over : free_of(u) | s->outside;
}

static bool is_fill(int what) { return what == FILL || what == PART; }

static Scope *home(Lowering *l, const UOp *u, int what, Scope *ctx)
{
	uint64_t free = needs(l, u, what);
	return is_fill(what) ? scope_outside(ctx, free) : scope_place(ctx, free);
}

/* How u gets its value from loops of its own: from a row buffer, from accumulators that the lanes
 * of the surrounding tiles have side by side, or from those of a part; USE: it does not. */
static int filled(Lowering *l, const UOp *u, int what, const Scope *place)
{
	int stage = stage_of(&l->plan, u);
	if (what == USE && (stage >= 0 || (u->op == OP_RREDUCE && place->base)))
		return FILL;
	return what == RAW && l->plan.stage[stage].outside ? PART : USE;
}

/* The instance; or NULL, after pushing the work for it on the stack. */
static Inst *need(Lowering *l, Pending *w, UOp *u, int what, Scope *ctx)
{
	Scope *place = home(l, u, what, ctx);
	Inst *i = map_get(&l->insts, inst_key(u, what, place));
	if (!i)
		vec_push(&w->stack, ((Frame){.u = u, .ctx = ctx, .what = what, .place = place}));
	return i;
}

static Inst *inst_new(Lowering *l, Frame *f, InstKind kind, uint32_t nsrc)
{
	Inst *i = arena_alloc(sizeof *i);
	*i = (Inst){.of = f->u, .place = f->place, .kind = kind, .raw = f->what == RAW,
		.nsrc = nsrc};
	i->src = arena_alloc((nsrc + !nsrc) * sizeof *i->src);
	map_put(&l->insts, inst_key(f->u, f->what, f->place), i);
	return i;
}

static void use_source(Inst *user, uint32_t k, Inst *src)
{
	user->src[k] = src;
	src->uses++;
	src->hoisted |= src->place != user->place;
	if (src->place == user->place && src->phase > user->phase)
		user->phase = src->phase;
}

static void inst_done(Lowering *l, Pending *w, Inst *i)
{
	vec_push(&l->all, i);
	vec_push(&i->place->items, i);
	w->stack.n--;
}

/* ---- plain values */

/* The loop that a scan runs along, around the lanes of its tiles. Its accumulators are there. */
static Scope *scan_loop(const Frame *f)
{
	Scope *s = f->place->base ? f->place->base : f->place;
	if (!(s->binds & bit_of(f->u->src[1])))
		die(UNSUPPORTED, "running folds over two ranges in one kernel");
	return s;
}

/* How many of u's sources are values in its own scope: the rule of a tuple is none. */
static uint32_t values_of(const UOp *u)
{
	return u->op == OP_RANGE ? 0 : u->op == OP_TUPLE ? tuple_size(u) : u->nsrc;
}

static void step_value(Lowering *l, Pending *w)
{
	Frame *f = &w->stack.at[w->stack.n - 1];
	int what = filled(l, f->u, f->what, f->place);
	bool from_fill = what != USE;
	uint32_t n = f->u->op == OP_RSCAN || from_fill ? 1 : values_of(f->u);
	for (; f->next < n; f->next++)
		if (!need(l, w, from_fill ? f->u : f->u->src[f->next], what, f->place))
			return;
	bool scan = f->u->op == OP_RSCAN && !from_fill;
	Scope *loop = scan ? scan_loop(f) : NULL;
	Inst *i = inst_new(l, f, scan ? INST_SCAN : INST_VALUE, n);
	for (uint32_t k = 0; k < n; k++)
		use_source(i, k, need(l, w, from_fill ? f->u : f->u->src[k], what, f->place));
	if (scan) {
		i->lanes = lanes_around(loop, free_of(f->u));
		vec_push(&loop->scans, i);
	}
	inst_done(l, w, i);
}

/* ---- reductions and stages */

typedef struct { UOp *u; uint64_t mask, lanes; int what; } Sight;

/* Is `at` in the body of a nest computed outside it (then *what says how)? A nest includes the
 * lanes of the tiles around it, and so does a nest whose values it reads. */
static bool is_outside(Lowering *l, Sight at, int *what)
{
	*what = USE;
	if (at.what == RAW)
		return false;
	if (!(free_of(at.u) & at.mask))
		return true;
	*what = FILL;
	if (at.u->op != OP_RREDUCE && stage_of(&l->plan, at.u) < 0)
		return false;
	return !(needs(l, at.u, FILL) & at.mask & ~at.lanes);
}

/* The sources to look at next, with the ranges that are bound around them. */
static void look_inside(Lowering *l, Sight at, void (*push)(void *, Sight), void *ctx)
{
	int stage = at.what == RAW ? -1 : stage_of(&l->plan, at.u);
	if (stage >= 0) {
		uint64_t over = l->plan.stage[stage].over;
		push(ctx, (Sight){at.u, at.mask | over, at.lanes & ~over, RAW});
		return;
	}
	bool reduce = at.u->op == OP_RREDUCE;
	uint64_t bound = reduce ? bound_of(at.u) : 0;
	for (uint32_t i = 0; i < (reduce ? 1 : values_of(at.u)); i++)
		push(ctx, (Sight){at.u->src[i], at.mask | bound, at.lanes & ~bound, USE});
}

typedef VEC(Sight) Sights;
static void push_look(void *ctx, Sight at) { vec_push((Sights *)ctx, at); }

/* The values that the body of a nest over the ranges of mask needs from outside: the outermost
 * nodes that do not depend on those ranges. A reduction inside also binds its own. */
static void find_outside(Lowering *l, Frame *f, UOp *body, int what)
{
	Sights look = {0};
	VEC(Need) out = {0};
	Map seen = {0};
	vec_push(&look, ((Sight){body, f->mask, f->lanes, what}));
	while (look.n) {
		Sight at = look.at[--look.n];
		uint64_t key = hash_mix(hash_mix(hash_mix(at.u->id, at.mask), at.lanes), at.what);
		if (map_get(&seen, key))
			continue;
		map_put(&seen, key, at.u);
		if (!is_outside(l, at, &what))
			look_inside(l, at, push_look, &look);
		else if (at.u->nsrc)
			vec_push(&out, ((Need){at.u, what}));
	}
	f->deps = arena_alloc((out.n + 1) * sizeof *f->deps);
	if (out.n)
		memcpy(f->deps, out.at, out.n * sizeof *out.at);
	f->ndeps = out.n;
	vec_free(&look);
	vec_free(&out);
	map_free(&seen);
}

/* A row buffer's accumulators are those that the parts of its reduction go on from. */
static void continue_parts(const Inst *staged)
{
	for (uint32_t k = 0; k < staged->nsrc; k++)
		staged->src[k]->src[0]->into = staged;
}

static void begin_nest(Lowering *l, Frame *f)
{
	int stage = stage_of(&l->plan, f->u);
	bool raw = f->what == FILL && stage >= 0;
	f->lanes = is_fill(f->what) ? lanes_around(f->place, needs(l, f->u, f->what)) : 0;
	f->mask = f->lanes |
		(raw ? l->plan.stage[stage].over : nest_over(l, f->u, f->what == PART));
	find_outside(l, f, raw ? f->u : f->u->src[0], raw ? RAW : USE);
	f->step = 1;
}

/* A fold of tuples is one nest: the other components are its members too. */
static void end_nest(Lowering *l, Pending *w, Frame *f, bool stage)
{
	Inst *i = inst_new(l, f, stage ? INST_STAGE : INST_REDUCE, f->nest->ninner);
	i->nest = f->nest;
	for (int k = 0; k < f->nest->ninner; k++) {
		i->src[k] = f->got[k];
		f->got[k]->uses++;
		f->got[k]->hoisted |= f->got[k]->place != f->nest->inner[k];
	}
	i->phase = f->nest->phase;
	if (f->nest->outside)
		continue_parts(i);
	vec_push(&f->nest->members, i);
	const Frame done = *f;
	inst_done(l, w, i);
	for (uint32_t k = 0; folds_tuple(done.u) && k < tuple_size(done.u->src[0]); k++)
		need(l, w, fold_component(done.u, k), done.what, done.ctx);
}

static void step_nest(Lowering *l, Pending *w)
{
	Frame *f = &w->stack.at[w->stack.n - 1];
	bool stage = f->what == FILL && stage_of(&l->plan, f->u) >= 0;
	if (!f->step)
		begin_nest(l, f);
	for (; f->next < f->ndeps; f->next++) {
		Inst *i = need(l, w, f->deps[f->next].u, f->deps[f->next].what, f->ctx);
		if (!i)
			return;
		if (i->place == f->place && i->phase > f->phase)
			f->phase = i->phase;
	}
	if (!f->nest)
		f->nest = nest_for(l, f->u, f->place, f->phase + 1,
			stage                   ? NEST_STAGE :
				f->what == PART ? NEST_PART :
						  NEST_FOLD,
			f->lanes);
	for (; f->step <= f->nest->ninner; f->step++) {
		Inst *i = need(l, w, stage ? f->u : f->u->src[0], stage ? RAW : USE,
			f->nest->inner[f->step - 1]);
		if (!i)
			return;
		f->got[f->step - 1] = i;
	}
	end_nest(l, w, f, stage);
}

Inst *inst_get(Lowering *l, UOp *u, Scope *ctx)
{
	Pending w = {0};
	need(l, &w, u, USE, ctx);
	while (w.stack.n) {
		Frame *f = &w.stack.at[w.stack.n - 1];
		if (map_get(&l->insts, inst_key(f->u, f->what, f->place)))
			w.stack.n--;
		else if (is_fill(f->what) ||
			(f->u->op == OP_RREDUCE && filled(l, f->u, f->what, f->place) == USE))
			step_nest(l, &w);
		else
			step_value(l, &w);
	}
	Inst *i = need(l, &w, u, USE, ctx);
	vec_free(&w.stack);
	return i;
}
