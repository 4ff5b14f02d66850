/* trace FILE: anything → level graph. The reader is selected by the file's suffix; a file without a
 * known suffix is a document. */
#include "process/process.h"
#include "shape/regions.h"
#include "trace.h"
#include "c/c_program.h"
#include "derive/derive.h"
#include <stdlib.h>

/* Conditions on sizes that could not be decided are checked by run: meta {checks: [["eq", "n*2",
 * "m"], …]}. */
static Graph *note_checks(Graph *g)
{
	const Val *old = val_get(g->meta, "checks"), *own = size_checks();
	size_checks_reset();
	if (own == VNIL || steps_in(g))
		return g;
	VEC(const Val *) all = {0};
	for (size_t i = 0; old && old->kind == VAL_ARRAY && i < old->n; i++)
		vec_push(&all, old->a[i]);
	for (size_t i = 0; i < own->n; i++) {
		size_t k = 0;
		while (k < all.n && all.at[k] != own->a[i])
			k++;
		if (k == all.n)
			vec_push(&all, own->a[i]);
	}
	g->meta = val_set(g->meta, "checks", val_array(all.n, all.at));
	vec_free(&all);
	return g;
}

static const Pass passes[] = {
	{"expand", read_tensor, "functions of the tensor library become primitive ops"},
	{"states", keep_states, "pairs of an input and an output become states (--state)"},
	{"bound", bound_sizes, "sizes that are data become buffers of their most, and counts"},
	{"loops", join_loops, "one loop of those that derivatives made differ in what they save"},
	{"unbound", steps_prune, "sizes that no output needs are not bound"},
	{"checks", note_checks, "what is to be checked when the sizes are known"},
	{0},
};

static const Option options[] = {
	ONNX_OPTIONS,
	C_OPTIONS,
	{0, "state", "IN=OUT", "keep an input between calls: it starts as zeros, and output OUT is "
		"its next content", &state_pairs, .many = true},
	{0},
};

int main(int argc, char **argv)
{
	static const Stage trace = {
		.name = "trace",
		.usage = "[FILE]",
		.summary = "Reads a program (.t), a program in C or C++ (.c, .cpp; or compiled, "
			   ".so), an ONNX model (.onnx), "
			   "or a document of level tensor or graph (.mp, or on standard input), "
			   "and writes its graph.",
		.level_in = LV_TENSOR,
		.level_most = LV_GRAPH,
		.level_out = LV_GRAPH,
		.options = options,
		.passes = passes,
		.steps = STEPS_WHOLE,
		.read = read_file,
	};
	argc = take_shapes_from(argc, argv);
	return stage_main(&trace, argc, argv);
}
