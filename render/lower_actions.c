/* What to do to each kernel, written into its arg as data: a heuristic writes it here, and a kernel
 * that brings a list of its own (a replay, a search) keeps it.
 *
 *     [["order", 0, 1], ["split", 16]]         loops over r0, r1; sums in 16 accumulators
 *     [["order", 0, 1], ["block", 1, 64]]      64 columns r1 side by side within the reduction
 *     [["order", 0, 1], ["bind", 128, 0, 1]]   one work item an element, 128 a group
 *     [["order", 0, 1], ["group", 128, 0]]     one work group a row r0
 *     ["stage", 17, 1]                         the value of node 17 in a row buffer over r1
 *
 * Numbers of ranges are axis numbers. The empty list is plain loops. */
#include "render.h"
#include <stdlib.h>
#include "ix.h"

enum { FEW = 4096, GROUP_LEAST = 64, BLOCK = 64 };

/* ---- the list as data */

static int64_t axis_of(const Facts *f, int r) { return f->range[r]->arg->a[0]->i; }

static int range_of(const Facts *f, const Val *axis)
{
	for (int r = 0; axis->kind == VAL_INT && r < f->nrange; r++)
		if (axis_of(f, r) == axis->i)
			return r;
	die(MALFORMED, "node %u KERNEL: an action names a range that it does not have", f->kernel->id);
}

static const Val *action(
	const Facts *f, const char *name, const int64_t *first, int nfirst, const int *range, int n)
{
	const Val *v[MAX_RANGES + 3];
	int k = 0;
	v[k++] = val_str(name);
	for (int i = 0; i < nfirst; i++)
		v[k++] = val_int(first[i]);
	for (int i = 0; i < n; i++)
		v[k++] = val_int(axis_of(f, range[i]));
	return val_array(k, v);
}

static int64_t place_of(const Facts *f, const UOp *u)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i] == u)
			return i;
	return -1;
}

void plan_write(const Plan *p, const Facts *f, UOp **kernel)
{
	const Val *list[MAX_STAGED + 4];
	int n = 0, range[MAX_RANGES];
	list[n++] = action(f, "order", NULL, 0, p->order, p->norder);
	if (p->split)
		list[n++] = action(f, "split", (int64_t[]){p->split}, 1, NULL, 0);
	if (p->block >= 0)
		list[n++] = VARR(val_str("block"), val_int(axis_of(f, p->block)), val_int(p->lanes));
	if (p->mode != PLAN_LOOPS)
		list[n++] = action(f, p->mode == PLAN_ITEMS ? "bind" : "group", (int64_t[]){p->items}, 1,
			range, ranges_in(p->bound, range));
	for (int i = 0; i < p->nstage; i++)
		list[n++] = action(f, "stage", (int64_t[]){place_of(f, p->stage[i].value)}, 1, range,
			ranges_in(p->stage[i].over, range));
	UOp *k = node_new(OP_KERNEL, DT_NONE, (*kernel)->nsrc, (*kernel)->src,
		val_set((*kernel)->arg, "actions", val_array(n, list)));
	node_note(k, (*kernel)->note);
	*kernel = k;
}

static int number(const Facts *f, const Val *a, size_t i, int64_t most)
{
	if (i >= a->n || a->a[i]->kind != VAL_INT || a->a[i]->i < 0 || a->a[i]->i > most)
		die(MALFORMED, "node %u KERNEL: action %zu has no number that fits", f->kernel->id, i);
	return (int)a->a[i]->i;
}

static uint64_t set_from(const Facts *f, const Val *a, size_t from)
{
	uint64_t set = 0;
	for (size_t i = from; i < a->n; i++)
		set |= 1ull << range_of(f, a->a[i]);
	return set;
}

