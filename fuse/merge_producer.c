/* Replaces a load by the expression that produced the value.
 *
 *     t[i,j] = Σk a[i,k]·b[k,j]          →    y[i,j] = max(Σk a[i,k]·b[k,j] + c[j], 0)
 *     y[i,j] = max(t[i,j] + c[j], 0)
 *
 * Kernels are taken in order, so what produces a kernel's loads has its final form already. A
 * temporary is inlined when the current kernel is the last one that still loads it (or when it is
 * cheap enough for each reader to compute it), by cost:
 *   - elementwise values: arithmetic times how often it would be repeated, against a store and the
 *     loads;
 *   - values with reductions: the work of the merged kernel against that of the two. A reduction of
 *     a row, used by the whole row, is computed once before the row's loop, so that softmax or a
 *     layer norm becomes one kernel;
 *   - a contraction only takes an epilogue (bias, activation): each of its elements must be used
 *     once.
 * A value whose inputs are written in between, a sort, a scatter and an explicit copy are not
 * moved. */
#include "base/progress.h"
#include "document/document.h"
#include "fuse.h"
#include <stdlib.h>

enum { FEW_ROWS = 64, LANES = 4 };

/* Adds in the time in which a kernel's threads begin, at two in a nanosecond; the elements of a
 * fold that threads had better share: those that four of them read meanwhile. */
static double kernel_worth(void) { return 2.0 * fuse_opt.machine.start; }
static double big_fold(void)
{
	return fuse_opt.machine.start * (4.0 * fuse_opt.machine.read[3] / sizeof(float));
}

typedef struct {
	UOp *call;
	StepFacts *is;
	bool barrier;           /* as of the original step: a copy stays a copy */
	bool dead, cheap;       /* cheap: each reader may compute it itself */
	BufferUse **reads;      /* distinct */
	uint32_t nread;
} MergeStep;

typedef VEC(const Val *) Rows;
typedef struct {
	MergeStep *step;
	int n;
	BufferUses uses;
	Verdicts verdicts;
	int merged;
	Rows rows;              /* of meta.merges */
} Merges;

/* ---- reading the calls */

static void read_step(Merges *p, int k, UOp *call)
{
	MergeStep *s = &p->step[k];
	s->call = call;
	s->is = step_facts(call);
	s->barrier = s->is->barrier;
	s->reads = arena_alloc(s->is->nread * sizeof *s->reads);
	uses_add(&p->uses, call, s->is, k);
	for (uint32_t i = 0; i < s->is->nread; i++) {
		BufferUse *u = use_of(&p->uses, step_buffer(call, s->is->read[i]));
		s->reads[s->nread++] = u;
		u->left++;
	}
}

static bool reads(const MergeStep *s, const BufferUse *u)
{
	for (uint32_t i = 0; i < s->nread; i++)
		if (s->reads[i] == u)
			return true;
	return false;
}

/* ---- may it be done */

/* Is a buffer that step t reads written between steps t and c? */
static bool overwritten(Merges *p, int t, int c)
{
	for (uint32_t i = 0; i < p->step[t].nread; i++)
		for (Access *w = p->step[t].reads[i]->writers; w && w->step > t; w = w->next)
			if (w->step < c)
				return true;
	return false;
}

/* Does the kernel read each buffer that it writes only at the place that it writes? (A state
 * updated in place may be read by a value merged into its update.) */
static bool in_place(UOp *kernel)
{
	Nodes loads = kernel_loads(kernel);
	for (size_t i = 0; i < loads.n; i++)
		for (uint32_t k = 0; k < kernel->nsrc; k++)
			if (loads.at[i]->src[0]->src[0] == store_buffer(kernel->src[k]) &&
			    loads.at[i]->src[0] != kernel->src[k]->src[0])
				return false;
	return true;
}

/* The number of loops over the elements that a scatter adds, which run only if something in the
 * STORE depends on them. */
