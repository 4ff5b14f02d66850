/* Panels of a contraction's constants: a tile of them, or of a block of the reduction, read by tile
 * after tile of rows, is contiguous in memory, so that the next one can be prefetched while this
 * one is in use. */
#include "target/target.h"
#include "actions/actions.h"
#include "index/ix.h"

enum { TILES_LEAST = 2 };

ARENA int64_t lower_constants;

static int tile_or_one(const Plan *p, int r) { return p->tile[r].unroll ? tile_size(p, r) : 1; }

/* Iterations of range k after which the panel behind is read. */
static int64_t steps_in(const Plan *p, const Panel *n, int k)
{
	return n->blocks >> k & 1 ? p->piece[k] : tile_or_one(p, k);
}

/* Is the place element v of iteration after iteration of a reduction, or of a block of it, without
 * a gap, and nothing else? Finds the range r of which the next iteration's panel, or the next
 * block, lies behind this one. */
static bool fills_panels(const Plan *p, const Facts *f, Panel *n)
{
	Sum s;
	int64_t all = 1;
	uint64_t moves = free_of(n->load->src[0]), panels = moves & f->out & ~(1ull << n->v);
	n->blocks = moves & ~f->out & block_ranges(p);
	sum_of(&s, n->load->src[0]->src[1]);
	for (int k = 0; k < f->nrange; k++)
		if ((moves & ~panels) >> k & 1 && !mul_ok(all,
				n->blocks >> k & 1 ? p->piece[k] : range_size(f->range[k]), &all))
			return false;
	for (int k = 0; k < f->nrange; k++) {
		int64_t step = sum_coef(&s, f->range[k]), next;
		if ((n->blocks ? n->blocks : panels) >> k & 1 &&
			mul_ok(step, n->blocks ? p->piece[k] : 1, &next) && next == all) {
			n->r = k;
			n->step = step;
		}
	}
	n->others = n->r < 0 ? 0 : panels & ~(1ull << n->r);
	return s.n == __builtin_popcountll(moves) && moves & ~f->out && !s.k &&
		sum_coef(&s, f->range[n->v]) == 1 && n->r >= 0 && n->step;
}

/* Are there enough rows inside the loop over panels? Rows outside of it read all panels again. The
 * panels of the loops within it are used before the next. */
static bool rows_within(const Plan *p, const Facts *f, Panel *n)
{
	bool inside = false;
	int64_t rows = 1, tile = 1;
	const int *order = n->blocks ? p->listed : p->order;
	for (int i = 0; i < (n->blocks ? p->nlisted : p->norder); i++) {
		int r = order[i] % MAX_RANGES;
		if (inside && n->others >> r & 1) {
			if (!mul_ok(n->between, range_size(f->range[r]) / tile_or_one(p, r),
				    &n->between))
				return false;
		} else if (inside && r != n->v && f->out >> r & 1) {
			n->rows |= 1ull << r;
			tile *= tile_or_one(p, r);
			if (p->chunk[r] ||
				!mul_ok(rows, usual_size(least_size(f, r), most_size(f, r)), &rows))
				return false;
		}
		inside |= r == n->r;
	}
	return inside && rows >= TILES_LEAST * tile;
}

bool panel_is(const Plan *p, const Facts *f, const UOp *u, int v, Panel *n)
{
	*n = (Panel){.load = u, .r = -1, .v = v, .between = 1};
	if (u->op != OP_LOAD || u->nsrc > 1 || u->src[0]->src[0]->op != OP_PARAM ||
		reads_written(f, u))
		return false;
	return range_size(f->range[v]) == tile_size(p, v) && fills_panels(p, f, n) &&
		rows_within(p, f, n) && mul_ok(n->step, steps_in(p, n, n->r), &n->size) &&
		n->between > 0 && mul_ok(n->size, n->between, &n->bytes) &&
		mul_ok(n->bytes, dtype_size(u->dtype), &n->bytes);
}

bool panel_find(const Plan *p, const Facts *f, int v, Panel *n)
{
	Panel one;
	*n = (Panel){0};
	for (size_t i = 0; i < f->all.n; i++)
		if (panel_is(p, f, f->all.at[i], v, &one) && (!n->load || one.size > n->size))
			*n = one;
	return n->load;
}
