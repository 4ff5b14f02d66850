/* Threads keep what they wrote. A thread computes neighbours in the grid, so it has a part of the
 * outermost loop; what another wrote comes from that one's second cache, or from beyond, and a part
 * that it wrote itself from its own:
 *
 *     t[c,y,x] = …                      for c, for y         the first of two threads: c < 32
 *     u[k,y,x] = Σc w[k,c] * t[c,y,x]   for y, for k         y < 28, of all c
 *         t: chunk y 28                 for y in halves, for c, for y in a half
 *
 * Chunks of a loop on the outside leave the loops within them, and so how these use the caches, as
 * they are. */
#include "document/document.h"
#include "target/target.h"
#include "choose/choose.h"
#include "index/ix.h"
#include <stdlib.h>

/* Parts that differ by an ALIKEth, as those of an image with its padding, are the same ones. A
 * call is changed when that saves a SAVESth of what it reads and writes of temporaries. */
enum { ALIKE = 8, SAVES = 3 };
/* Chunks may overlap in one of so many tiles; a list may have chunks of so many tiles. */
enum { TWICE = 8, CHUNK_MOST = 1 << 20 };
/* Buffers of fewer bytes are those of kernels that one thread runs. */
enum { BYTES_LEAST = 16 << 10 };
/* of a place: all of it in each iteration; parts of it, it is not known which */
enum { ALL = 0, SOME = -1 };

/* A kernel's loops, outermost first as its plan has them, and in which parts each takes its
 * buffers: of slot s and loop i, part[s * n + i] elements lie between the first iteration's and
 * those behind the last one's. */
typedef struct {
	UOp *kernel;
	bool alias;                     /* some call writes a buffer that it reads */
	int n, slots;
	int64_t *part;
	int64_t tiles[MAX_RANGES];      /* of loop i, if it may be the outermost one; else 0 */
	int64_t places;                 /* that it writes */
	int outer;                      /* which of them is, -1: not known */
} Shares;
/* A call that writes, or reads, a buffer; of several that write it, that which writes most. */
typedef struct Use { const UOp *call; struct Use *next; } Use;
typedef struct { const UOp *writer; Use *readers; } Uses;

/* The Shares of kernels whose lists are not given, by kernel; the Uses of a document's buffers. A
 * list that is given may rewrite its kernel before it says how its loops run. */
static ARENA Map shares, uses;
static const Shares unknown = {.outer = -1};

/* ---- what a kernel's loops share */

static void add_part(int64_t *part, bool *seen, int64_t n)
{
	*part = !*seen || *part == n ? n : SOME;
	*seen = true;
}

static int64_t part_along(const Facts *f, const UOp *place, const Sum *s, int r)
{
	int64_t size, n, step = llabs(sum_coef(s, f->range[r]));
	if (!(free_of(place) >> r & 1))
		return ALL;
	return ix_is_const(f->range[r]->src[0], &size) && step && mul_ok(step, size, &n) ? n : SOME;
}

static void find_parts(Shares *k, const Facts *f, const Plan *p)
{
	bool *seen = arena_alloc((k->slots * k->n + 1) * sizeof *seen);
	k->part = arena_alloc((k->slots * k->n + 1) * sizeof *k->part);
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		Sum s;
		if (u->op != OP_INDEX || u->src[0]->op != OP_PARAM || u->nsrc != 2)
			continue;
		sum_of(&s, u->src[1]);
		for (int q = 0; q < k->n; q++) {
			int at = (int)param_slot(u->src[0]) * k->n + q;
			add_part(&k->part[at], &seen[at], part_along(f, u, &s, p->order[q]));
		}
	}
}

/* Is the reduction run as often when loops of r stand outside of all others? */
static bool runs_as_often(const Facts *f, int r)
{
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op == OP_RREDUCE && (!(free_of(u) >> r & 1) || bound_of(u) & f->out))
			return false;
	}
	return true;
}

/* The tiles of range r, of which the last may overlap the one before; 0: it stays where it is. */
static int64_t tiles_of(const Facts *f, const Plan *p, int r)
{
	Plan q = *p;
	int64_t size;
	if (!q.tile[r].unroll)
		q.tile[r] = (Tile){1, 1};
	if (!ix_is_const(f->range[r]->src[0], &size) || (f->serial | block_ranges(p)) >> r & 1 ||
		!(f->out >> r & 1) || !tile_fixed(&q, f, r) || !runs_as_often(f, r))
		return 0;
	return (size + tile_size(&q, r) - 1) / tile_size(&q, r);
}

