/* A plan read from a kernel's list of actions, and written to one: what is not said of ranges
 * (pieces.c). */
#include "actions/actions.h"

/* ---- written */

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

int plan_grid(const Plan *p)
{
	int n = p->grid;
	for (int i = 0; i < p->norder; i++)
		n -= p->chunk[p->order[i]] > 0;
	return n > 0 ? n : 0;
}

/* The loops: as they are listed, with those that run in blocks; or those of reductions just within
 * the items of the grid, which chunks are outside of. */
static int write_order(const Plan *p, const Facts *f, const Val **list)
{
	uint64_t blocks = block_ranges(p);
	const Val *v[2 * MAX_RANGES + 1] = {val_str("order")};
	int n = 0, k = 1, items = plan_grid(p);
	for (int r = 0; r < f->nrange; r++)
		if (blocks >> r & 1)
			list[n++] = VARR(val_str("split"), val_int(axis_of(f, r)),
				val_int(p->piece[r]), val_str("peel"));
	for (int i = 0; i < p->nlisted; i++)
		v[k++] = named_loop(p, f, (PlanLoop){p->listed[i] % MAX_RANGES,
			p->listed[i] < MAX_RANGES ? SINGLES : IN_BLOCK});
	for (int i = 0; i <= p->norder && !p->nlisted; i++) {
		for (int q = 0; i == items && q < p->nfolds; q++)
			v[k++] = val_int(axis_of(f, p->folds[q]));
		if (i < p->norder)
			v[k++] = val_int(axis_of(f, p->order[i]));
	}
	list[n++] = val_array(k, v);
	return n;
}

const Val *plan_write(const Plan *p, const Facts *f)
{
	const Val *list[2 * MAX_STAGED + 4 * MAX_RANGES + 9];
	int n = 0, range[MAX_RANGES];
	n += write_order(p, f, list + n);
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

/* ---- read */

/* Buffers, and what is prefetched, are of whole ranges. */
static uint64_t set_from(const Facts *f, const Val *a, size_t from, size_t to, uint64_t among)
{
	uint64_t set = 0;
	for (size_t i = from; i < to; i++) {
		if (a->a[i]->kind != VAL_INT)
			die(MALFORMED, "node %u KERNEL: %s is of whole ranges, not of pieces that "
				"loops make", f->kernel->id, a->a[0]->s);
		set |= 1ull << range_of(f, a->a[i], among);
	}
	return set;
}

void read_nontemporal(Plan *p, const Facts *f, const Val *a) { p->nontemporal = true; }
void read_prefetch_stores(Plan *p, const Facts *f, const Val *a)
{
	p->prefetch_stores = true;
}

void read_prefetch_loads(Plan *p, const Facts *f, const Val *a)
{
	p->prefetch_loads = set_from(f, a, 1, a->n, ~0ull);
}

/* A value in a row buffer over the ranges, or in registers, in vectors of one. */
void read_staged(Plan *p, const Facts *f, const Val *a)
{
	Staged *s = &p->stage[p->nstage];
	bool turned = val_is_str(a->a[a->n - 1], "register");
	if (p->nstage == MAX_STAGED)
		die(MALFORMED, "node %u KERNEL: more than %d values are staged", f->kernel->id,
			MAX_STAGED);
	if (turned && a->n != 4)
		die(MALFORMED, "node %u KERNEL: what is turned in registers is in vectors of one "
			"range", f->kernel->id);
	s->value = value_named(f, a->a[1]);
	*(turned ? &s->along : &s->over) = set_from(f, a, 2, a->n - turned, free_of(s->value));
	for (size_t i = 2; i < a->n && !turned && s->ndims < MAX_RANGES; i++)
		s->dims[s->ndims++] = range_of(f, a->a[i], free_of(s->value));
	p->nstage++;
}

void read_pad(Plan *p, const Facts *f, const Val *a)
{
	int k = stage_of(p, value_named(f, a->a[1]));
	if (k < 0)
		die(MALFORMED, "node %u KERNEL: what gets a pad is not staged", f->kernel->id);
	p->stage[k].pad = action_number(f, a, 2, 64);
}

void plan_read(Plan *p, const Facts *f)
{
	plan_parse(p, f);
	const char *why = plan_misfit(p, f);
	if (why)
		die(MALFORMED, "node %u KERNEL: its actions do not fit it: %s", f->kernel->id, why);
}

uint64_t block_ranges(const Plan *p)
{
	uint64_t set = 0;
	for (int r = 0; r < MAX_RANGES && p->peeled; r++)
		set |= (uint64_t)(p->piece[r] && !p->tile[r].unroll && !p->tile[r].vector) << r;
	return set & p->peeled;
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
