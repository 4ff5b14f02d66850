/* lower: each kernel of a schedule to loops for a target.
 *
 *     y[r0] = Σ x[r0,k]  →  RANGE r0; DEFINE_REG acc; RANGE k; STORE acc; ENDRANGE; STORE y
 *
 * passes[] gives their order. Vectors, tiles and threads of a CPU, items and groups of a GPU are
 * actions that choose/choose.c writes into a kernel's node and linearize.c carries out. */
#include "io/io.h"
#include "target/target.h"
#include "choose/choose.h"
#include "layout/layout.h"
#include "tuned/tuned.h"

/* A CUSTOM is not lowered, but it is compiled for the same processor, so its arg names that too. */
static UOp *custom_marched(UOp *custom, const UOp *call)
{
	const Val *arg = val_set(custom->arg, "march", val_str(target->march));
	return node_like(custom, custom->nsrc, custom->src, arg);
}

static Graph *choose_target(Graph *g)
{
	g = target_choose(g);
	return *target->march ? customs_map(g, custom_marched) : g;
}

static const Option options[] = {
	{'t', "target", "TARGET", "the target to lower for (default clang)", &lower_opt.target},
	{0, "march", "CPU", "the processor to lower for: native (default), x86-64-v3, armv8-a …",
		&lower_opt.processor},
	{0, "opt", "LIST",
		"'NAME*: tile 0 8 1; tile 1 3 16; grid 2': actions for kernels of that name",
		&lower_opt.actions, .many = true},
	{0, "tuned", "FILE", "actions that tune has found, from its database", &lower_opt.tuned},
	{0, "machine", "NAME", "those for another processor than this machine's",
		&lower_opt.machine},
	{0, "measure", NULL, "measure this machine's processor, print and keep its figures: no "
		"document", &lower_opt.measure},
	{0, "measured", NULL, "lower for the processor that was measured, not for the usual one",
		&lower_opt.measured},
	{0, "explain", NULL, "print on standard error what was done to each kernel",
		&lower_opt.explain},
	{0, "reasons", NULL, "leave it in the document, for why: what chose its actions",
		&lower_opt.reasons},
	{0, "strict", NULL, "no rewrite that changes the arithmetic", &lower_opt.strict},
	{0},
};

static const Pass passes[] = {
	{"target", choose_target, "read the target's description"},
	{"layout", layout_all, "memory layout, as by the stage layout", .optional = true},
	{"dtypes", lower_dtypes, "compute f16 and bf16 as f32"},
	{"decompose", lower_decompose, "write ops that the target lacks with others"},
	{"index", lower_index, "one row-major index for each place"},
	{"collapse", lower_collapse, "loops that are contiguous in memory become one",
		.optional = true},
	{"actions", lower_actions, "choose the actions of each kernel", .optional = true},
	{"binders", lower_binders, "reductions that a list names have ranges of their own"},
	{"rewrites", lower_rewrites, "actions that rewrite a kernel: its ranges split",
		.parts = &rewrites_parts},
	{"linearize", lower_linearize, "loops, accumulators, grid and statements"},
	{"unroll", lower_unroll, "write out the loops over the elements of a tile"},
	{"ahead", lower_ahead, "a GPU's group loads what it shares a turn ahead",
		.optional = true},
	{"wide", lower_wide, "neighbours that an item of a GPU moves become one access",
		.optional = true},
	{"slices", lower_slices, "calls that share slices become one", .optional = true},
	{"brief", lower_brief, "mark what a compiler need not optimise", .optional = true},
	{"lanes", lower_lanes, "loops of kind vector become values with lanes", .optional = true},
	{"legalise", lower_legalise, "lanes as the target has them", .optional = true},
	{"registers", lower_registers, "accumulators are vectors, or single elements",
		.optional = true},
	{"abreast", lower_abreast, "neighbouring elements are computed side by side",
		.optional = true},
	{"shared", lower_shared, "values with lanes that several operations use have names",
		.optional = true},
	{0},
};

/* Before the walls. */
static void tuned(void)
{
	target_remember();
	if (!lower_opt.tuned)
		return;
	tuned_read(lower_opt.tuned);
	tuned_device();
}

static int measure(void)
{
	Machine m = target_find(lower_opt.target)->machine;
	Buf b = {0};

	machine_measure(&m);
	machine_keep(&m);
	machine_print(&b, &m);
	stream_put(NULL, b.s, b.n);
	return stage_end();
}

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "lower",
		.summary = "each kernel to loops for a target",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_SCHEDULE,
		.steps = STEPS_SEGMENTS,
		.level_out = LV_LOOPS,
		.passes = passes,
		.help = actions_help,
		.workers = tuned,
	};
	/* without a document */
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--measure")) {
			stage_begin(stage.name);
			options_parse(&stage, argc, argv);
			return measure();
		}
	return stage_main(&stage, argc, argv);
}
