/* grad -o loss -w w1,b1: adds the gradient of an output as outputs grad_w1, grad_b1.
 *
 *     output loss f32, w f32[4]   →   outputs loss, grad_w f32[4]
 *
 * --vjp takes outputs of any shape, and adds an input cot_NAME for each, the weights of its
 * elements. */
#include "process/process.h"
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <stdlib.h>

static struct {
	Names of, wrt;
	const char *prefix, *segments;
	bool vjp, check;
} opt = {.prefix = "grad_"};

static const Option options[] = {
	{'o', "of", "NAME", "the output to derive: a float scalar; with --vjp any float outputs, "
		"NAME,NAME (default: the only output)", &opt.of, .many = true},
	{'w', "wrt", "NAME,NAME", "the buffers to derive by, of any role (default: all float "
		"states that the output reads, or its inputs if it reads none)", &opt.wrt,
		.many = true},
	{0, "vjp", NULL, "allow outputs of any shape; the cotangent of each is an input, "
		"cot_NAME", &opt.vjp},
	{0, "checkpoint", "N", "recompute values of the forward pass instead of keeping them, in N "
		"segments (default: the square root of the number of reductions): less memory, "
		"more time",
		&opt.segments, .optional_arg = true},
	{0, "check", NULL, "replace all outputs by, for each buffer, the derivative along a random "
		"direction, in f64: reverse_NAME, forward_NAME, and by finite differences "
		"by_1e-3_NAME, by_1e-5_NAME, by_1e-7_NAME; the function is a random sum over all "
		"outputs, and the buffers are all states and inputs, unless named", &opt.check},
	{'p', "prefix", "TEXT", "the prefix of the new outputs' names, before the buffer's name "
		"(default: grad_)", &opt.prefix},
	{0},
};

/* The initial cotangent, 1. Several elements are refused: their sum would be another function than
 * the user wrote. */
static UOp *seed(const Picked *out)
{
	UOp *u = pick_scalar(out, "a gradient is", arena_printf(
		", or give its weights by --vjp, as the input cot_%s", out->name.at[0]));

	return t_expand_to(t_num(u->dtype, 1), u->shape);
}

static int segment_count(void)
{
	char *end;
	long n = strtol(opt.segments, &end, 10);

	if (*end || (*opt.segments && (n < 1 || n > 1000000)))
		die(USAGE, "'%.80s' is no number of segments", opt.segments);
	return (int)n;
}

static Graph *body(Graph *g)
{
	Picked out = pick_outputs(g, opt.of.n, opt.of.at), wrt;
	UOp **cot, **grad;
	const char **name;

	steps_known(g->sink);
	wrt = (opt.check ? pick_leaves : pick_buffers)(g, opt.wrt.n, opt.wrt.at, &out);
	if (opt.check)
		return derive_check(g, &out, &wrt);
	cot = arena_alloc(out.node.n * sizeof *cot);
	grad = arena_alloc(wrt.node.n * sizeof *grad);
	name = arena_alloc(wrt.node.n * sizeof *name);
	if (!opt.vjp)
		cot[0] = seed(&out);
	for (size_t i = 0; opt.vjp && i < out.node.n; i++)
		cot[i] = input_add(g, arena_printf("cot_%s", out.name.at[i]), out.node.at[i]);
	if (opt.segments)
		derive_reverse_again(segment_count(), out.node.n, out.node.at, cot, wrt.node.n,
			wrt.node.at, grad);
	else
		derive_reverse(out.node.n, out.node.at, cot, wrt.node.n, wrt.node.at, grad);
	for (size_t i = 0; i < wrt.node.n; i++) {
		name[i] = arena_printf("%s%s", opt.prefix, wrt.name.at[i]);
		/* the gradient of a gradient with respect to the same buffer */
		if (output_find(g, name[i]) >= 0)
			name[i] = arena_printf(
				"%s%s_%s", opt.prefix, out.name.at[0], wrt.name.at[i]);
	}
	return outputs_add(g, wrt.node.n, name, grad);
}

static const Pass passes[] = {
	{"grad", body, "outputs for the gradient"},
	{"loops", join_loops, "one loop of those that differ in what they save"},
	{0}};

int main(int argc, char **argv)
{
	static const Stage stage = {
		.name = "grad", .usage = "[-o NAME] [-w NAME] [FILE]",
		.summary = "add the gradient of an output to a graph (reverse mode)",
		.options = options, .level_in = LV_GRAPH, .level_out = LV_GRAPH, .passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
