/* Runs a KERNEL of level schedule on buffers: each scope's iterations in blocks of lanes, and each
 * node of the scope on a whole block at a time, by interp_op. An inner scope (a reduction or a row)
 * runs once for each lane of the outer one. Every access is checked against its buffer.
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/scope.h"

/* count: its elements, for a single index over all of them (between passes of `lower`) */
typedef struct { int rank; int64_t dim[MAX_RANK], count; char *at; } Extent;

typedef struct {
	KernelPlan plan;
	Extent *slot;           /* by slot */
	/* a scope has no iterations: a node hoisted out of it may be out of bounds */
	bool some_empty;
	Watch *watch;           /* or NULL */
} KernelRun;

static void run_scope(KernelRun *r, int scope);
static int64_t iterations(KernelRun *r, const KernelScope *s, int64_t *together);

/* Bytes per lane. An INDEX has its element's dtype, but holds a position. */
static int cell_size(const KernelCell *c)
{
	return c->u->op == OP_INDEX ? (int)sizeof(int64_t) : element_size(c->u->dtype);
}

/* An operand as a block of `scope` sees it: its elements and their step. */
static const void *seen(const KernelRun *r, int cell, int scope, int *step)
{
	const KernelCell *c = &r->plan.cell[cell];

	*step = c->scope == scope;
	return c->lane + (*step ? 0 : r->plan.scope[c->scope].at * cell_size(c));
}

static Extent *extent_of(KernelRun *r, const UOp *param)
{
	return &r->slot[param_slot(param)];
}

/* ---- places ---- */

/* The size along index k of a place with n indices. */
static int64_t extent_along(const Extent *e, uint32_t n, uint32_t k)
{
	return n == (uint32_t)e->rank ? e->dim[k] : e->count;
}

/* The row-major position of each lane, or -1 if it is outside the buffer. */
static void run_index(KernelRun *r, KernelCell *c, size_t n)
{
	const Extent *e = extent_of(r, c->u->src[0]);
	int64_t *place = (int64_t *)c->lane;

	memset(place, 0, n * sizeof *place);
	for (uint32_t k = 0; k < c->nsrc; k++) {
		int step;
		const int64_t *x = seen(r, c->src[k], c->scope, &step);
		const int64_t dim = extent_along(e, c->nsrc, k);
		for (size_t i = 0; i < n; i++) {
			int64_t v = x[i * step];
			place[i] = place[i] < 0 || v < 0 || v >= dim ? -1 : place[i] * dim + v;
		}
	}
}

static _Noreturn void outside(KernelRun *r, const KernelCell *index, size_t lane, const char *what)
{
	const Extent *e = extent_of(r, index->u->src[0]);
	Buf b = {0};

	for (uint32_t k = 0; k < index->nsrc; k++) {
		int step;
		const int64_t *x = seen(r, index->src[k], index->scope, &step);
		buf_printf(&b, "%s%lld of %lld", k ? ", " : "", (long long)x[lane * step],
			(long long)extent_along(e, index->nsrc, k));
	}
	die(FAILED, "kernel %s: %s outside its buffer: slot %d at %s", r->plan.name, what,
		(int)(e - r->slot), buf_str(&b));
}

static void run_load(KernelRun *r, KernelCell *c, size_t n)
{
	const int size = element_size(c->u->dtype);
	const KernelCell *index = &r->plan.cell[c->src[0]];
	const char *from = extent_of(r, index->u->src[0])->at;
	int step, gate_step = 0;
	const int64_t *place = seen(r, c->src[0], c->scope, &step);
	const uint8_t *gate = c->nsrc > 1 ? seen(r, c->src[1], c->scope, &gate_step) : NULL;
	const uint64_t zero = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t p = place[i * step];
		bool on = !gate || gate[i * gate_step];
		if (on && p < 0 && !r->some_empty && !c->guarded)
			outside(r, index, step ? i : r->plan.scope[index->scope].at, "LOAD");
		element_copy(c->lane + i * size,
			on && p >= 0 ? from + p * size : (const char *)&zero, size);
	}
}

