/* Calls that agree on slices (layout/slices.c) become one: an item of its grid runs all of them,
 * one after another, for one slice; what stays within a slice is a buffer of the item's own.
 *
 *     CALL a {slice: {first: true, axes: [0], local: [0]}} t x  →  CALL ab y x: DEFINE_LOCAL t
 *     CALL b {slice: {axes: [0], local: [1]}} y t                  statements of a; of b
 *
 * Their grids are the same, so an item of one is an item of all. Where they also have `turn`, a
 * range along which temporaries are within one turn too, they share its loop: a turn runs all of
 * them. Memory is planned again, since the first call's inputs are now in use until the last call
 * is done. */
#include "document/document.h"
#include "lower/lower.h"
#include <stdlib.h>

/* ---- slices in a kernel's arg */

enum { MAX_LOCAL = 64 };
/* The axis numbers of the loops that form the slices (none: the kernel has no slices), and the
 * slots of buffers that stay within one slice. */
typedef struct {
	bool first;
	int n, nlocal, turn;    /* turn: the axis number of the range of turns, -1: none */
	int64_t axis[MAX_SLICE_AXES], local[MAX_LOCAL];
} SliceArg;

static int read_numbers(const UOp *kernel, const Val *list, int64_t most, int64_t *out, int n)
{
	if (!list || list->kind != VAL_ARRAY || list->n > (size_t)n)
		die(MALFORMED, "node %u KERNEL: slice has no %d numbers", kernel->id, n);
	for (size_t i = 0; i < list->n; i++) {
		if (list->a[i]->kind != VAL_INT || list->a[i]->i < 0 || list->a[i]->i >= most)
			die(MALFORMED, "node %u KERNEL: a number of slice does not fit",
				kernel->id);
		out[i] = list->a[i]->i;
	}
	return (int)list->n;
}

static SliceArg slice_of(const UOp *kernel)
{
	const Val *v = val_get(kernel->arg, "slice"), *first;
	SliceArg s = {.turn = -1};
	int64_t turn;
	if (!v || v->kind != VAL_MAP)
		return s;
	first = val_get(v, "first");
	s.first = first && first->kind == VAL_BOOL && first->b;
	s.n = read_numbers(kernel, val_get(v, "axes"), MAX_RANGES, s.axis, MAX_SLICE_AXES);
	if (val_get(v, "turn")) {
		read_numbers(kernel, VARR(val_get(v, "turn")), MAX_RANGES, &turn, 1);
		s.turn = (int)turn;
	}
	s.nlocal = read_numbers(kernel, val_get(v, "local"), MAX_LOCAL, s.local, MAX_LOCAL);
	return s;
}

int slice_ranges(const Facts *f, int *range)
{
	SliceArg s = slice_of(f->kernel);
	uint64_t free = f->out & ~f->serial;
	for (int i = 0; i < s.n; i++) {
		range[i] = -1;
		for (int r = 0; r < f->nrange; r++)
			if (axis_of(f, r) == s.axis[i] && free >> r & 1)
				range[i] = r;
		if (range[i] < 0)
			die(MALFORMED, "node %u KERNEL: slice names a loop that it does not have",
				f->kernel->id);
		free &= ~(1ull << range[i]);
	}
	return s.n;
}

int slice_turn(const Facts *f)
{
	SliceArg s = slice_of(f->kernel);
	uint64_t may = (f->out | f->reduced) & ~f->serial & ~(f->out & f->reduced);
	for (int r = 0; s.turn >= 0 && r < f->nrange; r++)
		if (axis_of(f, r) == s.turn && may >> r & 1)
			return r;
	if (s.turn >= 0)
		die(MALFORMED, "node %u KERNEL: slice names a range of turns that it does not have",
			f->kernel->id);
	return -1;
}

/* ---- a group */

typedef VEC(UOp *) Calls;

