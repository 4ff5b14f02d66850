/* Prepares a kernel for evaluation: each node goes to the outermost scope in which all its ranges
 * are bound as it needs them, so that invariant values are computed once.
 *
 *     y[r0, r1] = x[r0, r1] / RREDUCE ADD (x[r0, r1], r1)
 *     scope 1 (STORE: r0 r1)    LOAD x, RREDUCE, FDIV
 *     scope 2 (reduce: r1)      LOAD x again: here r1 is bound by the reduction
 *
 * An RSCAN whose range can be the innermost of its scope keeps a running value there; any other is
 * computed as a reduction over 0 … the range's current value.
 */
#include <stdlib.h>
#include "interp/scope.h"

enum { DEPTH = 200 };   /* nesting of scopes, which run recursively */

typedef struct { UOp *u; int scope, child; uint32_t next; ReduceMode mode; } Frame;

int64_t range_number(const KernelPlan *p, UOp *range)
{
	int64_t v;

	if (!ix_eval(range->src[0], p->env, &v) || v < 0)
		die(MALFORMED, "kernel %s: the size of a range is negative or cannot be computed",
			p->name);
	return v;
}

static bool is_serial(const UOp *range)
{
	return !strcmp(range_kind(range), "serial");
}

/* Order of ranges, outer to inner: by axis number, but serial ranges first in a scope that runs in
 * order, and the range of running scans last. */
static bool before(const KernelScope *s, const UOp *a, const UOp *b)
{
	int ka = range_axis(a), kb = range_axis(b);

	if (s->in_order && is_serial(a) != is_serial(b))
		return is_serial(a);
	if (ka == s->running || kb == s->running)
		return kb == s->running && ka != kb;
	return ka < kb;
}

static void scope_sort(KernelPlan *p, KernelScope *s)
{
	for (int i = 1; i < s->nrange; i++) {
		UOp *r = s->range[i];
		int k = i;
		for (; k > 0 && before(s, r, s->range[k - 1]); k--)
			s->range[k] = s->range[k - 1];
		s->range[k] = r;
	}
	for (int i = 0; i < s->nrange; i++)
		s->size[i] = range_number(p, s->range[i]);
}

static int scope_new(KernelPlan *p, ScopeKind kind, int parent, int nrange, UOp *const *range)
{
	KernelScope s = {.kind = kind, .parent = parent, .nrange = nrange, .running = -1,
		.result = NO_CELL};

	s.depth = p->nscope ? p->scope[parent].depth + 1 : 0;
	if (s.depth > DEPTH)
		die(UNSUPPORTED, "kernel %s: more than %d reductions within each other", p->name,
			DEPTH);
	s.range = xmalloc((nrange + 1) * sizeof *s.range);
	s.size = xmalloc((nrange + 1) * sizeof *s.size);
	s.range_cell = xmalloc((nrange + 1) * sizeof *s.range_cell);
	for (int i = 0; i < nrange; i++) {
		s.range[i] = range[i];
		s.bound |= 1ull << range_axis(range[i]);
	}
	if (p->nscope == p->capscope)
		vec_grow((void **)&p->scope, &p->capscope, sizeof *p->scope);
	p->scope[p->nscope] = s;
	return (int)p->nscope++;
}

/* The innermost scope, from s outwards, that binds a range of u; where u reads what the kernel
 * writes, at most the scope of its STORE. */
static int resolve(const KernelPlan *p, UOp *u, int s)
{
	uint64_t mask = range_mask(u);

	while (s > 0 && !(mask & p->scope[s].bound) &&
		!(p->dirty[u->id] && p->scope[s].kind == SCOPE_STORE))
		s = p->scope[s].parent;
	return s;
}

static uint64_t cell_key(const UOp *u, int scope)
{
	return (uint64_t)u->id << 24 | (uint64_t)scope;
}

static int find_cell(const KernelPlan *p, UOp *u, int from)
{
	return (int)(intptr_t)map_get(&p->cell_of, cell_key(u, resolve(p, u, from))) - 1;
}

