/* A rough estimate of how long one item of a kernel's grid takes, by which run decides whether
 * threads pay.
 *
 * Arithmetic: each node as often as its ranges require, one vector at a time, four in a nanosecond.
 * Memory: each buffer once, at the rate of one core. The greater of both, divided among the items.
 * A factor of two does not matter. Symbolic sizes count as 64 each, or as the nearest value within
 * their bounds; those of the grid cancel out, the others stay in the result as sizes. */
#include "target/target.h"
#include "shape/shape.h"
#include "lower/lower.h"

/* A kernel, and the number of iterations of each of its ranges. */
typedef struct { const Facts *f; double iterations[MAX_RANGES]; } Cost;

/* A value for each symbolic size of a kernel. */
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
		n *= set >> r & 1 ? c->iterations[r] : 1;
	return n;
}

/* of a load or a store the instruction alone: memory() has the rest */
static int weight(const UOp *u)
{
	return u->op == OP_LOAD || u->op == OP_STORE ? COST_ADD : op_cost(u->op);
}

/* The work of a kernel so far, its greatest part, and the ranges of that part. */
typedef struct { double sum, part; uint64_t over; } Work;

static void work_add(Work *w, const Cost *c, double each, uint64_t set)
{
	double n = each * times(c, set);
	w->sum += n;
	if (n <= w->part)
		return;
	w->part = n;
	w->over = set;
}

static Work arithmetic(const Cost *c)
{
	const Facts *f = c->f;
	Work w = {0};
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->dtype == DT_I64 && u->op != OP_LOAD && u->op != OP_RREDUCE)
			continue;       /* places, mostly */
		uint64_t set = free_of(u->op == OP_RREDUCE ? u->src[0] : u);
		work_add(&w, c, weight(u), u->op == OP_STORE ? f->out : set);
	}
	return w;
}

static Work memory(const Cost *c)
{
	const Facts *f = c->f;
	Work w = {0};
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op == OP_INDEX)
			work_add(&w, c, dtype_size(u->dtype), free_of(u));
	}
	return w;
}

/* operations of vectors in a nanosecond, half of what could be */
static double ops_a_ns(void) { return target->machine.ops * target->machine.clock / 2000.0; }

/* lanes that the plan's vectors give the arithmetic */
static int lanes_of(const Plan *p)
{
	int lanes = 1;
	for (int i = 0; i < p->nlanes; i++)
		lanes = p->tile[p->lanes[i]].vector > lanes ? p->tile[p->lanes[i]].vector : lanes;
	return lanes > 1 ? lanes : p->partial > 1 ? p->partial < 16 ? p->partial : 16 : 1;
}

/* The ranges that an item runs over: all except the grid's. */
static uint64_t within_item(const Lowering *l)
{
	const Plan *p = &l->plan;
	uint64_t set = ~0ull;
	int chunks = 0;
	for (int r = 0; r < l->facts.nrange; r++)
		chunks += p->chunk[r] > 0;
	for (int i = 0; i < p->grid - chunks; i++)
		set &= ~(1ull << p->order[i]);
	return set;
}

/* ns nanoseconds, scaled by these ranges' symbolic sizes relative to the values that c assumes. */
static const Val *by_sizes(const Cost *c, int64_t ns, uint64_t over)
{
	enum { MOST = 1 << 20, FACTORS = 2 };
	UOp *work = NULL;
	int n = 0;
	for (int r = 0; r < c->f->nrange && n < FACTORS; r++) {
		UOp *size = c->f->range[r]->src[0];
		int64_t known;
		if (!(over >> r & 1) || ix_is_const(size, &known) || c->iterations[r] < 1)
			continue;
		work = work ? work : ix_const(ns < MOST ? ns : MOST);
		work = ix_div(ix_mul(work, size), ix_const((int64_t)c->iterations[r]));
		n++;
	}
	return work ? size_to_val(work) : val_int(ns);
}

const Val *item_work(const Lowering *l)
{
	Cost c = {.f = &l->facts};
	VarEnv env = usual_sizes(c.f);
	const char *err;
	for (int r = 0; r < c.f->nrange; r++)
		c.iterations[r] = size_taken(c.f->range[r]->src[0], &env);
	double items = size_taken(size_from_val(l->global->a[0], &err), &env);
	Work compute = arithmetic(&c), move = memory(&c);
	double ns = compute.sum / lanes_of(&l->plan) / ops_a_ns(),
	       slow = move.sum / (target->machine.read[3] / 2.0) / 4;
	uint64_t over = (ns > slow ? compute.over : move.over) & within_item(l);
	ns = (ns > slow ? ns : slow) / (items > 1 ? items : 1);
	return by_sizes(&c, ns < 1 ? 1 : ns > 1e12 ? (int64_t)1e12 : (int64_t)ns, over);
}
