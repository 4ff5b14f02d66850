/* Lists of actions for a GPU: a contraction's tiles, and blocks of what changes its order.
 *
 *     y[i,j] = Σk a[i,k]*b[k,j]     groups of 128×128 elements, 16×16 items of 8×8 each
 *
 *     split i 128; split i.1 8            i.0 groups, i.1.0 items, i.1.1 elements of an item
 *     split j 128; split j.1 64; split j.1.1 4        the same; its 8 elements are two fours, so
 *                                         that neighbours read and write what is side by side
 *     split k 16                          k.0 a loop; a and b of k.1 in the group's memory
 *
 * Which ranges these are follows from their roles (index/contraction.c), so any fold of any
 * expression of loads gets them, in any order of axes. A store's contiguous range is j. */
#include "target/target.h"
#include "choose/choose.h"

enum { BLOCK = 32 };
enum { TOGETHER = 4 };
/* of a reduction in the group's memory at a time, and in how many statements it is written out */
enum { DEEPEST = 64, WRITTEN_OUT = 1024 };
enum { FOLD_LEAST = 8, PAD = 4 };

/* A range whose pieces are groups, items of one, and elements of an item. */
typedef struct {
	int r, each;            /* elements of an item */
	int items;              /* along it, in a group */
	const char *group, *item, *tile[2];     /* paths of its pieces */
	int size[2], ntiles;
} Side;
typedef struct {
	const Facts *f;
	Contraction c;
	Side i, j;
	int k;
	int64_t depth;          /* of k.1 */
	const char *outer, *inner;      /* pieces of k, the first of them NULL when it is whole */
	VEC(const Val *) list;
} GpuTiles;

/* ---- which ranges, and how large */

static Role role_of(const GpuTiles *t, int r) { return contraction_role(&t->c, t->f->range[r]); }

/* The longest of the output's ranges with this role, or -1. */
static int longest(const GpuTiles *t, Role role)
{
	int best = -1;
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1 && role_of(t, r) == role &&
			(best < 0 || most_size(t->f, r) > most_size(t->f, best)))
			best = r;
	return best;
}

static int contiguous_side(const GpuTiles *t)
{
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1 && most_size(t->f, r) >= PRODUCT_SIDE &&
			(role_of(t, r) == ROLE_ROW || role_of(t, r) == ROLE_COLUMN) &&
			movement_of(t->f, t->f->kernel->src[0], r) == NEXT)
			return r;
	return longest(t, ROLE_COLUMN);
}

static bool find_ranges(GpuTiles *t, const UOp *fold)
{
	uint64_t bound = bound_of(fold);
	t->j.r = contiguous_side(t);
	t->i.r = t->j.r < 0 ? -1 :
		longest(t, role_of(t, t->j.r) == ROLE_ROW ? ROLE_COLUMN : ROLE_ROW);
	t->k = -1;
	for (int r = 0; r < t->f->nrange; r++)
		if (bound >> r & 1 && (t->k < 0 || most_size(t->f, r) > most_size(t->f, t->k)))
			t->k = r;
	return t->i.r >= 0 && t->k >= 0 && most_size(t->f, t->i.r) >= PRODUCT_SIDE &&
		most_size(t->f, t->j.r) >= PRODUCT_SIDE && count_of(t->f, bound) >= FOLD_LEAST;
}

/* The product as products.c takes it. */
static Product product_of(const GpuTiles *t)
{
	uint64_t sides = 1ull << t->i.r | 1ull << t->j.r;
	return (Product){.others = (double)count_of(t->f, t->f->out & ~sides),
		.side = {most_size(t->f, t->i.r), most_size(t->f, t->j.r)},
		.sum = count_of(t->f, bound_of(t->c.fold)), .size = dtype_size(t->c.fold->dtype)};
}

static double groups_of(const GpuTiles *t)
{
	Product p = product_of(t);
	return product_groups(&p, (int[]){t->i.each, t->j.each});
}

static void find_sizes(GpuTiles *t)
{
	Product p = product_of(t);
	int each[2];
	product_tile(&p, each);
	t->i.each = each[0];
	t->j.each = each[1];
	t->i.items = product_items(p.side[0]);
	t->j.items = product_items(p.side[1]);
}

/* As much of the reduction at a time as is written out in so many statements: few elements an item
 * wait for memory as seldom as many. Less where it would be filled up by more than an eighth. */
