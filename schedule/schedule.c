/* schedule: a graph of tensors becomes a list of kernel calls over buffers, one kernel an op. */
#include "schedule.h"

static const Pass passes[] = {
	{.name = "simplify", .fn = simplify, .help = "rules to a fixed point, dead nodes away", .optional = true},
	{.name = "bind", .fn = bind_buffers, .help = "decide what gets a buffer; outputs get their own"},
	{.name = "split", .fn = split_kernels, .help = "one kernel an op, views composed into its loads"},
	{.name = "order", .fn = order_calls, .help = "write states in place where that is safe", .optional = true},
	{.name = "name", .fn = name_kernels, .help = "name the kernels by what they do"},
	{0},
};

static const Stage stage = {
	.name = "schedule",
	.summary = "turn a graph into a list of kernel calls over buffers, one kernel an op",
	.usage = "[FILE]",
	.level_in = LV_GRAPH,
	.level_out = LV_SCHEDULE,
	.passes = passes,
};

int main(int argc, char **argv) { return stage_main(&stage, argc, argv); }
