/* Long scans beside few others, in parts that threads share, or the items of a GPU:
 *
 *     y[r] = running Σ r of x[r]   →   t[p] = Σ j<n x[p*n + j]
 *                                      y[p*n + i] = (Σ k<p t[k]) + running Σ i of x[p*n + i]
 *
 * The kernel is what `split r n; rfactor …` makes of it, and the totals are a call of their own.
 * The number of parts is the target's, whatever the number of threads, and they are combined in a
 * fixed order, so results do not depend on it. */
#include "actions/actions.h"
#include "target/target.h"
#include "document/document.h"
#include "layout/layout.h"

/* parts of a CPU's scan; items for each multiprocessor of a GPU */
enum { MOST_PARTS = 64, ITEMS_EACH = 64 };

typedef struct {
	Facts f;
	UOp *call;
	int axis;               /* along which it scans, of n iterations a part */
	int64_t n;
} Long;
typedef struct { VEC(UOp *) out; int count; } Calls;

/* ---- finding one */

/* Does an operation of this scan wait for the one before? Which of two is greater is foreseen, and
 * what each adds may take longer by itself. */
static bool waits(const UOp *scan)
{
	Nodes of = walk(scan->src[0]);
	for (size_t i = 0; i < of.n; i++)
		if (of.at[i]->op == OP_RREDUCE)
			return false;
	return dtype_float(scan->dtype) &&
		(val_is_str(scan->arg, "ADD") || val_is_str(scan->arg, "MUL"));
}

/* Cycles from one operation of the scans to the next. */
static int64_t latency_of(const Facts *f)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.at[i]->op == OP_RSCAN && waits(f->all.at[i]))
			return target->machine.latency;
	return 1;
}

/* Rows that need no parts. A core of a CPU has some in registers, so that no operation waits for
 * the one before; since parts are read twice, half of the cores are enough. */
static int64_t enough(const Facts *f)
{
	int64_t cores = target->machine.cores;
	return target->gpu ? cores * ITEMS_EACH : cores * latency_of(f) / 2;
}

/* How many parts. A CPU's have as many elements at least as are read of memory while other threads
 * begin. A GPU's are as long as the totals before them at least; and an item that scans what takes
 * less than a call more is left alone. */
static int64_t parts_of(const Facts *f, int64_t rows)
{
	const Machine *m = &target->machine;
	int64_t length = least_of(f, f->scanned), parts = 1;
	int64_t least = (int64_t)m->start * m->read[3] / (int64_t)sizeof(float);
	int64_t most = target->gpu ? enough(f) / rows : MOST_PARTS;
	if (target->gpu && length * m->latency < m->start)
		return 1;
	while (parts * 2 <= most && parts * 2 * (target->gpu ? parts * 2 : least) <= length)
		parts *= 2;
	return parts;
}

/* Has the call a long scan beside few others, in a kernel of which no list is given? */
static bool find_long(Long *l, UOp *call)
{
	*l = (Long){.call = call};
	if (!call_has_kernel(call) || call_prepares(call) || val_get(call->src[0]->arg, "actions"))
		return false;
	facts_find(&l->f, call->src[0], call_aliases(call));
	const Facts *f = &l->f;
	int64_t rows = count_of(f, f->out & ~f->scanned);
	if (!f->scanned || f->scanned & (f->scanned - 1) || f->serial != f->scanned ||
		f->sort || rows < 1 || rows >= enough(f) || scan_parts_misfit(f))
		return false;
	int64_t parts = parts_of(f, rows);
	l->axis = axis_of(f, __builtin_ctzll(f->scanned));
	l->n = (count_of(f, f->scanned) + parts - 1) / parts;
	return parts > 1 && l->n <= least_of(f, f->scanned) && last_axis(f) + 3 < MAX_RANGES;
}

/* ---- its parts */

/* Its kernel, split; *within gets the axis of the totals' range. */
static UOp *kernel_in_parts(const Long *l, int *within)
{
	Rewriting w;
	UOp *kernel = l->f.kernel;
	int part = last_axis(&l->f) + 1;        /* the names of the new ranges */
	const Val *list = VARR(VARR(val_str("split"), val_int(l->axis), val_int(l->n)),
		VARR(val_str("rfactor"), val_int(part)));
	const KernelUse use = {.call = l->call, .alias = l->f.alias,
		.kernel = node_like(kernel, kernel->nsrc, kernel->src,
			val_set(kernel->arg, "actions", list))};
	UOp *split = kernel_rewritten(&use, &w);
	*within = rewriting_axis(&w, val_int(part + 1));
	return node_like(kernel, split->nsrc, split->src, kernel->arg);
}

/* A total over the ranges on which it depends, of which that of the part is a loop. */
static UOp *total_call(Calls *c, UOp *call, UOp *total, const Facts *f, UOp **load)
{
	UOp *range[MAX_RANGES], *loop[MAX_RANGES];
	int n = ranges_of(f, free_of(total), range);
	for (int i = 0; i < n; i++)
		loop[i] = ix_range(range_axis(range[i]), "loop", range[i]->src[0]);
	UOp *buffer = buffer_over(arena_printf("totals%d", c->count++), "temp", total->dtype, n,
		loop);
	vec_push(&c->out, parts_call(call, buffer, substitute(total, n, range, loop), loop));
	*load = load_over(call, buffer, range);
	return buffer;
}

static UOp *in_parts(Calls *c, const Long *l)
{
	int within;
	Facts f;
	UOp *call = call_with_kernel(l->call, kernel_in_parts(l, &within));
	explain(l->call->src[0], "a scan in parts of %lld", (long long)l->n);
	facts_find(&f, call->src[0], l->f.alias);
	VEC(UOp *) total = {0};
	for (size_t i = 0; i < f.all.n; i++) {
		UOp *u = f.all.at[i];
		if (u->op == OP_RREDUCE && range_axis(u->src[1]) == within)
			vec_push(&total, u);
	}
	for (size_t i = 0; i < total.n; i++) {
		UOp *load, *buffer = total_call(c, call, total.at[i], &f, &load);
		UOp *kernel = substitute(call->src[0], 1, total.at + i, &load);
		call = call_with_buffer(call, kernel, buffer);
	}
	vec_free(&total);
	return call_compact(call);
}

Graph *layout_scans(Graph *g)
{
	Calls c = {0};
	Long l;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		if (find_long(&l, call))
			call = in_parts(&c, &l);
		vec_push(&c.out, call);
	}
	Graph *r = c.count ? graph_with_calls(g, c.out.n, c.out.at) : g;
	vec_free(&c.out);
	return r;
}