static int64_t find_depth(const GpuTiles *t)
{
	int64_t depth = DEEPEST, n = most_size(t->f, t->k);
	while (depth > DEEPEST / 4 && (depth * t->i.each * t->j.each > WRITTEN_OUT ||
		(depth < n && n % depth && (depth - n % depth) * 8 > n)))
		depth /= 2;
	return depth;
}

/* ---- the list */

static void act(GpuTiles *t, const char *name, const char *path, const Val *a, const Val *b)
{
	const Val *v[] = {val_str(name), val_str(path), a, b};
	vec_push(&t->list, val_array(2 + (a != NULL) + (b != NULL), v));
}

/* Splits the range of this path; *outer and *inner get those of its pieces. */
static void split(GpuTiles *t, const char *path, int64_t n, const char **outer, const char **inner)
{
	act(t, "split", path, val_int(n), NULL);
	*outer = arena_printf("%s.0", path);
	*inner = arena_printf("%s.1", path);
}

static void split_side(GpuTiles *t, Side *s, int together)
{
	split(t, arena_printf("%d", axis_of(t->f, s->r)), s->items * s->each, &s->group, &s->item);
	if (s->each > together) {
		s->size[0] = s->each / together;
		split(t, s->item, s->items * together, &s->tile[s->ntiles++], &s->item);
	}
	int n = s->each > together ? together : s->each;
	if (n > 1) {
		s->size[s->ntiles] = n;
		split(t, s->item, n, &s->item, &s->tile[s->ntiles]);
		s->ntiles++;
	}
}

static void split_all(GpuTiles *t)
{
	split_side(t, &t->i, PRODUCT_EACH);
	split_side(t, &t->j, TOGETHER);
	t->inner = arena_printf("%d", axis_of(t->f, t->k));
	if (most_size(t->f, t->k) > t->depth || least_size(t->f, t->k) != most_size(t->f, t->k))
		split(t, t->inner, t->depth, &t->outer, &t->inner);
}

/* The pieces of a side within a group, outermost first. */
static int pieces_within(const Side *s, const char **path)
{
	int n = 0;
	if (s->ntiles == 2)
		path[n++] = s->tile[0];
	path[n++] = s->item;
	if (s->ntiles)
		path[n++] = s->tile[s->ntiles - 1];
	return n;
}

typedef VEC(const Val *) Words;

static void add_side(Words *v, const Side *s)
{
	const char *path[3];
	int n = pieces_within(s, path);
	for (int i = 0; i < n; i++)
		vec_push(v, val_str(path[i]));
}

static const Side *side_of(const GpuTiles *t, int r)
{
	return r == t->i.r ? &t->i : r == t->j.r ? &t->j : NULL;
}

/* Where the pieces of each range stand: those that are groups first, of them ranges that are no
 * sides; the reduction whose operands
 * are in the group's memory last. */
static void order_all(GpuTiles *t)
{
	Words v = {0};
	vec_push(&v, val_str("order"));
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1 && !side_of(t, r))
			vec_push(&v, val_int(axis_of(t->f, r)));
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1 && side_of(t, r))
			vec_push(&v, val_str(side_of(t, r)->group));
	add_side(&v, &t->i);
	add_side(&v, &t->j);
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->reduced & ~t->f->out & 1ull << r && r != t->k)
			vec_push(&v, val_int(axis_of(t->f, r)));
	if (t->outer)
		vec_push(&v, val_str(t->outer));
	if (t->inner)
		vec_push(&v, val_str(t->inner));
	vec_push(&t->list, val_array(v.n, v.at));
	vec_free(&v);
}

static void kinds_all(GpuTiles *t)
{
	const Side *side[] = {&t->i, &t->j};
	for (int r = 0; r < t->f->nrange; r++)
		if (t->f->out >> r & 1)
			act(t, "kind", side_of(t, r) ? side_of(t, r)->group :
				arena_printf("%d", axis_of(t->f, r)), val_str("group"), NULL);
	for (int s = 0; s < 2; s++)
		act(t, "kind", side[s]->item, val_str("item"), NULL);
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < side[s]->ntiles; i++)
			act(t, "tile", side[s]->tile[i], val_int(side[s]->size[i]), val_int(1));
	if (t->inner)
		act(t, "kind", t->inner, val_str("unroll"), NULL);
}

/* ---- operands in the group's memory */

/* The side with which a load moves, when it moves with k.1 and not with the other one: all items
 * along that other one use it. NULL: there is none. */
