/* The scopes around the STOREs: loops over the output ranges on a CPU, places in the grid on a GPU.
 *
 *     LOOPS   kernel ⊃ for r0 ⊃ for r1                          STOREs in the last
 *             kernel ⊃ for r0 ⊃ for block ⊃ for lane            and a tail beside the blocks
 *     ITEMS   kernel ⊃ if in the grid ⊃ for serial ranges       one item an element
 *     GROUP   kernel ⊃ group ⊃ for every 128th of the rest      one group a row
 */
#include "render.h"

static UOp *special(const char *kind, int dim, UOp *size)
{
	return NODE(OP_SPECIAL, DT_I64, val_str(arena_printf("%s%d", kind, dim)), size);
}

static UOp *size_of(const Lowering *l, int r) { return l->facts.range[r]->src[0]; }

static UOp *flat_size(const Lowering *l, const int *range, int n)
{
	UOp *total = ix_const(1);
	for (int i = 0; i < n; i++)
		total = ix_mul(total, size_of(l, range[i]));
	return total;
}

/* ---- grid */

typedef struct { UOp *groups[3], *items[3]; int n; } Grid;

static UOp *ceil_div(UOp *a, int b) { return ix_div(ix_add(a, ix_const(b - 1)), ix_const(b)); }

/* One dimension of the grid: its counter as a LET in s, and whether it may run past size. */
static UOp *grid_dim(Lowering *l, Scope *s, Grid *g, UOp *size, int items, UOp **guard)
{
	int d = g->n++;
	int64_t rest;
	g->groups[d] = ceil_div(size, items);
	g->items[d] = ix_const(items);
	UOp *at = special("gidx", d, g->groups[d]);
	if (items > 1) {
		at = ix_add(ix_mul(at, ix_const(items)), special("lidx", d, g->items[d]));
		at = NODE(OP_LET, DT_I64, val_int(l->ids++), at);
		vec_push(&s->pre, at);
	}
	if (!ix_is_const(ix_mod(size, ix_const(items)), &rest) || rest)
		*guard = ix_lt(at, size);
	return at;
}

/* A dimension other than the first holds 65535 groups at most. */
static bool fits_dims(const Lowering *l, const int *range, int n)
{
	int64_t inner = count_of(&l->facts, 1ull << range[n - 1]);
	if (n > target->dims || n == 1 || inner < 32)
		return false;
	for (int i = 0; i < n - 1; i++)
		if (count_of(&l->facts, 1ull << range[i]) > 65535)
			return false;
	return true;
}

static const Val *sizes_val(UOp *const *size, int n)
{
	const Val *v[3];
	for (int i = 0; i < n; i++)
		v[i] = size_to_val(size[i]);
	return val_array(n, v);
}

UOp *grid_bind(Lowering *l, Scope *s, uint64_t set, int items)
{
	int range[MAX_RANGES], n = ranges_in(set, range);
	UOp *guard = NULL;
	Grid g = {0};
	if (n && fits_dims(l, range, n)) {
		for (int i = n; i-- > 0;)
			s->at[range[i]] = grid_dim(
				l, s, &g, size_of(l, range[i]), i == n - 1 ? items : 1, &guard);
	} else {
		UOp *flat = grid_dim(l, s, &g, flat_size(l, range, n), items, &guard);
		unflatten(l, s, range, n, flat);
	}
	l->global = sizes_val(g.groups, g.n);
	l->local = sizes_val(g.items, g.n);
	return guard;
}

/* ---- the chain of scopes */

static Scope *chain(Scope *outer, Scope *s)
{
	outer->inner[outer->ninner++] = s;
	return s;
}

static Scope *loop_over(Lowering *l, Scope *in, int r)
{
	Scope *s = chain(in, scope_new(l, in, 1ull << r, l->facts.range[r]));
	s->at[r] = l->facts.range[r];
	return s;
}

static Scope *lane_scope(Lowering *l, Scope *base, int r, UOp *first, UOp *size)
{
	Scope *s = chain(base, scope_new(l, base, 1ull << r, scope_range(l, base, size, "unroll")));
	s->at[r] = ix_add(first, s->open);
	s->lane = s->open;
	s->base = base;
	return s;
}

/* Blocks of the last output range, then what is left of it. */
static int open_blocks(Lowering *l, Scope *in, Scope *last[2])
{
	int r = l->plan.block, n = 0;
	int64_t known, rest;
	UOp *size = size_of(l, r), *lanes = ix_const(l->plan.lanes), *blocks = ix_div(size, lanes);
	UOp *tail = ix_mod(size, lanes);
	bool one = ix_is_const(blocks, &known) && known == 1;
	if (!ix_is_const(blocks, &known) || known) {
		Scope *base = chain(
			in, scope_new(l, in, 0, one ? NULL : scope_range(l, in, blocks, "loop")));
		UOp *first = one ? ix_const(0) : ix_mul(base->open, lanes);
		last[n++] = lane_scope(l, base, r, first, lanes);
	}
	if (!ix_is_const(tail, &rest) || rest) {
		Scope *base = chain(in, scope_new(l, in, 0, NULL));
		last[n++] = lane_scope(l, base, r, ix_mul(blocks, lanes), tail);
	}
	return n;
}

static int open_plain(Lowering *l, Scope *in, Scope *last[2])
{
	for (int i = 0; i < l->plan.norder; i++) {
		int r = l->plan.order[i];
		if (r == l->plan.block)
			return open_blocks(l, in, last);
		if (!(l->plan.bound >> r & 1))
			in = loop_over(l, in, r);
	}
	last[0] = in;
	return 1;
}

static int open_items(Lowering *l, Scope *last[2])
{
	Scope *s = l->top;
	UOp *guard = grid_bind(l, s, l->plan.bound, l->plan.items);
	if (guard) {
		Scope *in = chain(s, scope_new(l, s, 0, NODE(OP_IF, DT_NONE, VNIL, guard)));
		memcpy(in->at, s->at, MAX_RANGES * sizeof *s->at);
		s = in;
	}
	s->binds = l->plan.bound;
	return open_plain(l, s, last);
}

static int open_rows(Lowering *l, Scope *last[2])
{
	Scope *s = l->shared = l->top;
	grid_bind(l, s, l->plan.bound, 1);
	s->binds = l->plan.bound;
	l->local = VARR(val_int(l->plan.items));
	if (l->global->n > 1)
		l->local = l->global->n == 2 ? VARR(val_int(l->plan.items), val_int(1)) :
			VARR(val_int(l->plan.items), val_int(1), val_int(1));
	l->lidx = special("lidx", 0, ix_const(l->plan.items));
	uint64_t rest = l->facts.out & ~l->plan.bound;
	Scope *first;
	if (rest) {
		last[0] = open_strided(l, s, rest, &first);
		chain(s, first);
	} else {
		UOp *one = ix_lt(l->lidx, ix_const(1));
		last[0] = chain(s, scope_new(l, s, 0, NODE(OP_IF, DT_NONE, VNIL, one)));
	}
	return 1;
}

int loops_open(Lowering *l, Scope *last[2])
{
	l->top = scope_new(l, NULL, 0, NULL);
	int n = l->plan.mode == PLAN_ITEMS ? open_items(l, last) :
		l->plan.mode == PLAN_GROUP ? open_rows(l, last) : open_plain(l, l->top, last);
	for (int i = 0; i < n; i++)
		last[i]->last = true;
	return n;
}
