/* Ranges of a plan and their pieces: what `split`, `order` and `kind` say of loops, which the
 * kernel's statements carry out, not its graph. A split range's outer piece is a loop over tiles,
 * or chunks of these; its inner ones stand side by side.
 *
 *     split 0 48 overlap      r0 in 48s:       0.0 a loop, 0.1 elements
 *     split 0.1 16            3 vectors of 16: 0.1.0 and 0.1.1
 *     split 0.0 32 overlap    0.0.0 a loop over chunks of 32 tiles, 0.0.1 one within a chunk
 *     split 0 48 peel         both loops: 0.0 over blocks, 0.1 in one; then one of what is left */
#include "target/target.h"
#include "actions/actions.h"
#include <ctype.h>
#include <stdlib.h>

/* ---- names */

int action_number(const Facts *f, const Val *a, size_t i, int64_t most)
{
	if (i >= a->n || a->a[i]->kind != VAL_INT || a->a[i]->i < 0 || a->a[i]->i > most)
		die(MALFORMED, "node %u KERNEL: action %zu has no number that fits", f->kernel->id,
			i);
	return (int)a->a[i]->i;
}

/* The axis number that a name begins with, -1: none; *rest: what follows it, a piece's name. */
static int64_t axis_named(const Val *name, const char **rest)
{
	*rest = "";
	if (name->kind == VAL_INT)
		return name->i;
	if (name->kind != VAL_STR || !isdigit((unsigned char)*name->s))
		return -1;
	char *end;
	int64_t axis = strtoll(name->s, &end, 10);
	*rest = *end == '.' ? end + 1 : end;
	return axis;
}

int range_of(const Facts *f, const Val *name, uint64_t among)
{
	const char *rest;
	int64_t axis = axis_named(name, &rest);
	for (int r = 0; r < f->nrange; r++)
		if (axis_of(f, r) == axis && among >> r & 1)
			return r;
	die(MALFORMED, "node %u KERNEL: an action names a range that it does not have",
		f->kernel->id);
}

/* WHOLE, or the loop over tiles; that over chunks, and within one; elements side by side, their
 * vectors and what is in one */
typedef enum { WHOLE, LOOP, CHUNK, WITHIN, SIDE, SIDE_VECTORS, SIDE_VECTOR, PIECES } Piece;

/* Which piece of range r a name means; dies where there is no such piece. */
static Piece piece_of(const Plan *p, const Facts *f, const Val *name, int r)
{
	static const char *const names[] = {"", "0", "0.0", "0.1", "1", "1.0", "1.1"};
	const bool there[] = {true, p->piece[r], p->chunk[r], p->chunk[r], p->piece[r],
		p->vector[r], p->vector[r]};
	const char *rest;
	axis_named(name, &rest);
	for (Piece i = 0; i < PIECES; i++)
		if (there[i] && !strcmp(rest, names[i]))
			return i;
	die(MALFORMED, "node %u KERNEL: there is no range '%.60s': no action before has split it",
		f->kernel->id, name->s);
}

static const Val *piece_named(const Facts *f, int r, const char *rest)
{
	return val_str(arena_printf("%d.%s", axis_of(f, r), rest));
}

const Val *loop_name(const Plan *p, const Facts *f, int r)
{
	return p->chunk[r] ? piece_named(f, r, "0.1") : p->piece[r] ? piece_named(f, r, "0") :
		val_int(axis_of(f, r));
}

const Val *named_loop(const Plan *p, const Facts *f, PlanLoop v)
{
	return v.what == CHUNKS ? piece_named(f, v.r, "0.0") :
		v.what == IN_BLOCK ? piece_named(f, v.r, "1") : loop_name(p, f, v.r);
}

/* ---- split */

static _Noreturn void refuse(const Facts *f, const Val *a, const char *why)
{
	die(MALFORMED, "node %u KERNEL: %s %s: %s", f->kernel->id, a->a[0]->s,
		range_path(a->a[1]), why);
}

static bool is_tail(const Val *a, const char *name)
{
	return a->n > 3 && val_is_str(a->a[3], name);
}

static void split_whole(Plan *p, const Facts *f, const Val *a, int r, int n)
{
	if (p->piece[r])
		refuse(f, a, "it is split already");
	if (!is_tail(a, "peel") && !is_tail(a, "overlap"))
		refuse(f, a, "the rest of elements side by side is 'peel' or 'overlap'");
	p->piece[r] = n;
	*(is_tail(a, "peel") ? &p->peeled : &p->overlapped) |= 1ull << r;
}