static void run_store(KernelRun *r, int scope, const int *src, size_t n)
{
	const KernelCell *index = &r->plan.cell[src[0]];
	const int size = element_size(r->plan.cell[src[1]].u->dtype);
	char *to = extent_of(r, index->u->src[0])->at;
	int step, value_step, gate_step = 0;
	const int64_t *place = seen(r, src[0], scope, &step);
	const char *value = seen(r, src[1], scope, &value_step);
	const uint8_t *gate = src[2] == NO_CELL ? NULL : seen(r, src[2], scope, &gate_step);

	for (size_t i = 0; i < n; i++) {
		int64_t p = place[i * step];
		if (gate && !gate[i * gate_step])
			continue;
		if (p < 0)
			outside(r, index, step ? i : r->plan.scope[index->scope].at, "STORE");
		element_copy(to + p * size, value + i * value_step * size, size);
	}
}

/* ---- reductions, scans, sorts ---- */

static Op fold_op(const UOp *u)
{
	return (Op)op_find(u->arg->s);
}

/* One fold of tuples for each lane. */
static void run_tuples(KernelRun *r, KernelCell *c, size_t n)
{
	const int size = element_size(c->u->dtype);

	for (size_t i = 0; i < n; i++) {
		r->plan.scope[c->scope].at = i;
		tuple_fold_start(c->tuple);
		run_scope(r, c->child);
		element_copy(c->lane + i * size, tuple_fold_value(c->tuple, c->u->arg->i), size);
	}
}

static void fold_tuples(KernelRun *r, const KernelCell *owner, const KernelCell *tuple, size_t n)
{
	const char *x[MAX_TUPLE];
	int step[MAX_TUPLE];

	for (uint32_t k = 0; k < tuple->nsrc; k++)
		x[k] = seen(r, tuple->src[k], owner->child, &step[k]);
	tuple_fold_add(owner->tuple, n, x, step);
}

/* One reduction for each lane: the child scope accumulates into the cell's acc. */
static void run_reduce(KernelRun *r, KernelCell *c, size_t n)
{
	const DType dt = c->u->dtype;
	KernelScope *around = &r->plan.scope[c->scope], *child = &r->plan.scope[c->child];
	uint64_t none = 0;

	interp_identity(fold_op(c->u), dt, &none);
	for (size_t i = 0; i < n; i++) {
		around->at = i;
		c->acc = none;
		if (c->u->op == OP_RSCAN) {     /* over 0 … the range's current value */
			int step;
			const int64_t *own = seen(r, c->src[1], c->scope, &step);
			child->size[0] = own[i * step] + 1;
		}
		run_scope(r, c->child);
		element_cast(dt, c->lane + i * element_size(dt), dtype_acc(dt), &c->acc, 1);
	}
}

/* A scan along the innermost range: consecutive lanes are consecutive iterations, and iteration 0
 * starts a new scan. */
static void run_scan(KernelRun *r, KernelCell *c, size_t n)
{
	const DType dt = c->u->dtype;
	const int size = element_size(dt);
	const Op op = fold_op(c->u);
	int step, own_step;
	const char *x = seen(r, c->src[0], c->scope, &step);
	const int64_t *own = seen(r, c->src[1], c->scope, &own_step);

	for (size_t i = 0, m; i < n; i += m) {
		if (own[i * own_step] == 0) {
			c->acc = 0;
			interp_identity(op, dt, &c->acc);
		}
		for (m = 1; i + m < n && own[(i + m) * own_step] != 0; m++)
			;
		interp_scan(op, dt, m, &c->acc, x + i * step * size, step, c->lane + i * size, 1);
	}
}

/* Sorts a row when a lane is at its start, or for every lane if the lanes do not run along the row.
 */
static void run_sort(KernelRun *r, KernelCell *c, size_t n)
{
	KernelScope *around = &r->plan.scope[c->scope], *child = &r->plan.scope[c->child];
	const DType dt = c->u->src[0]->dtype;
	const bool follows = around->running == range_axis(c->u->src[1]);
	int step;
	const int64_t *own = seen(r, c->src[1], c->scope, &step);

	for (size_t i = 0; i < n; i++) {
		if (own[i * step] == 0 || !follows) {
			around->at = i;
			child->row = c->row;
			run_scope(r, c->child);
			interp_sort(dt, child->size[0], c->row, 1, c->order, 1, c->u->arg->b);
		}
		((int64_t *)c->lane)[i] = c->order[own[i * step]];
	}
}

