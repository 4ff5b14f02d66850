/* simplify: identities, constants, common subexpressions, dead nodes. */
#include "process/process.h"
#include "schedule.h"

static const Pass passes[] = {
	{"simplify", simplify, "rules to a fixed point; dead nodes removed"},
	{0}
};

int main(int argc, char **argv)
{
	static const Option options[] = {{0}};
	static const Stage stage = {
		.name = "simplify",
		.summary = "rewrite a graph by identities that hold for every value",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_GRAPH,
		.level_out = LV_GRAPH,
		.passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
