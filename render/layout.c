/* layout: how tensors lie in memory, for targets with vectors. lower runs it when it has not been
 * run.
 *
 *     trace model.onnx | fuse | layout --explain | render -t clang | run */
#include "target/target.h"
#include "actions/actions.h"
#include "layout/layout.h"

static const Option options[] = {
	{'t', "target", "TARGET", "the target to lay out for (default clang)", &lower_opt.target},
	{0, "march", "CPU", "its processor: native (default), x86-64-v3, armv8-a …",
		&lower_opt.processor},
	{0, "measured", NULL, "for the processor that lower --measure has measured",
		&lower_opt.measured},
	{0, "opt", "LIST", "'SINK: stage y LOAD.1 2 1 temp': actions of the schedule",
		&lower_opt.actions, .many = true},
	{0, "strict", NULL, "no rewrite that changes the arithmetic", &lower_opt.strict},
	{0, "explain", NULL, "print on standard error the new layouts", &lower_opt.explain},
	{0},
};

static void check_options(void)
{
	target_remember();
	for (size_t i = 0; i < lower_opt.actions.n; i++)
		if (!schedule_given(lower_opt.actions.at[i]))
			die(USAGE, "--opt: 'SINK: fuse_at t0 0 8': only actions of the schedule "
				"are for layout");
}

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "layout",
		.summary = "lay out tensors in memory, for targets with vectors",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_SCHEDULE,
		.steps = STEPS_SEGMENTS,
		.level_out = LV_SCHEDULE,
		.passes = layout_passes,
		.workers = check_options,
	};
	return stage_main(&stage, argc, argv);
}
