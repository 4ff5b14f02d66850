/* How long one item of a kernel's grid takes, roughly: what run decides by whether threads pay.
 *
 * Arithmetic: each node as often as its ranges ask for, so many lanes at a time, four in a
 * nanosecond.  Memory: each buffer once, at what one core reads. The greater of both, shared by the
 * items. A factor of two is of no matter. */
#include "render.h"

enum { PER_NS = 4, BYTES_PER_NS = 16 };

static double times(const Facts *f, uint64_t set)
{
	return (double)count_of(f, set);
}

static int weight(const UOp *u)
{
	switch (u->op) {
	case OP_EXP2: case OP_LOG2: case OP_SIN: case OP_POW: case OP_THREEFRY: return 16;
	case OP_SQRT: case OP_FDIV: case OP_IDIV: case OP_MOD: return 4;
	case OP_FLOORDIV: case OP_FLOORMOD: return 4;
	case OP_LOAD: case OP_STORE: return 1;
	case OP_RREDUCE: return 1;
	default: return op_elementwise(u->op);
	}
}

static double arithmetic(const Facts *f)
{
	double sum = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->dtype == DT_I64 && u->op != OP_LOAD && u->op != OP_RREDUCE)
			continue;       /* places, mostly */
		uint64_t set = free_of(u->op == OP_RREDUCE ? u->src[0] : u);
		sum += weight(u) * times(f, u->op == OP_STORE ? f->out : set);
	}
	return sum;
}

static double memory(const Facts *f)
{
	double bytes = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op == OP_INDEX)
			bytes += times(f, free_of(u)) * dtype_size(u->dtype);
	}
	return bytes;
}

/* lanes that the plan's vectors give the arithmetic */
static int lanes_of(const Plan *p)
{
	int lanes = 1;
	for (int i = 0; i < p->nlanes; i++)
		lanes = p->tile[p->lanes[i]].vector > lanes ? p->tile[p->lanes[i]].vector : lanes;
	return lanes > 1 ? lanes : p->split > 1 ? p->split < 16 ? p->split : 16 : 1;
}

int64_t item_work(const Lowering *l, double items)
{
	double ns = arithmetic(&l->facts) / lanes_of(&l->plan) / PER_NS;
	double move = memory(&l->facts) / BYTES_PER_NS / 4;
	ns = (ns > move ? ns : move) / (items > 1 ? items : 1);
	return ns < 1 ? 1 : ns > 1e12 ? (int64_t)1e12 : (int64_t)ns;
}