static int serial_loops(UOp *kernel)
{
	Nodes all = walk(kernel);
	uint64_t loops = range_mask(kernel);
	int n = 0;
	for (size_t i = 0; i < all.n; i++)
		n += all.at[i]->op == OP_RANGE && !strcmp(range_kind(all.at[i]), "serial") &&
			loops >> range_axis(all.at[i]) & 1;
	return n;
}

static size_t union_size(const MergeStep *a, const MergeStep *b)
{
	size_t n = a->nread + b->nread;
	for (uint32_t i = 0; i < a->nread; i++)
		n -= reads(b, a->reads[i]);
	return n;
}

/* A merge removes t's STORE and c's load; the loops are in both. */
static bool too_large(const MergeStep *t, const MergeStep *c)
{
	size_t most = t->is->folds || c->is->folds ? FOLD_NODES : KERNEL_NODES;
	size_t once = 7 + 2 * __builtin_popcountll(range_mask(t->is->kernel));
	return t->is->nodes + c->is->nodes > most + once;
}

/* The step whose value may replace step c's loads of a buffer, or -1. */
static int candidate(Merges *p, int c, const BufferUse *u)
{
	if (!u->temp || !u->writers || u->writers->next || u->writers->step >= c)
		return -1;
	int t = u->writers->step;
	MergeStep *s = &p->step[t];
	if (s->barrier || s->is->kernel->nsrc != 1 || !p->step[c].is->kernel || p->step[c].is->sort)
		return -1;
	if (!s->cheap && u->left != 1)
		return -1;
	if (too_large(s, &p->step[c]) || union_size(s, &p->step[c]) > KERNEL_BUFFERS)
		return -1;
	return overwritten(p, t, c) ? -1 : t;
}

/* ---- does it pay */

/* How often a step that reads a buffer needs each of its elements. */
static double repeats(const MergeStep *s, const UOp *buffer)
{
	double count = count_guess(buffer->shape);
	for (uint32_t k = 0; k < s->is->slots; k++)
		if (step_buffer(s->call, k) == buffer)
			return step_iterations(s->is, k) / (count < 1 ? 1 : count);
	return 0;
}

/* Does the kernel read the buffer in an order that comes from memory: is its last axis indexed by a
 * loaded value? */
static bool in_loaded_order(UOp *kernel, UOp *param)
{
	Nodes sites = sites_of(kernel, param);
	for (size_t i = 0; i < sites.n; i++) {
		const UOp *index = sites.at[i]->src[0];
		Nodes all = index->nsrc > 1 ? walk(index->src[index->nsrc - 1]) : (Nodes){0};
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k]->op == OP_LOAD)
				return true;
	}
	return false;
}

/* How a reader would compute a value: in vectors, as its own kernel does; element by element, in an
 * order that comes from memory; or by its load alone, which widens an integer in no more time. */
typedef enum { IN_VECTORS, SINGLY, BY_LOAD } Computed;

static Computed computed_by(const UOp *value, UOp *kernel, UOp *param)
{
	Nodes sites = sites_of(kernel, param);
	const UOp *x = value->op == OP_CAST ? value->src[0] : NULL;
	bool widens = x && x->op == OP_LOAD && x->nsrc == 1 && dtype_int(x->dtype) &&
		dtype_int(value->dtype) && dtype_size(x->dtype) < dtype_size(value->dtype);
	for (size_t i = 0; i < sites.n; i++)
		widens &= sites.at[i]->nsrc == 1;
	return in_loaded_order(kernel, param) ? SINGLY : widens ? BY_LOAD : IN_VECTORS;
}

/* Compares an elementwise value computed `times` times with one stored once and loaded. A repeated
 * load comes from a near cache. Computing is favoured by a quarter, since a kernel less is worth
 * something. free: the number of elements that are prepared, whose storing takes no time in a call,
 * or 0. */
