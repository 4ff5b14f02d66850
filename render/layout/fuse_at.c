/* ["fuse_at", buffer, r, n?]: the call that writes a temporary is computed within loop r of the
 * only call that reads it, n iterations of r at a time, and of the temporary only the window that
 * these iterations read is stored. An action of the schedule: its list stands in the SINK.
 *
 *     t[i,j] = x[i,j] + x[i,j+1]            fuse_at t 0 8: parts of 8 rows, which read 9 of t
 *     y[i,j] = t[i,j] * t[i+1,j]       →    t'[p,w,j] = x[8p+w,j] + x[8p+w,j+1]      w < 9
 *                                           y[8p+i,j] = t'[p,i,j] * t'[p,i+1,j]      i < 8
 *
 * What several windows have in common (the halo, here one row) is computed in each. Where a window
 * reaches beyond the temporary its edge is computed again, and nobody reads that. The calls say in
 * `slice` of their args that p is the same for both; lower/slices.c makes one kernel of them, in
 * which the window is on the stack. Run one after another they are right too.
 *
 * A list may go on with what the first producer reads: its loop p has the number r too. */
#include "target/target.h"
#include "document/document.h"
#include "lower/lower.h"
#include "index/ix.h"
#include "layout/layout.h"

/* The window along an axis of the temporary: `size` places from `first` on, which depends on the
 * loops outside; first NULL: the whole axis. */
typedef struct { UOp *first, *size; } Window;
typedef struct {
	const Val *action;
	const char *name;
	UOp *buffer, *maker, *reader;   /* the temporary, and the calls that write and read it */
	uint32_t made, read;            /* their places in the list */
	UOp *outer[MAX_SLICE_AXES];     /* the reader's loops up to r, outermost first */
	int n;
	Window window[MAX_RANK];
	UOp *now;                       /* the buffer of windows */
} FuseAt;

static _Noreturn void refuse(const FuseAt *a, const char *why)
{
	die(MALFORMED, "SINK: fuse_at %.60s: %s", a->name, why);
}

static int64_t number_of(const FuseAt *a, size_t i, int64_t least, int64_t otherwise)
{
	if (i >= a->action->n)
		return otherwise;
	const Val *v = a->action->a[i];
	if (v->kind != VAL_INT || v->i < least || v->i > INT32_MAX)
		refuse(a, "a loop is named by its number, and a part has at least 1 iteration");
	return v->i;
}

/* ---- the two calls */

static void find_calls(FuseAt *a, const UOp *sink)
{
	int readers = 0, makers = 0;
	for (uint32_t i = 0; i < sink->nsrc; i++) {
		UOp *call = sink->src[i];
		for (uint32_t k = call->op == OP_CALL; k < call->nsrc && !a->buffer; k++)
			if (call->src[k]->op == OP_BUFFER &&
				!strcmp(buffer_name(call->src[k]), a->name))
				a->buffer = call->src[k];
		if (!a->buffer || !call_touches(call, a->buffer))
			continue;
		if (call_stores(call, a->buffer))
			a->maker = call, a->made = i, makers++;
		else
			a->reader = call, a->read = i, readers++;
	}
	if (!a->buffer || !buffer_is(a->buffer, "temp"))
		refuse(a, "there is no temporary of that name");
	if (makers != 1 || readers != 1 || a->made > a->read)
		refuse(a, "it is not written by one call and then read by one other");
	if (!call_has_kernel(a->maker) || !call_has_kernel(a->reader))
		refuse(a, "what writes or reads it is no kernel");
}

/* The place of the first call that shares slices with the reader. */
static uint32_t group_start(const FuseAt *a, const UOp *sink)
{
	uint32_t i = a->read;
	while (i && call_has_kernel(sink->src[i]) && !slice_starts(sink->src[i]))
		i--;
	if (!call_has_kernel(sink->src[i]))
		refuse(a, "its reader follows no call of its slices");
	return i;
}

/* May the maker run just before its reader, and parts of it after parts of that? */
static void check_moved(const FuseAt *a, const UOp *sink)
{
	for (uint32_t i = a->made + 1; i <= a->read; i++)
		for (uint32_t k = 1; k < a->maker->nsrc; k++)
			if (call_stores(sink->src[i], a->maker->src[k]))
				refuse(a, "a call behind it writes what it is made of");
}

static uint64_t rerun_by_reductions(const Facts *f)
{
	uint64_t set = 0;
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RREDUCE)
			set |= bound_of(f->all.at[i]);
	return set;
}

/* ---- the reader: its loops up to r, of which the last is split */