void read_split(Plan *p, const Facts *f, const Val *a)
{
	int r = range_of(f, a->a[1], ~0ull), n = action_number(f, a, 2, 1 << 20);
	Piece piece = piece_of(p, f, a->a[1], r);
	if (!n)
		refuse(f, a, "its pieces have one iteration or more");
	if (piece == WHOLE) {
		split_whole(p, f, a, r, n);
	} else if (piece == LOOP && !p->chunk[r]) {
		if (!is_tail(a, "overlap"))
			refuse(f, a, "the last chunk of tiles overlaps the one before: 'overlap'");
		p->chunk[r] = n;
	} else if (piece == SIDE && !p->vector[r]) {
		if (p->piece[r] % n)
			refuse(f, a, "elements side by side are in whole vectors");
		p->vector[r] = n;
	} else {
		refuse(f, a, "it is a piece that is not split again");
	}
}

/* ---- order */

/* An axis number is an output range's before it is a reduction's. */
static int range_to_order(const Facts *f, const Val *name)
{
	const char *rest;
	int64_t axis = axis_named(name, &rest);
	for (int r = 0; r < f->nrange; r++)
		if (axis_of(f, r) == axis && f->out >> r & 1)
			return r;
	return range_of(f, name, f->reduced);
}

/* Loops over chunks stand outside all others, in the order of those over their tiles. */
static bool chunks_keep(const Plan *p, const int *chunk, int n)
{
	int k = 0;
	for (int i = 0; i < p->norder && n; i++)
		if (p->chunk[p->order[i]] && (k == n || chunk[k++] != p->order[i]))
			return false;
	return k == n;
}

static void forget_order(Plan *p)
{
	int n = 0;
	p->norder = p->nfolds = 0;
	memset(p->within, 0, sizeof p->within);
	for (int i = 0; i < p->nstage; i++)
		if (!p->stage[i].outside)
			p->stage[n++] = p->stage[i];
	p->nstage = n;
}

static _Noreturn void misplaced(const Facts *f, const char *why)
{
	die(MALFORMED, "node %u KERNEL: %s", f->kernel->id, why);
}

/* Elements of tiles are within all loops, wherever they are named; the loop within a block stands
 * here. */
static void order_within(Plan *p, const Facts *f, int r, uint64_t set)
{
	if (!(set >> r & 1) || p->within[r])
		misplaced(f, "an inner piece stands once, within the outer one");
	p->within[r] = f->out >> r & 1 ? p->norder : p->nfolds;
}

static void order_loop(Plan *p, const Facts *f, int r, uint64_t set)
{
	if (set >> r & 1)
		misplaced(f, "the order names a range twice");
	if (f->out >> r & 1)
		p->order[p->norder++] = r;
	else
		p->folds[p->nfolds++] = r;
}

void read_order(Plan *p, const Facts *f, const Val *a)
{
	int all[2 * MAX_RANGES], n = 0, chunk[MAX_RANGES], nchunk = 0;
	uint64_t set = 0;
	forget_order(p);
	for (size_t i = 1; i < a->n && n < MAX_RANGES; i++) {
		int r = range_to_order(f, a->a[i]);
		Piece piece = piece_of(p, f, a->a[i], r);
		if (piece == CHUNK) {
			if (n)
				misplaced(f, "chunks stand outside of all other loops");
			chunk[nchunk++] = r;
		} else if (piece == SIDE && p->peeled >> r & 1) {
			order_within(p, f, r, set);
			all[n++] = r + MAX_RANGES;
		} else if (piece <= WITHIN) {
			order_loop(p, f, r, set);
			all[n++] = r;
			set |= 1ull << r;
		}
	}
	if (!chunks_keep(p, chunk, nchunk))
		misplaced(f, "chunks stand in the order of the loops within them");
	if (n > p->norder && !order_folds(p, f, all, n))
		misplaced(f, "a reduction's loops stand between those of the ranges that its "
			"accumulators are over");
	memcpy(p->listed, all, n * sizeof *all);
	p->nlisted = n;
}

/* ---- kind */

/* Is there one iteration of a loop over the range, since all its elements are side by side? */
static bool is_vector(const Plan *p, const Facts *f, int r)
{
	return tile_size(p, r) && tile_size(p, r) == least_size(f, r) &&
		tile_size(p, r) == most_size(f, r);
}

