/* Long reductions that leave few elements, split into parts that threads, or a GPU's groups, share:
 *
 *     y = f(Σk<n x[k])   →   t[p] = Σq<n/64 x[p*(n/64) + q]        for 64 parts p
 *                            y = f(Σp t[p] + Σq<n%64 x[64*(n/64) + q])
 *
 * The number of parts is the same on every machine, and they are added in a fixed order, so results
 * do not depend on the number of threads. Of several reductions of a kernel those that others need
 * come first; in the parts of later ones each is the sum of its own parts. */
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"
#include <stdlib.h>

enum {
	FEW = 16, MOST_PARTS = 64, MOST_ROW_PARTS = 16,
	/* or where it has a tile of a contraction, with operands that are used again */
	FEW_IN_TILES = 512
};

/* Rows of that many elements are shared by threads as they are (row_tile of choose/tiles.c). */
static int64_t few_in_rows(void) { return target->machine.cache[0] / 8; }

/* of a reduction, parts of so many elements; of whole rows, which one item sums at once */
static int64_t long_least(bool rows, int64_t part) { return part * (rows ? 64 : 4); }

/* The elements of a part at least: those that are read of memory while other threads begin; and so
 * many that no fold of parts is long itself. */
static int64_t part_least(void)
{
	const Machine *m = &target->machine;
	int64_t n = (int64_t)m->start * m->read[3] / (int64_t)sizeof(float);
	while (long_least(false, n) < FEW * MOST_PARTS ||
		long_least(true, n) < few_in_rows() * MOST_ROW_PARTS)
		n = 2 * n + 1;
	return n;
}

typedef struct { VEC(UOp *) out; int count; } Parts;

/* A reduction to be split along one of its ranges. */
typedef struct {
	Facts f;
	UOp *call, *reduce, *along;
	int axis;               /* the first free axis number */
	int64_t parts;
	bool few, may_be_rows;  /* so few results that threads have nothing to share; or, in rows */
	bool rows;              /* whole rows are summed at once, and stay contiguous */
} Long;

/* ---- finding one */

/* The ranges of u's iterations, those of the reductions inside that each of them computes anew
 * among them; *inner gets all that are bound inside. */
static uint64_t bound_in(UOp *u, uint64_t *inner)
{
	uint64_t set = bound_of(u);
	Nodes all = walk(u->src[0]);
	*inner = 0;
	for (size_t i = all.n; i-- > 0;) {
		if (all.at[i]->op != OP_RREDUCE)
			continue;
		*inner |= bound_of(all.at[i]);
		if (free_of(all.at[i]) & set)
			set |= bound_of(all.at[i]);
	}
	return set;
}

/* The range to split: the outermost with at least as many iterations as there may be parts, else
 * the longest. */
static UOp *range_to_split(const Facts *f, uint64_t set, int64_t parts)
{
	int best = -1;
	int64_t most = 1;
	for (int r = 0; r < f->nrange; r++) {
		int64_t n = set >> r & 1 ? least_size(f, r) : 0;
		if (n > most && most < parts) {
			best = r;
			most = n;
		}
	}
	return best < 0 ? NULL : f->range[best];
}

static int64_t power_below(int64_t n)
{
	int64_t v = 1;
	while (v * 2 <= n)
		v *= 2;
	return v;
}

/* Does each iteration of u read places that are neighbours where the store's are? */
static bool has_rows(const Long *l, UOp *u)
{
	UOp *to = flat_place(l->f.kernel->src[0]->src[0]);
	Nodes all = walk(u->src[0]);
	int64_t step;
	for (int r = 0; r < l->f.nrange; r++) {
		if (!place_step(to, l->f.range[r], &step) || step != 1 || least_size(&l->f, r) < 2)
			continue;
		for (size_t i = 0; i < all.n; i++) {
			UOp *load = all.at[i];
			if (load->op == OP_LOAD && free_of(load) >> r & 1 &&
				free_of(load) & bound_of(u) &&
				place_step(flat_place(load->src[0]), l->f.range[r], &step) &&
				step == 1)
				return true;
		}
	}
	return false;
}