static bool recompute(StepFacts *f, double times, double free, Computed how, double *inlined_cost,
	double *stored_cost)
{
	int loads;
	if (how == SINGLY && !free) {
		double ops = step_ops(f, &loads);
		*inlined_cost = (ops * LANES + 4 * loads) * times;
		*stored_cost = ops + 4 * loads + 4 + 4 * times;
		return *inlined_cost <= 1.25 * *stored_cost;
	}
	if (times <= 1 && !free)
		return true;
	times = times < 1 ? 1 : times;
	double ops = step_ops(f, &loads), load = 4 + (times - 1);
	ops = how == BY_LOAD ? 0 : ops;
	*inlined_cost = ops * times + loads * load;
	*stored_cost = ops + 4 * loads + 4 + load;
	if ((*inlined_cost - load) * free > kernel_worth())
		*stored_cost = load;
	else if (times <= 1)
		return true;
	return *inlined_cost <= 1.25 * *stored_cost;
}

/* The number of elements of a prepared value that a call uses, or 0. Computing it beforehand is
 * free if it takes no more memory than its inputs; else computing it in the call may be better (a
 * mask, a weight of few bits). */
static double free_elements(const MergeStep *t, const MergeStep *reader)
{
	const UOp *to = step_buffer(t->call, 0);
	double from = 0;
	if (!call_prepares(t->call) || call_prepares(reader->call))
		return 0;
	for (uint32_t i = 0; i < t->nread; i++)
		from += buffer_bytes(t->reads[i]->buffer);
	return buffer_bytes(to) <= from ? count_guess(to->shape) : 0;
}

/* A large reduction to few values is better split over threads than repeated or nested. */
static bool is_big_fold(UOp *store)
{
	double rows = count_guess(store_buffer(store)->shape);
	if (rows >= FEW_ROWS)
		return false;
	Nodes all = walk_brief(store->src[1]);
	for (size_t i = 0; i < all.n; i++) {
		double n = 1;
		for (uint32_t s = 1; all.at[i]->op == OP_RREDUCE && s < all.at[i]->nsrc; s++)
			n *= size_guess(all.at[i]->src[s]->src[0]);
		if (n * rows > big_fold() && n > 1)
			return true;
	}
	return false;
}

/* Does the load read each element once, so that no part of a contraction is repeated? */
static bool wanted_once(UOp *kernel, UOp *param)
{
	Nodes sites = sites_of(kernel, param);
	return sites.n == 1 && sites.at[0]->nsrc == 1 && wants_once(sites.at[0]->src[0], kernel);
}

/* Has step t a contraction that stays apart from the work before it? If step c reads the same rows
 * as the contraction, it counts as a plain reduction. */
static bool contracts(const MergeStep *t, const MergeStep *c)
{
	int64_t row;
	if (!step_contracts(t->is, &row))
		return false;
	for (uint32_t i = 0; row >= 0 && i < c->nread; i++)
		if (c->reads[i]->buffer == step_buffer(t->call, (uint32_t)row))
			return false;
	return true;
}

/* Does the reader compute in wider numbers than the contraction? Then its vectors, which would be
 * the contraction's too, have fewer lanes. */
static bool is_wider(UOp *reader, UOp *contraction)
{
	bool wide[2] = {false, false};
	for (int k = 0; k < 2; k++) {
		Nodes all = walk_brief(k ? contraction : reader);
		for (size_t i = 0; i < all.n; i++)
			wide[k] |= all.at[i]->dtype == DT_F64;
	}
	return wide[0] && !wide[1];
}

static bool contraction_ok(const MergeStep *t, const MergeStep *c, UOp *param, const char **why)
{
	int64_t row;
	if (is_wider(c->is->kernel, t->is->kernel)) {
		*why = "a contraction for a kernel of wider numbers";
		return false;
	}
	if (c->is->kernel->nsrc != 1) {
		*why = "a contraction for a kernel with several outputs";
		return false;
	}
	if (!wanted_once(c->is->kernel, param)) {
		*why = "a contraction that is not wanted once an element";
		return false;
	}
	if (step_contracts(c->is, &row)) {
		*why = "one contraction a kernel";
		return false;
	}
	return true;
}

