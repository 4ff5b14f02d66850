/* render -t X: runs the program render-X of the stage path, one of the project's or a user's own.
 *
 *     loops → render-X → program
 *
 * One of the project's takes the place of this process. A user's own may be a few lines that know
 * of no options and levels: it gets level loops, and what it writes is read here. */
#include "io/io.h"
#include "process/process.h"
#include "target/target.h"

static Graph *through_target(Graph *g)
{
	Buf in = {0}, out = {0};
	size_t used;
	const char *tool = target_tool(lower_opt.target);
	mark_put_proved(g, !process.guard && !process.own_made);
	wire_write(&in, g);
	bool custom = process.custom_allowed && custom_in(g);
	char *argv[] = {(char *)tool, custom ? "--allow-custom" : NULL, NULL};
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

static const char *own_target(void)
{
	return strchr(stage_path(), ':') ? NULL : target_tool(lower_opt.target);
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
		.instead = own_target,
	};
	return stage_main(&stage, argc, argv);
}
