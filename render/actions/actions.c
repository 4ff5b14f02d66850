/* Reads and writes the list of actions in a kernel's arg. All that is done to a kernel is in this
 * list, so it can be shown, saved, changed by hand and replayed.
 *
 *     ["split", 2, 256]       r2 becomes two ranges, "2.0" and "2.1" (rewrites.c)
 *     ["swap", "2.1"]         products along it are one op (swap.c)
 *     ["rfactor", "2.1"]      reductions over both have a part for each r2.1, folded then
 *     ["order", 0, 1]         loops over r0, r1, outermost first
 *     ["kind", 0, "group"]    GPU: r0 runs over work groups ("item": over the items of one)
 *     ["kind", 2, "unroll"]   the loop over r2 is written out
 *     ["kind", 0, "thread"]   threads share the iterations of r0, the outermost loop
 *     ["kind", 1, "vector"]   the elements of r1 side by side
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
 *     ["stage", "LOAD.0", 1]  the value in a row buffer over r1
 *     ["stage", "FDIV.0"]     the value of each lane in a register
 *     ["pad", "LOAD.0", 4]    with 4 elements left free after each step of its first range
 *     ["transpose", "LOAD.0", 0]      it is loaded in vectors of r0 and transposed in registers
 *
 * Ranges are named by axis number, after a split by path; values by their op and a number among
 * those of that op (value_name). The empty list is plain loops. */
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