static bool is_long(Long *l, UOp *u)
{
	l->rows = l->may_be_rows && has_rows(l, u);
	if (!l->rows && !l->few)
		return false;
	uint64_t inner, all = bound_in(u, &inner) | (l->rows ? l->f.out : 0);
	int64_t work = least_of(&l->f, all), n = work / part_least(), most = MOST_PARTS;
	if (folds_tuple(u) || free_of(u) & ~l->f.out || work < long_least(l->rows, part_least()))
		return false;
	most = l->rows ? MOST_ROW_PARTS : most;
	l->parts = power_below(n < most ? n : most);
	l->along = range_to_split(&l->f, bound_of(u) & ~inner, l->parts);
	if (!l->along)
		return false;
	n = least_of(&l->f, bit_of(l->along));
	l->parts = l->parts < n ? l->parts : power_below(n);
	l->reduce = u;
	return l->parts > 1;
}

/* Are so few items left that threads have nothing to share? */
static bool few_items(Long *l)
{
	int64_t n = count_of(&l->f, l->f.out);
	Roles r;
	if (n >= few_in_rows())
		return false;
	bool contracts = roles_find(&r, l->call);
	l->may_be_rows = n < (contracts ? FEW_IN_TILES : few_in_rows());
	l->few = n < FEW;
	return l->may_be_rows || l->few;
}

/* ---- on a GPU: so that all multiprocessors have items enough */

/* items of a group that share a reduction which reads columns; iterations of an item for which a
 * call more pays, and those left to it at least */
enum { COLUMN_PARTS = 8, GPU_LONG = 256, GPU_LEAST = 16 };

/* The longest of the output's ranges with this role. */
static int64_t side_of(const Facts *f, const Contraction *c, Role role)
{
	int64_t most = 0;
	for (int r = 0; r < f->nrange; r++)
		if (f->out >> r & 1 && contraction_role(c, f->range[r]) == role &&
			most_size(f, r) > most)
			most = most_size(f, r);
	return most;
}

/* Parts of a contraction, which has groups that share operands; 0: it is none. */
static int64_t product_parts_of(const Facts *f, UOp *u)
{
	Contraction c;
	if (!contraction_of(&c, u) || contraction_is_lopsided(&c))
		return 0;
	Product p = {.side = {side_of(f, &c, ROLE_ROW), side_of(f, &c, ROLE_COLUMN)},
		.sum = least_of(f, bound_of(u)), .size = dtype_size(u->dtype)};
	if (p.side[0] < PRODUCT_SIDE || p.side[1] < PRODUCT_SIDE)
		return 0;
	p.others = (double)(count_of(f, f->out) / p.side[0] / p.side[1]);
	return product_parts(&p);
}

static int64_t gpu_parts(const Long *l, UOp *u)
{
	const Facts *f = &l->f;
	int64_t parts = product_parts_of(f, u);
	if (parts)
		return parts;
	int64_t share = has_rows(l, u) ? COLUMN_PARTS : target->group;
	int64_t n = least_of(f, bound_of(u)) / share, others = count_of(f, free_of(u) & f->out);
	int64_t most = target_items() / (others * share);
	return n < GPU_LONG ? 1 : most < n / GPU_LEAST ? most : n / GPU_LEAST;
}

static bool is_long_on_gpu(Long *l, UOp *u)
{
	uint64_t inner;
	bound_in(u, &inner);
	if (folds_tuple(u) || free_of(u) & ~l->f.out)
		return false;
	l->parts = power_below(gpu_parts(l, u));
	l->along = range_to_split(&l->f, bound_of(u) & ~inner, l->parts);
	l->reduce = u;
	return l->along && l->parts > 1 && least_of(&l->f, bit_of(l->along)) >= l->parts;
}