/* The calls of a group, and the one made of them. */
typedef struct {
	UOp *const *call;
	int n;
	UOp *items;
	UOp *turn;              /* the loop of turns, which all share; NULL: none */
	VEC(UOp *) buffer;      /* of the joined call, by slot */
	VEC(UOp *) inside;      /* buffers that live within one slice */
	VEC(UOp *) local;       /* the DEFINE_LOCALs that replace them */
	VEC(UOp *) out;         /* statements */
	VEC(UOp *) turns, after;        /* of each turn; after all of them */
	int64_t ids;            /* LET and DEFINE numbers used so far */
	bool apart;             /* some place could not be proved to be within its slice */
} MergedCall;

/* The call whose kernel is being rewritten. */
typedef struct {
	MergedCall *g;
	const UOp *call;
	UOp *turn;              /* its loop of turns */
	Map lets;
	int64_t ids;
} MergedPart;

static int place_in(UOp *const *at, size_t n, const UOp *u)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == u)
			return (int)i;
	return -1;
}

/* ---- places in slice 0 */

static UOp *slice_zero(UOp *u, void *ctx)
{
	MergedPart *p = ctx;
	if (u->op == OP_SPECIAL || u == p->g->turn)
		return ix_const(0);
	/* a LET that depends on the slice has changed: its value replaces it */
	if (u->op == OP_LET)
		return map_get(&p->lets, PKEY(u)) ? u : u->src[0];
	return u->nsrc ? ix_remake(u, u->src) : u;
}

static UOp *place_in_slice(MergedPart *p, UOp *local, const UOp *index)
{
	int64_t lo, hi;
	UOp *at = walk_replace(index->src[1], slice_zero, p);
	ix_bounds(at, &lo, &hi);
	p->g->apart |= lo < 0 || hi >= local->arg->a[1]->i;
	return NODE(OP_INDEX, index->dtype, VNIL, local, at);
}

/* ---- one call's kernel within the joined kernel */

static UOp *local_of(const MergedPart *p, const UOp *param)
{
	int i = place_in(p->g->inside.at, p->g->inside.n, p->call->src[1 + param_slot(param)]);
	return i < 0 ? NULL : p->g->local.at[i];
}

static UOp *renumbered(MergedPart *p, UOp *u)
{
	const Val *arg = u->arg;
	int64_t id = statement_id(u);
	p->ids = id >= p->ids ? id + 1 : p->ids;
	const Val *now = val_int(id + p->g->ids);
	if (arg->kind == VAL_INT)
		arg = now;
	else
		arg = val_array(arg->n,
			(const Val *[]){now, arg->a[1], arg->n > 2 ? arg->a[2] : VNIL});
	UOp *r = node_like(u, u->nsrc, u->src, arg);
	if (u->op == OP_LET)
		map_put(&p->lets, PKEY(r), r);
	return r;
}

static UOp *part_place(MergedPart *p, const UOp *index)
{
	UOp *param = index->src[0], *local = local_of(p, param);
	if (local)
		return place_in_slice(p, local, index);
	int slot = place_in(p->g->buffer.at, p->g->buffer.n, p->call->src[1 + param_slot(param)]);
	return NODE(OP_INDEX, index->dtype, VNIL, param_moved(param, slot), index->src[1]);
}

static UOp *part_node(UOp *u, void *ctx)
{
	MergedPart *p = ctx;
	switch (u->op) {
	case OP_LET: case OP_DEFINE_REG: case OP_DEFINE_LOCAL:
		return renumbered(p, u);
	case OP_INDEX:
		return u->src[0]->op == OP_PARAM ? part_place(p, u) : u;
	default: return u;
	}
}

/* The outermost loop over the range of this axis; NULL: there is none, or there are several. */
static UOp *loop_over(const UOp *kernel, int axis)
{
	UOp *found = NULL;
	int depth = 0;
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *u = kernel->src[i];
		if (u->op == OP_RANGE && !depth && range_axis(u) == axis) {
			if (found)
				return NULL;
			found = u;
		}
		depth += (u->op == OP_RANGE || u->op == OP_IF) -
			(u->op == OP_ENDRANGE || u->op == OP_ENDIF);
	}
	return found;
}

static bool names_inside(const MergedCall *g, UOp *statement)
{
	Nodes all = walk(statement);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_INDEX &&
			place_in(g->local.at, g->local.n, all.at[i]->src[0]) >= 0)
			return true;
	return false;
}