static void read_order(Plan *p, const Facts *f, const Val *a)
{
	uint64_t set = set_from(f, a, 1);
	if (set & ~f->out || (size_t)__builtin_popcountll(set) != a->n - 1)
		die(MALFORMED, "node %u KERNEL: the order is not one of its output ranges", f->kernel->id);
	p->norder = 0;
	for (size_t i = 1; i < a->n; i++)
		p->order[p->norder++] = range_of(f, a->a[i]);
}

static void read_action(Plan *p, const Facts *f, const Val *a)
{
	const Val *name = a->kind == VAL_ARRAY && a->n ? a->a[0] : VNIL;
	if (val_is_str(name, "order")) {
		read_order(p, f, a);
	} else if (val_is_str(name, "split")) {
		p->split = number(f, a, 1, 1024);
	} else if (val_is_str(name, "block")) {
		p->lanes = number(f, a, 2, 1024);
		p->block = range_of(f, a->a[1]);
	} else if (val_is_str(name, "bind") || val_is_str(name, "group")) {
		p->mode = val_is_str(name, "bind") ? PLAN_ITEMS : PLAN_GROUP;
		p->items = number(f, a, 1, 1024);
		p->bound = set_from(f, a, 2);
	} else if (val_is_str(name, "stage") && p->nstage < MAX_STAGED) {
		p->stage[p->nstage].value = f->all.at[number(f, a, 1, f->all.n - 1)];
		p->stage[p->nstage++].over = set_from(f, a, 2);
	} else {
		die(MALFORMED, "node %u KERNEL: an action is not known", f->kernel->id);
	}
}

/* Is range r of this set in the order, behind all the others? */
static bool order_has_all(const Plan *p, const Facts *f)
{
	uint64_t set = 0;
	for (int i = 0; i < p->norder; i++)
		set |= 1ull << p->order[i];
	bool sorted = f->kernel->src[0]->src[1]->op == OP_RSORT;
	uint64_t want = f->out & ~(sorted ? bit_of(f->kernel->src[0]->src[1]->src[1]) : 0);
	return set == want;
}

static void default_order(Plan *p, const Facts *f);

void plan_read(Plan *p, const Facts *f)
{
	*p = (Plan){.block = -1};
	default_order(p, f);
	const Val *list = val_get(f->kernel->arg, "actions");
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++)
		read_action(p, f, list->a[i]);
	bool block_last = p->block < 0 ||
		(p->norder && p->order[p->norder - 1] == p->block && p->lanes > 0);
	bool items = p->mode == PLAN_LOOPS || (p->items > 0 && !(p->items & (p->items - 1)));
	if (!order_has_all(p, f) || !block_last || !items || p->bound & ~(f->out & ~f->serial) ||
	    (p->split & (p->split - 1)))
		die(MALFORMED, "node %u KERNEL: its actions do not fit it", f->kernel->id);
}

/* ---- what the kernel is like */

/* Its outermost reductions, and the running folds. */
typedef struct {
	VEC(UOp *) reduce, scan;
	bool sorts;
	int weight[MAX_RANGES];         /* reductions that depend on the output range */
} Look;

static void look(const Facts *f, Look *k)
{
	*k = (Look){.sorts = f->kernel->src[0]->src[1]->op == OP_RSORT};
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op == OP_RSCAN)
			vec_push(&k->scan, u);
		if (u->op != OP_RREDUCE || free_of(u) & ~f->out)
			continue;
		vec_push(&k->reduce, u);
		for (int r = 0; r < f->nrange; r++)
			k->weight[r] += free_of(u) >> r & 1;
	}
}

/* Output ranges: those that more reductions depend on stand outside, so that each reduction runs as
 * seldom as can be; serial ranges keep their order among themselves; a running fold's range stands
 * inside all that it depends on. */
static int compare(const Facts *f, const Look *k, int a, int b)
{
	bool both = f->serial >> a & f->serial >> b & 1;
	if (!both && k->weight[a] != k->weight[b])
		return k->weight[b] - k->weight[a];
	return (int)(axis_of(f, a) - axis_of(f, b));
}