static const Side *shared_along(const GpuTiles *t, const Facts *f, const Rewriting *w,
	const UOp *load)
{
	const Side *side[] = {&t->i, &t->j}, *of = NULL;
	uint64_t moves = free_of(load);
	for (int s = 0; s < 2; s++) {
		const char *path[4] = {side[s]->group};
		int n = pieces_within(side[s], path + 1);
		if (!(moves & set_of(f, w, path, n + 1)))
			continue;
		if (of)
			return NULL;
		of = side[s];
	}
	return moves & set_of(f, w, &t->inner, 1) ? of : NULL;
}

/* The load in the group's memory over k.1 and the side, which is contiguous there as items read it;
 * one that is contiguous along k.1 is written across, to rows that begin in other banks. */
static int64_t stage_load(GpuTiles *t, const Facts *f, const Rewriting *w, const Side *s,
	const UOp *load)
{
	const char *name = value_name(f, load);
	uint64_t k = set_of(f, w, &t->inner, 1);
	Words v = {0};
	vec_push(&v, val_str("stage"));
	vec_push(&v, val_str(name));
	vec_push(&v, val_str(t->inner));
	add_side(&v, s);
	vec_push(&t->list, val_array(v.n, v.at));
	vec_free(&v);
	int64_t depth = count_of(f, k);
	bool across = movement_of(f, load, __builtin_ctzll(k)) == NEXT && !(depth & (depth - 1));
	if (across)
		act(t, "pad", name, val_int(PAD), NULL);
	return (s->items * s->each + across * PAD) * depth * dtype_size(load->dtype);
}

/* Stages what the items of a group share; returns how many bytes that takes. */
static int64_t stage_shared_loads(GpuTiles *t, const Facts *f, const Rewriting *w)
{
	int64_t bytes = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		const Side *s = u->op != OP_LOAD || reads_written(f, u) ? NULL :
			shared_along(t, f, w, u);
		if (s)
			bytes += stage_load(t, f, w, s, u);
	}
	return bytes;
}

/* The kernel as the list so far rewrites it. */
static UOp *with_list(const GpuTiles *t, const KernelUse *use, Rewriting *w)
{
	return kernel_with(use, val_array(t->list.n, t->list.at), w);
}

/* The list of splits goes on with the order, the kinds and the values that `stage` chooses in the
 * kernel as the splits leave it. False when it chooses none, they take too much memory, or the list
 * does not fit the kernel. */
static bool with_stages(GpuTiles *t, const KernelUse *use,
	int64_t (*stage)(GpuTiles *, const Facts *, const Rewriting *))
{
	Facts f;
	Rewriting w;
	Plan p;
	facts_find(&f, with_list(t, use, &w), use->alias);
	order_all(t);
	kinds_all(t);
	size_t before = t->list.n;
	int64_t bytes = stage(t, &f, &w);
	bool fits = bytes && bytes <= 2 * target->local && t->list.n - before <= MAX_STAGED;
	if (fits) {
		facts_find(&f, with_list(t, use, &w), use->alias);
		plan_parse(&p, &f);
		fits = !plan_misfit(&p, &f);
	}
	facts_find(&f, use->kernel, use->alias);
	return fits;
}

/* ---- elements from one order to another */

/* The range along which a load is contiguous that moves with j, and not to its neighbour; -1: the
 * kernel has none. */
static int across(const Facts *f, int j)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op != OP_LOAD || reads_written(f, u) || movement_of(f, u, j) != FAR)
			continue;
		for (int r = 0; r < f->nrange; r++)
			if (f->out >> r & 1 && movement_of(f, u, r) == NEXT &&
				most_size(f, r) >= BLOCK)
				return r;
	}
	return -1;
}

/* Stages the loads that are contiguous along i and not along j. */
static int64_t stage_across(GpuTiles *t, const Facts *f, const Rewriting *w)
{
	uint64_t i = set_of(f, w, &t->i.item, 1);
	uint64_t j = set_of(f, w, &t->j.tile[0], 1);
	int64_t bytes = 0;
	for (size_t k = 0; k < f->all.n; k++) {
		const UOp *u = f->all.at[k];
		if (u->op != OP_LOAD || reads_written(f, u) ||
			movement_of(f, u, __builtin_ctzll(i)) != NEXT ||
			movement_of(f, u, __builtin_ctzll(j)) != FAR)
			continue;
		const char *name = value_name(f, u);
		vec_push(&t->list, VARR(val_str("stage"), val_str(name), val_str(t->j.item),
			val_str(t->j.tile[0]), val_str(t->i.item)));
		act(t, "pad", name, val_int(t->j.each), NULL);
		bytes += BLOCK * (BLOCK + 1) * dtype_size(u->dtype);
	}
	return bytes;
}

