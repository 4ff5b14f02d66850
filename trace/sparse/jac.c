/* jac -o y -w x: adds the derivative of y with respect to x as output jac_y_x, with y's axes and
 * then x's.
 *
 *     y f32[3], x f32[4]   →   jac_y_x f32[3,4]; with --sparse f32[nnz], the pattern in meta.sparse
 */
#include "process/process.h"
#include "sparse/sparse.h"

static const Option options[] = {
	{'o', "of", "NAME", "the outputs to derive, NAME,NAME (default: all float outputs)",
		&jacobian_opt.of, .many = true},
	{'w', "wrt", "NAME",
		"the buffers to derive by, NAME,NAME (default: all float states the outputs read, "
		"or their inputs if they read none)",
		&jacobian_opt.wrt, .many = true},
	JACOBIAN_OPTIONS,
	{0},
};

static Graph *body(Graph *g)
{
	Derived d = {.g = g = jacobian_begin(g)};
	Picked of = pick_outputs(g, jacobian_opt.of.n, jacobian_opt.of.at),
		   wrt = pick_buffers(g, jacobian_opt.wrt.n, jacobian_opt.wrt.at, &of);

	for (size_t i = 0; i < of.node.n; i++)
		for (size_t k = 0; k < wrt.node.n; k++)
			jacobian_add(&d, arena_printf("jac_%s_%s", of.name.at[i], wrt.name.at[k]),
				of.node.at[i], wrt.node.at[k], false);
	return jacobian_end(&d);
}

int main(int argc, char **argv)
{
	static const Pass passes[] = {{"jac", body, "outputs for the derivatives"}, {0}};
	static const Stage stage = {
		.name = "jac",
		.summary = "add the derivatives of outputs by buffers to a graph, dense or sparse",
		.usage = "[-o NAME] [-w NAME] [FILE]",
		.options = options,
		.level_in = LV_GRAPH,
		.level_out = LV_GRAPH,
		.passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
