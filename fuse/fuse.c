/* fuse: merges kernels and plans memory. */
#include "document/document.h"
#include "process/process.h"
#include "fuse.h"

FuseOptions fuse_opt;

static const Pass passes[] = {{"split", split_loops, "loops read by quotient and remainder are two",
		.optional = true},
	{"open", open_kernels, "slots and ranges of kernels in one order"},
	{"prepare", prepare_constants, "values of constants are computed once", .optional = true},
	{"produce", merge_producers, "loads replaced by their producers", .optional = true},
	{"scales", fold_scales, "constant scales into constant weights; not with --strict",
		.optional = true},
	{"siblings", merge_siblings, "kernels over the same ranges with shared inputs",
		.optional = true},
	{"joined", merge_into_joined, "the same for kernels that were joined", .optional = true},
	{"drop", drop_stores, "stores that nothing reads", .optional = true},
	{"close", close_kernels, "reductions and outputs share ranges"},
	{"name", name_kernels, "names for kernels"},
	{"order", order_calls, "calls in an order that takes less memory", .optional = true},
	{"plan", plan_memory, "temporaries packed into one workspace", .optional = true},
	{"explain", explain_result, "reads and writes of kernels (--explain)", .optional = true},
	{0}};

static const Option options[] = {
	{.word = "explain", .help = "say for each pair of kernels what was done and why",
		.to = &fuse_opt.explain},
	{.letter = 't', .word = "target", .arg = "TARGET", .to = &fuse_opt.target,
		.help = "merge by the figures of render-TARGET (the usual ones)"},
	{.word = "measured", .help = "by those that lower --measure has found here",
		.to = &fuse_opt.measured},
	{.word = "strict", .help = "leave out every rewrite that changes the arithmetic",
		.to = &fuse_opt.strict},
	{0}
};

/* The row of a target says the figures of its processor; before the walls. */
static void machine_choose(void)
{
	Machine *m = &fuse_opt.machine;
	const char *name = fuse_opt.target;
	bool plain = name && name_plain(name, strlen(name));
	const char *tool = plain ? tool_find(arena_printf("render-%s", name)) : NULL;
	Buf row = {0};
	if (name && !tool)
		die(UNSUPPORTED, "no target %.60s: there is no render-%.60s on the stage path",
			name, name);
	if (tool && spawn_filter((char *[]){(char *)tool, "--describe", NULL}, "", 0, &row))
		die(FAILED, "render-%s --describe failed", name);
	machine_read(m, buf_str(&row), "--describe");
	machine_fill(m, strstr(buf_str(&row), "\ngpu: 1"));
	if (fuse_opt.measured)
		machine_read(m, machine_kept(), "--measured");
}

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "fuse",
		.summary = "merge kernels by cost and plan memory",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_SCHEDULE,
		.steps = STEPS_SEGMENTS,
		.level_out = LV_SCHEDULE,
		.passes = passes,
		.workers = machine_choose,
	};
	return stage_main(&stage, argc, argv);
}
