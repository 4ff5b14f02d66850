/* A load replaced by what produced it.
 *
 *     t[i,j] = Σk a[i,k]·b[k,j]          →    y[i,j] = max(Σk a[i,k]·b[k,j] + c[j], 0)
 *     y[i,j] = max(t[i,j] + c[j], 0)
 *
 * Kernels are taken in order, so what a kernel loads has its final form already. A temporary is inlined when the kernel
 * at hand is the last one that still loads it (or when it is so cheap that each reader may have its own), by cost:
 *   - elementwise values: arithmetic times how often it would be repeated, against a store and the loads;
 *   - values with folds: the work of the merged kernel against that of the two. A fold over a row, wanted by the whole
 *     row, is computed once before the row's loop, which makes one kernel of softmax or a layer norm;
 *   - a contraction only takes work behind it (bias, activation): it is wanted element by element, once each.
 * A value whose inputs are written in between, a sort, a scatter and an explicit copy stay where they are. */
#include "fuse.h"
#include <stdlib.h>

enum { BIG_FOLD = 1 << 16, FEW_ROWS = 64, ROUNDS = 4, KERNEL_WORTH = 4096 };

typedef VEC(UOp *) List;

typedef struct {
	UOp *kernel;            /* a KERNEL, or a MEMCPY or CALL left alone */
	bool dead, cheap;       /* cheap: each reader may compute it itself */
	bool barrier;           /* a copy somebody asked for, a sort, a scatter */
	bool folds, scan, sort; /* has RREDUCE, RSCAN, RSORT */
	size_t nodes;
	double work;            /* of the kernel as it is, -1 before somebody asked */
	List reads;             /* distinct buffers */
} Step;

typedef struct Turn Turn;
struct Turn { int step; Turn *next; };
/* Who writes and who reads a buffer as the calls came, the last first; and how many readers are left. */
typedef struct { Turn *writers, *readers; size_t left; } Use;

typedef struct { Step *step; int n; Map use; int merged; } Plan;

static Use *use_of(Plan *p, UOp *buffer)
{
	Use *u = map_get(&p->use, PKEY(buffer));
	if (!u) {
		u = arena_alloc(sizeof *u);
		map_put(&p->use, PKEY(buffer), u);
	}
	return u;
}

static void turn_add(Turn **list, int step)
{
	Turn *t = arena_alloc(sizeof *t);
	*t = (Turn){step, *list};
	*list = t;
}

static void read_add(Plan *p, int k, UOp *buffer)
{
	Step *s = &p->step[k];
	for (size_t i = 0; i < s->reads.n; i++)
		if (s->reads.at[i] == buffer)
			return;
	vec_push(&s->reads, buffer);
	use_of(p, buffer)->left++;
}

static void read_drop(Plan *p, int k, UOp *buffer)
{
	Step *s = &p->step[k];
	for (size_t i = 0; i < s->reads.n; i++)
		if (s->reads.at[i] == buffer) {
			s->reads.at[i--] = s->reads.at[--s->reads.n];
			use_of(p, buffer)->left--;
		}
}

/* ---- reading the calls */

static bool is_barrier(UOp *kernel)
{
	if (kernel->nsrc != 1 || !store_is_plain(kernel->src[0]))
		return true;
	/* a bare LOAD is a copy that somebody asked for */
	UOp *value = kernel->src[0]->src[1];
	return value->op == OP_LOAD || value->op == OP_RSORT;
}

static void read_step(Plan *p, int k, UOp *u)
{
	Step *s = &p->step[k];
	s->kernel = u;
	s->work = -1;
	if (u->op != OP_KERNEL) {
		uint32_t n;
		UOp *const *reads = step_reads(u, &n);
		s->barrier = true;
		turn_add(&use_of(p, step_written(u))->writers, k);
		for (uint32_t i = 0; i < n; i++)
			read_add(p, k, reads[i]);
	} else {
		s->barrier = is_barrier(u);
		Look l = kernel_look(u);
		s->nodes = l.nodes;
		s->folds = l.folds;
		s->scan = l.scan;
		s->sort = l.sort;
		for (uint32_t i = 0; i < u->nsrc; i++)
			turn_add(&use_of(p, store_buffer(u->src[i]))->writers, k);
		for (size_t i = 0; i < l.loads.n; i++)
			read_add(p, k, l.loads.at[i]->src[0]->src[0]);
	}
	for (size_t i = 0; i < s->reads.n; i++)
		turn_add(&use_of(p, s->reads.at[i])->readers, k);
}

/* ---- may it be done */

static bool is_temp(const UOp *buffer) { return buffer_is(buffer, "temp") || buffer_is(buffer, "prepared"); }

