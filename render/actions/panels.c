/* Panels of a contraction's constants: a tile of them, read by tile after tile of rows, is
 * contiguous in memory, so that the next one can be prefetched while this one is in use. */
#include "target/target.h"
#include "actions/actions.h"
#include "index/ix.h"

enum { TILES_LEAST = 2 };

ARENA int64_t lower_constants;

static int tile_or_one(const Plan *p, int r) { return p->tile[r].unroll ? tile_size(p, r) : 1; }

/* Is the place element v of iteration after iteration of a reduction, without a gap, and nothing
 * else? Finds the range r of which the next iteration's panel lies behind this one. */
static bool fills_panels(const Facts *f, Panel *n)
{
	Sum s;
	int64_t all = 1;
	uint64_t moves = free_of(n->load->src[0]), panels = moves & f->out & ~(1ull << n->v);
	sum_of(&s, n->load->src[0]->src[1]);
	for (int k = 0; k < f->nrange; k++)
		if ((moves & ~panels) >> k & 1 && !mul_ok(all, range_size(f->range[k]), &all))
			return false;
	for (int k = 0; k < f->nrange; k++)
		if (panels >> k & 1 && sum_coef(&s, f->range[k]) == all)
			n->r = k;
	n->others = n->r < 0 ? 0 : panels & ~(1ull << n->r);
	n->step = all;
	return s.n == __builtin_popcountll(moves) && moves & ~f->out && !s.k &&
		sum_coef(&s, f->range[n->v]) == 1 && all && n->r >= 0;
}

/* Are there enough rows inside the loop over panels? Rows outside of it read all panels again. The
 * panels of the loops within it are used before the next. */
static bool rows_within(const Plan *p, const Facts *f, Panel *n)
{
	bool inside = false;
	int64_t rows = 1, tile = 1;
	for (int i = 0; i < p->norder; i++) {
		int r = p->order[i];
		if (inside && n->others >> r & 1) {
			if (!mul_ok(n->between, range_size(f->range[r]) / tile_or_one(p, r),
				    &n->between))
				return false;
		} else if (inside && r != n->v) {
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
	int64_t bytes;
	*n = (Panel){.load = u, .r = -1, .v = v, .between = 1};
	if (u->op != OP_LOAD || u->nsrc > 1 || u->src[0]->src[0]->op != OP_PARAM ||
		reads_written(f, u))
		return false;
	return range_size(f->range[v]) == tile_size(p, v) && fills_panels(f, n) &&
		rows_within(p, f, n) && mul_ok(n->step, tile_or_one(p, n->r), &n->size) &&
		n->between > 0 && mul_ok(n->size, n->between, &bytes) &&
		mul_ok(bytes, dtype_size(u->dtype), &bytes) && bytes <= target->machine.cache[1];
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