/* ---- tables of reductions */

/* The values of a scope's result in all its iterations, row-major over its ranges. */
static char *whole_scope(KernelRun *r, int scope)
{
	KernelScope *s = &r->plan.scope[scope];
	int64_t together, n = iterations(r, s, &together);

	s->row = xmalloc(n * element_size(r->plan.cell[s->result].u->dtype) + 1);
	run_scope(r, scope);
	return s->row;
}

/* The stride of a range in a row-major table over n ranges; 0 when it is not one of them. */
static int64_t table_step(const KernelRun *r, int n, UOp *const *range, const UOp *of)
{
	int64_t step = 1;

	for (int k = n - 1; k >= 0; k--) {
		if (range_axis(range[k]) == range_axis(of))
			return step;
		step *= range_number(&r->plan, range[k]);
	}
	return 0;
}

static int64_t scope_step(const KernelRun *r, int scope, const UOp *of)
{
	return table_step(r, r->plan.scope[scope].nrange, r->plan.scope[scope].range, of);
}

static char *contracted(KernelRun *r, const KernelCell *c)
{
	ContractAxis axis[MAX_CONTRACT];
	UOp *own[64], *all[64];
	int n = ranges_of(&r->plan.scope[c->scope], c->u, own);
	int m = factor_ranges(&r->plan, c->u, c->scope, c->u->src[0], all);
	int64_t count = 1;
	char *a = whole_scope(r, c->child), *b = whole_scope(r, c->child + 1), *out;

	for (int k = 0; k < n; k++)
		count *= range_number(&r->plan, own[k]);
	for (int k = 0; k < m; k++) {
		bool sum = false;
		for (uint32_t i = 1; i < c->u->nsrc; i++)
			sum |= c->u->src[i] == all[k];
		axis[k] = (ContractAxis){range_number(&r->plan, all[k]),
			scope_step(r, c->child, all[k]), scope_step(r, c->child + 1, all[k]),
			sum ? 0 : table_step(r, n, own, all[k]), sum};
	}
	out = xmalloc(count * element_size(c->u->dtype) + 1);
	interp_contract(c->u->dtype, m, axis, a, b, out);
	free(a);
	free(b);
	return out;
}

static char *folded(KernelRun *r, const KernelCell *c)
{
	return c->mode == REDUCE_CONTRACT ? contracted(r, c) : whole_scope(r, c->child);
}

/* Reads each lane's value from the table, which is filled on first use. */
static void run_table(KernelRun *r, KernelCell *c, size_t n)
{
	const int size = element_size(c->u->dtype);
	const uint32_t first = c->mode == REDUCE_CONTRACT ? 2 : 1;
	UOp *own[64];
	int count = ranges_of(&r->plan.scope[c->scope], c->u, own), step;
	int64_t at[n];

	if (!c->table)
		c->table = folded(r, c);
	memset(at, 0, sizeof at);
	for (uint32_t k = first; k < c->nsrc; k++) {
		const UOp *range = r->plan.cell[c->src[k]].u;
		const int64_t *x = seen(r, c->src[k], c->scope, &step);
		int64_t by = first == 2 ? table_step(r, count, own, range) :
					  scope_step(r, c->child, range);
		for (size_t i = 0; i < n; i++)
			at[i] += x[i * step] * by;
	}
	for (size_t i = 0; i < n; i++)
		element_copy(c->lane + i * size, c->table + at[i] * size, size);
}

/* ---- cells and scopes ---- */

static void run_elementwise(KernelRun *r, KernelCell *c, size_t n)
{
	const void *in[3];
	int step[3];

	for (uint32_t k = 0; k < c->nsrc; k++)
		in[k] = seen(r, c->src[k], c->scope, &step[k]);
	interp_op(c->u->op, c->u->dtype, c->u->src[c->nsrc > 1]->dtype, n, c->lane, in, step);
}

static void run_var(KernelRun *r, KernelCell *c)
{
	int64_t v;

	if (!ix_eval(c->u, r->plan.env, &v))
		die(MALFORMED, "kernel %s: size '%s' has no value", r->plan.name,
			c->u->arg->a[0]->s);
	memcpy(c->lane, &v, sizeof v);
}