/* The first long reduction of the call's kernel, sources before users. */
static bool find_long(Long *l, UOp *call)
{
	*l = (Long){.call = call};
	if (!call_has_kernel(call) || call_prepares(call))
		return false;
	facts_find(&l->f, call->src[0], false);
	if (l->f.serial || l->f.in_place ||
		(target->gpu ? val_get(call->src[0]->arg, "actions") != NULL : !few_items(l)))
		return false;
	l->axis = last_axis(&l->f) + 1;
	for (size_t i = 0; i < l->f.all.n; i++) {
		UOp *u = l->f.all.at[i];
		if (u->op == OP_RREDUCE && (target->gpu ? is_long_on_gpu(l, u) : is_long(l, u)))
			return l->axis < 60;
	}
	return false;
}

/* ---- its parts */

/* The reduction with n iterations of the range along which it is split, beginning at `from`. */
static UOp *reduce_from(const Long *l, UOp *from, UOp *n, int axis)
{
	UOp *u = l->reduce, *iteration = ix_range(axis, "reduce", n), *at = ix_add(from, iteration);
	UOp **src = arena_alloc(u->nsrc * sizeof *src);
	src[0] = substitute(u->src[0], 1, &l->along, &at);
	for (uint32_t i = 1; i < u->nsrc; i++)
		src[i] = u->src[i] == l->along ? iteration : u->src[i];
	return node_new(OP_RREDUCE, u->dtype, u->nsrc, src, u->arg);
}

/* The ranges over which parts are stored: that of the part, then the output ranges on which the
 * reduction depends. */
static int part_ranges(const Long *l, UOp *part, UOp **range)
{
	range[0] = part;
	return 1 + ranges_of(&l->f, free_of(l->reduce), range + 1);
}

static UOp *part_call(const Long *l, UOp *buffer, UOp *const *range)
{
	UOp *iterations = ix_div(l->along->src[0], ix_const(l->parts));
	UOp *from = ix_mul(range[0], iterations);
	UOp *value = reduce_from(l, from, iterations, range_axis(l->along));
	return parts_call(l->call, buffer, value, range);
}

/* The replacement of the reduction: the sum of the parts, and of the iterations in no part. */
static UOp *joined(const Long *l, const UOp *buffer)
{
	int64_t left;
	UOp *u = l->reduce, *parts = ix_const(l->parts), *part = ix_range(l->axis, "reduce", parts);
	UOp *range[MAX_RANGES + 1];
	part_ranges(l, part, range);
	UOp *load = load_over(l->call, buffer, range);
	UOp *all = NODE(OP_RREDUCE, u->dtype, u->arg, load, part),
	    *rest = ix_mod(l->along->src[0], parts);
	if (ix_is_const(rest, &left) && !left)
		return all;
	UOp *done = ix_mul(ix_div(l->along->src[0], parts), parts);
	return NODE(
		op_find(u->arg->s), u->dtype, VNIL, all, reduce_from(l, done, rest, l->axis + 1));
}

static UOp *split(Parts *p, const Long *l)
{
	UOp *range[MAX_RANGES + 1], *part = ix_range(l->axis, "loop", ix_const(l->parts));
	int n = part_ranges(l, part, range);
	UOp *buffer = buffer_over(arena_printf("parts%d", p->count++), "temp", l->reduce->dtype, n,
		range);
	UOp *from = l->reduce, *to = joined(l, buffer);
	explain(l->call->src[0], "a reduction in %lld parts", (long long)l->parts);
	vec_push(&p->out, part_call(l, buffer, range));
	UOp *kernel = substitute(l->call->src[0], 1, &from, &to);
	return call_compact(call_with_buffer(l->call, kernel, buffer));
}

Graph *layout_reductions(Graph *g)
{
	Parts p = {0};
	Long l;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		while (find_long(&l, call))
			call = split(&p, &l);
		vec_push(&p.out, call);
	}
	Graph *r = p.count ? graph_with_calls(g, p.out.n, p.out.at) : g;
	vec_free(&p.out);
	return r;
}