/* Something that step t reads is written between steps t and c. */
static bool overwritten(Plan *p, int t, int c)
{
	for (size_t i = 0; i < p->step[t].reads.n; i++) {
		Use *u = use_of(p, p->step[t].reads.at[i]);
		for (Turn *w = u->writers; w && w->step > t; w = w->next)
			if (w->step < c)
				return true;
	}
	return false;
}

/* What kernel reads of the buffers that it writes, it reads at the very place that it writes (a state updated in place
 * may be read by what is merged into its update). */
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

static size_t union_size(const Step *a, const Step *b)
{
	size_t n = a->reads.n + b->reads.n;
	for (size_t i = 0; i < a->reads.n; i++)
		for (size_t k = 0; k < b->reads.n; k++)
			n -= a->reads.at[i] == b->reads.at[k];
	return n;
}

/* A merge takes away t's STORE and c's load, and both have the loops. */
static bool too_large(const Step *t, const Step *c)
{
	size_t most = t->folds || c->folds ? FOLD_NODES : KERNEL_NODES;
	size_t once = 7 + 2 * __builtin_popcountll(range_mask(t->kernel));
	return t->nodes + c->nodes > most + once;
}

/* The step whose value may be put in place of step c's loads of buffer; -1 when none may. */
static int candidate(Plan *p, int c, UOp *buffer)
{
	Use *u = use_of(p, buffer);
	if (!is_temp(buffer) || !u->writers || u->writers->next || u->writers->step >= c)
		return -1;
	int t = u->writers->step;
	Step *s = &p->step[t];
	if (s->barrier || p->step[c].kernel->op != OP_KERNEL || p->step[c].sort)
		return -1;
	if (!s->cheap && u->left != 1)
		return -1;
	if (too_large(s, &p->step[c]) || union_size(s, &p->step[c]) > KERNEL_BUFFERS)
		return -1;
	return overwritten(p, t, c) ? -1 : t;
}

/* ---- putting it in place */

static Nodes sites_of(UOp *kernel, UOp *buffer)
{
	Nodes loads = kernel_loads(kernel), sites = {loads.at, 0};
	for (size_t i = 0; i < loads.n; i++)
		if (loads.at[i]->src[0]->src[0] == buffer)
			sites.at[sites.n++] = loads.at[i];
	return sites;
}

/* The value that a store writes, at the places that a load reads. */
static UOp *value_for(UOp *store, UOp *site)
{
	UOp *place = store->src[0], *value = store->src[1], *from[MAX_RANK], *to[MAX_RANK];
	size_t n = 0;
	for (uint32_t i = 1; i < place->nsrc; i++) {
		if (place->src[i]->op != OP_RANGE)
			continue;
		from[n] = place->src[i];
		to[n++] = site->src[0]->src[i];
	}
	value = substitute(value, n, from, to);
	if (site->nsrc < 2)
		return value;
	UOp *zero = const_num(value->dtype, 0);
	return NODE(OP_WHERE, value->dtype, VNIL, site->src[1], gate_loads(value, site->src[1]), zero);
}

/* A site whose index is itself loaded may hold another site. */
static bool may_nest(const Nodes *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		if (has_op(sites->at[i]->src[0], OP_LOAD) || sites->at[i]->nsrc > 1)
			return true;
	return false;
}

static bool any_in_fold(const Nodes *sites)
{
	for (size_t i = 0; i < sites->n; i++)
		if (range_mask(sites->at[i]) >> BOUND)
			return true;
	return false;
}

/* Kernel with every load of what store writes replaced; NULL when that does not come to an end or nests too deep.
 * The kernel's bound ranges make way, so that those of the value are the same in its folds and outside of them. */
static UOp *inlined(UOp *kernel, UOp *store, bool folds)
{
	List to = {0};
	int round = 0;
	Nodes found = sites_of(kernel, store_buffer(store));
	UOp *r = any_in_fold(&found) ? shift_bound(kernel, MAX_RANK) : kernel;
	for (bool again = true; again && round < ROUNDS; round++) {
		Nodes sites = sites_of(r, store_buffer(store));
		again = sites.n && may_nest(&sites);
		to.n = 0;
		for (size_t i = 0; i < sites.n; i++)
			vec_push(&to, value_for(store, sites.at[i]));
		r = substitute(r, sites.n, sites.at, to.at);
	}
	vec_free(&to);
	if (round == ROUNDS && sites_of(r, store_buffer(store)).n)
		return NULL;
	return folds ? number_bound(r) : r;
}