/* ---- the watch */

static void place_ranges(Buf *b, const KernelRun *r, const KernelScope *s, size_t lane)
{
	for (int k = 0; k < s->nrange; k++)
		if (s->range_cell[k] != NO_CELL)
			buf_printf(b, "%sr%lld=%lld", b->n ? " " : "",
				(long long)range_axis(s->range[k]),
				(long long)((int64_t *)r->plan.cell[s->range_cell[k]].lane)[lane]);
}

typedef struct { const KernelRun *run; int scope; } CellPlace;

/* The ranges' values in a lane of the scope, and in the lanes of the scopes around it. */
static void place_cell(Buf *b, const void *run, size_t lane)
{
	const CellPlace *p = run;
	const KernelScope *all = p->run->plan.scope;
	Buf text = {0};

	place_ranges(&text, p->run, &all[p->scope], lane);
	for (int s = p->scope; s > 0; s = all[s].parent)
		if (all[s].parent > 0)
			place_ranges(&text, p->run, &all[all[s].parent], all[all[s].parent].at);
	buf_printf(b, "%s", buf_str(&text));
	buf_free(&text);
}

static void show_cell(KernelRun *r, const KernelCell *c, size_t n)
{
	CellPlace at = {r, c->scope};
	SeenValues v = {.u = c->u, .n = n, .out = c->lane, .run = &at, .place = place_cell};

	if (op_elementwise(c->u->op))
		for (; v.nsrc < c->nsrc; v.nsrc++)
			v.in[v.nsrc] = seen(r, c->src[v.nsrc], c->scope, &v.step[v.nsrc]);
	r->watch->see(r->watch, &v);
}

static void run_cell(KernelRun *r, KernelCell *c, size_t n)
{
	switch (c->u->op) {
	case OP_CONST: element_const(c->u, c->lane); break;
	case OP_VAR: run_var(r, c); break;
	case OP_INDEX: run_index(r, c, n); break;
	case OP_LOAD: run_load(r, c, n); break;
	case OP_TUPLE: return;          /* what it consists of is there */
	case OP_RREDUCE:
		if (c->mode != REDUCE_LANES)
			run_table(r, c, n);
		else
			c->tuple ? run_tuples(r, c, n) : run_reduce(r, c, n);
		break;
	case OP_RSCAN: c->child ? run_reduce(r, c, n) : run_scan(r, c, n); break;
	case OP_RSORT: run_sort(r, c, n); break;
	default: run_elementwise(r, c, n);
	}
	if (r->watch && c->u->op != OP_INDEX)
		show_cell(r, c, n);
}

/* Sets the values of the scope's ranges in iterations pos … pos+n-1. */
static void count_ranges(KernelRun *r, KernelScope *s, int64_t pos, size_t n)
{
	int64_t inner = 1;

	for (int k = s->nrange - 1; k >= 0; k--) {
		int64_t size = s->size[k], v = pos / inner % size, left = inner - pos % inner;
		if (s->range_cell[k] != NO_CELL) {
			int64_t *lane = (int64_t *)r->plan.cell[s->range_cell[k]].lane;
			for (size_t i = 0; i < n; i++) {
				lane[i] = v;
				if (--left == 0) {
					left = inner;
					v = v + 1 == size ? 0 : v + 1;
				}
			}
		}
		inner *= size;
	}
}

/* The number of iterations in the scope; *together gets how many may share a block. */
static int64_t iterations(KernelRun *r, const KernelScope *s, int64_t *together)
{
	int64_t n = 1;

	*together = INT64_MAX;
	for (int k = 0; k < s->nrange; k++)
		if (s->size[k] == 0)
			return 0;
	for (int k = s->nrange - 1; k >= 0; k--) {
		if (s->in_order && *together == INT64_MAX &&
			!strcmp(range_kind(s->range[k]), "serial"))
			*together = n;
		if (!mul_ok(n, s->size[k], &n))
			die(FAILED, "kernel %s: more than 2^63 iterations", r->plan.name);
	}
	return n;
}