/* Blocks of 32 × 32: read along i, written along j, as many elements at once as an item moves. The
 * rows of an item lie as many elements further apart in the group's memory, so that items side by
 * side read columns from other banks each. */
static const Val *choose_blocks(const KernelUse *use, GpuTiles *t, const char **rule)
{
	const Facts *f = t->f;
	int size = dtype_size(f->kernel->src[0]->src[0]->dtype);
	t->j.r = t->i.r = -1;
	for (int r = 0; r < f->nrange && t->j.r < 0; r++)
		if (f->out >> r & 1 && most_size(f, r) >= BLOCK &&
			movement_of(f, f->kernel->src[0], r) == NEXT)
			t->j.r = r;
	t->i.r = t->j.r < 0 ? -1 : across(f, t->j.r);
	if (t->i.r < 0)
		return NULL;
	t->j.each = target->access > size ? target->access / size : TOGETHER;
	split(t, arena_printf("%d", axis_of(f, t->i.r)), BLOCK, &t->i.group, &t->i.item);
	split(t, arena_printf("%d", axis_of(f, t->j.r)), BLOCK, &t->j.group, &t->j.item);
	split(t, t->j.item, t->j.each, &t->j.item, &t->j.tile[0]);
	t->j.size[t->j.ntiles++] = t->j.each;
	bool fits = with_stages(t, use, stage_across);
	*rule = arena_printf("loads along r%d, stores along r%d: blocks of %d x %d in the group's "
		"memory", axis_of(f, t->i.r), axis_of(f, t->j.r), BLOCK, BLOCK);
	return fits ? val_array(t->list.n, t->list.at) : NULL;
}

/* ---- the choice */

static bool takes_tiles(GpuTiles *t, const Folds *k)
{
	const Facts *f = t->f;
	if (k->reduce.n != 1 || k->scan.n || f->serial || f->sort || f->in_place ||
		val_get(f->kernel->arg, "slice"))
		return false;
	UOp *fold = k->reduce.at[0];
	return contraction_of(&t->c, fold) && !contraction_is_lopsided(&t->c) &&
		free_of(fold) == f->out && !(f->reduced & f->out) && find_ranges(t, fold);
}

static const Val *choose_tiles_of(const KernelUse *use, GpuTiles *t, const char **rule)
{
	int64_t most = most_size(t->f, t->k);
	bool open = least_size(t->f, t->k) != most;
	find_sizes(t);
	for (int64_t depth = find_depth(t); depth >= 4; depth /= 2) {
		if (open && most < depth)
			continue;
		*t = (GpuTiles){.f = t->f, .c = t->c, .depth = depth, .k = t->k, .i.r = t->i.r,
			.j.r = t->j.r};
		find_sizes(t);
		split_all(t);
		bool fits = with_stages(t, use, stage_shared_loads);
		*rule = arena_printf("a contraction: %.0f groups of %d x %d, %d of a reduction in "
			"the group's memory", groups_of(t), t->i.items * t->i.each,
			t->j.items * t->j.each, (int)depth);
		if (fits)
			return val_array(t->list.n, t->list.at);
		vec_free(&t->list);
	}
	return NULL;
}

UOp *kernel_with(const KernelUse *use, const Val *list, Rewriting *w)
{
	UOp *kernel = node_like(use->kernel, use->kernel->nsrc, use->kernel->src,
		val_set(use->kernel->arg, "actions", list));
	KernelUse as = {.kernel = kernel, .call = use->call, .alias = use->alias};
	return kernel_rewritten(&as, w);
}

uint64_t set_of(const Facts *f, const Rewriting *w, const char *const *path, int n)
{
	uint64_t set = 0;
	for (int i = 0; i < n; i++)
		for (int r = 0; r < f->nrange; r++)
			if (axis_of(f, r) == rewriting_axis(w, val_str(path[i])))
				set |= 1ull << r;
	return set;
}

const Val *choose_gpu(const KernelUse *use, const Facts *f, const Folds *k, const char **rule)
{
	GpuTiles t = {.f = f, .k = -1};
	const Val *list = NULL;
	bool plain = !k->reduce.n && !k->scan.n && !f->serial && !f->sort && !f->in_place &&
		f->kernel->nsrc == 1 && !val_get(f->kernel->arg, "slice");
	if (takes_tiles(&t, k))
		list = choose_tiles_of(use, &t, rule);
	else if (plain)
		list = choose_blocks(use, &t, rule);
	else
		list = choose_columns(use, f, k, rule);
	vec_free(&t.list);
	return list;
}