/* Whether RSCAN u can keep a running value in scope s. */
static bool runs_along(KernelPlan *p, UOp *u, int s)
{
	KernelScope *sc = &p->scope[s];
	int axis = range_axis(u->src[1]);

	if (sc->in_order || !(sc->bound >> axis & 1))
		return false;
	if (sc->running < 0)
		sc->running = axis;
	return sc->running == axis;
}

/* Makes the scopes of the tables that reduction u needs: one for its values, or one for each
 * factor, the second directly after the first. */
static int table_scopes(KernelPlan *p, UOp *u, int s, ReduceMode mode)
{
	UOp *range[64];
	int n, first;

	if (mode == REDUCE_TABLE) {
		n = ranges_of(&p->scope[s], u, range);
		return scope_new(p, SCOPE_ROW, 0, n, range);
	}
	n = factor_ranges(p, u, s, u->src[0]->src[0], range);
	first = scope_new(p, SCOPE_ROW, 0, n, range);
	n = factor_ranges(p, u, s, u->src[0]->src[1], range);
	scope_new(p, SCOPE_ROW, 0, n, range);
	return first;
}

/* The scope that u runs, made when u is first visited. */
static int child_of(KernelPlan *p, UOp *u, int s, ReduceMode *mode)
{
	switch (u->op) {
	case OP_RREDUCE:
		*mode = reduce_mode(p, u, s);
		if (*mode != REDUCE_LANES)
			return table_scopes(p, u, s, *mode);
		return scope_new(p, SCOPE_REDUCE, s, (int)u->nsrc - 1, u->src + 1);
	case OP_RSORT:
		runs_along(p, u, s);
		return scope_new(p, SCOPE_ROW, s, 1, u->src + 1);
	case OP_RSCAN:
		return runs_along(p, u, s) ? 0 : scope_new(p, SCOPE_REDUCE, s, 1, u->src + 1);
	default:
		return 0;
	}
}

/* Operand i of a reduction with tables: the content of each table, then the ranges that the
 * reduction depends on. */
static bool table_operand(const KernelPlan *p, const Frame *f, uint32_t i, UOp **src, int *from)
{
	UOp *range[64];
	uint32_t tables = f->mode == REDUCE_CONTRACT ? 2 : 1;
	int n = ranges_of(&p->scope[f->scope], f->u, range);

	if (i >= tables + n)
		return false;
	*from = i < tables ? f->child + (int)i : f->scope;
	*src = i >= tables ? range[i - tables] : tables == 2 ? f->u->src[0]->src[i] : f->u;
	return true;
}

/* Operand i of u and the scope from which it is visited; false when there is none. */
static bool operand(const KernelPlan *p, const Frame *f, uint32_t i, UOp **src, int *from)
{
	UOp *u = f->u;
	uint32_t n = u->nsrc, skip = 0;

	if (f->mode != REDUCE_LANES)
		return table_operand(p, f, i, src, from);
	switch (u->op) {
	case OP_CONST: case OP_VAR: case OP_RANGE: n = 0; break;
	case OP_INDEX: skip = 1; break;
	case OP_RREDUCE: n = 1; break;
	case OP_TUPLE: n = tuple_size(u); break;
	case OP_RSCAN: case OP_RSORT: n = 2; break;
	default: break;
	}
	if (i + skip >= n)
		return false;
	*src = u->src[i + skip];
	*from = f->child && i == 0 ? f->child : f->scope;
	return true;
}

static bool can_be(Op op)
{
	return op_elementwise(op) || op == OP_CONST || op == OP_VAR || op == OP_RANGE ||
		op == OP_INDEX || op == OP_LOAD || op == OP_RREDUCE || op == OP_TUPLE ||
		op == OP_RSCAN || op == OP_RSORT;
}