/* By the action split: what goes beyond the loop's end is guarded. The outer piece has r's
 * number. */
static void split_last(FuseAt *a, const Facts *f, int64_t n)
{
	UOp *r = a->outer[a->n - 1], *kernel = f->kernel;
	const Val *list = VARR(VARR(val_str("split"), val_int(range_axis(r)), val_int(n)));
	Rewriting w;
	Facts now;
	if (n == 1)
		return;
	if (least_of(f, bit_of(r)) <= n)
		refuse(a, "the loop may have one part alone");
	kernel = node_like(kernel, kernel->nsrc, kernel->src,
		val_set(kernel->arg, "actions", list));
	kernel = kernel_rewritten(&(KernelUse){.kernel = kernel}, &w);
	kernel = node_like(kernel, kernel->nsrc, kernel->src,
		val_set(val_set(kernel->arg, "actions", NULL), "plan", NULL));
	a->reader = call_with_kernel(a->reader, kernel);
	facts_find(&now, kernel, false);
	for (int i = 0; i < now.nrange; i++)
		if (axis_of(&now, i) == range_axis(r) && now.out >> i & 1)
			a->outer[a->n - 1] = now.range[i];
}

/* The reader's loops from the outermost to r, in order of their numbers. */
static void find_outer(FuseAt *a)
{
	Facts f;
	int64_t r = number_of(a, 2, 0, -1), n = number_of(a, 3, 1, 1);
	bool shares = val_get(a->reader->src[0]->arg, "slice");
	facts_find(&f, a->reader->src[0], call_aliases(a->reader));
	if (call_prepares(a->reader) || call_aliases(a->reader) || f.sort || f.in_place)
		refuse(a, "its reader sorts, prepares, or writes what it reads");
	uint64_t may = f.out & ~f.serial & ~rerun_by_reductions(&f);
	UOp *range[MAX_RANGES];
	int most = ranges_of(&f, f.out, range);
	for (int i = 0; i < most && range_axis(range[i]) <= r; i++) {
		if (!(bit_of(range[i]) & may))
			refuse(a, "a loop of its reader up to there runs in order, or in a "
				  "reduction too");
		if (a->n == MAX_SLICE_AXES)
			refuse(a, "too many loops of its reader stand outside");
		a->outer[a->n++] = range[i];
	}
	if (!a->n || range_axis(a->outer[a->n - 1]) != r)
		refuse(a, "its reader has no such loop");
	int sliced[MAX_SLICE_AXES];
	int had = slice_ranges(&f, sliced);
	for (int i = 0; shares && i < a->n; i++)
		if (n > 1 || had != a->n || slice_turn(&f) >= 0 ||
			f.range[sliced[i]] != a->outer[i])
			refuse(a, "its reader shares other loops with another call");
	split_last(a, &f, n);
}

/* ---- windows: which places an iteration of the loops outside reads */

/* A place of a load: what depends on the loops outside, and between which values the rest is. */
static void place_in_two(const FuseAt *a, uint64_t outer, UOp *at, UOp **first, int64_t *lo,
	int64_t *hi)
{
	Sum s, outside, inside;
	sum_of(&s, at);
	sum_const(&outside, 0);
	sum_const(&inside, s.k);
	for (int i = 0; i < s.n; i++) {
		uint64_t free = free_of_made(s.t[i].m);
		if (free & outer && free & ~outer)
			refuse(a, "a place that is read moves with the loops outside and others "
				  "at once");
		if (!sum_term(free & outer ? &outside : &inside, s.t[i].c, s.t[i].m))
			refuse(a, "a place that is read is too long a sum");
	}
	*first = sum_node(&outside);
	sum_bounds(&inside, lo, hi);
}

/* The window of axis k: of all loads together. */
static void find_window(FuseAt *a, const Facts *f, uint64_t outer, int k)
{
	UOp *dim = a->buffer->shape->dim[k], *first = NULL;
	int64_t lo = INT64_MAX, hi = INT64_MIN, size;
	bool moves = false;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		UOp *base;
		int64_t least, most;
		if (u->op != OP_INDEX || u->src[0]->op != OP_PARAM ||
			param_slot(u->src[0]) != call_slot(a->reader, a->buffer))
			continue;
		if ((int)u->nsrc != a->buffer->shape->rank + 1)
			refuse(a, "its places are flat");
		place_in_two(a, outer, u->src[1 + k], &base, &least, &most);
		if (first && first != base)
			refuse(a, "it is read at places that move in several ways");
		first = base;
		moves |= free_of_made(base) != 0;
		lo = least < lo ? least : lo;
		hi = most > hi ? most : hi;
	}
	a->window[k] = (Window){NULL, dim};
	if (!moves)
		return;
	if (lo < -INT32_MAX || hi > INT32_MAX)
		refuse(a, "the size of a window is not known");
	if (ix_is_const(dim, &size) && hi - lo + 1 >= size)
		return;
	a->window[k] = (Window){ix_add(first, ix_const(lo)), ix_const(hi - lo + 1)};
}