static int outermost(const Facts *f, const Plan *p)
{
	PlanLoop level[3 * MAX_RANGES];
	int n = plan_loops(p, level);
	for (int i = 0; i < n && i < p->grid; i++) {
		int r = level[i].r, at = 0;
		int64_t tile = tile_size(p, r) ? tile_size(p, r) : 1;
		if (most_size(f, r) <= tile)
			continue;
		while (at < p->norder && p->order[at] != r)
			at++;
		return at < p->norder ? at : -1;
	}
	return -1;
}

void threads_note(UOp *kernel, const KernelUse *use)
{
	Shares *k = arena_alloc(sizeof *k);
	Facts f;
	Plan p;
	*k = (Shares){.kernel = kernel, .alias = use->alias, .outer = -1};
	facts_find(&f, kernel, use->alias);
	plan_parse(&p, &f);
	if (p.mode != PLAN_LOOPS || f.sort)
		return;
	k->n = p.norder;
	k->slots = (int)use->call->nsrc - 1;
	k->places = count_of(&f, f.out);
	k->outer = outermost(&f, &p);
	find_parts(k, &f, &p);
	bool fixed = val_get(kernel->arg, "slice") || p.grid < 1;
	for (int i = 0; i < p.norder; i++)
		fixed |= p.chunk[p.order[i]] > 0;
	for (int i = 0; i < p.norder; i++)
		k->tiles[i] = fixed ? 0 : tiles_of(&f, &p, p.order[i]);
	map_put(&shares, PKEY(kernel), k);
}

static const Shares *shares_of(const UOp *call)
{
	const Shares *k = map_get(&shares, PKEY(call->src[0]));
	return k ? k : &unknown;
}

/* ---- what threads read of each other */

static int64_t bytes_in(const UOp *buffer)
{
	int64_t n;
	return shape_bytes(buffer->shape, buffer->dtype, &n) ? n : 0;
}

static int64_t part_of(const Shares *k, int slot, int outer)
{
	return outer < 0 || slot >= k->slots ? SOME : k->part[slot * k->n + outer];
}

/* Of a buffer of so many bytes, those that come from another thread, where one writes, and one
 * reads, these parts of it: half of them are another's, and all of those when each reads all. */
static int64_t crossing(int64_t bytes, int64_t written, int64_t read)
{
	int64_t most = written > read ? written : read, least = written + read - most;
	if (read == ALL)
		return bytes;
	return least > 0 && most - least <= most / ALIKE ? 0 : bytes / 2;
}

/* What crosses when loop `outer` of the call's kernel is the outermost one; *all: what might. */
static int64_t cost(const UOp *call, int outer, int64_t *all)
{
	const Shares *k = shares_of(call);
	uint64_t writes = call_writes(call);
	int64_t sum = 0;
	*all = 0;
	for (uint32_t s = 0; s + 1 < call->nsrc; s++) {
		const UOp *b = call->src[1 + s];
		const Uses *u = map_get(&uses, PKEY(b));
		int64_t bytes = bytes_in(b), mine = part_of(k, (int)s, outer);
		bool written = s < 64 && writes >> s & 1;
		if (!buffer_is(b, "temp")) {
			sum += !written && mine == ALL ? bytes : 0;
		} else if (!written && u->writer) {
			const UOp *w = u->writer;
			const Shares *by = shares_of(w);
			sum += crossing(bytes, part_of(by, call_slot(w, b), by->outer), mine);
			*all += bytes;
		}
		for (Use *r = written && u->writer == call ? u->readers : NULL; r; r = r->next) {
			const Shares *by = shares_of(r->call);
			sum += crossing(bytes, mine,
				part_of(by, call_slot(r->call, b), by->outer));
			*all += bytes;
		}
	}
	return sum;
}

/* ---- the choice */

/* The tiles of a chunk, so that each core has one; 1: there are none, as they would do too much
 * twice, since the last one overlaps the one before. */
static int64_t chunk_of(int64_t tiles)
{
	int64_t cores = target->machine.cores, chunk = (tiles + cores - 1) / cores;
	return chunk > CHUNK_MOST || (chunk * cores - tiles) * TWICE > tiles ? 1 : chunk;
}

/* May loop i of the call be outermost? Any may where all temporaries move with all loops: no order
 * of them reads less than another. Elsewhere chunks of it may, if the first cache holds what each
 * thread then reads all of. */
static bool may_be_outermost(const UOp *call, const Shares *k, int i)
{
	uint64_t writes = call_writes(call);
	bool free = true, small = chunk_of(k->tiles[i]) > 1;
	for (int s = 0; s < k->slots; s++) {
		const UOp *b = call->src[1 + s];
		if (s < 64 && writes >> s & 1)
			continue;
		small &= part_of(k, s, i) != ALL || bytes_in(b) <= target->machine.cache[0] / 2;
		for (int q = 0; q < k->n; q++)
			free &= part_of(k, s, q) != ALL || !buffer_is(b, "temp");
	}
	return k->tiles[i] >= target->machine.cores && (free || small);
}

