/* Reads and writes the list of actions in a kernel's arg. All that is done to a kernel is in this
 * list, so it can be shown, saved, changed by hand and replayed.
 *
 *     ["order", 0, 1]         loops over r0, r1, outermost first
 *     ["tile", 0, 8, 1]       8 elements of r0 side by side
 *     ["tile", 1, 3, 16]      3 vectors of 16 of r1; tiles in the order of their lane loops
 *     ["chunk", 0, 32]        32 tiles of r0 within a loop outside all others
 *     ["grid", 2]             the two outermost loops are the items that threads share
 *     ["partial", 16]           sums in 16 accumulators, outside of lanes
 *     ["jam", 4]              4 iterations of a reduction within the lanes
 *     ["jam", 4, 1]           each of them from another quarter of it
 *     ["nontemporal"]              stores go past the cache
 *     ["prefetch_stores"]               the destination of a transposed tile is prefetched
 *     ["prefetch_loads", 0]            the next row r0 is prefetched while one is computed
 *     ["bind", 128, 0, 1]     GPU: one work item an element, 128 a group
 *     ["group", 128, 0]       GPU: one work group a row r0
 *     ["stage", 17, 1]        the value of node 17 in a row buffer over r1
 *     ["transpose", 17, 0]         node 17 loaded in vectors of r0 and transposed in registers
 *
 * Ranges are named by axis number. The empty list is plain loops. */
#include "actions/actions.h"
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

/* ---- the list as data */