/* A running fold keeps its loops in order: kernel's loops become those of store, one for one; NULL when they differ. */
static UOp *loops_of_store(UOp *kernel, UOp *store)
{
	Loops k = kernel_loops(kernel), s = kernel_loops(store);
	Nodes sites = sites_of(kernel, store_buffer(store));
	if (k.n != s.n || sites.n != 1 || sites.at[0]->nsrc > 1)
		return NULL;
	for (int i = 0; i < k.n; i++)
		if (k.at[i]->src[0] != s.at[i]->src[0])
			return NULL;
	kernel = substitute(kernel, k.n, k.at, s.at);
	sites = sites_of(kernel, store_buffer(store));
	for (uint32_t i = 1; i < store->src[0]->nsrc; i++)
		if (sites.at[0]->src[0]->src[i] != store->src[0]->src[i])
			return NULL;
	return kernel;
}

/* ---- is it worth it */

/* How often each element of what store writes is asked for by a kernel. */
static double repeats(UOp *kernel, UOp *store)
{
	double count = count_guess(store_buffer(store)->shape);
	return load_turns(kernel, store_buffer(store)) / (count < 1 ? 1 : count);
}

/* Elementwise value wanted `times` times: computed each time, or stored once and loaded. A load that is repeated comes
 * out of a near cache. In favour of computing by a quarter, as a kernel less is worth something. free: how many elements
 * are prepared, whose storing takes no time of the call's; 0 otherwise. */
static bool recompute(UOp *value, double times, double free, double *inlined_cost, double *stored_cost)
{
	int loads;
	if (times <= 1 && !free)
		return true;
	times = times < 1 ? 1 : times;
	double ops = value_cost(value, &loads), load = 4 + (times - 1);
	*inlined_cost = ops * times + loads * load;
	*stored_cost = ops + 4 * loads + 4 + load;
	if ((*inlined_cost - load) * free > KERNEL_WORTH)
		*stored_cost = load;
	else if (times <= 1)
		return true;
	return *inlined_cost <= 1.25 * *stored_cost;
}

/* A prepared value that a call wants is computed before it for nothing, if it takes no more memory than what it is made
 * of: else computing it at the call may be better (a mask, a weight of few bits). The number of its elements, or 0. */
static double free_elements(const Step *t, UOp *reader)
{
	UOp *to = store_buffer(t->kernel->src[0]);
	double from = 0;
	if (!is_prepared(t->kernel) || is_prepared(reader))
		return 0;
	for (size_t i = 0; i < t->reads.n; i++)
		from += buffer_bytes(t->reads.at[i]);
	return buffer_bytes(to) <= from ? count_guess(to->shape) : 0;
}

/* A large fold down to few values is split over threads better than repeated or nested. */
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
		if (n * rows > BIG_FOLD && n > 1)
			return true;
	}
	return false;
}

/* The load wants each element once: nothing of a contraction is done twice. */
static bool wanted_once(UOp *kernel, UOp *store)
{
	Nodes sites = sites_of(kernel, store_buffer(store));
	return sites.n == 1 && sites.at[0]->nsrc == 1 && wants_once(sites.at[0]->src[0], kernel);
}

static bool contraction_ok(UOp *kernel, UOp *store, const char **why)
{
	if (!wanted_once(kernel, store)) {
		*why = "a contraction that is not wanted once an element";
		return false;
	}
	if (has_contraction(kernel)) {
		*why = "one contraction a kernel";
		return false;
	}
	return true;
}

static double step_work(Step *s)
{
	if (s->work < 0)
		s->work = kernel_work(s->kernel);
	return s->work;
}

/* The kernel with step t's value in place, or NULL; why and the costs are for --explain. */
static UOp *try_merge(Plan *p, int t, int c, const char **why, double *with, double *without)
{
	UOp *kernel = p->step[c].kernel, *store = p->step[t].kernel->src[0];
	bool folds = p->step[t].folds || p->step[c].folds;
	double free = free_elements(&p->step[t], kernel);
	*with = *without = 0;
	if (p->step[t].scan) {
		*why = "a running fold is wanted in another order";
		if (p->step[c].scan)
			return NULL;
		kernel = loops_of_store(kernel, store);
		return kernel ? inlined(kernel, store, folds) : NULL;
	}
	*why = "costs more";
	if (!p->step[t].folds) {
		if (!p->step[t].cheap && !recompute(store->src[1], repeats(kernel, store), free, with, without))
			return NULL;
		return inlined(kernel, store, folds);
	}
	if (has_contraction(store))
		return contraction_ok(kernel, store, why) ? inlined(kernel, store, folds) : NULL;
	if (is_big_fold(store)) {
		*why = "a large fold to few values";
		return NULL;
	}
	if (free && step_work(&p->step[t]) > KERNEL_WORTH) {
		*why = "it is computed once, from constants";
		return NULL;
	}
	UOp *merged = inlined(kernel, store, folds);
	if (!merged)
		return NULL;
	*without = step_work(&p->step[c]) + step_work(&p->step[t]);
	/* sharing takes work away, and looking for it takes time */
	*with = kernel_work(merged);
	if (*with > *without)
		*with = kernel_work(share_loops(merged));
	return *with <= *without ? merged : NULL;
}

