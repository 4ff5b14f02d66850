/* schedule: a graph of tensors becomes a list of kernel calls over buffers, one kernel for each
 * op. */
#include "document/document.h"
#include "process/process.h"
#include "schedule.h"

static const Pass passes[] = {
	{"simplify", simplify, "rules to a fixed point; dead nodes removed", .optional = true},
	{"bind", bind_buffers, "decide which nodes get a buffer"},
	{"kernels", make_kernels, "one kernel per op, views composed into its loads"},
	{"order", order_calls, "write states in place where that is safe", .optional = true},
	{"name", name_kernels, "name the kernels"},
	{0},
};

static const Stage stage = {
	.name = "schedule",
	.summary = "turn a graph into a list of kernel calls over buffers, one kernel per op",
	.usage = "[FILE]",
	.level_in = LV_GRAPH,
	.level_out = LV_SCHEDULE,
	.passes = passes,
	.steps = STEPS_SEGMENTS,
};

int main(int argc, char **argv) { return stage_main(&stage, argc, argv); }
