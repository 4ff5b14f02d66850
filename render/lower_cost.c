/* How long one item of a kernel's grid takes, roughly: what run decides by whether threads pay.
 *
 * Arithmetic: each node as often as its ranges ask for, so many lanes at a time, four in a
 * nanosecond.  Memory: each buffer once, at what one core reads. The greater of both, shared by the
 * items. A factor of two is of no matter. Sizes that are open count as 64 each, or what is nearest within
 * their bounds: in the grid they cancel out. */
#include "render.h"

enum { PER_NS = 4, BYTES_PER_NS = 16 };

/* A kernel, and how many turns each of its ranges has. */
typedef struct { const Facts *f; double turns[MAX_RANGES]; } Cost;

/* The open sizes of a kernel, each with its value. */
static VarEnv usual_sizes(const Facts *f)
{
	VarEnv env = {0};
	for (size_t i = 0; i < f->all.n && env.n < (int)(sizeof env.name / sizeof *env.name); i++) {
		int64_t lo, hi;
		if (f->all.at[i]->op != OP_VAR)
			continue;
		ix_bounds(f->all.at[i], &lo, &hi);
		env.name[env.n] = f->all.at[i]->arg->a[0]->s;
		env.value[env.n++] = usual_size(lo, hi);
	}
	return env;
}

static double size_taken(UOp *size, const VarEnv *env)
{
	int64_t n;
	return ix_eval(size, env, &n) ? (double)n : USUAL_SIZE;
}

static double times(const Cost *c, uint64_t set)
{
	double n = 1;
	for (int r = 0; r < c->f->nrange; r++)
		n *= set >> r & 1 ? c->turns[r] : 1;
	return n;
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

static double arithmetic(const Cost *c)
{
	const Facts *f = c->f;
	double sum = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->dtype == DT_I64 && u->op != OP_LOAD && u->op != OP_RREDUCE)
			continue;       /* places, mostly */
		uint64_t set = free_of(u->op == OP_RREDUCE ? u->src[0] : u);
		sum += weight(u) * times(c, u->op == OP_STORE ? f->out : set);
	}
	return sum;
}

static double memory(const Cost *c)
{
	const Facts *f = c->f;
	double bytes = 0;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op == OP_INDEX)
			bytes += times(c, free_of(u)) * dtype_size(u->dtype);
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

int64_t item_work(const Lowering *l)
{
	Cost c = {.f = &l->facts};
	VarEnv env = usual_sizes(c.f);
	const char *err;
	for (int r = 0; r < c.f->nrange; r++)
		c.turns[r] = size_taken(c.f->range[r]->src[0], &env);
	double items = size_taken(size_from_val(l->global->a[0], &err), &env);
	double ns = arithmetic(&c) / lanes_of(&l->plan) / PER_NS;
	double move = memory(&c) / BYTES_PER_NS / 4;
	ns = (ns > move ? ns : move) / (items > 1 ? items : 1);
	return ns < 1 ? 1 : ns > 1e12 ? (int64_t)1e12 : (int64_t)ns;
}
