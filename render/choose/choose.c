/* What to do to each kernel, chosen by its facts and written into its arg (actions/actions.c). A
 * kernel that brings a list of its own (a replay, a search) keeps it. This file orders the loops;
 * tiles.c chooses a CPU's tiles, gpu.c the lists and grids of a GPU. */
#include "document/document.h"
#include "target/target.h"
#include "tuned/tuned.h"
#include "choose/choose.h"
#include <stdlib.h>

/* ---- the pass */

static void tell(const Plan *p, const Facts *f)
{
	static const char *const mode[] = {
		"loops", "one work item an element", "one work group a row"};
	Buf b = {0};
	buf_printf(&b, "%s", mode[p->mode]);
	for (int i = 0; i < p->nlanes; i++) {
		int r = p->lanes[i];
		buf_printf(&b, ", r%d in tiles of %d", axis_of(f, r), tile_size(p, r));
		if (p->tile[r].vector > 1)
			buf_printf(&b, " (%d vectors of %d)", p->tile[r].unroll, p->tile[r].vector);
		if (p->chunk[r])
			buf_printf(&b, ", %d tiles a chunk", p->chunk[r]);
	}
	if (p->grid)
		buf_printf(&b, ", %d loop%s shared by threads", p->grid, p->grid > 1 ? "s" : "");
	for (int i = 0; i < p->nfolds; i++)
		if (p->piece[p->folds[i]])
			buf_printf(&b, ", %d of r%d at a time for all rows",
				p->piece[p->folds[i]], axis_of(f, p->folds[i]));
	if (p->partial)
		buf_printf(&b, ", sums in %d parts", p->partial);
	if (p->jam > 1)
		buf_printf(&b, ", %d turns of a reduction at a time%s", p->jam,
			p->apart ? ", far apart" : "");
	if (p->nontemporal)
		buf_printf(&b, ", stores past the cache");
	if (p->prefetch_stores)
		buf_printf(&b, ", what is stored to fetched before");
	if (p->prefetch_loads)
		buf_printf(&b, ", the next %sr%d fetched meanwhile",
			prefetches_tiles(p) ? "tiles of " :
				p->prefetch_loads & block_ranges(p) ? "block of " : "",
			axis_of(f, __builtin_ctzll(p->prefetch_loads)));
	if (p->mode != PLAN_LOOPS)
		buf_printf(&b, ", %d items a group", p->items);
	for (int i = 0; i < p->nstage; i++) {
		if (p->stage[i].along)
			buf_printf(&b, ", a load along r%d turned in registers",
				axis_of(f, __builtin_ctzll(p->stage[i].along)));
		else if (!p->stage[i].over)
			buf_printf(&b, ", %s of each lane in a register",
				op_name(p->stage[i].value->op));
		else
			buf_printf(&b, ", %s in a row buffer of %lld",
				op_name(p->stage[i].value->op),
				(long long)count_of(f, p->stage[i].over));
	}
	explain(f->kernel, "%s", buf_str(&b));
	buf_free(&b);
}

/* Row buffers are looked for in plain loops: a tile changes how many rows a buffer holds, not which
 * values need one. */
static UOp *kernel_actions(const KernelUse *use)
{
	Lowering l;
	Folds k;
	UOp *kernel = use->kernel;
	if (val_get(kernel->arg, "actions"))
		return kernel;
	const Val *given = NULL;
	for (size_t i = 0; i < lower_opt.actions.n && !given; i++)
		given = plan_given(lower_opt.actions.at[i], kernel);
	if (!given && lower_opt.tuned && (given = tuned_find(use, NULL)))
		explain(kernel, "because of what tune has found");
	if (given)
		return node_like(
			kernel, kernel->nsrc, kernel->src, val_set(kernel->arg, "actions", given));
	lowering_begin(&l, kernel, use->alias);
	reductions_find(&l.facts, &k);
	int slices[MAX_SLICE_AXES + 1], n = slice_ranges(&l.facts, slices);
	int turn = slice_turn(&l.facts);
	if (turn >= 0 && l.facts.out >> turn & 1)
		slices[n++] = turn;
	choose_order(&l.plan, &l.facts, &k);
	l.plan.norder = order_without(l.plan.order, l.plan.norder, slices, n);
	order_in_front(&l.plan, slices, n);
	const char *rule = NULL;
	const Val *list = target->gpu ? choose_gpu(use, &l.facts, &k, &rule) : NULL;
	if (list) {
		explain(kernel, "because of %s", rule);
		vec_free(&k.reduce);
		vec_free(&k.scan);
		lowering_end(&l);
		return node_like(
			kernel, kernel->nsrc, kernel->src, val_set(kernel->arg, "actions", list));
	}
	if (target->gpu)
		rule = choose_grid(&l.plan, &l.facts, &k);
	else if (k.reduce.n)
		l.plan.partial = target->lanes, l.plan.parted = l.facts.reduced;
	Plan plan = l.plan;
	if (k.reduce.n || k.scan.n) {
		lowering_fill(&l);
		stage_choose(&l, &plan);
	}
	if (!target->gpu) {
		rule = choose_tiles(&plan, use, &l.facts, &k);
		stage_lanes(use, &plan);
	}
	explain(l.facts.kernel, "because of %s", rule);
	tell(&plan, &l.facts);
	kernel = node_like(kernel, kernel->nsrc, kernel->src, plan_write(&plan, &l.facts));
	vec_free(&k.reduce);
	vec_free(&k.scan);
	lowering_end(&l);
	if (!target->gpu)
		threads_note(kernel, use);
	return kernel;
}

/* Bytes of all constants that some call reads in every call of the program. */
static int64_t constant_bytes(const Graph *g)
{
	Map seen = {0};
	int64_t sum = 0, n;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		for (uint32_t k = 1; call->op == OP_CALL && !call_prepares(call) && k < call->nsrc;
			k++) {
			const UOp *b = call->src[k];
			if ((buffer_is(b, "const") || buffer_is(b, "prepared")) &&
				!map_get(&seen, PKEY(b)) && shape_bytes(b->shape, b->dtype, &n) &&
				!add_ok(sum, n, &sum))
				sum = INT64_MAX;
			map_put(&seen, PKEY(b), (void *)b);
		}
	}
	map_free(&seen);
	return sum;
}

/* A list given by hand is for some kernel. */
static void check_given(const Graph *g, const char *opt)
{
	Buf all = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		const UOp *call = g->sink->src[i];
		if (!call_has_kernel(call))
			continue;
		if (plan_given(opt, call->src[0]))
			return;
		if (all.n < 400)
			buf_printf(&all, "%s%s", all.n ? ", " : "", kernel_name(call->src[0]));
	}
	if (all.n)
		die(USAGE, "--opt: no kernel has a name as in '%.60s'; there are %s",
			opt, buf_str(&all));
}

Graph *lower_actions(Graph *g)
{
	lower_constants = constant_bytes(g);
	for (size_t i = 0; i < lower_opt.actions.n; i++)
		if (!schedule_given(lower_opt.actions.at[i]))
			check_given(g, lower_opt.actions.at[i]);
	return reasons_leave(threads_keep(kernels_map(g, kernel_actions)));
}