/* Bytes of a window, at most: it is on a thread's stack. */
static void check_size(const FuseAt *a)
{
	int64_t bytes = dtype_size(a->buffer->dtype), lo, hi;
	for (int k = 0; k < a->buffer->shape->rank; k++) {
		ix_bounds(a->window[k].size, &lo, &hi);
		if (hi > INT32_MAX || !mul_ok(bytes, hi, &bytes) || bytes > slice_bytes())
			refuse(a, arena_printf("its window may take more than %lld bytes",
				(long long)slice_bytes()));
	}
}

static void find_windows(FuseAt *a)
{
	Facts f;
	UOp *dim[MAX_RANK];
	uint64_t outer = 0;
	int n = 0;
	facts_find(&f, a->reader->src[0], false);
	for (int i = 0; i < a->n; i++) {
		outer |= bit_of(a->outer[i]);
		dim[n++] = a->outer[i]->src[0];
	}
	if (a->n + a->buffer->shape->rank > MAX_RANK)
		refuse(a, "it has too many axes");
	for (int k = 0; k < a->buffer->shape->rank; k++) {
		find_window(a, &f, outer, k);
		dim[n++] = a->window[k].size;
	}
	check_size(a);
	a->now = buffer_of(a->name, "temp", a->buffer->dtype, shape_new(n, dim));
}

/* ---- the calls, with windows */

static UOp *window_place(const FuseAt *a, int64_t slot, UOp *const *within)
{
	UOp *at[MAX_RANK + 1] = {param_new(slot, a->now)};
	int n = 1;
	for (int i = 0; i < a->n; i++)
		at[n++] = a->outer[i];
	for (int k = 0; k < a->buffer->shape->rank; k++)
		at[n++] = within[k];
	return node_new(OP_INDEX, a->buffer->dtype, n, at, VNIL);
}

static UOp *read_within(UOp *u, void *ctx)
{
	const FuseAt *a = ctx;
	UOp *within[MAX_RANK];
	if (u->op != OP_INDEX || u->src[0]->op != OP_PARAM ||
		param_slot(u->src[0]) != call_slot(a->reader, a->buffer))
		return u;
	for (int k = 0; k < a->buffer->shape->rank; k++)
		within[k] = a->window[k].first ? ix_sub(u->src[1 + k], a->window[k].first) :
						 u->src[1 + k];
	return window_place(a, param_slot(u->src[0]), within);
}

/* The call with the kernel, the buffer of windows in place of the temporary, and its slice. */
static UOp *sliced(const FuseAt *a, UOp *call, UOp *kernel, bool first)
{
	const Val *was = val_get(kernel->arg, "slice");
	VEC(const Val *) local = {0}, axes = {0};
	UOp **src = arena_alloc(call->nsrc * sizeof *src);
	for (int i = 0; i < a->n; i++)
		vec_push(&axes, val_int(range_axis(a->outer[i])));
	was = was ? val_get(was, "local") : NULL;
	for (size_t i = 0; was && was->kind == VAL_ARRAY && i < was->n; i++)
		vec_push(&local, was->a[i]);
	vec_push(&local, val_int(call_slot(call, a->buffer)));
	const Val *slice = VMAP(val_str("first"), val_bool(first), val_str("axes"),
		val_array(axes.n, axes.at), val_str("local"), val_array(local.n, local.at));
	vec_free(&axes);
	vec_free(&local);
	src[0] = node_like(kernel, kernel->nsrc, kernel->src, val_set(kernel->arg, "slice", slice));
	for (uint32_t k = 1; k < call->nsrc; k++)
		src[k] = call->src[k] == a->buffer ? a->now : call->src[k];
	return node_like(call, call->nsrc, src, call->arg);
}

static UOp *reader_within(FuseAt *a)
{
	return sliced(a, a->reader, walk_replace(a->reader->src[0], read_within, a), false);
}

/* The maker's ranges get numbers behind those of the loops outside, which are its own now. */
static UOp *renumbered(const FuseAt *a, const Facts *f)
{
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	int by = range_axis(a->outer[a->n - 1]) + 1;
	if (last_axis(f) + by >= MAX_RANGES)
		refuse(a, "the call that writes it has no numbers left for more ranges");
	for (int r = 0; r < f->nrange; r++) {
		from[r] = f->range[r];
		to[r] = ix_range(axis_of(f, r) + by, range_kind(from[r]), from[r]->src[0]);
	}
	return substitute(f->kernel, f->nrange, from, to);
}