/* The kernel of step c into which step t's value may be put at slot `at` (its loops may have to
 * change), or NULL. */
static UOp *may_take(const MergeStep *t, const MergeStep *c, uint32_t at, double free, Verdict *v)
{
	UOp *kernel = c->is->kernel, *store = t->is->kernel->src[0];
	const UOp *buffer = step_buffer(c->call, at);
	UOp *param = param_new(at, buffer);
	if (t->is->scan) {
		v->why = "a running fold is wanted in another order";
		return c->is->scan || kernel->nsrc != 1 ? NULL :
							  loops_of_store(kernel, store, param);
	}
	v->why = "costs more";
	if (!t->is->folds && !t->cheap && !recompute(t->is, repeats(c, buffer), free,
		computed_by(store->src[1], kernel, param), &v->with, &v->without))
		return NULL;
	if (!t->is->folds)
		return kernel;
	if (contracts(t, c))
		return contraction_ok(t, c, param, &v->why) ? kernel : NULL;
	if (is_big_fold(store))
		v->why = "a large fold to few values";
	else if (free && step_work(t->is) > kernel_worth())
		v->why = "it is computed once, from constants";
	else
		return kernel;
	return NULL;
}

/* Reductions are merged when that adds no work: computed only after merging. */
static bool is_more_work(const MergeStep *t, const MergeStep *c, UOp *merged, Verdict *v)
{
	if (!t->is->folds || t->is->scan || contracts(t, c))
		return false;
	v->without = step_work(c->is) + step_work(t->is);
	/* sharing saves work, but searching for it takes time */
	v->with = kernel_work(merged);
	if (v->with > v->without)
		v->with = kernel_work(share_loops(merged));
	v->work = v->with;
	return v->with > v->without;
}

/* Does one of them read what c writes? */
static bool in_order(const MergeStep *t, const MergeStep *c)
{
	for (uint32_t i = 0; i < c->is->nwritten; i++) {
		const UOp *to = step_buffer(c->call, c->is->written[i]);
		for (uint32_t k = 0; k < c->nread + t->nread; k++)
			if ((k < c->nread ? c->reads[k] : t->reads[k - c->nread])->buffer == to)
				return true;
	}
	return false;
}

static void merge(const Pair *pair, const MergeStep *t, const MergeStep *c, double free, Verdict *v)
{
	uint32_t at = pair->slot[0];
	UOp *kernel = may_take(t, c, at, free, v);
	if (!kernel)
		return;
	Seated s = put_in_place(pair, kernel, at, t->is->folds || c->is->folds);
	if (!s.kernel || is_more_work(t, c, s.kernel, v))
		return;
	if (in_order(t, c) && !in_place(s.kernel)) {
		v->with = v->without = 0;
		v->why = "it reads elsewhere what the kernel overwrites";
		return;
	}
	if (serial_loops(s.kernel) < serial_loops(c->is->kernel)) {
		v->with = v->without = 0;
		v->why = "a loop of the kernel would not be run";
		return;
	}
	node_note(s.kernel, c->is->kernel->note);
	node_note(s.kernel, t->is->kernel->note);
	v->merged = s;
}

/* The verdict on putting step t's value in place in step c. */
static Verdict *judge(Merges *p, const Pair *pair, const MergeStep *t, const MergeStep *c)
{
	double free = free_elements(t, c);
	Verdict *v = verdict_of(&p->verdicts, pair, (free > 0) << 1 | t->cheap);
	if (!v->known)
		merge(pair, t, c, free, v);
	v->known = true;
	return v;
}

/* ---- the pass */

/* Step c now reads the inputs of step t instead of its output, which may leave t without
 * readers. */