/* Whether LOAD u has the same INDEX as a gated STORE. */
static bool under_gate(const KernelPlan *p, const UOp *u)
{
	for (uint32_t i = 0; u->op == OP_LOAD && i < p->kernel->nsrc; i++)
		if (p->kernel->src[i]->nsrc == 3 && p->kernel->src[i]->src[0] == u->src[0])
			return true;
	return false;
}

static int cell_add(KernelPlan *p, const Frame *f)
{
	KernelCell c = {.u = f->u, .scope = f->scope, .mode = f->mode, .child = f->child,
		.guarded = under_gate(p, f->u)};
	int at = (int)p->ncell, from;
	UOp *src;

	while (operand(p, f, c.nsrc, &src, &from))
		c.nsrc++;
	c.src = xmalloc((c.nsrc + 1) * sizeof *c.src);
	for (uint32_t i = 0; operand(p, f, i, &src, &from); i++)
		c.src[i] = find_cell(p, src, from);
	if (p->ncell == p->capcell)
		vec_grow((void **)&p->cell, &p->capcell, sizeof *p->cell);
	p->cell[p->ncell++] = c;
	map_put(&p->cell_of, cell_key(f->u, f->scope), (void *)(intptr_t)(at + 1));
	if (folds_tuple(f->u) && f->mode == REDUCE_LANES)
		p->cell[at].tuple = tuple_fold_new(f->u->src[0]);
	if (c.child) {
		p->scope[c.child].result = c.src[0];
		p->scope[c.child].owner = at;
		if (c.mode == REDUCE_CONTRACT)
			p->scope[c.child + 1].result = c.src[1];
	}
	if (f->u->op != OP_RANGE)       /* the scope computes its ranges itself */
		vec_push(&p->scope[f->scope].cell, at);
	return at;
}

/* Assigns root, visited from scope `from`, to a scope, after all its operands. */
static int place(KernelPlan *p, UOp *root, int from)
{
	VEC(Frame) stack = {0};
	int found = NO_CELL;

	vec_push(&stack, ((Frame){root, resolve(p, root, from), 0, 0, REDUCE_LANES}));
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		UOp *src;
		if ((found = find_cell(p, f->u, f->scope)) >= 0) {
			stack.n--;
			continue;
		}
		if (!can_be(f->u->op))
			die(UNSUPPORTED, "kernel %s: %s cannot be interpreted", p->name,
				op_name(f->u->op));
		if (f->next == 0 && !f->child)
			f->child = child_of(p, f->u, f->scope, &f->mode);
		if (operand(p, f, f->next, &src, &from)) {
			f->next++;
			if (find_cell(p, src, from) < 0)
				vec_push(&stack,
				((Frame){src, resolve(p, src, from), 0, 0, REDUCE_LANES}));
			continue;
		}
		found = cell_add(p, f);
		stack.n--;
	}
	vec_free(&stack);
	return found;
}

static int slot_of(const UOp *index)
{
	const Val *slot = val_get(index->src[0]->arg, "slot");

	return slot && slot->kind == VAL_INT ? (int)slot->i : -1;
}

/* Marks the nodes that read a slot that the kernel writes. */
static void mark_dirty(KernelPlan *p)
{
	Nodes all = walk(p->kernel);
	uint64_t written = 0;

	for (size_t i = 0; i < p->kernel->nsrc; i++)
		if (p->kernel->src[i]->op != OP_STORE)
			die(MALFORMED, "kernel %s: a %s in place of a STORE", p->name,
				op_name(p->kernel->src[i]->op));
	for (size_t i = 0; i < p->kernel->nsrc; i++)
		written |= 1ull << (slot_of(p->kernel->src[i]->src[0]) & 63);
	p->dirty = xcalloc(node_limit(), 1);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op == OP_LOAD && (written >> (slot_of(u->src[0]) & 63) & 1))
			p->dirty[u->id] = 1;
		for (uint32_t k = 0; k < u->nsrc; k++)
			p->dirty[u->id] |= p->dirty[u->src[k]->id];
	}
}