/* Two reductions may each have a range of the same axis number: `among` says which are meant. */
static int range_of(const Facts *f, const Val *axis, uint64_t among)
{
	for (int r = 0; axis->kind == VAL_INT && r < f->nrange; r++)
		if (axis_of(f, r) == axis->i && among >> r & 1)
			return r;
	die(MALFORMED, "node %u KERNEL: an action names a range that it does not have",
		f->kernel->id);
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

static int write_tiles(const Plan *p, const Facts *f, const Val **list)
{
	int n = 0;
	for (int i = 0; i < p->nlanes; i++) {
		int r = p->lanes[i];
		list[n++] = VARR(val_str("tile"), val_int(axis_of(f, r)),
			val_int(p->tile[r].unroll), val_int(p->tile[r].vector));
	}
	for (int i = 0; i < p->nlanes; i++) {
		int r = p->lanes[i];
		if (p->chunk[r])
			list[n++] = VARR(
				val_str("chunk"), val_int(axis_of(f, r)), val_int(p->chunk[r]));
	}
	return n;
}

const Val *plan_write(const Plan *p, const Facts *f)
{
	const Val *list[MAX_STAGED + 2 * MAX_RANGES + 9];
	int n = 0, range[MAX_RANGES];
	list[n++] = action(f, "order", NULL, 0, p->order, p->norder);
	n += write_tiles(p, f, list + n);
	if (p->grid)
		list[n++] = VARR(val_str("grid"), val_int(p->grid));
	if (p->partial)
		list[n++] = VARR(val_str("partial"), val_int(p->partial));
	if (p->jam > 1)
		list[n++] = p->apart ? VARR(val_str("jam"), val_int(p->jam), val_int(1)) :
			VARR(val_str("jam"), val_int(p->jam));
	if (p->nontemporal)
		list[n++] = VARR(val_str("nontemporal"));
	if (p->prefetch_stores)
		list[n++] = VARR(val_str("prefetch_stores"));
	if (p->prefetch_loads)
		list[n++] = action(
			f, "prefetch_loads", NULL, 0, range, ranges_in(p->prefetch_loads, range));
	if (p->mode != PLAN_LOOPS)
		list[n++] = action(f, p->mode == PLAN_ITEMS ? "bind" : "group",
			(int64_t[]){p->items}, 1, range, ranges_in(p->bound, range));
	for (int i = 0; i < p->nstage; i++) {
		uint64_t along = p->stage[i].along;
		list[n++] = action(f, along ? "transpose" : "stage",
			(int64_t[]){place_of(f, p->stage[i].value)}, 1, range,
			ranges_in(along ? along : p->stage[i].over, range));
	}
	return val_set(f->kernel->arg, "actions", val_array(n, list));
}

static int number(const Facts *f, const Val *a, size_t i, int64_t most)
{
	if (i >= a->n || a->a[i]->kind != VAL_INT || a->a[i]->i < 0 || a->a[i]->i > most)
		die(MALFORMED, "node %u KERNEL: action %zu has no number that fits", f->kernel->id,
			i);
	return (int)a->a[i]->i;
}

static uint64_t set_from(const Facts *f, const Val *a, size_t from, uint64_t among)
{
	uint64_t set = 0;
	for (size_t i = from; i < a->n; i++)
		set |= 1ull << range_of(f, a->a[i], among);
	return set;
}

static void read_order(Plan *p, const Facts *f, const Val *a)
{
	uint64_t set = set_from(f, a, 1, ~0ull);
	if (set & ~f->out || (size_t)__builtin_popcountll(set) != a->n - 1)
		die(MALFORMED, "node %u KERNEL: the order is not one of its output ranges",
			f->kernel->id);
	p->norder = 0;
	for (size_t i = 1; i < a->n; i++)
		p->order[p->norder++] = range_of(f, a->a[i], f->out);
}

static void read_tile(Plan *p, const Facts *f, const Val *a)
{
	int r = a->n == 4 ? range_of(f, a->a[1], ~0ull) : -1;
	if (r < 0 || p->tile[r].unroll)
		die(MALFORMED,
			"node %u KERNEL: a tile is [\"tile\", range, unroll, vector], one a range",
			f->kernel->id);
	p->tile[r] = (Tile){number(f, a, 2, 4096), number(f, a, 3, 64)};
	p->lanes[p->nlanes++] = r;
}

/* A split into one accumulator is none. */
static void read_partial(Plan *p, const Facts *f, const Val *a)
{
	int n = number(f, a, 1, 1024);
	p->partial = n > 1 ? n : 0;
}

static void read_jam(Plan *p, const Facts *f, const Val *a)
{
	p->jam = number(f, a, 1, 64);
	p->apart = a->n > 2 && number(f, a, 2, 1);
}

static void read_nontemporal(Plan *p, const Facts *f, const Val *a) { p->nontemporal = true; }
static void read_prefetch_stores(Plan *p, const Facts *f, const Val *a)
{
	p->prefetch_stores = true;
}

static void read_prefetch_loads(Plan *p, const Facts *f, const Val *a)
{
	if (a->n != 2)
		die(MALFORMED, "node %u KERNEL: what is fetched ahead is [\"ahead\", range]",
			f->kernel->id);
	p->prefetch_loads = set_from(f, a, 1, ~0ull);
}

static void read_grid(Plan *p, const Facts *f, const Val *a)
{
	p->grid = number(f, a, 1, 2 * MAX_RANGES);
}

static void read_chunk(Plan *p, const Facts *f, const Val *a)
{
	if (a->n != 3)
		die(MALFORMED, "node %u KERNEL: a chunk is [\"chunk\", range, tiles]",
			f->kernel->id);
	p->chunk[range_of(f, a->a[1], ~0ull)] = number(f, a, 2, 1 << 20);
}

static void read_items(Plan *p, const Facts *f, const Val *a)
{
	p->mode = val_is_str(a->a[0], "bind") ? PLAN_ITEMS : PLAN_GROUP;
	p->items = number(f, a, 1, 1024);
	p->bound = set_from(f, a, 2, ~0ull);
}

/* A value in a row buffer over the ranges, or transposed along one. */
static void read_staged(Plan *p, const Facts *f, const Val *a)
{
	Staged *s = &p->stage[p->nstage];
	bool transposed = val_is_str(a->a[0], "transpose");
	if (transposed && a->n != 3)
		die(MALFORMED, "node %u KERNEL: a turn is [\"turn\", node, range]", f->kernel->id);
	if (p->nstage == MAX_STAGED)
		die(MALFORMED, "node %u KERNEL: more than %d values are staged", f->kernel->id,
			MAX_STAGED);
	s->value = f->all.at[number(f, a, 1, f->all.n - 1)];
	*(transposed ? &s->along : &s->over) = set_from(f, a, 2, free_of(s->value));
	p->nstage++;
}

static const struct {
	const char *name;
	void (*read)(Plan *p, const Facts *f, const Val *a);
} actions[] = {
	{"order", read_order},
	{"tile", read_tile},
	{"chunk", read_chunk},
	{"grid", read_grid},
	{"partial", read_partial},
	{"jam", read_jam},
	{"nontemporal", read_nontemporal},
	{"prefetch_stores", read_prefetch_stores},
	{"prefetch_loads", read_prefetch_loads},
	{"bind", read_items},
	{"group", read_items},
	{"stage", read_staged},
	{"transpose", read_staged},
};

static void read_action(Plan *p, const Facts *f, const Val *a)
{
	const Val *name = a->kind == VAL_ARRAY && a->n ? a->a[0] : VNIL;
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (val_is_str(name, actions[i].name)) {
			actions[i].read(p, f, a);
			return;
		}
	die(MALFORMED, "node %u KERNEL: an action is not known", f->kernel->id);
}

void plan_read(Plan *p, const Facts *f)
{
	*p = (Plan){0};
	plan_order(p, f);
	const Val *list = val_get(f->kernel->arg, "actions");
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++)
		read_action(p, f, list->a[i]);
	if (!plan_fits(p, f))
		die(MALFORMED, "node %u KERNEL: its actions do not fit it", f->kernel->id);
}