static void replace_reads(MergeStep *t, MergeStep *c, BufferUse *use)
{
	BufferUse **now = arena_alloc((c->nread + t->nread) * sizeof *now);
	uint32_t n = 0;
	memcpy(now, c->reads, c->nread * sizeof *now);
	while (now[n] != use)
		n++;
	now[n] = now[c->nread - 1];
	n = c->nread - 1;
	for (uint32_t i = 0; i < t->nread; i++)
		if (!reads(c, t->reads[i])) {
			now[n++] = t->reads[i];
			t->reads[i]->left++;
		}
	c->reads = now;
	c->nread = n;
	if (--use->left)
		return;
	t->dead = true;
	for (uint32_t i = 0; i < t->nread; i++)
		t->reads[i]->left--;
	t->nread = 0;
}

static void explain_verdict(const Verdict *v, const char *what, const UOp *call)
{
	const char *done = v->merged.kernel ? "merged" : "stored";
	if (v->with || v->without)
		explain("%s into %s: %s, %.4g against %.4g", what, step_label(call), done, v->with,
			v->without);
	else if (v->merged.kernel)
		explain("%s into %s: %s", what, step_label(call), done);
	else
		explain("%s into %s: %s, %s", what, step_label(call), done, v->why);
}

/* May each reader compute the value itself? All readers together, judged before anything is
 * merged. */
static bool is_cheap(Merges *p, int k)
{
	MergeStep *s = &p->step[k];
	if (s->barrier || s->is->folds || s->is->scan || s->dead || s->is->kernel->nsrc != 1)
		return false;
	UOp *to = step_buffer(s->call, 0);
	BufferUse *u = use_of(&p->uses, to);
	if (u->left < 2 || !u->temp)
		return false;
	double times = 0, with = 0, without = 0, free = 0;
	for (Access *r = u->readers; r; r = r->next) {
		MergeStep *reader = &p->step[r->step];
		times += reader->is->kernel ? repeats(reader, to) : 1;
		free = free ? free : free_elements(s, reader);
	}
	bool yes = recompute(s->is, times, free, IN_VECTORS, &with, &without);
	explain("%s: wanted %.4g times by %zu kernels: %s (%.4g against %.4g)", buffer_name(to),
		times, u->left, yes ? "computed in each" : "stored once", with, without);
	return yes;
}

/* The only reader of what step k writes, when it computes a value for each element; else -1. */
static int next_element(Merges *p, int k)
{
	const BufferUse *u = use_of(&p->uses, step_buffer(p->step[k].call, 0));
	Access *r = u->readers;
	while (r && r->step <= k)
		r = r->next;
	return u->temp && u->left == 1 && r ? r->step : -1;
}

/* Does the reduction of a row stay apart from values of each element, step c first, whose last one
 * several kernels use? With the reduction inside it would be stored; without it each kernel
 * computes it, and only the reduction's one result for each row is stored. */
static bool keeps_apart(Merges *p, int t, int c)
{
	enum { FEWER = 4, LINKS = 16 };
	MergeStep *fold = &p->step[t];
	double ops = 0, loads = 1, times = 0, load;
	double rows = count_guess(step_buffer(fold->call, 0)->shape);
	int last = -1;
	if (!fold->is->folds || fold->is->scan || contracts(fold, &p->step[c]))
		return false;
	for (int k = c, links = 0; k >= 0 && links < LINKS; links++) {
		MergeStep *s = &p->step[k];
		int l;
		if (!s->is->kernel || s->barrier || s->is->folds || s->is->scan ||
		    s->is->kernel->nsrc != 1 ||
		    count_guess(step_buffer(s->call, 0)->shape) < FEWER * rows)
			return false;
		ops += step_ops(s->is, &l);
		loads += l - 1;
		last = k;
		k = next_element(p, k);
	}
	BufferUse *u = use_of(&p->uses, step_buffer(p->step[last].call, 0));
	if (!u->temp || u->left < 2)
		return false;
	for (Access *r = u->readers; r; r = r->next)
		times += p->step[r->step].is->kernel ? repeats(&p->step[r->step], u->buffer) : 1;
	load = 4 + (times - 1);
	return ops * times + loads * load <= 1.25 * (ops + 4 * loads + 4 + load);
}

