/* Words: actions that stand for a few others, their primitives.
 *
 *     tile 1 3 16     split 1 48 overlap; split 1.1 16; kind 1.1.0 jam; kind 1.1.1 vector
 *     chunk 1 32      split 1.0 32 overlap; order 1.0.0 0 1.0.1
 *     grid 2          kind 1.0.0 thread; kind 0 thread
 *     jam 4           kind 2 jam 4, of each reduction that has that many iterations
 *     partial 16      rfactor 2 16, of each reduction in which that pays
 *     transpose LOAD.0 1      stage LOAD.0 1 register
 *     bind 128 0 1    kind 0 item 128; kind 1 item 128
 *
 * They are written out as a list is read, so a list with the primitives in their place makes the
 * same loops. */
#include "target/target.h"
#include "actions/actions.h"

/* A list as it is read, and what has been made of it. */
struct Reading { Plan *p; const Facts *f; VEC(const Val *) list; };

static void read_primitive(Reading *w, const Val *a);

static void put(Reading *w, const char *name, const Val *range, const Val *b, const Val *c,
	const Val *d)
{
	const Val *v[] = {val_str(name), range, b, c, d};
	size_t n = 2;
	while (n < 5 && v[n])
		n++;
	read_primitive(w, val_array(n, v));
}

static const Val *piece(const Val *range, const char *rest)
{
	return val_str(arena_printf("%s.%s", range_path(range), rest));
}

/* How the last tile is made whole, where it may be. */
static const char *tail_of(Plan *p, const Facts *f, int r, Tile t)
{
	p->tile[r] = t;
	bool overlap = tile_fixed(p, f, r) || tile_open(p, f, r);
	p->tile[r] = (Tile){0};
	return overlap ? "overlap" : "peel";
}

void word_tile(Reading *w, const Val *a)
{
	const Val *range = a->a[1];
	int r = range_of(w->f, range, ~0ull);
	Tile t = {action_number(w->f, a, 2, 4096), action_number(w->f, a, 3, 64)};
	if (w->p->tile[r].unroll)
		die(MALFORMED, "node %u KERNEL: two tiles of one range", w->f->kernel->id);
	if (!t.unroll || !t.vector)
		die(MALFORMED, "node %u KERNEL: a tile of no elements", w->f->kernel->id);
	put(w, "split", range, val_int(t.unroll * t.vector), val_str(tail_of(w->p, w->f, r, t)),
		NULL);
	if (t.unroll > 1 && t.vector > 1) {
		put(w, "split", piece(range, "1"), val_int(t.vector), NULL, NULL);
		put(w, "kind", piece(range, "1.0"), val_str("jam"), NULL, NULL);
		put(w, "kind", piece(range, "1.1"), val_str("vector"), NULL, NULL);
	} else {
		put(w, "kind", piece(range, "1"), val_str(t.vector > 1 ? "vector" : "jam"), NULL,
			NULL);
	}
}

/* The order as it is, with the loops over chunks in front. */
static void put_order(Reading *w)
{
	const Plan *p = w->p;
	const Val *v[4 * MAX_RANGES] = {val_str("order")};
	PlanLoop level[3 * MAX_RANGES];
	int n = 1, levels = plan_loops(p, level);
	for (int i = 0; i < levels && level[i].what == CHUNKS; i++)
		v[n++] = named_loop(p, w->f, level[i]);
	for (int i = 0; i < p->nlisted; i++) {
		int r = p->listed[i] % MAX_RANGES;
		v[n++] = named_loop(p, w->f, (PlanLoop){r, p->listed[i] == r ? SINGLES : IN_BLOCK});
	}
	read_primitive(w, val_array(n, v));
}

void word_chunk(Reading *w, const Val *a)
{
	int r = range_of(w->f, a->a[1], ~0ull), n = action_number(w->f, a, 2, 1 << 20);
	if (!n)
		return;
	if (!w->p->piece[r])
		die(MALFORMED, "node %u KERNEL: chunks are of tiles", w->f->kernel->id);
	put(w, "split", piece(a->a[1], "0"), val_int(n), val_str("overlap"), NULL);
	put_order(w);
}

void word_grid(Reading *w, const Val *a)
{
	PlanLoop level[3 * MAX_RANGES];
	int n = plan_loops(w->p, level), most = action_number(w->f, a, 1, 2 * MAX_RANGES);
	if (most > n)
		die(MALFORMED, "node %u KERNEL: grid %d: it has %d loops", w->f->kernel->id, most,
			n);
	for (int i = 0; i < most; i++)
		put(w, "kind", named_loop(w->p, w->f, level[i]), val_str("thread"), NULL, NULL);
}

/* The outermost of the reductions' ranges is named once. */
static void put_folds(Reading *w, uint64_t set, void (*one)(Reading *w, const Val *a, int r),
	const Val *a)
{
	for (int r = 0; r < w->f->nrange; r++)
		if (set >> r & 1 && !(r && set >> (r - 1) & 1 &&
			axis_of(w->f, r) == axis_of(w->f, r - 1)))
			one(w, a, r);
}

static void jam_one(Reading *w, const Val *a, int r)
{
	bool apart = a->n > 2 && action_number(w->f, a, 2, 1);
	put(w, "kind", val_int(axis_of(w->f, r)), val_str("jam"), a->a[1],
		apart ? val_str("apart") : NULL);
}

