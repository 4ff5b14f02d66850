/* check_contraction < DOCUMENT: what each fold of its kernels, of level schedule, is to
 * common/index/contraction.c, a line each: the roles of its ranges, "lopsided" or not, or "none".
 */
#include "process/process.h"
#include "shape/shape.h"
#include "io/io.h"

static void print_fold(UOp *fold, const Nodes *all)
{
	static const char *const name[] = {"", "batch", "row", "column", "reduction", "window"};
	Contraction c;
	const char *comma = "";
	if (!contraction_of(&c, fold)) {
		printf("none\n");
		return;
	}
	for (int axis = 0; axis < 64; axis++)
		for (size_t i = 0; i < all->n; i++) {
			UOp *r = all->at[i];
			if (r->op != OP_RANGE || range_axis(r) != axis ||
				!(range_mask(fold->src[0]) >> axis & 1))
				continue;
			Role role = contraction_role(&c, r);
			printf("%s%s r%d", comma, role ? name[role] : "no role", axis);
			comma = ", ";
		}
	printf("%s\n", contraction_is_lopsided(&c) ? "; lopsided" : "");
}

int main(void)
{
	stage_begin("check_contraction");
	Graph *g = stream_next(stream_open(NULL), 0);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		if (!call_has_kernel(g->sink->src[i]))
			continue;
		Nodes all = walk(g->sink->src[i]->src[0]);
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k]->op == OP_RREDUCE)
				print_fold(all.at[k], &all);
	}
	return 0;
}