static bool merge_one(Merges *p, int c, BufferUse *use)
{
	int t = candidate(p, c, use);
	if (t < 0)
		return false;
	MergeStep *from = &p->step[t], *to = &p->step[c];
	if (keeps_apart(p, t, c)) {
		explain("%s into %s: stored, each that wants that computes it",
			buffer_name(use->buffer), step_label(to->call));
		return false;
	}
	Pair pair = pair_of(to->call, from->call);
	Verdict *v = judge(p, &pair, from, to);
	explain_verdict(v, buffer_name(use->buffer), to->call);
	if (!v->merged.kernel)
		return false;
	to->call = seated_call(&v->merged, pair.buffer);
	to->is = step_facts(to->call);
	to->is->work = to->is->work < 0 && v->work > 0 ? v->work : to->is->work;
	vec_push(&p->rows, VARR(val_str(buffer_name(use->buffer)), val_str(step_label(to->call)),
		val_float(v->with), val_float(v->without)));
	replace_reads(from, to, use);
	p->merged++;
	return true;
}

static void merge_step(Merges *p, int c)
{
	MergeStep *s = &p->step[c];
	VEC(BufferUse *) tried = {0};
	for (bool again = s->is->kernel; again;) {
		again = false;
		for (uint32_t i = 0; i < s->nread && !again; i++) {
			BufferUse *u = s->reads[i];
			bool seen = false;
			for (size_t k = 0; k < tried.n; k++)
				seen |= tried.at[k] == u;
			if (seen)
				continue;
			vec_push(&tried, u);
			again = merge_one(p, c, u);
		}
		/* a merge may make this the last reader of a temporary that was refused for having
		 * others */
		if (again)
			tried.n = 0;
	}
	vec_free(&tried);
	s->cheap = is_cheap(p, c);
}

/* meta.merges (common/document/origins.c) */
static void merges_add(Graph *g, Merges *p)
{
	const Val *had = val_get(g->meta, "merges");
	if (!p->rows.n)
		return;
	Rows rows = {0};
	for (size_t i = 0; had && had->kind == VAL_ARRAY && i < had->n; i++)
		vec_push(&rows, had->a[i]);
	for (size_t i = 0; i < p->rows.n; i++)
		vec_push(&rows, p->rows.at[i]);
	g->meta = val_set(g->meta, "merges", val_array(rows.n, rows.at));
	vec_free(&rows);
	vec_free(&p->rows);
}

static Graph *merged(Graph *g, bool joined)
{
	Merges p = {.n = g->sink->nsrc};
	VEC(UOp *) left = {0};
	p.step = xcalloc(p.n + 1, sizeof *p.step);
	for (int i = 0; i < p.n; i++)
		read_step(&p, i, g->sink->src[i]);
	Progress progress = progress_start("kernels", p.n, true);
	for (int i = 0; i < p.n; i++) {
		progress_step(&progress, i);
		if (!joined || (p.step[i].is->kernel && p.step[i].is->kernel->nsrc > 1))
			merge_step(&p, i);
	}
	progress_end(&progress);
	for (int i = 0; i < p.n; i++)
		if (!p.step[i].dead)
			vec_push(&left, p.step[i].call);
	g = graph_with_calls(g, left.n, left.at);
	merges_add(g, &p);
	uses_free(&p.uses);
	map_free(&p.verdicts);
	free(p.step);
	vec_free(&left);
	return g;
}

Graph *merge_producers(Graph *g) { return merged(g, false); }

/* Kernels that were joined may be the last readers of temporaries that each had to share before. */
Graph *merge_into_joined(Graph *g) { return merged(g, true); }