/* Statements before the loop of turns, in it, and after it, which only the last call may have. What
 * stays within a turn is there in the loop alone. */
static void put_turns(MergedCall *g, const UOp *kernel, bool last)
{
	int where = 0;
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *u = kernel->src[i];
		bool opens = u == g->turn, closes = u->op == OP_ENDRANGE && u->src[0] == g->turn;
		where += closes;
		if (!opens && !closes && where != 1)
			g->apart |= names_inside(g, u) || (where == 2 && !last);
		if (!opens && !closes && where == 0)
			vec_push(&g->out, u);
		else if (!opens && !closes && where == 1)
			vec_push(&g->turns, u);
		else if (!opens && !closes)
			vec_push(&g->after, u);
		where += opens;
	}
}

static void put_part(MergedCall *g, UOp *call, int turn)
{
	MergedPart p = {.g = g, .call = call};
	UOp *kernel = call->src[0], *own = turn < 0 ? NULL : loop_over(kernel, turn);
	if (turn >= 0 && (!own || own->src[0] != g->turn->src[0])) {
		g->apart = true;
		return;
	}
	if (own)
		kernel = substitute(kernel, 1, &own, &g->turn);
	kernel = walk_replace(kernel, part_node, &p);
	if (own)
		put_turns(g, kernel, call == g->call[g->n - 1]);
	for (uint32_t i = 0; !own && i < kernel->nsrc; i++)
		vec_push(&g->out, kernel->src[i]);
	g->ids += p.ids;
	map_free(&p.lets);
}

/* A loop for the turns of all of them, of an axis number that none has; of the size of the first
 * one's. */
static void open_turns(MergedCall *g, const SliceArg *slice)
{
	UOp *first = loop_over(g->call[0]->src[0], slice[0].turn);
	int axis = 0;
	for (int c = 0; c < g->n; c++) {
		Nodes all = walk(g->call[c]->src[0]);
		g->apart |= slice[c].turn < 0;
		for (size_t i = 0; i < all.n; i++)
			if (all.at[i]->op == OP_RANGE && range_axis(all.at[i]) > axis)
				axis = range_axis(all.at[i]);
	}
	g->apart |= !first || axis > 62;
	if (!g->apart)
		g->turn = ix_range(axis + 1, "serial", first->src[0]);
}

static void close_turns(MergedCall *g)
{
	vec_push(&g->out, g->turn);
	for (size_t i = 0; i < g->turns.n; i++)
		vec_push(&g->out, g->turns.at[i]);
	vec_push(&g->out, NODE(OP_ENDRANGE, DT_NONE, VNIL, g->turn));
	for (size_t i = 0; i < g->after.n; i++)
		vec_push(&g->out, g->after.at[i]);
}

/* ---- the joined kernel */

static UOp *variable_one(UOp *u, void *ctx)
{
	(void)ctx;
	if (u->op == OP_VAR)
		return ix_const(1);
	return u->nsrc ? ix_remake(u, u->src) : u;
}

/* The number of a buffer's elements that belong to each item, if it is the same whatever the
 * symbolic sizes; else 0. */
static int64_t elements_each(const MergedCall *g, const UOp *buffer)
{
	UOp *all = ix_const(1), *each = g->items;
	int64_t n, items;
	if (g->turn)
		each = ix_mul(each, g->turn->src[0]);
	for (int k = 0; k < buffer->shape->rank; k++)
		all = ix_mul(all, buffer->shape->dim[k]);
	if (!ix_is_const(walk_replace(all, variable_one, NULL), &n) ||
		!ix_is_const(walk_replace(each, variable_one, NULL), &items) || items < 1)
		return 0;
	return ix_mul(each, ix_const(n / items)) == all ? n / items : 0;
}

