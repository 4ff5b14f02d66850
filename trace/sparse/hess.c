/* hess -o loss -w x,z: adds the second derivatives of a scalar: hess_loss_x with respect to x
 * twice, hess_loss_x_z with respect to both.
 *
 *     loss f32, x f32[4]   →   hess_loss_x f32[4,4]
 *
 * They are the derivatives of the gradient, which is a graph like any other. Terms linear in x have
 * no x left in the gradient, so a sparse pattern has only the nonlinear interactions. A block on
 * the diagonal is symmetric, and with --sparse uses star colouring. */
#include "process/process.h"
#include "primitives/primitives.h"
#include "sparse/sparse.h"

static const Option options[] = {
	{'o', "of", "NAME", "the output to derive: a float scalar (default: the only output)",
		&jacobian_opt.of, .many = true},
	{'w', "wrt", "NAME",
		"the buffers to derive by, NAME,NAME (default: all float states the output reads, "
		"or its inputs if it reads none)",
		&jacobian_opt.wrt, .many = true},
	JACOBIAN_OPTIONS,
	{0},
};

static Graph *body(Graph *g)
{
	Derived d = {.g = g = jacobian_begin(g)};
	Picked of = pick_outputs(g, jacobian_opt.of.n, jacobian_opt.of.at),
		   wrt = pick_buffers(g, jacobian_opt.wrt.n, jacobian_opt.wrt.at, &of);
	UOp *y = pick_scalar(&of, "second derivatives are", ""),
	    *one = t_expand_to(t_num(y->dtype, 1), y->shape);
	UOp **grad = arena_alloc((wrt.node.n + 1) * sizeof *grad);

	derive_reverse(1, &y, &one, wrt.node.n, wrt.node.at, grad);
	for (size_t i = 0; i < wrt.node.n; i++)
		for (size_t k = 0; k < wrt.node.n; k++) {
			const char *name = arena_printf(
				"hess_%s_%s", of.name.at[0], wrt.name.at[i]);
			jacobian_add(&d,
				i == k ? name : arena_printf("%s_%s", name, wrt.name.at[k]),
				grad[i], wrt.node.at[k], i == k);
		}
	return jacobian_end(&d);
}

int main(int argc, char **argv)
{
	static const Pass passes[] = {{"hess", body, "outputs for the second derivatives"}, {0}};
	static const Stage stage = {
		.name = "hess",
		.summary = "add the second derivatives of an output to a graph, dense or sparse",
		.usage = "[-o NAME] [-w NAME] [FILE]",
		.options = options,
		.level_in = LV_GRAPH,
		.level_out = LV_GRAPH,
		.passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