/* Stores, accumulates or collects a block once its cells have been computed. */
static void use_block(KernelRun *r, int scope, int64_t pos, size_t n)
{
	KernelScope *s = &r->plan.scope[scope];
	int step;
	const char *x;

	if (s->kind == SCOPE_STORE) {
		for (size_t i = 0; i < s->store.n; i++)
			run_store(r, scope, &s->store_src.at[3 * i], n);
	} else if (s->kind == SCOPE_ROW) {
		const int size = element_size(r->plan.cell[s->result].u->dtype);
		x = seen(r, s->result, scope, &step);
		for (size_t i = 0; i < n; i++)
			element_copy(s->row + (pos + i) * size, x + i * step * size, size);
	} else {
		KernelCell *owner = &r->plan.cell[s->owner];
		if (owner->tuple) {
			fold_tuples(r, owner, &r->plan.cell[s->result], n);
			return;
		}
		x = seen(r, s->result, scope, &step);
		interp_fold(fold_op(owner->u), owner->u->dtype, n, &owner->acc, x, step);
	}
}

static void run_scope(KernelRun *r, int scope)
{
	KernelScope *s = &r->plan.scope[scope];
	int64_t together, total = iterations(r, s, &together);

	for (int64_t pos = 0, n; pos < total; pos += n) {
		n = total - pos < (int64_t)r->plan.lanes ? total - pos : (int64_t)r->plan.lanes;
		if (together != INT64_MAX && n > together - pos % together)
			n = together - pos % together;
		count_ranges(r, s, pos, n);
		for (size_t i = 0; i < s->cell.n; i++)
			run_cell(r, &r->plan.cell[s->cell.at[i]], n);
		if (s->kind != SCOPE_ONCE)
			use_block(r, scope, pos, n);
	}
}

/* ---- the kernel ---- */

static void slots(KernelRun *r, size_t nbuf, void *const *buf)
{
	Nodes all = walk(r->plan.kernel);

	r->slot = xcalloc(nbuf + 1, sizeof *r->slot);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		const Val *slot;
		if (u->op != OP_PARAM)
			continue;
		slot = val_get(u->arg, "slot");
		if (slot->i < 0 || (uint64_t)slot->i >= nbuf)
			die(MALFORMED, "kernel %s: slot %lld, and %zu buffers", r->plan.name,
				(long long)slot->i, nbuf);
		Extent *e = &r->slot[slot->i];
		e->rank = u->shape->rank;
		e->at = buf[slot->i];
		e->count = 1;
		for (int k = 0; k < e->rank; k++)
			if (!ix_eval(u->shape->dim[k], r->plan.env, &e->dim[k]) ||
				!mul_ok(e->count, e->dim[k], &e->count))
				die(MALFORMED,
					"kernel %s: the shape of slot %lld cannot be computed",
					r->plan.name, (long long)slot->i);
		e->count = 1;
		for (int k = 0; k < e->rank; k++)
			if (!mul_ok(e->count, e->dim[k], &e->count))
				die(MALFORMED, "kernel %s: slot %lld has 2^63 elements or more",
					r->plan.name, (long long)slot->i);
	}
}

/* Bounds the iterations of a scope, times those of the scopes around it; a row is computed once. */
static void check_work(KernelRun *r, const KernelScope *s)
{
	int64_t together;
	double n = 1;

	for (;; s = &r->plan.scope[s->parent]) {
		n *= (double)iterations(r, s, &together);
		if (s->kind != SCOPE_REDUCE)
			break;
	}
	interp_bound(n, "kernel %s", r->plan.name);
}

void interp_kernel(
	UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf, Watch *watch)
{
	KernelRun r = {.watch = watch};
	int64_t together;

	kernel_plan(&r.plan, kernel, env);
	slots(&r, nbuf, buf);
	for (size_t i = 0; i < r.plan.nscope; i++) {
		r.some_empty |= iterations(&r, &r.plan.scope[i], &together) == 0;
		check_work(&r, &r.plan.scope[i]);
	}
	for (size_t i = 0; i < r.plan.nscope; i++)
		if (r.plan.scope[i].kind == SCOPE_ONCE || r.plan.scope[i].kind == SCOPE_STORE)
			run_scope(&r, (int)i);
	free(r.slot);
	kernel_plan_free(&r.plan);
}