static void move_inside(Plan *p, int r, uint64_t outside)
{
	int at = 0, last = -1;
	for (int i = 0; i < p->norder; i++) {
		if (p->order[i] == r)
			at = i;
		else if (outside >> p->order[i] & 1)
			last = i;
	}
	for (; at < last; at++) {
		p->order[at] = p->order[at + 1];
		p->order[at + 1] = r;
	}
}

static void choose_order(Plan *p, const Facts *f, const Look *k)
{
	uint64_t set = f->out;
	if (k->sorts)
		set &= ~bit_of(f->kernel->src[0]->src[1]->src[1]);
	p->norder = 0;
	for (int r = 0; r < f->nrange; r++) {
		if (!(set >> r & 1))
			continue;
		int i = p->norder++;
		for (; i > 0 && compare(f, k, r, p->order[i - 1]) < 0; i--)
			p->order[i] = p->order[i - 1];
		p->order[i] = r;
	}
	for (size_t i = 0; i < k->scan.n; i++) {
		UOp *range = k->scan.at[i]->src[1];
		int r = __builtin_ctzll(bit_of(range));
		move_inside(p, r, free_of(k->scan.at[i]) & f->out & ~bit_of(range));
	}
}

static void default_order(Plan *p, const Facts *f)
{
	Look k;
	look(f, &k);
	choose_order(p, f, &k);
	vec_free(&k.reduce);
	vec_free(&k.scan);
}

/* ---- CPU: accumulators along the reduction, or side by side for a block of columns */

static int64_t stride_of(const UOp *load, UOp *range)
{
	Sum s;
	sum_of(&s, load->src[0]->src[1]);
	return sum_coef(&s, range);
}

static bool depends(const UOp *u, const UOp *range) { return free_of(u) & bit_of(range); }

/* Is each load of the body next to its neighbour, or the same, along range? */
static bool walks_well(UOp *body, UOp *range)
{
	Nodes all = walk(body);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_LOAD || !depends(u, range))
			continue;
		if (stride_of(u, range) != 1 || depends(u->src[0]->src[1], range) != 1)
			return false;
	}
	return true;
}

static UOp *innermost_of(const Facts *f, const UOp *reduce)
{
	return f->range[63 - __builtin_clzll(bound_of(reduce))];
}

static bool has_reduce(UOp *body, uint64_t over)
{
	Nodes all = walk(body);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RREDUCE && free_of(all.at[i]) & over)
			return true;
	return false;
}

/* Does a reduction run over r as well?  Its own turns are no lanes of a block. */
static bool is_reduced(const Facts *f, int r)
{
	Nodes all = walk(f->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RREDUCE && bound_of(all.at[i]) >> r & 1)
			return true;
	return false;
}

/* Columns side by side pay when the reduction strides over rows and the columns lie next to each
 * other. */
static void choose_block(Plan *p, const Facts *f, const Look *k)
{
	int r = p->norder ? p->order[p->norder - 1] : -1;
	if (r < 0 || f->serial >> r & 1 || k->scan.n || k->sorts || !target->lanes || is_reduced(f, r))
		return;
	UOp *range = f->range[r];
	int64_t lo, hi;
	bool pays = false;
	ix_bounds(range->src[0], &lo, &hi);
	for (size_t i = 0; i < k->reduce.n; i++) {
		UOp *u = k->reduce.at[i];
		if (!depends(u, range))
			continue;
		if (!walks_well(u->src[0], range) || has_reduce(u->src[0], bound_of(u)))
			return;
		UOp *inner = innermost_of(f, u);
		pays |= !walks_well(u->src[0], inner) ||
			count_of(f, bit_of(inner)) < 2 * target->lanes;
	}
	if (!pays || hi < 4)
		return;
	p->block = r;
	p->lanes = hi < BLOCK ? (int)hi : BLOCK;
}

