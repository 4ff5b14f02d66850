/* A scan along a range that is split: what the parts before fold, combined with a scan of the part.
 *
 *     y[r0] = running Σ r0 of x[r0]
 *     split 0 8   →   y[r0*8 + r1] = (Σ k<N/8, j<8 of x[k*8 + j] where k < r0)
 *                                    + running Σ r1 of x[r0*8 + r1]
 *     rfactor 1   →   y[r0*8 + r1] = (Σ k<N/8 of (Σ j<8 of x[k*8 + j]) where k < r0)
 *                                    + running Σ r1 of x[r0*8 + r1]
 *
 * where k and j get the numbers behind all others. The last part stands before none, so k runs
 * over those before it, which are whole wherever the rest is. */
#include "actions/scans.h"

void scan_parts_find(ScanParts *s, const Facts *f, UOp *range, int64_t n)
{
	int above = last_axis(f) > range_axis(range) ? last_axis(f) : range_axis(range) + 1;
	UOp *whole = ix_div(ix_sub(range->src[0], ix_const(1)), ix_const(n));
	*s = (ScanParts){.range = range, .part = ix_range(above + 1, "reduce", whole),
		.within = ix_range(above + 2, "reduce", ix_const(n)), .n = n};
}

const char *scan_parts_misfit(const Facts *f)
{
	if (f->in_place)
		return "a scan runs along it, and its kernel reads what it writes";
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		Nodes inside = u->op == OP_RSCAN ? walk(u->src[0]) : (Nodes){0};
		for (size_t k = 0; k < inside.n; k++)
			if (inside.at[k]->op == OP_RSCAN)
				return "a scan of what a scan gives runs along it";
	}
	return NULL;
}

UOp *scan_in_parts(const ScanParts *s, UOp *u, UOp *outer, UOp *inner)
{
	UOp *at = ix_add(ix_mul(s->part, ix_const(s->n)), s->within);
	UOp *x = substitute(u->src[0], 1, (UOp **)&s->range, &at);
	UOp *identity = const_identity(op_find(u->arg->s), u->dtype);
	UOp *gate = NODE(OP_CMPLT, DT_BOOL, VNIL, s->part, outer);
	x = NODE(OP_WHERE, u->dtype, VNIL, gate, x, identity);
	UOp *before = NODE(OP_RREDUCE, u->dtype, u->arg, x, s->part, s->within);
	UOp *scan = NODE(OP_RSCAN, u->dtype, u->arg, u->src[0], inner);
	return NODE(op_find(u->arg->s), u->dtype, VNIL, before, scan);
}