/* Threads share loops from the outermost on, which are named in that order; a range by its own name
 * with its chunks. */
static void kind_thread(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	PlanLoop level[3 * MAX_RANGES];
	int n = plan_loops(p, level), at = p->grid;
	bool chunk = piece == CHUNK;
	if (piece > WITHIN)
		refuse(f, a, "elements of a piece are of one thread");
	while (at < n && !(level[at].r == r && (level[at].what == CHUNKS) == chunk) &&
		((level[at].what == CHUNKS && piece == WHOLE) || is_vector(p, f, level[at].r)))
		at++;
	if (at >= n || level[at].r != r || (level[at].what == CHUNKS) != chunk)
		die(MALFORMED, "node %u KERNEL: kind thread is of the outermost loop that threads "
			       "do not share yet", f->kernel->id);
	p->grid = at + 1;
}

static void lanes_add(Plan *p, const Facts *f, const Val *a, int r)
{
	for (int i = 0; i < p->nlanes; i++)
		if (p->lanes[i] == r)
			refuse(f, a, "two tiles of one range");
	p->lanes[p->nlanes++] = r;
}

/* Elements of r, or of its inner piece, side by side: in vectors, or each by itself, within the
 * loops of reductions, each with accumulators of its own. */
static void kind_side(Plan *p, const Facts *f, const Val *a, int r, Piece piece, bool vector)
{
	int64_t n = piece == WHOLE ? most_size(f, r) : piece == SIDE ? p->piece[r] : 0;
	Tile *t = &p->tile[r];
	if (piece == (vector ? SIDE_VECTOR : SIDE_VECTORS) && !(vector ? t->vector : t->unroll)) {
		if (!t->unroll && !t->vector)
			lanes_add(p, f, a, r);
		*(vector ? &t->vector : &t->unroll) =
			vector ? p->vector[r] : p->piece[r] / p->vector[r];
		return;
	}
	if (piece == WHOLE && (p->piece[r] || n < 1 || n > 64 || least_size(f, r) != n))
		refuse(f, a, "elements side by side are of a range of a known size up to 64, "
			"or of the inner piece of one that is split");
	if (!n || (piece == SIDE && p->vector[r]))
		refuse(f, a, "of elements in vectors the outer piece is of kind jam, the inner of "
			"kind vector");
	lanes_add(p, f, a, r);
	*t = vector ? (Tile){1, (int)n} : (Tile){(int)n, 1};
}

static void kind_vector(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	kind_side(p, f, a, r, piece, true);
}

/* The reductions' ranges of that number. */
static uint64_t folds_named(const Facts *f, const Val *a)
{
	const char *rest;
	int64_t axis = axis_named(a->a[1], &rest);
	uint64_t set = 0;
	for (int r = 0; r < f->nrange; r++)
		if (axis_of(f, r) == axis)
			set |= f->reduced & 1ull << r;
	if (!set || *rest)
		refuse(f, a, "it is not of a reduction");
	return set;
}

/* Iterations of reductions, so many at a time. */
static void jam_folds(Plan *p, const Facts *f, const Val *a)
{
	int n = action_number(f, a, 3, 64);
	bool apart = a->n > 4;
	if (n < 2)
		refuse(f, a, "two iterations at a time, or more");
	if (apart && !val_is_str(a->a[4], "apart"))
		refuse(f, a, "iterations stand one after another, or 'apart'");
	if (p->jammed && (p->jam != n || p->apart != apart))
		refuse(f, a, "reductions are jammed alike");
	p->jammed |= folds_named(f, a);
	p->jam = n;
	p->apart = apart;
}

static void kind_jam(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	if (a->n > 3)
		jam_folds(p, f, a);
	else
		kind_side(p, f, a, r, piece, false);
}

static void whole(const Facts *f, const Val *a, Piece piece)
{
	if (piece != WHOLE)
		refuse(f, a, "a piece that loops make is not of that kind");
}

static void kind_unroll(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	if (piece != SIDE)
		whole(f, a, piece);
	*(piece == SIDE ? &p->written : &p->unrolled) |= 1ull << r;
}

static void bind_kind(Plan *p, const Facts *f, uint64_t *set, int r)
{
	*set |= 1ull << r;
	p->mode = PLAN_TILES;
	p->bound |= 1ull << r;
	p->items = (int)count_of(f, p->members);
}