/* ---- the pass */

static void replace_reads(Plan *p, int t, int c, UOp *buffer)
{
	Step *from = &p->step[t];
	read_drop(p, c, buffer);
	for (size_t i = 0; i < from->reads.n; i++)
		read_add(p, c, from->reads.at[i]);
	if (use_of(p, buffer)->left)
		return;
	from->dead = true;
	while (from->reads.n)
		read_drop(p, t, from->reads.at[0]);
}

static bool merge_one(Plan *p, int c, UOp *buffer)
{
	int t = candidate(p, c, buffer);
	const char *why = "";
	double with = 0, without = 0;
	if (t < 0)
		return false;
	UOp *merged = try_merge(p, t, c, &why, &with, &without);
	if (merged && !in_place(merged)) {
		merged = NULL;
		with = without = 0;
		why = "it reads elsewhere what the kernel overwrites";
	}
	if (with || without)
		explain("%s into %s: %s, %.4g against %.4g", buffer_name(buffer),
			kernel_label(p->step[c].kernel), merged ? "merged" : "stored", with, without);
	else
		explain("%s into %s: %s%s", buffer_name(buffer), kernel_label(p->step[c].kernel),
			merged ? "merged" : "stored, ", merged ? "" : why);
	if (!merged)
		return false;
	node_note(merged, p->step[c].kernel->note);
	node_note(merged, p->step[t].kernel->note);
	p->step[c].kernel = merged;
	p->step[c].work = -1;
	p->step[c].nodes = walk_brief(merged).n;
	p->step[c].folds |= p->step[t].folds;
	p->step[c].scan |= p->step[t].scan;
	replace_reads(p, t, c, buffer);
	p->merged++;
	return true;
}

/* Each reader may compute it itself: all of them together, judged by what they are before anything is merged. */
static bool is_cheap(Plan *p, int k)
{
	Step *s = &p->step[k];
	if (s->barrier || s->folds || s->scan || s->dead || s->kernel->op != OP_KERNEL)
		return false;
	UOp *store = s->kernel->src[0];
	Use *u = use_of(p, store_buffer(store));
	if (u->left < 2 || !is_temp(store_buffer(store)))
		return false;
	double times = 0, with = 0, without = 0;
	double free = 0;
	for (Turn *r = u->readers; r; r = r->next) {
		UOp *reader = p->step[r->step].kernel;
		times += reader->op == OP_KERNEL ? repeats(reader, store) : 1;
		free = free ? free : free_elements(s, reader);
	}
	bool yes = recompute(store->src[1], times, free, &with, &without);
	explain("%s: wanted %.4g times by %zu kernels: %s (%.4g against %.4g)", buffer_name(store_buffer(store)),
		times, u->left, yes ? "computed in each" : "stored once", with, without);
	return yes;
}

static void merge_step(Plan *p, int c)
{
	Step *s = &p->step[c];
	List tried = {0};
	for (bool again = s->kernel->op == OP_KERNEL; again;) {
		again = false;
		for (size_t i = 0; i < s->reads.n && !again; i++) {
			UOp *b = s->reads.at[i];
			bool seen = false;
			for (size_t k = 0; k < tried.n; k++)
				seen |= tried.at[k] == b;
			if (seen)
				continue;
			vec_push(&tried, b);
			again = merge_one(p, c, b);
		}
		/* a merge may make this the last reader of what was refused for having others */
		if (again)
			tried.n = 0;
	}
	vec_free(&tried);
	s->cheap = is_cheap(p, c);
}

Graph *merge_producers(Graph *g)
{
	Plan p = {.n = g->sink->nsrc};
	VEC(UOp *) left = {0};
	p.step = xcalloc(p.n + 1, sizeof *p.step);
	for (int i = 0; i < p.n; i++)
		read_step(&p, i, g->sink->src[i]);
	for (int i = 0; i < p.n; i++)
		merge_step(&p, i);
	for (int i = 0; i < p.n; i++)
		if (!p.step[i].dead)
			vec_push(&left, p.step[i].kernel);
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = node_new(OP_SINK, DT_NONE, left.n, left.at, g->sink->arg);
	map_free(&p.use);
	for (int i = 0; i < p.n; i++)
		vec_free(&p.step[i].reads);
	free(p.step);
	vec_free(&left);
	return r;
}
