/* What kernels keep on the stack: arrays of temporaries within a slice, tiles and accumulators. */
#include "module/module.h"

enum { APART = 64 };            /* bytes: the greatest alignment of an array */

static int64_t kernel_arrays(const UOp *kernel)
{
	int64_t all = 0, low, most;
	const char *err;

	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op != OP_DEFINE_LOCAL && u->op != OP_DEFINE_REG)
			continue;
		UOp *n = size_from_val(u->arg->a[1], &err);
		CHECK(n);
		ix_bounds(n, &low, &most);
		if (most > INT32_MAX || all > INT32_MAX)
			return -1;
		all += (most * dtype_size(u->dtype) + APART - 1) / APART * APART;
	}
	return all;
}

static void look(const UOp *list, int64_t *most)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		const UOp *program = u->op == OP_CALL ? u->src[0] : NULL;
		bool known = program && program->nsrc && program->src[0]->op == OP_KERNEL;
		int64_t n = known ? kernel_arrays(program->src[0]) : program ? -1 : 0;
		if (n < 0 || *most < 0)
			*most = -1;
		else if (n > *most)
			*most = n;
		for (uint32_t k = 0; k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				look(u->src[k], most);
	}
}

int64_t scratch_bytes(const Function *f)
{
	int64_t most = 0;

	look(f->g->sink, &most);
	return most;
}