/* Items for all iterations of the ranges together, so many a group. */
static void bind_all(Plan *p, const Facts *f, const Val *a, int r, PlanMode mode)
{
	int n = action_number(f, a, 3, 1024);
	if (p->mode != PLAN_LOOPS && (p->mode != mode || p->items != n))
		refuse(f, a, "all groups have as many items, which share work alike");
	p->mode = mode;
	p->items = n;
	p->bound |= 1ull << r;
}

/* Work groups and their items are the grid of a GPU; a group has as many items as these ranges have
 * iterations together, or a number of them that shares what no kind is said of. */
static void bind_range(Plan *p, const Facts *f, const Val *a, int r, uint64_t *set, PlanMode all)
{
	if (a->n > 3)
		bind_all(p, f, a, r, all);
	else
		bind_kind(p, f, set, r);
}

static void kind_group(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	whole(f, a, piece);
	bind_range(p, f, a, r, &p->groups, PLAN_GROUP);
}

static void kind_item(Plan *p, const Facts *f, const Val *a, int r, Piece piece)
{
	whole(f, a, piece);
	bind_range(p, f, a, r, &p->members, PLAN_ITEMS);
}

static void kind_loop(Plan *p, const Facts *f, const Val *a, int r, Piece piece) {}

/* How a range runs. */
void read_kind(Plan *p, const Facts *f, const Val *a)
{
	static const struct {
		const char *name;
		void (*read)(Plan *p, const Facts *f, const Val *a, int r, Piece piece);
		size_t most;                    /* words */
	} kind[] = {{"loop", kind_loop, 3}, {"thread", kind_thread, 3}, {"vector", kind_vector, 3},
		{"unroll", kind_unroll, 3}, {"jam", kind_jam, 5}, {"group", kind_group, 4},
		{"item", kind_item, 4}};
	for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
		if (!val_is_str(a->a[2], kind[i].name))
			continue;
		if (a->n > kind[i].most)
			refuse(f, a, "that kind has no number");
		int r = range_of(f, a->a[1], ~0ull);
		kind[i].read(p, f, a, r, piece_of(p, f, a->a[1], r));
		return;
	}
	die(MALFORMED, "node %u KERNEL: a kind is 'loop', 'thread', 'vector', 'unroll', 'jam', "
		       "'group' or 'item'", f->kernel->id);
}

/* ---- reductions in parts */

void read_rfactor(Plan *p, const Facts *f, const Val *a)
{
	int n = action_number(f, a, 2, 1024);
	if (n < 2)
		refuse(f, a, "two accumulators, or more");
	if (p->parted && p->partial != n)
		refuse(f, a, "reductions have as many accumulators, all of them");
	p->parted |= folds_named(f, a);
	p->partial = n;
}

int partial_range(const Plan *p, const Facts *f, uint64_t over, uint64_t among)
{
	int best = -1, last = 63 - __builtin_clzll(over);
	int64_t lo, hi, most = p->partial - 1;
	if (over & (over - 1) && among >> last & 1 && least_size(f, last) == p->partial &&
		most_size(f, last) == p->partial)
		return last;
	for (int r = last; r >= 0 && p->partial; r--) {
		if (!(over & among & 1ull << r))
			continue;
		ix_bounds(f->range[r]->src[0], &lo, &hi);
		if (hi > most) {
			best = r;
			most = hi;
		}
		if (best == last)
			break;
	}
	return best;
}

bool parts_pay(const Plan *p, const UOp *reduce)
{
	/* nodes of a body, however many vectors there are; in all of them */
	enum { SMALL = 96, ALL = 512 };
	static ARENA TABLE(uint32_t) seen;
	static ARENA VEC(const UOp *) todo;
	int bytes = p->partial * dtype_size(reduce->dtype), size = 0, most = SMALL;

	if (folds_tuple(reduce))
		return false;
	if (bytes <= target->vector)
		most = ALL;
	else if (ALL * target->vector / bytes > SMALL)
		most = ALL * target->vector / bytes;
	table_round(&seen);
	todo.n = 0;
	vec_push(&todo, reduce->src[0]);
	while (todo.n) {
		const UOp *u = todo.at[--todo.n];
		if (seen.at[u->id] == seen.round || !(free_of(u) & bound_of(reduce)))
			continue;
		seen.at[u->id] = seen.round;
		if (stage_of(p, u) >= 0)
			continue;
		if (u->op == OP_RREDUCE || ++size > most)
			return false;
		for (uint32_t i = 0; i < u->nsrc; i++)
			vec_push(&todo, u->src[i]);
	}
	return true;
}