static const Val *staged_action(const Facts *f, const char *name, const UOp *value,
	const int *range, int n)
{
	const Val *v[MAX_RANGES + 2] = {val_str(name), val_str(value_name(f, value))};
	for (int i = 0; i < n; i++)
		v[2 + i] = val_int(axis_of(f, range[i]));
	return val_array(n + 2, v);
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

static int write_kinds(const Plan *p, const Facts *f, const Val **list)
{
	static const char *const word[] = {"group", "item", "unroll"};
	const uint64_t set[] = {p->groups, p->members, p->unrolled};
	int n = 0;
	for (int k = 0; k < 3; k++)
		for (int r = 0; r < f->nrange; r++)
			if (set[k] >> r & 1)
				list[n++] = VARR(val_str("kind"), val_int(axis_of(f, r)),
					val_str(word[k]));
	return n;
}

static int write_stages(const Plan *p, const Facts *f, const Val **list)
{
	int n = 0, range[MAX_RANGES];
	for (int i = 0; i < p->nstage; i++) {
		const Staged *s = &p->stage[i];
		bool given = s->ndims && !s->along;
		int count = ranges_in(s->along ? s->along : s->over, range);
		list[n++] = staged_action(f, s->along ? "transpose" : "stage", s->value,
			given ? s->dims : range, given ? s->ndims : count);
		if (s->pad)
			list[n++] = VARR(val_str("pad"), val_str(value_name(f, s->value)),
				val_int(s->pad));
	}
	return n;
}

const Val *plan_write(const Plan *p, const Facts *f)
{
	const Val *list[2 * MAX_STAGED + 3 * MAX_RANGES + 9];
	int n = 0, range[MAX_RANGES];
	/* the loops of reductions just within the items of the grid */
	memcpy(range, p->order, p->grid * sizeof *range);
	memcpy(range + p->grid, p->folds, p->nfolds * sizeof *range);
	memcpy(range + p->grid + p->nfolds, p->order + p->grid,
		(p->norder - p->grid) * sizeof *range);
	list[n++] = action(f, "order", NULL, 0, range, p->norder + p->nfolds);
	n += write_kinds(p, f, list + n);
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
	if (p->mode == PLAN_ITEMS || p->mode == PLAN_GROUP)
		list[n++] = action(f, p->mode == PLAN_ITEMS ? "bind" : "group",
			(int64_t[]){p->items}, 1, range, ranges_in(p->bound, range));
	n += write_stages(p, f, list + n);
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

/* An axis number is an output range's before it is a reduction's. */
static int range_to_order(const Facts *f, const Val *axis)
{
	for (int r = 0; r < f->nrange; r++)
		if (axis->kind == VAL_INT && axis_of(f, r) == axis->i && f->out >> r & 1)
			return r;
	return range_of(f, axis, f->reduced);
}

static void read_order(Plan *p, const Facts *f, const Val *a)
{
	int all[MAX_RANGES], n = 0;
	uint64_t set = 0;
	p->norder = p->nfolds = 0;
	for (size_t i = 1; i < a->n && n < MAX_RANGES; i++) {
		int r = all[n++] = range_to_order(f, a->a[i]);
		set |= 1ull << r;
		if (f->out >> r & 1)
			p->order[p->norder++] = r;
		else
			p->folds[p->nfolds++] = r;
	}
	if ((size_t)__builtin_popcountll(set) != a->n - 1)
		die(MALFORMED, "node %u KERNEL: the order names a range twice", f->kernel->id);
	if (n > p->norder && !order_folds(p, f, all, n))
		die(MALFORMED, "node %u KERNEL: a reduction's loops stand between those of the "
			       "ranges that its accumulators are over", f->kernel->id);
}

static void read_tile(Plan *p, const Facts *f, const Val *a)
{
	int r = range_of(f, a->a[1], ~0ull);
	if (p->tile[r].unroll)
		die(MALFORMED, "node %u KERNEL: two tiles of one range", f->kernel->id);
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
	p->prefetch_loads = set_from(f, a, 1, ~0ull);
}

static void read_grid(Plan *p, const Facts *f, const Val *a)
{
	p->grid = number(f, a, 1, 2 * MAX_RANGES);
}

static void read_chunk(Plan *p, const Facts *f, const Val *a)
{
	p->chunk[range_of(f, a->a[1], ~0ull)] = number(f, a, 2, 1 << 20);
}

/* Is there one iteration of a loop over the range, since all its elements are side by side? */
static bool is_vector(const Plan *p, const Facts *f, int r)
{
	return tile_size(p, r) && tile_size(p, r) == least_size(f, r) &&
		tile_size(p, r) == most_size(f, r);
}

/* Threads share loops from the outermost on, which are named in that order. */
static void read_thread(Plan *p, const Facts *f, int r)
{
	int chunks = 0;
	for (int i = 0; i < f->nrange; i++)
		chunks += p->chunk[i] > 0;
	int at = p->grid > chunks ? p->grid - chunks : 0;
	while (at < p->norder && p->order[at] != r && is_vector(p, f, p->order[at]))
		at++;
	if (at >= p->norder || p->order[at] != r)
		die(MALFORMED, "node %u KERNEL: kind thread is of the outermost loop that threads "
			       "do not share yet", f->kernel->id);
	p->grid = chunks + at + 1;
}

/* All elements of a range side by side. */
static void read_vector(Plan *p, const Facts *f, int r)
{
	int64_t n = most_size(f, r);
	if (p->tile[r].unroll)
		die(MALFORMED, "node %u KERNEL: two tiles of one range", f->kernel->id);
	if (n < 1 || n > 64 || least_size(f, r) != n)
		die(MALFORMED, "node %u KERNEL: kind vector is of a range of a known size up to 64",
			f->kernel->id);
	p->tile[r] = (Tile){1, (int)n};
	p->lanes[p->nlanes++] = r;
}

static void read_unroll(Plan *p, const Facts *f, int r) { p->unrolled |= 1ull << r; }

static void bind_kind(Plan *p, const Facts *f, uint64_t *set, int r)
{
	*set |= 1ull << r;
	p->mode = PLAN_TILES;
	p->bound |= 1ull << r;
	p->items = (int)count_of(f, p->members);
}

/* Work groups and their items are the grid of a GPU; a group has as many items as these ranges have
 * iterations together. */
static void read_group(Plan *p, const Facts *f, int r) { bind_kind(p, f, &p->groups, r); }
static void read_item(Plan *p, const Facts *f, int r) { bind_kind(p, f, &p->members, r); }
static void read_loop(Plan *p, const Facts *f, int r) {}

/* How a range runs. */
static void read_kind(Plan *p, const Facts *f, const Val *a)
{
	static const struct {
		const char *name;
		void (*read)(Plan *p, const Facts *f, int r);
	} kind[] = {{"loop", read_loop}, {"thread", read_thread}, {"vector", read_vector},
		{"unroll", read_unroll}, {"group", read_group}, {"item", read_item}};
	for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
		if (val_is_str(a->a[2], kind[i].name)) {
			kind[i].read(p, f, range_of(f, a->a[1], ~0ull));
			return;
		}
	die(MALFORMED, "node %u KERNEL: a kind is 'loop', 'thread', 'vector', 'unroll', 'group' or "
		       "'item'", f->kernel->id);
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
	if (p->nstage == MAX_STAGED)
		die(MALFORMED, "node %u KERNEL: more than %d values are staged", f->kernel->id,
			MAX_STAGED);
	s->value = value_named(f, a->a[1]);
	*(transposed ? &s->along : &s->over) = set_from(f, a, 2, free_of(s->value));
	for (size_t i = 2; i < a->n && !transposed && s->ndims < MAX_RANGES; i++)
		s->dims[s->ndims++] = range_of(f, a->a[i], free_of(s->value));
	p->nstage++;
}

static void read_pad(Plan *p, const Facts *f, const Val *a)
{
	int k = stage_of(p, value_named(f, a->a[1]));
	if (k < 0)
		die(MALFORMED, "node %u KERNEL: what gets a pad is not staged", f->kernel->id);
	p->stage[k].pad = number(f, a, 2, 64);
}

static const Action actions[] = {
#define ACTION(NAME, ARGS, READ, HELP) {.name = #NAME, .args = ARGS, .help = HELP, .read = READ},
#define REWRITE(NAME, ARGS, FN, HELP) {.name = #NAME, .args = ARGS, .help = HELP, .rewrite = FN},
#define SCHEDULE(NAME, ARGS, HELP) \
	{.name = #NAME, .args = ARGS, .help = HELP, .schedule = true},
#include "actions/actions.def"
};

const Action *action_rows(size_t *n)
{
	*n = sizeof actions / sizeof *actions;
	return actions;
}

/* Does the number of operands fit the form? */
static bool operands_fit(const Action *row, const Val *a)
{
	size_t least = 0, most = 0;
	for (const char *s = row->args; *s; s++)
		if (*s == '*')
			least--, most = SIZE_MAX / 2;
		else if (*s == '?')
			least--;
		else if (*s != ' ')
			least++, most += most < SIZE_MAX / 2;
	return a->n - 1 >= least && a->n - 1 <= most;
}

static _Noreturn void refuse_name(const UOp *kernel, const Val *name)
{
	Nearest near = {.word = name->kind == VAL_STR ? name->s : ""};
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		nearest_try(&near, actions[i].name);
	die(MALFORMED, "node %u KERNEL: no action is called '%.60s'%s", kernel->id, near.word,
		nearest_hint(&near));
}

const Action *action_find(const UOp *kernel, const Val *a)
{
	const Val *name = a->kind == VAL_ARRAY && a->n ? a->a[0] : VNIL;
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
		const Action *row = &actions[i];
		if (!val_is_str(name, row->name))
			continue;
		if (!operands_fit(row, a))
			die(MALFORMED, "node %u KERNEL: %s is '%s%s%s' (r: a range, n: a number)",
				kernel->id, row->name, row->name, *row->args ? " " : "", row->args);
		return row;
	}
	refuse_name(kernel, name);
}

void actions_help(void)
{
	printf("\nactions (r: a range, n: a number, b: a temporary, v: a value, as LOAD.0; t: a "
	       "word; ?: may be left out, *: any number):\n");
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		printf("    %-15s %-7s %s\n", actions[i].name, actions[i].args, actions[i].help);
}

static void read_action(Plan *p, const Facts *f, const Val *a)
{
	const Action *row = action_find(f->kernel, a);
	if (row->schedule)
		die(MALFORMED, "node %u KERNEL: %s is an action of the schedule: it stands in the "
			"SINK", f->kernel->id, row->name);
	if (!row->read)
		die(MALFORMED, "node %u KERNEL: %s has to be carried out before", f->kernel->id,
			row->name);
	row->read(p, f, a);
}

void plan_parse(Plan *p, const Facts *f)
{
	*p = (Plan){0};
	plan_order(p, f);
	const Val *list = val_get(f->kernel->arg, "plan");
	list = list ? list : val_get(f->kernel->arg, "actions");
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++)
		read_action(p, f, list->a[i]);
}

void plan_read(Plan *p, const Facts *f)
{
	plan_parse(p, f);
	const char *why = plan_misfit(p, f);
	if (why)
		die(MALFORMED, "node %u KERNEL: its actions do not fit it: %s", f->kernel->id, why);
}

/* ---- lists as text */

/* A text, what to call it in a message, and the status where it is no list. */
typedef struct { const char *at, *what; int status; } ListText;

/* the next word, which ends at a space or with its action */
static const char *next_word(ListText *t)
{
	const char *from = t->at += strspn(t->at, " \t\n,");
	t->at += strcspn(t->at, " \t\n,;");
	return t->at == from ? NULL : arena_printf("%.*s", (int)(t->at - from), from);
}

static const Val *word_val(const ListText *t, const char *word)
{
	char *end;
	errno = 0;
	long long n = strtoll(word, &end, 10);
	if (end != word && !*end && !errno)
		return val_int(n);
	/* a range's path */
	if (isdigit((unsigned char)*word) && !word[strspn(word, "0123456789.")])
		return val_str(word);
	if (!isalpha((unsigned char)*word))
		die(t->status, "%s: '%.60s' is neither an action nor a number", t->what, word);
	return val_str(word);
}

static const Val *one_action(ListText *t)
{
	const Val *v[MAX_RANGES + 4];
	const char *word;
	int n = 0;
	while ((word = next_word(t))) {
		if (n == MAX_RANGES + 4)
			die(t->status, "%s: an action of more than %d words", t->what, n);
		v[n++] = word_val(t, word);
	}
	t->at += *t->at == ';';
	return n ? val_array(n, v) : NULL;
}

const Val *actions_parse(const char *text, int status, const char *what)
{
	ListText t = {text, what, status};
	const Val *list[256], *a;
	int n = 0;
	while (*t.at)
		if ((a = one_action(&t)) && n < 256)
			list[n++] = a;
	return val_array(n, list);
}

void actions_text(Buf *out, const Val *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->a[i]->n; k++) {
			const Val *word = list->a[i]->a[k];
			buf_printf(out, "%s", k ? " " : i ? "; " : "");
			if (word->kind == VAL_INT)
				buf_printf(out, "%lld", (long long)word->i);
			else
				buf_printf(out, "%s", word->s);
		}
}

const Val *plan_given(const char *opt, const UOp *kernel)
{
	const Val *name = val_get(kernel->arg, "name");
	const char *colon = strchr(opt, ':');
	if (!colon)
		die(USAGE, "--opt: 'NAME*: tile 0 8 1; …': there is no colon");
	if (fnmatch(arena_printf("%.*s", (int)(colon - opt), opt), name->s, 0))
		return NULL;
	return actions_parse(colon + 1, USAGE, "--opt");
}

const Val *schedule_given(const char *opt)
{
	static const char sink[] = "SINK:";
	size_t n = sizeof sink - 1;
	return opt && !strncmp(opt, sink, n) ? actions_parse(opt + n, USAGE, "--opt") : NULL;
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
