/* The passes' facts about a step, computed once for all the calls of a kernel. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

static ARENA Map known; /* KERNEL or CUSTOM → StepFacts */

/* The slots whose entry has this bit, in order. */
static uint32_t *slots_in(const uint8_t *use, uint32_t n, uint8_t bit, uint32_t *count)
{
	*count = 0;
	for (uint32_t i = 0; i < n; i++)
		*count += (use[i] & bit) != 0;
	uint32_t *slot = arena_alloc(*count * sizeof *slot), k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (use[i] & bit)
			slot[k++] = i;
	return slot;
}

static bool is_barrier(UOp *kernel)
{
	if (kernel->nsrc != 1 || !store_is_plain(kernel->src[0]))
		return true;
	/* a bare LOAD is a copy that was asked for, unless its place is looked up in memory */
	UOp *value = kernel->src[0]->src[1];
	return value->op == OP_RSORT || (value->op == OP_LOAD && !has_op(value->src[0], OP_LOAD));
}

enum { READ = 1, WRITTEN = 2, MOVES = 4 };

/* Outside of reductions, a load's place determines how often it runs. */
static void find_loop_iterations(StepFacts *f, const Nodes *all)
{
	Loops l = loops_among(all, f->kernel);
	f->loops = l.n;
	for (int i = 0; i < l.n; i++)
		f->loops = hash_mix(f->loops, l.at[i]->id);
	if (f->folds)
		return;
	LoopTurns iterations = iterations_of(&l);
	f->iterations = arena_alloc(f->slots * sizeof *f->iterations);
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op == OP_LOAD)
			f->iterations[param_slot(u->src[0]->src[0])] += iterations_for(
				&iterations, range_mask(u));
	}
}

static void find_facts(StepFacts *f, UOp *kernel, uint32_t slots)
{
	Nodes all = walk_brief(kernel);
	uint8_t few[64] = {0}, *use = slots <= 64 ? few : xcalloc(slots, 1);
	f->nodes = all.n;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		f->folds |= u->op == OP_RREDUCE;
		f->scan |= u->op == OP_RSCAN;
		f->sort |= u->op == OP_RSORT;
		f->sized |= u->op == OP_VAR;
		if (u->op == OP_LOAD)
			use[param_slot(u->src[0]->src[0])] |= range_mask(u) ? READ | MOVES : READ;
		else if (u->op == OP_STORE)
			use[param_slot(u->src[0]->src[0])] |= WRITTEN;
		else if (u->op == OP_RSORT)
			use[param_slot(u->src[2]->src[0])] |= WRITTEN;
	}
	f->read = slots_in(use, slots, READ, &f->nread);
	f->moved = slots_in(use, slots, MOVES, &f->nmoved);
	f->written = slots_in(use, slots, WRITTEN, &f->nwritten);
	bool rewrites = false;
	for (uint32_t i = 0; i < slots; i++)
		rewrites |= use[i] & READ && use[i] & WRITTEN;
	if (use != few)
		free(use);
	f->kernel = kernel;
	f->slots = slots;
	find_loop_iterations(f, &all);
	f->barrier = is_barrier(kernel) || rewrites;
}

/* Facts of a copy or a CUSTOM: slot 0 is written, the others are read. */
static StepFacts *closed_facts(uint32_t slots)
{
	StepFacts *f = arena_alloc(sizeof *f);
	uint32_t *slot = arena_alloc(slots * sizeof *slot);
	for (uint32_t i = 0; i < slots; i++)
		slot[i] = i;
	*f = (StepFacts){.barrier = true, .slots = slots, .written = slot, .nwritten = 1,
		.read = slot + 1, .nread = slots - 1};
	return f;
}

StepFacts *step_facts(UOp *step)
{
	UOp *what = step->op == OP_CALL ? step->src[0] : NULL;
	uint64_t key = what ? PKEY(what) : 1;
	StepFacts *f = map_get(&known, key);
	if (f)
		return f;
	if (!what || what->op != OP_KERNEL) {
		f = closed_facts(what ? step->nsrc - 1 : 2);
	} else {
		f = arena_alloc(sizeof *f);
		*f = (StepFacts){.work = -1, .ops = -1};
		find_facts(f, what, step->nsrc - 1);
	}
	map_put(&known, key, f);
	return f;
}

UOp *step_buffer(const UOp *step, uint32_t slot) { return step->src[slot + (step->op == OP_CALL)]; }

double step_work(StepFacts *f)
{
	if (f->work < 0)
		f->work = kernel_work(f->kernel);
	return f->work;
}

double step_ops(StepFacts *f, int *loads)
{
	if (f->ops < 0)
		f->ops = value_cost(f->kernel->src[0]->src[1], &f->loads);
	*loads = f->loads;
	return f->ops;
}

bool step_contracts(StepFacts *f, int64_t *row)
{
	if (!f->contracts)
		f->contracts = f->folds && has_contraction(f->kernel, &f->row) ? 'y' : 'n';
	*row = f->row;
	return f->contracts == 'y';
}

double step_iterations(StepFacts *f, uint32_t slot)
{
	if (!f->iterations) {
		f->iterations = arena_alloc(f->slots * sizeof *f->iterations);
		load_iterations(f->kernel, f->iterations);
	}
	return f->iterations[slot];
}