/* The scope of a STORE's free ranges: a new one, or the last one if its ranges are the same. */
static int store_scope(KernelPlan *p, UOp *store)
{
	uint64_t mask = range_mask(store);
	Nodes all = walk(store);
	UOp *range[64] = {0};
	int n = 0, s;
	bool serial = false;

	for (size_t i = p->nscope; i-- > 1;)
		if (p->scope[i].kind == SCOPE_STORE && p->scope[i].bound == mask)
			return (int)i;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != OP_RANGE || !(mask >> range_axis(u) & 1))
			continue;
		mask &= ~(1ull << range_axis(u));
		serial |= is_serial(u);
		range[n++] = u;
	}
	s = scope_new(p, SCOPE_STORE, 0, n, range);
	p->scope[s].in_order = serial && p->dirty[store->id];
	return s;
}

static void order_ranges(KernelPlan *p)
{
	for (size_t i = 0; i < p->nscope; i++) {
		scope_sort(p, &p->scope[i]);
		for (int k = 0; k < p->scope[i].nrange; k++)
			p->scope[i].range_cell[k] = NO_CELL;
	}
	for (size_t i = 0; i < p->ncell; i++) {
		KernelScope *s = &p->scope[p->cell[i].scope];
		for (int k = 0; p->cell[i].u->op == OP_RANGE && k < s->nrange; k++)
			if (range_axis(s->range[k]) == range_axis(p->cell[i].u))
				s->range_cell[k] = (int)i;
	}
}

static void allocate(KernelPlan *p)
{
	enum { LANES = 512, MEMORY = 1 << 26 };

	p->lanes = p->ncell > MEMORY / (8 * LANES) ? MEMORY / (8 * p->ncell) : LANES;
	if (p->lanes == 0)
		p->lanes = 1;
	for (size_t i = 0; i < p->ncell; i++) {
		KernelCell *c = &p->cell[i];
		c->lane = xcalloc(c->scope ? p->lanes : 1, 8);
		if (c->u->op == OP_RSORT) {
			size_t n = (size_t)p->scope[c->child].size[0] + 1, bytes;
			if (__builtin_mul_overflow(n, sizeof(uint64_t), &bytes))
				die(FAILED, "kernel %s: no memory for a row of %zu elements",
					p->name, n);
			c->row = xmalloc(bytes);
			c->order = xmalloc(bytes);
			p->scope[c->child].row = c->row;
		}
	}
}

void kernel_plan(KernelPlan *p, UOp *kernel, const VarEnv *env)
{
	const Val *name = val_get(kernel->arg, "name");

	*p = (KernelPlan){.kernel = kernel, .env = env,
		.name = name && name->kind == VAL_STR ? name->s : "?"};
	scope_new(p, SCOPE_ONCE, 0, 0, NULL);
	mark_dirty(p);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *store = kernel->src[i];
		int s = store_scope(p, store);
		for (uint32_t k = 0; k < 3; k++) {
			int c = k < store->nsrc ? place(p, store->src[k], s) : NO_CELL;
			vec_push(&p->scope[s].store_src, c);
		}
		vec_push(&p->scope[s].store, store);
	}
	order_ranges(p);
	allocate(p);
}

void kernel_plan_free(KernelPlan *p)
{
	for (size_t i = 0; i < p->ncell; i++) {
		free(p->cell[i].src);
		free(p->cell[i].lane);
		free(p->cell[i].table);
		tuple_fold_free(p->cell[i].tuple);
		free(p->cell[i].row);
		free(p->cell[i].order);
	}
	for (size_t i = 0; i < p->nscope; i++) {
		KernelScope *s = &p->scope[i];
		free(s->range);
		free(s->size);
		free(s->range_cell);
		vec_free(&s->cell);
		vec_free(&s->store);
		vec_free(&s->store_src);
	}
	free(p->cell);
	free(p->scope);
	map_free(&p->cell_of);
	free(p->dirty);
}
