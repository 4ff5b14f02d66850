/* jvp -w x -o y: adds the directional derivative of y: an input tan_x, the direction, and an output
 * tan_y.
 *
 *     input x f32[4], output y f32[3]   →   inputs x, tan_x f32[4], outputs y, tan_y f32[3] */
#include "process/process.h"
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

static struct { Names of, wrt; } opt;

static const Option options[] = {
	{'o', "of", "NAME,NAME", "the outputs to derive, float ones (default: all)", &opt.of,
		.many = true},
	{'w', "wrt", "NAME,NAME", "the buffers to derive by, of any role (default: all float "
		"states that the outputs read, or their inputs if they read none)", &opt.wrt,
		.many = true},
	{0},
};

static Graph *body(Graph *g)
{
	Picked out = pick_outputs(g, opt.of.n, opt.of.at),
		wrt = pick_buffers(g, opt.wrt.n, opt.wrt.at, &out);
	UOp **tan = arena_alloc(wrt.node.n * sizeof *tan),
		**dout = arena_alloc(out.node.n * sizeof *dout);
	const char **name = arena_alloc(out.node.n * sizeof *name);

	steps_known(g->sink);
	for (size_t i = 0; i < wrt.node.n; i++)
		tan[i] = input_add(g, arena_printf("tan_%s", wrt.name.at[i]), wrt.node.at[i]);
	derive_forward(wrt.node.n, wrt.node.at, tan, out.node.n, out.node.at, dout);
	for (size_t i = 0; i < out.node.n; i++)
		name[i] = arena_printf("tan_%s", out.name.at[i]);
	return outputs_add(g, out.node.n, name, dout);
}

static const Pass passes[] = {
	{"jvp", body, "inputs for the direction, outputs for the derivative along it"},
	{"loops", join_loops, "one loop of those that differ in their states"},
	{0}};

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "jvp", .usage = "[-o NAME] [-w NAME] [FILE]",
		.summary = "add the derivative of outputs along a direction to a graph (forward "
			"mode)",
		.options = options, .level_in = LV_GRAPH, .level_out = LV_GRAPH, .passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