/* The ranges over which a reduction runs within its row buffer, if it has one. */
static uint64_t runs_over(const Plan *p, const UOp *u)
{
	int stage = stage_of(p, u);
	return bound_of(u) & ~(stage < 0 ? 0 : p->stage[stage].outside);
}

void word_jam(Reading *w, const Val *a)
{
	int n = action_number(w->f, a, 1, 64);
	uint64_t set = 0;
	for (size_t i = 0; i < w->f->all.n; i++) {
		const UOp *u = w->f->all.at[i];
		uint64_t over = u->op == OP_RREDUCE ? runs_over(w->p, u) : 0;
		uint64_t last = over ? 1ull << (63 - __builtin_clzll(over)) : 0;
		if (last && n > 1 && free_of(u) & tiled_ranges(w->p) && count_of(w->f, last) >= n)
			set |= last;
	}
	put_folds(w, set, jam_one, a);
}

/* Do all lanes of a reduction hold vectors? Then it is not in parts too. */
static bool in_vectors(const Plan *p, const Facts *f, const UOp *u)
{
	for (int r = 0; r < f->nrange; r++)
		if (free_of(u) & ~f->reduced & 1ull << r && p->tile[r].vector > 1 &&
			tile_fixed(p, f, r))
			return true;
	return false;
}

static void partial_one(Reading *w, const Val *a, int r)
{
	put(w, "rfactor", val_int(axis_of(w->f, r)), a->a[1], NULL, NULL);
}

void word_partial(Reading *w, const Val *a)
{
	int n = action_number(w->f, a, 1, 1024);
	uint64_t set = 0;
	bool outside = false;
	if (n & (n - 1))
		die(MALFORMED, "node %u KERNEL: partial accumulators are a power of two",
			w->f->kernel->id);
	for (int i = 0; i < w->p->nstage; i++)
		outside |= w->p->stage[i].outside != 0;
	w->p->partial = n > 1 ? n : 0;
	for (size_t i = 0; i < w->f->all.n && n > 1; i++) {
		const UOp *u = w->f->all.at[i];
		if (u->op != OP_RREDUCE || !parts_pay(w->p, u) ||
			(!outside && in_vectors(w->p, w->f, u)))
			continue;
		int r = partial_range(w->p, w->f, bound_of(u), ~0ull);
		set |= r < 0 ? 0 : 1ull << r;
	}
	put_folds(w, set, partial_one, a);
	if (!set)
		w->p->partial = 0;
}

void word_transpose(Reading *w, const Val *a)
{
	put(w, "stage", a->a[1], a->a[2], val_str("register"), NULL);
}

/* Where no range is named, no primitive says it: a group, or an item, of all there is. */
void word_items(Reading *w, const Val *a)
{
	bool bind = val_is_str(a->a[0], "bind");
	if (a->n == 2) {
		if (w->p->mode != PLAN_LOOPS)
			die(MALFORMED, "node %u KERNEL: it has groups already", w->f->kernel->id);
		w->p->mode = bind ? PLAN_ITEMS : PLAN_GROUP;
		w->p->items = action_number(w->f, a, 1, 1024);
		vec_push(&w->list, a);
	}
	for (size_t i = 2; i < a->n; i++)
		put(w, "kind", a->a[i], val_str(bind ? "item" : "group"), a->a[1], NULL);
}

/* ---- the list */

/* Chunks are of tiles, threads share loops over both, and reductions have the lanes of tiles. */
static int round_of(const Action *row, const Val *a)
{
	enum { THREADS = 2 };
	return row->word ? row->round :
		val_is_str(a->a[0], "kind") && val_is_str(a->a[2], "thread") ? THREADS : 0;
}

static void read_primitive(Reading *w, const Val *a)
{
	const Action *row = action_find(w->f->kernel, a);
	if (!row->read)
		die(MALFORMED, "node %u KERNEL: %s has to be carried out before",
			w->f->kernel->id, row->name);
	row->read(w->p, w->f, a);
	vec_push(&w->list, a);
}

const Val *plan_primitives(Plan *p, const Facts *f)
{
	enum { ROUNDS = 4 };
	Reading w = {.p = p, .f = f};
	*p = (Plan){0};
	plan_order(p, f);
	memcpy(p->listed, p->order, p->norder * sizeof *p->order);
	p->nlisted = p->norder;
	const Val *list = val_get(f->kernel->arg, "plan");
	list = list ? list : val_get(f->kernel->arg, "actions");
	size_t n = list && list->kind == VAL_ARRAY ? list->n : 0;
	const Action **row = arena_alloc((n + 1) * sizeof *row);
	for (size_t i = 0; i < n; i++)
		row[i] = action_find(f->kernel, list->a[i]);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++) {
			if (round_of(row[i], list->a[i]) != round)
				continue;
			if (row[i]->word)
				row[i]->word(&w, list->a[i]);
			else
				read_primitive(&w, list->a[i]);
		}
	list = val_array(w.list.n, w.list.at);
	vec_free(&w.list);
	return list;
}

void plan_parse(Plan *p, const Facts *f) { plan_primitives(p, f); }
