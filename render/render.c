/* render -t X: runs the program render-X of the stage path, one of the project's or a user's own.
 *
 *     loops → render-X → program */
#include "io/io.h"
#include "process/process.h"
#include "target/target.h"

static Graph *through_target(Graph *g)
{
	Buf in = {0}, out = {0};
	size_t used;
	const char *tool = target_tool(lower_opt.target);
	bool lenient = process.guard || process.own_made;
	mark_put_proved(g, !lenient);
	wire_write(&in, g);
	char *allow = process.custom_allowed && custom_in(g) ? "--allow-custom" : NULL;
	char *argv[4] = {(char *)tool};
	size_t k = 1;
	if (allow)
		argv[k++] = allow;
	/* a user's own target may not know this option */
	if (lenient && !strchr(stage_path(), ':'))
		argv[k++] = "--guard";
	int status = spawn_filter(argv, buf_str(&in), in.n, &out);
	if (status)
		pipeline_failed((char *const *const[]){argv, NULL}, status, 0, in.s, in.n);
	buf_free(&in);
	/* the arena keeps the bytes while bins refer to them */
	void *bytes = arena_alloc(out.n);
	memcpy(bytes, buf_str(&out), out.n);
	size_t n = out.n;
	buf_free(&out);
	if (!n)
		die(FAILED, "render-%s wrote nothing", lower_opt.target);
	return wire_read(bytes, n, &used, 0);
}

static const Option options[] = {
	{'t', "target", "TARGET", "the target to render for (default clang)", &lower_opt.target},
	{0},
};

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "render",
		.summary = "source and launch data for each kernel",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_LOOPS,
		.steps = STEPS_WHOLE,
		.level_out = LV_PROGRAM,
		.body = through_target,
	};
	return stage_main(&stage, argc, argv);
}