static UOp *only_store(const FuseAt *a, const Facts *f)
{
	UOp *store = f->kernel->src[0];
	if (f->kernel->nsrc != 1 || f->sort || f->in_place || f->gated)
		refuse(a, "the call that writes it writes more, or not all of it");
	if (val_get(f->kernel->arg, "slice"))
		refuse(a, "the call that writes it shares loops with another: what is read last "
			  "comes first");
	return store;
}

/* The place of window w along axis k in the temporary: within its bounds, whatever the window. */
static UOp *place_from(const FuseAt *a, int k, UOp *w)
{
	int64_t lo, hi;
	UOp *last = ix_sub(a->buffer->shape->dim[k], ix_const(1));
	UOp *at = ix_add(a->window[k].first, w);
	ix_bounds(at, &lo, &hi);
	if (!ix_prove_le(at, last))
		at = NODE(OP_MIN, DT_I64, VNIL, at, last);
	return lo >= 0 ? at : NODE(OP_MAX, DT_I64, VNIL, at, ix_const(0));
}

static UOp *maker_within(FuseAt *a)
{
	Facts f;
	UOp *from[MAX_RANK], *to[MAX_RANK], *within[MAX_RANK];
	int n = 0;
	if (call_prepares(a->maker) || call_aliases(a->maker))
		refuse(a, "the call that writes it prepares, or writes what it reads");
	facts_find(&f, a->maker->src[0], false);
	only_store(a, &f);
	facts_find(&f, renumbered(a, &f), false);
	UOp *store = f.kernel->src[0];
	uint64_t may = f.out & ~f.serial & ~rerun_by_reductions(&f), seen = 0;
	for (int k = 0; k < a->buffer->shape->rank; k++) {
		UOp *at = store->src[0]->src[1 + k], *dim = a->buffer->shape->dim[k];
		int64_t one;
		within[k] = at;
		if (ix_is_const(dim, &one) && one == 1 && at->op == OP_CONST)
			continue;
		if (at->op != OP_RANGE || at->src[0] != dim || seen & bit_of(at))
			refuse(a, "the call that writes it does not have a loop for each axis");
		seen |= bit_of(at);
		if (!a->window[k].first)
			continue;
		if (!(bit_of(at) & may))
			refuse(a, "the call that writes it goes along a windowed axis in order, "
				  "or in a reduction too");
		within[k] = ix_range(range_axis(at), "loop", a->window[k].size);
		from[n] = at;
		to[n++] = place_from(a, k, within[k]);
	}
	UOp *kernel = f.kernel;
	UOp *value = substitute(store->src[1], n, from, to);
	UOp *place = window_place(a, call_slot(a->maker, a->buffer), within);
	store = NODE(OP_STORE, DT_NONE, store->arg, place, value);
	return sliced(a, a->maker, node_like(kernel, 1, &store, kernel->arg), true);
}

/* ---- the action */

/* The call follows another one of its slices from now on. */
static UOp *not_first(UOp *call)
{
	UOp *kernel = call->src[0];
	const Val *slice = val_set(val_get(kernel->arg, "slice"), "first", val_bool(false));
	return call_with_kernel(call, node_like(kernel, kernel->nsrc, kernel->src,
		val_set(kernel->arg, "slice", slice)));
}

Graph *layout_fuse_at(Graph *g, const Val *action)
{
	FuseAt a = {.action = action, .name = action->a[1]->s};
	VEC(UOp *) call = {0};
	find_calls(&a, g->sink);
	uint32_t start = group_start(&a, g->sink);
	if (a.made > start || a.read - start + 2 > MAX_SLICE_CALLS)
		refuse(&a, "too many calls share the loop, or stand in between");
	check_moved(&a, g->sink);
	find_outer(&a);
	find_windows(&a);
	UOp *maker = maker_within(&a), *reader = reader_within(&a);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *was = g->sink->src[i];
		if (i == start)
			vec_push(&call, maker);
		if (i == a.read)
			vec_push(&call, reader);
		else if (i != a.made)
			vec_push(&call, i == start ? not_first(was) : was);
	}
	explain(maker->src[0], "%s is computed within r%d of %s, a window at a time", a.name,
		range_axis(a.outer[a.n - 1]), call_name(reader));
	Graph *r = graph_with_calls(g, call.n, call.at);
	vec_free(&call);
	return r;
}