/* ---- --opt: a list by hand */

/* the word at *at, which ends at a space or with its action */
static const char *next_word(const char **at)
{
	const char *from = *at += strspn(*at, " \t\n,");
	*at += strcspn(*at, " \t\n,;");
	return *at == from ? NULL : arena_printf("%.*s", (int)(*at - from), from);
}

static const Val *word_val(const char *word)
{
	char *end;
	errno = 0;
	long long n = strtoll(word, &end, 10);
	if (end != word && !*end && !errno)
		return val_int(n);
	if (!isalpha((unsigned char)*word))
		die(USAGE, "--opt: '%.60s' is neither an action nor a number", word);
	return val_str(word);
}

static const Val *one_action(const char **at)
{
	const Val *v[MAX_RANGES + 4];
	const char *word;
	int n = 0;
	while ((word = next_word(at))) {
		if (n == MAX_RANGES + 4)
			die(USAGE, "--opt: an action of more than %d words", n);
		v[n++] = word_val(word);
	}
	*at += **at == ';';
	return n ? val_array(n, v) : NULL;
}

const Val *plan_given(const char *opt, const UOp *kernel)
{
	const Val *list[256], *name = val_get(kernel->arg, "name"), *a;
	const char *colon = strchr(opt, ':');
	int n = 0;
	if (!colon)
		die(USAGE, "--opt: 'NAME*: tile 0 8 1; …': there is no colon");
	if (fnmatch(arena_printf("%.*s", (int)(colon - opt), opt), name->s, 0))
		return NULL;
	for (const char *at = colon + 1; *at;)
		if ((a = one_action(&at)) && n < 256)
			list[n++] = a;
	return val_array(n, list);
}

uint64_t tiled_ranges(const Plan *p)
{
	uint64_t set = 0;
	for (int i = 0; i < p->nlanes; i++)
		set |= 1ull << p->lanes[i];
	return set;
}

int stage_of(const Plan *p, const UOp *u)
{
	for (int i = 0; i < p->nstage; i++)
		if (p->stage[i].value == u)
			return i;
	return -1;
}
