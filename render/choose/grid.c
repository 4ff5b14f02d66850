/* Work items of kernels on a GPU that have no tiles: an item an element, a group a row, or a group
 * for a few columns.
 *
 *     y[i] = Σk x[i,k]      k side by side: a group for each i, whose items share k
 *     y[j] = Σk x[k,j]      j side by side: where there are few, a group for 32 of them, each with
 *                           the sum of every 8th k; then these are added up
 *         split j 32; split k 8; rfactor k.1; stage RREDUCE.0 k.1 j.1; group 256 j.0
 */
#include "target/target.h"
#include "choose/choose.h"
#include "choose/tiling.h"

/* columns side by side for which a group of them pays; iterations of a part */
enum { COLUMNS_LEAST = 8, PART_LEAST = 16 };
/* elements of the output that read a value alike, which then costs little */
enum { ALIKE = 8 };

/* Items of a group of their own, at least. */
static int group_least(void) { return 2 * WARP; }

/* ---- what a reduction reads side by side */

typedef enum { READS_OTHERWISE, READS_ROWS, READS_COLUMNS } Reads;

/* Is what moves with the ranges of `set` contiguous along one of those in `along`? */
static bool contiguous(const Facts *f, const UOp *load, uint64_t along)
{
	for (int r = 0; r < f->nrange; r++)
		if (along >> r & 1 && most_size(f, r) > 1 && movement_of(f, load, r) == NEXT)
			return true;
	return false;
}

/* All that a fold reads in each of its iterations is contiguous along its ranges, or along the
 * output's. What many elements of the output read alike does not count beside what they do not. */
static Reads reads_of(const Facts *f, UOp *fold)
{
	uint64_t over = bound_of(fold);
	int64_t most = 0;
	Loads l = loads_in(fold->src[0]);
	bool rows = false, columns = false;
	for (size_t i = 0; i < l.n; i++)
		if (free_of(l.at[i]) & over && count_of(f, free_of(l.at[i]) & f->out) > most)
			most = count_of(f, free_of(l.at[i]) & f->out);
	for (size_t i = 0; i < l.n; i++) {
		if (!(free_of(l.at[i]) & over) ||
			count_of(f, free_of(l.at[i]) & f->out) <= most / ALIKE)
			continue;
		bool row = contiguous(f, l.at[i], over);
		bool column = contiguous(f, l.at[i], f->out & ~over);
		rows |= row || row == column;
		columns |= column || row == column;
	}
	vec_free(&l);
	return rows == columns ? READS_OTHERWISE : rows ? READS_ROWS : READS_COLUMNS;
}

/* The outermost reduction with most iterations. */
static UOp *longest_fold(const Facts *f, const Folds *k)
{
	UOp *longest = k->reduce.at[0];
	for (size_t i = 1; i < k->reduce.n; i++)
		if (count_of(f, bound_of(k->reduce.at[i])) > count_of(f, bound_of(longest)))
			longest = k->reduce.at[i];
	return longest;
}

/* the ranges on which every reduction depends as much as on any other: the rows */
static uint64_t row_ranges(const Facts *f, const Folds *k)
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

/* Do all of the costliest reductions, the longest of `most` iterations, depend on every output
 * range? Then items are better than groups. */
static bool even_work(const Facts *f, const Folds *k, uint64_t free, int64_t most)
{
	for (size_t i = 0; i < k->reduce.n; i++) {
		uint64_t missing = free & ~free_of(k->reduce.at[i]);
		if (count_of(f, bound_of(k->reduce.at[i])) * 4 >= most && count_of(f, missing) > 1)
			return false;
	}
	return true;
}

/* ---- a few columns a group */

/* The list, and the names of the pieces in it. */
typedef struct {
	const Facts *f;
	int j;                  /* the range of columns */
	uint64_t parted;        /* of each reduction, its longest range */
	int columns, parts;     /* in a group */
	VEC(const Val *) list;
} Columns;

static const char *piece(const Columns *t, int r, int i)
{
	return arena_printf("%d.%d", axis_of(t->f, r), i);
}

/* The largest power of two that is at most both. */
static int power_below(int64_t n, int64_t most)
{
	int p = 1;
	while (2 * p <= n && 2 * p <= most)
		p *= 2;
	return p;
}

/* The longest range of a set. */
static int longest_of(const Facts *f, uint64_t set)
{
	int longest = -1;
	for (int r = 0; r < f->nrange; r++)
		if (set >> r & 1 && (longest < 0 || most_size(f, r) > most_size(f, longest)))
			longest = r;
	return longest;
}

/* The output ranges along which neighbours of what a fold reads lie. */
static uint64_t columns_of(const Facts *f, UOp *fold)
{
	uint64_t set = 0;
	Loads l = loads_in(fold->src[0]);
	for (size_t i = 0; i < l.n; i++)
		for (int r = 0; r < f->nrange; r++)
			if (f->out >> r & 1 && free_of(l.at[i]) & bound_of(fold) &&
				movement_of(f, l.at[i], r) == NEXT)
				set |= 1ull << r;
	vec_free(&l);
	return set;
}

/* Every reduction is for every element of the output, and reads along its columns. */
static bool find_columns(Columns *t, const Folds *k)
{
	const Facts *f = t->f;
	t->j = longest_of(f, columns_of(f, longest_fold(f, k)));
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op != OP_RREDUCE)
			continue;
		if (u->src[0]->op == OP_TUPLE || free_of(u) != f->out || bound_of(u) & f->out ||
			reads_of(f, u) != READS_COLUMNS)
			return false;
		t->parted |= 1ull << longest_of(f, bound_of(u));
	}
	return t->j >= 0;
}