static void put_inside(MergedCall *g, const UOp *call, const SliceArg *s)
{
	for (int i = 0; i < s->nlocal; i++) {
		if (s->local[i] + 1 >= call->nsrc)
			die(MALFORMED, "node %u CALL: a slot of slice has no buffer", call->id);
		UOp *b = call->src[1 + s->local[i]];
		if (place_in(g->inside.at, g->inside.n, b) >= 0)
			continue;
		int64_t n = elements_each(g, b);
		g->apart |= !buffer_is(b, "temp") || !n;
		if (g->apart)
			return;
		vec_push(&g->inside, b);
		vec_push(&g->local, LEAF(OP_DEFINE_LOCAL, b->dtype,
			VARR(val_int(g->ids++), val_int(n), val_str("stack"))));
	}
}

/* Buffers that are written come first, as in any call. */
static void put_buffers(MergedCall *g, bool written)
{
	for (int c = 0; c < g->n; c++) {
		uint64_t writes = call_writes(g->call[c]);
		for (uint32_t k = 1; k < g->call[c]->nsrc; k++) {
			UOp *b = g->call[c]->src[k];
			bool is = k <= 64 && writes >> (k - 1) & 1;
			if (is == written && place_in(g->inside.at, g->inside.n, b) < 0 &&
				place_in(g->buffer.at, g->buffer.n, b) < 0)
				vec_push(&g->buffer, b);
		}
	}
}

static const Val *whole_arg(const MergedCall *g)
{
	static const char *const same[] = {"target", "march", "global_size"};
	/* how a softmax is computed, which equal/powers.c asks */
	static const char *const softmax[] = {"online", "faint"};
	const Val *parts[MAX_SLICE_CALLS], *arg;
	Buf name = {0};
	UOp *work = ix_const(0);
	const char *err;
	for (int c = 0; c < g->n; c++) {
		const Val *own = g->call[c]->src[0]->arg;
		const Val *w = val_get(own, "work"), *actions = val_get(own, "actions");
		buf_printf(&name, "%s%s", c ? "__" : "", call_name(g->call[c]));
		UOp *own_work = w ? size_from_val(w, &err) : NULL;
		work = ix_add(work, own_work ? own_work : ix_const(1));
		parts[c] = VMAP(val_str("name"), val_str(call_name(g->call[c])), val_str("actions"),
			actions ? actions : VNIL);
	}
	arg = VMAP(val_str("name"), val_str(arena_strdup(buf_str(&name))), val_str("work"),
		size_to_val(work));
	for (int i = 0; i < 3; i++) {
		const Val *v = val_get(g->call[0]->src[0]->arg, same[i]);
		arg = v ? val_set(arg, same[i], v) : arg;
	}
	buf_free(&name);
	for (int c = 0; c < g->n; c++)
		for (int i = 0; i < 2; i++) {
			const Val *is = val_get(g->call[c]->src[0]->arg, softmax[i]);
			arg = is ? val_set(arg, softmax[i], is) : arg;
		}
	return val_set(arg, "parts", val_array(g->n, parts));
}

/* The number of items of the call's grid; NULL unless the grid has one dimension. */
static UOp *items_of(const UOp *call)
{
	const Val *size = val_get(call->src[0]->arg, "global_size");
	const char *err;
	return size && size->n == 1 ? size_from_val(size->a[0], &err) : NULL;
}

/* Leaves out LETs that named places outside of their slice, and that nothing names any more. */
static void drop_unused(MergedCall *g)
{
	VEC(UOp *) statement = {0};
	Map used = {0};
	size_t n = 0;
	for (size_t i = 0; i < g->out.n; i++)
		if (g->out.at[i]->op != OP_LET)
			vec_push(&statement, g->out.at[i]);
	Nodes all = walk_many(statement.n, statement.at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LET)
			map_put(&used, PKEY(all.at[i]), all.at[i]);
	for (size_t i = 0; i < g->out.n; i++)
		if (g->out.at[i]->op != OP_LET || map_get(&used, PKEY(g->out.at[i])))
			g->out.at[n++] = g->out.at[i];
	g->out.n = n;
	vec_free(&statement);
	map_free(&used);
}