/* ---- GPU: items or groups */

static int64_t greatest_reduction(const Facts *f, const Look *k)
{
	int64_t most = 0;
	for (size_t i = 0; i < k->reduce.n; i++) {
		int64_t n = count_of(f, bound_of(k->reduce.at[i]));
		most = n > most ? n : most;
	}
	return most;
}

/* ranges that every reduction depends on as much as any: the rows */
static uint64_t row_ranges(const Facts *f, const Look *k)
{
	uint64_t set = 0;
	int most = 0;
	for (int r = 0; r < f->nrange; r++)
		most = k->weight[r] > most ? k->weight[r] : most;
	for (int r = 0; r < f->nrange && most; r++)
		if (k->weight[r] == most && f->out >> r & 1)
			set |= 1ull << r;
	return set;
}

/* Do all reductions that cost most depend on every output range? Then items are better than groups.
 */
static bool even_work(const Facts *f, const Look *k, uint64_t free)
{
	int64_t most = greatest_reduction(f, k);
	for (size_t i = 0; i < k->reduce.n; i++) {
		uint64_t missing = free & ~free_of(k->reduce.at[i]);
		if (count_of(f, bound_of(k->reduce.at[i])) * 4 >= most && count_of(f, missing) > 1)
			return false;
	}
	return true;
}

static void choose_grid(Plan *p, const Facts *f, const Look *k)
{
	uint64_t free = f->out & ~f->serial;
	p->mode = PLAN_ITEMS;
	p->items = target->group;
	p->bound = free;
	if (!k->reduce.n || k->scan.n || f->serial)
		return;
	bool even = even_work(f, k, free);
	int64_t most = greatest_reduction(f, k);
	if (most < GROUP_LEAST || (even && count_of(f, free) >= FEW))
		return;
	p->mode = PLAN_GROUP;
	p->bound = even ? free : row_ranges(f, k);
}

/* ---- the pass */

static void tell(const Plan *p, const Facts *f)
{
	static const char *const mode[] = {"loops", "one work item an element", "one work group a row"};
	Buf b = {0};
	buf_printf(&b, "%s", mode[p->mode]);
	if (p->block >= 0)
		buf_printf(
			&b, ", %d columns of r%lld side by side", p->lanes, (long long)axis_of(f, p->block));
	if (p->split)
		buf_printf(&b, ", sums in %d parts", p->split);
	if (p->mode != PLAN_LOOPS)
		buf_printf(&b, ", %d items a group", p->items);
	for (int i = 0; i < p->nstage; i++)
		buf_printf(&b, ", %s in a row buffer of %lld", op_name(p->stage[i].value->op),
			(long long)count_of(f, p->stage[i].over));
	explain(f->kernel, "%s", buf_str(&b));
	buf_free(&b);
}

static UOp *kernel_actions(const Use *use)
{
	Lowering l;
	Look k;
	UOp *kernel = use->kernel;
	if (val_get(kernel->arg, "actions"))
		return kernel;
	lowering_begin(&l, kernel, use->alias);
	l.plan = (Plan){.block = -1};
	look(&l.facts, &k);
	choose_order(&l.plan, &l.facts, &k);
	if (target->gpu) {
		choose_grid(&l.plan, &l.facts, &k);
	} else if (k.reduce.n) {
		choose_block(&l.plan, &l.facts, &k);
		l.plan.split = target->lanes;
	}
	Plan plan = l.plan;
	if (k.reduce.n || k.scan.n) {
		lowering_fill(&l);
		stage_choose(&l, &plan);
	}
	tell(&plan, &l.facts);
	plan_write(&plan, &l.facts, &kernel);
	vec_free(&k.reduce);
	vec_free(&k.scan);
	lowering_end(&l);
	return kernel;
}

Graph *lower_actions(Graph *g) { return kernels_map(g, kernel_actions); }