/* As many parts as a group has items for. */
static bool find_parts(Columns *t)
{
	t->columns = power_below(most_size(t->f, t->j), WARP);
	t->parts = 2 * target->group / t->columns;
	for (int r = 0; r < t->f->nrange; r++)
		if (t->parted >> r & 1)
			t->parts = power_below(most_size(t->f, r) / PART_LEAST, t->parts);
	return t->columns >= COLUMNS_LEAST && t->parts > 1;
}

static void split_columns(Columns *t)
{
	for (int r = 0; r < t->f->nrange; r++)
		if (t->parted >> r & 1 || r == t->j)
			vec_push(&t->list, VARR(val_str("split"),
				val_str(arena_printf("%d", axis_of(t->f, r))),
				val_int(r == t->j ? t->columns : t->parts)));
	for (int r = 0; r < t->f->nrange; r++)
		if (t->parted >> r & 1)
			vec_push(&t->list, VARR(val_str("rfactor"), val_str(piece(t, r, 1))));
}

static UOp *with_columns(const Columns *t, const KernelUse *use, Rewriting *w)
{
	return kernel_with(use, val_array(t->list.n, t->list.at), w);
}

/* Stages what is folded by the folds over the parts of r. */
static void stage_parts_of(Columns *t, const Facts *f, const Rewriting *w, int r)
{
	const char *part = piece(t, r, 1), *column = piece(t, t->j, 1);
	uint64_t over = set_of(f, w, &part, 1);
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if (u->op == OP_RREDUCE && bound_of(u) == over)
			vec_push(&t->list, VARR(val_str("stage"),
				val_str(value_name(f, u->src[0])), val_str(part), val_str(column)));
	}
}

static void stage_parts(Columns *t, const KernelUse *use)
{
	Facts f;
	Rewriting w;
	facts_find(&f, with_columns(t, use, &w), use->alias);
	for (int r = 0; r < t->f->nrange; r++)
		if (t->parted >> r & 1)
			stage_parts_of(t, &f, &w, r);
	facts_find(&f, use->kernel, use->alias);
}

static void group_columns(Columns *t)
{
	VEC(const Val *) v = {0};
	vec_push(&v, val_str("group"));
	vec_push(&v, val_int(t->columns * t->parts));
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1)
			vec_push(&v, val_str(r == t->j ? piece(t, r, 0) :
				arena_printf("%d", axis_of(t->f, r))));
	vec_push(&t->list, val_array(v.n, v.at));
	vec_free(&v);
}

static bool fits_columns(const Columns *t, const KernelUse *use)
{
	Facts f;
	Rewriting w;
	Plan p;
	facts_find(&f, with_columns(t, use, &w), use->alias);
	plan_parse(&p, &f);
	bool fits = t->list.n <= MAX_STAGED && !plan_misfit(&p, &f);
	facts_find(&f, use->kernel, use->alias);
	return fits;
}

const Val *choose_columns(const KernelUse *use, const Facts *f, const Folds *k, const char **rule)
{
	Columns t = {.f = f};
	if (!k->reduce.n || k->scan.n || f->serial || f->sort || f->in_place ||
		val_get(f->kernel->arg, "slice") ||
		count_of(f, f->out) >= target_items() || !find_columns(&t, k) || !find_parts(&t))
		return NULL;
	split_columns(&t);
	stage_parts(&t, use);
	group_columns(&t);
	bool fits = fits_columns(&t, use);
	const Val *list = val_array(t.list.n, t.list.at);
	vec_free(&t.list);
	*rule = arena_printf("%lld columns (%lld are enough for items): %d of them a group, in "
		"%d parts", (long long)count_of(f, f->out), (long long)target_items(),
		t.columns, t.parts);
	return fits ? list : NULL;
}

/* ---- items or groups */

/* The items of a group that share n iterations: each has what it reads at once. */
static int items_of(int64_t n, int size)
{
	int at_once = target->access > size ? target->access / size : 1;
	int items = power_below(n / at_once, target->group);
	return items < WARP ? WARP : items;
}

/* Returns the rule, as choose_tiles does. */
const char *choose_grid(Plan *p, const Facts *f, const Folds *k)
{
	uint64_t free = f->out & ~f->serial;
	p->mode = PLAN_ITEMS;
	p->items = target->group;
	p->bound = free;
	if (!k->reduce.n || k->scan.n || f->serial)
		return arena_printf("%lld places%s", (long long)count_of(f, free),
			f->serial ? ", each with what runs in order" : ", no reduction");
	UOp *fold = longest_fold(f, k);
	int64_t most = count_of(f, bound_of(fold));
	bool even = even_work(f, k, free, most), rows = reads_of(f, fold) == READS_ROWS;
	if (most < group_least() || (even && !rows && count_of(f, free) >= target_items()))
		return arena_printf("%lld places (%lld are enough for items), reductions of %lld "
			"(a group takes %d)", (long long)count_of(f, free),
			(long long)target_items(), (long long)most, group_least());
	p->mode = PLAN_GROUP;
	p->items = items_of(most, dtype_size(fold->dtype));
	p->bound = even ? free : row_ranges(f, k);
	return arena_printf("a reduction of %lld (a group takes %d) for each of %lld rows",
		(long long)most, group_least(), (long long)count_of(f, p->bound));
}