static UOp *whole_call(MergedCall *g)
{
	Calls src = {0};
	drop_unused(g);
	vec_push(&src, node_like(g->call[0]->src[0], g->out.n, g->out.at, whole_arg(g)));
	for (size_t i = 0; i < g->buffer.n; i++)
		vec_push(&src, g->buffer.at[i]);
	UOp *call = node_like(g->call[0], src.n, src.at, VNIL);
	vec_free(&src);
	return call;
}

/* Does it split a loop of the slices, or make chunks of one? */
static bool splits_slices(const Val *a, const SliceArg *s)
{
	bool splits = false;
	for (int k = 0; k < s->n && val_is_str(a->a[0], "split"); k++)
		splits |= atoi(range_path(a->a[1])) == s->axis[k];
	return splits || val_is_str(a->a[0], "chunk");
}

/* Are the items of a kernel its slices, in their order? Its list may say otherwise: then it runs by
 * itself. */
static bool keeps_slices(const UOp *kernel, const SliceArg *s)
{
	const Val *list = val_get(kernel->arg, "actions");
	bool order = false;
	int64_t shared = 0;
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++) {
		const Val *a = list->a[i];
		if (splits_slices(a, s))
			return false;
		if (val_is_str(a->a[0], "grid"))
			shared = a->a[1]->i;
		shared += val_is_str(a->a[0], "kind") && val_is_str(a->a[2], "thread");
		bool front = val_is_str(a->a[0], "order") && a->n > (size_t)s->n;
		for (int k = 0; front && k < s->n; k++)
			front = a->a[k + 1]->kind == VAL_INT && a->a[k + 1]->i == s->axis[k];
		order |= front;
	}
	return order && shared == s->n;
}

/* One call that replaces these; NULL where they have to stay separate. */
static UOp *join(UOp *const *calls, const SliceArg *slice, int n)
{
	MergedCall g = {.call = calls, .n = n};
	UOp *call = NULL;
	g.items = items_of(calls[0]);
	for (int c = 0; c < n; c++)
		g.apart |= !g.items || items_of(calls[c]) != g.items ||
			!keeps_slices(calls[c]->src[0], &slice[c]);
	for (int c = 0; c < n && !g.apart; c++)
		if (slice[c].turn >= 0 && !g.turn)
			open_turns(&g, slice);
	for (int c = 0; c < n && !g.apart; c++)
		put_inside(&g, calls[c], &slice[c]);
	if (!g.apart) {
		for (size_t i = 0; i < g.local.n; i++)
			vec_push(&g.out, g.local.at[i]);
		put_buffers(&g, true);
		put_buffers(&g, false);
		for (int c = 0; c < n && !g.apart; c++)
			put_part(&g, calls[c], g.turn ? slice[c].turn : -1);
		if (g.turn)
			close_turns(&g);
		if (!g.apart)
			call = whole_call(&g);
	}
	vec_free(&g.buffer);
	vec_free(&g.inside);
	vec_free(&g.local);
	vec_free(&g.out);
	vec_free(&g.turns);
	vec_free(&g.after);
	return call;
}

/* The number of calls, from the first on, that say they belong together. */
static int group_size(const SliceArg *s, uint32_t left)
{
	int n = 1;
	while (s->n && n < MAX_SLICE_CALLS && n < (int)left && s[n].n && !s[n].first)
		n++;
	return n;
}

Graph *lower_slices(Graph *g)
{
	Calls out = {0};
	bool any = false;
	UOp *const *at = g->sink->src;
	SliceArg *slice = xcalloc(g->sink->nsrc + 1, sizeof *slice);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		if (call_has_kernel(at[i]))
			slice[i] = slice_of(at[i]->src[0]);
	for (uint32_t i = 0, n; i < g->sink->nsrc; i += n) {
		n = group_size(slice + i, g->sink->nsrc - i);
		UOp *call = n > 1 ? join(at + i, slice + i, n) : NULL;
		any |= call != NULL;
		for (uint32_t k = 0; !call && k < n; k++)
			vec_push(&out, at[i + k]);
		if (call)
			vec_push(&out, call);
	}
	Graph *r = any ? plan_memory(graph_with_calls(g, out.n, out.at)) : g;
	vec_free(&out);
	free(slice);
	return r;
}
