/* Candidates for a search: what one change makes of the lists that it has, in the order of their
 * estimates. Reading some thousand lists takes memory that only the end of a process gives back, so
 * a worker does it. */
#include "document/document.h"
#include "io/io.h"
#include "process/process.h"
#include "target/target.h"
#include "tune/parts.h"
#include <stdlib.h>

/* LONG: times as many copies of a body as there are registers, from which on a compiler takes long
 * and gains nothing */
enum { MOST = 3000, TOLD = 256, LONG = 8 };
/* What is to take so many times as long as the reference is not worth its time: estimates are not
 * wrong by that much. */
static const double SLOW = 10;
/* rank: how many of its kind come before it */
typedef struct { const Val *list, *kind; double estimate; size_t rank; } Proposal;
typedef VEC(Proposal) Proposals;

static int by_estimate(const void *a, const void *b)
{
	const Proposal *x = a, *y = b;
	if (x->estimate != y->estimate)
		return x->estimate < y->estimate ? -1 : 1;
	return x->list->seq < y->list->seq ? -1 : x->list->seq > y->list->seq;
}

/* Is the body of the innermost loop written so often that it is no loop any more? */
static bool is_long(const Plan *p, const Facts *f)
{
	double copies = (p->jam > 1 ? p->jam : 1) * (double)count_of(f, p->unrolled);
	for (int i = 0; i < p->nlanes; i++)
		copies *= p->tile[p->lanes[i]].unroll;
	if (p->partial > 1 && target->vector > 4)
		copies *= p->partial * 4 > target->vector ? p->partial * 4.0 / target->vector : 1;
	/* sums in a row buffer are in parts each */
	for (int i = 0; i < p->nstage; i++)
		copies *= p->stage[i].value->op == OP_RREDUCE && p->partial > 1 ? p->partial : 1;
	return target->registers && copies > LONG * target->registers;
}

/* The lists of one parent, whose measured ratio to the reference corrects the estimates. */
static void propose(UOp *kernel, double ratio, Map *seen, Proposals *to)
{
	const Val *list = val_get(kernel->arg, "actions");
	UOp *plain = node_like(kernel, kernel->nsrc, kernel->src,
		val_set(kernel->arg, "actions", NULL));
	Fitted parent, child;
	MoveList moves = {0};
	if (!list_fits(plain, list, &parent, NULL))
		return;
	double base = plan_estimate(&parent.p, &parent.f);
	moves_of(list, &parent, &moves);
	for (size_t i = 0; i < moves.n && i < MOST; i++) {
		const Val *l = moves.at[i].list;
		if (map_get(seen, PKEY(l)))
			continue;
		map_put(seen, PKEY(l), (void *)l);
		if (!list_fits(plain, l, &child, NULL) || is_long(&child.p, &child.f))
			continue;
		double promise = ratio * plan_estimate(&child.p, &child.f) / base;
		if (promise < SLOW)
			vec_push(to, ((Proposal){l, moves.at[i].kind, promise, 0}));
	}
	vec_free(&moves);
}

static const Val *list_val(const Val *list)
{
	Buf b = {0};
	actions_text(&b, list);
	const Val *v = val_str(arena_strdup(buf_str(&b)));
	buf_free(&b);
	return v;
}

typedef VEC(const Val *) Told;

static void tell(Told *v, const Proposal *p)
{
	vec_push(v, VARR(list_val(p->list), val_float(p->estimate)));
}

static int by_rank(const void *a, const void *b)
{
	const Proposal *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return by_estimate(a, b);
}

/* Of one kind, those that promise exactly as much are mostly the same code: they count as last. */
static void rank(Proposals *all)
{
	Map kinds = {0};
	for (size_t i = 0; i < all->n; i++) {
		Proposal *p = &all->at[i], *before = map_get(&kinds, PKEY(p->kind));
		p->rank = !before ? 0 : before->rank + 1;
		if (before && before->estimate == p->estimate)
			p->rank = TOLD + i;
		else
			map_put(&kinds, PKEY(p->kind), p);
	}
	map_free(&kinds);
}

/* The first are the best of each kind of change, in the order of their estimates, then the second:
 * an estimate knows more of how far to go than of which way. The rest come from everywhere. */
static const Val *told(Proposals *all)
{
	Told v = {0};
	qsort(all->at, all->n, sizeof *all->at, by_estimate);
	rank(all);
	qsort(all->at, all->n, sizeof *all->at, by_rank);
	for (size_t i = 0, step = 1 + 2 * all->n / TOLD; i < all->n;
		i += i < TOLD / 2 ? 1 : step)
		tell(&v, &all->at[i]);
	const Val *r = val_array(v.n, v.at);
	vec_free(&v);
	return r;
}

int propose_worker(const void *in, size_t n, Buf *out)
{
	Graph *g = wire_read(in, n, NULL, 0);
	verify(g);
	const Val *trial = val_get(g->meta, "trial"), *ratios = val_get(trial, "ratios");
	int64_t k = val_get(trial, "kernel")->i, each = val_get(trial, "calls")->i;
	k += val_get(trial, "before")->i;
	Proposals all = {0};
	Map seen = {0};
	target_choose(g);
	for (size_t i = 0; i < ratios->n; i++)
		propose(g->sink->src[i * each + k]->src[0], ratios->a[i]->f, &seen, &all);
	g->meta = val_set(g->meta, "lists", told(&all));
	wire_write(out, g);
	return DONE;
}