static bool is_word(const Val *a, const char *name) { return !strcmp(a->a[0]->s, name); }

/* The word order, with this range first. */
static const Val *order_from(const Val *a, const Val *range)
{
	const Val **v = arena_alloc(a->n * sizeof *v);
	size_t n = 0;
	v[n++] = a->a[0];
	v[n++] = range;
	for (size_t i = 1; i < a->n; i++)
		if (a->a[i] != range)
			v[n++] = a->a[i];
	return val_array(n, v);
}

/* The list with the range outermost, in chunks of so many tiles; 1: without. The grid's items have
 * the loops that they had, and the new one. */
static const Val *list_with(const Val *list, const Val *range, int64_t chunk, bool tiled, int grid)
{
	VEC(const Val *) v = {0};
	for (size_t i = 0; i < list->n; i++) {
		const Val *a = list->a[i];
		bool last = is_word(a, "grid");
		if (chunk > 1 && !tiled && (last || is_word(a, "tile"))) {
			vec_push(&v, VARR(val_str("tile"), range, val_int(1), val_int(1)));
			tiled = true;
		}
		if (last && chunk > 1)
			vec_push(&v, VARR(val_str("chunk"), range, val_int(chunk)));
		vec_push(&v, last ? VARR(a->a[0], val_int(grid)) :
			chunk == 1 && is_word(a, "order") ? order_from(a, range) : a);
	}
	list = val_array(v.n, v.at);
	vec_free(&v);
	return list;
}

/* The kernel with loop i outermost, in chunks where these are more than a tile; NULL where that
 * does not fit. */
static UOp *with_outer(const Shares *k, int i)
{
	Facts f;
	Plan p;
	facts_find(&f, k->kernel, k->alias);
	plan_parse(&p, &f);
	int r = p.order[i];
	int64_t chunk = chunk_of(k->tiles[i]);
	const Val *range = val_int(axis_of(&f, r));
	const Val *list = list_with(val_get(k->kernel->arg, "actions"), range, chunk,
		p.tile[r].unroll > 0, p.grid + (chunk > 1 || i >= p.grid));
	UOp *now = node_like(k->kernel, k->kernel->nsrc, k->kernel->src,
		val_set(k->kernel->arg, "actions", list));
	facts_find(&f, now, k->alias);
	plan_parse(&p, &f);
	if (plan_misfit(&p, &f))
		return NULL;
	explain(now, "threads keep what they wrote: %s outermost",
		chunk == 1 ? arena_printf("r%d is", (int)range->i) :
			arena_printf("chunks of r%d are", (int)range->i));
	return now;
}

/* The kernel that takes the place of the use's. */
static UOp *best(const KernelUse *use)
{
	Shares *k = map_get(&shares, PKEY(use->kernel));
	if (!k || k->outer < 0 || use->once)
		return use->kernel;
	int64_t all, before = cost(use->call, k->outer, &all), least = before;
	int at = k->outer;
	for (int i = 0; i < k->n && all >= BYTES_LEAST; i++) {
		int64_t c = may_be_outermost(use->call, k, i) ? cost(use->call, i, &all) : least;
		if (c < least) {
			least = c;
			at = i;
		}
	}
	UOp *now = before - least > all / SAVES ? with_outer(k, at) : NULL;
	if (!now)
		return use->kernel;
	k->outer = at;
	return now;
}

static Uses *uses_of(const UOp *buffer)
{
	Uses *u = map_get(&uses, PKEY(buffer));
	if (!u) {
		u = arena_alloc(sizeof *u);
		*u = (Uses){0};
		map_put(&uses, PKEY(buffer), u);
	}
	return u;
}

static void add_uses(const UOp *call)
{
	uint64_t writes = call_writes(call);
	for (uint32_t s = 0; s + 1 < call->nsrc; s++) {
		Uses *u = uses_of(call->src[1 + s]);
		if (s < 64 && writes >> s & 1) {
			if (!u->writer || shares_of(u->writer)->places < shares_of(call)->places)
				u->writer = call;
		} else {
			Use *r = arena_alloc(sizeof *r);
			*r = (Use){call, u->readers};
			u->readers = r;
		}
	}
}

Graph *threads_keep(Graph *g)
{
	if (target->gpu || target->machine.cores < 2)
		return g;
	uses = (Map){0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		if (call_has_kernel(g->sink->src[i]))
			add_uses(g->sink->src[i]);
	return kernels_map(g, best);
}
